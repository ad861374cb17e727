//  suggest - "did you mean ...?"
//
//  Somebody typed a word that is not among those we know: offer the known ones, take the closest.  The distance counts
//  letters put in, left out, replaced or swapped with their neighbour; case does not count, and '-' equals '_'.

#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/span.h"

enum { SUGGEST_WORD_SIZE = 64, SUGGEST_TEXT_SIZE = 96 };

typedef struct {
    span_t word;                      //  What was typed; borrowed
    char best [SUGGEST_WORD_SIZE];    //  Closest so far; "": none is close
    size_t distance;                  //  Of the best
    char text [SUGGEST_TEXT_SIZE];    //  Of suggest_text
} suggest_t;

void suggest_init (suggest_t *self, span_t word);

//  Borrows the candidate for the call.  Among equals the first offered wins.
void suggest_offer (suggest_t *self, const char *candidate);
void suggest_offer_span (suggest_t *self, span_t candidate);

//  Each of a NULL-terminated list.
void suggest_offer_words (suggest_t *self, const char *const *words);

//  Where the candidate is close, `meant` is what was meant.
void suggest_offer_as (suggest_t *self, const char *candidate, const char *meant);

//  The closest candidate; NULL where none is close enough to be a slip of the hand.  Borrowed.
const char *suggest_best (const suggest_t *self);

//  What a complaint about the word ends with: "; did you mean 'best'?", or nothing.  Borrowed.
const char *suggest_text (suggest_t *self);

#endif
