//  budget - how much memory load may take
//
//  Whatever is sized by input or load (bodies, rings, queues, caches) is taken from a budget before it is allocated and
//  given back when it is freed.  A taking that does not fit fails as a status and is counted; nothing is allocated.

#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include "base/error.h"

typedef struct {
    const char *name;    //  What it is for, for the sentence; borrowed for the budget's life
    uint64_t limit;      //  Bytes
    uint64_t used;       //  Bytes taken now
    uint64_t peak;       //  Highest `used` so far
    uint64_t refused;    //  Takings that did not fit
} budget_t;

void budget_init (budget_t *self, const char *name, uint64_t limit);

//  STATUS_LIMIT where `bytes` more do not fit.
status_t budget_take (budget_t *self, uint64_t bytes, error_t *error);

//  Gives back what was taken.
void budget_give (budget_t *self, uint64_t bytes);

#endif
