//  Feeds bytes to the JSON reader.  What is read is written again, and that must read back to the same text.

#include <stdlib.h>

#include "base/json.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    json_t *tree = NULL;
    error_t error;
    if (json_parse (span_of (data, size), &tree, &error))
        return 0;
    buffer_t once = { 0 }, twice = { 0 };
    json_render (tree, &once);
    json_destroy (&tree);
    if (json_parse (buffer_span (&once), &tree, &error))
        abort ();
    json_render (tree, &twice);
    if (!span_equal (buffer_span (&once), buffer_span (&twice)))
        abort ();
    json_destroy (&tree);
    buffer_fini (&once);
    buffer_fini (&twice);
    return 0;
}
