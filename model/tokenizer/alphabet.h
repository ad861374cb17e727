//  alphabet - bytes as printable characters
//
//  Byte-level vocabularies write every byte as one printable character (GPT-2's table): what prints stands for itself, the
//  rest for U+0100 and on. Here vocabularies are turned into bytes when they are loaded, so that text need not be mapped.

#ifndef MODEL_TOKENIZER_ALPHABET_H
#define MODEL_TOKENIZER_ALPHABET_H

#include "base/buffer.h"

//  Appends the bytes that a text in the alphabet stands for. False, with nothing appended, where a character is not in it.
bool alphabet_to_bytes (span_t text, buffer_t *bytes);

//  Appends bytes as text in the alphabet.
void alphabet_from_bytes (span_t bytes, buffer_t *text);

//  The byte that a token <0xXX> of other vocabularies stands for; -1 for any other text.
int alphabet_named_byte (span_t text);

#endif
