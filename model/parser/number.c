//  Numbers as Python writes them, and JSON does not

#include "model/parser/number.h"

#include <inttypes.h>

//  Digits at the start of a word from `at` on, with single underscores between them, without which they are appended.  Returns
//  where they end.
static size_t
s_take_digits (span_t word, size_t at, uint8_t base, buffer_t *digits)
{
    for (bool digit = false; at < word.size; at++) {
        if (number_is_digit (word.data [at], base))
            buffer_append_byte (digits, word.data [at]);
        else if (!digit || word.data [at] != '_' || at + 1 == word.size || !number_is_digit (word.data [at + 1], base))
            break;
        digit = word.data [at] != '_';
    }
    return at;
}

//  0x1f, 0o17, 0b11 as a plain one.
static bool
s_put_based (span_t word, buffer_t *digits, buffer_t *out)
{
    uint8_t letter = word.size > 2 && word.data [0] == '0' ? word.data [1] | 0x20 : 0;
    uint8_t base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (!base || s_take_digits (word, 2, base, digits) < word.size || digits->size > 15)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < digits->size; i++)
        value = value * base + number_digit_value (digits->data [i]);
    buffer_print (out, "%" PRIu64, value);
    return digits->size > 0;
}

//  1_000, 007, .5, 5. and 1_0e5 as JSON writes them.
static bool
s_put_decimal (span_t word, buffer_t *digits, buffer_t *out)
{
    size_t at = s_take_digits (word, 0, 10, digits), whole = digits->size, zeros = 0;
    bool point = at < word.size && word.data [at] == '.';
    at = point ? s_take_digits (word, at + 1, 10, digits) : at;
    span_t exponent = span_slice (word, at, word.size);
    bool sign = exponent.size > 1 && (exponent.data [1] == '-' || exponent.data [1] == '+');
    if (!digits->size || (exponent.size && (exponent.data [0] | 0x20) != 'e'))
        return false;
    for (size_t i = 1 + sign; i < exponent.size; i++)
        if (!number_is_digit (exponent.data [i], 10))
            return false;
    if (exponent.size == 1u + sign)
        return false;
    while (zeros + 1 < whole && digits->data [zeros] == '0')
        zeros++;
    buffer_append (out, whole ? span_slice (buffer_span (digits), zeros, whole - zeros) : SPAN ("0"));
    buffer_append_string (out, point ? "." : "");
    buffer_append (out, span_slice (buffer_span (digits), whole, digits->size));
    buffer_append_string (out, point && digits->size == whole ? "0" : "");
    buffer_append (out, exponent);
    return true;
}

bool
number_from_python (span_t word, buffer_t *out)
{
    bool minus = word.data [0] == '-', sign = minus || word.data [0] == '+';
    buffer_t digits = { 0 }, number = { 0 };
    word = span_slice (word, sign, word.size);
    bool is = s_put_based (word, &digits, &number);
    buffer_clear (&digits);
    is = is || s_put_decimal (word, &digits, &number);
    if (is)
        buffer_print (out, "%s%.*s", minus ? "-" : "", SPAN_ARG (buffer_span (&number)));
    buffer_fini (&digits);
    buffer_fini (&number);
    return is;
}
