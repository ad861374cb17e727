#include "model/parser/nested.h"

#include <string.h>

#include "base/json_writer.h"
#include "model/parser/text.h"

//  A part of a value.
typedef struct {
    span_t key;      //  Its tag
    span_t value;    //  What stands in it
    span_t rest;     //  What stands behind it
} part_t;

static bool
s_begins_key (span_t text)
{
    uint8_t byte = text.size ? text.data [0] : 0;
    return byte == '_' || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
           byte >= 0x80;
}

static span_t
s_behind (span_t text, size_t at, const char *marker)
{
    return span_slice (text, at + strlen (marker), text.size);
}

//  The next tag that opens; SIZE_MAX: none.
static size_t
s_find_opener (const parser_format_t *row, span_t text)
{
    for (size_t at = 0; at < text.size; at++) {
        size_t next = text_find (span_slice (text, at, text.size), row->key_start);
        if (next == SIZE_MAX)
            break;
        at += next;
        if (s_begins_key (s_behind (text, at, row->key_start)))
            return at;
    }
    return SIZE_MAX;
}

//  Where the tag closes that is open at the start; the text's end where it does not.
static size_t
s_find_closer (const parser_format_t *row, span_t text)
{
    size_t depth = 1;
    for (size_t at = 0; at < text.size; at++) {
        span_t rest = span_slice (text, at, text.size);
        if (text_match (rest, row->value_end, true) == TEXT_WHOLE) {
            if (--depth == 0)
                return at;
        } else if (text_match (rest, row->key_start, true) == TEXT_WHOLE)
            depth += s_begins_key (s_behind (rest, 0, row->key_start));
    }
    return text.size;
}

static bool
s_next_part (const parser_format_t *row, span_t text, part_t *part)
{
    size_t opener = s_find_opener (row, text);
    if (opener == SIZE_MAX)
        return false;
    span_t inside = s_behind (text, opener, row->key_start);
    size_t key = text_find (inside, row->key_end);
    if (key == SIZE_MAX)
        return false;
    part->key = span_trim (span_slice (inside, 0, key));
    inside = s_behind (inside, key, row->key_end);
    size_t closer = s_find_closer (row, inside);
    part->value = span_slice (inside, 0, closer);
    part->rest = span_slice (inside, closer, inside.size);
    size_t end = text_find (part->rest, row->key_end);
    part->rest = end == SIZE_MAX ? (span_t){ 0 } : s_behind (part->rest, end, row->key_end);
    return true;
}

//  ---- Rendering -----------------------------------------------------------------------------------------------------

static void s_render (const parser_format_t *row, span_t text, schema_t schema, uint32_t depth, buffer_t *out);

static void
s_render_text (span_t text, schema_types_t types, buffer_t *out)
{
    bool empty = span_trim (text).size == 0 && !(types & SCHEMA_STRING);
    if (empty && types & (SCHEMA_OBJECT | SCHEMA_ARRAY))
        buffer_append_string (out, types & SCHEMA_OBJECT ? "{}" : "[]");
    else if (types == SCHEMA_STRING) {
        buffer_append_byte (out, '"');
        json_escape_bytes (out, text);
        buffer_append_byte (out, '"');
    } else
        schema_render (out, text, types);
}

static void
s_render_elements (const parser_format_t *row, part_t part, schema_t schema, uint32_t depth, buffer_t *out)
{
    bool more = true;
    buffer_append_byte (out, '[');
    for (const char *comma = ""; more; comma = ", ") {
        buffer_append_string (out, comma);
        s_render (row, part.value, schema_of_element (schema), depth + 1, out);
        more = s_next_part (row, part.rest, &part);
    }
    buffer_append_byte (out, ']');
}

//  Equal tags in a row are the elements of one array.  Moves *part to the last of them and returns whether another follows.
static bool
s_render_member (const parser_format_t *row, part_t *part, schema_t schema, uint32_t depth, buffer_t *out)
{
    part_t next;
    span_t key = part->key;
    bool more = s_next_part (row, part->rest, &next), list = more && span_equal (next.key, key);
    schema_t member = schema_of_member (schema, key);
    if (list && schema_types (member) & SCHEMA_ARRAY)
        member = schema_of_element (member);
    buffer_append_byte (out, '"');
    json_escape_bytes (out, key);
    buffer_append_string (out, list ? "\": [" : "\": ");
    s_render (row, part->value, member, depth + 1, out);
    for (; more && span_equal (next.key, key); more = s_next_part (row, next.rest, &next)) {
        buffer_append_string (out, ", ");
        s_render (row, next.value, member, depth + 1, out);
    }
    if (list)
        buffer_append_byte (out, ']');
    *part = next;
    return more;
}

static void
s_render (const parser_format_t *row, span_t text, schema_t schema, uint32_t depth, buffer_t *out)
{
    part_t part;
    schema_types_t types = schema_types (schema);
    bool string = types == SCHEMA_STRING || depth == NESTED_DEPTH_MAX;
    if (string || !s_next_part (row, text, &part)) {
        s_render_text (text, depth == NESTED_DEPTH_MAX ? SCHEMA_STRING : types, out);
        return;
    }
    bool is_array = types & SCHEMA_ARRAY || (!(types & SCHEMA_OBJECT) && span_equal_string (part.key, "item"));
    if (is_array) {
        s_render_elements (row, part, schema, depth, out);
        return;
    }
    const char *before = "{";
    bool more = true;
    for (; more; before = ", ") {
        buffer_append_string (out, before);
        more = s_render_member (row, &part, schema, depth, out);
    }
    buffer_append_byte (out, '}');
}

void
nested_render (const parser_format_t *row, span_t text, schema_t schema, buffer_t *out)
{
    s_render (row, text, schema, 0, out);
}
