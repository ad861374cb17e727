//  The grammars written by hand cut every text as the expressions they stand for do.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "model/tokenizer/letters.h"
#include "model/tokenizer/splitter.h"

enum { TEXTS = 4000, PARTS_MAX = 12 };

//  What random texts are made of: what the expressions tell apart, in runs long and short.
static const char *const s_parts [] = {
    "a",
    "word",
    "Word",
    "WORD",
    "wOrD",
    "x1",
    "1",
    "12",
    "1234567",
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\r\n",
    "\n\n ",
    " \n",
    "'s",
    "'S",
    "'ll",
    "'RE",
    "'",
    "'\xc5\xbf",
    "!",
    "?!",
    "({[",
    "/",
    "//\n",
    ".\r\n",
    "_",
    "$",
    "\xc3\xa9",
    "\xc3\x89",
    "e\xcc\x81",
    "\xcc\x81",
    "\xc7\x85",
    "\xca\xb0",
    "\xe4\xb8\xad\xe6\x96\x87",
    "\xe3\x81\x8b\xe3\x82\x99",
    "\xe3\x83\xbc",
    "\xd9\xa3",
    "\xc2\xb2",
    "\xe2\x85\xab",
    "\xc2\xa0",
    "\xe2\x80\xa8",
    "\xc2\x85",
    "\xe2\x80\x8d",
    "\x01",
    "\x7f",
    "\xf0\x9f\xa6\x99",
    "\xe0\xa4\xa8\xe0\xa4\xbf",
    "\xe2\x80\x9c",
    "\xef\xbc\x81",
    "\xd7\x90",
    "\xe1\xa0\x8e",
    "\xef\xbb\xbf",
    "\xf0\x9d\x94\x84",
};

//  Whether the expressions' library knows a character; of the newest ones it may not know what words.c does.
static bool
s_is_assigned (uint32_t code)
{
    static regex_t *unassigned;
    uint8_t bytes [4];
    size_t start, end;
    if (code - 0xd800 < 0x800 || (!unassigned && regex_new (SPAN ("\\p{Cn}"), &unassigned, NULL)))
        return false;
    return regex_find (unassigned, span_of (bytes, letters_encode (code, bytes)), 0, &start, &end, NULL) ==
           STATUS_NOT_FOUND;
}

static void
s_append_random (random_t *random, buffer_t *text)
{
    for (uint64_t left = random_below (random, PARTS_MAX); left; left--)
        buffer_append_string (text, s_parts [random_below (random, sizeof s_parts / sizeof *s_parts)]);
    //  Any character of the planes in use.
    if (random_chance (random, 500000)) {
        uint32_t code = (uint32_t)random_below (random, 0x20000);
        uint8_t *place = buffer_reserve (text, 4);
        buffer_commit (text, s_is_assigned (code) ? letters_encode (code, place) : 0);
    }
}

static void
s_fill_splitter (splitter_t *splitter, const char *const *expressions)
{
    splitter_init (splitter);
    for (size_t i = 0; i < WORDS_EXPRESSIONS && expressions [i]; i++) {
        error_t error = { 0 };
        step_t step = { .cut = CUT_REGEX };
        if (regex_new (span_from_string (expressions [i]), &step.regex, &error) ||
            splitter_add (splitter, step, &error))
            fail_msg ("%s", error.text);
    }
}

//  Cuts a text both ways; fails with the text where they differ.
static void
s_assert_same_cuts (const words_t *words, const splitter_t *splitter, span_t text, uint64_t seed)
{
    pieces_t pieces;
    span_t cut;
    pieces_init (&pieces);
    assert_int_equal (splitter_cut (splitter, text, true, &pieces, &cut, NULL), STATUS_OK);
    size_t at = 0;
    for (size_t i = 0; i < pieces.pieces.count; i++) {
        const piece_t *piece = array_at (&pieces.pieces, i);
        size_t end = at < text.size ? words_next (words, text, at) : at;
        if (piece->start != at || piece->end != end)
            fail_msg ("seed %llu: \"%.*s\": the expression cuts at %zu, words at %zu", (unsigned long long)seed,
                SPAN_ARG (text), piece->end, end);
        at = end;
    }
    assert_int_equal (at, text.size);
    pieces_fini (&pieces);
}

static void
test_every_grammar_cuts_as_its_expressions_do (void **state)
{
    const char *const *expressions;
    const words_t *words;
    for (size_t number = 0; (words = words_at (number, &expressions)); number++) {
        splitter_t splitter;
        s_fill_splitter (&splitter, expressions);
        for (uint64_t seed = 0; seed < TEXTS; seed++) {
            random_t random;
            buffer_t text = { 0 };
            random_init (&random, seed + number * TEXTS);
            s_append_random (&random, &text);
            s_assert_same_cuts (words, &splitter, buffer_span (&text), seed + number * TEXTS);
            buffer_fini (&text);
        }
        splitter_fini (&splitter);
    }
    assert_true (words_at (0, &expressions) != NULL);
}

//  Cuts a text in pieces up to `stop`, as ends; false where no piece ends there.
static bool
s_ends_of (const words_t *words, span_t text, size_t at, size_t stop, array_t *ends)
{
    array_cut (ends, 0);
    while (at < stop) {
        at = words_next (words, text, at);
        array_append (ends, &at, 1);
    }
    return at == stop;
}

//  A text of many parts, whose stretches are cut alike with something else behind them.
static void
s_assert_stretches (const words_t *words, span_t text, uint64_t seed)
{
    array_t whole, alone;
    array_init (&whole, sizeof (size_t));
    array_init (&alone, sizeof (size_t));
    for (size_t at = 0, end; at < text.size && (end = words_stretch (words, text, at)); at = end) {
        static const char *const behind [] = { "x", "  y", " \n" };
        for (size_t i = 0; i < 2 + (text.data [end - 1] != '\n'); i++) {
            buffer_t other = { 0 };
            buffer_append (&other, span_slice (text, 0, end));
            //  A line ends before anything that is not another line end; anything else before a space.
            buffer_append_string (&other, text.data [end - 1] == '\n' ? behind [0]
                                          : behind [i][0] == 'x'      ? " z"
                                                                      : behind [i]);
            bool ends =
                s_ends_of (words, text, at, end, &whole) && s_ends_of (words, buffer_span (&other), at, end, &alone);
            if (!ends || whole.count != alone.count ||
                memcmp (whole.data, alone.data, whole.count * sizeof (size_t)) != 0)
                fail_msg ("seed %llu: a stretch of \"%.*s\" from %zu to %zu", (unsigned long long)seed, SPAN_ARG (text),
                    at, end);
            buffer_fini (&other);
        }
    }
    array_fini (&whole);
    array_fini (&alone);
}

static void
test_a_stretch_is_cut_alike_whatever_follows_it (void **state)
{
    const char *const *expressions;
    const words_t *words;
    size_t stretches = 0;
    for (size_t number = 0; (words = words_at (number, &expressions)); number++)
        for (uint64_t seed = 0; seed < TEXTS; seed++) {
            random_t random;
            buffer_t text = { 0 };
            random_init (&random, seed * 31 + number);
            while (text.size < 40 + random_below (&random, 300))
                s_append_random (&random, &text);
            stretches += words_stretch (words, buffer_span (&text), 0) != 0;
            s_assert_stretches (words, buffer_span (&text), seed * 31 + number);
            buffer_fini (&text);
        }
    assert_true (stretches > TEXTS);
}

static void
test_a_grammar_is_found_by_its_expressions_and_by_nothing_less (void **state)
{
    const char *const *expressions;
    const words_t *words;
    for (size_t number = 0; (words = words_at (number, &expressions)); number++) {
        span_t spans [WORDS_EXPRESSIONS];
        size_t count = 0;
        for (; count < WORDS_EXPRESSIONS && expressions [count]; count++)
            spans [count] = span_from_string (expressions [count]);
        assert_ptr_equal (words_for (spans, count), words);
        assert_ptr_equal (words_for (spans, count - 1), NULL);
        spans [0].size--;
        assert_ptr_equal (words_for (spans, count), NULL);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_grammar_cuts_as_its_expressions_do),
        cmocka_unit_test (test_a_stretch_is_cut_alike_whatever_follows_it),
        cmocka_unit_test (test_a_grammar_is_found_by_its_expressions_and_by_nothing_less),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
