//  unigram - the likeliest way to cut a piece into tokens
//
//  Every token has a score, the logarithm of how likely it is; of all ways to cut a piece the one with the highest sum
//  counts (Viterbi). A character that no token begins costs more than any token and becomes the unknown one, or its bytes.

#ifndef MODEL_TOKENIZER_UNIGRAM_H
#define MODEL_TOKENIZER_UNIGRAM_H

#include "base/array.h"
#include "base/error.h"
#include "model/tokenizer/vocabulary.h"

enum { UNIGRAM_PIECE_MAX = 1 << 24 };    //  Bytes of a piece

typedef struct {
    const vocabulary_t *vocabulary;    //  Borrowed
    array_t scores;                    //  double by token
    double lowest;                     //  Of all scores; by unigram_seal
    size_t longest [256];              //  Bytes of the longest token by its first byte; by unigram_seal
    uint32_t bytes [256];              //  Token of each byte; TOKEN_NONE where there is none
    bool byte_fallback;                //  An unknown character becomes the tokens of its bytes
    bool looks_unknown_up;             //  Unknown characters in a row that are a token together are that one
    uint32_t unknown;                  //  Token of an unknown character; TOKEN_NONE: it is left out
    array_t nodes;                     //  Room to work in
} unigram_t;

void unigram_init (unigram_t *self, const vocabulary_t *vocabulary);
void unigram_fini (unigram_t *self);

//  The vocabulary and the scores are complete.
void unigram_seal (unigram_t *self);

//  Appends the tokens (uint32_t) of a piece of well-formed UTF-8. STATUS_LIMIT for one that is too long.
status_t unigram_encode (unigram_t *self, span_t piece, array_t *ids, error_t *error);

#endif
