//  methods - what lists, dicts, their views and loops can do, as in Python (texts: methods_text.c)
//
//  Jinja's immutable sandbox forbids the methods that change a list or a dict; some published templates need them all the
//  same, so they work here on values of the rendering, which nobody else sees.

#include <string.h>

#include "model/template/filters.h"

//  ---- Lists ---------------------------------------------------------------------------------------------------------

static value_t
s_append (render_t *render, value_t self, const args_t *args)
{
    value_list_add (&render->heap, self.as.list, args->items [0]);
    return value_none ();
}

static value_t
s_extend (render_t *render, value_t self, const args_t *args)
{
    value_t *items;
    size_t count;
    if (value_items (&render->heap, args->items [0], &items, &count))
        for (size_t i = 0; i < count && value_step (&render->heap, 1); i++)
            value_list_add (&render->heap, self.as.list, items [i]);
    return value_none ();
}

static value_t
s_insert (render_t *render, value_t self, const args_t *args)
{
    if (!value_list_own (&render->heap, self.as.list))
        return (value_t){ 0 };
    value_list_t *list = self.as.list;
    int64_t at = args_int (args, 0, NULL, 0);
    value_list_add (&render->heap, list, args->items [1]);
    if (value_heap_failed (&render->heap))
        return value_none ();
    int64_t last = (int64_t)list->count - 1;
    at = at < 0 ? at + last : at;
    at = at < 0 ? 0 : at > last ? last : at;
    value_move (&render->heap, (size_t)(last - at));
    memmove (list->items + at + 1, list->items + at, (size_t)(last - at) * sizeof *list->items);
    list->items [at] = args->items [1];
    return value_none ();
}

static value_t
s_list_pop (render_t *render, value_t self, const args_t *args)
{
    if (!value_list_own (&render->heap, self.as.list))
        return (value_t){ 0 };
    value_list_t *list = self.as.list;
    int64_t at = args_int (args, 0, NULL, -1);
    at = at < 0 ? at + (int64_t)list->count : at;
    if (at < 0 || at >= (int64_t)list->count)
        return value_fail (&render->heap, "IndexError: pop index out of range");
    value_t item = list->items [at];
    value_move (&render->heap, list->count - (size_t)at);
    memmove (list->items + at, list->items + at + 1, (list->count - (size_t)at - 1) * sizeof item);
    list->count--;
    return item;
}

//  A position as Python counts: negative ones from the end.
static int64_t
s_position (int64_t position, int64_t count)
{
    position = position < 0 ? position + count : position;
    return position < 0 ? 0 : position > count ? count : position;
}

static value_t
s_list_index (render_t *render, value_t self, const args_t *args)
{
    value_t *items;
    size_t size;
    if (!value_items (&render->heap, self, &items, &size))
        return (value_t){ 0 };
    int64_t count = (int64_t)size;
    int64_t from = s_position (args_int (args, 1, NULL, 0), count);
    int64_t to = s_position (args_int (args, 2, NULL, count), count);
    for (int64_t i = from; i < to && value_step (&render->heap, 1); i++)
        if (value_equal (&render->heap, items [i], args->items [0]))
            return value_int (i);
    return value_fail (&render->heap, "ValueError: the value is not in the list");
}

static value_t
s_list_count (render_t *render, value_t self, const args_t *args)
{
    int64_t count = 0;
    value_t *items;
    size_t size;
    if (value_items (&render->heap, self, &items, &size))
        for (size_t i = 0; i < size && value_step (&render->heap, 1); i++)
            count += value_equal (&render->heap, items [i], args->items [0]);
    return value_int (count);
}

static value_t
s_remove (render_t *render, value_t self, const args_t *args)
{
    if (!value_list_own (&render->heap, self.as.list))
        return (value_t){ 0 };
    value_list_t *list = self.as.list;
    for (size_t i = 0; i < list->count && value_step (&render->heap, 1); i++) {
        if (!value_equal (&render->heap, list->items [i], args->items [0]))
            continue;
        value_move (&render->heap, list->count - i);
        memmove (list->items + i, list->items + i + 1, (list->count - i - 1) * sizeof *list->items);
        list->count--;
        return value_none ();
    }
    return value_fail (&render->heap, "ValueError: list.remove(x): x not in list");
}

static value_t
s_list_clear (render_t *render, value_t self, const args_t *args)
{
    if (!value_list_own (&render->heap, self.as.list))
        return (value_t){ 0 };
    self.as.list->count = 0;
    return value_none ();
}

static value_t
s_list_sort (render_t *render, value_t self, const args_t *args)
{
    value_t flags [] = { args_or (args, SIZE_MAX, "reverse", value_bool (false)), value_bool (true) };
    args_t plain = { .items = flags, .count = 2 };
    if (args->count)
        return value_fail (&render->heap, "TypeError: sort() takes no positional arguments");
    value_t sorted = render_filter (render, SPAN ("sort"), self, &plain);
    if (!value_heap_failed (&render->heap))
        *self.as.list = *sorted.as.list;
    return value_none ();
}

static value_t
s_list_reverse (render_t *render, value_t self, const args_t *args)
{
    if (!value_list_own (&render->heap, self.as.list))
        return (value_t){ 0 };
    value_list_t *list = self.as.list;
    value_move (&render->heap, list->count);
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

//  ---- Dicts ---------------------------------------------------------------------------------------------------------

static value_t *
s_lookup (render_t *render, value_t self, value_t key)
{
    if (!value_is_hashable (&render->heap, key))
        value_fail (&render->heap, "TypeError: unhashable type: '%s'", value_type_name (key));
    return value_step (&render->heap, 1) ? value_dict_get (&render->heap, self.as.dict, key) : NULL;
}

static value_t
s_get (render_t *render, value_t self, const args_t *args)
{
    value_t *found = s_lookup (render, self, args->items [0]);
    return found ? *found : args_or (args, 1, "default", value_none ());
}

static value_t
s_keys (render_t *render, value_t self, const args_t *args)
{
    value_t view = value_new_view (&render->heap, "dict_keys");
    for (size_t i = 0; i < self.as.dict->count && value_step (&render->heap, 1); i++)
        value_list_add (&render->heap, view.as.list, self.as.dict->pairs [i].key);
    return view;
}

static value_t
s_values (render_t *render, value_t self, const args_t *args)
{
    value_t view = value_new_view (&render->heap, "dict_values");
    for (size_t i = 0; i < self.as.dict->count && value_step (&render->heap, 1); i++)
        value_list_add (&render->heap, view.as.list, self.as.dict->pairs [i].value);
    return view;
}

static value_t
s_dict_items (render_t *render, value_t self, const args_t *args)
{
    value_t view = value_new_view (&render->heap, "dict_items");
    for (size_t i = 0; i < self.as.dict->count && value_step (&render->heap, 1); i++)
        filters_add_pair (render, view, self.as.dict->pairs [i].key, self.as.dict->pairs [i].value);
    return view;
}

static value_t
s_dict_pop (render_t *render, value_t self, const args_t *args)
{
    value_dict_t *dict = self.as.dict;
    value_move (&render->heap, dict->count);
    for (size_t i = 0; i < dict->count; i++) {
        if (!value_equal (&render->heap, dict->pairs [i].key, args->items [0]))
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
s_popitem (render_t *render, value_t self, const args_t *args)
{
    value_dict_t *dict = self.as.dict;
    value_t pair = value_new_list (&render->heap, VALUE_TUPLE);
    if (!dict->count)
        return value_fail (&render->heap, "KeyError: 'popitem(): dictionary is empty'");
    dict->count--;
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, pair.as.list, dict->pairs [dict->count].key);
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, pair.as.list, dict->pairs [dict->count].value);
    return pair;
}

static value_t
s_dict_clear (render_t *render, value_t self, const args_t *args)
{
    self.as.dict->count = 0;
    return value_none ();
}

static value_t
s_update (render_t *render, value_t self, const args_t *args)
{
    globals_fill_dict (render, self, args);
    return value_none ();
}

static value_t
s_fromkeys (render_t *render, value_t self, const args_t *args)
{
    value_t *keys;
    size_t count;
    value_t dict = value_new_dict (&render->heap, VALUE_DICT);
    if (value_items (&render->heap, args->items [0], &keys, &count))
        for (size_t i = 0; i < count && value_step (&render->heap, 1); i++)
            value_dict_set (&render->heap, dict.as.dict, keys [i], args_or (args, 1, NULL, value_none ()));
    return dict;
}

static value_t
s_setdefault (render_t *render, value_t self, const args_t *args)
{
    value_t *found = s_lookup (render, self, args->items [0]);
    value_t otherwise = args_or (args, 1, NULL, value_none ());
    if (!found)
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

//  ---- Views ---------------------------------------------------------------------------------------------------------

static value_t
s_isdisjoint (render_t *render, value_t self, const args_t *args)
{
    value_t *items;
    size_t count;
    bool apart = value_items (&render->heap, args->items [0], &items, &count);
    for (size_t i = 0; apart && i < count && value_step (&render->heap, 1); i++)
        apart = !render_contains (render, self, items [i]);
    return value_bool (apart);
}

//  ---- Loops ---------------------------------------------------------------------------------------------------------

static value_t
s_cycle (render_t *render, value_t self, const args_t *args)
{
    if (!args->count)
        return value_fail (&render->heap, "TypeError: no items for cycling given");
    return args->items [self.as.loop->index % args->count];
}

static value_t
s_changed (render_t *render, value_t self, const args_t *args)
{
    value_loop_t *loop = self.as.loop;
    value_t now = value_new_list (&render->heap, VALUE_TUPLE);
    for (size_t i = 0; i < args->count && !value_heap_failed (&render->heap); i++)
        value_list_add (&render->heap, now.as.list, args->items [i]);
    bool changed = !value_equal (&render->heap, loop->changed, now);
    loop->changed = now;
    return value_bool (changed);
}

//  ---- Tables --------------------------------------------------------------------------------------------------------

const builtin_t methods_of_list [] = {
    { "append", "/ object", s_append },
    { "clear", "", s_list_clear },
    { "copy", "", s_list_copy },
    { "count", "/ value", s_list_count },
    { "extend", "/ iterable", s_extend },
    { "index", "/ value start#? stop#?", s_list_index },
    { "insert", "/ index# object", s_insert },
    { "pop", "/ index#?", s_list_pop },
    { "remove", "/ value", s_remove },
    { "reverse", "", s_list_reverse },
    { "sort", "reverse#?", s_list_sort },
    { NULL, NULL, NULL },
};

const builtin_t methods_of_tuple [] = {
    { "count", "/ value", s_list_count },
    { "index", "/ value start#? stop#?", s_list_index },
    { NULL, NULL, NULL },
};

const builtin_t methods_of_range [] = {
    { "count", "/ value", s_list_count },
    { "index", "/ value", s_list_index },
    { NULL, NULL, NULL },
};

const builtin_t methods_of_view [] = {
    { "isdisjoint", "/ other", s_isdisjoint },
    { NULL, NULL, NULL },
};

const builtin_t methods_of_dict [] = {
    { "clear", "", s_dict_clear },
    { "copy", "", s_dict_copy },
    { "fromkeys", "/ iterable value?", s_fromkeys },
    { "get", "/ key default?", s_get },
    { "items", "", s_dict_items },
    { "keys", "", s_keys },
    { "pop", "/ key default?", s_dict_pop },
    { "popitem", "", s_popitem },
    { "setdefault", "/ key default?", s_setdefault },
    { "update", "/ other? **", s_update },
    { "values", "", s_values },
    { NULL, NULL, NULL },
};

const builtin_t methods_of_loop [] = {
    { "changed", "/ *", s_changed },
    { "cycle", "/ *", s_cycle },
    { NULL, NULL, NULL },
};
