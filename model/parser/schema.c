#include "model/parser/schema.h"

#include <string.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "model/parser/extent.h"
#include "model/parser/literal.h"
#include "model/parser/text.h"

enum { SCHEMA_DEPTH_MAX = 8 };

//  The function of a tool: OpenAI wraps it.
static const json_t *
s_function (const json_t *tool)
{
    const json_t *function = json_get (tool, "function");
    return function ? function : tool;
}

span_t
schema_tool_name (const json_t *tool)
{
    return json_string (json_get (tool, "name"));
}

const json_t *
schema_find_tool (const json_t *tools, span_t name)
{
    for (size_t i = 0; i < json_count (tools) && name.size; i++) {
        const json_t *function = s_function (json_at (tools, i));
        if (span_equal (schema_tool_name (function), name))
            return function;
    }
    return NULL;
}

//  A member by a key that is no C string.
static const json_t *
s_member (const json_t *object, span_t key)
{
    uintptr_t cursor = 0;
    span_t name;
    const json_t *value;
    while (json_kind (object) == JSON_OBJECT && json_next (object, &cursor, &name, &value))
        if (span_equal (name, key))
            return value;
    return NULL;
}

//  Whether a name, in letters of any size, is one of those in a list parted by blanks.
static bool
s_is_listed (span_t list, span_t name)
{
    while (list.size) {
        size_t size = span_find_byte (list, ' ');
        if (span_equal_nocase (span_slice (list, 0, size), name))
            return true;
        list = span_slice (list, size + 1, list.size);
    }
    return false;
}

//  JSON Schema's words; those of languages that schemas are written in, too.
static schema_types_t
s_type_of_name (span_t name)
{
    static const char *const names [] = { "string", "integer", "number", "boolean", "object", "array", "null" };
    static const char *const others [] = { "string str text varchar char enum any",
        "integer int int32 int64 uint uint32 uint64 long short unsigned any", "number float float32 float64 double any",
        "boolean bool any", "object dict any", "array arr list sequence tuple any", "null none any" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_equal_string (name, names [i]))
            return 1u << i;
    schema_types_t types = 0;
    for (size_t i = 0; name.size && i < sizeof others / sizeof *others; i++)
        if (s_is_listed (span_from_string (others [i]), name))
            types |= 1u << i;
    return types;
}

static schema_types_t
s_type_of_kind (json_kind_t kind)
{
    static const schema_types_t types [] = { [JSON_NULL] = SCHEMA_NULL,
        [JSON_BOOL] = SCHEMA_BOOLEAN,
        [JSON_INTEGER] = SCHEMA_INTEGER,
        [JSON_REAL] = SCHEMA_NUMBER,
        [JSON_STRING] = SCHEMA_STRING,
        [JSON_ARRAY] = SCHEMA_ARRAY,
        [JSON_OBJECT] = SCHEMA_OBJECT };
    return types [kind];
}

//  "#/$defs/name" within the root.
static const json_t *
s_follow (const json_t *root, span_t reference)
{
    if (!span_starts_with (reference, SPAN ("#/")))
        return NULL;
    const json_t *at = root;
    span_t rest = span_slice (reference, 2, reference.size);
    while (at && rest.size) {
        size_t size = span_find_byte (rest, '/');
        at = s_member (at, span_slice (rest, 0, size));
        rest = span_slice (rest, size + 1, rest.size);
    }
    return at;
}

static schema_types_t s_types (const json_t *root, const json_t *schema, uint32_t depth);

static schema_types_t
s_types_of_all (const json_t *root, const json_t *list, uint32_t depth)
{
    schema_types_t types = 0;
    for (size_t i = 0; i < json_count (list); i++)
        types |= s_types (root, json_at (list, i), depth + 1);
    return types;
}

static schema_types_t
s_types (const json_t *root, const json_t *schema, uint32_t depth)
{
    const json_t *type = json_get (schema, "type");
    schema_types_t types = s_type_of_name (json_string (type));
    if (depth > SCHEMA_DEPTH_MAX)
        return 0;
    for (size_t i = 0; i < json_count (type); i++)
        types |= s_type_of_name (json_string (json_at (type, i)));
    if (types)
        return types;
    const json_t *values = json_get (schema, "enum");
    for (size_t i = 0; i < json_count (values); i++)
        types |= s_type_of_kind (json_kind (json_at (values, i)));
    if (json_get (schema, "const"))
        types |= s_type_of_kind (json_kind (json_get (schema, "const")));
    static const char *const lists [] = { "anyOf", "oneOf", "allOf" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        types |= s_types_of_all (root, json_get (schema, lists [i]), depth);
    if (json_get (schema, "$ref"))
        types |= s_types (root, s_follow (root, json_string (json_get (schema, "$ref"))), depth + 1);
    return types;
}

schema_types_t
schema_types (schema_t self)
{
    return s_types (self.root, self.schema, 0);
}

//  ---- Places --------------------------------------------------------------------------------------------------------

typedef const json_t *(place_fn)(const json_t *schema, span_t name);

//  What a schema, or one that it stands for, has at a place.  NULL: nothing.
static const json_t *
s_search (const json_t *root, const json_t *schema, place_fn *place, span_t name, uint32_t depth)
{
    static const char *const lists [] = { "anyOf", "oneOf", "allOf" };
    if (!schema || depth > SCHEMA_DEPTH_MAX)
        return NULL;
    const json_t *found = place (schema, name);
    if (found)
        return found;
    found = s_search (root, s_follow (root, json_string (json_get (schema, "$ref"))), place, name, depth + 1);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !found; i++) {
        const json_t *list = json_get (schema, lists [i]);
        for (size_t row = 0; row < json_count (list) && !found; row++)
            found = s_search (root, json_at (list, row), place, name, depth + 1);
    }
    return found;
}

static const json_t *
s_member_place (const json_t *schema, span_t name)
{
    const json_t *member = s_member (json_get (schema, "properties"), name);
    if (member)
        return member;
    const json_t *others = json_get (schema, "additionalProperties");
    return json_kind (others) == JSON_OBJECT ? others : NULL;
}

static const json_t *
s_named_place (const json_t *schema, span_t name)
{
    return s_member (json_get (schema, "properties"), name);
}

static const json_t *
s_element_place (const json_t *schema, span_t name)
{
    return json_get (schema, "items");
}

schema_t
schema_of_member (schema_t object, span_t name)
{
    return (schema_t){ object.root, s_search (object.root, object.schema, s_member_place, name, 0) };
}

bool
schema_has_member (schema_t object, span_t name)
{
    return s_search (object.root, object.schema, s_named_place, name, 0) != NULL;
}

schema_t
schema_of_element (schema_t array)
{
    return (schema_t){ array.root, s_search (array.root, array.schema, s_element_place, (span_t){ 0 }, 0) };
}

schema_t
schema_of_arguments (const json_t *tool)
{
    const json_t *parameters = json_get (tool, "parameters");
    if (!parameters)
        parameters = json_get (tool, "input_schema");
    return (schema_t){ parameters, parameters };
}

//  ---- Values --------------------------------------------------------------------------------------------------------

//  JSON of this kind may stand where these types are permitted; where they leave no string, any JSON is better than one.
static bool
s_fits (json_kind_t kind, schema_types_t types)
{
    schema_types_t type = s_type_of_kind (kind);
    if (type == SCHEMA_INTEGER)
        type |= SCHEMA_NUMBER;
    return !(types & SCHEMA_STRING) || ((types & type) && type != SCHEMA_STRING);
}

static bool
s_render_json (buffer_t *out, span_t text, schema_types_t types)
{
    json_kind_t kind;
    bool fits = json_recognize (text, &kind) && s_fits (kind, types);
    if (fits)
        buffer_append (out, text);
    return fits;
}

//  Lists, objects and words in Python's notation.
static bool
s_render_literal (buffer_t *out, span_t text, schema_types_t types)
{
    bool none = !(types & SCHEMA_STRING) && span_equal_string (text, "None");
    bool word = none || span_equal_string (text, "True") || span_equal_string (text, "False");
    if (!word && (!text.size || (text.data [0] != '[' && text.data [0] != '{')))
        return false;
    bool broken;
    buffer_t json = { 0 };
    literal_t *literal = memory_new (sizeof *literal);
    literal_init (literal, NULL, false);
    bool whole = literal_feed (literal, text, true, &json, &broken) == text.size;
    if (word)
        literal_close (literal, &json);
    whole = whole && literal->done && s_render_json (out, buffer_span (&json), types);
    memory_free (literal);
    buffer_fini (&json);
    return whole;
}

//  A list or an object that was cut, made whole, where the types permit one and no string.
static bool
s_render_cut (buffer_t *out, span_t text, schema_types_t types)
{
    bool odd, opens = text.size && (text.data [0] == '[' || text.data [0] == '{');
    if (!opens || types & SCHEMA_STRING || !(types & (SCHEMA_ARRAY | SCHEMA_OBJECT)))
        return false;
    extent_t *extent = memory_new (sizeof *extent);
    extent_init (extent);
    bool whole = extent_feed (extent, text, &odd) == text.size;
    buffer_t json = { 0 };
    if (!extent->in_string && text.data [text.size - 1] == ',') {
        extent->expect = EXTENT_NEXT;
        text.size--;
    }
    buffer_append (&json, text);
    whole = whole && extent_close (extent, &json) && s_render_json (out, buffer_span (&json), types);
    memory_free (extent);
    buffer_fini (&json);
    return whole;
}

static size_t
s_count_digits (span_t text)
{
    size_t at = 0;
    while (at < text.size && text.data [at] >= '0' && text.data [at] <= '9')
        at++;
    return at;
}

//  A whole number beyond 64 bits, which the tree would not keep.
static bool
s_is_big_integer (span_t text)
{
    span_t digits = span_slice (text, text.size && text.data [0] == '-', text.size);
    return digits.size > 1 && digits.data [0] != '0' && s_count_digits (digits) == digits.size;
}

//  A number that JSON does not write so: +5, 007, .5, 5.  False: it is none.
static bool
s_render_number (buffer_t *out, span_t text)
{
    bool minus = text.size && text.data [0] == '-', sign = minus || (text.size && text.data [0] == '+');
    text = span_slice (text, sign, text.size);
    span_t whole = span_slice (text, 0, s_count_digits (text));
    bool point = whole.size < text.size && text.data [whole.size] == '.';
    span_t part = span_slice (text, whole.size + point, text.size);
    if (!(whole.size + part.size) || s_count_digits (part) != part.size || whole.size + point + part.size != text.size)
        return false;
    while (whole.size > 1 && whole.data [0] == '0')
        whole = span_slice (whole, 1, whole.size);
    buffer_append_string (out, minus ? "-" : "");
    buffer_append (out, whole.size ? whole : SPAN ("0"));
    buffer_append_string (out, part.size ? "." : "");
    buffer_append (out, part);
    return true;
}

//  true and false in letters of any size, and 1 and 0 where no number may stand.
static bool
s_render_boolean (buffer_t *out, span_t text, schema_types_t types)
{
    static const char *const words [][2] = { { "true", "1" }, { "false", "0" } };
    bool digit = !(types & (SCHEMA_INTEGER | SCHEMA_NUMBER));
    for (size_t i = 0; i < 2; i++)
        if (span_equal_nocase (text, span_from_string (words [i][0])) ||
            (digit && span_equal_string (text, words [i][1]))) {
            buffer_append_string (out, words [i][0]);
            return true;
        }
    return false;
}

//  What the types permit in another spelling than JSON's.  A string has only its own.
static bool
s_render_loosely (buffer_t *out, span_t text, schema_types_t types)
{
    if (types & SCHEMA_STRING)
        return false;
    return (types & SCHEMA_BOOLEAN && s_render_boolean (out, text, types)) ||
           (types & (SCHEMA_INTEGER | SCHEMA_NUMBER) && s_render_number (out, text));
}

void
schema_render (buffer_t *out, span_t text, schema_types_t types)
{
    span_t value = span_trim (text);
    if (s_render_loosely (out, value, types) || s_render_json (out, value, types) ||
        s_render_literal (out, value, types) || s_render_cut (out, value, types))
        return;
    if (!(types & SCHEMA_STRING) && s_is_big_integer (value)) {
        buffer_append (out, value);
        return;
    }
    buffer_append_byte (out, '"');
    json_escape_bytes (out, text);
    buffer_append_byte (out, '"');
}
