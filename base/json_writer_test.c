//  JSON written without a tree.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "base/json_writer.h"

static buffer_t out;    //  What the writer under test wrote

static json_writer_t
s_writer (void)
{
    json_writer_t writer;
    buffer_clear (&out);
    json_writer_init (&writer, &out);
    return writer;
}

static void
s_assert_string (span_t text, const char *expected)
{
    json_writer_t writer = s_writer ();
    json_write_string (&writer, text);
    assert_string_equal (buffer_string (&out), expected);
}

static void
s_assert_double (double value, const char *expected)
{
    json_writer_t writer = s_writer ();
    json_write_double (&writer, value);
    assert_string_equal (buffer_string (&out), expected);
}

static void
test_commas_stand_between_values_and_nowhere_else (void **state)
{
    json_writer_t writer = s_writer ();
    json_write_begin_object (&writer);
    json_write_key (&writer, "a");
    json_write_begin_array (&writer);
    json_write_end_array (&writer);
    json_write_key (&writer, "b");
    json_write_begin_array (&writer);
    json_write_u64 (&writer, UINT64_MAX);
    json_write_i64 (&writer, INT64_MIN);
    json_write_bool (&writer, true);
    json_write_null (&writer);
    json_write_begin_object (&writer);
    json_write_end_object (&writer);
    json_write_raw (&writer, SPAN ("{\"x\":0}"));
    json_write_end_array (&writer);
    json_write_key_span (&writer, SPAN ("c\"\n"));
    json_write_i64 (&writer, 0);
    json_write_end_object (&writer);
    assert_string_equal (buffer_string (&out),
        "{\"a\":[],\"b\":[18446744073709551615,-9223372036854775808,true,null,{},"
        "{\"x\":0}],\"c\\\"\\n\":0}");
}

static void
test_strings_are_escaped_and_made_utf8 (void **state)
{
    s_assert_string (SPAN (""), "\"\"");
    s_assert_string (SPAN ("a/b <\xc3\xa4\xf0\x9f\x98\x80>"), "\"a/b <\xc3\xa4\xf0\x9f\x98\x80>\"");
    s_assert_string (SPAN ("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
    s_assert_string (SPAN ("\0\x1f\x7f"), "\"\\u0000\\u001f\x7f\"");
    s_assert_string (SPAN ("a\xff\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    s_assert_string (SPAN ("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

//  A character that is cut in two is whole again when both parts were written.
static void
test_text_is_escaped_in_pieces (void **state)
{
    buffer_clear (&out);
    json_escape_bytes (&out, SPAN ("\"\xf0\x9f"));
    json_escape_bytes (&out, SPAN ("\x98\x80\n"));
    assert_string_equal (buffer_string (&out), "\\\"\xf0\x9f\x98\x80\\n");
}

static void
test_reals_are_as_short_as_they_can_be (void **state)
{
    s_assert_double (0.1, "0.1");
    s_assert_double (1.0 / 3, "0.3333333333333333");
    s_assert_double (5e-324, "4.94065645841247e-324");
    s_assert_double (DBL_MAX, "1.7976931348623157e+308");
    s_assert_double (3, "3.0");
    s_assert_double (-0.0, "-0.0");
    s_assert_double (1e300, "1e+300");
    s_assert_double (NAN, "null");
    s_assert_double (-INFINITY, "null");
    buffer_fini (&out);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_commas_stand_between_values_and_nowhere_else),
        cmocka_unit_test (test_strings_are_escaped_and_made_utf8),
        cmocka_unit_test (test_text_is_escaped_in_pieces),
        cmocka_unit_test (test_reals_are_as_short_as_they_can_be),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
