//  builtin - what every actor answers: ping, get_status, get_metrics, drain, replay, snapshot

#include "base/memory.h"
#include "runtime/actor_private.h"
#include "schemas/batch.h"
#include "schemas/status.h"

enum { MS = 1000000, SNAPSHOT_PART_BYTES = 256 << 10, FIGURES_MAX = 4096 };

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
    actor_note_counts (actor);
    metrics_render (actor->metrics, &text);
    metrics_text_t reply = { buffer_span (&text) };
    incoming_reply (incoming, &reply);
    buffer_fini (&text);
}

static void
s_on_drain (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    drain_reply_t reply = { (uint32_t)(map_count (actor->incomings) - 1) };
    incoming_reply (incoming, &reply);
    actor_drain (actor);
}

static void
s_on_replay (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const replay_t *replay = message;
    const ring_t *ring = NULL;
    if (replay->source != actor->source && actor->class->find_ring)
        ring = actor->class->find_ring (self, replay->source, replay->stream, replay->incarnation);
    else if (replay->source == actor->source && replay->incarnation == actor->incarnation)
        ring = source_ring (actor, replay->stream);
    if (!ring) {
        incoming_fail (incoming, STATUS_GAP, "%s has no such batches", actor->address);
        return;
    }
    ring_serve_replay (ring, actor, incoming, replay->from, replay->to);
}

//  ---- Snapshots: all parts are written at once, then sent under credit ----

struct snapshot {
    actor_t *actor;          //  Whose
    incoming_t *incoming;    //  To whom
    batch_t part;            //  Being written
    array_t parts;           //  buffer_t, finished ones
    size_t next;             //  Part to send
    uint64_t incarnation;    //  What the state contains
    uint64_t sequence;       //  What the state contains
};

static void
s_close_part (snapshot_t *self)
{
    if (self->part.count == 0)
        return;
    buffer_t *part = array_add (&self->parts);
    buffer_append (part, batch_span (&self->part));
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

static void
s_snapshot_free (snapshot_t *self)
{
    for (size_t i = 0; i < self->parts.count; i++)
        buffer_fini (array_at (&self->parts, i));
    array_fini (&self->parts);
    batch_fini (&self->part);
    memory_free (self);
}

static void
s_snapshot_go_on (void *arg, incoming_t *incoming)
{
    snapshot_t *self = arg;
    while (self->next < self->parts.count && incoming_position (incoming) < incoming_credit (incoming)) {
        snapshot_part_t part = { buffer_span (array_at (&self->parts, self->next++)) };
        incoming_send (incoming, 1, &part);
    }
    if (self->next < self->parts.count)
        return;
    snapshot_end_t end = { self->incarnation, self->sequence };
    s_snapshot_free (self);
    incoming_end (incoming, &end);
}

static void
s_snapshot_cancelled (void *arg, incoming_t *incoming)
{
    s_snapshot_free (arg);
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

static void
s_on_snapshot (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const take_snapshot_t *request = message;
    const actor_handler_t *handler = actor_handler_of (actor, HANDLER_SNAPSHOT, request->stream);
    snapshot_t *snapshot = memory_new (sizeof *snapshot);
    snapshot->actor = actor;
    snapshot->incarnation = actor->incarnation;
    source_flush_all (actor);
    snapshot->sequence = source_sequence (actor, request->stream);
    batch_init (&snapshot->part);
    array_init (&snapshot->parts, sizeof (buffer_t));
    if (!handler || handler->on_snapshot (self, actor, request->source, snapshot)) {
        s_snapshot_free (snapshot);
        incoming_fail (incoming, STATUS_NOT_FOUND, "%s has no snapshot of that source and stream", actor->address);
        return;
    }
    s_close_part (snapshot);
    if (snapshot->incarnation < request->incarnation ||
        (snapshot->incarnation == request->incarnation && snapshot->sequence < request->sequence)) {
        s_snapshot_free (snapshot);
        incoming_fail (incoming, STATUS_STALE, "%s has an older state than asked for", actor->address);
        return;
    }
    incoming_watch_t watch = { s_snapshot_cancelled, s_snapshot_go_on, snapshot };
    incoming_watch (incoming, &watch);
    s_snapshot_go_on (snapshot, incoming);
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
