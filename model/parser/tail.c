//  Closers with which an answer ends
//
//  In a string, and in a value in tags, a closer of the call is nothing but text. But a model that forgets to close what it is in
//  goes on with the closers of the call and falls silent: those are closers. Only the end of the answer tells the two apart, so
//  what may be such closers waits until something else follows.

#include <string.h>

#include "model/parser/machine.h"

//  Bytes that may wait so.
enum { TAIL_MAX = 160, CLOSERS = 4 };

//  The closers of a row; the first two end a call.
static void
s_closers (const parser_format_t *row, const char *closers [CLOSERS])
{
    closers [0] = row->call_end;
    closers [1] = row->section_end;
    closers [2] = row->between [0];
    closers [3] = row->between [1];
}

//  Whether arguments are JSON: then a line end is no part of a string.
static bool
s_has_json (const parser_format_t *row)
{
    return row->machine == PARSER_JSON || row->machine == PARSER_NAMED;
}

void
tail_learn (parser_t *self)
{
    for (const parser_format_t *row = self->format; row && !self->options.no_calls; row = row->also) {
        const char *closers [CLOSERS];
        s_closers (row, closers);
        for (size_t i = 0; i < CLOSERS; i++)
            if (closers [i])
                self->ends [(uint8_t)*closers [i]] |= ENDS_TAIL | RUN_STRING;
        self->ends ['\n'] |= s_has_json (row) ? ENDS_TAIL : 0;
        self->ends ['&'] |= row->cdata ? RUN_STRING : 0;
    }
}

//  A closer of any row at the start: which row reads what comes may not be known yet.  Fills in its size; *ends: it ends a call.
static text_match_t
s_match_closer (const parser_t *self, span_t text, size_t *size, bool *ends)
{
    text_match_t found = TEXT_DIFFERS;
    for (const parser_format_t *row = self->format; row && found == TEXT_DIFFERS; row = row->also) {
        size_t which;
        const char *closers [CLOSERS];
        s_closers (row, closers);
        found = text_match_any (text, closers, CLOSERS, false, &which);
        if (found == TEXT_WHOLE) {
            *size = strlen (closers [which]);
            *ends = which < 2;
        }
    }
    return found;
}

//  Whether a text is nothing but closers and blanks, the last of them perhaps unfinished.  *ends: it is not, and one ends a call.
static bool
s_are_closers (const parser_t *self, span_t text, bool *ends)
{
    bool any = false;
    while (text.size) {
        size_t size = 0;
        text = span_slice (text, text_blanks (text), text.size);
        text_match_t match = s_match_closer (self, text, &size, ends);
        if (match != TEXT_WHOLE) {
            *ends = any && !text.size;
            return match == TEXT_PARTIAL;
        }
        any = any || *ends;
        text = span_slice (text, size, text.size);
    }
    *ends = any;
    return true;
}

//  The last bytes of what is held and a text behind it.  Borrowed from the text or from `room`.
static span_t
s_last_bytes (span_t held, span_t text, uint8_t room [TAIL_MAX])
{
    if (!held.size || text.size >= TAIL_MAX)
        return span_slice (text, text.size < TAIL_MAX ? 0 : text.size - TAIL_MAX, TAIL_MAX);
    size_t old = held.size < TAIL_MAX - text.size ? held.size : TAIL_MAX - text.size;
    memcpy (room, held.data + held.size - old, old);
    if (text.size)
        memcpy (room + old, text.data, text.size);
    return span_of (room, old + text.size);
}

size_t
tail_size (const parser_t *self, span_t text, bool *ends)
{
    uint8_t room [TAIL_MAX];
    span_t last = s_last_bytes (buffer_span (&self->held), text, room);
    *ends = false;
    for (size_t at = 0; at < last.size; at++) {
        if (self->ends [last.data [at]] & ENDS_TAIL && s_are_closers (self, span_slice (last, at, last.size), ends))
            return last.size - at;
    }
    return 0;
}

//  Whether a value's own end waits for what follows a line end.
static bool
s_keeps_line (const parser_t *self)
{
    return self->row->machine == PARSER_TAGS && self->row->trim_newline && !self->extent.in_string;
}

bool
tail_of_byte (const parser_t *self, uint8_t byte)
{
    bool ends, line = byte == '\n' && !self->held.size;
    return !(line && s_keeps_line (self)) && tail_size (self, span_of (&byte, 1), &ends);
}
