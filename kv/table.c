#include "kv/table.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum { CHUNK_BITS = 10, CHUNK = 1 << CHUNK_BITS };

void
table_init (table_t *self, size_t node_size)
{
    *self = (table_t){ .bound = 1 };
    buckets_init (&self->buckets, node_size, CHUNK_BITS);
}

void
table_fini (table_t *self)
{
    for (size_t i = 0; i < self->buckets.chunks.count; i++)
        memory_free (((void **)self->buckets.chunks.data) [i]);
    buckets_fini (&self->buckets);
}

static uint32_t
s_take_number (table_t *self)
{
    uint32_t number = self->free;
    if (number) {
        self->free = buckets_node (&self->buckets, number)->next;
        return number;
    }
    BUG_ON (self->bound == UINT32_MAX);
    number = self->bound++;
    if (number >> CHUNK_BITS == self->buckets.chunks.count)
        *(void **)array_add (&self->buckets.chunks) = memory_new (CHUNK * self->buckets.node_size);
    return number;
}

uint32_t
table_add (table_t *self, uint64_t key)
{
    BUG_ON (key == 0);
    uint32_t number = s_take_number (self);
    node_t *node = buckets_node (&self->buckets, number);
    memset (node, 0, self->buckets.node_size);
    node->key = key;
    buckets_link (&self->buckets, number);
    return number;
}

void
table_remove (table_t *self, uint32_t number)
{
    node_t *node = buckets_node (&self->buckets, number);
    BUG_ON (node->key == 0);
    buckets_unlink (&self->buckets, number);
    node->key = 0;
    node->next = self->free;
    self->free = number;
}

uint32_t
table_find (const table_t *self, uint64_t key)
{
    return buckets_find (&self->buckets, key);
}

uint32_t
table_next_equal (const table_t *self, uint32_t number)
{
    return buckets_next_equal (&self->buckets, number);
}

void *
table_at (const table_t *self, uint32_t number)
{
    return buckets_node (&self->buckets, number);
}

uint64_t
table_key_of_pair (uint32_t first, uint64_t second)
{
    uint64_t key = hash_u64 (second ^ hash_u64 (first));
    return key ? key : 1;
}

uint32_t
table_count (const table_t *self)
{
    return self->buckets.count;
}

uint64_t
table_bytes (const table_t *self)
{
    return (uint64_t)self->buckets.count * self->buckets.node_size + buckets_bytes (&self->buckets);
}

void
table_check (const table_t *self)
{
    uint32_t unused = 0;
    buckets_check (&self->buckets);
    for (uint32_t number = self->free; number; number = buckets_node (&self->buckets, number)->next) {
        BUG_ON (buckets_node (&self->buckets, number)->key);
        unused++;
    }
    BUG_ON (self->buckets.count + unused + 1 != self->bound);
}
