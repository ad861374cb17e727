#include <string.h>

#include "model/template/render.h"
#include "model/template/unicode.h"

//  ---- Attributes and items ------------------------------------------------------------------------------------------

//  The character before, at or behind the present one of a text.
static value_t
s_character (const value_loop_t *loop, int offset)
{
    size_t at = loop->at, size;
    unicode_decode (span_slice (loop->text, at, 4), &size);
    if (offset > 0) {
        at += size;
        unicode_decode (span_slice (loop->text, at, 4), &size);
    }
    if (offset < 0)
        for (size = 0; !size || (loop->text.data [at] & 0xc0) == 0x80; size++)
            at--;
    return value_text (span_slice (loop->text, at, size));
}

value_t
render_loop_item (const value_loop_t *loop, int offset)
{
    size_t position = loop->index + (size_t)offset;
    return loop->text.size ? s_character (loop, offset)
           : loop->range   ? value_range_item (loop->range, position)
                           : loop->items [position];
}

static value_t
s_loop_attribute (render_t *self, value_loop_t *loop, span_t name, value_t object)
{
    int64_t index = (int64_t)loop->index;
    int64_t count = (int64_t)loop->count;
    if (span_equal_string (name, "index"))
        return value_int (index + 1);
    if (span_equal_string (name, "index0"))
        return value_int (index);
    if (span_equal_string (name, "first"))
        return value_bool (index == 0);
    if (span_equal_string (name, "last"))
        return value_bool (index + 1 == count);
    if (span_equal_string (name, "length"))
        return value_int (count);
    if (span_equal_string (name, "revindex"))
        return value_int (count - index);
    if (span_equal_string (name, "revindex0"))
        return value_int (count - index - 1);
    if (span_equal_string (name, "depth"))
        return value_int (loop->depth + 1);
    if (span_equal_string (name, "depth0"))
        return value_int (loop->depth);
    if (span_equal_string (name, "previtem"))
        return index ? render_loop_item (loop, -1) : value_undefined (&self->heap, "there is no previous item");
    if (span_equal_string (name, "nextitem"))
        return index + 1 < count ? render_loop_item (loop, 1) : value_undefined (&self->heap, "there is no next item");
    return value_missing (&self->heap, value_object_name (object), name);
}

//  What the type of dicts can do without one.
static const builtin_t *
s_find_of_type (const value_function_t *function, span_t name)
{
    bool is_type = function->builtin && strcmp (function->builtin->name, "dict") == 0;
    return is_type && span_equal_string (name, "fromkeys") ? builtin_find (methods_of_dict, name) : NULL;
}

const builtin_t *
render_find_method (value_t object, span_t name)
{
    switch (object.kind) {
    case VALUE_STRING:
        return builtin_find (methods_of_text, name);
    case VALUE_LIST:
        return builtin_find (methods_of_list, name);
    case VALUE_TUPLE:
        return builtin_find (methods_of_tuple, name);
    case VALUE_RANGE:
        return builtin_find (methods_of_range, name);
    case VALUE_VIEW:
        return value_is_set (object) ? builtin_find (methods_of_view, name) : NULL;
    case VALUE_INT:
    case VALUE_BOOL:
        return builtin_find (methods_of_int, name);
    case VALUE_BIG:
        return builtin_find (methods_of_big, name);
    case VALUE_FLOAT:
        return builtin_find (methods_of_float, name);
    case VALUE_DICT:
        return builtin_find (methods_of_dict, name);
    case VALUE_LOOP:
        return builtin_find (methods_of_loop, name);
    case VALUE_FUNCTION:
        return s_find_of_type (object.as.function, name);
    default:
        return NULL;
    }
}

//  What numbers and ranges say of themselves.
static const builtin_t *
s_find_property (value_t object, span_t name)
{
    switch (object.kind) {
    case VALUE_INT:
    case VALUE_BIG:
    case VALUE_BOOL:
        return builtin_find (properties_of_int, name);
    case VALUE_FLOAT:
        return builtin_find (properties_of_float, name);
    case VALUE_RANGE:
        return builtin_find (properties_of_range, name);
    default:
        return NULL;
    }
}

//  What a macro says of itself.
static value_t
s_macro_attribute (render_t *self, const node_t *macro, span_t name)
{
    if (span_equal_string (name, "name"))
        return value_text (macro->text);
    if (span_equal_string (name, "catch_kwargs"))
        return value_bool (macro->op & MACRO_TAKES_KWARGS);
    if (span_equal_string (name, "catch_varargs"))
        return value_bool (macro->op & MACRO_TAKES_VARARGS);
    if (span_equal_string (name, "caller"))
        return value_bool (macro->op & MACRO_TAKES_CALLER);
    if (!span_equal_string (name, "arguments"))
        return value_undefined (&self->heap, "'macro object' has no attribute '%.*s'", SPAN_ARG (name));
    value_t names = value_new_list (&self->heap, VALUE_TUPLE);
    for (size_t i = 0; i < macro->arguments.count && !value_heap_failed (&self->heap); i++)
        value_list_add (&self->heap, names.as.list, value_text (macro->arguments.items [i].name));
    return names;
}

//  groupby gives pairs with names.
static const value_t *
s_group_attribute (value_t object, span_t name)
{
    if (object.kind != VALUE_TUPLE || object.as.list->count != 2)
        return NULL;
    return span_equal_string (name, "grouper") ? &object.as.list->items [0]
           : span_equal_string (name, "list")  ? &object.as.list->items [1]
                                               : NULL;
}

static bool
s_is_unsafe (span_t name)
{
    return span_starts_with (name, SPAN ("_"));
}

value_t
render_attribute (render_t *self, value_t object, span_t name)
{
    const builtin_t *method = render_find_method (object, name);
    if (object.kind == VALUE_UNDEFINED)
        return render_undefined_error (self, object);
    if (method)
        return render_function (self, method, object);
    const builtin_t *property = s_find_property (object, name);
    if (property)
        return property->call (self, object, &(args_t){ 0 });
    if (object.kind == VALUE_LOOP)
        return s_loop_attribute (self, object.as.loop, name, object);
    if (object.kind == VALUE_FUNCTION && object.as.function->macro)
        return s_macro_attribute (self, object.as.function->macro, name);
    const value_t *group = s_group_attribute (object, name);
    if (group)
        return *group;
    if ((object.kind == VALUE_DICT || object.kind == VALUE_NAMESPACE) && !s_is_unsafe (name)) {
        value_t *found = value_dict_get_text (&self->heap, object.as.dict, name);
        if (found)
            return *found;
    }
    return value_missing (&self->heap, value_object_name (object), name);
}

static value_t
s_index (render_t *self, value_t object, int64_t index)
{
    bool is_text = object.kind == VALUE_STRING;
    if (is_text && !value_scan (&self->heap, object.as.text))
        return (value_t){ 0 };
    size_t count = is_text ? value_text_length (object.as.text) : object.as.list->count;
    int64_t wanted = index < 0 ? index + (int64_t)count : index;
    if (wanted < 0 || wanted >= (int64_t)count)
        return value_undefined (&self->heap, "%s has no element %lld", value_object_name (object), (long long)index);
    if (is_text) {
        value_t character = value_text (value_text_range (object.as.text, (size_t)wanted, (size_t)wanted + 1));
        character.safe = object.safe;
        return character;
    }
    return object.kind == VALUE_RANGE ? value_range_item (object.as.list, (size_t)wanted)
                                      : object.as.list->items [wanted];
}

static int64_t
s_clip (int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

//  A bound of a slice as Python clips it.
static int64_t
s_slice_bound (const value_t *bound, int64_t count, int64_t step, int64_t otherwise)
{
    if (!bound || bound->kind == VALUE_NONE)
        return otherwise;
    int64_t value = bound->kind == VALUE_INT ? bound->as.integer : bound->as.truth;
    if (value < 0)
        value = value < -count ? -1 : value + count;
    return step > 0 ? s_clip (value, 0, count) : s_clip (value, -1, count - 1);
}

static bool
s_is_slice_part (const value_t *part)
{
    return !part || part->kind == VALUE_NONE || part->kind == VALUE_INT || part->kind == VALUE_BOOL;
}

static value_t
s_slice_items (render_t *self, value_t object, int64_t from, int64_t to, int64_t step)
{
    value_t *items;
    size_t count;
    if (!value_items (&self->heap, object, &items, &count))
        return (value_t){ 0 };
    value_t result = value_new_list (&self->heap, object.kind == VALUE_STRING ? VALUE_LIST : object.kind);
    step = s_clip (step, -(int64_t)count - 1, (int64_t)count + 1);
    for (int64_t i = from; (step > 0 ? i < to : i > to) && value_step (&self->heap, 1); i += step)
        value_list_add (&self->heap, result.as.list, items [i]);
    if (object.kind != VALUE_STRING || value_heap_failed (&self->heap))
        return result;
    buffer_t text = { 0 };
    for (size_t i = 0; i < result.as.list->count; i++)
        buffer_append (&text, result.as.list->items [i].as.text);
    return value_take_buffer (&self->heap, &text);
}

//  from + position * step; false where that leaves 64 bits.
static bool
s_range_bound (const value_view_t *range, int64_t position, int64_t *bound)
{
    return !__builtin_mul_overflow (position, range->step, bound) &&
           !__builtin_add_overflow (range->from, *bound, bound);
}

static value_t
s_slice_range (render_t *self, const value_view_t *range, int64_t from, int64_t to, int64_t step)
{
    if (!s_range_bound (range, from, &from) || !s_range_bound (range, to, &to) ||
        __builtin_mul_overflow (range->step, step, &step))
        return value_too_large (&self->heap);
    return value_new_range (&self->heap, from, to, step);
}

value_t
render_slice (render_t *self, value_t object, const node_t *slice)
{
    value_t parts [3];
    const value_t *given [3] = { NULL, NULL, NULL };
    const node_t *nodes [3] = { slice->a, slice->b, slice->c };
    for (int i = 0; i < 3; i++)
        if (nodes [i]) {
            parts [i] = evaluate (self, nodes [i]);
            given [i] = &parts [i];
        }
    if (value_heap_failed (&self->heap))
        return (value_t){ 0 };
    if (object.kind == VALUE_UNDEFINED)
        return render_undefined_error (self, object);
    bool walks = object.kind == VALUE_STRING || value_is_indexed (object);
    if (object.kind == VALUE_DICT)
        return value_fail (&self->heap, "TypeError: unhashable type: 'slice'");
    if (!walks)
        return value_fail (&self->heap, "TypeError: '%s' object is not subscriptable", value_type_name (object));
    if (!s_is_slice_part (given [0]) || !s_is_slice_part (given [1]) || !s_is_slice_part (given [2]))
        return value_fail (&self->heap, "TypeError: slice indices must be integers or None");
    int64_t step = s_slice_bound (given [2], INT64_MAX / 2, -1, 1);
    if (given [2] && given [2]->kind == VALUE_INT)
        step = given [2]->as.integer;
    if (step == 0)
        return value_fail (&self->heap, "ValueError: slice step cannot be zero");
    if (object.kind == VALUE_STRING && !value_scan (&self->heap, object.as.text))
        return (value_t){ 0 };
    int64_t count = (int64_t)(object.kind == VALUE_STRING ? value_text_length (object.as.text) : object.as.list->count);
    int64_t from = s_slice_bound (given [0], count, step, step > 0 ? 0 : count - 1);
    int64_t to = s_slice_bound (given [1], count, step, step > 0 ? count : -1);
    if (object.kind == VALUE_RANGE)
        return s_slice_range (self, (const value_view_t *)object.as.list, from, to, step);
    if (step == 1 && value_is_sequence (object))
        return value_slice_list (&self->heap, object, (size_t)from, (size_t)to);
    value_t part = object.kind == VALUE_STRING && step == 1
                       ? value_text (value_text_range (object.as.text, (size_t)from, (size_t)(to > from ? to : from)))
                       : s_slice_items (self, object, from, to, step);
    part.safe = object.safe;
    return part;
}

value_t
render_item (render_t *self, value_t object, value_t key)
{
    if (object.kind == VALUE_UNDEFINED)
        return render_undefined_error (self, object);
    if (object.kind == VALUE_DICT) {
        value_t *found = value_dict_get (&self->heap, object.as.dict, key);
        if (found)
            return *found;
    }
    bool indexes = key.kind == VALUE_INT || key.kind == VALUE_BOOL;
    if (indexes && (object.kind == VALUE_STRING || value_is_indexed (object)))
        return s_index (self, object, key.kind == VALUE_INT ? key.as.integer : key.as.truth);
    if (key.kind == VALUE_STRING)
        return render_attribute (self, object, key.as.text);
    buffer_t text = { 0 };
    value_print_repr (&self->heap, key, &text);
    value_t missing = value_undefined (&self->heap, "%s has no element %.*s", value_object_name (object),
        SPAN_ARG (span_slice (buffer_span (&text), 0, 100)));
    buffer_fini (&text);
    return missing;
}

static value_t
s_or (value_t value, const value_t *otherwise)
{
    return value.kind == VALUE_UNDEFINED && otherwise && otherwise->kind != VALUE_NONE ? *otherwise : value;
}

value_t
render_path (render_t *self, value_t object, value_t path, const value_t *otherwise)
{
    uint64_t position;
    if (path.kind != VALUE_STRING)
        return s_or (render_item (self, object, path), otherwise);
    span_t rest = path.as.text;
    for (bool more = true; more && !value_heap_failed (&self->heap);) {
        size_t dot = span_find_byte (rest, '.');
        more = dot < rest.size;
        span_t part = span_slice (rest, 0, dot);
        bool is_number = span_to_u64 (part, &position) && position <= INT32_MAX;
        value_step (&self->heap, 1);
        object =
            s_or (render_item (self, object, is_number ? value_int ((int64_t)position) : value_text (part)), otherwise);
        rest = span_slice (rest, dot + 1, rest.size);
    }
    return object;
}
