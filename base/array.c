#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

void
array_init (array_t *self, size_t element_size)
{
    *self = (array_t){ .element_size = element_size };
}

void
array_fini (array_t *self)
{
    memory_free (self->data);
    *self = (array_t){ .element_size = self->element_size };
}

static char *
s_address (const array_t *self, size_t position)
{
    return (char *)self->data + position * self->element_size;
}

void
array_reserve (array_t *self, size_t count)
{
    if (count <= self->capacity - self->count)
        return;
    BUG_ON (count > SIZE_MAX - self->count);
    size_t needed = self->count + count, capacity = self->capacity ? self->capacity * 2 : 8;
    if (capacity < needed)
        capacity = needed;
    BUG_ON (capacity > SIZE_MAX / self->element_size);
    self->data = memory_resize (self->data, capacity * self->element_size);
    self->capacity = capacity;
}

void *
array_append (array_t *self, const void *elements, size_t count)
{
    if (count == 0)
        return NULL;
    array_reserve (self, count);
    void *first = s_address (self, self->count);
    if (elements)
        memcpy (first, elements, count * self->element_size);
    else
        memset (first, 0, count * self->element_size);
    self->count += count;
    return first;
}

void *
array_add (array_t *self)
{
    return array_append (self, NULL, 1);
}

void
array_cut (array_t *self, size_t count)
{
    BUG_ON (count > self->count);
    self->count = count;
}

static void
s_close_hole (array_t *self, size_t position, size_t count)
{
    size_t behind = self->count - position - count;
    if (behind)
        memmove (s_address (self, position), s_address (self, position + count), behind * self->element_size);
    self->count -= count;
}

void
array_remove (array_t *self, size_t position)
{
    BUG_ON (position >= self->count);
    s_close_hole (self, position, 1);
}

void
array_drop_front (array_t *self, size_t count)
{
    BUG_ON (count > self->count);
    s_close_hole (self, 0, count);
}

void
array_sort (array_t *self, int (*compare) (const void *a, const void *b))
{
    if (self->count > 1)
        qsort (self->data, self->count, self->element_size, compare);
}
