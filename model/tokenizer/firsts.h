//  firsts - what bytes surely become before anything else
//
//  A piece begins as single bytes, and two thirds of the merges of Chinese make characters of them. But what the bytes of most
//  characters become can be known before: one token, which is put in their place at once.
//
//  Let the rules make one token of a character's bytes alone, the highest rank among those that they apply be M, and no rule of
//  that token have a rank below M. In a text, a rule that reaches across the character's edge before it is whole would have to
//  come before one that waits inside, so have a rank below M. Such a rule joins, at the left edge, whatever ends with the byte
//  before to the bytes that the character begins with; at the right one, those that it ends with to whatever begins with the byte
//  behind. Where the lowest rank of these, over all rules with those two bytes at the edge, is above M, nothing reaches across:
//  the character becomes whole. And it may be whole from the start: until it is, a rule below M waits in it, and those that would
//  apply to the token wait behind that; all others are applied to the rest of the text in the same order.

#ifndef MODEL_TOKENIZER_FIRSTS_H
#define MODEL_TOKENIZER_FIRSTS_H

#include <string.h>

#include "model/tokenizer/merges.h"
#include "model/tokenizer/vocabulary.h"

enum { FIRSTS_CODES = 1 << 16 };    //  Code points are below this

typedef struct {
    uint32_t id;      //  What a character becomes
    uint32_t rank;    //  The highest of the rules that make it; MERGE_NONE: they do not make one token
} first_t;

//  Where two bytes meet: the lowest ranks of rules across.
typedef struct {
    uint32_t before;    //  Of rules whose right side is the second byte, or what a character begins with from that on
    uint32_t behind;    //  Of rules whose left side is the first byte, or what a character ends with up to that
} edge_t;

typedef struct {
    first_t *characters;    //  By code point; NULL: nothing is known
    edge_t *edges;          //  By two bytes that meet: firsts_edge
} firsts_t;

//  Learns it from sealed rules. bytes: the token of each byte.
void firsts_init (firsts_t *self, const vocabulary_t *vocabulary, const merges_t *merges, const uint32_t *bytes);
void firsts_fini (firsts_t *self);

//  Bytes that it holds.
size_t firsts_memory (const firsts_t *self);

//  What is known of a code point that stands there in so many bytes, which may be more than it needs.
static inline first_t
firsts_of (const firsts_t *self, uint32_t code, size_t size)
{
    static const uint32_t least [] = { 0, 0, 0x80, 0x800, FIRSTS_CODES };
    if (code >= FIRSTS_CODES || code < least [size])
        return (first_t){ TOKEN_NONE, MERGE_NONE };
    return self->characters [code];
}

//  Where two neighbouring bytes meet.
static inline edge_t *
firsts_edge (const firsts_t *self, const uint8_t *bytes)
{
    uint16_t both;
    memcpy (&both, bytes, sizeof both);
    return &self->edges [both];
}

//  Whether the character at `at`, which is in the piece with all its bytes, surely becomes what is known of it.
static inline bool
firsts_hold (const firsts_t *self, span_t piece, size_t at, size_t size, first_t first)
{
    const uint8_t *start = piece.data + at, *end = start + size;
    uint32_t before = at ? firsts_edge (self, start - 1)->before : MERGE_NONE;
    uint32_t behind = at + size < piece.size ? firsts_edge (self, end - 1)->behind : MERGE_NONE;
    return first.rank < before && first.rank < behind;
}

#endif
