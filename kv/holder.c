#include "kv/holder.h"

#include "base/array.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/memory.h"

typedef struct {
    heap_entry_t freed;    //  Queued by number while nobody has it; first, so that the heap's entry is the slot
    uint32_t id;           //  Its number
} slot_t;

struct holder_table {
    array_t holders;    //  holder_t, by number; of kind NOBODY where none has it
    array_t slots;      //  slot_t *, by number
    map_t *ids;         //  Packed holder -> its slot
    heap_t free;        //  Slots nobody has, smallest number first
};

enum { NOBODY = HOLDER_KIND_COUNT };

static const char *const s_kinds [HOLDER_KIND_COUNT] = {
    [HOLDER_EXACT] = "exact",
    [HOLDER_APPROXIMATE] = "approximate",
    [HOLDER_PENDING] = "pending",
};

const char *
holder_kind_name (holder_kind_t kind)
{
    return (unsigned)kind < HOLDER_KIND_COUNT ? s_kinds [kind] : "unknown";
}

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
    array_init (&self->holders, sizeof (holder_t));
    array_init (&self->slots, sizeof (slot_t *));
    heap_init (&self->free);
    self->ids = map_new (0);
    return self;
}

static slot_t *
s_slot (const holder_table_t *self, uint32_t id)
{
    return *(slot_t **)array_at (&self->slots, id);
}

void
holder_table_destroy (holder_table_t **self_p)
{
    holder_table_t *self = *self_p;
    if (!self)
        return;
    for (uint32_t id = 0; id < self->slots.count; id++)
        memory_free (s_slot (self, id));
    map_destroy (&self->ids);
    heap_fini (&self->free);
    array_fini (&self->slots);
    array_fini (&self->holders);
    memory_free (self);
    *self_p = NULL;
}

static slot_t *
s_take_slot (holder_table_t *self)
{
    heap_entry_t *freed = heap_first (&self->free);
    if (freed) {
        heap_remove (&self->free, freed);
        return (slot_t *)freed;
    }
    slot_t *slot = memory_new (sizeof *slot);
    slot->id = (uint32_t)self->slots.count;
    *(slot_t **)array_add (&self->slots) = slot;
    array_add (&self->holders);
    return slot;
}

uint32_t
holder_table_add (holder_table_t *self, const holder_t *holder)
{
    uint32_t id = holder_table_find (self, holder);
    if (id != HOLDER_NONE)
        return id;
    slot_t *slot = s_take_slot (self);
    *(holder_t *)array_at (&self->holders, slot->id) = *holder;
    map_put_u64 (self->ids, holder_pack (holder), slot);
    return slot->id;
}

uint32_t
holder_table_find (const holder_table_t *self, const holder_t *holder)
{
    const slot_t *slot = map_get_u64 (self->ids, holder_pack (holder));
    return slot ? slot->id : HOLDER_NONE;
}

const holder_t *
holder_table_get (const holder_table_t *self, uint32_t id)
{
    if (id >= self->holders.count)
        return NULL;
    const holder_t *holder = array_at (&self->holders, id);
    return holder->kind == NOBODY ? NULL : holder;
}

bool
holder_table_remove (holder_table_t *self, uint32_t id)
{
    const holder_t *holder = holder_table_get (self, id);
    if (!holder)
        return false;
    map_remove_u64 (self->ids, holder_pack (holder));
    ((holder_t *)array_at (&self->holders, id))->kind = NOBODY;
    heap_insert (&self->free, &s_slot (self, id)->freed, id);
    return true;
}

uint32_t
holder_table_bound (const holder_table_t *self)
{
    return (uint32_t)self->slots.count;
}
