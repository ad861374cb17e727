#include "actors/frontend/speech.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/json_writer.h"

enum { CALL_ID_MAX = 320 };

void
speech_init (speech_t *self, const chat_writer_t *writer, buffer_t *events)
{
    *self = (speech_t){ .writer = writer, .events = events };
}

void
speech_fini (speech_t *self)
{
    parser_destroy (&self->parser);
    buffer_t *const buffers [] = { &self->piece, &self->text, &self->reasoning, &self->calls };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_fini (buffers [i]);
}

bool
speech_has_calls (const speech_t *self)
{
    return self->call_count > 0;
}

//  ---- Pieces --------------------------------------------------------------------------------------------------------

static void
s_write_piece (speech_t *self, speech_kind_t kind, span_t piece)
{
    switch (kind) {
    case SPEECH_TEXT:
        chat_write_text (self->writer, piece, self->events);
        break;
    case SPEECH_REASONING:
        chat_write_reasoning (self->writer, piece, self->events);
        break;
    case SPEECH_ARGUMENTS:
        chat_write_arguments (self->writer, self->call_count - 1, piece, self->events);
        break;
    }
}

//  Arguments are a string of JSON inside JSON.
static void
s_gather_piece (speech_t *self, speech_kind_t kind, span_t piece)
{
    if (kind == SPEECH_ARGUMENTS)
        json_escape (&self->calls, piece);
    else
        buffer_append (kind == SPEECH_TEXT ? &self->text : &self->reasoning, piece);
}

static void
s_tell (speech_t *self, speech_kind_t kind, span_t piece)
{
    if (piece.size)
        (self->writer ? s_write_piece : s_gather_piece) (self, kind, piece);
}

static void
s_flush (speech_t *self)
{
    s_tell (self, self->kind, buffer_span (&self->piece));
    buffer_clear (&self->piece);
}

//  What belongs together is told together.
static void
s_append (speech_t *self, speech_kind_t kind, span_t text)
{
    if (kind != self->kind)
        s_flush (self);
    self->kind = kind;
    buffer_append (&self->piece, text);
}

static void
s_on_content (void *self, span_t text)
{
    s_append (self, SPEECH_TEXT, text);
}

static void
s_on_reasoning (void *self, span_t text)
{
    s_append (self, SPEECH_REASONING, text);
}

static void
s_on_arguments (void *self, span_t json)
{
    s_append (self, SPEECH_ARGUMENTS, json);
}

//  ---- Calls ---------------------------------------------------------------------------------------------------------

//  As the model's template wants it when the conversation comes back.
static void
s_make_id (const speech_t *self, span_t name, char id [CALL_ID_MAX])
{
    static const char letters [] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t number = hash_u64 (self->setup.seed + self->call_count);
    if (self->setup.format->ids == PARSER_IDS_KIMI)
        snprintf (id, CALL_ID_MAX, "functions.%.*s:%" PRIu32, SPAN_ARG (span_slice (name, 0, 256)),
            self->setup.calls_before + self->call_count);
    else if (self->setup.format->ids == PARSER_IDS_NINE) {
        for (size_t i = 0; i < 9; i++, number /= 36)
            id [i] = letters [number % 36];
        id [9] = '\0';
    } else
        snprintf (id, CALL_ID_MAX, "call_%016" PRIx64, number);
}

static void
s_on_call (void *self_, span_t name, span_t given)
{
    speech_t *self = self_;
    char id [CALL_ID_MAX];
    s_make_id (self, name, id);
    s_flush (self);
    chat_call_t call = { .index = self->call_count++, .id = given.size ? given : span_from_string (id), .name = name };
    if (self->writer)
        chat_write_call (self->writer, &call, self->events);
    else
        chat_begin_call (&call, &self->calls);
    self->in_call = true;
}

static void
s_on_call_end (void *self_)
{
    speech_t *self = self_;
    s_flush (self);
    if (!self->writer)
        chat_end_call (&self->calls);
    self->in_call = false;
}

//  ---- Reading -------------------------------------------------------------------------------------------------------

void
speech_read (speech_t *self, const speech_setup_t *setup)
{
    const parser_format_t *format = setup->format;
    if (format->machine == PARSER_PLAIN && !format->think_start [0] && !setup->reasoning)
        return;
    parser_sink_t sink = { self, s_on_content, s_on_reasoning, s_on_call, s_on_arguments, s_on_call_end };
    self->setup = (speech_setup_t){ .format = format, .seed = setup->seed, .calls_before = setup->calls_before };
    parser_options_t options = { .tools = setup->tools,
        .no_calls = !setup->tools,
        .reasoning = setup->reasoning,
        .prefill = setup->prefill,
        .prompted = true };
    self->parser = parser_new (format, &options, &sink);
}

void
speech_put (speech_t *self, span_t text)
{
    if (!self->parser) {
        s_tell (self, SPEECH_TEXT, text);
        return;
    }
    parser_feed (self->parser, text);
    s_flush (self);
}

void
speech_finish (speech_t *self, bool cut)
{
    if (self->parser)
        parser_finish (self->parser, cut);
    s_flush (self);
    if (self->in_call && !self->writer)
        chat_end_call (&self->calls);
    self->in_call = false;
}
