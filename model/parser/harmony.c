//  Harmony: a header, a body, an end
//
//      <|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{...}<|call|>
//
//  The recipient may stand in either part of the header; calls come in any channel.  Messages to a tool are calls, analysis is
//  reasoning, anything else is for the user.  A header that does not become one is text.

#include <string.h>

#include "model/parser/machine.h"

static const char s_message [] = "<|message|>";

void
harmony_begin_header (parser_t *self, span_t opener)
{
    harmony_end_message (self);
    self->place = IN_HEADER;
    buffer_clear (&self->word);
    if (!span_equal (opener, SPAN ("<|start|>")))
        buffer_append (&self->word, opener);
}

void
harmony_end_message (parser_t *self)
{
    if (self->open) {
        machine_close_object (self);
        machine_end_call (self);
        self->place = IN_TEXT;
    }
    self->channel = TO_CONTENT;
}

//  What stands behind a key in the header, up to a blank or the next marker.
static span_t
s_field (span_t header, const char *key)
{
    size_t at = text_find (header, key);
    if (at == SIZE_MAX)
        return (span_t){ 0 };
    size_t start = at + strlen (key);
    size_t end = start;
    while (end < header.size && !text_is_blank (header.data [end]) && header.data [end] != '<')
        end++;
    return span_slice (header, start, end - start);
}

static void
s_end_header (parser_t *self)
{
    span_t header = buffer_span (&self->word);
    span_t recipient = s_field (header, " to=");
    span_t functions = SPAN ("functions.");
    if (span_starts_with (recipient, functions))
        recipient = span_slice (recipient, functions.size, recipient.size);
    self->place = IN_TEXT;
    if (recipient.size && !self->options.no_calls && machine_begin_call (self, recipient, (span_t){ 0 })) {
        extent_init (&self->extent);
        self->channel = TO_ARGUMENTS;
        return;
    }
    bool thinks = span_equal (s_field (header, "<|channel|>"), SPAN ("analysis")) && !self->options.no_reasoning;
    self->channel = thinks ? TO_REASONING : TO_CONTENT;
    self->fresh = true;
}

//  The role is of no use to anybody who reads the text.
static size_t
s_release_header (parser_t *self)
{
    span_t text = buffer_span (&self->word);
    span_t role = SPAN ("assistant");
    if (span_starts_with (text, role))
        text = span_slice (text, role.size, text.size);
    buffer_append (&self->raw, text);
    return machine_release (self);
}

//  Whether a header may go on with this byte: behind the role come a blank or a marker.
static bool
s_may_go_on (const parser_t *self, uint8_t byte)
{
    size_t role = SPAN ("assistant").size;
    if (self->word.size < role)
        return byte == '<' || span_starts_with (SPAN ("assistant"), buffer_span (&self->word)) ||
               self->word.data [0] == '<';
    return self->word.size > role || byte == ' ' || byte == '<' || self->word.data [0] == '<';
}

size_t
harmony_step (parser_t *self, span_t text, bool last)
{
    text_match_t match = text_match (text, s_message, last);
    if (match == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (match == TEXT_WHOLE) {
        s_end_header (self);
        return sizeof s_message - 1;
    }
    if (self->word.size == HEADER_MAX || !s_may_go_on (self, text.data [0]))
        return s_release_header (self);
    buffer_append_byte (&self->word, text.data [0]);
    return 1;
}
