//  source - what this actor publishes
//
//  Events of one turn become one batch a stream at the turn's end.  A batch gets its number, goes into the ring, and is
//  handed to the broker; it counts as handed over when the broker has acknowledged it.  At most HANDOVER_WINDOW batches
//  are under way.  When the broker is a new one, or has not acknowledged for a while, everything that is not acknowledged
//  and still in the ring is sent again: the broker drops what it has.  What left the ring before that, or is larger than a
//  message may be and never gets there, is a gap, which those who follow notice and fill by snapshot.

#include "base/memory.h"
#include "runtime/actor_private.h"
#include "runtime/directory.h"
#include "schemas/batch.h"
#include "schemas/event_header.h"

enum { BATCH_BYTES = 256 << 10 };

//  Of a batch that is one event; the topic and the headers have room beside it.
#define BATCH_BYTES_MAX (SOCKET_MESSAGE_MAX - 4096)
static const uint64_t ACK_PATIENCE_NS = 2000000000;

struct source {
    actor_t *actor;            //  Whose
    uint16_t stream;           //  Number
    buffer_t topic;            //  "<stream>.<address>."
    uint64_t sequence;         //  Last batch numbered
    uint64_t sent;             //  Last batch sent to the broker
    uint64_t acknowledged;     //  Last batch the broker has
    ring_t ring;               //  The last ones
    batch_t batch;             //  Of this turn
    actor_timer_t patience;    //  Until what was sent is sent again
};

static source_t *
s_source (actor_t *actor, uint16_t stream)
{
    source_t *self = actor->sources [stream];
    if (self)
        return self;
    self = memory_new (sizeof *self);
    self->actor = actor;
    self->stream = stream;
    event_topic_append (&self->topic, stream, span_from_string (actor->address));
    ring_init (&self->ring, actor->options.ring_bytes);
    batch_init (&self->batch);
    actor->sources [stream] = self;
    return self;
}

//  ---- Hand-over -----------------------------------------------------------------------------------------------------

static void
s_make_frames (source_t *self, const ring_batch_t *batch, uint8_t header [EVENT_HEADER_SIZE], span_t frames [3])
{
    event_header_t event = {
        .version = EVENT_VERSION,
        .stream = self->stream,
        .source = self->actor->source,
        .incarnation = self->actor->incarnation,
        .sequence = batch->sequence,
        .wall_ns = batch->wall_ns,
    };
    event_header_encode (&event, header);
    frames [0] = buffer_span (&self->topic);
    frames [1] = span_of (header, EVENT_HEADER_SIZE);
    frames [2] = batch->payload;
}

static bool
s_hand_over (source_t *self, const ring_batch_t *batch)
{
    uint8_t bytes [EVENT_HEADER_SIZE];
    span_t frames [3];
    s_make_frames (self, batch, bytes, frames);
    link_t *broker = link_to (self->actor, SPAN (BROKER_ADDRESS), NULL);
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_EVENT };
    return broker && link_send_frames (broker, &header, frames, 3) == STATUS_OK;
}

static void s_out_of_patience (void *state, actor_t *actor, void *arg);

//  The batch to send next; NULL where it is not in the ring.  What is not can never be acknowledged, so it must not fill the
//  window for ever: once nothing is under way it is skipped.
static const ring_batch_t *
s_next (source_t *self)
{
    const ring_batch_t *batch;
    while (!(batch = ring_find (&self->ring, self->sent + 1)) && self->sent == self->acknowledged &&
           self->sent < self->sequence) {
        actor_count (self->actor, COUNT_DROPPED);
        self->sent = ++self->acknowledged;
    }
    return batch;
}

static void
s_pump (source_t *self)
{
    if (!directory_is_registered (self->actor))
        return;
    while (self->sent < self->sequence && self->sent - self->acknowledged < HANDOVER_WINDOW) {
        const ring_batch_t *batch = s_next (self);
        if (!batch || !s_hand_over (self, batch))
            break;
        self->sent++;
    }
    if (self->acknowledged < self->sequence && !timer_is_running (&self->patience))
        timer_start (&self->patience, self->actor, ACK_PATIENCE_NS, s_out_of_patience, self);
}

static void
s_resend (source_t *self)
{
    self->sent = self->acknowledged;
    timer_stop (&self->patience);
    s_pump (self);
}

static void
s_out_of_patience (void *state, actor_t *actor, void *arg)
{
    s_resend (arg);
}

void
source_acknowledged (actor_t *actor, uint16_t stream, uint64_t sequence)
{
    source_t *self = stream < STREAM_COUNT ? actor->sources [stream] : NULL;
    if (!self || sequence <= self->acknowledged || sequence > self->sequence)
        return;
    self->acknowledged = sequence;
    if (self->sent < sequence)
        self->sent = sequence;
    timer_stop (&self->patience);
    s_pump (self);
}

void
source_resend_all (actor_t *actor)
{
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        if (actor->sources [stream])
            s_resend (actor->sources [stream]);
}

//  ---- Publishing ----------------------------------------------------------------------------------------------------

//  The batch gets its number, which it takes with it where it is too large for a message.
static const ring_batch_t *
s_number (source_t *self)
{
    actor_t *actor = self->actor;
    span_t payload = batch_span (&self->batch);
    self->sequence++;
    if (payload.size > BATCH_BYTES_MAX) {
        actor_count (actor, COUNT_TOO_LARGE);
        actor_log (actor, LOG_ERROR,
            "an event of stream %s has %zu bytes, which is more than a message may have: dropped",
            stream_name (self->stream), payload.size);
    } else {
        ring_push (&self->ring, self->sequence, actor_wall (actor), payload);
    }
    batch_clear (&self->batch);
    return ring_find (&self->ring, self->sequence);
}

static void
s_flush (source_t *self)
{
    actor_t *actor = self->actor;
    if (self->batch.count == 0)
        return;
    const ring_batch_t *batch = s_number (self);
    if (actor->class->on_publish && batch) {
        uint8_t header [EVENT_HEADER_SIZE];
        span_t frames [3];
        s_make_frames (self, batch, header, frames);
        actor->class->on_publish (actor->state, actor, frames);
    } else if (actor->options.broker) {
        s_pump (self);
    }
}

void
source_publish (actor_t *actor, const message_type_t *type, const void *event)
{
    source_t *self = s_source (actor, type->stream);
    batch_append (&self->batch, type, event);
    if (batch_size (&self->batch) >= BATCH_BYTES)
        s_flush (self);
    else
        actor_want_turn_end (actor);
}

void
source_flush_all (actor_t *actor)
{
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        if (actor->sources [stream])
            s_flush (actor->sources [stream]);
}

void
source_destroy_all (actor_t *actor)
{
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        source_t *self = actor->sources [stream];
        if (!self)
            continue;
        timer_stop (&self->patience);
        ring_fini (&self->ring);
        batch_fini (&self->batch);
        buffer_fini (&self->topic);
        memory_free (self);
        actor->sources [stream] = NULL;
    }
}

const ring_t *
source_ring (const actor_t *actor, uint16_t stream)
{
    return stream < STREAM_COUNT && actor->sources [stream] ? &actor->sources [stream]->ring : NULL;
}

uint64_t
source_sequence (const actor_t *actor, uint16_t stream)
{
    return stream < STREAM_COUNT && actor->sources [stream] ? actor->sources [stream]->sequence : 0;
}

void
source_tails (const actor_t *actor, array_t *tails)
{
    for (uint16_t stream = 0; stream < STREAM_COUNT; stream++) {
        if (!actor->sources [stream])
            continue;
        stream_tail_t *tail = array_add (tails);
        tail->stream = stream;
        tail->sequence = actor->sources [stream]->sequence;
    }
}
