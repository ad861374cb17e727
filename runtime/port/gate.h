//  gate - who may pass the endpoints of this process that leave the machine
//
//  Holds the process's keyring, and answers libzmq's question about each peer that comes to a CURVE socket (ZAP, RFC 27) on
//  a thread of its own.  A peer on the keyring passes, and every message of it carries its public key as User-Id; what that
//  key may do is looked up at each message (gate_find), since a peer that is connected outlives a change of the keyring.
//
//  All functions may be called from any thread.

#ifndef RUNTIME_PORT_GATE_H
#define RUNTIME_PORT_GATE_H

#include "runtime/port.h"

typedef struct gate gate_t;

//  zmq: the process's ZeroMQ context; borrowed until its end.  Gives the gate, closed: nobody passes.
gate_t *gate_new (void *zmq);

//  Call when the context has been terminated, which ends the thread.  Nulls the caller's pointer.
void gate_destroy (gate_t **self_p);

//  Takes the keyring, in place of the one before.  NULL: closed again.
void gate_set_keys (gate_t *self, keyring_t *keys);

//  Writes the holder of a public key (Z85) and its roles; nobody and none where it is not on the keyring.
void gate_find (gate_t *self, const char *public_key, socket_sender_t *sender);

//  Makes a libzmq socket prove itself, and demand proof, at the endpoint that it is bound or connected to next.
//  STATUS_REFUSED where there are no keys for that; the sentence says what is missing.
status_t gate_guard_bind (gate_t *self, void *socket, error_t *error);
status_t gate_guard_connect (gate_t *self, void *socket, span_t host, error_t *error);

#endif
