//  decoder - what a token says
//
//  The decoders of tokenizer.json. As far as they look at one token, which is so in nearly all files, they are applied once to
//  every token when the file is loaded, and once more to what says something else where a text begins. What is left for the start
//  of a text is how many spaces to drop, and for its end whether one is. All others wait for the whole text (chain.h).

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
    DECODE_APART,     //  A space before it, but where the text begins
    DECODE_SUFFIX,    //  `string` to a space, or to nothing where the text ends
    DECODE_FUSE,      //  All tokens are one
    DECODE_ONCE,      //  A token that comes again is dropped
    DECODE_FILLED     //  One that says nothing is dropped
} decode_t;

typedef struct {
    decode_t kind;         //  What to do
    span_t string;         //  What is replaced or dropped; owned
    span_t content;        //  What is put; owned
    normalizer_t rules;    //  Of DECODE_RULES; owned
    uint64_t start;        //  Of DECODE_STRIP
    uint64_t stop;         //  The same
} decoding_t;

enum { DECODER_STEPS_MAX = 256 };

typedef struct {
    array_t steps;      //  decoding_t, in order
    uint8_t strip;      //  Spaces dropped at the start of a text, at most
    bool holds;         //  One space is dropped at its end
    bool repeats;       //  A token behind the same one says nothing
    bool falls_back;    //  Some tokens say one byte
    bool whole;         //  What a token says depends on all others
} decoder_t;

void decoder_init (decoder_t *self);
void decoder_fini (decoder_t *self);

//  Adds a step; takes what it points to, also where it fails. STATUS_LIMIT for one too many.
status_t decoder_add (decoder_t *self, decoding_t step, error_t *error);

//  All steps are added: tells whether they look at one token each, and if so what is left for the start and the end of a text.
void decoder_seal (decoder_t *self);

//  Whether what a token says depends on whether a text begins with it.
bool decoder_asks_where (const decoder_t *self);

//  Appends what a token says. token: as the file writes it. begins: a text begins with it.
void decoder_apply (const decoder_t *self, span_t token, bool begins, buffer_t *bytes);

//  Appends what a step makes of a token. begins, ends: the text does so with it.
void decoder_step (const decoding_t *step, span_t token, bool begins, bool ends, buffer_t *bytes);

//  Whether a token that ends a word does so in a way that its text alone tells: a suffix stands at its end, and nowhere else.
bool decoder_ends_plainly (const decoder_t *self, span_t token);

//  Appends bytes as text, what is none replaced; returns how many at the end may still become a character.
size_t decoder_append_text (span_t bytes, buffer_t *text);

#endif
