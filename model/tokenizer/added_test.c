//  Added tokens are found where a plain search finds them: the leftmost, and of those that begin there the longest.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"
#include "base/random.h"
#include "model/tokenizer/added.h"

enum { ROUNDS = 400, TOKENS = 6, TEXTS = 20, TEXT_MAX = 400 };

//  Some bytes out of the first few of an alphabet; few: tokens are found often, and nearly found.
static void
s_append_bytes (random_t *random, size_t count, size_t few, buffer_t *text)
{
    static const char bytes [] = "<ab|/\n \xff";
    for (; count; count--)
        buffer_append (text, span_of (bytes + random_below (random, few), 1));
}

//  Tokens that begin with the same byte, or with any.
static void
s_put_tokens (random_t *random, size_t few, added_t *added)
{
    bool same = random_below (random, 4) != 0;
    for (uint32_t id = 0; id < TOKENS; id++) {
        buffer_t content = { 0 };
        if (same)
            buffer_append_string (&content, "<");
        s_append_bytes (random, !same + random_below (random, 5), few, &content);
        assert_int_equal (
            added_put (added, (added_token_t){ .id = id, .content = buffer_span (&content) }, NULL), STATUS_OK);
        buffer_fini (&content);
    }
    added_seal (added, false);
}

//  The longest token at a place, of two alike the first; NULL where there is none.
static const added_token_t *
s_token_at (const added_t *added, span_t text, size_t at)
{
    const added_token_t *longest = NULL;
    for (size_t i = 0; i < added->tokens.count; i++) {
        const added_token_t *token = array_at (&added->tokens, i);
        if (token->content.size <= text.size - at && (!longest || token->content.size > longest->content.size) &&
            memcmp (text.data + at, token->content.data, token->content.size) == 0)
            longest = token;
    }
    return longest;
}

static void
s_check_text (const added_t *added, span_t text, uint64_t seed)
{
    added_match_t match = { 0 };
    for (size_t at = 0; at < text.size;) {
        const added_token_t *expected = s_token_at (added, text, at);
        if (!expected) {
            at++;
            continue;
        }
        bool found = added_next (added, &added->raw, text, match.resume, match.end, true, &match);
        if (!found || match.start != at || match.token != expected || match.end != at + expected->content.size)
            fail_msg ("seed %llu: a token at %zu is not found", (unsigned long long)seed, at);
        at = match.end;
    }
    if (added_next (added, &added->raw, text, match.resume, match.end, true, &match))
        fail_msg ("seed %llu: a token at %zu is none", (unsigned long long)seed, match.start);
}

static void
test_tokens_are_found_as_a_plain_search_finds_them (void **state)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        random_t random;
        random_init (&random, seed);
        size_t few = 2 + random_below (&random, 7);
        added_t added;
        added_init (&added);
        s_put_tokens (&random, few, &added);
        for (int i = 0; i < TEXTS; i++) {
            buffer_t text = { 0 };
            s_append_bytes (&random, random_below (&random, TEXT_MAX), few, &text);
            s_check_text (&added, buffer_span (&text), seed);
            buffer_fini (&text);
        }
        added_fini (&added);
    }
}

//  The library's blanks are Unicode's; llama.cpp's are those of ASCII.
static void
test_a_token_takes_the_blanks_that_its_reader_knows (void **state)
{
    for (int of_ascii = 0; of_ascii < 2; of_ascii++) {
        added_t added;
        added_match_t match;
        span_t text = SPAN ("a \xe2\x80\xa8 <t> \xe2\x80\xa8 a");
        added_init (&added);
        added.of_ascii = of_ascii;
        added_token_t token = { .lstrip = true, .rstrip = true, .content = SPAN ("<t>") };
        assert_int_equal (added_put (&added, token, NULL), STATUS_OK);
        added_seal (&added, false);
        assert_true (added_next (&added, &added.raw, text, 0, 0, true, &match));
        assert_int_equal (match.start, of_ascii ? 5 : 1);
        assert_int_equal (match.end, of_ascii ? 10 : 14);
        added_fini (&added);
    }
}

//  What a token took of the blanks behind it is no token any more where that would take blanks, too.
static void
test_blanks_that_were_taken_are_taken_once (void **state)
{
    added_t added;
    added_match_t match;
    span_t text = SPAN ("<t>  a  ");
    added_token_t tokens [] = { { .id = 1, .rstrip = true, .content = SPAN ("<t>") },
        { .id = 2, .lstrip = true, .content = SPAN ("  ") } };
    added_init (&added);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal (added_put (&added, tokens [i], NULL), STATUS_OK);
    added_seal (&added, false);
    assert_true (added_next (&added, &added.raw, text, 0, 0, true, &match));
    assert_int_equal (match.end, 5);
    assert_true (added_next (&added, &added.raw, text, match.resume, match.end, true, &match));
    assert_int_equal (match.token->id, 2);
    assert_int_equal (match.start, 6);
    added_fini (&added);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_tokens_are_found_as_a_plain_search_finds_them),
        cmocka_unit_test (test_a_token_takes_the_blanks_that_its_reader_knows),
        cmocka_unit_test (test_blanks_that_were_taken_are_taken_once),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
