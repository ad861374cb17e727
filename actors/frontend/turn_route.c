#include <inttypes.h>

#include "actors/frontend/turn_private.h"
#include "runtime/directory.h"
#include "schemas/route.h"

static const uint64_t RETRY_NS = 200000000;    //  Before a router is asked again, doubled each time

enum { ROUTER_ATTEMPTS = 5 };

//  ---- Routing -------------------------------------------------------------------------------------------------------

//  Routers are restarted, and so are workers that failed: it is asked again for some seconds.
static void
s_ask_again (turn_t *self, api_error_kind_t kind, const char *why)
{
    if (++self->route_attempts >= ROUTER_ATTEMPTS) {
        turn_fail_from (self, kind, "The request could not be placed", why);
        return;
    }
    turn_route_later (self, RETRY_NS << self->route_attempts);
}

static void
s_take_decision (turn_t *self, const route_reply_t *reply)
{
    uint64_t predicted = (uint64_t)reply->overlap_blocks * self->ns.block_size;
    const actor_entry_t *worker = directory_find (self->frontend->actor, reply->worker);
    span_copy_string (reply->worker, self->worker, sizeof self->worker);
    self->incarnation = worker ? worker->incarnation : 0;
    self->rank = reply->rank;
    self->route_attempts = 0;
    self->decided = true;
    hints_answer_all (&self->hints, reply->receipts, reply->receipts_count);
    //  A session is kept by being here, at its owner, and by asking its owner among the routers.
    hints_answer (&self->hints, HINT_SESSION, OUTCOME_ACCEPTED, SPAN (""));
    if (self->routed_ns)
        return;
    self->routed_ns = actor_now (self->frontend->actor);
    self->predicted_tokens = predicted < self->prompt_tokens ? (uint32_t)predicted : self->prompt_tokens;
    metric_observe (self->metrics.metrics [COUNTS_QUEUE], self->routed_ns - self->arrived_ns);
}

//  Whether the router that was asked is still there: then what it said is its answer, not its end.
static bool
s_router_stands (const turn_t *self)
{
    const actor_entry_t *router = directory_find (self->frontend->actor, span_from_string (self->router));
    return router && router->state == ACTOR_STATE_ALIVE && router->incarnation == self->router_incarnation;
}

//  Whether a worker takes requests for the model, as far as is known here.  A router that knows of none has just begun, as a
//  broker may have, too, and hears of it soon.
static bool
s_is_served (const turn_t *self)
{
    const model_t *model = models_get (self->frontend->models, self->model_name, self->fingerprint);
    return model && model->accepting;
}

static void
s_not_routed (turn_t *self, call_result_t result)
{
    const error_t *why = call_error (&self->route);
    status_t status = result == CALL_DEADLINE ? STATUS_DEADLINE : why->status;
    if (status == STATUS_GAP)
        s_ask_again (self, API_NO_ROUTER, why->text);
    else if (status == STATUS_NOT_FOUND && s_is_served (self))
        s_ask_again (self, API_NO_WORKER, why->text);
    else if (status != STATUS_UNREACHABLE)
        turn_fail_from (self, api_error_from_status (status), "The request could not be placed", why->text);
    else if (!s_router_stands (self))
        s_ask_again (self, API_NO_ROUTER, why->text);
    else if (self->failures.count)
        s_ask_again (self, API_WORKER_FAILED, why->text);
    else
        turn_fail_from (self, API_NO_WORKER, "The request could not be placed", why->text);
}

static void
s_on_routed (void *state, void *arg, call_result_t result, const void *reply)
{
    turn_t *self = arg;
    if (result != CALL_REPLIED) {
        s_not_routed (self, result);
        return;
    }
    s_take_decision (self, reply);
    turn_generate (self);
}

void
turn_extend_chain (turn_t *self)
{
    if (!self->chain)
        self->chain = sequence_new (&self->ns);
    size_t hashed = sequence_tokens (self->chain);
    const uint32_t *tokens = self->tokens.data;
    sequence_extend (self->chain, tokens + hashed, self->tokens.count - hashed);
}

//  Workers that failed it and were not restarted since.  One that is gone may still be there for the router, who hears of
//  it later.
static size_t
s_exclude (const turn_t *self, span_t excluded [TURN_FAILURES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < self->failures.count; i++) {
        const turn_failure_t *failure = array_at (&self->failures, i);
        span_t address = span_from_string (failure->address);
        const actor_entry_t *worker = directory_find (self->frontend->actor, address);
        if (!worker || worker->incarnation == failure->incarnation)
            excluded [count++] = address;
    }
    return count;
}

static void
s_call_router (turn_t *self)
{
    span_t excluded [TURN_FAILURES_MAX];
    size_t excluded_count = s_exclude (self, excluded);
    size_t count;
    const hash128_t *hashes = sequence_hashes (self->chain, &count);
    buffer_t packed = { 0 };
    for (size_t i = 0; i < count; i++)
        column_pack_hash128 (&packed, hashes [i]);
    route_t request = {
        .request = span_from_string (self->request_id),
        .model = self->model_name,
        .fingerprint = self->fingerprint,
        .namespace_id = self->ns.id,
        .hashes = column_of_hash128 (buffer_span (&packed)),
        .prompt_tokens = (uint32_t)self->tokens.count,
        .has_max_tokens = true,
        .max_tokens = self->max_tokens - turn_generated (self),
        .exclude = excluded,
        .exclude_count = excluded_count,
        .has_envelope = true,
        .envelope = self->envelope,
    };
    call_trace (&self->route, span_from_string (self->trace));
    call_start (&self->route, self->frontend->actor,
        &(call_options_t){ .address = span_from_string (self->router),
            .type = &route_message,
            .request = &request,
            .timeout_ns = self->frontend->options.route_timeout_ns,
            .done = s_on_routed,
            .arg = self });
    buffer_fini (&packed);
}

//  The router that was asked before may have decided all the same, and count it; the one that is asked now counts it anew.
static void
s_change_router (turn_t *self, span_t router)
{
    notices_t *notices = &self->frontend->notices;
    if (self->router [0] && !span_equal_string (router, self->router))
        turn_tell_router (self, true);
    notices_withdraw (notices, router, span_from_string (self->request_id));
    span_copy_string (router, self->router, sizeof self->router);
}

void
turn_route (turn_t *self)
{
    span_t key = self->envelope.has_session ? self->envelope.session : span_from_string (self->request_id);
    const actor_entry_t *router = directory_owner (self->frontend->actor, "router", key);
    if (!router) {
        s_ask_again (self, API_NO_ROUTER, "no router is registered");
        return;
    }
    s_change_router (self, router->address);
    self->router_incarnation = router->incarnation;
    self->decided = false;
    turn_extend_chain (self);
    s_call_router (self);
}

static void
s_on_retry (void *state, actor_t *actor, void *arg)
{
    turn_route (arg);
}

void
turn_route_later (turn_t *self, uint64_t delay_ns)
{
    timer_start (&self->wait, self->frontend->actor, delay_ns, s_on_retry, self);
}
