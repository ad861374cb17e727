#include "kv/index/reach.h"

#include "base/memory.h"
#include "kv/index/index_private.h"

//  A block is in a place: a tier of holders of one kind, the best place first.
enum { NO_PLACE = HOLDER_KIND_COUNT * TIER_COUNT };

typedef struct {
    uint64_t question;              //  Number of the last one in whose answer it is
    uint32_t places;                //  Where it has the block, as bits; 0: its overlap has ended
    uint32_t exact [TIER_COUNT];    //  How many exact holders that it reaches have the block
    uint32_t since;                 //  First block that the best place counts for
    uint32_t slot;                  //  Of its overlap in the answer
} worker_t;

//  Who reaches what another has.
typedef struct {
    uint32_t owner;         //  Whose worker
    uint32_t generation;    //  Of the owner: it is gone where it has another one by now
    uint16_t rank;          //  Which of its workers
    tier_t nearest;         //  In this tier and those below it
} sharer_t;

typedef struct {
    array_t workers;        //  worker_t by rank
    array_t sharers;        //  sharer_t, some of whom may be gone
    uint32_t generation;    //  How many owners had this number before
} owner_t;

struct reach {
    pile_t owners;        //  owner_t by number
    pile_t counts_as;     //  uint32_t by the owner that a holder names: whose it is; those beyond stand for themselves
    uint64_t question;    //  Number of the last one
    array_t room;         //  uint64_t, scratch: sets as bits
};

reach_t *
reach_new (void)
{
    reach_t *self = memory_new (sizeof *self);
    pile_init (&self->owners, sizeof (owner_t));
    pile_init (&self->counts_as, sizeof (uint32_t));
    array_init (&self->room, sizeof (uint64_t));
    return self;
}

static owner_t *
s_owner_at (const reach_t *self, uint32_t owner)
{
    return pile_at (&self->owners, owner);
}

void
reach_destroy (reach_t **self_p)
{
    reach_t *self = *self_p;
    if (!self)
        return;
    for (uint32_t owner = 0; owner < self->owners.count; owner++) {
        array_fini (&s_owner_at (self, owner)->workers);
        array_fini (&s_owner_at (self, owner)->sharers);
    }
    array_fini (&self->room);
    pile_fini (&self->counts_as);
    pile_fini (&self->owners);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Who reaches what ----------------------------------------------------------------------------------------------

static owner_t *
s_owner (reach_t *self, uint32_t number)
{
    while (self->owners.count <= number) {
        owner_t *owner = pile_add (&self->owners);
        array_init (&owner->workers, sizeof (worker_t));
        array_init (&owner->sharers, sizeof (sharer_t));
    }
    return s_owner_at (self, number);
}

static worker_t *
s_worker (reach_t *self, uint32_t owner, uint16_t rank)
{
    array_t *workers = &s_owner (self, owner)->workers;
    if (rank >= workers->count)
        array_append (workers, NULL, rank + 1 - workers->count);
    return (worker_t *)workers->data + rank;
}

static bool
s_is_gone (const reach_t *self, const sharer_t *sharer)
{
    return s_owner_at (self, sharer->owner)->generation != sharer->generation;
}

//  Drops those that are gone, and this worker.
static void
s_drop_sharers (const reach_t *self, array_t *sharers, uint32_t owner, uint16_t rank)
{
    size_t kept = 0;
    for (size_t i = 0; i < sharers->count; i++) {
        const sharer_t *sharer = array_at (sharers, i);
        bool is_it = sharer->owner == owner && sharer->rank == rank;
        if (!is_it && !s_is_gone (self, sharer))
            *(sharer_t *)array_at (sharers, kept++) = *sharer;
    }
    array_cut (sharers, kept);
}

void
reach_add (reach_t *self, uint32_t owner, uint16_t rank, uint32_t other, tier_t nearest)
{
    array_t *sharers = &s_owner (self, other)->sharers;
    uint32_t generation = s_owner (self, owner)->generation;
    s_drop_sharers (self, sharers, owner, rank);
    array_append (sharers, &(sharer_t){ owner, generation, rank, nearest }, 1);
}

//  Whoever it shared something with finds out.
void
reach_forget (reach_t *self, uint32_t owner)
{
    owner_t *gone = s_owner (self, owner);
    gone->generation++;
    array_cut (&gone->workers, 0);
    array_cut (&gone->sharers, 0);
}

void
reach_count_as (reach_t *self, uint32_t named, uint32_t owner)
{
    for (size_t next; (next = self->counts_as.count) <= named;)
        *(uint32_t *)pile_add (&self->counts_as) = (uint32_t)next;
    *pile_number_at (&self->counts_as, named) = owner;
    if (owner != REACH_NOBODY)
        s_owner (self, owner);
}

static uint32_t
s_owner_of (const reach_t *self, const holder_t *holder)
{
    return holder->owner < self->counts_as.count ? *pile_number_at (&self->counts_as, holder->owner) : holder->owner;
}

//  ---- Overlaps ------------------------------------------------------------------------------------------------------

//  Seats as bits.
typedef struct {
    const uint64_t *words;    //  Of them
    uint32_t count;           //  Of words; those behind are 0
} bits_t;

//  A question that is being answered.
typedef struct {
    reach_t *reach;          //  Who reaches what
    const index_t *index;    //  Whose seats they are
    holder_kind_t last;      //  Kinds behind it do not count
    uint32_t position;       //  The block that is looked at: the first of a segment
    size_t going;            //  Workers whose overlap has not ended
    array_t *overlaps;       //  The answer
} race_t;

static uint32_t
s_best (const worker_t *worker)
{
    return worker->places ? (uint32_t)__builtin_ctz (worker->places) : NO_PLACE;
}

//  The blocks up to the position are counted for this place.
static void
s_count_blocks (const race_t *race, worker_t *worker, uint32_t place)
{
    uint32_t blocks = race->position - worker->since;
    worker->since = race->position;
    if (!blocks)
        return;
    reach_overlap_t *overlap = array_at (race->overlaps, worker->slot);
    holder_kind_t kind = place / TIER_COUNT;
    overlap->total += blocks;
    overlap->blocks [place % TIER_COUNT] += blocks;
    if (kind == HOLDER_APPROXIMATE)
        overlap->approximate += blocks;
    if (kind == HOLDER_PENDING) {
        overlap->pending += blocks;
        overlap->pending_end = race->position;
    }
}

//  Whoever reaches the first block comes in.
static void
s_begin (race_t *race, worker_t *worker, uint32_t owner, uint16_t rank)
{
    *worker = (worker_t){ .question = race->reach->question, .slot = (uint32_t)race->overlaps->count };
    reach_overlap_t *overlap = array_add (race->overlaps);
    overlap->owner = owner;
    overlap->rank = rank;
    race->going++;
}

//  One more holder, or one less, that a worker reaches in a place has the block.
static void
s_change_worker (race_t *race, uint32_t owner, uint16_t rank, uint32_t place, bool has)
{
    worker_t *worker = s_worker (race->reach, owner, rank);
    bool begins = worker->question != race->reach->question;
    if (begins && race->position == 0)
        s_begin (race, worker, owner, rank);
    else if (begins || !worker->places)
        return;
    uint32_t before = s_best (worker);
    if (place < TIER_COUNT)
        has = (has ? ++worker->exact [place] : --worker->exact [place]) > 0;
    worker->places = has ? worker->places | 1u << place : worker->places & ~(1u << place);
    if (before != NO_PLACE && before != s_best (worker))
        s_count_blocks (race, worker, before);
    race->going -= !worker->places;
}

//  A seat has the block, or does not any more.  What is not known for sure is nobody's but the worker's.
static void
s_change_seat (race_t *race, uint32_t seat, bool has)
{
    const holder_t *holder = holder_table_get (race->index->holders, index_holder_of (race->index, seat));
    uint32_t owner = holder ? s_owner_of (race->reach, holder) : REACH_NOBODY;
    if (owner == REACH_NOBODY || holder->kind > race->last)
        return;
    s_change_worker (race, owner, holder->rank, holder->kind * (uint32_t)TIER_COUNT + holder->tier, has);
    const array_t *sharers = &s_owner_at (race->reach, owner)->sharers;
    for (size_t i = 0; i < sharers->count && holder->kind == HOLDER_EXACT; i++) {
        const sharer_t *sharer = array_at (sharers, i);
        if (holder->tier >= sharer->nearest && !s_is_gone (race->reach, sharer))
            s_change_worker (race, sharer->owner, sharer->rank, holder->tier, has);
    }
}

//  The seats that are in one set and not in the other.
static void
s_change_seats (race_t *race, const bits_t *in, const bits_t *out, bool has)
{
    for (uint32_t word = 0; word < in->count; word++) {
        uint64_t bits = in->words [word] & ~(word < out->count ? out->words [word] : 0);
        for (; bits; bits &= bits - 1)
            s_change_seat (race, word * 64 + (uint32_t)__builtin_ctzll (bits), has);
    }
}

//  Who comes is looked at before who goes: a worker that has the next block elsewhere goes on.  At the end all go.
void
reach_overlaps (reach_t *self, const index_t *index, const index_match_t *match, holder_kind_t last, array_t *overlaps)
{
    const index_segment_t *segments = match->segments.data;
    size_t count = match->segments.count, words = index->seats.count / 64 + 1;
    race_t race = { .reach = self, .index = index, .last = last, .overlaps = overlaps };
    bits_t before = { 0 }, now;
    for (size_t i = 0; i < count; i++)
        sets_prefetch_bits (index->sets, segments [i].set);
    array_cut (&self->room, 0);
    uint64_t *room = array_append (&self->room, NULL, 2 * words);
    self->question++;
    for (size_t i = 0; i < count && (i == 0 || race.going); i++, before = now) {
        now.words = sets_bits (index->sets, segments [i].set, room + i % 2 * words, &now.count);
        race.position = segments [i].first;
        s_change_seats (&race, &now, &before, true);
        s_change_seats (&race, &before, &now, false);
        race.position = segments [i].end;
    }
    s_change_seats (&race, &before, &(bits_t){ 0 }, false);
}
