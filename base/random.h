//  random - a seeded stream of numbers
//
//  xoshiro256** (Blackman and Vigna, 2018), seeded by SplitMix64.  The same seed gives the same numbers everywhere.  Not
//  for secrets: those come from libsodium in the port.

#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t state [4];    //  Never all zero
} random_t;

void random_init (random_t *self, uint64_t seed);

uint64_t random_u64 (random_t *self);

//  Uniform in 0 .. bound - 1; bound at least 1.
uint64_t random_below (random_t *self, uint64_t bound);

//  True with probability parts / million.
bool random_chance (random_t *self, uint32_t parts_per_million);

//  Exponentially distributed with this mean, by integer arithmetic only: equal on every machine and optimisation level.
uint64_t random_exponential (random_t *self, uint64_t mean);

#endif
