//  Seeded numbers: the published ones, spread as they should be.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"

enum { DRAWS = 200000 };

//  xoshiro256** seeded with 0 by SplitMix64, as other implementations print it.
static void
test_the_numbers_are_those_of_the_published_generator (void **state)
{
    static const uint64_t expected [] = { 11091344671253066420u, 13793997310169335082u, 1900383378846508768u,
        7684712102626143532u, 13521403990117723737u };
    random_t random;
    random_init (&random, 0);
    for (size_t i = 0; i < sizeof expected / sizeof expected [0]; i++)
        assert_true (random_u64 (&random) == expected [i]);
}

static void
test_below_reaches_every_number_equally (void **state)
{
    enum { BOUND = 7 };
    uint64_t counts [BOUND] = { 0 };
    random_t random;
    random_init (&random, 34);
    for (int i = 0; i < DRAWS; i++)
        counts [random_below (&random, BOUND)]++;
    for (int i = 0; i < BOUND; i++)
        assert_in_range (counts [i], DRAWS / BOUND * 98 / 100, DRAWS / BOUND * 102 / 100);
    assert_int_equal (random_below (&random, 1), 0);
}

static void
test_chances_are_parts_of_a_million (void **state)
{
    random_t random;
    random_init (&random, 35);
    uint64_t hits = 0;
    for (int i = 0; i < DRAWS; i++) {
        hits += random_chance (&random, 250000);
        assert_false (random_chance (&random, 0));
        assert_true (random_chance (&random, 1000000));
    }
    assert_in_range (hits, DRAWS / 4 * 98 / 100, DRAWS / 4 * 102 / 100);
}

//  Mean within 1 %, and as many beyond one, two and three means as e^-1, e^-2 and e^-3 say.
static void
test_exponential_draws_have_their_mean_and_shape (void **state)
{
    static const uint64_t means [] = { 1000, 1000000, 5000000000 };
    static const uint64_t beyond_per_million [] = { 367879, 135335, 49787 };
    random_t random;
    random_init (&random, 36);
    for (size_t m = 0; m < sizeof means / sizeof means [0]; m++) {
        uint64_t mean = means [m], sum = 0, beyond [3] = { 0 };
        for (int i = 0; i < DRAWS; i++) {
            uint64_t draw = random_exponential (&random, mean);
            sum += draw;
            for (uint64_t k = 0; k < 3; k++)
                beyond [k] += draw > (k + 1) * mean;
        }
        assert_in_range (sum / DRAWS, mean * 99 / 100, mean * 101 / 100);
        for (size_t k = 0; k < 3; k++) {
            uint64_t expected = beyond_per_million [k] * DRAWS / 1000000;
            assert_in_range (beyond [k], expected * 97 / 100, expected * 103 / 100);
        }
    }
    assert_int_equal (random_exponential (&random, 0), 0);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_numbers_are_those_of_the_published_generator),
        cmocka_unit_test (test_below_reaches_every_number_equally),
        cmocka_unit_test (test_chances_are_parts_of_a_million),
        cmocka_unit_test (test_exponential_draws_have_their_mean_and_shape),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
