//  chain - decoders that look at all tokens of a text
//
//  Most decoders say the same of a token wherever it stands, and are applied when a file is loaded (decoder.h). Those here look at
//  what the ones before them made of all tokens, one behind the other, as Hugging Face's library does.

#ifndef MODEL_TOKENIZER_CHAIN_H
#define MODEL_TOKENIZER_CHAIN_H

#include "model/tokenizer/decoder.h"
#include "model/tokenizer/vocabulary.h"

//  Appends what ids say together: well-formed UTF-8. written: tokens as the file writes them; ids nobody has say nothing.
void chain_decode (
    const decoder_t *decoder, const vocabulary_t *written, const uint32_t *ids, size_t count, buffer_t *text);

#endif
