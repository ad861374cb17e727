//  JSON from strangers: what is read, exactly, and what is refused, and where.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_check.h"
#include "base/json_writer.h"
#include "base/random.h"

static json_t *
s_parse (const char *text)
{
    error_t error = { 0 };
    json_t *root = NULL;
    if (json_parse (span_from_string (text), &root, &error))
        fail_msg ("%s: %s", text, error.text);
    return root;
}

//  Reads `text` and checks that it is written as `expected`.
static void
s_assert_rewritten (const char *text, const char *expected)
{
    json_t *root = s_parse (text);
    buffer_t out = { 0 };
    json_render (root, &out);
    assert_string_equal (buffer_string (&out), expected);
    buffer_fini (&out);
    json_destroy (&root);
}

static void
s_assert_refused (span_t text, const char *sentence)
{
    error_t error = { 0 };
    json_t *root = NULL;
    assert_int_equal (json_parse (text, &root, &error), STATUS_INVALID);
    assert_null (root);
    assert_string_equal (error.text, sentence);
}

static void
test_a_text_is_written_back_in_order_digit_for_digit (void **state)
{
    s_assert_rewritten (" {\"z\" : 1.50, \"a\":[1e3, 0.1, -0.0], \"m\":null,\"\":true} ",
        "{\"z\":1.50,\"a\":[1e3,0.1,-0.0],\"m\":null,\"\":true}");
    s_assert_rewritten ("18446744073709551615", "18446744073709551615");
    s_assert_rewritten ("-9223372036854775808", "-9223372036854775808");
    s_assert_rewritten ("9007199254740993", "9007199254740993");
    s_assert_rewritten ("\"\\u0000\\n\\/\\u00e9\\ud83d\\ude00\"", "\"\\u0000\\n/\xc3\xa9\xf0\x9f\x98\x80\"");
    s_assert_rewritten ("\"\\ud800\"", "\"\xef\xbf\xbd\"");
    s_assert_rewritten ("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
    s_assert_rewritten ("[]", "[]");
    s_assert_rewritten ("null", "null");
}

static void
test_what_is_no_json_is_refused_with_its_place (void **state)
{
    s_assert_refused (SPAN ("[NaN]"), "not JSON: unexpected text at byte 1");
    s_assert_refused (SPAN ("Infinity"), "not JSON: unexpected text at byte 0");
    s_assert_refused (SPAN ("-Infinity"), "not JSON: a number that is none at byte 0");
    s_assert_refused (SPAN ("{'a':1}"), "not JSON: unexpected text at byte 1");
    s_assert_refused (SPAN ("[1] x"), "not JSON: unexpected text at byte 4");
    s_assert_refused (SPAN ("[1] []"), "not JSON: something follows the value at byte 4");
    s_assert_refused (SPAN ("1 2"), "not JSON: something follows the value at byte 2");
    s_assert_refused (SPAN ("[1,]"), "not JSON: unexpected character at byte 3");
    s_assert_refused (SPAN ("[1 2]"), "not JSON: array value separator ',' expected at byte 3");
    s_assert_refused (SPAN ("/* c */ 1"), "not JSON: unexpected text at byte 0");
    s_assert_refused (SPAN ("\xef\xbb\xbf 1"), "not JSON: unexpected text at byte 0");
    s_assert_refused (SPAN ("[1\0]"), "not JSON: unexpected text at byte 2");
    s_assert_refused (SPAN ("\"a\tb\""), "not JSON: a raw control character in a string at byte 2");
    s_assert_refused (SPAN ("[\"a\\\""), "not JSON: a string without an end at byte 5");
    s_assert_refused (SPAN ("{\"a\\u0000b\" : 1}"), "not JSON: a key with a NUL at byte 2");
    s_assert_refused (SPAN ("[\"a\xff\"]"), "not JSON: text that is not UTF-8 at byte 3");
    s_assert_refused (SPAN ("\"\xed\xa0\x80\""), "not JSON: text that is not UTF-8 at byte 1");
    s_assert_refused (SPAN (""), "not JSON: it ends too early");
    s_assert_refused ((span_t){ NULL, 0 }, "not JSON: it ends too early");
    s_assert_refused (SPAN (" "), "not JSON: it ends too early");
    s_assert_refused (SPAN ("{\"a\":"), "not JSON: it ends too early");
    s_assert_refused (SPAN ("[1"), "not JSON: it ends too early");
}

//  Numbers and pairs of escapes that are rewritten for the reader do not move the places that it names.
static void
test_a_place_is_one_of_the_text_as_it_came (void **state)
{
    s_assert_refused (SPAN ("[99999999999999999999,-99999999999999999999 x]"), "not JSON: unexpected text at byte 44");
    s_assert_refused (SPAN ("[\"\\ud83d\\udc00\" x]"), "not JSON: unexpected text at byte 16");
    s_assert_refused (SPAN ("[\"\\ud83f\\udc00\",99999999999999999999] x"), "not JSON: unexpected text at byte 38");
    s_assert_refused (SPAN ("[99999999999999999999"), "not JSON: it ends too early");
}

static void
test_no_number_changes_silently (void **state)
{
    s_assert_refused (SPAN ("1."), "not JSON: a number that is none at byte 0");
    s_assert_refused (SPAN ("01"), "not JSON: a number that is none at byte 0");
    s_assert_refused (SPAN ("0123E0"), "not JSON: a number that is none at byte 0");
    s_assert_refused (SPAN ("-"), "not JSON: a number that is none at byte 0");
    s_assert_refused (SPAN ("1e5.5"), "not JSON: a number that is none at byte 0");
    char digits [JSON_NUMBER_MAX + 2] = { 0 };
    memset (digits, '9', JSON_NUMBER_MAX + 1);
    s_assert_refused (span_from_string (digits), "not JSON: a number of more than 128 characters at byte 0");
    digits [JSON_NUMBER_MAX] = '\0';
    s_assert_rewritten (digits, digits);
    s_assert_rewritten ("18446744073709551616", "18446744073709551616");
    s_assert_rewritten ("-9223372036854775809", "-9223372036854775809");
    s_assert_rewritten (
        "[123456789012345678901234567890,0.5,{\"a\":-99999999999999999999,\"b\":\"1, 99999999999999999999\"}]",
        "[123456789012345678901234567890,0.5,{\"a\":-99999999999999999999,\"b\":\"1, 99999999999999999999\"}]");
    s_assert_rewritten (
        "[99999999999999999999.5,99999999999999999999e3,1E-99999999999999999999,18446744073709551615,10E0]",
        "[99999999999999999999.5,99999999999999999999e3,1E-99999999999999999999,18446744073709551615,10E0]");
    s_assert_rewritten ("[1e999,-1e999]", "[1e999,-1e999]");
    s_assert_rewritten ("[1e-999999999,-0,1E+2]", "[1e-999999999,0,1E+2]");
    s_assert_refused (SPAN ("[+1]"), "not JSON: unexpected text at byte 1");
    s_assert_refused (SPAN ("[.5]"), "not JSON: unexpected text at byte 1");
    s_assert_refused (SPAN ("[1e]"), "not JSON: a number that is none at byte 1");
}

//  Whole numbers of any size are whole, with their digits; only those within 64 bits are given as such.
static void
test_a_whole_number_has_any_size (void **state)
{
    int64_t integer = 7;
    uint64_t natural = 7;
    double real = 0;
    json_t *root = s_parse ("[99999999999999999999,-99999999999999999999,1e999,-1.50,18446744073709551615]");
    const json_t *big = json_at (root, 0);
    assert_int_equal (json_kind (big), JSON_INTEGER);
    assert_false (json_to_i64 (big, &integer) || json_to_u64 (big, &natural));
    assert_true (integer == 7 && natural == 7);
    assert_true (json_to_double (big, &real) && real == 1e20);
    assert_true (span_equal_string (json_digits (big), "99999999999999999999"));
    assert_true (span_equal_string (json_digits (json_at (root, 1)), "-99999999999999999999"));
    assert_true (json_to_double (json_at (root, 2), &real) && isinf (real));
    assert_int_equal (json_kind (json_at (root, 2)), JSON_REAL);
    assert_true (span_equal_string (json_digits (json_at (root, 3)), "-1.50"));
    assert_int_equal (json_digits (json_at (root, 4)).size, 0);
    assert_int_equal (json_digits (root).size, 0);
    json_destroy (&root);
}

static void
test_nesting_ends_at_the_bound (void **state)
{
    char text [2 * JSON_DEPTH_MAX + 2];
    memset (text, '[', JSON_DEPTH_MAX + 1);
    memset (text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    json_t *root = NULL;
    assert_int_equal (json_parse (span_of (text + 1, 2 * JSON_DEPTH_MAX), &root, NULL), STATUS_OK);
    json_destroy (&root);
    s_assert_refused (span_of (text, sizeof text), "not JSON: nested deeper than 64 at byte 64");
}

static void
test_numbers_are_taken_only_where_they_fit (void **state)
{
    json_t *root = s_parse ("[3.0, 3.5, 18446744073709551615, 1e300, \"4\", -2]");
    int64_t i = 42;
    uint64_t u = 42;
    double d = 0;
    assert_true (json_to_i64 (json_at (root, 0), &i) && i == 3);
    assert_true (json_to_u64 (json_at (root, 0), &u) && u == 3);
    assert_false (json_to_i64 (json_at (root, 1), &i) || json_to_u64 (json_at (root, 1), &u));
    assert_false (json_to_i64 (json_at (root, 2), &i));
    assert_false (json_to_i64 (json_at (root, 3), &i));
    assert_false (json_to_i64 (json_at (root, 4), &i) || json_to_double (json_at (root, 4), &d));
    assert_false (json_to_u64 (json_at (root, 5), &u));
    assert_true (i == 3 && u == 3);
    assert_true (json_to_u64 (json_at (root, 2), &u) && u == UINT64_MAX);
    assert_true (json_to_i64 (json_at (root, 5), &i) && i == -2);
    assert_true (json_to_double (json_at (root, 1), &d) && d == 3.5);
    assert_null (json_at (root, 6));
    assert_null (json_at (json_at (root, 0), 0));
    json_destroy (&root);
    assert_null (root);
}

static void
test_members_are_found_and_walked_in_order (void **state)
{
    json_t *root = s_parse ("{\"z\":{\"c\":{\"d\":7}},\"a\":null,\"s\":\"x\\u0000y\"}");
    int64_t number = 0;
    assert_true (json_to_i64 (json_get_path (root, "z.c.d"), &number) && number == 7);
    assert_null (json_get_path (root, "z.x.d"));
    assert_null (json_get (root, "a"));
    assert_true (span_equal (json_string (json_get (root, "s")), SPAN ("x\0y")));

    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    buffer_t seen = { 0 };
    while (json_next (root, &cursor, &key, &value))
        buffer_print (&seen, "%.*s=%s ", SPAN_ARG (key), json_kind_name (json_kind (value)));
    assert_string_equal (buffer_string (&seen), "z=an object a=null s=a string ");
    cursor = 0;
    assert_false (json_next (json_get (root, "s"), &cursor, &key, &value));
    buffer_fini (&seen);
    json_destroy (&root);
}

static void
s_write_random (json_writer_t *writer, random_t *random, int depth)
{
    uint8_t text [12];
    size_t size = random_below (random, sizeof text);
    for (size_t i = 0; i < size; i++)
        text [i] = (uint8_t)random_u64 (random);
    switch (random_below (random, depth ? 9 : 7)) {
    case 0:
        json_write_null (writer);
        break;
    case 1:
        json_write_bool (writer, random_below (random, 2));
        break;
    case 2:
        json_write_u64 (writer, random_u64 (random) >> random_below (random, 64));
        break;
    case 3:
        json_write_i64 (writer, (int64_t)(random_u64 (random) >> random_below (random, 64)));
        break;
    case 4:
        json_write_double (writer, (double)(int64_t)random_u64 (random) / (double)(random_below (random, 1000000) + 1));
        break;
    case 5:
    case 6:
        json_write_string (writer, span_of (text, size));
        break;
    case 7:
        json_write_begin_array (writer);
        for (size_t i = 0; i < size; i++)
            s_write_random (writer, random, depth - 1);
        json_write_end_array (writer);
        break;
    default:
        json_write_begin_object (writer);
        for (size_t i = 0; i < size; i++) {
            char key [8];
            snprintf (key, sizeof key, "k%zu", i);
            json_write_key (writer, key);
            s_write_random (writer, random, depth - 1);
        }
        json_write_end_object (writer);
    }
}

//  Whatever bytes go into the writer, the reader takes what comes out, and writes the same again.
static void
test_all_that_is_written_reads_back (void **state)
{
    uint64_t seed = 11;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    for (int round = 0; round < 2000; round++) {
        buffer_t out = { 0 };
        json_writer_t writer;
        json_writer_init (&writer, &out);
        s_write_random (&writer, &random, 3);
        char *text = (char *)(uintptr_t)buffer_string (&out);
        s_assert_rewritten (text, text);
        buffer_fini (&out);
    }
}

//  Bytes thrown at random, or one byte changed in a good text: never anything but a tree or a sentence.
static void
test_noise_is_refused_or_read (void **state)
{
    uint64_t seed = 12;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    static const char good [] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9 \xc3\xa9\"}],\"n\":[1,-2.5e3,true,null]}";
    size_t read = 0;
    for (int round = 0; round < 20000; round++) {
        char text [sizeof good];
        memcpy (text, good, sizeof good);
        for (uint64_t changes = random_below (&random, 3) + 1; changes; changes--)
            text [random_below (&random, sizeof good - 1)] = (char)random_u64 (&random);
        json_t *root = NULL;
        read += json_parse (span_of (text, sizeof good - 1), &root, NULL) == STATUS_OK;
        json_destroy (&root);
    }
    assert_in_range (read, 100, 15000);
}

//  Text off the text, and the tree that json_parse makes of it: the same member.
static void
s_assert_same_member (span_t text, span_t value, const json_t *tree)
{
    json_t *parsed = NULL;
    buffer_t one = { 0 }, other = { 0 };
    if (value.size && json_parse (value, &parsed, NULL))
        fail_msg ("%.*s is no value in %.*s", SPAN_ARG (value), SPAN_ARG (text));
    json_render (parsed, &one);
    json_render (json_get (tree, "a"), &other);
    if (!span_equal (buffer_span (&one), buffer_span (&other)) || value.size != span_trim (value).size)
        fail_msg ("%.*s in %.*s", SPAN_ARG (value), SPAN_ARG (text));
    json_destroy (&parsed);
    buffer_fini (&one);
    buffer_fini (&other);
}

static bool
s_assert_recognized (span_t text)
{
    span_t value = { 0 };
    json_t *tree = NULL;
    json_kind_t kind = JSON_NULL;
    bool parsed = json_parse (text, &tree, NULL) == STATUS_OK;
    if (json_recognize (text, &kind) != parsed || (parsed && kind != json_kind (tree)))
        fail_msg ("%.*s", SPAN_ARG (text));
    if (json_recognize_member (text, SPAN ("a"), &value) != (parsed && kind == JSON_OBJECT))
        fail_msg ("%.*s", SPAN_ARG (text));
    s_assert_same_member (text, value, tree);
    json_destroy (&tree);
    return parsed;
}

//  Without a tree texts are told from others as with one: every row of up to five tokens, and longer ones at random.
static void
test_what_is_recognized_is_what_is_read (void **state)
{
    static const char *const tokens [] = { "{", "}", "[", "]", ",", ":", "\"a\"", "1", "null", "\"\\u00e9\"", "\"\\x\"",
        "\"\\u12\"", "-0", "2.5", "1e3", "99999999999999999999", "-1e999", "01", "-", "true", "false", "nul", " ", "\n",
        "\"\\u0000\"", "{\"k\":", "[1,", "}]" };
    enum { FEW = 9, ALL = sizeof tokens / sizeof *tokens, RANDOM = 100000 };
    uint64_t seed = 13, rows = 1, read = 0;
    random_t random;
    random_init (&random, seed);
    print_message ("seed %llu\n", (unsigned long long)seed);
    for (size_t length = 0; length < 5; length++)
        rows *= FEW;
    for (uint64_t row = 0; row < rows + RANDOM; row++) {
        buffer_t text = { 0 };
        for (uint64_t rest = row; row < rows && rest; rest /= FEW)
            buffer_append_string (&text, tokens [rest % FEW]);
        for (uint64_t left = row < rows ? 0 : random_below (&random, 8); left; left--)
            buffer_append_string (&text, tokens [random_below (&random, ALL)]);
        read += s_assert_recognized (buffer_span (&text));
        buffer_fini (&text);
    }
    assert_true (read > 2000);
}

//  What lies inside of other members is none of the object's, and of two the last one counts.
static void
test_a_member_is_the_outermost_objects (void **state)
{
    static const struct {
        const char *text;     //  An object
        const char *value;    //  Of its member "a"
    } rows [] = { { "{\"b\":{\"a\":1}}", "" }, { "{\"a\" : {\"a\":2} }", "{\"a\":2}" },
        { "{\"b\":[{\"a\":1}],\"a\":[1,{\"a\":3}],\"c\":{\"a\":4}}", "[1,{\"a\":3}]" },
        { "{\"a\":1,\"a\":[ ]}", "[ ]" }, { "{\"b\":\"a\"}", "" }, { "{}", "" } };
    span_t value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true (json_recognize_member (span_from_string (rows [i].text), SPAN ("a"), &value));
        assert_true (span_equal_string (value, rows [i].value));
    }
    assert_false (json_recognize_member (SPAN ("[{\"a\":1}]"), SPAN ("a"), &value));
}

static void
test_depth_is_recognized (void **state)
{
    for (size_t depth = 60; depth < 70; depth++) {
        buffer_t text = { 0 };
        for (size_t i = 0; i < depth; i++)
            buffer_append_string (&text, i % 2 ? "{\"a\":" : "[");
        buffer_append_string (&text, depth % 3 ? "1" : depth % 2 ? "[]" : "{}");
        for (size_t i = depth; i > 0; i--)
            buffer_append_byte (&text, i % 2 ? ']' : '}');
        s_assert_recognized (buffer_span (&text));
        buffer_fini (&text);
    }
}

//  What is built is what would be read.
static void
test_a_tree_of_our_own_is_a_tree (void **state)
{
    json_t *object = json_new_object (), *list = json_new_array (), *other = NULL;
    buffer_t text = { 0 };
    assert_int_equal (json_parse (SPAN ("{\"x\":[1.50]}"), &other, NULL), STATUS_OK);
    json_put (object, "a", json_new_string (SPAN ("h\xc3\xa9 \"\0")));
    json_put (object, "b", json_new_bool (true));
    json_put (object, "c", NULL);
    json_put (object, "a", json_new_string (SPAN ("again")));
    json_add (list, json_share (json_get (other, "x")));
    json_add (list, json_share (NULL));
    json_put (object, "list", list);
    json_destroy (&other);
    json_render (object, &text);
    assert_string_equal (buffer_string (&text), "{\"a\":\"again\",\"b\":true,\"c\":null,\"list\":[[1.50],null]}");
    json_destroy (&object);
    buffer_fini (&text);
}

//  json-c alone makes U+FFFD of those that end in D800 to DFFF.
static void
test_every_pair_of_surrogates_is_the_character_it_means (void **state)
{
    static const uint32_t ends [] = { 0x0000, 0xd7ff, 0xd800, 0xd842, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff };
    for (uint32_t plane = 1; plane <= 16; plane++)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            char text [64];
            json_t *tree = NULL;
            uint32_t point = plane << 16 | ends [i];
            uint32_t high = 0xd800 + ((point - 0x10000) >> 10);
            uint32_t low = 0xdc00 + (point & 0x3ff);
            const uint8_t wanted [] = { 'a', (uint8_t)(0xf0 | point >> 18), 0x80 | (point >> 12 & 0x3f),
                0x80 | (point >> 6 & 0x3f), 0x80 | (point & 0x3f), 'b' };
            snprintf (text, sizeof text, i % 2 ? "\"a\\u%04x\\u%04xb\"" : "\"a\\u%04X\\u%04Xb\"", high, low);
            assert_int_equal (json_parse (span_from_string (text), &tree, NULL), STATUS_OK);
            assert_true (span_equal (json_string (tree), span_of (wanted, sizeof wanted)));
            json_destroy (&tree);
        }
}

static void
test_what_only_looks_like_a_pair_stays (void **state)
{
    json_t *tree = NULL;
    assert_int_equal (json_parse (SPAN ("\"\\\\ud876\\\\udc42\""), &tree, NULL), STATUS_OK);
    assert_true (span_equal_string (json_string (tree), "\\ud876\\udc42"));
    json_destroy (&tree);
    assert_int_equal (json_parse (SPAN ("\"\\ud876\\\\udc42\""), &tree, NULL), STATUS_OK);
    assert_true (span_equal_string (json_string (tree), "\xef\xbf\xbd\\udc42"));
    json_destroy (&tree);
    assert_int_equal (json_parse (SPAN ("\"\\ud876\\udc4@\""), &tree, NULL), STATUS_INVALID);
}

//  A text that repeats a value, and what its tree really takes.
static void
s_check_weight (const char *value)
{
    enum { COUNT = 20000 };
    buffer_t text = { 0 };
    for (size_t i = 0; i < COUNT; i++) {
        buffer_append_string (&text, i ? "," : "[");
        buffer_append_string (&text, value);
    }
    buffer_append_byte (&text, ']');
    struct mallinfo2 before = mallinfo2 ();
    json_t *tree = NULL;
    assert_int_equal (json_parse (buffer_span (&text), &tree, NULL), STATUS_OK);
    struct mallinfo2 after = mallinfo2 ();
    uint64_t taken = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
    uint64_t weight = json_weight (buffer_span (&text));
    assert_in_range (taken, 0, weight + text.size);
    assert_in_range (weight, 0, 3 * taken + (taken ? 0 : UINT64_MAX / 2));    //  Sanitizers' malloc tells nothing
    json_destroy (&tree);
    buffer_fini (&text);
}

static void
test_a_tree_weighs_no_more_than_is_said (void **state)
{
    static const char *const values [] = { "[]", "{}", "1", "-1.5e3", "true", "\"a\"", "[1]", "[[[[[]]]]]", "{\"a\":1}",
        "{\"a\":{\"b\":[]}}", "{\"a\":1,\"b\":2,\"c\":\"d\"}", "[\"{[,,,\\\"{{{\"]", "[{},{},[],[]]",
        "\"some text that is longer than what stands in a value by itself\"" };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        s_check_weight (values [i]);
    assert_int_equal (json_weight (SPAN ("\"{{{{\\")), json_weight (SPAN ("\"\"")));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_pair_of_surrogates_is_the_character_it_means),
        cmocka_unit_test (test_what_only_looks_like_a_pair_stays),
        cmocka_unit_test (test_a_text_is_written_back_in_order_digit_for_digit),
        cmocka_unit_test (test_what_is_no_json_is_refused_with_its_place),
        cmocka_unit_test (test_a_place_is_one_of_the_text_as_it_came),
        cmocka_unit_test (test_no_number_changes_silently),
        cmocka_unit_test (test_a_whole_number_has_any_size),
        cmocka_unit_test (test_nesting_ends_at_the_bound),
        cmocka_unit_test (test_numbers_are_taken_only_where_they_fit),
        cmocka_unit_test (test_members_are_found_and_walked_in_order),
        cmocka_unit_test (test_all_that_is_written_reads_back),
        cmocka_unit_test (test_noise_is_refused_or_read),
        cmocka_unit_test (test_what_is_recognized_is_what_is_read),
        cmocka_unit_test (test_a_member_is_the_outermost_objects),
        cmocka_unit_test (test_depth_is_recognized),
        cmocka_unit_test (test_a_tree_weighs_no_more_than_is_said),
        cmocka_unit_test (test_a_tree_of_our_own_is_a_tree),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
