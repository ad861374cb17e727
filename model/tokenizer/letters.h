//  letters - what kind of character stands here
//
//  The Unicode general categories as the bits that tokenizers ask for. Text is well-formed UTF-8 (tokenizer.c takes care of
//  what is not). Categories are those of categories.h; white space is the property White_Space, as the regular expressions of
//  tokenizer.json mean it.

#ifndef MODEL_TOKENIZER_LETTERS_H
#define MODEL_TOKENIZER_LETTERS_H

#include <string.h>

#include "base/span.h"

enum {
    LETTER_L = 1,        //  Any letter
    LETTER_N = 2,        //  Any number
    LETTER_SPACE = 4,    //  White space
    LETTER_M = 8,        //  Any mark
    LETTER_UP = 16,      //  Upper or title case (Lu, Lt)
    LETTER_LOW = 32,     //  Lower case (Ll)
    LETTER_PS = 64,      //  Punctuation or symbol
    LETTER_LINE = 128    //  Carriage return or line feed
};

//  The bits of the 128 characters of ASCII.
extern const uint8_t letters_ascii [128];

//  What much text is made of needs no look into the library's tables: of each 4096 characters, the longest row of one kind.
typedef struct {
    uint32_t first;    //  From
    uint32_t last;     //  to
    uint8_t bits;      //  they are all this
} letters_row_t;
extern const letters_row_t letters_alike [32];

//  Scripts without case, whose letters and marks alternate (Hebrew to Tibetan): a bit for each of 64 characters.
typedef struct {
    uint64_t letters;    //  Letters, and nothing else
    uint64_t marks;      //  Marks
} letters_mixed_t;
enum {
    LETTERS_MIXED_FROM = 0x580,    //  Code points from
    LETTERS_MIXED_TO = 0x1000,     //  to below this
    LETTERS_MIXED_TWOS = 0xd6      //  The first byte of those of two bytes is not below this, that of others is E0
};
extern const letters_mixed_t letters_mixed [(LETTERS_MIXED_TO - LETTERS_MIXED_FROM) / 64];

//  The bits of any code point; 0 for one that is none of it.
unsigned letters_of (uint32_t code);

//  Decodes the character at the start of well-formed text that is not empty. size: its bytes.
static inline uint32_t
letters_decode (const uint8_t *text, size_t *size)
{
    if (text [0] < 0x80) {
        *size = 1;
        return text [0];
    }
    if (text [0] < 0xe0) {
        *size = 2;
        return (text [0] & 0x1fu) << 6 | (text [1] & 0x3fu);
    }
    if (text [0] < 0xf0) {
        *size = 3;
        return (text [0] & 0xfu) << 12 | (text [1] & 0x3fu) << 6 | (text [2] & 0x3fu);
    }
    *size = 4;
    return (text [0] & 7u) << 18 | (text [1] & 0x3fu) << 12 | (text [2] & 0x3fu) << 6 | (text [3] & 0x3fu);
}

//  Whether a byte goes on with a character.
static inline bool
letters_goes_on (uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

//  Bytes of the character that a byte begins; 0 where it begins none.
static inline size_t
letters_size (uint8_t byte)
{
    static const uint8_t sizes [16] = { 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 3, 4 };
    return sizes [byte >> 4];
}

//  Bytes of the character at the start of some that are not empty and may be no text; 0 where it is not whole.
static inline size_t
letters_whole (span_t bytes)
{
    size_t size = letters_size (bytes.data [0]);
    if (size > bytes.size)
        return 0;
    bool whole = (size < 2 || letters_goes_on (bytes.data [1])) && (size < 3 || letters_goes_on (bytes.data [2])) &&
                 (size < 4 || letters_goes_on (bytes.data [3]));
    return whole ? size : 0;
}

//  Whether all characters of a text are ASCII. Mostly it is a few words long; the last one may overlap the one before.
static inline bool
letters_are_ascii (span_t text)
{
    uint64_t any = 0, word = 0;
    for (size_t at = 0; at < text.size; at += sizeof word) {
        size_t left = text.size - at;
        if (left >= sizeof word)
            memcpy (&word, text.data + at, sizeof word);
        else if (at)
            memcpy (&word, text.data + text.size - sizeof word, sizeof word);
        else
            for (size_t i = 0; i < left; i++)
                word |= text.data [i];
        any |= word;
    }
    return !(any & 0x8080808080808080u);
}

//  Whether a code point is punctuation (P) of Unicode 8: the pre-tokenizers Punctuation and Bert's go by that.
bool letters_is_punctuation (uint32_t code);

//  Whether a code point is a number (N) of Unicode 17: the pre-tokenizer Digits goes by that.
bool letters_is_number (uint32_t code);

//  Whether a code point is part of a word: alphabetic, a mark, a decimal number, a connector.
bool letters_is_word (uint32_t code);

//  Writes a code point; `out` has room for 4 bytes. Returns how many it took.
size_t letters_encode (uint32_t code, uint8_t *out);

//  The bits of a code point that is in no long row of one kind.
static inline unsigned
letters_look_up (uint32_t code)
{
    if (code < LETTERS_MIXED_FROM || code >= LETTERS_MIXED_TO)
        return letters_of (code);
    const letters_mixed_t *mixed = &letters_mixed [(code - LETTERS_MIXED_FROM) / 64];
    uint64_t letter = mixed->letters >> (code % 64) & 1, mark = mixed->marks >> (code % 64) & 1;
    return letter | mark ? (unsigned)(letter * LETTER_L | mark * LETTER_M) : letters_of (code);
}

//  The kind and size of the character at the start of well-formed text that is not empty.
static inline unsigned
letters_at (const uint8_t *text, size_t *size)
{
    if (text [0] < 0x80) {
        *size = 1;
        return letters_ascii [text [0]];
    }
    uint32_t code = letters_decode (text, size);
    const letters_row_t *row = &letters_alike [code >> 12 & 31];
    return code >= row->first && code <= row->last ? row->bits : letters_look_up (code);
}

#endif
