//  globals - functions that every template can call

#include "model/template/render.h"

enum { RANGE_MAX = 100000 };    //  As Jinja's sandbox

static value_t
s_range (render_t *render, value_t self, const args_t *args)
{
    int64_t from = args->count > 1 ? args_whole (args, 0, NULL, 0) : 0;
    int64_t to = args_whole (args, args->count > 1, NULL, 0);
    int64_t step = args_whole (args, 2, NULL, 1);
    for (size_t i = 0; i < args->count; i++)
        if (args->items [i].kind != VALUE_INT && args->items [i].kind != VALUE_BOOL)
            return value_fail (&render->heap, "TypeError: '%s' object cannot be interpreted as an integer",
                value_type_name (args->items [i]));
    if (step == 0)
        return value_fail (&render->heap, "ValueError: range() arg 3 must not be zero");
    double count = ((double)to - (double)from) / (double)step;
    if (count > RANGE_MAX)
        return value_fail (
            &render->heap, "OverflowError: Range too big. The sandbox blocks ranges larger than %d", RANGE_MAX);
    return value_new_range (&render->heap, from, to, step);
}

//  The pairs of a row of rows of two.
static void
s_add_pairs (render_t *render, value_t dict, value_t from)
{
    value_t *rows, *pair;
    size_t count, size;
    if (!value_items (&render->heap, from, &rows, &count))
        return;
    for (size_t i = 0; i < count && value_step (&render->heap, 1); i++) {
        if (!value_items (&render->heap, rows [i], &pair, &size))
            return;
        if (size == 2)
            value_dict_set (&render->heap, dict.as.dict, pair [0], pair [1]);
        else
            value_fail (&render->heap,
                "ValueError: dictionary update sequence element #%zu has length %zu; 2 is required", i, size);
    }
}

void
globals_fill_dict (render_t *render, value_t dict, const args_t *args)
{
    const value_t *from = args_get (args, 0, NULL);
    bool copies = from && from->kind == VALUE_DICT;
    for (size_t i = 0; copies && i < from->as.dict->count && value_step (&render->heap, 1); i++)
        value_dict_set (&render->heap, dict.as.dict, from->as.dict->pairs [i].key, from->as.dict->pairs [i].value);
    if (from && !copies && !value_heap_failed (&render->heap))
        s_add_pairs (render, dict, *from);
    for (size_t i = 0; i < args->keyword_count && value_step (&render->heap, 1); i++)
        value_dict_set (&render->heap, dict.as.dict, value_text (args->names [i]), args->values [i]);
}

static value_t
s_dict_of (render_t *render, const args_t *args, value_kind_t kind)
{
    value_t dict = value_new_dict (&render->heap, kind);
    if (!value_heap_failed (&render->heap))
        globals_fill_dict (render, dict, args);
    return dict;
}

static value_t
s_namespace (render_t *render, value_t self, const args_t *args)
{
    return s_dict_of (render, args, VALUE_NAMESPACE);
}

static value_t
s_dict (render_t *render, value_t self, const args_t *args)
{
    return s_dict_of (render, args, VALUE_DICT);
}

static value_t
s_raise_exception (render_t *render, value_t self, const args_t *args)
{
    buffer_t text = { 0 };
    value_print (&render->heap, args_or (args, 0, "message", value_none ()), &text);
    value_fail (&render->heap, "TemplateError: %.*s", SPAN_ARG (buffer_span (&text)));
    buffer_fini (&text);
    return (value_t){ 0 };
}

static value_t
s_strftime_now (render_t *render, value_t self, const args_t *args)
{
    const value_t *format = args_get (args, 0, "format");
    if (format->kind != VALUE_STRING)
        return value_fail (
            &render->heap, "TypeError: strftime() argument 1 must be str, not %s", value_type_name (*format));
    return render_strftime (render, format->as.text);
}

//  ---- joiner and cycler: functions that remember, in a list they are bound to ---------------------------------------

static value_t
s_join_next (render_t *render, value_t self, const args_t *args)
{
    value_t separator = self.as.list->items [0];
    bool used = value_is_true (self.as.list->items [1]);
    self.as.list->items [1] = value_bool (true);
    return used ? separator : value_text (SPAN (""));
}

static value_t
s_joiner (render_t *render, value_t self, const args_t *args)
{
    static const builtin_t next = { "joiner", "", s_join_next };
    value_t memory = value_new_list (&render->heap, VALUE_LIST);
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, memory.as.list, args_or (args, 0, "sep", value_text (SPAN (", "))));
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, memory.as.list, value_bool (false));
    return value_heap_failed (&render->heap) ? (value_t){ 0 } : render_function (render, &next, memory);
}

//  Bound to the cycler, a namespace: its items stand under a name that templates cannot reach.
static value_t
s_cycle_to (render_t *render, value_t self, size_t position)
{
    value_list_t *items = value_dict_get_text (&render->heap, self.as.dict, SPAN ("_items"))->as.list;
    items->taken = position % items->count;
    value_dict_set_text (&render->heap, self.as.dict, "current", items->items [items->taken]);
    return items->items [items->taken];
}

static value_t
s_cycle_next (render_t *render, value_t self, const args_t *args)
{
    value_list_t *items = value_dict_get_text (&render->heap, self.as.dict, SPAN ("_items"))->as.list;
    value_t present = items->items [items->taken];
    s_cycle_to (render, self, items->taken + 1);
    return present;
}

static value_t
s_cycle_reset (render_t *render, value_t self, const args_t *args)
{
    s_cycle_to (render, self, 0);
    return value_none ();
}

static value_t
s_cycler (render_t *render, value_t self, const args_t *args)
{
    static const builtin_t next = { "next", "", s_cycle_next };
    static const builtin_t reset = { "reset", "", s_cycle_reset };
    value_t cycler = value_new_dict (&render->heap, VALUE_NAMESPACE);
    value_t items = value_new_list (&render->heap, VALUE_LIST);
    if (!args->count)
        return value_fail (&render->heap, "RuntimeError: at least one item has to be provided");
    for (size_t i = 0; i < args->count && !value_heap_failed (&render->heap); i++)
        value_list_add (&render->heap, items.as.list, args->items [i]);
    if (value_heap_failed (&render->heap))
        return (value_t){ 0 };
    value_dict_set_text (&render->heap, cycler.as.dict, "_items", items);
    value_dict_set_text (&render->heap, cycler.as.dict, "next", render_function (render, &next, cycler));
    value_dict_set_text (&render->heap, cycler.as.dict, "reset", render_function (render, &reset, cycler));
    if (!value_heap_failed (&render->heap))
        s_cycle_to (render, cycler, 0);
    return cycler;
}

const builtin_t globals_table [] = {
    { "cycler", "/ *", s_cycler },
    { "joiner", "sep?", s_joiner },
    { "range", "/ start stop? step?", s_range },
    { "namespace", "/ values? **", s_namespace },
    { "dict", "/ values? **", s_dict },
    { "raise_exception", "message", s_raise_exception },
    { "strftime_now", "format", s_strftime_now },
    { NULL, NULL, NULL },
};
