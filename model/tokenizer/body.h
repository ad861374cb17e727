//  body - what a tokenizer is made of
//
//  For the files of this folder that fill it or use it. Who does what, from a file to ids and back:
//
//      load_json, load_gguf    fill it (with scan, load_steps, load_rules, pre); body.c builds what follows from that
//      tokenizer               takes a text apart: added tokens (added), and what lies between, normalised (normalizer, charsmap)
//      splitter                cuts that by the steps of the file, any there are (regex, ruby, sets; scripts)
//      words, cuts             do the same for known expressions (grammar): one piece after the other, or many by bits (classes)
//      encode                  looks pieces up (cache), and has those that are new encoded:
//      bpe                     by rules (merges), in parts (parts) whose characters may be whole from the start (firsts);
//      unigram, plamo          or by scores,
//      wordpiece, longest      or by the longest token
//      decoder, chain,         say what ids say
//      detokenizer
//
//  Below all: vocabulary, letters and categories, alphabet, search, base64.

#ifndef MODEL_TOKENIZER_BODY_H
#define MODEL_TOKENIZER_BODY_H

#include "model/tokenizer/added.h"
#include "model/tokenizer/bpe.h"
#include "model/tokenizer/cache.h"
#include "model/tokenizer/decoder.h"
#include "model/tokenizer/longest.h"
#include "model/tokenizer/normalizer.h"
#include "model/tokenizer/parts.h"
#include "model/tokenizer/plamo.h"
#include "model/tokenizer/splitter.h"
#include "model/tokenizer/tokenizer.h"
#include "model/tokenizer/unigram.h"
#include "model/tokenizer/wordpiece.h"

enum { STAGED = 2048 };

//  How pieces are encoded.
typedef enum { MODEL_BPE, MODEL_UNIGRAM, MODEL_WORDPIECE, MODEL_LONGEST, MODEL_PLAMO } model_t;

struct tokenizer {
    vocabulary_t *vocabulary;    //  What pieces are encoded to
    vocabulary_t *texts;         //  What tokens say, added ones included
    vocabulary_t *heads;         //  What those say that say something else where a text begins
    added_t added;               //  Found in the text first
    normalizer_t normalizer;     //  Then what lies between is normalised,
    splitter_t splitter;         //  cut,
    model_t model;               //  and encoded by one of
    bpe_t bpe;                   //  rules,
    unigram_t unigram;           //  scores,
    wordpiece_t wordpiece;       //  the longest token first,
    longest_t longest;           //  the same of bytes,
    plamo_t plamo;               //  or costs
    parts_t parts;               //  Where long pieces fall apart
    array_t before;              //  uint32_t: what add_special puts before the text
    array_t behind;              //  uint32_t: and behind it
    array_t marks;               //  uint8_t by token: MARK_ bits
    uint32_t bos;                //  Begins a text; TOKEN_NONE: nothing does
    uint32_t eos;                //  Ends it; the same
    decoder_t decoder;           //  What is left to do for a text; without steps, of GGUF
    vocabulary_t *written;       //  Tokens as the file writes them, where the decoder asks for it

    //  Room to work in.
    cache_t cache;               //  What pieces became; from the start, the vocabulary
    normalized_t normalized;     //  A text without added tokens
    pieces_t pieces;             //  The same in pieces
    array_t learned;             //  uint32_t: what new pieces became
    uint32_t staged [STAGED];    //  Ids on their way out
    size_t staged_count;         //  How many
};

enum { MARK_SPECIAL = 1, MARK_SEAM = 2 };

//  An empty body; never NULL. tokenizer_destroy frees it, however far it was filled.
tokenizer_t *body_new (void);

//  Everything is filled in: builds what follows from it. STATUS_LIMIT where bpe_seal says so.
status_t body_seal (tokenizer_t *self, error_t *error);

//  The vocabulary is complete: looks up the tokens of single bytes.
void body_find_byte_tokens (tokenizer_t *self);

//  A copy of a text that the body will own.
span_t body_copy (span_t text);

#endif
