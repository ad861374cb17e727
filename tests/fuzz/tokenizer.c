//  Feeds bytes to the readers of vocabularies: as a tokenizer.json, as a GGUF file. What loads must encode any text, to
//  tokens it has.

#include <stdlib.h>

#include "model/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

static void
s_use (tokenizer_t *tokenizer)
{
    static const span_t text = { (const uint8_t *)" Hello <s>w\xc3\xb6rld</s>\n\t12 \xff ab\xf0\x9f", 32 };
    array_t ids;
    buffer_t said = { 0 };
    array_init (&ids, sizeof (uint32_t));
    for (unsigned flags = 0; flags < 4; flags++)
        tokenizer_encode (tokenizer, text,
            (tokenizer_flags_t){ .add_special = flags & 1, .parse_special = flags & 2, .not_first = flags & 1 }, &ids,
            NULL);
    tokenizer_decode (tokenizer, ids.data, ids.count, false, &said);
    buffer_fini (&said);
    array_fini (&ids);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    tokenizer_t *tokenizer = NULL;
    error_t error;
    span_t file = span_of (data, size);
    bool is_gguf = span_starts_with (file, SPAN ("GGUF"));
    status_t status =
        is_gguf ? tokenizer_load_gguf (file, &tokenizer, &error) : tokenizer_load_json (file, &tokenizer, &error);
    if ((status == STATUS_OK) != (tokenizer != NULL) || (status && !error.text [0]))
        abort ();
    if (tokenizer)
        s_use (tokenizer);
    tokenizer_destroy (&tokenizer);
    return 0;
}
