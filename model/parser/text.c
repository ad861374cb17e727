#include "model/parser/text.h"

#include <string.h>

text_match_t
text_match_span (span_t text, span_t marker, bool last)
{
    if (text.size >= marker.size)
        return memcmp (text.data, marker.data, marker.size) == 0 ? TEXT_WHOLE : TEXT_DIFFERS;
    return !last && (!text.size || memcmp (text.data, marker.data, text.size) == 0) ? TEXT_PARTIAL : TEXT_DIFFERS;
}

text_match_t
text_match_any (span_t text, const char *const markers [], size_t count, bool last, size_t *which)
{
    text_match_t found = TEXT_DIFFERS;
    for (size_t i = 0; i < count; i++) {
        if (!markers [i] || (text.size && text.data [0] != (uint8_t)*markers [i] && *markers [i]))
            continue;
        text_match_t match = text_match (text, markers [i], last);
        if (match == TEXT_PARTIAL) {
            *which = i;
            return match;
        }
        bool longer = match == TEXT_WHOLE && (found != TEXT_WHOLE || strlen (markers [i]) > strlen (markers [*which]));
        if (longer) {
            *which = i;
            found = match;
        }
    }
    return found;
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

size_t
text_before (span_t text, const char *const markers [], size_t count, size_t max)
{
    size_t end = text.size < max ? text.size : max;
    for (size_t at = 0; at < end; at++)
        for (size_t i = 0; i < count; i++)
            if (markers [i] && text.data [at] == (uint8_t)*markers [i])
                return at;
    return end;
}

size_t
text_blanks (span_t text)
{
    size_t count = 0;
    while (count < text.size && text_is_blank (text.data [count]))
        count++;
    return count;
}
