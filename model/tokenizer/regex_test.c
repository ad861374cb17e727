//  Expressions in Ruby's syntax match what Oniguruma matches, and none takes for ever.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"
#include "model/tokenizer/regex.h"

typedef struct {
    const char *expression;    //  As a file has it
    const char *text;          //  What is searched
    size_t start;              //  Of the first match; equal to end and behind the text: none
    size_t end;                //  Of it
} match_t;

enum { NONE = 1000 };

static const match_t s_matches [] = {
    { "\\s", "a\xe3\x80\x80", 1, 4 },                       //  White space of any script
    { "\\s", "a\xe1\xa0\x8e", NONE, NONE },                 //  but not MONGOLIAN VOWEL SEPARATOR
    { "[^\\s]", "\xc2\x85x", 2, 3 },                        //  inside a class, too
    { "\\S+", " ab ", 1, 3 },                               //
    { "\\w+", "-\xc3\xa9\xe0\xa4\xbf_\xd9\xa3-", 1, 9 },    //  Marks and digits are of words
    { "[\\w-]+", ".a-b.", 1, 4 },                           //
    { "\\W", "a\xc2\xb2\xe2\x82\x82", 3, 6 },               //  superscripts of Latin-1 too, others not
    { "[\\w]+", "\xc2\xb2z", 2, 3 },                        //  and in a class not even those
    { "\\h{2}", "gaF", 1, 3 },                              //  Hexadecimal digits, not blanks
    { "\\d+",
        "a\xd9\xa3"
        "4",
        1, 4 },                                                       //
    { "a.c", "a\nc", NONE, NONE },                                    //
    { "(?m)a.c", "a\nc", 0, 3 },                                      //  Ruby's m lets a dot match a line end
    { "^b", "a\nb", 2, 3 },                                           //  and lines always have a start
    { "[a-z&&[^b-y]]+", "bzac", 1, 3 },                               //  Intersections
    { "[^a-z&&[a-c]]", "abd", 2, 3 },                                 //  and what is not in them
    { "[\\p{L}&&[^\\p{Han}]]+", "\xe4\xb8\xad\xc3\xa9x", 3, 6 },      //
    { "\\p{Han}+", "\xe3\x80\x82\xe4\xb8\xad\xe3\x80\x81", 3, 6 },    //  What several scripts use is of none
    { "\\p{^Old_Italic}", "\xf0\x90\x8c\x80x", 4, 5 },                //
    { "[a[0-9]]+", "xa1b", 1, 3 },                                    //  Classes in classes
    { "[^a[0-9]]+", "a1bc", 2, 4 },                                   //
    { "[]a]+", "a]", 0, 2 },                                          //
    { "[[:digit:]]+", "a12", 1, 3 },                                  //
    { "\\p{Letter}+", "1ab", 1, 3 },                                  //  Names at length
    { "\\p{^Letter}", "a1", 1, 2 },                                   //
    { "\\p{N}{1,2}+", "12345", 0, 5 },                                //  A plus behind an interval repeats it
    { "(ab){2}+", "ababababab", 0, 8 },                               //
    { "a++a", "aaa", NONE, NONE },                                    //  while others make it possessive
    { "(?i:'s)", "'\xc5\xbf", 0, 3 },                                 //  LONG S is an s in another case
    { "\\s+(?!\\S)|\\s+", "a   b", 1, 3 },                            //
    { "(?<=a)b", "bab", 2, 3 },                                       //
};

static void
test_every_spelling_matches_what_ruby_means (void **state)
{
    for (size_t i = 0; i < sizeof s_matches / sizeof *s_matches; i++) {
        const match_t *match = &s_matches [i];
        regex_t *regex;
        error_t error = { 0 };
        size_t start = NONE, end = NONE;
        if (regex_new (span_from_string (match->expression), &regex, &error))
            fail_msg ("%s: %s", match->expression, error.text);
        regex_find (regex, span_from_string (match->text), 0, &start, &end, &error);
        if (start != match->start || end != match->end)
            fail_msg ("%s in \"%s\": %zu to %zu", match->expression, match->text, start, end);
        regex_destroy (&regex);
    }
}

static void
test_a_match_that_takes_too_long_ends_with_a_sentence (void **state)
{
    static const char *const expressions [] = { "(a+)+$", "\\d{1,3}(?=(?:\\d{3})*\\b)" };
    for (size_t i = 0; i < 2; i++) {
        regex_t *regex;
        error_t error = { 0 };
        buffer_t text = { 0 };
        size_t start, end, size = 30000;
        memset (buffer_reserve (&text, size), i ? '1' : 'a', size);
        buffer_commit (&text, size);
        buffer_append_byte (&text, 'x');
        assert_int_equal (regex_new (span_from_string (expressions [i]), &regex, &error), STATUS_OK);
        assert_int_equal (regex_find (regex, buffer_span (&text), 0, &start, &end, &error), STATUS_LIMIT);
        assert_string_equal (error.text, "a regex takes too long at byte 0 (PCRE2 -47)");
        //  Another text has all its steps again.
        assert_int_equal (regex_find (regex, SPAN ("12"), 0, &start, &end, &error), i ? STATUS_OK : STATUS_NOT_FOUND);
        regex_destroy (&regex);
        buffer_fini (&text);
    }
}

static void
test_what_is_no_expression_is_refused_with_its_place (void **state)
{
    regex_t *regex = NULL;
    error_t error = { 0 };
    buffer_t text = { 0 };
    assert_int_equal (regex_new (SPAN ("a(b"), &regex, &error), STATUS_INVALID);
    assert_string_equal (error.text, "regex \"a(b\": missing closing parenthesis at byte 3");
    assert_int_equal (regex_new (SPAN ("\\C"), &regex, &error), STATUS_INVALID);
    memset (buffer_reserve (&text, REGEX_SIZE_MAX + 1), 'a', REGEX_SIZE_MAX + 1);
    buffer_commit (&text, REGEX_SIZE_MAX + 1);
    assert_int_equal (regex_new (buffer_span (&text), &regex, &error), STATUS_LIMIT);
    assert_string_equal (error.text, "a regex of 16385 bytes; 16384 are enough");
    assert_null (regex);
    buffer_fini (&text);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_spelling_matches_what_ruby_means),
        cmocka_unit_test (test_a_match_that_takes_too_long_ends_with_a_sentence),
        cmocka_unit_test (test_what_is_no_expression_is_refused_with_its_place),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
