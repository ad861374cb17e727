//  methods_text - what a text can do, as Python's str

#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

//  ---- Arguments -----------------------------------------------------------------------------------------------------

//  A text that must be given; empty with the error set where it is none.
static span_t
s_part (render_t *render, const args_t *args, size_t position)
{
    value_t value = args->items [position];
    if (value.kind != VALUE_STRING)
        value_fail (&render->heap, "TypeError: must be str, not %s", value_type_name (value));
    return value.kind == VALUE_STRING ? value.as.text : SPAN ("");
}

//  The same, to be looked for; empty, too, where that would take too long.
static span_t
s_wanted (render_t *render, value_t self, const args_t *args)
{
    span_t part = s_part (render, args, 0);
    return value_search (&render->heap, self.as.text, part) ? part : SPAN ("");
}

static int64_t
s_clip (int64_t index, int64_t count)
{
    index = index < 0 ? index + count : index;
    return index < 0 ? 0 : index;
}

//  The text between the arguments start and end, and how many code points stand before it.  False where there is none.
static bool
s_window (value_t self, const args_t *args, span_t *window, int64_t *before)
{
    *window = self.as.text;
    *before = 0;
    if (args->count < 2)
        return true;
    int64_t count = (int64_t)value_text_length (self.as.text);
    int64_t end = s_clip (args_int (args, 2, NULL, count), count);
    *before = s_clip (args_int (args, 1, NULL, 0), count);
    end = end > count ? count : end;
    if (*before > end)
        return false;
    *window = value_text_range (self.as.text, (size_t)*before, (size_t)end);
    return true;
}

//  ---- Cutting -------------------------------------------------------------------------------------------------------

static value_t
s_strip (render_t *render, value_t self, const args_t *args, bool left, bool right)
{
    const value_t *set = args_get (args, 0, NULL);
    if (set && set->kind != VALUE_STRING && set->kind != VALUE_NONE)
        return value_fail (&render->heap, "TypeError: strip arg must be None or str");
    bool has_set = set && set->kind == VALUE_STRING;
    bool done = filters_strip (render, &self.as.text, has_set ? &set->as.text : NULL, left, right);
    return done ? value_text (self.as.text) : (value_t){ 0 };
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

//  The last so many bytes of a text that end in no whitespace.
static size_t
s_last_word (span_t text)
{
    size_t begin = text.size, size;
    while (begin) {
        size_t at = begin - 1;
        while (at && (text.data [at] & 0xc0) == 0x80)
            at--;
        if (unicode_is_space (unicode_decode (span_slice (text, at, 4), &size)))
            break;
        begin = at;
    }
    return text.size - begin;
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

//  A row back to front.
static value_t
s_reversed (render_t *render, value_t list)
{
    value_t reversed = value_new_list (&render->heap, VALUE_LIST);
    if (!value_heap_failed (&render->heap))
        for (size_t i = list.as.list->count; i > 0; i--)
            value_list_add (&render->heap, reversed.as.list, list.as.list->items [i - 1]);
    return reversed;
}

static value_t
s_rsplit_blank (render_t *render, span_t text, int64_t most)
{
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    text = unicode_strip (text, NULL, false, true);
    while (text.size && value_step (&render->heap, 1)) {
        size_t size = most-- == 0 ? text.size : s_last_word (text);
        s_add_text (render, list, span_slice (text, text.size - size, size));
        text = unicode_strip (span_slice (text, 0, text.size - size), NULL, false, true);
    }
    return s_reversed (render, list);
}

//  What split and rsplit were given: false for whitespace.  An empty or foreign separator is an error.
static bool
s_separator (render_t *render, span_t text, const args_t *args, span_t *separator)
{
    const value_t *value = args_get (args, 0, "sep");
    if (!value || value->kind == VALUE_NONE)
        return false;
    *separator = value->kind == VALUE_STRING ? value->as.text : SPAN ("");
    if (value->kind != VALUE_STRING)
        value_fail (&render->heap, "TypeError: must be str or None, not %s", value_type_name (*value));
    else if (!separator->size)
        value_fail (&render->heap, "ValueError: empty separator");
    value_search (&render->heap, text, *separator);
    return true;
}

static value_t
s_split (render_t *render, value_t self, const args_t *args)
{
    int64_t most = args_int (args, 1, "maxsplit", -1);
    span_t text = self.as.text;
    span_t separator;
    if (!s_separator (render, text, args, &separator))
        return s_split_blank (render, text, most);
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    while (value_step (&render->heap, 1)) {
        span_t found = most-- == 0 ? (span_t){ NULL, 0 } : filters_find (text, separator);
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
    int64_t most = args_int (args, 1, "maxsplit", -1);
    span_t text = self.as.text;
    span_t separator;
    if (!s_separator (render, text, args, &separator))
        return s_rsplit_blank (render, text, most);
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    while (value_step (&render->heap, 1)) {
        span_t found = most-- == 0 ? (span_t){ NULL, 0 } : s_find_last (text, separator);
        size_t begin = found.data ? (size_t)(found.data - text.data) : 0;
        s_add_text (render, list, found.data ? span_slice (text, begin + found.size, text.size) : text);
        if (!found.data)
            break;
        text = span_slice (text, 0, begin);
    }
    return s_reversed (render, list);
}

//  What stands before a part, the part, what stands behind it; the whole text on one side where it does not occur.
static value_t
s_partition_at (render_t *render, span_t text, span_t found, bool whole_first)
{
    value_t list = value_new_list (&render->heap, VALUE_TUPLE);
    size_t at = found.data ? (size_t)(found.data - text.data) : whole_first ? text.size : 0;
    s_add_text (render, list, span_slice (text, 0, at));
    s_add_text (render, list, found);
    s_add_text (render, list, span_slice (text, at + found.size, text.size));
    return list;
}

static span_t
s_divider (render_t *render, value_t self, const args_t *args)
{
    span_t part = s_wanted (render, self, args);
    if (!part.size)
        value_fail (&render->heap, "ValueError: empty separator");
    return part;
}

static value_t
s_partition (render_t *render, value_t self, const args_t *args)
{
    return s_partition_at (render, self.as.text, filters_find (self.as.text, s_divider (render, self, args)), true);
}

static value_t
s_rpartition (render_t *render, value_t self, const args_t *args)
{
    return s_partition_at (render, self.as.text, s_find_last (self.as.text, s_divider (render, self, args)), false);
}

static value_t
s_splitlines (render_t *render, value_t self, const args_t *args)
{
    bool keep = value_is_true (args_or (args, 0, "keepends", value_bool (false)));
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    for (span_t text = self.as.text; text.size && value_step (&render->heap, 1);) {
        size_t end = 0;
        size_t size = 0;
        while (end < text.size && (size = unicode_line_end (span_slice (text, end, 4))) == 0)
            end++;
        s_add_text (render, list, span_slice (text, 0, end + (keep ? size : 0)));
        text = span_slice (text, end + size, text.size);
    }
    return list;
}

//  ---- Looking -------------------------------------------------------------------------------------------------------

static bool
s_ends_with (span_t text, span_t part)
{
    return part.size <= text.size && span_equal (span_slice (text, text.size - part.size, part.size), part);
}

//  One text or a tuple of them.
static value_t
s_affix (render_t *render, value_t self, const args_t *args, bool (*has) (span_t text, span_t part))
{
    value_t part = args->items [0];
    span_t window;
    int64_t before;
    bool inside = s_window (self, args, &window, &before);
    if (part.kind == VALUE_STRING)
        return value_bool (inside && has (window, part.as.text));
    if (part.kind != VALUE_TUPLE)
        return value_fail (
            &render->heap, "TypeError: first arg must be str or a tuple of str, not %s", value_type_name (part));
    for (size_t i = 0; i < part.as.list->count; i++) {
        value_t each = part.as.list->items [i];
        if (inside && each.kind == VALUE_STRING && value_scan (&render->heap, each.as.text) &&
            has (window, each.as.text))
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
    span_t part = s_part (render, args, 0);
    bool has = span_starts_with (self.as.text, part);
    return has ? value_text (span_slice (self.as.text, part.size, self.as.text.size)) : self;
}

static value_t
s_removesuffix (render_t *render, value_t self, const args_t *args)
{
    span_t part = s_part (render, args, 0);
    bool has = s_ends_with (self.as.text, part);
    return has ? value_text (span_slice (self.as.text, 0, self.as.text.size - part.size)) : self;
}

//  The position in code points; -1 where the part does not occur.
static value_t
s_position (render_t *render, value_t self, const args_t *args, bool last)
{
    span_t window;
    int64_t before;
    span_t part = s_wanted (render, self, args);
    if (!s_window (self, args, &window, &before))
        return value_int (-1);
    if (!part.size)
        return value_int (before + (last ? (int64_t)value_text_length (window) : 0));
    span_t found = last ? s_find_last (window, part) : filters_find (window, part);
    if (!found.data)
        return value_int (-1);
    return value_int (before + (int64_t)value_text_length (span_slice (window, 0, (size_t)(found.data - window.data))));
}

static value_t
s_find (render_t *render, value_t self, const args_t *args)
{
    return s_position (render, self, args, false);
}

static value_t
s_rfind (render_t *render, value_t self, const args_t *args)
{
    return s_position (render, self, args, true);
}

static value_t
s_found (render_t *render, value_t position)
{
    return position.as.integer < 0 ? value_fail (&render->heap, "ValueError: substring not found") : position;
}

static value_t
s_index (render_t *render, value_t self, const args_t *args)
{
    return s_found (render, s_position (render, self, args, false));
}

static value_t
s_rindex (render_t *render, value_t self, const args_t *args)
{
    return s_found (render, s_position (render, self, args, true));
}

static value_t
s_count (render_t *render, value_t self, const args_t *args)
{
    span_t part = s_wanted (render, self, args);
    span_t text;
    int64_t before;
    int64_t count = 0;
    if (!s_window (self, args, &text, &before))
        return value_int (0);
    if (!part.size)
        return value_int ((int64_t)value_text_length (text) + 1);
    for (span_t found; (found = filters_find (text, part)).data && value_step (&render->heap, 1); count++)
        text = span_slice (text, (size_t)(found.data - text.data) + part.size, text.size);
    return value_int (count);
}

//  ---- Changing ------------------------------------------------------------------------------------------------------

static value_t
s_replace (render_t *render, value_t self, const args_t *args)
{
    span_t from = s_part (render, args, 0);
    span_t to = s_part (render, args, 1);
    return filters_replace (render, self.as.text, from, to, args_int (args, 2, NULL, -1));
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
s_casefold (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, unicode_append_folded);
}

static value_t
s_swapcase (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, unicode_append_swapped);
}

static value_t
s_title (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, unicode_append_title);
}

static value_t
s_capitalize (render_t *render, value_t self, const args_t *args)
{
    return s_convert (render, self, unicode_append_capital);
}

static value_t
s_join (render_t *render, value_t self, const args_t *args)
{
    value_t *items;
    size_t count;
    buffer_t text = { 0 };
    if (!value_items (&render->heap, args->items [0], &items, &count))
        return value_fail (&render->heap, "TypeError: can only join an iterable");
    for (size_t i = 0; i < count && value_step (&render->heap, 1) && text.size <= render->heap.arena.limit; i++) {
        if (items [i].kind != VALUE_STRING) {
            value_fail (&render->heap, "TypeError: sequence item %zu: expected str instance, %s found", i,
                value_type_name (items [i]));
            break;
        }
        value_write (&render->heap, i ? self.as.text : SPAN (""), &text);
        value_write (&render->heap, items [i].as.text, &text);
    }
    return value_take_buffer (&render->heap, &text);
}

//  Fills up to a width, so much of it on the left.
static value_t
s_fill (render_t *render, span_t text, const args_t *args, int64_t left, int64_t padding)
{
    buffer_t out = { 0 };
    span_t with = args->count > 1 ? s_part (render, args, 1) : SPAN (" ");
    if (value_text_length (with) != 1)
        return value_fail (&render->heap, "TypeError: The fill character must be exactly one character long");
    for (int64_t i = 0; i < left && value_step (&render->heap, 1); i++)
        buffer_append (&out, with);
    buffer_append (&out, text);
    for (int64_t i = left; i < padding && value_step (&render->heap, 1); i++)
        buffer_append (&out, with);
    return value_take_buffer (&render->heap, &out);
}

static int64_t
s_padding (value_t self, const args_t *args)
{
    int64_t padding = args_int (args, 0, NULL, 0) - (int64_t)value_text_length (self.as.text);
    return padding > 0 ? padding : 0;
}

static value_t
s_center (render_t *render, value_t self, const args_t *args)
{
    int64_t padding = s_padding (self, args);
    return s_fill (render, self.as.text, args, padding / 2 + (padding & args_int (args, 0, NULL, 0) & 1), padding);
}

static value_t
s_ljust (render_t *render, value_t self, const args_t *args)
{
    return s_fill (render, self.as.text, args, 0, s_padding (self, args));
}

static value_t
s_rjust (render_t *render, value_t self, const args_t *args)
{
    return s_fill (render, self.as.text, args, s_padding (self, args), s_padding (self, args));
}

static value_t
s_zfill (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    span_t text = self.as.text;
    size_t sign = text.size && (text.data [0] == '-' || text.data [0] == '+');
    buffer_append (&out, span_slice (text, 0, sign));
    for (int64_t i = s_padding (self, args); i > 0 && value_step (&render->heap, 1); i--)
        buffer_append_byte (&out, '0');
    buffer_append (&out, span_slice (text, sign, text.size));
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_expandtabs (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    int64_t width = args_int (args, 0, "tabsize", 8);
    int64_t column = 0;
    for (size_t i = 0; i < self.as.text.size && value_step (&render->heap, 1); i++) {
        uint8_t byte = self.as.text.data [i];
        int64_t spaces = byte == '\t' && width > 0 ? width - column % width : 0;
        if (byte != '\t')
            buffer_append_byte (&out, byte);
        column = byte == '\n' || byte == '\r' ? 0 : column + spaces + (byte != '\t' && (byte & 0xc0) != 0x80);
        for (; spaces > 0 && value_step (&render->heap, 1); spaces--)
            buffer_append_byte (&out, ' ');
    }
    return value_take_buffer (&render->heap, &out);
}

//  ---- Asking --------------------------------------------------------------------------------------------------------

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
s_isdecimal (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_decimal);
}

static value_t
s_isnumeric (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_numeric);
}

static value_t
s_isalpha (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_letter);
}

static value_t
s_isalnum (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_alphanumeric);
}

static value_t
s_isspace (render_t *render, value_t self, const args_t *args)
{
    return s_all (self, unicode_is_space);
}

static value_t
s_isascii (render_t *render, value_t self, const args_t *args)
{
    bool ascii = true;
    for (size_t i = 0; i < self.as.text.size; i++)
        ascii &= self.as.text.data [i] < 0x80;
    return value_bool (ascii);
}

static value_t
s_isprintable (render_t *render, value_t self, const args_t *args)
{
    bool printable = true;
    for (size_t at = 0, size; at < self.as.text.size; at += size) {
        unicode_decode (span_slice (self.as.text, at, 4), &size);
        printable &= unicode_is_printable (span_slice (self.as.text, at, size));
    }
    return value_bool (printable);
}

static value_t
s_isidentifier (render_t *render, value_t self, const args_t *args)
{
    bool fits = self.as.text.size > 0;
    for (size_t at = 0, size; fits && at < self.as.text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (self.as.text, at, 4), &size);
        fits = point == '_' || unicode_is_letter (point) || (at && unicode_is_decimal (point));
    }
    return value_bool (fits);
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

static value_t
s_istitle (render_t *render, value_t self, const args_t *args)
{
    bool inside = false;
    bool found = false;
    for (size_t at = 0, size; at < self.as.text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (self.as.text, at, 4), &size);
        bool upper = unicode_is_upper (point) || unicode_is_title (point);
        bool lower = unicode_is_lower (point);
        if ((upper && inside) || (lower && !inside))
            return value_bool (false);
        inside = upper || lower;
        found |= inside;
    }
    return value_bool (found);
}

static value_t
s_format_map (render_t *render, value_t self, const args_t *args)
{
    value_t mapping = args->items [0];
    args_t named = mapping.kind == VALUE_DICT ? render_named (render, mapping.as.dict) : (args_t){ 0 };
    return format_fields (render, self, &named);
}

static value_t
s_encode (render_t *render, value_t self, const args_t *args)
{
    return value_fail (&render->heap, "encode is not supported: a template has texts, not bytes");
}

const builtin_t methods_of_text [] = {
    { "capitalize", "", s_capitalize },
    { "casefold", "", s_casefold },
    { "center", "/ width# fillchar?", s_center },
    { "count", "/ sub start:? end:?", s_count },
    { "encode", "encoding? errors?", s_encode },
    { "endswith", "/ suffix start:? end:?", s_endswith },
    { "expandtabs", "tabsize#?", s_expandtabs },
    { "find", "/ sub start:? end:?", s_find },
    { "format", "/ * **", format_fields },
    { "format_map", "/ mapping", s_format_map },
    { "index", "/ sub start:? end:?", s_index },
    { "isalnum", "", s_isalnum },
    { "isalpha", "", s_isalpha },
    { "isascii", "", s_isascii },
    { "isdecimal", "", s_isdecimal },
    { "isdigit", "", s_isdigit },
    { "isidentifier", "", s_isidentifier },
    { "islower", "", s_islower },
    { "isnumeric", "", s_isnumeric },
    { "isprintable", "", s_isprintable },
    { "isspace", "", s_isspace },
    { "istitle", "", s_istitle },
    { "isupper", "", s_isupper },
    { "join", "/ iterable", s_join },
    { "ljust", "/ width# fillchar?", s_ljust },
    { "lower", "", s_lower },
    { "lstrip", "/ chars?", s_strip_left },
    { "maketrans", "/ x y? z?", translate_make },
    { "partition", "/ sep", s_partition },
    { "removeprefix", "/ prefix", s_removeprefix },
    { "removesuffix", "/ suffix", s_removesuffix },
    { "replace", "/ old new count#?", s_replace },
    { "rfind", "/ sub start:? end:?", s_rfind },
    { "rindex", "/ sub start:? end:?", s_rindex },
    { "rjust", "/ width# fillchar?", s_rjust },
    { "rpartition", "/ sep", s_rpartition },
    { "rsplit", "sep? maxsplit#?", s_rsplit },
    { "rstrip", "/ chars?", s_strip_right },
    { "split", "sep? maxsplit#?", s_split },
    { "splitlines", "keepends#?", s_splitlines },
    { "startswith", "/ prefix start:? end:?", s_startswith },
    { "strip", "/ chars?", s_strip_both },
    { "swapcase", "", s_swapcase },
    { "title", "", s_title },
    { "translate", "/ table", translate_text },
    { "upper", "", s_upper },
    { "zfill", "/ width#", s_zfill },
    { NULL, NULL, NULL },
};

//  ---- Safe texts ----------------------------------------------------------------------------------------------------

static value_t
s_escape (render_t *render, value_t value)
{
    bool done = value.kind == VALUE_STRING && value.safe;
    return done ? value : render_filter (render, SPAN ("escape"), value, &(args_t){ 0 });
}

static value_t
s_escape_items (render_t *render, value_t row)
{
    value_t *items;
    size_t count;
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    if (value_items (&render->heap, row, &items, &count))
        for (size_t i = 0; i < count && value_step (&render->heap, 1); i++)
            value_list_add (&render->heap, list.as.list, s_escape (render, items [i]));
    return list;
}

//  As MarkupSafe 3: what becomes part of the text is escaped, not what is looked for or taken away.
static value_t
s_escape_argument (render_t *render, const builtin_t *method, size_t position, value_t value)
{
    static const char *const second [] = { "center", "ljust", "replace", "rjust" };
    if (strcmp (method->name, "join") == 0)
        return s_escape_items (render, value);
    if (strcmp (method->name, "format") == 0)
        return value.kind == VALUE_STRING ? s_escape (render, value) : value;
    for (size_t i = 0; position == 1 && i < sizeof second / sizeof *second; i++)
        if (strcmp (method->name, second [i]) == 0)
            return s_escape (render, value);
    return value;
}

static value_t
s_mark_safe (value_t value)
{
    value.safe = value.kind == VALUE_STRING;
    for (size_t i = 0; value_is_sequence (value) && i < value.as.list->count; i++)
        value.as.list->items [i].safe = value.as.list->items [i].kind == VALUE_STRING;
    return value;
}

value_t
render_safe_method (render_t *render, const builtin_t *method, value_t self, const args_t *args)
{
    args_t escaped = *args;
    escaped.items = value_alloc (&render->heap, (args->count + 1) * sizeof *escaped.items);
    escaped.values = value_alloc (&render->heap, (args->keyword_count + 1) * sizeof *escaped.values);
    for (size_t i = 0; i < args->count && !value_heap_failed (&render->heap); i++)
        escaped.items [i] = s_escape_argument (render, method, i, args->items [i]);
    for (size_t i = 0; i < args->keyword_count && !value_heap_failed (&render->heap); i++)
        escaped.values [i] = s_escape_argument (render, method, SIZE_MAX, args->values [i]);
    return value_heap_failed (&render->heap) ? (value_t){ 0 } : s_mark_safe (method->call (render, self, &escaped));
}
