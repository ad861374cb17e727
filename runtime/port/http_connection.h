//  http_connection - one client: reads requests, one exchange at a time

#ifndef RUNTIME_PORT_HTTP_CONNECTION_H
#define RUNTIME_PORT_HTTP_CONNECTION_H

#include "runtime/port/http_listener.h"

typedef struct http_connection http_connection_t;

//  Starts reading.  Takes the stream; the listener knows the connection from here on, and counts it.
//  peer: for logs; copied.
void http_connection_new (port_listener_t *listener, struct bufferevent *stream, const char *peer);

//  The connection of a link in the listener's list.
http_connection_t *http_connection_of (list_link_t *link);

//  Where its exchange writes to: what is appended in this round of the loop is sent together at the round's end.  Borrowed
//  until then.
buffer_t *http_connection_output (http_connection_t *self);

//  Where it writes a piece of a stream to before it calls http_connection_send.  Borrowed until then.
buffer_t *http_connection_piece (http_connection_t *self);

//  A piece is coming: brings nearer what it needs.
void http_connection_expect (const http_connection_t *self);

//  Sends the piece: at once where it is the first thing written in this round, else at the round's end.
void http_connection_send (http_connection_t *self);

//  Bytes that the system has not taken yet.
size_t http_connection_waiting (const http_connection_t *self);

//  The exchange has written its response and is gone.  keep: the client may send the next request.
void http_connection_next (http_connection_t *self, bool keep);

//  Resets the connection: the client sees that the response is not whole.
void http_connection_cut (http_connection_t *self);

//  Ends it once it waits for a request; what is being answered goes on.
void http_connection_retire (http_connection_t *self);

//  Ends it now; what the system takes at once of waiting output is still sent.
void http_connection_close (http_connection_t *self);

#endif
