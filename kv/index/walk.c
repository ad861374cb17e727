//  A walk goes through the entries in the order of their numbers, which changes elsewhere do not disturb: an entry that the
//  holder has stays where it is as long as the holder does not change.  Before an entry come those of its ancestors that the
//  holder has and that did not come yet; a bit an entry remembers which did.

#include "base/hash.h"
#include "base/memory.h"
#include "kv/index/index_private.h"

enum { STEPS_MAX = 4096 };

struct index_walk {
    const index_t *index;    //  Borrowed
    uint32_t holder;         //  Whose blocks
    uint32_t seat;           //  Its seat when the walk began; 0 where there was no such holder
    uint64_t change;         //  Its last change then
    uint32_t at;             //  Next entry to look at
    uint32_t bound;          //  Its entries are below
    uint8_t *seen;           //  A bit an entry: came already, or waits in `ancestors`
    array_t ancestors;       //  uint32_t: entries to come, the next one last
    bool parking;            //  All entries came: now the parked blocks
    uint32_t parked;         //  Cursor in them
};

index_walk_t *
index_walk_new (const index_t *index, uint32_t holder)
{
    index_walk_t *self = memory_new (sizeof *self);
    self->index = index;
    self->holder = holder;
    self->seat = index_seat_of (index, holder);
    self->change = index_seat (index, self->seat)->change;
    self->at = 1;
    self->bound = index->entries.bound;
    self->seen = memory_new (self->bound / 8 + 1);
    array_init (&self->ancestors, sizeof (uint32_t));
    return self;
}

void
index_walk_destroy (index_walk_t **self_p)
{
    index_walk_t *self = *self_p;
    if (!self)
        return;
    array_fini (&self->ancestors);
    memory_free (self->seen);
    memory_free (self);
    *self_p = NULL;
}

//  Whether this entry is to come still.
static bool
s_is_due (const index_walk_t *self, uint32_t number)
{
    const entry_t *entry = table_at (&self->index->entries, number);
    return entry->node.key && !(self->seen [number / 8] & 1 << number % 8) &&
           sets_has (self->index->sets, entry->set, self->seat);
}

//  Puts an entry in line, and each ancestor before it.
static void
s_line_up (index_walk_t *self, uint32_t number)
{
    while (number && s_is_due (self, number)) {
        const entry_t *entry = table_at (&self->index->entries, number);
        self->seen [number / 8] |= (uint8_t)(1 << number % 8);
        *(uint32_t *)array_add (&self->ancestors) = number;
        number = table_find (&self->index->entries, entry->parent);
    }
}

static index_block_t
s_take_next (index_walk_t *self)
{
    uint32_t number = *(uint32_t *)array_at (&self->ancestors, self->ancestors.count - 1);
    const entry_t *entry = table_at (&self->index->entries, number);
    uint32_t more = entry->repeated ? surplus_count (&self->index->surplus, self->seat, entry->node.key) : 0;
    array_cut (&self->ancestors, self->ancestors.count - 1);
    return (index_block_t){ entry->node.key, entry->parent, 1 + more };
}

static bool
s_take_parked (index_walk_t *self, index_block_t *block)
{
    const park_list_t *list = &index_seat (self->index, self->seat)->parked;
    parked_t parked;
    if (!park_next (&self->index->park, list, &self->parked, &parked))
        return false;
    *block = (index_block_t){ parked.hash, parked.parent, parked.references };
    return true;
}

status_t
index_walk_next (index_walk_t *self, index_block_t *blocks, size_t max, size_t *count, bool *ended)
{
    *count = 0;
    *ended = self->seat == 0;
    if (index_seat_of (self->index, self->holder) != self->seat ||
        index_seat (self->index, self->seat)->change != self->change)
        return STATUS_STALE;
    for (int steps = STEPS_MAX; *count < max && steps && !*ended;) {
        if (self->ancestors.count)
            blocks [(*count)++] = s_take_next (self);
        else if (self->at < self->bound) {
            s_line_up (self, self->at++);
            steps--;
        } else if (s_take_parked (self, &blocks [*count]))
            ++*count;
        else
            *ended = true;
    }
    return STATUS_OK;
}
