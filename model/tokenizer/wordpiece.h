//  wordpiece - the longest token first, from the left
//
//  A piece becomes the longest token that it begins with, then the longest continuing token, and so on; where nothing fits, the
//  whole piece is unknown. Continuing tokens are written ##x, and are no tokens at the start.

#ifndef MODEL_TOKENIZER_WORDPIECE_H
#define MODEL_TOKENIZER_WORDPIECE_H

#include "base/array.h"
#include "model/tokenizer/vocabulary.h"

typedef struct {
    const vocabulary_t *starts;    //  Tokens that begin a piece; borrowed
    vocabulary_t *goes_on;         //  Tokens that continue one, by what stands behind their prefix
    uint32_t unknown;              //  Of a piece that nothing fits
    size_t characters_max;         //  A piece of more is unknown
    bool whole;                    //  A piece is a token or unknown: WordLevel
    size_t longest;                //  Bytes of the longest token; by wordpiece_seal
} wordpiece_t;

void wordpiece_init (wordpiece_t *self, const vocabulary_t *starts);
void wordpiece_fini (wordpiece_t *self);

//  The vocabularies are complete.
void wordpiece_seal (wordpiece_t *self);

//  Appends the tokens (uint32_t) of a piece of well-formed UTF-8.
void wordpiece_encode (const wordpiece_t *self, span_t piece, array_t *ids);

#endif
