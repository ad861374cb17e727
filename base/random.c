#include "base/random.h"

#include "base/bug.h"

static uint64_t
s_splitmix (uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void
random_init (random_t *self, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        self->state [i] = s_splitmix (&seed);
}

static uint64_t
s_rotate (uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

uint64_t
random_u64 (random_t *self)
{
    uint64_t *s = self->state;
    uint64_t result = s_rotate (s [1] * 5, 7) * 9;
    uint64_t shifted = s [1] << 17;
    s [2] ^= s [0];
    s [3] ^= s [1];
    s [1] ^= s [2];
    s [0] ^= s [3];
    s [2] ^= shifted;
    s [3] = s_rotate (s [3], 45);
    return result;
}

uint64_t
random_below (random_t *self, uint64_t bound)
{
    BUG_ON (bound == 0);
    uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        uint64_t value = random_u64 (self);
        if (value >= threshold)
            return value % bound;
    }
}

bool
random_chance (random_t *self, uint32_t parts_per_million)
{
    return random_below (self, 1000000) < parts_per_million;
}

//  -ln (u) = (leading zero bits) * ln 2 - ln (mantissa), with the logarithm of the mantissa in [1, 2) from
//  repeated squaring: 32 bits of log2 in 32.32 fixed point.
static uint64_t
s_log2_fixed (uint64_t value)
{
    int zeros = __builtin_clzll (value);
    uint64_t mantissa = value << zeros >> 32;
    uint64_t result = (uint64_t)(63 - zeros) << 32;
    for (int bit = 31; bit >= 0; bit--) {
        mantissa = mantissa * mantissa >> 31;
        if (mantissa >> 32) {
            mantissa >>= 1;
            result |= (uint64_t)1 << bit;
        }
    }
    return result;
}

uint64_t
random_exponential (random_t *self, uint64_t mean)
{
    const uint64_t ln2_fixed = 2977044472u;    //  ln 2 in 0.32 fixed point
    uint64_t value = random_u64 (self) | 1;
    uint64_t log2_fixed = ((uint64_t)64 << 32) - s_log2_fixed (value);
    uint64_t ln_fixed = (uint64_t)((__uint128_t)log2_fixed * ln2_fixed >> 32);
    return (uint64_t)((__uint128_t)ln_fixed * mean >> 32);
}
