//  parts - where a piece falls apart by itself
//
//  Vocabularies that write a space as U+2581 do not cut text first: a piece is the whole text. But where no token has the
//  mark behind a certain byte, no token can reach across that place, so both sides are encoded apart, and can be cached.

#ifndef MODEL_TOKENIZER_PARTS_H
#define MODEL_TOKENIZER_PARTS_H

#include "model/tokenizer/vocabulary.h"

typedef struct {
    bool enabled;        //  The mark is a token
    bool joins [256];    //  Some token has the mark behind this byte
} parts_t;

//  Looks through a vocabulary.
void parts_init (parts_t *self, const vocabulary_t *vocabulary);

//  Bytes of the piece, which is not empty, up to the first place where it falls apart; all of them where there is none.
size_t parts_first (const parts_t *self, span_t piece);

#endif
