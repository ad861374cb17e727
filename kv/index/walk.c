//  A walk goes through the blocks in the order of their places.  A block stays where it is while anybody has it, so a place
//  says whether it came, and nothing needs to be remembered.

#include "kv/index/index_private.h"

enum { STEPS_MAX = 512 };    //  Runs and stretches that one call looks at

//  The block at the cursor, of a seat that has it.  What is before a block that is disputed only those know who said it, so that
//  nobody is said to have said anything.
static index_block_t
s_block (const index_t *self, uint32_t seat, place_t place)
{
    uint64_t hash = runs_hash (&self->runs, place);
    const run_t *run = runs_at (&self->runs, place.run);
    uint32_t more = run->repeated ? surplus_count (&self->surplus, seat, hash) : 0;
    return (index_block_t){ hash, run->disputed ? INDEX_ROOT : runs_parent (&self->runs, place), 1 + more };
}

//  What a seat has of a run, from the cursor on, as long as there is room for references.  Returns how many blocks.
static size_t
s_walk_run (const index_t *self, uint32_t seat, index_cursor_t *cursor, index_block_t *blocks, size_t *room)
{
    stretch_t single;
    const run_t *run = runs_at (&self->runs, cursor->run);
    const stretch_t *stretches = runs_stretches (run, &single);
    size_t count = 0;
    for (uint32_t i = 0; i < run->stretch_count && *room; i++) {
        uint32_t end = stretches [i].end;
        if (end > cursor->offset && !sets_has (self->sets, stretches [i].set, seat))
            cursor->offset = end;
        for (; cursor->offset < end && *room; cursor->offset++) {
            blocks [count] = s_block (self, seat, (place_t){ cursor->run, cursor->offset });
            size_t references = blocks [count++].references;
            *room -= references < *room ? references : *room;
        }
    }
    return count;
}

void
index_walk (const index_t *self, uint32_t holder, index_cursor_t *cursor, index_block_t *blocks, size_t max,
    size_t *count, bool *ended)
{
    uint32_t seat = index_seat_of (self, holder);
    size_t room = max;
    *count = 0;
    for (size_t steps = 0; seat && cursor->run < runs_bound (&self->runs) && room && steps < STEPS_MAX; steps++) {
        if (runs_has (&self->runs, cursor->run)) {
            steps += runs_at (&self->runs, cursor->run)->stretch_count;
            *count += s_walk_run (self, seat, cursor, blocks + *count, &room);
        }
        if (cursor->offset >= runs_count (&self->runs, cursor->run))
            *cursor = (index_cursor_t){ cursor->run + 1, 0 };
    }
    *ended = !seat || cursor->run >= runs_bound (&self->runs);
}

bool
index_has_passed (const index_t *self, index_cursor_t cursor, uint64_t hash)
{
    place_t place = { 0, 0 };
    runs_find (&self->runs, hash, &place);
    return place.run < cursor.run || (place.run == cursor.run && place.offset < cursor.offset);
}

void
index_digest_add (uint64_t parts [INDEX_DIGEST_PARTS], const index_block_t *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        parts [blocks [i].hash >> 56] += index_mix (blocks [i].hash) * blocks [i].references;
}
