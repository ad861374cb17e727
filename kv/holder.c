#include "kv/holder.h"

#include "base/memory.h"
#include "kv/table.h"

//  A holder's number is one less than its node's.
typedef struct {
    node_t node;        //  Key: of the packed holder
    holder_t holder;    //  Whose number it is
} entry_t;

struct holder_table {
    table_t entries;    //  entry_t
};

uint64_t
holder_pack (const holder_t *holder)
{
    return (uint64_t)holder->owner << 32 | (uint32_t)holder->rank << 16 | (uint32_t)holder->tier << 8 | holder->kind;
}

holder_t
holder_unpack (uint64_t packed)
{
    return (holder_t){
        .owner = (uint32_t)(packed >> 32),
        .rank = (uint16_t)(packed >> 16),
        .tier = (uint8_t)(packed >> 8),
        .kind = (uint8_t)packed,
    };
}

holder_table_t *
holder_table_new (void)
{
    holder_table_t *self = memory_new (sizeof *self);
    table_init (&self->entries, sizeof (entry_t));
    return self;
}

void
holder_table_destroy (holder_table_t **self_p)
{
    holder_table_t *self = *self_p;
    if (!self)
        return;
    table_fini (&self->entries);
    memory_free (self);
    *self_p = NULL;
}

bool
holder_table_shed (holder_table_t *self)
{
    return table_shed (&self->entries);
}

static entry_t *
s_entry (const holder_table_t *self, uint32_t node)
{
    return table_at (&self->entries, node);
}

static uint64_t
s_key (const holder_t *holder)
{
    return table_key_of_pair (0, holder_pack (holder));
}

uint32_t
holder_table_add (holder_table_t *self, const holder_t *holder)
{
    uint32_t id = holder_table_find (self, holder);
    if (id != HOLDER_NONE)
        return id;
    uint32_t node = table_add (&self->entries, s_key (holder));
    s_entry (self, node)->holder = *holder;
    return node - 1;
}

uint32_t
holder_table_find (const holder_table_t *self, const holder_t *holder)
{
    uint32_t node = table_find (&self->entries, s_key (holder));
    while (node && holder_pack (&s_entry (self, node)->holder) != holder_pack (holder))
        node = table_next_equal (&self->entries, node);
    return node ? node - 1 : HOLDER_NONE;
}

const holder_t *
holder_table_get (const holder_table_t *self, uint32_t id)
{
    if (id >= holder_table_bound (self))
        return NULL;
    const entry_t *entry = s_entry (self, id + 1);
    return entry->node.key ? &entry->holder : NULL;
}

bool
holder_table_remove (holder_table_t *self, uint32_t id)
{
    if (!holder_table_get (self, id))
        return false;
    table_remove (&self->entries, id + 1);
    return true;
}

uint32_t
holder_table_count (const holder_table_t *self)
{
    return self->entries.count;
}

uint32_t
holder_table_bound (const holder_table_t *self)
{
    uint32_t bound = table_bound (&self->entries);
    return bound ? bound - 1 : 0;
}

uint64_t
holder_table_bytes (const holder_table_t *self)
{
    return table_bytes (&self->entries);
}
