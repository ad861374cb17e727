//  value_text - values as Python prints them, and numbers as it reads them

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model/template/unicode.h"
#include "model/template/value.h"

enum { FLOAT_STEPS = 16 };

size_t
value_text_length (span_t text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += (text.data [i] & 0xc0) != 0x80;
    return count;
}

span_t
value_text_range (span_t text, size_t from, size_t to)
{
    size_t point = 0;
    size_t begin = text.size;
    size_t end = text.size;
    for (size_t i = 0; i <= text.size; i++) {
        if (i < text.size && (text.data [i] & 0xc0) == 0x80)
            continue;
        if (point == from)
            begin = i;
        if (point == to) {
            end = i;
            break;
        }
        point++;
    }
    return begin < end ? span_slice (text, begin, end - begin) : SPAN ("");
}

//  Takes digits from the front; how many.
static size_t
s_take_digits (span_t *text)
{
    size_t count = 0;
    while (count < text->size && text->data [count] >= '0' && text->data [count] <= '9')
        count++;
    *text = span_slice (*text, count, text->size);
    return count;
}

//  An exponent, or nothing.
static bool
s_is_exponent (span_t text)
{
    if (!text.size)
        return true;
    size_t sign = text.size > 1 && (text.data [1] == '-' || text.data [1] == '+');
    span_t digits = span_slice (text, 1 + sign, text.size);
    return (text.data [0] | 0x20) == 'e' && s_take_digits (&digits) && !digits.size;
}

bool
value_read_real (span_t text, double *real)
{
    char plain [128];
    while (text.size > 1 && text.data [0] == '0' && text.data [1] >= '0' && text.data [1] <= '9')
        text = span_slice (text, 1, text.size);
    span_t rest = text;
    size_t whole = s_take_digits (&rest);
    bool point = rest.size && rest.data [0] == '.';
    rest = span_slice (rest, point, rest.size);
    span_t fraction = rest;
    size_t digits = point ? s_take_digits (&rest) : 0;
    if ((!whole && !digits) || !s_is_exponent (rest))
        return false;
    int size =
        snprintf (plain, sizeof plain, "%.*s.%.*s%.*s", whole ? (int)whole : 1, whole ? (const char *)text.data : "0",
            digits ? (int)digits : 1, digits ? (const char *)fraction.data : "0", SPAN_ARG (rest));
    if ((size_t)size >= sizeof plain)
        return false;
    if (!span_to_double (span_of (plain, (size_t)size), real))
        *real = INFINITY;    //  A number, but beyond a double
    return true;
}

void
value_print_float (double real, buffer_t *out)
{
    char text [40];
    if (real != real || real - real != 0) {
        buffer_append_string (out, real != real ? "nan" : real > 0 ? "inf" : "-inf");
        return;
    }
    int precision = real > -DBL_MIN && real < DBL_MIN ? 1 : DBL_DIG;
    double again = 0;
    //  Fifteen digits say which number it is, unless it is denormal; zeros at their end say nothing.
    do
        snprintf (text, sizeof text, "%.*e", precision - 1, real);
    while ((!span_to_double (span_from_string (text), &again) || again != real) && ++precision <= 17);
    uint64_t digits = 0;
    span_to_u64 (span_from_string (strchr (text, 'e') + 2), &digits);
    int exponent = strchr (text, 'e') [1] == '-' ? -(int)digits : (int)digits;
    const char *end = strchr (text, 'e');
    for (; precision > 1 && end [-1] == '0'; precision--)
        end--;
    end -= end [-1] == '.';
    if (exponent < -4 || exponent >= 16) {
        buffer_append (out, span_of (text, (size_t)(end - text)));
        buffer_print (out, "e%c%02d", exponent < 0 ? '-' : '+', abs (exponent));
        return;
    }
    int decimals = precision - 1 - exponent;
    buffer_print (out, "%.*f", decimals > 1 ? decimals : 1, real);
}

static void
s_print_items (value_heap_t *self, const value_list_t *list, const char *brackets, buffer_t *out)
{
    buffer_append_byte (out, (uint8_t)brackets [0]);
    value_enter (self);
    for (size_t i = 0; i < list->count && value_step (self, 1); i++) {
        if (i)
            buffer_append_string (out, ", ");
        value_print_repr (self, list->items [i], out);
    }
    value_leave (self);
    if (brackets [0] == '(' && list->count == 1)
        buffer_append_byte (out, ',');
    buffer_append_byte (out, (uint8_t)brackets [1]);
}

static void
s_print_pairs (value_heap_t *self, const value_dict_t *dict, buffer_t *out)
{
    buffer_append_byte (out, '{');
    value_enter (self);
    for (size_t i = 0; i < dict->count && value_step (self, 1); i++) {
        if (i)
            buffer_append_string (out, ", ");
        value_print_repr (self, dict->pairs [i].key, out);
        buffer_append_string (out, ": ");
        value_print_repr (self, dict->pairs [i].value, out);
    }
    value_leave (self);
    buffer_append_byte (out, '}');
}

static void
s_print_range (const value_view_t *range, buffer_t *out)
{
    buffer_print (out, "range(%" PRId64 ", %" PRId64, range->from, range->to);
    if (range->step != 1)
        buffer_print (out, ", %" PRId64, range->step);
    buffer_append_byte (out, ')');
}

void
value_print (value_heap_t *self, value_t value, buffer_t *out)
{
    if (value.kind == VALUE_STRING)
        value_write (self, value.as.text, out);
    else if (value.kind != VALUE_UNDEFINED)
        value_print_repr (self, value, out);
}

//  Bytes at the front of a text that repr () shows as they are.
static size_t
s_plain_run (span_t text, uint8_t quote)
{
    size_t at = 0;
    while (at < text.size && text.data [at] >= 0x20 && text.data [at] < 0x7f && text.data [at] != quote &&
           text.data [at] != '\\')
        at++;
    return at;
}

//  A text as Python's repr writes it: single quotes unless it has some and no double ones; what cannot be printed is
//  escaped.
static void
s_print_text_repr (value_heap_t *self, span_t text, buffer_t *out)
{
    if (!value_scan (self, text))
        return;
    bool has_single = span_find_byte (text, '\'') < text.size;
    bool has_double = span_find_byte (text, '"') < text.size;
    uint8_t quote = has_single && !has_double ? '"' : '\'';
    buffer_append_byte (out, quote);
    for (size_t at = 0; at < text.size;) {
        size_t plain = s_plain_run (span_slice (text, at, text.size), quote);
        buffer_append (out, span_slice (text, at, plain));
        if ((at += plain) == text.size)
            break;
        size_t size = utf8_sequence (span_slice (text, at, 4));
        span_t piece = span_slice (text, at, size ? size : 1);
        at += piece.size;
        uint8_t byte = piece.data [0];
        if (byte == quote || byte == '\\')
            buffer_print (out, "\\%c", byte);
        else if (byte == '\n')
            buffer_append_string (out, "\\n");
        else if (byte == '\r')
            buffer_append_string (out, "\\r");
        else if (byte == '\t')
            buffer_append_string (out, "\\t");
        else if (byte < 0x20 || byte == 0x7f)
            buffer_print (out, "\\x%02x", byte);
        else if (piece.size > 1 && !unicode_is_printable (piece))
            unicode_escape (piece, out);
        else
            buffer_append (out, piece);
    }
    buffer_append_byte (out, quote);
}

static void
s_print_container (value_heap_t *self, value_t value, buffer_t *out)
{
    switch (value.kind) {
    case VALUE_LIST:
        s_print_items (self, value.as.list, "[]", out);
        break;
    case VALUE_TUPLE:
        s_print_items (self, value.as.list, "()", out);
        break;
    case VALUE_RANGE:
        s_print_range ((const value_view_t *)value.as.list, out);
        break;
    case VALUE_VIEW:
        buffer_print (out, "%s(", value_type_name (value));
        s_print_items (self, value.as.list, "[]", out);
        buffer_append_byte (out, ')');
        break;
    case VALUE_DICT:
        s_print_pairs (self, value.as.dict, out);
        break;
    case VALUE_NAMESPACE:
        buffer_append_string (out, "<Namespace ");
        s_print_pairs (self, value.as.dict, out);
        buffer_append_byte (out, '>');
        break;
    default:
        buffer_print (out, "<%s object>", value_type_name (value));
    }
}

void
value_print_repr (value_heap_t *self, value_t value, buffer_t *out)
{
    if (!value_step (self, 1) || out->size > self->arena.limit)
        return;
    switch (value.kind) {
    case VALUE_UNDEFINED:
        buffer_append_string (out, "Undefined");
        break;
    case VALUE_NONE:
        buffer_append_string (out, "None");
        break;
    case VALUE_BOOL:
        buffer_append_string (out, value.as.truth ? "True" : "False");
        break;
    case VALUE_INT:
        buffer_print (out, "%" PRId64, value.as.integer);
        break;
    case VALUE_BIG:
        buffer_append (out, value.as.text);
        break;
    case VALUE_FLOAT:
        value_step (self, FLOAT_STEPS);
        value_print_float (value.as.real, out);
        break;
    case VALUE_STRING:
        buffer_append_string (out, value.safe ? "Markup(" : "");
        s_print_text_repr (self, value.as.text, out);
        buffer_append_string (out, value.safe ? ")" : "");
        break;
    default:
        s_print_container (self, value, out);
    }
}

value_t
value_to_text (value_heap_t *self, value_t value)
{
    if (value.kind == VALUE_STRING)
        return value;
    buffer_t text = { 0 };
    value_print (self, value, &text);
    return value_take_buffer (self, &text);
}

const char *
value_type_name (value_t value)
{
    static const char *const names [] = { [VALUE_UNDEFINED] = "Undefined",
        [VALUE_NONE] = "NoneType",
        [VALUE_BOOL] = "bool",
        [VALUE_INT] = "int",
        [VALUE_BIG] = "int",
        [VALUE_FLOAT] = "float",
        [VALUE_STRING] = "str",
        [VALUE_LIST] = "list",
        [VALUE_TUPLE] = "tuple",
        [VALUE_RANGE] = "range",
        [VALUE_DICT] = "dict",
        [VALUE_NAMESPACE] = "Namespace",
        [VALUE_ITERATOR] = "generator",
        [VALUE_FUNCTION] = "function",
        [VALUE_LOOP] = "LoopContext" };
    return value.kind == VALUE_VIEW ? ((const value_view_t *)value.as.list)->name : names [value.kind];
}

const char *
value_object_name (value_t value)
{
    static const char *const names [] = { [VALUE_UNDEFINED] = "undefined",
        [VALUE_NONE] = "None",
        [VALUE_BOOL] = "bool object",
        [VALUE_INT] = "int object",
        [VALUE_BIG] = "int object",
        [VALUE_FLOAT] = "float object",
        [VALUE_STRING] = "str object",
        [VALUE_LIST] = "list object",
        [VALUE_TUPLE] = "tuple object",
        [VALUE_RANGE] = "range object",
        [VALUE_VIEW] = "dict view object",
        [VALUE_DICT] = "dict object",
        [VALUE_NAMESPACE] = "namespace object",
        [VALUE_ITERATOR] = "generator object",
        [VALUE_FUNCTION] = "function object",
        [VALUE_LOOP] = "LoopContext object" };
    return names [value.kind];
}
