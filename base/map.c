#include "base/map.h"

#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum { KEY_INLINE = 16, SLOTS_MIN = 8 };

typedef struct {
    uint64_t hash;      //  Of the key
    void *value;        //  NULL: a hole
    size_t key_size;    //  Bytes
    union {
        uint8_t inlined [KEY_INLINE];    //  Keys up to KEY_INLINE bytes
        uint8_t *separate;               //  Longer ones
    } key;
} entry_t;

struct map {
    array_t entries;      //  entry_t, oldest first, holes included
    uint32_t *slots;      //  1-based positions in entries; 0 is empty
    size_t slot_count;    //  A power of two
    size_t live;          //  Entries that are no holes
    uint64_t seed;        //  Of the hash
};

map_t *
map_new (uint64_t seed)
{
    map_t *self = memory_new (sizeof *self);
    array_init (&self->entries, sizeof (entry_t));
    self->slot_count = SLOTS_MIN;
    self->slots = memory_new (self->slot_count * sizeof *self->slots);
    self->seed = seed;
    return self;
}

static void
s_free_key (entry_t *entry)
{
    if (entry->key_size > KEY_INLINE)
        memory_free (entry->key.separate);
}

void
map_destroy (map_t **self_p)
{
    map_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = 0; i < self->entries.count; i++) {
        entry_t *entry = array_at (&self->entries, i);
        if (entry->value)
            s_free_key (entry);
    }
    array_fini (&self->entries);
    memory_free (self->slots);
    memory_free (self);
    *self_p = NULL;
}

size_t
map_count (const map_t *self)
{
    return self->live;
}

static span_t
s_key (const entry_t *entry)
{
    return span_of (entry->key_size > KEY_INLINE ? entry->key.separate : entry->key.inlined, entry->key_size);
}

static entry_t *
s_entry (const map_t *self, uint32_t slot)
{
    return array_at (&self->entries, slot - 1);
}

//  Holes keep their slot until the next rebuild, so a probe goes on past them.
static entry_t *
s_find (const map_t *self, span_t key, uint64_t hash)
{
    size_t mask = self->slot_count - 1;
    for (size_t i = (size_t)hash & mask; self->slots [i]; i = (i + 1) & mask) {
        entry_t *entry = s_entry (self, self->slots [i]);
        if (entry->value && entry->hash == hash && span_equal (s_key (entry), key))
            return entry;
    }
    return NULL;
}

static void
s_link (map_t *self, size_t position)
{
    const entry_t *entry = array_at (&self->entries, position);
    size_t mask = self->slot_count - 1;
    size_t i = (size_t)entry->hash & mask;
    while (self->slots [i])
        i = (i + 1) & mask;
    self->slots [i] = (uint32_t)position + 1;
}

static void
s_close_holes (map_t *self)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->entries.count; i++) {
        entry_t *entry = array_at (&self->entries, i);
        if (!entry->value)
            continue;
        if (kept != i)
            *(entry_t *)array_at (&self->entries, kept) = *entry;
        kept++;
    }
    array_cut (&self->entries, kept);
}

static void
s_rebuild (map_t *self)
{
    s_close_holes (self);
    while (self->slot_count < (self->live + 1) * 2)
        self->slot_count *= 2;
    memory_free (self->slots);
    self->slots = memory_new (self->slot_count * sizeof *self->slots);
    for (size_t i = 0; i < self->entries.count; i++)
        s_link (self, i);
}

static void
s_set_key (entry_t *entry, span_t key, uint64_t hash)
{
    entry->hash = hash;
    entry->key_size = key.size;
    if (key.size > KEY_INLINE)
        entry->key.separate = (uint8_t *)memory_copy (key.data, key.size);
    else if (key.size)
        memcpy (entry->key.inlined, key.data, key.size);
}

void *
map_get (const map_t *self, span_t key)
{
    entry_t *entry = s_find (self, key, hash_bytes (key, self->seed));
    return entry ? entry->value : NULL;
}

void *
map_put (map_t *self, span_t key, void *value)
{
    BUG_ON (!value);
    uint64_t hash = hash_bytes (key, self->seed);
    entry_t *entry = s_find (self, key, hash);
    if (entry) {
        void *replaced = entry->value;
        entry->value = value;
        return replaced;
    }
    if ((self->entries.count + 1) * 4 > self->slot_count * 3)
        s_rebuild (self);
    BUG_ON (self->entries.count >= UINT32_MAX);
    entry = array_add (&self->entries);
    entry->value = value;
    s_set_key (entry, key, hash);
    s_link (self, self->entries.count - 1);
    self->live++;
    return NULL;
}

void *
map_remove (map_t *self, span_t key)
{
    entry_t *entry = s_find (self, key, hash_bytes (key, self->seed));
    if (!entry)
        return NULL;
    void *value = entry->value;
    s_free_key (entry);
    entry->value = NULL;
    self->live--;
    return value;
}

void *
map_get_u64 (const map_t *self, uint64_t key)
{
    return map_get (self, span_of (&key, sizeof key));
}

void *
map_put_u64 (map_t *self, uint64_t key, void *value)
{
    return map_put (self, span_of (&key, sizeof key), value);
}

void *
map_remove_u64 (map_t *self, uint64_t key)
{
    return map_remove (self, span_of (&key, sizeof key));
}

bool
map_next (const map_t *self, size_t *cursor, span_t *key, void **value)
{
    while (*cursor < self->entries.count) {
        const entry_t *entry = array_at (&self->entries, (*cursor)++);
        if (!entry->value)
            continue;
        if (key)
            *key = s_key (entry);
        *value = entry->value;
        return true;
    }
    return false;
}
