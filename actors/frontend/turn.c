#include "actors/frontend/turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/turn_private.h"
#include "base/memory.h"
#include "schemas/route.h"

//  ---- Reading ---------------------------------------------------------------------------------------------------------

//  A client's id is kept, with something behind it: retries carry the same one.
static void
s_make_ids (turn_t *self, const http_request_t *http)
{
    actor_t *actor = self->frontend->actor;
    uint64_t high = actor_random (actor), low = actor_random (actor);
    snprintf (self->completion_id, sizeof self->completion_id, "chatcmpl-%016" PRIx64 "%016" PRIx64, high, low);
    if (http_client_id (http, self->client_id)) {
        snprintf (self->request_id, sizeof self->request_id, "%s.%016" PRIx64, self->client_id, low);
        return;
    }
    snprintf (self->request_id, sizeof self->request_id, "%016" PRIx64 "%016" PRIx64, high, low);
    span_copy_string (span_from_string (self->request_id), self->client_id, sizeof self->client_id);
}

//  Version, trace, parent and flags in lower-case hex: what is not of this form is no trace.
static void
s_take_trace (turn_t *self, const http_request_t *http)
{
    static const char form [] = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    span_t given = http_header (http, "traceparent");
    bool formed = given.size == TRACE_SIZE;
    for (size_t i = 0; i < given.size && formed; i++)
        formed =
            form [i] == 'x' ? strchr ("0123456789abcdef", given.data [i]) && given.data [i] : given.data [i] == '-';
    if (formed)
        span_copy_string (given, self->trace, sizeof self->trace);
}

static bool
s_check_head (turn_t *self, const http_request_t *http)
{
    span_t encoding = http_header (http, "content-encoding");
    span_t type = http_header (http, "content-type");
    type = span_trim (span_slice (type, 0, span_find_byte (type, ';')));
    if (encoding.size && !span_equal_nocase (encoding, SPAN ("identity")))
        return api_error_set (&self->error, API_MEDIA_TYPE, NULL,
            "Bodies in content-encoding '%.*s' are not read here.", SPAN_ARG (span_slice (encoding, 0, 64)));
    bool read =
        type.size == 0 || span_equal_nocase (type, SPAN ("application/json")) ||
        span_equal_nocase (type, SPAN ("application/x-www-form-urlencoded"));    //  What curl -d says of any text
    if (!read)
        return api_error_set (&self->error, API_MEDIA_TYPE, NULL,
            "Bodies of content-type '%.*s' are not read here: send application/json.",
            SPAN_ARG (span_slice (type, 0, 64)));
    return true;
}

static bool
s_read_body (turn_t *self, span_t text)
{
    json_t *body = NULL;
    error_t why;
    if (json_parse (text, &body, &why))
        return api_error_set (
            &self->error, API_INVALID_JSON, NULL, "We could not parse the body of your request: %s.", why.text);
    hints_read_body (&self->hints, body);
    bool read = chat_request_parse (&self->request, body, text.size, &self->error);
    json_destroy (&body);
    return read;
}

//  A tree, the request, the prompt and its tokens take this much for each byte of the body.
enum { MEMORY_FACTOR = 12, MEMORY_FIXED = 64 << 10 };

static bool
s_charge (turn_t *self, span_t body)
{
    uint64_t memory = (uint64_t)body.size * MEMORY_FACTOR + MEMORY_FIXED;
    if (budget_take (actor_budget (self->frontend->actor), memory, NULL))
        return api_error_set (&self->error, API_OVERLOADED, NULL,
            "This frontend has no memory for another request of %zu bytes now; try again later.", body.size);
    self->memory = memory;
    return true;
}

turn_t *
turn_new (frontend_t *frontend, const http_request_t *http)
{
    turn_t *self = memory_new (sizeof *self);
    self->frontend = frontend;
    self->arrived_ns = actor_now (frontend->actor);
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->failures, sizeof (turn_failure_t));
    arena_init (&self->hint_arena, 64 << 10);
    hints_init (&self->hints, &self->hint_arena);
    s_make_ids (self, http);
    s_take_trace (self, http);
    for (size_t i = 0; i < http->header_count; i++)
        hints_read_header (&self->hints, http->headers [i].name, http->headers [i].value);
    if (s_check_head (self, http) && s_charge (self, http->body))
        s_read_body (self, http->body);
    hints_choose (&self->hints, &self->envelope);
    return self;
}

span_t
turn_session (const turn_t *self)
{
    return self->error.kind == API_OK && self->envelope.has_session ? self->envelope.session : SPAN ("");
}

static void
s_free (turn_t *self)
{
    encoding_drop (&self->encoding);
    call_drop (&self->route);
    stream_drop (&self->generation);
    timer_stop (&self->wait);
    budget_give (actor_budget (self->frontend->actor), self->memory);
    sequence_destroy (&self->chain);
    array_fini (&self->tokens);
    array_fini (&self->failures);
    arena_fini (&self->hint_arena);
    chat_request_fini (&self->request);
    memory_free (self);
}

void
turn_discard (turn_t **self_p)
{
    s_free (*self_p);
    *self_p = NULL;
}

//  ---- The end ---------------------------------------------------------------------------------------------------------

uint32_t
turn_generated (const turn_t *self)
{
    return (uint32_t)self->tokens.count - self->prompt_tokens;
}

void
turn_tell_router (turn_t *self, bool finished)
{
    route_progress_t progress = { .request = span_from_string (self->request_id),
        .worker = span_from_string (self->decided ? self->worker : ""),
        .finished = finished,
        .completion_tokens = turn_generated (self) };
    notices_send (&self->frontend->notices, self->frontend->actor, span_from_string (self->router), &progress);
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

//  Every way out leads here, with the client answered or gone.
static void
s_end (turn_t *self, int code, const char *reason)
{
    turn_leave_worker (self);
    encoding_drop (&self->encoding);
    hints_close (&self->hints);
    s_count_end (self, code);
    s_publish_end (self, code, reason);
    answer_fini (&self->answer);
    list_remove (&self->frontend->turns, &self->in_list);
    list_append (&self->frontend->over, &self->in_list);
    frontend_bury_soon (self->frontend);
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

//  ---- Beginning -------------------------------------------------------------------------------------------------------

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
    *error = self->error;
    if (error->kind != API_OK)
        return false;
    if (frontend->draining)
        return api_error_set (error, API_DRAINING, NULL, "This frontend is about to end; try again.");
    if (frontend->turns.count > (size_t)frontend->options.requests_max)
        return api_error_set (error, API_OVERLOADED, NULL, "%zu requests are in progress here; try again later.",
            frontend->turns.count - 1);
    return s_find_model (self, error);
}

void
turn_begin (turn_t *self, client_t *client)
{
    frontend_t *frontend = self->frontend;
    api_error_t error;
    list_append (&frontend->turns, &self->in_list);
    frontend->served++;
    metric_add (frontend->counts.running, 1);
    metric_add (frontend->counts.waiting, 1);
    answer_init (&self->answer, frontend->actor, client, frontend->options.keep_alive_ns);
    answer_set_header (&self->answer, "x-request-id", span_from_string (self->client_id));
    client_watch (client, &(exchange_watch_t){ .on_gone = s_on_gone, .on_writable = turn_on_writable, .arg = self });
    if (!s_may_begin (self, &error)) {
        turn_fail (self, &error);
        return;
    }
    s_describe_answer (self);
    turn_encode (self);
}

//  ---- Freeing ---------------------------------------------------------------------------------------------------------

void
turn_bury (frontend_t *frontend)
{
    list_link_t *link;
    while ((link = list_take_first (&frontend->over)))
        s_free (LIST_ENTRY (link, turn_t, in_list));
}

void
turn_drop_all (frontend_t *frontend)
{
    list_link_t *link;
    turn_bury (frontend);
    while ((link = list_take_first (&frontend->turns))) {
        turn_t *self = LIST_ENTRY (link, turn_t, in_list);
        answer_fini (&self->answer);
        s_free (self);
    }
}
