//  What must hold between the parts of an index, by reading all of it.

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kv/index/index_private.h"

typedef struct {
    uint64_t blocks;    //  Counted in the entries
    uint64_t digest;    //  Summed over them and the parked ones
} sums_t;

static void
s_check_entry (const index_t *self, const entry_t *entry, sums_t *sums, uint64_t *repeated)
{
    set_view_t view;
    sets_view (self->sets, entry->set, &view);
    BUG_ON (view.count == 0);
    for (uint32_t i = 0; i < view.count; i++) {
        uint32_t seat = view.members [i];
        BUG_ON (seat == 0 || seat >= self->seats.count);
        uint32_t more = surplus_count (&self->surplus, seat, entry->node.key);
        BUG_ON (more && !entry->repeated);
        *repeated += more != 0;
        sums [seat].blocks++;
        sums [seat].digest += hash_u64 (entry->node.key) * (1 + (uint64_t)more);
    }
}

static void
s_check_parked (const index_t *self, const seat_t *seat, uint32_t number, sums_t *sums)
{
    uint32_t cursor = TABLE_NONE, count = 0;
    parked_t parked;
    while (park_next (&self->park, &seat->parked, &cursor, &parked)) {
        const entry_t *entry = index_entry (self, parked.hash), *parent = index_entry (self, parked.parent);
        BUG_ON (parked.seat != number || parked.references == 0 || parked.parent == INDEX_ROOT);
        BUG_ON (entry && sets_has (self->sets, entry->set, number));
        BUG_ON (parent && sets_has (self->sets, parent->set, number));
        sums->digest += hash_u64 (parked.hash) * parked.references;
        count++;
    }
    BUG_ON (count != seat->parked.count);
}

static void
s_check_seats (const index_t *self, sums_t *sums)
{
    uint64_t memberships = 0, parked = 0;
    for (uint32_t number = 1; number < self->seats.count; number++) {
        const seat_t *seat = index_seat (self, number);
        s_check_parked (self, seat, number, &sums [number]);
        parked += seat->parked.count;
        if (seat->holder == HOLDER_NONE)
            continue;
        BUG_ON (index_seat_of (self, seat->holder) != number || !index_holder (self, seat->holder));
        BUG_ON (seat->blocks != sums [number].blocks || seat->digest != sums [number].digest);
        memberships += seat->blocks;
    }
    BUG_ON (memberships != self->memberships || parked != park_count (&self->park));
    for (uint32_t i = 0; i < self->free_seats.count; i++) {
        uint32_t number = *(uint32_t *)array_at (&self->free_seats, i);
        BUG_ON (index_seat (self, number)->holder != HOLDER_NONE || sums [number].blocks);
    }
}

void
index_check (const index_t *self)
{
    uint64_t set_references = 0, repeated = 0;
    sums_t *sums = memory_new (self->seats.count * sizeof *sums);
    table_check (&self->entries);
    table_check (&self->surplus.counts);
    table_check (&self->park.blocks);
    table_check (&self->park.waiting);
    for (uint32_t number = 1; number < self->entries.bound; number++) {
        const entry_t *entry = table_at (&self->entries, number);
        if (!entry->node.key)
            continue;
        BUG_ON (table_next_equal (&self->entries, number) != TABLE_NONE);
        s_check_entry (self, entry, sums, &repeated);
        set_references += sets_is_interned (entry->set);
    }
    BUG_ON (repeated != self->surplus.counts.count);
    sets_check (self->sets, set_references);
    s_check_seats (self, sums);
    memory_free (sums);
}
