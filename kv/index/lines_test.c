//  The lines against a bit a number, over random operations from a printed seed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/lines.h"

enum { ROW_BITS = 4, ROW = 1 << ROW_BITS, ROWS = 6000, NUMBERS = ROWS * ROW, OPERATIONS = 600000 };

static uint64_t s_rows [ROWS][ROW];
static bool s_there [NUMBERS];

static void
s_begin (lines_t *lines, random_t *random)
{
    lines_init (lines, ROW_BITS);
    for (uint32_t row = 0; row < ROWS; row++) {
        *(uint64_t **)pile_add (&lines->rows) = s_rows [row];
        for (uint32_t i = 0; i < ROW; i++)
            s_rows [row][i] = random_u64 (random);
    }
}

//  Filling far beyond the first lines and emptying again: every hash is found exactly while it is there.
static void
test_equals_a_bit_a_number (void **state)
{
    lines_t lines;
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    s_begin (&lines, &random);
    uint32_t count = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t number = 1 + (uint32_t)random_below (&random, NUMBERS - 1);
        uint64_t hash = lines_hash (&lines, number);
        assert_int_equal (lines_find (&lines, hash), s_there [number] ? number : 0);
        bool filling = i < OPERATIONS / 2;
        if (s_there [number] && random_chance (&random, filling ? 100000 : 1000000))
            lines_remove (&lines, number);
        else if (!s_there [number] && random_chance (&random, filling ? 1000000 : 100000))
            lines_add (&lines, number, hash);
        else
            continue;
        s_there [number] = !s_there [number];
        count += s_there [number] ? 1 : -1u;
        assert_int_equal (lines.count, count);
        if (i % 50000 == 0)
            lines_check (&lines);
    }
    lines_check (&lines);
    assert_true (lines.lines > 8000 && lines.further_used < lines.lines / 2);
    lines_fini (&lines);
}

//  Hashes that all belong to one line, which no seed would give: it gets longer, and shorter again.
static void
test_a_line_goes_on_as_long_as_it_must (void **state)
{
    lines_t lines;
    uint64_t hashes [ROW * 4];
    lines_init (&lines, ROW_BITS);
    for (uint32_t i = 0; i < 4; i++)
        *(uint64_t **)pile_add (&lines.rows) = &hashes [i * ROW];
    for (uint64_t i = 1; i < ROW * 4; i++) {
        hashes [i] = i << 32 | 7;
        lines_add (&lines, (uint32_t)i, hashes [i]);
    }
    lines_check (&lines);
    for (uint32_t i = 1; i < ROW * 4; i++) {
        assert_int_equal (lines_find (&lines, hashes [i]), i);
        lines_remove (&lines, i);
        assert_int_equal (lines_find (&lines, hashes [i]), 0);
        lines_check (&lines);
    }
    assert_int_equal (lines.further_used, 0);
    lines_fini (&lines);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_a_bit_a_number),
        cmocka_unit_test (test_a_line_goes_on_as_long_as_it_must),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
