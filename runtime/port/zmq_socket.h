//  zmq_socket - a message socket of the port: libzmq in a libevent loop
//
//  libzmq's descriptor is an edge that says "the state may have changed" and nothing more.  What is there is read until
//  ZMQ_EVENTS says that nothing is left, at most a fair share a round; the rest is read in the next round.  A send may
//  swallow the edge, so after sends the socket is looked at again in the next round too.  (Receiving once for each edge
//  stalls with messages waiting.)
//
//  The functions are those of port_table_t (runtime/port.h), with the loop in place of the port.

#ifndef RUNTIME_PORT_ZMQ_SOCKET_H
#define RUNTIME_PORT_ZMQ_SOCKET_H

#include "runtime/port.h"
#include "runtime/port/gate.h"
#include "runtime/port/loop.h"

//  zmq: the process's ZeroMQ context.  gate: at it.  All are borrowed until the close.
port_socket_t *zmq_socket_open (loop_t *loop, void *zmq, gate_t *gate, const socket_options_t *options, error_t *error);
status_t zmq_socket_bind (port_socket_t *self, const char *endpoint, error_t *error);
status_t zmq_socket_connect (port_socket_t *self, const char *endpoint, error_t *error);
status_t zmq_socket_mend (port_socket_t *self, bool *mended, error_t *error);
const char *zmq_socket_endpoint (const port_socket_t *self);
status_t zmq_socket_send (port_socket_t *self, const span_t *frames, size_t count);
status_t zmq_socket_forward (port_socket_t *self, port_socket_t *from, const span_t *frames, size_t count);
status_t zmq_socket_send_kept (port_socket_t *self, const span_t *frames, size_t count, keeper_t *keeper);
keeper_t zmq_socket_keep (port_socket_t *self, const span_t *frame);
void zmq_socket_subscribe (port_socket_t *self, span_t prefix);
void zmq_socket_unsubscribe (port_socket_t *self, span_t prefix);
socket_sender_t zmq_socket_sender (const port_socket_t *self);
uint64_t zmq_socket_refused (const port_socket_t *self);
uint64_t zmq_socket_overflows (const port_socket_t *self);
void zmq_socket_close (port_socket_t *self);

#endif
