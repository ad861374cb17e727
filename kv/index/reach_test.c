//  What workers reach in several holders: stories, and the same against a look at every block.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/reach.h"

enum { OWNERS = 5, RANKS = 2, PLACES = 4, HOLDERS = OWNERS * RANKS * PLACES };
enum { BLOCKS = 12, ROUNDS = 20000, NOTHING = TIER_COUNT };

typedef struct {
    random_t random;                                //  Seeded
    index_t *index;                                 //  Of all rounds
    reach_t *reach;                                 //  Under test
    uint32_t holders;                               //  How many there are
    uint32_t counts_as [OWNERS];                    //  Whose the holders are that name an owner
    uint8_t nearest [OWNERS][RANKS][OWNERS];        //  From which tier on a worker reaches another owner; NOTHING
    bool held [HOLDERS][BLOCKS];                    //  Who holds what
    uint64_t hashes [BLOCKS];                       //  A chain
    const reach_overlap_t *said [OWNERS][RANKS];    //  The answer; NULL where there is none
    holder_kind_t last;                             //  It was asked for
    array_t overlaps;                               //  The same
} world_t;

static void
s_begin (world_t *world)
{
    memset (world, 0, sizeof *world);
    memset (world->nearest, NOTHING, sizeof world->nearest);
    world->index = index_new (NULL);
    world->reach = reach_new ();
    for (uint32_t owner = 0; owner < OWNERS; owner++)
        world->counts_as [owner] = owner;
    for (uint64_t i = 0; i < BLOCKS; i++)
        world->hashes [i] = hash_u64 (i);
    array_init (&world->overlaps, sizeof (reach_overlap_t));
}

static void
s_end (world_t *world)
{
    array_fini (&world->overlaps);
    reach_destroy (&world->reach);
    assert_null (world->reach);
    index_destroy (&world->index);
}

static uint32_t
s_add_holder (world_t *world, uint32_t owner, uint16_t rank, tier_t tier, holder_kind_t kind)
{
    holder_t holder = { .owner = owner, .rank = rank, .tier = (uint8_t)tier, .kind = (uint8_t)kind };
    assert_int_equal (index_holder_add (world->index, &holder), world->holders);
    return world->holders++;
}

static void
s_hold (world_t *world, uint32_t holder, uint32_t block, bool held)
{
    if (held)
        index_store (world->index, holder, INDEX_ROOT, &world->hashes [block], 1, NULL);
    else
        index_remove (world->index, holder, &world->hashes [block], 1, NULL);
    world->held [holder][block] = held;
}

//  Blocks `first` up to `end`.
static void
s_give (world_t *world, uint32_t holder, uint32_t first, uint32_t end)
{
    for (uint32_t block = first; block < end; block++)
        s_hold (world, holder, block, true);
}

static void
s_share (world_t *world, uint32_t owner, uint16_t rank, uint32_t other, tier_t nearest)
{
    reach_add (world->reach, owner, rank, other, nearest);
    world->nearest [owner][rank][other] = (uint8_t)nearest;
}

static void
s_ask (world_t *world, holder_kind_t last)
{
    index_match_t match;
    index_match_init (&match);
    world->last = last;
    memset (world->said, 0, sizeof world->said);
    array_cut (&world->overlaps, 0);
    *(reach_overlap_t *)array_add (&world->overlaps) = (reach_overlap_t){ .owner = 77 };    //  Stays as it is
    index_match (world->index, world->hashes, BLOCKS, &match);
    reach_overlaps (world->reach, world->index, &match, last, &world->overlaps);
    assert_int_equal (((reach_overlap_t *)world->overlaps.data)->owner, 77);
    for (size_t i = 1; i < world->overlaps.count; i++) {
        const reach_overlap_t *each = array_at (&world->overlaps, i);
        assert_null (world->said [each->owner][each->rank]);
        world->said [each->owner][each->rank] = each;
    }
    index_match_fini (&match);
}

static void
s_assert_said (const world_t *world, const reach_overlap_t *expected)
{
    const reach_overlap_t *said = world->said [expected->owner][expected->rank];
    if (said)
        assert_memory_equal (said, expected, sizeof *expected);
    else
        assert_int_equal (expected->total, 0);
}

//  ---- Stories -------------------------------------------------------------------------------------------------------

//  Nobody would find the second half by asking for the most that one tier has.
static void
test_tiers_of_a_worker_add_up (void **state)
{
    world_t world;
    s_begin (&world);
    s_give (&world, s_add_holder (&world, 1, 0, TIER_DEVICE, HOLDER_EXACT), 0, 4);
    s_give (&world, s_add_holder (&world, 1, 0, TIER_HOST, HOLDER_EXACT), 4, 8);
    s_give (&world, s_add_holder (&world, 1, 1, TIER_DEVICE, HOLDER_EXACT), 0, 2);
    s_ask (&world, HOLDER_EXACT);
    s_assert_said (&world, &(reach_overlap_t){ .owner = 1, .total = 8, .blocks = { 4, 4 } });
    s_assert_said (&world, &(reach_overlap_t){ .owner = 1, .rank = 1, .total = 2, .blocks = { 2 } });
    s_end (&world);
}

//  Each block counts once, at the fastest that has it, also where that has a hole.
static void
test_a_block_in_two_tiers_counts_at_the_faster (void **state)
{
    world_t world;
    s_begin (&world);
    uint32_t device = s_add_holder (&world, 1, 0, TIER_DEVICE, HOLDER_EXACT);
    s_give (&world, device, 0, 9);
    s_give (&world, s_add_holder (&world, 1, 0, TIER_DISK, HOLDER_EXACT), 0, 12);
    s_hold (&world, device, 3, false);
    s_ask (&world, HOLDER_EXACT);
    s_assert_said (&world, &(reach_overlap_t){ .owner = 1, .total = 12, .blocks = { 8, 0, 4 } });
    s_end (&world);
}

//  A store goes on where a worker ends, and stands for itself where a worker has nothing; one on another machine reaches
//  only what lies behind it.
static void
test_a_store_is_shared_by_those_who_reach_it (void **state)
{
    enum { STORE = 4 };
    world_t world;
    s_begin (&world);
    s_give (&world, s_add_holder (&world, 1, 0, TIER_DEVICE, HOLDER_EXACT), 0, 3);
    s_give (&world, s_add_holder (&world, 3, 0, TIER_DEVICE, HOLDER_EXACT), 0, 3);
    s_give (&world, s_add_holder (&world, STORE, 0, TIER_REMOTE, HOLDER_EXACT), 0, 10);
    s_give (&world, s_add_holder (&world, STORE, 0, TIER_HOST, HOLDER_EXACT), 2, 6);
    s_share (&world, 1, 0, STORE, TIER_HOST);
    s_share (&world, 2, 0, STORE, TIER_REMOTE);
    s_ask (&world, HOLDER_EXACT);
    s_assert_said (&world, &(reach_overlap_t){ .owner = 1, .total = 10, .blocks = { 3, 3, 0, 4 } });
    s_assert_said (&world, &(reach_overlap_t){ .owner = 2, .total = 10, .blocks = { 0, 0, 0, 10 } });
    s_assert_said (&world, &(reach_overlap_t){ .owner = 3, .total = 3, .blocks = { 3 } });

    reach_forget (world.reach, STORE);
    s_ask (&world, HOLDER_EXACT);
    s_assert_said (&world, &(reach_overlap_t){ .owner = 1, .total = 3, .blocks = { 3 } });
    s_assert_said (&world, &(reach_overlap_t){ .owner = 2 });
    s_end (&world);
}

//  What is on its way counts behind what is there, for those who ask for it.
static void
test_what_is_not_there_yet_is_told_apart (void **state)
{
    world_t world;
    s_begin (&world);
    s_give (&world, s_add_holder (&world, 1, 0, TIER_DEVICE, HOLDER_PENDING), 0, 9);
    s_give (&world, s_add_holder (&world, 1, 0, TIER_DEVICE, HOLDER_APPROXIMATE), 0, 5);
    s_give (&world, s_add_holder (&world, 1, 0, TIER_HOST, HOLDER_EXACT), 0, 2);
    reach_overlap_t expected = {
        .owner = 1, .total = 9, .blocks = { 7, 2 }, .approximate = 3, .pending = 4, .pending_end = 9
    };
    s_ask (&world, HOLDER_PENDING);
    s_assert_said (&world, &expected);
    s_ask (&world, HOLDER_APPROXIMATE);
    s_assert_said (&world, &(reach_overlap_t){ .owner = 1, .total = 5, .blocks = { 3, 2 }, .approximate = 3 });
    s_ask (&world, HOLDER_EXACT);
    s_assert_said (&world, &(reach_overlap_t){ .owner = 1, .total = 2, .blocks = { 0, 2 } });
    s_end (&world);
}

//  ---- Against a look at every block ---------------------------------------------------------------------------------

//  Where each worker of the random test can have blocks.
static const struct {
    tier_t tier;           //  In which tier
    holder_kind_t kind;    //  And how sure that is
} s_places [PLACES] = { { TIER_DEVICE, HOLDER_EXACT }, { TIER_DEVICE, HOLDER_PENDING },
    { TIER_HOST, HOLDER_APPROXIMATE }, { TIER_REMOTE, HOLDER_EXACT } };

static bool
s_reaches (const world_t *world, uint32_t owner, uint16_t rank, const holder_t *holder)
{
    uint32_t whose = world->counts_as [holder->owner];
    bool own = whose == owner && holder->rank == rank;
    bool is_shared = whose != REACH_NOBODY && holder->kind == HOLDER_EXACT;
    return own || (is_shared && holder->tier >= world->nearest [owner][rank][whose]);
}

//  The best place of those where a worker has a block.
static uint32_t
s_place (const world_t *world, uint32_t owner, uint16_t rank, uint32_t block)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t number = 0; number < world->holders; number++) {
        const holder_t *holder = index_holder (world->index, number);
        uint32_t place = holder->kind * 10u + holder->tier;
        bool has = world->held [number][block] && holder->kind <= world->last;
        if (has && place < best && s_reaches (world, owner, rank, holder))
            best = place;
    }
    return best;
}

static void
s_assert_overlap (const world_t *world, uint32_t owner, uint16_t rank)
{
    reach_overlap_t expected = { .owner = owner, .rank = rank };
    for (uint32_t block = 0; block < BLOCKS; block++) {
        uint32_t place = s_place (world, owner, rank, block);
        if (place == UINT32_MAX)
            break;
        expected.total++;
        expected.blocks [place % 10]++;
        expected.approximate += place / 10 == HOLDER_APPROXIMATE;
        expected.pending += place / 10 == HOLDER_PENDING;
        expected.pending_end = place / 10 == HOLDER_PENDING ? block + 1 : expected.pending_end;
    }
    s_assert_said (world, &expected);
}

static void
s_forget (world_t *world, uint32_t owner)
{
    reach_forget (world->reach, owner);
    memset (world->nearest [owner], NOTHING, sizeof world->nearest [owner]);
    for (uint32_t each = 0; each < OWNERS; each++)
        for (uint16_t rank = 0; rank < RANKS; rank++)
            world->nearest [each][rank][owner] = NOTHING;
}

//  Nobody else's holders count as that one's any more.
static void
s_count_as (world_t *world, uint32_t named, uint32_t owner)
{
    for (uint32_t each = 0; each < OWNERS; each++)
        if (each == named || world->counts_as [each] == owner) {
            world->counts_as [each] = each == named ? owner : REACH_NOBODY;
            reach_count_as (world->reach, each, world->counts_as [each]);
        }
}

static void
s_change (world_t *world)
{
    uint32_t owner = (uint32_t)random_below (&world->random, OWNERS);
    uint32_t other = (uint32_t)random_below (&world->random, OWNERS);
    uint16_t rank = (uint16_t)random_below (&world->random, RANKS);
    uint32_t holder = (uint32_t)random_below (&world->random, world->holders);
    uint64_t dice = random_below (&world->random, 1000);
    if (dice < 40)
        s_share (world, owner, rank, other, (tier_t)random_below (&world->random, TIER_COUNT));
    else if (dice < 50)
        s_forget (world, owner);
    else if (dice < 60)
        s_count_as (world, owner, random_chance (&world->random, 300000) ? REACH_NOBODY : other);
    else if (dice < 65) {
        index_clear (world->index, holder, NULL);
        memset (world->held [holder], 0, sizeof world->held [holder]);
    } else {
        uint32_t block = (uint32_t)random_below (&world->random, BLOCKS);
        s_hold (world, holder, block, !world->held [holder][block]);
    }
}

static void
test_equals_a_look_at_every_block (void **state)
{
    static world_t world;
    uint64_t seed = 20261129;
    s_begin (&world);
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&world.random, seed);
    while (world.holders < HOLDERS) {
        uint32_t number = world.holders, worker = number / PLACES;
        s_add_holder (
            &world, worker / RANKS, worker % RANKS, s_places [number % PLACES].tier, s_places [number % PLACES].kind);
    }
    for (int round = 0; round < ROUNDS; round++) {
        s_change (&world);
        s_ask (&world, (holder_kind_t)random_below (&world.random, HOLDER_KIND_COUNT));
        for (uint32_t owner = 0; owner < OWNERS; owner++)
            for (uint16_t rank = 0; rank < RANKS; rank++)
                s_assert_overlap (&world, owner, rank);
    }
    s_end (&world);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_tiers_of_a_worker_add_up),
        cmocka_unit_test (test_a_block_in_two_tiers_counts_at_the_faster),
        cmocka_unit_test (test_a_store_is_shared_by_those_who_reach_it),
        cmocka_unit_test (test_what_is_not_there_yet_is_told_apart),
        cmocka_unit_test (test_equals_a_look_at_every_block),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
