//  pre - how byte-level vocabularies of GGUF files cut text
//
//  A GGUF file names its pre-tokenizer ("tokenizer.ggml.pre") instead of saying what it does. The names and what they mean
//  are those of llama.cpp; the expressions are those of the models' own tokenizer.json where there is one.

#ifndef MODEL_TOKENIZER_PRE_H
#define MODEL_TOKENIZER_PRE_H

#include "base/span.h"

enum { PRE_EXPRESSIONS = 6 };

typedef struct {
    const char *names;                            //  With a space before and behind each
    const char *expressions [PRE_EXPRESSIONS];    //  Each cuts the pieces of the one before
    bool ignore_merges;                           //  A piece that is a token is that token
    bool add_bos;                                 //  A text begins with that token, if the file says nothing
    bool always_bos;                              //  A text begins with that token, whatever the file says
    bool marks_spaces;                            //  Spaces are U+2581, and characters are encoded, not bytes
} pre_t;

//  What a name means; NULL for one that is not known. The empty name is "default".
const pre_t *pre_find (span_t name);

#endif
