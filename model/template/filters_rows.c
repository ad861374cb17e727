//  filters_rows - filters that walk rows: lists, iterators, dicts

#include <stdlib.h>
#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

//  A row to walk.
typedef struct {
    value_t *items;    //  In the heap
    size_t count;      //  How many
} row_t;

static bool
s_row (render_t *render, value_t value, row_t *row)
{
    return value_items (&render->heap, value, &row->items, &row->count);
}

static bool
s_step (render_t *render)
{
    return value_step (&render->heap, 1);
}

static value_t
s_new (render_t *render, value_kind_t kind)
{
    return value_new_list (&render->heap, kind);
}

static void
s_add (render_t *render, value_t list, value_t item)
{
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, list.as.list, item);
}

//  ---- Ends ----------------------------------------------------------------------------------------------------------

static value_t
s_first (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    if (!s_row (render, self, &row))
        return self;
    if (self.kind == VALUE_ITERATOR && row.count)
        self.as.list->taken -= row.count - 1;    //  The rest is still to come
    return row.count ? row.items [0] : value_undefined (&render->heap, "No first item, sequence was empty.");
}

static value_t
s_last (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    if (self.kind == VALUE_ITERATOR)
        return value_fail (&render->heap, "TypeError: 'generator' object is not reversible");
    if (!s_row (render, self, &row))
        return self;
    if (!row.count)
        return value_undefined (&render->heap, "No last item, sequence was empty.");
    value_t last = row.items [row.count - 1];
    last.safe |= self.safe;
    return last;
}

//  ---- Whole rows ----------------------------------------------------------------------------------------------------

static value_t
s_list (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    value_t list = s_new (render, VALUE_LIST);
    if (s_row (render, self, &row))
        for (size_t i = 0; i < row.count && s_step (render); i++)
            s_add (render, list, row.items [i]);
    return list;
}

static value_t
s_reverse (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    value_t list = s_new (render, self.kind == VALUE_ITERATOR ? VALUE_LIST : VALUE_ITERATOR);
    if (!s_row (render, self, &row))
        return self;
    for (size_t i = row.count; i > 0 && s_step (render); i--)
        s_add (render, list, row.items [i - 1]);
    if (self.kind != VALUE_STRING || value_heap_failed (&render->heap))
        return list;
    buffer_t text = { 0 };
    for (size_t i = 0; i < list.as.list->count; i++)
        buffer_append (&text, list.as.list->items [i].as.text);
    value_t reversed = value_take_buffer (&render->heap, &text);
    reversed.safe = self.safe;
    return reversed;
}

static value_t
s_join (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    buffer_t text = { 0 };
    value_t separator = args_or (args, 0, "d", value_text (SPAN ("")));
    const value_t *attribute = args_get (args, 1, "attribute");
    if (!s_row (render, self, &row))
        return self;
    for (size_t i = 0; i < row.count && s_step (render) && text.size <= render->heap.arena.limit; i++) {
        if (i)
            value_print (&render->heap, separator, &text);
        value_t item = attribute ? render_path (render, row.items [i], *attribute, NULL) : row.items [i];
        value_print (&render->heap, item, &text);
    }
    return value_take_buffer (&render->heap, &text);
}

static value_t
s_pair (render_t *render, value_t key, value_t value)
{
    value_t pair = s_new (render, VALUE_TUPLE);
    s_add (render, pair, key);
    s_add (render, pair, value);
    return pair;
}

void
filters_add_pair (render_t *render, value_t list, value_t key, value_t value)
{
    value_t pair = s_pair (render, key, value);
    s_add (render, list, pair);
}

static value_t
s_items (render_t *render, value_t self, const args_t *args)
{
    value_t list = s_new (render, VALUE_ITERATOR);
    if (self.kind == VALUE_UNDEFINED)
        return list;
    if (self.kind != VALUE_DICT)
        return value_fail (&render->heap, "TypeError: Can only get item pairs from a mapping.");
    for (size_t i = 0; i < self.as.dict->count && s_step (render); i++)
        filters_add_pair (render, list, self.as.dict->pairs [i].key, self.as.dict->pairs [i].value);
    return list;
}

static value_t
s_sum (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    const value_t *attribute = args_get (args, 0, "attribute");
    value_t total = args_or (args, 1, "start", value_int (0));
    if (total.kind == VALUE_STRING)
        return value_fail (&render->heap, "TypeError: sum() can't sum strings");
    if (!s_row (render, self, &row))
        return self;
    for (size_t i = 0; i < row.count && s_step (render); i++)
        total = render_binary (render, OP_ADD, total,
            attribute && attribute->kind != VALUE_NONE ? render_path (render, row.items [i], *attribute, NULL)
                                                       : row.items [i]);
    return total;
}

//  ---- Sorting: a stable insertion by halves, texts without case unless asked ----------------------------------------

typedef struct {
    value_t key;     //  What is compared
    value_t item;    //  What is sorted
} keyed_t;

//  How rows are told apart and put in order.
typedef struct {
    const value_t *attribute;    //  Of each item; NULL or None: the item itself
    const value_t *otherwise;    //  Where an item has no such attribute; NULL: undefined
    bool case_sensitive;         //  Texts
    bool in_rows;                //  Keys are compared as the only items of lists: equal ones need no order
} order_t;

static value_t
s_folded (render_t *render, value_t item, const order_t *by)
{
    if (item.kind != VALUE_STRING || by->case_sensitive)
        return item;
    buffer_t text = { 0 };
    if (value_scan (&render->heap, item.as.text))
        unicode_append_lower (&text, item.as.text);
    return value_take_buffer (&render->heap, &text);
}

static value_t
s_key (render_t *render, value_t item, const order_t *by)
{
    if (by->attribute && by->attribute->kind != VALUE_NONE)
        item = render_path (render, item, *by->attribute, by->otherwise);
    return s_folded (render, item, by);
}

//  "a,b": the keys of several attributes, one after the other.
static value_t
s_key_of_many (render_t *render, value_t item, const order_t *by)
{
    value_t keys = s_new (render, VALUE_LIST);
    for (span_t rest = by->attribute->as.text; rest.size && s_step (render);) {
        size_t comma = span_find_byte (rest, ',');
        value_t path = value_text (span_slice (rest, 0, comma));
        order_t one = { .attribute = &path, .case_sensitive = by->case_sensitive };
        s_add (render, keys, s_key (render, item, &one));
        rest = span_slice (rest, comma + 1, rest.size);
    }
    return keys;
}

static value_t
s_sort_key (render_t *render, value_t item, const order_t *by)
{
    const value_t *attribute = by->attribute;
    bool many = by->in_rows && attribute && attribute->kind == VALUE_STRING &&
                span_find_byte (attribute->as.text, ',') < attribute->as.text.size;
    return many ? s_key_of_many (render, item, by) : s_key (render, item, by);
}

static bool
s_compare (render_t *render, const order_t *by, value_t a, value_t b, int *order)
{
    *order = 0;
    return (by->in_rows && value_equal (&render->heap, a, b)) || value_compare (&render->heap, a, b, order);
}

static bool
s_merge (render_t *render, const order_t *by, keyed_t *rows, keyed_t *spare, size_t count)
{
    size_t half = count / 2;
    if (count < 2)
        return true;
    if (!s_merge (render, by, rows, spare, half) || !s_merge (render, by, rows + half, spare, count - half) ||
        !value_step (&render->heap, count))
        return false;
    memcpy (spare, rows, half * sizeof *rows);
    size_t left = 0;
    size_t right = half;
    for (size_t at = 0; left < half; at++) {
        int order = -1;
        if (right < count && !s_compare (render, by, spare [left].key, rows [right].key, &order))
            return false;
        rows [at] = right < count && order > 0 ? rows [right++] : spare [left++];
    }
    return true;
}

static keyed_t *
s_sorted (render_t *render, row_t row, const order_t *by, bool reverse)
{
    keyed_t *rows = value_alloc (&render->heap, (row.count + 1) * sizeof *rows);
    keyed_t *spare = value_alloc (&render->heap, (row.count + 1) * sizeof *spare);
    for (size_t i = 0; rows && spare && i < row.count && s_step (render); i++) {
        size_t place = reverse ? row.count - 1 - i : i;
        rows [i].item = row.items [place];
        rows [i].key = s_sort_key (render, row.items [place], by);
    }
    if (!rows || !spare || value_heap_failed (&render->heap) || !s_merge (render, by, rows, spare, row.count))
        return NULL;
    for (size_t i = 0; reverse && i < row.count / 2; i++) {
        keyed_t swap = rows [i];
        rows [i] = rows [row.count - 1 - i];
        rows [row.count - 1 - i] = swap;
    }
    return rows;
}

static value_t
s_sort (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    value_t list = s_new (render, VALUE_LIST);
    bool reverse = value_is_true (args_or (args, 0, "reverse", value_bool (false)));
    bool case_sensitive = value_is_true (args_or (args, 1, "case_sensitive", value_bool (false)));
    if (!s_row (render, self, &row))
        return self;
    order_t by = { .attribute = args_get (args, 2, "attribute"), .case_sensitive = case_sensitive, .in_rows = true };
    keyed_t *rows = s_sorted (render, row, &by, reverse);
    for (size_t i = 0; rows && i < row.count; i++)
        s_add (render, list, rows [i].item);
    return list;
}

static value_t
s_dictsort (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    args_t none = { 0 };
    value_t list = s_new (render, VALUE_LIST);
    value_t pairs = s_items (render, self, &none);
    bool case_sensitive = value_is_true (args_or (args, 0, "case_sensitive", value_bool (false)));
    value_t side = args_or (args, 1, "by", value_text (SPAN ("key")));
    bool by_value = side.kind == VALUE_STRING && span_equal_string (side.as.text, "value");
    bool reverse = value_is_true (args_or (args, 2, "reverse", value_bool (false)));
    value_t position = value_int (by_value);
    order_t by = { .attribute = &position, .case_sensitive = case_sensitive };
    if (self.kind == VALUE_UNDEFINED)
        return render_undefined_error (render, self);
    if (!by_value && !(side.kind == VALUE_STRING && span_equal_string (side.as.text, "key")))
        return value_fail (&render->heap, "FilterArgumentError: You can only sort by either \"key\" or \"value\"");
    if (value_heap_failed (&render->heap) || !s_row (render, pairs, &row))
        return list;
    keyed_t *rows = s_sorted (render, row, &by, reverse);
    for (size_t i = 0; rows && i < row.count; i++)
        s_add (render, list, rows [i].item);
    return list;
}

static value_t
s_extreme (render_t *render, value_t self, const args_t *args, int wanted)
{
    row_t row;
    order_t by = { .attribute = args_get (args, 1, "attribute") };
    by.case_sensitive = value_is_true (args_or (args, 0, "case_sensitive", value_bool (false)));
    if (!s_row (render, self, &row))
        return self;
    if (!row.count)
        return value_undefined (&render->heap, "No aggregated item, sequence was empty.");
    size_t best = 0;
    value_t best_key = s_key (render, row.items [0], &by);
    for (size_t i = 1; i < row.count && s_step (render); i++) {
        int order;
        value_t key = s_key (render, row.items [i], &by);
        if (!value_compare (&render->heap, key, best_key, &order))
            break;
        if (order == wanted) {
            best = i;
            best_key = key;
        }
    }
    return row.items [best];
}

static value_t
s_min (render_t *render, value_t self, const args_t *args)
{
    return s_extreme (render, self, args, -1);
}

static value_t
s_max (render_t *render, value_t self, const args_t *args)
{
    return s_extreme (render, self, args, 1);
}

static value_t
s_unique (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    order_t by = { .attribute = args_get (args, 1, "attribute") };
    by.case_sensitive = value_is_true (args_or (args, 0, "case_sensitive", value_bool (false)));
    value_t list = s_new (render, VALUE_ITERATOR);
    value_t seen = value_new_dict (&render->heap, VALUE_DICT);
    if (!s_row (render, self, &row))
        return self;
    for (size_t i = 0; i < row.count && s_step (render); i++) {
        value_t key = s_key (render, row.items [i], &by);
        size_t known = seen.as.dict->count;
        if (value_dict_set (&render->heap, seen.as.dict, key, value_none ()) && seen.as.dict->count > known)
            s_add (render, list, row.items [i]);
    }
    return list;
}

static value_t
s_groupby (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    value_t list = s_new (render, VALUE_LIST);
    order_t by = { .attribute = args_get (args, 0, "attribute"), .otherwise = args_get (args, 1, "default") };
    by.case_sensitive = value_is_true (args_or (args, 2, "case_sensitive", value_bool (false)));
    order_t exact = { .attribute = by.attribute, .otherwise = by.otherwise, .case_sensitive = true };
    if (!s_row (render, self, &row))
        return self;
    keyed_t *rows = s_sorted (render, row, &by, false);
    for (size_t i = 0; rows && i < row.count && s_step (render);) {
        value_t members = s_new (render, VALUE_LIST);
        value_t key = s_key (render, rows [i].item, &exact);
        value_t first = rows [i].key;
        for (; i < row.count && value_equal (&render->heap, rows [i].key, first); i++)
            s_add (render, members, rows [i].item);
        filters_add_pair (render, list, key, members);
    }
    return list;
}

//  ---- Choosing and changing each ------------------------------------------------------------------------------------

static args_t
s_rest (const args_t *args, size_t used)
{
    args_t rest = *args;
    rest.items += used < args->count ? used : args->count;
    rest.count -= used < args->count ? used : args->count;
    return rest;
}

//  attribute NULL: the item itself is tested.
static value_t
s_choose (render_t *render, value_t self, const value_t *attribute, const args_t *args, bool keep)
{
    row_t row;
    value_t list = s_new (render, VALUE_ITERATOR);
    args_t rest = s_rest (args, 1);
    if (!value_is_true (self))
        return list;    //  None too: nothing is there to choose from
    if (!s_row (render, self, &row))
        return self;
    for (size_t i = 0; i < row.count && s_step (render); i++) {
        value_t tested = attribute ? render_path (render, row.items [i], *attribute, NULL) : row.items [i];
        bool passes = args->count ? render_test (render, args_text (args, 0, NULL, SPAN ("")), tested, &rest)
                                  : value_is_true (tested);
        if (passes == keep)
            s_add (render, list, row.items [i]);
    }
    return list;
}

static value_t
s_select (render_t *render, value_t self, const args_t *args)
{
    return s_choose (render, self, NULL, args, true);
}

static value_t
s_reject (render_t *render, value_t self, const args_t *args)
{
    return s_choose (render, self, NULL, args, false);
}

static value_t
s_choose_by_attribute (render_t *render, value_t self, const args_t *args, bool keep)
{
    args_t rest = s_rest (args, 1);
    if (!args->count)
        return value_fail (&render->heap, "FilterArgumentError: Missing parameter for attribute name");
    return s_choose (render, self, &args->items [0], &rest, keep);
}

static value_t
s_selectattr (render_t *render, value_t self, const args_t *args)
{
    return s_choose_by_attribute (render, self, args, true);
}

static value_t
s_rejectattr (render_t *render, value_t self, const args_t *args)
{
    return s_choose_by_attribute (render, self, args, false);
}

static value_t
s_map (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    value_t list = s_new (render, VALUE_ITERATOR);
    const value_t *attribute = args->count ? NULL : args_get (args, SIZE_MAX, "attribute");
    const value_t *otherwise = args_get (args, SIZE_MAX, "default");
    args_t rest = s_rest (args, 1);
    if (!value_is_true (self))
        return list;
    if (!s_row (render, self, &row))
        return self;
    if (!attribute && !args->count)
        return value_fail (&render->heap, "FilterArgumentError: map requires a filter argument");
    if (attribute && args->keyword_count > 1U + (otherwise != NULL))
        return value_fail (&render->heap, "FilterArgumentError: Unexpected keyword argument");
    for (size_t i = 0; i < row.count && s_step (render); i++) {
        value_t item = attribute ? render_path (render, row.items [i], *attribute, otherwise)
                                 : render_filter (render, args_text (args, 0, NULL, SPAN ("")), row.items [i], &rest);
        s_add (render, list, item);
    }
    return list;
}

//  ---- Cutting -------------------------------------------------------------------------------------------------------

static value_t
s_batch (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    value_t list = s_new (render, VALUE_ITERATOR);
    value_t part = { 0 };
    int64_t size = args_int (args, 0, "linecount", 0);
    const value_t *fill = args_get (args, 1, "fill_with");
    if (size < 1 || !s_row (render, self, &row))
        return value_fail (&render->heap, "batch needs a size");
    for (size_t i = 0; i < row.count && s_step (render); i++) {
        if (i % (size_t)size == 0) {
            part = s_new (render, VALUE_LIST);
            s_add (render, list, part);
        }
        s_add (render, part, row.items [i]);
    }
    bool fills = fill && fill->kind != VALUE_NONE;
    for (size_t i = row.count; fills && row.count && i % (size_t)size && s_step (render); i++)
        s_add (render, part, *fill);
    return list;
}

static value_t
s_slice (render_t *render, value_t self, const args_t *args)
{
    row_t row;
    value_t list = s_new (render, VALUE_ITERATOR);
    int64_t parts = args_int (args, 0, "slices", 0);
    const value_t *fill = args_get (args, 1, "fill_with");
    if (parts < 1 || !s_row (render, self, &row))
        return value_fail (&render->heap, "slice needs a number of slices");
    size_t each = row.count / (size_t)parts;
    size_t longer = row.count % (size_t)parts;
    size_t at = 0;
    for (int64_t i = 0; i < parts && s_step (render); i++) {
        value_t part = s_new (render, VALUE_LIST);
        size_t size = each + ((size_t)i < longer);
        for (size_t k = 0; k < size && s_step (render); k++)
            s_add (render, part, row.items [at++]);
        if (fill && fill->kind != VALUE_NONE && (size_t)i >= longer)
            s_add (render, part, *fill);
        s_add (render, list, part);
    }
    return list;
}

const builtin_t filters_of_rows [] = {
    { "batch", "linecount fill_with?", s_batch },
    { "dictsort", "case_sensitive? by? reverse#?", s_dictsort },
    { "first", "", s_first },
    { "groupby", "attribute default? case_sensitive?", s_groupby },
    { "items", "", s_items },
    { "join", "d? attribute?", s_join },
    { "last", "", s_last },
    { "list", "", s_list },
    { "map", "/ * **", s_map },
    { "max", "case_sensitive? attribute?", s_max },
    { "min", "case_sensitive? attribute?", s_min },
    { "reject", "/ * **", s_reject },
    { "rejectattr", "/ * **", s_rejectattr },
    { "reverse", "", s_reverse },
    { "select", "/ * **", s_select },
    { "selectattr", "/ * **", s_selectattr },
    { "slice", "slices# fill_with?", s_slice },
    { "sort", "reverse#? case_sensitive? attribute?", s_sort },
    { "sum", "attribute? start?", s_sum },
    { "unique", "case_sensitive? attribute?", s_unique },
    { NULL, NULL, NULL },
};
