//  buffer - bytes that grow at the end
//
//  Embedded: zero-initialise or buffer_init; buffer_fini.  A pointer into it is valid until the next append.

#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include "base/span.h"

typedef struct {
    uint8_t *data;      //  First byte
    size_t size;        //  Bytes in use
    size_t capacity;    //  Bytes there is room for
} buffer_t;

void buffer_init (buffer_t *self);
void buffer_fini (buffer_t *self);

//  Empties it and keeps the memory.
static inline void
buffer_clear (buffer_t *self)
{
    self->size = 0;
}

//  What buffer_reserve does where there is no room.
uint8_t *buffer_grow (buffer_t *self, size_t size);

//  Makes room for `size` more bytes and returns where they go; buffer_commit counts them.
static inline uint8_t *
buffer_reserve (buffer_t *self, size_t size)
{
    return size <= self->capacity - self->size && self->data ? self->data + self->size : buffer_grow (self, size);
}

void buffer_commit (buffer_t *self, size_t size);

static inline void
buffer_append (buffer_t *self, span_t bytes)
{
    if (!bytes.size)
        return;
    memcpy (buffer_reserve (self, bytes.size), bytes.data, bytes.size);
    self->size += bytes.size;
}

void buffer_append_string (buffer_t *self, const char *string);

static inline void
buffer_append_byte (buffer_t *self, uint8_t byte)
{
    *buffer_reserve (self, 1) = byte;
    self->size++;
}

void buffer_append_u32_le (buffer_t *self, uint32_t value);
void buffer_append_u64_le (buffer_t *self, uint64_t value);

//  As printf, without the terminating NUL.
void buffer_print (buffer_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

//  Removes the first `size` bytes; the rest moves to the front.
void buffer_drop_front (buffer_t *self, size_t size);

//  All of it.  Borrowed.
static inline span_t
buffer_span (const buffer_t *self)
{
    return span_of (self->data, self->size);
}

//  All of it as a C string: a NUL is kept behind the last byte.  Borrowed.
const char *buffer_string (buffer_t *self);

#endif
