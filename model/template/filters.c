//  filters - what may stand behind |: single values and text.  Those that walk rows are in filters_rows.c.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

//  ---- Text ----

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

static value_t
s_trim (render_t *render, value_t self, const args_t *args)
{
    const value_t *set = args_get (args, 0, "chars");
    bool has_set = set && set->kind == VALUE_STRING;
    return value_text (unicode_strip (s_text_of (render, self), has_set ? &set->as.text : NULL, true, true));
}

static value_t
s_lower (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    unicode_append_lower (&out, s_text_of (render, self));
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_upper (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    unicode_append_upper (&out, s_text_of (render, self));
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_capitalize (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    filters_capitalize (&out, s_text_of (render, self));
    return value_take_buffer (&render->heap, &out);
}

void
filters_capitalize (buffer_t *out, span_t text)
{
    size_t first = 0;
    if (text.size)
        unicode_decode (text, &first);
    unicode_append_upper (out, span_slice (text, 0, first));
    unicode_append_lower (out, span_slice (text, first, text.size));
}

//  Words begin behind blanks and opening brackets, as Jinja's filter cuts them (str.title differs).
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
        filters_capitalize (&out, span_slice (text, begin, at - begin));
        if (at < text.size)
            buffer_append (&out, span_slice (text, at, size));
        begin = at + size;
    }
    return value_take_buffer (&render->heap, &out);
}

span_t
filters_find (span_t text, span_t part)
{
    for (size_t at = 0; part.size && at + part.size <= text.size; at++)
        if (memcmp (text.data + at, part.data, part.size) == 0)
            return span_slice (text, at, part.size);
    return (span_t){ NULL, 0 };
}

value_t
filters_replace (render_t *render, span_t text, span_t from, span_t to, int64_t count)
{
    buffer_t out = { 0 };
    size_t at = 0;
    while (at <= text.size && count != 0 && value_step (&render->heap, 1) && out.size <= render->heap.arena.limit) {
        span_t rest = span_slice (text, at, text.size);
        size_t gap;
        if (from.size) {
            span_t found = filters_find (rest, from);
            if (!found.data)
                break;
            gap = (size_t)(found.data - rest.data);
            buffer_append (&out, span_slice (rest, 0, gap));
            buffer_append (&out, to);
        } else {
            buffer_append (&out, to);
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
    if (!from || !to)
        return value_fail (&render->heap, "TypeError: replace needs what and by what");
    return filters_replace (render, s_text_of (render, self), s_text_of (render, *from), s_text_of (render, *to),
        args_int (args, 2, "count", -1));
}

static value_t
s_indent (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = s_text_of (render, self);
    const value_t *width = args_get (args, 0, "width");
    bool first = value_is_true (args_or (args, 1, "first", value_bool (false)));
    bool blank = value_is_true (args_or (args, 2, "blank", value_bool (false)));
    int64_t spaces = width && width->kind == VALUE_INT ? width->as.integer : 4;
    bool by_text = width && width->kind == VALUE_STRING;
    bool is_first = true;
    while ((text.size || is_first) && value_step (&render->heap, 1)) {
        size_t end = span_find_byte (text, '\n');
        span_t line = span_slice (text, 0, end);
        if ((is_first ? first : line.size || blank) && by_text)
            buffer_append (&out, width->as.text);
        else if (is_first ? first : line.size || blank)
            for (int64_t i = 0; i < spaces && value_step (&render->heap, 1); i++)
                buffer_append_byte (&out, ' ');
        buffer_append (&out, line);
        if (end < text.size)
            buffer_append_byte (&out, '\n');
        text = span_slice (text, end + 1, text.size);
        is_first = false;
    }
    return value_take_buffer (&render->heap, &out);
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
s_center (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = s_text_of (render, self);
    int64_t padding = args_int (args, 0, "width", 80) - (int64_t)value_text_length (text);
    int64_t left = padding > 0 ? padding / 2 + (padding & args_int (args, 0, "width", 80) & 1) : 0;
    for (int64_t i = 0; i < left && value_step (&render->heap, 1); i++)
        buffer_append_byte (&out, ' ');
    buffer_append (&out, text);
    for (int64_t i = left; i < padding && value_step (&render->heap, 1); i++)
        buffer_append_byte (&out, ' ');
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_truncate (render_t *render, value_t self, const args_t *args)
{
    span_t text = s_text_of (render, self);
    int64_t length = args_int (args, 0, "length", 255);
    bool killwords = value_is_true (args_or (args, 1, "killwords", value_bool (false)));
    span_t end = args_text (args, 2, "end", SPAN ("..."));
    int64_t leeway = args_int (args, 3, "leeway", 5);
    if ((int64_t)value_text_length (text) <= length + leeway)
        return value_text (text);
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

static value_t
s_urlencode (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = s_text_of (render, self);
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data [i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                     (byte && strchr ("_.-~/", byte));
        if (plain)
            buffer_append_byte (&out, byte);
        else
            buffer_print (&out, "%%%02X", byte);
    }
    return value_take_buffer (&render->heap, &out);
}

//  ---- Numbers ----

static value_t
s_abs (render_t *render, value_t self, const args_t *args)
{
    if (self.kind == VALUE_FLOAT)
        return value_float (self.as.real < 0 ? -self.as.real : self.as.real);
    value_t zero = value_int (0);
    int order = 0;
    if (!value_compare (&render->heap, self, zero, &order))
        return self;
    return order < 0 ? render_binary (render, OP_SUBTRACT, zero, self) : self;
}

//  Digits of a base with a sign, blanks around them allowed; false for anything else.
static bool
s_parse_int (span_t text, int64_t base, int64_t *value)
{
    char digits [80];
    char *end;
    text = unicode_strip (text, NULL, true, true);
    if (text.size == 0 || !span_copy_string (text, digits, sizeof digits) || base < 2 || base > 36)
        return false;
    *value = strtoll (digits, &end, (int)base);
    return *end == 0 && strlen (digits) == text.size;
}

static bool
s_parse_float (span_t text, double *value)
{
    return span_to_double (unicode_strip (text, NULL, true, true), value);
}

static value_t
s_int_of_real (double real, value_t otherwise)
{
    bool fits = real > -9223372036854775808.0 && real < 9223372036854775808.0;
    return fits ? value_int ((int64_t)real) : otherwise;
}

static value_t
s_int (render_t *render, value_t self, const args_t *args)
{
    int64_t integer;
    double real;
    value_t otherwise = args_or (args, 0, "default", value_int (0));
    if (self.kind == VALUE_INT)
        return self;
    if (self.kind == VALUE_BOOL)
        return value_int (self.as.truth);
    if (self.kind == VALUE_FLOAT)
        return s_int_of_real (self.as.real, otherwise);
    if (self.kind == VALUE_STRING && s_parse_int (self.as.text, args_int (args, 1, "base", 10), &integer))
        return value_int (integer);
    if (self.kind == VALUE_STRING && s_parse_float (self.as.text, &real))
        return s_int_of_real (real, otherwise);
    return otherwise;
}

static value_t
s_float (render_t *render, value_t self, const args_t *args)
{
    double real;
    if (self.kind == VALUE_FLOAT)
        return self;
    if (self.kind == VALUE_INT)
        return value_float ((double)self.as.integer);
    if (self.kind == VALUE_BOOL)
        return value_float (self.as.truth);
    if (self.kind == VALUE_STRING && s_parse_float (self.as.text, &real))
        return value_float (real);
    return args_or (args, 0, "default", value_float (0));
}

static value_t
s_round (render_t *render, value_t self, const args_t *args)
{
    double real = 0;
    int64_t precision = args_int (args, 0, "precision", 0);
    span_t method = args_text (args, 1, "method", SPAN ("common"));
    char text [400];
    if (!value_is_number (self))
        return value_fail (&render->heap, "TypeError: type %s doesn't define __round__ method", value_type_name (self));
    real = s_float (render, self, &(args_t){ 0 }).as.real;
    if (!span_equal_string (method, "common")) {
        value_t scale = render_binary (render, OP_POWER, value_int (10), value_int (precision < 0 ? 0 : precision));
        value_t scaled = render_binary (render, OP_MULTIPLY, value_float (real), scale);
        value_t whole = render_binary (render, OP_FLOOR_DIVIDE, scaled, value_int (1));
        if (span_equal_string (method, "ceil") && !value_equal (whole, scaled))
            whole = render_binary (render, OP_ADD, whole, value_int (1));
        return render_binary (render, OP_DIVIDE, whole, scale);
    }
    if (precision < 0 || precision > 300)
        return value_fail (&render->heap, "a rounding to %" PRId64 " places is not supported", precision);
    snprintf (text, sizeof text, "%.*f", (int)precision, real);
    span_to_double (span_from_string (text), &real);
    return value_float (real);
}

//  ---- Printf ----

typedef struct {
    char flags [8];     //  As written
    int width;          //  0: none
    int precision;      //  -1: none
    char conversion;    //  s, d, f ...
    span_t name;        //  %(name)s
} directive_t;

//  Reads a directive behind its %; returns its size, 0 where it is malformed.
static size_t
s_read_directive (span_t text, directive_t *directive)
{
    size_t at = 0;
    size_t flags = 0;
    *directive = (directive_t){ .precision = -1 };
    if (at < text.size && text.data [at] == '(') {
        size_t end = span_find_byte (text, ')');
        directive->name = span_slice (text, 1, end - 1);
        at = end + 1;
    }
    while (at < text.size && text.data [at] && strchr ("-+ 0#", text.data [at]) && flags < 6)
        directive->flags [flags++] = (char)text.data [at++];
    for (; at < text.size && text.data [at] >= '0' && text.data [at] <= '9' && directive->width < 1000; at++)
        directive->width = directive->width * 10 + text.data [at] - '0';
    if (at < text.size && text.data [at] == '.') {
        directive->precision = 0;
        for (at++; at < text.size && text.data [at] >= '0' && text.data [at] <= '9' && directive->precision < 300; at++)
            directive->precision = directive->precision * 10 + text.data [at] - '0';
    }
    directive->conversion = at < text.size ? (char)text.data [at] : 0;
    return directive->conversion ? at + 1 : 0;
}

static void
s_print_padded (buffer_t *out, span_t text, const directive_t *directive)
{
    int64_t padding = directive->width - (int64_t)value_text_length (text);
    bool left = strchr (directive->flags, '-') != NULL;
    for (int64_t i = 0; !left && i < padding; i++)
        buffer_append_byte (out, ' ');
    buffer_append (out, text);
    for (int64_t i = 0; left && i < padding; i++)
        buffer_append_byte (out, ' ');
}

static void
s_print_number (render_t *render, buffer_t *out, value_t value, const directive_t *directive)
{
    char format [32];
    bool real = strchr ("eEfFgG", directive->conversion) != NULL;
    int precision = directive->precision >= 0 ? directive->precision : real ? 6 : 1;
    if (!value_is_number (value)) {
        value_fail (&render->heap, "TypeError: %%%c format: a real number is required, not %s", directive->conversion,
            value_type_name (value));
        return;
    }
    snprintf (format, sizeof format, "%%%s*.*%s%c", directive->flags, real ? "" : "ll",
        directive->conversion == 'i' || directive->conversion == 'u' ? 'd' : directive->conversion);
    args_t none = { 0 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (real)
        buffer_print (out, format, directive->width, precision, s_float (render, value, &none).as.real);
    else
        buffer_print (out, format, directive->width, precision, (long long)s_int (render, value, &none).as.integer);
#pragma GCC diagnostic pop
}

static void
s_print_directive (render_t *render, buffer_t *out, value_t value, const directive_t *directive)
{
    buffer_t text = { 0 };
    switch (directive->conversion) {
    case 's':
        value_print (&render->heap, value, &text);
        break;
    case 'r':
        value_print_repr (&render->heap, value, &text);
        break;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        s_print_number (render, out, value, directive);
        return;
    default:
        value_fail (&render->heap, "ValueError: unsupported format character '%c'", directive->conversion);
    }
    s_print_padded (out, buffer_span (&text), directive);
    buffer_fini (&text);
}

static value_t
s_format (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = s_text_of (render, self);
    size_t used = 0;
    for (size_t at = 0; at < text.size && value_step (&render->heap, 1);) {
        size_t percent = span_find_byte (span_slice (text, at, text.size), '%');
        buffer_append (&out, span_slice (text, at, percent));
        at += percent + 1;
        if (at > text.size)
            break;
        directive_t directive;
        size_t size = s_read_directive (span_slice (text, at, text.size), &directive);
        at += size;
        char name [128];
        span_copy_string (directive.name, name, sizeof name);
        const value_t *value = directive.name.size ? args_get (args, SIZE_MAX, name) : args_get (args, used, NULL);
        if (size && directive.conversion == '%')
            buffer_append_byte (&out, '%');
        else if (!size || !value)
            value_fail (&render->heap, "TypeError: not enough arguments for format string");
        else
            s_print_directive (render, &out, *value, &directive);
        used += directive.conversion != '%';
    }
    return value_take_buffer (&render->heap, &out);
}

//  ---- Anything ----

static value_t
s_default (render_t *render, value_t self, const args_t *args)
{
    bool by_truth = value_is_true (args_or (args, 1, "boolean", value_bool (false)));
    bool absent = by_truth ? !value_is_true (self) : self.kind == VALUE_UNDEFINED;
    return absent ? args_or (args, 0, "default_value", value_text (SPAN (""))) : self;
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
        return value_int ((int64_t)self.as.list->count);
    case VALUE_DICT:
        return value_int ((int64_t)self.as.dict->count);
    default:
        return value_fail (&render->heap, "TypeError: object of type '%s' has no len()", value_type_name (self));
    }
}

static value_t
s_attr (render_t *render, value_t self, const args_t *args)
{
    span_t name = args_text (args, 0, "name", SPAN (""));
    const builtin_t *method = render_find_method (self, name);
    if (method || self.kind == VALUE_NAMESPACE || self.kind == VALUE_LOOP)
        return render_attribute (render, self, name);
    return value_undefined (&render->heap, "%s has no attribute '%.*s'", value_object_name (self), SPAN_ARG (name));
}

static value_t
s_to_json (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    const value_t *indent = args_get (args, 1, "indent");
    const value_t *separators = args_get (args, 2, "separators");
    json_style_t style = { .indent = -1, .item_separator = SPAN (", "), .key_separator = SPAN (": ") };
    style.ensure_ascii = value_is_true (args_or (args, 0, "ensure_ascii", value_bool (false)));
    style.sort_keys = value_is_true (args_or (args, 3, "sort_keys", value_bool (false)));
    if (indent && indent->kind == VALUE_INT) {
        style.indent = indent->as.integer < 0 ? 0 : indent->as.integer;
        style.item_separator = SPAN (",");
    }
    if (separators && value_is_sequence (*separators) && separators->as.list->count == 2) {
        style.item_separator = s_text_of (render, separators->as.list->items [0]);
        style.key_separator = s_text_of (render, separators->as.list->items [1]);
    }
    render_json (render, self, &style, &out);
    return value_take_buffer (&render->heap, &out);
}

static const builtin_t s_single [] = {
    { "abs", s_abs },
    { "attr", s_attr },
    { "capitalize", s_capitalize },
    { "center", s_center },
    { "count", s_length },
    { "d", s_default },
    { "default", s_default },
    { "e", s_escape },
    { "escape", s_escape },
    { "float", s_float },
    { "forceescape", s_escape },
    { "format", s_format },
    { "indent", s_indent },
    { "int", s_int },
    { "length", s_length },
    { "lower", s_lower },
    { "replace", s_replace },
    { "round", s_round },
    { "safe", s_safe },
    { "string", s_string },
    { "title", s_title },
    { "tojson", s_to_json },
    { "trim", s_trim },
    { "truncate", s_truncate },
    { "upper", s_upper },
    { "urlencode", s_urlencode },
    { "wordcount", s_wordcount },
    { NULL, NULL },
};

const builtin_t *
filters_lookup (span_t name)
{
    const builtin_t *found = builtin_find (s_single, name);
    return found ? found : builtin_find (filters_of_rows, name);
}

value_t
render_filter (render_t *self, span_t name, value_t input, const args_t *args)
{
    if (value_heap_failed (&self->heap))
        return (value_t){ 0 };
    const builtin_t *filter = filters_lookup (name);
    if (!filter)
        return value_fail (&self->heap, "TemplateRuntimeError: No filter named '%.*s' found.", SPAN_ARG (name));
    return filter->call (self, input, args);
}
