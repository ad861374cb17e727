#include "model/tokenizer/alphabet.h"

#include "model/tokenizer/letters.h"

enum { SHIFTED = 256, SHIFTED_COUNT = 68 };

//  Bytes that do not print, in order: U+0100 stands for the first.
static const uint8_t s_unprinted [][2] = { { 0, 32 }, { 127, 160 }, { 173, 173 } };

static uint32_t
s_code (uint8_t byte)
{
    uint32_t before = 0;
    for (size_t i = 0; i < sizeof s_unprinted / sizeof *s_unprinted; i++) {
        if (byte >= s_unprinted [i][0] && byte <= s_unprinted [i][1])
            return SHIFTED + before + byte - s_unprinted [i][0];
        before += s_unprinted [i][1] - s_unprinted [i][0] + 1u;
    }
    return byte;
}

//  The byte a character stands for; -1 for one that is not in the alphabet.
static int
s_byte (uint32_t code)
{
    if (code < SHIFTED)
        return s_code ((uint8_t)code) == code ? (int)code : -1;
    if (code >= SHIFTED + SHIFTED_COUNT)
        return -1;
    uint32_t left = code - SHIFTED;
    for (size_t i = 0;; i++) {
        uint32_t count = s_unprinted [i][1] - s_unprinted [i][0] + 1u;
        if (left < count)
            return (int)(s_unprinted [i][0] + left);
        left -= count;
    }
}

//  The same for the character at the start of a text, which is not empty. The alphabet has none of more than two bytes, and those
//  of one stand for themselves. size: its bytes.
static inline int
s_first_byte (span_t text, size_t *size)
{
    uint8_t first = text.data [0];
    *size = 1;
    if (first > ' ' && first < 127)
        return first;
    bool is_two = first >= 0xc2 && first < 0xe0 && text.size > 1 && letters_goes_on (text.data [1]);
    return is_two ? s_byte (letters_decode (text.data, size)) : -1;
}

bool
alphabet_to_bytes (span_t text, buffer_t *bytes)
{
    uint8_t *out = buffer_reserve (bytes, text.size);
    size_t used = 0, size;
    for (; text.size; text = (span_t){ text.data + size, text.size - size }) {
        int byte = s_first_byte (text, &size);
        if (byte < 0)
            return false;
        out [used++] = (uint8_t)byte;
    }
    buffer_commit (bytes, used);
    return true;
}

void
alphabet_from_bytes (span_t bytes, buffer_t *text)
{
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t *out = buffer_reserve (text, 4);
        buffer_commit (text, letters_encode (s_code (bytes.data [i]), out));
    }
}

static int
s_hex (uint8_t digit)
{
    uint8_t letter = digit | 0x20;
    return digit >= '0' && digit <= '9' ? digit - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

int
alphabet_named_byte (span_t text)
{
    if (text.size != 6 || !span_starts_with (text, SPAN ("<0x")) || text.data [5] != '>')
        return -1;
    int high = s_hex (text.data [3]), low = s_hex (text.data [4]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}
