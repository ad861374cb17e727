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

const letters_mixed_t letters_mixed [] = {
    { 0x0, 0xbffffffffffe0000 },                   //  U+0580
    { 0x787ffffff0000, 0xb6 },                     //  U+05C0
    { 0xffffffff00000000, 0x7ff0000 },             //  U+0600
    { 0xfffec000000007ff, 0x10000fffff800 },       //  U+0640
    { 0xffffffffffffffff, 0x0 },                   //  U+0680
    { 0x9c00c060002fffff, 0x3d9f9fc00000 },        //  U+06C0
    { 0xfffffffd0000, 0xffff000000020000 },        //  U+0700
    { 0xffffffffffffe000, 0x7ff },                 //  U+0740
    { 0x2003fffffffff, 0x1ffc000000000 },          //  U+0780
    { 0x43007fffffffc00, 0x200ff80000000000 },     //  U+07C0
    { 0x110043fffff, 0x3eeffbc00000 },             //  U+0800
    { 0xffff07ff01ffffff, 0xe000000 },             //  U+0840
    { 0xffffffff00007eff, 0xff800000 },            //  U+0880
    { 0x3ff, 0xfffffffbfffffc00 },                 //  U+08C0
    { 0x23fffffffffffff0, 0xdc0000000000000f },    //  U+0900
    { 0xfffe0003ff010000, 0xc00feffff },           //  U+0940
    { 0x23c5fdfffff99fe1, 0xd00000000000000e },    //  U+0980
    { 0x10030003b0004000, 0x4000000c0080399f },    //  U+09C0
    { 0x36dfdfffff987e0, 0xd00000000000000e },     //  U+0A00
    { 0x1c00005e000000, 0x23000000023987 },        //  U+0A40
    { 0x23edfdfffffbbfe0, 0xd00000000000000e },    //  U+0A80
    { 0x200000300010000, 0xfc00000c00003bbf },     //  U+0AC0
    { 0x23edfdfffff99fe0, 0xd00000000000000e },    //  U+0B00
    { 0x20003b0000000, 0xc00e0399f },              //  U+0B40
    { 0x3ffc718d63dc7e8, 0xc000000000000004 },     //  U+0B80
    { 0x10000, 0x803dc7 },                         //  U+0BC0
    { 0x23fffdfffffddfe0, 0xd00000000000001f },    //  U+0C00
    { 0x327000000, 0xc00603ddf },                  //  U+0C40
    { 0x23effdfffffddfe1, 0xd00000000000000e },    //  U+0C80
    { 0x6000360000000, 0x8000c00603ddf },          //  U+0CC0
    { 0x27fffffffffddff0, 0xd80000000000000f },    //  U+0D00
    { 0xfc00000380704000, 0xc00803ddf },           //  U+0D40
    { 0x2ffbfffffc7fffe0, 0xe },                   //  U+0D80
    { 0x7f, 0xc0000ff5f8400 },                     //  U+0DC0
    { 0xdfffffffffffe, 0x7f2000000000000 },        //  U+0E00
    { 0x7f, 0x7f80 },                              //  U+0E40
    { 0x200dffaffffff7d6, 0x1ff2000000000000 },    //  U+0E80
    { 0xf000005f, 0x7f00 },                        //  U+0EC0
    { 0x1, 0xc2a0000003000000 },                   //  U+0F00
    { 0x1ffffffffeff, 0xfffe000000000000 },        //  U+0F40
    { 0x1f00, 0x1ffffffffeffe0df },                //  U+0F80
    { 0x0, 0x40 },                                 //  U+0FC0
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
