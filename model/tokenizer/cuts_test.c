//  Many pieces at once are the pieces that the expressions cut, and a stretch of them is cut alike wherever it stands.

#include "model/tokenizer/classes.h"
#include "model/tokenizer/cuts.h"
#include "model/tokenizer/letters.h"
#include "model/tokenizer/words_fixture.h"

//  Ends of pieces, from `at` to `stop`, as cuts have them.
static void
s_ends_of (const words_t *words, span_t text, size_t at, size_t stop, array_t *ends)
{
    cuts_t cuts;
    array_cut (ends, 0);
    while (at < stop) {
        cuts_make (&cuts, words, text, at);
        assert_true (cuts.start == at && cuts.end > at && cuts.end <= text.size);
        while (at < cuts.end && at < stop) {
            at = cuts_piece (&cuts, at + 1);
            array_append (ends, &at, 1);
        }
    }
}

//  Cuts a text both ways; fails with the text where they differ.
static void
s_assert_same_cuts (const words_t *words, const splitter_t *splitter, span_t text, uint64_t seed)
{
    pieces_t pieces;
    span_t cut;
    array_t ends;
    pieces_init (&pieces);
    array_init (&ends, sizeof (size_t));
    assert_int_equal (splitter_cut (splitter, text, true, &pieces, &cut, NULL), STATUS_OK);
    s_ends_of (words, text, 0, text.size, &ends);
    for (size_t i = 0; i < pieces.pieces.count && i < ends.count; i++) {
        size_t end = *(const size_t *)array_at (&ends, i);
        const piece_t *piece = array_at (&pieces.pieces, i);
        if (piece->end != end)
            fail_msg ("seed %llu: \"%.*s\": the expression cuts at %zu, bits at %zu", (unsigned long long)seed,
                SPAN_ARG (text), piece->end, end);
    }
    assert_int_equal (ends.count, pieces.pieces.count);
    array_fini (&ends);
    pieces_fini (&pieces);
}

//  What a word of bits, or some thousand of them, must not cut otherwise: a run that is longer.
static void
s_append_run (random_t *random, size_t most, buffer_t *text)
{
    static const char *const runs [] = { "a", " ", "\n", " \n", "!", "7", "\xc3\xa9", "\xe4\xb8\xad",
        "\xf0\x9f\xa6\x99", "\r\n", "'s" };
    const char *run = runs [random_below (random, sizeof runs / sizeof *runs)];
    for (uint64_t left = random_below (random, most); left; left--)
        buffer_append_string (text, run);
}

static void
s_append_texts (random_t *random, size_t size, size_t run, buffer_t *text)
{
    while (text->size < size) {
        s_append_random (random, text);
        if (random_chance (random, 100000))
            s_append_run (random, run, text);
    }
}

static void
s_assert_grammars (size_t texts, size_t size, size_t run)
{
    const char *const *expressions;
    const words_t *words;
    for (size_t number = 0; (words = words_at (number, &expressions)); number++) {
        splitter_t splitter;
        s_fill_splitter (&splitter, expressions);
        for (uint64_t seed = 0; seed < texts; seed++) {
            random_t random;
            buffer_t text = { 0 };
            random_init (&random, seed + number * texts);
            s_append_texts (&random, random_below (&random, size), run, &text);
            s_assert_same_cuts (words, &splitter, buffer_span (&text), seed + number * texts);
            buffer_fini (&text);
        }
        splitter_fini (&splitter);
    }
}

static void
test_pieces_are_those_of_the_expressions (void **state)
{
    s_assert_grammars (TEXTS, 400, 150);
}

static void
test_pieces_of_long_texts_are_those_of_the_expressions (void **state)
{
    s_assert_grammars (40, 4 * CUTS_SIZE, 2 * CUTS_SIZE);
}

//  Whether a stretch at the start of a text is a stretch still with something else behind it; then it must be cut alike.
static bool
s_is_cut_alike (const words_t *words, span_t text, size_t size, random_t *random, uint64_t seed)
{
    cuts_t cuts;
    array_t ends, other_ends;
    buffer_t other = { 0 };
    array_init (&ends, sizeof (size_t));
    array_init (&other_ends, sizeof (size_t));
    buffer_append (&other, span_slice (text, 0, size));
    s_append_texts (random, size + CUTS_STRETCH_MAX, 3, &other);
    cuts_make (&cuts, words, buffer_span (&other), 0);
    bool is_stretch = cuts_stretch (&cuts, 0) == size;
    s_ends_of (words, text, 0, size, &ends);
    s_ends_of (words, buffer_span (&other), 0, size, &other_ends);
    if (is_stretch &&
        (ends.count != other_ends.count || memcmp (ends.data, other_ends.data, ends.count * sizeof (size_t)) != 0))
        fail_msg ("seed %llu: \"%.*s\" and \"%.*s\" up to %zu", (unsigned long long)seed, SPAN_ARG (text),
            SPAN_ARG (buffer_span (&other)), size);
    array_fini (&ends);
    array_fini (&other_ends);
    buffer_fini (&other);
    return is_stretch;
}

static void
test_a_stretch_is_cut_alike_whatever_follows_it (void **state)
{
    const char *const *expressions;
    const words_t *words;
    for (size_t number = 0; (words = words_at (number, &expressions)); number++) {
        size_t alike = 0;
        for (uint64_t seed = 0; seed < TEXTS; seed++) {
            random_t random;
            buffer_t text = { 0 };
            cuts_t cuts;
            random_init (&random, seed * 31 + number);
            s_append_texts (&random, 200, 3, &text);
            //  Where there are no lines, stretches end before spaces.
            for (size_t i = 0; i < text.size && seed % 2; i++)
                if (text.data [i] == '\n' || text.data [i] == '\r')
                    text.data [i] = ' ';
            cuts_make (&cuts, words, buffer_span (&text), 0);
            size_t size = cuts_stretch (&cuts, 0);
            assert_true (size <= CUTS_STRETCH_MAX && (size == 0 || cuts_piece (&cuts, size) == size));
            for (size_t i = 0; i < 4 && size; i++)
                alike += s_is_cut_alike (words, buffer_span (&text), size, &random, seed * 31 + number);
            buffer_fini (&text);
        }
        assert_true (alike > TEXTS / 2);
    }
}

//  What needs no look has the class that it is said to have.
static void
test_rows_are_of_one_class (void **state)
{
    size_t known = 0;
    for (uint32_t code = 0x80; code < 0x110000; code++) {
        uint8_t block [CLASSES_BYTES] = { 0 };
        letters_encode (code, block + CLASSES_BYTES / 2);
        classes_rows_t rows = classes_rows (block);
        bool is_letter = (rows.twos | rows.threes) != 0;
        if (is_letter)
            assert_int_equal (letters_of (code) & (LETTER_L | LETTER_N | LETTER_M | LETTER_SPACE), LETTER_L);
        else if (rows.signs)
            assert_int_equal (letters_of (code) & (LETTER_L | LETTER_N | LETTER_M | LETTER_SPACE), 0);
        known += is_letter || rows.signs;
    }
    assert_int_equal (known, 0x2c0 - 0x100 + 0x80 + 0x4000 + 0x2000 + 0x8c0);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_pieces_are_those_of_the_expressions),
        cmocka_unit_test (test_pieces_of_long_texts_are_those_of_the_expressions),
        cmocka_unit_test (test_rows_are_of_one_class),
        cmocka_unit_test (test_a_stretch_is_cut_alike_whatever_follows_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
