#include "runtime/actor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/actor_private.h"

enum {
    MS = 1000000,
    DEFAULT_HEARTBEAT_MS = 1000,
    DEFAULT_LEASE_MS = 5000,
    SCRATCH_MAX = 256 << 20,    //  What one message may expand to
    FIRE_SHARE = 256,           //  Dues served before the port gets its turn
};

static const char *const s_count_names [COUNT_COUNT] = {
    [COUNT_MALFORMED] = "malformed",
    [COUNT_UNKNOWN_METHOD] = "unknown_method",
    [COUNT_BAD_REQUEST] = "bad_request",
    [COUNT_OVERLOADED] = "overloaded",
    [COUNT_TOO_LARGE] = "too_large",
    [COUNT_LATE] = "late_answer",
    [COUNT_PEER_LOST] = "peer_lost",
    [COUNT_STALE] = "stale_event",
    [COUNT_GAP] = "gap",
    [COUNT_REPLAYED] = "replayed",
    [COUNT_SNAPSHOT] = "snapshot",
    [COUNT_FENCE] = "fence",
    [COUNT_BAD_EVENT] = "bad_event",
    [COUNT_UNKEPT] = "unkept",
    [COUNT_DROPPED] = "dropped",
    [COUNT_REGISTERED] = "registered",
    [COUNT_REFUSED] = "refused",
    [COUNT_REBOUND] = "rebound",
    [COUNT_STRANGER] = "stranger",
};

static const metric_desc_t s_bus_metric = {
    .name = "stator_bus_events_total",
    .help = "What happened on the bus, by kind.",
    .kind = METRIC_COUNTER,
    .labels = "kind",
};

static const metric_desc_t s_unrepaired_metric = {
    .name = "stator_bus_unrepaired",
    .help = "Followed streams of sources of which batches are missing that nobody had for ten seconds.",
    .kind = METRIC_GAUGE,
};

static const metric_desc_t s_lost_lines_metric = {
    .name = "stator_log_lines_lost_total",
    .help = "Log lines of the process that could not be written; one of its actors says so.",
    .kind = METRIC_COUNTER,
};

static const metric_desc_t s_turned_away_metric = {
    .name = "stator_peers_turned_away_total",
    .help = "Peers for whom the process had no descriptor left; one of its actors says so.",
    .kind = METRIC_COUNTER,
};

static const uint64_t s_round_edges [] = { MS / 10, MS, 5 * MS, 20 * MS, 100 * MS, 1000 * MS };

static const metric_desc_t s_rounds_metric = {
    .name = "stator_round_seconds",
    .help = "How long the actor was busy before it looked again for what has arrived.",
    .kind = METRIC_HISTOGRAM,
    .scale = 1000 * MS,
    .edges = s_round_edges,
    .edge_count = sizeof s_round_edges / sizeof *s_round_edges,
};

static const metric_desc_t s_longest_metric = {
    .name = ACTOR_LONGEST_ROUND,
    .help = "The longest of stator_round_seconds since the start.",
    .kind = METRIC_GAUGE,
    .scale = 1000 * MS,
};

void
actor_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_bus_metric, &s_unrepaired_metric, &s_rounds_metric,
        &s_longest_metric, &s_lost_lines_metric, &s_turned_away_metric, NULL };
    metrics_tell (all, told, arg);
}

//  ---- Dues ----------------------------------------------------------------------------------------------------------

bool
due_is_set (const due_t *self)
{
    return heap_entry_is_queued (&self->entry);
}

static void
s_set_alarm (actor_t *self)
{
    const heap_entry_t *first = heap_first (&self->dues);
    self->port->table->alarm (self->port, !first ? PORT_NEVER : first->at ? first->at : 1);
}

void
due_at (due_t *self, actor_t *actor, uint64_t at_ns)
{
    due_clear (self, actor);
    heap_insert (&actor->dues, &self->entry, at_ns);
    if (heap_first (&actor->dues) == &self->entry)
        s_set_alarm (actor);
}

void
due_clear (due_t *self, actor_t *actor)
{
    if (due_is_set (self))
        heap_remove (&actor->dues, &self->entry);
}

//  What becomes due by what is fired here waits for the next alarm, so that a chain cannot hold the thread.
static void
s_on_alarm (void *arg)
{
    actor_t *self = arg;
    uint64_t now = actor_now (self);
    uint64_t newest = self->dues.inserted;
    for (int fired = 0; fired < FIRE_SHARE; fired++) {
        heap_entry_t *first = heap_first (&self->dues);
        if (!first || first->at > now || first->order >= newest)
            break;
        heap_remove (&self->dues, first);
        due_t *due = (due_t *)((char *)first - offsetof (due_t, entry));
        due->fire (due);
    }
    s_set_alarm (self);
}

//  ---- Turns ---------------------------------------------------------------------------------------------------------

void
actor_want_turn_end (actor_t *self)
{
    if (!self->in_turn_end)
        self->port->table->turn_end (self->port);
    self->in_turn_end = true;
}

static void
s_on_turn_end (void *arg)
{
    actor_t *self = arg;
    self->in_turn_end = false;
    gather_flush_all (self);
    source_flush_all (self);
    link_free_doomed (self);
}

static void
s_on_round (void *arg, uint64_t busy_ns)
{
    actor_t *self = arg;
    metric_observe (self->rounds, busy_ns);
    if ((int64_t)busy_ns > metric_value (self->longest_round))
        metric_set (self->longest_round, (int64_t)busy_ns);
}

//  ---- Handlers ------------------------------------------------------------------------------------------------------

static void
s_index_handlers (actor_t *self, const actor_handler_t *handlers)
{
    for (const actor_handler_t *handler = handlers; handler->kind != HANDLER_END; handler++)
        if (handler->kind == HANDLER_CALL)
            map_put (self->handlers, span_from_string (handler->type->name), (void *)handler);
}

const actor_handler_t *
actor_handler_of_event (const actor_t *self, const message_type_t *type)
{
    for (const actor_handler_t *handler = self->class->handlers; handler->kind != HANDLER_END; handler++)
        if (handler->kind == HANDLER_EVENT && handler->type == type)
            return handler;
    return NULL;
}

const actor_handler_t *
actor_handler_of (const actor_t *self, handler_kind_t kind, uint16_t stream)
{
    for (const actor_handler_t *handler = self->class->handlers; handler->kind != HANDLER_END; handler++)
        if (handler->kind == kind && handler->stream == stream)
            return handler;
    return NULL;
}

bool
actor_follows (const actor_t *self, uint16_t stream)
{
    for (const actor_handler_t *handler = self->class->handlers; handler->kind != HANDLER_END; handler++)
        if (handler->kind == HANDLER_EVENT && handler->type->stream == stream)
            return true;
    return false;
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static void
s_default (uint64_t *value, uint64_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static void
s_take_options (actor_t *self, const actor_options_t *options)
{
    self->options = *options;
    s_default (&self->options.heartbeat_ns, (uint64_t)DEFAULT_HEARTBEAT_MS * MS);
    s_default (&self->options.lease_ns, (uint64_t)DEFAULT_LEASE_MS * MS);
    s_default (&self->options.ring_bytes, 16 << 20);
    s_default (&self->options.memory_bytes, (uint64_t)1 << 30);
    snprintf (self->address, sizeof self->address, "%s/%s", self->class->name, options->instance);
    snprintf (self->host, sizeof self->host, "%s", options->host ? options->host : "");
    buffer_append (&self->card, options->card);
    array_init (&self->capabilities, sizeof (char *));
    for (const char *const *name = options->capabilities; name && *name; name++)
        *(char **)array_add (&self->capabilities) = memory_copy_string (*name);
}

static void
s_make_counts (actor_t *self)
{
    for (int i = 0; i < COUNT_COUNT; i++) {
        char labels [64];
        snprintf (labels, sizeof labels, "kind=\"%s\"", s_count_names [i]);
        self->counts [i] = metrics_get (self->metrics, &s_bus_metric, labels);
    }
    self->unrepaired = metrics_get (self->metrics, &s_unrepaired_metric, NULL);
    self->rounds = metrics_get (self->metrics, &s_rounds_metric, NULL);
    self->longest_round = metrics_get (self->metrics, &s_longest_metric, NULL);
    port_figures_t figures;
    if (!actor_table (self)->figures (self->port, &figures))
        return;
    self->lost_lines = metrics_get (self->metrics, &s_lost_lines_metric, NULL);
    self->turned_away = metrics_get (self->metrics, &s_turned_away_metric, NULL);
}

static void
s_on_router_message (void *arg, const span_t *frames, size_t count)
{
    incoming_take (arg, frames, count);
}

static void
s_on_router_dropped (void *arg, span_t peer)
{
    incoming_refuse_large (arg, peer);
}

static void
s_on_router_shed (void *arg, const span_t *frames, size_t count)
{
    incoming_refuse_shed (arg, frames, count);
}

static status_t
s_bind (actor_t *self, error_t *error)
{
    if (!self->options.endpoint)
        return STATUS_OK;
    socket_options_t options = { .kind = SOCKET_ROUTER,
        .send_queue = 10000,
        .receive_queue = 10000,
        .on_message = s_on_router_message,
        .on_dropped = s_on_router_dropped,
        .on_shed = s_on_router_shed,
        .arg = self };
    const char *local = self->options.local;
    self->router = actor_table (self)->socket_open (self->port, &options, error);
    if (!self->router || (local && actor_table (self)->socket_bind (self->router, local, error)) ||
        actor_table (self)->socket_bind (self->router, self->options.endpoint, error)) {
        error_prefix (error, "%s", self->address);
        return error ? error->status : STATUS_IO;
    }
    snprintf (self->endpoint, sizeof self->endpoint, "%s", actor_table (self)->socket_endpoint (self->router));
    snprintf (self->local, sizeof self->local, "%s", local ? local : "");
    return STATUS_OK;
}

static void
s_mend (actor_t *self, port_socket_t *socket)
{
    bool mended;
    error_t error;
    status_t status = actor_table (self)->socket_mend (socket, &mended, &error);
    if (status != STATUS_OK)
        actor_log (self, LOG_ERROR,
            "nobody can connect any more, the file of the socket was removed: %s; it is tried until that is mended",
            error.text);
    if (!mended)
        return;
    actor_count (self, COUNT_REBOUND);
    actor_log (self, LOG_WARNING,
        "somebody removed the file of a socket, which is bound again; who was connected is so still. Nothing else may "
        "clean up in the run folder");
}

void
actor_mend (actor_t *self, port_socket_t *other)
{
    if (self->router)
        s_mend (self, self->router);
    if (other)
        s_mend (self, other);
}

static actor_t *
s_alloc (const actor_class_t *class, port_t *port, const actor_options_t *options)
{
    actor_t *self = memory_new (sizeof *self);
    self->class = class;
    self->port = port;
    self->state = memory_new (class->state_size);
    self->ready = true;
    s_take_options (self, options);
    self->source = event_source (span_from_string (self->address));
    port->user = (port_user_t){ s_on_alarm, s_on_turn_end, s_on_round, self };
    self->started_ns = actor_now (self);
    self->incarnation = actor_wall (self);
    heap_init (&self->dues);
    wire_init (&self->wire, port);
    self->gather = gather_new ();
    arena_init (&self->scratch, SCRATCH_MAX);
    budget_init (&self->budget, self->address, self->options.memory_bytes);
    self->metrics = metrics_new ();
    s_make_counts (self);
    uint64_t seed = actor_random (self);
    self->handlers = map_new (0);
    self->incomings = map_new (seed);
    self->links = map_new (seed);
    self->feeds = map_new (seed);
    list_init (&self->doomed_links);
    self->directory = directory_new (self);
    s_index_handlers (self, builtin_handlers);
    s_index_handlers (self, class->handlers);
    return self;
}

//  Everything but the class's own state.
static void
s_free (actor_t *self)
{
    sink_destroy_all (self);
    incoming_destroy_all (self);
    link_destroy_all (self);
    link_free_doomed (self);
    source_destroy_all (self);
    directory_destroy (&self->directory);
    if (self->router)
        actor_table (self)->socket_close (self->router);
    map_destroy (&self->handlers);
    map_destroy (&self->incomings);
    map_destroy (&self->links);
    map_destroy (&self->feeds);
    metrics_destroy (&self->metrics);
    arena_fini (&self->scratch);
    gather_destroy (&self->gather);
    wire_fini (&self->wire);
    heap_fini (&self->dues);
    for (size_t i = 0; i < self->capabilities.count; i++)
        memory_free (*(char **)array_at (&self->capabilities, i));
    array_fini (&self->capabilities);
    buffer_fini (&self->card);
    self->port->table->alarm (self->port, PORT_NEVER);
    self->port->user = (port_user_t){ 0 };
    memory_free (self->state);
    memory_free (self);
}

actor_t *
actor_new (
    const actor_class_t *class, port_t *port, const actor_options_t *options, const void *class_options, error_t *error)
{
    error_t unasked;
    error = error ? error : &unasked;
    actor_t *self = s_alloc (class, port, options);
    if (s_bind (self, error) || sink_open (self, options->events, error)) {
        s_free (self);
        return NULL;
    }
    if (class->init && class->init (self->state, self, class_options, error)) {
        error_prefix (error, "%s", self->address);
        s_free (self);
        return NULL;
    }
    directory_start (self);
    return self;
}

void
actor_destroy (actor_t **self_p)
{
    actor_t *self = *self_p;
    if (!self)
        return;
    if (self->class->fini)
        self->class->fini (self->state, self);
    s_free (self);
    *self_p = NULL;
}

void
actor_drain (actor_t *self)
{
    if (self->draining)
        return;
    self->draining = true;
    directory_announce (self);
    if (self->class->drain)
        self->class->drain (self->state, self);
    else
        actor_drained (self);
}

void
actor_drained (actor_t *self)
{
    BUG_ON (!self->draining);
    if (self->drained)
        return;
    self->drained = true;
    source_flush_all (self);
    directory_stop (self);
}

void
actor_said_goodbye (actor_t *self)
{
    if (self->options.on_drained)
        self->options.on_drained (self->options.arg, self);
}

void
actor_reload (actor_t *self, const void *class_options)
{
    if (self->class->reload)
        self->class->reload (self->state, self, class_options);
}

//  ---- Context -------------------------------------------------------------------------------------------------------

uint64_t
actor_now (const actor_t *self)
{
    return self->port->table->now_ns (self->port);
}

uint64_t
actor_wall (const actor_t *self)
{
    return self->port->table->wall_ns (self->port);
}

uint64_t
actor_random (actor_t *self)
{
    uint64_t value = 0;
    self->port->table->random (self->port, &value, sizeof value);
    return value;
}

port_t *
actor_port (const actor_t *self)
{
    return self->port;
}

metrics_t *
actor_metrics (const actor_t *self)
{
    return self->metrics;
}

void
actor_render_metrics (actor_t *self, buffer_t *out)
{
    actor_note_counts (self);
    metrics_render (self->metrics, out);
}

budget_t *
actor_budget (actor_t *self)
{
    return &self->budget;
}

void *
actor_state (const actor_t *self)
{
    return self->state;
}

const char *
actor_address (const actor_t *self)
{
    return self->address;
}

uint64_t
actor_incarnation (const actor_t *self)
{
    return self->incarnation;
}

void
actor_set_incarnation (actor_t *self, uint64_t incarnation)
{
    self->incarnation = incarnation;
}

bool
actor_is_draining (const actor_t *self)
{
    return self->draining;
}

uint64_t
actor_source (const actor_t *self)
{
    return self->source;
}

void
actor_publish (actor_t *self, const message_type_t *type, const void *event)
{
    source_publish (self, type, event);
}

uint64_t
actor_published (const actor_t *self, uint16_t stream)
{
    return source_sequence (self, stream);
}

void
actor_set_card (actor_t *self, span_t card)
{
    buffer_clear (&self->card);
    buffer_append (&self->card, card);
    directory_announce_card (self);
}

void
actor_set_ready (actor_t *self, bool ready)
{
    if (self->ready == ready)
        return;
    self->ready = ready;
    directory_announce (self);
}

void
actor_count (actor_t *self, runtime_count_t count)
{
    metric_add (self->counts [count], 1);
}

void
actor_note_counts (actor_t *self)
{
    port_figures_t figures;
    if (actor_table (self)->figures (self->port, &figures)) {
        metric_set (self->lost_lines, (int64_t)figures.lost_lines);
        metric_set (self->turned_away, (int64_t)figures.turned_away);
    }
    if (self->router)
        metric_set (self->counts [COUNT_STRANGER], (int64_t)actor_table (self)->socket_refused (self->router));
    if (self->class->measure)
        self->class->measure (self->state, self);
}

void
actor_forward (actor_t *self, port_socket_t *socket, const span_t frames [3])
{
    actor_table (self)->socket_forward (socket, self->router, frames, 3);
}

bool
actor_sender_may_speak (actor_t *self, span_t address)
{
    socket_sender_t sender = actor_table (self)->socket_sender (self->router);
    bool may = guard_may_speak (self->options.guard, &sender, address);
    if (!may)
        actor_count (self, COUNT_REFUSED);
    return may;
}

void
actor_log (actor_t *self, log_level_t level, const char *format, ...)
{
    char line [1024];
    va_list arguments;
    int head = snprintf (line, sizeof line, "%s: ", self->address);
    va_start (arguments, format);
    int size = vsnprintf (line + head, sizeof line - (size_t)head, format, arguments);
    va_end (arguments);
    if (size < 0)
        return;
    size_t shown = (size_t)(head + size);
    self->port->table->log (self->port, level, span_of (line, shown < sizeof line ? shown : sizeof line - 1));
}
