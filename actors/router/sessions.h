//  sessions - where each session was served last
//
//  So many sessions as the bound says; beyond it the one that was quiet longest is forgotten, and counts as new when it
//  speaks again.  That loses no correctness: whoever kept its blocks still has them, and the index says so.
//
//  A session is live until it was quiet for five minutes.  Its last prompt will be wanted again where that was served, so
//  the live ones say how much room a worker has for more.

#ifndef ACTORS_ROUTER_SESSIONS_H
#define ACTORS_ROUTER_SESSIONS_H

#include "base/span.h"

typedef struct sessions sessions_t;

//  limit: sessions, at least 1.  seed: a random number, because the ids come from outside.  Gives the memory; never NULL.
sessions_t *sessions_new (size_t limit, uint64_t seed);
void sessions_destroy (sessions_t **self_p);

typedef struct {
    span_t worker;      //  Address of who served a session last; empty: that is not known.  Borrowed until the next put
    uint16_t rank;      //  Of the worker
    uint32_t blocks;    //  What it wants there; 0: it is not live
} session_place_t;

//  Where a session is.
session_place_t sessions_get (const sessions_t *self, span_t session);

//  A session was just served there, with a prompt of so many blocks.  Copies both texts.
void sessions_put (sessions_t *self, span_t session, span_t worker, uint16_t rank, uint32_t blocks, uint64_t now_ns);

//  Those that were quiet for too long are live no more.
void sessions_expire (sessions_t *self, uint64_t now_ns);

//  Blocks of the last prompts of the live sessions that were served last by a rank of a worker.  source: the worker's event
//  source.
uint64_t sessions_live_blocks (const sessions_t *self, uint64_t source, uint16_t rank);

//  How many were forgotten so far because there was no room for more.
uint64_t sessions_forgotten (const sessions_t *self);

#endif
