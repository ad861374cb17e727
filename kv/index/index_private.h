//  index_private - what the files of the index share; nobody else includes it

#ifndef KV_INDEX_PRIVATE_H
#define KV_INDEX_PRIVATE_H

#include "kv/index/index.h"
#include "kv/index/runs.h"
#include "kv/index/surplus.h"

//  A holder between two clears: sets name seats, so that a clear only has to give the holder another one.
typedef struct {
    uint32_t blocks;    //  Held
    uint32_t next;      //  In the row of those that are nobody's
    uint64_t digest;    //  Sum of the mixed hashes of all references
    uint64_t change;    //  Number of its last change
    place_t removed;    //  Where the last block was that it removed: the one before is often the next
} seat_t;

//  Seats that are nobody's, the last that came first.
typedef struct {
    uint32_t first;    //  0 where there is none
    uint32_t last;     //  Likewise
} seat_row_t;

enum { EXPECTED = 4 };

struct index {
    index_options_t options;    //  Bounds
    sets_t *sets;               //  Sets of seats
    runs_t runs;                //  Blocks and who has them; seats of cleared holders until they are swept out
    surplus_t surplus;          //  Further references
    holder_table_t *holders;    //  Their numbers
    pile_t seat_of;             //  uint32_t by holder; 0 for none
    pile_t seats;               //  seat_t; the first is nobody's
    pile_t holder_of;           //  uint32_t by seat: whose it is; HOLDER_NONE once cleared, and for seats nobody has
    seat_row_t free_seats;      //  In no set
    seat_row_t dying;           //  Cleared before this pass of the sweep began
    seat_row_t doomed;          //  Cleared since
    place_t sweep_at;           //  Where this pass is
    uint32_t sweep_end;         //  Runs of this pass are below it
    uint64_t clears;            //  Mark of sets seen without a cleared seat since the last clear
    uint64_t expected [EXPECTED];    //  First blocks of calls to come: their lines are being loaded
    uint32_t expecting;              //  The oldest of them
    uint64_t change;                 //  Number of the last change of any holder
    uint64_t memberships;            //  Held by those that are there
    index_stats_t counters;          //  What happened so far; the rest is filled in on demand
};

//  What a hash adds to a digest.  Hashes of blocks are mixed already; this keeps sums of neighbours apart.
static inline uint64_t
index_mix (uint64_t hash)
{
    hash = (hash ^ hash >> 32) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

//  How many blocks come before the first that is none: whose hash is 0.
static inline size_t
index_count_valid (const uint64_t *hashes, size_t count)
{
    size_t valid = 0;
    while (valid < count && hashes [valid] != INDEX_ROOT)
        valid++;
    return valid;
}

//  How many of the first blocks are equal; the first is.
static inline size_t
index_equal (const uint64_t *ours, const uint64_t *hashes, size_t count)
{
    size_t equal = 1;
    while (equal < count && ours [equal] == hashes [equal])
        equal++;
    return equal;
}

//  0 where there is no such holder.
uint32_t index_seat_of (const index_t *self, uint32_t holder);
seat_t *index_seat (const index_t *self, uint32_t seat);

//  Whose a seat is; HOLDER_NONE for nobody's.
static inline uint32_t
index_holder_of (const index_t *self, uint32_t seat)
{
    return *pile_number_at (&self->holder_of, seat);
}

//  Whether a seat has a block; its place, where anybody has it.
bool index_seat_has (const index_t *self, uint32_t seat, uint64_t hash, place_t *place);

//  As index_store, for whoever stores many short rows in a call: it sweeps once for all of them (index_sweep_beside), not beside
//  each.
status_t index_store_part (
    index_t *self, uint32_t holder, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error);

//  Sweeps what is due beside so many blocks, where there is anything to sweep.
void index_sweep_beside (index_t *self, size_t count);

//  As index_store, whatever the options say of blocks without their parent.
status_t index_restore (
    index_t *self, uint32_t holder, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error);

//  Whether any seat of a set is somebody's.
bool index_set_is_live (const index_t *self, set_t set);

//  Whether anybody has a block that was found.
bool index_place_is_live (const index_t *self, place_t place);

#endif
