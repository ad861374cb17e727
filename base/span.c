#include "base/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool
span_starts_with (span_t self, span_t prefix)
{
    return self.size >= prefix.size && span_equal (span_slice (self, 0, prefix.size), prefix);
}

static uint8_t
s_lower (uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte - 'A' + 'a') : byte;
}

bool
span_equal_nocase (span_t a, span_t b)
{
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++)
        if (s_lower (a.data [i]) != s_lower (b.data [i]))
            return false;
    return true;
}

int
span_compare (span_t a, span_t b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp (a.data, b.data, common) : 0;
    if (order)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

size_t
span_find_byte (span_t self, uint8_t byte)
{
    const uint8_t *found = self.size ? memchr (self.data, byte, self.size) : NULL;
    return found ? (size_t)(found - self.data) : self.size;
}

static bool
s_is_blank (uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

span_t
span_trim (span_t self)
{
    while (self.size && s_is_blank (self.data [0]))
        self = span_of (self.data + 1, self.size - 1);
    while (self.size && s_is_blank (self.data [self.size - 1]))
        self.size--;
    return self;
}

bool
span_copy_string (span_t self, char *out, size_t size)
{
    size_t copied = self.size < size ? self.size : size - 1;
    if (copied)
        memcpy (out, self.data, copied);
    out [copied] = '\0';
    return copied == self.size;
}

bool
span_to_u64 (span_t self, uint64_t *value)
{
    uint64_t result = 0;
    if (self.size == 0)
        return false;
    for (size_t i = 0; i < self.size; i++) {
        if (self.data [i] < '0' || self.data [i] > '9')
            return false;
        uint64_t digit = (uint64_t)(self.data [i] - '0');
        if (result > (UINT64_MAX - digit) / 10)
            return false;
        result = result * 10 + digit;
    }
    *value = result;
    return true;
}

static size_t
s_digits (span_t self, size_t from)
{
    size_t at = from;
    while (at < self.size && self.data [at] >= '0' && self.data [at] <= '9')
        at++;
    return at - from;
}

//  [-] digits without a leading zero [. digits] [e [+-] digits]
bool
span_is_number (span_t self)
{
    size_t at = self.size && self.data [0] == '-';
    size_t whole = s_digits (self, at);
    if (whole == 0 || (whole > 1 && self.data [at] == '0'))
        return false;
    at += whole;
    if (at < self.size && self.data [at] == '.') {
        size_t fraction = s_digits (self, at + 1);
        if (fraction == 0)
            return false;
        at += 1 + fraction;
    }
    if (at < self.size && (self.data [at] == 'e' || self.data [at] == 'E')) {
        at++;
        if (at < self.size && (self.data [at] == '+' || self.data [at] == '-'))
            at++;
        size_t exponent = s_digits (self, at);
        if (exponent == 0)
            return false;
        at += exponent;
    }
    return at == self.size;
}

bool
span_to_double (span_t self, double *value)
{
    char text [129];
    if (self.size >= sizeof text || !span_is_number (self))
        return false;
    span_copy_string (self, text, sizeof text);
    double result = strtod (text, NULL);
    if (!isfinite (result))
        return false;
    *value = result;
    return true;
}
