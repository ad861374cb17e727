//  charsmap - SentencePiece's compiled normalisation rules
//
//  The Precompiled normalizer of tokenizer.json and precompiled_charsmap of GGUF: a double-array trie from character
//  sequences to offsets, and the NUL-terminated replacements those point to. All of it comes from a file: every step
//  through it is checked.

#ifndef MODEL_TOKENIZER_CHARSMAP_H
#define MODEL_TOKENIZER_CHARSMAP_H

#include "base/buffer.h"
#include "base/error.h"

typedef struct {
    void *memory;           //  What both lie in; owned
    span_t units;           //  The trie: little-endian 32-bit units
    span_t replacements;    //  Texts, each with a NUL behind
} charsmap_t;

//  Reads a map from its bytes; copies them. STATUS_INVALID where the trie's size is not that of a trie.
status_t charsmap_init (charsmap_t *self, span_t bytes, error_t *error);
void charsmap_fini (charsmap_t *self);

//  Appends well-formed text with what the map has replaced, grapheme by grapheme, else character by character; ends early
//  where out grows beyond `limit` bytes.
void charsmap_apply (const charsmap_t *self, span_t text, size_t limit, buffer_t *out);

#endif
