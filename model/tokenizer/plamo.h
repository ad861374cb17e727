//  plamo - the cheapest way to cut a text into tokens, from its end
//
//  PLaMo 2 costs every token what its score says, in ten-thousandths, and of all ways to cut a text takes the cheapest: of two that
//  cost the same, the one with the longer token first. A character that no token begins costs as much as any thousand of them, and
//  becomes its bytes. A mark of byte order at the start is dropped.

#ifndef MODEL_TOKENIZER_PLAMO_H
#define MODEL_TOKENIZER_PLAMO_H

#include "base/array.h"
#include "base/error.h"
#include "model/tokenizer/vocabulary.h"

enum { PLAMO_PIECE_MAX = 1 << 24 };    //  Bytes of a piece

typedef struct {
    const vocabulary_t *vocabulary;    //  Borrowed
    array_t costs;                     //  int32_t by token
    size_t longest [256];              //  Bytes of the longest token by its first byte; by plamo_seal
    uint32_t bytes [256];              //  Token of each byte
    array_t nodes;                     //  Room to work in
} plamo_t;

void plamo_init (plamo_t *self, const vocabulary_t *vocabulary);
void plamo_fini (plamo_t *self);

//  The cost of a token of this score. False where it is too low to be chosen ever.
bool plamo_cost (float score, int32_t *cost);

//  The vocabulary and the costs are complete.
void plamo_seal (plamo_t *self);

//  Appends the tokens (uint32_t) of a piece of well-formed UTF-8. STATUS_LIMIT for one that is too long.
status_t plamo_encode (plamo_t *self, span_t piece, array_t *ids, error_t *error);

#endif
