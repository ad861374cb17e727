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

//  The types its schema permits for an argument; through anyOf, oneOf, allOf, enum, const and $ref within the schema.
//  *known: the schema names the argument.
schema_types_t schema_types (const json_t *tool, span_t argument, bool *known);

//  Appends the value that a text is under these types: JSON of a permitted type as it stands, else a string of the whole text.
void schema_render (buffer_t *out, span_t text, schema_types_t types);

#endif
