//  One completion: it waits for a slot, streams, ends.
//
//  The server's bytes come in pieces.  Each piece is read whole, then what it brought is told at once; telling may end the
//  run, so nothing of it is touched afterwards.  A run ends in one place, s_end.

#include "base/memory.h"
#include "workers/llamacpp/llamacpp_private.h"

enum { EVENT_MAX = 64 << 20, COMPLAINT_MAX = 65536 };

engine_run_t *
run_new (engine_t *engine, const engine_request_t *request, void *arg)
{
    engine_run_t *self = memory_new (sizeof *self);
    self->engine = engine;
    self->request = *request;
    self->arg = arg;
    self->slot = SLOT_NONE;
    self->in_slot = SIZE_MAX;
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->sizes, sizeof (uint32_t));
    sse_init (&self->sse, EVENT_MAX);
    list_append (&engine->waiting, &self->link);
    return self;
}

void
run_drop (engine_run_t *self)
{
    engine_t *engine = self->engine;
    if (engine->telling == self)
        engine->telling = NULL;
    if (self->fetch)
        actor_port (engine->actor)->table->fetch_cancel (self->fetch);
    timer_stop (&self->refusal);
    if (self->slot == SLOT_NONE) {
        list_remove (&engine->waiting, &self->link);
    } else {
        list_remove (&engine->running, &self->link);
        slots_end (engine->slots, self->slot, self->in_slot, actor_now (engine->actor));
    }
    array_fini (&self->tokens);
    array_fini (&self->sizes);
    buffer_fini (&self->text);
    buffer_fini (&self->complaint);
    buffer_fini (&self->stop_string);
    sse_fini (&self->sse);
    memory_free (self);
}

//  Tells the worker how it ended, and frees it.
static void
s_end (engine_run_t *self)
{
    engine_t *engine = self->engine;
    engine_end_t end = self->end;
    end.detail = end.status ? span_from_string (self->error.text) : buffer_span (&self->stop_string);
    end.completion_tokens = (uint32_t)self->generated;
    bool lost = end.status == STATUS_UNREACHABLE;
    engine->watch.on_end (engine->watch.arg, self->arg, &end);
    run_drop (self);
    if (lost)
        probe_now (engine);
    run_start_waiting (engine);
}

void
run_fail_all (engine_t *engine, status_t status, const char *why)
{
    list_t *const lists [] = { &engine->running, &engine->waiting };
    for (size_t i = 0; i < 2; i++)
        for (list_link_t *link; (link = list_first (lists [i]));) {
            engine_run_t *self = LIST_ENTRY (link, engine_run_t, link);
            engine_end_t end = { .status = status, .detail = span_from_string (why) };
            engine->watch.on_end (engine->watch.arg, self->arg, &end);
            run_drop (self);
        }
}

//  ---- Telling -------------------------------------------------------------------------------------------------------

//  The tokens of this piece.  False: the run is gone.
static bool
s_tell (engine_run_t *self)
{
    engine_t *engine = self->engine;
    if (!self->tokens.count)
        return true;
    engine->telling = self;
    engine_tokens_t fresh = { self->tokens.data, self->sizes.data, self->tokens.count, buffer_span (&self->text) };
    engine->watch.on_tokens (engine->watch.arg, self->arg, &fresh);
    if (!engine->telling)
        return false;
    engine->telling = NULL;
    array_cut (&self->tokens, 0);
    array_cut (&self->sizes, 0);
    buffer_clear (&self->text);
    return true;
}

static void
s_fail (engine_run_t *self, status_t status, const error_t *error)
{
    self->done = true;
    self->error = *error;
    self->end = (engine_end_t){ .status = status };
}

//  ---- Reading -------------------------------------------------------------------------------------------------------

//  Tokens that end the answer are ours to look for.
static bool
s_is_stop_token (const engine_run_t *self, uint32_t token)
{
    column_t stops = self->request.sampling->stop_tokens;
    for (size_t i = 0; i < stops.count; i++)
        if (column_u32 (stops, i) == token)
            return true;
    return false;
}

//  Whatever the server says, no more of a prompt than there is.
static uint64_t
s_of_prompt (const engine_run_t *self, uint64_t tokens)
{
    uint64_t prompt = self->request.tokens.count;
    return tokens < prompt ? tokens : prompt;
}

static void
s_note_reused (engine_run_t *self, uint64_t tokens)
{
    self->end.cached_tokens = (uint32_t)tokens;
    slots_reused (self->engine->slots, self->slot, tokens);
}

//  Prompts that are computed at the same time share the engine: each report has the time since the last one of any.
static void
s_take_progress (engine_run_t *self, const wire_chunk_t *chunk)
{
    engine_t *engine = self->engine;
    uint64_t now_ns = actor_now (engine->actor);
    uint64_t since_ns = self->started_ns > engine->computed_ns ? self->started_ns : engine->computed_ns;
    uint64_t before = self->processed;
    if (!before) {
        before = s_of_prompt (self, chunk->cached);
        s_note_reused (self, before);
    }
    self->processed = s_of_prompt (self, chunk->processed);
    slots_computed (engine->slots, self->slot, self->processed);
    engine->computed_ns = now_ns;
    uint32_t computed = self->processed > before ? (uint32_t)(self->processed - before) : 0;
    engine->watch.on_progress (engine->watch.arg, self->arg, computed, now_ns - since_ns);
}

static void
s_take_tokens (engine_run_t *self, const wire_chunk_t *chunk)
{
    size_t count = 0, text = 0;
    const uint32_t *tokens = chunk->tokens.data, *sizes = chunk->sizes.data;
    while (count < chunk->tokens.count && !s_is_stop_token (self, tokens [count]))
        text += sizes [count++];
    array_append (&self->tokens, tokens, count);
    array_append (&self->sizes, sizes, count);
    buffer_append (&self->text, span_slice (buffer_span (&chunk->text), 0, text));
    self->generated += count;
    self->processed = self->request.tokens.count;
    slots_generated (self->engine->slots, self->slot, tokens, count);
    if (count < chunk->tokens.count) {
        self->done = true;
        self->end.reason = FINISH_REASON_STOP;
    }
}

static void
s_take_stop (engine_run_t *self, const wire_chunk_t *chunk)
{
    self->done = self->stopped = true;
    self->end.reason = chunk->reason;
    self->in_slot = chunk->in_slot;
    buffer_append (&self->stop_string, buffer_span (&chunk->stop_string));
    if (chunk->has_reused)
        self->end.cached_tokens = (uint32_t)s_of_prompt (self, chunk->reused);
}

//  What the server cannot say because it ends inside a character.
static bool
s_is_cut_character (const engine_run_t *self, const error_t *error)
{
    span_t text = span_from_string (error->text);
    span_t sign = SPAN ("does not match the expected");
    for (size_t i = 0; self->generated && i + sign.size <= text.size; i++)
        if (span_equal (span_slice (text, i, sign.size), sign))
            return true;
    return false;
}

static void
s_take_failure (engine_run_t *self, const error_t *error)
{
    if (!s_is_cut_character (self, error)) {
        s_fail (self, error->status, error);
        return;
    }
    self->done = true;
    self->end.reason = FINISH_REASON_LENGTH;
}

//  False: nothing more is to be read.
static bool
s_on_event (void *arg, span_t type, span_t data)
{
    engine_run_t *self = arg;
    engine_t *engine = self->engine;
    wire_chunk_t *chunk = &engine->chunk;
    error_t error;
    if (wire_read_chunk (chunk, data, &error)) {
        s_fail (self, STATUS_INTERNAL, &error);
        return false;
    }
    if (chunk->failed)
        s_take_failure (self, &chunk->error);
    if (chunk->has_progress)
        s_take_progress (self, chunk);
    if (chunk->tokens.count)
        s_take_tokens (self, chunk);
    if (chunk->stop)
        s_take_stop (self, chunk);
    return !self->done;
}

static void
s_on_head (void *arg, int code)
{
    engine_run_t *self = arg;
    self->code = code;
}

static void
s_on_data (void *arg, span_t bytes)
{
    engine_run_t *self = arg;
    if (self->done)
        return;
    if (self->code != 200) {
        if (self->complaint.size + bytes.size <= COMPLAINT_MAX)
            buffer_append (&self->complaint, bytes);
        return;
    }
    error_t error;
    if (sse_feed (&self->sse, bytes, s_on_event, self, &error) == STATUS_LIMIT)
        s_fail (self, STATUS_INTERNAL, &error);
    if (s_tell (self) && self->done && !self->stopped)
        s_end (self);
}

static void
s_on_end (void *arg, status_t status, const error_t *why)
{
    engine_run_t *self = arg;
    error_t error;
    self->fetch = NULL;
    if (status) {
        error = *why;
        error_prefix (&error, "the engine cannot be reached");
        s_fail (self, STATUS_UNREACHABLE, &error);
    } else if (self->code != 200) {
        status = wire_read_error (self->code, buffer_span (&self->complaint), &error);
        s_fail (self, status, &error);
    } else if (!self->done) {
        error_set (&error, STATUS_UNREACHABLE, "the engine stopped in the middle of an answer");
        s_fail (self, STATUS_UNREACHABLE, &error);
    }
    s_end (self);
}

//  ---- Starting ------------------------------------------------------------------------------------------------------

static void
s_on_refusal (void *state, actor_t *actor, void *arg)
{
    engine_run_t *self = arg;
    s_on_end (self, self->error.status, &self->error);
}

static void
s_start (engine_run_t *self, uint32_t slot)
{
    engine_t *engine = self->engine;
    list_remove (&engine->waiting, &self->link);
    list_append (&engine->running, &self->link);
    self->slot = slot;
    self->started_ns = actor_now (engine->actor);
    self->end.prompt_tokens = (uint32_t)self->request.tokens.count;
    self->end.predicted_tokens = (uint32_t)slots_begin (engine->slots, slot, self->request.tokens);

    buffer_t body = { 0 }, scratch = { 0 };
    http_header_t headers [3];
    wire_write_completion (&body, &self->request, slot);
    fetch_options_t options = { .idle_timeout_ns = engine->options.stall_timeout_ns,
        .on_head = s_on_head,
        .on_data = s_on_data,
        .on_end = s_on_end,
        .arg = self };
    http_peer_address (&engine->questions, "/completion", buffer_span (&body), &options, headers, &scratch);
    port_t *port = actor_port (engine->actor);
    self->fetch = port->table->fetch (port, &options, &self->error);
    if (!self->fetch)
        timer_start (&self->refusal, engine->actor, 0, s_on_refusal, self);
    buffer_fini (&body);
    buffer_fini (&scratch);
}

void
run_start_waiting (engine_t *engine)
{
    for (list_link_t *link; engine->ready && (link = list_first (&engine->waiting));) {
        engine_run_t *self = LIST_ENTRY (link, engine_run_t, link);
        uint32_t slot = slots_choose (engine->slots, self->request.tokens);
        if (slot == SLOT_NONE)
            break;
        s_start (self, slot);
    }
    engine->watch.on_load (engine->watch.arg);
}
