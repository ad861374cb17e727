//  handshakes - counts the peers that a bound socket turned away
//
//  libzmq says nothing to a peer that does not prove itself, nor to us, except through the socket's monitor.

#ifndef RUNTIME_PORT_HANDSHAKES_H
#define RUNTIME_PORT_HANDSHAKES_H

#include "runtime/port/loop.h"

typedef struct handshakes handshakes_t;

//  Call before the socket is bound.  All are borrowed until the end, which comes before the socket's.  NULL where the
//  process has no descriptors left.
handshakes_t *handshakes_new (loop_t *loop, void *zmq, void *socket, error_t *error);
void handshakes_destroy (handshakes_t **self_p);

uint64_t handshakes_failed (const handshakes_t *self);

#endif
