#include "simulator/parcel.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

parcel_t *
parcel_new (const span_t *frames, size_t count)
{
    BUG_ON (count > SOCKET_FRAMES_MAX);
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += frames [i].size;
    BUG_ON (size > UINT32_MAX);
    parcel_t *self = memory_new (sizeof *self + size);
    self->references = 1;
    self->count = (uint32_t)count;
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if (frames [i].size)
            memcpy (self->bytes + end, frames [i].data, frames [i].size);
        end += (uint32_t)frames [i].size;
        self->ends [i] = end;
    }
    return self;
}

parcel_t *
parcel_acquire (parcel_t *self)
{
    if (self)
        self->references++;
    return self;
}

void
parcel_release (parcel_t *self)
{
    if (self && --self->references == 0)
        memory_free (self);
}

span_t
parcel_frame (const parcel_t *self, size_t position)
{
    BUG_ON (position >= self->count);
    uint32_t start = position ? self->ends [position - 1] : 0;
    return span_of (self->bytes + start, self->ends [position] - start);
}

size_t
parcel_size (const parcel_t *self)
{
    return self->count ? self->ends [self->count - 1] : 0;
}

uint64_t
parcel_hash (parcel_t *self)
{
    if (!self)
        return 0;
    if (self->hash == 0)
        self->hash = hash_bytes (span_of (self->bytes, parcel_size (self)),
            hash_bytes (span_of (self->ends, self->count * sizeof self->ends [0]), 0));
    return self->hash;
}
