//  incarnations - the last incarnation of each address, in a store
//
//  All that survives the broker.  A process whose clock went back must not begin below its last incarnation, or those who
//  follow would take it for a ghost.

#ifndef BROKER_INCARNATIONS_H
#define BROKER_INCARNATIONS_H

#include "runtime/actor.h"

typedef struct {
    actor_t *actor;         //  The broker
    port_store_t *store;    //  Address -> last incarnation; NULL where it cannot be had
    bool unsynced;          //  The machine's crash would lose some of it
} incarnations_t;

//  Without a store everything works, and the log says what cannot be promised.
void incarnations_open (incarnations_t *self, actor_t *actor);
void incarnations_close (incarnations_t *self);

//  0 where none is known.
uint64_t incarnations_get (const incarnations_t *self, span_t address);

//  Survives a crash of the process at once, one of the machine from the next incarnations_sync on.
void incarnations_put (incarnations_t *self, span_t address, uint64_t incarnation);
void incarnations_sync (incarnations_t *self);

#endif
