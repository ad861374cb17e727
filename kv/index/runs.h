//  runs - blocks in a row, found by hash
//
//  Blocks that came one behind the other lie one behind the other: a run is up to RUN_MAX of them, each the parent of the
//  next.  A block never changes its place, so a branch is a run of its own that names the block it leaves from, and nothing
//  is ever split.  Who has the blocks is kept by the stretch: blocks in a row with one set of holders.  Most runs have one
//  stretch, and storing or removing a hundred blocks that lie in a row is one change of one stretch.
//
//  A block that nobody has stays in its run as long as one behind it is had; the end of a run is cut as soon as nobody has
//  it, and a run goes with its last block.

#ifndef KV_INDEX_RUNS_H
#define KV_INDEX_RUNS_H

#include "kv/index/lines.h"
#include "kv/index/sets.h"

enum { RUN_BITS = 7, RUN_MAX = 1 << RUN_BITS, RUN_LIMIT = 1 << (32 - RUN_BITS) };

typedef struct {
    uint32_t end;    //  Position behind its last block
    set_t set;       //  Who has them
} stretch_t;

//  The hashes of its blocks follow it in memory.
typedef struct {
    uint64_t parent;          //  Hash of the block before the first
    stretch_t *stretches;     //  In order; NULL where there is one
    set_t set;                //  Of the only stretch
    uint8_t count;            //  Blocks, at least 1
    uint8_t capacity;         //  Blocks there is memory for
    uint8_t stretch_count;    //  Stretches, at least 1
    bool repeated;            //  The caller's mark
} run_t;

//  Where a block lies.
typedef struct {
    uint32_t run;       //  0: nowhere
    uint32_t offset;    //  Position in it
} place_t;

typedef struct {
    lines_t blocks;    //  Where each is; a row is the hashes of a run, NULL while nobody's
    sets_t *sets;      //  Borrowed
    pile_t free;       //  uint32_t: runs that are nobody's
    uint64_t bytes;    //  Of runs and stretches
} runs_t;

//  Borrows the sets, which must outlive it.
void runs_init (runs_t *self, sets_t *sets);

//  Releases all sets.
void runs_fini (runs_t *self);

//  Where a block lies; false where nobody has it, and place is as it was.
bool runs_find (const runs_t *self, uint64_t hash, place_t *place);

//  The run, which must be somebody's.  Valid until a block is appended.
static inline run_t *
runs_at (const runs_t *self, uint32_t run)
{
    return *(run_t **)pile_at (&self->blocks.rows, run) - 1;
}

//  Whether a number below runs_bound is a run's.
bool runs_has (const runs_t *self, uint32_t run);

//  Numbers of runs are below this.
uint32_t runs_bound (const runs_t *self);

//  How many more runs there can be.
size_t runs_room (const runs_t *self);

//  The hashes of a block and of those behind it in its run.  Valid until a block is appended or removed.
static inline const uint64_t *
runs_hashes (const runs_t *self, place_t place)
{
    return (const uint64_t *)(runs_at (self, place.run) + 1) + place.offset;
}

//  The hash of a block.
static inline uint64_t
runs_hash (const runs_t *self, place_t place)
{
    return lines_hash (&self->blocks, place.run << RUN_BITS | place.offset);
}

//  The hash of the block before it.
uint64_t runs_parent (const runs_t *self, place_t place);

//  The stretches of a run, run->stretch_count of them; `single` is where the only one is put.  Valid until the run changes.
static inline const stretch_t *
runs_stretches (const run_t *run, stretch_t *single)
{
    *single = (stretch_t){ run->count, run->set };
    return run->stretches ? run->stretches : single;
}

//  The stretch a block is in.
static inline stretch_t
runs_stretch (const run_t *run, uint32_t offset)
{
    stretch_t single;
    const stretch_t *stretch = runs_stretches (run, &single);
    while (stretch->end <= offset)
        stretch++;
    return *stretch;
}

//  Adds a block that is nowhere, for a set of one; behind the place of its parent where that is the end of a run with room,
//  else (or where behind.run is 0) as a run of its own.  more: how many blocks come behind it, a guess.
place_t runs_append (runs_t *self, place_t behind, uint64_t parent, uint64_t hash, set_t set, size_t more);

//  Adds a member to the sets of the blocks first .. end - 1 of a run, none of which has it.
void runs_add_member (runs_t *self, uint32_t run, uint32_t first, uint32_t end, uint32_t member);

//  Takes a member out of their sets, all of which have it.  The run is cut or freed where nobody has its end.
void runs_remove_member (runs_t *self, uint32_t run, uint32_t first, uint32_t end, uint32_t member);

//  Bytes in use, without the sets'.
uint64_t runs_bytes (const runs_t *self);

//  Stops the process where an invariant does not hold.  Returns how many references it has to interned sets.  For tests.
uint64_t runs_check (const runs_t *self);

#endif
