//  http_server - the listeners and exchanges of a port
//
//  Sockets, buffers and time-outs are libevent's, the grammar is llhttp's (http_head.h); the connection layer is ours,
//  because limits, deadlines, disconnects and back-pressure are what a frontend lives from:
//
//      http_listener      accepts, counts, bounds
//      http_connection    reads: idle -> head -> body -> exchange -> idle ..., each with its own deadline
//      http_exchange      answers: a whole response or a stream, with marks at 64 and 16 KiB
//
//  Pipelined input waits while an exchange is open.  Reading goes on meanwhile, because that is how a disconnect shows.
//
//  The functions are those of port_table_t (runtime/port.h), with the loop in place of the port.

#ifndef RUNTIME_PORT_HTTP_SERVER_H
#define RUNTIME_PORT_HTTP_SERVER_H

#include "runtime/port.h"
#include "runtime/port/loop.h"

port_listener_t *http_listener_open (
    loop_t *loop, const char *address, const listener_options_t *options, error_t *error);
const char *http_listener_address (const port_listener_t *self);
void http_listener_figures (const port_listener_t *self, listener_figures_t *figures);
void http_listener_stop (port_listener_t *self);
void http_listener_close (port_listener_t *self);

//  Whether a listener could be opened at "HOST:PORT" now; else the error that opening it would give, STATUS_EXISTS where
//  somebody holds the port.
status_t http_listener_check (const char *address, error_t *error);

void http_exchange_watch (port_exchange_t *self, const exchange_watch_t *watch);
void http_exchange_take_body (port_exchange_t *self, buffer_t *out);
void http_exchange_return_body (port_exchange_t *self, buffer_t *body);
void http_exchange_respond (port_exchange_t *self, int status, const http_header_t *headers, size_t count, span_t body);
void http_exchange_begin (port_exchange_t *self, int status, const http_header_t *headers, size_t count);
status_t http_exchange_write (port_exchange_t *self, span_t bytes);
void http_exchange_expect (const port_exchange_t *self, unsigned step);
void http_exchange_end (port_exchange_t *self);
void http_exchange_abort (port_exchange_t *self);

#endif
