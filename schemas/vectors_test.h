//  vectors_test - schemas/vectors.json for the tests that replay it
//
//  Included by tests only, which run in the root of the repository.

#ifndef SCHEMAS_VECTORS_TEST_H
#define SCHEMAS_VECTORS_TEST_H

#include <stdio.h>

#include "base/json.h"
#include "schemas/message.h"

//  The whole file.  Gives the tree: json_destroy.
static inline json_t *
vectors_read (void)
{
    buffer_t text = { 0 };
    json_t *tree = NULL;
    FILE *file = fopen ("schemas/vectors.json", "rb");
    assert_non_null (file);
    size_t size;
    do {
        size = fread (buffer_reserve (&text, 65536), 1, 65536, file);
        buffer_commit (&text, size);
    } while (size);
    fclose (file);
    error_t error = { 0 };
    if (json_parse (buffer_span (&text), &tree, &error))
        fail_msg ("%s", error.text);
    buffer_fini (&text);
    return tree;
}

//  The bytes of one vector.  Gives the buffer: buffer_fini.
static inline buffer_t
vector_bytes (const json_t *vector)
{
    span_t digits = json_string (json_get (vector, "hex"));
    buffer_t bytes = { 0 };
    for (size_t i = 0; i + 1 < digits.size; i += 2) {
        unsigned byte = 0;
        for (size_t j = i; j < i + 2; j++)
            byte = byte << 4 | (unsigned)(digits.data [j] <= '9' ? digits.data [j] - '0' : digits.data [j] - 'a' + 10);
        buffer_append_byte (&bytes, (uint8_t)byte);
    }
    return bytes;
}

static inline const message_type_t *
vector_type (const json_t *vector)
{
    const message_type_t *type = message_find (json_string (json_get (vector, "message")));
    assert_non_null (type);
    return type;
}

#endif
