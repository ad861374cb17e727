//  One generate stream: from the engine, past the credit, to the caller.
//
//  Tokens that arrive are parked, and whatever the credit allows is sent at once.  The generation ends when the engine has
//  ended and nothing is parked; until then the engine's last word is kept here.

#include "base/memory.h"
#include "base/utf8.h"
#include "workers/worker_private.h"

enum { ITEM_TOKENS_MAX = 65536, DETAIL_MAX = 512, PRICE = 2 * sizeof (uint32_t) };

//  Callers probe a stream that is silent every two seconds: who does not, and gives no credit, did not hear that its connection
//  fell.
static const uint64_t CALLER_PATIENCE_NS = 30000000000;

struct generation {
    list_link_t link;             //  In the worker's list; in none for a probe
    worker_t *worker;             //  Whose it is
    incoming_t *incoming;         //  Who waits; NULL: a probe
    const generate_t *request;    //  The incoming's message; NULL: a probe
    engine_run_t *run;            //  NULL once the engine has ended
    uint32_t max_tokens;          //  At most this many
    uint32_t received;            //  From the engine
    uint64_t told_ns;             //  When the last of them came; 0: none yet
    array_t tokens;               //  uint32_t, parked
    array_t sizes;                //  uint32_t, bytes of text of each
    uint64_t taken_ns;            //  When the reader last took some, or nothing was parked
    buffer_t text;                //  Of the parked tokens
    engine_end_t end;             //  Once `run` is NULL
    buffer_t detail;              //  Of the end
};

static const engine_class_t *
s_engine_class (const generation_t *self)
{
    return self->worker->class;
}

static bool
s_is_probe (const generation_t *self)
{
    return !self->incoming;
}

//  ---- Parking -------------------------------------------------------------------------------------------------------

static status_t
s_park (generation_t *self, const engine_tokens_t *tokens, error_t *error)
{
    status_t status =
        budget_take (actor_budget (self->worker->actor), tokens->count * PRICE + tokens->text.size, error);
    if (status)
        return status;
    if (!self->tokens.count)
        self->taken_ns = actor_now (self->worker->actor);
    array_append (&self->tokens, tokens->tokens, tokens->count);
    array_append (&self->sizes, tokens->sizes, tokens->count);
    buffer_append (&self->text, tokens->text);
    self->worker->parked += tokens->count;
    report_count (self->worker, GAUGE_PARKED, (int64_t)tokens->count);
    return STATUS_OK;
}

static void
s_unpark (generation_t *self, size_t tokens, size_t text)
{
    array_drop_front (&self->tokens, tokens);
    array_drop_front (&self->sizes, tokens);
    buffer_drop_front (&self->text, text);
    budget_give (actor_budget (self->worker->actor), tokens * PRICE + text);
    self->worker->parked -= tokens;
    report_count (self->worker, GAUGE_PARKED, -(int64_t)tokens);
}

static size_t
s_text_size (const generation_t *self, size_t tokens)
{
    size_t size = 0;
    for (size_t i = 0; i < tokens; i++)
        size += *(const uint32_t *)array_at (&self->sizes, i);
    return size;
}

//  ---- Beginning and end ---------------------------------------------------------------------------------------------

static generation_t *
s_new (worker_t *worker, uint32_t max_tokens)
{
    generation_t *self = memory_new (sizeof *self);
    self->worker = worker;
    self->max_tokens = max_tokens;
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->sizes, sizeof (uint32_t));
    return self;
}

static bool
s_start_run (generation_t *self, const engine_request_t *ask, error_t *error)
{
    self->run = s_engine_class (self)->start (self->worker->engine, ask, self, error);
    if (!self->run)
        return false;
    self->worker->runs++;
    worker_watch (self->worker);
    return true;
}

static void
s_forget_run (generation_t *self)
{
    self->worker->runs -= self->run != NULL;
    self->run = NULL;
}

static void
s_stop_run (generation_t *self)
{
    if (self->run)
        s_engine_class (self)->cancel (self->worker->engine, self->run);
    s_forget_run (self);
}

void
generation_drop (generation_t *self)
{
    s_stop_run (self);
    s_unpark (self, self->tokens.count, self->text.size);
    if (list_link_is_linked (&self->link))
        list_remove (&self->worker->generations, &self->link);
    array_fini (&self->tokens);
    array_fini (&self->sizes);
    buffer_fini (&self->text);
    buffer_fini (&self->detail);
    memory_free (self);
}

//  Takes it from the engine, tells the caller why, and frees it.
static void
s_fail (generation_t *self, status_t status, const char *why)
{
    worker_t *worker = self->worker;
    s_stop_run (self);
    incoming_fail (self->incoming, status, "%s", why);
    generation_drop (self);
    worker_generation_ended (worker);
}

void
generation_fail_all (worker_t *worker, status_t status, const char *why)
{
    list_link_t *next;
    for (list_link_t *link = list_first (&worker->generations); link; link = next) {
        next = list_next (&worker->generations, link);
        generation_t *self = LIST_ENTRY (link, generation_t, link);
        if (self->run)
            s_fail (self, status, why);
    }
}

uint64_t
generation_longest_prompt (const worker_t *worker)
{
    uint64_t longest = 0;
    for (list_link_t *link = list_first (&worker->generations); link; link = list_next (&worker->generations, link)) {
        const generation_t *self = LIST_ENTRY (link, generation_t, link);
        if (self->run && !self->told_ns && self->request->tokens.count > longest)
            longest = self->request->tokens.count;
    }
    return longest;
}

void
generation_drop_all (worker_t *worker)
{
    for (list_link_t *link; (link = list_first (&worker->generations));)
        generation_drop (LIST_ENTRY (link, generation_t, link));
}

//  The hints that an engine could act upon; the others are answered where they are acted upon.
static size_t
s_write_receipts (const generation_t *self, receipt_t *receipt)
{
    const generate_t *request = self->request;
    if (!request->has_envelope || !request->envelope.has_priority)
        return 0;
    *receipt = (receipt_t){ .hint = SPAN ("priority"), .outcome = OUTCOME_ACCEPTED };
    if (!s_engine_class (self)->prioritises) {
        receipt->outcome = OUTCOME_REJECTED;
        receipt->has_reason = true;
        receipt->reason = SPAN ("the engine serves requests in the order of their arrival");
    }
    return 1;
}

static void
s_finish (generation_t *self)
{
    worker_t *worker = self->worker;
    receipt_t receipt;
    const engine_end_t *end = &self->end;
    generate_end_t message = {
        .reason = end->reason,
        .has_detail = self->detail.size > 0,
        .detail = buffer_span (&self->detail),
        .prompt_tokens = end->prompt_tokens,
        .cached_tokens = end->cached_tokens,
        .completion_tokens = end->completion_tokens,
        .receipts = &receipt,
        .receipts_count = s_write_receipts (self, &receipt),
    };
    incoming_end (self->incoming, &message);
    generation_drop (self);
    worker_generation_ended (worker);
}

//  Sends what the credit allows, and ends when there is nothing more to come.  The generation may be gone afterwards.
static void
s_flush (generation_t *self)
{
    while (self->tokens.count) {
        uint64_t position = incoming_position (self->incoming);
        uint64_t credit = incoming_credit (self->incoming);
        if (credit <= position)
            return;
        size_t count = self->tokens.count < ITEM_TOKENS_MAX ? self->tokens.count : ITEM_TOKENS_MAX;
        if (count > credit - position)
            count = (size_t)(credit - position);
        size_t text = s_text_size (self, count);
        generated_t item = { .tokens = column_of_u32 (self->tokens.data, count),
            .text = span_slice (buffer_span (&self->text), 0, text) };
        incoming_send (self->incoming, count, &item);
        s_unpark (self, count, text);
        self->taken_ns = actor_now (self->worker->actor);
    }
    if (!self->run)
        s_finish (self);
}

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    s_fail (arg, STATUS_CANCELLED, "cancelled");
}

static void
s_on_credit (void *arg, incoming_t *incoming)
{
    s_flush (arg);
}

status_t
generation_start (
    worker_t *worker, incoming_t *incoming, const generate_t *request, uint32_t max_tokens, error_t *error)
{
    generation_t *self = s_new (worker, max_tokens);
    engine_request_t ask = { .request = request->request,
        .tokens = request->tokens,
        .delivered = request->delivered,
        .max_tokens = max_tokens,
        .sampling = &request->sampling };
    if (!s_start_run (self, &ask, error)) {
        generation_drop (self);
        return error->status;
    }
    self->incoming = incoming;
    self->request = request;
    list_append (&worker->generations, &self->link);
    incoming_watch (incoming, &(incoming_watch_t){ .on_cancel = s_on_cancel,
                                  .on_credit = s_on_credit,
                                  .arg = self,
                                  .patience_ns = CALLER_PATIENCE_NS,
                                  .probe_suffices = true });
    return STATUS_OK;
}

generation_t *
generation_start_probe (worker_t *worker)
{
    static const uint32_t token = 1;
    static const sampling_t sampling = { 0 };
    generation_t *self = s_new (worker, 1);
    engine_request_t ask = {
        .request = SPAN ("probe"), .tokens = column_of_u32 (&token, 1), .max_tokens = 1, .sampling = &sampling
    };
    if (s_start_run (self, &ask, NULL))
        return self;
    generation_drop (self);
    return NULL;
}

//  The slowest reader goes while more waits than may.
static void
s_bound_parked (void *state, actor_t *actor, void *arg)
{
    worker_t *worker = state;
    while (worker->parked > (uint64_t)worker->options.parked_max) {
        generation_t *slowest = NULL;
        for (list_link_t *link = list_first (&worker->generations); link;
             link = list_next (&worker->generations, link)) {
            generation_t *self = LIST_ENTRY (link, generation_t, link);
            if (!slowest || self->tokens.count > slowest->tokens.count)
                slowest = self;
        }
        report_count (worker, COUNT_OVERRUN, 1);
        s_fail (slowest, STATUS_LIMIT, "too many tokens wait here for readers, and most of them for this one");
    }
}

//  A reader that is gone without a word shows in nothing but its silence.
void
generation_check_readers (worker_t *worker)
{
    uint64_t now = actor_now (worker->actor);
    list_link_t *next;
    for (list_link_t *link = list_first (&worker->generations); worker->parked && link; link = next) {
        next = list_next (&worker->generations, link);
        generation_t *self = LIST_ENTRY (link, generation_t, link);
        if (!self->tokens.count || now - self->taken_ns < worker->options.read_timeout_ns)
            continue;
        report_count (worker, COUNT_UNREAD, 1);
        s_fail (self, STATUS_DEADLINE, "nobody has taken a token for too long");
    }
}

//  ---- What the engine says ------------------------------------------------------------------------------------------

void
generation_on_progress (void *worker_, void *generation, uint32_t tokens, uint64_t took_ns)
{
    worker_t *worker = worker_;
    worker_moved (worker);
    pace_computed (&worker->pace, tokens, took_ns);
}

static void
s_note_told (generation_t *self)
{
    uint64_t now_ns = actor_now (self->worker->actor);
    if (self->told_ns)
        pace_told (&self->worker->pace, now_ns - self->told_ns);
    self->told_ns = now_ns;
}

//  The engine says more than it was asked for: what was asked for is the answer.
static void
s_cut_off (generation_t *self)
{
    s_stop_run (self);
    report_count (self->worker, COUNT_OVERRUN, 1);
    uint32_t prompt_tokens = (uint32_t)self->request->tokens.count;
    self->end = (engine_end_t){
        .reason = FINISH_REASON_LENGTH, .prompt_tokens = prompt_tokens, .completion_tokens = self->received
    };
}

static void
s_cut_to (engine_tokens_t *tokens, size_t count)
{
    size_t text = 0;
    for (size_t i = 0; i < count; i++)
        text += tokens->sizes [i];
    tokens->count = count;
    tokens->text = span_slice (tokens->text, 0, text);
}

void
generation_on_tokens (void *worker_, void *generation, const engine_tokens_t *tokens)
{
    worker_t *worker = worker_;
    generation_t *self = generation;
    worker_moved (worker);
    if (s_is_probe (self))
        return;
    s_note_told (self);
    engine_tokens_t wanted = *tokens;
    bool overrun = wanted.count > self->max_tokens - self->received;
    if (overrun)
        s_cut_to (&wanted, self->max_tokens - self->received);
    self->received += (uint32_t)wanted.count;
    report_count (worker, COUNT_GENERATED, (int64_t)wanted.count);
    error_t error;
    if (s_park (self, &wanted, &error)) {
        report_count (worker, COUNT_OVERRUN, 1);
        s_fail (self, STATUS_LIMIT, error.text);
        return;
    }
    if (overrun)
        s_cut_off (self);
    s_flush (self);
    //  Not now: the engine is in the middle of its report, and it may be another's request that goes.
    if (worker->parked > (uint64_t)worker->options.parked_max)
        timer_start (&worker->overfull, worker->actor, 0, s_bound_parked, NULL);
}

static void
s_keep_detail (generation_t *self, span_t detail)
{
    size_t size = detail.size < DETAIL_MAX ? detail.size : DETAIL_MAX;
    span_t kept = span_slice (detail, 0, size);
    kept.size -= utf8_incomplete_tail (kept);
    buffer_append (&self->detail, kept);
    self->end.detail = (span_t){ 0 };
}

void
generation_on_end (void *worker_, void *generation, const engine_end_t *end)
{
    worker_t *worker = worker_;
    generation_t *self = generation;
    s_forget_run (self);
    if (s_is_probe (self)) {
        generation_drop (self);
        worker_probe_ended (worker, end->status == STATUS_OK);
        return;
    }
    worker_moved (worker);
    report_count (worker, COUNT_PROMPT, end->prompt_tokens);
    report_count (worker, COUNT_CACHED, end->cached_tokens);
    report_count (worker, COUNT_PREDICTED, end->predicted_tokens);
    self->end = *end;
    s_keep_detail (self, end->detail);
    if (end->status)
        s_fail (self, end->status, buffer_string (&self->detail));
    else
        s_flush (self);
}
