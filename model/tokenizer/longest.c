#include "model/tokenizer/longest.h"

void
longest_init (longest_t *self, const vocabulary_t *vocabulary)
{
    *self = (longest_t){ .vocabulary = vocabulary, .unknown = TOKEN_NONE };
}

void
longest_seal (longest_t *self)
{
    vocabulary_longest (self->vocabulary, self->longest);
}

void
longest_encode (const longest_t *self, span_t piece, array_t *ids)
{
    for (size_t size; piece.size; piece = span_slice (piece, size, piece.size)) {
        uint32_t id = TOKEN_NONE;
        size = self->longest [piece.data [0]] + 1;
        size = size > piece.size ? piece.size + 1 : size;
        while (--size && (id = vocabulary_find (self->vocabulary, span_slice (piece, 0, size))) == TOKEN_NONE)
            ;
        id = size ? id : self->unknown;
        size = size ? size : 1;
        if (id != TOKEN_NONE)
            array_append (ids, &id, 1);
    }
}
