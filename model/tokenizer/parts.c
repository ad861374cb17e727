#include "model/tokenizer/parts.h"

#include <string.h>

static const uint8_t s_mark [] = { 0xe2, 0x96, 0x81 };

//  The next mark behind the first byte; text.size where there is none.
static size_t
s_next (span_t text, size_t from)
{
    while (from + sizeof s_mark <= text.size) {
        const uint8_t *found = memchr (text.data + from, s_mark [0], text.size - from - 2);
        if (!found)
            break;
        from = (size_t)(found - text.data);
        if (memcmp (found, s_mark, sizeof s_mark) == 0)
            return from;
        from++;
    }
    return text.size;
}

void
parts_init (parts_t *self, const vocabulary_t *vocabulary)
{
    *self = (parts_t){ .enabled = vocabulary_find (vocabulary, span_of (s_mark, sizeof s_mark)) != TOKEN_NONE };
    for (uint32_t id = 0; id < vocabulary_size (vocabulary); id++) {
        span_t bytes = vocabulary_bytes (vocabulary, id);
        for (size_t at = 1; (at = s_next (bytes, at)) < bytes.size; at++)
            self->joins [bytes.data [at - 1]] = true;
    }
}

size_t
parts_first (const parts_t *self, span_t piece)
{
    if (!self->enabled)
        return piece.size;
    for (size_t at = 1; (at = s_next (piece, at)) < piece.size; at++)
        if (!self->joins [piece.data [at - 1]])
            return at;
    return piece.size;
}
