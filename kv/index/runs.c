#include "kv/index/runs.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

enum {
    MALLOC_BYTES = 8,    //  What the C library adds to a piece of memory
    STEPS_MAX = 16       //  Steps that a capacity has at most: longer runs have longer steps
};

//  All that the counts of a run can say, which are no more than RUN_MAX.
enum { COUNT_MASK = (1 << RUN_COUNT_BITS) - 1 };

static size_t
s_run_bytes (size_t capacity)
{
    return sizeof (run_t) + capacity * sizeof (uint64_t);
}

void
runs_init (runs_t *self, sets_t *sets)
{
    *self = (runs_t){ .sets = sets };
    lines_init (&self->blocks);
    pile_init (&self->free, sizeof (uint32_t));
    pile_add (&self->blocks.rows);
    for (size_t steps = 1; steps <= RUN_MAX / RUN_STEP; steps++)
        shelf_init (&self->shelves [steps], s_run_bytes (steps * RUN_STEP));
}

uint32_t
runs_bound (const runs_t *self)
{
    return (uint32_t)self->blocks.rows.count;
}

size_t
runs_room (const runs_t *self)
{
    size_t runs = RUN_LIMIT - self->blocks.rows.count + self->free.count, blocks = NUMBERS_MAX - self->blocks.count;
    return runs < blocks ? runs : blocks;
}

//  ---- Stretches -----------------------------------------------------------------------------------------------------

//  Memory for stretches comes in powers of two.
static size_t
s_stretch_capacity (size_t count)
{
    size_t capacity = 2;
    while (capacity < count)
        capacity *= 2;
    return capacity;
}

static size_t
s_stretch_bytes (size_t count)
{
    return count > 1 ? s_stretch_capacity (count) * sizeof (stretch_t) + MALLOC_BYTES : 0;
}

//  Gives a run these stretches, whose references it takes; those it had are released by the caller.
static void
s_set_stretches (runs_t *self, run_t *run, const stretch_t *stretches, size_t count)
{
    size_t before = s_stretch_bytes (run->stretch_count), bytes = s_stretch_bytes (count);
    stretch_t *own = before ? run->stretches : NULL;
    if (count == 1) {
        memory_free (own);
        run->set = stretches [0].set;
    } else {
        if (bytes != before)
            own = memory_resize (own, s_stretch_capacity (count) * sizeof *stretches);
        run->stretches = memcpy (own, stretches, count * sizeof *stretches);
    }
    self->bytes += bytes - before;
    run->stretch_count = count & COUNT_MASK;
}

//  Stretches in the place of some of a run's: it holds a reference for each.
typedef struct {
    stretch_t stretches [RUN_MAX];    //  Neighbours differ
    size_t count;                     //  Of them
} rewrite_t;

//  Appends the blocks up to `end` (none where that is no further) with a set; takes the reference.
static void
s_write (runs_t *self, rewrite_t *rewrite, uint32_t end, set_t set)
{
    stretch_t *last = rewrite->count ? &rewrite->stretches [rewrite->count - 1] : NULL;
    bool is_more = !last || last->end < end;
    if (is_more && last && last->set == set)
        last->end = end;
    else if (is_more) {
        rewrite->stretches [rewrite->count++] = (stretch_t){ end, set };
        return;
    }
    sets_release (self->sets, set);
}

static uint32_t
s_lower (uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

//  What a member does to the blocks first .. end - 1 of a run.
typedef struct {
    uint32_t first;     //  Position
    uint32_t end;       //  Position behind the last
    uint32_t member;    //  Who
    bool adding;        //  It comes, or goes
} change_t;

//  The set after the change; takes the reference and gives one.
static set_t
s_step (runs_t *self, set_t set, const change_t *change)
{
    return change->adding ? sets_with (self->sets, set, change->member)
                          : sets_without (self->sets, set, change->member);
}

//  Puts stretches in the place of a run's from `from` to `to` - 1.
static void
s_splice (runs_t *self, run_t *run, size_t from, size_t to, const rewrite_t *rewrite)
{
    stretch_t single, all [RUN_MAX];
    const stretch_t *old = runs_stretches (run, &single);
    size_t behind = run->stretch_count - to, count = from + rewrite->count;
    if (rewrite->count == to - from && run->stretch_count > 1) {
        memcpy (run->stretches + from, rewrite->stretches, rewrite->count * sizeof *all);
        return;
    }
    memcpy (all, old, from * sizeof *all);
    memcpy (all + from, rewrite->stretches, rewrite->count * sizeof *all);
    memcpy (all + count, old + to, behind * sizeof *all);
    s_set_stretches (self, run, all, count + behind);
}

//  Writes one stretch, of which some blocks change.
static void
s_rewrite_stretch (runs_t *self, rewrite_t *rewrite, uint32_t start, stretch_t old, const change_t *change)
{
    bool has_before = start < change->first;
    bool has_behind = old.end > change->end;
    if (has_before) {
        sets_retain (self->sets, old.set);
        s_write (self, rewrite, change->first, old.set);
    }
    if (has_behind)
        sets_retain (self->sets, old.set);
    s_write (self, rewrite, s_lower (old.end, change->end), s_step (self, old.set, change));
    if (has_behind)
        s_write (self, rewrite, old.end, old.set);
}

//  The stretches that change are written anew, with their neighbours, which they may become one with; no other is touched.
static void
s_rewrite (runs_t *self, run_t *run, const change_t *change)
{
    stretch_t single;
    const stretch_t *old = runs_stretches (run, &single);
    rewrite_t rewrite;
    rewrite.count = 0;
    size_t from = runs_find_stretch (old, run->stretch_count, change->first), to;
    uint32_t start = from ? old [from - 1].end : 0;
    if (from)
        rewrite.stretches [rewrite.count++] = old [from - 1];
    for (to = from; start < change->end; start = old [to++].end)
        s_rewrite_stretch (self, &rewrite, start, old [to], change);
    if (to < run->stretch_count) {
        s_write (self, &rewrite, old [to].end, old [to].set);
        to++;
    }
    s_splice (self, run, from ? from - 1 : 0, to, &rewrite);
}

//  Whether a set after the change is this one.
static bool
s_becomes (runs_t *self, set_t set, const change_t *change, set_t other)
{
    sets_retain (self->sets, set);
    set_t after = s_step (self, set, change);
    sets_release (self->sets, after);
    return after == other;
}

//  Where blocks at one end of a stretch change to what the neighbour has, only the border moves.
static bool
s_move_border (runs_t *self, run_t *run, const change_t *change)
{
    uint32_t i = runs_find_stretch (run->stretches, run->stretch_count, change->first);
    uint32_t start = i ? run->stretches [i - 1].end : 0;
    stretch_t *each = &run->stretches [i];
    bool is_begin = change->first == start && change->end < each->end && i > 0;
    bool is_end = change->first > start && change->end == each->end && i + 1 < run->stretch_count;
    if (is_begin && s_becomes (self, each->set, change, each [-1].set))
        each [-1].end = change->end;
    else if (is_end && s_becomes (self, each->set, change, each [1].set))
        each->end = change->first;
    else
        return false;
    return true;
}

static void
s_change (runs_t *self, uint32_t number, const change_t *change)
{
    run_t *run = runs_at (self, number);
    bool is_whole = run->stretch_count == 1 && change->first == 0 && change->end == run->count;
    if (is_whole)
        run->set = s_step (self, run->set, change);
    else if (run->stretch_count == 1 || !s_move_border (self, run, change))
        s_rewrite (self, run, change);
}

//  ---- Runs ----------------------------------------------------------------------------------------------------------

static shelf_t *
s_shelf (runs_t *self, size_t capacity)
{
    return &self->shelves [capacity / RUN_STEP];
}

//  Memory for a run of so many blocks, where it is found from now on.
static run_t *
s_take_run (runs_t *self, uint32_t number, size_t capacity)
{
    run_t *run = shelf_take (s_shelf (self, capacity));
    self->bytes += s_run_bytes (capacity);
    *lines_row (&self->blocks, number) = (uint64_t *)(run + 1);
    return run;
}

//  Gives the memory of a run back, and another run its new address.
static void
s_give_run (runs_t *self, run_t *run)
{
    self->bytes -= s_run_bytes (run->capacity);
    run_t *moved = shelf_give (s_shelf (self, run->capacity), run);
    if (moved)
        *lines_row (&self->blocks, moved->number) = (uint64_t *)(moved + 1);
}

//  Frees the stretches, if there are several.
static void
s_free_stretches (runs_t *self, run_t *run)
{
    self->bytes -= s_stretch_bytes (run->stretch_count);
    if (run->stretch_count > 1)
        memory_free (run->stretches);
}

static void
s_free_run (runs_t *self, uint32_t number)
{
    run_t *run = runs_at (self, number);
    s_free_stretches (self, run);
    lines_remove (&self->blocks, number << RUN_BITS, run->count);
    *lines_row (&self->blocks, number) = NULL;
    s_give_run (self, run);
    *(uint32_t *)pile_add (&self->free) = number;
}

void
runs_fini (runs_t *self)
{
    for (uint32_t number = 0; number < runs_bound (self); number++) {
        if (!runs_has (self, number))
            continue;
        stretch_t single;
        run_t *run = runs_at (self, number);
        const stretch_t *stretches = runs_stretches (run, &single);
        for (size_t i = 0; i < run->stretch_count; i++)
            sets_release (self->sets, stretches [i].set);
        s_free_stretches (self, run);
    }
    for (size_t steps = 1; steps <= RUN_MAX / RUN_STEP; steps++)
        shelf_fini (&self->shelves [steps]);
    pile_fini (&self->free);
    lines_fini (&self->blocks);
}

bool
runs_shed (runs_t *self)
{
    BUG_ON (self->blocks.count);
    return pile_shed (&self->free) || lines_shed (&self->blocks);
}

//  Moves a run to where there is room for more blocks, or fewer.
static run_t *
s_resize_run (runs_t *self, uint32_t number, size_t capacity)
{
    run_t *old = runs_at (self, number), *run = s_take_run (self, number, capacity);
    memcpy (run, old, s_run_bytes (old->count));
    run->capacity = capacity & COUNT_MASK;
    s_give_run (self, old);
    return run;
}

//  The capacity for so many blocks: one of a few, so that there are few shelves; a long run's is less than an eighth larger than
//  it must be.
static size_t
s_capacity_for (size_t count)
{
    size_t step = RUN_STEP;
    while (count > step * STEPS_MAX)
        step *= 2;
    return (count + step - 1) / step * step;
}

static uint32_t
s_add_run (runs_t *self, uint64_t parent, set_t set, size_t wanted)
{
    uint32_t number = runs_bound (self);
    if (self->free.count) {
        number = *(uint32_t *)pile_at (&self->free, self->free.count - 1);
        pile_cut (&self->free);
    } else {
        BUG_ON (number == RUN_LIMIT);
        pile_add (&self->blocks.rows);
    }
    size_t capacity = s_capacity_for (wanted < RUN_MAX ? wanted : RUN_MAX);
    run_t *run = s_take_run (self, number, capacity);
    *run = (run_t){
        .parent = parent, .set = set, .number = number, .capacity = capacity & COUNT_MASK, .stretch_count = 1
    };
    return number;
}

//  The last of several stretches; NULL where there is one.
static stretch_t *
s_last_stretch (const run_t *run)
{
    return run->stretch_count > 1 ? &run->stretches [run->stretch_count - 1] : NULL;
}

//  Makes the last stretch longer by as many blocks as came behind it, or begins another.
static void
s_extend_stretch (runs_t *self, uint32_t number, uint32_t start, set_t set)
{
    run_t *run = runs_at (self, number);
    uint32_t count = run->stretch_count, end = run->count;
    stretch_t *last = s_last_stretch (run);
    if ((last ? last->set : run->set) == set) {
        if (last)
            last->end = end;
        return;
    }
    rewrite_t rewrite;
    if (last)
        memcpy (rewrite.stretches, run->stretches, count * sizeof *last);
    else
        rewrite.stretches [0] = (stretch_t){ start, run->set };
    rewrite.stretches [count] = (stretch_t){ end, set };
    s_set_stretches (self, run, rewrite.stretches, count + 1);
}

//  Room for more blocks.
static run_t *
s_reserve (runs_t *self, uint32_t number, uint32_t count)
{
    run_t *run = runs_at (self, number);
    return count <= run->capacity ? run : s_resize_run (self, number, s_capacity_for (count));
}

size_t
runs_append (runs_t *self, place_t *at, uint64_t parent, const uint64_t *hashes, size_t count, set_t set)
{
    uint32_t start = at->offset + 1, number = at->run, found;
    bool goes_on = number && start == runs_at (self, number)->count && start < RUN_MAX;
    if (!goes_on) {
        start = 0;
        number = s_add_run (self, parent, set, count);
    }
    if (count > RUN_MAX - start)
        count = RUN_MAX - start;
    run_t *run = s_reserve (self, number, start + (uint32_t)count);
    memcpy ((uint64_t *)(run + 1) + start, hashes, count * sizeof *hashes);
    count = lines_add (&self->blocks, number << RUN_BITS | start, (uint32_t)count, &found);
    if (!count) {
        if (!goes_on)
            s_free_run (self, number);
        return 0;
    }
    run->count = (start + count) & COUNT_MASK;
    s_extend_stretch (self, number, start, set);
    *at = (place_t){ number, start + (uint32_t)count - 1 };
    return count;
}

bool
runs_find (const runs_t *self, uint64_t hash, place_t *place)
{
    uint32_t number = lines_find (&self->blocks, hash);
    if (number)
        *place = (place_t){ number >> RUN_BITS, number & (RUN_MAX - 1) };
    return number != 0;
}

uint32_t
runs_prefetch_run (const runs_t *self, uint64_t hash, uint32_t more)
{
    uint32_t number = lines_guess (&self->blocks, hash);
    const uint64_t *hashes = *lines_row (&self->blocks, number >> RUN_BITS);
    if (!hashes)
        return 0;
    __builtin_prefetch ((const run_t *)hashes - 1);
    hashes += number & (RUN_MAX - 1);
    __builtin_prefetch (hashes);
    __builtin_prefetch ((const void *)((uintptr_t)hashes + more * sizeof *hashes));    //  Where the run is that long
    return number;
}

uint64_t
runs_parent (const runs_t *self, place_t place)
{
    return place.offset ? runs_hashes (self, place) [-1] : runs_at (self, place.run)->parent;
}

void
runs_add_member (runs_t *self, uint32_t run, uint32_t first, uint32_t end, uint32_t member)
{
    s_change (self, run, &(change_t){ first, end, member, true });
}

//  Cuts a run to its first blocks, at least one, whose stretches are right already.
static void
s_cut (runs_t *self, uint32_t number, uint32_t count)
{
    run_t *run = runs_at (self, number);
    lines_remove (&self->blocks, number << RUN_BITS | count, run->count - count);
    run->count = count & COUNT_MASK;
    if (count * 2 <= run->capacity && run->capacity > RUN_STEP)
        s_resize_run (self, number, s_capacity_for (count));
}

//  Cuts the end that nobody has.
static void
s_trim (runs_t *self, uint32_t number)
{
    run_t *run = runs_at (self, number);
    stretch_t single;
    const stretch_t *stretches = runs_stretches (run, &single);
    size_t kept = run->stretch_count;
    if (stretches [kept - 1].set != SETS_EMPTY)
        return;
    kept--;    //  The one before differs, so somebody has it
    if (!kept) {
        s_free_run (self, number);
        return;
    }
    uint32_t count = stretches [kept - 1].end;
    rewrite_t rewrite;
    memcpy (rewrite.stretches, stretches, kept * sizeof *stretches);
    s_set_stretches (self, run, rewrite.stretches, kept);
    s_cut (self, number, count);
}

//  Where the last blocks of a run are a part of a stretch that only this member has, the run gets shorter.
static bool
s_shorten (runs_t *self, uint32_t number, uint32_t first, uint32_t end, uint32_t member)
{
    run_t *run = runs_at (self, number);
    stretch_t *last = s_last_stretch (run);
    uint32_t start = last ? last [-1].end : 0;
    if (end != run->count || first <= start || (last ? last->set : run->set) != member)
        return false;
    if (last)
        last->end = first;
    s_cut (self, number, first);
    return true;
}

void
runs_remove_member (runs_t *self, uint32_t run, uint32_t first, uint32_t end, uint32_t member)
{
    if (s_shorten (self, run, first, end, member))
        return;
    s_change (self, run, &(change_t){ first, end, member, false });
    s_trim (self, run);
}

uint64_t
runs_bytes (const runs_t *self)
{
    return self->bytes + lines_bytes (&self->blocks);
}

static uint64_t
s_check_run (const runs_t *self, uint32_t number)
{
    const run_t *run = runs_at (self, number);
    stretch_t single;
    const stretch_t *stretches = runs_stretches (run, &single);
    uint64_t references = 0;
    uint32_t end = 0, count = run->count;
    BUG_ON (count == 0 || count > run->capacity || run->capacity > RUN_MAX);
    BUG_ON (s_capacity_for (run->capacity) != run->capacity);
    BUG_ON (run->stretch_count == 0 || run->number != number);
    for (size_t i = 0; i < run->stretch_count; i++) {
        BUG_ON (stretches [i].end <= end || (i && stretches [i].set == stretches [i - 1].set));
        references += sets_is_interned (stretches [i].set);
        end = stretches [i].end;
    }
    BUG_ON (end != count || stretches [run->stretch_count - 1].set == SETS_EMPTY);
    for (uint32_t offset = 0; offset < count; offset++)
        BUG_ON (
            lines_find (&self->blocks, runs_hash (self, (place_t){ number, offset })) != (number << RUN_BITS | offset));
    return references;
}

uint64_t
runs_check (const runs_t *self)
{
    uint64_t references = 0, blocks = 0, bytes = 0, runs = 0;
    size_t pieces [RUN_MAX / RUN_STEP + 1] = { 0 };
    lines_check (&self->blocks);
    for (uint32_t number = 0; number < runs_bound (self); number++) {
        if (!runs_has (self, number))
            continue;
        const run_t *run = runs_at (self, number);
        references += s_check_run (self, number);
        blocks += runs_count (self, number);
        runs++;
        pieces [run->capacity / RUN_STEP]++;
        bytes += s_run_bytes (run->capacity) + s_stretch_bytes (run->stretch_count);
    }
    for (size_t steps = 1; steps <= RUN_MAX / RUN_STEP; steps++)
        BUG_ON (pieces [steps] != self->shelves [steps].count);
    for (size_t i = 0; i < self->free.count; i++)
        BUG_ON (runs_has (self, *(uint32_t *)pile_at (&self->free, i)));
    BUG_ON (blocks != self->blocks.count || bytes != self->bytes || runs + self->free.count + 1 != runs_bound (self));
    return references;
}
