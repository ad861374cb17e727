#include "model/tokenizer/merges.h"

#include <string.h>

#include "base/memory.h"

enum {
    SLOTS_MIN = 1024,
    SLOTS_A_WORD = 16,
    NEAR_RANKS = 1 << 12,    //  Ranks of the near table are below this
    NEAR_SLOTS = 1 << 13     //  Its slots, at most
};

//  Sets up empty tables for `count` slots, a power of two.
static void
s_init (rules_t *self, size_t count)
{
    self->slots = memory_new_table (count * sizeof *self->slots);
    memset (self->slots, 0xff, count * sizeof *self->slots);
    self->mask = count - 1;
    self->maybe = memory_new_table (count / SLOTS_A_WORD * sizeof *self->maybe);
    self->shift = 64 - (unsigned)__builtin_ctzll (count / SLOTS_A_WORD);
}

static void
s_fini (rules_t *self)
{
    memory_free (self->slots);
    memory_free (self->maybe);
    *self = (rules_t){ 0 };
}

//  Returns whether the pair had no rule before.
static bool
s_set (rules_t *self, merge_t rule)
{
    uint64_t hash = merges_hash (rule.left, rule.right);
    self->maybe [hash >> self->shift] |= merges_bits (hash);
    merge_t *slot = merges_slot (self, rule.left, rule.right, hash);
    bool is_new = slot->rank == MERGE_NONE;
    *slot = rule;
    return is_new;
}

//  Sets what another table has of ranks below a bound.
static void
s_set_all (rules_t *self, const rules_t *other, uint32_t bound)
{
    for (size_t i = 0; i <= other->mask; i++)
        if (other->slots [i].rank < bound)
            s_set (self, other->slots [i]);
}

void
merges_init (merges_t *self)
{
    *self = (merges_t){ 0 };
    s_init (&self->all, SLOTS_MIN);
    s_init (&self->near, SLOTS_MIN);
}

void
merges_fini (merges_t *self)
{
    s_fini (&self->all);
    s_fini (&self->near);
}

void
merges_put (merges_t *self, merge_t rule)
{
    if (self->count * 3 > self->all.mask * 2) {
        rules_t old = self->all;
        s_init (&self->all, 2 * (old.mask + 1));
        s_set_all (&self->all, &old, MERGE_NONE);
        s_fini (&old);
    }
    self->count += s_set (&self->all, rule);
}

void
merges_seal (merges_t *self)
{
    s_fini (&self->near);
    s_init (&self->near, self->all.mask < NEAR_SLOTS ? self->all.mask + 1 : NEAR_SLOTS);
    s_set_all (&self->near, &self->all, NEAR_RANKS);
}

static uint64_t
s_memory (const rules_t *self)
{
    uint64_t slots = self->mask + 1;
    return slots * sizeof *self->slots + slots / SLOTS_A_WORD * sizeof *self->maybe;
}

uint64_t
merges_memory (const merges_t *self)
{
    return s_memory (&self->all) + s_memory (&self->near);
}
