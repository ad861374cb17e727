//  longest - the longest token first, byte by byte
//
//  A text becomes the longest token that it begins with, then the longest that the rest begins with, and so on: RWKV's way. Tokens
//  are bytes, of which all are tokens themselves, and may end within a character.

#ifndef MODEL_TOKENIZER_LONGEST_H
#define MODEL_TOKENIZER_LONGEST_H

#include "base/array.h"
#include "model/tokenizer/vocabulary.h"

typedef struct {
    const vocabulary_t *vocabulary;    //  Borrowed
    size_t longest [256];              //  Bytes of the longest token by its first byte; by longest_seal
    uint32_t unknown;                  //  Of a byte that no token begins with; TOKEN_NONE: it is left out
} longest_t;

void longest_init (longest_t *self, const vocabulary_t *vocabulary);

//  The vocabulary is complete.
void longest_seal (longest_t *self);

//  Appends the tokens (uint32_t) of any bytes.
void longest_encode (const longest_t *self, span_t piece, array_t *ids);

#endif
