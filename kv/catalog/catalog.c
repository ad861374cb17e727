#include <string.h>

#include "base/memory.h"
#include "kv/catalog/catalog_private.h"
#include "kv/index/guess.h"

enum {
    NAMESPACES_MAX = 4096,    //  Beyond them what is stored is refused
    RANKS_MAX = 1024,         //  Of a source, likewise
    PENDING_MAX = 4000000,    //  Blocks, where the options say no other bound
    SWEEP_STEPS = 100,        //  Of one call
    EXPIRED_BLOCKS = 1024,    //  Blocks that one call forgets, about
    PIECES = 12,              //  Of memory that one call frees
    LOOKS = 64,               //  Namespaces or guesses that one call looks at
    EXPECTED = 32,            //  Hashes of an event that are told ahead: an index fetches the others in its turn
    LEARNT_BLOCKS = 128,      //  Of a prefill, that one call takes into a guess
    LEAVES_AT_ONCE = 64,      //  Namespaces that what is over leaves in the call that ends it,
    LEAVES_A_CALL = 4,        //  and in each that follows and may have something enter one
    BLOCK_BYTES = 100,        //  Of memory, for each block of the bound
    ROOM_UNSAID = 4096        //  Blocks that an engine is guessed to have room for where it does not say
};

//  A guess of a namespace.
typedef struct {
    node_t node;        //  Key: of the holder
    uint64_t holder;    //  Packed
    guess_t *guess;     //  Owned
} guess_entry_t;

static const uint64_t GUESSED_NS = (uint64_t)600 * 1000000000;

catalog_t *
catalog_new (const catalog_options_t *options)
{
    catalog_t *self = memory_new (sizeof *self);
    if (options)
        self->options = *options;
    if (self->options.pending_max == 0)
        self->options.pending_max = PENDING_MAX;
    if (self->options.guessed_ns == 0)
        self->options.guessed_ns = GUESSED_NS;
    array_init (&self->namespaces, sizeof (namespace_entry_t *));
    array_init (&self->by_slot, sizeof (namespace_entry_t *));
    table_init (&self->sources, sizeof (source_entry_t));
    pile_init (&self->claims, sizeof (claim_t));
    array_init (&self->spaces_left, sizeof (namespace_entry_t *));
    pile_init (&self->guesses_left, sizeof (guess_t *));
    pile_init (&self->learnings, sizeof (learning_t));
    array_init (&self->hashes, sizeof (uint64_t));
    self->reach = reach_new ();
    index_match_init (&self->match);
    self->by_namespace = map_new (0);
    list_init (&self->snapshots);
    return self;
}

namespace_entry_t *
catalog_namespace_at (const catalog_t *self, size_t position)
{
    return *(namespace_entry_t **)array_at (&self->namespaces, position);
}

static void
s_namespace_free (namespace_entry_t *space)
{
    for (uint32_t number = 1; number < table_bound (&space->guesses); number++) {
        guess_entry_t *entry = table_at (&space->guesses, number);
        if (entry->node.key)
            guess_destroy (&entry->guess);
    }
    table_fini (&space->guesses);
    pending_destroy (&space->pending);
    index_destroy (&space->index);
    memory_free (space);
}

//  Frees a piece of what is left of what went.  False where nothing is.
static bool
s_shed (catalog_t *self)
{
    size_t guesses = self->guesses_left.count, spaces = self->spaces_left.count;
    if (guesses) {
        guess_t **guess = pile_at (&self->guesses_left, guesses - 1);
        if (!guess_shed (*guess)) {
            guess_destroy (guess);
            pile_cut (&self->guesses_left);
        }
    } else if (spaces) {
        namespace_entry_t *space = *(namespace_entry_t **)array_at (&self->spaces_left, spaces - 1);
        if (!index_shed (space->index) && !pending_shed (space->pending) && !table_shed (&space->guesses)) {
            self->sums.bytes -= space->bytes;
            s_namespace_free (space);
            array_cut (&self->spaces_left, spaces - 1);
        }
    }
    return guesses || spaces;
}

void
catalog_destroy (catalog_t **self_p)
{
    catalog_t *self = *self_p;
    if (!self)
        return;
    catalog_snapshots_orphan (self);
    while (s_shed (self))
        ;
    for (size_t i = 0; i < self->namespaces.count; i++)
        s_namespace_free (catalog_namespace_at (self, i));
    catalog_claims_fini (self);
    array_fini (&self->namespaces);
    array_fini (&self->by_slot);
    array_fini (&self->spaces_left);
    pile_fini (&self->guesses_left);
    pile_fini (&self->learnings);
    array_fini (&self->hashes);
    reach_destroy (&self->reach);
    index_match_fini (&self->match);
    map_destroy (&self->by_namespace);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Namespaces ----------------------------------------------------------------------------------------------------

//  Adds what a namespace has to the sums, or takes it out.
static void
s_count (catalog_t *self, const namespace_entry_t *space, uint64_t sign)
{
    catalog_stats_t *sums = &self->sums;
    index_stats_t index;
    pending_stats_t pending;
    index_stats (space->index, &index);
    pending_stats (space->pending, &pending);
    sums->blocks += sign * index.blocks;
    sums->memberships += sign * index.memberships;
    sums->bytes += sign * index.bytes;
    sums->refused += sign * index.refused;
    sums->pending += sign * pending.blocks;
    self->unfinished += sign * pending.unfinished;
}

//  A namespace is about to change: what it has is out of the sums until s_end_change.  All namespaces together keep within
//  one bound: its index may take what the others leave of that.
static void
s_begin_change (catalog_t *self, namespace_entry_t *space)
{
    uint64_t limit = self->options.blocks_max * BLOCK_BYTES;
    s_count (self, space, (uint64_t)-1);
    if (limit)
        index_set_memory_limit (space->index, limit > self->sums.bytes ? limit - self->sums.bytes : 1);
}

static void
s_end_change (catalog_t *self, const namespace_entry_t *space)
{
    s_count (self, space, 1);
}

//  The first slot that is free.
static void
s_take_slot (catalog_t *self, namespace_entry_t *space)
{
    namespace_entry_t **slots = self->by_slot.data;
    while (space->slot < self->by_slot.count && slots [space->slot])
        space->slot++;
    if (space->slot == self->by_slot.count)
        array_add (&self->by_slot);
    *(namespace_entry_t **)array_at (&self->by_slot, space->slot) = space;
}

static namespace_entry_t *
s_namespace (catalog_t *self, uint64_t id)
{
    namespace_entry_t *space = map_get_u64 (self->by_namespace, id);
    if (space || self->namespaces.count + self->spaces_left.count >= NAMESPACES_MAX)
        return space;
    space = memory_new (sizeof *space);
    space->id = id;
    space->number = ++self->made;
    s_take_slot (self, space);
    space->index = index_new (NULL);
    space->pending = pending_new (space->index, UINT32_MAX);
    table_init (&space->guesses, sizeof (guess_entry_t));
    space->guesses_at = 1;
    s_end_change (self, space);
    array_append (&self->namespaces, &space, 1);
    map_put_u64 (self->by_namespace, id, space);
    return space;
}

//  Where a rank's blocks go; NULL where there is no room for the namespace or the rank.
static namespace_entry_t *
s_namespace_of_rank (catalog_t *self, uint64_t id, uint16_t rank)
{
    return rank < RANKS_MAX ? s_namespace (self, id) : NULL;
}

//  Forgets a namespace that holds nothing any more: models and tenants come and go, and the room for namespaces is bounded.
//  What it has kept out stays counted, and its memory until that is freed.  False where it holds something; it is between the
//  two ends of a change.
static bool
s_forget_if_empty (catalog_t *self, size_t position)
{
    namespace_entry_t *space = catalog_namespace_at (self, position);
    index_stats_t stats;
    index_stats (space->index, &stats);
    if (stats.blocks || !pending_is_idle (space->pending))
        return false;
    self->sums.refused += stats.refused;
    self->sums.bytes += space->bytes = stats.bytes;
    map_remove_u64 (self->by_namespace, space->id);
    *(namespace_entry_t **)array_at (&self->by_slot, space->slot) = NULL;
    *(namespace_entry_t **)array_add (&self->spaces_left) = space;
    array_remove (&self->namespaces, position);
    return true;
}

//  The first 64 bits of each hash, in scratch memory.
static const uint64_t *
s_short_hashes (catalog_t *self, column_t hashes)
{
    array_cut (&self->hashes, 0);
    uint64_t *out = array_append (&self->hashes, NULL, hashes.count);
    for (size_t i = 0; i < hashes.count; i++)
        out [i] = column_hash128 (hashes, i).high;
    return out;
}

//  ---- Events --------------------------------------------------------------------------------------------------------

static void
s_expect (catalog_t *self, uint64_t namespace_id, const hash128_t *parent, column_t hashes)
{
    const namespace_entry_t *space = map_get_u64 (self->by_namespace, namespace_id);
    column_t first = { hashes.data, hashes.count < EXPECTED ? hashes.count : EXPECTED };
    if (!space)
        return;
    if (parent)
        index_expect (space->index, &parent->high, 1);
    index_expect (space->index, s_short_hashes (self, first), first.count);
}

void
catalog_expect_stored (catalog_t *self, const kv_stored_t *event)
{
    s_expect (self, event->namespace_id, event->has_parent ? &event->parent : NULL, event->hashes);
}

void
catalog_expect_removed (catalog_t *self, const kv_removed_t *event)
{
    s_expect (self, event->namespace_id, NULL, event->hashes);
}

static void
s_store (catalog_t *self, namespace_entry_t *space, claim_t *claim, uint32_t number, uint64_t source,
    const kv_stored_t *event)
{
    const uint64_t *hashes = s_short_hashes (self, event->hashes);
    uint64_t parent = event->has_parent ? event->parent.high : INDEX_ROOT;
    claim->digest -= catalog_digest_in (space, claim);
    if (index_store (space->index, number, parent, hashes, event->hashes.count, NULL) != STATUS_LIMIT)
        catalog_snapshots_stored (self, source, space, event);
    claim->digest += catalog_digest_in (space, claim);
    const source_entry_t *entry = catalog_find_source (self, source);
    const claim_t *pending = catalog_find_claim (self, entry, event->rank, TIER_DEVICE, HOLDER_PENDING);
    if (pending && event->tier == TIER_DEVICE)
        pending_arrived (space->pending, &pending->holder, number);
}

void
catalog_stored (catalog_t *self, uint64_t source, const kv_stored_t *event)
{
    namespace_entry_t *space = s_namespace_of_rank (self, event->namespace_id, event->rank);
    if (!space) {
        self->sums.refused += event->hashes.count;
        return;
    }
    catalog_leave (self, LEAVES_A_CALL);
    s_begin_change (self, space);
    claim_t *claim = catalog_claim (self, space, source, event->rank, event->tier, HOLDER_EXACT);
    uint32_t number = index_holder_add (space->index, &claim->holder);
    if (number == HOLDER_NONE)
        self->sums.refused += event->hashes.count;
    else
        s_store (self, space, claim, number, source, event);
    s_end_change (self, space);
}

void
catalog_removed (catalog_t *self, uint64_t source, const kv_removed_t *event)
{
    namespace_entry_t *space = map_get_u64 (self->by_namespace, event->namespace_id);
    const source_entry_t *entry = catalog_find_source (self, source);
    claim_t *claim = catalog_find_claim (self, entry, event->rank, event->tier, HOLDER_EXACT);
    uint32_t number = space && claim ? index_holder_find (space->index, &claim->holder) : HOLDER_NONE;
    if (number == HOLDER_NONE)
        return;
    s_begin_change (self, space);
    catalog_snapshots_removed (self, source, space, event);
    claim->digest -= catalog_digest_in (space, claim);
    index_remove (space->index, number, s_short_hashes (self, event->hashes), event->hashes.count, NULL);
    claim->digest += catalog_digest_in (space, claim);
    s_end_change (self, space);
}

void
catalog_cleared (catalog_t *self, uint64_t source, const kv_cleared_t *event)
{
    const source_entry_t *entry = catalog_find_source (self, source);
    claim_t *claim = catalog_find_claim (self, entry, event->rank, event->tier, HOLDER_EXACT);
    if (claim)
        catalog_end_claim (self, claim);
    catalog_leave (self, LEAVES_AT_ONCE);
    catalog_snapshots_cleared (self, source, event);
}

static guess_entry_t *
s_guess_at (const namespace_entry_t *space, uint32_t number)
{
    return table_at (&space->guesses, number);
}

//  The number of the guess about a holder; 0 where there is none.
static uint32_t
s_find_guess (const namespace_entry_t *space, const holder_t *holder)
{
    uint64_t packed = holder_pack (holder);
    uint32_t number = table_find (&space->guesses, table_key_of_pair (0, packed));
    while (number && s_guess_at (space, number)->holder != packed)
        number = table_next_equal (&space->guesses, number);
    return number;
}

//  Takes one out of its namespace.
static void
s_forget_guess (catalog_t *self, namespace_entry_t *space, uint32_t number)
{
    guess_t *guess = s_guess_at (space, number)->guess;
    guess_leave (guess);
    *(guess_t **)pile_add (&self->guesses_left) = guess;
    table_remove (&space->guesses, number);
}

void
catalog_forget_holder (catalog_t *self, namespace_entry_t *space, const holder_t *holder)
{
    s_begin_change (self, space);
    uint32_t number = index_holder_find (space->index, holder), guess = s_find_guess (space, holder);
    if (holder->kind == HOLDER_PENDING)
        pending_forget (space->pending, holder);
    else if (guess)
        s_forget_guess (self, space, guess);
    else if (number != HOLDER_NONE)
        index_retire (space->index, number, NULL);
    s_end_change (self, space);
}

//  What a source has of these kinds.
static void
s_forget_kinds (catalog_t *self, const source_entry_t *entry, holder_kind_t first, holder_kind_t last)
{
    catalog_end_claims (self, entry, first, last);
    catalog_leave (self, LEAVES_AT_ONCE);
}

void
catalog_forget_said (catalog_t *self, uint64_t source)
{
    const source_entry_t *entry = catalog_find_source (self, source);
    if (!entry)
        return;
    catalog_snapshots_forgotten (self, source);
    s_forget_kinds (self, entry, HOLDER_EXACT, HOLDER_EXACT);
}

void
catalog_forget_unsaid (catalog_t *self, uint64_t source)
{
    const source_entry_t *entry = catalog_find_source (self, source);
    if (entry)
        s_forget_kinds (self, entry, HOLDER_APPROXIMATE, HOLDER_PENDING);
}

void
catalog_forget (catalog_t *self, uint64_t source)
{
    source_entry_t *entry = catalog_find_source (self, source);
    if (!entry)
        return;
    catalog_snapshots_forgotten (self, source);
    s_forget_kinds (self, entry, HOLDER_EXACT, HOLDER_PENDING);
    catalog_end_source (self, entry);
}

//  ---- What is being computed ----------------------------------------------------------------------------------------

//  Where the prefill of a ticket is pending, if it still is; NULL where that namespace has gone.
static namespace_entry_t *
s_namespace_of (const catalog_t *self, const catalog_ticket_t *ticket)
{
    namespace_entry_t *space = map_get_u64 (self->by_namespace, ticket->namespace_id);
    return space && space->number == ticket->number ? space : NULL;
}

catalog_ticket_t
catalog_begin_prefill (catalog_t *self, const catalog_prefill_t *prefill)
{
    catalog_ticket_t ticket = { 0 };
    if (prefill->hashes.count > self->options.pending_max - self->sums.pending)
        return ticket;
    namespace_entry_t *space = s_namespace_of_rank (self, prefill->namespace_id, prefill->rank);
    if (!space)
        return ticket;
    ticket.namespace_id = space->id;
    ticket.number = space->number;
    catalog_leave (self, LEAVES_A_CALL);
    s_begin_change (self, space);
    const claim_t *claim = catalog_claim (self, space, prefill->source, prefill->rank, TIER_DEVICE, HOLDER_PENDING);
    pending_add (space->pending,
        &(pending_prompt_t){ &claim->holder, s_short_hashes (self, prefill->hashes), prefill->hashes.count,
            prefill->expected_ns, prefill->expiry_ns },
        &ticket.id, NULL);
    s_end_change (self, space);
    return ticket;
}

//  The blocks of a prefill that is pending, and whose it is; NULL where it is not, or its worker was forgotten.
static const uint64_t *
s_prefill (const catalog_t *self, const namespace_entry_t *space, uint64_t id, const claim_t **claim, size_t *count)
{
    uint32_t number;
    const uint64_t *hashes = space ? pending_blocks (space->pending, id, &number, count) : NULL;
    *claim = hashes ? catalog_claim_of (self, index_holder (space->index, number)) : NULL;
    return *claim ? hashes : NULL;
}

bool
catalog_settle (catalog_t *self, catalog_ticket_t ticket)
{
    namespace_entry_t *space = s_namespace_of (self, &ticket);
    const claim_t *claim;
    size_t count;
    if (!s_prefill (self, space, ticket.id, &claim, &count))
        return false;
    s_begin_change (self, space);
    bool was_pending = pending_settle (space->pending, ticket.id);
    s_end_change (self, space);
    return was_pending;
}

//  The guess about a worker, by its claim to what it computes.
static guess_t *
s_guess (catalog_t *self, namespace_entry_t *space, const claim_t *pending, uint32_t capacity)
{
    uint64_t source = catalog_source_at (self, pending->slot)->source;
    const holder_t *holder =
        &catalog_claim (self, space, source, pending->holder.rank, pending->holder.tier, HOLDER_APPROXIMATE)->holder;
    uint32_t number = s_find_guess (space, holder);
    if (number)
        return s_guess_at (space, number)->guess;
    uint64_t packed = holder_pack (holder);
    guess_entry_t *entry = s_guess_at (space, table_add (&space->guesses, table_key_of_pair (0, packed)));
    entry->holder = packed;
    entry->guess = guess_new (space->index, holder, capacity ? capacity : ROOM_UNSAID, self->options.guessed_ns);
    return entry->guess;
}

//  Learns the next piece of what became of a prefill, the end of the prompt first.  False where that was the last: then it is
//  settled, if it did not end meanwhile.
static bool
s_learn (catalog_t *self, learning_t *learning)
{
    namespace_entry_t *space = s_namespace_of (self, &learning->ticket);
    const catalog_outcome_t *outcome = &learning->outcome;
    const claim_t *claim;
    size_t count, end;
    const uint64_t *hashes = s_prefill (self, space, learning->ticket.id, &claim, &count);
    if (!hashes)
        return false;
    s_begin_change (self, space);
    guess_t *guess = s_guess (self, space, claim, outcome->capacity);
    end = learning->end < count ? learning->end : count;
    learning->end = end > LEARNT_BLOCKS ? end - LEARNT_BLOCKS : 0;
    if (outcome->said)
        guess_found (guess, hashes, learning->end, end, outcome->found, learning->now_ns);
    if (outcome->computed)
        guess_computed (guess, hashes, learning->end, end, learning->now_ns);
    if (!learning->end)
        pending_settle (space->pending, learning->ticket.id);
    s_end_change (self, space);
    return learning->end != 0;
}

//  Goes on with what is being learnt.
static void
s_learn_more (catalog_t *self)
{
    size_t last = self->learnings.count;
    if (last && !s_learn (self, pile_at (&self->learnings, last - 1)))
        pile_cut (&self->learnings);
}

bool
catalog_guess (catalog_t *self, catalog_ticket_t ticket, const catalog_outcome_t *outcome, uint64_t now_ns)
{
    learning_t learning = { .ticket = ticket, .outcome = *outcome, .now_ns = now_ns, .end = SIZE_MAX };
    const claim_t *claim;
    size_t count;
    if (!s_prefill (self, s_namespace_of (self, &ticket), ticket.id, &claim, &count))
        return false;
    if (s_learn (self, &learning))
        *(learning_t *)pile_add (&self->learnings) = learning;
    return true;
}

//  Goes on through the guesses of a namespace, as long as there are blocks and looks left; those of which nothing is left go.
//  True where the last one was among them.
static bool
s_expire_guesses (catalog_t *self, namespace_entry_t *space, uint64_t now_ns, size_t *left, size_t *looks)
{
    for (; *left && *looks && space->guesses_at < table_bound (&space->guesses); --*looks) {
        uint32_t number = space->guesses_at++;
        const guess_entry_t *entry = s_guess_at (space, number);
        guess_stats_t stats;
        if (!entry->node.key)
            continue;
        guess_expire (entry->guess, now_ns, left);
        guess_stats (entry->guess, &stats);
        if (!stats.blocks)
            s_forget_guess (self, space, number);
    }
    bool is_end = *left && *looks;
    space->guesses_at = is_end ? 1 : space->guesses_at;
    return is_end;
}

//  The next namespace of a round; NULL where all have been looked at since the last that was left with something to do.
static namespace_entry_t *
s_next_in_round (const catalog_t *self, round_t *round)
{
    if (round->done >= self->namespaces.count)
        return NULL;
    round->at = round->at < self->namespaces.count ? round->at : 0;
    return catalog_namespace_at (self, round->at);
}

//  Whether more is to be done in a round.
static bool
s_end_of_call (const catalog_t *self, round_t *round)
{
    bool more = round->done < self->namespaces.count;
    round->done = more ? round->done : 0;
    return more;
}

size_t
catalog_expire (catalog_t *self, uint64_t now_ns, bool *more)
{
    size_t expired = 0, left = EXPIRED_BLOCKS;
    namespace_entry_t *space;
    if (self->learnings.count) {
        s_learn_more (self);
        left /= 4;
    }
    for (size_t looks = LOOKS; looks && left && (space = s_next_in_round (self, &self->expiry)); looks -= looks != 0) {
        s_begin_change (self, space);
        expired += pending_expire (space->pending, now_ns, &left);
        bool is_finished = s_expire_guesses (self, space, now_ns, &left, &looks);
        s_end_change (self, space);
        self->expiry.at += is_finished;
        self->expiry.done += is_finished;
    }
    *more = s_end_of_call (self, &self->expiry) || self->learnings.count;
    return expired;
}

bool
catalog_is_behind (const catalog_t *self)
{
    return self->unfinished || self->learnings.count;
}

//  ---- Questions -----------------------------------------------------------------------------------------------------

void
catalog_reach (catalog_t *self, uint64_t source, uint16_t rank, uint64_t other, tier_t nearest)
{
    uint32_t worker = catalog_source (self, source)->slot;
    reach_add (self->reach, worker, rank, catalog_source (self, other)->slot, nearest);
}

//  When the last block of an overlap that is being computed is there; 0 where none is.
static uint64_t
s_expected_ns (const catalog_t *self, const namespace_entry_t *space, const reach_overlap_t *overlap)
{
    if (!overlap->pending)
        return 0;
    const source_entry_t *entry = catalog_source_at (self, overlap->owner);
    const claim_t *claim = catalog_find_claim (self, entry, overlap->rank, TIER_DEVICE, HOLDER_PENDING);
    uint32_t number = index_holder_find (space->index, &claim->holder), position = overlap->pending_end - 1;
    return pending_expected (space->pending, number, position, *(uint64_t *)array_at (&self->hashes, position));
}

void
catalog_match (catalog_t *self, uint64_t namespace_id, column_t hashes, holder_kind_t last, array_t *overlaps)
{
    const namespace_entry_t *space = map_get_u64 (self->by_namespace, namespace_id);
    if (!space)
        return;
    index_match (space->index, s_short_hashes (self, hashes), hashes.count, &self->match);
    size_t before = overlaps->count;
    reach_overlaps (self->reach, space->index, &self->match, last, overlaps);
    for (size_t i = before; i < overlaps->count; i++) {
        catalog_overlap_t *overlap = array_at (overlaps, i);
        overlap->source = catalog_source_at (self, overlap->reached.owner)->source;
        overlap->expected_ns = s_expected_ns (self, space, &overlap->reached);
    }
}

bool
catalog_explain (catalog_t *self, uint64_t source, uint16_t rank, tier_t tier, const match_prefix_t *query,
    index_explanation_t *explanation)
{
    const source_entry_t *entry = catalog_find_source (self, source);
    const claim_t *claim = catalog_find_claim (self, entry, rank, tier, HOLDER_EXACT);
    if (!claim)
        return false;
    const namespace_entry_t *space = map_get_u64 (self->by_namespace, query->namespace_id);
    *explanation = (index_explanation_t){ .end = OVERLAP_END_STRANGER, .best_holder = HOLDER_NONE };
    if (space) {
        uint32_t holder = index_holder_find (space->index, &claim->holder);
        *explanation = index_explain (space->index, holder, s_short_hashes (self, query->hashes), query->hashes.count);
    }
    return true;
}

uint64_t
catalog_digest (const catalog_t *self, uint64_t source)
{
    const source_entry_t *entry = catalog_find_source (self, source);
    uint64_t digest = 0;
    for (size_t i = 0; entry && i < entry->claims.count; i++) {
        const claim_t *claim = catalog_claim_at (self, entry, i);
        if (claim && claim->holder.kind == HOLDER_EXACT)
            digest += claim->digest;
    }
    return digest;
}

bool
catalog_sweep (catalog_t *self)
{
    size_t left = EXPIRED_BLOCKS, pieces = 0;
    namespace_entry_t *space;
    while (pieces < PIECES && s_shed (self))
        pieces++;
    if (pieces || catalog_leave (self, LEAVES_AT_ONCE))
        return true;    //  That is enough for a call
    for (size_t looks = LOOKS; looks && left && (space = s_next_in_round (self, &self->sweep)); looks--) {
        s_begin_change (self, space);
        if (index_sweep (space->index, 0)) {
            index_sweep (space->index, SWEEP_STEPS);
            left = 0;    //  So is that
        }
        pending_expire (space->pending, 0, &left);
        if (left && s_forget_if_empty (self, self->sweep.at))
            continue;
        s_end_change (self, space);
        self->sweep.at++;    //  Finished or not: no namespace keeps the others waiting
        self->sweep.done = left ? self->sweep.done + 1 : 0;
    }
    bool more = s_end_of_call (self, &self->sweep);
    return more || self->spaces_left.count || self->guesses_left.count;
}

void
catalog_stats (const catalog_t *self, catalog_stats_t *stats)
{
    *stats = self->sums;
    stats->namespaces = self->namespaces.count;
    stats->sources = self->sources.count;
}
