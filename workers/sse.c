#include "workers/sse.h"

#include <string.h>

static const uint8_t s_mark [] = { 0xEF, 0xBB, 0xBF };

void
sse_init (sse_t *self, size_t event_max)
{
    *self = (sse_t){ .event_max = event_max };
}

void
sse_fini (sse_t *self)
{
    buffer_fini (&self->line);
    buffer_fini (&self->type);
    buffer_fini (&self->data);
}

//  Notes one line of the event in progress.
static void
s_take_field (sse_t *self, span_t line)
{
    size_t colon = span_find_byte (line, ':');
    span_t name = span_slice (line, 0, colon);
    span_t value = span_slice (line, colon + 1, SIZE_MAX);
    if (value.size && value.data [0] == ' ')
        value = span_slice (value, 1, SIZE_MAX);
    if (span_equal_string (name, "data")) {
        buffer_append (&self->data, value);
        buffer_append_byte (&self->data, '\n');
    } else if (span_equal_string (name, "event")) {
        buffer_clear (&self->type);
        buffer_append (&self->type, value);
    }
}

//  The blank line: hands the event over.  An event without data is none.
static bool
s_dispatch (sse_t *self, sse_event_fn *on_event, void *arg)
{
    span_t data = buffer_span (&self->data);
    if (data.size && !on_event (arg, buffer_span (&self->type), span_slice (data, 0, data.size - 1)))
        return false;
    buffer_clear (&self->data);
    buffer_clear (&self->type);
    return true;
}

static bool
s_end_line (sse_t *self, span_t line, sse_event_fn *on_event, void *arg)
{
    if (!line.size)
        return s_dispatch (self, on_event, arg);
    s_take_field (self, line);
    buffer_clear (&self->line);
    return true;
}

//  The bytes behind a byte order mark, which may itself come in pieces.
static span_t
s_skip_mark (sse_t *self, span_t bytes)
{
    while (self->begun < sizeof s_mark && bytes.size) {
        if (bytes.data [0] != s_mark [self->begun]) {
            buffer_append (&self->line, span_of (s_mark, self->begun));
            self->begun = sizeof s_mark;
            break;
        }
        self->begun++;
        bytes = span_slice (bytes, 1, SIZE_MAX);
    }
    return bytes;
}

static size_t
s_find_line_end (span_t bytes)
{
    size_t feed = span_find_byte (bytes, '\n');
    return span_find_byte (span_slice (bytes, 0, feed), '\r');
}

status_t
sse_feed (sse_t *self, span_t bytes, sse_event_fn *on_event, void *arg, error_t *error)
{
    bytes = s_skip_mark (self, bytes);
    while (bytes.size) {
        if (self->after_cr) {
            self->after_cr = false;
            if (bytes.data [0] == '\n') {
                bytes = span_slice (bytes, 1, SIZE_MAX);
                continue;
            }
        }
        size_t end = s_find_line_end (bytes);
        if (self->line.size + self->data.size + self->type.size + end > self->event_max)
            return error_set (error, STATUS_LIMIT, "an event of more than %zu bytes", self->event_max);

        span_t line = span_slice (bytes, 0, end);
        if (self->line.size || end == bytes.size) {
            buffer_append (&self->line, line);
            line = buffer_span (&self->line);
        }
        if (end == bytes.size)
            break;
        self->after_cr = bytes.data [end] == '\r';
        bytes = span_slice (bytes, end + 1, SIZE_MAX);
        if (!s_end_line (self, line, on_event, arg))
            return error_set (error, STATUS_CANCELLED, "enough was read");
    }
    return STATUS_OK;
}
