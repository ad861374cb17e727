//  What a llama-server sends: the first byte says which reader gets the rest.

#include "tests/fuzz/fuzz.h"

#include "base/bug.h"
#include "workers/llamacpp/wire.h"

static void
s_read_chunk (span_t bytes)
{
    wire_chunk_t chunk;
    wire_chunk_init (&chunk);
    if (wire_read_chunk (&chunk, bytes, NULL) == STATUS_OK) {
        size_t text = 0;
        for (size_t i = 0; i < chunk.sizes.count; i++)
            text += *(uint32_t *)array_at (&chunk.sizes, i);
        BUG_ON (chunk.sizes.count != chunk.tokens.count || text != chunk.text.size);
    }
    wire_chunk_fini (&chunk);
}

static void
s_read_facts (span_t bytes, status_t (*read) (wire_facts_t *, span_t, error_t *))
{
    wire_facts_t facts = { 0 };
    read (&facts, bytes, NULL);
    wire_facts_fini (&facts);
}

static void
s_read_answer (span_t bytes, status_t (*read) (span_t, buffer_t *, error_t *))
{
    buffer_t out = { 0 };
    read (bytes, &out, NULL);
    buffer_fini (&out);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    span_t bytes = span_of (data + 1, size - 1);
    switch (data [0] % 6) {
    case 0:
        s_read_chunk (bytes);
        break;
    case 1:
        s_read_facts (bytes, wire_read_props);
        break;
    case 2:
        s_read_facts (bytes, wire_read_models);
        break;
    case 3:
        s_read_answer (bytes, wire_read_prompt);
        break;
    case 4:
        s_read_answer (bytes, wire_read_tokens);
        break;
    default:
        BUG_ON (wire_read_error (400 + data [0], bytes, NULL) == STATUS_OK);
    }
    return 0;
}
