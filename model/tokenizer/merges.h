//  merges - which two tokens become one, and in which order
//
//  The rules of byte-pair encoding, by rank: the lowest is applied first. Which rank the rule of a pair has is looked up for every
//  pair of every new piece, so the look-up stands here, inlined. Two things cost it time. Whether a pair has a rule is as good as
//  random, and a processor that guesses wrong loses more than the look-up takes: so there is nothing to guess. And a large table is
//  far away: so four bytes a rule are all that is looked at, a rank and nine bits of a hash. They lie in a perfect hash, where
//  each rule has a slot of its own, found by two products. What is in a pair's slot may be another's rule, by a chance of one in
//  512: whoever applies a rule sees that it is not of this pair.

#ifndef MODEL_TOKENIZER_MERGES_H
#define MODEL_TOKENIZER_MERGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

//  The rank of a pair without a rule: behind all others.
#define MERGE_NONE UINT32_MAX

enum { MERGE_RANKS = (1 << 23) - 1 };    //  Ranks are below this

typedef struct {
    uint32_t left;     //  The rule is for these
    uint32_t right;    //  two tokens
    uint32_t id;       //  What they become
} merge_t;

typedef struct {
    array_t rules;            //  merge_t by rank
    uint32_t *slots;          //  By merges_slot: rank, then the hash's tag; all bits set: free. NULL before merges_seal
    uint16_t *factors;        //  Odd, by the bucket of a hash: spreads the rules of that bucket over free slots
    unsigned bucket_shift;    //  Of a hash, to its bucket
    unsigned slot_shift;      //  Of the product with the factor, to the number of a slot
    uint64_t multiplier;      //  Of the hash; another one where the first does not spread
    uint32_t above;           //  What every rule makes is its rank and this; 0: some do not. By merges_seal
    bool rises;               //  So it is, and no rule is for what a later one makes. By merges_seal
} merges_t;

void merges_init (merges_t *self);
void merges_fini (merges_t *self);

//  Adds the rule of the next rank, of tokens that are none of TOKEN_NONE; of one pair the later rule counts. Before merges_seal,
//  and at most MERGE_RANKS times.
void merges_put (merges_t *self, merge_t rule);

//  All rules are there: lays them out, once. STATUS_LIMIT for such as cannot be, which only ill will finds.
status_t merges_seal (merges_t *self, error_t *error);

//  Two texts were merged apart: whether they become the same side by side, where the last token of one and the first of the other
//  are these. Only where the rules rise and what no rule makes is below `above`. Seldom false though they do.
bool merges_hold_apart (const merges_t *self, uint32_t left, uint32_t right);

//  Bytes that the tables hold.
uint64_t merges_memory (const merges_t *self);

static inline uint64_t
merges_hash (const merges_t *self, uint32_t left, uint32_t right)
{
    return (uint64_t)left * self->multiplier + (uint64_t)right * 0x9e3779b97f4a7c15u;
}

//  The only slot that may have the rule of a pair with this hash.
static inline size_t
merges_slot (const merges_t *self, uint64_t hash)
{
    return (uint32_t)((uint32_t)(hash >> 16) * self->factors [hash >> self->bucket_shift]) >> self->slot_shift;
}

static inline uint32_t
merges_tag (uint64_t hash)
{
    return (uint32_t)(hash << 9) & ~(uint32_t)MERGE_RANKS;
}

//  The rank of the rule of a pair, or by chance that of another's; MERGE_NONE where it has none. After merges_seal.
static inline uint32_t
merges_guess (const merges_t *self, uint32_t left, uint32_t right)
{
    uint64_t hash = merges_hash (self, left, right);
    uint32_t slot = self->slots [merges_slot (self, hash)] ^ merges_tag (hash);
    return slot < MERGE_RANKS ? slot : MERGE_NONE;
}

//  The rule of a rank, which is there.
static inline const merge_t *
merges_rule (const merges_t *self, uint32_t rank)
{
    return (const merge_t *)self->rules.data + rank;
}

//  What the rule of a rank makes. Many vocabularies number tokens like the rules that make them: then nothing waits for the rule.
//  After merges_seal.
static inline uint32_t
merges_made (const merges_t *self, uint32_t rank)
{
    return self->above ? rank + self->above : merges_rule (self, rank)->id;
}

//  The rank of the rule of a pair; MERGE_NONE where it has none. After merges_seal.
static inline uint32_t
merges_find (const merges_t *self, uint32_t left, uint32_t right)
{
    uint32_t rank = merges_guess (self, left, right);
    if (rank == MERGE_NONE || merges_rule (self, rank)->left != left || merges_rule (self, rank)->right != right)
        return MERGE_NONE;
    return rank;
}

#endif
