//  Holdings against plain counts: what is told is what comes and goes.

#include "workers/holdings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "schemas/kv.h"

enum { CHAINS = 4, LENGTH = 12 };

//  Block `position` of a chain; chains share their first blocks with the chain of half their number.
static hash128_t
s_block (uint64_t chain, uint64_t position)
{
    while (chain && position < 3 * chain)
        chain /= 2;
    return (hash128_t){ 1 + chain * 1000 + position, ~chain };
}

static hash128_t
s_parent (uint64_t chain, size_t position)
{
    return position ? s_block (chain, position - 1) : SEQUENCE_ROOT;
}

typedef struct {
    uint32_t told [CHAINS * 1000 + LENGTH];    //  By the first 64 bits
    size_t runs;                               //  How many calls it took
} ledger_t;

static void
s_on_run (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
    ledger_t *ledger = arg;
    assert_true (count > 0);
    if (!hash128_equal (parent, SEQUENCE_ROOT))
        assert_int_equal (ledger->told [parent.high], 1);
    for (size_t i = 0; i < count; i++)
        assert_int_equal (ledger->told [hashes [i].high]++, 0);
    ledger->runs++;
}

static void
test_the_first_copy_and_the_last_are_told (void **state)
{
    holdings_t *holdings = holdings_new ();
    ledger_t ledger = { 0 };
    hash128_t chain [4], gone [4];
    uint64_t shorts [4];
    for (size_t i = 0; i < 4; i++) {
        chain [i] = s_block (0, i);
        shorts [i] = chain [i].high;
    }
    holdings_add (holdings, SEQUENCE_ROOT, chain, 3, s_on_run, &ledger);
    assert_int_equal (ledger.runs, 1);
    holdings_add (holdings, SEQUENCE_ROOT, chain, 4, s_on_run, &ledger);
    assert_int_equal (ledger.runs, 2);
    assert_int_equal (holdings_count (holdings), 4);
    assert_int_equal (holdings_remove (holdings, shorts, 4, gone), 1);
    assert_true (hash128_equal (gone [0], chain [3]));
    assert_int_equal (holdings_remove (holdings, shorts, 4, gone), 3);
    assert_int_equal (holdings_remove (holdings, shorts, 4, gone), 0);
    assert_int_equal (holdings_count (holdings), 0);
    holdings_destroy (&holdings);
    assert_null (holdings);
}

//  A long row comes in rows that events have room for.
static void
test_a_row_is_no_longer_than_an_event (void **state)
{
    enum { LONG = 2 * KV_STORED_HASHES_MAX + 1 };
    holdings_t *holdings = holdings_new ();
    ledger_t ledger = { 0 };
    hash128_t chain [LONG];
    for (size_t i = 0; i < LONG; i++)
        chain [i] = s_block (0, i);
    holdings_add (holdings, SEQUENCE_ROOT, chain, LONG, s_on_run, &ledger);
    assert_int_equal (ledger.runs, 3);
    holdings_destroy (&holdings);
}

static void
test_random_copies_come_and_go (void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        random_t random;
        random_init (&random, seed);
        holdings_t *holdings = holdings_new ();
        ledger_t ledger = { 0 };
        //  As slots: each has a chain up to a length.
        size_t chain_of [3] = { 0 }, length_of [3] = { 0 };
        for (int step = 0; step < 100; step++) {
            size_t slot = random_below (&random, 3), target = random_below (&random, LENGTH + 1);
            if (length_of [slot] == 0)
                chain_of [slot] = random_below (&random, CHAINS);
            uint64_t chain = chain_of [slot];
            hash128_t blocks [LENGTH], gone [LENGTH];
            uint64_t shorts [LENGTH];
            for (size_t i = 0; i < LENGTH; i++) {
                blocks [i] = s_block (chain, i);
                shorts [i] = blocks [i].high;
            }
            size_t length = length_of [slot];
            if (target > length)
                holdings_add (holdings, s_parent (chain, length), blocks + length, target - length, s_on_run, &ledger);
            else {
                size_t count = holdings_remove (holdings, shorts + target, length - target, gone);
                for (size_t i = 0; i < count; i++)
                    assert_int_equal (ledger.told [gone [i].high]--, 1);
            }
            length_of [slot] = target;

            ledger_t walked = { 0 };
            holdings_walk (holdings, s_on_run, &walked);
            if (memcmp (walked.told, ledger.told, sizeof ledger.told) != 0)
                fail_msg ("seed %llu step %d: the walk differs from what was told", (unsigned long long)seed, step);
        }
        holdings_clear (holdings);
        assert_int_equal (holdings_count (holdings), 0);
        holdings_destroy (&holdings);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_first_copy_and_the_last_are_told),
        cmocka_unit_test (test_a_row_is_no_longer_than_an_event),
        cmocka_unit_test (test_random_copies_come_and_go),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
