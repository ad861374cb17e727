#include "kv/table.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"

enum { CROWD = 64 };    //  Nodes of a bucket, where one is usual

static node_t *
s_node (const table_t *self, uint32_t number)
{
    return pile_at (&self->nodes, number);
}

static uint32_t *
s_head (const table_t *self, uint64_t bucket)
{
    return pile_at (&self->heads, bucket);
}

static uint64_t
s_bucket (const table_t *self, uint64_t key)
{
    uint64_t bucket = key & (self->span - 1);
    return bucket < self->heads.count ? bucket : bucket & (self->span / 2 - 1);
}

void
table_init (table_t *self, size_t node_size)
{
    *self = (table_t){ .span = 1 };
    pile_init (&self->nodes, node_size);
    pile_init (&self->heads, sizeof (uint32_t));
    pile_add (&self->heads);
}

void
table_fini (table_t *self)
{
    pile_fini (&self->heads);
    pile_fini (&self->nodes);
}

//  One more bucket: takes over those nodes of its lower twin whose next key bit is set.  Chains keep their order.
static void
s_split_bucket (table_t *self)
{
    uint64_t upper = self->heads.count;
    if (upper == self->span)
        self->span *= 2;
    uint32_t bit = self->span / 2, *high = pile_add (&self->heads), *low = s_head (self, upper & (bit - 1));
    for (uint32_t number = *low; number;) {
        node_t *node = s_node (self, number);
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
    if (self->nodes.count == 0)
        pile_add (&self->nodes);
    BUG_ON (self->nodes.count == UINT32_MAX);
    number = (uint32_t)self->nodes.count;
    pile_add (&self->nodes);
    return number;
}

uint32_t
table_add (table_t *self, uint64_t key)
{
    BUG_ON (key == 0);
    if (self->count++ == self->heads.count && self->heads.count <= UINT32_MAX / 2)
        s_split_bucket (self);
    uint32_t number = s_take_number (self);
    node_t *node = s_node (self, number);
    uint32_t *head = s_head (self, s_bucket (self, key));
    memset (node, 0, self->nodes.element_size);
    node->key = key;
    node->next = *head;
    *head = number;
    return number;
}

void
table_remove (table_t *self, uint32_t number)
{
    node_t *node = s_node (self, number);
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

bool
table_is_crowded (const table_t *self, uint64_t key)
{
    uint32_t nodes = 0;
    for (uint32_t number = *s_head (self, s_bucket (self, key)); number; number = s_node (self, number)->next)
        nodes++;
    return nodes >= CROWD;
}

static uint32_t
s_find_from (const table_t *self, uint32_t number, uint64_t key)
{
    while (number && s_node (self, number)->key != key)
        number = s_node (self, number)->next;
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
    const node_t *node = s_node (self, number);
    return s_find_from (self, node->next, node->key);
}

uint32_t
table_bound (const table_t *self)
{
    return (uint32_t)self->nodes.count;
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
    return (uint64_t)self->count * self->nodes.element_size + self->heads.count * sizeof (uint32_t);
}

bool
table_shed (table_t *self)
{
    return pile_shed (&self->nodes) || pile_shed (&self->heads);
}

void
table_check (const table_t *self)
{
    uint32_t chained = 0, unused = 0;
    for (uint32_t bucket = 0; bucket < self->heads.count; bucket++)
        for (uint32_t number = *s_head (self, bucket); number; number = s_node (self, number)->next) {
            BUG_ON (s_node (self, number)->key == 0 || s_bucket (self, s_node (self, number)->key) != bucket);
            chained++;
        }
    for (uint32_t number = self->free; number; number = s_node (self, number)->next) {
        BUG_ON (s_node (self, number)->key);
        unused++;
    }
    BUG_ON (chained != self->count || (self->nodes.count && chained + unused + 1 != self->nodes.count));
}
