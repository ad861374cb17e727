//  Values are passed over whole, however they lie among the bytes that are looked at together.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/random.h"
#include "model/tokenizer/scan.h"

enum { SEEDS = 3000, VALUES_MAX = 40, DEEP = 64 };

//  A string, of brackets, quotes and backslashes mostly.
static void
s_put_string (random_t *random, buffer_t *text)
{
    static const char *const parts [] = { "{", "}", "[", "]", "\\\"", "\\\\", ",", ":", " ", "a", "\\u005b", "token" };
    buffer_append_string (text, "\"");
    for (uint64_t left = random_below (random, 30) * random_below (random, 4); left; left--)
        buffer_append_string (text, parts [random_below (random, sizeof parts / sizeof *parts)]);
    buffer_append_string (text, "\"");
}

static void
s_put_blanks (random_t *random, buffer_t *text)
{
    for (uint64_t left = random_below (random, 3) ? 0 : random_below (random, 40); left; left--)
        buffer_append (text, span_of (&" \n\t\r" [random_below (random, 4)], 1));
}

//  An array of some values, of which those at the same depth are `*left` in all.
static void
s_put_array (random_t *random, buffer_t *text, size_t depth, size_t *left)
{
    buffer_append_string (text, "[");
    while (*left) {
        --*left;
        s_put_blanks (random, text);
        uint64_t kind = random_below (random, 8);
        if (kind == 0 && depth < DEEP)
            s_put_array (random, text, depth + 1, left);
        else if (kind < 6)
            s_put_string (random, text);
        else
            buffer_append_string (text, kind == 6 ? "-12.5e3" : "{}");
        if (random_below (random, 16) == 0)
            break;
        buffer_append_string (text, *left ? "," : "");
    }
    buffer_append_string (text, "]");
}

static void
test_a_value_ends_with_its_last_bracket (void **state)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_t random;
        buffer_t text = { 0 };
        size_t values = VALUES_MAX;
        random_init (&random, seed);
        s_put_array (&random, &text, 1, &values);
        size_t size = text.size;
        buffer_append_string (&text, ", \"]\", ]");
        scan_t scan;
        span_t raw;
        scan_init (&scan, buffer_span (&text), 0, NULL);
        if (!scan_value (&scan, &raw) || raw.size != size)
            fail_msg ("seed %llu: %.*s", (unsigned long long)seed, SPAN_ARG (buffer_span (&text)));
        scan_fini (&scan);
        buffer_fini (&text);
    }
}

//  What passing over a text gives.
static void
s_assert_wrong (span_t text, const char *expected)
{
    scan_t scan;
    span_t raw;
    error_t error;
    scan_init (&scan, text, 0, &error);
    assert_false (scan_value (&scan, &raw));
    assert_string_equal (error.text, expected);
    scan_fini (&scan);
}

//  A mistake is found behind as many bytes as are passed over at once, and before as many.
static void
test_a_mistake_among_many_bytes_is_found (void **state)
{
    buffer_t text = { 0 };
    buffer_append_string (&text, "[");
    for (size_t i = 0; i < 100; i++)
        buffer_append_string (&text, "\"]\",");
    size_t before = text.size;
    buffer_append_string (&text, "\"a\001b\"");
    for (size_t i = 0; i < 100; i++)
        buffer_append_string (&text, ",\"[\"");
    s_assert_wrong (buffer_span (&text), "a string without an end at byte 403");
    text.size = before;
    for (size_t i = 0; i < 100; i++)
        buffer_append_string (&text, "[");
    s_assert_wrong (buffer_span (&text), "values nested too deep at byte 464");
    text.size = before;
    s_assert_wrong (buffer_span (&text), "a value expected at byte 401");
    buffer_fini (&text);
}

//  Of control characters only four are blanks.
static void
test_a_control_character_is_no_blank (void **state)
{
    scan_t scan;
    bool first = true;
    scan_init (&scan, SPAN ("[   \n\r\t                      \v\"a\", \"b\"]"), 0, NULL);
    assert_true (scan_element (&scan, &first));
    assert_int_equal (scan_peek (&scan), '\v');
    scan_fini (&scan);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_value_ends_with_its_last_bracket),
        cmocka_unit_test (test_a_mistake_among_many_bytes_is_found),
        cmocka_unit_test (test_a_control_character_is_no_blank),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
