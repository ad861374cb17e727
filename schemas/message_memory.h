//  message_memory - where a message lies that is kept
//
//  A decoded message borrows the bytes it came in, and lists from an arena.  Whoever keeps one copies it into a memory of
//  its own, embedded beside the struct.

#ifndef SCHEMAS_MESSAGE_MEMORY_H
#define SCHEMAS_MESSAGE_MEMORY_H

#include "schemas/message.h"

typedef struct {
    buffer_t bytes;    //  The message, encoded: what spans and columns borrow
    arena_t arena;     //  Lists
} message_memory_t;

//  Empty.  message_memory_fini frees what was copied.
void message_memory_init (message_memory_t *self);
void message_memory_fini (message_memory_t *self);

//  Decodes a message from a copy of its bytes, in place of the one before.  `out` borrows the memory until the next time.  As
//  message_decode: where it fails the bytes are kept all the same, and `out` must not be used.
status_t message_memory_decode (
    message_memory_t *self, const message_type_t *type, span_t bytes, void *out, error_t *error);

//  Copies a message, with all it points to, in place of the one before; `message` may lie in this very memory.  `out`
//  borrows the memory until the next copy.  The message must be one that message_check lets pass.
void message_memory_copy (message_memory_t *self, const message_type_t *type, const void *message, void *out);

#endif
