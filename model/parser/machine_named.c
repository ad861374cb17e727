//  A header with the name, then the arguments as one JSON object
//
//      functions.f:0<|tool_call_argument_begin|>{...}      the whole is the id, too
//      f[CALL_ID]123456789[ARGS]{...}
//      function<sep>f NEWLINE ```json NEWLINE {...}
//
//  What separates name and arguments differs, but no name has a brace and all arguments begin with one: the header is
//  what stands before it.

#include <string.h>

#include "model/parser/machine.h"

enum { HEADER, ARGUMENTS };

static void
s_begin (parser_t *self)
{
    self->phase = HEADER;
    buffer_clear (&self->word);
    extent_init (&self->extent);
}

//  The name at the front of a header; empty where a separator does not follow it.
static span_t
s_name_of (const parser_t *self, span_t header)
{
    span_t name = span_trim (header);
    span_t start = span_from_string (self->row->header_start);
    if (start.size && span_starts_with (name, start))
        name = span_slice (name, start.size, name.size);
    size_t size = machine_name_size (name);
    span_t rest = span_trim (span_slice (name, size, name.size));
    bool separated = !rest.size || memchr ("<[`>", rest.data [0], 4);
    return span_slice (name, 0, separated ? size : 0);
}

static span_t
s_behind (span_t text, const char *marker)
{
    size_t at = text_find (text, marker);
    return at == SIZE_MAX ? (span_t){ 0 } : span_slice (text, at + strlen (marker), text.size);
}

//  Kimi's name says the id: functions.f:0.
static void
s_split_kimi (span_t *name, span_t *id)
{
    span_t prefix = SPAN ("functions.");
    size_t colon = name->size;
    while (colon && name->data [colon - 1] >= '0' && name->data [colon - 1] <= '9')
        colon--;
    if (colon && colon < name->size && name->data [colon - 1] == ':') {
        *id = *name;
        *name = span_slice (*name, 0, colon - 1);
    }
    if (span_starts_with (*name, prefix))
        *name = span_slice (*name, prefix.size, name->size);
}

static bool
s_begin_call (parser_t *self)
{
    span_t header = buffer_span (&self->word);
    span_t name = s_name_of (self, header);
    span_t id = { 0 };
    if (self->row->ids == PARSER_IDS_KIMI)
        s_split_kimi (&name, &id);
    else if (self->row->ids == PARSER_IDS_NINE)
        id = span_slice (s_behind (header, "[CALL_ID]"), 0, 9);
    self->phase = ARGUMENTS;
    return machine_begin_call (self, name, id);
}

static size_t
s_header (parser_t *self, span_t text, bool last)
{
    text_match_t end = text.data [0] == '{' ? TEXT_WHOLE : machine_match_end (self, text, last);
    if (end == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (end == TEXT_WHOLE)
        return s_begin_call (self) ? 0 : machine_release (self);
    if (self->word.size == HEADER_MAX)
        return machine_release (self);
    const char *const stops [] = { "{", self->row->call_end, self->row->section_end };
    return machine_keep (self, text, stops, 3, HEADER_MAX);
}

static size_t
s_arguments (parser_t *self, span_t text, bool last)
{
    bool ended;
    size_t taken = machine_read_object (self, text, last, &ended);
    if (!ended)
        return taken;
    machine_close_object (self);
    machine_end_call (self);
    return 0;
}

static size_t
s_step (parser_t *self, span_t text, bool last)
{
    return self->phase == HEADER ? s_header (self, text, last) : s_arguments (self, text, last);
}

static bool
s_inside (const parser_t *self)
{
    return self->phase == ARGUMENTS && self->extent.in_string;
}

//  A name is whole where what separates it from the arguments has begun.
static void
s_salvage (parser_t *self)
{
    span_t header = span_trim (buffer_span (&self->word)), name = s_name_of (self, header);
    span_t start = span_from_string (self->row->header_start);
    bool begins = start.size && text_match_span (header, start, false) == TEXT_PARTIAL;
    if (name.size && !begins && name.data + name.size < header.data + header.size)
        s_begin_call (self);
}

const machine_t machine_named = {
    .begin = s_begin, .step = s_step, .close = machine_close_object, .inside = s_inside, .salvage = s_salvage
};
