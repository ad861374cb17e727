//  Numbers of any size: whole ones beyond 64 bits are their digits

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/template/value.h"

value_t
value_whole (value_heap_t *self, span_t digits)
{
    char text [24];
    errno = 0;
    if (span_copy_string (digits, text, sizeof text)) {
        int64_t integer = strtoll (text, NULL, 10);
        if (!errno)
            return value_int (integer);
    }
    value_t value = value_copy_text (self, digits);
    value.kind = VALUE_BIG;
    return value;
}

value_t
value_whole_part (value_heap_t *self, double real)
{
    char digits [VALUE_DIGITS_MAX];
    if (real >= -0x1p63 && real < 0x1p63)
        return value_int ((int64_t)real);
    return value_whole (self, span_of (digits, (size_t)snprintf (digits, sizeof digits, "%.0f", real)));
}

//  ---- Order ---------------------------------------------------------------------------------------------------------

static int64_t
s_integer (value_t value)
{
    return value.kind == VALUE_BOOL ? value.as.truth : value.as.integer;
}

//  The double next to digits without sign: of those behind the first hundred it counts whether one is not 0.
static double
s_real_of_digits (span_t digits)
{
    enum { SHOWN = 100 };
    char text [SHOWN + 24];
    double real = 0;
    span_t rest = span_slice (digits, SHOWN, digits.size);
    bool sticks = false;
    for (size_t i = 0; i < rest.size; i++)
        sticks = sticks || rest.data [i] != '0';
    int size = snprintf (
        text, sizeof text, "%.*s.%de%zu", (int)(digits.size - rest.size), (const char *)digits.data, sticks, rest.size);
    value_read_real (span_of (text, (size_t)size), &real);
    return real;
}

double
value_real (value_t value)
{
    if (value.kind == VALUE_FLOAT)
        return value.as.real;
    if (value.kind != VALUE_BIG)
        return (double)s_integer (value);
    bool negative = value.as.text.data [0] == '-';
    double real = s_real_of_digits (span_slice (value.as.text, negative, value.as.text.size));
    return negative ? -real : real;
}

//  The sign of a number beyond 64 bits.
static int
s_sign (span_t digits)
{
    return digits.data [0] == '-' ? -1 : 1;
}

//  Of the digits of whole numbers, as -1, 0, 1.
static int
s_order_digits (span_t a, span_t b)
{
    int sign = s_sign (a);
    if (sign != s_sign (b))
        return sign;
    int order = a.size != b.size ? (a.size > b.size) - (a.size < b.size) : span_compare (a, b);
    return order > 0 ? sign : order < 0 ? -sign : 0;
}

//  Of whole numbers one of which is BIG: its sign decides where the other is not.
static int
s_order_big (value_t a, value_t b)
{
    if (a.kind == VALUE_BIG && b.kind == VALUE_BIG)
        return s_order_digits (a.as.text, b.as.text);
    return a.kind == VALUE_BIG ? s_sign (a.as.text) : -s_sign (b.as.text);
}

//  Of a whole number and a double, exact: 2^53 + 1 is not its neighbour.
static int
s_order_with_real (value_t whole, double real)
{
    if (real >= -0x1p63 && real < 0x1p63) {
        int64_t whole_part = (int64_t)real;
        value_t rest = value_int (whole_part);
        int order = whole.kind == VALUE_BIG ? s_order_big (whole, rest)
                                            : (s_integer (whole) > whole_part) - (s_integer (whole) < whole_part);
        return order ? order : ((double)whole_part > real) - ((double)whole_part < real);
    }
    if (isinf (real) || whole.kind != VALUE_BIG)
        return real > 0 ? -1 : 1;
    char digits [VALUE_DIGITS_MAX];
    int size = snprintf (digits, sizeof digits, "%.0f", real);
    return s_order_digits (whole.as.text, span_of (digits, (size_t)size));
}

int
value_order_numbers (value_t a, value_t b)
{
    if (a.kind == VALUE_FLOAT && b.kind == VALUE_FLOAT)
        return (a.as.real > b.as.real) - (a.as.real < b.as.real);
    if ((a.kind == VALUE_FLOAT && isnan (a.as.real)) || (b.kind == VALUE_FLOAT && isnan (b.as.real)))
        return 0;
    if (b.kind == VALUE_FLOAT)
        return s_order_with_real (a, b.as.real);
    if (a.kind == VALUE_FLOAT)
        return -s_order_with_real (b, a.as.real);
    if (a.kind == VALUE_BIG || b.kind == VALUE_BIG)
        return s_order_big (a, b);
    return (s_integer (a) > s_integer (b)) - (s_integer (a) < s_integer (b));
}

bool
value_equal_numbers (value_t a, value_t b)
{
    if ((a.kind == VALUE_FLOAT && isnan (a.as.real)) || (b.kind == VALUE_FLOAT && isnan (b.as.real)))
        return false;
    return value_order_numbers (a, b) == 0;
}
