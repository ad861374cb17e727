#include "model/tokenizer/letters.h"

#include "model/tokenizer/categories.h"

#define UP (LETTER_L | LETTER_UP)
#define LOW (LETTER_L | LETTER_LOW)
#define BLANK LETTER_SPACE
#define LINE (LETTER_SPACE | LETTER_LINE)
#define DIGIT LETTER_N
#define SIGN LETTER_PS

const uint8_t letters_ascii [128] = {
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    BLANK,
    LINE,
    BLANK,
    BLANK,
    LINE,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    BLANK,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    DIGIT,
    DIGIT,
    DIGIT,
    DIGIT,
    DIGIT,
    DIGIT,
    DIGIT,
    DIGIT,
    DIGIT,
    DIGIT,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    UP,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    LOW,
    SIGN,
    SIGN,
    SIGN,
    SIGN,
    0,
};

static const uint8_t s_by_category [] = {
    [UTF8PROC_CATEGORY_LU] = UP,
    [UTF8PROC_CATEGORY_LT] = UP,
    [UTF8PROC_CATEGORY_LL] = LOW,
    [UTF8PROC_CATEGORY_LM] = LETTER_L,
    [UTF8PROC_CATEGORY_LO] = LETTER_L,
    [UTF8PROC_CATEGORY_MN] = LETTER_M,
    [UTF8PROC_CATEGORY_MC] = LETTER_M,
    [UTF8PROC_CATEGORY_ME] = LETTER_M,
    [UTF8PROC_CATEGORY_ND] = LETTER_N,
    [UTF8PROC_CATEGORY_NL] = LETTER_N,
    [UTF8PROC_CATEGORY_NO] = LETTER_N,
    [UTF8PROC_CATEGORY_PC] = SIGN,
    [UTF8PROC_CATEGORY_PD] = SIGN,
    [UTF8PROC_CATEGORY_PS] = SIGN,
    [UTF8PROC_CATEGORY_PE] = SIGN,
    [UTF8PROC_CATEGORY_PI] = SIGN,
    [UTF8PROC_CATEGORY_PF] = SIGN,
    [UTF8PROC_CATEGORY_PO] = SIGN,
    [UTF8PROC_CATEGORY_SM] = SIGN,
    [UTF8PROC_CATEGORY_SC] = SIGN,
    [UTF8PROC_CATEGORY_SK] = SIGN,
    [UTF8PROC_CATEGORY_SO] = SIGN,
    [UTF8PROC_CATEGORY_ZS] = BLANK,
    [UTF8PROC_CATEGORY_ZL] = BLANK,
    [UTF8PROC_CATEGORY_ZP] = BLANK,
    [UTF8PROC_CATEGORY_CO] = 0,
};

const letters_row_t letters_alike [32] = {
    [0x0] = { 0x430, 0x45f, LOW },              //  Cyrillic
    [0x3] = { 0x3041, 0x3096, LETTER_L },       //  Hiragana
    [0x4] = { 0x4e00, 0x4fff, LETTER_L },       //  Chinese characters
    [0x5] = { 0x5000, 0x5fff, LETTER_L },       //  The same
    [0x6] = { 0x6000, 0x6fff, LETTER_L },       //  The same
    [0x7] = { 0x7000, 0x7fff, LETTER_L },       //  The same
    [0x8] = { 0x8000, 0x8fff, LETTER_L },       //  The same
    [0x9] = { 0x9000, 0x9fa5, LETTER_L },       //  The same
    [0xa] = { 0xac00, 0xafff, LETTER_L },       //  Korean syllables
    [0xb] = { 0xb000, 0xbfff, LETTER_L },       //  The same
    [0xc] = { 0xc000, 0xcfff, LETTER_L },       //  The same
    [0xd] = { 0xd000, 0xd7a3, LETTER_L },       //  The same
    [0x1f] = { 0x1f300, 0x1f6d2, LETTER_PS }    //  Emoji
};

//  White space is what separates (Z) and, beyond ASCII, NEXT LINE.
unsigned
letters_of (uint32_t code)
{
    if (code < 128)
        return letters_ascii [code];
    if (code == 0x85)
        return BLANK;
    return s_by_category [categories_of (code)];
}

size_t
letters_encode (uint32_t code, uint8_t *out)
{
    return (size_t)utf8proc_encode_char ((utf8proc_int32_t)code, out);
}

bool
letters_is_punctuation (uint32_t code)
{
    utf8proc_category_t category = categories_in (UNICODE_8, code);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool
letters_is_number (uint32_t code)
{
    bool is_newer = (code >= 0x11de0 && code <= 0x11de9) || (code >= 0x16ff4 && code <= 0x16ff6);
    return letters_of (code) & LETTER_N || is_newer;
}

bool
letters_is_word (uint32_t code)
{
    utf8proc_category_t category = categories_of (code);
    bool is_circled_letter = code >= 0x24b6 && code <= 0x24e9, is_joiner = code == 0x200c || code == 0x200d;
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
           is_circled_letter || is_joiner;
}
