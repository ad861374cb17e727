//  format - str.format and the % of texts
//
//  Both read a directive into one kind of specification and print one value by it.  Python's rules: PEP 3101 for fields,
//  "printf-style String Formatting" of its manual for %.

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

enum { WIDTH_MAX = 4096, PRECISION_MAX = 300, FILLED_A_STEP = 16 };

typedef struct {
    span_t fill;       //  One character
    char align;        //  < > ^ or =, which puts the filling behind the sign; 0: by kind
    char sign;         //  '-': only of what is negative; '+' or ' ': always
    bool alternate;    //  0x before hexadecimals
    char group;        //  Between thousands: ',' or '_'; 0: nothing
    int width;         //  0: none
    int precision;     //  -1: none
    char type;         //  d, s, f ...; 0: by kind
} spec_t;

static bool
s_is (char wanted, const char *set)
{
    return wanted && strchr (set, wanted);
}

//  Takes one byte of a set; 0 where another stands there.
static char
s_take (span_t *text, const char *set)
{
    char byte = text->size ? (char)text->data [0] : 0;
    if (!s_is (byte, set))
        return 0;
    *text = span_slice (*text, 1, text->size);
    return byte;
}

//  Takes digits; -1 where there are none.
static int
s_take_number (span_t *text, int most)
{
    int number = -1;
    for (char digit; (digit = s_take (text, "0123456789"));)
        number = number < 0 ? digit - '0' : number > most ? number : number * 10 + digit - '0';
    return number;
}

static bool
s_fits (render_t *render, const spec_t *spec)
{
    if (spec->width > WIDTH_MAX || spec->precision > PRECISION_MAX)
        value_fail (&render->heap, "ValueError: a width is at most %d here, a precision %d", WIDTH_MAX, PRECISION_MAX);
    return value_step (&render->heap, (uint64_t)(spec->width / FILLED_A_STEP));
}

//  ---- Printing by a specification -----------------------------------------------------------------------------------

//  Sign, prefix and body with the filling where it belongs.
static void
s_print_filled (buffer_t *out, const spec_t *spec, char align, span_t sign, span_t body)
{
    int64_t padding = spec->width - (int64_t)value_text_length (body) - (int64_t)sign.size;
    int64_t left = align == '>' || align == '=' ? padding : align == '^' ? padding / 2 : 0;
    if (align == '=')
        buffer_append (out, sign);
    for (int64_t i = 0; i < left; i++)
        buffer_append (out, spec->fill);
    if (align != '=')
        buffer_append (out, sign);
    buffer_append (out, body);
    for (int64_t i = left > 0 ? left : 0; i < padding; i++)
        buffer_append (out, spec->fill);
}

//  Digits with a separator between every three of the whole part.
static void
s_append_grouped (buffer_t *out, span_t digits, char group)
{
    size_t whole = 0;
    while (whole < digits.size && digits.data [whole] >= '0' && digits.data [whole] <= '9')
        whole++;
    for (size_t i = 0; i < digits.size; i++) {
        if (group && i && i < whole && (whole - i) % 3 == 0)
            buffer_append_byte (out, (uint8_t)group);
        buffer_append_byte (out, digits.data [i]);
    }
}

static span_t
s_sign (const spec_t *spec, bool negative, const char *prefix, char room [4])
{
    int size = snprintf (room, 4, "%.1s%s", negative ? "-" : spec->sign == '-' ? "" : &spec->sign, prefix);
    return span_of (room, (size_t)size);
}

static void
s_print_number (buffer_t *out, const spec_t *spec, bool negative, const char *prefix, span_t digits)
{
    char room [4];
    buffer_t body = { 0 };
    s_append_grouped (&body, digits, spec->group);
    s_print_filled (
        out, spec, spec->align ? spec->align : '>', s_sign (spec, negative, prefix, room), buffer_span (&body));
    buffer_fini (&body);
}

static void
s_print_whole (buffer_t *out, const spec_t *spec, bool negative, uint64_t rest)
{
    char digits [72];
    char *at = digits + sizeof digits;
    unsigned base = s_is (spec->type, "xX") ? 16 : spec->type == 'o' ? 8 : spec->type == 'b' ? 2 : 10;
    char prefix [3] = { '0', spec->type, 0 };
    do
        *--at = (spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef") [rest % base];
    while (rest /= base);
    s_print_number (out, spec, negative, spec->alternate && base != 10 ? prefix : "",
        span_of (at, (size_t)(digits + sizeof digits - at)));
}

//  Digits are divided out of a number of up to a thousand bits: each is a step.
static void
s_print_real (render_t *render, buffer_t *out, const spec_t *spec, double value)
{
    buffer_t digits = { 0 };
    bool negative = value < 0 || (value == 0 && 1 / value < 0);
    double real = negative ? -value : value;
    int precision = spec->precision >= 0 ? spec->precision : 6;
    switch (spec->type) {
    case 'e':
        buffer_print (&digits, "%.*e", precision, real);
        break;
    case 'E':
        buffer_print (&digits, "%.*E", precision, real);
        break;
    case 'f':
    case 'F':
        buffer_print (&digits, "%.*f", precision, real);
        break;
    case 'G':
        buffer_print (&digits, "%.*G", precision, real);
        break;
    case '%':
        buffer_print (&digits, "%.*f%%", precision, real * 100);
        break;
    default:
        if (!spec->type && spec->precision < 0)
            value_print_repr (&render->heap, value_float (real), &digits);
        else
            buffer_print (&digits, "%.*g", precision, real);
    }
    value_step (&render->heap, digits.size);
    s_print_number (out, spec, negative, "", buffer_span (&digits));
    buffer_fini (&digits);
}

static void
s_print_text (buffer_t *out, const spec_t *spec, span_t text)
{
    if (spec->precision >= 0)
        text = value_text_range (text, 0, (size_t)spec->precision);
    s_print_filled (out, spec, spec->align ? spec->align : '<', SPAN (""), text);
}

static void
s_refuse (render_t *render, const spec_t *spec, value_t value)
{
    value_fail (&render->heap, "ValueError: Unknown format code '%c' for object of type '%s'", spec->type,
        value_type_name (value));
}

//  A whole number beyond 64 bits: its digits are there, but in no other base than ten.
static void
s_print_big (render_t *render, buffer_t *out, const spec_t *spec, value_t value)
{
    bool negative = value.as.text.data [0] == '-';
    span_t digits = span_slice (value.as.text, negative, value.as.text.size);
    uint64_t magnitude;
    if (spec->type && s_is (spec->type, "eEfFgG%"))
        s_print_real (render, out, spec, value_real (value));
    else if (spec->type && !s_is (spec->type, "dnboxX"))
        s_refuse (render, spec, value);
    else if (span_to_u64 (digits, &magnitude))
        s_print_whole (out, spec, negative, magnitude);
    else if (!spec->type || s_is (spec->type, "dn"))
        s_print_number (out, spec, negative, "", digits);
    else
        value_too_large (&render->heap);
}

static void
s_print_character (render_t *render, buffer_t *out, const spec_t *spec, int64_t point)
{
    buffer_t text = { 0 };
    if (spec->sign != '-')
        value_fail (&render->heap, "ValueError: Sign not allowed with integer format specifier 'c'");
    else if (point < 0 || point > 0x10ffff)
        value_fail (&render->heap, "OverflowError: %%c arg not in range(0x110000)");
    else
        unicode_append (&text, (uint32_t)point);
    s_print_filled (out, spec, spec->align ? spec->align : '>', SPAN (""), buffer_span (&text));
    buffer_fini (&text);
}

//  A number or a text; everything else takes no specification.
static void
s_print_value (render_t *render, buffer_t *out, const spec_t *spec, value_t value)
{
    bool whole = value.kind == VALUE_INT || value.kind == VALUE_BOOL;
    int64_t integer = value.kind == VALUE_BOOL ? value.as.truth : value.as.integer;
    bool negative = whole && integer < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)integer : (uint64_t)integer;
    if (value.kind == VALUE_BIG) {
        s_print_big (render, out, spec, value);
        return;
    }
    if (value.kind == VALUE_STRING && (!spec->type || spec->type == 's') && value_scan (&render->heap, value.as.text))
        s_print_text (out, spec, value.as.text);
    else if (whole && (!spec->type || s_is (spec->type, "dnboxX")))
        s_print_whole (out, spec, negative, magnitude);
    else if (whole && spec->type == 'c')
        s_print_character (render, out, spec, integer);
    else if (whole && s_is (spec->type, "eEfFgG%"))
        s_print_real (render, out, spec, (double)integer);
    else if (value.kind == VALUE_FLOAT && (!spec->type || s_is (spec->type, "eEfFgGn%")))
        s_print_real (render, out, spec, value.as.real);
    else if (value.kind == VALUE_STRING || value_is_numeric (value))
        s_refuse (render, spec, value);
    else
        value_fail (
            &render->heap, "TypeError: unsupported format string passed to %s.__format__", value_type_name (value));
}

//  ---- str.format ----------------------------------------------------------------------------------------------------

//  What a row of fields is filled from.
typedef struct {
    render_t *render;      //  For errors
    const args_t *args;    //  Given to format
    size_t next;           //  Position that {} takes
    bool counts;           //  {} occurred
    bool names;            //  {0} occurred
} fields_t;

//  [[fill]align][sign][#][0][width][grouping][.precision][type]
static bool
s_read_spec (span_t text, spec_t *spec)
{
    size_t fill = 0;
    *spec = (spec_t){ .fill = SPAN (" "), .sign = '-', .precision = -1 };
    if (text.size)
        unicode_decode (text, &fill);
    if (text.size > fill && s_is ((char)text.data [fill], "<>^=")) {
        spec->fill = span_slice (text, 0, fill);
        text = span_slice (text, fill, text.size);
    }
    spec->align = s_take (&text, "<>^=");
    char sign = s_take (&text, "+- ");
    spec->sign = sign ? sign : '-';
    spec->alternate = s_take (&text, "#");
    if (s_take (&text, "0") && !spec->align) {
        spec->fill = SPAN ("0");
        spec->align = '=';
    }
    int width = s_take_number (&text, WIDTH_MAX);
    spec->width = width < 0 ? 0 : width;
    spec->group = s_take (&text, ",_");
    if (s_take (&text, "."))
        spec->precision = s_take_number (&text, PRECISION_MAX);
    spec->type = s_take (&text, "bcdeEfFgGnosxX%");
    return text.size == 0;
}

static value_t
s_first_value (fields_t *self, span_t name)
{
    uint64_t position = 0;
    bool numbered = span_to_u64 (name, &position);
    char key [128];
    self->counts |= !name.size;
    self->names |= numbered;
    if (self->counts && self->names)
        return value_fail (&self->render->heap, "ValueError: cannot mix numbered fields with {}");
    if (!name.size)
        position = self->next++;
    bool fits = span_copy_string (name, key, sizeof key);
    bool by_position = numbered || !name.size;
    const value_t *value = by_position ? position < self->args->count ? &self->args->items [position] : NULL
                           : fits      ? args_get (self->args, SIZE_MAX, key)
                                       : NULL;
    return value ? *value
           : by_position
               ? value_fail (&self->render->heap,
                     "IndexError: Replacement index %" PRIu64 " out of range for positional args tuple", position)
               : value_fail (&self->render->heap, "KeyError: '%s'", key);
}

//  name.attribute[item] ...
static value_t
s_field_value (fields_t *self, span_t path)
{
    size_t end = 0;
    while (end < path.size && path.data [end] != '.' && path.data [end] != '[')
        end++;
    value_t value = s_first_value (self, span_slice (path, 0, end));
    for (span_t rest = span_slice (path, end, path.size); rest.size && !value_heap_failed (&self->render->heap);) {
        bool item = rest.data [0] == '[';
        rest = span_slice (rest, 1, rest.size);
        value_step (&self->render->heap, 1);
        for (end = 0; end < rest.size && (item ? rest.data [end] != ']' : !s_is ((char)rest.data [end], ".["));)
            end++;
        span_t name = span_slice (rest, 0, end);
        uint64_t position;
        value = !item ? render_attribute (self->render, value, name)
                : span_to_u64 (name, &position) && position <= INT32_MAX
                    ? render_item (self->render, value, value_int ((int64_t)position))
                    : render_item (self->render, value, value_text (name));
        rest = span_slice (rest, end + item, rest.size);
    }
    return value;
}

static value_t
s_convert_field (fields_t *self, value_t value, char conversion)
{
    buffer_t text = { 0 };
    switch (conversion) {
    case 's':
        return value_to_text (&self->render->heap, value);
    case 'r':
        value_print_repr (&self->render->heap, value, &text);
        return value_take_buffer (&self->render->heap, &text);
    default:
        return value_fail (&self->render->heap, "ValueError: Unknown conversion specifier '%c'", conversion);
    }
}

static void s_print_fields (fields_t *self, span_t text, bool nested, buffer_t *out);

//  What stands between two braces: path[!conversion][:specification].
static void
s_print_field (fields_t *self, span_t field, buffer_t *out)
{
    spec_t spec;
    buffer_t expanded = { 0 };
    size_t end = 0;
    value_scan (&self->render->heap, field);
    while (end < field.size && (field.data [end] != ':' && field.data [end] != '!'))
        end += field.data [end] == '[' ? 1 + span_find_byte (span_slice (field, end, field.size), ']') : 1;
    value_t value = s_field_value (self, span_slice (field, 0, end));
    span_t rest = span_slice (field, end, field.size);
    if (rest.size > 1 && rest.data [0] == '!') {
        value = s_convert_field (self, value, (char)rest.data [1]);
        rest = span_slice (rest, 2, rest.size);
    }
    if (rest.size)
        s_print_fields (self, span_slice (rest, 1, rest.size), true, &expanded);
    if (value_heap_failed (&self->render->heap))
        (void)value;
    else if (!expanded.size)
        value_print (&self->render->heap, value, out);
    else if (!s_read_spec (buffer_span (&expanded), &spec))
        value_fail (&self->render->heap, "ValueError: Invalid format specifier");
    else if (s_fits (self->render, &spec))
        s_print_value (self->render, out, &spec, value);
    buffer_fini (&expanded);
}

//  The size of a field with its braces; 0 where it is not closed.
static size_t
s_field_size (span_t text)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        depth += text.data [i] == '{';
        depth -= text.data [i] == '}';
        if (!depth)
            return i + 1;
    }
    return 0;
}

static void
s_print_fields (fields_t *self, span_t text, bool nested, buffer_t *out)
{
    value_heap_t *heap = &self->render->heap;
    for (size_t at = 0; at < text.size && value_step (heap, 1) && out->size <= heap->arena.limit;) {
        uint8_t byte = text.data [at];
        uint8_t next = at + 1 < text.size ? text.data [at + 1] : 0;
        bool doubled = next == byte && !nested;
        size_t size = byte == '{' && !doubled ? s_field_size (span_slice (text, at, text.size)) : 0;
        if (byte != '{' && byte != '}') {
            buffer_append_byte (out, byte);
            at++;
        } else if (doubled) {
            buffer_append_byte (out, byte);
            at += 2;
        } else if (!size || (nested && self->render->depth > RENDER_DEPTH_MAX)) {
            value_fail (heap, "ValueError: Single '%c' encountered in format string", byte);
        } else {
            if (render_enter (self->render))
                s_print_field (self, span_slice (text, at + 1, size - 2), out);
            render_leave (self->render);
            at += size;
        }
    }
}

value_t
format_fields (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    fields_t fields = { .render = render, .args = args };
    s_print_fields (&fields, self.as.text, false, &out);
    return value_take_buffer (&render->heap, &out);
}

//  ---- % -------------------------------------------------------------------------------------------------------------

//  The next value; None with the error set where there is none.
static value_t
s_next_value (render_t *render, const args_t *args, size_t *used)
{
    if (*used < args->count)
        return args->items [(*used)++];
    return value_fail (&render->heap, "TypeError: not enough arguments for format string");
}

//  A width or a precision, which * takes from the values.
static int
s_take_size (render_t *render, span_t *text, const args_t *args, size_t *used, int most)
{
    if (!s_take (text, "*"))
        return s_take_number (text, most);
    value_t value = s_next_value (render, args, used);
    if (value.kind != VALUE_INT)
        value_fail (&render->heap, "TypeError: * wants int");
    return value.as.integer < -most ? -most : value.as.integer > most ? most + 1 : (int)value.as.integer;
}

static void
s_read_flags (span_t *text, spec_t *spec)
{
    for (char flag; (flag = s_take (text, "-+ 0#"));) {
        spec->alternate |= flag == '#';
        if (flag == '-')
            spec->align = '<';
        if (flag == '0' && spec->align != '<')
            spec->align = '=';
        if (flag == '+' || (flag == ' ' && spec->sign != '+'))
            spec->sign = flag;
    }
}

static void
s_print_as_text (render_t *render, buffer_t *out, spec_t *spec, value_t value)
{
    buffer_t text = { 0 };
    bool is_text = value.kind == VALUE_STRING && value_text_length (value.as.text) == 1;
    spec->align = spec->align == '<' ? '<' : '>';
    if (spec->type == 'r')
        value_print_repr (&render->heap, value, &text);
    else if (spec->type == 'c' && value.kind == VALUE_INT && value.as.integer >= 0 && value.as.integer <= 0x10ffff)
        unicode_append (&text, (uint32_t)value.as.integer);
    else if (spec->type == 'c' && !is_text)
        value_fail (&render->heap, "TypeError: %%c requires int or char");
    else
        value_print (&render->heap, value, &text);
    s_print_text (out, spec, buffer_span (&text));
    buffer_fini (&text);
}

static void
s_print_as_number (render_t *render, buffer_t *out, spec_t *spec, value_t value)
{
    bool whole = s_is (spec->type, "diuxXo");
    if (!value_is_numeric (value) || (value.kind == VALUE_FLOAT && s_is (spec->type, "xXo"))) {
        value_fail (&render->heap, "TypeError: %%%c format: a real number is required, not %s", spec->type,
            value_type_name (value));
        return;
    }
    if (spec->align == '=')
        spec->fill = SPAN ("0");
    if (whole && value.kind == VALUE_FLOAT && isnan (value.as.real))
        value = value_fail (&render->heap, "ValueError: cannot convert float NaN to integer");
    if (whole && value.kind == VALUE_FLOAT)
        value = render_filter (render, SPAN ("int"), value, &(args_t){ 0 });
    if (s_is (spec->type, "iu"))
        spec->type = 'd';
    s_print_value (render, out, spec, value);
}

//  One directive behind its %; what is left of the text.
static span_t
s_print_directive (render_t *render, buffer_t *out, span_t text, const args_t *args, size_t *used)
{
    spec_t spec = { .fill = SPAN (" "), .sign = '-', .precision = -1 };
    char name [128] = "";
    bool named = s_take (&text, "(");
    if (named) {
        size_t end = span_find_byte (text, ')');
        span_copy_string (span_slice (text, 0, end), name, sizeof name);
        text = span_slice (text, end + 1, text.size);
    }
    s_read_flags (&text, &spec);
    int width = s_take_size (render, &text, args, used, WIDTH_MAX);
    spec.width = width < 0 ? 0 : width;
    if (s_take (&text, ".")) {
        int precision = s_take_size (render, &text, args, used, PRECISION_MAX);
        spec.precision = precision < 0 ? 0 : precision;
    }
    spec.type = s_take (&text, "srcdiuxXoeEfFgG%");
    if (spec.type == '%') {
        buffer_append_byte (out, '%');
        return text;
    }
    const value_t *keyed = named ? args_get (args, SIZE_MAX, name) : NULL;
    if (!spec.type)
        value_fail (&render->heap, "ValueError: unsupported or incomplete format");
    else if (named && !keyed)
        value_fail (&render->heap, "KeyError: '%s'", name);
    value_t value = value_heap_failed (&render->heap) ? value_none ()
                    : keyed                           ? *keyed
                                                      : s_next_value (render, args, used);
    if (!s_fits (render, &spec))
        return text;
    if (s_is (spec.type, "src"))
        s_print_as_text (render, out, &spec, value);
    else
        s_print_as_number (render, out, &spec, value);
    return text;
}

value_t
format_percent (render_t *render, span_t text, const args_t *args)
{
    buffer_t out = { 0 };
    size_t used = 0;
    while (text.size && value_step (&render->heap, 1) && out.size <= render->heap.arena.limit) {
        size_t percent = span_find_byte (text, '%');
        buffer_append (&out, span_slice (text, 0, percent));
        text = span_slice (text, percent, text.size);
        if (text.size)
            text = s_print_directive (render, &out, span_slice (text, 1, text.size), args, &used);
    }
    if (used < args->count && !args->keyword_count)
        value_fail (&render->heap, "TypeError: not all arguments converted during string formatting");
    return value_take_buffer (&render->heap, &out);
}
