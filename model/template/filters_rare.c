//  filters_rare - filters of Jinja that chat templates hardly use
//
//  What would not be the same as in Jinja2 is refused with a sentence: chance, which no rendering has.

#include <stdio.h>
#include <string.h>

#include "model/template/entities.h"
#include "model/template/filters.h"
#include "model/template/unicode.h"

enum { ENTITY_STEPS = 100 };    //  Of looking for the names that a reference may begin with

//  ---- Sizes ---------------------------------------------------------------------------------------------------------

static value_t
s_filesizeformat (render_t *render, value_t self, const args_t *args)
{
    static const struct {
        double unit [2];           //  Above it: decimal, binary
        const char *prefix [2];    //  The same
    } rows [] = {
        { { 1e6, 0x1p20 }, { "kB", "KiB" } },
        { { 1e9, 0x1p30 }, { "MB", "MiB" } },
        { { 1e12, 0x1p40 }, { "GB", "GiB" } },
        { { 1e15, 0x1p50 }, { "TB", "TiB" } },
        { { 1e18, 0x1p60 }, { "PB", "PiB" } },
        { { 1e21, 0x1p70 }, { "EB", "EiB" } },
        { { 1e24, 0x1p80 }, { "ZB", "ZiB" } },
        { { 1e27, 0x1p90 }, { "YB", "YiB" } },
    };
    value_t refused = value_none ();
    bool binary = value_is_true (args_or (args, 0, "binary", value_bool (false)));
    value_t number = render_filter (render, SPAN ("float"), self, &(args_t){ .items = &refused, .count = 1 });
    buffer_t out = { 0 };
    if (number.kind != VALUE_FLOAT)
        return value_fail (&render->heap, "ValueError: could not convert to float: '%s'", value_type_name (self));
    double bytes = number.as.real, base = binary ? 1024 : 1000;
    size_t row = 0;
    while (row + 1 < sizeof rows / sizeof *rows && !(bytes < rows [row].unit [binary]))
        row++;
    if (bytes == 1)
        buffer_append_string (&out, "1 Byte");
    else if (bytes < base && bytes > -9e18)
        buffer_print (&out, "%lld Bytes", (long long)bytes);
    else if (bytes < base)
        return value_too_large (&render->heap);
    else
        buffer_print (&out, "%.1f %s", base * bytes / rows [row].unit [binary], rows [row].prefix [binary]);
    value_step (&render->heap, out.size);
    return value_take_buffer (&render->heap, &out);
}

//  ---- HTML ----------------------------------------------------------------------------------------------------------

static bool
s_breaks_name (span_t name)
{
    for (size_t at = 0, size; at < name.size; at += size) {
        uint32_t point = unicode_decode (span_slice (name, at, 4), &size);
        if (unicode_is_space (point) || point == '/' || point == '>' || point == '=')
            return true;
    }
    return false;
}

static void
s_append_attribute (render_t *render, const value_pair_t *pair, buffer_t *out)
{
    args_t none = { 0 };
    if (pair->value.kind == VALUE_NONE || pair->value.kind == VALUE_UNDEFINED)
        return;
    if (pair->key.kind != VALUE_STRING || s_breaks_name (pair->key.as.text)) {
        value_fail (&render->heap, "ValueError: Invalid character in attribute name");
        return;
    }
    buffer_append_byte (out, ' ');
    value_print (&render->heap, render_filter (render, SPAN ("escape"), pair->key, &none), out);
    buffer_append_string (out, "=\"");
    value_print (&render->heap, render_filter (render, SPAN ("escape"), pair->value, &none), out);
    buffer_append_byte (out, '"');
}

static value_t
s_xmlattr (render_t *render, value_t self, const args_t *args)
{
    bool spaced = value_is_true (args_or (args, 0, "autospace", value_bool (true)));
    buffer_t out = { 0 };
    if (self.kind != VALUE_DICT)
        return value_fail (&render->heap, "TypeError: attributes are a dict, not '%s'", value_type_name (self));
    for (size_t i = 0; i < self.as.dict->count && value_step (&render->heap, 1); i++)
        s_append_attribute (render, &self.as.dict->pairs [i], &out);
    if (!spaced && out.size)
        buffer_drop_front (&out, 1);
    value_t text = value_take_buffer (&render->heap, &out);
    text.safe = render->escapes;
    return text;
}

//  Without what stands from each `open` to the next `close`.
static value_t
s_without (render_t *render, span_t text, span_t open, span_t close)
{
    buffer_t out = { 0 };
    while (value_step (&render->heap, 1)) {
        span_t start = filters_find (text, open);
        size_t at = start.data ? (size_t)(start.data - text.data) : text.size;
        span_t end = filters_find (span_slice (text, at, text.size), close);
        buffer_append (&out, span_slice (text, 0, end.data ? at : text.size));
        if (!end.data)
            break;
        at = (size_t)(end.data - text.data) + end.size;
        text = span_slice (text, at, text.size);
    }
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_unescape (render_t *render, span_t text)
{
    buffer_t out = { 0 };
    while (text.size && value_step (&render->heap, 1)) {
        size_t at = span_find_byte (text, '&'), size = 0;
        buffer_append (&out, span_slice (text, 0, at));
        text = span_slice (text, at, text.size);
        if (text.size && value_step (&render->heap, ENTITY_STEPS))
            size = entities_read (text, &out);
        text = span_slice (text, size, text.size);
    }
    return value_take_buffer (&render->heap, &out);
}

static value_t
s_striptags (render_t *render, value_t self, const args_t *args)
{
    args_t none = { 0 };
    value_t blank = value_text (SPAN (" "));
    value_t text = value_to_text (&render->heap, self);
    text = s_without (render, text.as.text, SPAN ("<!--"), SPAN ("-->"));
    text = s_without (render, text.as.text, SPAN ("<"), SPAN (">"));
    if (value_heap_failed (&render->heap))
        return text;
    text = render_builtin (render, builtin_find (methods_of_text, SPAN ("split")), text, &none);
    text = render_filter (render, SPAN ("join"), text, &(args_t){ .items = &blank, .count = 1 });
    return value_heap_failed (&render->heap) ? text : s_unescape (render, text.as.text);
}

//  ---- Values --------------------------------------------------------------------------------------------------------

static value_t
s_random (render_t *render, value_t self, const args_t *args)
{
    return value_fail (&render->heap, "random is not supported: a conversation has one prompt");
}

const builtin_t filters_rare [] = {
    { "filesizeformat", "binary?", s_filesizeformat },
    { "pprint", "", filters_pprint },
    { "random", "", s_random },
    { "striptags", "", s_striptags },
    { "urlize", "trim_url_limit? nofollow? target? rel? extra_schemes?", filters_urlize },
    { "wordwrap", "width? break_long_words? wrapstring? break_on_hyphens?", filters_wordwrap },
    { "xmlattr", "autospace?", s_xmlattr },
    { NULL, NULL, NULL },
};
