//  What is being computed, by whom and until when; and the same against a list of prefills.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/pending.h"

enum { BLOCKS = 30, PREFILLS = 20, WORKERS = 4, OPERATIONS = 100000, LIMIT = 160 };

static const holder_t s_worker = { .owner = 7, .tier = TIER_DEVICE };
static const uint64_t s_chain [] = { 11, 22, 33, 44, 55, 66 };

static uint32_t
s_holder (const index_t *index, uint32_t owner)
{
    return index_holder_find (index, &(holder_t){ .owner = owner, .tier = TIER_DEVICE, .kind = HOLDER_PENDING });
}

static size_t
s_expire_at (pending_t *pending, uint64_t now_ns)
{
    size_t left = SIZE_MAX;
    return pending_expire (pending, now_ns, &left);
}

static uint32_t
s_overlap (const index_t *index, uint32_t owner, const uint64_t *hashes, size_t count)
{
    return index_explain (index, s_holder (index, owner), hashes, count).overlap;
}

//  A sibling that comes in the blind window sees what its elder brother's worker will have, and when.
static void
test_a_sibling_sees_what_is_on_its_way (void **state)
{
    index_t *index = index_new (NULL);
    pending_t *pending = pending_new (index, 100);
    uint64_t first, second;
    assert_int_equal (
        pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 3, 1000, 5000 }, &first, NULL), STATUS_OK);
    assert_int_equal (s_overlap (index, 7, s_chain, 6), 3);
    uint32_t holder = s_holder (index, 7);
    assert_int_equal (pending_expected (pending, holder, 2, s_chain [2]), 1000);
    assert_int_equal (pending_expected (pending, holder, 3, s_chain [3]), 0);
    assert_int_equal (pending_expected (pending, holder + 1, 2, s_chain [2]), 0);

    assert_int_equal (
        pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 5, 3000, 4000 }, &second, NULL), STATUS_OK);
    assert_int_equal (s_overlap (index, 7, s_chain, 6), 5);
    assert_int_equal (pending_expected (pending, holder, 2, s_chain [2]), 1000);
    assert_int_equal (pending_expected (pending, holder, 4, s_chain [4]), 3000);
    assert_true (pending_settle (pending, second));
    assert_int_equal (s_overlap (index, 7, s_chain, 6), 3);
    pending_destroy (&pending);
    assert_null (pending);
    assert_int_equal (s_overlap (index, 7, s_chain, 6), 0);
    index_destroy (&index);
}

static void
test_prefills_end_once (void **state)
{
    index_t *index = index_new (NULL);
    pending_t *pending = pending_new (index, 100);
    uint64_t first, second;
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 2, 10, 100 }, &first, NULL);
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 4, 20, 200 }, &second, NULL);
    assert_true (pending_settle (pending, second));
    assert_false (pending_settle (pending, second));
    assert_int_equal (s_overlap (index, 7, s_chain, 6), 2);
    assert_int_equal (s_expire_at (pending, 99), 0);
    assert_int_equal (s_expire_at (pending, 100), 1);
    assert_false (pending_settle (pending, first));
    pending_stats_t stats;
    pending_stats (pending, &stats);
    assert_int_equal (stats.added, 2);
    assert_int_equal (stats.settled, 1);
    assert_int_equal (stats.expired, 1);
    assert_int_equal (stats.blocks, 0);
    pending_destroy (&pending);
    index_destroy (&index);
}

static void
test_what_is_refused_is_not_pending (void **state)
{
    index_t *index = index_new (NULL), *full = index_new (&(index_options_t){ .memory_limit = 1 });
    pending_t *pending = pending_new (index, 5), *hopeless = pending_new (full, 5);
    uint64_t id;
    pending_stats_t stats;
    assert_int_equal (
        pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 6, 10, 100 }, &id, NULL), STATUS_LIMIT);
    assert_int_equal (
        pending_add (pending, &(pending_prompt_t){ &s_worker, (uint64_t []){ 11, 0 }, 2, 10, 100 }, &id, NULL),
        STATUS_INVALID);
    assert_int_equal (
        pending_add (hopeless, &(pending_prompt_t){ &s_worker, s_chain, 2, 10, 100 }, &id, NULL), STATUS_LIMIT);
    assert_int_equal (id, 0);
    assert_int_equal (s_overlap (index, 7, s_chain, 6), 0);
    pending_stats (pending, &stats);
    assert_int_equal (stats.refused, 2);
    assert_int_equal (stats.blocks, 0);
    pending_destroy (&hopeless);
    pending_destroy (&pending);
    index_destroy (&full);
    index_destroy (&index);
}

static void
test_a_worker_that_goes_takes_what_it_computes_with_it (void **state)
{
    index_t *index = index_new (NULL);
    pending_t *pending = pending_new (index, 100);
    uint64_t id, other;
    pending_forget (pending, &s_worker);
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 4, 10, 100 }, &id, NULL);
    pending_add (pending, &(pending_prompt_t){ &(holder_t){ .owner = 8 }, s_chain, 2, 10, 100 }, &other, NULL);
    pending_forget (pending, &s_worker);
    assert_int_equal (s_holder (index, 7), HOLDER_NONE);
    assert_false (pending_settle (pending, id));
    assert_true (pending_settle (pending, other));
    pending_destroy (&pending);
    index_destroy (&index);
}

//  Much that expires or goes at once is forgotten step by step; what has gone is nobody's from the first moment on.
static void
test_much_that_ends_at_once_ends_in_steps (void **state)
{
    enum { PREFILLS_AT_ONCE = 100 };
    index_t *index = index_new (NULL);
    pending_t *pending = pending_new (index, 10000);
    uint64_t id, calls = 0;
    pending_stats_t stats;
    for (int i = 0; i < PREFILLS_AT_ONCE; i++) {
        pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 6, 10, 100 }, &id, NULL);
        pending_add (pending, &(pending_prompt_t){ &(holder_t){ .owner = 8 }, s_chain, 4, 10, 50 }, &id, NULL);
    }
    for (size_t expired = 0, left; expired < PREFILLS_AT_ONCE; calls++) {
        left = 30;
        size_t now = pending_expire (pending, 50, &left);
        assert_in_range (now, 1, 3);
        expired += now;
    }
    assert_int_equal (s_overlap (index, 8, s_chain, 6), 0);
    assert_true (calls > PREFILLS_AT_ONCE / 4);
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 6, 10, 100 }, &id, NULL);
    pending_forget (pending, &s_worker);
    assert_false (pending_settle (pending, id));
    assert_int_equal (s_holder (index, 7), HOLDER_NONE);
    pending_stats (pending, &stats);
    assert_int_equal (stats.blocks, 0);
    assert_int_equal (stats.expired, PREFILLS_AT_ONCE);
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 2, 10, 1000 }, &id, NULL);
    assert_false (pending_is_idle (pending));
    for (size_t left = 0; left == 0; calls++) {
        left = 30;
        assert_int_equal (pending_expire (pending, 100, &left), 0);
    }
    assert_true (calls > PREFILLS_AT_ONCE / 2);
    assert_int_equal (s_overlap (index, 7, s_chain, 6), 2);
    assert_true (pending_settle (pending, id));
    assert_true (pending_is_idle (pending));
    pending_destroy (&pending);
    index_destroy (&index);
}

//  What the worker says that it has is pending no more; two that wait for the same block end together, and one whose last
//  block does not come stays.
static void
test_what_is_stored_is_not_pending (void **state)
{
    index_t *index = index_new (NULL);
    pending_t *pending = pending_new (index, 100);
    uint64_t first, twin, longer;
    size_t count;
    uint32_t holder, exact = index_holder_add (index, &s_worker);
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 3, 10, 100 }, &first, NULL);
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 3, 20, 100 }, &twin, NULL);
    pending_add (pending, &(pending_prompt_t){ &s_worker, s_chain, 5, 30, 100 }, &longer, NULL);
    assert_non_null (pending_blocks (pending, longer, &holder, &count));
    assert_int_equal (count, 5);
    assert_int_equal (holder, s_holder (index, 7));
    index_store (index, exact, INDEX_ROOT, s_chain, 2, NULL);
    assert_int_equal (pending_arrived (pending, &s_worker, exact), 0);
    index_store (index, exact, s_chain [1], s_chain + 2, 2, NULL);
    assert_int_equal (pending_arrived (pending, &s_worker, exact), 2);
    assert_int_equal (pending_arrived (pending, &(holder_t){ .owner = 8 }, exact), 0);
    assert_false (pending_settle (pending, first));
    assert_null (pending_blocks (pending, twin, &holder, &count));
    assert_int_equal (holder, HOLDER_NONE);
    assert_int_equal (count, 0);
    assert_true (pending_settle (pending, longer));
    pending_destroy (&pending);
    index_destroy (&index);
}

static uint64_t
s_memberships (const index_t *index)
{
    index_stats_t stats;
    index_stats (index, &stats);
    return stats.memberships;
}

//  A long prompt comes into the index, and leaves it, no more than so many blocks at a time; what is over counts no more from
//  then on, and what a worker was to compute that goes in the middle goes too.
static void
test_a_long_prompt_comes_and_goes_in_steps (void **state)
{
    enum { SLICE = 512, LONG = 5 * SLICE / 2 };
    static uint64_t hashes [LONG];
    index_t *index = index_new (NULL);
    pending_t *pending = pending_new (index, 10 * LONG);
    for (uint64_t i = 0; i < LONG; i++)
        hashes [i] = hash_u64 (i);
    for (int goes = 0; goes < 2; goes++) {
        uint64_t id, first;
        pending_add (pending, &(pending_prompt_t){ &s_worker, hashes, 2, 10, 100 }, &first, NULL);
        assert_int_equal (
            pending_add (pending, &(pending_prompt_t){ &s_worker, hashes, LONG, 20, 100 }, &id, NULL), STATUS_OK);
        assert_true (pending_settle (pending, first));
        for (size_t end = SLICE; end < LONG; end = end + SLICE < LONG ? end + SLICE : LONG) {
            assert_int_equal (s_overlap (index, s_worker.owner, hashes, LONG), end);
            size_t left = SLICE;
            pending_expire (pending, 1, &left);
        }
        assert_int_equal (s_overlap (index, s_worker.owner, hashes, LONG), LONG);
        if (goes) {
            assert_true (pending_settle (pending, id));
            assert_false (pending_settle (pending, id));
            assert_int_equal (s_memberships (index), LONG - SLICE + 8);
            assert_int_equal (s_overlap (index, s_worker.owner, hashes, LONG), 0);
            size_t left = SLICE;
            pending_expire (pending, 1, &left);
            assert_int_equal (s_memberships (index), LONG - 2 * SLICE + 8);
            assert_false (pending_is_idle (pending));
        }
        pending_forget (pending, &s_worker);
        s_expire_at (pending, 2);
        assert_int_equal (s_memberships (index), 0);
        assert_true (pending_is_idle (pending));
        index_check (index);
    }
    pending_destroy (&pending);
    index_destroy (&index);
}

//  ---- Against a list ------------------------------------------------------------------------------------------------

typedef struct {
    uint64_t id;             //  0: none
    uint32_t owner;          //  Who
    uint32_t count;          //  Blocks
    uint64_t expected_ns;    //  Done
    uint64_t expiry_ns;      //  Forgotten
} prefill_t;

typedef struct {
    random_t random;                  //  Seeded
    index_t *index;                   //  Under test
    pending_t *pending;               //  Under test
    prefill_t prefills [PREFILLS];    //  Oracle
    uint64_t hashes [BLOCKS];         //  A chain
    uint64_t now;                     //  ns
    uint64_t used;                    //  Blocks pending
    uint64_t refused;                 //  So that the test cannot pass on nothing
} world_t;

static void
s_compare (world_t *world, uint32_t owner)
{
    uint32_t overlap = 0, position = (uint32_t)random_below (&world->random, BLOCKS);
    uint64_t earliest = 0;
    for (int i = 0; i < PREFILLS; i++) {
        const prefill_t *prefill = &world->prefills [i];
        if (!prefill->id || prefill->owner != owner)
            continue;
        overlap = prefill->count > overlap ? prefill->count : overlap;
        if (position < prefill->count && (!earliest || prefill->expected_ns < earliest))
            earliest = prefill->expected_ns;
    }
    assert_int_equal (s_overlap (world->index, owner, world->hashes, BLOCKS), overlap);
    uint32_t holder = s_holder (world->index, owner);
    assert_int_equal (pending_expected (world->pending, holder, position, world->hashes [position]), earliest);
}

static void
s_add_or_settle (world_t *world, prefill_t *prefill)
{
    if (prefill->id) {
        assert_true (pending_settle (world->pending, prefill->id));
        world->used -= prefill->count;
        prefill->id = 0;
        return;
    }
    prefill->owner = (uint32_t)random_below (&world->random, WORKERS);
    prefill->count = (uint32_t)random_below (&world->random, BLOCKS + 1);
    prefill->expected_ns = world->now + random_below (&world->random, 40);
    prefill->expiry_ns = world->now + 1 + random_below (&world->random, 60);
    holder_t worker = { .owner = prefill->owner, .tier = TIER_DEVICE };
    status_t status = pending_add (world->pending,
        &(pending_prompt_t){ &worker, world->hashes, prefill->count, prefill->expected_ns, prefill->expiry_ns },
        &prefill->id, NULL);
    assert_int_equal (status, world->used + prefill->count > LIMIT ? STATUS_LIMIT : STATUS_OK);
    assert_int_equal (prefill->id != 0, status == STATUS_OK);
    world->used += status == STATUS_OK ? prefill->count : 0;
    world->refused += status != STATUS_OK;
}

static void
s_expire (world_t *world)
{
    size_t expired = 0;
    for (int i = 0; i < PREFILLS; i++) {
        prefill_t *prefill = &world->prefills [i];
        if (!prefill->id || prefill->expiry_ns > world->now)
            continue;
        world->used -= prefill->count;
        prefill->id = 0;
        expired++;
    }
    assert_int_equal (s_expire_at (world->pending, world->now), expired);
}

static void
test_equals_a_list_of_prefills (void **state)
{
    world_t world = { .index = index_new (NULL) };
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&world.random, seed);
    for (uint64_t i = 0; i < BLOCKS; i++)
        world.hashes [i] = hash_u64 (i);
    world.pending = pending_new (world.index, LIMIT);
    for (world.now = 1; world.now < OPERATIONS; world.now++) {
        s_add_or_settle (&world, &world.prefills [random_below (&world.random, PREFILLS)]);
        s_expire (&world);
        s_compare (&world, (uint32_t)random_below (&world.random, WORKERS));
    }
    index_check (world.index);
    assert_true (world.refused > 100);
    pending_destroy (&world.pending);
    index_destroy (&world.index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_sibling_sees_what_is_on_its_way),
        cmocka_unit_test (test_prefills_end_once),
        cmocka_unit_test (test_what_is_refused_is_not_pending),
        cmocka_unit_test (test_a_worker_that_goes_takes_what_it_computes_with_it),
        cmocka_unit_test (test_much_that_ends_at_once_ends_in_steps),
        cmocka_unit_test (test_what_is_stored_is_not_pending),
        cmocka_unit_test (test_a_long_prompt_comes_and_goes_in_steps),
        cmocka_unit_test (test_equals_a_list_of_prefills),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
