#include "runtime/ring.h"

#include <string.h>

#include "base/memory.h"

void
ring_init (ring_t *self, uint64_t limit_bytes)
{
    *self = (ring_t){ .limit = limit_bytes };
    array_init (&self->batches, sizeof (ring_batch_t));
}

//  Many small batches must not cost more than the limit either.
static uint64_t
s_cost (const ring_batch_t *batch)
{
    return sizeof *batch + batch->payload.size;
}

static size_t
s_count (const ring_t *self)
{
    return self->batches.count - self->gone;
}

static ring_batch_t *
s_at (const ring_t *self, size_t position)
{
    return array_at (&self->batches, self->gone + position);
}

//  The oldest leaves; gives its payload.
static span_t
s_take_first (ring_t *self)
{
    ring_batch_t *first = s_at (self, 0);
    span_t payload = first->payload;
    self->bytes -= s_cost (first);
    self->gone++;
    if (self->gone * 2 > self->batches.count) {
        array_drop_front (&self->batches, self->gone);
        self->gone = 0;
    }
    return payload;
}

static void
s_free (span_t payload)
{
    memory_free ((void *)payload.data);
}

size_t
ring_clear (ring_t *self)
{
    size_t count = s_count (self);
    while (s_count (self))
        s_free (s_take_first (self));
    return count;
}

void
ring_fini (ring_t *self)
{
    ring_clear (self);
    array_fini (&self->batches);
}

//  The oldest leave until there is room for a batch of this cost, or only `kept` are there.  Gives the last payload that left;
//  empty where none did.
static span_t
s_make_room (ring_t *self, uint64_t cost, size_t kept)
{
    span_t left = { NULL, 0 };
    while (self->bytes + cost > self->limit && s_count (self) > kept) {
        s_free (left);
        left = s_take_first (self);
        self->dropped++;
    }
    return left;
}

void
ring_set_limit (ring_t *self, uint64_t limit_bytes)
{
    self->limit = limit_bytes;
    s_free (s_make_room (self, 0, 1));
}

void
ring_push (ring_t *self, uint64_t sequence, uint64_t wall_ns, span_t payload)
{
    if (sequence <= ring_last (self))
        return;
    ring_batch_t batch = { sequence, wall_ns, payload };
    uint64_t cost = s_cost (&batch);
    span_t left = s_make_room (self, cost, 0);
    void *memory = (void *)left.data;
    if (!memory || left.size != payload.size)
        memory = memory_resize (memory, payload.size);
    if (payload.size)
        memcpy (memory, payload.data, payload.size);
    batch.payload.data = memory;
    array_append (&self->batches, &batch, 1);
    self->bytes += cost;
}

uint64_t
ring_first (const ring_t *self)
{
    return s_count (self) ? s_at (self, 0)->sequence : 0;
}

uint64_t
ring_last (const ring_t *self)
{
    return s_count (self) ? s_at (self, s_count (self) - 1)->sequence : 0;
}

const ring_batch_t *
ring_find (const ring_t *self, uint64_t sequence)
{
    size_t low = 0;
    size_t high = s_count (self);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s_at (self, middle)->sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s_count (self) || s_at (self, low)->sequence != sequence)
        return NULL;
    return s_at (self, low);
}
