//  What somebody says that is not so does no harm to what others have: their overlaps are exact, here and in copies.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/answer_test.h"

enum { HONEST = 3, LIAR = HONEST, BLOCKS = 60, PATH = BLOCKS, ROUNDS = 3000, CHANGES = 20 };

typedef struct {
    random_t random;               //  Seeded
    index_t *index;                //  Under test
    uint32_t parents [BLOCKS];     //  Of each block; BLOCKS at a root
    uint64_t hashes [BLOCKS];      //  Of each block
    bool held [HONEST][BLOCKS];    //  Who has what
    uint64_t tempted;    //  Queries along which the liar had something, so that the test cannot pass on nothing
} world_t;

static uint64_t
s_hash (const world_t *world, uint32_t block)
{
    return block == BLOCKS ? INDEX_ROOT : world->hashes [block];
}

//  The blocks from a root to a random one, hashes of them.
static size_t
s_path (world_t *world, uint32_t *path, uint64_t *hashes)
{
    size_t count = answer_draw_path (&world->random, world->parents, BLOCKS, path);
    for (size_t i = 0; i < count; i++)
        hashes [i] = s_hash (world, path [i]);
    return count;
}

//  Blocks of one prompt behind those of another one, in the very place of what comes there; or any in a row that is none.
static void
s_lie (world_t *world)
{
    uint32_t path [PATH];
    uint64_t hashes [PATH], others [PATH];
    size_t count = s_path (world, path, hashes), other = s_path (world, path, others);
    size_t first = random_below (&world->random, count), some = 1 + random_below (&world->random, 4);
    if (random_chance (&world->random, 300000))
        index_remove (world->index, LIAR, hashes + first, count - first, NULL);
    else if (first && first <= other && random_chance (&world->random, 700000))
        index_store (
            world->index, LIAR, others [first - 1], hashes + first, some < count - first ? some : count - first, NULL);
    else {
        for (size_t i = 0; i < some; i++)
            hashes [i] = s_hash (world, (uint32_t)random_below (&world->random, BLOCKS));
        index_store (world->index, LIAR, s_hash (world, (uint32_t)random_below (&world->random, BLOCKS + 1)), hashes,
            some, NULL);
    }
}

static void
s_change (world_t *world)
{
    uint32_t path [PATH], holder = (uint32_t)random_below (&world->random, HONEST);
    uint64_t hashes [PATH], dice = random_below (&world->random, 100);
    size_t count = s_path (world, path, hashes), first = random_below (&world->random, count);
    if (dice < 50) {
        s_lie (world);
        return;
    }
    if (dice < 75)
        index_store (
            world->index, holder, first ? hashes [first - 1] : INDEX_ROOT, hashes + first, count - first, NULL);
    else
        index_remove (world->index, holder, hashes + first, count - first, NULL);
    for (size_t i = first; i < count; i++)
        world->held [holder][path [i]] = dice < 75;
}

static void
s_assert_overlaps (world_t *world, const index_t *index)
{
    uint32_t path [PATH], said [HONEST + 1];
    uint64_t hashes [PATH];
    size_t count = s_path (world, path, hashes);
    answer_by_owner (index, hashes, count, said, HONEST + 1);
    for (uint32_t holder = 0; holder < HONEST; holder++) {
        uint32_t expected = 0;
        while (expected < count && world->held [holder][path [expected]])
            expected++;
        assert_int_equal (said [holder], expected);
    }
    world->tempted += said [LIAR] != 0;
}

//  A copy of one that joins late, holder by holder: rows of blocks, each behind what the walk says.
static index_t *
s_copy_walk (const index_t *index)
{
    index_t *copy = index_new (&(index_options_t){ .once = true });
    for (uint32_t holder = 0; holder <= LIAR; holder++) {
        index_cursor_t cursor = { 0 };
        index_block_t block;
        size_t count;
        index_holder_add (copy, index_holder (index, holder));
        for (bool ended = false; !ended;) {
            index_walk (index, holder, &cursor, &block, 1, &count, &ended);
            if (count)
                index_store (copy, holder, block.parent, &block.hash, 1, NULL);
        }
    }
    return copy;
}

static void
s_look_at_copies (world_t *world)
{
    index_t *bytes = answer_copy (world->index, 64), *walked = s_copy_walk (world->index);
    for (int i = 0; i < 5 * CHANGES; i++) {
        s_assert_overlaps (world, bytes);
        s_assert_overlaps (world, walked);
    }
    assert_int_equal (index_digest_all (bytes), index_digest_all (world->index));
    index_check (walked);
    index_check (bytes);
    index_destroy (&walked);
    index_destroy (&bytes);
}

static void
test_a_liar_changes_nobody_else_s_overlap (void **state)
{
    enum { SEED = 20261130 };
    static world_t world;
    print_message ("seed %d\n", SEED);
    random_init (&world.random, SEED);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        world.hashes [i] = hash_u64 (i);
        world.parents [i] = i && random_chance (&world.random, 950000)
                                ? i - 1 - (uint32_t)random_below (&world.random, i > 2 ? 2 : 1)
                                : BLOCKS;
    }
    world.index = index_new (&(index_options_t){ .once = true });
    for (uint32_t i = 0; i <= LIAR; i++)
        index_holder_add (world.index, &(holder_t){ .owner = i });
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CHANGES; i++) {
            s_change (&world);
            s_assert_overlaps (&world, world.index);
        }
        if (round % 2 == 0) {
            index_check (world.index);
            s_look_at_copies (&world);
        }
        if (round % 50 == 0)
            for (uint32_t holder = 0; holder <= LIAR; holder++)
                index_clear (world.index, holder, NULL);
        if (round % 50 == 0)
            memset (world.held, 0, sizeof world.held);
    }
    assert_true (world.tempted > ROUNDS);
    index_destroy (&world.index);
}

//  The liar says A Y Q.  An honest one has A Y and had A Z Q, of which Z went: of that it has A, here and in copies.
static void
test_a_copy_knows_what_is_disputed (void **state)
{
    const uint64_t said [] = { hash_u64 (0), hash_u64 (1), hash_u64 (2) };
    const uint64_t asked [] = { said [0], hash_u64 (3), said [2] };
    uint32_t overlaps [HONEST + 1];
    index_t *index = index_new (&(index_options_t){ .once = true });
    for (uint32_t i = 0; i <= LIAR; i++)
        index_holder_add (index, &(holder_t){ .owner = i });
    index_store (index, LIAR, INDEX_ROOT, said, 3, NULL);
    index_store (index, 0, INDEX_ROOT, said, 2, NULL);
    index_store (index, 0, asked [0], asked + 1, 2, NULL);
    index_remove (index, 0, asked + 1, 1, NULL);
    index_t *all [] = { index, answer_copy (index, 64), s_copy_walk (index) };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        answer_by_owner (all [i], asked, 3, overlaps, HONEST + 1);
        assert_int_equal (overlaps [0], 1);
        index_check (all [i]);
        index_destroy (&all [i]);
    }
}

//  The liar puts the last of other blocks behind those of an honest one, which has only the first of the others.
static void
test_an_end_that_is_made_up_brings_in_nothing_before_it (void **state)
{
    enum { ROW = 40 };
    uint64_t row [ROW], others [ROW + 1];
    index_t *index = index_new (NULL);
    for (uint32_t i = 0; i <= LIAR; i++)
        index_holder_add (index, &(holder_t){ .owner = i });
    for (size_t i = 0; i < ROW; i++)
        row [i] = hash_u64 (i);
    index_store (index, 0, INDEX_ROOT, row, ROW, NULL);
    for (size_t common = 1; common < ROW; common++) {
        uint32_t overlaps [HONEST + 1];
        memcpy (others, row, common * sizeof *row);
        for (size_t i = common; i <= ROW; i++)
            others [i] = hash_u64 (ROW * common + i);
        index_store (index, LIAR, row [ROW - 1], &others [ROW], 1, NULL);
        answer_by_owner (index, others, ROW + 1, overlaps, HONEST + 1);
        assert_int_equal (overlaps [0], common);
        index_remove (index, LIAR, &others [ROW], 1, NULL);
    }
    index_destroy (&index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_liar_changes_nobody_else_s_overlap),
        cmocka_unit_test (test_a_copy_knows_what_is_disputed),
        cmocka_unit_test (test_an_end_that_is_made_up_brings_in_nothing_before_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
