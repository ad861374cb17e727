#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

void
buffer_init (buffer_t *self)
{
    *self = (buffer_t){ 0 };
}

void
buffer_fini (buffer_t *self)
{
    memory_free (self->data);
    buffer_init (self);
}

uint8_t *
buffer_grow (buffer_t *self, size_t size)
{
    BUG_ON (size > SIZE_MAX / 4 || self->size > SIZE_MAX / 4);
    size_t needed = self->size + size;
    if (needed > self->capacity || !self->data) {
        size_t capacity = self->capacity ? self->capacity * 2 : 64;
        self->capacity = capacity < needed ? needed : capacity;
        self->data = memory_resize (self->data, self->capacity);
    }
    return self->data + self->size;
}

void
buffer_commit (buffer_t *self, size_t size)
{
    BUG_ON (size > self->capacity - self->size);
    self->size += size;
}

void
buffer_append_string (buffer_t *self, const char *string)
{
    buffer_append (self, span_from_string (string));
}

static void
s_append_le (buffer_t *self, uint64_t value, size_t size)
{
    uint8_t *out = buffer_reserve (self, size);
    for (size_t i = 0; i < size; i++)
        out [i] = (uint8_t)(value >> (8 * i));
    self->size += size;
}

void
buffer_append_u32_le (buffer_t *self, uint32_t value)
{
    s_append_le (self, value, 4);
}

void
buffer_append_u64_le (buffer_t *self, uint64_t value)
{
    s_append_le (self, value, 8);
}

void
buffer_print (buffer_t *self, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    va_list again;
    va_copy (again, arguments);
    int size = vsnprintf (NULL, 0, format, arguments);
    va_end (arguments);
    BUG_ON (size < 0);
    vsnprintf ((char *)buffer_reserve (self, (size_t)size + 1), (size_t)size + 1, format, again);
    va_end (again);
    self->size += (size_t)size;
}

void
buffer_drop_front (buffer_t *self, size_t size)
{
    BUG_ON (size > self->size);
    if (size)
        memmove (self->data, self->data + size, self->size - size);
    self->size -= size;
}

const char *
buffer_string (buffer_t *self)
{
    *buffer_reserve (self, 1) = '\0';
    return (const char *)self->data;
}
