//  The engine's times against the formula in floating point, and the sharing of the engine against a walk by hand.

#include "workers/mock/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"

static void
s_assert_near (uint64_t ns, double expected)
{
    double difference = (double)ns - expected;
    if (difference > 2.0 || difference < -2.0)
        fail_msg ("%llu ns instead of %.3f", (unsigned long long)ns, expected);
}

static void
test_prefill_follows_the_formula (void **state)
{
    random_t random;
    random_init (&random, 1);
    for (int i = 0; i < 10000; i++) {
        uint64_t n = random_below (&random, 1 + random_below (&random, 500000));
        uint64_t c = random_below (&random, 1 + random_below (&random, 500000));
        double all = (double)(c + n);
        double seconds = 0.0165 + 1.518344e-5 * (double)n + 4.209989e-10 * (all * all - (double)c * (double)c);
        s_assert_near (timing_prefill_ns (n, c), seconds * 1e9);
    }
    timing_prefill_ns (UINT64_C (1) << 28, 0);
}

static void
test_token_latency_follows_the_formula (void **state)
{
    for (uint64_t used = 0; used <= 1000; used++) {
        double u = (double)used / 1000;
        s_assert_near (timing_itl_ns (used, 1000), (-25.74 * u * u + 54.01 * u + 5.74) * 1e6);
    }
    assert_int_equal (timing_itl_ns (2000, 1000), timing_itl_ns (1000, 1000));
}

static void
test_work_alone_takes_its_time (void **state)
{
    timing_t timing = { .at_ns = 100 };
    assert_true (timing_next_ns (&timing) == UINT64_MAX);
    timing_start (&timing.prefill, 1000);
    assert_int_equal (timing_next_ns (&timing), 1100);
    timing_advance (&timing, 1099);
    assert_false (timing_finish (&timing.prefill));
    timing_advance (&timing, 1100);
    assert_true (timing_finish (&timing.prefill));
    assert_false (timing_finish (&timing.prefill));
}

//  A decode step of 100 ns beside a prefill of 1000 ns takes 400 ns; three quarters of those went into the prefill.
static void
test_prefill_and_decodes_share_the_engine (void **state)
{
    timing_t timing = { 0 };
    timing_start (&timing.prefill, 1000);
    timing_start (&timing.decode, 100);
    assert_int_equal (timing_next_ns (&timing), 400);
    timing_advance (&timing, 400);
    assert_true (timing_finish (&timing.decode));
    assert_false (timing_finish (&timing.prefill));
    assert_int_equal (timing_next_ns (&timing), 400 + 700);
}

static void
test_work_of_no_length_is_done_at_once (void **state)
{
    timing_t timing = { .at_ns = 5 };
    timing_start (&timing.decode, 0);
    assert_int_equal (timing_next_ns (&timing), 5);
    assert_true (timing_finish (&timing.decode));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_prefill_follows_the_formula),
        cmocka_unit_test (test_token_latency_follows_the_formula),
        cmocka_unit_test (test_work_alone_takes_its_time),
        cmocka_unit_test (test_prefill_and_decodes_share_the_engine),
        cmocka_unit_test (test_work_of_no_length_is_done_at_once),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
