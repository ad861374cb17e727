#include "actors/router/router.h"

#include <inttypes.h>
#include <stdio.h>

#include "actors/router/adviser.h"
#include "actors/router/choice.h"
#include "base/bug.h"
#include "base/memory.h"
#include "base/random.h"
#include "runtime/directory.h"
#include "runtime/incoming.h"
#include "runtime/timer.h"
#include "schemas/event.h"

enum { ACTIVE_MAX = 1000000 };
//  Where there is more to sweep, the next piece waits only for what else is to do.
static const uint64_t SWEEP_NS = 100000000, SWEEP_AGAIN_NS = 1000000;

//  What is being computed is believed in for so many times as long as it should take, and at least for so long.
enum { PATIENCE = 4 };
static const uint64_t PATIENCE_MIN_NS = 10000000000, PATIENCE_MAX_NS = (uint64_t)3600 * 1000000000;

//  The name in decision records of a policy that is a program of its own.
static const char OUTSIDE [] = "outside";

typedef struct {
    actor_t *actor;              //  Itself
    const policy_t *policy;      //  How it chooses
    policy_weights_t weights;    //  For the policy
    fleet_t *fleet;              //  Whom it can choose
    catalog_t *catalog;          //  Who has what
    adviser_t *adviser;          //  The policy outside, if any
    list_t parked;               //  parked_t
    sessions_t *sessions;        //  Where each was last
    random_t random;             //  What policies draw
    uint64_t turn;               //  Requests decided so far
    actor_timer_t sweep;         //  Of what was forgotten
    metric_t *decided;           //  Requests that got a worker
    metric_t *refused;           //  Requests nobody could serve
    metric_t *expired;           //  Active requests nothing was heard of
    metric_t *overdue;           //  Prefills that were believed in for too long
    metric_t *overlap_blocks;    //  Of all decisions
    metric_t *prompt_blocks;     //  Of all decisions
    metric_t *kept_out;          //  Blocks its index had no room for
    metric_t *forgotten;         //  Sessions it had no room for
    choice_t choice;             //  The last one
} router_t;

//  A request that waits for the policy outside.
typedef struct {
    router_t *router;          //  Whose
    list_link_t in_parked;     //  All of them, oldest first
    incoming_t *incoming;      //  Who asks
    const route_t *request;    //  What for; lives as long as the incoming
    question_t question;       //  To the policy
} parked_t;

static const metric_desc_t s_decisions_metric = { .name = "stator_router_decisions_total",
    .help = "Requests routed or refused.",
    .kind = METRIC_COUNTER,
    .labels = "result" };
static const metric_desc_t s_expired_metric = { .name = "stator_router_expired_total",
    .help = "Active requests dropped because nothing was heard of them for an hour, or of too many.",
    .kind = METRIC_COUNTER };
static const metric_desc_t s_overdue_metric = { .name = "stator_router_prefills_overdue_total",
    .help = "Prefills that were neither stored nor ended in four times the time that they should have taken.",
    .kind = METRIC_COUNTER };
static const metric_desc_t s_overlap_metric = { .name = "stator_router_overlap_blocks_total",
    .help = "Leading blocks the chosen workers were believed to have.",
    .kind = METRIC_COUNTER };
static const metric_desc_t s_prompt_metric = {
    .name = "stator_router_prompt_blocks_total", .help = "Full blocks of the routed prompts.", .kind = METRIC_COUNTER
};
static const metric_desc_t s_kept_out_metric = { .name = "stator_router_blocks_refused_total",
    .help = "Blocks that a bound kept out of its index.",
    .kind = METRIC_COUNTER };
static const metric_desc_t s_forgotten_metric = { .name = "stator_router_sessions_forgotten_total",
    .help = "Sessions that count as new when they speak again, because sessions_max others spoke since.",
    .kind = METRIC_COUNTER };

//  ---- Following -----------------------------------------------------------------------------------------------------

static void
s_expect_stored (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_expect_stored (((router_t *)self_)->catalog, event);
}

static void
s_expect_removed (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_expect_removed (((router_t *)self_)->catalog, event);
}

static void
s_on_stored (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_stored (((router_t *)self_)->catalog, origin->source, event);
}

static void
s_on_removed (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_removed (((router_t *)self_)->catalog, origin->source, event);
}

static void
s_on_cleared (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_cleared (((router_t *)self_)->catalog, origin->source, event);
}

static void
s_on_reset (void *self_, actor_t *actor, const origin_t *origin)
{
    catalog_forget_said (((router_t *)self_)->catalog, origin->source);
}

static void
s_on_load (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    fleet_report (((router_t *)self_)->fleet, origin->source, event, actor_now (actor));
}

static void
s_on_worker (void *self_, actor_t *actor, const actor_entry_t *entry)
{
    router_t *self = self_;
    error_t error;
    if (fleet_is_replaced (self->fleet, entry))
        catalog_forget_unsaid (self->catalog, event_source (entry->address));
    if (fleet_see (self->fleet, entry, &error))
        actor_log (actor, LOG_WARNING, "%s: it gets no requests", error.text);
    if (entry->state == ACTOR_STATE_GONE)
        catalog_forget (self->catalog, event_source (entry->address));
}

//  Whoever died can say no more that its requests ended.
static void
s_on_asker (void *self, actor_t *actor, const actor_entry_t *entry)
{
    fleet_see_asker (((router_t *)self)->fleet, entry);
}

static void
s_on_sweep (void *self_, actor_t *actor, void *arg)
{
    router_t *self = self_;
    catalog_stats_t stats;
    bool more;
    metric_add (self->overdue, (int64_t)catalog_expire (self->catalog, actor_now (actor), &more));
    more |= catalog_sweep (self->catalog);
    catalog_stats (self->catalog, &stats);
    metric_set (self->kept_out, (int64_t)stats.refused);
    sessions_expire (self->sessions, actor_now (actor));
    metric_set (self->forgotten, (int64_t)sessions_forgotten (self->sessions));
    metric_add (self->expired, (int64_t)fleet_expire (self->fleet, actor_now (actor)));
    timer_start (&self->sweep, actor, more ? SWEEP_AGAIN_NS : SWEEP_NS, s_on_sweep, NULL);
}

//  ---- Deciding ------------------------------------------------------------------------------------------------------

//  Whether the policy looks at what is being computed.  For one that does not, nothing is.
static bool
s_foresees (const router_t *self)
{
    return self->policy->foresees || adviser_is_on (self->adviser);
}

//  The decision record.  choice: NULL where nobody could.
static void
s_record (
    router_t *self, const route_t *request, const char *policy, const policy_candidate_t *choice, const char *reason)
{
    candidate_t shown [CHOICE_SHOWN];
    route_decided_t record = {
        .request = request->request,
        .model = request->model,
        .policy = span_from_string (policy),
        .has_worker = choice != NULL,
        .worker = choice ? choice->worker : SPAN (""),
        .reason = span_from_string (reason),
        .prompt_tokens = request->prompt_tokens,
        .prompt_blocks = (uint32_t)request->hashes.count,
        .candidates = shown,
        .candidates_count = choice_best (&self->choice, shown),
        .candidate_count = (uint32_t)self->choice.candidates.count,
        .has_session = choice_session (request).size > 0,
        .session = choice_session (request),
    };
    actor_publish (self->actor, &route_decided_message, &record);
}

static void
s_refuse (router_t *self, incoming_t *incoming, const route_t *request, const error_t *reason)
{
    metric_add (self->refused, 1);
    s_record (self, request, self->policy->name, NULL, reason->text);
    incoming_fail (incoming, reason->status, "%s", reason->text);
}

//  How long it is believed to compute.  One that does not say what it stores is, until the request ends.
static uint64_t
s_patience_ns (const router_t *self, const policy_candidate_t *choice, uint64_t expected_ns)
{
    uint64_t patience = expected_ns * PATIENCE;
    if (!fleet_tells (self->fleet, choice) || patience > PATIENCE_MAX_NS)
        return PATIENCE_MAX_NS;
    return patience < PATIENCE_MIN_NS ? PATIENCE_MIN_NS : patience;
}

//  What the catalog has not done yet for a long prompt it does now, between other things.
static void
s_catch_up (router_t *self)
{
    if (catalog_is_behind (self->catalog))
        timer_start (&self->sweep, self->actor, 0, s_on_sweep, NULL);
}

//  From now on the chosen worker is known to compute what it does not have of the prompt.  What one has that says nothing is
//  a guess, and each prompt puts it right.
static catalog_ticket_t
s_begin_prefill (router_t *self, const route_t *request, const policy_candidate_t *choice, uint32_t new_blocks)
{
    bool tells = fleet_tells (self->fleet, choice);
    uint32_t news = (uint32_t)request->hashes.count - (tells ? choice->overlap_blocks : 0);
    if (news == 0 || (tells && !s_foresees (self)))
        return (catalog_ticket_t){ 0 };
    uint64_t now = actor_now (self->actor);
    uint64_t expected = fleet_expected_ns (self->fleet, choice, new_blocks);
    catalog_prefill_t prefill = { .source = choice->source,
        .rank = choice->rank,
        .namespace_id = request->namespace_id,
        .hashes = request->hashes,
        .expected_ns = now + expected,
        .expiry_ns = now + s_patience_ns (self, choice, expected) };
    catalog_ticket_t ticket = catalog_begin_prefill (self->catalog, &prefill);
    s_catch_up (self);
    return ticket;
}

static void
s_on_ended (void *self_, const fleet_end_t *end)
{
    router_t *self = self_;
    if (end->is_guess)
        catalog_guess (self->catalog, end->prefill, &end->outcome, actor_now (self->actor));
    else
        catalog_settle (self->catalog, end->prefill);
    s_catch_up (self);
}

//  Counts the request where it goes, and what it brings there.
static void
s_begin (router_t *self, const incoming_t *incoming, const route_t *request, const policy_candidate_t *choice)
{
    uint32_t blocks = (uint32_t)request->hashes.count;
    uint32_t new_blocks = blocks - choice->overlap_blocks - choice->pending_blocks;
    span_t asker = span_from_string (incoming_sender (incoming));
    const actor_entry_t *known = directory_find (self->actor, asker);
    fleet_request_t routed = { .request = request->request,
        .asker = asker,
        .asker_incarnation = known ? known->incarnation : 0,
        .new_blocks = new_blocks,
        .prompt_blocks = blocks,
        .prefill = s_begin_prefill (self, request, choice, new_blocks) };
    fleet_begin (self->fleet, &routed, choice, actor_now (self->actor));
    if (choice_session (request).size)
        sessions_put (
            self->sessions, choice_session (request), choice->worker, choice->rank, blocks, actor_now (self->actor));
    metric_add (self->decided, 1);
    metric_add (self->overlap_blocks, choice->overlap_blocks + choice->pending_blocks);
    metric_add (self->prompt_blocks, blocks);
}

//  Why, in words.
static void
s_explain (
    const route_t *request, const policy_candidate_t *choice, const advice_kind_t *advised, char *text, size_t size)
{
    bool instead = advised && *advised != ADVICE_GIVEN;
    char pending [48] = "";
    if (choice->pending_blocks)
        snprintf (pending, sizeof pending, " and %u on their way", choice->pending_blocks);
    snprintf (text, size, "%u of %u blocks there%s, cost %" PRIu64 "%s%s", choice->overlap_blocks,
        (uint32_t)request->hashes.count, pending, choice->cost, instead ? "; the policy outside was passed over: " : "",
        instead ? advice_reason (*advised) : "");
}

//  advised: what the policy outside had to do with it; NULL where there is none.
static void
s_accept (router_t *self, incoming_t *incoming, const route_t *request, const policy_candidate_t *choice,
    const advice_kind_t *advised)
{
    bool outside = advised && *advised == ADVICE_GIVEN;
    char reason [160];
    s_explain (request, choice, advised, reason, sizeof reason);
    s_begin (self, incoming, request, choice);
    route_reply_t reply = { .worker = choice->worker,
        .rank = choice->rank,
        .overlap_blocks = choice->overlap_blocks + choice->pending_blocks };
    s_record (self, request, outside ? OUTSIDE : self->policy->name, choice, reason);
    incoming_reply (incoming, &reply);
}

//  Whom the router's own policy would choose among the candidates there are now; refuses where there is none.
static bool
s_choose (router_t *self, incoming_t *incoming, const route_t *request, policy_request_t *asked, size_t *position)
{
    error_t reason = { 0 };
    choice_sources_t sources = { self->fleet, self->catalog, self->sessions, self->policy, self->weights,
        s_foresees (self) };
    *asked = (policy_request_t){ .turn = self->turn, .random = random_u64 (&self->random) };
    *position = choice_make (&self->choice, &sources, request, asked, actor_now (self->actor), &reason);
    if (*position == POLICY_NONE) {
        s_refuse (self, incoming, request, &reason);
        return false;
    }
    return true;
}

//  advice: of the policy outside; NULL where there is none.
static void
s_decide (router_t *self, incoming_t *incoming, const route_t *request, const advice_t *advice)
{
    policy_request_t asked;
    size_t position;
    if (!s_choose (self, incoming, request, &asked, &position))
        return;
    self->turn++;
    advice_kind_t kind = advice ? adviser_take (self->adviser, advice, &self->choice.candidates) : ADVICE_GIVEN;
    if (advice && kind == ADVICE_GIVEN)
        position = policy_cheapest (&asked, self->choice.candidates.data, self->choice.candidates.count);
    s_accept (self, incoming, request, array_at (&self->choice.candidates, position), advice ? &kind : NULL);
}

//  ---- Waiting for the policy outside --------------------------------------------------------------------------------

static void
s_unpark (parked_t *parked)
{
    router_t *self = parked->router;
    list_remove (&self->parked, &parked->in_parked);
    memory_free (parked);
    if (actor_is_draining (self->actor) && !list_first (&self->parked))
        actor_drained (self->actor);
}

static void
s_on_advice (void *arg, const advice_t *advice)
{
    parked_t *parked = arg;
    s_decide (parked->router, parked->incoming, parked->request, advice);
    s_unpark (parked);
}

static void
s_on_unwanted (void *arg, incoming_t *incoming)
{
    parked_t *parked = arg;
    error_t reason;
    error_set (&reason, STATUS_CANCELLED, "cancelled while the policy outside was asked");
    question_drop (&parked->question);
    array_cut (&parked->router->choice.candidates, 0);
    s_refuse (parked->router, incoming, parked->request, &reason);
    s_unpark (parked);
}

//  Asks the policy outside about the candidates; where that cannot be, decides without.
static void
s_park (router_t *self, incoming_t *incoming, const route_t *request)
{
    parked_t *parked = memory_new (sizeof *parked);
    *parked = (parked_t){ .router = self, .incoming = incoming, .request = request };
    advice_t advice = { .kind = adviser_ask (
                            self->adviser, &parked->question, request, &self->choice.candidates, s_on_advice, parked) };
    if (advice.kind != ADVICE_GIVEN) {
        memory_free (parked);
        s_decide (self, incoming, request, &advice);
        return;
    }
    list_append (&self->parked, &parked->in_parked);
    incoming_watch_t watch = { .on_cancel = s_on_unwanted, .arg = parked };
    incoming_watch (incoming, &watch);
}

//  Who asked does not wait for it any more, or asks again: were it decided, nobody would say when it ends.
static void
s_drop_parked (router_t *self, span_t request)
{
    list_link_t *link = list_first (&self->parked);
    while (link) {
        parked_t *parked = LIST_ENTRY (link, parked_t, in_parked);
        link = list_next (&self->parked, link);
        if (span_equal (parked->request->request, request))
            s_on_unwanted (parked, parked->incoming);
    }
}

static void
s_note_progress (router_t *self, const route_progress_t *progress)
{
    if (progress->finished)
        s_drop_parked (self, progress->request);
    fleet_progress (self->fleet, progress, actor_now (self->actor));
}

//  A request that is asked for again no longer runs where it was: it must not follow itself there.
static void
s_on_route (void *self_, actor_t *actor, incoming_t *incoming, const void *request)
{
    router_t *self = self_;
    policy_request_t asked;
    size_t position;
    route_progress_t end = { .request = ((const route_t *)request)->request, .finished = true };
    s_note_progress (self, &end);
    if (!adviser_is_on (self->adviser))
        s_decide (self, incoming, request, NULL);
    else if (s_choose (self, incoming, request, &asked, &position))
        s_park (self, incoming, request);
}

static void
s_on_progress (void *self, actor_t *actor, incoming_t *incoming, const void *progress)
{
    route_progress_reply_t reply = { 0 };
    s_note_progress (self, progress);
    incoming_reply (incoming, &reply);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static void
s_take_options (router_t *self, const router_options_t *options)
{
    self->policy = policy_find (router_modes [options->mode]);
    BUG_ON (!self->policy);
    self->weights = (policy_weights_t){ .overlap_weight = (uint64_t)options->overlap_weight,
        .load_weight = (uint64_t)options->load_weight,
        .lower_weight = (uint64_t)options->lower_weight };
    adviser_configure (self->adviser, options);
}

static void
s_make_metrics (router_t *self)
{
    metrics_t *metrics = actor_metrics (self->actor);
    self->decided = metrics_get (metrics, &s_decisions_metric, "result=\"routed\"");
    self->refused = metrics_get (metrics, &s_decisions_metric, "result=\"refused\"");
    self->expired = metrics_get (metrics, &s_expired_metric, NULL);
    self->overdue = metrics_get (metrics, &s_overdue_metric, NULL);
    self->overlap_blocks = metrics_get (metrics, &s_overlap_metric, NULL);
    self->prompt_blocks = metrics_get (metrics, &s_prompt_metric, NULL);
    self->kept_out = metrics_get (metrics, &s_kept_out_metric, NULL);
    self->forgotten = metrics_get (metrics, &s_forgotten_metric, NULL);
}

static status_t
s_init (void *self_, actor_t *actor, const void *options_, error_t *error)
{
    router_t *self = self_;
    const router_options_t *options = options_;
    catalog_options_t catalog = { .blocks_max = (uint64_t)options->blocks_max };
    fleet_options_t fleet = {
        .load_stale_ns = options->load_stale_ns, .active_max = ACTIVE_MAX, .on_ended = s_on_ended, .arg = self
    };
    self->actor = actor;
    list_init (&self->parked);
    self->adviser = adviser_new (actor);
    s_take_options (self, options);
    self->fleet = fleet_new (&fleet);
    self->catalog = catalog_new (&catalog);
    self->sessions = sessions_new ((size_t)options->sessions_max, actor_random (actor));
    random_init (&self->random, actor_random (actor));
    choice_init (&self->choice);
    s_make_metrics (self);
    timer_start (&self->sweep, actor, SWEEP_NS, s_on_sweep, NULL);
    return STATUS_OK;
}

static void
s_reload (void *self_, actor_t *actor, const void *options)
{
    router_t *self = self_;
    s_take_options (self, options);
    fleet_set_stale (self->fleet, ((const router_options_t *)options)->load_stale_ns);
}

//  What waits for the policy outside is decided within its deadline.
static void
s_drain (void *self_, actor_t *actor)
{
    router_t *self = self_;
    if (!list_first (&self->parked))
        actor_drained (actor);
}

static void
s_fini (void *self_, actor_t *actor)
{
    router_t *self = self_;
    list_link_t *first;
    while ((first = list_take_first (&self->parked))) {
        parked_t *parked = LIST_ENTRY (first, parked_t, in_parked);
        question_drop (&parked->question);
        memory_free (parked);
    }
    adviser_destroy (&self->adviser);
    timer_stop (&self->sweep);
    fleet_destroy (&self->fleet);
    catalog_destroy (&self->catalog);
    sessions_destroy (&self->sessions);
    choice_fini (&self->choice);
}

static void
s_describe (void *self_, actor_t *actor, buffer_t *out)
{
    router_t *self = self_;
    catalog_stats_t stats;
    catalog_stats (self->catalog, &stats);
    buffer_print (out, "policy %s", self->policy->name);
    adviser_describe (self->adviser, out);
    buffer_print (out, ", workers: %zu, requests active: %zu, blocks in its index: %" PRIu64 ", on their way: %" PRIu64,
        fleet_workers (self->fleet), fleet_active (self->fleet), stats.blocks, stats.pending);
}

const catalog_t *
router_catalog (const actor_t *router)
{
    return ((const router_t *)actor_state (router))->catalog;
}

static const actor_handler_t s_handlers [] = {
    HANDLES_CALL (route, s_on_route),
    HANDLES_CALL (route_progress, s_on_progress),
    HANDLES_EVENT_AHEAD (kv_stored, s_expect_stored, s_on_stored),
    HANDLES_EVENT_AHEAD (kv_removed, s_expect_removed, s_on_removed),
    HANDLES_EVENT (kv_cleared, s_on_cleared),
    HANDLES_EVENT (worker_load, s_on_load),
    HANDLES_RESET (STREAM_KV, s_on_reset),
    HANDLES_ACTOR ("worker", s_on_worker),
    HANDLES_ACTOR (NULL, s_on_asker),
    HANDLERS_END,
};

static void
s_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_decisions_metric, &s_prompt_metric, &s_overlap_metric,
        &s_overdue_metric, &s_expired_metric, &s_kept_out_metric, &s_forgotten_metric, NULL };
    metrics_tell (all, told, arg);
    adviser_list_metrics (told, arg);
}

const actor_class_t router_class = {
    .name = "router",
    .state_size = sizeof (router_t),
    .list_metrics = s_list_metrics,
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .drain = s_drain,
    .reload = s_reload,
    .describe = s_describe,
    .snapshot_service = "indexer",
};
