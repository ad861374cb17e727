#include "actors/frontend/answer.h"

#include <stdio.h>
#include <string.h>

enum { EVENTS_KEPT = 64 << 10 };

static void s_on_silence (void *state, actor_t *actor, void *arg);

void
answer_init (answer_t *self, actor_t *actor, client_t *client, uint64_t keep_alive_ns, buffer_t *events)
{
    *self = (answer_t){ .actor = actor, .client = client, .keep_alive_ns = keep_alive_ns, .events = events };
    self->last_write_ns = actor_now (actor);
    arena_init (&self->arena, 64 << 10);
}

void
answer_fini (answer_t *self)
{
    timer_stop (&self->silence);
    if (self->client)
        client_abort (&self->client);
    budget_give (actor_budget (self->actor), self->charged);
    chat_writer_fini (&self->writer);
    text_gate_fini (&self->gate);
    speech_fini (&self->speech);
    arena_fini (&self->arena);
}

void
answer_describe (answer_t *self, bool stream, const chat_identity_t *identity, const span_t *stops, size_t stop_count)
{
    self->stream = stream;
    self->include_usage = identity->include_usage;
    chat_writer_init (&self->writer, identity);
    text_gate_init (&self->gate, stops, stop_count);
    speech_init (&self->speech, stream ? &self->writer : NULL, stream ? self->events : NULL);
    if (stream)
        timer_start (&self->silence, self->actor, self->keep_alive_ns, s_on_silence, self);
}

void
answer_read (answer_t *self, const speech_setup_t *setup)
{
    speech_read (&self->speech, setup);
}

void
answer_set_header (answer_t *self, const char *name, span_t value)
{
    size_t position = 0;
    if (self->begun)
        return;
    if (!self->headers)
        self->headers = arena_new (&self->arena, ANSWER_HEADERS_MAX * sizeof *self->headers);
    while (position < self->header_count && !span_equal_string (self->headers [position].name, name))
        position++;
    span_t copy = position == ANSWER_HEADERS_MAX ? SPAN ("") : arena_copy (&self->arena, value);
    if (copy.size == 0)
        return;
    self->headers [position] = (http_header_t){ span_from_string (name), copy };
    self->header_count += position == self->header_count;
}

//  ---- Streams -------------------------------------------------------------------------------------------------------

static void
s_begin (answer_t *self)
{
    if (self->begun)
        return;
    answer_set_header (self, "content-type", SPAN ("text/event-stream; charset=utf-8"));
    answer_set_header (self, "cache-control", SPAN ("no-cache"));
    answer_set_header (self, "x-accel-buffering", SPAN ("no"));
    client_begin (self->client, 200, self->headers, self->header_count);
    arena_fini (&self->arena);
    self->begun = true;
}

//  Memory of a large piece is given back.
static status_t
s_write (answer_t *self, uint64_t now_ns)
{
    status_t status = client_write (self->client, buffer_span (self->events));
    self->last_write_ns = now_ns;
    self->blocked = status == STATUS_AGAIN;
    if (self->events->capacity <= EVENTS_KEPT)
        buffer_clear (self->events);
    else
        buffer_fini (self->events);
    return status;
}

//  Once the role was said it is not said again.
static void
s_open (answer_t *self)
{
    s_begin (self);
    if (!self->opened)
        chat_write_role (&self->writer, self->events);
    self->opened = true;
}

static status_t
s_stream (answer_t *self, span_t text, uint64_t now_ns)
{
    s_open (self);
    speech_put (&self->speech, text);
    if (self->events->size)
        return s_write (self, now_ns);
    return self->blocked ? STATUS_AGAIN : STATUS_OK;
}

//  Proxies and clients give up on a connection that says nothing.
static void
s_on_silence (void *state, actor_t *actor, void *arg)
{
    answer_t *self = arg;
    uint64_t now_ns = actor_now (actor), silent_ns = now_ns - self->last_write_ns;
    if (silent_ns >= self->keep_alive_ns && !self->blocked) {
        s_begin (self);
        chat_write_comment (SPAN ("keep-alive"), self->events);
        s_write (self, now_ns);
        silent_ns = 0;
    }
    uint64_t delay_ns = silent_ns < self->keep_alive_ns ? self->keep_alive_ns - silent_ns : self->keep_alive_ns;
    timer_start (&self->silence, actor, delay_ns, s_on_silence, self);
}

//  ---- Text ----------------------------------------------------------------------------------------------------------

static status_t
s_gather (answer_t *self, span_t text)
{
    if (self->charged + text.size > ANSWER_TEXT_MAX || budget_take (actor_budget (self->actor), text.size, NULL))
        return STATUS_LIMIT;
    self->charged += text.size;
    speech_put (&self->speech, text);
    return STATUS_OK;
}

static status_t
s_put_text (answer_t *self, span_t text, uint64_t now_ns)
{
    return self->stream ? s_stream (self, text, now_ns) : s_gather (self, text);
}

void
answer_expect (const answer_t *self, unsigned step)
{
    if (step == 0)
        chat_writer_expect (&self->writer);
    if (self->client)
        client_expect (self->client, step);
}

status_t
answer_put (answer_t *self, span_t bytes, uint64_t now_ns)
{
    if (text_gate_lets_pass (&self->gate, bytes))
        return s_put_text (self, bytes, now_ns);
    buffer_t text = { 0 };
    bool goes_on = text_gate_put (&self->gate, bytes, &text);
    status_t status = s_put_text (self, buffer_span (&text), now_ns);
    buffer_fini (&text);
    return goes_on || status == STATUS_LIMIT ? status : STATUS_CANCELLED;
}

//  ---- Ends ----------------------------------------------------------------------------------------------------------

static void
s_end_stream (answer_t *self, const char *reason, const usage_t *usage, span_t comment)
{
    chat_write_finish (&self->writer, reason, self->events);
    if (self->include_usage)
        chat_write_usage (&self->writer, usage, self->events);
    if (comment.size)
        chat_write_comment (comment, self->events);
    chat_write_done (self->events);
    s_write (self, actor_now (self->actor));
    client_end (&self->client);
}

void
answer_finish (answer_t *self, const char *reason, const usage_t *usage, span_t comment)
{
    timer_stop (&self->silence);
    buffer_t rest = { 0 };
    text_gate_flush (&self->gate, &rest);
    if (rest.size)
        s_put_text (self, buffer_span (&rest), actor_now (self->actor));
    buffer_fini (&rest);
    if (self->stream)
        s_open (self);
    speech_finish (&self->speech, strcmp (reason, "length") == 0);
    if (speech_has_calls (&self->speech) && strcmp (reason, "stop") == 0)
        reason = "tool_calls";
    if (self->stream) {
        s_end_stream (self, reason, usage, comment);
        return;
    }
    buffer_t body = { 0 };
    const speech_t *speech = &self->speech;
    chat_said_t said = { buffer_span (&speech->text), buffer_span (&speech->reasoning), buffer_span (&speech->calls) };
    chat_write_completion (&self->writer, &said, reason, usage, &body);
    answer_set_header (self, "content-type", SPAN ("application/json"));
    client_respond (&self->client, 200, self->headers, self->header_count, buffer_span (&body));
    buffer_fini (&body);
}

void
answer_fail (answer_t *self, const api_error_t *error)
{
    const api_error_row_t *row = api_error_row (error->kind);
    timer_stop (&self->silence);
    if (self->begun) {
        chat_write_error (error, self->events);
        s_write (self, actor_now (self->actor));
        client_end (&self->client);
        return;
    }
    buffer_t body = { 0 };
    char seconds [16];
    snprintf (seconds, sizeof seconds, "%u", row->retry_after);
    if (row->retry_after)
        answer_set_header (self, "retry-after", span_from_string (seconds));
    answer_set_header (self, "content-type", SPAN ("application/json"));
    api_error_render (error, &body);
    client_respond (&self->client, row->status, self->headers, self->header_count, buffer_span (&body));
    buffer_fini (&body);
}

void
answer_abandon (answer_t *self)
{
    timer_stop (&self->silence);
    client_abort (&self->client);
}

int
answer_status (const answer_t *self, const api_error_t *error)
{
    return self->begun ? 200 : api_error_row (error->kind)->status;
}
