#include "model/tokenizer/cache.h"

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    LINE = 64,       //  Bytes of the machine's cache lines
    RING = 16,       //  Words of the ring for each set of short pieces
    A_PLACE = 16,    //  Words of the ring for each place of the index
    WAYS = 4         //  Places that a hash may use
};

#define START_MASK ((1ull << 48) - 1)

_Static_assert(sizeof (cache_short_t) * 2 == LINE, "two short entries fill a line");

const uint64_t cache_masks [CACHE_SHORT_SIZE + 1][2] = {
    { 0x0, 0x0 },
    { 0xff, 0x0 },
    { 0xffff, 0x0 },
    { 0xffffff, 0x0 },
    { 0xffffffff, 0x0 },
    { 0xffffffffff, 0x0 },
    { 0xffffffffffff, 0x0 },
    { 0xffffffffffffff, 0x0 },
    { 0xffffffffffffffff, 0x0 },
    { 0xffffffffffffffff, 0xff },
    { 0xffffffffffffffff, 0xffff },
    { 0xffffffffffffffff, 0xffffff },
    { 0xffffffffffffffff, 0xffffffff },
    { 0xffffffffffffffff, 0xffffffffff },
    { 0xffffffffffffffff, 0xffffffffffff },
    { 0xffffffffffffffff, 0xffffffffffffff },
};

static size_t
s_sets (const cache_t *self)
{
    return (size_t)1 << self->log;
}

static size_t
s_ring (const cache_t *self)
{
    return s_sets (self) * RING;
}

static size_t
s_place_count (const cache_t *self)
{
    return s_ring (self) / A_PLACE;
}

void
cache_init (cache_t *self, uint32_t tokens)
{
    self->log = CACHE_LOG_MIN;
    while (self->log < CACHE_LOG_MAX && s_sets (self) < tokens)
        self->log++;
    self->memory = memory_new (s_sets (self) * 2 * sizeof (cache_short_t) + LINE);
    self->shorts = (cache_short_t *)(((uintptr_t)self->memory + LINE - 1) / LINE * LINE);
    self->ring = memory_new (s_ring (self) * sizeof *self->ring);
    self->index = memory_new (s_place_count (self) * sizeof *self->index);
}

size_t
cache_size (const cache_t *self)
{
    return s_sets (self) * 2 * sizeof (cache_short_t) + LINE + s_ring (self) * sizeof *self->ring +
           s_place_count (self) * sizeof *self->index;
}

void
cache_fini (cache_t *self)
{
    memory_free (self->memory);
    memory_free (self->ring);
    memory_free (self->index);
    *self = (cache_t){ 0 };
}

//  The newcomer stands first: the place of the one used last, which moves to where the other was.
static void
s_put_short (cache_t *self, span_t piece, const uint32_t *ids, size_t count)
{
    cache_short_t entry = { .key = cache_key (piece, piece.size) };
    bool fits = count <= CACHE_SHORT_IDS;
    memcpy (entry.ids, ids, (fits ? count : 0) * sizeof *ids);
    entry.count = fits ? (uint32_t)count : CACHE_ELSEWHERE;
    cache_short_t *set = cache_set (self, entry.key);
    set [1] = set [0];
    set [0] = entry;
}

//  ---- The ring --------------------------------------------------------------------------------------------------------

//  A record: one word of kind, size and number of tokens, the tokens, the bytes. It does not go round the end.
static uint32_t
s_head_of (cached_t kind, size_t size, size_t count)
{
    return (uint32_t)kind << 31 | (uint32_t)size << 16 | (uint32_t)count;
}

//  The entries where a record may be named. Their upper bits are those of the hash: most that are not there are told
//  without the ring.
static uint64_t *
s_places (const cache_t *self, uint64_t hash)
{
    return &self->index [(hash & (s_place_count (self) / WAYS - 1)) * WAYS];
}

uint64_t
cache_hash (const cache_t *self, cached_t kind, span_t bytes)
{
    uint64_t hash = hash_bytes (bytes, kind);
    __builtin_prefetch (s_places (self, hash), 1);
    return hash;
}

//  The record that an entry names, where that has its tag and is not overwritten; else NULL.
static const uint32_t *
s_record (const cache_t *self, uint64_t place, uint64_t tag)
{
    uint64_t start = place & START_MASK;
    if (start == 0 || (place & ~START_MASK) != tag || self->head - (start - 1) > s_ring (self))
        return NULL;
    return self->ring + ((start - 1) & (s_ring (self) - 1));
}

const uint32_t *
cache_get (const cache_t *self, cached_t kind, span_t bytes, uint64_t hash, uint32_t *count)
{
    if (bytes.size > CACHE_SIZE)
        return NULL;
    const uint64_t *places = s_places (self, hash);
    for (size_t i = 0; i < WAYS; i++) {
        const uint32_t *record = s_record (self, places [i], hash & ~START_MASK);
        if (!record)
            continue;
        *count = *record & 0xffff;
        if (*record == s_head_of (kind, bytes.size, *count) &&
            memcmp (record + 1 + *count, bytes.data, bytes.size) == 0)
            return record + 1;
    }
    return NULL;
}

//  The entry of the oldest record makes room.
static uint64_t *
s_oldest (uint64_t *places)
{
    uint64_t *oldest = places;
    for (size_t i = 1; i < WAYS; i++)
        if ((places [i] & START_MASK) < (*oldest & START_MASK))
            oldest = &places [i];
    return oldest;
}

static void
s_put_record (cache_t *self, cached_t kind, span_t bytes, uint64_t hash, const uint32_t *ids, size_t count)
{
    uint64_t *place = s_oldest (s_places (self, hash));
    size_t words = 1 + count + (bytes.size + 3) / 4;
    if ((self->head & (s_ring (self) - 1)) + words > s_ring (self))
        self->head += s_ring (self) - (self->head & (s_ring (self) - 1));
    uint32_t *record = self->ring + (self->head & (s_ring (self) - 1));
    *record = s_head_of (kind, bytes.size, count);
    memcpy (record + 1, ids, count * sizeof *ids);
    memcpy (record + 1 + count, bytes.data, bytes.size);
    *place = (hash & ~START_MASK) | ((self->head + 1) & START_MASK);
    self->head += words;
}

void
cache_put (cache_t *self, cached_t kind, span_t bytes, uint64_t hash, const uint32_t *ids, size_t count)
{
    BUG_ON (bytes.size == 0);
    bool is_short = kind == CACHE_PIECE && bytes.size <= CACHE_SHORT_SIZE && count > 0;
    if (is_short)
        s_put_short (self, bytes, ids, count);
    if (is_short && count <= CACHE_SHORT_IDS)
        return;
    if (bytes.size <= CACHE_SIZE && count <= CACHE_IDS && count > 0)
        s_put_record (self, kind, bytes, hash, ids, count);
}
