#include "model/template/value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/template/unicode.h"

enum {
    NESTING_MAX = 200,
    KEYS_A_STEP = 16,
    ITEMS_A_STEP = 4,
    BYTES_A_STEP = 16,
    ALLOCATED_A_STEP = 64,
    COMPARED_A_STEP = 64
};

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

value_t
value_too_large (value_heap_t *self)
{
    return value_fail (self, "a whole number leaves 64 bits");
}

void *
value_alloc (value_heap_t *self, size_t size)
{
    if (!value_step (self, size / ALLOCATED_A_STEP))
        return NULL;
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

bool
value_enter (value_heap_t *self)
{
    if (++self->depth > NESTING_MAX)
        value_fail (self, "values are nested more than %d deep", NESTING_MAX);
    return value_step (self, 1);
}

void
value_leave (value_heap_t *self)
{
    self->depth--;
}

bool
value_scan (value_heap_t *self, span_t text)
{
    return value_step (self, text.size / BYTES_A_STEP);
}

bool
value_search (value_heap_t *self, span_t text, span_t part)
{
    return value_step (self, (text.size / BYTES_A_STEP) * (1 + part.size / COMPARED_A_STEP));
}

bool
value_move (value_heap_t *self, size_t count)
{
    return value_step (self, count / ITEMS_A_STEP);
}

void
value_write (value_heap_t *self, span_t text, buffer_t *out)
{
    if (value_scan (self, text) && out->size <= self->arena.limit)
        buffer_append (out, text);
}

//  ---- Making --------------------------------------------------------------------------------------------------------

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
value_missing (value_heap_t *self, const char *object, span_t name)
{
    uint8_t last = name.size ? name.data [name.size - 1] : 0;
    value_scan (self, name);
    missing_t *kept = &self->missing [(name.size * 7 + last) % MISSING_KEPT];
    if (kept->object == object && kept->value.as.text.size && span_equal (kept->name, name))
        return kept->value;
    *kept = (missing_t){ .object = object, .name = name };
    kept->value = object ? value_undefined (self, "'%s' has no attribute '%.*s'", object, SPAN_ARG (name))
                         : value_undefined (self, "'%.*s' is undefined", SPAN_ARG (name));
    return kept->value;
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

void
value_list_add (value_heap_t *self, value_list_t *list, value_t item)
{
    value_t *items = s_grow (self, list->items, list->count, &list->capacity, sizeof item);
    if (!items)
        return;
    list->shared &= items == list->items;
    list->items = items;
    list->items [list->count++] = item;
}

value_t
value_slice_list (value_heap_t *self, value_t list, size_t from, size_t to)
{
    value_t slice = value_new_list (self, list.kind);
    if (value_heap_failed (self) || from >= to)
        return slice;
    list.as.list->shared = true;
    slice.as.list->items = list.as.list->items + from;
    slice.as.list->count = slice.as.list->capacity = to - from;
    slice.as.list->shared = true;
    return slice;
}

bool
value_list_own (value_heap_t *self, value_list_t *list)
{
    if (!list->shared || !list->count)
        return true;
    value_t *items = value_alloc (self, list->count * sizeof *items);
    if (!items)
        return false;
    memcpy (items, list->items, list->count * sizeof *items);
    list->items = items;
    list->capacity = list->count;
    list->shared = false;
    return true;
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
    uint64_t distance = step > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    if (step > 0 ? from < to : from > to)
        view->list.count = (size_t)((distance - 1) / stride + 1);
    return range;
}

value_t
value_range_item (const value_list_t *range, size_t position)
{
    const value_view_t *view = (const value_view_t *)range;
    return value_int ((int64_t)((uint64_t)view->from + position * (uint64_t)view->step));
}

//  False with the error set where there is no memory for the items of a range.
static bool
s_make_range (value_heap_t *self, value_list_t *range)
{
    if (range->items || !range->count)
        return true;
    if (!value_step (self, range->count))
        return false;
    range->items = value_alloc (self, range->count * sizeof (value_t));
    for (size_t i = 0; range->items && i < range->count; i++)
        range->items [i] = value_range_item (range, i);
    return range->items;
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

//  A tuple is if its items are, not too deep inside each other.
static bool
s_is_hashable (value_heap_t *self, value_t key, unsigned depth)
{
    bool hashable = value_step (self, depth > 0) && key.kind != VALUE_LIST && key.kind != VALUE_DICT &&
                    key.kind != VALUE_VIEW && depth < NESTING_MAX;
    for (size_t i = 0; hashable && key.kind == VALUE_TUPLE && i < key.as.list->count; i++)
        hashable = s_is_hashable (self, key.as.list->items [i], depth + 1);
    return hashable;
}

bool
value_is_hashable (value_heap_t *self, value_t key)
{
    return s_is_hashable (self, key, 0);
}

//  Appends a pair whose key is not there yet.
static bool
s_add_pair (value_heap_t *self, value_dict_t *dict, value_t key, value_t value)
{
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
    if (!value_is_hashable (self, key)) {
        value_fail (self, "TypeError: unhashable type: '%s'", value_type_name (key));
        return false;
    }
    value_t *present = value_dict_get (self, dict, key);
    if (value_heap_failed (self))
        return false;
    if (!present)
        return s_add_pair (self, dict, key, value);
    *present = value;
    return true;
}

void
value_dict_set_text (value_heap_t *self, value_dict_t *dict, const char *key, value_t value)
{
    value_dict_set (self, dict, value_text (span_from_string (key)), value);
}

//  Most keys are short texts.
static value_t *
s_get_text (value_heap_t *self, const value_dict_t *dict, span_t key)
{
    for (size_t i = 0; i < dict->count; i++) {
        const value_t *present = &dict->pairs [i].key;
        if (present->kind == VALUE_STRING && present->as.text.size == key.size &&
            value_same_text (self, present->as.text, key))
            return &dict->pairs [i].value;
    }
    return NULL;
}

value_t *
value_dict_get (value_heap_t *self, const value_dict_t *dict, value_t key)
{
    if (!value_step (self, dict->count / KEYS_A_STEP))
        return NULL;
    if (key.kind == VALUE_STRING)
        return s_get_text (self, dict, key.as.text);
    for (size_t i = 0; i < dict->count; i++)
        if (value_equal (self, dict->pairs [i].key, key))
            return &dict->pairs [i].value;
    return NULL;
}

value_t *
value_dict_get_text (value_heap_t *self, const value_dict_t *dict, span_t key)
{
    return value_dict_get (self, dict, value_text (key));
}

static value_t
s_number_from_json (value_heap_t *self, const json_t *json)
{
    int64_t integer;
    uint64_t natural;
    double real = 0;
    char digits [24];
    bool whole = json_kind (json) == JSON_INTEGER;
    if (whole && json_to_i64 (json, &integer))
        return value_int (integer);
    if (whole && json_to_u64 (json, &natural))
        return value_whole (self, span_of (digits, (size_t)snprintf (digits, sizeof digits, "%" PRIu64, natural)));
    if (whole)
        return value_whole (self, json_digits (json));
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
        return s_number_from_json (self, json);
    case JSON_STRING:
        return value_copy_text (self, json_string (json));
    case JSON_ARRAY:
        return s_array_from_json (self, json);
    case JSON_OBJECT:
        return s_object_from_json (self, json);
    }
    return value_none ();
}

//  ---- Asking --------------------------------------------------------------------------------------------------------

bool
value_is_number (value_t value)
{
    return value.kind == VALUE_INT || value.kind == VALUE_FLOAT || value.kind == VALUE_BOOL;
}

bool
value_is_numeric (value_t value)
{
    return value_is_number (value) || value.kind == VALUE_BIG;
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
value_is_set (value_t value)
{
    return value.kind == VALUE_VIEW && strcmp (((const value_view_t *)value.as.list)->name, "dict_values") != 0;
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
    case VALUE_BIG:
    case VALUE_NAMESPACE:
    case VALUE_ITERATOR:
    case VALUE_FUNCTION:
    case VALUE_LOOP:
        return true;
    }
    return false;
}

static bool
s_equal_lists (value_heap_t *self, const value_list_t *a, const value_list_t *b)
{
    bool equal = a->count == b->count && value_enter (self);
    for (size_t i = 0; equal && i < a->count; i++)
        equal = value_step (self, 1) && value_equal (self, a->items [i], b->items [i]);
    if (a->count == b->count)
        value_leave (self);
    return equal;
}

//  Sets of one size whose items are the same.
static bool
s_equal_sets (value_heap_t *self, const value_list_t *a, const value_list_t *b)
{
    bool equal = a->count == b->count && value_enter (self);
    for (size_t i = 0, j; equal && i < a->count; i++) {
        for (j = 0; j < b->count && value_step (self, 1) && !value_equal (self, a->items [i], b->items [j]); j++)
            ;
        equal = j < b->count && !value_heap_failed (self);
    }
    if (a->count == b->count)
        value_leave (self);
    return equal;
}

static bool
s_equal_ranges (const value_list_t *a, const value_list_t *b)
{
    const value_view_t *left = (const value_view_t *)a, *right = (const value_view_t *)b;
    return a->count == b->count && (!a->count || left->from == right->from) &&
           (a->count < 2 || left->step == right->step);
}

static bool
s_equal_dicts (value_heap_t *self, const value_dict_t *a, const value_dict_t *b)
{
    bool equal = a->count == b->count && value_enter (self);
    for (size_t i = 0; equal && i < a->count; i++) {
        const value_t *other = value_dict_get (self, b, a->pairs [i].key);
        equal = other && value_step (self, 1) && value_equal (self, a->pairs [i].value, *other);
    }
    if (a->count == b->count)
        value_leave (self);
    return equal;
}

bool
value_same_text (value_heap_t *self, span_t a, span_t b)
{
    return a.size == b.size && value_scan (self, a) && span_equal (a, b);
}

bool
value_equal (value_heap_t *self, value_t a, value_t b)
{
    if (value_is_numeric (a) && value_is_numeric (b))
        return value_equal_numbers (a, b);
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case VALUE_UNDEFINED:
    case VALUE_NONE:
        return true;
    case VALUE_STRING:
        return value_same_text (self, a.as.text, b.as.text);
    case VALUE_RANGE:
        return s_equal_ranges (a.as.list, b.as.list);
    case VALUE_LIST:
    case VALUE_TUPLE:
        return a.as.list == b.as.list || s_equal_lists (self, a.as.list, b.as.list);
    case VALUE_DICT:
        return a.as.dict == b.as.dict || s_equal_dicts (self, a.as.dict, b.as.dict);
    case VALUE_NAMESPACE:
        return a.as.dict == b.as.dict;
    case VALUE_VIEW:
        return a.as.list == b.as.list ||
               (value_is_set (a) && value_is_set (b) && s_equal_sets (self, a.as.list, b.as.list));
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
    size_t at = 0;
    bool ordered = value_enter (self);
    while (ordered && at < common && value_step (self, 1) && value_equal (self, a->items [at], b->items [at]))
        at++;
    if (ordered && at < common)
        ordered = value_compare (self, a->items [at], b->items [at], order);
    else
        *order = (a->count > b->count) - (a->count < b->count);
    value_leave (self);
    return ordered && !value_heap_failed (self);
}

bool
value_compare (value_heap_t *self, value_t a, value_t b, int *order)
{
    if (a.kind == VALUE_UNDEFINED || b.kind == VALUE_UNDEFINED) {
        span_t sentence = a.kind == VALUE_UNDEFINED ? a.as.text : b.as.text;
        value_fail (self, "UndefinedError: %.*s", SPAN_ARG (sentence));
        return false;
    }
    if (value_is_numeric (a) && value_is_numeric (b)) {
        *order = value_order_numbers (a, b);
        return true;
    }
    if (a.kind == VALUE_STRING && b.kind == VALUE_STRING) {
        value_scan (self, a.as.text.size < b.as.text.size ? a.as.text : b.as.text);
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
    if (value.kind == VALUE_RANGE && !s_make_range (self, value.as.list))
        return false;
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
