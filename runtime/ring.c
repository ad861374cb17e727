#include "runtime/ring.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/incoming.h"
#include "schemas/event.h"

void
ring_init (ring_t *self, uint64_t limit_bytes)
{
    *self = (ring_t){ .limit = limit_bytes };
    array_init (&self->batches, sizeof (ring_batch_t));
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
    self->bytes -= first->payload.size;
    memory_free ((void *)first->payload.data);
    self->gone++;
    if (self->gone * 2 > self->batches.count) {
        array_drop_front (&self->batches, self->gone);
        self->gone = 0;
    }
}

void
ring_clear (ring_t *self)
{
    while (s_count (self))
        s_drop_first (self);
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
    self->bytes += payload.size;
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

//  ---- Replay ----
//  All batches are looked up before the first is sent; what leaves the ring meanwhile is held by the copy here.

typedef struct {
    ring_t batches;    //  What was asked for
    uint64_t next;     //  Next number to send
    uint64_t to;       //  Last one
} replay_serving_t;

static void
s_replay_free (replay_serving_t *serving)
{
    ring_fini (&serving->batches);
    memory_free (serving);
}

static void
s_replay_go_on (void *arg, incoming_t *incoming)
{
    replay_serving_t *serving = arg;
    while (serving->next <= serving->to && incoming_position (incoming) < incoming_credit (incoming)) {
        const ring_batch_t *batch = ring_find (&serving->batches, serving->next++);
        replayed_batch_t item = { batch->sequence, batch->wall_ns, batch->payload };
        incoming_send (incoming, 1, &item);
    }
    if (serving->next <= serving->to)
        return;
    replay_end_t end = { 0 };
    s_replay_free (serving);
    incoming_end (incoming, &end);
}

static void
s_replay_cancelled (void *arg, incoming_t *incoming)
{
    s_replay_free (arg);
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

void
ring_serve_replay (const ring_t *self, actor_t *actor, incoming_t *incoming, uint64_t from, uint64_t to)
{
    replay_serving_t *serving = memory_new (sizeof *serving);
    ring_init (&serving->batches, UINT64_MAX);
    serving->next = from;
    serving->to = to;
    for (uint64_t sequence = from; sequence <= to && from; sequence++) {
        const ring_batch_t *batch = ring_find (self, sequence);
        if (!batch)
            break;
        ring_push (&serving->batches, sequence, batch->wall_ns, batch->payload);
    }
    if (from == 0 || ring_last (&serving->batches) != to || to < from) {
        s_replay_free (serving);
        incoming_fail (incoming, STATUS_GAP,
            "batches %" PRIu64 " to %" PRIu64 " are not all here: the ring reaches from %" PRIu64 " to %" PRIu64, from,
            to, ring_first (self), ring_last (self));
        return;
    }
    incoming_watch_t watch = { s_replay_cancelled, s_replay_go_on, serving };
    incoming_watch (incoming, &watch);
    s_replay_go_on (serving, incoming);
}
