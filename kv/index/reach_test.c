//  What workers reach in several holders, against a look at every block.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/reach.h"

enum { WORKERS = 6, HOLDERS = 9, BLOCKS = 12, ROUNDS = 20000 };

typedef struct {
    random_t random;                    //  Seeded
    index_t *index;                     //  Of all rounds
    reach_t *reach;                     //  Under test
    bool reaches [WORKERS][HOLDERS];    //  Who reaches whom
    bool held [HOLDERS][BLOCKS];        //  Who holds what
    uint64_t hashes [BLOCKS];           //  A chain
} world_t;

static void
s_assert_overlap (const world_t *world, uint32_t worker, const reach_overlap_t *said)
{
    reach_overlap_t expected = { .worker = worker };
    for (uint32_t block = 0; block < BLOCKS; block++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t number = 0; number < HOLDERS; number++) {
            const holder_t *holder = index_holder (world->index, number);
            uint32_t rank = holder->kind * 10u + holder->tier;
            if (world->reaches [worker][number] && world->held [number][block] && rank < best)
                best = rank;
        }
        if (best == UINT32_MAX)
            break;
        expected.total++;
        expected.blocks [best % 10]++;
        expected.approximate += best / 10 == HOLDER_APPROXIMATE;
        expected.pending += best / 10 == HOLDER_PENDING;
    }
    if (said)
        assert_memory_equal (said, &expected, sizeof expected);
    else
        assert_int_equal (expected.total, 0);
}

static void
s_change (world_t *world)
{
    uint32_t worker = (uint32_t)random_below (&world->random, WORKERS);
    uint32_t holder = (uint32_t)random_below (&world->random, HOLDERS);
    uint64_t dice = random_below (&world->random, 1000);
    if (dice < 200) {
        assert_int_equal (reach_remove (world->reach, worker, holder), world->reaches [worker][holder]);
        world->reaches [worker][holder] = false;
    } else if (dice < 400) {
        reach_add (world->reach, worker, holder);
        world->reaches [worker][holder] = true;
    } else if (dice < 405) {
        reach_forget_worker (world->reach, worker);
        memset (world->reaches [worker], 0, sizeof world->reaches [worker]);
    } else if (dice < 410) {
        reach_forget_holder (world->reach, holder);
        for (uint32_t each = 0; each < WORKERS; each++)
            world->reaches [each][holder] = false;
    } else {
        uint32_t block = (uint32_t)random_below (&world->random, BLOCKS);
        if (world->held [holder][block])
            index_remove (world->index, holder, &world->hashes [block], 1, NULL);
        else
            index_store (world->index, holder, INDEX_ROOT, &world->hashes [block], 1, NULL);
        world->held [holder][block] = !world->held [holder][block];
    }
}

static void
s_compare (world_t *world, const index_match_t *match, array_t *overlaps)
{
    const reach_overlap_t *said [WORKERS] = { NULL };
    array_cut (overlaps, 0);
    *(reach_overlap_t *)array_add (overlaps) = (reach_overlap_t){ .worker = 77 };    //  Stays as it is
    reach_overlaps (world->reach, world->index, match, overlaps);
    assert_int_equal (((reach_overlap_t *)overlaps->data)->worker, 77);
    for (size_t i = 1; i < overlaps->count; i++) {
        const reach_overlap_t *each = array_at (overlaps, i);
        assert_null (said [each->worker]);
        said [each->worker] = each;
    }
    for (uint32_t worker = 0; worker < WORKERS; worker++)
        s_assert_overlap (world, worker, said [worker]);
}

static void
test_a_worker_reaches_the_best_of_its_holders (void **state)
{
    static world_t world;
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&world.random, seed);
    world.index = index_new (NULL);
    world.reach = reach_new ();
    for (uint32_t i = 0; i < HOLDERS; i++) {
        holder_t holder = { .owner = i, .tier = (uint8_t)(i % TIER_COUNT), .kind = (uint8_t)(i / 4) };
        assert_int_equal (index_holder_add (world.index, &holder), i);
    }
    for (uint64_t i = 0; i < BLOCKS; i++)
        world.hashes [i] = hash_u64 (i);
    index_match_t match;
    array_t overlaps;
    index_match_init (&match);
    array_init (&overlaps, sizeof (reach_overlap_t));
    for (int round = 0; round < ROUNDS; round++) {
        s_change (&world);
        index_match (world.index, world.hashes, BLOCKS, &match);
        s_compare (&world, &match, &overlaps);
    }
    array_fini (&overlaps);
    index_match_fini (&match);
    reach_destroy (&world.reach);
    assert_null (world.reach);
    index_destroy (&world.index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_worker_reaches_the_best_of_its_holders),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
