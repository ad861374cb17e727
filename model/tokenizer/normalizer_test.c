//  Unicode's forms, made of the parts of a text that they touch, are those of the whole text; no row of steps makes a text
//  grow beyond all measure.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "base/random.h"
#include "model/tokenizer/categories.h"
#include "model/tokenizer/letters.h"
#include "model/tokenizer/normalizer.h"

enum { TEXTS = 20000, PARTS_MAX = 12 };

//  Bases, marks of several classes, Hangul whole and in letters, what decomposes, what looks like something else.
static const char *const s_parts [] = { "a", "word ", "\n", "e", "\xc3\xa9", "\xcc\x81", "\xcc\xa3", "\xcd\x85",
    "\xc2\xa0", "\xef\xac\x81", "\xe2\x84\xab", "\xe1\x84\x92", "\xe1\x85\xa1", "\xe1\x86\xab", "\xea\xb0\x81",
    "\xed\x95\x9c", "\xe0\xa4\xa8", "\xe0\xa4\xbc", "\xe0\xa5\x8d", "\xe0\xa7\x87", "\xe0\xa6\xbe", "\xe3\x81\x8b",
    "\xe3\x82\x99", "\xef\xbd\xb6", "\xef\xbe\x9e", "\xf0\x9d\x85\x9e", "\xf0\x9f\xa6\x99", "\xe4\xb8\xad", "\xc3\x85",
    "\xe2\x85\xab", "\xef\xbc\xa1", "\xe0\xbd\xb1", "\xe0\xbd\xb2", "\xcd\xb4", "\xe2\x80\x8d" };

//  Blocks without characters that came after Unicode 9.
static const struct {
    uint32_t from;    //  First
    uint32_t to;      //  Behind the last
} s_blocks [] = { { 0, 0x7fd }, { 0x900, 0x9fe }, { 0x1e00, 0x32ff }, { 0xac00, 0xd7b0 }, { 0xf900, 0xfffe },
    { 0x1d100, 0x1d800 } };

static void
s_append_character (buffer_t *text, uint32_t code)
{
    uint8_t *place = buffer_reserve (text, 4);
    buffer_commit (text, letters_encode (code, place));
}

static void
s_append_random (random_t *random, buffer_t *text)
{
    for (uint64_t left = random_below (random, PARTS_MAX); left; left--) {
        size_t block = random_below (random, sizeof s_blocks / sizeof *s_blocks);
        uint32_t code = s_blocks [block].from;
        code += (uint32_t)random_below (random, s_blocks [block].to - code);
        if (random_below (random, 8))
            buffer_append_string (text, s_parts [random_below (random, sizeof s_parts / sizeof *s_parts)]);
        else
            s_append_character (text, code);
    }
}

//  The four forms, each alone.
static void
s_init_forms (normalizer_t *normalizers)
{
    static const normalize_t kinds [] = { NORMALIZE_NFC, NORMALIZE_NFD, NORMALIZE_NFKC, NORMALIZE_NFKD };
    for (size_t i = 0; i < 4; i++) {
        normalizer_init (&normalizers [i]);
        assert_int_equal (normalizer_add (&normalizers [i], (normalization_t){ .kind = kinds [i] }, NULL), STATUS_OK);
    }
}

static void
s_fini_forms (normalizer_t *normalizers)
{
    for (size_t i = 0; i < 4; i++)
        normalizer_fini (&normalizers [i]);
}

//  The text in a form is what the library makes of all of it. Returns whether it stays as it is.
static bool
s_check_form (const normalizer_t *normalizers, size_t form, buffer_t *text, uint64_t seed)
{
    static utf8proc_uint8_t *(*const whole []) (
        const utf8proc_uint8_t *) = { utf8proc_NFC, utf8proc_NFD, utf8proc_NFKC, utf8proc_NFKD };
    const char *string = buffer_string (text);
    char *expected = (char *)whole [form]((const utf8proc_uint8_t *)string);
    normalized_t room = { 0 };
    span_t result;
    assert_int_equal (normalizer_apply (&normalizers [form], buffer_span (text), &room, &result, NULL), STATUS_OK);
    if (strlen (string) == text->size && !span_equal_string (result, expected))
        fail_msg ("seed %llu: %.*s", (unsigned long long)seed, SPAN_ARG (buffer_span (text)));
    bool stays = result.data == text->data;
    free (expected);
    buffer_fini (&room.text);
    buffer_fini (&room.next);
    return stays;
}

static void
test_a_form_is_that_of_the_whole_text (void **state)
{
    normalizer_t normalizers [4];
    s_init_forms (normalizers);
    for (uint64_t seed = 0; seed < TEXTS; seed++) {
        random_t random;
        buffer_t text = { 0 };
        random_init (&random, seed);
        s_append_random (&random, &text);
        buffer_append_byte (&text, ' ');
        s_check_form (normalizers, seed % 4, &text, seed);
        buffer_fini (&text);
    }
    s_fini_forms (normalizers);
}

//  All that a form may move, and that was there when the forms were made.
static size_t
s_find_marks (uint32_t *marks, size_t limit)
{
    size_t count = 0;
    for (uint32_t code = 0; code < 0x20000; code++)
        if (utf8proc_get_property ((utf8proc_int32_t)code)->combining_class &&
            categories_in (UNICODE_9, code) != UTF8PROC_CATEGORY_CN && count < limit)
            marks [count++] = code;
    return count;
}

//  Some marks behind each letter, in order or not.
static void
test_marks_stay_where_they_are_in_order (void **state)
{
    enum { MARKS = 1000 };
    static const char *const letters [] = { "a", "\xc3\xa9", "\xe0\xb8\x81", "\xe0\xa4\xa8", "\xe4\xb8\xad", "." };
    uint32_t marks [MARKS];
    size_t count = s_find_marks (marks, MARKS), stay = 0;
    assert_in_range (count, 700, MARKS - 1);
    normalizer_t normalizers [4];
    s_init_forms (normalizers);
    for (uint64_t seed = 0; seed < TEXTS; seed++) {
        random_t random;
        buffer_t text = { 0 };
        random_init (&random, seed);
        for (uint64_t i = random_below (&random, 40); i; i--) {
            buffer_append_string (&text, letters [random_below (&random, sizeof letters / sizeof *letters)]);
            //  Neighbours are often of one script, and classes rise there.
            size_t mark = (size_t)random_below (&random, count);
            for (uint64_t more = random_below (&random, 4) * random_below (&random, 2); more; more--) {
                s_append_character (&text, marks [mark]);
                mark = (mark + (size_t)random_below (&random, random_below (&random, 8) ? 4 : count)) % count;
            }
        }
        stay += s_check_form (normalizers, seed % 4, &text, seed);
        buffer_fini (&text);
    }
    assert_in_range (stay, TEXTS / 10, TEXTS - TEXTS / 10);
    s_fini_forms (normalizers);
}

//  What falls apart comes together again, whatever it falls into.
static void
test_all_that_falls_apart_is_joined (void **state)
{
    normalizer_t normalizers [4];
    s_init_forms (normalizers);
    for (uint32_t code = 0x80; code < 0x30000; code++) {
        if ((code >= 0xac00 && code <= 0xdfff) || categories_in (UNICODE_9, code) == UTF8PROC_CATEGORY_CN)
            continue;
        buffer_t character = { 0 }, apart = { 0 };
        s_append_character (&character, code);
        char *decomposed = (char *)utf8proc_NFD ((const utf8proc_uint8_t *)buffer_string (&character));
        buffer_append_string (&apart, decomposed);
        if (!span_equal (buffer_span (&apart), buffer_span (&character)))
            s_check_form (normalizers, 0, &apart, code);
        free (decomposed);
        buffer_fini (&apart);
        buffer_fini (&character);
    }
    s_fini_forms (normalizers);
}

//  The result of one step is the text itself.
static void
s_check_stays (normalize_t kind, const char *text)
{
    normalizer_t normalizer;
    normalized_t room = { 0 };
    span_t result;
    normalizer_init (&normalizer);
    assert_int_equal (normalizer_add (&normalizer, (normalization_t){ .kind = kind }, NULL), STATUS_OK);
    assert_int_equal (normalizer_apply (&normalizer, span_from_string (text), &room, &result, NULL), STATUS_OK);
    if (!span_equal_string (result, text))
        fail_msg ("%d: %s: %.*s", kind, text, SPAN_ARG (result));
    buffer_fini (&room.text);
    buffer_fini (&room.next);
    normalizer_fini (&normalizer);
}

static void
test_characters_younger_than_the_forms_stay (void **state)
{
    static const normalize_t kinds [] = { NORMALIZE_NFC, NORMALIZE_NFD, NORMALIZE_NFKC, NORMALIZE_NFKD };
    for (size_t i = 0; i < 4; i++) {
        s_check_stays (kinds [i], "a\xcc\x95\xe0\xa2\x98\xcc\xb4");    //  A mark of class 230 does not move,
        s_check_stays (kinds [i], "\xe0\xa2\x98\xcc\xb4");             //  nor does the one behind it
        s_check_stays (kinds [i], "\xf0\x91\xa4\xb8");                 //  A vowel does not fall apart
        s_check_stays (kinds [i], "\xe3\x8b\xbf");                     //  The name of an era is no two ideographs
    }
    s_check_stays (NORMALIZE_STRIP_ACCENTS, "a\xe0\xa2\x98");
    s_check_stays (NORMALIZE_CLEAN, "\xcd\xb8");    //  What is no character is no control character
}

static span_t
s_owned (const char *text)
{
    return span_of (memory_copy_string (text), strlen (text));
}

//  Each of them stays within what one step may do.
static void
test_steps_that_multiply_are_bounded_together (void **state)
{
    normalizer_t normalizer;
    normalized_t room = { 0 };
    span_t result;
    error_t error;
    normalizer_init (&normalizer);
    for (size_t i = 0; i < 8; i++) {
        normalization_t step = {
            .kind = NORMALIZE_REPLACE, .string = s_owned ("a"), .content = s_owned ("aaaaaaaaaaaaaaaa")
        };
        assert_int_equal (normalizer_add (&normalizer, step, NULL), STATUS_OK);
    }
    assert_int_equal (normalizer_apply (&normalizer, SPAN ("aa"), &room, &result, &error), STATUS_LIMIT);
    assert_non_null (strstr (error.text, "more than 64 times its size"));
    assert_true (room.text.size < 1 << 20 && room.next.size < 1 << 20);
    assert_int_equal (normalizer_apply (&normalizer, SPAN ("bb"), &room, &result, NULL), STATUS_OK);
    assert_true (span_equal_string (result, "bb"));
    normalizer_fini (&normalizer);
    buffer_fini (&room.text);
    buffer_fini (&room.next);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_form_is_that_of_the_whole_text),
        cmocka_unit_test (test_marks_stay_where_they_are_in_order),
        cmocka_unit_test (test_all_that_falls_apart_is_joined),
        cmocka_unit_test (test_characters_younger_than_the_forms_stay),
        cmocka_unit_test (test_steps_that_multiply_are_bounded_together),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
