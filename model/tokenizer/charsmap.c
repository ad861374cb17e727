#include "model/tokenizer/charsmap.h"

#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "model/tokenizer/letters.h"

enum {
    HEAD_SIZE = 4,       //  Bytes: the trie's size
    GRAPHEME_MAX = 6,    //  Bytes: longer graphemes are looked at character by character
};

static uint32_t
s_u32 (const uint8_t *bytes)
{
    return bytes [0] | (uint32_t)bytes [1] << 8 | (uint32_t)bytes [2] << 16 | (uint32_t)bytes [3] << 24;
}

status_t
charsmap_init (charsmap_t *self, span_t bytes, error_t *error)
{
    if (bytes.size < HEAD_SIZE)
        return error_set (error, STATUS_INVALID, "a charsmap of %zu bytes", bytes.size);
    uint32_t size = s_u32 (bytes.data);
    if (size % 4 || size > bytes.size - HEAD_SIZE)
        return error_set (
            error, STATUS_INVALID, "a charsmap whose trie has %u of %zu bytes", size, bytes.size - HEAD_SIZE);
    self->memory = memory_copy (bytes.data + HEAD_SIZE, bytes.size - HEAD_SIZE);
    span_t copy = span_of (self->memory, bytes.size - HEAD_SIZE);
    self->units = span_slice (copy, 0, size);
    self->replacements = span_slice (copy, size, copy.size);
    return STATUS_OK;
}

void
charsmap_fini (charsmap_t *self)
{
    memory_free (self->memory);
    *self = (charsmap_t){ 0 };
}

//  A unit of the double array; 0 outside of it. Bits: label 0-7 and 31, has a leaf 8, wide 9, offset 10-30.
static uint32_t
s_unit (const charsmap_t *self, uint32_t at)
{
    return at < self->units.size / 4 ? s_u32 (self->units.data + 4 * (size_t)at) : 0;
}

static uint32_t
s_offset (uint32_t unit)
{
    return (unit >> 10) << ((unit & 512) >> 6);
}

//  What a text becomes by the first of its prefixes that the map knows; false where it knows none.
static bool
s_lookup (const charsmap_t *self, span_t text, span_t *replacement)
{
    uint32_t at = s_offset (s_unit (self, 0));
    for (size_t i = 0; i < text.size && text.data [i]; i++) {
        at ^= text.data [i];
        uint32_t unit = s_unit (self, at);
        if ((unit & 0x800000ffu) != text.data [i])
            return false;
        at ^= s_offset (unit);
        if (!(unit & 256))
            continue;
        span_t rest = span_slice (self->replacements, s_unit (self, at) & 0x7fffffffu, self->replacements.size);
        *replacement = span_slice (rest, 0, span_find_byte (rest, '\0'));
        return true;
    }
    return false;
}

static void
s_apply_characters (const charsmap_t *self, span_t text, buffer_t *out)
{
    size_t size;
    for (size_t at = 0; at < text.size; at += size) {
        letters_decode (text.data + at, &size);
        span_t character = span_slice (text, at, size);
        s_lookup (self, character, &character);
        buffer_append (out, character);
    }
}

//  The bytes of the grapheme at the start of a text.
static size_t
s_grapheme (span_t text)
{
    size_t size, end;
    utf8proc_int32_t state = 0;
    utf8proc_int32_t code = (utf8proc_int32_t)letters_decode (text.data, &end);
    while (end < text.size) {
        utf8proc_int32_t next = (utf8proc_int32_t)letters_decode (text.data + end, &size);
        if (utf8proc_grapheme_break_stateful (code, next, &state))
            break;
        end += size;
        code = next;
    }
    return end;
}

void
charsmap_apply (const charsmap_t *self, span_t text, size_t limit, buffer_t *out)
{
    for (size_t size; text.size && out->size <= limit; text = span_slice (text, size, text.size)) {
        size = s_grapheme (text);
        span_t grapheme = span_slice (text, 0, size);
        if (size < GRAPHEME_MAX && s_lookup (self, grapheme, &grapheme))
            buffer_append (out, grapheme);
        else
            s_apply_characters (self, grapheme, out);
    }
}
