//  runs - blocks in a row, found by hash
//
//  Blocks that came one behind the other lie one behind the other: a run is up to RUN_MAX of them, each the parent of the
//  next.  A block never changes its place, so a branch is a run of its own that names the block it leaves from, and nothing
//  is ever split; only the memory of a run moves.  Who has the blocks is kept by the stretch: blocks in a row with one set of
//  holders.  Most runs have one stretch, and storing or removing a hundred blocks that lie in a row is one change of one
//  stretch.
//
//  A block that nobody has stays in its run as long as one behind it is had; the end of a run is cut as soon as nobody has
//  it, and a run goes with its last block.

#ifndef KV_INDEX_RUNS_H
#define KV_INDEX_RUNS_H

#include "kv/index/lines.h"
#include "kv/index/sets.h"
#include "kv/index/shelf.h"

enum { RUN_BITS = ROW_BITS, RUN_MAX = ROW_MAX, RUN_LIMIT = 1 << (32 - ROW_BITS), RUN_STEP = 2, STRETCHES_FEW = 8 };
enum { RUN_COUNT_BITS = ROW_BITS + 2 };

typedef struct {
    uint32_t end;    //  Position behind its last block
    set_t set;       //  Who has them
} stretch_t;

//  The hashes of its blocks follow it in memory.
typedef struct {
    uint64_t parent;    //  Hash of the block before the first
    union {
        stretch_t *stretches;    //  In order, where there are several
        set_t set;               //  Of the only one
    };
    uint32_t number;                            //  Its own, for its memory may move
    uint32_t count : RUN_COUNT_BITS;            //  Blocks, at least 1
    uint32_t capacity : RUN_COUNT_BITS;         //  Blocks there is memory for
    uint32_t stretch_count : RUN_COUNT_BITS;    //  Stretches, at least 1
    uint32_t repeated : 1;                      //  The caller's marks: a block has further references,
    uint32_t disputed : 1;                      //  or was stored behind another one than it is
} run_t;

//  Where a block lies.
typedef struct {
    uint32_t run;       //  0: nowhere
    uint32_t offset;    //  Position in it
} place_t;

typedef struct {
    lines_t blocks;                              //  Where each is; a row is the hashes of a run, NULL while nobody's
    sets_t *sets;                                //  Borrowed
    pile_t free;                                 //  uint32_t: runs that are nobody's
    uint64_t bytes;                              //  Of runs and stretches
    shelf_t shelves [RUN_MAX / RUN_STEP + 1];    //  Runs, by their capacity in steps
} runs_t;

//  Borrows the sets, which must outlive it.
void runs_init (runs_t *self, sets_t *sets);

//  Releases all sets.
void runs_fini (runs_t *self);

//  Frees a piece of the memory of runs that are about to be destroyed and of which there are none: only this and runs_fini may
//  follow.  False where none is left.
bool runs_shed (runs_t *self);

//  Where a block lies; false where nobody has it, and place is as it was.
bool runs_find (const runs_t *self, uint64_t hash, place_t *place);

//  Starts loading the lines of hashes, which runs_find will read first.
static inline void
runs_prefetch (const runs_t *self, const uint64_t *hashes, size_t count)
{
    lines_prefetch (&self->blocks, hashes, count);
}

//  Starts loading what is read then, once the line is there: the run, its block and the one so many blocks further on.
//  Returns a number that stands for the block's place, mostly: those of blocks in a row are in a row.
uint32_t runs_prefetch_run (const runs_t *self, uint64_t hash, uint32_t more);

//  The run, which must be somebody's.  Valid until a block of any run is appended or removed.
static inline run_t *
runs_at (const runs_t *self, uint32_t run)
{
    return (run_t *)*lines_row (&self->blocks, run) - 1;
}

//  Whether a number below runs_bound is a run's.
static inline bool
runs_has (const runs_t *self, uint32_t run)
{
    return *lines_row (&self->blocks, run) != NULL;
}

//  Blocks in a run; 0 where it is nobody's.
static inline uint32_t
runs_count (const runs_t *self, uint32_t run)
{
    return runs_has (self, run) ? runs_at (self, run)->count : 0;
}

//  Numbers of runs are below this.
uint32_t runs_bound (const runs_t *self);

//  How many more runs there can be.
size_t runs_room (const runs_t *self);

//  The hash of a block, before those behind it in its run.  Valid until a block is appended or removed.
static inline const uint64_t *
runs_hashes (const runs_t *self, place_t place)
{
    return *lines_row (&self->blocks, place.run) + place.offset;
}

//  The hash of the block before it.
uint64_t runs_parent (const runs_t *self, place_t place);

//  The hash of a block.
static inline uint64_t
runs_hash (const runs_t *self, place_t place)
{
    return *runs_hashes (self, place);
}

//  The stretches of a run, run->stretch_count of them; `single` is where the only one is put.  Valid until the run changes.
static inline const stretch_t *
runs_stretches (const run_t *run, stretch_t *single)
{
    *single = (stretch_t){ run->count, run->set };
    return run->stretch_count > 1 ? run->stretches : single;
}

//  Which of `count` stretches a block is in; it is in one.
static inline uint32_t
runs_find_stretch (const stretch_t *stretches, uint32_t count, uint32_t offset)
{
    uint32_t low = 0;
    while (count > STRETCHES_FEW)
        if (stretches [low + count / 2 - 1].end <= offset) {
            low += count / 2;
            count -= count / 2;
        } else
            count /= 2;
    while (stretches [low].end <= offset)
        low++;
    return low;
}

//  The stretch a block is in; *start is its first position.
static inline stretch_t
runs_stretch (const runs_t *self, place_t place, uint32_t *start)
{
    stretch_t single;
    const run_t *run = runs_at (self, place.run);
    const stretch_t *stretches = runs_stretches (run, &single);
    uint32_t number = runs_find_stretch (stretches, run->stretch_count, place.offset);
    *start = number ? stretches [number - 1].end : 0;
    return stretches [number];
}

//  Adds blocks in a row for a set of one, the first of which is nowhere; behind *at where that is the end of a run with
//  room, else (or where at->run is 0) as a run of its own, whose parent is `parent`.  Stops where a block is known, the run
//  full, or a line of made-up hashes.  Returns how many came; *at is the last, where any did.
size_t runs_append (runs_t *self, place_t *at, uint64_t parent, const uint64_t *hashes, size_t count, set_t set);

//  Adds a member to the sets of the blocks first .. end - 1 of a run, none of which has it.
void runs_add_member (runs_t *self, uint32_t run, uint32_t first, uint32_t end, uint32_t member);

//  Takes a member out of their sets, all of which have it.  The run is cut or freed where nobody has its end.
void runs_remove_member (runs_t *self, uint32_t run, uint32_t first, uint32_t end, uint32_t member);

//  Bytes in use, without the sets'.
uint64_t runs_bytes (const runs_t *self);

//  Stops the process where an invariant does not hold.  Returns how many references it has to interned sets.  For tests.
uint64_t runs_check (const runs_t *self);

#endif
