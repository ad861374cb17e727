//  A walk goes through the blocks in the order of their places, which changes elsewhere do not disturb: a block that the holder
//  has stays where it is as long as the holder does not change.  Before a block come those of its ancestors that the holder
//  has and that did not come yet; a bit a place remembers which did.

#include "base/memory.h"
#include "kv/index/index_private.h"

enum { STEPS_MAX = 4096 };

struct index_walk {
    const index_t *index;    //  Borrowed
    uint32_t holder;         //  Whose blocks
    uint32_t seat;           //  Its seat when the walk began; 0 where there was no such holder
    uint64_t change;         //  Its last change then
    place_t at;              //  Next place to look at
    uint32_t bound;          //  Its runs are below
    uint8_t *seen;           //  A bit a place (RUN_MAX / 8 bytes a run): came already, or waits in `ancestors`
    array_t ancestors;       //  place_t: blocks to come, the next one last
    uint32_t parked;         //  Cursor in the parked blocks, which come last
};

index_walk_t *
index_walk_new (const index_t *index, uint32_t holder)
{
    index_walk_t *self = memory_new (sizeof *self);
    self->index = index;
    self->holder = holder;
    self->seat = index_seat_of (index, holder);
    self->change = index_seat (index, self->seat)->change;
    self->at.run = 1;
    self->bound = runs_bound (&index->runs);
    self->seen = memory_new ((size_t)self->bound * (RUN_MAX / 8));
    array_init (&self->ancestors, sizeof (place_t));
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

//  Puts a block of the holder in line, and before it each ancestor that is to come still.
static void
s_line_up (index_walk_t *self, place_t place)
{
    bool has = true;
    while (has) {
        uint8_t *seen = &self->seen [(place.run << RUN_BITS | place.offset) / 8], bit = 1 << place.offset % 8;
        if (*seen & bit)
            return;
        *seen |= bit;
        *(place_t *)array_add (&self->ancestors) = place;
        has = index_seat_has (self->index, self->seat, runs_parent (&self->index->runs, place), &place);
    }
}

//  Looks at one stretch of a run and goes on behind it.
static void
s_look_on (index_walk_t *self)
{
    const runs_t *runs = &self->index->runs;
    uint32_t start;
    if (self->at.offset >= runs_count (runs, self->at.run)) {
        self->at = (place_t){ self->at.run + 1, 0 };
        return;
    }
    stretch_t stretch = runs_stretch (runs, self->at, &start);
    if (sets_has (self->index->sets, stretch.set, self->seat))
        s_line_up (self, self->at);
    else
        self->at.offset = stretch.end - 1;
    self->at.offset++;
}

static index_block_t
s_take_next (index_walk_t *self)
{
    const runs_t *runs = &self->index->runs;
    place_t place = *(place_t *)array_at (&self->ancestors, self->ancestors.count - 1);
    uint64_t hash = runs_hash (runs, place);
    uint32_t more = runs_at (runs, place.run)->repeated ? surplus_count (&self->index->surplus, self->seat, hash) : 0;
    array_cut (&self->ancestors, self->ancestors.count - 1);
    return (index_block_t){ hash, runs_parent (runs, place), 1 + more };
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
        else if (self->at.run < self->bound) {
            s_look_on (self);
            steps--;
        } else if (s_take_parked (self, &blocks [*count]))
            ++*count;
        else
            *ended = true;
    }
    return STATUS_OK;
}

void
index_digest_add (uint64_t parts [INDEX_DIGEST_PARTS], const index_block_t *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        parts [blocks [i].hash >> 56] += index_mix (blocks [i].hash) * blocks [i].references;
}
