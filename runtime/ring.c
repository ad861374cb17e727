#include "runtime/ring.h"

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

static void
s_drop_first (ring_t *self)
{
    ring_batch_t *first = s_at (self, 0);
    self->bytes -= s_cost (first);
    memory_free ((void *)first->payload.data);
    self->gone++;
    if (self->gone * 2 > self->batches.count) {
        array_drop_front (&self->batches, self->gone);
        self->gone = 0;
    }
}

size_t
ring_clear (ring_t *self)
{
    size_t count = s_count (self);
    while (s_count (self))
        s_drop_first (self);
    return count;
}

void
ring_fini (ring_t *self)
{
    ring_clear (self);
    array_fini (&self->batches);
}

void
ring_set_limit (ring_t *self, uint64_t limit_bytes)
{
    self->limit = limit_bytes;
    while (self->bytes > self->limit && s_count (self) > 1) {
        s_drop_first (self);
        self->dropped++;
    }
}

void
ring_push (ring_t *self, uint64_t sequence, uint64_t wall_ns, span_t payload)
{
    if (sequence <= ring_last (self))
        return;
    ring_batch_t *batch = array_add (&self->batches);
    batch->sequence = sequence;
    batch->wall_ns = wall_ns;
    batch->payload = span_of (memory_copy (payload.data, payload.size), payload.size);
    self->bytes += s_cost (batch);
    ring_set_limit (self, self->limit);
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
