#include "model/tokenizer/body.h"

status_t
tokenizer_load_gguf (span_t file, tokenizer_t **tokenizer, error_t *error)
{
    return error_set (error, STATUS_UNSUPPORTED, "GGUF vocabularies");
}
