#include "base/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void
json_writer_init (json_writer_t *self, buffer_t *out)
{
    *self = (json_writer_t){ .out = out };
}

static void
s_separate (json_writer_t *self)
{
    if (self->comma)
        buffer_append_byte (self->out, ',');
    self->comma = true;
}

static void
s_begin (json_writer_t *self, uint8_t bracket)
{
    s_separate (self);
    buffer_append_byte (self->out, bracket);
    self->comma = false;
}

static void
s_end (json_writer_t *self, uint8_t bracket)
{
    buffer_append_byte (self->out, bracket);
    self->comma = true;
}

void
json_write_begin_object (json_writer_t *self)
{
    s_begin (self, '{');
}

void
json_write_end_object (json_writer_t *self)
{
    s_end (self, '}');
}

void
json_write_begin_array (json_writer_t *self)
{
    s_begin (self, '[');
}

void
json_write_end_array (json_writer_t *self)
{
    s_end (self, ']');
}

//  ---- Strings -------------------------------------------------------------------------------------------------------

//  Bytes at the start that stand for themselves: those below `end`, but for what JSON escapes.
static size_t
s_plain (span_t text, unsigned end)
{
    size_t at = 0;
    for (; at < text.size; at++) {
        unsigned byte = text.data [at];
        if (byte - ' ' >= end - ' ' || byte == '"' || byte == '\\')
            break;
    }
    return at;
}

static void
s_escape_byte (buffer_t *out, uint8_t byte)
{
    static const char short_forms [] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof short_forms; i += 2)
        if ((uint8_t)short_forms [i] == byte) {
            buffer_append (out, span_of ((char []){ '\\', short_forms [i + 1] }, 2));
            return;
        }
    buffer_print (out, "\\u%04x", byte);
}

//  One character that is not plain; returns its bytes.
static size_t
s_escape_one (buffer_t *out, span_t text)
{
    size_t size = utf8_sequence (text);
    if (size > 1)
        buffer_append (out, span_slice (text, 0, size));
    else if (size == 1)
        s_escape_byte (out, text.data [0]);
    else
        buffer_append (out, SPAN ("\xef\xbf\xbd"));
    return size ? size : 1;
}

static void
s_escape (buffer_t *out, span_t text, unsigned plain_end)
{
    while (text.size) {
        size_t size = s_plain (text, plain_end);
        buffer_append (out, span_slice (text, 0, size));
        text = span_slice (text, size, text.size);
        if (text.size)
            text = span_slice (text, s_escape_one (out, text), text.size);
    }
}

void
json_escape (buffer_t *out, span_t text)
{
    s_escape (out, text, 0x80);
}

void
json_escape_bytes (buffer_t *out, span_t text)
{
    s_escape (out, text, UINT8_MAX + 1);
}

static void
s_quote (buffer_t *out, span_t text)
{
    buffer_append_byte (out, '"');
    json_escape (out, text);
    buffer_append_byte (out, '"');
}

void
json_write_key_span (json_writer_t *self, span_t key)
{
    s_separate (self);
    s_quote (self->out, key);
    buffer_append_byte (self->out, ':');
    self->comma = false;
}

void
json_write_key (json_writer_t *self, const char *key)
{
    json_write_key_span (self, span_from_string (key));
}

void
json_write_string (json_writer_t *self, span_t text)
{
    s_separate (self);
    s_quote (self->out, text);
}

void
json_write_u64 (json_writer_t *self, uint64_t value)
{
    uint8_t digits [20];
    size_t at = sizeof digits;
    do {
        digits [--at] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value);
    json_write_raw (self, span_of (digits + at, sizeof digits - at));
}

void
json_write_i64 (json_writer_t *self, int64_t value)
{
    if (value >= 0) {
        json_write_u64 (self, (uint64_t)value);
        return;
    }
    s_separate (self);
    buffer_print (self->out, "%" PRId64, value);
}

void
json_write_bool (json_writer_t *self, bool value)
{
    json_write_raw (self, value ? SPAN ("true") : SPAN ("false"));
}

void
json_write_null (json_writer_t *self)
{
    json_write_raw (self, SPAN ("null"));
}

void
json_write_double (json_writer_t *self, double value)
{
    char text [40];
    if (!isfinite (value)) {
        json_write_null (self);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf (text, sizeof text, "%.*g", digits, value);
        if (span_to_double (span_from_string (text), &back) && back == value)
            break;
    }
    json_write_raw (self, span_from_string (text));
    if (text [strcspn (text, ".e")] == '\0')
        buffer_append_string (self->out, ".0");
}

void
json_write_raw (json_writer_t *self, span_t json)
{
    s_separate (self);
    buffer_append (self->out, json);
}
