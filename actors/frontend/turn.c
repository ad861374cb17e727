#include "actors/frontend/turn.h"

#include <inttypes.h>
#include <stdio.h>

#include "actors/frontend/turn_private.h"
#include "base/memory.h"
#include "schemas/route.h"

span_t
turn_session (const turn_t *self)
{
    return !self->error && self->envelope.has_session ? self->envelope.session : SPAN ("");
}

//  ---- The end -------------------------------------------------------------------------------------------------------

uint32_t
turn_generated (const turn_t *self)
{
    return self->work ? 0 : (uint32_t)self->tokens.count - self->prompt_tokens;
}

void
turn_tell_router (turn_t *self, bool finished)
{
    route_progress_t progress = { .request = span_from_string (self->request_id),
        .worker = span_from_string (self->decided ? self->worker : ""),
        .finished = finished,
        .completion_tokens = turn_generated (self),
        .has_cached_tokens = self->found_said,
        .cached_tokens = self->found_tokens };
    notices_send (&self->frontend->notices, span_from_string (self->router), &progress);
}

void
turn_leave_worker (turn_t *self)
{
    stream_drop (&self->generation);
    call_drop (&self->route);
    timer_stop (&self->wait);
    if (self->router [0])
        turn_tell_router (self, true);
    self->router [0] = '\0';
    self->began_there = false;
    self->found_said = false;
}

static uint64_t
s_us_since_arrival (const turn_t *self, uint64_t at_ns)
{
    return at_ns ? (at_ns - self->arrived_ns) / 1000 : 0;
}

static void
s_publish_end (turn_t *self, int code, const char *reason)
{
    actor_t *actor = self->frontend->actor;
    request_ended_t event = {
        .request = span_from_string (self->request_id),
        .model = self->model_name.size ? self->model_name : self->request.model,
        .has_worker = self->worker [0] != '\0',
        .worker = span_from_string (self->worker),
        .code = (uint16_t)code,
        .reason = span_from_string (reason),
        .prompt_tokens = self->prompt_tokens,
        .cached_tokens = self->cached_tokens,
        .predicted_tokens = self->predicted_tokens,
        .completion_tokens = turn_generated (self),
        .route_us = s_us_since_arrival (self, self->routed_ns),
        .first_token_us = s_us_since_arrival (self, self->first_token_ns),
        .duration_us = s_us_since_arrival (self, actor_now (actor)),
        .migrations = (uint32_t)self->failures.count,
        .has_session = self->envelope.has_session,
        .session = self->envelope.session,
    };
    actor_publish (actor, &request_ended_message, &event);
}

static void
s_count_end (turn_t *self, int code)
{
    counts_t *counts = &self->frontend->counts;
    counts_answered (counts, self->model_name, code);
    counts_receipts (counts, &self->hints);
    metric_add (counts->running, -1);
    if (!self->first_token_ns)
        metric_add (counts->waiting, -1);
    if (self->model_name.size == 0)
        return;
    metric_t **metrics = self->metrics.metrics;
    metric_observe (metrics [COUNTS_E2E], actor_now (self->frontend->actor) - self->arrived_ns);
    metric_add (metrics [COUNTS_GENERATED], turn_generated (self));
    if (self->first_token_ns) {
        metric_add (metrics [COUNTS_PROMPT], self->prompt_tokens);
        metric_add (metrics [COUNTS_PREDICTED], self->predicted_tokens);
        metric_add (metrics [COUNTS_CACHED], self->cached_tokens);
    }
}

//  It is freed when nothing of it is on the stack any more.
static void
s_leave_turns (turn_t *self)
{
    answer_fini (&self->answer);
    self->over = true;
    list_remove (&self->frontend->turns, &self->in_list);
    list_append (&self->frontend->over, &self->in_list);
    frontend_bury_soon (self->frontend);
}

//  Every way out leads here, with the client answered or gone.
static void
s_end (turn_t *self, int code, const char *reason)
{
    turn_leave_worker (self);
    turn_drop_encoding (self);
    local_work_drop (&self->local);
    hints_close (&self->hints);
    s_count_end (self, code);
    s_publish_end (self, code, reason);
    s_leave_turns (self);
}

void
turn_set_receipt (turn_t *self)
{
    buffer_t receipt = { 0 };
    hints_render (&self->hints, &receipt);
    if (receipt.size)
        answer_set_header (&self->answer, "x-stator-receipt", buffer_span (&receipt));
    buffer_fini (&receipt);
}

void
turn_fail (turn_t *self, const api_error_t *error)
{
    int code = answer_status (&self->answer, error);
    hints_close (&self->hints);
    turn_set_receipt (self);
    answer_fail (&self->answer, error);
    s_end (self, code, api_error_row (error->kind)->name);
}

void
turn_fail_from (turn_t *self, api_error_kind_t kind, const char *who, const char *why)
{
    api_error_t error;
    api_error_set (&error, kind, NULL, "%s: %s.", who, why);
    turn_fail (self, &error);
}

static void
s_on_gone (void *arg)
{
    turn_t *self = arg;
    metric_add (self->frontend->counts.disconnected, 1);
    answer_abandon (&self->answer);
    s_end (self, api_error_row (API_CANCELLED)->status, api_error_row (API_CANCELLED)->name);
}

void
turn_complete (turn_t *self)
{
    usage_t usage = {
        .prompt = self->prompt_tokens, .cached = self->cached_tokens, .completion = turn_generated (self)
    };
    char cached [16];
    snprintf (cached, sizeof cached, "%" PRIu32, self->cached_tokens);
    bool said = self->answer.begun;
    hints_close (&self->hints);
    turn_set_receipt (self);
    answer_set_header (&self->answer, "x-stator-cached-tokens", span_from_string (cached));
    buffer_t comment = { 0 };
    if (said && self->hints.count) {
        buffer_append_string (&comment, "x-stator-receipt: ");
        hints_render (&self->hints, &comment);
    }
    const char *reason = self->stopping;
    answer_finish (&self->answer, reason, &usage, buffer_span (&comment));
    buffer_fini (&comment);
    s_end (self, 200, reason);
}

//  ---- Beginning -----------------------------------------------------------------------------------------------------

//  What the model is called, for whoever asked for another one.
static bool
s_refuse_model (turn_t *self, api_error_t *error)
{
    const models_t *models = self->frontend->models;
    if (models_count (models) == 0)
        return api_error_set (
            error, API_NO_WORKER, "model", "No worker has registered a model yet; try again in some seconds.");
    if (models_is_expected (models, self->request.model))
        return api_error_set (
            error, API_NO_WORKER, "model", "The model exists, but nobody serves it now: try again in some seconds.");
    buffer_t names = { 0 };
    size_t cursor = 0;
    span_t name;
    const model_t *model;
    while (names.size < 200 && models_next_name (models, &cursor, &name, &model)) {
        buffer_append_string (&names, names.size ? ", " : "");
        buffer_append (&names, name);
    }
    buffer_t asked = { 0 };
    api_error_set (error, API_NO_MODEL, "model", "The model '%s' does not exist here. There are: %s%s.",
        api_error_quote (self->request.model, &asked), buffer_string (&names), names.size < 200 ? "" : ", ...");
    buffer_fini (&asked);
    buffer_fini (&names);
    return false;
}

static bool
s_find_model (turn_t *self, api_error_t *error)
{
    const model_t *model = models_find (self->frontend->models, self->request.model);
    if (!model)
        return s_refuse_model (self, error);
    self->model_name = chat_request_keep (&self->request, model->name);
    self->fingerprint = model->fingerprint;
    self->ns = model->ns;
    self->context = model->context;
    self->sends_text = model->sends_text;
    self->encoder = encoder_find (model->tokenizing);
    counts_model (&self->frontend->counts, self->model_name, &self->metrics);
    return true;
}

static void
s_describe_answer (turn_t *self)
{
    chat_identity_t identity = { .id = span_from_string (self->completion_id),
        .model = self->request.model,
        .created_s = actor_wall (self->frontend->actor) / 1000000000,
        .fingerprint = self->fingerprint,
        .include_usage = self->request.include_usage };
    const sampling_t *sampling = &self->request.sampling;
    answer_describe (&self->answer, self->request.stream, &identity, sampling->stop, sampling->stop_count);
}

static bool
s_may_begin (turn_t *self, api_error_t *error)
{
    frontend_t *frontend = self->frontend;
    if (self->error) {
        *error = *self->error;
        return false;
    }
    if (frontend->draining)
        return api_error_set (error, API_DRAINING, NULL, "This frontend is about to end; try again.");
    if (frontend->turns.count > (size_t)frontend->options.requests_max)
        return api_error_set (error, API_OVERLOADED, NULL, "%zu requests are in progress here; try again later.",
            frontend->turns.count - 1);
    return s_find_model (self, error);
}

void
turn_begin (turn_t *self)
{
    api_error_t error;
    if (!s_may_begin (self, &error)) {
        turn_fail (self, &error);
        return;
    }
    retry_budget_add (&self->frontend->retries, actor_now (self->frontend->actor));
    s_describe_answer (self);
    turn_encode (self);
}

void
turn_start (frontend_t *frontend, client_t *client, const http_request_t *http, turn_read_fn *read)
{
    turn_t *self = memory_new (sizeof *self);
    self->frontend = frontend;
    self->arrived_ns = actor_now (frontend->actor);
    self->http = http;
    self->read = read;
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->failures, sizeof (turn_failure_t));
    arena_init (&self->hint_arena, 64 << 10);
    hints_init (&self->hints, &self->hint_arena);
    list_append (&frontend->turns, &self->in_list);
    frontend->served++;
    metric_add (frontend->counts.running, 1);
    metric_add (frontend->counts.waiting, 1);
    turn_read_head (self, http);
    answer_init (&self->answer, frontend->actor, client, frontend->options.keep_alive_ns, &frontend->events);
    answer_set_header (&self->answer, "x-request-id", span_from_string (self->client_id));
    client_watch (client, &(exchange_watch_t){ .on_gone = s_on_gone, .on_writable = turn_on_writable, .arg = self });
    turn_read (self, client);
}

//  ---- Freeing -------------------------------------------------------------------------------------------------------

//  What a job does not touch.
static void
s_leave_frontend (turn_t *self)
{
    turn_drop_encoding (self);
    local_work_drop (&self->local);
    call_drop (&self->route);
    stream_drop (&self->generation);
    timer_stop (&self->wait);
    if (!self->over)
        answer_fini (&self->answer);
    budget_give (actor_budget (self->frontend->actor), self->memory);
    self->frontend = NULL;
}

//  Frees what is sized by the request.  Work: trees may have millions of parts.
static void
s_empty (turn_t *self)
{
    turn_reading_destroy (&self->reading);
    sequence_destroy (&self->chain);
    json_destroy (&self->variables);
    json_destroy (&self->tools);
    buffer_fini (&self->question);
    array_fini (&self->tokens);
    chat_request_fini (&self->request);
}

void
turn_free (turn_t *self)
{
    if (self->frontend)
        s_leave_frontend (self);
    if (self->work)
        return;
    s_empty (self);
    array_fini (&self->failures);
    arena_fini (&self->hint_arena);
    memory_free (self->error);
    memory_free (self);
}

port_exchange_t *
turn_hand_back (turn_t **self_p)
{
    turn_t *self = *self_p;
    frontend_t *frontend = self->frontend;
    port_exchange_t *exchange = client_release (&self->answer.client);
    turn_return_body (self, exchange);
    metric_add (frontend->counts.running, -1);
    metric_add (frontend->counts.waiting, -1);
    s_leave_turns (self);
    *self_p = NULL;
    return exchange;
}

//  What a job works on stays until the job is done, and what is large until a job has emptied it: its memory is in use as
//  long.
void
turn_bury (frontend_t *frontend)
{
    list_link_t *link = list_first (&frontend->over);
    while (link) {
        turn_t *self = LIST_ENTRY (link, turn_t, in_list);
        link = list_next (&frontend->over, link);
        if (self->work)
            continue;
        if (self->request.arena.used > TURN_WORK_MAX) {
            turn_work (self, self->request.arena.used, s_empty, NULL);
            continue;
        }
        list_remove (&frontend->over, &self->in_list);
        turn_free (self);
    }
}

void
turn_drop_all (frontend_t *frontend)
{
    list_link_t *link;
    while ((link = list_take_first (&frontend->over)) || (link = list_take_first (&frontend->turns)))
        turn_free (LIST_ENTRY (link, turn_t, in_list));
}
