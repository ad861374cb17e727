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
    PARTS_PLACES = 64,     //  Bytes that are looked at at once
    PARTS_STAY_LOG = 16    //  Two to this power are the bits of stay
};

typedef struct {
    bool enabled;        //  The mark is a token
    bool joins [256];    //  Some token has the mark behind this byte
    uint64_t *pairs;     //  A bit by hash: characters, not both of ASCII, side by side in some token; NULL: not asked
    unsigned log;        //  Two to this power are the bits of pairs
    uint64_t *halves;    //  A bit by two bytes: they stand where characters meet in some token that lacks a part of one
    uint64_t *stay;      //  A bit by hash: on this side no part has the character; NULL: all may
} parts_t;

//  Sides of a part.
typedef enum { PARTS_BEGIN, PARTS_END } parts_side_t;

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

//  The last of these places, as bytes from `at` on; PARTS_PLACES where there is none.
size_t parts_last (const parts_t *self, span_t text, size_t at);

//  A character as it is known here: its bytes, of which there are so many. readable: bytes that may be read, which saves a copy
//  when they are 4.
static inline uint32_t
parts_character (const uint8_t *bytes, size_t size, size_t readable)
{
    static const uint32_t masks [] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff };
    uint32_t character = 0;
    memcpy (&character, bytes, readable < sizeof character ? size : sizeof character);
    return character & masks [size];
}

//  The bit of two characters among the pairs.
static inline uint64_t
parts_pair (const parts_t *self, uint32_t left, uint32_t right)
{
    return ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u >> (64 - self->log);
}

//  The bit of the bytes on both sides of a place among the halves.
static inline uint64_t
parts_half (const uint8_t *at)
{
    uint16_t both;
    memcpy (&both, at - 1, sizeof both);
    return both;
}

//  The bit of a character among those that stay on one side.
static inline uint32_t
parts_stay (uint32_t character, parts_side_t side)
{
    return (character * 0x9e3779b1u >> (33 - PARTS_STAY_LOG)) << 1 | side;
}

//  Whether two characters that meet in a text, not both of ASCII, stay together: a token may have both, or parts of both. at: where
//  the second begins.
static inline bool
parts_join (const parts_t *self, uint32_t left, uint32_t right, const uint8_t *at)
{
    uint64_t pair = parts_pair (self, left, right), half = parts_half (at);
    uint64_t joined = self->pairs [pair / 64] >> (pair % 64) | self->halves [half / 64] >> (half % 64);
    if (self->stay) {
        uint32_t one = parts_stay (left, PARTS_END), other = parts_stay (right, PARTS_BEGIN);
        joined |= self->stay [one / 64] >> (one % 64) | self->stay [other / 64] >> (other % 64);
    }
    return joined & 1;
}

#endif
