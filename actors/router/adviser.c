#include "actors/router/adviser.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/router/fleet.h"
#include "base/bug.h"
#include "base/memory.h"
#include "schemas/event_header.h"

//  As many as score_candidates has room for.
enum { CANDIDATES_MAX = 4096 };

//  The cost of a candidate that nobody was asked about.
static const uint64_t UNASKED = UINT64_MAX;

struct adviser {
    actor_t *actor;                     //  The router
    char endpoint [ENDPOINT_MAX];       //  Where it is bound; empty: there is none
    uint64_t deadline_ns;               //  To answer
    uint64_t pause_ns;                  //  Not asked for so long
    uint32_t failures_max;              //  In a row, that begin a pause
    uint32_t questions_max;             //  Under way
    uint32_t questions;                 //  Under way now
    uint32_t failures;                  //  In a row
    uint64_t asked_again_ns;            //  After too many failures: not before
    array_t shown;                      //  candidate_t, scratch
    metric_t *counts [ADVICE_COUNT];    //  Requests by what came of them
    metric_t *waiting;                  //  Questions under way
};

//  What must be remembered of a candidate.
typedef struct {
    uint64_t source;    //  Of its address
    uint16_t rank;      //  Which of its ranks
} asked_t;

static const struct {
    const char *name;      //  As a label
    const char *reason;    //  Behind "because"
} s_kinds [ADVICE_COUNT] = {
    [ADVICE_GIVEN] = { "given", "it decides" },
    [ADVICE_LATE] = { "late", "it did not answer in time" },
    [ADVICE_FAILED] = { "failed", "it answered with an error" },
    [ADVICE_WRONG] = { "wrong", "its answer cannot be used" },
    [ADVICE_GONE] = { "gone", "what it chose is gone" },
    [ADVICE_PAUSED] = { "paused", "it failed too often" },
    [ADVICE_BUSY] = { "busy", "too much waits for it" },
};

static const metric_desc_t s_count_metric = { .name = "stator_router_policy_requests_total",
    .help = "Requests that the policy outside might have decided, by what came of it.",
    .kind = METRIC_COUNTER,
    .labels = "result" };
static const metric_desc_t s_waiting_metric = {
    .name = "stator_router_policy_waiting", .help = "Requests that wait for the policy outside.", .kind = METRIC_GAUGE
};

void
adviser_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_count_metric, &s_waiting_metric, NULL };
    metrics_tell (all, told, arg);
}

const char *
advice_reason (advice_kind_t kind)
{
    return s_kinds [kind].reason;
}

//  ---- Whether it is asked -------------------------------------------------------------------------------------------

static bool
s_is_paused (const adviser_t *self)
{
    return self->failures >= self->failures_max && actor_now (self->actor) < self->asked_again_ns;
}

static void
s_note_success (adviser_t *self)
{
    if (self->failures >= self->failures_max)
        actor_log (self->actor, LOG_INFO, "the policy at %s decides again", self->endpoint);
    self->failures = 0;
}

static void
s_note_failure (adviser_t *self, const error_t *why)
{
    bool news = self->failures + 1 == self->failures_max;
    if (self->failures < self->failures_max)
        self->failures++;
    self->asked_again_ns = actor_now (self->actor) + self->pause_ns;
    actor_log (self->actor, news ? LOG_WARNING : LOG_DEBUG, "the policy at %s failed%s: %s", self->endpoint,
        news ? ", and is not asked for a while" : "", why->text);
}

//  ---- Asking --------------------------------------------------------------------------------------------------------

static void
s_forget (question_t *self)
{
    self->adviser->questions--;
    metric_set (self->adviser->waiting, self->adviser->questions);
    budget_give (actor_budget (self->adviser->actor), self->asked.count * sizeof (asked_t));
    array_fini (&self->asked);
}

static status_t
s_remember (question_t *self, const array_t *candidates)
{
    uint64_t bytes = candidates->count * sizeof (asked_t);
    if (budget_take (actor_budget (self->adviser->actor), bytes, NULL))
        return STATUS_LIMIT;
    array_init (&self->asked, sizeof (asked_t));
    for (size_t i = 0; i < candidates->count; i++) {
        const policy_candidate_t *candidate = array_at (candidates, i);
        *(asked_t *)array_add (&self->asked) = (asked_t){ candidate->source, candidate->rank };
    }
    self->adviser->questions++;
    metric_set (self->adviser->waiting, self->adviser->questions);
    return STATUS_OK;
}

static score_candidates_t
s_describe_request (adviser_t *self, const route_t *request, const array_t *candidates)
{
    array_cut (&self->shown, 0);
    for (size_t i = 0; i < candidates->count; i++)
        *(candidate_t *)array_add (&self->shown) = candidate_from_policy (array_at (candidates, i));
    return (score_candidates_t){ .request = request->request,
        .model = request->model,
        .prompt_tokens = request->prompt_tokens,
        .prompt_blocks = (uint32_t)request->hashes.count,
        .has_max_tokens = request->has_max_tokens,
        .max_tokens = request->max_tokens,
        .has_envelope = request->has_envelope,
        .envelope = request->envelope,
        .candidates = self->shown.data,
        .candidates_count = self->shown.count };
}

static void s_on_answer (void *router, void *arg, call_result_t result, const void *reply);

advice_kind_t
adviser_ask (adviser_t *self, question_t *question, const route_t *request, const array_t *candidates, advice_fn *done,
    void *arg)
{
    if (s_is_paused (self))
        return ADVICE_PAUSED;
    *question = (question_t){ .adviser = self, .done = done, .arg = arg };
    bool too_much = self->questions >= self->questions_max || candidates->count > CANDIDATES_MAX;
    if (too_much || s_remember (question, candidates))
        return ADVICE_BUSY;
    //  While it fails nobody else asks before this one is answered.
    self->asked_again_ns = actor_now (self->actor) + self->deadline_ns;
    score_candidates_t message = s_describe_request (self, request, candidates);
    call_start (&question->call, self->actor,
        &(call_options_t){ .endpoint = self->endpoint,
            .type = &score_candidates_message,
            .request = &message,
            .timeout_ns = self->deadline_ns,
            .done = s_on_answer,
            .arg = question });
    return ADVICE_GIVEN;
}

void
question_drop (question_t *self)
{
    if (!call_is_active (&self->call))
        return;
    call_drop (&self->call);
    s_forget (self);
}

//  ---- Its answer ----------------------------------------------------------------------------------------------------

//  The position of a candidate among those asked about, from a position on; the count where it is not there.
static size_t
s_find (const question_t *self, span_t worker, uint16_t rank, size_t from)
{
    uint64_t source = event_source (worker);
    for (size_t i = from; i < self->asked.count; i++) {
        const asked_t *asked = array_at (&self->asked, i);
        if (asked->source == source && asked->rank == rank)
            return i;
    }
    return self->asked.count;
}

static status_t
s_check_reply (const question_t *question, const score_candidates_reply_t *reply, error_t *error)
{
    size_t count = question->asked.count;
    if (!reply->has_worker && reply->scores_count != count)
        return error_set (error, STATUS_INVALID, "%zu scores for %zu candidates", reply->scores_count, count);
    if (reply->has_worker && reply->scores_count)
        return error_set (error, STATUS_INVALID, "both scores and a choice");
    if (reply->has_worker && s_find (question, reply->worker, reply->rank, 0) == count)
        return error_set (
            error, STATUS_INVALID, "%.*s, rank %u, is no candidate", SPAN_ARG (reply->worker), reply->rank);
    return STATUS_OK;
}

static advice_kind_t
s_judge (const question_t *question, call_result_t result, const score_candidates_reply_t *reply, error_t *error)
{
    if (result == CALL_REPLIED)
        return s_check_reply (question, reply, error) ? ADVICE_WRONG : ADVICE_GIVEN;
    *error = *call_error (&question->call);
    if (result == CALL_DEADLINE)
        return ADVICE_LATE;
    return error->status == STATUS_CORRUPT ? ADVICE_WRONG : ADVICE_FAILED;
}

static void
s_on_answer (void *router, void *arg, call_result_t result, const void *reply)
{
    question_t *question = arg;
    adviser_t *self = question->adviser;
    error_t error = { 0 };
    advice_t advice = { .kind = s_judge (question, result, reply, &error), .question = question };
    if (advice.kind == ADVICE_GIVEN) {
        advice.reply = reply;
        s_note_success (self);
    } else
        s_note_failure (self, &error);
    question_t answered = *question;
    advice.question = &answered;
    question->done (question->arg, &advice);
    s_forget (&answered);
}

//  ---- What comes of it ----------------------------------------------------------------------------------------------

//  A score in millionths, within +-9e18: any difference of two fits a cost.
static int64_t
s_millionths (double score)
{
    static const double MOST = 9e12;
    if (score > MOST)
        score = MOST;
    if (score < -MOST)
        score = -MOST;
    return (int64_t)(score * 1e6);
}

//  What was advised about the candidate at a position.
static int64_t
s_value (const advice_t *advice, size_t position)
{
    const score_candidates_reply_t *reply = advice->reply;
    if (!reply->has_worker)
        return s_millionths (reply->scores [position].score);
    const asked_t *asked = array_at (&advice->question->asked, position);
    return asked->source == event_source (reply->worker) && asked->rank == reply->rank;
}

//  Both are in the order of addresses and ranks, so that a candidate is looked for behind the last one found.
//  values: int64_t of those found, INT64_MIN for others.  Returns the best.
static int64_t
s_values (const advice_t *advice, const array_t *candidates, array_t *values)
{
    size_t next = 0;
    int64_t best = INT64_MIN;
    for (size_t i = 0; i < candidates->count; i++) {
        const policy_candidate_t *candidate = array_at (candidates, i);
        size_t position = s_find (advice->question, candidate->worker, candidate->rank, next);
        int64_t *value = array_add (values);
        *value = INT64_MIN;
        if (position == advice->question->asked.count)
            continue;
        next = position + 1;
        *value = s_value (advice, position);
        best = *value > best ? *value : best;
    }
    return best;
}

static advice_kind_t
s_apply (const advice_t *advice, array_t *candidates)
{
    array_t values;
    array_init (&values, sizeof (int64_t));
    int64_t best = s_values (advice, candidates, &values);
    bool usable = best != INT64_MIN && (!advice->reply->has_worker || best == 1);
    for (size_t i = 0; usable && i < candidates->count; i++) {
        int64_t value = *(int64_t *)array_at (&values, i);
        policy_candidate_t *candidate = array_at (candidates, i);
        candidate->cost = value == INT64_MIN ? UNASKED : (uint64_t)best - (uint64_t)value;
    }
    array_fini (&values);
    return usable ? ADVICE_GIVEN : ADVICE_GONE;
}

advice_kind_t
adviser_take (adviser_t *self, const advice_t *advice, array_t *candidates)
{
    advice_kind_t kind = advice->kind == ADVICE_GIVEN ? s_apply (advice, candidates) : advice->kind;
    metric_add (self->counts [kind], 1);
    return kind;
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

void
adviser_configure (adviser_t *self, const router_options_t *options)
{
    const char *endpoint = options->policy_endpoint ? options->policy_endpoint : "";
    if (strcmp (endpoint, self->endpoint) != 0)
        self->failures = 0;
    snprintf (self->endpoint, sizeof self->endpoint, "%s", endpoint);
    self->deadline_ns = options->policy_deadline_ns;
    self->pause_ns = options->policy_pause_ns;
    self->failures_max = (uint32_t)options->policy_failures_max;
    self->questions_max = (uint32_t)options->policy_waiting_max;
}

bool
adviser_is_on (const adviser_t *self)
{
    return *self->endpoint != '\0';
}

adviser_t *
adviser_new (actor_t *actor)
{
    adviser_t *self = memory_new (sizeof *self);
    metrics_t *metrics = actor_metrics (actor);
    self->actor = actor;
    array_init (&self->shown, sizeof (candidate_t));
    for (size_t i = 0; i < ADVICE_COUNT; i++) {
        char labels [32];
        snprintf (labels, sizeof labels, "result=\"%s\"", s_kinds [i].name);
        self->counts [i] = metrics_get (metrics, &s_count_metric, labels);
    }
    self->waiting = metrics_get (metrics, &s_waiting_metric, NULL);
    return self;
}

void
adviser_destroy (adviser_t **self_p)
{
    adviser_t *self = *self_p;
    if (!self)
        return;
    BUG_ON (self->questions);
    array_fini (&self->shown);
    memory_free (self);
    *self_p = NULL;
}

void
adviser_describe (const adviser_t *self, buffer_t *out)
{
    if (adviser_is_on (self))
        buffer_print (out, ", %s the one at %s", s_is_paused (self) ? "for now instead of" : "behind", self->endpoint);
}
