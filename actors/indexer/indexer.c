#include "actors/indexer/indexer.h"

#include <inttypes.h>

#include "runtime/directory.h"
#include "runtime/incoming.h"
#include "runtime/timer.h"
#include "schemas/event.h"

//  Where there is more to sweep, the next piece waits only for what else is to do.
static const uint64_t SWEEP_NS = 100000000, SWEEP_AGAIN_NS = 1000000;

typedef struct {
    actor_t *actor;         //  Itself
    catalog_t *catalog;     //  Who has what
    actor_timer_t sweep;    //  Of what was forgotten
    metric_t *matches;      //  Calls served
    metric_t *blocks;       //  In the index now
    metric_t *refused;      //  Blocks it had no room for
} indexer_t;

static const metric_desc_t s_matches_metric = {
    .name = "stator_indexer_matches_total", .help = "Calls of match_prefix answered.", .kind = METRIC_COUNTER
};
static const metric_desc_t s_blocks_metric = {
    .name = "stator_indexer_blocks", .help = "Different blocks in the index.", .kind = METRIC_GAUGE
};

static const metric_desc_t s_refused_metric = { .name = "stator_indexer_blocks_refused_total",
    .help = "Blocks that a bound kept out of the index.",
    .kind = METRIC_COUNTER };

//  ---- Following -----------------------------------------------------------------------------------------------------

static void
s_expect_stored (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_expect_stored (((indexer_t *)self_)->catalog, event);
}

static void
s_expect_removed (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_expect_removed (((indexer_t *)self_)->catalog, event);
}

static void
s_on_stored (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_stored (((indexer_t *)self_)->catalog, origin->source, event);
}

static void
s_on_removed (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_removed (((indexer_t *)self_)->catalog, origin->source, event);
}

static void
s_on_cleared (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_cleared (((indexer_t *)self_)->catalog, origin->source, event);
}

static void
s_on_reset (void *self_, actor_t *actor, const origin_t *origin)
{
    catalog_forget (((indexer_t *)self_)->catalog, origin->source);
}

//  An owner that is unreachable keeps its blocks: they are hidden by whoever asks, not forgotten.
static void
s_on_actor (void *self_, actor_t *actor, const actor_entry_t *entry)
{
    if (entry->state == ACTOR_STATE_GONE)
        catalog_forget (((indexer_t *)self_)->catalog, event_source (entry->address));
}

static void
s_on_sweep (void *self_, actor_t *actor, void *arg)
{
    indexer_t *self = self_;
    catalog_stats_t stats;
    bool more = catalog_sweep (self->catalog);
    catalog_stats (self->catalog, &stats);
    metric_set (self->blocks, (int64_t)stats.blocks);
    metric_set (self->refused, (int64_t)stats.refused);
    timer_start (&self->sweep, actor, more ? SWEEP_AGAIN_NS : SWEEP_NS, s_on_sweep, NULL);
}

//  ---- Serving -------------------------------------------------------------------------------------------------------

static void
s_add_to_snapshot (void *arg, const message_type_t *type, const void *event)
{
    snapshot_add (arg, type, event);
}

//  The state is that of the moment when the last of it is written: what changes on the way is written too.
static status_t
s_write_more (void *self, actor_t *actor, void *arg, snapshot_t *snapshot, bool *ended)
{
    uint64_t incarnation, sequence;
    status_t status = catalog_snapshot_next (arg, ended);
    if (status != STATUS_OK || !*ended)
        return status;
    if (!actor_feed_position (actor, STREAM_KV, catalog_snapshot_source (arg), &incarnation, &sequence))
        return STATUS_STALE;
    snapshot_set_position (snapshot, incarnation, sequence);
    return STATUS_OK;
}

static void
s_stop_writing (void *arg)
{
    catalog_snapshot_t *snapshot = arg;
    catalog_snapshot_destroy (&snapshot);
}

static status_t
s_on_snapshot (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    indexer_t *self = self_;
    uint64_t incarnation, sequence;
    if (!actor_feed_position (actor, STREAM_KV, source, &incarnation, &sequence))
        return STATUS_NOT_FOUND;
    catalog_snapshot_t *writing = catalog_snapshot_new (self->catalog, source, s_add_to_snapshot, snapshot);
    snapshot_go_on (snapshot, s_write_more, s_stop_writing, writing);
    return STATUS_OK;
}

static int
s_most_first (const void *a_, const void *b_)
{
    const holder_overlap_t *a = a_;
    const holder_overlap_t *b = b_;
    if (a->blocks != b->blocks)
        return a->blocks > b->blocks ? -1 : 1;
    int order = span_compare (a->owner, b->owner);
    if (order)
        return order;
    return a->rank != b->rank ? a->rank - b->rank : (int)a->tier - (int)b->tier;
}

//  A row for each tier in which a worker has blocks.
static void
s_add_tiers (array_t *rows, span_t owner, const catalog_overlap_t *overlap)
{
    for (unsigned tier = 0; tier < TIER_COUNT; tier++)
        if (overlap->reached.blocks [tier]) {
            holder_overlap_t row = { owner, overlap->reached.rank, (tier_t)tier, overlap->reached.blocks [tier] };
            array_append (rows, &row, 1);
        }
}

static void
s_on_match (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    indexer_t *self = self_;
    const match_prefix_t *query = message;
    array_t found, rows;
    array_init (&found, sizeof (catalog_overlap_t));
    array_init (&rows, sizeof (holder_overlap_t));
    catalog_match (self->catalog, query->namespace_id, query->hashes, HOLDER_EXACT, &found);
    for (size_t i = 0; i < found.count; i++) {
        const catalog_overlap_t *overlap = array_at (&found, i);
        const actor_entry_t *owner = directory_find_source (actor, overlap->source);
        if (owner && owner->state == ACTOR_STATE_ALIVE)
            s_add_tiers (&rows, owner->address, overlap);
    }
    array_sort (&rows, s_most_first);
    match_prefix_reply_t reply = { rows.data, rows.count };
    incoming_reply (incoming, &reply);
    metric_add (self->matches, 1);
    array_fini (&rows);
    array_fini (&found);
}

//  The worker that reaches most of a sequence; empty where nobody reaches any.
static span_t
s_find_best (indexer_t *self, const match_prefix_t *query, uint32_t *best)
{
    span_t owner = { NULL, 0 };
    array_t found;
    array_init (&found, sizeof (catalog_overlap_t));
    catalog_match (self->catalog, query->namespace_id, query->hashes, HOLDER_EXACT, &found);
    *best = 0;
    for (size_t i = 0; i < found.count; i++) {
        const catalog_overlap_t *overlap = array_at (&found, i);
        const actor_entry_t *entry = directory_find_source (self->actor, overlap->source);
        uint32_t total = overlap->reached.total;
        if (!entry || entry->state != ACTOR_STATE_ALIVE || total < *best)
            continue;
        if (total > *best || span_compare (entry->address, owner) < 0)
            owner = entry->address;
        *best = total;
    }
    array_fini (&found);
    return owner;
}

static void
s_on_explain (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    indexer_t *self = self_;
    const explain_prefix_t *asked = message;
    const match_prefix_t query = { .namespace_id = asked->namespace_id, .hashes = asked->hashes };
    tier_explanation_t rows [TIER_COUNT];
    explain_prefix_reply_t reply = { .tiers = rows };
    if (!directory_find (actor, asked->owner)) {
        incoming_fail (incoming, STATUS_NOT_FOUND, "nobody here is called %.*s", SPAN_ARG (asked->owner));
        return;
    }
    uint64_t source = event_source (asked->owner);
    for (unsigned tier = 0; tier < TIER_COUNT; tier++) {
        index_explanation_t why;
        if (catalog_explain (self->catalog, source, asked->has_rank ? asked->rank : 0, (tier_t)tier, &query, &why))
            rows [reply.tiers_count++] = (tier_explanation_t){ (tier_t)tier, why.overlap, why.end, why.hidden };
    }
    reply.best_owner = s_find_best (self, &query, &reply.best);
    reply.has_best_owner = reply.best > 0;
    incoming_reply (incoming, &reply);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static status_t
s_init (void *self_, actor_t *actor, const void *options_, error_t *error)
{
    indexer_t *self = self_;
    const indexer_options_t *options = options_;
    catalog_options_t catalog = { .blocks_max = (uint64_t)options->blocks_max };
    self->actor = actor;
    self->catalog = catalog_new (&catalog);
    self->matches = metrics_get (actor_metrics (actor), &s_matches_metric, NULL);
    self->blocks = metrics_get (actor_metrics (actor), &s_blocks_metric, NULL);
    self->refused = metrics_get (actor_metrics (actor), &s_refused_metric, NULL);
    timer_start (&self->sweep, actor, SWEEP_NS, s_on_sweep, NULL);
    return STATUS_OK;
}

static void
s_fini (void *self_, actor_t *actor)
{
    indexer_t *self = self_;
    timer_stop (&self->sweep);
    catalog_destroy (&self->catalog);
}

static void
s_describe (void *self_, actor_t *actor, buffer_t *out)
{
    catalog_stats_t stats;
    catalog_stats (((indexer_t *)self_)->catalog, &stats);
    buffer_print (out, "blocks: %" PRIu64 ", memberships: %" PRIu64 ", sources: %" PRIu64 ", namespaces: %" PRIu64,
        stats.blocks, stats.memberships, stats.sources, stats.namespaces);
}

const catalog_t *
indexer_catalog (const actor_t *indexer)
{
    return ((const indexer_t *)actor_state (indexer))->catalog;
}

static const actor_handler_t s_handlers [] = {
    HANDLES_CALL (match_prefix, s_on_match),
    HANDLES_CALL (explain_prefix, s_on_explain),
    HANDLES_EVENT_AHEAD (kv_stored, s_expect_stored, s_on_stored),
    HANDLES_EVENT_AHEAD (kv_removed, s_expect_removed, s_on_removed),
    HANDLES_EVENT (kv_cleared, s_on_cleared),
    HANDLES_RESET (STREAM_KV, s_on_reset),
    HANDLES_SNAPSHOT (STREAM_KV, s_on_snapshot),
    HANDLES_ACTOR (NULL, s_on_actor),
    HANDLERS_END,
};

static void
s_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_matches_metric, &s_blocks_metric, &s_refused_metric, NULL };
    metrics_tell (all, told, arg);
}

const actor_class_t indexer_class = {
    .name = "indexer",
    .state_size = sizeof (indexer_t),
    .list_metrics = s_list_metrics,
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .describe = s_describe,
};
