//  Blocks are entries of a table, found by hash; an entry names the set of its holders by number (sets.h), so that a block
//  costs 28 bytes however many have it.  Sets do not name holders but *seats*.  A clear takes the holder's seat away and
//  gives it another: what it had is gone from all answers at once, and a sweep over the entries, a few with each operation,
//  takes the dead seat out of the sets.  A pass of the sweep frees the seats that were dead when it began.
//
//  Three things are kept beside the entries because they are rare: references beyond the first (surplus.h), blocks whose
//  parent is unknown (park.h), and nothing else: depth, order and prefixes are not stored at all, because a chain of hashes
//  carries them.

#include "kv/index/index_private.h"

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum { SWEEP_STEPS = 16, PREFETCH_BUCKET = 12, PREFETCH_NODE = 6 };

index_t *
index_new (const index_options_t *options)
{
    index_t *self = memory_new (sizeof *self);
    if (options)
        self->options = *options;
    else
        self->options.parked_limit = UINT32_MAX;
    table_init (&self->entries, sizeof (entry_t));
    self->sets = sets_new ();
    surplus_init (&self->surplus);
    park_init (&self->park);
    self->holders = holder_table_new ();
    array_init (&self->seat_of, sizeof (uint32_t));
    array_init (&self->seats, sizeof (seat_t));
    array_init (&self->free_seats, sizeof (uint32_t));
    array_init (&self->dying, sizeof (uint32_t));
    array_init (&self->doomed, sizeof (uint32_t));
    array_init (&self->adopting, sizeof (uint64_t));
    ((seat_t *)array_add (&self->seats))->holder = HOLDER_NONE;
    return self;
}

void
index_destroy (index_t **self_p)
{
    index_t *self = *self_p;
    if (!self)
        return;
    array_fini (&self->adopting);
    array_fini (&self->doomed);
    array_fini (&self->dying);
    array_fini (&self->free_seats);
    array_fini (&self->seats);
    array_fini (&self->seat_of);
    holder_table_destroy (&self->holders);
    park_fini (&self->park);
    surplus_fini (&self->surplus);
    sets_destroy (&self->sets);
    table_fini (&self->entries);
    memory_free (self);
    *self_p = NULL;
}

//  --- seats and holders

uint32_t
index_seat_of (const index_t *self, uint32_t holder)
{
    return holder < self->seat_of.count ? ((uint32_t *)self->seat_of.data) [holder] : 0;
}

seat_t *
index_seat (const index_t *self, uint32_t seat)
{
    return (seat_t *)self->seats.data + seat;
}

static uint32_t
s_take_seat (index_t *self, uint32_t holder)
{
    uint32_t seat;
    if (self->free_seats.count) {
        seat = *(uint32_t *)array_at (&self->free_seats, self->free_seats.count - 1);
        array_cut (&self->free_seats, self->free_seats.count - 1);
    } else {
        seat = (uint32_t)self->seats.count;
        BUG_ON (seat > SETS_MEMBER_MAX);
        array_add (&self->seats);
    }
    *index_seat (self, seat) = (seat_t){ .holder = holder, .change = ++self->change };
    return seat;
}

uint32_t
index_holder_add (index_t *self, const holder_t *holder)
{
    uint32_t number = holder_table_add (self->holders, holder);
    if (number >= self->seat_of.count)
        array_append (&self->seat_of, NULL, number + 1 - self->seat_of.count);
    uint32_t *seat = array_at (&self->seat_of, number);
    if (!*seat)
        *seat = s_take_seat (self, number);
    return number;
}

uint32_t
index_holder_find (const index_t *self, const holder_t *holder)
{
    return holder_table_find (self->holders, holder);
}

const holder_t *
index_holder (const index_t *self, uint32_t holder)
{
    return holder_table_get (self->holders, holder);
}

uint32_t
index_holder_bound (const index_t *self)
{
    return holder_table_bound (self->holders);
}

static status_t
s_refuse_stranger (index_t *self, uint32_t holder, error_t *error)
{
    self->counters.strangers++;
    return error_set (error, STATUS_NOT_FOUND, "the index has no holder %u", holder);
}

//  --- entries

entry_t *
index_entry (const index_t *self, uint64_t hash)
{
    uint32_t number = table_find (&self->entries, hash);
    return number ? table_at (&self->entries, number) : NULL;
}

bool
index_set_is_live (const index_t *self, set_t set)
{
    if (!self->dying.count && !self->doomed.count)
        return true;
    set_view_t view;
    sets_view (self->sets, set, &view);
    for (uint32_t i = 0; i < view.count; i++)
        if (index_seat (self, view.members [i])->holder != HOLDER_NONE)
            return true;
    return false;
}

void
index_prefetch (const index_t *self, const uint64_t *hashes, size_t position, size_t count)
{
    if (position + PREFETCH_BUCKET < count)
        table_prefetch_bucket (&self->entries, hashes [position + PREFETCH_BUCKET]);
    if (position + PREFETCH_NODE < count)
        table_prefetch_node (&self->entries, hashes [position + PREFETCH_NODE]);
}

static bool
s_holds (const index_t *self, uint32_t seat, uint64_t hash)
{
    const entry_t *entry = index_entry (self, hash);
    return entry && sets_has (self->sets, entry->set, seat);
}

static void
s_repeat (index_t *self, uint32_t seat, entry_t *entry, uint32_t references)
{
    entry->repeated = 1;
    surplus_add (&self->surplus, seat, entry->node.key, references);
}

//  Makes a seat hold a block it does not hold; entry is NULL where nobody does.
static void
s_hold (index_t *self, uint32_t seat, entry_t *entry, uint64_t parent, uint64_t hash, uint32_t references)
{
    if (!entry) {
        entry = table_at (&self->entries, table_add (&self->entries, hash));
        entry->parent = parent;
    }
    entry->set = sets_with (self->sets, entry->set, seat);
    if (references > 1)
        s_repeat (self, seat, entry, references - 1);
    index_seat (self, seat)->blocks++;
    self->memberships++;
}

static void
s_unhold (index_t *self, uint32_t seat, uint32_t number)
{
    entry_t *entry = table_at (&self->entries, number);
    entry->set = sets_without (self->sets, entry->set, seat);
    if (entry->set == SETS_EMPTY)
        table_remove (&self->entries, number);
}

//  --- store

//  A block came: those of its holder that waited for it are held now, and so on down.
static void
s_adopt (index_t *self, uint32_t seat, uint64_t hash)
{
    park_list_t *parked = &index_seat (self, seat)->parked;
    *(uint64_t *)array_add (&self->adopting) = hash;
    while (self->adopting.count) {
        uint64_t parent = *(uint64_t *)array_at (&self->adopting, self->adopting.count - 1);
        uint64_t child;
        if (!parked->count || !park_find_child (&self->park, seat, parent, &child)) {
            array_cut (&self->adopting, self->adopting.count - 1);
            continue;
        }
        uint32_t references = park_take (&self->park, parked, seat, child);
        s_hold (self, seat, index_entry (self, child), parent, child, references);
        self->counters.adopted++;
        *(uint64_t *)array_add (&self->adopting) = child;
    }
}

//  Counts one more reference to a block that its holder has already.
static void
s_store_again (index_t *self, uint32_t seat, entry_t *entry, uint64_t parent, uint64_t hash)
{
    self->counters.duplicates++;
    if (self->options.once)
        return;
    if (entry)
        s_repeat (self, seat, entry, 1);
    else
        park_add (&self->park, &index_seat (self, seat)->parked, seat, parent, hash);
    index_seat (self, seat)->digest += hash_u64 (hash);
}

static bool
s_park (index_t *self, uint32_t seat, uint64_t parent, uint64_t hash)
{
    if (park_count (&self->park) >= self->options.parked_limit) {
        self->counters.unparked++;
        return false;
    }
    park_add (&self->park, &index_seat (self, seat)->parked, seat, parent, hash);
    index_seat (self, seat)->digest += hash_u64 (hash);
    return true;
}

//  Stores one block.  *known: whether its parent is held; then whether the block is.  False where it was refused.
static bool
s_store_block (index_t *self, uint32_t seat_number, uint64_t parent, uint64_t hash, bool *known)
{
    seat_t *seat = index_seat (self, seat_number);
    entry_t *entry = index_entry (self, hash);
    self->counters.conflicts += entry && entry->parent != parent;
    if (entry && sets_has (self->sets, entry->set, seat_number)) {
        s_store_again (self, seat_number, entry, parent, hash);
        *known = true;
        return true;
    }
    uint32_t parked = seat->parked.count ? park_references (&self->park, seat_number, hash) : 0;
    if (!*known && parked) {
        s_store_again (self, seat_number, NULL, parent, hash);
        return true;
    }
    if (!*known)
        return s_park (self, seat_number, parent, hash);
    if (parked)
        park_take (&self->park, &seat->parked, seat_number, hash);
    bool again = parked && self->options.once;
    self->counters.duplicates += parked != 0;
    s_hold (self, seat_number, entry, parent, hash, parked + !again);
    seat->digest += again ? 0 : hash_u64 (hash);
    if (seat->parked.count)
        s_adopt (self, seat_number, hash);
    return true;
}

static bool
s_is_full (const index_t *self)
{
    if (!self->options.memory_limit)
        return false;
    index_stats_t stats;
    index_stats (self, &stats);
    return stats.bytes >= self->options.memory_limit;
}

status_t
index_store (index_t *self, uint32_t holder, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error)
{
    uint32_t seat = index_seat_of (self, holder);
    if (!seat)
        return s_refuse_stranger (self, holder, error);
    if (s_is_full (self)) {
        self->counters.refused += count;
        return error_set (error, STATUS_LIMIT, "the index is full: %llu bytes are its bound",
            (unsigned long long)self->options.memory_limit);
    }
    bool known = parent == INDEX_ROOT || s_holds (self, seat, parent);
    size_t refused = 0;
    index_seat (self, seat)->change = ++self->change;
    for (size_t i = 0; i < count; i++) {
        if (hashes [i] == INDEX_ROOT) {
            self->counters.invalid += count - i;
            return error_set (error, STATUS_INVALID, "block %zu of a store has hash 0, which is no block's", i);
        }
        index_prefetch (self, hashes, i, count);
        bool stored = s_store_block (self, seat, parent, hashes [i], &known);
        self->counters.stored += stored;
        refused += !stored;
        parent = hashes [i];
    }
    index_sweep (self, SWEEP_STEPS + count);
    if (refused)
        return error_set (error, STATUS_LIMIT,
            "%zu blocks have an unknown parent, and %u blocks wait for theirs already", refused,
            self->options.parked_limit);
    return STATUS_OK;
}

//  --- remove and clear

static bool
s_remove_block (index_t *self, uint32_t seat_number, uint64_t hash)
{
    seat_t *seat = index_seat (self, seat_number);
    uint32_t number = table_find (&self->entries, hash);
    const entry_t *entry = number ? table_at (&self->entries, number) : NULL;
    if (entry && sets_has (self->sets, entry->set, seat_number)) {
        if (!entry->repeated || !surplus_take (&self->surplus, seat_number, hash)) {
            s_unhold (self, seat_number, number);
            seat->blocks--;
            self->memberships--;
        }
    } else if (!seat->parked.count || !park_drop (&self->park, &seat->parked, seat_number, hash))
        return false;
    seat->digest -= hash_u64 (hash);
    return true;
}

status_t
index_remove (index_t *self, uint32_t holder, const uint64_t *hashes, size_t count, error_t *error)
{
    uint32_t seat = index_seat_of (self, holder);
    if (!seat)
        return s_refuse_stranger (self, holder, error);
    index_seat (self, seat)->change = ++self->change;
    for (size_t i = 0; i < count; i++) {
        index_prefetch (self, hashes, i, count);
        if (s_remove_block (self, seat, hashes [i]))
            self->counters.removed++;
        else
            self->counters.missing++;
    }
    index_sweep (self, SWEEP_STEPS + count);
    return STATUS_OK;
}

//  Empties a seat: it stays its holder's where it held nothing, else the sweep gets it.  True in the first case.
static bool
s_vacate (index_t *self, uint32_t seat_number)
{
    seat_t *seat = index_seat (self, seat_number);
    self->counters.cleared++;
    park_clear (&self->park, &seat->parked);
    seat->digest = 0;
    seat->change = ++self->change;
    if (!seat->blocks)
        return true;
    self->memberships -= seat->blocks;
    seat->holder = HOLDER_NONE;
    *(uint32_t *)array_add (&self->doomed) = seat_number;
    self->clears++;
    return false;
}

status_t
index_clear (index_t *self, uint32_t holder, error_t *error)
{
    uint32_t seat = index_seat_of (self, holder);
    if (!seat)
        return s_refuse_stranger (self, holder, error);
    if (!s_vacate (self, seat)) {
        uint32_t other = s_take_seat (self, holder);
        ((uint32_t *)self->seat_of.data) [holder] = other;
    }
    index_sweep (self, SWEEP_STEPS);
    return STATUS_OK;
}

status_t
index_retire (index_t *self, uint32_t holder, error_t *error)
{
    uint32_t seat = index_seat_of (self, holder);
    if (!seat)
        return s_refuse_stranger (self, holder, error);
    if (s_vacate (self, seat)) {
        index_seat (self, seat)->holder = HOLDER_NONE;
        *(uint32_t *)array_add (&self->free_seats) = seat;
    }
    ((uint32_t *)self->seat_of.data) [holder] = 0;
    holder_table_remove (self->holders, holder);
    index_sweep (self, SWEEP_STEPS);
    return STATUS_OK;
}

//  --- sweep

static uint32_t
s_dead_member (const index_t *self, set_t set)
{
    set_view_t view;
    sets_view (self->sets, set, &view);
    for (uint32_t i = 0; i < view.count; i++)
        if (index_seat (self, view.members [i])->holder == HOLDER_NONE)
            return view.members [i];
    return 0;
}

//  Takes one dead seat out of an entry; the last seat takes the entry with it.  False where there is none.
static bool
s_strip (index_t *self, uint32_t number)
{
    entry_t *entry = table_at (&self->entries, number);
    if (!entry->node.key || sets_is_marked (self->sets, entry->set, self->clears))
        return false;
    uint32_t seat = s_dead_member (self, entry->set);
    if (!seat) {
        sets_mark (self->sets, entry->set, self->clears);
        return false;
    }
    if (entry->repeated)
        surplus_forget (&self->surplus, seat, entry->node.key);
    s_unhold (self, seat, number);
    return true;
}

static void
s_end_pass (index_t *self)
{
    array_append (&self->free_seats, self->dying.data, self->dying.count);
    array_cut (&self->dying, 0);
    array_t spare = self->dying;
    self->dying = self->doomed;
    self->doomed = spare;
    self->sweep_at = 1;
    self->sweep_end = self->entries.bound;
}

bool
index_sweep (index_t *self, size_t steps)
{
    if (!self->dying.count && !self->doomed.count)
        return false;
    for (; steps; steps--) {
        if (self->sweep_at >= self->sweep_end || !self->dying.count)
            s_end_pass (self);
        if (!self->dying.count)
            return false;
        if (!s_strip (self, self->sweep_at))
            self->sweep_at++;
    }
    return true;
}

//  --- answers about the index itself

uint32_t
index_references (const index_t *self, uint32_t holder, uint64_t hash)
{
    uint32_t seat = index_seat_of (self, holder);
    const entry_t *entry = index_entry (self, hash);
    if (!seat)
        return 0;
    if (entry && sets_has (self->sets, entry->set, seat))
        return 1 + (entry->repeated ? surplus_count (&self->surplus, seat, hash) : 0);
    return park_references (&self->park, seat, hash);
}

uint64_t
index_digest (const index_t *self, uint32_t holder)
{
    uint32_t seat = index_seat_of (self, holder);
    return seat ? index_seat (self, seat)->digest : 0;
}

uint64_t
index_digest_all (const index_t *self)
{
    uint64_t digest = 0;
    for (uint32_t holder = 0; holder < self->seat_of.count; holder++) {
        uint64_t own = index_digest (self, holder);
        if (own)
            digest += hash_u64 (own + hash_u64 (holder_pack (index_holder (self, holder))));
    }
    return digest;
}

void
index_stats (const index_t *self, index_stats_t *stats)
{
    *stats = self->counters;
    stats->blocks = self->entries.count;
    stats->memberships = self->memberships;
    stats->parked = park_count (&self->park);
    stats->sets = sets_count (self->sets);
    stats->holders = self->seats.count - 1 - self->free_seats.count - self->dying.count - self->doomed.count;
    stats->bytes = table_bytes (&self->entries) + sets_bytes (self->sets) + table_bytes (&self->surplus.counts) +
                   table_bytes (&self->park.blocks) + table_bytes (&self->park.waiting) +
                   self->seats.count * sizeof (seat_t);
}
