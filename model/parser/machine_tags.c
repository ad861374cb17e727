//  A tag around every argument
//
//      <function=f> <parameter=k> v </parameter> ... </function>
//      f <arg_key>k</arg_key> <arg_value>v</arg_value> ...
//      <invoke name="f"> <parameter name="k" string="true">v</parameter> ... </invoke>
//
//  A value says nothing of its type; the tool's schema does.  A string goes out as it comes; anything else waits for its end.
//  VALUE_END inside a value is part of it unless a tag of the call follows.

#include <string.h>

#include "model/parser/machine.h"

enum { NAME, BODY, KEY, ATTRIBUTES, VALUE };

//  Blanks between VALUE_END and the tag that proves it.
enum { GAP_MAX = 64, NULL_MAX = 8 };

static void
s_begin (parser_t *self)
{
    self->phase = NAME;
    buffer_clear (&self->word);
}

static size_t
s_begin_call (parser_t *self)
{
    span_t name = span_trim (buffer_span (&self->word));
    if (name.size > 1 && name.data [0] == '"')
        name = span_slice (name, 1, name.size - 1 - (name.data [name.size - 1] == '"'));
    self->phase = BODY;
    return machine_begin_call (self, name, (span_t){ 0 }) ? 0 : machine_release (self);
}

//  The first of these that stands at the start; *which is its place in the list.
static text_match_t
s_match_any (span_t text, const char *const markers [], size_t count, bool last, size_t *which)
{
    text_match_t found = TEXT_DIFFERS;
    for (*which = 0; *which < count; (*which)++) {
        text_match_t match = text_match (text, markers [*which], last);
        if (match == TEXT_WHOLE)
            return match;
        if (match == TEXT_PARTIAL)
            found = match;
    }
    return found;
}

static size_t
s_name (parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *const ends [] = { row->name_end, row->key_start, row->call_end, row->section_end };
    size_t which;
    text_match_t match = s_match_any (text, ends, 4, last, &which);
    if (match == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (match == TEXT_WHOLE)
        return s_begin_call (self) == 0 && self->open && which == 0 ? strlen (row->name_end) : 0;
    if (self->word.size == NAME_MAX_BYTES || text.data [0] == '{')
        return machine_release (self);
    buffer_append_byte (&self->word, text.data [0]);
    return 1;
}

//  ---- Between arguments -------------------------------------------------------------------------------------------------

static void
s_end_call (parser_t *self)
{
    if (self->has_arguments)
        machine_arguments (self, SPAN ("}"));
    machine_end_call (self);
}

static size_t
s_body (parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *const tags [] = { row->key_start, row->call_end, row->section_end, row->call_start };
    size_t which;
    size_t blanks = text_blanks (text);
    if (blanks)
        return blanks;
    text_match_t match = s_match_any (text, tags, 4, last, &which);
    if (match == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (match != TEXT_WHOLE)
        return 1;
    if (which == 0) {
        self->phase = KEY;
        buffer_clear (&self->word);
        return strlen (row->key_start);
    }
    s_end_call (self);
    return 0;
}

//  What a value's tag or its schema says of its type.
static schema_types_t
s_types (const parser_t *self, span_t key, span_t attributes)
{
    bool known;
    if (text_find (attributes, "string=\"true\"") != SIZE_MAX)
        return SCHEMA_STRING;
    if (text_find (attributes, "string=\"false\"") != SIZE_MAX)
        return 0;
    schema_types_t types = schema_types (self->tool, key, &known);
    return known || self->row->guess_types ? types : SCHEMA_STRING;
}

//  What stands between KEY_START and the value is in `word`; the key is its first `size` bytes.
static void
s_begin_value (parser_t *self, size_t size)
{
    span_t word = buffer_span (&self->word);
    span_t key = span_trim (span_slice (word, 0, size));
    self->types = s_types (self, key, span_slice (word, size, word.size));
    self->value_limit = self->types == SCHEMA_STRING                   ? 0
                        : self->types == (SCHEMA_STRING | SCHEMA_NULL) ? NULL_MAX
                                                                       : PARSER_HOLD_MAX;
    buffer_append_string (&self->out, self->has_arguments ? ", \"" : "{\"");
    text_escape (&self->out, key);
    buffer_append_string (&self->out, "\": ");
    self->value_begun = self->value_string = false;
    buffer_clear (&self->value);
    self->phase = VALUE;
    machine_flush (self);
}

static size_t
s_key (parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *end = self->phase == KEY ? row->key_end : row->value_start;
    text_match_t match = text_match (text, end, last);
    if (match == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (match != TEXT_WHOLE && self->word.size == HEADER_MAX) {
        self->phase = BODY;
        return 0;
    }
    if (match != TEXT_WHOLE) {
        buffer_append_byte (&self->word, text.data [0]);
        return 1;
    }
    if (self->phase == KEY)
        self->early_size = self->word.size;
    if (self->phase == KEY && row->value_start)
        self->phase = ATTRIBUTES;
    else
        s_begin_value (self, self->early_size);
    return strlen (end);
}

//  ---- Values ----------------------------------------------------------------------------------------------------------

static void
s_value_piece (parser_t *self, span_t piece)
{
    if (!self->value_string && self->value.size + piece.size <= self->value_limit) {
        buffer_append (&self->value, piece);
        return;
    }
    if (!self->value_string) {
        self->value_string = true;
        buffer_append_byte (&self->out, '"');
        text_escape (&self->out, buffer_span (&self->value));
        buffer_clear (&self->value);
    }
    text_escape (&self->out, piece);
    machine_flush (self);
}

static void
s_value_end (parser_t *self)
{
    if (self->value_string)
        buffer_append_byte (&self->out, '"');
    else if (self->types == SCHEMA_STRING)
        buffer_append_string (&self->out, "\"\"");
    else
        schema_render (&self->out, buffer_span (&self->value), self->types);
    machine_flush (self);
    buffer_clear (&self->value);
    self->phase = BODY;
}

//  VALUE_END at the start, and a tag of the call behind it.
static text_match_t
s_match_value_end (const parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *const tags [] = { row->key_start, row->call_end, row->section_end, row->call_start };
    text_match_t match = text_match (text, row->value_end, last);
    if (match != TEXT_WHOLE)
        return match;
    span_t rest = span_slice (text, strlen (row->value_end), text.size);
    size_t blanks = text_blanks (span_slice (rest, 0, GAP_MAX));
    rest = span_slice (rest, blanks, rest.size);
    size_t which;
    if (!rest.size || blanks == GAP_MAX)
        return last || blanks == GAP_MAX ? TEXT_WHOLE : TEXT_PARTIAL;
    return s_match_any (rest, tags, 4, last, &which);
}

//  Bytes up to what may be the value's end.
static size_t
s_value_run (const parser_t *self, span_t text)
{
    const uint8_t *end = memchr (text.data, (uint8_t)*self->row->value_end, text.size);
    size_t run = end ? (size_t)(end - text.data) : text.size;
    return run;
}

static size_t
s_value (parser_t *self, span_t text, bool last)
{
    bool trims = self->row->trim_newline;
    if (trims && !self->value_begun && text.data [0] == '\n') {
        self->value_begun = true;
        return 1;
    }
    self->value_begun = true;
    size_t run = s_value_run (self, text);
    size_t newline = trims && run && text.data [run - 1] == '\n';
    if (run > newline) {
        s_value_piece (self, span_slice (text, 0, run - newline));
        return run - newline;
    }
    text_match_t end = s_match_value_end (self, span_slice (text, newline, text.size), last);
    if (end == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (end == TEXT_WHOLE) {
        s_value_end (self);
        return newline + strlen (self->row->value_end);
    }
    s_value_piece (self, span_slice (text, 0, 1));
    return 1;
}

static size_t
s_step (parser_t *self, span_t text, bool last)
{
    switch (self->phase) {
    case NAME:
        return s_name (self, text, last);
    case BODY:
        return s_body (self, text, last);
    case VALUE:
        return s_value (self, text, last);
    default:
        return s_key (self, text, last);
    }
}

static void
s_close (parser_t *self)
{
    if (self->phase == VALUE)
        s_value_end (self);
    if (self->has_arguments)
        machine_arguments (self, SPAN ("}"));
}

const machine_t machine_tags = { .begin = s_begin, .step = s_step, .close = s_close };
