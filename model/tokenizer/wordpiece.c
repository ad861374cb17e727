#include "model/tokenizer/wordpiece.h"

enum { CHARACTERS_MAX = 100 };

void
wordpiece_init (wordpiece_t *self, const vocabulary_t *starts)
{
    *self = (wordpiece_t){ .starts = starts, .unknown = TOKEN_NONE, .characters_max = CHARACTERS_MAX };
    self->goes_on = vocabulary_new ();
}

void
wordpiece_fini (wordpiece_t *self)
{
    vocabulary_destroy (&self->goes_on);
}

void
wordpiece_seal (wordpiece_t *self)
{
    const vocabulary_t *const all [] = { self->starts, self->goes_on };
    for (size_t i = 0; i < 2; i++)
        for (uint32_t id = 0; id < vocabulary_size (all [i]); id++) {
            size_t size = vocabulary_bytes (all [i], id).size;
            self->longest = size > self->longest ? size : self->longest;
        }
}

static bool
s_begins_character (uint8_t byte)
{
    return (byte & 0xc0) != 0x80;
}

static size_t
s_characters (span_t text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += s_begins_character (text.data [i]);
    return count;
}

//  The longest token at the start of a text; its bytes, 0 where there is none.
static size_t
s_longest (const wordpiece_t *self, const vocabulary_t *vocabulary, span_t text, uint32_t *id)
{
    for (size_t size = text.size < self->longest ? text.size : self->longest; size; size--) {
        bool whole = size == text.size || s_begins_character (text.data [size]);
        if (whole && (*id = vocabulary_find (vocabulary, span_slice (text, 0, size))) != TOKEN_NONE)
            return size;
    }
    return 0;
}

void
wordpiece_encode (const wordpiece_t *self, span_t piece, array_t *ids)
{
    size_t before = ids->count, size;
    bool fits = self->whole || s_characters (piece) <= self->characters_max;
    for (size_t at = 0; at < piece.size && fits; at += size) {
        uint32_t id = self->whole ? vocabulary_find (self->starts, piece) : TOKEN_NONE;
        size = id != TOKEN_NONE ? piece.size : 0;
        if (!self->whole)
            size = s_longest (self, at ? self->goes_on : self->starts, span_slice (piece, at, piece.size), &id);
        fits = size > 0;
        if (fits)
            array_append (ids, &id, 1);
    }
    if (fits)
        return;
    array_cut (ids, before);
    if (self->unknown != TOKEN_NONE)
        array_append (ids, &self->unknown, 1);
}
