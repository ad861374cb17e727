#include "model/tokenizer/search.h"

#include <string.h>

size_t
search_find (span_t text, span_t needle)
{
    if (needle.size == 0)
        return text.size;
    for (size_t at = 0; at + needle.size <= text.size; at++) {
        const uint8_t *found = memchr (text.data + at, needle.data [0], text.size - needle.size + 1 - at);
        if (!found)
            break;
        at = (size_t)(found - text.data);
        if (memcmp (found, needle.data, needle.size) == 0)
            return at;
    }
    return text.size;
}
