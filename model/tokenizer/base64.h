//  base64 - bytes as text, RFC 4648

#ifndef MODEL_TOKENIZER_BASE64_H
#define MODEL_TOKENIZER_BASE64_H

#include "base/buffer.h"

//  Appends the bytes. False where the text is not base64 with its padding.
bool base64_decode (span_t text, buffer_t *bytes);

#endif
