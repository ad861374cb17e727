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

void
message_memory_copy (message_memory_t *self, const message_type_t *type, const void *message, void *out)
{
    buffer_t bytes = { 0 };
    message_encode (type, message, &bytes);
    buffer_fini (&self->bytes);
    arena_clear (&self->arena);
    self->bytes = bytes;
    status_t failed = message_decode (type, buffer_span (&self->bytes), &self->arena, out, NULL);
    BUG_ON (failed);
}
