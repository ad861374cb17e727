//  A tag around every argument
//
//      <function=f> <parameter=k> v </parameter> ... </function>
//      f <arg_key>k</arg_key> <arg_value>v</arg_value> ...
//      <invoke name="f"> <parameter name="k" string="true">v</parameter> ... </invoke>
//      <invoke name="f"> <k>v</k> <o> <a>1</a> <b>2</b> </o> ... </invoke>
//
//  A value says nothing of its type; the tool's schema does.  A string goes out as it comes; anything else waits for its end.
//  VALUE_END inside a value is part of it unless a tag of the call follows.  Where an object stands in place of the first
//  argument, it is all of them.

#include <string.h>

#include "base/json_writer.h"
#include "model/parser/machine.h"
#include "model/parser/nested.h"

#define CDATA "<![CDATA["

enum { NAME, BODY, KEY, ATTRIBUTES, VALUE, OBJECT, BEHIND_OBJECT };

//  Blanks between VALUE_END and the tag that proves it; bytes of a closer that is made of the key.
enum { GAP_MAX = 64, NULL_MAX = 8, CLOSER_MAX = 128 };

static void
s_begin (parser_t *self)
{
    self->phase = NAME;
    buffer_clear (&self->word);
}

void
tags_begin_arguments (parser_t *self)
{
    self->place = IN_CALL;
    self->phase = BODY;
}

static const char *const s_entities [][2] = { { "&quot;", "\"" }, { "&lt;", "<" }, { "&gt;", ">" }, { "&amp;", "&" } };

//  Text of a name or a key, entities read where the row writes them.  Borrowed from the text or from `room`.
static span_t
s_plain (const parser_t *self, span_t text, buffer_t *room)
{
    if (!self->row->entities || span_find_byte (text, '&') == text.size)
        return text;
    while (text.size) {
        size_t size = 1, which = 0;
        while (which < 4 && text_match (text, s_entities [which][0], true) != TEXT_WHOLE)
            which++;
        if (which < 4)
            size = strlen (s_entities [which][0]);
        buffer_append (room, which < 4 ? span_from_string (s_entities [which][1]) : span_slice (text, 0, 1));
        text = span_slice (text, size, text.size);
    }
    return buffer_span (room);
}

//  Bytes of the quoted text at the start, quotes included; 0 where there is none.
static size_t
s_quoted (span_t text)
{
    if (!text.size || (text.data [0] != '"' && text.data [0] != '\''))
        return 0;
    size_t size = span_find_byte (span_slice (text, 1, text.size), text.data [0]);
    return size + 2 <= text.size ? size + 2 : 0;
}

//  A name without quotes; the second may be missing.
static span_t
s_unquote (span_t name)
{
    size_t quoted = s_quoted (name);
    if (quoted && quoted == name.size)
        return span_slice (name, 1, quoted - 2);
    return name.size > 1 && name.data [0] == '"' ? span_slice (name, 1, name.size) : name;
}

//  What an attribute of a tag is, quotes not included; empty where there is none of this name.  Not inlined: most rows have none.
__attribute__ ((noinline)) static span_t
s_attribute (span_t tag, const char *name)
{
    while (tag.size) {
        size_t size = span_find_byte (tag, '=');
        span_t found = span_trim (span_slice (tag, 0, size)), rest = span_slice (tag, size + 1, tag.size);
        size_t quoted = s_quoted (rest);
        if (quoted && span_equal_string (found, name))
            return span_slice (rest, 1, quoted - 2);
        tag = span_slice (rest, quoted, rest.size);
    }
    return tag;
}

//  A tool's name that a model wrote twice, f.f, because its recipients are written so.
static span_t
s_undouble (const parser_t *self, span_t name)
{
    span_t half = span_slice (name, 0, name.size / 2), rest = span_slice (name, half.size, name.size);
    bool twice = self->row->recipients && rest.size && rest.data [0] == '.' &&
                 span_equal (half, span_slice (rest, 1, rest.size));
    bool known = twice && schema_find_tool (self->options.tools, half) && !schema_find_tool (self->options.tools, name);
    return known ? half : name;
}

static size_t
s_begin_call (parser_t *self)
{
    buffer_t room = { 0 };
    span_t word = buffer_span (&self->word);
    span_t name = self->row->attributes ? s_attribute (word, "tool") : s_unquote (span_trim (word));
    self->phase = BODY;
    bool begun = machine_begin_call (self, s_undouble (self, s_plain (self, name, &room)), (span_t){ 0 });
    buffer_fini (&room);
    return begun ? 0 : machine_release (self);
}

static size_t
s_name (parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *const ends [] = { row->name_end, row->key_start, row->call_end, row->section_end };
    size_t which;
    text_match_t match = text_match_any (text, ends, 4, last, &which);
    if (match == TEXT_PARTIAL)
        return machine_wait (self, text, span_from_string (ends [which]));
    if (match == TEXT_WHOLE)
        return s_begin_call (self) == 0 && self->open && which == 0 ? strlen (row->name_end) : 0;
    if (self->word.size == NAME_MAX_BYTES || text.data [0] == '{')
        return machine_release (self);
    const char *const stops [] = { row->name_end, row->key_start, row->call_end, row->section_end, "{" };
    return machine_keep (self, text, stops, 5, NAME_MAX_BYTES);
}

//  ---- Between arguments ---------------------------------------------------------------------------------------------

static void
s_end_call (parser_t *self)
{
    if (self->has_arguments && self->phase == BODY)
        machine_arguments (self, SPAN ("}"));
    machine_end_call (self);
}

//  Between tags: what is none of them says nothing.
static size_t
s_skip (parser_t *self, uint8_t byte)
{
    if (byte != '{' || self->has_arguments)
        return 1;
    self->phase = OBJECT;
    extent_init (&self->extent);
    return 0;
}

static size_t
s_body (parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *const tags [] = { row->key_start, row->call_end, row->section_end, row->call_start };
    size_t which;
    size_t blanks = text_blanks (text);
    text_match_t match = text_match_any (span_slice (text, blanks, text.size), tags, 4, last, &which);
    if (match != TEXT_WHOLE && blanks)
        return blanks;
    if (match == TEXT_PARTIAL)
        return machine_wait (self, text, span_from_string (tags [which]));
    if (match != TEXT_WHOLE)
        return s_skip (self, text.data [0]);
    if (which == 0 && self->phase == BEHIND_OBJECT)
        return blanks + 1;
    if (which == 0) {
        self->phase = KEY;
        buffer_clear (&self->word);
        return blanks + strlen (row->key_start);
    }
    s_end_call (self);
    return blanks;
}

static size_t
s_object (parser_t *self, span_t text, bool last)
{
    bool ended;
    size_t taken = machine_read_object (self, text, last, &ended);
    if (!ended)
        return taken;
    machine_close_object (self);
    self->phase = BEHIND_OBJECT;
    return 0;
}

//  ---- Keys ----------------------------------------------------------------------------------------------------------

//  What stands between key and value may say the type.
static bool
s_types_by_attribute (span_t attributes, schema_types_t *types)
{
    static const struct {
        const char *text;        //  In the attributes
        schema_types_t types;    //  What it says; 0: JSON
    } says [] = { { "string=\"true\"", SCHEMA_STRING }, { "string=\"false\"", 0 }, { "type=\"string\"", SCHEMA_STRING },
        { "type=\"", 0 }, { "arg_type>string<", SCHEMA_STRING }, { "arg_type>", 0 } };
    for (size_t i = 0; attributes.size && i < sizeof says / sizeof *says; i++)
        if (text_find (attributes, says [i].text) != SIZE_MAX) {
            *types = says [i].types;
            return true;
        }
    return false;
}

static schema_types_t
s_types (const parser_t *self, span_t attributes)
{
    schema_types_t types;
    if (s_types_by_attribute (attributes, &types))
        return types;
    types = schema_types (self->schema);
    return types || self->row->guess_types ? types : SCHEMA_STRING;
}

//  What ends a nested value has its key in it.  False where that is too long to be looked for.
static bool
s_make_closer (parser_t *self, span_t key)
{
    const parser_format_t *row = self->row;
    buffer_clear (&self->closer);
    buffer_clear (&self->opener);
    buffer_append_string (&self->closer, row->value_end);
    buffer_append_string (&self->opener, row->key_start);
    self->nesting = 0;
    if (!row->nested)
        return true;
    buffer_append (&self->closer, key);
    buffer_append_string (&self->closer, row->key_end);
    buffer_append (&self->opener, key);
    buffer_append_string (&self->opener, row->key_end);
    return key.size && key.data [0] != '/' && self->closer.size <= CLOSER_MAX;
}

//  What stands between KEY_START and the value is in `word`; the key is its first `size` bytes, or is in quotes there, attributes
//  behind it, or is one of them.
static void
s_begin_value (parser_t *self, size_t size)
{
    buffer_t room = { 0 };
    span_t word = buffer_span (&self->word);
    size_t quoted = s_quoted (span_slice (word, 0, size));
    size = quoted ? quoted : size;
    span_t written = quoted ? span_slice (word, 1, quoted - 2) : span_slice (word, 0, size);
    if (self->row->attributes) {
        written = s_attribute (word, "key");
        size = 0;
    }
    span_t key = s_plain (self, span_trim (written), &room);
    bool whole = s_make_closer (self, written);
    self->schema = schema_of_member (self->tool_schema, key);
    self->types = s_types (self, span_slice (word, size, word.size));
    self->value_limit = self->types == SCHEMA_STRING                   ? 0
                        : self->types == (SCHEMA_STRING | SCHEMA_NULL) ? NULL_MAX
                                                                       : PARSER_HOLD_MAX;
    self->phase = whole ? VALUE : BODY;
    self->value_begun = self->value_string = false;
    buffer_clear (&self->value);
    if (whole) {
        buffer_append_string (&self->out, self->has_arguments ? ", \"" : "{\"");
        json_escape_bytes (&self->out, key);
        buffer_append_string (&self->out, "\": ");
        machine_flush (self);
    }
    buffer_fini (&room);
}

static size_t
s_key (parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *end = self->phase == KEY ? row->key_end : row->value_start;
    text_match_t match = text_match (text, end, last);
    if (match == TEXT_PARTIAL)
        return machine_wait (self, text, span_from_string (end));
    if (match != TEXT_WHOLE && self->word.size == HEADER_MAX) {
        self->phase = BODY;
        return 0;
    }
    if (match != TEXT_WHOLE)
        return machine_keep (self, text, &end, 1, HEADER_MAX);
    if (self->phase == KEY)
        self->early_size = self->word.size;
    if (self->phase == KEY && row->value_start)
        self->phase = ATTRIBUTES;
    else
        s_begin_value (self, self->early_size);
    return strlen (end);
}

//  ---- Values --------------------------------------------------------------------------------------------------------

//  Where a value may stand in CDATA, entities in one that does not are what they are in XML.
static bool
s_has_entities (const parser_t *self)
{
    return self->row->cdata && self->closer.data [0] != ']';
}

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
        json_escape_bytes (&self->out, buffer_span (&self->value));
        buffer_clear (&self->value);
    }
    json_escape_bytes (&self->out, piece);
    machine_flush (self);
    machine_run (self, RUN_STRING, self->closer.data [0]);
}

static void
s_value_end (parser_t *self)
{
    if (self->value_string)
        buffer_append_byte (&self->out, '"');
    else if (self->types == SCHEMA_STRING)
        buffer_append_string (&self->out, "\"\"");
    else if (self->row->nested)
        nested_render (self->row, buffer_span (&self->value), self->schema, &self->out);
    else
        schema_render (&self->out, buffer_span (&self->value), self->types);
    machine_flush (self);
    buffer_clear (&self->value);
    self->phase = BODY;
}

//  What ends the value at the start, and a tag of the call behind it.
static text_match_t
s_match_value_end (parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    const char *const tags [] = { row->key_start, row->call_end, row->section_end, row->call_start };
    text_match_t match = text_match_span (text, buffer_span (&self->closer), last);
    if (match == TEXT_PARTIAL)
        machine_wait (self, text, buffer_span (&self->closer));
    if (match != TEXT_WHOLE)
        return match;
    span_t rest = span_slice (text, self->closer.size, text.size);
    size_t blanks = text_blanks (span_slice (rest, 0, GAP_MAX));
    rest = span_slice (rest, blanks, rest.size);
    size_t which;
    if (!rest.size || blanks == GAP_MAX)
        return last || blanks == GAP_MAX ? TEXT_WHOLE : TEXT_PARTIAL;
    match = text_match_any (rest, tags, 4, false, &which);
    if (match == TEXT_PARTIAL && last)
        return TEXT_WHOLE;
    if (match == TEXT_PARTIAL)
        machine_wait (self, rest, span_from_string (tags [which]));
    return match;
}

//  A nested value may have tags like its own in it: their ends are not its end.  Returns the bytes of such a tag, 0 where none
//  stands at the start, MACHINE_WAIT where one may.
static size_t
s_inner_tag (parser_t *self, span_t text, bool last)
{
    if (!self->row->nested)
        return 0;
    text_match_t opens = text_match_span (text, buffer_span (&self->opener), last);
    text_match_t closes = self->nesting ? text_match_span (text, buffer_span (&self->closer), last) : TEXT_DIFFERS;
    if (opens == TEXT_PARTIAL || closes == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (opens == TEXT_WHOLE)
        self->nesting++;
    if (closes == TEXT_WHOLE)
        self->nesting--;
    return opens == TEXT_WHOLE ? self->opener.size : closes == TEXT_WHOLE ? self->closer.size : 0;
}

//  A tag at the beginning of a line that opens another argument of the tool: the model forgot to close this one.
static text_match_t
s_match_next_key (const parser_t *self, span_t text, bool last)
{
    const parser_format_t *row = self->row;
    text_match_t match = text_match (text, row->key_start, last);
    if (match != TEXT_WHOLE)
        return match;
    span_t rest = span_slice (text, strlen (row->key_start), NAME_MAX_BYTES / 2);
    size_t size = text_find (rest, row->key_end);
    if (size == SIZE_MAX)
        return last || rest.size == NAME_MAX_BYTES / 2 ? TEXT_DIFFERS : TEXT_PARTIAL;
    span_t key = span_slice (rest, 0, size);
    span_t this = span_slice (buffer_span (&self->word), 0, self->early_size);
    bool other = !span_equal (key, this) && schema_has_member (self->tool_schema, key);
    return other ? TEXT_WHOLE : TEXT_DIFFERS;
}

//  Bytes up to what may be the value's end, or an entity.
static size_t
s_value_run (const parser_t *self, span_t text)
{
    const uint8_t *end = memchr (text.data, self->closer.data [0], text.size);
    size_t run = end ? (size_t)(end - text.data) : text.size;
    return s_has_entities (self) ? span_find_byte (span_slice (text, 0, run), '&') : run;
}

//  Takes an entity.  Returns its bytes; 0 where none stands at the start, MACHINE_WAIT where one may.
static size_t
s_entity (parser_t *self, span_t text, bool last)
{
    for (size_t i = 0; s_has_entities (self) && i < sizeof s_entities / sizeof *s_entities; i++) {
        text_match_t match = text_match (text, s_entities [i][0], last);
        if (match == TEXT_PARTIAL)
            return MACHINE_WAIT;
        if (match == TEXT_WHOLE) {
            s_value_piece (self, span_from_string (s_entities [i][1]));
            return strlen (s_entities [i][0]);
        }
    }
    return 0;
}

//  At the end of an answer: the beginning of what ends a value. Behind the newline before it, a byte is enough, or none.
static bool
s_is_cut_end (const parser_t *self, span_t text, bool newline)
{
    span_t closer = buffer_span (&self->closer);
    return text_is_cut (text, closer) || (newline && text_match_span (text, closer, false) == TEXT_PARTIAL);
}

//  <![CDATA[ at the start of a value; what ends it then has ]]> before it.
static text_match_t
s_match_cdata (const parser_t *self, span_t text, bool last)
{
    return self->row->cdata && !self->value_begun ? text_match (text, CDATA, last) : TEXT_DIFFERS;
}

static size_t
s_begin_cdata (parser_t *self)
{
    self->value_begun = true;
    buffer_clear (&self->closer);
    buffer_append_string (&self->closer, "]]>");
    buffer_append_string (&self->closer, self->row->value_end);
    return sizeof CDATA - 1;
}

static size_t
s_value (parser_t *self, span_t text, bool last)
{
    bool trims = self->row->trim_newline;
    text_match_t cdata = s_match_cdata (self, text, last);
    if (cdata == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (cdata == TEXT_WHOLE)
        return s_begin_cdata (self);
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
    size_t inner = text.data [0] == '&' ? s_entity (self, text, last) : 0;
    if (inner)
        return inner;
    inner = s_inner_tag (self, text, last);
    if (inner == MACHINE_WAIT)
        return inner;
    if (inner) {
        s_value_piece (self, span_slice (text, 0, inner));
        return inner;
    }
    text_match_t end = s_match_value_end (self, span_slice (text, newline, text.size), last);
    if (end == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (end == TEXT_WHOLE) {
        s_value_end (self);
        return newline + self->closer.size;
    }
    text_match_t next = newline ? s_match_next_key (self, span_slice (text, 1, text.size), last) : TEXT_DIFFERS;
    if (next == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (next == TEXT_WHOLE) {
        s_value_end (self);
        return newline;
    }
    if (last && s_is_cut_end (self, span_slice (text, newline, text.size), newline))
        return text.size;
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
    case BEHIND_OBJECT:
        return s_body (self, text, last);
    case OBJECT:
        return s_object (self, text, last);
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
    if (self->phase == OBJECT)
        machine_close_object (self);
    else if (self->has_arguments && self->phase != BEHIND_OBJECT)
        machine_arguments (self, SPAN ("}"));
}

//  A value whose own end waits for proof is not open any more.
static bool
s_inside (const parser_t *self)
{
    if (self->phase != VALUE)
        return self->phase == OBJECT && self->extent.in_string;
    span_t held = buffer_span (&self->held), closer = buffer_span (&self->closer);
    if (self->row->trim_newline && held.size && held.data [0] == '\n')
        held = span_slice (held, 1, held.size);
    return held.size < closer.size || text_match_span (held, closer, true) != TEXT_WHOLE;
}

const machine_t machine_tags = { .begin = s_begin, .step = s_step, .close = s_close, .inside = s_inside };
