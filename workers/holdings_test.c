//  Holdings against plain counts: what is told is what comes and goes.

#include "workers/holdings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
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
    size_t blocks;                             //  And blocks
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
    ledger->blocks += count;
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

//  What a walk has told, between whose steps blocks come and go.
typedef struct {
    holdings_walk_t walk;    //  Under way
    ledger_t told;           //  By it
} walked_t;

static void
s_on_gone (void *arg, const hash128_t *hash)
{
    walked_t *walked = arg;
    if (hash)
        assert_int_equal (walked->told.told [hash->high]--, 1);
    else
        memset (&walked->told, 0, sizeof walked->told);
}

//  The next step of at most so many blocks; where a walk has got to the end before, another one begins now and then.
static void
s_walk (holdings_t *holdings, walked_t *walked, int step, size_t max)
{
    if (step % 20 == 0) {
        holdings_walk_end (&walked->walk);
        memset (walked, 0, sizeof *walked);
        holdings_walk_begin (holdings, &walked->walk, s_on_gone, walked);
    }
    size_t before = walked->told.blocks;
    holdings_walk_next (&walked->walk, max, s_on_run, &walked->told);
    assert_true (walked->told.blocks - before <= max);
}

//  A step looks at as many blocks as it is told to, however many there are; those who go before a walk do.
static void
test_a_walk_is_cut_into_steps (void **state)
{
    enum { BLOCKS = LENGTH, STEP = 5 };
    holdings_t *holdings = holdings_new ();
    static walked_t walked, other;
    ledger_t ledger = { 0 }, again = { 0 };
    hash128_t chain [BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++)
        chain [i] = s_block (0, i);
    holdings_add (holdings, SEQUENCE_ROOT, chain, BLOCKS, s_on_run, &ledger);
    holdings_walk_begin (holdings, &other.walk, s_on_gone, &other);
    holdings_walk_begin (holdings, &walked.walk, s_on_gone, &walked);
    for (size_t given = STEP; given < BLOCKS; given += STEP) {
        assert_true (holdings_walk_next (&walked.walk, STEP, s_on_run, &walked.told));
        assert_int_equal (walked.told.blocks, given);
    }
    assert_false (holdings_walk_next (&walked.walk, STEP, s_on_run, &walked.told));
    assert_int_equal (walked.told.blocks, BLOCKS);
    assert_int_equal (other.told.blocks, 0);
    holdings_clear (holdings);
    assert_int_equal (walked.told.told [chain [0].high], 0);
    holdings_add (holdings, SEQUENCE_ROOT, chain, 2, s_on_run, &again);
    assert_false (holdings_walk_next (&walked.walk, STEP, s_on_run, &walked.told));
    assert_int_equal (walked.told.told [chain [1].high], 1);
    holdings_walk_end (&walked.walk);
    holdings_destroy (&holdings);
    holdings_walk_end (&other.walk);    //  Its holdings went first
}

static void
s_ignore_run (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
}

//  Blocks in rows of an event's length.
static void
s_add_many (holdings_t *holdings, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += KV_STORED_HASHES_MAX) {
        hash128_t hashes [KV_STORED_HASHES_MAX];
        for (uint64_t k = 0; k < KV_STORED_HASHES_MAX; k++)
            hashes [k] = (hash128_t){ hash_u64 (first + i + k), 0 };
        holdings_add (holdings, SEQUENCE_ROOT, hashes, KV_STORED_HASHES_MAX, s_ignore_run, NULL);
    }
}

//  No clear has to free all that there was, and nothing of it is left when there is as much again, or after many small ones.
static void
test_what_was_cleared_goes_piece_by_piece (void **state)
{
    enum { MANY = 100000, CLEARS = 1000 };
    holdings_t *holdings = holdings_new ();
    s_add_many (holdings, 0, MANY);
    holdings_clear (holdings);
    assert_int_equal (holdings_count (holdings), 0);
    assert_true (holdings_shed (holdings));
    s_add_many (holdings, MANY, MANY);
    assert_false (holdings_shed (holdings));
    holdings_clear (holdings);
    size_t calls = 1;
    while (holdings_shed (holdings))
        calls++;
    assert_in_range (calls, 10, 100);
    for (uint64_t i = 0; i < CLEARS; i++) {
        s_add_many (holdings, i * KV_STORED_HASHES_MAX, 1);
        holdings_clear (holdings);
    }
    assert_false (holdings_shed (holdings));
    s_add_many (holdings, 0, MANY);
    holdings_clear (holdings);
    holdings_destroy (&holdings);    //  With what is left
}

static void
test_random_copies_come_and_go (void **state)
{
    uint64_t ended = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        random_t random;
        random_init (&random, seed);
        holdings_t *holdings = holdings_new ();
        ledger_t ledger = { 0 };
        walked_t walked = { 0 };
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

            s_walk (holdings, &walked, step, random_below (&random, 8));
            if (!walked.walk.next && memcmp (walked.told.told, ledger.told, sizeof ledger.told) != 0)
                fail_msg ("seed %llu step %d: the walk differs from what was told", (unsigned long long)seed, step);
            ended += !walked.walk.next;
        }
        holdings_walk_end (&walked.walk);
        holdings_clear (holdings);
        assert_int_equal (holdings_count (holdings), 0);
        holdings_destroy (&holdings);
    }
    assert_true (ended > 200);    //  Else nothing was compared
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_first_copy_and_the_last_are_told),
        cmocka_unit_test (test_a_row_is_no_longer_than_an_event),
        cmocka_unit_test (test_a_walk_is_cut_into_steps),
        cmocka_unit_test (test_what_was_cleared_goes_piece_by_piece),
        cmocka_unit_test (test_random_copies_come_and_go),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
