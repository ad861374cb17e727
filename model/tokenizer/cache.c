#include "model/tokenizer/cache.h"

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    RING = 16,       //  Words of the ring for each set of short pieces
    A_PLACE = 32,    //  Words of the ring for each place of the index
    WAYS = 4         //  Places that a hash may use
};

#define START_MASK ((1ull << 48) - 1)

_Static_assert(sizeof (cache_short_t) * 2 == 64, "two short entries fill a line");

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
    return (size_t)1 << (64 - self->shift);
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
    self->shift = 64 - CACHE_LOG_MIN;
    while (self->shift > 64 - CACHE_LOG_MAX && s_sets (self) < tokens)
        self->shift--;
    self->shorts = memory_new_table (s_sets (self) * 2 * sizeof (cache_short_t));
    self->lost = memory_new_table (s_sets (self) / 8);
    self->ring = memory_new_table (s_ring (self) * sizeof *self->ring);
    self->index = memory_new_table (s_place_count (self) * sizeof *self->index);
}

size_t
cache_size (const cache_t *self)
{
    return s_sets (self) * 2 * sizeof (cache_short_t) + s_sets (self) / 8 + s_ring (self) * sizeof *self->ring +
           s_place_count (self) * sizeof *self->index;
}

void
cache_fini (cache_t *self)
{
    memory_free (self->shorts);
    memory_free (self->lost);
    memory_free (self->ring);
    memory_free (self->index);
    *self = (cache_t){ 0 };
}

//  ---- The ring ------------------------------------------------------------------------------------------------------

//  A record: one word of kind, size and number of tokens, the tokens, the bytes. It does not go round the end.
static uint32_t
s_head_of (cached_t kind, size_t size, size_t count)
{
    return (uint32_t)kind << 30 | (uint32_t)size << 16 | (uint32_t)count;
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

//  Newest first. The oldest record makes room, or before it what came once, the longest ago first.
static void
s_enter (uint64_t *places, uint64_t place)
{
    size_t oldest = 0;
    for (size_t i = 1; i < WAYS; i++)
        if ((places [i] & START_MASK) <= (places [oldest] & START_MASK))
            oldest = i;
    memmove (places + 1, places, oldest * sizeof *places);
    places [0] = place;
}

//  A place without a beginning is of something that came once.
bool
cache_comes_again (cache_t *self, uint64_t hash)
{
    uint64_t *places = s_places (self, hash), tag = hash & ~START_MASK;
    for (size_t i = 0; i < WAYS; i++)
        if (places [i] == tag)
            return true;
    s_enter (places, tag);
    return false;
}

//  Returns where it begins, plus one.
static uint64_t
s_put_record (cache_t *self, uint32_t head, span_t bytes, const uint32_t *ids, size_t count)
{
    size_t words = 1 + count + (bytes.size + 3) / 4;
    if ((self->head & (s_ring (self) - 1)) + words > s_ring (self))
        self->head += s_ring (self) - (self->head & (s_ring (self) - 1));
    uint32_t *record = self->ring + (self->head & (s_ring (self) - 1));
    *record = head;
    memcpy (record + 1, ids, count * sizeof *ids);
    memcpy (record + 1 + count, bytes.data, bytes.size);
    self->head += words;
    return self->head - words + 1;
}

void
cache_put (cache_t *self, cached_t kind, span_t bytes, uint64_t hash, const uint32_t *ids, size_t count)
{
    BUG_ON (bytes.size == 0);
    if (bytes.size > CACHE_SIZE || count > CACHE_IDS || count == 0)
        return;
    uint64_t start = s_put_record (self, s_head_of (kind, bytes.size, count), bytes, ids, count);
    s_enter (s_places (self, hash), (hash & ~START_MASK) | (start & START_MASK));
}

//  The newcomer stands first: the place of the one used last, which moves to where the other was.
void
cache_put_short (cache_t *self, cache_key_t key, const uint32_t *ids, size_t count)
{
    cache_short_t entry = { .key = key, .count = (uint32_t)count };
    if (count == 0)
        return;
    if (count <= CACHE_SHORT_IDS)
        memcpy (entry.ids, ids, count * sizeof *ids);
    else {
        uint64_t start = s_put_record (self, (uint32_t)count, SPAN (""), ids, count);
        memcpy (entry.ids, &start, sizeof start);
        entry.count = CACHE_ELSEWHERE;
    }
    uint64_t number = cache_set_number (self, key);
    cache_short_t *set = self->shorts + 2 * number;
    self->lost [number / 64] |= (uint64_t)(set [1].count == 1) << (number % 64);
    set [1] = set [0];
    set [0] = entry;
}

const uint32_t *
cache_get_elsewhere (const cache_t *self, const cache_short_t *entry, uint32_t *count)
{
    uint64_t start;
    memcpy (&start, entry->ids, sizeof start);
    if (self->head - (start - 1) > s_ring (self))
        return NULL;
    const uint32_t *record = self->ring + ((start - 1) & (s_ring (self) - 1));
    *count = *record;
    return record + 1;
}
