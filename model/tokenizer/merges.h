//  merges - which two tokens become one, and in which order
//
//  The rules of byte-pair encoding as a table: (left, right) -> (rank, the token they make). The lowest rank is applied
//  first. Looked up for every pair of every new piece, so the look-up stands here, inlined. Most pairs have no rule, and most
//  that have one have one of low rank: a filter tells the former, and the latter lie in a table of their own, both small enough to
//  stay near.

#ifndef MODEL_TOKENIZER_MERGES_H
#define MODEL_TOKENIZER_MERGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

//  The rank of a pair without a rule: behind all others.
#define MERGE_NONE UINT32_MAX

enum { MERGE_RANKS = (1 << 24) - 1 };    //  Ranks are below this

typedef struct {
    uint32_t left;     //  The rule is for these
    uint32_t right;    //  two tokens
    uint32_t rank;     //  Lowest first; MERGE_NONE: the slot is free
    uint32_t id;       //  What they become
} merge_t;

//  A rule without what it is for.
typedef struct {
    uint32_t rank;    //  MERGE_NONE: there is none
    uint32_t id;      //  What the two become
} rank_t;

//  Rules by hash.
typedef struct {
    merge_t *slots;     //  Open addressing
    size_t mask;        //  Slots less one: they are a power of two
    uint64_t *maybe;    //  Bits by hash: set where a rule may be
    unsigned shift;     //  Of the hash, to a word's number
} rules_t;

typedef struct {
    rules_t all;     //  All of them
    rules_t near;    //  Those of the lowest ranks once more; by merges_seal
    size_t count;    //  Rules
} merges_t;

void merges_init (merges_t *self);
void merges_fini (merges_t *self);

//  Adds a rule; of one pair the later rule counts.
void merges_put (merges_t *self, merge_t rule);

//  All rules are there: makes the table of the lowest ranks.
void merges_seal (merges_t *self);

//  Bytes that the tables hold.
uint64_t merges_memory (const merges_t *self);

//  Where a pair's probing starts: a product's upper bits, mixed.
static inline uint64_t
merges_hash (uint32_t left, uint32_t right)
{
    uint64_t hash = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;
    return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
}

//  The slot of a pair, or the free one where it would stand.
static inline merge_t *
merges_slot (const rules_t *self, uint32_t left, uint32_t right, uint64_t hash)
{
    for (size_t i = (size_t)(hash >> 20) & self->mask;; i = (i + 1) & self->mask) {
        merge_t *slot = &self->slots [i];
        if ((slot->left == left && slot->right == right) || slot->rank == MERGE_NONE)
            return slot;
    }
}

//  Two bits of one word.
static inline uint64_t
merges_bits (uint64_t hash)
{
    return 1ull << (hash & 63) | 1ull << (hash >> 6 & 63);
}

static inline bool
merges_may_have (const rules_t *self, uint64_t hash)
{
    uint64_t bits = merges_bits (hash);
    return (self->maybe [hash >> self->shift] & bits) == bits;
}

//  The table that may have the rule of a pair with this hash, whose memory is on its way then; NULL where there is no rule.
static inline const rules_t *
merges_expect (const merges_t *self, uint64_t hash)
{
    const rules_t *table = merges_may_have (&self->near, hash) ? &self->near : &self->all;
    if (table == &self->all && !merges_may_have (&self->all, hash))
        return NULL;
    __builtin_prefetch (&table->slots [(size_t)(hash >> 20) & table->mask]);
    return table;
}

//  The rule of a pair, looked for where merges_expect said; its rank is MERGE_NONE where there is none.
static inline rank_t
merges_find_in (const merges_t *self, const rules_t *table, uint32_t left, uint32_t right, uint64_t hash)
{
    const merge_t *slot = merges_slot (table, left, right, hash);
    if (slot->rank == MERGE_NONE && table == &self->near && merges_may_have (&self->all, hash))
        slot = merges_slot (&self->all, left, right, hash);
    return (rank_t){ slot->rank, slot->id };
}

//  Both at once.
static inline rank_t
merges_find (const merges_t *self, uint32_t left, uint32_t right)
{
    uint64_t hash = merges_hash (left, right);
    const rules_t *table = merges_expect (self, hash);
    return table ? merges_find_in (self, table, left, right, hash) : (rank_t){ MERGE_NONE, 0 };
}

#endif
