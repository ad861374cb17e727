//  ring - the last batches of one stream of one source
//
//  Bounded in bytes; the oldest leave first.  Sequence numbers ascend, but a ring that follows somebody else's stream may
//  have holes.

#ifndef RUNTIME_RING_H
#define RUNTIME_RING_H

#include "base/array.h"
#include "base/span.h"

typedef struct {
    uint64_t sequence;    //  Of the batch
    uint64_t wall_ns;     //  When it was published
    span_t payload;       //  Owned by the ring
} ring_batch_t;

typedef struct ring {
    array_t batches;     //  ring_batch_t; the first `gone` are empty
    size_t gone;         //  Left already, room not yet given back
    uint64_t bytes;      //  Of all batches, what a batch costs beside its payload included
    uint64_t limit;      //  Bytes
    uint64_t dropped;    //  Batches that left for want of room
} ring_t;

void ring_init (ring_t *self, uint64_t limit_bytes);
void ring_fini (ring_t *self);

//  Empties it.  Returns how many batches left; they do not count as dropped.
size_t ring_clear (ring_t *self);

//  Another bound; the oldest leave until it holds, the newest always stays.
void ring_set_limit (ring_t *self, uint64_t limit_bytes);

//  Copies the payload, which must not lie in the ring.  A sequence number that is not higher than the last one is ignored.
//  The batch itself always stays, even where it is larger than the limit.
void ring_push (ring_t *self, uint64_t sequence, uint64_t wall_ns, span_t payload);

//  The batch of this number; NULL where it is not there.  Borrowed until the next push.
const ring_batch_t *ring_find (const ring_t *self, uint64_t sequence);

//  Oldest and newest number there is; 0 where the ring is empty.
uint64_t ring_first (const ring_t *self);
uint64_t ring_last (const ring_t *self);

#endif
