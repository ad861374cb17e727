//  parts - where a piece falls apart by itself
//
//  Where no token can reach across a place in a piece, both sides are encoded apart, and can be cached.
//
//  - Vocabularies that write a space as U+2581 do not cut text first: a piece is the whole text. It falls apart before a mark
//    where no token has the mark behind that byte.
//  - Words of byte-level vocabularies are whole sentences where a script has no spaces. They fall apart between two characters
//    that no token has side by side, unless a token has the end of one or the beginning of the other there.

#ifndef MODEL_TOKENIZER_PARTS_H
#define MODEL_TOKENIZER_PARTS_H

#include "model/tokenizer/vocabulary.h"

typedef struct {
    bool enabled;        //  The mark is a token
    bool joins [256];    //  Some token has the mark behind this byte
    uint64_t *pairs;     //  A bit by hash: characters, not both of ASCII, side by side in some token; NULL: not asked
    unsigned log;        //  Two to this power are the bits of pairs
    uint64_t *halves;    //  A bit by two bytes: they stand where characters meet in some token that lacks a part of one
} parts_t;

//  Looks through a vocabulary.
void parts_init (parts_t *self, const vocabulary_t *vocabulary);

//  Bytes of the piece, which is not empty, up to the first place where it falls apart; all of them where there is none.
size_t parts_first (const parts_t *self, span_t piece);

//  Looks through a byte-level vocabulary.
void parts_init_bytes (parts_t *self, const vocabulary_t *vocabulary);
void parts_fini (parts_t *self);

//  Bytes that it holds.
size_t parts_memory (const parts_t *self);

//  Bytes of the piece, which is not empty, up to the first two characters that no token joins; all of them where there are none.
size_t parts_first_joint (const parts_t *self, span_t piece);

//  Bytes up to the last such place that is at most `most` bytes from the start; all of them where the piece is no longer than that,
//  or where the last such place is farther away.
size_t parts_last_joint (const parts_t *self, span_t piece, size_t most);

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

//  Whether a token may have two characters that meet in a text, not both of ASCII, side by side, or parts of them. at: where the
//  second begins.
static inline bool
parts_join (const parts_t *self, uint32_t before, uint32_t code, const uint8_t *at)
{
    uint64_t pair = parts_pair (self, before, code), half = parts_half (at);
    return (before | code) < 0x80 || self->pairs [pair / 64] >> (pair % 64) & 1 ||
           self->halves [half / 64] >> (half % 64) & 1;
}

#endif
