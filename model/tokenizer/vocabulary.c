#include "model/tokenizer/vocabulary.h"

#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "base/memory.h"

enum { SLOTS_MIN = 1024 };

typedef struct {
    uint32_t start;    //  Where its bytes lie, plus one; 0: nobody has this number
    uint32_t size;     //  How many
} place_t;

typedef struct {
    uint32_t tag;    //  Upper half of the hash
    uint32_t id;     //  Number plus one; 0: free
} slot_t;

struct vocabulary {
    buffer_t bytes;       //  Of all tokens
    array_t places;       //  place_t, by number
    slot_t *slots;        //  By hash, open addressing
    size_t slot_count;    //  A power of two
    size_t found;         //  Slots in use
};

vocabulary_t *
vocabulary_new (void)
{
    vocabulary_t *self = memory_new (sizeof *self);
    array_init (&self->places, sizeof (place_t));
    self->slot_count = SLOTS_MIN;
    self->slots = memory_new_table (self->slot_count * sizeof *self->slots);
    return self;
}

void
vocabulary_destroy (vocabulary_t **self_p)
{
    vocabulary_t *self = *self_p;
    if (!self)
        return;
    buffer_fini (&self->bytes);
    array_fini (&self->places);
    memory_free (self->slots);
    memory_free (self);
    *self_p = NULL;
}

//  The slot of a text, or the free one where it would stand.
static slot_t *
s_slot (const vocabulary_t *self, span_t bytes, uint32_t *tag)
{
    uint64_t hash = hash_bytes (bytes, 0);
    size_t mask = self->slot_count - 1;
    *tag = (uint32_t)(hash >> 32);
    for (size_t i = *tag & mask;; i = (i + 1) & mask) {
        slot_t *slot = &self->slots [i];
        if (!slot->id || (slot->tag == *tag && span_equal (vocabulary_bytes (self, slot->id - 1), bytes)))
            return slot;
    }
}

//  The tags are all that is needed to place the slots anew: there are never more slots than a tag can tell apart.
static void
s_grow (vocabulary_t *self)
{
    slot_t *old = self->slots;
    size_t old_count = self->slot_count, mask = old_count * 2 - 1;
    self->slot_count *= 2;
    self->slots = memory_new_table (self->slot_count * sizeof *self->slots);
    for (size_t i = 0; i < old_count; i++) {
        if (!old [i].id)
            continue;
        size_t at = old [i].tag & mask;
        while (self->slots [at].id)
            at = (at + 1) & mask;
        self->slots [at] = old [i];
    }
    memory_free (old);
}

status_t
vocabulary_put_hidden (vocabulary_t *self, uint32_t id, span_t bytes, error_t *error)
{
    if (id >= VOCABULARY_TOKENS_MAX)
        return error_set (error, STATUS_LIMIT, "token %u: numbers go to %d", id, VOCABULARY_TOKENS_MAX - 1);
    if (bytes.size > TOKEN_SIZE_MAX || self->bytes.size + bytes.size > UINT32_MAX - 1)
        return error_set (
            error, STATUS_LIMIT, "token %u is %zu bytes long; %d are enough", id, bytes.size, TOKEN_SIZE_MAX);
    if (id >= self->places.count)
        array_append (&self->places, NULL, id - self->places.count + 1);
    place_t *place = array_at (&self->places, id);
    *place = (place_t){ (uint32_t)self->bytes.size + 1, (uint32_t)bytes.size };
    buffer_append (&self->bytes, bytes);
    return STATUS_OK;
}

status_t
vocabulary_put (vocabulary_t *self, uint32_t id, span_t bytes, error_t *error)
{
    status_t status = vocabulary_put_hidden (self, id, bytes, error);
    if (status)
        return status;
    if (self->found * 2 >= self->slot_count)
        s_grow (self);
    uint32_t tag;
    slot_t *slot = s_slot (self, bytes, &tag);
    self->found += !slot->id;
    *slot = (slot_t){ tag, id + 1 };
    return STATUS_OK;
}

uint32_t
vocabulary_find (const vocabulary_t *self, span_t bytes)
{
    uint32_t tag;
    return s_slot (self, bytes, &tag)->id - 1;
}

span_t
vocabulary_bytes (const vocabulary_t *self, uint32_t id)
{
    if (!vocabulary_has (self, id))
        return (span_t){ NULL, 0 };
    const place_t *place = (const place_t *)self->places.data + id;
    return span_slice (buffer_span (&self->bytes), place->start - 1, place->size);
}

bool
vocabulary_has (const vocabulary_t *self, uint32_t id)
{
    return id < self->places.count && ((const place_t *)self->places.data) [id].start;
}

uint32_t
vocabulary_count (const vocabulary_t *self)
{
    return (uint32_t)self->found;
}

uint64_t
vocabulary_memory (const vocabulary_t *self)
{
    return sizeof *self + self->bytes.capacity + self->places.capacity * self->places.element_size +
           self->slot_count * sizeof *self->slots;
}

uint32_t
vocabulary_size (const vocabulary_t *self)
{
    return (uint32_t)self->places.count;
}

void
vocabulary_longest (const vocabulary_t *self, size_t longest [256])
{
    memset (longest, 0, 256 * sizeof *longest);
    for (uint32_t id = 0; id < vocabulary_size (self); id++) {
        span_t bytes = vocabulary_bytes (self, id);
        if (bytes.size && bytes.size > longest [bytes.data [0]])
            longest [bytes.data [0]] = bytes.size;
    }
}
