//  What a worker tells others unasked: blocks, load, metrics.

#include <stdio.h>

#include "base/memory.h"
#include "schemas/event.h"
#include "schemas/kv.h"
#include "workers/worker_private.h"

enum { MILLION = 1000000, BEAT_NS = 1000000000, SLICE_BLOCKS = 256 };

#define OF_MODEL(text, sentence, what)                                               \
    {                                                                                \
        { .name = text, .help = sentence, .kind = what, .labels = "model_name" }, "" \
    }
#define OF_TIER(text, sentence, what, unit)                                                           \
    {                                                                                                 \
        { .name = text, .help = sentence, .kind = what, .scale = unit, .labels = "model_name,tier" }, \
            ",tier=\"device\""                                                                        \
    }

static const metric_desc_t s_refused_metric = { .name = "stator_worker_refused_total",
    .help = "Generations that were not begun.",
    .kind = METRIC_COUNTER,
    .labels = "reason" };

//  A metric of every worker; `labels` follow the model's name.
static const struct {
    metric_desc_t desc;    //  What it is
    const char *labels;    //  Further ones
} s_figures [FIGURE_COUNT] = {
    [COUNT_PROMPT] = OF_MODEL ("stator_prompt_tokens_total", "Prompt tokens of ended generations.", METRIC_COUNTER),
    [COUNT_CACHED] =
        OF_TIER ("stator_prompt_tokens_cached_total", "Of these, found in the engine's cache.", METRIC_COUNTER, 1),
    [COUNT_PREDICTED] =
        OF_MODEL ("stator_prompt_tokens_predicted_total", "Of these, that the worker believed there.", METRIC_COUNTER),
    [COUNT_GENERATED] = OF_MODEL ("stator_generation_tokens_total", "Tokens the engine produced.", METRIC_COUNTER),
    [COUNT_OVERRUN] = OF_MODEL ("stator_worker_overruns_total",
        "Generations cut off because the engine said more than there was room for.", METRIC_COUNTER),
    [COUNT_UNREAD] = OF_MODEL (
        "stator_worker_unread_total", "Generations given up because nobody took their tokens.", METRIC_COUNTER),
    [COUNT_SUSPECT] =
        OF_MODEL ("stator_worker_suspect_total", "Times the engine had work and moved no token.", METRIC_COUNTER),
    [GAUGE_RUNNING] = OF_MODEL ("stator_requests_running", "Requests the engine computes.", METRIC_GAUGE),
    [GAUGE_WAITING] = OF_MODEL ("stator_requests_waiting", "Requests the engine has not begun.", METRIC_GAUGE),
    [GAUGE_KV_USAGE] =
        OF_TIER ("stator_kv_cache_usage_ratio", "Blocks that running requests use, of all.", METRIC_GAUGE, MILLION),
    [GAUGE_KV_HELD] = OF_TIER ("stator_kv_blocks_held", "Blocks that can be read.", METRIC_GAUGE, 1),
    [GAUGE_PARKED] =
        OF_MODEL ("stator_worker_parked_tokens", "Tokens that wait for their caller's credit.", METRIC_GAUGE),
};

//  ---- Metrics -------------------------------------------------------------------------------------------------------

void
report_list_metrics (metric_told_fn *told, void *arg)
{
    for (int i = 0; i < FIGURE_COUNT; i++)
        told (arg, &s_figures [i].desc);
    told (arg, &s_refused_metric);
}

void
report_card (worker_t *self)
{
    buffer_t labels = { 0 };
    metrics_add_label (&labels, "model_name", self->card.model);
    size_t size = labels.size;
    for (int i = 0; i < FIGURE_COUNT; i++) {
        buffer_append_string (&labels, s_figures [i].labels);
        self->figures [i] = metrics_get (actor_metrics (self->actor), &s_figures [i].desc, buffer_string (&labels));
        labels.size = size;
    }
    buffer_fini (&labels);
}

void
report_count (worker_t *self, figure_t figure, int64_t amount)
{
    if (self->figures [figure])
        metric_add (self->figures [figure], amount);
}

void
report_refused (worker_t *self, status_t status)
{
    char labels [64];
    snprintf (labels, sizeof labels, "reason=\"%s\"", status_name (status));
    metric_add (metrics_get (actor_metrics (self->actor), &s_refused_metric, labels), 1);
}

//  ---- Blocks --------------------------------------------------------------------------------------------------------

static column_t
s_pack (worker_t *self, const hash128_t *hashes, size_t count)
{
    buffer_clear (&self->packed);
    for (size_t i = 0; i < count; i++)
        column_pack_hash128 (&self->packed, hashes [i]);
    return column_of_hash128 (buffer_span (&self->packed));
}

static kv_stored_t
s_stored (worker_t *self, hash128_t parent, const hash128_t *hashes, size_t count)
{
    return (kv_stored_t){
        .namespace_id = self->space.id,
        .tier = TIER_DEVICE,
        .has_parent = !hash128_equal (parent, SEQUENCE_ROOT),
        .parent = parent,
        .hashes = s_pack (self, hashes, count),
    };
}

static void
s_publish_stored (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
    worker_t *self = arg;
    kv_stored_t event = s_stored (self, parent, hashes, count);
    actor_publish (self->actor, &kv_stored_message, &event);
}

static void
s_note_held (worker_t *self)
{
    if (self->figures [GAUGE_KV_HELD])
        metric_set (self->figures [GAUGE_KV_HELD], (int64_t)holdings_count (self->holdings));
}

void
report_on_stored (void *worker, hash128_t parent, const hash128_t *hashes, size_t count)
{
    worker_t *self = worker;
    holdings_add (self->holdings, parent, hashes, count, s_publish_stored, self);
    s_note_held (self);
}

void
report_on_removed (void *worker, const uint64_t *hashes, size_t count)
{
    worker_t *self = worker;
    array_cut (&self->gone, 0);
    hash128_t *gone = array_append (&self->gone, NULL, count);
    size_t left = holdings_remove (self->holdings, hashes, count, gone);
    while (left) {
        size_t part = left < KV_REMOVED_HASHES_MAX ? left : KV_REMOVED_HASHES_MAX;
        kv_removed_t event = {
            .namespace_id = self->space.id,
            .tier = TIER_DEVICE,
            .hashes = s_pack (self, gone, part),
        };
        actor_publish (self->actor, &kv_removed_message, &event);
        gone += part;
        left -= part;
    }
    s_note_held (self);
}

void
report_clear (worker_t *self)
{
    if (!holdings_count (self->holdings))
        return;
    holdings_clear (self->holdings);
    kv_cleared_t event = { .tier = TIER_DEVICE };
    actor_publish (self->actor, &kv_cleared_message, &event);
    s_note_held (self);
}

//  Blocks on their way to somebody, as events.
typedef struct {
    worker_t *worker;               //  Whose
    holdings_walk_t walk;           //  Through them
    worker_stored_fn *on_stored;    //  Told
    void *arg;                      //  For on_stored
} telling_t;

static void
s_tell_stored (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
    telling_t *telling = arg;
    kv_stored_t event = s_stored (telling->worker, parent, hashes, count);
    telling->on_stored (telling->arg, &event);
}

static void
s_ignore_gone (void *arg, const hash128_t *hash)
{
}

void
worker_tell_kv (const actor_t *worker, worker_stored_fn *on_stored, void *arg)
{
    telling_t telling = { .worker = actor_state (worker), .on_stored = on_stored, .arg = arg };
    holdings_walk_begin (telling.worker->holdings, &telling.walk, s_ignore_gone, NULL);
    holdings_walk_next (&telling.walk, SIZE_MAX, s_tell_stored, &telling);
    holdings_walk_end (&telling.walk);
}

static void
s_add_stored (void *arg, const kv_stored_t *event)
{
    snapshot_add (arg, &kv_stored_message, event);
}

//  A block that the snapshot has went meanwhile, or all did.
static void
s_add_gone (void *arg, const hash128_t *hash)
{
    telling_t *telling = arg;
    kv_removed_t removed = { .namespace_id = telling->worker->space.id, .tier = TIER_DEVICE };
    kv_cleared_t cleared = { .tier = TIER_DEVICE };
    uint8_t bytes [HASH128_SIZE];
    if (hash) {
        hash128_to_bytes (*hash, bytes);
        removed.hashes = (column_t){ bytes, 1 };
        snapshot_add (telling->arg, &kv_removed_message, &removed);
    } else
        snapshot_add (telling->arg, &kv_cleared_message, &cleared);
}

static status_t
s_write_more (void *self, actor_t *actor, void *arg, snapshot_t *snapshot, bool *ended)
{
    telling_t *telling = arg;
    *ended = !holdings_walk_next (&telling->walk, SLICE_BLOCKS, s_tell_stored, telling);
    return STATUS_OK;
}

static void
s_stop_writing (void *arg)
{
    telling_t *telling = arg;
    holdings_walk_end (&telling->walk);
    memory_free (telling);
}

status_t
report_snapshot_kv (void *self, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    if (source != actor_source (actor))
        return STATUS_NOT_FOUND;
    telling_t *telling = memory_new (sizeof *telling);
    *telling = (telling_t){ .worker = self, .on_stored = s_add_stored, .arg = snapshot };
    holdings_walk_begin (telling->worker->holdings, &telling->walk, s_add_gone, telling);
    snapshot_go_on (snapshot, s_write_more, s_stop_writing, telling);
    return STATUS_OK;
}

//  ---- Load ----------------------------------------------------------------------------------------------------------

static bool
s_load_equal (const worker_load_t *a, const worker_load_t *b)
{
    return a->running == b->running && a->waiting == b->waiting && a->prefill_tokens == b->prefill_tokens &&
           a->kv_used == b->kv_used && a->kv_capacity == b->kv_capacity;
}

static void
s_publish_load (worker_t *self)
{
    worker_load_t load = { 0 };
    self->class->load (self->engine, &load);
    uint64_t now = actor_now (self->actor);
    bool due = now - self->load_ns >= BEAT_NS;
    if (!due && s_load_equal (&load, &self->load))
        return;
    self->load = load;
    self->load_ns = now;
    actor_publish (self->actor, &worker_load_message, &load);
    metric_set (self->figures [GAUGE_RUNNING], load.running);
    metric_set (self->figures [GAUGE_WAITING], load.waiting);
    metric_set (
        self->figures [GAUGE_KV_USAGE], load.kv_capacity ? (int64_t)(load.kv_used * MILLION / load.kv_capacity) : 0);
}

static void s_on_beat (void *self_, actor_t *actor, void *arg);

//  The next beat comes a heartbeat after the last report, whatever happens.
static void
s_wait_heartbeat (worker_t *self)
{
    uint64_t since = self->load_ns ? actor_now (self->actor) - self->load_ns : 0;
    timer_start (&self->beat, self->actor, BEAT_NS - since, s_on_beat, NULL);
}

static void
s_on_beat (void *self_, actor_t *actor, void *arg)
{
    worker_t *self = self_;
    self->load_changed = false;
    if (self->known)
        s_publish_load (self);
    s_wait_heartbeat (self);
    holdings_shed (self->holdings);
    generation_check_readers (self);
}

void
report_on_load (void *worker)
{
    worker_t *self = worker;
    if (self->load_changed)
        return;
    self->load_changed = true;
    uint64_t since = actor_now (self->actor) - self->load_ns;
    uint64_t interval = self->options.load_interval_ns;
    timer_start (&self->beat, self->actor, since < interval ? interval - since : 0, s_on_beat, NULL);
}

void
report_start (worker_t *self)
{
    if (!timer_is_running (&self->beat))
        s_wait_heartbeat (self);
}

void
report_stop (worker_t *self)
{
    timer_stop (&self->beat);
}

status_t
report_snapshot_load (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    worker_t *self = self_;
    if (source != actor_source (actor))
        return STATUS_NOT_FOUND;
    if (self->load_ns)
        snapshot_add (snapshot, &worker_load_message, &self->load);
    return STATUS_OK;
}
