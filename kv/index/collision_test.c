//  Two different blocks with one hash: whoever has the one, and what is before the other, is said to have the other too, and
//  nothing else that is not so.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/random.h"
#include "kv/index/answer_test.h"

enum { HOLDERS = 4, BLOCKS = 60, TWINS = 8, PATH = BLOCKS, ROUNDS = 400, CHANGES = 50 };

//  Blocks of several prompts.  Block BLOCKS / 2 + i is the twin of block i, for i below TWINS: not it, but with the same hash.
typedef struct {
    random_t random;               //  Seeded
    index_t *index;                //  Under test
    uint32_t parents [BLOCKS];     //  Of each block; BLOCKS at a root
    uint64_t hashes [BLOCKS];      //  Of each block
    int held [HOLDERS][BLOCKS];    //  How often who has what
    uint64_t deceived;             //  Answers that were too high, so that the test cannot pass on nothing
} world_t;

static uint32_t
s_twin (uint32_t block)
{
    if (block % (BLOCKS / 2) >= TWINS)
        return block;
    return (block + BLOCKS / 2) % BLOCKS;
}

//  The blocks from a root to a random one, and their hashes.
static size_t
s_path (world_t *world, uint32_t *path, uint64_t *hashes)
{
    size_t count = answer_draw_path (&world->random, world->parents, BLOCKS, path);
    for (size_t i = 0; i < count; i++)
        hashes [i] = world->hashes [path [i]];
    return count;
}

//  A holder computes the end of a prompt, or frees it from its end on: it says nothing that is not so.
static void
s_change (world_t *world)
{
    uint32_t path [PATH], holder = (uint32_t)random_below (&world->random, HOLDERS);
    uint64_t hashes [PATH];
    size_t count = s_path (world, path, hashes), first = random_below (&world->random, count);
    int *held = world->held [holder];
    if (random_chance (&world->random, 500000)) {
        index_store (
            world->index, holder, first ? hashes [first - 1] : INDEX_ROOT, hashes + first, count - first, NULL);
        for (size_t i = first; i < count; i++)
            held [path [i]]++;
    } else
        for (size_t i = count; i-- > first;)
            while (held [path [i]] && random_chance (&world->random, 900000)) {
                index_remove (world->index, holder, hashes + i, 1, NULL);
                held [path [i]]--;
            }
}

//  Nobody is said to have less than it has, and more only where it has the twin of what it lacks.
static void
s_assert_overlaps (world_t *world, const index_t *index)
{
    uint32_t path [PATH], said [HOLDERS];
    uint64_t hashes [PATH];
    size_t count = s_path (world, path, hashes);
    answer_by_owner (index, hashes, count, said, HOLDERS);
    for (uint32_t holder = 0; holder < HOLDERS; holder++) {
        const int *held = world->held [holder];
        uint32_t has = 0, seems = 0;
        while (has < count && held [path [has]])
            has++;
        while (seems < count && (held [path [seems]] || held [s_twin (path [seems])]))
            seems++;
        assert_int_equal (said [holder], seems);
        world->deceived += seems > has;
    }
}

static void
s_remove_all (world_t *world, uint32_t block)
{
    for (uint32_t holder = 0; holder < HOLDERS; holder++)
        for (; world->held [holder][block]; world->held [holder][block]--)
            index_remove (world->index, holder, &world->hashes [block], 1, NULL);
}

static void
s_begin (world_t *world, uint64_t seed)
{
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&world->random, seed);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        bool is_twin = i >= BLOCKS / 2 && s_twin (i) != i;
        world->hashes [i] = is_twin ? world->hashes [s_twin (i)] : random_u64 (&world->random) | 1;
        world->parents [i] = i && random_chance (&world->random, 900000)
                                 ? i - 1 - (uint32_t)random_below (&world->random, i > 2 ? 2 : 1)
                                 : BLOCKS;
    }
    world->index = index_new (NULL);
    for (uint32_t i = 0; i < HOLDERS; i++)
        index_holder_add (world->index, &(holder_t){ .owner = i });
}

static void
test_blocks_with_one_hash_are_taken_for_one_and_do_no_other_harm (void **state)
{
    static world_t world;
    s_begin (&world, 20261130);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CHANGES; i++) {
            s_change (&world);
            s_assert_overlaps (&world, world.index);
        }
        index_check (world.index);
        index_t *copy = answer_copy (world.index, 4096);
        for (int i = 0; i < CHANGES; i++)
            s_assert_overlaps (&world, copy);
        index_check (copy);
        index_destroy (&copy);
    }
    assert_true (world.deceived > ROUNDS);
    for (uint32_t i = 0; i < TWINS; i++) {
        s_remove_all (&world, i);
        s_remove_all (&world, s_twin (i));
    }
    world.deceived = 0;
    for (int i = 0; i < 20 * CHANGES; i++)
        s_assert_overlaps (&world, world.index);
    assert_int_equal (world.deceived, 0);
    index_destroy (&world.index);
}

//  Where they are behind different blocks it shows, whoever stores the second.
static void
test_it_shows_where_they_are_behind_different_blocks (void **state)
{
    const uint64_t one [] = { 11, 77, 13 }, other [] = { 21, 77, 23 };
    index_stats_t stats;
    uint32_t said [HOLDERS];
    index_t *index = index_new (NULL);
    for (uint32_t i = 0; i < HOLDERS; i++)
        index_holder_add (index, &(holder_t){ .owner = i });
    index_store (index, 0, INDEX_ROOT, one, 3, NULL);
    index_store (index, 1, INDEX_ROOT, other, 3, NULL);
    index_stats (index, &stats);
    assert_int_equal (stats.conflicts, 1);
    answer_by_owner (index, one, 3, said, HOLDERS);
    assert_int_equal (said [0], 3);
    assert_int_equal (said [1], 0);
    answer_by_owner (index, other, 3, said, HOLDERS);
    assert_int_equal (said [0], 0);
    assert_int_equal (said [1], 3);
    index_destroy (&index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_blocks_with_one_hash_are_taken_for_one_and_do_no_other_harm),
        cmocka_unit_test (test_it_shows_where_they_are_behind_different_blocks),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
