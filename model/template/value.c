#include "model/template/value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model/template/unicode.h"

enum { NESTING_MAX = 200, KEYS_A_STEP = 16 };

void
value_heap_init (value_heap_t *self, size_t limit, uint64_t steps)
{
    *self = (value_heap_t){ .steps = steps };
    arena_init (&self->arena, limit);
}

void
value_heap_fini (value_heap_t *self)
{
    arena_fini (&self->arena);
}

bool
value_heap_failed (const value_heap_t *self)
{
    return self->error.status != STATUS_OK;
}

value_t
value_fail (value_heap_t *self, const char *format, ...)
{
    va_list arguments;
    if (value_heap_failed (self))
        return (value_t){ 0 };
    va_start (arguments, format);
    vsnprintf (self->error.text, sizeof self->error.text, format, arguments);
    va_end (arguments);
    self->error.status = STATUS_INVALID;
    return (value_t){ 0 };
}

void *
value_alloc (value_heap_t *self, size_t size)
{
    void *memory = arena_new (&self->arena, size ? size : 1);
    if (!memory && !value_heap_failed (self)) {
        value_fail (self, "the template needs more memory than a rendering may take (%zu bytes)", self->arena.limit);
        self->error.status = STATUS_LIMIT;
    }
    return memory;
}

bool
value_step (value_heap_t *self, uint64_t steps)
{
    if (self->steps < steps) {
        value_fail (self, "the template takes more steps than a rendering may");
        self->error.status = STATUS_LIMIT;
        self->steps = 0;
        return false;
    }
    self->steps -= steps;
    return !value_heap_failed (self);
}

//  ---- Making ----

value_t
value_undefined (value_heap_t *self, const char *format, ...)
{
    char text [256];
    va_list arguments;
    va_start (arguments, format);
    int size = vsnprintf (text, sizeof text, format, arguments);
    va_end (arguments);
    size_t shown = size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
    value_t value = { .kind = VALUE_UNDEFINED };
    value.as.text = arena_copy (&self->arena, span_of (text, shown));
    return value;
}

value_t
value_none (void)
{
    return (value_t){ .kind = VALUE_NONE };
}

value_t
value_bool (bool truth)
{
    return (value_t){ .kind = VALUE_BOOL, .as.truth = truth };
}

value_t
value_int (int64_t integer)
{
    return (value_t){ .kind = VALUE_INT, .as.integer = integer };
}

value_t
value_float (double real)
{
    return (value_t){ .kind = VALUE_FLOAT, .as.real = real };
}

value_t
value_text (span_t text)
{
    return (value_t){ .kind = VALUE_STRING, .as.text = text };
}

value_t
value_copy_text (value_heap_t *self, span_t text)
{
    uint8_t *copy = value_alloc (self, text.size);
    if (!copy)
        return value_text (SPAN (""));
    if (text.size)
        memcpy (copy, text.data, text.size);
    return value_text (span_of (copy, text.size));
}

value_t
value_take_buffer (value_heap_t *self, buffer_t *buffer)
{
    value_t value = value_copy_text (self, buffer_span (buffer));
    buffer_fini (buffer);
    return value;
}

value_t
value_new_list (value_heap_t *self, value_kind_t kind)
{
    value_t value = { .kind = kind };
    value.as.list = value_alloc (self, sizeof (value_list_t));
    return value.as.list ? value : (value_t){ 0 };
}

//  Room for one more; NULL with the error set where there is none.
static void *
s_grow (value_heap_t *self, void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity ? *capacity * 2 : 4;
    void *grown = value_alloc (self, wanted * item_size);
    if (!grown)
        return NULL;
    if (count)
        memcpy (grown, items, count * item_size);
    *capacity = wanted;
    return grown;
}

static uint32_t
s_depth (value_t value)
{
    switch (value.kind) {
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_RANGE:
    case VALUE_VIEW:
    case VALUE_ITERATOR:
        return value.as.list->depth + 1;
    case VALUE_DICT:
    case VALUE_NAMESPACE:
        return value.as.dict->depth + 1;
    default:
        return 0;
    }
}

//  Notes what is put into a container; false with the error set where it would be nested too deep.
static bool
s_nest (value_heap_t *self, uint32_t *depth, value_t item)
{
    uint32_t inner = s_depth (item);
    if (inner > *depth)
        *depth = inner;
    if (*depth > NESTING_MAX)
        value_fail (self, "values are nested more than %d deep", NESTING_MAX);
    return *depth <= NESTING_MAX;
}

void
value_list_add (value_heap_t *self, value_list_t *list, value_t item)
{
    if (!s_nest (self, &list->depth, item))
        return;
    value_t *items = s_grow (self, list->items, list->count, &list->capacity, sizeof item);
    if (!items)
        return;
    list->items = items;
    list->items [list->count++] = item;
}

static value_t
s_new_view (value_heap_t *self, value_kind_t kind)
{
    value_t value = { .kind = kind };
    value_view_t *view = value_alloc (self, sizeof *view);
    if (!view)
        return (value_t){ 0 };
    value.as.list = &view->list;
    return value;
}

value_t
value_new_range (value_heap_t *self, int64_t from, int64_t to, int64_t step)
{
    value_t range = s_new_view (self, VALUE_RANGE);
    if (value_heap_failed (self))
        return range;
    value_view_t *view = (value_view_t *)range.as.list;
    view->from = from;
    view->to = to;
    view->step = step;
    for (int64_t i = from; (step > 0 ? i < to : i > to) && value_step (self, 1);) {
        value_list_add (self, &view->list, value_int (i));
        if (__builtin_add_overflow (i, step, &i))
            break;
    }
    return range;
}

value_t
value_new_view (value_heap_t *self, const char *name)
{
    value_t view = s_new_view (self, VALUE_VIEW);
    if (!value_heap_failed (self))
        ((value_view_t *)view.as.list)->name = name;
    return view;
}

value_t
value_new_dict (value_heap_t *self, value_kind_t kind)
{
    value_t value = { .kind = kind };
    value.as.dict = value_alloc (self, sizeof (value_dict_t));
    return value.as.dict ? value : (value_t){ 0 };
}

bool
value_is_hashable (value_t key)
{
    return key.kind != VALUE_LIST && key.kind != VALUE_DICT && key.kind != VALUE_VIEW;
}

//  Appends a pair whose key is not there yet.
static bool
s_add_pair (value_heap_t *self, value_dict_t *dict, value_t key, value_t value)
{
    if (!s_nest (self, &dict->depth, value))
        return false;
    value_pair_t *pairs = s_grow (self, dict->pairs, dict->count, &dict->capacity, sizeof *pairs);
    if (!pairs)
        return false;
    dict->pairs = pairs;
    dict->pairs [dict->count++] = (value_pair_t){ key, value };
    return true;
}

bool
value_dict_set (value_heap_t *self, value_dict_t *dict, value_t key, value_t value)
{
    if (!value_is_hashable (key)) {
        value_fail (self, "TypeError: unhashable type: '%s'", value_type_name (key));
        return false;
    }
    value_t *present = value_step (self, dict->count / KEYS_A_STEP) ? value_dict_get (dict, key) : NULL;
    if (!present)
        return s_add_pair (self, dict, key, value);
    if (!s_nest (self, &dict->depth, value))
        return false;
    *present = value;
    return true;
}

void
value_dict_set_text (value_heap_t *self, value_dict_t *dict, const char *key, value_t value)
{
    value_dict_set (self, dict, value_text (span_from_string (key)), value);
}

value_t *
value_dict_get (const value_dict_t *dict, value_t key)
{
    for (size_t i = 0; i < dict->count; i++)
        if (value_equal (dict->pairs [i].key, key))
            return &dict->pairs [i].value;
    return NULL;
}

value_t *
value_dict_get_text (const value_dict_t *dict, span_t key)
{
    return value_dict_get (dict, value_text (key));
}

static value_t
s_number_from_json (const json_t *json)
{
    int64_t integer = 0;
    double real = 0;
    if (json_kind (json) == JSON_INTEGER && json_to_i64 (json, &integer))
        return value_int (integer);
    json_to_double (json, &real);
    return value_float (real);
}

static value_t
s_array_from_json (value_heap_t *self, const json_t *json)
{
    value_t list = value_new_list (self, VALUE_LIST);
    for (size_t i = 0; i < json_count (json) && !value_heap_failed (self); i++)
        value_list_add (self, list.as.list, value_from_json (self, json_at (json, i)));
    return list;
}

static value_t
s_object_from_json (value_heap_t *self, const json_t *json)
{
    value_t dict = value_new_dict (self, VALUE_DICT);
    uintptr_t cursor = 0;
    span_t key;
    const json_t *member;
    while (!value_heap_failed (self) && json_next (json, &cursor, &key, &member))
        s_add_pair (self, dict.as.dict, value_copy_text (self, key), value_from_json (self, member));
    return dict;
}

value_t
value_from_json (value_heap_t *self, const json_t *json)
{
    switch (json_kind (json)) {
    case JSON_NULL:
        return value_none ();
    case JSON_BOOL:
        return value_bool (json_is_true (json));
    case JSON_INTEGER:
    case JSON_REAL:
        return s_number_from_json (json);
    case JSON_STRING:
        return value_copy_text (self, json_string (json));
    case JSON_ARRAY:
        return s_array_from_json (self, json);
    case JSON_OBJECT:
        return s_object_from_json (self, json);
    }
    return value_none ();
}

//  ---- Asking ----

bool
value_is_number (value_t value)
{
    return value.kind == VALUE_INT || value.kind == VALUE_FLOAT || value.kind == VALUE_BOOL;
}

bool
value_is_sequence (value_t value)
{
    return value.kind == VALUE_LIST || value.kind == VALUE_TUPLE;
}

bool
value_is_indexed (value_t value)
{
    return value_is_sequence (value) || value.kind == VALUE_RANGE;
}

bool
value_has_items (value_t value)
{
    return value_is_indexed (value) || value.kind == VALUE_VIEW || value.kind == VALUE_ITERATOR;
}

bool
value_is_dict (value_t value)
{
    return value.kind == VALUE_DICT;
}

bool
value_is_true (value_t value)
{
    switch (value.kind) {
    case VALUE_UNDEFINED:
    case VALUE_NONE:
        return false;
    case VALUE_BOOL:
        return value.as.truth;
    case VALUE_INT:
        return value.as.integer != 0;
    case VALUE_FLOAT:
        return value.as.real != 0;
    case VALUE_STRING:
        return value.as.text.size != 0;
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_RANGE:
    case VALUE_VIEW:
        return value.as.list->count != 0;
    case VALUE_DICT:
        return value.as.dict->count != 0;
    case VALUE_NAMESPACE:
    case VALUE_ITERATOR:
    case VALUE_FUNCTION:
    case VALUE_LOOP:
        return true;
    }
    return false;
}

static double
s_real (value_t value)
{
    return value.kind == VALUE_FLOAT ? value.as.real
           : value.kind == VALUE_INT ? (double)value.as.integer
                                     : (double)value.as.truth;
}

static int64_t
s_integer (value_t value)
{
    return value.kind == VALUE_BOOL ? value.as.truth : value.as.integer;
}

static bool
s_equal_numbers (value_t a, value_t b)
{
    if (a.kind == VALUE_FLOAT || b.kind == VALUE_FLOAT)
        return s_real (a) == s_real (b);
    return s_integer (a) == s_integer (b);
}

static bool
s_equal_lists (const value_list_t *a, const value_list_t *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!value_equal (a->items [i], b->items [i]))
            return false;
    return true;
}

static bool
s_equal_dicts (const value_dict_t *a, const value_dict_t *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const value_t *other = value_dict_get (b, a->pairs [i].key);
        if (!other || !value_equal (a->pairs [i].value, *other))
            return false;
    }
    return true;
}

bool
value_equal (value_t a, value_t b)
{
    if (value_is_number (a) && value_is_number (b))
        return s_equal_numbers (a, b);
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case VALUE_UNDEFINED:
    case VALUE_NONE:
        return true;
    case VALUE_STRING:
        return span_equal (a.as.text, b.as.text);
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_RANGE:
        return a.as.list == b.as.list || s_equal_lists (a.as.list, b.as.list);
    case VALUE_DICT:
        return a.as.dict == b.as.dict || s_equal_dicts (a.as.dict, b.as.dict);
    case VALUE_NAMESPACE:
        return a.as.dict == b.as.dict;
    case VALUE_VIEW:
    case VALUE_ITERATOR:
        return a.as.list == b.as.list;
    case VALUE_FUNCTION:
        return a.as.function == b.as.function;
    default:
        return false;
    }
}

static bool
s_compare_lists (value_heap_t *self, const value_list_t *a, const value_list_t *b, int *order)
{
    size_t common = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < common; i++) {
        if (value_equal (a->items [i], b->items [i]))
            continue;
        return value_compare (self, a->items [i], b->items [i], order);
    }
    *order = (a->count > b->count) - (a->count < b->count);
    return true;
}

bool
value_compare (value_heap_t *self, value_t a, value_t b, int *order)
{
    if (a.kind == VALUE_UNDEFINED || b.kind == VALUE_UNDEFINED) {
        span_t sentence = a.kind == VALUE_UNDEFINED ? a.as.text : b.as.text;
        value_fail (self, "UndefinedError: %.*s", SPAN_ARG (sentence));
        return false;
    }
    if (value_is_number (a) && value_is_number (b)) {
        if (a.kind == VALUE_FLOAT || b.kind == VALUE_FLOAT)
            *order = (s_real (a) > s_real (b)) - (s_real (a) < s_real (b));
        else
            *order = (s_integer (a) > s_integer (b)) - (s_integer (a) < s_integer (b));
        return true;
    }
    if (a.kind == VALUE_STRING && b.kind == VALUE_STRING) {
        int compared = span_compare (a.as.text, b.as.text);    //  UTF-8 keeps the order of code points
        *order = (compared > 0) - (compared < 0);
        return true;
    }
    if (a.kind == b.kind && value_is_sequence (a))
        return s_compare_lists (self, a.as.list, b.as.list, order);
    value_fail (self, "TypeError: '<' not supported between instances of '%s' and '%s'", value_type_name (a),
        value_type_name (b));
    return false;
}

const char *
value_type_name (value_t value)
{
    static const char *const names [] = { [VALUE_UNDEFINED] = "Undefined",
        [VALUE_NONE] = "NoneType",
        [VALUE_BOOL] = "bool",
        [VALUE_INT] = "int",
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
    static const char *const names [] = { [VALUE_UNDEFINED] = "'undefined'",
        [VALUE_NONE] = "None",
        [VALUE_BOOL] = "'bool object'",
        [VALUE_INT] = "'int object'",
        [VALUE_FLOAT] = "'float object'",
        [VALUE_STRING] = "'str object'",
        [VALUE_LIST] = "'list object'",
        [VALUE_TUPLE] = "'tuple object'",
        [VALUE_RANGE] = "'range object'",
        [VALUE_VIEW] = "'dict view object'",
        [VALUE_DICT] = "'dict object'",
        [VALUE_NAMESPACE] = "'namespace object'",
        [VALUE_ITERATOR] = "'generator object'",
        [VALUE_FUNCTION] = "'function object'",
        [VALUE_LOOP] = "'LoopContext object'" };
    return names [value.kind];
}

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

static bool
s_characters (value_heap_t *self, span_t text, value_t **items, size_t *count)
{
    value_t list = value_new_list (self, VALUE_LIST);
    for (size_t at = 0; at < text.size && value_step (self, 1);) {
        size_t size = utf8_sequence (span_slice (text, at, 4));
        value_list_add (self, list.as.list, value_text (span_slice (text, at, size ? size : 1)));
        at += size ? size : 1;
    }
    if (value_heap_failed (self))
        return false;
    *items = list.as.list->items;
    *count = list.as.list->count;
    return true;
}

static bool
s_keys (value_heap_t *self, const value_dict_t *dict, value_t **items, size_t *count)
{
    *items = value_alloc (self, dict->count * sizeof **items);
    *count = dict->count;
    for (size_t i = 0; *items && i < dict->count; i++)
        (*items) [i] = dict->pairs [i].key;
    return *items != NULL;
}

bool
value_items (value_heap_t *self, value_t value, value_t **items, size_t *count)
{
    switch (value.kind) {
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_RANGE:
    case VALUE_VIEW:
        *items = value.as.list->items;
        *count = value.as.list->count;
        return true;
    case VALUE_ITERATOR:
        *items = value.as.list->count ? value.as.list->items + value.as.list->taken : NULL;
        *count = value.as.list->count - value.as.list->taken;
        value.as.list->taken = value.as.list->count;
        return true;
    case VALUE_DICT:
        return s_keys (self, value.as.dict, items, count);
    case VALUE_STRING:
        return s_characters (self, value.as.text, items, count);
    case VALUE_UNDEFINED:
        *items = NULL;
        *count = 0;
        return true;
    default:
        value_fail (self, "TypeError: '%s' object is not iterable", value_type_name (value));
        return false;
    }
}

//  ---- Text ----

void
value_print_float (double real, buffer_t *out)
{
    char text [40];
    if (real != real || real - real != 0) {
        buffer_append_string (out, real != real ? "nan" : real > 0 ? "inf" : "-inf");
        return;
    }
    int precision = 1;
    double again = 0;
    do
        snprintf (text, sizeof text, "%.*e", precision - 1, real);
    while ((!span_to_double (span_from_string (text), &again) || again != real) && ++precision <= 17);
    uint64_t digits = 0;
    span_to_u64 (span_from_string (strchr (text, 'e') + 2), &digits);
    int exponent = strchr (text, 'e') [1] == '-' ? -(int)digits : (int)digits;
    if (exponent < -4 || exponent >= 16) {
        char *mark = strchr (text, 'e');
        buffer_append (out, span_of (text, (size_t)(mark - text)));
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
    for (size_t i = 0; i < list->count && value_step (self, 1); i++) {
        if (i)
            buffer_append_string (out, ", ");
        value_print_repr (self, list->items [i], out);
    }
    if (brackets [0] == '(' && list->count == 1)
        buffer_append_byte (out, ',');
    buffer_append_byte (out, (uint8_t)brackets [1]);
}

static void
s_print_pairs (value_heap_t *self, const value_dict_t *dict, buffer_t *out)
{
    buffer_append_byte (out, '{');
    for (size_t i = 0; i < dict->count && value_step (self, 1); i++) {
        if (i)
            buffer_append_string (out, ", ");
        value_print_repr (self, dict->pairs [i].key, out);
        buffer_append_string (out, ": ");
        value_print_repr (self, dict->pairs [i].value, out);
    }
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
        buffer_append (out, value.as.text);
    else if (value.kind != VALUE_UNDEFINED)
        value_print_repr (self, value, out);
}

//  A text as Python's repr writes it: single quotes unless it has some and no double ones; what cannot be printed is
//  escaped.
static void
s_print_text_repr (span_t text, buffer_t *out)
{
    bool has_single = span_find_byte (text, '\'') < text.size;
    bool has_double = span_find_byte (text, '"') < text.size;
    uint8_t quote = has_single && !has_double ? '"' : '\'';
    buffer_append_byte (out, quote);
    for (size_t at = 0; at < text.size;) {
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
    case VALUE_FLOAT:
        value_print_float (value.as.real, out);
        break;
    case VALUE_STRING:
        buffer_append_string (out, value.safe ? "Markup(" : "");
        s_print_text_repr (value.as.text, out);
        buffer_append_string (out, value.safe ? ")" : "");
        break;
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
    case VALUE_ITERATOR:
    case VALUE_FUNCTION:
    case VALUE_LOOP:
        buffer_print (out, "<%s object>", value_type_name (value));
        break;
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
