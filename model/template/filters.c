//  filters - what may stand behind |: single values and text.  Those that walk rows are in filters_rows.c.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

//  ---- Text ----------------------------------------------------------------------------------------------------------

//  The text a filter makes of another stays safe, as markupsafe's methods give Markup.
static value_t
s_as_safe (value_t from, value_t text)
{
    text.safe = from.safe;
    return text;
}

static span_t
s_text_of (render_t *render, value_t value)
{
    return value_to_text (&render->heap, value).as.text;
}

static value_t
s_string (render_t *render, value_t self, const args_t *args)
{
    return value_to_text (&render->heap, self);
}

static value_t
s_safe (render_t *render, value_t self, const args_t *args)
{
    value_t text = value_to_text (&render->heap, self);
    text.safe = true;
    return text;
}

enum { BYTES_A_STEP = 16, SET_A_STEP = 4 };

bool
filters_strip (render_t *render, span_t *text, const span_t *set, bool left, bool right)
{
    size_t size = set ? set->size : 0;
    bool allowed = value_step (&render->heap, text->size / BYTES_A_STEP * (1 + size / SET_A_STEP));
    if (allowed)
        *text = unicode_strip (*text, set, left, right);
    return allowed;
}

static value_t
s_trim (render_t *render, value_t self, const args_t *args)
{
    const value_t *set = args_get (args, 0, "chars");
    if (set && set->kind != VALUE_STRING && set->kind != VALUE_NONE)
        return value_fail (&render->heap, "TypeError: strip arg must be None or str");
    bool has_set = set && set->kind == VALUE_STRING;
    span_t text = s_text_of (render, self);
    if (!filters_strip (render, &text, has_set ? &set->as.text : NULL, true, true))
        return (value_t){ 0 };
    return s_as_safe (self, value_text (text));
}

static value_t
s_lower (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    unicode_append_lower (&out, s_text_of (render, self));
    return s_as_safe (self, value_take_buffer (&render->heap, &out));
}

static value_t
s_upper (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    unicode_append_upper (&out, s_text_of (render, self));
    return s_as_safe (self, value_take_buffer (&render->heap, &out));
}

static value_t
s_capitalize (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    unicode_append_capital (&out, s_text_of (render, self));
    return s_as_safe (self, value_take_buffer (&render->heap, &out));
}

//  Words begin behind blanks and opening brackets, as Jinja's filter cuts them (str.title differs).
static void
s_append_titled (buffer_t *out, span_t word)
{
    size_t first;
    unicode_decode (word, &first);
    unicode_append_upper (out, span_slice (word, 0, first));
    unicode_append_lower (out, span_slice (word, first, word.size));
}

static value_t
s_title (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = s_text_of (render, self);
    size_t begin = 0;
    for (size_t at = 0, size; at <= text.size; at += size) {
        uint32_t point = at < text.size ? unicode_decode (span_slice (text, at, 4), &size) : ' ';
        bool cuts =
            unicode_is_space (point) || point == '-' || point == '(' || point == '{' || point == '[' || point == '<';
        if (at == text.size)
            size = 1;
        if (!cuts)
            continue;
        s_append_titled (&out, span_slice (text, begin, at - begin));
        if (at < text.size)
            buffer_append (&out, span_slice (text, at, size));
        begin = at + size;
    }
    return value_take_buffer (&render->heap, &out);
}

span_t
filters_find (span_t text, span_t part)
{
    for (size_t at = 0; part.size && at + part.size <= text.size; at++) {
        const uint8_t *found = memchr (text.data + at, part.data [0], text.size - part.size - at + 1);
        if (!found)
            break;
        at = (size_t)(found - text.data);
        if (memcmp (found, part.data, part.size) == 0)
            return span_slice (text, at, part.size);
    }
    return (span_t){ NULL, 0 };
}

value_t
filters_replace (render_t *render, span_t text, span_t from, span_t to, int64_t count)
{
    buffer_t out = { 0 };
    size_t at = 0;
    value_search (&render->heap, text, from);
    while (at <= text.size && count != 0 && value_step (&render->heap, 1) && out.size <= render->heap.arena.limit) {
        span_t rest = span_slice (text, at, text.size);
        size_t gap;
        if (from.size) {
            span_t found = filters_find (rest, from);
            if (!found.data)
                break;
            gap = (size_t)(found.data - rest.data);
            buffer_append (&out, span_slice (rest, 0, gap));
            value_write (&render->heap, to, &out);
        } else {
            value_write (&render->heap, to, &out);
            if (at == text.size) {
                at++;
                break;
            }
            unicode_decode (rest, &gap);
            buffer_append (&out, span_slice (rest, 0, gap));
        }
        at += gap + from.size;
        count--;
    }
    buffer_append (&out, span_slice (text, at, text.size));
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_replace (render_t *render, value_t self, const args_t *args)
{
    const value_t *from = args_get (args, 0, "old");
    const value_t *to = args_get (args, 1, "new");
    return filters_replace (render, s_text_of (render, self), s_text_of (render, *from), s_text_of (render, *to),
        args_int (args, 2, "count", -1));
}

//  What stands before an indented line: a number of blanks, or a text.
static span_t
s_indentation (render_t *render, const value_t *width)
{
    if (width && width->kind == VALUE_STRING)
        return width->as.text;
    value_t spaces = width ? *width : value_int (4);
    return render_binary (render, OP_MULTIPLY, value_text (SPAN (" ")), spaces).as.text;
}

//  Takes the next line, and says whether one follows it.  A \r at the very end is no end of a line, as Jinja2 adds a \n.
static bool
s_take_line (span_t *text, span_t *line)
{
    size_t end = 0;
    size_t size = 0;
    while (end < text->size && (size = unicode_line_end (span_slice (*text, end, 4))) == 0)
        end++;
    bool more = size > 1 || (size == 1 && (text->data [end] != '\r' || end + 1 < text->size));
    *line = span_slice (*text, 0, end);
    *text = span_slice (*text, end + size, text->size);
    return more;
}

static value_t
s_indent (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = self.as.text;
    bool first = value_is_true (args_or (args, 1, "first", value_bool (false)));
    bool blank = value_is_true (args_or (args, 2, "blank", value_bool (false)));
    if (self.kind != VALUE_STRING)
        return value_fail (&render->heap, "TypeError: only a text can be indented, not '%s'", value_type_name (self));
    span_t indentation = s_indentation (render, args_get (args, 0, "width"));
    bool more = true;
    for (bool is_first = true; more && value_step (&render->heap, 1); is_first = false) {
        span_t line;
        more = s_take_line (&text, &line);
        if (is_first ? first : line.size || blank)
            value_write (&render->heap, indentation, &out);
        buffer_append (&out, line);
        if (more)
            buffer_append_byte (&out, '\n');
        if (out.size > render->heap.arena.limit)
            break;
    }
    return s_as_safe (self, value_take_buffer (&render->heap, &out));
}

static value_t
s_escape (render_t *render, value_t self, const args_t *args)
{
    static const struct {
        uint8_t byte;
        const char *text;
    } escapes [] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '\'', "&#39;" }, { '"', "&#34;" } };
    buffer_t out = { 0 };
    span_t text = s_text_of (render, self);
    if (self.safe)
        return self;
    for (size_t i = 0; i < text.size; i++) {
        const char *escape = NULL;
        for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++)
            if (text.data [i] == escapes [k].byte)
                escape = escapes [k].text;
        if (escape)
            buffer_append_string (&out, escape);
        else
            buffer_append_byte (&out, text.data [i]);
    }
    value_t escaped = value_take_buffer (&render->heap, &out);
    escaped.safe = true;
    return escaped;
}

static value_t
s_force_escape (render_t *render, value_t self, const args_t *args)
{
    self = value_to_text (&render->heap, self);
    self.safe = false;
    return s_escape (render, self, args);
}

static value_t
s_center (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = s_text_of (render, self);
    int64_t width = args_int (args, 0, "width", 80);
    int64_t padding = width > 0 ? width - (int64_t)value_text_length (text) : 0;
    int64_t left = padding > 0 ? padding / 2 + (padding & width & 1) : 0;
    for (int64_t i = 0; i < left && value_step (&render->heap, 1); i++)
        buffer_append_byte (&out, ' ');
    buffer_append (&out, text);
    for (int64_t i = left; i < padding && value_step (&render->heap, 1); i++)
        buffer_append_byte (&out, ' ');
    return s_as_safe (self, value_take_buffer (&render->heap, &out));
}

static value_t
s_length (render_t *render, value_t self, const args_t *args)
{
    switch (self.kind) {
    case VALUE_UNDEFINED:
        return value_int (0);
    case VALUE_STRING:
        return value_int ((int64_t)value_text_length (self.as.text));
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_RANGE:
    case VALUE_VIEW:
        return value_int ((int64_t)self.as.list->count);
    case VALUE_DICT:
        return value_int ((int64_t)self.as.dict->count);
    default:
        return value_fail (&render->heap, "TypeError: object of type '%s' has no len()", value_type_name (self));
    }
}

static value_t
s_truncate (render_t *render, value_t self, const args_t *args)
{
    span_t text = s_text_of (render, self);
    int64_t length = args_int (args, 0, "length", 255);
    bool killwords = value_is_true (args_or (args, 1, "killwords", value_bool (false)));
    span_t end = args_text (args, 2, "end", SPAN ("..."));
    int64_t leeway = args_int (args, 3, "leeway", 5);
    if (length < (int64_t)value_text_length (end) || leeway < 0)
        return value_fail (
            &render->heap, "AssertionError: a length that has no room for the end, or a negative leeway");
    if (s_length (render, self, &(args_t){ 0 }).as.integer <= length + leeway || value_heap_failed (&render->heap))
        return self;
    if (self.kind != VALUE_STRING)
        return value_fail (&render->heap, "TypeError: only a text can be truncated, not '%s'", value_type_name (self));
    int64_t kept = length - (int64_t)value_text_length (end);
    size_t at = 0;
    for (size_t size; kept > 0 && at < text.size; at += size, kept--)
        unicode_decode (span_slice (text, at, 4), &size);
    span_t head = span_slice (text, 0, at);
    for (size_t i = head.size; !killwords && i > 0; i--)
        if (head.data [i - 1] == ' ') {
            head = span_slice (head, 0, i - 1);
            break;
        }
    buffer_t out = { 0 };
    buffer_append (&out, head);
    buffer_append (&out, end);
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_wordcount (render_t *render, value_t self, const args_t *args)
{
    span_t text = s_text_of (render, self);
    int64_t count = 0;
    bool inside = false;
    for (size_t at = 0, size; at < text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        bool is_word = unicode_is_letter (point) || unicode_is_digit (point) || point == '_';
        count += is_word && !inside;
        inside = is_word;
    }
    return value_int (count);
}

//  In a query a slash is quoted, too, and a blank is a plus.
static void
s_append_quoted (render_t *render, buffer_t *out, value_t value, bool query)
{
    span_t text = s_text_of (render, value);
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data [i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                     (byte && strchr ("_.-~", byte)) || (byte == '/' && !query);
        if (plain || (query && byte == ' '))
            buffer_append_byte (out, plain ? byte : '+');
        else
            buffer_print (out, "%%%02X", byte);
    }
}

//  key=value & key=value ...
static value_t
s_query (render_t *render, value_t pairs)
{
    buffer_t out = { 0 };
    value_t *rows, *pair;
    size_t count, size;
    if (!value_items (&render->heap, pairs, &rows, &count))
        return pairs;
    for (size_t i = 0; i < count && value_step (&render->heap, 1); i++) {
        if (!value_items (&render->heap, rows [i], &pair, &size) || size != 2) {
            value_fail (&render->heap, "ValueError: a query is made of pairs");
            break;
        }
        buffer_append_string (&out, i ? "&" : "");
        s_append_quoted (render, &out, pair [0], true);
        buffer_append_byte (&out, '=');
        s_append_quoted (render, &out, pair [1], true);
    }
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_urlencode (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    if (self.kind == VALUE_DICT)
        return s_query (render, render_filter (render, SPAN ("items"), self, &(args_t){ 0 }));
    if (value_has_items (self) || self.kind == VALUE_UNDEFINED)
        return s_query (render, self);
    s_append_quoted (render, &out, self, false);
    return value_take_buffer (&render->heap, &out);
}

//  ---- Numbers -------------------------------------------------------------------------------------------------------

static value_t
s_abs (render_t *render, value_t self, const args_t *args)
{
    if (self.kind == VALUE_UNDEFINED)
        return render_undefined_error (render, self);
    if (self.kind == VALUE_BIG) {
        self.as.text = span_slice (self.as.text, self.as.text.data [0] == '-', self.as.text.size);
        return self;
    }
    if (!value_is_number (self))
        return value_fail (&render->heap, "TypeError: bad operand type for abs(): '%s'", value_type_name (self));
    if (self.kind == VALUE_FLOAT)
        return value_float (self.as.real < 0 ? -self.as.real : self.as.real + 0.0);    //  -0.0 + 0.0 is 0.0
    bool negative = self.kind == VALUE_INT && self.as.integer < 0;
    return render_binary (render, negative ? OP_SUBTRACT : OP_ADD, value_int (0), self);
}

//  A text of ASCII that means the same number to Python: digits of any script, no blanks around, single underscores between
//  digits left out.  False where it cannot be a number.
static bool
s_plain_digits (span_t text, char out [VALUE_DIGITS_MAX])
{
    size_t used = 0;
    bool after_digit = false;
    text = unicode_strip (text, NULL, true, true);
    for (size_t at = 0, size; at < text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        int digit = unicode_decimal_value (point);
        bool skips = point == '_' && after_digit && at + 1 < text.size && text.data [at + 1] != '_';
        after_digit = digit >= 0 || (point < 0x80 && point != '_');
        if (skips)
            continue;
        if ((digit < 0 && (point >= 0x80 || point == '_' || point < ' ')) || used + 1 == VALUE_DIGITS_MAX)
            return false;
        out [used++] = digit >= 0 ? (char)('0' + digit) : (char)point;
    }
    out [used] = 0;
    return used > 0;
}

//  Digits of a base with a sign and the prefix of the base.  Those of ten may be any number, others have 64 bits.
static bool
s_parse_int (render_t *render, span_t text, int64_t base, value_t *value)
{
    char digits [VALUE_DIGITS_MAX];
    char *end;
    if (base < 2 || base > 36 || !s_plain_digits (text, digits) || strchr (digits, ' '))
        return false;
    size_t sign = digits [0] == '-' || digits [0] == '+';
    char mark = digits [sign] == '0' ? digits [sign + 1] : 0;
    bool prefixed = (base == 8 && (mark == 'o' || mark == 'O')) || (base == 2 && (mark == 'b' || mark == 'B'));
    if (prefixed)
        memmove (digits + sign, digits + sign + 2, strlen (digits + sign + 2) + 1);
    errno = 0;
    *value = value_int (strtoll (digits, &end, (int)base));
    if (end == digits + sign || *end)
        return false;
    if (errno && base != 10)
        *value = value_too_large (&render->heap);
    else if (errno) {
        size_t zeros = strspn (digits + sign, "0");
        memmove (digits + sign, digits + sign + zeros, strlen (digits + sign + zeros) + 1);
        *value = value_whole (&render->heap, span_from_string (digits + (digits [0] == '+')));
    }
    return true;
}

static bool
s_parse_float (span_t text, double *value)
{
    static const struct {
        const char *name;
        double real;
    } words [] = { { "inf", INFINITY }, { "infinity", INFINITY }, { "nan", NAN } };
    char digits [VALUE_DIGITS_MAX];
    if (!s_plain_digits (text, digits))
        return false;
    bool negative = digits [0] == '-';
    span_t rest = span_from_string (digits + (negative || digits [0] == '+'));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_equal_nocase (rest, span_from_string (words [i].name))) {
            *value = negative ? -words [i].real : words [i].real;
            return true;
        }
    if (!value_read_real (rest, value))
        return false;
    *value = negative ? -*value : *value;
    return true;
}

static value_t
s_int (render_t *render, value_t self, const args_t *args)
{
    value_t whole;
    double real;
    if (self.kind == VALUE_UNDEFINED)
        return render_undefined_error (render, self);
    value_t otherwise = args_or (args, 0, "default", value_int (0));
    if (self.kind == VALUE_INT || self.kind == VALUE_BIG)
        return self;
    if (self.kind == VALUE_BOOL)
        return value_int (self.as.truth);
    if (self.kind == VALUE_FLOAT && isinf (self.as.real))
        return value_fail (&render->heap, "OverflowError: cannot convert float infinity to integer");
    if (self.kind == VALUE_STRING && s_parse_int (render, self.as.text, args_int (args, 1, "base", 10), &whole))
        return whole;
    bool read = self.kind == VALUE_STRING && s_parse_float (self.as.text, &real);
    if (!read && self.kind != VALUE_FLOAT)
        return otherwise;
    real = read ? real : self.as.real;
    return isfinite (real) ? value_whole_part (&render->heap, real) : otherwise;
}

static value_t
s_float (render_t *render, value_t self, const args_t *args)
{
    double real;
    if (self.kind == VALUE_UNDEFINED)
        return render_undefined_error (render, self);
    if (self.kind == VALUE_FLOAT)
        return self;
    if (self.kind == VALUE_INT)
        return value_float ((double)self.as.integer);
    if (self.kind == VALUE_BIG)
        return value_float (value_real (self));
    if (self.kind == VALUE_BOOL)
        return value_float (self.as.truth);
    if (self.kind == VALUE_STRING && s_parse_float (self.as.text, &real))
        return value_float (real);
    return args_or (args, 0, "default", value_float (0));
}

enum { PRECISION_MAX = 400 };    //  Beyond any double, on both sides

//  Ten to a power, as far as a double tells apart.
static double
s_power_of_ten (int64_t exponent)
{
    double power = 1;
    for (int64_t i = 0; i < exponent && i < 309; i++)
        power *= 10;
    return power;
}

static value_t
s_round_to_side (render_t *render, double real, int64_t precision, bool up)
{
    value_t one = value_int (1);
    value_t scale = value_float (s_power_of_ten (precision < 0 ? -precision : precision));
    op_t shrinks = precision < 0 ? OP_MULTIPLY : OP_DIVIDE;
    op_t grows = precision < 0 ? OP_DIVIDE : OP_MULTIPLY;
    value_t scaled = render_binary (render, grows, value_float (real), scale);
    value_t whole = render_binary (render, OP_FLOOR_DIVIDE, scaled, one);
    if (up && !value_equal (&render->heap, whole, scaled))
        whole = render_binary (render, OP_ADD, whole, one);
    return render_binary (render, shrinks, whole, scale);
}

//  A whole number to tens, hundreds ...: half to even.  more: it stands for one a little farther from 0.
static value_t
s_round_whole (render_t *render, int64_t integer, bool more, int64_t precision)
{
    if (precision >= 0)
        return value_int (integer);
    if (precision < -18)
        return value_int (0);
    int64_t scale = (int64_t)s_power_of_ten (-precision);
    int64_t rest = integer % scale;
    int64_t rounded = integer - rest;
    int64_t twice = 2 * (rest < 0 ? -rest : rest);
    bool away = twice > scale || (twice == scale && (more || rounded / scale % 2));
    if (away && __builtin_add_overflow (rounded, rest < 0 ? -scale : scale, &rounded))
        return value_too_large (&render->heap);
    return value_int (rounded);
}

static value_t
s_round_real (render_t *render, double real, int64_t precision)
{
    double size = real < 0 ? -real : real, rounded = 0;
    bool negative = real < 0 || (real == 0 && 1 / real < 0);
    char text [128];
    if (precision > 100 || !(size < 1e16))
        return value_float (real);    //  Nothing is left to round
    if (precision < 0) {
        int64_t whole = (int64_t)size;
        rounded = (double)s_round_whole (render, whole, (double)whole < size, precision).as.integer;
    } else {
        snprintf (text, sizeof text, "%.*f", (int)precision, size);
        value_read_real (span_from_string (text), &rounded);
    }
    return value_float (negative ? -rounded : rounded);
}

//  Without a precision Python gives a whole number.
static value_t
s_whole_of (render_t *render, value_t rounded)
{
    if (rounded.kind != VALUE_FLOAT)
        return rounded;
    bool fits = rounded.as.real > -9e18 && rounded.as.real < 9e18;
    return fits ? value_int ((int64_t)rounded.as.real) : value_too_large (&render->heap);
}

static value_t
s_round (render_t *render, value_t self, const args_t *args)
{
    bool none = args_or (args, 0, "precision", value_int (0)).kind == VALUE_NONE;
    int64_t precision = args_int (args, 0, "precision", 0);
    precision = precision < -PRECISION_MAX ? -PRECISION_MAX : precision;
    value_t method = args_or (args, 1, "method", value_text (SPAN ("common")));
    span_t way = method.kind == VALUE_STRING ? method.as.text : SPAN ("");
    bool up = span_equal_string (way, "ceil"), common = span_equal_string (way, "common");
    if (!up && !common && !span_equal_string (way, "floor"))
        return value_fail (&render->heap, "FilterArgumentError: method must be common, ceil or floor");
    if (self.kind == VALUE_UNDEFINED)
        return render_undefined_error (render, self);
    if (self.kind == VALUE_BIG)
        return value_too_large (&render->heap);
    if (!value_is_number (self))
        return value_fail (&render->heap, "TypeError: type %s doesn't define __round__ method", value_type_name (self));
    if (none && !common)
        return value_fail (&render->heap, "TypeError: unsupported operand type(s) for **: 'int' and 'NoneType'");
    if (self.kind != VALUE_FLOAT && common)
        return s_round_whole (render, self.kind == VALUE_BOOL ? self.as.truth : self.as.integer, false, precision);
    double real = s_float (render, self, &(args_t){ 0 }).as.real;
    value_t rounded = common ? s_round_real (render, real, precision) : s_round_to_side (render, real, precision, up);
    return none ? s_whole_of (render, rounded) : rounded;
}

static value_t
s_format (render_t *render, value_t self, const args_t *args)
{
    if (args->count && args->keyword_count)
        return value_fail (
            &render->heap, "FilterArgumentError: can't handle positional and keyword arguments at the same time");
    return s_as_safe (self, format_percent (render, s_text_of (render, self), args));
}

//  ---- Anything ------------------------------------------------------------------------------------------------------

static value_t
s_default (render_t *render, value_t self, const args_t *args)
{
    bool by_truth = value_is_true (args_or (args, 1, "boolean", value_bool (false)));
    bool absent = by_truth ? !value_is_true (self) : self.kind == VALUE_UNDEFINED;
    return absent ? args_or (args, 0, "default_value", value_text (SPAN (""))) : self;
}

static value_t
s_attr (render_t *render, value_t self, const args_t *args)
{
    span_t name = args_text (args, 0, "name", SPAN (""));
    const builtin_t *method = render_find_method (self, name);
    if (args_get (args, 0, "name")->kind != VALUE_STRING)
        return value_fail (&render->heap, "TypeError: attribute name must be string");
    if (self.kind == VALUE_UNDEFINED)
        return render_undefined_error (render, self);
    if (method || self.kind == VALUE_NAMESPACE || self.kind == VALUE_LOOP)
        return render_attribute (render, self, name);
    return value_missing (&render->heap, value_object_name (self), name);
}

static value_t
s_to_json (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    const value_t *indent = args_get (args, 1, "indent");
    const value_t *separators = args_get (args, 2, "separators");
    json_style_t style = { .item_separator = SPAN (", "), .key_separator = SPAN (": ") };
    style.ensure_ascii = value_is_true (args_or (args, 0, "ensure_ascii", value_bool (false)));
    style.sort_keys = value_is_true (args_or (args, 3, "sort_keys", value_bool (false)));
    if (indent && indent->kind != VALUE_NONE) {
        style.lines = true;
        style.indent = s_indentation (render, indent);
        style.item_separator = SPAN (",");
    }
    if (value_heap_failed (&render->heap))
        return (value_t){ 0 };
    bool parts = separators && separators->kind != VALUE_NONE;
    if (parts && !(value_is_sequence (*separators) && separators->as.list->count == 2))
        return value_fail (&render->heap, "TypeError: separators are a pair of texts");
    if (parts) {
        style.item_separator = s_text_of (render, separators->as.list->items [0]);
        style.key_separator = s_text_of (render, separators->as.list->items [1]);
    }
    render_json (render, self, &style, &out);
    return value_take_buffer (&render->heap, &out);
}

static const builtin_t s_single [] = {
    { "abs", "", s_abs },
    { "attr", "name", s_attr },
    { "capitalize", "", s_capitalize },
    { "center", "width#?", s_center },
    { "count", "", s_length },
    { "d", "default_value? boolean?", s_default },
    { "default", "default_value? boolean?", s_default },
    { "e", "", s_escape },
    { "escape", "", s_escape },
    { "float", "default?", s_float },
    { "forceescape", "", s_force_escape },
    { "format", "/ * **", s_format },
    { "indent", "width? first? blank?", s_indent },
    { "int", "default? base?", s_int },
    { "length", "", s_length },
    { "lower", "", s_lower },
    { "replace", "old new count:?", s_replace },
    { "round", "precision:? method?", s_round },
    { "safe", "", s_safe },
    { "string", "", s_string },
    { "title", "", s_title },
    { "tojson", "ensure_ascii? indent? separators? sort_keys?", s_to_json },
    { "trim", "chars?", s_trim },
    { "truncate", "length#? killwords? end? leeway:?", s_truncate },
    { "upper", "", s_upper },
    { "urlencode", "", s_urlencode },
    { "wordcount", "", s_wordcount },
    { NULL, NULL, NULL },
};

const builtin_t *
filters_lookup (span_t name)
{
    const builtin_t *found = builtin_find (s_single, name);
    if (!found)
        found = builtin_find (filters_of_rows, name);
    return found ? found : builtin_find (filters_rare, name);
}

value_t
render_filter (render_t *self, span_t name, value_t input, const args_t *args)
{
    if (input.kind == VALUE_STRING)
        value_scan (&self->heap, input.as.text);
    if (value_heap_failed (&self->heap))
        return (value_t){ 0 };
    const builtin_t *filter = filters_lookup (name);
    if (!filter)
        return value_fail (&self->heap, "TemplateRuntimeError: No filter named '%.*s' found.", SPAN_ARG (name));
    return args_check (self, filter->name, filter->parameters, args) ? filter->call (self, input, args)
                                                                     : (value_t){ 0 };
}
