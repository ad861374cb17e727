#include "model/tokenizer/merges.h"

#include <string.h>

#include "base/memory.h"

enum { SLOTS_MIN = 1024, BITS_A_SLOT = 4 };

//  Sets up empty tables for `count` slots, a power of two.
static void
s_empty (merges_t *self, size_t count)
{
    self->slots = memory_new (count * sizeof *self->slots);
    memset (self->slots, 0xff, count * sizeof *self->slots);
    self->mask = count - 1;
    self->maybe = memory_new (count * BITS_A_SLOT / 8);
    self->shift = 64 - (unsigned)__builtin_ctzll (count * BITS_A_SLOT);
}

void
merges_init (merges_t *self)
{
    self->count = 0;
    s_empty (self, SLOTS_MIN);
}

void
merges_fini (merges_t *self)
{
    memory_free (self->slots);
    memory_free (self->maybe);
    *self = (merges_t){ 0 };
}

static void
s_set (merges_t *self, merge_t rule)
{
    uint64_t bit = merges_hash (rule.left, rule.right) >> self->shift;
    self->maybe [bit / 64] |= 1ull << (bit % 64);
    *(merge_t *)merges_find (self, rule.left, rule.right) = rule;
}

static void
s_grow (merges_t *self)
{
    merges_t old = *self;
    s_empty (self, 2 * (old.mask + 1));
    for (size_t i = 0; i <= old.mask; i++)
        if (old.slots [i].rank != MERGE_NONE)
            s_set (self, old.slots [i]);
    merges_fini (&old);
}

void
merges_put (merges_t *self, merge_t rule)
{
    if (self->count * 3 > self->mask * 2)
        s_grow (self);
    self->count += merges_find (self, rule.left, rule.right)->rank == MERGE_NONE;
    s_set (self, rule);
}

uint64_t
merges_memory (const merges_t *self)
{
    uint64_t slots = self->mask + 1;
    return slots * sizeof *self->slots + slots * BITS_A_SLOT / 8;
}
