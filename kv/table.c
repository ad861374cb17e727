#include "kv/table.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum { CHUNK_BITS = 10, CHUNK = 1 << CHUNK_BITS };

static void *
s_chunk (const array_t *chunks, uint32_t position)
{
    return ((void **)chunks->data) [position >> CHUNK_BITS];
}

static void
s_add_chunk (array_t *chunks, size_t element_size)
{
    *(void **)array_add (chunks) = memory_new (CHUNK * element_size);
}

static void
s_free_chunks (array_t *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        memory_free (((void **)chunks->data) [i]);
    array_fini (chunks);
}

static table_node_t *
s_node (const table_t *self, uint32_t number)
{
    uint8_t *chunk = s_chunk (&self->chunks, number);
    return (table_node_t *)(chunk + (number & (CHUNK - 1)) * self->node_size);
}

static uint32_t *
s_head (const table_t *self, uint32_t bucket)
{
    uint32_t *heads = s_chunk (&self->heads, bucket);
    return &heads [bucket & (CHUNK - 1)];
}

static uint32_t
s_bucket (const table_t *self, uint64_t key)
{
    uint32_t bucket = (uint32_t)key & (self->span - 1);
    return bucket < self->buckets ? bucket : bucket & (self->span / 2 - 1);
}

void
table_init (table_t *self, size_t node_size)
{
    *self = (table_t){ .node_size = node_size, .bound = 1, .buckets = CHUNK, .span = CHUNK };
    array_init (&self->chunks, sizeof (void *));
    array_init (&self->heads, sizeof (void *));
    s_add_chunk (&self->chunks, node_size);
    s_add_chunk (&self->heads, sizeof (uint32_t));
}

void
table_fini (table_t *self)
{
    s_free_chunks (&self->heads);
    s_free_chunks (&self->chunks);
}

//  One more bucket: takes over those nodes of its lower twin whose next key bit is set.  Chains keep their order.
static void
s_split_bucket (table_t *self)
{
    if (self->buckets == self->span)
        self->span *= 2;
    uint32_t upper = self->buckets++;
    if (upper >> CHUNK_BITS == self->heads.count)
        s_add_chunk (&self->heads, sizeof (uint32_t));
    uint32_t bit = self->span / 2;
    uint32_t *low = s_head (self, upper & (bit - 1)), *high = s_head (self, upper);
    for (uint32_t number = *low; number;) {
        table_node_t *node = s_node (self, number);
        uint32_t **end = node->key & bit ? &high : &low;
        **end = number;
        *end = &node->next;
        number = node->next;
    }
    *low = *high = TABLE_NONE;
}

static uint32_t
s_take_number (table_t *self)
{
    uint32_t number = self->free;
    if (number) {
        self->free = s_node (self, number)->next;
        return number;
    }
    BUG_ON (self->bound == UINT32_MAX);
    number = self->bound++;
    if (number >> CHUNK_BITS == self->chunks.count)
        s_add_chunk (&self->chunks, self->node_size);
    return number;
}

uint32_t
table_add (table_t *self, uint64_t key)
{
    BUG_ON (key == 0);
    if (self->count++ == self->buckets && self->buckets <= UINT32_MAX / 2)
        s_split_bucket (self);
    uint32_t number = s_take_number (self);
    table_node_t *node = s_node (self, number);
    uint32_t *head = s_head (self, s_bucket (self, key));
    memset (node, 0, self->node_size);
    node->key = key;
    node->next = *head;
    *head = number;
    return number;
}

void
table_remove (table_t *self, uint32_t number)
{
    table_node_t *node = s_node (self, number);
    BUG_ON (node->key == 0);
    uint32_t *link = s_head (self, s_bucket (self, node->key));
    while (*link != number) {
        BUG_ON (*link == TABLE_NONE);
        link = &s_node (self, *link)->next;
    }
    *link = node->next;
    node->key = 0;
    node->next = self->free;
    self->free = number;
    self->count--;
}

static uint32_t
s_find_from (const table_t *self, uint32_t number, uint64_t key)
{
    while (number) {
        const table_node_t *node = s_node (self, number);
        if (node->key == key)
            break;
        number = node->next;
    }
    return number;
}

uint32_t
table_find (const table_t *self, uint64_t key)
{
    return s_find_from (self, *s_head (self, s_bucket (self, key)), key);
}

uint32_t
table_next_equal (const table_t *self, uint32_t number)
{
    const table_node_t *node = s_node (self, number);
    return s_find_from (self, node->next, node->key);
}

void *
table_at (const table_t *self, uint32_t number)
{
    return s_node (self, number);
}

void
table_prefetch_bucket (const table_t *self, uint64_t key)
{
    __builtin_prefetch (s_head (self, s_bucket (self, key)));
}

void
table_prefetch_node (const table_t *self, uint64_t key)
{
    __builtin_prefetch (s_node (self, *s_head (self, s_bucket (self, key))));
}

uint64_t
table_key_of_pair (uint32_t first, uint64_t second)
{
    uint64_t key = hash_u64 (second ^ hash_u64 (first));
    return key ? key : 1;
}

uint64_t
table_bytes (const table_t *self)
{
    return (uint64_t)self->count * self->node_size + (uint64_t)self->buckets * sizeof (uint32_t);
}

void
table_check (const table_t *self)
{
    uint32_t chained = 0, unused = 0;
    for (uint32_t bucket = 0; bucket < self->buckets; bucket++)
        for (uint32_t number = *s_head (self, bucket); number; number = s_node (self, number)->next) {
            BUG_ON (number >= self->bound);
            BUG_ON (s_node (self, number)->key == 0 || s_bucket (self, s_node (self, number)->key) != bucket);
            chained++;
        }
    for (uint32_t number = self->free; number; number = s_node (self, number)->next) {
        BUG_ON (s_node (self, number)->key);
        unused++;
    }
    BUG_ON (chained != self->count || chained + unused + 1 != self->bound);
}
