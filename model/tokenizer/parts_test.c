//  Where a piece falls apart, no token reaches across: tokens of whole characters and of parts of them, against a plain search.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"
#include "base/random.h"
#include "model/tokenizer/parts.h"

enum { ROUNDS = 300, TOKENS = 20, TEXTS = 30, CHARACTERS_MAX = 12 };

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

//  The last place that is at most so far away is one of those that come first, one behind the other.
static void
s_check_last (const parts_t *parts, span_t text, size_t most, uint64_t seed)
{
    size_t at = 0, last = text.size;
    while ((at += parts_first_joint (parts, span_slice (text, at, text.size))) < text.size)
        if (at <= most)
            last = at;
    if (parts_last_joint (parts, text, most) != (most < text.size ? last : text.size))
        fail_msg ("seed %llu: the last place up to %zu of %.*s", (unsigned long long)seed, most, SPAN_ARG (text));
}

//  Returns how many places there are.
static size_t
s_check_places (const parts_t *parts, const vocabulary_t *vocabulary, span_t text, uint64_t seed)
{
    size_t count = 0;
    for (size_t at = 0; (at += parts_first_joint (parts, span_slice (text, at, text.size))) < text.size; count++)
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
            s_check_last (&parts, buffer_span (&text), random_below (&random, text.size + 1), seed);
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
    assert_int_equal (parts_first_joint (&parts, SPAN ("\xb8\xad\xe4\xb8\xad")), 5);
    assert_int_equal (parts_first_joint (&parts, SPAN ("\xe4\xb8")), 2);
    assert_int_equal (parts_first_joint (&parts, SPAN ("\xe4\xb8\xad\xe5\x9b\xbd")), 3);
    assert_int_equal (parts_first_joint (&parts, SPAN ("\xe4\xb8\xad\xe5\x9b")), 5);
    assert_int_equal (parts_last_joint (&parts, SPAN ("\xe4\xb8\xad\xe5\x9b\xbd"), 5), 3);
    assert_int_equal (parts_last_joint (&parts, SPAN ("\xe4\xb8\xad\xe5\x9b\xbd"), 2), 6);
    assert_int_equal (parts_last_joint (&parts, SPAN ("\xb8\xad\xe5\x9b\xbd"), 3), 5);
    assert_int_equal (parts_last_joint (&parts, SPAN ("\xe4\xb8\xad\xe5\x9b"), 4), 5);
    parts_fini (&parts);
    vocabulary_destroy (&vocabulary);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_no_token_reaches_across_a_place_where_pieces_fall_apart),
        cmocka_unit_test (test_half_characters_stay_together),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
