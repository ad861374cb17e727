//  suggest - "did you mean ...?"
//
//  Somebody typed a word that is not among those we know: offer the known ones, take the closest.  The distance counts
//  letters put in, left out, replaced or swapped with their neighbour; case does not count, and '-' equals '_'.

#ifndef RUNTIME_SUGGEST_H
#define RUNTIME_SUGGEST_H

#include "base/span.h"

typedef struct {
    span_t word;         //  What was typed; borrowed
    const char *best;    //  Closest so far; NULL: none is close
    size_t distance;     //  Of the best
} suggest_t;

void suggest_init (suggest_t *self, span_t word);

//  candidate: borrowed as long as the suggestion is used.  Among equals the first offered wins.
void suggest_offer (suggest_t *self, const char *candidate);

//  The closest candidate; NULL where none is close enough to be a slip of the hand.
const char *suggest_best (const suggest_t *self);

#endif
