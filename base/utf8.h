//  utf8 - is this text
//
//  Well-formed UTF-8 as Unicode 15 table 3-7 has it: no overlong forms, no surrogates, nothing above U+10FFFF.

#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <string.h>

#include "base/span.h"

//  Bytes of the character at the start: 1 to 4; 0 where it is malformed, incomplete, or the text is empty.
size_t utf8_sequence (span_t text);

//  Bytes from the start that are well-formed: all of them where the text is.
size_t utf8_valid_prefix (span_t text);

//  Bytes from the start that are ASCII.
static inline size_t
utf8_ascii_prefix (span_t text)
{
    const uint64_t beyond = 0x8080808080808080u;
    uint64_t words [4];
    size_t size = 0;
    for (; size + sizeof words <= text.size; size += sizeof words) {
        memcpy (words, text.data + size, sizeof words);
        if ((words [0] | words [1] | words [2] | words [3]) & beyond)
            break;
    }
    for (; size + sizeof *words <= text.size; size += sizeof *words) {
        memcpy (words, text.data + size, sizeof *words);
        if (words [0] & beyond)
            return size + (size_t)__builtin_ctzll (words [0] & beyond) / 8;
    }
    while (size < text.size && text.data [size] < 0x80)
        size++;
    return size;
}

//  The whole text is well-formed.
bool utf8_is_valid (span_t text);

//  Trailing bytes that begin a character whose rest has not arrived: 0 to 3.  Whoever streams text keeps them back.
size_t utf8_incomplete_tail (span_t text);

#endif
