//  added - tokens that are found in the text before it is cut
//
//  <|im_start|> and its like. Of those that match at the leftmost place the longest counts, as Hugging Face's library does
//  it: first the tokens of raw text, then, in what lies between and is normalised, those marked `normalized`. A token may
//  take the blanks around it with it, or count only as a word of its own.
//
//  A token is a seam when text behind it can never change what is in front: it takes no blanks behind it, need not stand
//  alone, and no token has it inside with more to come.

#ifndef MODEL_TOKENIZER_ADDED_H
#define MODEL_TOKENIZER_ADDED_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

enum { ADDED_SIZE_MAX = 512, ADDED_TOKENS_MAX = 1 << 17 };

typedef struct {
    uint32_t id;         //  Its number
    bool lstrip;         //  Takes the blanks before it
    bool rstrip;         //  Takes the blanks behind it
    bool single_word;    //  Only where no word touches it
    bool normalized;     //  Found in normalised text
    bool special;        //  No text of a user's should make it
    bool seam;           //  Text may be cut behind it; by added_seal
    span_t content;      //  What is found; in `bytes` after added_seal
} added_token_t;

//  One set of texts to look for.
typedef struct {
    array_t nodes;             //  Of a trie: see added.c; the first is the root
    uint32_t first [256];      //  The root's children by byte; 0: none
    int only;                  //  The one byte that all begin with; -1: there are more; -2: no tokens
    uint64_t second [1024];    //  A bit by two bytes: they may follow that one byte
} trie_t;

typedef struct {
    array_t tokens;     //  added_token_t
    buffer_t bytes;     //  Their contents
    array_t offsets;    //  size_t: where each content lies in `bytes`
    trie_t raw;         //  Found in raw text
    trie_t normal;      //  Found in normalised text
    bool of_ascii;      //  Blanks around tokens are those of ASCII, as llama.cpp takes them
} added_t;

//  A token in a text.
typedef struct {
    const added_token_t *token;    //  Which
    size_t start;                  //  Where what it takes begins
    size_t end;                    //  and ends
    size_t resume;                 //  Where the search goes on
} added_match_t;

void added_init (added_t *self);
void added_fini (added_t *self);

//  Adds a token; copies the content, of 1 to ADDED_SIZE_MAX bytes. Of one content the first token counts.
status_t added_put (added_t *self, added_token_t token, error_t *error);

//  Done with adding: builds what finding needs. has_normalizer: normalised text may differ from raw.
void added_seal (added_t *self, bool has_normalizer);

//  Finds the first token of a trie of this set at `from` or behind it. taken: the text before it belongs to another token.
//  with_special: special ones count too. Returns false where there is none.
bool added_next (const added_t *self, const trie_t *trie, span_t text, size_t from, size_t taken, bool with_special,
    added_match_t *match);

//  The token with this content; NULL where there is none.
const added_token_t *added_find (const added_t *self, span_t content);

#endif
