//  Between calls: what opens a section, what parts its calls, what ends it

#include <string.h>

#include "model/parser/machine.h"

//  ---- In and out ----------------------------------------------------------------------------------------------------

void
machine_section_tags (const parser_format_t *row, const char *tags [SECTION_TAGS])
{
    tags [0] = row->call_start;
    tags [1] = row->section_end;
    tags [2] = row->call_end;
    tags [3] = row->between [0];
    tags [4] = row->between [1];
    tags [5] = row->section_start;
}

//  Back to text behind a section.
static void
s_leave (parser_t *self)
{
    buffer_clear (&self->raw);
    self->place = IN_TEXT;
    self->fresh = self->skip_newlines = true;
    self->array = false;
}

static void
s_enter_call (parser_t *self)
{
    self->place = IN_CALL;
    machine_of (self)->begin (self);
}

void
section_enter (parser_t *self, const mark_t *mark)
{
    self->row = mark->row;
    self->section_calls = 0;
    self->guarded = mark->text.size == 1;
    self->array = self->guarded && mark->text.data [0] == '[';
    self->opened = true;
    self->place = IN_SECTION;
    if (mark->kind == MARK_CALL)
        s_enter_call (self);
}

//  ---- What stands there ---------------------------------------------------------------------------------------------

//  Whether a row may go on behind this text: its section began there, or one of its calls.
static bool
s_is_opened_by (const parser_format_t *row, span_t text, bool *call)
{
    span_t section = span_from_string (row->section_start);
    bool whole = section.size && span_equal (text, section);
    if (section.size && !whole && span_starts_with (text, section))
        text = span_trim (span_slice (text, section.size, text.size));
    *call = row->call_start && span_equal_string (text, row->call_start);
    return whole || *call;
}

//  Another row that begins as this section did reads it otherwise.
static bool
s_try_next_row (parser_t *self)
{
    span_t opener = span_trim (buffer_span (&self->raw));
    if (self->array && opener.size > 1)
        opener = span_trim (span_slice (opener, 0, opener.size - 1));
    for (const parser_format_t *row = self->row->also; row && !self->section_calls; row = row->also) {
        bool call;
        if (!s_is_opened_by (row, opener, &call))
            continue;
        self->row = row;
        if (call)
            s_enter_call (self);
        return true;
    }
    return false;
}

static size_t
s_no_more_calls (parser_t *self)
{
    if (s_try_next_row (self))
        return 0;
    if (!self->section_calls)
        return machine_release (self);
    self->section_owed = self->row->section_end != NULL;
    s_leave (self);
    return 0;
}

//  Brackets and separators of an array of calls, and a brace too many behind one; 0: none of them.
static size_t
s_punctuation (parser_t *self, uint8_t byte)
{
    if (byte == '}' && self->section_calls && self->row->section_end) {
        self->counts.dropped++;
        return 1;
    }
    if (byte == '[' && !self->array && self->opened)
        self->array = true;
    else if (byte == ']' && self->array && self->section_calls)
        self->array = false;
    else if (!((byte == ',' || byte == ';') && self->section_calls))
        return 0;
    if (byte == ']' && !self->row->section_end)
        s_leave (self);
    return 1;
}

//  Behind a call, the beginning of a tag with which the answer ends is a tag that was cut.
static bool
s_is_cut_tag (const parser_t *self, span_t text)
{
    const char *tags [SECTION_TAGS];
    machine_section_tags (self->row, tags);
    for (size_t i = 0; i < SECTION_TAGS - 1 && self->section_calls; i++)
        if (tags [i] && text_is_cut (text, span_from_string (tags [i])))
            return true;
    return false;
}

//  Notes which bytes begin tags of sections.
void
section_learn (parser_t *self)
{
    for (const parser_format_t *row = self->format; row; row = row->also) {
        const char *tags [SECTION_TAGS];
        machine_section_tags (row, tags);
        for (size_t i = 0; i < SECTION_TAGS; i++)
            if (tags [i])
                self->ends [(uint8_t)*tags [i]] |= BEGINS_SECTION_TAG;
    }
}

//  Which tag of the section stands at the start.
static text_match_t
s_match_section_tag (const parser_t *self, span_t text, bool last, const char **tag)
{
    const char *tags [SECTION_TAGS];
    size_t which = 0;
    if (text.size && !(self->ends [text.data [0]] & BEGINS_SECTION_TAG))
        return TEXT_DIFFERS;
    machine_section_tags (self->row, tags);
    text_match_t match = text_match_any (text, tags, SECTION_TAGS, last, &which);
    *tag = tags [which];
    return match;
}

//  Whether this byte begins a call that nothing opens but its name.
static bool
s_begins_name (const parser_t *self, uint8_t byte)
{
    const parser_format_t *row = self->row;
    bool bare = row->machine == PARSER_LITERAL && !row->call_start && !(self->ends [byte] & BEGINS_SECTION_TAG);
    bool follows = self->array || !self->section_calls || row->section_end;
    return bare && follows && machine_name_size (span_of (&byte, 1));
}

size_t
section_step (parser_t *self, span_t text, bool last)
{
    if (s_begins_name (self, text.data [0])) {
        s_enter_call (self);
        return machine_literal.step (self, text, last);
    }
    const parser_format_t *row = self->row;
    const char *tag = NULL;
    size_t blanks = text_blanks (text);
    span_t rest = span_slice (text, blanks, text.size);
    text_match_t match = s_match_section_tag (self, rest, last, &tag);
    if (match != TEXT_WHOLE && blanks)
        return blanks;
    if (match == TEXT_PARTIAL)
        return machine_wait (self, text, span_from_string (tag));
    if (match == TEXT_WHOLE && tag == row->section_start) {
        self->opened = true;
        self->array = self->array && self->guarded;
    }
    if (match == TEXT_WHOLE && tag == row->section_end)
        s_leave (self);
    else if (match == TEXT_WHOLE && tag == row->call_start)
        s_enter_call (self);
    if (match == TEXT_WHOLE)
        return blanks + strlen (tag);
    bool lists = row->machine == PARSER_JSON || row->machine == PARSER_LITERAL;
    if (lists && s_punctuation (self, text.data [0]))
        return 1;
    if (last && s_is_cut_tag (self, text)) {
        self->counts.dropped += text.size;
        return text.size;
    }
    return s_no_more_calls (self);
}
