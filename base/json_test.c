//  What json-c by itself lets pass is refused, what must survive survives.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static json_t *
s_parse (const char *text)
{
    json_t *tree = NULL;
    assert_int_equal (json_parse (span_from_string (text), &tree, NULL), STATUS_OK);
    return tree;
}

//  Each of these is refused with a sentence, and no tree is given.
static void
test_what_is_not_json_is_refused (void **state)
{
    static const char *const texts [] = {
        "",
        " ",
        "{",
        "[1,2",
        "{\"a\":}",
        "{\"a\" 1}",
        "[1,]",
        "{\"a\":1,}",
        "nul",
        "NaN",
        "[NaN]",
        "[Infinity]",
        "[-Infinity]",
        "{'a':1}",
        "['a']",
        "[1] 2",
        "{}x",
        "/* c */ {}",
        "\"\xff\"",
        "\"\xed\xa0\x80\"",
        "[123456789012345678901234567890]",
        "[18446744073709551616]",
        "[-9223372036854775809]",
        "\"a",
        "[01]",
        "[1.]",
        "\x01",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts [0]; i++) {
        json_t *tree = NULL;
        error_t error = { 0 };
        assert_int_equal (json_parse (span_from_string (texts [i]), &tree, &error), STATUS_INVALID);
        assert_null (tree);
        assert_true (error.text [0] != '\0');
    }
}

static void
test_depth_is_bounded (void **state)
{
    char text [200];
    memset (text, '[', 100);
    memset (text + 100, ']', 100);
    json_t *tree = NULL;
    error_t error = { 0 };
    assert_int_equal (json_parse (span_of (text, 200), &tree, &error), STATUS_INVALID);
    assert_non_null (strstr (error.text, "deeper"));
    assert_int_equal (json_parse (span_of (text + 50, 100), &tree, NULL), STATUS_OK);
    json_destroy (&tree);
}

//  Order, digits, NUL and 64-bit integers come back as they went in; blanks do not.
static void
test_what_was_read_is_written_the_same (void **state)
{
    static const char *const texts [] = {
        "{\"z\":1,\"a\":[0.1,1e3,-0.0,9007199254740993,18446744073709551615,-9223372036854775808],\"n\":null,\"t\":"
        "true}",
        "\"a\\u0000b/\\\"\"",
        "[]",
        "{}",
        "12",
        "null",
        "\"ä€😀\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts [0]; i++) {
        json_t *tree = s_parse (texts [i]);
        buffer_t out = { 0 };
        json_render (tree, &out);
        assert_string_equal (buffer_string (&out), texts [i]);
        buffer_fini (&out);
        json_destroy (&tree);
    }
}

static void
test_members_are_found_and_walked_in_order (void **state)
{
    json_t *tree = s_parse ("{\"b\":{\"c\":{\"d\":7}},\"a\":null,\"s\":\"x\\u0000y\"}");
    int64_t value = 0;
    assert_true (json_to_i64 (json_get_path (tree, "b.c.d"), &value));
    assert_int_equal (value, 7);
    assert_null (json_get_path (tree, "b.x.d"));
    assert_null (json_get (tree, "a"));
    assert_int_equal (json_string (json_get (tree, "s")).size, 3);

    char keys [8] = "";
    size_t count = 0;
    uintptr_t cursor = 0;
    span_t key;
    const json_t *member;
    while (json_next (tree, &cursor, &key, &member))
        keys [count++] = (char)key.data [0];
    assert_string_equal (keys, "bas");
    json_destroy (&tree);
}

static void
test_numbers_are_taken_only_where_they_fit (void **state)
{
    json_t *tree = s_parse ("[3.0, 3.5, 18446744073709551615, 1e300, \"4\", -2]");
    int64_t value = 42;
    assert_true (json_to_i64 (json_at (tree, 0), &value) && value == 3);
    assert_false (json_to_i64 (json_at (tree, 1), &value));
    assert_false (json_to_i64 (json_at (tree, 2), &value));
    assert_false (json_to_i64 (json_at (tree, 3), &value));
    assert_false (json_to_i64 (json_at (tree, 4), &value));
    assert_int_equal (value, 3);
    assert_true (json_to_i64 (json_at (tree, 5), &value) && value == -2);
    double real = 0;
    assert_true (json_to_double (json_at (tree, 1), &real) && real == 3.5);
    json_destroy (&tree);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_is_not_json_is_refused),
        cmocka_unit_test (test_depth_is_bounded),
        cmocka_unit_test (test_what_was_read_is_written_the_same),
        cmocka_unit_test (test_members_are_found_and_walked_in_order),
        cmocka_unit_test (test_numbers_are_taken_only_where_they_fit),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
