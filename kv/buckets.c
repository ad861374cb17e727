#include "kv/buckets.h"

#include "base/bug.h"
#include "base/memory.h"

enum { HEAD_BITS = 10, HEADS = 1 << HEAD_BITS };

static uint32_t *
s_head (const buckets_t *self, uint32_t bucket)
{
    uint32_t *heads = ((uint32_t **)self->heads.data) [bucket >> HEAD_BITS];
    return &heads [bucket & (HEADS - 1)];
}

static uint32_t
s_bucket (const buckets_t *self, uint64_t key)
{
    uint32_t bucket = (uint32_t)key & (self->span - 1);
    return bucket < self->buckets ? bucket : bucket & (self->span / 2 - 1);
}

static void
s_add_heads (buckets_t *self)
{
    *(void **)array_add (&self->heads) = memory_new (HEADS * sizeof (uint32_t));
}

void
buckets_init (buckets_t *self, size_t node_size, uint32_t chunk_bits)
{
    *self = (buckets_t){ .node_size = node_size, .chunk_bits = chunk_bits, .buckets = HEADS, .span = HEADS };
    array_init (&self->chunks, sizeof (void *));
    array_init (&self->heads, sizeof (void *));
    s_add_heads (self);
}

void
buckets_fini (buckets_t *self)
{
    for (size_t i = 0; i < self->heads.count; i++)
        memory_free (((void **)self->heads.data) [i]);
    array_fini (&self->heads);
    array_fini (&self->chunks);
}

//  One more bucket: takes over those nodes of its lower twin whose next key bit is set.  Chains keep their order.
static void
s_split_bucket (buckets_t *self)
{
    if (self->buckets == self->span)
        self->span *= 2;
    uint32_t upper = self->buckets++;
    if (upper >> HEAD_BITS == self->heads.count)
        s_add_heads (self);
    uint32_t bit = self->span / 2;
    uint32_t *low = s_head (self, upper & (bit - 1)), *high = s_head (self, upper);
    for (uint32_t number = *low; number;) {
        node_t *node = buckets_node (self, number);
        uint32_t **end = node->key & bit ? &high : &low;
        **end = number;
        *end = &node->next;
        number = node->next;
    }
    *low = *high = NODE_NONE;
}

void
buckets_link (buckets_t *self, uint32_t number)
{
    if (self->count++ == self->buckets && self->buckets <= UINT32_MAX / 2)
        s_split_bucket (self);
    node_t *node = buckets_node (self, number);
    uint32_t *head = s_head (self, s_bucket (self, node->key));
    node->next = *head;
    *head = number;
}

void
buckets_unlink (buckets_t *self, uint32_t number)
{
    node_t *node = buckets_node (self, number);
    uint32_t *link = s_head (self, s_bucket (self, node->key));
    while (*link != number) {
        BUG_ON (*link == NODE_NONE);
        link = &buckets_node (self, *link)->next;
    }
    *link = node->next;
    self->count--;
}

static uint32_t
s_find_from (const buckets_t *self, uint32_t number, uint64_t key)
{
    while (number) {
        const node_t *node = buckets_node (self, number);
        if (node->key == key)
            break;
        number = node->next;
    }
    return number;
}

uint32_t
buckets_find (const buckets_t *self, uint64_t key)
{
    return s_find_from (self, *s_head (self, s_bucket (self, key)), key);
}

uint32_t
buckets_next_equal (const buckets_t *self, uint32_t number)
{
    const node_t *node = buckets_node (self, number);
    return s_find_from (self, node->next, node->key);
}

void
buckets_prefetch (const buckets_t *self, uint64_t key)
{
    __builtin_prefetch (s_head (self, s_bucket (self, key)));
}

void
buckets_prefetch_node (const buckets_t *self, uint64_t key)
{
    uint32_t number = *s_head (self, s_bucket (self, key));
    if (number)
        __builtin_prefetch (buckets_node (self, number));
}

uint64_t
buckets_bytes (const buckets_t *self)
{
    return (uint64_t)self->buckets * sizeof (uint32_t);
}

void
buckets_check (const buckets_t *self)
{
    uint32_t linked = 0;
    for (uint32_t bucket = 0; bucket < self->buckets; bucket++)
        for (uint32_t number = *s_head (self, bucket); number; number = buckets_node (self, number)->next) {
            uint64_t key = buckets_node (self, number)->key;
            BUG_ON (key == 0 || s_bucket (self, key) != bucket);
            linked++;
        }
    BUG_ON (linked != self->count);
}
