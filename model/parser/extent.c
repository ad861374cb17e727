#include "model/parser/extent.h"

#include <string.h>

void
extent_init (extent_t *self)
{
    memset (self, 0, offsetof (extent_t, objects));
    self->expect = EXTENT_VALUE;
}

static bool
s_in_object (const extent_t *self)
{
    uint32_t level = self->depth - 1;
    return self->depth && level < EXTENT_DEPTH_MAX && (self->objects [level / 8] >> level % 8 & 1);
}

static void
s_push (extent_t *self, bool object)
{
    uint32_t level = self->depth++;
    if (level < EXTENT_DEPTH_MAX) {
        self->objects [level / 8] &= (uint8_t) ~(1u << level % 8);
        self->objects [level / 8] |= (uint8_t)((unsigned)object << level % 8);
    }
    self->expect = object ? EXTENT_FIRST_KEY : EXTENT_FIRST;
}

//  A value ended.
static void
s_ended (extent_t *self)
{
    self->expect = EXTENT_NEXT;
    self->scalar_size = 0;
    self->done = self->depth == 0;
}

static void
s_pop (extent_t *self)
{
    if (self->depth)
        self->depth--;
    s_ended (self);
}

enum { ESCAPE_BEGUN = 1, ESCAPE_DIGITS = 5 };

//  The state of an escape behind a byte of it: a backslash makes ESCAPE_BEGUN, and \u leaves digits to come.
static uint8_t
s_escape (uint8_t escape, uint8_t byte)
{
    if (escape == ESCAPE_BEGUN)
        return byte == 'u' ? ESCAPE_DIGITS : 0;
    return escape == 2 ? 0 : (uint8_t)(escape - 1);
}

//  The bytes of a string up to its end, the quote included.
static size_t
s_string (extent_t *self, span_t text)
{
    size_t at = 0;
    while (at < text.size) {
        uint8_t byte = text.data [at++];
        if (self->escape && byte != '"')
            self->escape = s_escape (self->escape, byte);
        else if (self->escape == ESCAPE_BEGUN)
            self->escape = 0;
        else if (byte == '\\')
            self->escape = ESCAPE_BEGUN;
        else if (byte == '"') {
            self->in_string = false;
            self->escape = 0;
            if (self->in_key)
                self->expect = EXTENT_COLON;
            else
                s_ended (self);
            break;
        } else
            while (at < text.size && text.data [at] != '"' && text.data [at] != '\\')
                at++;
    }
    return at;
}

static bool
s_is_scalar (uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '-' || byte == '+' || byte == '.';
}

static void
s_scalar (extent_t *self, uint8_t byte)
{
    if (self->scalar_size == EXTENT_SCALAR_MAX)
        memmove (self->scalar, self->scalar + 1, --self->scalar_size);
    self->scalar [self->scalar_size++] = (char)byte;
}

//  One byte outside strings.  False where it cannot stand there.
static bool
s_structure (extent_t *self, uint8_t byte)
{
    if (s_is_scalar (byte)) {
        s_scalar (self, byte);
        return true;
    }
    if (self->scalar_size)
        s_ended (self);
    switch (byte) {
    case '{':
    case '[':
        s_push (self, byte == '{');
        break;
    case '}':
    case ']':
        s_pop (self);
        break;
    case ',':
        self->expect = s_in_object (self) ? EXTENT_KEY : EXTENT_VALUE;
        break;
    case ':':
        self->expect = EXTENT_VALUE;
        break;
    case '"':
        self->in_string = true;
        self->in_key = self->expect == EXTENT_KEY || self->expect == EXTENT_FIRST_KEY;
        break;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        break;
    default:
        return false;
    }
    return true;
}

size_t
extent_feed (extent_t *self, span_t text, bool *odd)
{
    size_t at = 0;
    *odd = false;
    while (at < text.size && !self->done) {
        if (self->in_string) {
            at += s_string (self, span_slice (text, at, text.size));
            continue;
        }
        uint8_t byte = text.data [at];
        if (self->depth == 0 && self->scalar_size && !s_is_scalar (byte)) {
            s_ended (self);
            break;
        }
        if (!s_structure (self, byte)) {
            *odd = true;
            break;
        }
        at++;
    }
    return at;
}

//  The rest of a word or number that was cut: "fals" lacks "e", "1." lacks "0".  NULL where nothing completes it.
static const char *
s_rest (const extent_t *self)
{
    static const char *const words [] = { "true", "false", "null" };
    char last = self->scalar [self->scalar_size - 1];
    if (last >= '0' && last <= '9')
        return "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp (words [i], self->scalar, self->scalar_size) == 0)
            return words [i] + self->scalar_size;
    return strchr ("-+.eE", last) ? "0" : NULL;
}

//  What completes the innermost value.
static const char *
s_completion (const extent_t *self)
{
    if (self->in_string)
        return self->in_key ? "\":null" : "\"";
    if (self->scalar_size)
        return s_rest (self);
    switch (self->expect) {
    case EXTENT_VALUE:
        return "null";
    case EXTENT_COLON:
        return ":null";
    case EXTENT_KEY:
        return NULL;
    default:
        return "";
    }
}

bool
extent_close (const extent_t *self, buffer_t *out)
{
    const char *completion = self->done ? "" : s_completion (self);
    if (!completion || self->depth > EXTENT_DEPTH_MAX)
        return false;
    if (self->in_string && self->escape == ESCAPE_BEGUN)
        buffer_append_byte (out, '\\');
    for (uint8_t digits = self->escape; self->in_string && digits > ESCAPE_BEGUN; digits--)
        buffer_append_byte (out, '0');
    buffer_append_string (out, completion);
    extent_t open = *self;
    for (; open.depth; open.depth--)
        buffer_append_byte (out, s_in_object (&open) ? '}' : ']');
    return true;
}
