#include "base/heap.h"

#include "base/bug.h"

void
heap_init (heap_t *self)
{
    array_init (&self->slots, sizeof (heap_entry_t *));
    self->inserted = 0;
}

void
heap_fini (heap_t *self)
{
    array_fini (&self->slots);
}

bool
heap_entry_is_queued (const heap_entry_t *entry)
{
    return entry->position != 0;
}

static heap_entry_t **
s_slot (const heap_t *self, size_t position)
{
    return array_at (&self->slots, position - 1);
}

static bool
s_before (const heap_entry_t *a, const heap_entry_t *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void
s_place (heap_t *self, heap_entry_t *entry, size_t position)
{
    *s_slot (self, position) = entry;
    entry->position = position;
}

static void
s_sift_up (heap_t *self, heap_entry_t *entry, size_t position)
{
    while (position > 1 && s_before (entry, *s_slot (self, position / 2))) {
        s_place (self, *s_slot (self, position / 2), position);
        position /= 2;
    }
    s_place (self, entry, position);
}

static void
s_sift_down (heap_t *self, heap_entry_t *entry, size_t position)
{
    size_t count = self->slots.count;
    while (position * 2 <= count) {
        size_t child = position * 2;
        if (child < count && s_before (*s_slot (self, child + 1), *s_slot (self, child)))
            child++;
        if (!s_before (*s_slot (self, child), entry))
            break;
        s_place (self, *s_slot (self, child), position);
        position = child;
    }
    s_place (self, entry, position);
}

void
heap_insert (heap_t *self, heap_entry_t *entry, uint64_t at)
{
    BUG_ON (heap_entry_is_queued (entry));
    entry->at = at;
    entry->order = self->inserted++;
    array_add (&self->slots);
    s_sift_up (self, entry, self->slots.count);
}

void
heap_remove (heap_t *self, heap_entry_t *entry)
{
    size_t position = entry->position;
    BUG_ON (position == 0 || position > self->slots.count || *s_slot (self, position) != entry);
    heap_entry_t *last = *s_slot (self, self->slots.count);
    array_cut (&self->slots, self->slots.count - 1);
    entry->position = 0;
    if (last == entry)
        return;
    s_sift_down (self, last, position);
    s_sift_up (self, last, last->position);
}

heap_entry_t *
heap_first (const heap_t *self)
{
    return self->slots.count ? *s_slot (self, 1) : NULL;
}
