#include <inttypes.h>
#include <stdio.h>

#include "actors/frontend/turn_private.h"
#include "base/memory.h"
#include "schemas/worker.h"

static const uint64_t MS_NS = 1000000;
static const uint64_t GRACE_NS = 1000000000;    //  For a worker to end by itself when the answer is complete

//  Tokens that a worker may be ahead of the client.
enum { CREDIT_WINDOW = 256 };

//  Bytes of tokens that are copied at once, into the message and by the socket: half a millisecond.
enum { COPY_MAX = 1 << 20 };

//  The answer is complete; the worker is given a moment to say how many tokens it had in its cache.
static void
s_on_grace_over (void *state, actor_t *actor, void *arg)
{
    turn_complete (arg);
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

void
turn_on_writable (void *arg)
{
    turn_t *self = arg;
    self->answer.blocked = false;
    if (stream_is_active (&self->generation))
        s_grant (self, self->generation.position);
}

//  Headers of the response that are known before its first token.
static void
s_describe_worker (turn_t *self)
{
    char queue [24];
    snprintf (queue, sizeof queue, "%" PRIu64, (self->routed_ns - self->arrived_ns) / MS_NS);
    answer_set_header (&self->answer, "x-stator-worker", span_from_string (self->worker));
    answer_set_header (&self->answer, "x-stator-queue-ms", span_from_string (queue));
    turn_set_receipt (self);
}

static void
s_count_tokens (turn_t *self, uint64_t now, size_t count)
{
    metric_t **metrics = self->metrics.metrics;
    if (!self->first_token_ns) {
        self->first_token_ns = now;
        metric_observe (metrics [COUNTS_TTFT], now - self->arrived_ns);
        metric_add (self->frontend->counts.waiting, -1);
    } else
        metric_observe (metrics [COUNTS_ITL], (now - self->last_token_ns) / count);
    self->last_token_ns = now;
    if (!self->began_there)
        turn_tell_router (self, false);
    self->began_there = true;
}

//  The text of tokens whose worker sends none.
static status_t
s_put_tokens (turn_t *self, column_t tokens)
{
    buffer_t bytes = { 0 };
    self->encoder->text (tokens, &bytes);
    status_t status = answer_put (&self->answer, buffer_span (&bytes), self->generation.heard_ns);
    buffer_fini (&bytes);
    return status;
}

static void
s_put (turn_t *self, const generated_t *item)
{
    status_t status = self->sends_text ? answer_put (&self->answer, item->text, self->generation.heard_ns)
                                       : s_put_tokens (self, item->tokens);
    if (status == STATUS_CANCELLED)
        s_stop (self, "stop");
    else if (status == STATUS_LIMIT || turn_generated (self) >= self->max_tokens)
        s_stop (self, "length");
}

static void
s_on_coming (const void *arg, unsigned step)
{
    const turn_t *self = arg;
    if (step == 0) {
        memory_expect (self, offsetof (turn_t, answer.speech.setup));
        return;
    }
    if (step == 1)
        memory_expect ((const uint32_t *)self->tokens.data + self->tokens.count, sizeof (uint32_t));
    answer_expect (&self->answer, step - 1);
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
    array_append (&self->tokens, item->tokens.data, count);
    s_count_tokens (self, self->generation.heard_ns, count);
    s_put (self, item);
    if (!self->stopping)
        s_grant (self, position + count);
    return count;
}

static void
s_take_end (turn_t *self, const generate_end_t *end)
{
    uint32_t cached = end->cached_tokens < self->prompt_tokens ? end->cached_tokens : self->prompt_tokens;
    if (self->failures.count == 0)
        self->cached_tokens = cached;
    self->found_tokens = end->cached_tokens;
    self->found_said = true;
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
        turn_complete (self);
        return;
    }
    if (result == CALL_DEADLINE)
        turn_move_on (self, STATUS_DEADLINE, "it sent no token for too long");
    else if (result != CALL_REPLIED)
        turn_move_on (self, stream_error (&self->generation)->status, stream_error (&self->generation)->text);
    else if (end->reason == FINISH_REASON_STOP || end->reason == FINISH_REASON_LENGTH) {
        self->stopping = end->reason == FINISH_REASON_STOP ? "stop" : "length";
        turn_complete (self);
    } else {
        char why [ERROR_TEXT_MAX];
        span_copy_string (end->has_detail ? end->detail : SPAN ("it ended the request"), why, sizeof why);
        turn_move_on (self, STATUS_INTERNAL, why);
    }
}

static generate_t
s_request (const turn_t *self)
{
    sampling_t sampling = self->request.sampling;
    sampling.has_max_tokens = true;
    sampling.max_tokens = self->max_tokens - turn_generated (self);
    return (generate_t){
        .request = span_from_string (self->request_id),
        .model = self->model_name,
        .tokens = column_of_u32 (self->tokens.data, self->tokens.count),
        .delivered = turn_generated (self),
        .sampling = sampling,
        .has_envelope = true,
        .envelope = self->envelope,
        .rank = self->rank,
    };
}

static stream_options_t
s_options (const turn_t *self)
{
    return (stream_options_t){ .on_item = s_on_tokens,
        .on_end = s_on_generated,
        .on_coming = s_on_coming,
        .credit = self->answer.blocked ? 0 : CREDIT_WINDOW,
        .idle_timeout_ns = self->frontend->options.stall_timeout_ns };
}

//  Work.
static void
s_encode (turn_t *self)
{
    generate_t request = s_request (self);
    message_encode (&generate_message, &request, &self->question);
}

static void
s_open_encoded (turn_t *self)
{
    stream_options_t options = s_options (self);
    stream_trace (&self->generation, span_from_string (self->trace));
    stream_open_encoded (&self->generation, self->frontend->actor, span_from_string (self->worker), &generate_message,
        &self->question, &options, self);
}

void
turn_generate (turn_t *self)
{
    s_describe_worker (self);
    size_t size = self->tokens.count * sizeof (uint32_t);
    if (size > COPY_MAX) {
        buffer_fini (&self->question);
        turn_work (self, size, s_encode, s_open_encoded);
        return;
    }
    generate_t request = s_request (self);
    stream_options_t options = s_options (self);
    stream_trace (&self->generation, span_from_string (self->trace));
    stream_open (&self->generation, self->frontend->actor, span_from_string (self->worker), &generate_message, &request,
        &options, self);
}
