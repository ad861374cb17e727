//  Every character is of the kinds that its general category says, by Unicode 16 at least.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <utf8proc.h>

#include "model/tokenizer/letters.h"

//  The bits by the two letters of a category's name.
static unsigned
s_bits_of (const char *category)
{
    switch (category [0]) {
    case 'L':
        return LETTER_L | (category [1] == 'u' || category [1] == 't' ? LETTER_UP : 0) |
               (category [1] == 'l' ? LETTER_LOW : 0);
    case 'N':
        return LETTER_N;
    case 'M':
        return LETTER_M;
    case 'P':
    case 'S':
        return LETTER_PS;
    case 'Z':
        return LETTER_SPACE;
    default:
        return 0;
    }
}

static void
test_every_character_is_what_its_category_says (void **state)
{
    for (int32_t code = 0; code < 0x110000; code++) {
        if (code >= 0x80 && utf8proc_category (code) == UTF8PROC_CATEGORY_CN)
            continue;
        bool is_control_space = (code >= '\t' && code <= '\r') || code == 0x85;
        unsigned bits = is_control_space ? LETTER_SPACE : s_bits_of (utf8proc_category_string (code));
        if (code == '\n' || code == '\r')
            bits |= LETTER_LINE;
        size_t size = 0;
        uint8_t bytes [4] = { 0 };
        bool is_surrogate = code >= 0xd800 && code < 0xe000;
        letters_encode ((uint32_t)code, bytes);
        if (letters_of ((uint32_t)code) != bits || (!is_surrogate && letters_at (bytes, &size) != bits))
            fail_msg ("U+%04X", (unsigned)code);
    }
}

//  Of what the library may not know, something of each version and kind, and what stands beside it.
static void
test_characters_of_later_versions_are_known (void **state)
{
    static const struct {
        uint32_t code;    //  A character, or none yet
        unsigned bits;    //  What it is
    } characters [] = {
        { 0x1fae8, LETTER_PS },               //  15.0
        { 0x10efd, LETTER_M },                //  The same
        { 0x1e4f0, LETTER_N },                //  The same
        { 0x2ebef, 0 },                       //  Nothing, before
        { 0x2ebf0, LETTER_L },                //  15.1
        { 0x2ee5d, LETTER_L },                //  The same
        { 0x2ee5e, 0 },                       //  Nothing, behind
        { 0x1fae9, LETTER_PS },               //  16.0
        { 0xa7cb, LETTER_L | LETTER_UP },     //  The same
        { 0xa7cd, LETTER_L | LETTER_LOW },    //  The same
        { 0x0897, LETTER_M },                 //  The same
        { 0x10d6e, LETTER_PS },               //  The same
    };
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
        if (letters_of (characters [i].code) != characters [i].bits)
            fail_msg ("U+%04X", characters [i].code);
}

//  So many characters of each kind has Unicode 16; those that came later count, too, where the library knows them.
static void
test_no_character_of_the_standard_is_missing (void **state)
{
    size_t letters = 0, upper = 0, lower = 0, numbers = 0, marks = 0, signs = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        unsigned bits = letters_of (code);
        letters += (bits & LETTER_L) != 0;
        upper += (bits & LETTER_UP) != 0;
        lower += (bits & LETTER_LOW) != 0;
        numbers += (bits & LETTER_N) != 0;
        marks += (bits & LETTER_M) != 0;
        signs += (bits & LETTER_PS) != 0;
    }
    assert_true (letters >= 141028 && upper >= 1858 + 31 && lower >= 2258);
    assert_true (numbers >= 1911 && marks >= 2501 && signs >= 855 + 8514);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_character_is_what_its_category_says),
        cmocka_unit_test (test_characters_of_later_versions_are_known),
        cmocka_unit_test (test_no_character_of_the_standard_is_missing),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
