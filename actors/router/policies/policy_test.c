//  Policies decide by candidates alone: each story is a row of candidates and who must be chosen.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "actors/router/policies/policy.h"

static const policy_weights_t s_weights = { 1000000, 1000000, 800000 };

typedef struct {
    uint32_t overlap;     //  Leading blocks
    uint64_t prefill;     //  Blocks it still has to compute
    uint32_t active;      //  Requests
    uint64_t live;        //  Blocks of live conversations
    uint32_t pending;     //  Leading blocks besides that it was sent to compute
    uint32_t computed;    //  Of these, those that should be there by now
    uint32_t host;        //  Of the leading blocks, those in the host's memory
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
            .awaited_blocks = rows [i].pending - rows [i].computed,
            .host_blocks = rows [i].host,
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

//  2^58 blocks at a weight of 1 are 0 in 64 bits.
static void
test_nobody_wins_by_a_load_that_overflows (void **state)
{
    row_t rows [] = { { .prefill = 10, .active = 1 }, { .prefill = UINT64_C (1) << 58 } };
    row_t at_home [] = { { .overlap = 90, .prefill = UINT64_C (1) << 58 }, { .prefill = 10, .active = 1 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 2), 0);
    assert_int_equal (s_choose (&policy_kv, 100, 0, at_home, 2), 1);
    assert_int_equal (s_choose (&policy_dynamo, 100, 0, rows, 2), 0);
}

static void
test_a_conversation_stays_where_its_cache_is (void **state)
{
    row_t rows [] = { { 0 }, { .overlap = 90, .prefill = 200, .active = 3 }, { .overlap = 10 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

//  A home that would make it wait for more than a move costs is left.
static void
test_a_conversation_moves_when_that_clearly_wins (void **state)
{
    row_t rows [] = { { 0 }, { .overlap = 90, .prefill = 5000, .active = 30 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 2), 0);
}

//  Not where it would push out what others come back for: 10,050 blocks are wanted there then, 50 too many.
static void
test_a_conversation_does_not_move_where_it_does_not_fit (void **state)
{
    row_t fits [] = { { .live = 9900 }, { .overlap = 90, .prefill = 4200, .active = 30 } };
    row_t crowded [] = { { .live = 9950 }, { .overlap = 90, .prefill = 4200, .active = 30 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, fits, 2), 0);
    assert_int_equal (s_choose (&policy_kv, 100, 0, crowded, 2), 1);
}

//  It will come back: what waits there now matters as much as what the conversations that are there will want.
static void
test_a_new_conversation_starts_where_most_room_is (void **state)
{
    row_t rows [] = { { .live = 9000 }, { .prefill = 500, .active = 2, .live = 3000 },
        { .prefill = 600, .active = 3, .live = 3000 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

static void
test_a_new_conversation_starts_where_least_waits (void **state)
{
    row_t rows [] = { { .overlap = 3, .prefill = 500, .active = 2 }, { .prefill = 20, .active = 1 },
        { .overlap = 3, .prefill = 100, .active = 1 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
}

static void
test_equals_go_to_the_one_with_fewer_requests_then_take_turns (void **state)
{
    row_t rows [] = { { .active = 2 }, { .active = 1 }, { .active = 1 } };
    assert_int_equal (s_choose (&policy_kv, 10, 0, rows, 3), 1);
    assert_int_equal (s_choose (&policy_kv, 10, 1, rows, 3), 1);
    assert_int_equal (s_choose (&policy_kv, 10, 2, rows, 3), 2);
}

//  Two workers that both have the whole prefix are both home: no move is charged between them.
static void
test_the_less_loaded_of_two_homes_wins (void **state)
{
    row_t rows [] = { { .overlap = 80, .prefill = 300, .active = 2 }, { .overlap = 80, .prefill = 10, .active = 2 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 2), 1);
}

//  What it had in common with its last turn is little, but the session is still somewhere.
static void
test_a_conversation_whose_history_changed_stays_too (void **state)
{
    row_t rows [] = { { 0 }, { .overlap = 10, .prefill = 200, .active = 3 } };
    assert_int_equal (s_choose_again (&policy_kv, 100, 1, rows, 2), 1);
}

//  Nothing of it is left where it was: it may begin anywhere.
static void
test_a_conversation_that_was_evicted_begins_anew (void **state)
{
    row_t rows [] = { { 0 }, { .prefill = 200, .active = 3 } };
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

//  The queue that they wait in gets shorter while the first is computed, long before it says so.
static void
test_what_should_be_computed_by_now_is_not_waited_for (void **state)
{
    row_t rows [] = { { 0 }, { .prefill = 4096 + 780, .active = 9, .pending = 780 } };
    assert_int_equal (s_choose (&policy_kv, 810, 0, rows, 2), 0);
    rows [1].computed = 1;
    assert_int_equal (s_choose (&policy_kv, 810, 0, rows, 2), 1);
    row_t idle [] = { { .overlap = 800 }, { .prefill = 700, .pending = 800, .computed = 800 } };
    assert_int_equal (s_choose (&policy_kv, 810, 0, idle, 2), 0);
}

//  Blocks that have to be fetched are worth less than those on the device, and more than none.
static void
test_a_lower_tier_is_between_the_device_and_nothing (void **state)
{
    row_t rows [] = { { .overlap = 80, .host = 80 }, { .overlap = 80, .active = 3 }, { .overlap = 60 } };
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 1);
    rows [1].overlap = 63;
    assert_int_equal (s_choose (&policy_kv, 100, 0, rows, 3), 0);
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
    row_t rows [] = { { .overlap = 10 }, { .overlap = 11, .prefill = 90000, .active = 90 }, { 0 } };
    assert_int_equal (s_choose (&policy_affinity, 100, 0, rows, 3), 1);
    row_t none [] = { { .active = 2 }, { .active = 1 }, { .active = 2 } };
    assert_int_equal (s_choose (&policy_affinity, 100, 0, none, 3), 1);
}

static void
test_sticky_keeps_a_session_where_it_began (void **state)
{
    row_t rows [] = { { .overlap = 100 }, { .prefill = 500, .active = 9 }, { 0 } };
    assert_int_equal (s_choose (&policy_sticky, 100, 1, rows, 3), 2);
    assert_int_equal (s_choose_again (&policy_sticky, 100, 1, rows, 3), 1);
}

static void
test_least_loaded_looks_at_requests_alone (void **state)
{
    row_t rows [] = { { .overlap = 100, .active = 2 }, { .prefill = 500, .active = 1 }, { .active = 3 } };
    assert_int_equal (s_choose (&policy_least_loaded, 100, 0, rows, 3), 1);
}

static void
test_random_goes_where_the_lot_falls (void **state)
{
    row_t rows [] = { { .overlap = 100 }, { .active = 5 }, { .prefill = 9 } };
    for (uint64_t lot = 0; lot < 9; lot++)
        assert_int_equal (s_ask (&policy_random, (policy_request_t){ 100, 0, POLICY_NONE, lot }, rows, 3), lot % 3);
}

//  100 - 80 + 30 + (30 + 100) = 180 against 100 + 0 + (0 + 100) = 200; 10 more of prefill turn it round.
static void
test_dynamo_weighs_blocks_to_compute_against_blocks_in_use (void **state)
{
    row_t near [] = { { .overlap = 80, .prefill = 30, .active = 1 }, { 0 } };
    row_t far [] = { { .overlap = 80, .prefill = 50, .active = 1 }, { 0 } };
    assert_int_equal (s_choose (&policy_dynamo, 100, 0, near, 2), 0);
    assert_int_equal (s_choose (&policy_dynamo, 100, 0, far, 2), 1);
}

static void
test_dynamo_draws_among_equals (void **state)
{
    row_t rows [] = { { .prefill = 5 }, { .active = 3 }, { 0 } };
    assert_int_equal (s_ask (&policy_dynamo, (policy_request_t){ 10, 0, POLICY_NONE, 4 }, rows, 3), 1);
    assert_int_equal (s_ask (&policy_dynamo, (policy_request_t){ 10, 0, POLICY_NONE, 5 }, rows, 3), 2);
}

static void
test_round_robin_takes_turns (void **state)
{
    row_t rows [] = { { .overlap = 100 }, { 0 }, { 0 } };
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
        cmocka_unit_test (test_nobody_wins_by_a_load_that_overflows),
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
        cmocka_unit_test (test_what_should_be_computed_by_now_is_not_waited_for),
        cmocka_unit_test (test_a_lower_tier_is_between_the_device_and_nothing),
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
