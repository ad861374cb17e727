#include "actors/frontend/turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/answer.h"
#include "actors/frontend/encoder.h"
#include "base/bug.h"
#include "base/memory.h"
#include "hints/hints.h"
#include "kv/sequence.h"
#include "runtime/directory.h"
#include "runtime/stream.h"
#include "schemas/route.h"
#include "schemas/worker.h"

static const uint64_t MS_NS = 1000000;
static const uint64_t RETRY_NS = 200000000;     //  Before a router is asked again, doubled each time
static const uint64_t GRACE_NS = 1000000000;    //  For a worker to end by itself after a stop string

//  Tokens that a worker may be ahead of the client.
enum { CREDIT_WINDOW = 256 };
enum { ROUTER_ATTEMPTS = 5, FAILED_MAX = 64, ID_SIZE = 128, CLIENT_ID_MAX = 80 };

struct turn {
    frontend_t *frontend;                  //  Whose
    list_link_t in_list;                   //  Of turns, or of those that are over
    uint64_t arrived_ns;                   //  When it was new
    char request_id [ID_SIZE];             //  Unique in the fleet
    char client_id [CLIENT_ID_MAX + 1];    //  x-request-id of the client, or ours
    char completion_id [64];               //  "chatcmpl-..."
    uint64_t memory;                       //  Charged to the actor's budget

    chat_request_t request;    //  What was asked
    arena_t hint_arena;        //  Texts of the hints
    hints_t hints;             //  What was said about the future
    envelope_t envelope;       //  The same, for router and worker
    api_error_t error;         //  What is wrong with the request, from turn_new on
    answer_t answer;           //  The client's side

    span_t model_name;           //  In the request's arena; empty until the model is known
    uint64_t fingerprint;        //  Of the model
    namespace_t ns;              //  Of its blocks
    uint32_t context;            //  Tokens that fit; 0: not known
    bool sends_text;             //  Items carry bytes
    const encoder_t *encoder;    //  How its prompts become tokens
    counts_model_t metrics;      //  Of the model

    encoding_t encoding;       //  Making tokens
    unsigned encodings;        //  Tried
    array_t tokens;            //  uint32_t: the prompt, then what is generated
    uint32_t prompt_tokens;    //  How many are prompt
    uint32_t max_tokens;       //  Generated at most
    sequence_t *chain;         //  Hashes of the tokens

    call_t route;                   //  To the router
    char router [ADDRESS_MAX];      //  Who was asked last; empty: nobody to tell
    uint64_t router_incarnation;    //  Of that one
    unsigned route_attempts;        //  Routers asked in vain, since one answered
    actor_timer_t wait;             //  Before asking again; for a worker to end
    uint64_t routed_ns;             //  When the first decision came; 0: none yet
    uint32_t predicted_tokens;      //  Of the prompt, expected in the cache
    array_t failed;                 //  char [ADDRESS_MAX]: workers that failed it

    char worker [ADDRESS_MAX];    //  Where it runs, or ran last
    uint16_t rank;                //  There
    stream_t generation;          //  From there
    bool began_there;             //  The present worker sent a token
    uint64_t first_token_ns;      //  When; 0: none yet
    uint64_t last_token_ns;       //  When the last ones came
    uint32_t cached_tokens;       //  Of the prompt, found in the engine's cache
    const char *stopping;         //  The answer is complete for this reason; the worker may still say how it was
};

static void s_route (turn_t *self);
static void s_move_on (turn_t *self, status_t status, const char *why);

//  ---- Reading ---------------------------------------------------------------------------------------------------------

//  A client's id is kept, with something behind it: retries carry the same one.
static void
s_make_ids (turn_t *self, const http_request_t *http)
{
    actor_t *actor = self->frontend->actor;
    uint64_t high = actor_random (actor), low = actor_random (actor);
    snprintf (self->completion_id, sizeof self->completion_id, "chatcmpl-%016" PRIx64 "%016" PRIx64, high, low);
    span_t given = span_trim (http_header (http, "x-request-id"));
    bool plain = given.size > 0 && given.size <= CLIENT_ID_MAX;
    for (size_t i = 0; i < given.size && plain; i++)
        plain = given.data [i] > 0x20 && given.data [i] < 0x7f;
    if (plain) {
        span_copy_string (given, self->client_id, sizeof self->client_id);
        snprintf (self->request_id, sizeof self->request_id, "%s.%016" PRIx64, self->client_id, low);
    } else {
        snprintf (self->request_id, sizeof self->request_id, "%016" PRIx64 "%016" PRIx64, high, low);
        span_copy_string (span_from_string (self->request_id), self->client_id, sizeof self->client_id);
    }
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
    if (type.size && !span_equal_nocase (type, SPAN ("application/json")))
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
    array_init (&self->failed, ADDRESS_MAX);
    arena_init (&self->hint_arena, 64 << 10);
    hints_init (&self->hints, &self->hint_arena);
    s_make_ids (self, http);
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
    array_fini (&self->failed);
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

static uint32_t
s_generated (const turn_t *self)
{
    return (uint32_t)self->tokens.count - self->prompt_tokens;
}

static void
s_tell_router (turn_t *self, bool finished)
{
    route_progress_t progress = { .request = span_from_string (self->request_id),
        .worker = span_from_string (self->worker),
        .finished = finished,
        .completion_tokens = s_generated (self) };
    notices_send (&self->frontend->notices, self->frontend->actor, span_from_string (self->router), &progress);
}

//  It does not run where it was sent, or may have been sent by a decision that nobody heard: its router is told, once.
static void
s_leave_worker (turn_t *self)
{
    stream_drop (&self->generation);
    call_drop (&self->route);
    timer_stop (&self->wait);
    if (self->router [0])
        s_tell_router (self, true);
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
        .completion_tokens = s_generated (self),
        .route_us = s_us_since_arrival (self, self->routed_ns),
        .first_token_us = s_us_since_arrival (self, self->first_token_ns),
        .duration_us = s_us_since_arrival (self, actor_now (actor)),
        .migrations = (uint32_t)self->failed.count,
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
    metric_add (metrics [COUNTS_GENERATED], s_generated (self));
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
    s_leave_worker (self);
    encoding_drop (&self->encoding);
    hints_close (&self->hints);
    s_count_end (self, code);
    s_publish_end (self, code, reason);
    answer_fini (&self->answer);
    list_remove (&self->frontend->turns, &self->in_list);
    list_append (&self->frontend->over, &self->in_list);
    frontend_bury_soon (self->frontend);
}

static void
s_set_receipt (turn_t *self)
{
    buffer_t receipt = { 0 };
    hints_render (&self->hints, &receipt);
    if (receipt.size)
        answer_set_header (&self->answer, "x-stator-receipt", buffer_span (&receipt));
    buffer_fini (&receipt);
}

static void
s_fail (turn_t *self, const api_error_t *error)
{
    int code = answer_status (&self->answer, error);
    hints_close (&self->hints);
    s_set_receipt (self);
    answer_fail (&self->answer, error);
    s_end (self, code, api_error_row (error->kind)->name);
}

static void
s_on_gone (void *arg)
{
    turn_t *self = arg;
    metric_add (self->frontend->counts.disconnected, 1);
    answer_abandon (&self->answer);
    s_end (self, api_error_row (API_CANCELLED)->status, api_error_row (API_CANCELLED)->name);
}

static void
s_complete (turn_t *self)
{
    usage_t usage = { .prompt = self->prompt_tokens, .cached = self->cached_tokens, .completion = s_generated (self) };
    char cached [16];
    snprintf (cached, sizeof cached, "%" PRIu32, self->cached_tokens);
    bool said = self->answer.begun;
    hints_close (&self->hints);
    s_set_receipt (self);
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

//  ---- Generating ------------------------------------------------------------------------------------------------------

//  The answer is complete; the worker is given a moment to say how many tokens it had in its cache.
static void
s_on_grace_over (void *state, actor_t *actor, void *arg)
{
    s_complete (arg);
}

static void
s_stop (turn_t *self, const char *reason)
{
    self->stopping = reason;
    timer_start (&self->wait, self->frontend->actor, GRACE_NS, s_on_grace_over, self);
}

//  The worker may go on: the client has room for what comes behind `position`.
static void
s_grant (turn_t *self, uint64_t position)
{
    uint64_t limit = position + CREDIT_WINDOW;
    if (!self->answer.blocked && limit > self->generation.credit + CREDIT_WINDOW / 2)
        stream_credit (&self->generation, limit);
}

static void
s_on_writable (void *arg)
{
    turn_t *self = arg;
    self->answer.blocked = false;
    if (stream_is_active (&self->generation))
        s_grant (self, self->generation.position);
}

//  The first headers of the response that can be known.
static void
s_describe_worker (turn_t *self)
{
    char queue [24];
    snprintf (queue, sizeof queue, "%" PRIu64, (self->routed_ns - self->arrived_ns) / MS_NS);
    answer_set_header (&self->answer, "x-stator-worker", span_from_string (self->worker));
    answer_set_header (&self->answer, "x-stator-queue-ms", span_from_string (queue));
    if (self->request.stream)
        s_set_receipt (self);
}

static void
s_count_tokens (turn_t *self, uint64_t now, size_t count)
{
    metric_t **metrics = self->metrics.metrics;
    if (!self->first_token_ns) {
        self->first_token_ns = now;
        metric_observe (metrics [COUNTS_TTFT], now - self->arrived_ns);
        metric_add (self->frontend->counts.waiting, -1);
        s_describe_worker (self);
    } else
        metric_observe (metrics [COUNTS_ITL], (now - self->last_token_ns) / count);
    self->last_token_ns = now;
    if (!self->began_there)
        s_tell_router (self, false);
    self->began_there = true;
}

static void
s_put (turn_t *self, const generated_t *item)
{
    buffer_t bytes = { 0 };
    if (!self->sends_text)
        self->encoder->text (item->tokens, &bytes);
    status_t status = answer_put (&self->answer, self->sends_text ? item->text : buffer_span (&bytes));
    buffer_fini (&bytes);
    if (status == STATUS_CANCELLED)
        s_stop (self, "stop");
    else if (status == STATUS_LIMIT || s_generated (self) >= self->max_tokens)
        s_stop (self, "length");
}

//  Never frees the turn: the stream is in it, and looks at itself when this returns.
static uint64_t
s_on_tokens (void *state, void *arg, uint64_t position, const void *message)
{
    turn_t *self = arg;
    const generated_t *item = message;
    size_t count = item->tokens.count;
    if (count == 0 || self->stopping)
        return count;
    uint32_t *tokens = array_append (&self->tokens, NULL, count);
    for (size_t i = 0; i < count; i++)
        tokens [i] = column_u32 (item->tokens, i);
    s_count_tokens (self, actor_now (self->frontend->actor), count);
    s_put (self, item);
    if (!self->stopping)
        s_grant (self, position + count);
    return count;
}

static void
s_take_end (turn_t *self, const generate_end_t *end)
{
    uint32_t cached = end->cached_tokens < self->prompt_tokens ? end->cached_tokens : self->prompt_tokens;
    if (self->failed.count == 0)
        self->cached_tokens = cached;
    hints_answer_all (&self->hints, end->receipts, end->receipts_count);
}

static void
s_on_generated (void *state, void *arg, call_result_t result, const void *message)
{
    turn_t *self = arg;
    const generate_end_t *end = message;
    if (result == CALL_REPLIED)
        s_take_end (self, end);
    if (self->stopping) {
        s_complete (self);
        return;
    }
    if (result == CALL_DEADLINE)
        s_move_on (self, STATUS_DEADLINE, "it sent no token for too long");
    else if (result != CALL_REPLIED)
        s_move_on (self, stream_error (&self->generation)->status, stream_error (&self->generation)->text);
    else if (end->reason == FINISH_REASON_STOP || end->reason == FINISH_REASON_LENGTH) {
        self->stopping = end->reason == FINISH_REASON_STOP ? "stop" : "length";
        s_complete (self);
    } else {
        char why [ERROR_TEXT_MAX];
        span_copy_string (end->has_detail ? end->detail : SPAN ("it ended the request"), why, sizeof why);
        s_move_on (self, STATUS_INTERNAL, why);
    }
}

static void
s_generate (turn_t *self)
{
    sampling_t sampling = self->request.sampling;
    sampling.has_max_tokens = true;
    sampling.max_tokens = self->max_tokens - s_generated (self);
    generate_t request = {
        .request = span_from_string (self->request_id),
        .model = self->model_name,
        .tokens = column_of_u32 (self->tokens.data, self->tokens.count),
        .delivered = s_generated (self),
        .sampling = sampling,
        .has_envelope = true,
        .envelope = self->envelope,
        .rank = self->rank,
    };
    stream_options_t options = { .on_item = s_on_tokens,
        .on_end = s_on_generated,
        .credit = self->answer.blocked ? 0 : CREDIT_WINDOW,
        .idle_timeout_ns = self->frontend->options.stall_timeout_ns };
    stream_open (&self->generation, self->frontend->actor, span_from_string (self->worker), &generate_message, &request,
        &options, self);
}

//  ---- Moving on -------------------------------------------------------------------------------------------------------

//  A request that is wrong for one worker is wrong for all.
static bool
s_is_hopeless (status_t status)
{
    return status == STATUS_INVALID || status == STATUS_UNSUPPORTED || status == STATUS_REFUSED;
}

static void
s_fail_from (turn_t *self, api_error_kind_t kind, const char *who, const char *why)
{
    api_error_t error;
    api_error_set (&error, kind, NULL, "%s: %s.", who, why);
    s_fail (self, &error);
}

//  Goes on at another worker, from the tokens that are there.
static void
s_move_on (turn_t *self, status_t status, const char *why)
{
    frontend_t *frontend = self->frontend;
    if (s_is_hopeless (status)) {
        s_fail_from (self, api_error_from_status (status), self->worker, why);
        return;
    }
    actor_log (frontend->actor, LOG_WARNING, "request %s moves on from %s after %" PRIu32 " tokens: %s",
        self->request_id, self->worker, s_generated (self), why);
    if (self->failed.count + 1 >= (size_t)frontend->options.attempts || self->failed.count == FAILED_MAX) {
        api_error_kind_t kind = api_error_from_status (status);
        s_fail_from (self, kind == API_NO_WORKER ? API_WORKER_FAILED : kind, self->worker, why);
        return;
    }
    span_copy_string (span_from_string (self->worker), array_add (&self->failed), ADDRESS_MAX);
    if (s_generated (self))
        counts_migrated (&frontend->counts, self->model_name, status_name (status));
    else
        metric_add (self->metrics.metrics [COUNTS_RETRIES], 1);
    s_leave_worker (self);
    s_route (self);
}

//  ---- Routing ---------------------------------------------------------------------------------------------------------

static void
s_on_retry (void *state, actor_t *actor, void *arg)
{
    s_route (arg);
}

//  Routers are restarted, too: it is asked again for some seconds.
static void
s_ask_again (turn_t *self, const char *why)
{
    if (++self->route_attempts >= ROUTER_ATTEMPTS) {
        s_fail_from (self, API_NO_ROUTER, "No router decides", why);
        return;
    }
    timer_start (&self->wait, self->frontend->actor, RETRY_NS << self->route_attempts, s_on_retry, self);
}

static void
s_take_decision (turn_t *self, const route_reply_t *reply)
{
    uint64_t predicted = (uint64_t)reply->overlap_blocks * self->ns.block_size;
    span_copy_string (reply->worker, self->worker, sizeof self->worker);
    self->rank = reply->rank;
    self->route_attempts = 0;
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

static void
s_not_routed (turn_t *self, call_result_t result)
{
    const error_t *why = call_error (&self->route);
    status_t status = result == CALL_DEADLINE ? STATUS_DEADLINE : why->status;
    if (status == STATUS_UNREACHABLE && !s_router_stands (self))
        s_ask_again (self, why->text);
    else if (self->failed.count)
        s_fail_from (self, API_WORKER_FAILED, "The request cannot go on elsewhere", why->text);
    else
        s_fail_from (self, api_error_from_status (status), "The request could not be placed", why->text);
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
    s_generate (self);
}

static void
s_extend_chain (turn_t *self)
{
    if (!self->chain)
        self->chain = sequence_new (&self->ns);
    size_t hashed = sequence_tokens (self->chain);
    const uint32_t *tokens = self->tokens.data;
    sequence_extend (self->chain, tokens + hashed, self->tokens.count - hashed);
}

static void
s_call_router (turn_t *self)
{
    span_t failed [FAILED_MAX];
    for (size_t i = 0; i < self->failed.count; i++)
        failed [i] = span_from_string (array_at (&self->failed, i));
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
        .max_tokens = self->max_tokens - s_generated (self),
        .exclude = failed,
        .exclude_count = self->failed.count,
        .has_envelope = true,
        .envelope = self->envelope,
    };
    call_start (&self->route, self->frontend->actor, span_from_string (self->router), &route_message, &request,
        self->frontend->options.route_timeout_ns, s_on_routed, self);
    buffer_fini (&packed);
}

static void
s_route (turn_t *self)
{
    span_t key = self->envelope.has_session ? self->envelope.session : span_from_string (self->request_id);
    const actor_entry_t *router = directory_owner (self->frontend->actor, "router", key);
    if (!router) {
        s_ask_again (self, "none is registered");
        return;
    }
    span_copy_string (router->address, self->router, sizeof self->router);
    self->router_incarnation = router->incarnation;
    s_extend_chain (self);
    s_call_router (self);
}

//  ---- Encoding --------------------------------------------------------------------------------------------------------

//  Room for an answer that asks for more than there is, is what there is.
static bool
s_check_context (turn_t *self, api_error_t *error)
{
    const sampling_t *sampling = &self->request.sampling;
    if (self->tokens.count > UINT32_MAX / 2)
        return api_error_set (error, API_TOO_LARGE, "messages", "The prompt has more tokens than can be counted.");
    uint32_t prompt = (uint32_t)self->tokens.count;
    uint32_t context = self->context ? self->context : UINT32_MAX / 2;
    if (prompt >= context)
        return api_error_set (error, API_CONTEXT_LENGTH, "messages",
            "This model's maximum context length is %" PRIu32 " tokens. However, your messages resulted in %" PRIu32
            " tokens. Please reduce the length of the messages.",
            context, prompt);
    uint32_t room = context - prompt;
    self->prompt_tokens = prompt;
    self->max_tokens = sampling->has_max_tokens && sampling->max_tokens < room ? sampling->max_tokens : room;
    return true;
}

static void s_encode (turn_t *self);

static void
s_on_encoded (void *state, void *arg, const api_error_t *error)
{
    turn_t *self = arg;
    api_error_t problem;
    self->prompt_tokens = (uint32_t)self->tokens.count;
    bool helper_failed = error && error->kind != API_INVALID_VALUE && self->encoder->needs_worker;
    if (helper_failed && ++self->encodings < self->frontend->options.attempts)
        s_encode (self);
    else if (error)
        s_fail (self, error);
    else if (!s_check_context (self, &problem))
        s_fail (self, &problem);
    else
        s_route (self);
}

static void
s_encode (turn_t *self)
{
    frontend_t *frontend = self->frontend;
    const model_t *model = models_get (frontend->models, self->model_name, self->fingerprint);
    span_t worker = model ? models_worker (frontend->models, model, frontend->served + self->encodings) : SPAN ("");
    if (worker.size == 0) {
        s_fail_from (self, API_NO_WORKER, "The model exists, but nobody serves it now", "try again in some seconds");
        return;
    }
    self->encoding = (encoding_t){ .actor = frontend->actor,
        .encoder = self->encoder,
        .model = self->model_name,
        .tokens = &self->tokens,
        .done = s_on_encoded,
        .arg = self };
    span_copy_string (worker, self->encoding.worker, sizeof self->encoding.worker);
    encoding_start (&self->encoding, &self->request);
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
    buffer_t names = { 0 };
    size_t cursor = 0;
    span_t name;
    const model_t *model;
    while (names.size < 200 && models_next_name (models, &cursor, &name, &model)) {
        buffer_append_string (&names, names.size ? ", " : "");
        buffer_append (&names, name);
    }
    api_error_set (error, API_NO_MODEL, "model", "The model '%.*s' does not exist here. There are: %s%s.",
        SPAN_ARG (span_slice (self->request.model, 0, 128)), buffer_string (&names), names.size < 200 ? "" : ", ...");
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
    client_watch (client, &(exchange_watch_t){ .on_gone = s_on_gone, .on_writable = s_on_writable, .arg = self });
    if (!s_may_begin (self, &error)) {
        s_fail (self, &error);
        return;
    }
    s_describe_answer (self);
    s_encode (self);
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
