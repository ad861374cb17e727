//  The grammars written by hand cut every text as the expressions they stand for do.

#include "model/tokenizer/words_fixture.h"

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

//  A character alone, and between others of each kind.
static void
s_append_contexts (uint32_t code, buffer_t *text)
{
    static const char *const neighbours [] = { "", "a", "A", "1", " ", "\n", "!", "'", "\xe6\xbc\xa2", "\xe3\x83\x95",
        "\xcc\x81", "\x01" };
    uint8_t bytes [4];
    span_t character = span_of (bytes, letters_encode (code, bytes));
    for (size_t i = 0; i < sizeof neighbours / sizeof *neighbours; i++) {
        buffer_append_string (text, neighbours [i]);
        buffer_append (text, character);
        buffer_append_string (text, neighbours [i]);
        buffer_append (text, character);
    }
}

//  All where scripts begin, then those that are of another kind than the one before, or before one of another.
static void
test_every_kind_of_character_is_cut_as_the_expressions_do_wherever_it_stands (void **state)
{
    const char *const *expressions;
    const words_t *words;
    for (size_t number = 0; (words = words_at (number, &expressions)); number++) {
        splitter_t splitter;
        s_fill_splitter (&splitter, expressions);
        for (uint32_t code = 1; code < 0xf0000; code++) {
            bool is_edge = letters_of (code) != letters_of (code - 1) || letters_of (code) != letters_of (code + 1);
            if ((code >= 0x3400 && !is_edge && code != 0x9fa5 && code != 0x9fa6) || !s_is_agreed (code))
                continue;
            buffer_t text = { 0 };
            s_append_contexts (code, &text);
            s_assert_same_cuts (words, &splitter, buffer_span (&text), code);
            buffer_fini (&text);
        }
        splitter_fini (&splitter);
    }
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
        cmocka_unit_test (test_every_kind_of_character_is_cut_as_the_expressions_do_wherever_it_stands),
        cmocka_unit_test (test_a_grammar_is_found_by_its_expressions_and_by_nothing_less),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
