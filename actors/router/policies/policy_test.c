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
    uint64_t live;       //  Blocks of live conversations
    uint32_t pending;    //  Blocks behind the leading ones that it was sent to compute
} row_t;

enum { CAPACITY = 10000 };

static size_t
s_ask (const policy_t *policy, policy_request_t request, const row_t *rows, size_t count)
{
    policy_candidate_t candidates [8];
    for (size_t i = 0; i < count; i++)
        candidates [i] = (policy_candidate_t){ .worker = SPAN ("worker/x"),
            .overlap_blocks = rows [i].overlap,
            .pending_blocks = rows [i].pending,
            .prefill_blocks = rows [i].prefill,
            .active_blocks = rows [i].prefill,
            .active = rows [i].active,
            .kv_capacity = CAPACITY,
            .live_blocks = rows [i].live };
    return policy->choose (&request, &s_weights, candidates, count);
}

//  A request of a session that was never seen, and a draw of 0.
static size_t
s_choose (const policy_t *policy, uint32_t prompt_blocks, uint64_t turn, const row_t *rows, size_t count)
{
    policy_request_t request = { prompt_blocks, turn, POLICY_NONE, 0 };
    return s_ask (policy, request, rows, count);
}

//  One whose session was served by `last` before.
static size_t
s_choose_again (const policy_t *policy, uint32_t prompt_blocks, size_t last, const row_t *rows, size_t count)
{
    policy_request_t request = { prompt_blocks, 0, last, 0 };
    return s_ask (policy, request, rows, count);
}

static void
test_a_conversation_stays_where_its_cache_is (void **state)
{
    row_t rows [] = { { 0, 0, 0, 0, 0 }, { 90, 200, 3, 0, 0 }, { 10, 0, 0, 0, 0 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

//  A home that would make it wait for more than a move costs is left.
static void
test_a_conversation_moves_when_that_clearly_wins (void **state)
{
    row_t rows [] = { { 0, 0, 0, 0, 0 }, { 90, 5000, 30, 0, 0 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 2), 0);
}

//  Not where it would push out what others come back for: 10,050 blocks are wanted there then, 50 too many.
static void
test_a_conversation_does_not_move_where_it_does_not_fit (void **state)
{
    row_t fits [] = { { 0, 0, 0, 9900, 0 }, { 90, 4200, 30, 0, 0 } };
    row_t crowded [] = { { 0, 0, 0, 9950, 0 }, { 90, 4200, 30, 0, 0 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, fits, 2), 0);
    assert_int_equal (s_choose (&policy_kv, 100, 0, crowded, 2), 1);
}

//  It will come back: what waits there now matters as much as what the conversations that are there will want.
static void
test_a_new_conversation_starts_where_most_room_is (void **state)
{
    row_t rows [] = { { 0, 0, 0, 9000, 0 }, { 0, 500, 2, 3000, 0 }, { 0, 600, 3, 3000, 0 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

static void
test_a_new_conversation_starts_where_least_waits (void **state)
{
    row_t rows [] = { { 3, 500, 2, 0, 0 }, { 0, 20, 1, 0, 0 }, { 3, 100, 1, 0, 0 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

static void
test_equals_go_to_the_one_with_fewer_requests_then_take_turns (void **state)
{
    row_t rows [] = { { 0, 0, 2, 0, 0 }, { 0, 0, 1, 0, 0 }, { 0, 0, 1, 0, 0 } };
    assert_int_equal (s_choose (&policy_kv, 10, 0, rows, 3), 1);
    assert_int_equal (s_choose (&policy_kv, 10, 1, rows, 3), 1);
    assert_int_equal (s_choose (&policy_kv, 10, 2, rows, 3), 2);
}

//  Two workers that both have the whole prefix are both home: no move is charged between them.
static void
test_the_less_loaded_of_two_homes_wins (void **state)
{
    row_t rows [] = { { 80, 300, 2, 0, 0 }, { 80, 10, 2, 0, 0 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 2), 1);
}

//  What it had in common with its last turn is little, but the session is still somewhere.
static void
test_a_conversation_whose_history_changed_stays_too (void **state)
{
    row_t rows [] = { { 0, 0, 0, 0, 0 }, { 10, 200, 3, 0, 0 } };
    assert_int_equal (s_choose_again (&policy_kv, 100, 1, rows, 2), 1);
}

//  Nothing of it is left where it was: it may begin anywhere.
static void
test_a_conversation_that_was_evicted_begins_anew (void **state)
{
    row_t rows [] = { { 0, 0, 0, 0, 0 }, { 0, 200, 3, 0, 0 } };
    assert_int_equal (s_choose_again (&policy_kv, 100, 1, rows, 2), 0);
}

//  Eight subagents of one new prompt: the first is on its way to being computed, and the others wait for it.
static void
test_siblings_follow_the_first_of_them (void **state)
{
    row_t rows [] = { { 0 }, { .prefill = 800, .active = 1, .pending = 780 }, { 0 } };
    assert_int_equal (s_choose (&policy_kv, 810, 0, rows, 3), 1);
}

//  Unless so much waits there that to compute it anew is worth it.
static void
test_siblings_part_where_the_queue_is_longer_than_a_move (void **state)
{
    row_t near [] = { { 0 }, { .prefill = 4096 + 780, .active = 9, .pending = 780 } };
    row_t far [] = { { 0 }, { .prefill = 4096 + 781, .active = 9, .pending = 780 } };
    assert_int_equal (s_choose (&policy_kv, 810, 0, near, 2), 0);
    assert_int_equal (s_choose (&policy_kv, 810, 0, far, 2), 0);
    near [1].prefill--;
    assert_int_equal (s_choose (&policy_kv, 810, 0, near, 2), 1);
}

//  What is there is as good as what is coming, and need not be waited for.
static void
test_what_is_there_wins_over_what_is_computed (void **state)
{
    row_t rows [] = { { .prefill = 20, .active = 1, .pending = 800 }, { .overlap = 800 } };
    assert_int_equal (s_choose (&policy_kv, 810, 0, rows, 2), 1);
}

//  The published costs know nothing of what is being computed.
static void
test_references_do_not_foresee (void **state)
{
    static const policy_t *const references [] = { &policy_affinity, &policy_dynamo, &policy_sticky,
        &policy_least_loaded, &policy_random, &policy_round_robin };
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        assert_false (references [i]->foresees);
    assert_true (policy_kv.foresees);
}

static void
test_affinity_follows_the_longest_prefix_whatever_waits_there (void **state)
{
    row_t rows [] = { { 10, 0, 0, 0, 0 }, { 11, 90000, 90, 0, 0 }, { 0, 0, 0, 0, 0 } };
    assert_int_equal (s_choose (&policy_affinity, 100, 0, rows, 3), 1);
    row_t none [] = { { 0, 0, 2, 0, 0 }, { 0, 0, 1, 0, 0 }, { 0, 0, 2, 0, 0 } };
    assert_int_equal (s_choose (&policy_affinity, 100, 0, none, 3), 1);
}

static void
test_sticky_keeps_a_session_where_it_began (void **state)
{
    row_t rows [] = { { 100, 0, 0, 0, 0 }, { 0, 500, 9, 0, 0 }, { 0, 0, 0, 0, 0 } };
    assert_int_equal (s_choose (&policy_sticky, 100, 1, rows, 3), 2);
    assert_int_equal (s_choose_again (&policy_sticky, 100, 1, rows, 3), 1);
}

static void
test_least_loaded_looks_at_requests_alone (void **state)
{
    row_t rows [] = { { 100, 0, 2, 0, 0 }, { 0, 500, 1, 0, 0 }, { 0, 0, 3, 0, 0 } };
    assert_int_equal (s_choose (&policy_least_loaded, 100, 0, rows, 3), 1);
}

static void
test_random_goes_where_the_lot_falls (void **state)
{
    row_t rows [] = { { 100, 0, 0, 0, 0 }, { 0, 0, 5, 0, 0 }, { 0, 9, 0, 0, 0 } };
    for (uint64_t lot = 0; lot < 9; lot++)
        assert_int_equal (s_ask (&policy_random, (policy_request_t){ 100, 0, POLICY_NONE, lot }, rows, 3), lot % 3);
}

//  100 - 80 + 30 + (30 + 100) = 180 against 100 + 0 + (0 + 100) = 200; 10 more of prefill turn it round.
static void
test_dynamo_weighs_blocks_to_compute_against_blocks_in_use (void **state)
{
    row_t near [] = { { 80, 30, 1, 0, 0 }, { 0, 0, 0, 0, 0 } };
    row_t far [] = { { 80, 50, 1, 0, 0 }, { 0, 0, 0, 0, 0 } };
    assert_int_equal (s_choose (&policy_dynamo, 100, 0, near, 2), 0);
    assert_int_equal (s_choose (&policy_dynamo, 100, 0, far, 2), 1);
}

static void
test_dynamo_draws_among_equals (void **state)
{
    row_t rows [] = { { 0, 5, 0, 0, 0 }, { 0, 0, 3, 0, 0 }, { 0, 0, 0, 0, 0 } };
    assert_int_equal (s_ask (&policy_dynamo, (policy_request_t){ 10, 0, POLICY_NONE, 4 }, rows, 3), 1);
    assert_int_equal (s_ask (&policy_dynamo, (policy_request_t){ 10, 0, POLICY_NONE, 5 }, rows, 3), 2);
}

static void
test_round_robin_takes_turns (void **state)
{
    row_t rows [] = { { 100, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 } };
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
        cmocka_unit_test (test_a_conversation_does_not_move_where_it_does_not_fit),
        cmocka_unit_test (test_a_new_conversation_starts_where_most_room_is),
        cmocka_unit_test (test_a_new_conversation_starts_where_least_waits),
        cmocka_unit_test (test_equals_go_to_the_one_with_fewer_requests_then_take_turns),
        cmocka_unit_test (test_the_less_loaded_of_two_homes_wins),
        cmocka_unit_test (test_a_conversation_whose_history_changed_stays_too),
        cmocka_unit_test (test_a_conversation_that_was_evicted_begins_anew),
        cmocka_unit_test (test_siblings_follow_the_first_of_them),
        cmocka_unit_test (test_siblings_part_where_the_queue_is_longer_than_a_move),
        cmocka_unit_test (test_what_is_there_wins_over_what_is_computed),
        cmocka_unit_test (test_references_do_not_foresee),
        cmocka_unit_test (test_affinity_follows_the_longest_prefix_whatever_waits_there),
        cmocka_unit_test (test_sticky_keeps_a_session_where_it_began),
        cmocka_unit_test (test_least_loaded_looks_at_requests_alone),
        cmocka_unit_test (test_random_goes_where_the_lot_falls),
        cmocka_unit_test (test_dynamo_weighs_blocks_to_compute_against_blocks_in_use),
        cmocka_unit_test (test_dynamo_draws_among_equals),
        cmocka_unit_test (test_round_robin_takes_turns),
        cmocka_unit_test (test_policies_are_found_by_name),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
