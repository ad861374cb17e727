#include "schemas/message_memory.h"

#include "base/bug.h"

void
message_memory_init (message_memory_t *self)
{
    buffer_init (&self->bytes);
    arena_init (&self->arena, SIZE_MAX);
}

void
message_memory_fini (message_memory_t *self)
{
    buffer_fini (&self->bytes);
    arena_fini (&self->arena);
}

//  Takes the bytes.
static status_t
s_decode (message_memory_t *self, const message_type_t *type, buffer_t bytes, void *out, error_t *error)
{
    buffer_fini (&self->bytes);
    arena_clear (&self->arena);
    self->bytes = bytes;
    return message_decode (type, buffer_span (&self->bytes), &self->arena, out, error);
}

status_t
message_memory_decode (message_memory_t *self, const message_type_t *type, span_t bytes, void *out, error_t *error)
{
    buffer_t copy = { 0 };
    buffer_append (&copy, bytes);
    return s_decode (self, type, copy, out, error);
}

void
message_memory_copy (message_memory_t *self, const message_type_t *type, const void *message, void *out)
{
    buffer_t bytes = { 0 };
    message_encode (type, message, &bytes);
    status_t failed = s_decode (self, type, bytes, out, NULL);
    BUG_ON (failed);
}
