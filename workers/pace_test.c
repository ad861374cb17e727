//  What an engine should need follows from what it needed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "workers/pace.h"

static const uint64_t US = 1000, MS = 1000000, SECOND = 1000000000;

static void
s_assert_near (uint64_t value, uint64_t expected)
{
    assert_in_range (value, expected - expected / 20, expected + expected / 20);
}

static void
test_an_unknown_engine_is_a_slow_one (void **state)
{
    pace_t pace;
    pace_init (&pace);
    s_assert_near (pace_expected_ns (&pace, 0), SECOND);
    s_assert_near (pace_expected_ns (&pace, 2000), 21 * SECOND);
    s_assert_near (pace_expected_ns (&pace, 100000), 61 * SECOND);
    pace_computed (&pace, 100, SECOND);
    s_assert_near (pace_expected_ns (&pace, 100000), 1000 * SECOND);
}

static void
test_it_learns_both_times (void **state)
{
    pace_t pace;
    pace_init (&pace);
    for (int i = 0; i < 50; i++) {
        pace_computed (&pace, 2000, 2000 * 100 * US);
        pace_told (&pace, 20 * MS);
    }
    s_assert_near (pace_expected_ns (&pace, 0), 22 * MS);
    s_assert_near (pace_expected_ns (&pace, 100000), 10 * SECOND);
}

//  A short prompt takes long for each of its tokens; that says nothing about a long one.
static void
test_long_prompts_count_for_more (void **state)
{
    pace_t pace;
    pace_init (&pace);
    for (int i = 0; i < 50; i++) {
        pace_computed (&pace, 10, 20 * MS);
        pace_computed (&pace, 20000, 20000 * 100 * US);
    }
    s_assert_near (pace_expected_ns (&pace, 100000) - pace_expected_ns (&pace, 0), 10 * SECOND);
}

static void
test_it_forgets (void **state)
{
    pace_t pace;
    pace_init (&pace);
    pace_computed (&pace, 100, 3600 * SECOND);
    pace_told (&pace, 600 * SECOND);
    for (int i = 0; i < 200; i++) {
        pace_computed (&pace, 1000, 100 * MS);
        pace_told (&pace, 10 * MS);
    }
    s_assert_near (pace_expected_ns (&pace, 100000), 10 * SECOND);
}

//  Whatever is measured, the result is a time.
static void
test_no_measurement_is_too_large (void **state)
{
    pace_t pace;
    pace_init (&pace);
    for (int i = 0; i < 1000; i++) {
        pace_computed (&pace, i % 2 ? UINT32_MAX : 1, UINT64_MAX);
        pace_told (&pace, UINT64_MAX);
        assert_true (pace_expected_ns (&pace, UINT64_MAX) < UINT64_MAX / 5);
    }
    pace_computed (&pace, 0, 1);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_an_unknown_engine_is_a_slow_one),
        cmocka_unit_test (test_it_learns_both_times),
        cmocka_unit_test (test_long_prompts_count_for_more),
        cmocka_unit_test (test_it_forgets),
        cmocka_unit_test (test_no_measurement_is_too_large),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
