//  The lines against a bit a number, over random operations from a printed seed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/lines.h"

enum { ROWS = 500, OPERATIONS = 50000 };

static uint64_t s_rows [ROWS][ROW_MAX];
static uint32_t s_lengths [ROWS];

//  Every hash of a row is found where it is, and not where it is not.
static void
s_check_row (const lines_t *lines, uint32_t row)
{
    for (uint32_t i = 0; i < ROW_MAX; i++)
        assert_int_equal (lines_find (lines, s_rows [row][i]), i < s_lengths [row] ? row << ROW_BITS | i : 0);
}

static void
s_begin (lines_t *lines, random_t *random)
{
    lines_init (lines);
    for (uint32_t row = 0; row < ROWS; row++) {
        *(const uint64_t **)pile_add (&lines->rows) = s_rows [row];
        for (uint32_t i = 0; i < ROW_MAX; i++)
            s_rows [row][i] = random_u64 (random);
    }
}

//  Rows get longer and shorter, far beyond the first lines and back: every hash is found exactly while it is there.
static void
test_equals_lengths_of_rows (void **state)
{
    lines_t lines;
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    s_begin (&lines, &random);
    uint32_t count = 0, found;
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t row = 1 + (uint32_t)random_below (&random, ROWS - 1), length = s_lengths [row];
        bool longer = random_chance (&random, i < OPERATIONS / 2 ? 800000 : 200000);
        uint32_t most = longer ? ROW_MAX - length : length;
        uint32_t change = (uint32_t)random_below (&random, most + 1);
        if (longer)
            assert_int_equal (lines_add (&lines, row << ROW_BITS | length, change, &found), change);
        else
            lines_remove (&lines, row << ROW_BITS | (length - change), change);
        s_lengths [row] += longer ? change : -change;
        count += longer ? change : -change;
        assert_int_equal (lines.count, count);
        s_check_row (&lines, row);
        if (i % 10000 == 0)
            lines_check (&lines);
    }
    lines_check (&lines);
    assert_true (lines.lines > 8000 && lines.further_used < lines.lines / 2);
    lines_fini (&lines);
}

//  Adding stops before what is there already, and says where it is.
static void
test_adding_stops_at_what_is_there (void **state)
{
    lines_t lines;
    uint32_t found;
    uint64_t first [ROW_MAX] = { 0, 11, 12, 13 }, second [ROW_MAX] = { 21, 22, 12, 23 };
    lines_init (&lines);
    *(const uint64_t **)pile_add (&lines.rows) = first;
    *(const uint64_t **)pile_add (&lines.rows) = second;
    assert_int_equal (lines_add (&lines, 1, 3, &found), 3);
    assert_int_equal (found, 0);
    assert_int_equal (lines_add (&lines, 1 << ROW_BITS, 4, &found), 2);
    assert_int_equal (found, 2);
    assert_int_equal (lines_find (&lines, 22), 1 << ROW_BITS | 1);
    assert_int_equal (lines_find (&lines, 23), 0);
    lines_check (&lines);
    lines_fini (&lines);
}

//  Hashes that all belong to one line, which no seed would give: it gets longer, but not for ever, and shorter again.
static void
test_a_line_goes_on_as_long_as_it_may (void **state)
{
    enum { LINE_MAX = 90 };
    lines_t lines;
    uint64_t hashes [ROW_MAX];
    uint32_t found;
    lines_init (&lines);
    *(const uint64_t **)pile_add (&lines.rows) = hashes;
    for (uint64_t i = 0; i < ROW_MAX; i++)
        hashes [i] = i << 32 | 7;
    assert_int_equal (lines_add (&lines, 1, ROW_MAX - 1, &found), LINE_MAX);
    assert_int_equal (found, 0);
    assert_int_equal (lines_add (&lines, 1 + LINE_MAX, 1, &found), 0);
    lines_check (&lines);
    for (uint32_t i = 1; i <= LINE_MAX; i++) {
        assert_int_equal (lines_find (&lines, hashes [i]), i);
        lines_remove (&lines, i, 1);
        assert_int_equal (lines_find (&lines, hashes [i]), 0);
        lines_check (&lines);
    }
    assert_int_equal (lines.further_used, 0);
    lines_fini (&lines);
}

//  A line has so many bits for the number of the one that goes on from it: where those are used up there is no room, rather
//  than a number that leads to somebody else's line.
static void
test_there_are_no_more_further_lines_than_have_numbers (void **state)
{
    lines_t lines;
    uint64_t hashes [ROW_MAX];
    uint32_t found;
    lines_init (&lines);
    *(const uint64_t **)pile_add (&lines.rows) = hashes;
    for (uint64_t i = 0; i < ROW_MAX; i++)
        hashes [i] = i << 32 | 7;
    size_t count = lines.further.count;
    lines.further.count = 1 << FURTHER_BITS;
    assert_int_equal (lines_add (&lines, 1, LINE_SLOTS + 1, &found), LINE_SLOTS);
    assert_int_equal (found, 0);
    lines.further.count = count;
    lines_check (&lines);
    assert_int_equal (lines_add (&lines, 1 + LINE_SLOTS, 1, &found), 1);
    lines_check (&lines);
    lines_fini (&lines);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_lengths_of_rows),
        cmocka_unit_test (test_adding_stops_at_what_is_there),
        cmocka_unit_test (test_a_line_goes_on_as_long_as_it_may),
        cmocka_unit_test (test_there_are_no_more_further_lines_than_have_numbers),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
