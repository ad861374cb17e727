//  methods - what texts, lists and dicts can do, as in Python
//
//  Jinja's immutable sandbox forbids the methods that change a list or a dict; some published templates need them all the
//  same, so they work here on values of the rendering, which nobody else sees.

#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

//  ---- Texts ----

static value_t
s_strip (render_t *render, value_t self, const args_t *args, bool left, bool right)
{
    const value_t *set = args_get (args, 0, NULL);
    bool has_set = set && set->kind == VALUE_STRING;
    return value_text (unicode_strip (self.as.text, has_set ? &set->as.text : NULL, left, right));
}

static value_t
s_strip_both (render_t *render, value_t self, const args_t *args)
{
    return s_strip (render, self, args, true, true);
}

static value_t
s_strip_left (render_t *render, value_t self, const args_t *args)
{
    return s_strip (render, self, args, true, false);
}

static value_t
s_strip_right (render_t *render, value_t self, const args_t *args)
{
    return s_strip (render, self, args, false, true);
}

static void
s_add_text (render_t *render, value_t list, span_t text)
{
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, list.as.list, value_text (text));
}

//  split () without a separator: by runs of whitespace, none at the ends.
static value_t
s_split_blank (render_t *render, span_t text, int64_t most)
{
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    text = unicode_strip (text, NULL, true, most < 0);
    while (text.size && value_step (&render->heap, 1)) {
        size_t at = 0;
        for (size_t size; at < text.size; at += size)
            if (unicode_is_space (unicode_decode (span_slice (text, at, 4), &size)))
                break;
        if (most-- == 0)
            at = text.size;
        s_add_text (render, list, span_slice (text, 0, at));
        text = unicode_strip (span_slice (text, at, text.size), NULL, true, false);
    }
    return list;
}

static value_t
s_split (render_t *render, value_t self, const args_t *args)
{
    const value_t *separator = args_get (args, 0, "sep");
    int64_t most = args_int (args, 1, "maxsplit", -1);
    span_t text = self.as.text;
    if (!separator || separator->kind == VALUE_NONE)
        return s_split_blank (render, text, most);
    if (separator->kind != VALUE_STRING || !separator->as.text.size)
        return value_fail (&render->heap, "ValueError: empty separator");
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    while (value_step (&render->heap, 1)) {
        span_t found = most-- == 0 ? (span_t){ NULL, 0 } : filters_find (text, separator->as.text);
        size_t at = found.data ? (size_t)(found.data - text.data) : text.size;
        s_add_text (render, list, span_slice (text, 0, at));
        if (!found.data)
            break;
        text = span_slice (text, at + found.size, text.size);
    }
    return list;
}

static span_t
s_find_last (span_t text, span_t part)
{
    for (size_t at = text.size + 1; part.size && at-- > 0;)
        if (at + part.size <= text.size && memcmp (text.data + at, part.data, part.size) == 0)
            return span_slice (text, at, part.size);
    return (span_t){ NULL, 0 };
}

static value_t
s_rsplit (render_t *render, value_t self, const args_t *args)
{
    const value_t *separator = args_get (args, 0, "sep");
    int64_t most = args_int (args, 1, "maxsplit", -1);
    span_t text = self.as.text;
    if (most < 0 || !separator || separator->kind != VALUE_STRING || !separator->as.text.size)
        return s_split (render, self, args);
    value_t reversed = value_new_list (&render->heap, VALUE_LIST);
    while (value_step (&render->heap, 1)) {
        span_t found = most-- == 0 ? (span_t){ NULL, 0 } : s_find_last (text, separator->as.text);
        size_t begin = found.data ? (size_t)(found.data - text.data) : 0;
        s_add_text (render, reversed, found.data ? span_slice (text, begin + found.size, text.size) : text);
        if (!found.data)
            break;
        text = span_slice (text, 0, begin);
    }
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    if (!value_heap_failed (&render->heap))
        for (size_t i = reversed.as.list->count; i > 0; i--)
            value_list_add (&render->heap, list.as.list, reversed.as.list->items [i - 1]);
    return list;
}

static value_t
s_splitlines (render_t *render, value_t self, const args_t *args)
{
    bool keep = value_is_true (args_or (args, 0, "keepends", value_bool (false)));
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    for (span_t text = self.as.text; text.size && value_step (&render->heap, 1);) {
        size_t end = 0;
        while (end < text.size && text.data [end] != '\n' && text.data [end] != '\r')
            end++;
        size_t size = span_starts_with (span_slice (text, end, 2), SPAN ("\r\n")) ? 2 : end < text.size;
        s_add_text (render, list, span_slice (text, 0, end + (keep ? size : 0)));
        text = span_slice (text, end + size, text.size);
    }
    return list;
}

static bool
s_ends_with (span_t text, span_t part)
{
    return part.size <= text.size && span_equal (span_slice (text, text.size - part.size, part.size), part);
}

//  One text or a tuple of them.
static value_t
s_affix (render_t *render, value_t self, const args_t *args, bool (*has) (span_t text, span_t part))
{
    const value_t *part = args_get (args, 0, NULL);
    if (part && part->kind == VALUE_STRING)
        return value_bool (has (self.as.text, part->as.text));
    if (!part || part->kind != VALUE_TUPLE)
        return value_fail (&render->heap, "TypeError: first arg must be str or a tuple of str, not %s",
            part ? value_type_name (*part) : "nothing");
    for (size_t i = 0; i < part->as.list->count; i++) {
        value_t each = part->as.list->items [i];
        if (each.kind == VALUE_STRING && has (self.as.text, each.as.text))
            return value_bool (true);
    }
    return value_bool (false);
}

static value_t
s_startswith (render_t *render, value_t self, const args_t *args)
{
    return s_affix (render, self, args, span_starts_with);
}

static value_t
s_endswith (render_t *render, value_t self, const args_t *args)
{
    return s_affix (render, self, args, s_ends_with);
}

static value_t
s_removeprefix (render_t *render, value_t self, const args_t *args)
{
    span_t part = args_text (args, 0, NULL, SPAN (""));
    bool has = span_starts_with (self.as.text, part);
    return has ? value_text (span_slice (self.as.text, part.size, self.as.text.size)) : self;
}

static value_t
s_removesuffix (render_t *render, value_t self, const args_t *args)
{
    span_t part = args_text (args, 0, NULL, SPAN (""));
    bool has = s_ends_with (self.as.text, part);
    return has ? value_text (span_slice (self.as.text, 0, self.as.text.size - part.size)) : self;
}

static value_t
s_replace (render_t *render, value_t self, const args_t *args)
{
    const value_t *from = args_get (args, 0, "old");
    const value_t *to = args_get (args, 1, "new");
    if (!from || !to || from->kind != VALUE_STRING || to->kind != VALUE_STRING)
        return value_fail (&render->heap, "TypeError: replace() takes two texts");
    return filters_replace (render, self.as.text, from->as.text, to->as.text, args_int (args, 2, "count", -1));
}

static value_t
s_convert (render_t *render, value_t self, void (*convert) (buffer_t *out, span_t text))
{
    buffer_t out = { 0 };
    convert (&out, self.as.text);
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_upper (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, unicode_append_upper);
}

static value_t
s_lower (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, unicode_append_lower);
}

static value_t
s_title (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, unicode_append_title);
}

static value_t
s_capitalize (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, filters_capitalize);
}

//  The position of a part in code points; -1 where it is not.
static int64_t
s_position (span_t text, span_t found)
{
    return found.data ? (int64_t)value_text_length (span_slice (text, 0, (size_t)(found.data - text.data))) : -1;
}

static value_t
s_find (render_t *render, value_t self, const args_t *args)
{
    span_t part = args_text (args, 0, NULL, SPAN (""));
    return value_int (part.size ? s_position (self.as.text, filters_find (self.as.text, part)) : 0);
}

static value_t
s_rfind (render_t *render, value_t self, const args_t *args)
{
    return value_int (s_position (self.as.text, s_find_last (self.as.text, args_text (args, 0, NULL, SPAN ("")))));
}

static value_t
s_text_index (render_t *render, value_t self, const args_t *args)
{
    value_t position = s_find (render, self, args);
    return position.as.integer < 0 ? value_fail (&render->heap, "ValueError: substring not found") : position;
}

static value_t
s_text_count (render_t *render, value_t self, const args_t *args)
{
    span_t part = args_text (args, 0, NULL, SPAN (""));
    int64_t count = 0;
    span_t text = self.as.text;
    for (span_t found; (found = filters_find (text, part)).data && value_step (&render->heap, 1); count++)
        text = span_slice (text, (size_t)(found.data - text.data) + part.size, text.size);
    return value_int (part.size ? count : (int64_t)value_text_length (text) + 1);
}

static value_t
s_join (render_t *render, value_t self, const args_t *args)
{
    value_t *items;
    size_t count;
    buffer_t text = { 0 };
    if (!args->count || !value_items (&render->heap, args->items [0], &items, &count))
        return value_fail (&render->heap, "TypeError: can only join an iterable");
    for (size_t i = 0; i < count && value_step (&render->heap, 1) && text.size <= render->heap.arena.limit; i++) {
        if (items [i].kind != VALUE_STRING) {
            value_fail (&render->heap, "TypeError: sequence item %zu: expected str instance, %s found", i,
                value_type_name (items [i]));
            break;
        }
        buffer_append (&text, i ? self.as.text : SPAN (""));
        buffer_append (&text, items [i].as.text);
    }
    return value_take_buffer (&render->heap, &text);
}

static value_t
s_all (value_t self, bool (*is) (uint32_t point))
{
    bool all = self.as.text.size > 0;
    for (size_t at = 0, size; all && at < self.as.text.size; at += size)
        all = is (unicode_decode (span_slice (self.as.text, at, 4), &size));
    return value_bool (all);
}

static value_t
s_isdigit (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_digit);
}

static value_t
s_isalpha (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_letter);
}

static bool
s_is_alnum (uint32_t point)
{
    return unicode_is_letter (point) || unicode_is_digit (point);
}

static value_t
s_isalnum (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, s_is_alnum);
}

static value_t
s_isspace (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_space);
}

static value_t
s_isupper (render_t *render, value_t self, const args_t *args)
{
    return value_bool (render_test (render, SPAN ("upper"), self, args));
}

static value_t
s_islower (render_t *render, value_t self, const args_t *args)
{
    return value_bool (render_test (render, SPAN ("lower"), self, args));
}

//  The argument a replacement field names: {} the next one, {2}, {name}.
static const value_t *
s_field (const args_t *args, span_t field, size_t *used)
{
    uint64_t position;
    char name [128];
    span_copy_string (field, name, sizeof name);
    if (field.size == 0)
        return args_get (args, (*used)++, NULL);
    if (span_to_u64 (field, &position))
        return args_get (args, (size_t)position, NULL);
    return args_get (args, SIZE_MAX, name);
}

//  str.format, with plain fields: no format specification but the empty one.
static value_t
s_format (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = self.as.text;
    size_t used = 0;
    for (size_t at = 0; at < text.size && value_step (&render->heap, 1); at++) {
        uint8_t byte = text.data [at];
        uint8_t next = at + 1 < text.size ? text.data [at + 1] : 0;
        if ((byte == '{' || byte == '}') && next == byte) {
            buffer_append_byte (&out, byte);
            at++;
        } else if (byte == '{') {
            size_t end = span_find_byte (span_slice (text, at, text.size), '}');
            const value_t *value = s_field (args, span_slice (text, at + 1, end - 1), &used);
            if (!value)
                value_fail (&render->heap, "IndexError: a replacement field has no value that can be printed here");
            else
                value_print (&render->heap, *value, &out);
            at += end;
        } else {
            buffer_append_byte (&out, byte);
        }
    }
    return value_take_buffer (&render->heap, &out);
}

//  ---- Lists ----

static value_t
s_append (render_t *render, value_t self, const args_t *args)
{
    if (args->count)
        value_list_add (&render->heap, self.as.list, args->items [0]);
    return value_none ();
}

static value_t
s_extend (render_t *render, value_t self, const args_t *args)
{
    value_t *items;
    size_t count;
    if (args->count && value_items (&render->heap, args->items [0], &items, &count))
        for (size_t i = 0; i < count && value_step (&render->heap, 1); i++)
            value_list_add (&render->heap, self.as.list, items [i]);
    return value_none ();
}

static value_t
s_insert (render_t *render, value_t self, const args_t *args)
{
    value_list_t *list = self.as.list;
    int64_t at = args_int (args, 0, NULL, 0);
    if (args->count != 2)
        return value_fail (&render->heap, "TypeError: insert takes a position and a value");
    value_list_add (&render->heap, list, args->items [1]);
    if (value_heap_failed (&render->heap))
        return value_none ();
    int64_t last = (int64_t)list->count - 1;
    at = at < 0 ? at + last : at;
    at = at < 0 ? 0 : at > last ? last : at;
    memmove (list->items + at + 1, list->items + at, (size_t)(last - at) * sizeof *list->items);
    list->items [at] = args->items [1];
    return value_none ();
}

static value_t
s_list_pop (render_t *render, value_t self, const args_t *args)
{
    value_list_t *list = self.as.list;
    int64_t at = args_int (args, 0, NULL, -1);
    at = at < 0 ? at + (int64_t)list->count : at;
    if (at < 0 || at >= (int64_t)list->count)
        return value_fail (&render->heap, "IndexError: pop index out of range");
    value_t item = list->items [at];
    memmove (list->items + at, list->items + at + 1, (list->count - (size_t)at - 1) * sizeof item);
    list->count--;
    return item;
}

static value_t
s_list_index (render_t *render, value_t self, const args_t *args)
{
    for (size_t i = 0; args->count && i < self.as.list->count && value_step (&render->heap, 1); i++)
        if (value_equal (self.as.list->items [i], args->items [0]))
            return value_int ((int64_t)i);
    return value_fail (&render->heap, "ValueError: the value is not in the list");
}

static value_t
s_list_count (render_t *render, value_t self, const args_t *args)
{
    int64_t count = 0;
    for (size_t i = 0; args->count && i < self.as.list->count && value_step (&render->heap, 1); i++)
        count += value_equal (self.as.list->items [i], args->items [0]);
    return value_int (count);
}

static value_t
s_list_reverse (render_t *render, value_t self, const args_t *args)
{
    value_list_t *list = self.as.list;
    for (size_t i = 0; i < list->count / 2; i++) {
        value_t swap = list->items [i];
        list->items [i] = list->items [list->count - 1 - i];
        list->items [list->count - 1 - i] = swap;
    }
    return value_none ();
}

static value_t
s_list_copy (render_t *render, value_t self, const args_t *args)
{
    return render_filter (render, SPAN ("list"), self, &(args_t){ 0 });
}

//  ---- Dicts ----

static value_t
s_get (render_t *render, value_t self, const args_t *args)
{
    value_t *found = args->count ? value_dict_get (self.as.dict, args->items [0]) : NULL;
    return found ? *found : args_or (args, 1, "default", value_none ());
}

static value_t
s_keys (render_t *render, value_t self, const args_t *args)
{
    value_t list = value_new_list (&render->heap, VALUE_ITERATOR);
    for (size_t i = 0; i < self.as.dict->count && value_step (&render->heap, 1); i++)
        value_list_add (&render->heap, list.as.list, self.as.dict->pairs [i].key);
    return list;
}

static value_t
s_values (render_t *render, value_t self, const args_t *args)
{
    value_t list = value_new_list (&render->heap, VALUE_ITERATOR);
    for (size_t i = 0; i < self.as.dict->count && value_step (&render->heap, 1); i++)
        value_list_add (&render->heap, list.as.list, self.as.dict->pairs [i].value);
    return list;
}

static value_t
s_dict_items (render_t *render, value_t self, const args_t *args)
{
    return render_filter (render, SPAN ("items"), self, &(args_t){ 0 });
}

static value_t
s_dict_pop (render_t *render, value_t self, const args_t *args)
{
    value_dict_t *dict = self.as.dict;
    for (size_t i = 0; args->count && i < dict->count; i++) {
        if (!value_equal (dict->pairs [i].key, args->items [0]))
            continue;
        value_t value = dict->pairs [i].value;
        memmove (dict->pairs + i, dict->pairs + i + 1, (dict->count - i - 1) * sizeof *dict->pairs);
        dict->count--;
        return value;
    }
    const value_t *otherwise = args_get (args, 1, NULL);
    return otherwise ? *otherwise : value_fail (&render->heap, "KeyError: no such key to pop");
}

static value_t
s_update (render_t *render, value_t self, const args_t *args)
{
    if (args->count && args->items [0].kind == VALUE_DICT)
        for (size_t i = 0; i < args->items [0].as.dict->count && value_step (&render->heap, 1); i++)
            value_dict_set (&render->heap, self.as.dict, args->items [0].as.dict->pairs [i].key,
                args->items [0].as.dict->pairs [i].value);
    for (size_t i = 0; i < args->keyword_count; i++)
        value_dict_set (&render->heap, self.as.dict, value_text (args->names [i]), args->values [i]);
    return value_none ();
}

static value_t
s_setdefault (render_t *render, value_t self, const args_t *args)
{
    value_t *found = args->count ? value_dict_get (self.as.dict, args->items [0]) : NULL;
    value_t otherwise = args_or (args, 1, NULL, value_none ());
    if (!found && args->count)
        value_dict_set (&render->heap, self.as.dict, args->items [0], otherwise);
    return found ? *found : otherwise;
}

static value_t
s_dict_copy (render_t *render, value_t self, const args_t *args)
{
    value_t copy = value_new_dict (&render->heap, VALUE_DICT);
    args_t from = { .items = &self, .count = 1 };
    if (!value_heap_failed (&render->heap))
        s_update (render, copy, &from);
    return copy;
}

const builtin_t methods_of_text [] = {
    { "capitalize", s_capitalize },
    { "count", s_text_count },
    { "endswith", s_endswith },
    { "find", s_find },
    { "format", s_format },
    { "index", s_text_index },
    { "isalnum", s_isalnum },
    { "isalpha", s_isalpha },
    { "isdigit", s_isdigit },
    { "islower", s_islower },
    { "isspace", s_isspace },
    { "isupper", s_isupper },
    { "join", s_join },
    { "lower", s_lower },
    { "lstrip", s_strip_left },
    { "removeprefix", s_removeprefix },
    { "removesuffix", s_removesuffix },
    { "replace", s_replace },
    { "rfind", s_rfind },
    { "rsplit", s_rsplit },
    { "rstrip", s_strip_right },
    { "split", s_split },
    { "splitlines", s_splitlines },
    { "startswith", s_startswith },
    { "strip", s_strip_both },
    { "title", s_title },
    { "upper", s_upper },
    { NULL, NULL },
};

const builtin_t methods_of_list [] = {
    { "append", s_append },
    { "copy", s_list_copy },
    { "count", s_list_count },
    { "extend", s_extend },
    { "index", s_list_index },
    { "insert", s_insert },
    { "pop", s_list_pop },
    { "reverse", s_list_reverse },
    { NULL, NULL },
};

const builtin_t methods_of_dict [] = {
    { "copy", s_dict_copy },
    { "get", s_get },
    { "items", s_dict_items },
    { "keys", s_keys },
    { "pop", s_dict_pop },
    { "setdefault", s_setdefault },
    { "update", s_update },
    { "values", s_values },
    { NULL, NULL },
};
