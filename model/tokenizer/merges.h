//  merges - which two tokens become one, and in which order
//
//  The rules of byte-pair encoding as a table: (left, right) -> (rank, the token they make). The lowest rank is applied
//  first. Looked up for every pair of every new piece, so the look-up stands here, inlined.

#ifndef MODEL_TOKENIZER_MERGES_H
#define MODEL_TOKENIZER_MERGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

//  The rank of a pair without a rule: behind all others.
#define MERGE_NONE UINT32_MAX

typedef struct {
    uint32_t left;     //  The rule is for these
    uint32_t right;    //  two tokens
    uint32_t rank;     //  Lowest first; MERGE_NONE: the slot is free
    uint32_t id;       //  What they become
} merge_t;

typedef struct {
    merge_t *slots;    //  Open addressing
    size_t mask;       //  Slots less one: they are a power of two
    size_t count;      //  Rules
    uint64_t
        *maybe;    //  A bit by hash: set where a rule may be, so that most pairs without one are told from near memory
    unsigned shift;    //  Of the hash, to a bit's number
} merges_t;

void merges_init (merges_t *self);
void merges_fini (merges_t *self);

//  Adds a rule; of one pair the later rule counts.
void merges_put (merges_t *self, merge_t rule);

//  Bytes that the tables hold.
uint64_t merges_memory (const merges_t *self);

//  Where a pair's probing starts: a product's upper bits, mixed.
static inline uint64_t
merges_hash (uint32_t left, uint32_t right)
{
    uint64_t hash = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;
    return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
}

//  The rule of a pair; one with rank MERGE_NONE where there is none. Borrowed until the next put.
static inline const merge_t *
merges_find (const merges_t *self, uint32_t left, uint32_t right)
{
    for (size_t i = (size_t)(merges_hash (left, right) >> 20) & self->mask;; i = (i + 1) & self->mask) {
        const merge_t *slot = &self->slots [i];
        if ((slot->left == left && slot->right == right) || slot->rank == MERGE_NONE)
            return slot;
    }
}

//  False where a pair has no rule; mostly so.
static inline bool
merges_may_have (const merges_t *self, uint32_t left, uint32_t right)
{
    uint64_t bit = merges_hash (left, right) >> self->shift;
    return self->maybe [bit / 64] >> (bit % 64) & 1;
}

#endif
