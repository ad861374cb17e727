//  The index against sets of (holder, block) pairs, over random operations.
//
//  The world is a tree of blocks and a few holders; the oracle keeps for each pair how often it is held, and answers by looking.
//  Streams are honest and dishonest: whole prefixes, stretches in the middle of nowhere, wrong parents, removals of what is
//  there and what is not, in any order.  All the time somebody far away follows what one of the holders has, by a walk of
//  a few blocks at a time and by what changes behind it.
//
//      index_random_test [OPERATIONS [SEED]]
//
//  runs each of the configurations below with so many operations and this seed; the default is what fits a test run.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "kv/index/snapshot.h"

enum { HOLDERS = 10, BLOCKS = 500, NOBODY = BLOCKS, PATH = BLOCKS };

//  What a run is about.
typedef struct {
    uint32_t operations;    //  Share of those asked for, in percent
    uint32_t blocks;        //  Blocks there are
    uint32_t branching;     //  Blocks of a million that do not follow the one before
    bool once;              //  Of the index
    bool rooted;            //  Of the index
    bool honest;            //  Whether nobody names a wrong parent
    bool alike;             //  Whether hashes were made up to share a line
} configuration_t;

static struct {
    uint64_t operations;    //  A configuration
    uint64_t seed;          //  Of everything
} s_run = { 200000, 20261129 };

typedef struct {
    uint32_t held [HOLDERS][BLOCKS];    //  References, by slot of the holder
} oracle_t;

//  What somebody far away knows of one holder.
typedef struct {
    uint32_t slot;             //  Of the holder
    index_cursor_t cursor;     //  Of the walk
    uint32_t told [BLOCKS];    //  References
} follower_t;

typedef struct {
    random_t random;               //  Seeded
    index_options_t options;       //  Of the index
    bool honest;                   //  Whether nobody names a wrong parent
    uint32_t blocks;               //  Blocks there are
    index_t *index;                //  Under test
    oracle_t oracle;               //  What must be
    uint64_t hashes [BLOCKS];      //  Of the blocks
    uint32_t parents [BLOCKS];     //  A block with a smaller number; NOBODY for a root
    uint32_t numbers [HOLDERS];    //  Of the holders; HOLDER_NONE while away
    follower_t follower;           //  Who follows by a walk
    uint64_t followed;             //  Walks that ended
    uint64_t hits;                 //  Blocks of overlap seen, so that the test cannot pass on nothing
} world_t;

//  ---- The oracle ----------------------------------------------------------------------------------------------------

static void
s_count_store (const world_t *world, uint32_t *references)
{
    *references = world->options.once ? 1 : *references + 1;
}

//  False where the index must refuse it.
static bool
s_oracle_store (world_t *world, uint32_t slot, uint32_t parent, const uint32_t *path, size_t count)
{
    uint32_t *held = world->oracle.held [slot];
    if (world->options.rooted && parent != NOBODY && !held [parent])
        return false;
    for (size_t i = 0; i < count; i++)
        s_count_store (world, &held [path [i]]);
    return true;
}

static void
s_oracle_remove (world_t *world, uint32_t slot, uint32_t block)
{
    oracle_t *oracle = &world->oracle;
    if (oracle->held [slot][block])
        oracle->held [slot][block]--;
}

static uint32_t
s_oracle_overlap (const world_t *world, uint32_t slot, const uint32_t *path, size_t count)
{
    uint32_t overlap = 0;
    while (overlap < count && world->oracle.held [slot][path [overlap]])
        overlap++;
    return overlap;
}

//  ---- The follower --------------------------------------------------------------------------------------------------

static void
s_begin_to_follow (world_t *world, uint32_t slot)
{
    memset (&world->follower, 0, sizeof world->follower);
    world->follower.slot = slot;
}

//  Whether the follower must be told of what happens to a block of the slot.
static bool
s_is_followed (const world_t *world, uint32_t slot, uint32_t block)
{
    return world->follower.slot == slot &&
           index_has_passed (world->index, world->follower.cursor, world->hashes [block]);
}

static uint32_t
s_block_of (const world_t *world, uint64_t hash)
{
    uint32_t block = 0;
    while (world->hashes [block] != hash)
        block++;
    return block;
}

//  The next blocks of the walk; at its end the follower knows what the oracle does, and begins with somebody else.
static void
s_follow (world_t *world)
{
    follower_t *follower = &world->follower;
    index_block_t blocks [5];
    size_t count;
    bool ended;
    index_walk (world->index, world->numbers [follower->slot], &follower->cursor, blocks, 5, &count, &ended);
    for (size_t i = 0; i < count; i++) {
        uint32_t *told = &follower->told [s_block_of (world, blocks [i].hash)];
        assert_int_equal (*told, 0);
        *told = blocks [i].references;
    }
    if (!ended)
        return;
    assert_memory_equal (follower->told, world->oracle.held [follower->slot], sizeof follower->told);
    world->followed++;
    s_begin_to_follow (world, (uint32_t)random_below (&world->random, HOLDERS));
}

//  ---- The world -----------------------------------------------------------------------------------------------------

//  The blocks from a root to a random one; returns how many.
static size_t
s_random_path (world_t *world, uint32_t *path)
{
    size_t count = 0;
    for (uint32_t block = (uint32_t)random_below (&world->random, world->blocks); block != NOBODY;
         block = world->parents [block])
        path [count++] = block;
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t other = path [i];
        path [i] = path [count - 1 - i];
        path [count - 1 - i] = other;
    }
    return count;
}

static void
s_hash_path (const world_t *world, const uint32_t *path, size_t count, uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++)
        hashes [i] = world->hashes [path [i]];
}

static void
s_join (world_t *world, uint32_t slot)
{
    holder_t holder = { .owner = 1000 + slot, .rank = (uint16_t)(slot % 2), .tier = (uint8_t)(slot % TIER_COUNT) };
    world->numbers [slot] = index_holder_add (world->index, &holder);
}

static void
s_store (world_t *world, uint32_t slot)
{
    uint32_t path [PATH];
    uint64_t hashes [PATH];
    size_t count = s_random_path (world, path);
    size_t first = random_chance (&world->random, 600000) ? 0 : random_below (&world->random, count);
    count = first + random_below (&world->random, count - first + 1);
    uint32_t parent = first ? path [first - 1] : NOBODY;
    if (!world->honest && random_chance (&world->random, 20000))
        parent =
            random_chance (&world->random, 100000) ? NOBODY : (uint32_t)random_below (&world->random, world->blocks);
    s_hash_path (world, path, count, hashes);
    uint64_t parent_hash = parent == NOBODY ? INDEX_ROOT : world->hashes [parent];
    index_store (world->index, world->numbers [slot], parent_hash, hashes + first, count - first, NULL);
    bool stored = s_oracle_store (world, slot, parent, path + first, count - first);
    for (size_t i = first; i < count && stored; i++)
        if (s_is_followed (world, slot, path [i]))
            s_count_store (world, &world->follower.told [path [i]]);
}

static void
s_remove (world_t *world, uint32_t slot)
{
    uint32_t path [PATH];
    uint64_t hashes [PATH];
    size_t count = s_random_path (world, path);
    if (random_chance (&world->random, 300000))    //  Anything, in any order, twice
        for (size_t i = 0; i < count; i++)
            path [i] = (uint32_t)random_below (&world->random, world->blocks);
    size_t first = random_below (&world->random, count + 1);
    s_hash_path (world, path, count, hashes);
    for (size_t i = first; i < count; i++) {
        uint32_t *told = &world->follower.told [path [i]];
        *told -= *told && s_is_followed (world, slot, path [i]);
        s_oracle_remove (world, slot, path [i]);
    }
    index_remove (world->index, world->numbers [slot], hashes + first, count - first, NULL);
}

static uint32_t
s_slot_of (const world_t *world, uint32_t number)
{
    for (uint32_t slot = 0; slot < HOLDERS; slot++)
        if (world->numbers [slot] == number)
            return slot;
    fail_msg ("holder %u is nobody's", number);
    return 0;
}

static void
s_assert_overlaps (world_t *world, const uint32_t *path, const array_t *overlaps, size_t count)
{
    uint32_t seen [HOLDERS] = { 0 };
    for (size_t i = 0; i < overlaps->count; i++) {
        const index_overlap_t *each = array_at (overlaps, i);
        uint32_t slot = s_slot_of (world, each->holder);
        assert_int_equal (seen [slot], 0);
        assert_true (each->blocks);
        seen [slot] = each->blocks;
    }
    for (uint32_t slot = 0; slot < HOLDERS; slot++) {
        assert_int_equal (seen [slot], s_oracle_overlap (world, slot, path, count));
        world->hits += seen [slot];
    }
}

//  Segments lie end to end, and each names exactly those who hold each of its blocks.
static void
s_assert_segments (world_t *world, const uint32_t *path, const index_match_t *match)
{
    uint32_t end = 0;
    array_t holders;
    array_init (&holders, sizeof (uint32_t));
    for (size_t i = 0; i < match->segments.count; i++) {
        const index_segment_t *segment = array_at (&match->segments, i);
        assert_true (segment->first == end && segment->end > end);
        end = segment->end;
        array_cut (&holders, 0);
        index_segment_holders (world->index, segment, &holders);
        assert_true (holders.count > 0);
        for (uint32_t at = segment->first; at < segment->end; at++) {
            size_t expected = 0;
            for (uint32_t slot = 0; slot < HOLDERS; slot++)
                expected += world->oracle.held [slot][path [at]] != 0;
            assert_int_equal (holders.count, expected);
            for (size_t k = 0; k < holders.count; k++)
                assert_true (world->oracle.held [s_slot_of (world, *(uint32_t *)array_at (&holders, k))][path [at]]);
        }
    }
    array_fini (&holders);
}

static void
s_assert_explained (world_t *world, const uint32_t *path, const uint64_t *hashes, size_t count, size_t leading)
{
    uint32_t slot = (uint32_t)random_below (&world->random, HOLDERS);
    index_explanation_t explanation = index_explain (world->index, world->numbers [slot], hashes, count);
    uint32_t overlap = s_oracle_overlap (world, slot, path, count), hidden = 0, best = 0;
    for (uint32_t each = 0; each < HOLDERS; each++)
        if (s_oracle_overlap (world, each, path, count) > best)
            best = s_oracle_overlap (world, each, path, count);
    for (size_t i = overlap; i < count; i++)
        hidden += world->oracle.held [slot][path [i]] != 0;
    overlap_end_t end = overlap == count    ? OVERLAP_END_WHOLE
                        : overlap < leading ? OVERLAP_END_ELSEWHERE
                                            : OVERLAP_END_NOBODY;
    if (world->numbers [slot] == HOLDER_NONE)
        end = OVERLAP_END_STRANGER;
    assert_string_equal (overlap_end_name (explanation.end), overlap_end_name (end));
    assert_int_equal (explanation.overlap, overlap);
    assert_int_equal (explanation.hidden, hidden);
    assert_int_equal (explanation.best, best);
}

static void
s_ask (world_t *world)
{
    uint32_t path [PATH];
    uint64_t hashes [PATH];
    size_t count = s_random_path (world, path);
    index_match_t match;
    array_t overlaps;
    s_hash_path (world, path, count, hashes);
    index_match_init (&match);
    array_init (&overlaps, sizeof (index_overlap_t));
    index_match (world->index, hashes, count, &match);
    index_overlaps (world->index, &match, &overlaps);
    s_assert_overlaps (world, path, &overlaps, count);
    s_assert_segments (world, path, &match);
    size_t leading =
        match.segments.count ? ((index_segment_t *)array_at (&match.segments, match.segments.count - 1))->end : 0;
    s_assert_explained (world, path, hashes, count, leading);
    array_fini (&overlaps);
    index_match_fini (&match);
}

//  ---- Whole states --------------------------------------------------------------------------------------------------

static void
s_assert_references (const world_t *world)
{
    for (uint32_t slot = 0; slot < HOLDERS; slot++)
        for (uint32_t block = 0; block < world->blocks; block++)
            assert_int_equal (index_references (world->index, world->numbers [slot], world->hashes [block]),
                world->oracle.held [slot][block]);
}

//  What a walk gives makes another index the same.
static void
s_assert_walks (world_t *world)
{
    index_t *copy = index_new (NULL);
    for (uint32_t slot = 0; slot < HOLDERS; slot++) {
        if (world->numbers [slot] == HOLDER_NONE)
            continue;
        uint32_t number = index_holder_add (copy, index_holder (world->index, world->numbers [slot]));
        index_cursor_t cursor = { 0 };
        for (bool ended = false; !ended;) {
            index_block_t blocks [7];
            size_t count;
            index_walk (world->index, world->numbers [slot], &cursor, blocks, 7, &count, &ended);
            for (size_t i = 0; i < count; i++)
                for (uint32_t k = 0; k < blocks [i].references; k++)
                    index_store (copy, number, blocks [i].parent, &blocks [i].hash, 1, NULL);
        }
    }
    assert_int_equal (index_digest_all (copy), index_digest_all (world->index));
    index_check (copy);
    index_destroy (&copy);
}

//  Goes on with what a snapshot of the index was read into.
static void
s_reload (world_t *world)
{
    buffer_t bytes = { 0 };
    index_snapshot_t *snapshot = index_snapshot_new (world->index, 7);
    for (bool ended = false; !ended;)
        assert_int_equal (index_snapshot_next (snapshot, &bytes, 100, &ended), STATUS_OK);
    index_snapshot_destroy (&snapshot);
    index_t *copy = index_new (&world->options);
    index_load_t load;
    assert_int_equal (index_load_init (&load, copy, buffer_span (&bytes), NULL), STATUS_OK);
    while (!load.ended)
        assert_int_equal (index_load_next (&load, 100, NULL), STATUS_OK);
    index_load_fini (&load);
    buffer_fini (&bytes);
    index_check (copy);
    assert_int_equal (index_digest_all (copy), index_digest_all (world->index));
    for (uint32_t slot = 0; slot < HOLDERS; slot++)
        if (world->numbers [slot] != HOLDER_NONE)
            world->numbers [slot] = index_holder_find (copy, index_holder (world->index, world->numbers [slot]));
    index_destroy (&world->index);
    world->index = copy;
    s_begin_to_follow (world, world->follower.slot);
}

//  Somebody has nothing any more.
static void
s_forget (world_t *world, uint32_t slot)
{
    memset (world->oracle.held [slot], 0, sizeof world->oracle.held [slot]);
    if (world->follower.slot == slot)
        memset (world->follower.told, 0, sizeof world->follower.told);
}

static void
s_step (world_t *world)
{
    uint32_t slot = (uint32_t)random_below (&world->random, HOLDERS);
    uint64_t dice = random_below (&world->random, 1000);
    if (world->numbers [slot] == HOLDER_NONE)
        s_join (world, slot);
    if (dice < 400)
        s_store (world, slot);
    else if (dice < 700)
        s_remove (world, slot);
    else if (dice < 900)
        s_ask (world);
    else if (dice < 970)
        s_follow (world);
    else if (dice < 980)
        index_sweep (world->index, random_below (&world->random, 40));
    else if (dice < 995) {
        index_clear (world->index, world->numbers [slot], NULL);
        s_forget (world, slot);
    } else {
        index_retire (world->index, world->numbers [slot], NULL);
        world->numbers [slot] = HOLDER_NONE;
        s_forget (world, slot);
    }
}

static void
s_begin (world_t *world, const configuration_t *configuration)
{
    memset (world, 0, sizeof *world);
    random_init (&world->random, s_run.seed);
    world->options = (index_options_t){ .once = configuration->once, .rooted = configuration->rooted };
    world->honest = configuration->honest;
    world->blocks = configuration->blocks;
    world->index = index_new (&world->options);
    for (uint32_t block = 0; block < world->blocks; block++) {
        world->hashes [block] = configuration->alike ? (block + 1ull) << 32 | 1 : random_u64 (&world->random) | 1;
        world->parents [block] = block - 1;
        if (block == 0 || random_chance (&world->random, configuration->branching / 6))
            world->parents [block] = NOBODY;
        else if (random_chance (&world->random, configuration->branching))
            world->parents [block] = (uint32_t)random_below (&world->random, block);
    }
    for (uint32_t slot = 0; slot < HOLDERS; slot++)
        world->numbers [slot] = HOLDER_NONE;
}

static void
s_assert_something_happened (const world_t *world, uint64_t operations)
{
    index_stats_t stats;
    index_stats (world->index, &stats);
    assert_true (world->hits > operations / 10 && world->followed > operations / 1000);
    assert_true (stats.duplicates && stats.missing && stats.cleared && stats.orphans);
    assert_int_equal (stats.conflicts == 0, world->honest);
}

//  What is left of those that were cleared goes, and then the sweep has nothing more to do.
static void
s_assert_swept (const world_t *world)
{
    enum { CALLS_MAX = 1000, STEPS = 1000 };
    int calls = 0;
    while (calls < CALLS_MAX && index_sweep (world->index, STEPS))
        calls++;
    assert_true (calls < CALLS_MAX);
    index_check (world->index);
}

static void
s_run_configuration (const configuration_t *configuration)
{
    static world_t world;
    uint64_t operations = s_run.operations / 100 * configuration->operations;
    print_message ("seed %llu, %llu operations\n", (unsigned long long)s_run.seed, (unsigned long long)operations);
    s_begin (&world, configuration);
    for (uint64_t i = 0; i < operations; i++) {
        s_step (&world);
        if (i % 512 == 0) {
            index_check (world.index);
            s_assert_references (&world);
        }
        if (i % 4096 == 0 && world.honest)
            s_assert_walks (&world);
        if (i % 1000 == 999 && i < operations / 2)
            s_reload (&world);
    }
    s_assert_something_happened (&world, operations);
    s_assert_swept (&world);
    index_destroy (&world.index);
}

static void
test_equals_the_oracle_where_nobody_lies (void **state)
{
    s_run_configuration (&(configuration_t){ .operations = 100, .blocks = 120, .branching = 150000, .honest = true });
}

static void
test_equals_the_oracle_where_some_lie (void **state)
{
    s_run_configuration (&(configuration_t){ .operations = 100, .blocks = 120, .branching = 150000 });
}

static void
test_equals_the_oracle_where_nothing_may_come_before_its_parent (void **state)
{
    s_run_configuration (&(configuration_t){ .operations = 100, .blocks = 120, .branching = 150000, .rooted = true });
}

static void
test_equals_the_oracle_without_counting (void **state)
{
    s_run_configuration (&(configuration_t){ .operations = 100, .blocks = 120, .branching = 150000, .once = true });
}

static void
test_equals_the_oracle_that_others_are_measured_by (void **state)
{
    s_run_configuration (
        &(configuration_t){ .operations = 50, .blocks = 120, .branching = 150000, .once = true, .rooted = true });
}

static void
test_equals_the_oracle_where_hashes_are_made_up (void **state)
{
    s_run_configuration (
        &(configuration_t){ .operations = 50, .blocks = 80, .branching = 150000, .honest = true, .alike = true });
}

//  Chains longer than any run.
static void
test_equals_the_oracle_along_long_chains (void **state)
{
    s_run_configuration (&(configuration_t){ .operations = 20, .blocks = 500, .branching = 4000, .honest = true });
}

int
main (int argc, char **argv)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_the_oracle_where_nobody_lies),
        cmocka_unit_test (test_equals_the_oracle_where_some_lie),
        cmocka_unit_test (test_equals_the_oracle_where_nothing_may_come_before_its_parent),
        cmocka_unit_test (test_equals_the_oracle_without_counting),
        cmocka_unit_test (test_equals_the_oracle_that_others_are_measured_by),
        cmocka_unit_test (test_equals_the_oracle_where_hashes_are_made_up),
        cmocka_unit_test (test_equals_the_oracle_along_long_chains),
    };
    if (argc > 1)
        s_run.operations = strtoull (argv [1], NULL, 10);
    if (argc > 2)
        s_run.seed = strtoull (argv [2], NULL, 10);
    return cmocka_run_group_tests (tests, NULL, NULL);
}
