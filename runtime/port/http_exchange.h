//  http_exchange - one request and its response, from inside

#ifndef RUNTIME_PORT_HTTP_EXCHANGE_H
#define RUNTIME_PORT_HTTP_EXCHANGE_H

#include "runtime/port/http_chunks.h"
#include "runtime/port/http_connection.h"
#include "runtime/port/http_head.h"

enum {
    EXCHANGE_HIGH_MARK = 64 << 10,    //  Bytes of waiting output above which exchange_write says AGAIN
    EXCHANGE_LOW_MARK = 16 << 10,     //  Bytes of waiting output below which it may go on
};

struct port_exchange {
    port_listener_t *listener;        //  Whose it is
    http_connection_t *connection;    //  NULL when the client is gone
    bool is_handed_over;              //  The actor owns it
    bool is_streaming;                //  begin was called
    bool is_blocked;                  //  write said AGAIN: on_writable is owed
    bool is_chunked;                  //  The stream is framed in chunks
    bool is_silent;                   //  The response has no body
    bool keeps;                       //  The connection goes on afterwards
    exchange_watch_t watch;           //  Who to tell; zeroed until named
    loop_task_t tell;                 //  Tells a watch that was named too late
    buffer_t head_bytes;              //  As received
    http_head_t head;                 //  Parsed, over head_bytes
    http_chunks_t chunks;             //  Of a chunked body
    buffer_t body;                    //  As far as received
    uint64_t admitted;                //  Bytes taken from the listener's budget
    http_request_t request;           //  What the actor sees, over the above
    char peer [HTTP_ADDRESS_SIZE];    //  For logs
};

//  An exchange whose request is about to be read.
port_exchange_t *http_exchange_new (port_listener_t *listener, http_connection_t *connection, const char *peer);

//  Frees it and gives its body back to the budget.
void http_exchange_destroy (port_exchange_t *self);

//  The head is whole.  Returns 0, or the HTTP status to refuse with and why.
int http_exchange_parse (port_exchange_t *self, const char **reason);

//  So many bytes of body are to be kept, and `announced` more are said to come.  Returns 0, or 413 or 503 and why.
int http_exchange_admit (port_exchange_t *self, uint64_t bytes, uint64_t announced, const char **reason);

//  The request is whole: calls the listener's on_request.  The exchange may be gone afterwards.
void http_exchange_hand_over (port_exchange_t *self);

//  The client is gone, and the connection with it.  The exchange may be gone afterwards.
void http_exchange_gone (port_exchange_t *self);

//  The output is below the low mark.  The exchange may be gone afterwards.
void http_exchange_drained (port_exchange_t *self);

#endif
