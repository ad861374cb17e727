//  sessions - where each session was served last
//
//  So many sessions as the bound says; beyond it the one that was quiet longest is forgotten, and counts as new when it
//  speaks again.  That loses no correctness: whoever kept its blocks still has them, and the index says so.

#ifndef ACTORS_ROUTER_SESSIONS_H
#define ACTORS_ROUTER_SESSIONS_H

#include "base/span.h"

typedef struct sessions sessions_t;

//  limit: sessions, at least 1.  seed: a random number, because the ids come from outside.  Gives the memory; never NULL.
sessions_t *sessions_new (size_t limit, uint64_t seed);
void sessions_destroy (sessions_t **self_p);

//  The address of the worker (with its rank) that served a session last; the empty span where it is not known.  Borrowed
//  until the next put.
span_t sessions_get (const sessions_t *self, span_t session, uint16_t *rank);

//  Copies both.
void sessions_put (sessions_t *self, span_t session, span_t worker, uint16_t rank);

size_t sessions_count (const sessions_t *self);

#endif
