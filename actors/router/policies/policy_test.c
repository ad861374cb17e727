//  Policies decide by candidates alone: each story is a row of candidates and who must be chosen.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "actors/router/policies/policy.h"

static const policy_weights_t s_weights = { 1000000, 1000000 };

typedef struct {
    uint32_t overlap;    //  Leading blocks
    uint64_t prefill;    //  Blocks it still has to compute
    uint32_t active;     //  Requests
} row_t;

static size_t
s_choose (const policy_t *policy, uint32_t prompt_blocks, uint64_t turn, const row_t *rows, size_t count)
{
    policy_candidate_t candidates [8];
    policy_request_t request = { prompt_blocks, turn };
    for (size_t i = 0; i < count; i++)
        candidates [i] = (policy_candidate_t){ .worker = SPAN ("worker/x"),
            .overlap_blocks = rows [i].overlap,
            .prefill_blocks = rows [i].prefill,
            .active_blocks = rows [i].prefill,
            .active = rows [i].active };
    return policy->choose (&request, &s_weights, candidates, count);
}

static void
test_a_conversation_stays_where_its_cache_is (void **state)
{
    row_t rows [] = { { 0, 0, 0 }, { 90, 200, 3 }, { 10, 0, 0 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

//  A home that would make it wait for more than a move costs is left.
static void
test_a_conversation_moves_when_that_clearly_wins (void **state)
{
    row_t rows [] = { { 0, 0, 0 }, { 90, 3000, 30 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 2), 0);
}

static void
test_a_new_conversation_starts_where_least_waits (void **state)
{
    row_t rows [] = { { 3, 500, 2 }, { 0, 20, 1 }, { 3, 100, 1 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

static void
test_equals_go_to_the_one_with_fewer_requests_then_take_turns (void **state)
{
    row_t rows [] = { { 0, 0, 2 }, { 0, 0, 1 }, { 0, 0, 1 } };
    assert_int_equal (s_choose (&policy_kv, 10, 0, rows, 3), 1);
    assert_int_equal (s_choose (&policy_kv, 10, 1, rows, 3), 1);
    assert_int_equal (s_choose (&policy_kv, 10, 2, rows, 3), 2);
}

//  Two workers that both have the whole prefix are both home: no move is charged between them.
static void
test_the_less_loaded_of_two_homes_wins (void **state)
{
    row_t rows [] = { { 80, 300, 2 }, { 80, 10, 2 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 2), 1);
}

static void
test_round_robin_takes_turns (void **state)
{
    row_t rows [] = { { 100, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } };
    for (uint64_t turn = 0; turn < 9; turn++)
        assert_int_equal (s_choose (&policy_round_robin, 100, turn, rows, 3), turn % 3);
}

static void
test_policies_are_found_by_name (void **state)
{
    assert_ptr_equal (policy_find ("kv"), &policy_kv);
    assert_ptr_equal (policy_find ("round_robin"), &policy_round_robin);
    assert_null (policy_find ("best"));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_conversation_stays_where_its_cache_is),
        cmocka_unit_test (test_a_conversation_moves_when_that_clearly_wins),
        cmocka_unit_test (test_a_new_conversation_starts_where_least_waits),
        cmocka_unit_test (test_equals_go_to_the_one_with_fewer_requests_then_take_turns),
        cmocka_unit_test (test_the_less_loaded_of_two_homes_wins),
        cmocka_unit_test (test_round_robin_takes_turns),
        cmocka_unit_test (test_policies_are_found_by_name),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
