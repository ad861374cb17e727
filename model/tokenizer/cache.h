//  cache - what pieces and stretches of text were encoded to
//
//  Text repeats its words, and what an agent reads it reads again. Both parts have a fixed size: nothing grows, nothing is
//  emptied at once, so there is no cliff.
//
//  - A piece of at most 15 bytes that became at most 3 tokens (nearly every one) is one entry of 32 bytes, compared as two
//    words; two of them share a cache line, and the newcomer takes the place of the one not used last.  What became more
//    tokens has an entry that says where in the ring they lie.  A tokenizer puts its whole vocabulary here when it is loaded: most
//    words of a new text are tokens, and are found at the first look.
//  - Longer pieces, stretches of many pieces (model/tokenizer/words.h) and runs of many parts of a piece that is still longer lie
//    one behind the other in a ring; the oldest is overwritten. An index says where; a place that has been overwritten since is
//    recognised by its age.  A stretch or a run is put when it comes again: most never do, and the index alone remembers that they
//    came once.

#ifndef MODEL_TOKENIZER_CACHE_H
#define MODEL_TOKENIZER_CACHE_H

#include <string.h>

#include "base/span.h"

enum {
    CACHE_SHORT_SIZE = 15,    //  Bytes of a short piece, at most
    CACHE_SHORT_IDS = 3,      //  Its tokens, at most
    CACHE_SIZE = 160,         //  Bytes of anything, at most
    CACHE_IDS = 160,          //  Its tokens, at most
    CACHE_LOG_MIN = 10,       //  Two to this power, at least, are the pairs of short pieces;
    CACHE_LOG_MAX = 18        //  and to this one, at most
};

//  What the bytes are: the same ones may be cut in different ways.
typedef enum {
    CACHE_PIECE = 0,      //  A piece
    CACHE_STRETCH = 1,    //  Some pieces
    CACHE_RUN = 2         //  Some parts of a piece
} cached_t;

//  A short piece as two words.
typedef struct {
    uint64_t low;     //  Bytes 0 to 7
    uint64_t high;    //  Bytes 8 to 14; the last byte is the size, 0: free
} cache_key_t;

typedef struct {
    cache_key_t key;                   //  The piece
    uint32_t ids [CACHE_SHORT_IDS];    //  The tokens, or where in the ring they lie
    uint32_t count;                    //  How many; CACHE_ELSEWHERE: more, and they lie in the ring
} cache_short_t;

#define CACHE_ELSEWHERE UINT32_MAX

//  In `high`: nothing has such a key.
#define CACHE_NO_KEY UINT64_MAX

typedef struct {
    unsigned shift;           //  Of a hash, to the number of a set: as many bits are left as the sets need
    cache_short_t *shorts;    //  In sets of two
    uint64_t *lost;           //  A bit by set: a piece that is one token was pushed out of it
    uint32_t *ring;           //  Records: see cache.c
    uint64_t head;            //  Words that were ever written to it
    uint64_t *index;          //  By hash: a part of it, and where a record begins, plus one; 0: none
} cache_t;

//  tokens: of the vocabulary, which says how large a cache is of use.
void cache_init (cache_t *self, uint32_t tokens);
void cache_fini (cache_t *self);

//  Bytes that it holds: 34 MiB for a large vocabulary, 0.2 MiB for the smallest.
size_t cache_size (const cache_t *self);

//  What get and put find bytes by: whoever does both asks once. The memory where they may stand is on its way then.
uint64_t cache_hash (const cache_t *self, cached_t kind, span_t bytes);

//  The tokens of what was put, `*count` of them; NULL where it is not there. Borrowed until the next put.
const uint32_t *cache_get (const cache_t *self, cached_t kind, span_t bytes, uint64_t hash, uint32_t *count);

//  Whether something comes for the second time at least, as far as is known: what comes once need not be put.
bool cache_comes_again (cache_t *self, uint64_t hash);

//  Remembers what bytes (at least one) became; copies. What is too long is left out, and what became nothing.
void cache_put (cache_t *self, cached_t kind, span_t bytes, uint64_t hash, const uint32_t *ids, size_t count);

//  The same for a short piece.
void cache_put_short (cache_t *self, cache_key_t key, const uint32_t *ids, size_t count);

//  The tokens of an entry that says CACHE_ELSEWHERE, `*count` of them; NULL where they are overwritten. Borrowed until the next
//  put.
const uint32_t *cache_get_elsewhere (const cache_t *self, const cache_short_t *entry, uint32_t *count);

//  Which bytes of the two words of a key belong to a piece, by its size.
extern const uint64_t cache_masks [CACHE_SHORT_SIZE + 1][2];

//  A short piece as a key. readable: bytes that may be read from the piece on, which saves a copy when they are 16.
static inline cache_key_t
cache_key (span_t piece, size_t readable)
{
    cache_key_t key;
    uint8_t bytes [16];
    const uint8_t *from = piece.data;
    if (readable < sizeof bytes) {
        memset (bytes, 0, sizeof bytes);
        memcpy (bytes, piece.data, piece.size);
        from = bytes;
    }
    memcpy (&key.low, from, 8);
    memcpy (&key.high, from + 8, 8);
    key.low &= cache_masks [piece.size][0];
    key.high = (key.high & cache_masks [piece.size][1]) | (uint64_t)piece.size << 56;
    return key;
}

//  The number of the set where a key may stand.
static inline uint64_t
cache_set_number (const cache_t *self, cache_key_t key)
{
    return (key.low ^ (key.high << 32 | key.high >> 32)) * 0x9e3779b97f4a7c15u >> self->shift;
}

//  Its two entries.
static inline cache_short_t *
cache_set (const cache_t *self, cache_key_t key)
{
    return self->shorts + 2 * cache_set_number (self, key);
}

//  Whether a piece that is one token may have been put and pushed out.
static inline bool
cache_has_lost (const cache_t *self, cache_key_t key)
{
    uint64_t set = cache_set_number (self, key);
    return self->lost [set / 64] >> (set % 64) & 1;
}

static inline bool
cache_has_key (const cache_short_t *entry, cache_key_t key)
{
    return ((entry->key.low ^ key.low) | (entry->key.high ^ key.high)) == 0;
}

//  The entry of a key in its set; NULL where it is not there. Borrowed until the next put.
static inline const cache_short_t *
cache_get_short (cache_short_t *set, cache_key_t key)
{
    if (cache_has_key (&set [0], key))
        return set;
    if (!cache_has_key (&set [1], key))
        return NULL;
    cache_short_t first = set [0];
    set [0] = set [1];
    set [1] = first;
    return set;
}

#endif
