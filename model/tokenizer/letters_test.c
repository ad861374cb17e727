//  Every character is of the kinds that its general category says.

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

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_character_is_what_its_category_says),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
