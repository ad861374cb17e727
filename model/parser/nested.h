//  nested - a value whose parts are tags, written as JSON
//
//      <a>1</a><b><c>x</c></b>                 {"a": 1, "b": {"c": "x"}}
//      <item>1</item><item>2</item>            [1, 2], where the schema says array or every tag is `item`
//
//  What a part is, the schema says; where it says nothing, JSON if it can be, else text.

#ifndef MODEL_PARSER_NESTED_H
#define MODEL_PARSER_NESTED_H

#include "base/buffer.h"
#include "model/parser/format.h"
#include "model/parser/schema.h"

//  Tags within tags that are still read; what is deeper is text.
enum { NESTED_DEPTH_MAX = 32 };

//  Appends a text as JSON, whatever it is.
void nested_render (const parser_format_t *row, span_t text, schema_t schema, buffer_t *out);

#endif
