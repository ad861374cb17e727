//  json_text - json.dumps as transformers' tojson calls it: no HTML escapes, ensure_ascii off by default

#include <inttypes.h>
#include <string.h>

#include "model/template/render.h"
#include "model/template/unicode.h"

typedef struct {
    render_t *render;             //  For errors and steps
    const json_style_t *style;    //  How
    buffer_t *out;                //  Where
    int64_t level;                //  Of nesting
} printer_t;

static void s_value (printer_t *self, value_t value);

static void
s_escape_ascii (buffer_t *out, uint32_t point)
{
    if (point < 0x10000) {
        buffer_print (out, "\\u%04x", point);
        return;
    }
    point -= 0x10000;
    buffer_print (out, "\\u%04x\\u%04x", 0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff));
}

//  Bytes at the front of a text that stand in JSON as they are.
static size_t
s_plain_run (span_t text)
{
    size_t at = 0;
    while (at < text.size && text.data [at] >= 0x20 && text.data [at] < 0x7f && text.data [at] != '"' &&
           text.data [at] != '\\')
        at++;
    return at;
}

static void
s_text (printer_t *self, span_t text)
{
    static const char named [] = "\b\f\n\r\t\"\\";
    static const char letters [] = "bfnrt\"\\";
    if (!value_scan (&self->render->heap, text))
        return;
    buffer_append_byte (self->out, '"');
    for (size_t at = 0, size; at < text.size; at += size) {
        size = s_plain_run (span_slice (text, at, text.size));
        buffer_append (self->out, span_slice (text, at, size));
        if (size)
            continue;
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        const char *found = point && point < 0x80 ? strchr (named, (int)point) : NULL;
        if (found)
            buffer_print (self->out, "\\%c", letters [found - named]);
        else if (point < 0x20)
            buffer_print (self->out, "\\u%04x", point);
        else if (point >= 0x7f && self->style->ensure_ascii)
            s_escape_ascii (self->out, point);
        else
            buffer_append (self->out, span_slice (text, at, size));
    }
    buffer_append_byte (self->out, '"');
}

static void
s_new_line (printer_t *self)
{
    value_heap_t *heap = &self->render->heap;
    if (!self->style->lines)
        return;
    buffer_append_byte (self->out, '\n');
    for (int64_t i = 0; i < self->level && value_step (heap, 1) && self->out->size <= heap->arena.limit; i++)
        value_write (heap, self->style->indent, self->out);
}

static void
s_separate (printer_t *self, bool first)
{
    if (!first)
        value_write (&self->render->heap, self->style->item_separator, self->out);
    s_new_line (self);
}

static void
s_list (printer_t *self, const value_list_t *list)
{
    buffer_append_byte (self->out, '[');
    self->level++;
    value_enter (&self->render->heap);
    for (size_t i = 0; i < list->count && value_step (&self->render->heap, 1); i++) {
        s_separate (self, i == 0);
        s_value (self, list->items [i]);
    }
    value_leave (&self->render->heap);
    self->level--;
    if (list->count)
        s_new_line (self);
    buffer_append_byte (self->out, ']');
}

//  A key is text, or becomes it.
static void
s_key (printer_t *self, value_t key)
{
    if (key.kind == VALUE_STRING) {
        s_text (self, key.as.text);
        return;
    }
    if (!value_is_numeric (key) && key.kind != VALUE_NONE) {
        value_fail (&self->render->heap, "TypeError: keys must be str, int, float, bool or None, not %s",
            value_type_name (key));
        return;
    }
    buffer_append_byte (self->out, '"');
    s_value (self, key);
    buffer_append_byte (self->out, '"');
}

//  Positions of the pairs in the order of their keys.
static size_t *
s_sorted (printer_t *self, const value_dict_t *dict)
{
    size_t *order = value_alloc (&self->render->heap, (dict->count + 1) * sizeof *order);
    for (size_t i = 0; order && i < dict->count && value_step (&self->render->heap, i + 1); i++) {
        size_t place = i;
        int compared = 0;
        for (; place > 0; place--) {
            if (!value_compare (
                    &self->render->heap, dict->pairs [order [place - 1]].key, dict->pairs [i].key, &compared) ||
                compared <= 0)
                break;
            order [place] = order [place - 1];
        }
        order [place] = i;
    }
    return order;
}

static void
s_dict (printer_t *self, const value_dict_t *dict)
{
    size_t *order = self->style->sort_keys ? s_sorted (self, dict) : NULL;
    buffer_append_byte (self->out, '{');
    self->level++;
    value_enter (&self->render->heap);
    for (size_t i = 0; i < dict->count && value_step (&self->render->heap, 1); i++) {
        const value_pair_t *pair = &dict->pairs [order ? order [i] : i];
        s_separate (self, i == 0);
        s_key (self, pair->key);
        value_write (&self->render->heap, self->style->key_separator, self->out);
        s_value (self, pair->value);
    }
    value_leave (&self->render->heap);
    self->level--;
    if (dict->count)
        s_new_line (self);
    buffer_append_byte (self->out, '}');
}

//  As Python: not JSON where it is not finite.
static void
s_real (printer_t *self, double real)
{
    if (real != real)
        buffer_append_string (self->out, "NaN");
    else if (real - real != 0)
        buffer_append_string (self->out, real > 0 ? "Infinity" : "-Infinity");
    else
        value_print_repr (&self->render->heap, value_float (real), self->out);
}

static void
s_value (printer_t *self, value_t value)
{
    switch (value.kind) {
    case VALUE_NONE:
        buffer_append_string (self->out, "null");
        break;
    case VALUE_BOOL:
        buffer_append_string (self->out, value.as.truth ? "true" : "false");
        break;
    case VALUE_INT:
        buffer_print (self->out, "%" PRId64, value.as.integer);
        break;
    case VALUE_BIG:
        buffer_append (self->out, value.as.text);
        break;
    case VALUE_FLOAT:
        s_real (self, value.as.real);
        break;
    case VALUE_STRING:
        s_text (self, value.as.text);
        break;
    case VALUE_LIST:
    case VALUE_TUPLE:
        s_list (self, value.as.list);
        break;
    case VALUE_DICT:
        s_dict (self, value.as.dict);
        break;
    default:
        value_fail (
            &self->render->heap, "TypeError: Object of type %s is not JSON serializable", value_type_name (value));
    }
}

void
render_json (render_t *self, value_t value, const json_style_t *style, buffer_t *out)
{
    printer_t printer = { .render = self, .style = style, .out = out };
    s_value (&printer, value);
}
