//  What ends plain text: all marks that mean something somewhere, and which of them stands where
//
//  Text is hardly looked at: two bytes say whether a mark may begin, and what follows a bracket mostly says that it opens no call.

#include <string.h>

#include "base/bug.h"
#include "model/parser/machine.h"

//  ---- All of them ---------------------------------------------------------------------------------------------------

//  Whether a call may begin without a section's mark.
static bool
s_has_lone_calls (const parser_format_t *row)
{
    return !row->section_start || row->call_alone;
}

//  Whether a further row opens what it reads in text in the same words.
static bool
s_is_shared (const parser_format_t *row, span_t opener)
{
    for (const parser_format_t *also = row->also; also; also = also->also)
        if (span_equal_string (opener, also->section_start) ||
            (s_has_lone_calls (also) && span_equal_string (opener, also->call_start)))
            return true;
    return false;
}

static void
s_add_mark (parser_t *self, const char *string, mark_kind_t kind, const parser_format_t *row)
{
    span_t text = span_from_string (string);
    for (size_t i = 0; i < self->mark_count; i++)
        if (self->marks [i].kind == kind && span_equal (self->marks [i].text, text))
            return;
    if (!text.size)
        return;
    BUG_ON (self->mark_count == MARKS_MAX || text.size > PARSER_MARKER_MAX);
    self->marks [self->mark_count++] = (mark_t){ .text = text,
        .kind = kind,
        .row = row,
        .bracket = text.size == 1 && (kind == MARK_SECTION || kind == MARK_CALL) && !s_is_shared (row, text) };
}

static void
s_add_call_marks (parser_t *self)
{
    for (const parser_format_t *row = self->format; row; row = row->also) {
        s_add_mark (self, row->section_start, MARK_SECTION, row);
        if (s_has_lone_calls (row))
            s_add_mark (self, row->call_start, MARK_CALL, row);
        s_add_mark (self, row->section_end, MARK_SECTION_END, row);
    }
}

static void
s_add_text_marks (parser_t *self)
{
    const parser_format_t *thinking = self->options.reasoning ? self->options.reasoning : self->format;
    for (size_t i = 0; i < PARSER_ALTERNATIVES && !self->options.no_reasoning; i++) {
        s_add_mark (self, thinking->think_start [i], MARK_THINK_START, thinking);
        s_add_mark (self, thinking->think_end [i], MARK_THINK_END, thinking);
    }
    for (size_t i = 0; i < PARSER_SILENT; i++)
        s_add_mark (self, self->format->silent [i], MARK_SILENT, self->format);
    s_add_mark (self, self->format->label_start, MARK_LABEL, self->format);
}

//  How marks begin, so that text need not be compared with them.
static void
s_learn_firsts (parser_t *self)
{
    unsigned bits = 0;
    for (size_t i = 0; i < self->mark_count; i++) {
        span_t text = self->marks [i].text;
        uint8_t *bit = &self->firsts [text.data [0]];
        if (!*bit)
            *bit = (uint8_t)(1u << (bits < 7 ? bits++ : 7));
        if (text.size > 1)
            self->seconds [text.data [1]] |= *bit;
        for (size_t byte = 0; text.size == 1 && byte <= UINT8_MAX; byte++)
            self->seconds [byte] |= *bit;
    }
    self->only_first = bits == 1 ? self->marks [0].text.data [0] : -1;
}

//  What may end a run.  Strings of harmony's messages stand in text: marks may end them, too.
static void
s_learn_ends (parser_t *self)
{
    unsigned runs = self->format->machine == PARSER_HARMONY ? RUN_TEXT | RUN_STRING : RUN_TEXT;
    for (size_t byte = 0; byte <= UINT8_MAX; byte++) {
        bool escaped = byte < ' ' || byte == '"' || byte == '\\';
        self->ends [byte] = (uint8_t)((self->firsts [byte] ? runs : 0) | (escaped ? RUN_STRING : 0));
    }
}

//  What begins and ends messages.
static void
s_add_message_marks (parser_t *self)
{
    static const char *const words [2][2][3] = { { { "<|start|>", "<|channel|>" },
                                                     { "<|end|>", "<|return|>", "<|call|>" } },
        { { "<|start|>", "to=" }, { "<|eom|>", "<|eot|>" } } };
    bool recipients = self->format->recipients;
    for (size_t end = 0; end < 2; end++)
        for (size_t i = 0; i < 3; i++)
            s_add_mark (self, words [recipients][end][i], end ? MARK_MESSAGE_END : MARK_MESSAGE, self->format);
}

void
marks_learn (parser_t *self)
{
    s_add_text_marks (self);
    if (!self->options.no_calls)
        s_add_call_marks (self);
    if (self->format->machine == PARSER_HARMONY || self->format->recipients)
        s_add_message_marks (self);
    s_learn_firsts (self);
    s_learn_ends (self);
    tail_learn (self);
}

//  ---- At a place ----------------------------------------------------------------------------------------------------

static bool
s_is_start_of_calls (const parser_t *self, const mark_t *mark)
{
    bool bracket = mark->text.size == 1;
    if (self->channel == TO_REASONING)
        return self->format->calls_end_thinking && !bracket;
    return self->channel == TO_CONTENT && (!bracket || self->fresh || self->options.tools);
}

//  Whether a mark means something here.
static bool
s_is_live (const parser_t *self, const mark_t *mark)
{
    switch (mark->kind) {
    case MARK_THINK_START:
        return self->fresh && self->channel != TO_ARGUMENTS;
    case MARK_THINK_END:
        return self->channel == TO_REASONING || self->end_owed || (self->fresh && self->channel == TO_CONTENT);
    case MARK_SILENT:
    case MARK_LABEL:
        return self->channel == TO_CONTENT;
    case MARK_SECTION:
    case MARK_CALL:
        return s_is_start_of_calls (self, mark);
    case MARK_SECTION_END:
        return self->section_owed;
    case MARK_MESSAGE:    //  Where a model forgets to end its reasoning, it goes on with a bare header
        return mark->text.data [0] == '<' || self->channel == TO_REASONING;
    default:
        return true;
    }
}

//  Behind its first byte.  A mark inside a string of a message's arguments is of the string, but for an end behind which the answer
//  ends or another message begins: then the model forgot to close the string.
static text_match_t
s_match_mark (const parser_t *self, span_t text, const mark_t *mark, bool last)
{
    text_match_t match = mark->text.size == 1 ? TEXT_WHOLE : text_match_span (text, mark->text, last);
    if (self->channel != TO_ARGUMENTS || !self->extent.in_string || match == TEXT_DIFFERS)
        return match;
    if (mark->kind != MARK_MESSAGE_END)
        return TEXT_DIFFERS;
    span_t rest = span_slice (text, mark->text.size, text.size);
    if (match == TEXT_PARTIAL || (!rest.size && last))
        return match;
    return text_match (rest, "<|start|>", last);
}

//  The longest live mark at the start of a text.  Partial where a longer one may be, which *found then is.
static text_match_t
s_find_mark (const parser_t *self, span_t text, bool last, const mark_t **found)
{
    text_match_t result = TEXT_DIFFERS;
    size_t longest = 0;
    for (size_t i = 0; i < self->mark_count; i++) {
        const mark_t *mark = &self->marks [i];
        bool differs = mark->text.size > 1 && text.size > 1 && mark->text.data [1] != text.data [1];
        if (mark->text.data [0] != text.data [0] || differs || !s_is_live (self, mark))
            continue;
        text_match_t match = s_match_mark (self, text, mark, last);
        if (match == TEXT_DIFFERS)
            continue;
        if (match == TEXT_PARTIAL) {
            *found = mark;
            return TEXT_PARTIAL;
        }
        if (mark->text.size > longest) {
            longest = mark->text.size;
            *found = mark;
            result = TEXT_WHOLE;
        }
    }
    return result;
}

//  ---- In a text -----------------------------------------------------------------------------------------------------

//  Where the next mark may begin.
static size_t
s_run (const parser_t *self, span_t text)
{
    if (!self->mark_count)
        return text.size;
    for (size_t at = 0;; at++) {
        if (self->only_first >= 0 && at < text.size && text.data [at] != self->only_first)
            at += span_find_byte (span_slice (text, at, text.size), (uint8_t)self->only_first);
        while (at < text.size && !self->firsts [text.data [at]])
            at++;
        if (at + 1 >= text.size || self->firsts [text.data [at]] & self->seconds [text.data [at + 1]])
            return at;
    }
}

//  Whether a call may go on with this byte, behind a bracket and a name.
static bool
s_may_be_call (const parser_format_t *row, mark_kind_t kind, uint8_t byte)
{
    const char *tags [SECTION_TAGS];
    if (kind == MARK_CALL)
        return byte == '"';
    if (row->machine == PARSER_LITERAL && (byte == '(' || byte == '{'))
        return true;
    machine_section_tags (row, tags);
    for (size_t i = 0; i < SECTION_TAGS; i++)
        if (tags [i] && (uint8_t)*tags [i] == byte)
            return true;
    return false;
}

//  Text is full of brackets: most can be seen to open no call by what follows.  Returns the bytes that the machine of the
//  mark would give back as text; 0 where it must look itself.
static size_t
s_false_bracket (const parser_t *self, span_t text, const mark_t *mark)
{
    const parser_format_t *row = mark->row;
    uint8_t skipped = mark->kind == MARK_CALL ? ',' : text.data [0];
    bool name = row->machine == PARSER_LITERAL && !row->call_start;
    size_t at = 1;
    if (!mark->bracket || !self->options.tools || (row->machine != PARSER_JSON && !name))
        return 0;
    while (at < text.size && (text_is_blank (text.data [at]) || text.data [at] == skipped))
        at++;
    if (name)
        at += machine_name_size (span_slice (text, at, NAME_MAX_BYTES));
    if (at >= text.size || at > NAME_MAX_BYTES)
        return 0;
    return s_may_be_call (row, mark->kind, text.data [at]) ? 0 : at;
}

size_t
marks_find (parser_t *self, span_t text, bool last, text_match_t *match, const mark_t **mark)
{
    size_t at = 0;
    for (;;) {
        at += s_run (self, span_slice (text, at, text.size));
        if (at == text.size)
            break;
        *match = TEXT_DIFFERS;
        if (at && self->channel == TO_ARGUMENTS)
            return at;
        span_t rest = span_slice (text, at, text.size);
        *match = s_find_mark (self, rest, last, mark);
        size_t bracket = *match == TEXT_WHOLE ? s_false_bracket (self, rest, *mark) : 0;
        if (*match != TEXT_DIFFERS && !bracket)
            return at;
        self->counts.false_calls += bracket > 0;
        at += bracket + !bracket;
    }
    *match = last ? TEXT_DIFFERS : TEXT_PARTIAL;
    *mark = NULL;
    return at;
}
