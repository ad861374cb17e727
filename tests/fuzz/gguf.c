//  Feeds bytes to the reader of GGUF metadata; what it finds lies in the file.

#include <stdlib.h>

#include "model/gguf.h"
#include "tests/fuzz/fuzz.h"

static void
s_check_inside (span_t file, span_t part)
{
    if (part.size && (part.data < file.data || part.data + part.size > file.data + file.size))
        abort ();
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    gguf_t gguf;
    error_t error;
    span_t file = span_of (data, size), string;
    if (gguf_init (&gguf, file, &error))
        return 0;
    for (size_t i = 0; i < gguf.entries.count; i++) {
        const gguf_entry_t *entry = array_at (&gguf.entries, i);
        s_check_inside (file, entry->key);
        s_check_inside (file, entry->data);
        if (entry->type == GGUF_ARRAY && entry->element == GGUF_STRING)
            for (size_t cursor = 0; gguf_next_string (entry, &cursor, &string);)
                s_check_inside (file, string);
    }
    gguf_fini (&gguf);
    return 0;
}
