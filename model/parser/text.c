#include "model/parser/text.h"

#include <string.h>

#include "base/json_writer.h"

text_match_t
text_match_span (span_t text, span_t marker, bool last)
{
    if (text.size >= marker.size)
        return memcmp (text.data, marker.data, marker.size) == 0 ? TEXT_WHOLE : TEXT_DIFFERS;
    return !last && (!text.size || memcmp (text.data, marker.data, text.size) == 0) ? TEXT_PARTIAL : TEXT_DIFFERS;
}

text_match_t
text_match (span_t text, const char *marker, bool last)
{
    if (!marker || (text.size && text.data [0] != (uint8_t)*marker))
        return TEXT_DIFFERS;
    return text_match_span (text, span_from_string (marker), last);
}

bool
text_is_cut (span_t text, span_t marker)
{
    return text.size > 1 && text_match_span (text, marker, false) == TEXT_PARTIAL;
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
            json_escape_byte (out, text.data [at++]);
    }
}
