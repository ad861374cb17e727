//  words_fixture - random texts, and the expressions that say how they are cut

#ifndef MODEL_TOKENIZER_WORDS_FIXTURE_H
#define MODEL_TOKENIZER_WORDS_FIXTURE_H

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
    "\xe3\x83\xbb",
    "\xe3\x82\xa0",
    "\xe3\x82\x9b",
    "\xe3\x81\x80",
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

//  Whether a code point is a character that the expressions' library takes for what words.c does: of the newest ones one may know
//  what the other does not.
static inline bool
s_is_agreed (uint32_t code)
{
    static regex_t *other;
    uint8_t bytes [4];
    size_t start, end;
    if (code - 0xd800 < 0x800 || (!other && regex_new (SPAN ("[^\\p{L}\\p{N}\\p{M}\\p{P}\\p{S}\\p{Z}]"), &other, NULL)))
        return false;
    span_t character = span_of (bytes, letters_encode (code, bytes));
    bool is_other = regex_find (other, character, 0, &start, &end, NULL) == STATUS_OK;
    return is_other == !(letters_of (code) & (LETTER_L | LETTER_N | LETTER_M | LETTER_PS | LETTER_SPACE));
}

static inline void
s_append_random (random_t *random, buffer_t *text)
{
    for (uint64_t left = random_below (random, PARTS_MAX); left; left--)
        buffer_append_string (text, s_parts [random_below (random, sizeof s_parts / sizeof *s_parts)]);
    //  Any character of the planes in use.
    if (random_chance (random, 500000)) {
        uint32_t code = (uint32_t)random_below (random, 0x20000);
        uint8_t *place = buffer_reserve (text, 4);
        buffer_commit (text, s_is_agreed (code) ? letters_encode (code, place) : 0);
    }
}

static inline void
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

#endif
