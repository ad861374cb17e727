//  decoder - what a token says
//
//  The decoders of tokenizer.json as far as they look at one token: applied once to every token when the file is loaded, and
//  once more to what says something else where a text begins. What is left for the start of a text is how many spaces to drop,
//  and for its end whether one is.

#ifndef MODEL_TOKENIZER_DECODER_H
#define MODEL_TOKENIZER_DECODER_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/tokenizer/normalizer.h"

typedef enum {
    DECODE_ALPHABET,    //  Printable characters to the bytes they stand for
    DECODE_BYTE,        //  <0xXX> to its byte
    DECODE_REPLACE,     //  `string` to `content`
    DECODE_RULES,       //  By `rules`
    DECODE_STRIP,       //  `string` dropped at the start, up to `start` times, and at the end, up to `stop` times
    DECODE_MARK,        //  `string` to a space; dropped where the text begins
    DECODE_WORD,    //  A space before it, where it does not begin with `string`, which is dropped; not where the text begins
    DECODE_APART    //  A space before it, but where the text begins
} decode_t;

typedef struct {
    decode_t kind;         //  What to do
    span_t string;         //  What is replaced or dropped; owned
    span_t content;        //  What is put; owned
    normalizer_t rules;    //  Of DECODE_RULES; owned
    uint64_t start;        //  Of DECODE_STRIP
    uint64_t stop;         //  The same
    bool begins;           //  The text begins with whatever is decoded: all tokens were made one before
} decoding_t;

enum { DECODER_STEPS_MAX = 16 };

typedef struct {
    array_t steps;    //  decoding_t, in order
    uint8_t strip;    //  Spaces dropped at the start of a text, at most
    bool holds;       //  One space is dropped at its end
    bool repeats;     //  A token behind the same one says nothing
} decoder_t;

void decoder_init (decoder_t *self);
void decoder_fini (decoder_t *self);

//  Adds a step; takes what it points to, also where it fails. STATUS_LIMIT for one too many.
status_t decoder_add (decoder_t *self, decoding_t step, error_t *error);

//  Whether what a token says depends on whether a text begins with it.
bool decoder_asks_where (const decoder_t *self);

//  Appends what a token says. token: as the file writes it. begins: a text begins with it.
void decoder_apply (const decoder_t *self, span_t token, bool begins, buffer_t *bytes);

#endif
