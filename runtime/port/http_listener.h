//  http_listener - a listener from inside: what its connections and exchanges share

#ifndef RUNTIME_PORT_HTTP_LISTENER_H
#define RUNTIME_PORT_HTTP_LISTENER_H

#include "runtime/port/http_server.h"

#include <event2/bufferevent.h>
#include <event2/listener.h>

#include "base/budget.h"

enum { HTTP_ADDRESS_SIZE = 128 };

struct port_listener {
    loop_t *loop;                        //  Of the owner's thread
    listener_options_t options;          //  Defaults filled in
    struct evconnlistener *acceptor;     //  NULL where there is none, or no more
    bool is_stopped;                     //  Every response is the last one of its connection
    struct event *retry;                 //  Accepting pauses where the system has no descriptors left
    char address [HTTP_ADDRESS_SIZE];    //  With the port the system chose
    list_t connections;                  //  http_connection_t, oldest first
    size_t exchanges;                    //  Handed over and not ended
    listener_figures_t figures;          //  body_bytes is read from `bodies`
    budget_t bodies;                     //  Of all requests in flight
    buffer_t spare;                      //  Memory for whoever writes next: a stream needs it only while it writes
};

//  A listener without a socket: connections are handed to it by http_connection_new.
port_listener_t *http_listener_new (loop_t *loop, const listener_options_t *options);

//  Counts what the listener answered itself.
void http_listener_count_refusal (port_listener_t *self, int status);

#endif
