//  builtin - what every actor answers: ping, get_status, get_metrics, drain, replay, take_snapshot

#include <inttypes.h>

#include "base/memory.h"
#include "runtime/actor_private.h"
#include "runtime/timer.h"
#include "schemas/batch.h"
#include "schemas/status.h"

enum { MS = 1000000, SNAPSHOT_PART_BYTES = 256 << 10, FIGURES_MAX = 4096 };

//  Who asks for batches or a snapshot takes them as they come: a caller that gives no credit for so long is gone.
static const uint64_t PATIENCE_NS = 30000000000;

static uint64_t
s_uptime_ms (const actor_t *actor)
{
    return (actor_now (actor) - actor->started_ns) / MS;
}

static void
s_on_ping (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    pong_t reply = { span_from_string (actor->address), actor->incarnation, s_uptime_ms (actor) };
    incoming_reply (incoming, &reply);
}

static const char *
s_state (const actor_t *actor)
{
    return actor->draining ? "draining" : actor_accepts (actor) ? "ready" : "starting";
}

static void
s_collect_figures (const actor_t *actor, array_t *figures)
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    while (figures->count < FIGURES_MAX && metrics_next (actor->metrics, &cursor, &name, &labels, &value)) {
        figure_t figure = { span_from_string (name), span_from_string (labels), value };
        array_append (figures, &figure, 1);
    }
}

static void
s_collect_methods (const actor_t *actor, array_t *methods)
{
    size_t cursor = 0;
    span_t method;
    void *handler;
    while (map_next (actor->handlers, &cursor, &method, &handler))
        array_append (methods, &method, 1);
}

static void
s_on_get_status (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    buffer_t detail = { 0 };
    array_t figures, methods;
    array_init (&figures, sizeof (figure_t));
    array_init (&methods, sizeof (span_t));
    if (actor->class->describe)
        actor->class->describe (self, actor, &detail);
    actor_note_counts (actor);
    s_collect_figures (actor, &figures);
    s_collect_methods (actor, &methods);
    actor_status_t reply = {
        .address = span_from_string (actor->address),
        .incarnation = actor->incarnation,
        .uptime_ms = s_uptime_ms (actor),
        .state = span_from_string (s_state (actor)),
        .detail = buffer_span (&detail),
        .figures = figures.data,
        .figures_count = figures.count,
        .methods = methods.data,
        .methods_count = methods.count,
    };
    incoming_reply (incoming, &reply);
    array_fini (&methods);
    array_fini (&figures);
    buffer_fini (&detail);
}

static void
s_on_get_metrics (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    buffer_t text = { 0 };
    actor_render_metrics (actor, &text);
    metrics_text_t reply = { buffer_span (&text) };
    incoming_reply (incoming, &reply);
    buffer_fini (&text);
}

static void
s_on_drain (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    drain_reply_t reply = { (uint32_t)map_count (actor->incomings) };
    incoming_reply (incoming, &reply);
    actor_drain (actor);
}

//  ---- Replay: sent from the ring itself; what has left it when its turn comes is a gap ------------------------------

typedef struct {
    actor_t *actor;           //  Whose ring, or who keeps it for others
    const replay_t *asked;    //  Lives as long as the incoming
    uint64_t next;            //  Number to send
} replaying_t;

static const ring_t *
s_find_ring (actor_t *actor, const replay_t *asked)
{
    if (asked->source != actor->source && actor->class->find_ring)
        return actor->class->find_ring (actor->state, asked->source, asked->stream, asked->incarnation);
    if (asked->source == actor->source && asked->incarnation == actor->incarnation)
        return source_ring (actor, asked->stream);
    return NULL;
}

static void
s_fail_replay (replaying_t *self, incoming_t *incoming, const ring_t *ring)
{
    incoming_fail (incoming, STATUS_GAP,
        "batches %" PRIu64 " to %" PRIu64 " are not all here: the ring reaches from %" PRIu64 " to %" PRIu64,
        self->next, self->asked->to, ring ? ring_first (ring) : 0, ring ? ring_last (ring) : 0);
}

static void
s_replay_go_on (void *arg, incoming_t *incoming)
{
    replaying_t *self = arg;
    const ring_t *ring = s_find_ring (self->actor, self->asked);
    while (self->next <= self->asked->to && incoming_position (incoming) < incoming_credit (incoming)) {
        const ring_batch_t *batch = ring ? ring_find (ring, self->next) : NULL;
        if (!batch) {
            s_fail_replay (self, incoming, ring);
            return;
        }
        replayed_batch_t item = { batch->sequence, batch->wall_ns, batch->payload };
        incoming_send (incoming, 1, &item);
        self->next++;
    }
    if (self->next > self->asked->to)
        incoming_end (incoming, &(replay_end_t){ 0 });
}

static void
s_give_up (void *arg, incoming_t *incoming)
{
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

static void
s_on_replay (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const replay_t *asked = message;
    const ring_t *ring = s_find_ring (actor, asked);
    replaying_t *replaying = memory_new (sizeof *replaying);
    *replaying = (replaying_t){ actor, asked, asked->from };
    incoming_watch (incoming, &(incoming_watch_t){ .on_cancel = s_give_up,
                                  .on_credit = s_replay_go_on,
                                  .on_free = memory_free,
                                  .arg = replaying,
                                  .patience_ns = PATIENCE_NS });
    if (!ring || asked->from > asked->to || !ring_find (ring, asked->from) || !ring_find (ring, asked->to))
        s_fail_replay (replaying, incoming, ring);
    else
        s_replay_go_on (replaying, incoming);
}

//  ---- Snapshots: all parts are written, at once or in slices, then sent under credit --------------------------------

struct snapshot {
    actor_t *actor;                  //  Whose
    incoming_t *incoming;            //  For whom
    const take_snapshot_t *asked;    //  What; as long as the incoming is there
    actor_timer_t slice;             //  When more is written
    snapshot_more_fn *more;          //  By whom; NULL: all was written at once
    void (*free) (void *arg);        //  Who is told that it goes on no further; NULL: nobody, or it was
    void *arg;                       //  For both
    bool written;                    //  All parts are there
    batch_t part;                    //  Being written
    array_t parts;                   //  buffer_t, finished ones
    uint64_t taken;                  //  Of the budget, for the finished ones
    bool too_large;                  //  The budget has no room for it: nothing of it is kept
    size_t next;                     //  Part to send
    uint64_t incarnation;            //  What the state contains
    uint64_t sequence;               //  What the state contains
};

static void
s_drop_parts (snapshot_t *self)
{
    for (size_t i = 0; i < self->parts.count; i++)
        buffer_fini (array_at (&self->parts, i));
    array_cut (&self->parts, 0);
    budget_give (&self->actor->budget, self->taken);
    self->taken = 0;
}

static void
s_close_part (snapshot_t *self)
{
    span_t bytes = batch_span (&self->part);
    if (self->part.count == 0)
        return;
    self->too_large = self->too_large || budget_take (&self->actor->budget, bytes.size, NULL);
    if (self->too_large) {
        s_drop_parts (self);
    } else {
        buffer_append (array_add (&self->parts), bytes);
        self->taken += bytes.size;
    }
    batch_clear (&self->part);
}

void
snapshot_add (snapshot_t *self, const message_type_t *type, const void *event)
{
    batch_append (&self->part, type, event);
    if (batch_size (&self->part) >= SNAPSHOT_PART_BYTES)
        s_close_part (self);
}

void
snapshot_set_position (snapshot_t *self, uint64_t incarnation, uint64_t sequence)
{
    self->incarnation = incarnation;
    self->sequence = sequence;
}

void
snapshot_go_on (snapshot_t *self, snapshot_more_fn *more, void (*free) (void *arg), void *arg)
{
    self->more = more;
    self->free = free;
    self->arg = arg;
}

//  Nothing comes after this.
static void
s_stop_writing (snapshot_t *self)
{
    timer_stop (&self->slice);
    if (self->free)
        self->free (self->arg);
    self->free = NULL;
}

static void
s_snapshot_free (void *arg)
{
    snapshot_t *self = arg;
    s_stop_writing (self);
    s_drop_parts (self);
    array_fini (&self->parts);
    batch_fini (&self->part);
    memory_free (self);
}

static void
s_snapshot_go_on (void *arg, incoming_t *incoming)
{
    snapshot_t *self = arg;
    if (!self->written)
        return;
    while (self->next < self->parts.count && incoming_position (incoming) < incoming_credit (incoming)) {
        snapshot_part_t part = { buffer_span (array_at (&self->parts, self->next++)) };
        incoming_send (incoming, 1, &part);
    }
    if (self->next == self->parts.count)
        incoming_end (incoming, &(snapshot_end_t){ self->incarnation, self->sequence });
}

static snapshot_t *
s_snapshot_new (actor_t *actor, incoming_t *incoming, const take_snapshot_t *asked)
{
    snapshot_t *self = memory_new (sizeof *self);
    source_flush_all (actor);
    self->actor = actor;
    self->incoming = incoming;
    self->asked = asked;
    self->incarnation = actor->incarnation;
    self->sequence = source_sequence (actor, asked->stream);
    batch_init (&self->part);
    array_init (&self->parts, sizeof (buffer_t));
    return self;
}

static bool
s_is_older (const snapshot_t *self)
{
    return self->incarnation < self->asked->incarnation ||
           (self->incarnation == self->asked->incarnation && self->sequence < self->asked->sequence);
}

//  All is written, or there is no room for it.  What an actor says of itself is what led to it up to now.
static void
s_end_writing (snapshot_t *self)
{
    if (self->asked->source == actor_source (self->actor)) {
        source_flush_all (self->actor);
        self->sequence = source_sequence (self->actor, self->asked->stream);
    }
    s_stop_writing (self);
    s_close_part (self);
    self->written = true;
    if (self->too_large)
        incoming_fail (self->incoming, STATUS_LIMIT, "%s has no memory left for a snapshot", self->actor->address);
    else if (s_is_older (self))
        incoming_fail (self->incoming, STATUS_STALE, "%s has an older state than asked for", self->actor->address);
    else
        s_snapshot_go_on (self, self->incoming);
}

static void
s_write_slice (void *state, actor_t *actor, void *arg)
{
    snapshot_t *self = arg;
    bool ended = !self->more;
    status_t status = ended ? STATUS_OK : self->more (state, actor, self->arg, self, &ended);
    if (status != STATUS_OK)
        incoming_fail (self->incoming, status, "%s cannot go on with its snapshot", actor->address);
    else if (ended || self->too_large)
        s_end_writing (self);
    else
        timer_start (&self->slice, actor, 0, s_write_slice, self);
}

static void
s_on_snapshot (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const take_snapshot_t *asked = message;
    const actor_handler_t *handler = actor_handler_of (actor, HANDLER_SNAPSHOT, asked->stream);
    snapshot_t *snapshot = s_snapshot_new (actor, incoming, asked);
    incoming_watch (incoming, &(incoming_watch_t){ .on_cancel = s_give_up,
                                  .on_credit = s_snapshot_go_on,
                                  .on_free = s_snapshot_free,
                                  .arg = snapshot,
                                  .patience_ns = PATIENCE_NS });
    if (handler && handler->on_snapshot (self, actor, asked->source, snapshot) == STATUS_OK)
        s_write_slice (self, actor, snapshot);
    else
        incoming_fail (incoming, STATUS_NOT_FOUND, "%s has no snapshot of that source and stream", actor->address);
}

const actor_handler_t builtin_handlers [] = {
    HANDLES_CALL (ping, s_on_ping),
    HANDLES_CALL (get_status, s_on_get_status),
    HANDLES_CALL (get_metrics, s_on_get_metrics),
    HANDLES_CALL (drain, s_on_drain),
    HANDLES_CALL (replay, s_on_replay),
    HANDLES_CALL (take_snapshot, s_on_snapshot),
    HANDLERS_END,
};
