#include "model/tokenizer/merges.h"

#include <string.h>

#include "base/memory.h"

enum { SLOTS_MIN = 1024 };

static merge_t *
s_free_slots (size_t count)
{
    merge_t *slots = memory_new (count * sizeof *slots);
    memset (slots, 0xff, count * sizeof *slots);
    return slots;
}

void
merges_init (merges_t *self)
{
    *self = (merges_t){ s_free_slots (SLOTS_MIN), SLOTS_MIN - 1, 0 };
}

void
merges_fini (merges_t *self)
{
    memory_free (self->slots);
    *self = (merges_t){ 0 };
}

static void
s_grow (merges_t *self)
{
    merges_t old = *self;
    self->mask = old.mask * 2 + 1;
    self->slots = s_free_slots (self->mask + 1);
    for (size_t i = 0; i <= old.mask; i++)
        if (old.slots [i].rank != MERGE_NONE)
            *(merge_t *)merges_find (self, old.slots [i].left, old.slots [i].right) = old.slots [i];
    memory_free (old.slots);
}

void
merges_put (merges_t *self, merge_t rule)
{
    if (self->count * 2 > self->mask)
        s_grow (self);
    merge_t *slot = (merge_t *)merges_find (self, rule.left, rule.right);
    self->count += slot->rank == MERGE_NONE;
    *slot = rule;
}
