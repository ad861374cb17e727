//  handshakes - those of a socket that came to nothing
//
//  libzmq says nothing to a peer that does not prove itself, nor to us, except through the socket's monitor.  And whoever
//  is turned away is not connected again by libzmq, though its key may be known a moment later.

#ifndef RUNTIME_PORT_HANDSHAKES_H
#define RUNTIME_PORT_HANDSHAKES_H

#include "runtime/port/loop.h"

typedef struct handshakes handshakes_t;

//  Call before the socket is bound or connected.  on_given_up: called after some that libzmq does not try again; NULL for a
//  bound socket.  All are borrowed until the end, which comes before the socket's.  NULL where the process has no
//  descriptors left.
handshakes_t *handshakes_new (loop_t *loop, void *zmq, void *socket, loop_fn *on_given_up, void *arg, error_t *error);
void handshakes_destroy (handshakes_t **self_p);

uint64_t handshakes_failed (const handshakes_t *self);

#endif
