//  What must hold between the parts of an index, by reading all of it.

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kv/index/index_private.h"

typedef struct {
    uint64_t blocks;    //  Counted in the runs
    uint64_t digest;    //  Summed over them
} sums_t;

static void
s_check_stretch (const index_t *self, uint32_t run, uint32_t start, stretch_t stretch, sums_t *sums, uint64_t *repeated)
{
    set_view_t view;
    sets_view (self->sets, stretch.set, &view);
    for (uint32_t i = 0; i < view.count; i++) {
        uint32_t seat = view.members [i];
        BUG_ON (seat == 0 || seat >= self->seats.count);
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

static void
s_check_seats (const index_t *self, sums_t *sums)
{
    uint64_t memberships = 0;
    for (uint32_t number = 1; number < self->seats.count; number++) {
        const seat_t *seat = index_seat (self, number);
        uint32_t holder = index_holder_of (self, number);
        if (holder == HOLDER_NONE)
            continue;
        BUG_ON (index_seat_of (self, holder) != number || !index_holder (self, holder));
        BUG_ON (seat->blocks != sums [number].blocks || seat->digest != sums [number].digest);
        memberships += seat->blocks;
    }
    BUG_ON (memberships != self->memberships);
    for (uint32_t i = 0; i < self->free_seats.count; i++) {
        uint32_t number = *(uint32_t *)array_at (&self->free_seats, i);
        BUG_ON (index_holder_of (self, number) != HOLDER_NONE || sums [number].blocks);
    }
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
