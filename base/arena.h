//  arena - many small pieces, freed together
//
//  A decoded message, a parsed request: pieces that live and die as one.  The bound makes input that expands (a byte on
//  the wire, a struct in memory) fail as NULL instead of growing without end.

#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/span.h"

typedef struct arena_chunk arena_chunk_t;

typedef struct {
    arena_chunk_t *chunks;    //  Newest first
    size_t used;              //  Bytes given out, rounded up as they lie in memory
    size_t limit;             //  At most this many
} arena_t;

//  limit: bytes in all; SIZE_MAX for none.
void arena_init (arena_t *self, size_t limit);
void arena_fini (arena_t *self);

//  Frees every piece but keeps one chunk, for use in a loop.
void arena_clear (arena_t *self);

//  Zeroed, aligned for any type; NULL where the limit would be passed.  Borrowed until clear or fini.
void *arena_new (arena_t *self, size_t size);

//  The same, not zeroed.
void *arena_take (arena_t *self, size_t size);

//  A copy in the arena; data NULL where the limit would be passed (or where bytes is empty).
span_t arena_copy (arena_t *self, span_t bytes);

#endif
