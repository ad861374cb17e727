#include "model/tokenizer/base64.h"

#include <string.h>

static int
s_digit (uint8_t letter)
{
    static const char digits [] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = memchr (digits, letter, sizeof digits - 1);
    return found ? (int)(found - digits) : -1;
}

bool
base64_decode (span_t text, buffer_t *bytes)
{
    size_t padding = 0;
    while (padding < 2 && text.size > padding && text.data [text.size - padding - 1] == '=')
        padding++;
    if (text.size % 4)
        return false;
    for (size_t at = 0; at < text.size; at += 4) {
        size_t left = at + 4 == text.size ? 4 - padding : 4;
        uint32_t group = 0;
        for (size_t i = 0; i < 4; i++) {
            int digit = i < left ? s_digit (text.data [at + i]) : 0;
            if (digit < 0)
                return false;
            group = group << 6 | (uint32_t)digit;
        }
        for (size_t i = 0; i + 1 < left; i++)
            buffer_append_byte (bytes, (uint8_t)(group >> (16 - 8 * i)));
    }
    return true;
}
