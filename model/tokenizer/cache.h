//  cache - what pieces of text were encoded to
//
//  Text repeats its words. A piece of at most 15 bytes that became at most 3 tokens (nearly every one) is one entry of 32
//  bytes, compared as two words; two of them share a cache line, and the newcomer takes the place of the one not used
//  last. Longer pieces have a table of their own, with one entry a place. Both have a fixed size: nothing grows, nothing
//  is emptied at once, so there is no cliff. Pieces beyond that are encoded every time.

#ifndef MODEL_TOKENIZER_CACHE_H
#define MODEL_TOKENIZER_CACHE_H

#include <string.h>

#include "base/span.h"

enum {
    CACHE_SHORT_SIZE = 15,    //  Bytes of a short piece, at most
    CACHE_SHORT_IDS = 3,      //  Its tokens, at most
    CACHE_LONG_SIZE = 64,     //  Bytes of a long piece, at most
    CACHE_LONG_IDS = 15       //  Its tokens, at most
};

typedef struct {
    uint64_t low;                      //  Bytes 0 to 7
    uint64_t high;                     //  Bytes 8 to 14; the last byte is the size, 0: free
    uint32_t ids [CACHE_SHORT_IDS];    //  The tokens
    uint32_t count;                    //  How many
} cache_short_t;

typedef struct {
    uint32_t ids [CACHE_LONG_IDS];      //  The tokens
    uint16_t size;                      //  Of the piece; 0: free
    uint16_t count;                     //  How many tokens
    uint8_t bytes [CACHE_LONG_SIZE];    //  The piece
} cache_long_t;

typedef struct {
    cache_short_t *shorts;    //  In sets of two
    cache_long_t *longs;      //  One a place
    void *memory;             //  What shorts lies in, aligned to lines
} cache_t;

//  Takes about 4.5 MiB; the system gives them as they are used.
void cache_init (cache_t *self);
void cache_fini (cache_t *self);

//  The tokens of a piece that was put, `*count` of them; NULL where it is not there. Borrowed until the next put.
const uint32_t *cache_get_long (cache_t *self, span_t piece, uint32_t *count);

//  Remembers a piece; copies. One that is too long or has too many tokens is left out.
void cache_put (cache_t *self, span_t piece, const uint32_t *ids, size_t count);

//  A short piece as a key. readable: bytes that may be read from the piece on, which saves a copy when they are 16.
static inline cache_short_t
cache_key (span_t piece, size_t readable)
{
    cache_short_t key = { 0 };
    if (readable >= 16) {
        memcpy (&key.low, piece.data, 8);
        memcpy (&key.high, piece.data + 8, 8);
        if (piece.size < 8) {
            key.low &= ~0ull >> (64 - 8 * piece.size);
            key.high = 0;
        } else
            key.high &= (1ull << (8 * (piece.size - 8))) - 1;
    } else {
        uint8_t bytes [16] = { 0 };
        memcpy (bytes, piece.data, piece.size);
        memcpy (&key.low, bytes, 8);
        memcpy (&key.high, bytes + 8, 8);
    }
    key.high |= (uint64_t)piece.size << 56;
    return key;
}

enum { CACHE_SETS = 1 << 16 };

//  The two entries where a key may stand.
static inline cache_short_t *
cache_set (const cache_t *self, const cache_short_t *key)
{
    uint64_t hash = (key->low ^ key->high * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    return self->shorts + 2 * (hash >> 48);
}

//  The entry of a short piece (1 to 15 bytes); NULL where it is not there. Borrowed until the next put.
static inline const cache_short_t *
cache_get_short (const cache_t *self, span_t piece, size_t readable)
{
    cache_short_t key = cache_key (piece, readable);
    cache_short_t *set = cache_set (self, &key);
    if (set [0].low == key.low && set [0].high == key.high)
        return set;
    if (set [1].low != key.low || set [1].high != key.high)
        return NULL;
    cache_short_t first = set [0];
    set [0] = set [1];
    set [1] = first;
    return set;
}

#endif
