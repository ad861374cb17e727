//  However requests and retries come, there are no more of the latter than the budget allows, and no fewer.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "actors/frontend/retry_budget.h"
#include "base/random.h"

static const uint64_t SECOND_NS = 1000000000;

static uint64_t
s_take_all (retry_budget_t *budget, uint64_t now_ns)
{
    uint64_t count = 0;
    while (retry_budget_take (budget, now_ns))
        count++;
    return count;
}

static void
test_requests_and_time_bring_retries (void **state)
{
    retry_budget_t budget;
    retry_budget_init (&budget, &(retry_limits_t){ .share = 200000, .floor = 10, .burst = 100 }, 7);
    assert_int_equal (s_take_all (&budget, 7), 100);
    for (int i = 0; i < 10; i++)
        retry_budget_add (&budget, 7);
    assert_int_equal (s_take_all (&budget, 7), 2);
    assert_int_equal (s_take_all (&budget, 7 + SECOND_NS), 10);
    assert_int_equal (s_take_all (&budget, 7 + SECOND_NS + SECOND_NS / 20), 0);
    assert_int_equal (s_take_all (&budget, 7 + SECOND_NS + SECOND_NS / 10), 1);
}

static void
test_a_long_quiet_time_fills_it_and_no_more (void **state)
{
    retry_budget_t budget;
    retry_budget_init (&budget, &(retry_limits_t){ .share = 1000000, .floor = 1000000, .burst = 3 }, 0);
    assert_int_equal (s_take_all (&budget, 0), 3);
    assert_int_equal (s_take_all (&budget, UINT64_MAX / 2), 3);
    for (int i = 0; i < 10; i++)
        retry_budget_add (&budget, UINT64_MAX / 2);
    assert_int_equal (retry_budget_left (&budget, UINT64_MAX / 2), 3);
}

//  Nothing but requests brings any; and nothing at all.
static void
test_either_source_can_be_off (void **state)
{
    retry_budget_t budget;
    retry_budget_init (&budget, &(retry_limits_t){ .share = 500000, .burst = 1 }, 0);
    assert_int_equal (s_take_all (&budget, 1000 * SECOND_NS), 1);
    assert_int_equal (s_take_all (&budget, 2000 * SECOND_NS), 0);
    retry_budget_add (&budget, 2000 * SECOND_NS);
    assert_false (retry_budget_take (&budget, 2000 * SECOND_NS));
    retry_budget_add (&budget, 2000 * SECOND_NS);
    assert_true (retry_budget_take (&budget, 2000 * SECOND_NS));
    retry_budget_init (&budget, &(retry_limits_t){ .share = 1000000, .floor = 10 }, 0);
    retry_budget_add (&budget, SECOND_NS);
    assert_false (retry_budget_take (&budget, SECOND_NS));
}

static void
test_other_limits_hold_from_now_on (void **state)
{
    retry_budget_t budget;
    retry_budget_init (&budget, &(retry_limits_t){ .floor = 10, .burst = 100 }, 0);
    retry_budget_set (&budget, &(retry_limits_t){ .floor = 1, .burst = 20 }, SECOND_NS);
    assert_int_equal (s_take_all (&budget, SECOND_NS), 20);
    assert_int_equal (s_take_all (&budget, 4 * SECOND_NS), 3);
}

//  The oracle counts in one step what the budget counts in many, of times that are whole microseconds.
static void
test_it_agrees_with_an_oracle (void **state)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        random_t random;
        random_init (&random, seed);
        retry_limits_t limits = { .share = (int64_t)random_below (&random, 2000000),
            .floor = (int64_t)random_below (&random, 50),
            .burst = 1 + (int64_t)random_below (&random, 30) };
        retry_budget_t budget;
        uint64_t now_ns = 0, level = (uint64_t)limits.burst * 1000000;
        retry_budget_init (&budget, &limits, now_ns);
        for (int step = 0; step < 2000; step++) {
            uint64_t passed_us = random_below (&random, 100000);
            now_ns += passed_us * 1000;
            level += passed_us * (uint64_t)limits.floor;
            if (level > (uint64_t)limits.burst * 1000000)
                level = (uint64_t)limits.burst * 1000000;
            if (random_chance (&random, 500000)) {
                retry_budget_add (&budget, now_ns);
                level += (uint64_t)limits.share;
                if (level > (uint64_t)limits.burst * 1000000)
                    level = (uint64_t)limits.burst * 1000000;
            } else {
                bool taken = retry_budget_take (&budget, now_ns);
                if (taken != (level >= 1000000))
                    fail_msg ("seed %d, step %d", (int)seed, step);
                level -= taken ? 1000000 : 0;
            }
        }
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_requests_and_time_bring_retries),
        cmocka_unit_test (test_a_long_quiet_time_fills_it_and_no_more),
        cmocka_unit_test (test_either_source_can_be_off),
        cmocka_unit_test (test_other_limits_hold_from_now_on),
        cmocka_unit_test (test_it_agrees_with_an_oracle),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
