//  Harmony: a header, a body, an end
//
//      <|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{...}<|call|>
//
//  The recipient may stand in either part of the header; calls come in any channel.  Messages to a tool are calls, analysis is
//  reasoning, anything else is for the user.  A header that does not become one is text.
//
//  Without a prompt nothing opens the first header, which may then begin with its recipient.  Rows that name tags have those in
//  calls, and not JSON.
//
//  In other formats the recipient alone says what a message is, and tags in it are calls:
//
//      <|start|>assistant to=self<|message|>... <|eom|><|start|>assistant to=f<|message|> tags <|eom|>
//
//  The prompt has the role of the first one, so that an answer begins with a header that nothing opens.

#include <string.h>

#include "model/parser/machine.h"

static const char s_message [] = "<|message|>";

static const span_t s_start = { (const uint8_t *)"<|start|>", 9 }, s_role = { (const uint8_t *)"assistant", 9 };

void
harmony_begin_header (parser_t *self, span_t opener)
{
    if (!self->format->recipients)
        harmony_end_message (self);
    self->place = IN_HEADER;
    self->bare = self->section_owed = false;
    buffer_clear (&self->word);
    if (!span_equal (opener, s_start))
        buffer_append (&self->word, opener);
}

void
harmony_end_message (parser_t *self)
{
    if (self->open) {
        harmony_close_arguments (self);
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
s_begin_arguments (parser_t *self)
{
    if (self->format->key_start) {
        tags_begin_arguments (self);
        return;
    }
    extent_init (&self->extent);
    self->loose = false;
    self->channel = TO_ARGUMENTS;
}

//  By channel and recipient.
static void
s_end_harmony_header (parser_t *self)
{
    span_t header = buffer_span (&self->word);
    span_t recipient = s_field (header, self->bare ? "to=" : " to=");
    span_t functions = SPAN ("functions.");
    if (span_starts_with (recipient, functions))
        recipient = span_slice (recipient, functions.size, recipient.size);
    if (recipient.size && !self->options.no_calls && machine_begin_call (self, recipient, (span_t){ 0 })) {
        s_begin_arguments (self);
        return;
    }
    bool thinks = span_equal (s_field (header, "<|channel|>"), SPAN ("analysis")) && !self->options.no_reasoning;
    self->channel = thinks ? TO_REASONING : TO_CONTENT;
}

//  By the recipient alone: nobody and itself are whom a model thinks to.
static void
s_end_recipient (parser_t *self)
{
    span_t recipient = s_field (buffer_span (&self->word), "to=");
    bool thinks = !recipient.size || span_equal (recipient, SPAN ("self"));
    bool user = span_equal (recipient, SPAN ("user")) || span_equal (recipient, SPAN ("commentary"));
    self->channel = thinks && !self->options.no_reasoning ? TO_REASONING : thinks || user ? TO_USER : TO_CONTENT;
    self->skip_newlines = self->channel == TO_CONTENT;
}

static void
s_end_header (parser_t *self)
{
    self->place = IN_TEXT;
    self->fresh = true;
    if (self->format->recipients)
        s_end_recipient (self);
    else
        s_end_harmony_header (self);
}

//  Behind an opener the role is of no use to anybody who reads the text.
static size_t
s_release_header (parser_t *self)
{
    span_t text = buffer_span (&self->word);
    if (!self->format->recipients && !self->bare && span_starts_with (text, s_role))
        text = span_slice (text, s_role.size, text.size);
    buffer_append (&self->raw, text);
    return machine_release (self);
}

//  Whether this begins a header that a recipient may stand in: assistant to=NAME.
static bool
s_begins_recipient (span_t text)
{
    span_t key = SPAN ("to="), rest = span_slice (text, text_blanks (text), text.size);
    if (span_starts_with (rest, s_role))
        rest = span_slice (rest, s_role.size, rest.size);
    else if (span_starts_with (s_role, rest))
        return true;
    rest = span_slice (rest, text_blanks (rest), rest.size);
    if (!span_starts_with (rest, key))
        return span_starts_with (key, rest);
    size_t at = key.size;
    while (at < rest.size && !text_is_blank (rest.data [at]) && rest.data [at] != '<')
        at++;
    return text_blanks (span_slice (rest, at, rest.size)) == rest.size - at;
}

//  Whether the last `<` of a text begins a marker of a header.
static bool
s_begins_marker (span_t text)
{
    static const char *const markers [] = { "<|channel|>", "<|constrain|>", s_message };
    size_t at = text.size;
    while (at && text.data [at - 1] != '<')
        at--;
    size_t which;
    span_t rest = span_slice (text, at - (at > 0), text.size);
    return at && text_match_any (rest, markers, 3, false, &which) != TEXT_DIFFERS;
}

//  Whether a harmony header may go on with this byte: behind the role come a blank or a marker.
static bool
s_may_go_on (const parser_t *self, uint8_t byte)
{
    if (self->word.size < s_role.size)
        return byte == '<' || span_starts_with (s_role, buffer_span (&self->word)) || self->word.data [0] == '<';
    return self->word.size > s_role.size || byte == ' ' || byte == '<' || self->word.data [0] == '<';
}

//  Whether the bytes of a header that nothing opened go on as one: with its recipient, then with a marker.
static bool
s_is_bare_header (const parser_t *self)
{
    span_t header = buffer_span (&self->word);
    if (s_begins_recipient (header))
        return true;
    bool named = s_field (header, "to=").size;
    return !self->format->recipients && named && s_begins_marker (header);
}

//  Takes one byte of a header, where it is one.
static size_t
s_take_byte (parser_t *self, uint8_t byte)
{
    size_t size = self->word.size;
    bool strict = self->format->recipients || self->bare;
    if (size == HEADER_MAX || (!strict && !s_may_go_on (self, byte)))
        return s_release_header (self);
    buffer_append_byte (&self->word, byte);
    if (!strict || s_is_bare_header (self))
        return 1;
    self->word.size = size;
    return s_release_header (self);
}

//  The prompt may end with the opener of the header in which we are.
static text_match_t
s_match_opener (const parser_t *self, span_t text, bool last)
{
    bool may = self->format->recipients && !span_trim (buffer_span (&self->word)).size;
    return may ? text_match_span (text, s_start, last) : TEXT_DIFFERS;
}

size_t
harmony_step (parser_t *self, span_t text, bool last)
{
    text_match_t match = text_match (text, s_message, last);
    text_match_t opener = s_match_opener (self, text, last);
    if (match == TEXT_PARTIAL || opener == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (match == TEXT_WHOLE) {
        s_end_header (self);
        return sizeof s_message - 1;
    }
    return opener == TEXT_WHOLE ? s_start.size : s_take_byte (self, text.data [0]);
}

void
harmony_finish (parser_t *self)
{
    span_t header = buffer_span (&self->word);
    bool recipient = text_find (header, "to=") != SIZE_MAX, marker = span_find_byte (header, '<') < header.size;
    if (self->format->recipients ? !recipient : self->bare && !marker)
        s_release_header (self);
    else
        self->counts.dropped += header.size;
}

//  ---- Bodies in JSON ------------------------------------------------------------------------------------------------

//  What follows a complete object is no part of it.
void
harmony_say_arguments (parser_t *self, span_t text)
{
    bool odd;
    size_t at = 0, blanks = self->has_arguments ? 0 : text_blanks (text);
    text = span_slice (text, blanks, text.size);
    if (!self->has_arguments && text.size)
        self->loose = !strchr ("{[\"", text.data [0]);
    if (self->loose) {
        machine_arguments (self, text);
        return;
    }
    while (at < text.size && !self->extent.done) {
        at += extent_feed (&self->extent, span_slice (text, at, text.size), &odd);
        at += odd;
    }
    machine_pass (self, span_slice (text, 0, at));
    self->counts.dropped += text.size - at;
}

void
harmony_close_arguments (parser_t *self)
{
    if (self->channel != TO_ARGUMENTS)
        machine_tags.close (self);
    else if (!self->loose)
        machine_close_object (self);
}
