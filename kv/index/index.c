//  How the index is built, from the bottom up.  Each part has a file that says how; this is why they fit.
//
//  1. Runs (runs.h).  Events and queries bring blocks in rows, each block behind the one before, and what lies in a row is
//  stored, removed and asked for in a row.  So a block's place is a run and a position: up to 256 hashes one behind the other,
//  to which blocks are appended and from whose end they are cut.  A block's place never changes and a run is never split: what
//  leaves a run half-way is another run that names its parent.  A run's memory is another matter: it is on a shelf (shelf.h) with
//  others of its length, and moves when it gets longer or shorter, or to close the hole that another left.
//
//  2. Lines (lines.h).  Anybody may name any block (the parent of a store, the first of a removal), so each block has a
//  number of 32 bits in a table of cache lines.  Nothing else is random: the rest of an event is compared with the run that
//  its first block is in.  Rows of numbers are added and removed with the next 32 lines on their way from memory, and a
//  store looks for its blocks in the very visits that add them.
//
//  3. Sets (sets.h).  A run is divided into stretches: blocks in a row with one set of holders, which are interned.  Most
//  runs have one stretch.  A store that joins what others have and a removal change the set of a stretch, cut a stretch in
//  two or, mostly, move the border between two.  So a membership of a block that hundreds have costs next to nothing.
//
//  4. Seats.  Sets do not name holders but seats.  A clear takes the holder's seat away and gives it another: what it had is
//  gone from all answers at once, and a sweep over the runs, a few with each operation, takes the dead seat out of the sets.
//  A pass of the sweep frees the seats that were dead when it began.
//
//  5. References beyond the first are rare and lie beside (surplus.h).  Nothing waits anywhere: a block whose parent its
//  holder does not have is in its set like any other, in a run that names the parent, and as much part of no overlap as what
//  lies behind a hole.  So the coming of the parent costs the parent, whatever came before it.
//
//  6. Waiting for memory is what is left.  A seat remembers where it removed last, because the block before is often the
//  next to go: engines free a sequence from its end, and some send an event a block.  And a caller that has a batch says a
//  few events ahead what they are about (index_expect): first the lines are loaded, a few calls later, when those are there,
//  the runs.  A match does so with what it will come to, as long as the runs are full.
//
//  A match (match.c) finds the first block's run and compares the last block they have in common: hashes are chained, so
//  where one is equal all before it are.  So says whoever has them; and as anybody may lie, the last block of each stretch is
//  compared: whoever has all of a stretch has said of each of its blocks that it is behind the one before.  Where somebody said
//  otherwise of any block of a run, each is compared.  Then it goes on in the next run.  The stretches it went along are the
//  answer; holders are only counted when somebody asks (index_overlaps), with sets as bits.
//
//  Who uses it.  The catalog (kv/catalog) has one index a namespace.  Its holders name no worker but a claim: what a source has of
//  a rank, tier and kind in all namespaces, so that one step clears it everywhere; reach.h knows whose a claim is.  What is being
//  computed (pending.h) and guessed (guess.h) are holders like any other.
//
//  Everything grows by the piece (lines one at a time, rows in chunks) and nothing shrinks but runs: an index that was large
//  keeps its lines, some 12 bytes for each block it once had, until it is destroyed.

#include "kv/index/index_private.h"

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    SWEEP_STEPS = 16,      //  Of the sweep beside a store or removal, besides one for eight of its blocks
    PARTS_A_STEP = 16,     //  A step of the sweep costs about what two runs without anything to do cost
    MEMBERS_A_PART = 8,    //  Of a set that is looked through
    BLOCKS_A_PART = 2,     //  Of a stretch that a seat leaves
    PREFETCH = 20          //  Blocks whose lines, or runs, begin to be loaded before the call comes to them
};

index_t *
index_new (const index_options_t *options)
{
    index_t *self = memory_new (sizeof *self);
    if (options)
        self->options = *options;
    self->sets = sets_new ();
    runs_init (&self->runs, self->sets);
    surplus_init (&self->surplus);
    self->holders = holder_table_new ();
    pile_init (&self->seat_of, sizeof (uint32_t));
    pile_init (&self->seats, sizeof (seat_t));
    pile_init (&self->holder_of, sizeof (uint32_t));
    pile_add (&self->seats);
    *(uint32_t *)pile_add (&self->holder_of) = HOLDER_NONE;
    return self;
}

void
index_destroy (index_t **self_p)
{
    index_t *self = *self_p;
    if (!self)
        return;
    pile_fini (&self->holder_of);
    pile_fini (&self->seats);
    pile_fini (&self->seat_of);
    holder_table_destroy (&self->holders);
    surplus_fini (&self->surplus);
    runs_fini (&self->runs);
    sets_destroy (&self->sets);
    memory_free (self);
    *self_p = NULL;
}

bool
index_shed (index_t *self)
{
    return runs_shed (&self->runs) || sets_shed (self->sets) || table_shed (&self->surplus.counts) ||
           holder_table_shed (self->holders) || pile_shed (&self->seats) || pile_shed (&self->seat_of) ||
           pile_shed (&self->holder_of);
}

//  ---- Seats and holders ---------------------------------------------------------------------------------------------

uint32_t
index_seat_of (const index_t *self, uint32_t holder)
{
    return holder < self->seat_of.count ? *pile_number_at (&self->seat_of, holder) : 0;
}

seat_t *
index_seat (const index_t *self, uint32_t seat)
{
    return pile_at (&self->seats, seat);
}

static void
s_set_holder (index_t *self, uint32_t seat, uint32_t holder)
{
    *pile_number_at (&self->holder_of, seat) = holder;
}

static void
s_put_seat (index_t *self, seat_row_t *row, uint32_t seat)
{
    index_seat (self, seat)->next = row->first;
    row->first = seat;
    row->last = row->last ? row->last : seat;
}

//  All of a row come before those of another.
static void
s_put_seats (index_t *self, seat_row_t *row, seat_row_t *others)
{
    if (!others->first)
        return;
    index_seat (self, others->last)->next = row->first;
    row->first = others->first;
    row->last = row->last ? row->last : others->last;
    *others = (seat_row_t){ 0 };
}

static uint32_t
s_take_seat (index_t *self, uint32_t holder)
{
    uint32_t seat = self->free_seats.first;
    if (seat) {
        self->free_seats.first = index_seat (self, seat)->next;
        self->free_seats.last = self->free_seats.first ? self->free_seats.last : 0;
    } else {
        seat = (uint32_t)self->seats.count;
        BUG_ON (seat > SETS_MEMBER_MAX);
        pile_add (&self->seats);
        pile_add (&self->holder_of);
    }
    *index_seat (self, seat) = (seat_t){ .change = ++self->change };
    s_set_holder (self, seat, holder);
    return seat;
}

static bool
s_is_over_memory (const index_t *self)
{
    if (!self->options.memory_limit)
        return false;
    index_stats_t stats;
    index_stats (self, &stats);
    return stats.bytes >= self->options.memory_limit;
}

uint32_t
index_holder_add (index_t *self, const holder_t *holder)
{
    if (s_is_over_memory (self) && index_holder_find (self, holder) == HOLDER_NONE) {
        self->counters.unadmitted++;
        return HOLDER_NONE;
    }
    uint32_t number = holder_table_add (self->holders, holder);
    if (number == self->seat_of.count)
        pile_add (&self->seat_of);
    uint32_t *seat = pile_number_at (&self->seat_of, number);
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

//  ---- Blocks --------------------------------------------------------------------------------------------------------

//  Whether any seat is dead and not swept out.
static inline bool
s_has_dead (const index_t *self)
{
    return self->dying.first || self->doomed.first;
}

bool
index_set_is_live (const index_t *self, set_t set)
{
    if (!s_has_dead (self))
        return set != SETS_EMPTY;
    if (sets_is_marked (self->sets, set, self->clears))
        return true;
    set_view_t view;
    sets_view (self->sets, set, &view);
    while (view.left)
        if (index_holder_of (self, sets_next (&view)) != HOLDER_NONE)
            return true;
    return false;
}

void
index_expect (index_t *self, const uint64_t *hashes, size_t count)
{
    if (!count)
        return;
    runs_prefetch (&self->runs, hashes, count < PREFETCH ? count : PREFETCH);
    uint64_t *oldest = &self->expected [self->expecting++ % EXPECTED];
    runs_prefetch_run (&self->runs, *oldest, 0);
    *oldest = *hashes;
}

static set_t
s_set_at (const index_t *self, place_t place)
{
    uint32_t start;
    return runs_stretch (&self->runs, place, &start).set;
}

bool
index_place_is_live (const index_t *self, place_t place)
{
    return index_set_is_live (self, s_set_at (self, place));
}

bool
index_seat_has (const index_t *self, uint32_t seat, uint64_t hash, place_t *place)
{
    return runs_find (&self->runs, hash, place) && sets_has (self->sets, s_set_at (self, *place), seat);
}

static uint64_t
s_digest (const uint64_t *hashes, size_t count)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < count; i++)
        digest += index_mix (hashes [i]);
    return digest;
}

static void
s_count_held (index_t *self, uint32_t seat_number, const uint64_t *hashes, size_t count)
{
    seat_t *seat = index_seat (self, seat_number);
    seat->blocks += (uint32_t)count;
    seat->digest += s_digest (hashes, count);
    self->memberships += count;
}

//  ---- Store ---------------------------------------------------------------------------------------------------------

//  Counts one more reference to a block that the seat has.
static void
s_store_again (index_t *self, uint32_t seat, place_t place)
{
    self->counters.duplicates++;
    if (self->options.once)
        return;
    uint64_t hash = runs_hash (&self->runs, place);
    if (!surplus_add (&self->surplus, seat, hash, 1)) {
        self->counters.refused++;
        return;
    }
    runs_at (&self->runs, place.run)->repeated = true;
    index_seat (self, seat)->digest += index_mix (hash);
}

//  Stores blocks that lie in a row from a place on, as far as one stretch goes.  Returns how many; *at is the last.
static size_t
s_store_known (index_t *self, uint32_t seat, place_t *at, const uint64_t *hashes, size_t count)
{
    uint32_t start;
    place_t place = *at;
    stretch_t stretch = runs_stretch (&self->runs, place, &start);
    size_t most = stretch.end - place.offset;
    size_t common = index_equal (runs_hashes (&self->runs, place), hashes, count < most ? count : most);
    at->offset += (uint32_t)common - 1;
    if (sets_has (self->sets, stretch.set, seat)) {
        for (; place.offset <= at->offset; place.offset++)
            s_store_again (self, seat, place);
        return common;
    }
    runs_add_member (&self->runs, place.run, place.offset, at->offset + 1, seat);
    s_count_held (self, seat, hashes, common);
    return common;
}

//  A block is stored behind another one than it is: of its run only what is equal itself is taken for equal from now on.
static void
s_dispute (index_t *self, place_t place)
{
    self->counters.conflicts++;
    runs_at (&self->runs, place.run)->disputed = true;
}

//  Stores blocks whose parent is at *at, or nowhere.  Returns how many, and none where the first's hash is made up; *at is the
//  last.
static size_t
s_store_some (index_t *self, uint32_t seat, uint64_t parent, place_t *at, const uint64_t *hashes, size_t count)
{
    place_t next = { at->run, at->offset + 1 };
    bool follows = next.offset < runs_count (&self->runs, at->run) && runs_hash (&self->runs, next) == *hashes;
    if (!follows) {
        if (!runs_find (&self->runs, *hashes, &next)) {
            size_t stored = runs_append (&self->runs, at, parent, hashes, count, seat);
            s_count_held (self, seat, hashes, stored);
            return stored;
        }
        if (runs_parent (&self->runs, next) != parent)
            s_dispute (self, next);
    }
    *at = next;
    return s_store_known (self, seat, at, hashes, count);
}

void
index_set_memory_limit (index_t *self, uint64_t bytes)
{
    self->options.memory_limit = bytes;
}

//  Whether so many more blocks may be too many: each may begin a run.
static bool
s_is_full (const index_t *self, size_t count)
{
    return runs_room (&self->runs) < count || s_is_over_memory (self);
}

//  Stores blocks behind their parent, which is at a place or nowhere, up to the first whose hash is invalid.  Returns how many.
static size_t
s_store_all (index_t *self, uint32_t seat, uint64_t parent, place_t at, const uint64_t *hashes, size_t count)
{
    size_t valid = index_count_valid (hashes, count), done = 0;
    while (done < valid) {
        size_t stored = s_store_some (self, seat, parent, &at, hashes + done, valid - done);
        if (!stored)
            break;
        done += stored;
        parent = hashes [done - 1];
    }
    self->counters.stored += done;
    self->counters.invalid += count - done;
    return done;
}

//  rooted: whether blocks are refused whose parent their holder does not have.
static status_t
s_store (
    index_t *self, uint32_t holder, bool rooted, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error)
{
    uint32_t seat = index_seat_of (self, holder);
    place_t at = { 0, 0 };
    if (!seat)
        return s_refuse_stranger (self, holder, error);
    if (s_is_full (self, count)) {
        self->counters.refused += count;
        return error_set (error, STATUS_LIMIT, "the index is full: its bounds are %llu bytes (0: none) and %d runs",
            (unsigned long long)self->options.memory_limit, RUN_LIMIT);
    }
    bool orphaned = parent != INDEX_ROOT && !index_seat_has (self, seat, parent, &at);
    self->counters.orphans += orphaned ? count : 0;
    if (orphaned && rooted)
        return error_set (error, STATUS_GAP, "the parent of %zu blocks is unknown", count);
    index_seat (self, seat)->change = ++self->change;
    size_t stored = s_store_all (self, seat, parent, at, hashes, count);
    if (stored < count)
        return error_set (error, STATUS_INVALID, "block %zu of a store has hash %llx, which is no block's", stored,
            (unsigned long long)hashes [stored]);
    return STATUS_OK;
}

void
index_sweep_beside (index_t *self, size_t count)
{
    if (s_has_dead (self))
        index_sweep (self, SWEEP_STEPS + count / 8);
}

status_t
index_store_part (index_t *self, uint32_t holder, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error)
{
    return s_store (self, holder, self->options.rooted, parent, hashes, count, error);
}

status_t
index_store (index_t *self, uint32_t holder, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error)
{
    status_t status = index_store_part (self, holder, parent, hashes, count, error);
    index_sweep_beside (self, count);
    return status;
}

status_t
index_restore (index_t *self, uint32_t holder, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error)
{
    status_t status = s_store (self, holder, false, parent, hashes, count, error);
    index_sweep_beside (self, count);
    return status;
}

//  ---- Remove and clear ----------------------------------------------------------------------------------------------

//  Finds a block to remove: often the one before the last that was.
static bool
s_find_removed (const index_t *self, const seat_t *seat, uint64_t hash, place_t *place)
{
    place_t before = { seat->removed.run, seat->removed.offset - 1 };
    if (before.offset >= runs_count (&self->runs, before.run) || runs_hash (&self->runs, before) != hash)
        return runs_find (&self->runs, hash, place);
    *place = before;
    return true;
}

//  Takes blocks from a seat that lie in a row from a place on, in either direction, as far as its stretch goes; the seat has
//  the first.  Returns how many.
static size_t
s_remove_row (index_t *self, uint32_t seat_number, place_t place, uint32_t start, uint32_t end, const uint64_t *hashes,
    size_t count)
{
    const uint64_t *ours = runs_hashes (&self->runs, (place_t){ place.run, 0 });
    uint32_t first = place.offset, behind = place.offset + 1;
    uint64_t digest = index_mix (*hashes);
    size_t removed = 1;
    while (removed < count && first > start && hashes [removed] == ours [first - 1]) {
        first--;
        digest += index_mix (hashes [removed++]);
    }
    while (removed < count && first == place.offset && behind < end && hashes [removed] == ours [behind]) {
        behind++;
        digest += index_mix (hashes [removed++]);
    }
    seat_t *seat = index_seat (self, seat_number);
    runs_remove_member (&self->runs, place.run, first, behind, seat_number);
    seat->removed = (place_t){ place.run, first };
    seat->blocks -= (uint32_t)removed;
    seat->digest -= digest;
    self->memberships -= removed;
    return removed;
}

//  Removes blocks as far as they lie in a row.  Returns how many were looked at, at least one.
static size_t
s_remove_some (index_t *self, uint32_t seat_number, const uint64_t *hashes, size_t count)
{
    seat_t *seat = index_seat (self, seat_number);
    place_t place;
    uint32_t start;
    if (s_find_removed (self, seat, *hashes, &place)) {
        stretch_t stretch = runs_stretch (&self->runs, place, &start);
        bool has = sets_has (self->sets, stretch.set, seat_number);
        bool repeated = has && runs_at (&self->runs, place.run)->repeated;
        if (has && !(repeated && surplus_take (&self->surplus, seat_number, *hashes))) {
            count = s_remove_row (self, seat_number, place, start, stretch.end, hashes, repeated ? 1 : count);
            self->counters.removed += count;
            return count;
        }
        if (has) {
            self->counters.removed++;
            seat->digest -= index_mix (*hashes);
            return 1;
        }
    }
    self->counters.missing++;
    return 1;
}

//  Starts loading the runs that blocks lie in, of whose first and last the numbers are guessed: blocks in a row have numbers
//  in a row, else there is more than one run between them.
static void
s_load_runs (const index_t *self, const uint64_t *hashes, size_t count, uint32_t first, uint32_t last)
{
    if (count < 3 || first - last == count - 1 || last - first == count - 1)
        return;
    size_t middle = count / 2;
    uint32_t number = runs_prefetch_run (&self->runs, hashes [middle], 0);
    s_load_runs (self, hashes, middle + 1, first, number);
    s_load_runs (self, hashes + middle, count - middle, number, last);
}

//  Starts loading the runs of the first blocks to be removed.
static void
s_load_removed (const index_t *self, const uint64_t *hashes, size_t count)
{
    size_t some = count < PREFETCH ? count : PREFETCH;
    if (some < 2)
        return;
    uint32_t first = runs_prefetch_run (&self->runs, hashes [0], 0);
    uint32_t last = runs_prefetch_run (&self->runs, hashes [some - 1], 0);
    s_load_runs (self, hashes, some, first, last);
}

status_t
index_remove (index_t *self, uint32_t holder, const uint64_t *hashes, size_t count, error_t *error)
{
    uint32_t seat = index_seat_of (self, holder);
    if (!seat)
        return s_refuse_stranger (self, holder, error);
    index_seat (self, seat)->change = ++self->change;
    s_load_removed (self, hashes, count);
    for (size_t i = 0; i < count;)
        i += s_remove_some (self, seat, hashes + i, count - i);
    index_sweep_beside (self, count);
    return STATUS_OK;
}

//  Empties a seat: it stays its holder's where it held nothing, else the sweep gets it.  True in the first case.
static bool
s_vacate (index_t *self, uint32_t seat_number)
{
    seat_t *seat = index_seat (self, seat_number);
    self->counters.cleared++;
    seat->digest = 0;
    seat->change = ++self->change;
    if (!seat->blocks)
        return true;
    self->memberships -= seat->blocks;
    s_set_holder (self, seat_number, HOLDER_NONE);
    s_put_seat (self, &self->doomed, seat_number);
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
        *pile_number_at (&self->seat_of, holder) = other;
    }
    return STATUS_OK;
}

status_t
index_retire (index_t *self, uint32_t holder, error_t *error)
{
    uint32_t seat = index_seat_of (self, holder);
    if (!seat)
        return s_refuse_stranger (self, holder, error);
    if (s_vacate (self, seat)) {
        s_set_holder (self, seat, HOLDER_NONE);
        s_put_seat (self, &self->free_seats, seat);
    }
    *pile_number_at (&self->seat_of, holder) = 0;
    holder_table_remove (self->holders, holder);
    return STATUS_OK;
}

//  ---- Sweep ---------------------------------------------------------------------------------------------------------

static uint32_t
s_dead_member (const index_t *self, set_view_t view)
{
    uint32_t seat;
    do
        seat = sets_next (&view);
    while (seat && index_holder_of (self, seat) != HOLDER_NONE);
    return seat;
}

static void
s_forget_repeats (index_t *self, uint32_t seat, uint32_t run, uint32_t first, uint32_t end)
{
    for (uint32_t offset = first; offset < end; offset++)
        surplus_forget (&self->surplus, seat, runs_hash (&self->runs, (place_t){ run, offset }));
}

//  Looks at the stretch the sweep is at, takes one dead seat out of it, or goes on.  Returns what that costs, in parts of a
//  step: a run is half a step, and members and blocks count.
static size_t
s_sweep_stretch (index_t *self)
{
    place_t at = self->sweep_at;
    uint32_t start;
    if (at.offset >= runs_count (&self->runs, at.run)) {
        self->sweep_at = (place_t){ at.run + 1, 0 };
        return PARTS_A_STEP / 2;
    }
    stretch_t stretch = runs_stretch (&self->runs, at, &start);
    if (sets_is_marked (self->sets, stretch.set, self->clears)) {
        self->sweep_at.offset = stretch.end;
        return 1;
    }
    set_view_t view;
    sets_view (self->sets, stretch.set, &view);
    size_t cost = 1 + view.count / MEMBERS_A_PART;    //  Before the view goes
    uint32_t seat = s_dead_member (self, view);
    sets_mark (self->sets, stretch.set, seat ? 0 : self->clears);
    if (!seat) {
        self->sweep_at.offset = stretch.end;
        return cost;
    }
    if (runs_at (&self->runs, at.run)->repeated)
        s_forget_repeats (self, seat, at.run, start, stretch.end);
    runs_remove_member (&self->runs, at.run, start, stretch.end, seat);
    return cost + PARTS_A_STEP / 2 + (stretch.end - start) / BLOCKS_A_PART;
}

static void
s_end_pass (index_t *self)
{
    s_put_seats (self, &self->free_seats, &self->dying);
    s_put_seats (self, &self->dying, &self->doomed);
    self->sweep_at = (place_t){ 1, 0 };
    self->sweep_end = runs_bound (&self->runs);
}

bool
index_sweep (index_t *self, size_t steps)
{
    if (!s_has_dead (self))
        return false;
    for (size_t left = steps * PARTS_A_STEP, cost; left; left -= cost < left ? cost : left) {
        if (self->sweep_at.run >= self->sweep_end || !self->dying.first)
            s_end_pass (self);
        if (!self->dying.first)
            return false;
        cost = s_sweep_stretch (self);
    }
    return true;
}

//  ---- Answers about the index itself --------------------------------------------------------------------------------

uint32_t
index_references (const index_t *self, uint32_t holder, uint64_t hash)
{
    uint32_t seat = index_seat_of (self, holder);
    place_t place;
    if (!seat || !index_seat_has (self, seat, hash, &place))
        return 0;
    return 1 + (runs_at (&self->runs, place.run)->repeated ? surplus_count (&self->surplus, seat, hash) : 0);
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
    stats->blocks = self->runs.blocks.count;
    stats->memberships = self->memberships;
    stats->sets = sets_count (self->sets);
    stats->holders = holder_table_count (self->holders);
    stats->bytes = runs_bytes (&self->runs) + sets_bytes (self->sets) + table_bytes (&self->surplus.counts) +
                   holder_table_bytes (self->holders) + self->seats.count * (sizeof (seat_t) + 2 * sizeof (uint32_t));
}
