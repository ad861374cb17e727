#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/memory.h"

//  The first chunk is small, and each next one twice as large up to a bound: many arenas hold a few small things.
enum { FIRST_SIZE = 512, CHUNK_SIZE = 4096 };

struct arena_chunk {
    arena_chunk_t *next;                             //  Older one
    size_t size;                                     //  Bytes in `bytes`
    size_t used;                                     //  How many are given out
    alignas (max_align_t) unsigned char bytes [];    //  The memory itself
};

void
arena_init (arena_t *self, size_t limit)
{
    *self = (arena_t){ .limit = limit };
}

static void
s_free_chunks (arena_chunk_t *chunk)
{
    while (chunk) {
        arena_chunk_t *next = chunk->next;
        memory_free (chunk);
        chunk = next;
    }
}

void
arena_fini (arena_t *self)
{
    s_free_chunks (self->chunks);
    self->chunks = NULL;
    self->used = 0;
}

void
arena_clear (arena_t *self)
{
    if (self->chunks) {
        s_free_chunks (self->chunks->next);
        self->chunks->next = NULL;
        self->chunks->used = 0;
    }
    self->used = 0;
}

static arena_chunk_t *
s_chunk_with_room (arena_t *self, size_t size)
{
    arena_chunk_t *newest = self->chunks;
    if (newest && newest->size - newest->used >= size)
        return newest;
    size_t usual = !newest ? FIRST_SIZE : newest->size < CHUNK_SIZE / 2 ? 2 * newest->size : CHUNK_SIZE;
    size_t room = size > usual ? size : usual;
    arena_chunk_t *chunk = memory_resize (NULL, sizeof *chunk + room);
    *chunk = (arena_chunk_t){ .next = newest, .size = room };
    self->chunks = chunk;
    return chunk;
}

void *
arena_take (arena_t *self, size_t size)
{
    size_t alignment = alignof (max_align_t);
    if (size > SIZE_MAX - alignment)
        return NULL;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    if (rounded > self->limit - self->used)
        return NULL;
    arena_chunk_t *chunk = s_chunk_with_room (self, rounded);
    void *piece = chunk->bytes + chunk->used;
    chunk->used += rounded;
    self->used += rounded;
    return piece;
}

void *
arena_new (arena_t *self, size_t size)
{
    void *piece = arena_take (self, size);
    if (piece)
        memset (piece, 0, size);
    return piece;
}

span_t
arena_copy (arena_t *self, span_t bytes)
{
    void *copy = bytes.size ? arena_take (self, bytes.size) : NULL;
    if (!copy)
        return (span_t){ NULL, 0 };
    memcpy (copy, bytes.data, bytes.size);
    return span_of (copy, bytes.size);
}
