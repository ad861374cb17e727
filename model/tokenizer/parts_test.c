//  Where a piece falls apart, no token reaches across: tokens of whole characters and of parts of them, against a plain search.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"
#include "base/random.h"
#include "model/tokenizer/parts.h"

enum { ROUNDS = 300, TOKENS = 20, TEXTS = 30, CHARACTERS_MAX = 60 };

static const char *const s_characters [] = { "a", "b", "\xc3\xa9", "\xc3\xaa", "\xe4\xb8\xad", "\xe4\xb8\xae",
    "\xe5\x9b\xbd", "\xf0\x9f\x9a\x80" };

static void
s_append_characters (random_t *random, uint64_t count, buffer_t *text)
{
    for (; count; count--)
        buffer_append_string (text, s_characters [random_below (random, sizeof s_characters / sizeof *s_characters)]);
}

//  Some characters, of which bytes may lack at both ends.
static void
s_put_token (random_t *random, uint32_t id, vocabulary_t *vocabulary)
{
    buffer_t text = { 0 };
    s_append_characters (random, 1 + random_below (random, 3), &text);
    size_t from = random_below (random, 2) ? 0 : random_below (random, text.size);
    size_t size = random_below (random, 2) ? text.size : 1 + random_below (random, text.size - from);
    assert_int_equal (vocabulary_put (vocabulary, id, span_slice (buffer_span (&text), from, size), NULL), STATUS_OK);
    buffer_fini (&text);
}

//  Whether a token stands in the text with bytes on both sides of a place.
static bool
s_reaches_across (span_t token, span_t text, size_t place)
{
    for (size_t at = place >= token.size ? place - token.size + 1 : 0; at < place; at++)
        if (at + token.size > place && at + token.size <= text.size &&
            memcmp (text.data + at, token.data, token.size) == 0)
            return true;
    return false;
}

static bool
s_is_wide (const uint8_t *first)
{
    return *first >= 0xe3;
}

//  Bits, from anywhere on, are the places that come one behind the other, of those beside a wide character.
static void
s_check_bits (const parts_t *parts, span_t text, size_t from, uint64_t seed)
{
    uint64_t expected = 0, all = parts_places (parts, text, from), places = all & ~(from ? 0ull : 1ull);
    size_t rest = text.size - from, shown = rest < PARTS_PLACES ? rest : PARTS_PLACES;
    for (size_t at = 0; (at += parts_first (parts, span_slice (text, at, text.size))) < text.size;) {
        const uint8_t *left = text.data + at - 1;
        while ((*left & 0xc0) == 0x80)
            left--;
        if (at >= from && at - from < PARTS_PLACES && (s_is_wide (left) || s_is_wide (text.data + at)))
            expected |= 1ull << (at - from);
    }
    if (parts_last (parts, text, from) != (all ? 63 - (size_t)__builtin_clzll (all) : PARTS_PLACES))
        fail_msg ("seed %llu: the last place from %zu of %.*s", (unsigned long long)seed, from, SPAN_ARG (text));
    if (shown < PARTS_PLACES)
        places &= (1ull << shown) - 1;
    if (places != expected)
        fail_msg ("seed %llu: %llx instead of %llx from %zu of %.*s", (unsigned long long)seed,
            (unsigned long long)places, (unsigned long long)expected, from, SPAN_ARG (text));
}

//  Returns how many places there are.
static size_t
s_check_places (const parts_t *parts, const vocabulary_t *vocabulary, span_t text, uint64_t seed)
{
    size_t count = 0;
    for (size_t at = 0; (at += parts_first (parts, span_slice (text, at, text.size))) < text.size; count++)
        for (uint32_t id = 0; id < TOKENS; id++)
            if (s_reaches_across (vocabulary_bytes (vocabulary, id), text, at))
                fail_msg ("seed %llu: token %u reaches across %zu of %.*s", (unsigned long long)seed, id, at,
                    SPAN_ARG (text));
    return count;
}

static void
test_no_token_reaches_across_a_place_where_pieces_fall_apart (void **state)
{
    size_t places = 0;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        random_t random;
        parts_t parts = { 0 };
        vocabulary_t *vocabulary = vocabulary_new ();
        random_init (&random, seed);
        for (uint32_t id = 0; id < TOKENS; id++)
            s_put_token (&random, id, vocabulary);
        parts_init_bytes (&parts, vocabulary);
        for (size_t i = 0; i < TEXTS; i++) {
            buffer_t text = { 0 };
            s_append_characters (&random, 1 + random_below (&random, CHARACTERS_MAX), &text);
            places += s_check_places (&parts, vocabulary, buffer_span (&text), seed);
            s_check_bits (&parts, buffer_span (&text), random_below (&random, text.size), seed);
            buffer_fini (&text);
        }
        parts_fini (&parts);
        vocabulary_destroy (&vocabulary);
    }
    assert_true (places > ROUNDS * TEXTS);
}

//  What is no text, as an expression over bytes may cut it, stays together.
static void
test_half_characters_stay_together (void **state)
{
    parts_t parts = { 0 };
    vocabulary_t *vocabulary = vocabulary_new ();
    parts_init_bytes (&parts, vocabulary);
    assert_int_equal (parts_first (&parts, SPAN ("\xb8\xad\xe4\xb8\xad")), 5);
    assert_int_equal (parts_first (&parts, SPAN ("\xe4\xb8")), 2);
    assert_int_equal (parts_first (&parts, SPAN ("\xe4\xb8\xad\xe5\x9b\xbd")), 3);
    assert_int_equal (parts_first (&parts, SPAN ("\xe4\xb8\xad\xe5\x9b")), 5);
    parts_fini (&parts);
    vocabulary_destroy (&vocabulary);
}

//  No part begins as it begins, none ends as it ends; what stands within may be cut.
static void
test_a_token_that_is_kept_is_no_part_of_a_piece (void **state)
{
    parts_t parts = { 0 };
    vocabulary_t *vocabulary = vocabulary_new ();
    const int end = 1 << 16;
    span_t text = SPAN ("a\xe4\xb8\xad\xd0\xb0\xe5\x9b\xbd\xc3\xa9\xe4\xb8\xad\xe4\xb8\xad");
    parts_init_bytes (&parts, vocabulary);
    assert_int_equal (parts_places (&parts, text, 1), 1 | 1 << 3 | 1 << 5 | 1 << 8 | 1 << 10 | 1 << 13 | end);
    parts_keep (&parts, SPAN ("\xd0\xb0\xe4\xb8\xad\xe5\x9b\xbd\xc3\xa9"));
    assert_int_equal (parts_places (&parts, text, 1), 1 | 1 << 5 | 1 << 8 | 1 << 13 | end);
    assert_int_equal (parts_first (&parts, span_slice (text, 1, text.size)), 5);
    parts_keep (&parts, SPAN ("ba"));
    assert_int_equal (parts_places (&parts, text, 1), 1 << 5 | 1 << 8 | 1 << 13 | end);
    assert_int_equal (parts_first (&parts, SPAN ("\xe4\xb8\xad\x61")), 3);
    assert_int_equal (parts_first (&parts, SPAN ("\xe4\xb8\xad\x62")), 4);
    parts_fini (&parts);
    vocabulary_destroy (&vocabulary);
}

//  A token that lacks a part of a character at an end cannot be taken for a part of a text.
static void
test_half_a_token_is_not_kept (void **state)
{
    parts_t parts = { 0 };
    vocabulary_t *vocabulary = vocabulary_new ();
    parts_init_bytes (&parts, vocabulary);
    parts_keep (&parts, SPAN ("\xb8\xad\xd0\xb0"));
    parts_keep (&parts, SPAN ("\xd0\xb0\xe4\xb8"));
    assert_int_equal (parts_first (&parts, SPAN ("\xd0\xb0\xd0\xb0")), 2);
    parts_fini (&parts);
    vocabulary_destroy (&vocabulary);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_no_token_reaches_across_a_place_where_pieces_fall_apart),
        cmocka_unit_test (test_half_characters_stay_together),
        cmocka_unit_test (test_a_token_that_is_kept_is_no_part_of_a_piece),
        cmocka_unit_test (test_half_a_token_is_not_kept),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
