#include "model/tokenizer/cache.h"

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum { LONGS = 1 << 12, LINE = 64 };

_Static_assert(sizeof (cache_short_t) * 2 == LINE, "two short entries fill a line");
_Static_assert(sizeof (cache_long_t) == 2 * LINE, "a long entry fills two lines");

void
cache_init (cache_t *self)
{
    self->memory = memory_new (CACHE_SETS * 2 * sizeof (cache_short_t) + LINE);
    self->shorts = (cache_short_t *)(((uintptr_t)self->memory + LINE - 1) / LINE * LINE);
    self->longs = memory_new (LONGS * sizeof (cache_long_t));
}

void
cache_fini (cache_t *self)
{
    memory_free (self->memory);
    memory_free (self->longs);
    *self = (cache_t){ 0 };
}

static cache_long_t *
s_place (const cache_t *self, span_t piece)
{
    return &self->longs [hash_bytes (piece, 0) % LONGS];
}

const uint32_t *
cache_get_long (cache_t *self, span_t piece, uint32_t *count)
{
    if (piece.size > CACHE_LONG_SIZE)
        return NULL;
    const cache_long_t *entry = s_place (self, piece);
    if (entry->size != piece.size || memcmp (entry->bytes, piece.data, piece.size) != 0)
        return NULL;
    *count = entry->count;
    return entry->ids;
}

//  The newcomer stands first: the place of the one used last, which moves to where the other was.
static void
s_put_short (cache_t *self, span_t piece, const uint32_t *ids, size_t count)
{
    cache_short_t entry = cache_key (piece, piece.size);
    memcpy (entry.ids, ids, count * sizeof *ids);
    entry.count = (uint32_t)count;
    cache_short_t *set = cache_set (self, &entry);
    set [1] = set [0];
    set [0] = entry;
}

static void
s_put_long (cache_t *self, span_t piece, const uint32_t *ids, size_t count)
{
    cache_long_t *entry = s_place (self, piece);
    memcpy (entry->ids, ids, count * sizeof *ids);
    memcpy (entry->bytes, piece.data, piece.size);
    entry->size = (uint16_t)piece.size;
    entry->count = (uint16_t)count;
}

void
cache_put (cache_t *self, span_t piece, const uint32_t *ids, size_t count)
{
    BUG_ON (piece.size == 0);
    if (piece.size <= CACHE_SHORT_SIZE && count <= CACHE_SHORT_IDS && count > 0)
        s_put_short (self, piece, ids, count);
    else if (piece.size <= CACHE_LONG_SIZE && count <= CACHE_LONG_IDS && count > 0)
        s_put_long (self, piece, ids, count);
}
