#include "model/parser/text.h"

#include <string.h>

text_match_t
text_match (span_t text, const char *marker, bool last)
{
    if (!marker || (text.size && text.data [0] != (uint8_t)*marker))
        return TEXT_DIFFERS;
    size_t size = strlen (marker);
    if (text.size >= size)
        return memcmp (text.data, marker, size) == 0 ? TEXT_WHOLE : TEXT_DIFFERS;
    return !last && (!text.size || memcmp (text.data, marker, text.size) == 0) ? TEXT_PARTIAL : TEXT_DIFFERS;
}

size_t
text_find (span_t text, const char *word)
{
    size_t size = strlen (word);
    for (size_t at = 0; at + size <= text.size; at++)
        if (memcmp (text.data + at, word, size) == 0)
            return at;
    return SIZE_MAX;
}

bool
text_is_blank (uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

size_t
text_blanks (span_t text)
{
    size_t count = 0;
    while (count < text.size && text_is_blank (text.data [count]))
        count++;
    return count;
}

static bool
s_is_plain (uint8_t byte)
{
    return byte >= 0x20 && byte != '"' && byte != '\\';
}

static void
s_escape (buffer_t *out, uint8_t byte)
{
    static const char names [] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof names; i += 2)
        if ((uint8_t)names [i] == byte) {
            buffer_append (out, span_of ((char []){ '\\', names [i + 1] }, 2));
            return;
        }
    buffer_print (out, "\\u%04x", byte);
}

void
text_escape (buffer_t *out, span_t text)
{
    size_t at = 0;
    while (at < text.size) {
        size_t start = at;
        while (at < text.size && s_is_plain (text.data [at]))
            at++;
        buffer_append (out, span_slice (text, start, at - start));
        if (at < text.size)
            s_escape (out, text.data [at++]);
    }
}
