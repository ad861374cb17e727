//  schema - what type an argument has, and its text as JSON of that type

#ifndef MODEL_PARSER_SCHEMA_H
#define MODEL_PARSER_SCHEMA_H

#include "base/buffer.h"
#include "base/json.h"

//  A set of JSON types; none: the schema does not say.
enum {
    SCHEMA_STRING = 1,
    SCHEMA_INTEGER = 2,
    SCHEMA_NUMBER = 4,
    SCHEMA_BOOLEAN = 8,
    SCHEMA_OBJECT = 16,
    SCHEMA_ARRAY = 32,
    SCHEMA_NULL = 64,
};
typedef uint32_t schema_types_t;

//  Finds a tool by name in a request's list (OpenAI's form or bare functions).  NULL where there is none.
const json_t *schema_find_tool (const json_t *tools, span_t name);

//  The name of what schema_find_tool gave; empty for NULL.  Borrowed.
span_t schema_tool_name (const json_t *tool);

//  What a tool says of a value.  Borrowed from the tool.
typedef struct {
    const json_t *root;      //  The tool's parameters: where $ref points into
    const json_t *schema;    //  The value's; NULL: nothing is said of it
} schema_t;

//  Of a tool's arguments, an object (NULL: nothing is known); of a member of an object, of an element of an array, through
//  anyOf, oneOf, allOf and $ref within the root.
schema_t schema_of_arguments (const json_t *tool);
schema_t schema_of_member (schema_t object, span_t name);
schema_t schema_of_element (schema_t array);

//  Whether an object's schema names a member.
bool schema_has_member (schema_t object, span_t name);

//  The types it permits; through enum and const, too.
schema_types_t schema_types (schema_t self);

//  Appends the value that a text is under these types: JSON of a permitted type as it stands, else a string of the whole text.
void schema_render (buffer_t *out, span_t text, schema_types_t types);

#endif
