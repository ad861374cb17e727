//  Every rule that was added is found, and no other.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/random.h"
#include "model/tokenizer/merges.h"

enum { SEEDS = 20, RULES_MAX = 30000, TOKENS = 200 };

//  Ranks by pair, in a table of all pairs; MERGE_NONE where there is no rule.
static void
s_put_random (random_t *random, uint32_t *ranks, merges_t *merges)
{
    for (size_t pair = 0; pair < TOKENS * TOKENS; pair++)
        ranks [pair] = MERGE_NONE;
    uint32_t count = (uint32_t)random_below (random, RULES_MAX);
    for (uint32_t rank = 0; rank < count; rank++) {
        uint32_t left = (uint32_t)random_below (random, TOKENS), right = (uint32_t)random_below (random, TOKENS);
        merges_put (merges, (merge_t){ left, right, rank });
        ranks [left * TOKENS + right] = rank;
    }
}

//  Among few tokens many pairs come twice.
static void
test_a_pair_has_the_rank_of_its_last_rule_or_none (void **state)
{
    static uint32_t ranks [TOKENS * TOKENS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        merges_t merges;
        random_t random;
        random_init (&random, seed);
        merges_init (&merges);
        s_put_random (&random, ranks, &merges);
        assert_int_equal (merges_seal (&merges, NULL), STATUS_OK);
        for (uint32_t left = 0; left < TOKENS; left++)
            for (uint32_t right = 0; right < TOKENS; right++)
                if (merges_find (&merges, left, right) != ranks [left * TOKENS + right])
                    fail_msg ("seed %llu: the rule of %u and %u", (unsigned long long)seed, left, right);
        merges_fini (&merges);
    }
}

//  A look says nothing wrong of a pair that has a rule, and seldom something of one that has none.
static void
test_a_guess_is_seldom_wrong (void **state)
{
    enum { EACH = 300 };
    size_t wrong = 0;
    merges_t merges;
    merges_init (&merges);
    for (uint32_t left = 0; left < EACH; left++)
        for (uint32_t right = 0; right < EACH; right += 2)
            merges_put (&merges, (merge_t){ left, right, 0 });
    assert_int_equal (merges_seal (&merges, NULL), STATUS_OK);
    for (uint32_t left = 0; left < EACH; left++)
        for (uint32_t right = 0; right < EACH; right++) {
            uint32_t rank = merges_guess (&merges, left, right);
            if (right % 2 == 0)
                assert_int_equal (rank, (left * EACH + right) / 2);
            wrong += right % 2 && rank != MERGE_NONE;
        }
    assert_in_range (wrong, 1, EACH * EACH / 2 / 100);
    merges_fini (&merges);
}

//  Rules that make tokens numbered like them, but for one at most. odd: the rank of that.
static void
s_check_made (uint32_t first, uint32_t odd)
{
    enum { COUNT = 50 };
    merges_t merges;
    merges_init (&merges);
    for (uint32_t rank = 0; rank < COUNT; rank++)
        merges_put (&merges, (merge_t){ rank, rank, first + rank + (rank == odd) });
    assert_int_equal (merges_seal (&merges, NULL), STATUS_OK);
    for (uint32_t rank = 0; rank < COUNT; rank++)
        assert_int_equal (merges_made (&merges, rank), first + rank + (rank == odd));
    assert_int_equal (merges.above, odd < COUNT ? 0 : first);
    assert_int_equal (merges.rises, first && odd >= COUNT);
    merges_fini (&merges);
}

static void
test_what_a_rule_makes_is_told_by_its_rank_only_if_all_are_so (void **state)
{
    for (uint32_t first = 0; first < 3; first++)
        for (uint32_t odd = 0; odd <= 50; odd++)
            s_check_made (first, odd);
}

//  A rule for what it makes itself, or a later one does, on either side.
static void
test_rules_do_not_rise_where_one_comes_before_what_it_is_for (void **state)
{
    enum { FIRST = 256 };
    for (uint32_t late = 0; late < 6; late++) {
        merges_t merges;
        merges_init (&merges);
        for (uint32_t rank = 0; rank < 3; rank++) {
            uint32_t side = late % 3 == rank ? FIRST + rank : rank;
            merges_put (&merges, (merge_t){ late < 3 ? side : 0, late < 3 ? 0 : side, FIRST + rank });
        }
        assert_int_equal (merges_seal (&merges, NULL), STATUS_OK);
        assert_false (merges.rises);
        merges_fini (&merges);
    }
}

static void
test_one_pair_too_often_is_refused (void **state)
{
    enum { TIMES = 1000 };
    error_t error;
    merges_t merges;
    merges_init (&merges);
    for (size_t i = 0; i < TIMES; i++)
        merges_put (&merges, (merge_t){ 1, 2, 3 });
    assert_int_equal (merges_seal (&merges, &error), STATUS_LIMIT);
    assert_string_equal (error.text, "the rules cannot be laid out: too many are alike");
    merges_fini (&merges);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_pair_has_the_rank_of_its_last_rule_or_none),
        cmocka_unit_test (test_a_guess_is_seldom_wrong),
        cmocka_unit_test (test_what_a_rule_makes_is_told_by_its_rank_only_if_all_are_so),
        cmocka_unit_test (test_rules_do_not_rise_where_one_comes_before_what_it_is_for),
        cmocka_unit_test (test_one_pair_too_often_is_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
