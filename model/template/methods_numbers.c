//  methods_numbers - what numbers can do, and what they and ranges say of themselves, as in Python

#include <stdio.h>
#include <string.h>

#include "model/template/render.h"

enum { MANTISSA_BITS = 52, EXPONENT_MASK = 0x7ff, EXPONENT_BIAS = 1075 };

//  ---- Numbers -------------------------------------------------------------------------------------------------------

static int64_t
s_whole (value_t self)
{
    return self.kind == VALUE_BOOL ? self.as.truth : self.as.integer;
}

static uint64_t
s_magnitude (value_t self)
{
    int64_t whole = s_whole (self);
    return whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
}

static value_t
s_bit_length (render_t *render, value_t self, const args_t *args)
{
    uint64_t magnitude = s_magnitude (self);
    return value_int (magnitude ? 64 - __builtin_clzll (magnitude) : 0);
}

static value_t
s_bit_count (render_t *render, value_t self, const args_t *args)
{
    return value_int (__builtin_popcountll (s_magnitude (self)));
}

//  A number as it is; True is 1.
static value_t
s_real (render_t *render, value_t self, const args_t *args)
{
    return self.kind == VALUE_BOOL ? value_int (self.as.truth) : self;
}

static value_t
s_imaginary (render_t *render, value_t self, const args_t *args)
{
    return self.kind == VALUE_FLOAT ? value_float (0) : value_int (0);
}

static value_t
s_denominator (render_t *render, value_t self, const args_t *args)
{
    return value_int (1);
}

static value_t
s_ratio (render_t *render, int64_t numerator, int64_t denominator)
{
    value_t pair = value_new_list (&render->heap, VALUE_TUPLE);
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, pair.as.list, value_int (numerator));
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, pair.as.list, value_int (denominator));
    return pair;
}

static value_t
s_whole_ratio (render_t *render, value_t self, const args_t *args)
{
    return s_ratio (render, s_whole (self), 1);
}

//  A double is a whole number times a power of two.
static value_t
s_real_ratio (render_t *render, value_t self, const args_t *args)
{
    uint64_t bits;
    memcpy (&bits, &self.as.real, sizeof bits);
    uint64_t mantissa = bits & ((UINT64_C (1) << MANTISSA_BITS) - 1);
    int exponent = (int)(bits >> MANTISSA_BITS & EXPONENT_MASK);
    if (exponent == EXPONENT_MASK)
        return value_fail (&render->heap, "OverflowError: cannot convert this to an integer ratio");
    mantissa |= exponent ? UINT64_C (1) << MANTISSA_BITS : 0;
    int power = mantissa ? (exponent ? exponent : 1) - EXPONENT_BIAS : 0;
    int even = mantissa ? __builtin_ctzll (mantissa) : 0;
    if (power < 0) {
        int shift = even < -power ? even : -power;
        mantissa >>= shift;
        power += shift;
    }
    if (power < -62 || (power > 0 && (power > 62 || mantissa >> (63 - power))))
        return value_too_large (&render->heap);
    int64_t numerator = (int64_t)(power > 0 ? mantissa << power : mantissa);
    return s_ratio (render, self.as.real < 0 ? -numerator : numerator, power < 0 ? INT64_C (1) << -power : 1);
}

static value_t
s_is_integer (render_t *render, value_t self, const args_t *args)
{
    double real = self.kind == VALUE_FLOAT ? self.as.real : (double)s_whole (self);
    bool large = real >= 9007199254740992.0 || real <= -9007199254740992.0;
    return value_bool (real - real == 0 && (large || (double)(int64_t)real == real));
}

static value_t
s_yes (render_t *render, value_t self, const args_t *args)
{
    return value_bool (true);
}

//  Would be computed with a number of more than 64 bits.
static value_t
s_too_large (render_t *render, value_t self, const args_t *args)
{
    return value_too_large (&render->heap);
}

static value_t
s_hex (render_t *render, value_t self, const args_t *args)
{
    char text [40];
    buffer_t out = { 0 };
    double real = self.as.real;
    if (real - real != 0)
        value_print_float (real, &out);
    else if (real == 0)
        buffer_append_string (&out, 1 / real < 0 ? "-0x0.0p+0" : "0x0.0p+0");
    else if (snprintf (text, sizeof text, "%.13a", real) > 0)
        buffer_append_string (&out, text);
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_no_bytes (render_t *render, value_t self, const args_t *args)
{
    return value_fail (&render->heap, "numbers are not made of bytes or texts like this here");
}

//  ---- Ranges --------------------------------------------------------------------------------------------------------

static value_t
s_start (render_t *render, value_t self, const args_t *args)
{
    return value_int (((const value_view_t *)self.as.list)->from);
}

static value_t
s_stop (render_t *render, value_t self, const args_t *args)
{
    return value_int (((const value_view_t *)self.as.list)->to);
}

static value_t
s_step (render_t *render, value_t self, const args_t *args)
{
    return value_int (((const value_view_t *)self.as.list)->step);
}

//  ---- Tables --------------------------------------------------------------------------------------------------------

const builtin_t methods_of_int [] = {
    { "as_integer_ratio", "", s_whole_ratio },
    { "bit_count", "", s_bit_count },
    { "bit_length", "", s_bit_length },
    { "conjugate", "", s_real },
    { "from_bytes", "* **", s_no_bytes },
    { "is_integer", "", s_is_integer },
    { "to_bytes", "* **", s_no_bytes },
    { NULL, NULL, NULL },
};

const builtin_t methods_of_big [] = {
    { "as_integer_ratio", "", s_too_large },
    { "bit_count", "", s_too_large },
    { "bit_length", "", s_too_large },
    { "conjugate", "", s_real },
    { "from_bytes", "* **", s_no_bytes },
    { "is_integer", "", s_yes },
    { "to_bytes", "* **", s_no_bytes },
    { NULL, NULL, NULL },
};

const builtin_t methods_of_float [] = {
    { "as_integer_ratio", "", s_real_ratio },
    { "conjugate", "", s_real },
    { "fromhex", "* **", s_no_bytes },
    { "hex", "", s_hex },
    { "is_integer", "", s_is_integer },
    { NULL, NULL, NULL },
};

const builtin_t properties_of_int [] = {
    { "denominator", "", s_denominator },
    { "imag", "", s_imaginary },
    { "numerator", "", s_real },
    { "real", "", s_real },
    { NULL, NULL, NULL },
};

const builtin_t properties_of_float [] = {
    { "imag", "", s_imaginary },
    { "real", "", s_real },
    { NULL, NULL, NULL },
};

const builtin_t properties_of_range [] = {
    { "start", "", s_start },
    { "step", "", s_step },
    { "stop", "", s_stop },
    { NULL, NULL, NULL },
};
