//  parts - where a piece falls apart by itself
//
//  Where no token can reach across a place in a piece, both sides are encoded apart, and can be cached.
//
//  - Vocabularies that write a space as U+2581 do not cut text first: a piece is the whole text. It falls apart before a mark
//    where no token has the mark behind that byte.
//  - Words of byte-level vocabularies are whole sentences where a script has no spaces. They fall apart between two characters
//    that no token has side by side, unless a token has the end of one or the beginning of the other there. Such parts are mostly
//    words of the vocabulary, so text is looked up by them, and where they end is found for 64 bytes at once.
//
//  Where a piece that is a token is that token whatever the rules say, a part that is one the rules do not make would be taken for
//  it. No part begins with a character that such a token begins with, and none ends with one that it ends with, so that it is a
//  piece or none.

#ifndef MODEL_TOKENIZER_PARTS_H
#define MODEL_TOKENIZER_PARTS_H

#include "model/tokenizer/vocabulary.h"

enum {
    PARTS_PLACES = 64,         //  Bytes that are looked at at once
    PARTS_ASCII = 1 << 7,      //  Characters that are a block of their own, in front of all others:
    PARTS_BLOCKS = 1 << 10,    //  blocks of characters: see parts_block
    PARTS_WIDE = 0x3000        //  Characters from here on are wide
};

typedef struct {
    bool enabled;        //  The mark is a token
    bool joins [256];    //  Some token has the mark behind this byte
    uint64_t *pairs;     //  A bit by hash: characters, not both of ASCII, side by side in some token; NULL: not asked
    unsigned log;        //  Two to this power are the bits of pairs
    uint64_t *halves;    //  A bit by two bytes: they stand where characters meet in some token that lacks a part of one
    uint8_t *stay;       //  By parts_block: STAY_ bits; NULL: none are
} parts_t;

//  No part begins with the character; none ends with it.
enum { STAY_BEGIN = 1, STAY_END = 2 };

//  Looks through a vocabulary, for marks or for characters.
void parts_init (parts_t *self, const vocabulary_t *vocabulary);
void parts_init_bytes (parts_t *self, const vocabulary_t *vocabulary);
void parts_fini (parts_t *self);

//  A token that the rules do not make, where they are ignored: it is no part of a piece. After parts_init_bytes.
void parts_keep (parts_t *self, span_t token);

//  Bytes that it holds.
size_t parts_memory (const parts_t *self);

//  Bytes of the piece, which is not empty, up to the first place where it falls apart; all of them where there is none.
size_t parts_first (const parts_t *self, span_t piece);

//  The places where pieces of a text (well-formed UTF-8) fall apart beside a wide character, a bit for each of PARTS_PLACES bytes
//  from `at` on, the first one lowest; there may also be bits where pieces end.
uint64_t parts_places (const parts_t *self, span_t text, size_t at);

//  The bit of two characters among the pairs.
static inline uint64_t
parts_pair (const parts_t *self, uint32_t left, uint32_t right)
{
    return ((uint64_t)left << 21 | right) * 0x9e3779b97f4a7c15u >> (64 - self->log);
}

//  The bit of the bytes on both sides of a place among the halves.
static inline uint64_t
parts_half (const uint8_t *at)
{
    return (uint64_t)at [-1] << 8 | at [0];
}

//  Neighbouring characters beyond ASCII share a block; some others do too.
static inline size_t
parts_block (uint32_t code)
{
    return code < PARTS_ASCII ? code : PARTS_ASCII + (code >> 6 & (PARTS_BLOCKS - 1));
}

//  Whether two characters that meet in a text, not both of ASCII, stay together: a token may have both, or parts of both. at: where
//  the second begins.
static inline bool
parts_join (const parts_t *self, uint32_t before, uint32_t code, const uint8_t *at)
{
    uint64_t pair = parts_pair (self, before, code), half = parts_half (at);
    uint64_t joined = self->pairs [pair / 64] >> (pair % 64) | self->halves [half / 64] >> (half % 64);
    if (self->stay)
        joined |= self->stay [parts_block (before)] / STAY_END | self->stay [parts_block (code)];
    return joined & 1;
}

#endif
