//  translate - texts by a table of characters, as Python's str.translate and str.maketrans

#include "model/template/filters.h"
#include "model/template/unicode.h"

//  The code point of a text of one character, as a key; other values as they are.
static value_t
s_point (render_t *render, value_t value)
{
    size_t size = 0;
    if (value.kind != VALUE_STRING)
        return value;
    uint32_t point = value.as.text.size ? unicode_decode (value.as.text, &size) : 0;
    return size && size == value.as.text.size
               ? value_int (point)
               : value_fail (&render->heap, "ValueError: string keys in translate table must be of length 1");
}

static void
s_add_translations (render_t *render, value_t table, value_t keys, const value_t *results)
{
    value_t *from, *to = NULL;
    size_t count, results_count = 0;
    bool walked = value_items (&render->heap, keys, &from, &count) &&
                  (!results || value_items (&render->heap, *results, &to, &results_count));
    if (walked && results && count != results_count)
        value_fail (&render->heap, "ValueError: the first two maketrans arguments must have equal length");
    for (size_t i = 0; walked && i < count && value_step (&render->heap, 1); i++)
        value_dict_set (
            &render->heap, table.as.dict, s_point (render, from [i]), to ? s_point (render, to [i]) : value_none ());
}

value_t
translate_make (render_t *render, value_t self, const args_t *args)
{
    value_t table = value_new_dict (&render->heap, VALUE_DICT);
    bool mapping = args->count == 1;
    if (mapping && args->items [0].kind != VALUE_DICT)
        return value_fail (&render->heap, "TypeError: if you give only one argument to maketrans it must be a dict");
    for (size_t i = 0; !mapping && i < args->count; i++)
        if (args->items [i].kind != VALUE_STRING)
            return value_fail (&render->heap, "TypeError: maketrans takes texts");
    for (size_t i = 0; mapping && i < args->items [0].as.dict->count && value_step (&render->heap, 1); i++) {
        const value_pair_t *pair = &args->items [0].as.dict->pairs [i];
        value_dict_set (&render->heap, table.as.dict, s_point (render, pair->key), pair->value);
    }
    if (!mapping)
        s_add_translations (render, table, args->items [0], &args->items [1]);
    if (args->count > 2)
        s_add_translations (render, table, args->items [2], NULL);
    return table;
}

static void
s_append_translated (render_t *render, buffer_t *out, value_t to)
{
    if (to.kind == VALUE_STRING)
        value_write (&render->heap, to.as.text, out);
    else if (to.kind == VALUE_INT && to.as.integer >= 0 && to.as.integer <= 0x10ffff)
        unicode_append (out, (uint32_t)to.as.integer);
    else if (to.kind != VALUE_NONE)
        value_fail (&render->heap, "TypeError: character mapping must return integer, None or str");
}

//  What the table has for a character; undefined where it has nothing.
static value_t
s_translation (render_t *render, value_t table, uint32_t point)
{
    bool indexed = table.kind == VALUE_STRING || value_is_indexed (table);
    if (table.kind == VALUE_DICT) {
        const value_t *to = value_dict_get (&render->heap, table.as.dict, value_int (point));
        return to ? *to : (value_t){ 0 };
    }
    return indexed ? render_item (render, table, value_int (point))
                   : value_fail (&render->heap, "TypeError: '%s' object is not subscriptable", value_type_name (table));
}

value_t
translate_text (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    for (size_t at = 0, size; at < self.as.text.size && value_step (&render->heap, 1); at += size) {
        uint32_t point = unicode_decode (span_slice (self.as.text, at, 4), &size);
        value_t to = s_translation (render, args->items [0], point);
        if (to.kind != VALUE_UNDEFINED)
            s_append_translated (render, &out, to);
        else
            buffer_append (&out, span_slice (self.as.text, at, size));
        if (out.size > render->heap.arena.limit)
            break;
    }
    return value_take_buffer (&render->heap, &out);
}
