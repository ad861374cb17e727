//  What is being computed, by whom and until when; and the same against a list of prefills.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/pending.h"

enum { BLOCKS = 30, PREFILLS = 20, OWNERS = 4, OPERATIONS = 100000, LIMIT = 80 };

static const uint64_t s_chain [] = { 11, 22, 33, 44, 55, 66 };

//  A sibling that comes in the blind window sees what its elder brother's worker will have, and when.
static void
test_a_sibling_sees_what_is_on_its_way (void **state)
{
    pending_t *pending = pending_new (100);
    uint64_t first, second, expected_ns;
    assert_int_equal (pending_add (pending, 7, s_chain + 1, 3, 1000, 5000, &first, NULL), STATUS_OK);
    assert_int_equal (pending_overlap (pending, 7, s_chain + 1, 5, &expected_ns), 3);
    assert_int_equal (expected_ns, 1000);
    assert_int_equal (pending_overlap (pending, 7, s_chain, 6, &expected_ns), 0);
    assert_int_equal (pending_overlap (pending, 8, s_chain + 1, 5, &expected_ns), 0);
    assert_int_equal (expected_ns, 0);

    assert_int_equal (pending_add (pending, 7, s_chain + 3, 2, 3000, 4000, &second, NULL), STATUS_OK);
    assert_int_equal (pending_overlap (pending, 7, s_chain + 1, 5, &expected_ns), 4);
    assert_int_equal (expected_ns, 3000);
    array_t owners;
    array_init (&owners, sizeof (uint32_t));
    pending_owners (pending, s_chain [3], &owners);
    assert_int_equal (owners.count, 2);
    assert_int_equal (*(uint32_t *)array_at (&owners, 0), 7);
    array_fini (&owners);
    pending_destroy (&pending);
    assert_null (pending);
}

static void
test_prefills_end_once (void **state)
{
    pending_t *pending = pending_new (100);
    uint64_t first, second, expected_ns;
    pending_add (pending, 1, s_chain, 2, 10, 100, &first, NULL);
    pending_add (pending, 1, s_chain, 4, 20, 200, &second, NULL);
    assert_true (pending_settle (pending, second));
    assert_false (pending_settle (pending, second));
    assert_int_equal (pending_overlap (pending, 1, s_chain, 6, &expected_ns), 2);
    assert_int_equal (pending_expire (pending, 99), 0);
    assert_int_equal (pending_expire (pending, 100), 1);
    assert_false (pending_settle (pending, first));
    pending_stats_t stats;
    pending_stats (pending, &stats);
    assert_int_equal (stats.added, 2);
    assert_int_equal (stats.settled, 1);
    assert_int_equal (stats.expired, 1);
    assert_int_equal (stats.blocks, 0);
    pending_destroy (&pending);
}

typedef struct {
    uint64_t id;             //  0: none
    uint32_t owner;          //  Who
    uint64_t blocks;         //  A bit each
    uint64_t expected_ns;    //  Done
    uint64_t expiry_ns;      //  Forgotten
} prefill_t;

static void
s_compare (const pending_t *pending, const prefill_t *prefills, const uint64_t *hashes, uint32_t first, uint32_t owner)
{
    uint64_t expected_ns = 0, said_ns;
    uint32_t overlap = 0;
    for (; first + overlap < BLOCKS; overlap++) {
        uint64_t earliest = UINT64_MAX;
        for (int i = 0; i < PREFILLS; i++)
            if (prefills [i].id && prefills [i].owner == owner && prefills [i].blocks >> (first + overlap) & 1 &&
                prefills [i].expected_ns < earliest)
                earliest = prefills [i].expected_ns;
        if (earliest == UINT64_MAX)
            break;
        expected_ns = earliest > expected_ns ? earliest : expected_ns;
    }
    assert_int_equal (pending_overlap (pending, owner, hashes + first, BLOCKS - first, &said_ns), overlap);
    assert_int_equal (said_ns, expected_ns);
}

static void
test_equals_a_list_of_prefills (void **state)
{
    prefill_t prefills [PREFILLS] = { 0 };
    uint64_t hashes [BLOCKS], seed = 20261129, used = 0, refused = 0;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    for (uint64_t i = 0; i < BLOCKS; i++)
        hashes [i] = hash_u64 (i);
    pending_t *pending = pending_new (LIMIT);
    for (uint64_t now = 1; now < OPERATIONS; now++) {
        prefill_t *prefill = &prefills [random_below (&random, PREFILLS)];
        uint32_t first = (uint32_t)random_below (&random, BLOCKS);
        uint32_t count = (uint32_t)random_below (&random, BLOCKS - first + 1);
        if (prefill->id) {
            assert_true (pending_settle (pending, prefill->id));
            used -= (uint64_t)__builtin_popcountll (prefill->blocks);
            prefill->id = 0;
        } else {
            *prefill = (prefill_t){ 0, (uint32_t)random_below (&random, OWNERS), ((1ull << count) - 1) << first,
                now + random_below (&random, 40), now + 1 + random_below (&random, 60) };
            status_t status = pending_add (pending, prefill->owner, hashes + first, count, prefill->expected_ns,
                prefill->expiry_ns, &prefill->id, NULL);
            assert_int_equal (status, used + count > LIMIT ? STATUS_LIMIT : STATUS_OK);
            assert_int_equal (prefill->id != 0, status == STATUS_OK);
            used += status == STATUS_OK ? count : 0;
            refused += status != STATUS_OK;
        }
        size_t expired = 0;
        for (int i = 0; i < PREFILLS; i++)
            if (prefills [i].id && prefills [i].expiry_ns <= now) {
                used -= (uint64_t)__builtin_popcountll (prefills [i].blocks);
                prefills [i].id = 0;
                expired++;
            }
        assert_int_equal (pending_expire (pending, now), expired);
        s_compare (pending, prefills, hashes, first, (uint32_t)random_below (&random, OWNERS));
    }
    assert_true (refused > 100);
    pending_destroy (&pending);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_sibling_sees_what_is_on_its_way),
        cmocka_unit_test (test_prefills_end_once),
        cmocka_unit_test (test_equals_a_list_of_prefills),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
