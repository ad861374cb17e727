//  http_client - fetches: libcurl's multi interface on the loop
//
//  libcurl forbids to add, remove or unpause a transfer from inside its own callbacks, and callers of a port do all three
//  there.  So what is asked for (start, resume, cancel) is only noted, and done by a task in the next round of the loop,
//  outside of libcurl.  A cancelled fetch calls nobody any more, from the moment it is cancelled.
//
//  A fetch belongs to its caller until on_end is called or it is cancelled.

#ifndef RUNTIME_PORT_HTTP_CLIENT_H
#define RUNTIME_PORT_HTTP_CLIENT_H

#include "runtime/port.h"
#include "runtime/port/loop.h"

typedef struct http_client http_client_t;

//  Gives the client of one port; never NULL.
http_client_t *http_client_new (loop_t *loop);

//  Destroys the client and nulls the caller's pointer.  Every fetch must have ended or been cancelled.
void http_client_destroy (http_client_t **self_p);

port_fetch_t *http_fetch_start (http_client_t *client, const fetch_options_t *options, error_t *error);
void http_fetch_pause (port_fetch_t *self, bool paused);
void http_fetch_cancel (port_fetch_t *self);

#endif
