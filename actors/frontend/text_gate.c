#include "actors/frontend/text_gate.h"

#include <string.h>

#include "base/utf8.h"

void
text_gate_init (text_gate_t *self, const span_t *stops, size_t count)
{
    *self = (text_gate_t){ .stops = stops, .stop_count = count };
}

void
text_gate_fini (text_gate_t *self)
{
    buffer_fini (&self->held);
}

//  ---- Stop strings --------------------------------------------------------------------------------------------------

//  Where the earliest stop string begins; the size of the text where there is none.
static size_t
s_find_stop (const text_gate_t *self, span_t text)
{
    for (size_t at = 0; at < text.size; at++)
        for (size_t i = 0; i < self->stop_count; i++)
            if (span_starts_with (span_slice (text, at, text.size), self->stops [i]))
                return at;
    return text.size;
}

//  Where the longest end of the text begins that a stop string may begin with; the size of the text where there is none.
static size_t
s_find_beginning (const text_gate_t *self, span_t text)
{
    size_t first = text.size > STOP_STRING_MAX ? text.size - STOP_STRING_MAX : 0;
    for (size_t at = self->stop_count ? first : text.size; at < text.size; at++)
        for (size_t i = 0; i < self->stop_count; i++)
            if (span_starts_with (self->stops [i], span_slice (text, at, text.size)))
                return at;
    return text.size;
}

//  ---- Characters ----------------------------------------------------------------------------------------------------

//  Bytes at the start that belong to one malformed character: as many as begin some character, at least one.
static size_t
s_malformed_size (span_t text)
{
    for (size_t size = 3; size > 1; size--)
        if (size <= text.size && utf8_incomplete_tail (span_slice (text, 0, size)) == size)
            return size;
    return 1;
}

static void
s_append_text (span_t bytes, buffer_t *out)
{
    if (utf8_is_valid (bytes)) {
        buffer_append (out, bytes);
        return;
    }
    while (bytes.size) {
        size_t size = utf8_sequence (bytes);
        if (size)
            buffer_append (out, span_slice (bytes, 0, size));
        else {
            buffer_append_string (out, "\xef\xbf\xbd");
            size = s_malformed_size (bytes);
        }
        bytes = span_slice (bytes, size, bytes.size);
    }
}

//  ---- The gate ------------------------------------------------------------------------------------------------------

bool
text_gate_lets_pass (const text_gate_t *self, span_t bytes)
{
    return !self->stop_count && !self->held.size && utf8_is_valid (bytes);
}

bool
text_gate_put (text_gate_t *self, span_t bytes, buffer_t *out)
{
    if (self->stopped)
        return false;
    buffer_append (&self->held, bytes);
    span_t text = buffer_span (&self->held);
    size_t certain = s_find_stop (self, text);
    self->stopped = certain < text.size;
    if (!self->stopped) {
        certain = s_find_beginning (self, text);
        certain -= utf8_incomplete_tail (span_slice (text, 0, certain));
    }
    s_append_text (span_slice (text, 0, certain), out);
    if (self->stopped)
        buffer_clear (&self->held);
    else
        buffer_drop_front (&self->held, certain);
    return !self->stopped;
}

void
text_gate_flush (text_gate_t *self, buffer_t *out)
{
    s_append_text (buffer_span (&self->held), out);
    buffer_clear (&self->held);
}
