//  Spans: cut, compared and read without a NUL in sight.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "base/span.h"

static void
test_a_slice_never_leaves_its_span (void **state)
{
    span_t text = SPAN ("abcdef");
    assert_true (span_equal_string (span_slice (text, 2, 3), "cde"));
    assert_true (span_equal_string (span_slice (text, 4, 100), "ef"));
    assert_int_equal (span_slice (text, 6, 1).size, 0);
    assert_int_equal (span_slice (text, 7, 1).size, 0);
    assert_int_equal (span_slice (text, SIZE_MAX, SIZE_MAX).size, 0);
    assert_true (span_equal_string (span_slice (text, 1, SIZE_MAX), "bcdef"));
    assert_int_equal (span_slice (span_from_string (NULL), 0, 1).size, 0);
}

static void
test_order_is_of_memory_and_the_shorter_comes_first (void **state)
{
    assert_true (span_compare (SPAN ("a"), SPAN ("b")) < 0);
    assert_true (span_compare (SPAN ("a"), SPAN ("a\0")) < 0);
    assert_true (span_compare (SPAN ("\xff"), SPAN ("a")) > 0);
    assert_true (span_compare (SPAN (""), (span_t){ NULL, 0 }) == 0);
    assert_true (span_equal (SPAN (""), (span_t){ NULL, 0 }));
    assert_false (span_equal (SPAN ("a"), SPAN ("a\0")));
    assert_true (span_equal_nocase (SPAN ("Content-TYPE"), SPAN ("content-type")));
    assert_false (span_equal_nocase (SPAN ("["), SPAN ("{")));
    assert_true (span_starts_with (SPAN ("kv.a"), SPAN ("kv.")) && span_starts_with (SPAN ("x"), SPAN ("")));
    assert_false (span_starts_with (SPAN ("kv"), SPAN ("kv.")));
}

static void
test_blanks_go_from_both_ends_only (void **state)
{
    assert_true (span_equal_string (span_trim (SPAN (" \t a b\r\n")), "a b"));
    assert_int_equal (span_trim (SPAN (" \n ")).size, 0);
    assert_int_equal (span_find_byte (SPAN ("a.b.c"), '.'), 1);
    assert_int_equal (span_find_byte (SPAN ("abc"), '.'), 3);
}

static void
test_a_string_is_cut_to_fit_and_always_ends (void **state)
{
    char out [4] = { 'x', 'x', 'x', 'x' };
    assert_true (span_copy_string (SPAN ("abc"), out, sizeof out));
    assert_string_equal (out, "abc");
    assert_false (span_copy_string (SPAN ("abcd"), out, sizeof out));
    assert_string_equal (out, "abc");
    assert_true (span_copy_string (SPAN (""), out, 1));
    assert_string_equal (out, "");
}

static void
test_whole_numbers_fill_the_span_or_are_none (void **state)
{
    uint64_t value = 7;
    assert_true (span_to_u64 (SPAN ("18446744073709551615"), &value) && value == UINT64_MAX);
    assert_true (span_to_u64 (SPAN ("007"), &value) && value == 7);
    static const char *const none [] = { "", " 1", "1 ", "-1", "+1", "1.0", "0x1", "18446744073709551616",
        "99999999999999999999999" };
    for (size_t i = 0; i < sizeof none / sizeof none [0]; i++)
        assert_false (span_to_u64 (span_from_string (none [i]), &value));
    assert_true (value == 7);
}

static void
test_decimal_numbers_are_as_in_json (void **state)
{
    double value = 7;
    assert_true (span_to_double (SPAN ("-0.5"), &value) && value == -0.5);
    assert_true (span_to_double (SPAN ("0"), &value) && value == 0);
    assert_true (span_to_double (SPAN ("1E+2"), &value) && value == 100);
    assert_true (span_to_double (SPAN ("1e-400"), &value) && value == 0);
    assert_true (span_to_double (SPAN ("-0"), &value) && signbit (value));
    static const char *const none [] = { "", "-", ".5", "1.", "01", "-01", "+1", "1e", "1e+", "1.e1", "1e1.0", "nan",
        "inf", "0x1p3", "1e999", " 1", "1 ", "1,5" };
    value = 7;
    for (size_t i = 0; i < sizeof none / sizeof none [0]; i++)
        if (span_to_double (span_from_string (none [i]), &value))
            fail_msg ("%s is a number", none [i]);
    assert_true (value == 7);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_slice_never_leaves_its_span),
        cmocka_unit_test (test_order_is_of_memory_and_the_shorter_comes_first),
        cmocka_unit_test (test_blanks_go_from_both_ends_only),
        cmocka_unit_test (test_a_string_is_cut_to_fit_and_always_ends),
        cmocka_unit_test (test_whole_numbers_fill_the_span_or_are_none),
        cmocka_unit_test (test_decimal_numbers_are_as_in_json),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
