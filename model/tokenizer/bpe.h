//  bpe - byte-pair encoding of one piece
//
//  A piece becomes symbols (bytes, or characters), and the pair whose rule has the lowest rank becomes one, the leftmost
//  first, until no rule fits. Few symbols are searched for the lowest rank each time; many stand in a heap, so that the
//  time is n log n whatever the text. A new word mostly waits for its rules to come from memory, so some words are merged side by
//  side. SentencePiece's models have scores instead of rules: any two neighbours whose text is a token may become that token, the
//  best score first.

#ifndef MODEL_TOKENIZER_BPE_H
#define MODEL_TOKENIZER_BPE_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/tokenizer/firsts.h"
#include "model/tokenizer/merges.h"
#include "model/tokenizer/vocabulary.h"

enum {
    BPE_SYMBOLS_MAX = 1 << 24,    //  Symbols of a piece: each needs 36 bytes while it is encoded
    BPE_SIDE = 8,                 //  Pieces that are merged side by side, at most,
    BPE_SIDE_SIZE = 128           //  and bytes of each
};

typedef struct {
    const vocabulary_t *vocabulary;    //  Borrowed
    merges_t merges;                   //  The rules
    array_t score_ranks;               //  uint32_t by token: the rank of its score; empty where there are rules
    uint32_t bytes [256];              //  Token of each byte; TOKEN_NONE where there is none
    bool byte_level;                   //  Symbols are bytes, not characters
    bool knows_bytes;                  //  Every byte is a token; by bpe_seal
    bool knows_seams;                  //  So it is, and merges_hold_apart tells of its tokens; by bpe_seal
    bool byte_fallback;                //  A character that is no token becomes those of its bytes
    bool ignore_merges;                //  A piece that is a token is that token, whatever the rules
    bool fuse_unknown;                 //  Unknown characters in a row are one
    uint32_t unknown;                  //  Token of an unknown character; TOKEN_NONE: it is left out
    buffer_t prefix;                   //  Tokens have it before symbols that do not begin a piece; mostly empty
    buffer_t suffix;                   //  And behind those that end one
    array_t pairs;                     //  uint32_t by two bytes: the rank of their rule; by bpe_seal
    firsts_t firsts;                   //  What characters surely become; by bpe_seal, where it knows_bytes
    array_t wholes;                    //  uint8_t by token: its text becomes it and nothing else; by bpe_seal
    array_t symbols;                   //  Room to work in
    array_t queue;                     //  Room to work in
    array_t made;                      //  uint32_t: room to work in
    buffer_t affixed;                  //  Room to work in
} bpe_t;

//  No rules, nothing known.
void bpe_init (bpe_t *self, const vocabulary_t *vocabulary);
void bpe_fini (bpe_t *self);

//  Vocabulary and rules are complete: prepares what makes new pieces fast. Once. STATUS_LIMIT where merges_seal says so.
status_t bpe_seal (bpe_t *self, error_t *error);

//  What a symbol becomes depends on whether it begins or ends its piece, which therefore does not fall apart.
bool bpe_is_affixed (const bpe_t *self);

//  The token that a piece is, where it becomes that and nothing else and a short look tells so; else TOKEN_NONE.
uint32_t bpe_whole (const bpe_t *self, span_t piece);

//  Whether the rules make a token of its text, which is not empty.
bool bpe_makes (bpe_t *self, uint32_t id);

//  Appends the tokens (uint32_t) that the rules make of a piece, whether it is a token or not. STATUS_LIMIT for one of more than
//  BPE_SYMBOLS_MAX symbols.
status_t bpe_merge (bpe_t *self, span_t piece, array_t *ids, error_t *error);

//  The same for up to BPE_SIDE pieces of 1 to BPE_SIDE_SIZE bytes, where every byte is a token (knows_bytes): what one costs is
//  mostly waiting for its rules, which several do together. ends: for each, how many ids there are behind it.
void bpe_merge_side_by_side (const bpe_t *self, const span_t *pieces, size_t count, array_t *ids, size_t *ends);

#endif
