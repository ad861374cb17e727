#include "kv/cache.h"

#include "base/bug.h"
#include "base/memory.h"
#include "kv/table.h"

typedef struct {
    node_t node;       //  Key: its hash
    uint32_t pins;     //  Requests that use it
    uint32_t older;    //  In the queue, while idle
    uint32_t newer;    //  In the queue, while idle
} block_t;

struct cache {
    table_t blocks;                //  block_t
    size_t capacity;               //  Blocks
    size_t pinned;                 //  Blocks with pins
    size_t reserved;               //  Blocks of room
    uint32_t oldest;               //  Front of the queue of idle blocks
    uint32_t newest;               //  Its end
    uint64_t evicted;              //  Since the beginning
    array_t gone;                  //  uint64_t: hashes of one eviction
    cache_change_fn *on_change;    //  NULL: nobody listens
    void *arg;                     //  Its
};

cache_t *
cache_new (size_t capacity, cache_change_fn *on_change, void *arg)
{
    cache_t *self = memory_new (sizeof *self);
    table_init (&self->blocks, sizeof (block_t));
    array_init (&self->gone, sizeof (uint64_t));
    self->capacity = capacity;
    self->on_change = on_change;
    self->arg = arg;
    return self;
}

void
cache_destroy (cache_t **self_p)
{
    cache_t *self = *self_p;
    if (!self)
        return;
    array_fini (&self->gone);
    table_fini (&self->blocks);
    memory_free (self);
    *self_p = NULL;
}

static block_t *
s_block (const cache_t *self, uint32_t number)
{
    return table_at (&self->blocks, number);
}

static void
s_tell (cache_t *self, cache_change_t change, uint64_t parent, const uint64_t *hashes, size_t count)
{
    if (count && self->on_change)
        self->on_change (self->arg, change, parent, hashes, count);
}

//  ---- The queue of idle blocks --------------------------------------------------------------------------------------

static void
s_enqueue (cache_t *self, uint32_t number)
{
    block_t *block = s_block (self, number);
    block->older = self->newest;
    block->newer = TABLE_NONE;
    *(self->newest ? &s_block (self, self->newest)->newer : &self->oldest) = number;
    self->newest = number;
}

static void
s_dequeue (cache_t *self, uint32_t number)
{
    const block_t *block = s_block (self, number);
    *(block->older ? &s_block (self, block->older)->newer : &self->oldest) = block->newer;
    *(block->newer ? &s_block (self, block->newer)->older : &self->newest) = block->older;
}

static void
s_evict (cache_t *self, size_t count)
{
    array_cut (&self->gone, 0);
    while (count--) {
        uint32_t number = self->oldest;
        *(uint64_t *)array_add (&self->gone) = s_block (self, number)->node.key;
        s_dequeue (self, number);
        table_remove (&self->blocks, number);
    }
    self->evicted += self->gone.count;
    s_tell (self, CACHE_REMOVED, 0, self->gone.data, self->gone.count);
}

//  ---- Pins and room -------------------------------------------------------------------------------------------------

static void
s_pin (cache_t *self, uint32_t number)
{
    if (s_block (self, number)->pins++)
        return;
    s_dequeue (self, number);
    self->pinned++;
}

static void
s_unpin (cache_t *self, uint32_t number)
{
    BUG_ON (number == TABLE_NONE || s_block (self, number)->pins == 0);
    if (--s_block (self, number)->pins)
        return;
    s_enqueue (self, number);
    self->pinned--;
}

size_t
cache_lookup (const cache_t *self, const uint64_t *hashes, size_t count)
{
    size_t leading = 0;
    while (leading < count && table_find (&self->blocks, hashes [leading]))
        leading++;
    return leading;
}

size_t
cache_acquire (cache_t *self, const uint64_t *hashes, size_t count)
{
    size_t leading = cache_lookup (self, hashes, count);
    for (size_t i = 0; i < leading; i++)
        s_pin (self, table_find (&self->blocks, hashes [i]));
    return leading;
}

bool
cache_reserve (cache_t *self, size_t blocks)
{
    size_t in_use = self->pinned + self->reserved;
    if (blocks > self->capacity - in_use)
        return false;
    self->reserved += blocks;
    size_t taken = self->blocks.count + self->reserved;
    if (taken > self->capacity)
        s_evict (self, taken - self->capacity);
    return true;
}

void
cache_unreserve (cache_t *self, size_t blocks)
{
    BUG_ON (blocks > self->reserved);
    self->reserved -= blocks;
}

//  True where the block is new.
static bool
s_insert_block (cache_t *self, uint64_t hash)
{
    uint32_t number = table_find (&self->blocks, hash);
    if (number) {
        s_pin (self, number);
        return false;
    }
    number = table_add (&self->blocks, hash);
    s_block (self, number)->pins = 1;
    self->pinned++;
    return true;
}

void
cache_insert (cache_t *self, uint64_t parent, const uint64_t *hashes, size_t count)
{
    cache_unreserve (self, count);
    size_t first = 0;    //  Of the new blocks in a row that nobody was told of yet
    for (size_t i = 0; i < count; i++) {
        if (s_insert_block (self, hashes [i]))
            continue;
        s_tell (self, CACHE_STORED, parent, hashes + first, i - first);
        parent = hashes [i];
        first = i + 1;
    }
    s_tell (self, CACHE_STORED, parent, hashes + first, count - first);
}

void
cache_release (cache_t *self, const uint64_t *hashes, size_t count)
{
    while (count--)
        s_unpin (self, table_find (&self->blocks, hashes [count]));
}

void
cache_stats (const cache_t *self, cache_stats_t *stats)
{
    *stats = (cache_stats_t){ .capacity = self->capacity,
        .cached = self->blocks.count,
        .pinned = self->pinned,
        .reserved = self->reserved,
        .evicted = self->evicted };
}
