//  What must hold between the parts of an index, by reading all of it.

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kv/index/index_private.h"

typedef struct {
    uint64_t blocks;    //  Counted in the runs
    uint64_t digest;    //  Summed over them
    uint64_t swept;     //  Stretches of it where this pass of the sweep has been, or need not go
    bool idle;          //  Nobody's: free, or dead and not swept yet
} sums_t;

static void
s_check_stretch (const index_t *self, uint32_t run, uint32_t start, stretch_t stretch, sums_t *sums, uint64_t *repeated)
{
    set_view_t view;
    place_t at = self->sweep_at;
    bool is_swept = run < at.run || run >= self->sweep_end || (run == at.run && start < at.offset);
    bool is_clean = sets_is_marked (self->sets, stretch.set, self->clears);
    sets_view (self->sets, stretch.set, &view);
    while (view.left) {
        uint32_t seat = sets_next (&view);
        BUG_ON (seat == 0 || seat >= self->seats.count);
        BUG_ON (is_clean && index_holder_of (self, seat) == HOLDER_NONE);
        sums [seat].swept += is_swept;
        for (uint32_t offset = start; offset < stretch.end; offset++) {
            uint64_t hash = runs_hash (&self->runs, (place_t){ run, offset });
            uint32_t more = surplus_count (&self->surplus, seat, hash);
            BUG_ON (more && !runs_at (&self->runs, run)->repeated);
            *repeated += more != 0;
            sums [seat].blocks++;
            sums [seat].digest += index_mix (hash) * (1 + (uint64_t)more);
        }
    }
}

//  Seats that are nobody's, each in one row.  Returns how many.
static size_t
s_check_idle (const index_t *self, const seat_row_t *row, sums_t *sums)
{
    size_t count = 0;
    uint32_t last = 0;
    for (uint32_t number = row->first; number; number = index_seat (self, number)->next, count++) {
        BUG_ON (number >= self->seats.count || index_holder_of (self, number) != HOLDER_NONE || sums [number].idle);
        BUG_ON (row == &self->free_seats && sums [number].blocks);
        BUG_ON (row == &self->dying && sums [number].swept);
        sums [number].idle = true;
        last = number;
    }
    BUG_ON (row->last != last);
    return count;
}

//  Every holder has a seat, every other seat is in a row.
static void
s_check_seats (const index_t *self, sums_t *sums)
{
    uint64_t memberships = 0;
    size_t seats = 1 + s_check_idle (self, &self->free_seats, sums) + s_check_idle (self, &self->dying, sums) +
                   s_check_idle (self, &self->doomed, sums);
    for (uint32_t holder = 0; holder < index_holder_bound (self); holder++) {
        uint32_t number = index_seat_of (self, holder);
        BUG_ON (!number != !index_holder (self, holder));
        if (!number)
            continue;
        const seat_t *seat = index_seat (self, number);
        BUG_ON (index_holder_of (self, number) != holder || sums [number].idle);
        BUG_ON (seat->blocks != sums [number].blocks || seat->digest != sums [number].digest);
        memberships += seat->blocks;
        seats++;
    }
    BUG_ON (memberships != self->memberships || seats != self->seats.count);
}

void
index_check (const index_t *self)
{
    uint64_t repeated = 0;
    sums_t *sums = memory_new (self->seats.count * sizeof *sums);
    table_check (&self->surplus.counts);
    sets_check (self->sets, runs_check (&self->runs));
    for (uint32_t run = 0; run < runs_bound (&self->runs); run++) {
        if (!runs_has (&self->runs, run))
            continue;
        stretch_t single;
        const stretch_t *stretches = runs_stretches (runs_at (&self->runs, run), &single);
        for (uint32_t i = 0, start = 0; i < runs_at (&self->runs, run)->stretch_count; start = stretches [i++].end)
            s_check_stretch (self, run, start, stretches [i], sums, &repeated);
    }
    BUG_ON (repeated != self->surplus.counts.count);
    s_check_seats (self, sums);
    memory_free (sums);
}
