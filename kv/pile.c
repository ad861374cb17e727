#include "kv/pile.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

void
pile_init (pile_t *self, size_t element_size)
{
    *self = (pile_t){ .element_size = element_size };
    array_init (&self->chunks, sizeof (void *));
}

void
pile_fini (pile_t *self)
{
    for (size_t i = 0; i < self->chunks.count; i++)
        memory_free (((void **)self->chunks.data) [i]);
    array_fini (&self->chunks);
    self->count = 0;
}

void *
pile_add (pile_t *self)
{
    if (self->count >> PILE_BITS == self->chunks.count)
        *(void **)array_add (&self->chunks) = memory_new (PILE_CHUNK * self->element_size);
    void *element = pile_at (self, self->count++);
    return memset (element, 0, self->element_size);
}

void
pile_cut (pile_t *self)
{
    BUG_ON (self->count == 0);
    self->count--;
}

bool
pile_shed (pile_t *self)
{
    if (!self->chunks.count)
        return false;
    size_t last = self->chunks.count - 1;
    memory_free (((void **)self->chunks.data) [last]);
    array_cut (&self->chunks, last);
    if (self->count > last << PILE_BITS)
        self->count = last << PILE_BITS;
    return true;
}
