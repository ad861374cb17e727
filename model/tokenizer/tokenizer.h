//  tokenizer - text to token ids, and back
//
//  What a model's tokenizer.json or GGUF file says about text, as Hugging Face's library and llama.cpp read it: the same
//  ids for every text. A tokenizer finds added tokens, normalises what lies between, cuts it into pieces, and encodes each
//  piece by byte-pair encoding or unigram scores, remembering what pieces became.
//
//  Text may be any bytes. What is not UTF-8 is cut out and encoded by itself; with a byte-level vocabulary it decodes to
//  the same bytes again.
//
//  A tokenizer belongs to one thread at a time: it works in room of its own.

#ifndef MODEL_TOKENIZER_TOKENIZER_H
#define MODEL_TOKENIZER_TOKENIZER_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/tokenizer/vocabulary.h"

typedef struct tokenizer tokenizer_t;

typedef struct {
    bool add_special;      //  What the model wants around a text: begin of text, say
    bool parse_special;    //  Special tokens are found in the text; else their text is only text
    bool not_first;        //  Something stands before the text: it continues
} tokenizer_flags_t;

//  Loads a tokenizer.json, borrowed for the call. Gives the tokenizer through *tokenizer.
//  STATUS_INVALID with what is wrong and where, STATUS_UNSUPPORTED for what this version cannot do, STATUS_LIMIT.
status_t tokenizer_load_json (span_t file, tokenizer_t **tokenizer, error_t *error);

//  The same from a GGUF file, of which the metadata suffice.
status_t tokenizer_load_gguf (span_t file, tokenizer_t **tokenizer, error_t *error);

void tokenizer_destroy (tokenizer_t **self_p);

//  Appends the ids (uint32_t) of a text. STATUS_LIMIT where the text has no place to cut it for too long, or a regular
//  expression takes too long; ids are then as they were.
status_t tokenizer_encode (tokenizer_t *self, span_t text, tokenizer_flags_t flags, array_t *ids, error_t *error);

//  Appends the places (size_t, in order) where the text may be cut: behind each, up to the end, the rest encoded as
//  not_first continues the ids of what is before.
void tokenizer_seams (const tokenizer_t *self, span_t text, tokenizer_flags_t flags, array_t *seams);

//  Whether text may be cut behind this token, wherever tokenizer_encode finds it in a text.
bool tokenizer_is_seam (const tokenizer_t *self, uint32_t id);

//  Appends what ids say: all bytes, also incomplete characters. Ids nobody has say nothing.
//  skip_special: special tokens say nothing.
void tokenizer_decode (const tokenizer_t *self, const uint32_t *ids, size_t count, bool skip_special, buffer_t *bytes);

//  The same as text: always well-formed UTF-8. What is none is replaced as Hugging Face's library does, which looks at all bytes in
//  a row: where tokens that say one byte each make no text together, none of them is one.
void tokenizer_decode_text (
    const tokenizer_t *self, const uint32_t *ids, size_t count, bool skip_special, buffer_t *text);

//  The bytes a token says where it stands in the middle of a text; empty for a number nobody has. Borrowed.
span_t tokenizer_token_text (const tokenizer_t *self, uint32_t id);

//  The token with this text, an added one first; TOKEN_NONE where there is none. Byte-level vocabularies: bytes.
uint32_t tokenizer_find (const tokenizer_t *self, span_t text);

//  One more than the highest id.
uint32_t tokenizer_size (const tokenizer_t *self);

//  Whether a token is special: no text of a user's should make it.
bool tokenizer_is_special (const tokenizer_t *self, uint32_t id);

//  The tokens that begin and end a text: what a GGUF file calls so; of a tokenizer.json, what add_special puts before and behind
//  a text. TOKEN_NONE where there is none.
uint32_t tokenizer_bos (const tokenizer_t *self);
uint32_t tokenizer_eos (const tokenizer_t *self);

//  Bytes that a tokenizer holds, its caches whole: what its owner takes from a budget. Room for a text comes and goes beside it:
//  at most some hundred bytes a byte of the longest piece, which BPE_SYMBOLS_MAX and UNIGRAM_PIECE_MAX bound.
uint64_t tokenizer_memory (const tokenizer_t *self);

//  ---- Streaming -----------------------------------------------------------------------------------------------------

//  A text that comes token by token. Where what a token says depends on all others, it comes when they are there: at the end.
typedef struct {
    const tokenizer_t *tokenizer;    //  Borrowed
    bool skip_special;               //  Special tokens say nothing
    uint32_t last;                   //  What came last; TOKEN_NONE: the text begins
    uint8_t strip;                   //  Leading spaces that are still to be dropped
    uint8_t pending [4];             //  Bytes of a character that is not complete
    uint8_t pending_size;            //  How many
    bool held;                       //  A space comes before the next token
    array_t waiting;                 //  uint32_t: tokens that say something together
} detokenizer_t;

//  At the start of a text.
void detokenizer_init (detokenizer_t *self, const tokenizer_t *tokenizer, bool skip_special);

//  Appends what is complete of a token's text: always well-formed UTF-8. What can never be becomes U+FFFD.
void detokenizer_push (detokenizer_t *self, uint32_t id, buffer_t *text);

//  Ends the text, in any case: an incomplete character becomes one U+FFFD.
void detokenizer_finish (detokenizer_t *self, buffer_t *text);

#endif
