//  A call expression: f(a=1, b='x'), or call:f{a:1}

#include "model/parser/machine.h"

enum { NAME, BEHIND_NAME, ARGUMENTS };

static void
s_begin (parser_t *self)
{
    self->phase = NAME;
    buffer_clear (&self->word);
}

//  Behind a name without brackets: a call without arguments, where a marker ends it.
static size_t
s_end_bare (parser_t *self, span_t text, bool last)
{
    text_match_t end = self->word.size ? machine_match_end (self, text, last) : TEXT_DIFFERS;
    if (end == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (end == TEXT_DIFFERS || !machine_begin_call (self, buffer_span (&self->word), (span_t){ 0 }))
        return machine_release (self);
    machine_end_call (self);
    return 0;
}

//  Goes on in the name, and in blanks behind it where a marker opened the call.  With it the bracket behind it is taken, but
//  for one that opens no call: that is looked at again, for what came before must be kept to be released.
static size_t
s_name (parser_t *self, span_t text, bool last)
{
    size_t room = self->phase == NAME ? NAME_MAX_BYTES - self->word.size : 0;
    size_t size = machine_name_size (span_slice (text, 0, room));
    bool opens = size < text.size && (text.data [size] == '(' || text.data [size] == '{');
    span_t name = span_slice (text, 0, size);
    if (!opens || self->word.size) {
        buffer_append (&self->word, name);
        name = buffer_span (&self->word);
    }
    if (!opens && !size && self->row->call_start && self->word.size && text_is_blank (text.data [0])) {
        self->phase = BEHIND_NAME;
        return text_blanks (text);
    }
    if (!opens)
        return size ? size : s_end_bare (self, text, last);
    if (!machine_begin_call (self, name, (span_t){ 0 }))
        return size ? size : machine_release (self);
    machine_arguments (self, SPAN ("{"));
    literal_init (&self->literal, self->row->quote, true);
    literal_end_at (&self->literal, self->row->section_end, self->row->call_end);
    self->phase = ARGUMENTS;
    return size + 1;
}

static size_t
s_step (parser_t *self, span_t text, bool last)
{
    bool broken;
    if (self->phase != ARGUMENTS)
        return s_name (self, text, last);
    size_t taken = literal_feed (&self->literal, text, last, &self->out, &broken);
    bool done = self->literal.done;
    if (broken)
        literal_close (&self->literal, &self->out);
    if (literal_is_undecided (&self->literal) && !done && !broken)
        return taken ? taken : MACHINE_WAIT;
    machine_flush (self);
    if (literal_string_end (&self->literal))
        machine_run (self, RUN_STRING, literal_string_end (&self->literal));
    if (done || broken)
        machine_end_call (self);
    return taken || done || broken ? taken : MACHINE_WAIT;
}

static void
s_close (parser_t *self)
{
    literal_close (&self->literal, &self->out);
    machine_flush (self);
}

//  A string whose own end waits for proof is not open any more.
static bool
s_inside (const parser_t *self)
{
    span_t held = buffer_span (&self->held);
    const char *quote = self->row->quote;
    bool ends =
        quote ? text_match (held, quote, true) == TEXT_WHOLE : held.size && held.data [0] == self->literal.open_quote;
    return self->phase == ARGUMENTS && literal_in_string (&self->literal) && !ends;
}

const machine_t machine_literal = { .begin = s_begin, .step = s_step, .close = s_close, .inside = s_inside };
