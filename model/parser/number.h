//  number - a number as Python writes it, as JSON writes it

#ifndef MODEL_PARSER_NUMBER_H
#define MODEL_PARSER_NUMBER_H

#include "base/buffer.h"

//  Whether a byte is a digit of a base up to 16.
static inline bool
number_is_digit (uint8_t byte, uint8_t base)
{
    if (base <= 10)
        return byte >= '0' && byte < '0' + base;
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

//  What a digit stands for.
static inline uint32_t
number_digit_value (uint8_t digit)
{
    return (uint32_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

//  Appends what a word that is not empty is as a number: 0x1f, 0o17, 0b11, 1_000, 007, +5, .5, 5.  False, and nothing, where it
//  is none, or has more than 15 digits of another base than ten.
bool number_from_python (span_t word, buffer_t *out);

#endif
