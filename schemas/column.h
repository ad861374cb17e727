//  column - many numbers, packed
//
//  A list of numbers travels as one bin: little-endian u32 or u64, or hashes of 16 bytes, back to back.  In memory a
//  column is a view of those very bytes, so decoding a million token ids costs nothing.  The bytes may lie at any address:
//  read them through the accessors.

#ifndef SCHEMAS_COLUMN_H
#define SCHEMAS_COLUMN_H

#include <string.h>

#include "base/buffer.h"
#include "base/bug.h"
#include "base/hash.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are little-endian and read in place");

typedef struct {
    const uint8_t *data;    //  Packed elements, unaligned; borrowed
    size_t count;           //  How many
} column_t;

//  Elements at `position`, which must be below count.
static inline uint32_t
column_u32 (column_t self, size_t position)
{
    BUG_ON (position >= self.count);
    uint32_t value;
    memcpy (&value, self.data + position * sizeof value, sizeof value);
    return value;
}

static inline uint64_t
column_u64 (column_t self, size_t position)
{
    BUG_ON (position >= self.count);
    uint64_t value;
    memcpy (&value, self.data + position * sizeof value, sizeof value);
    return value;
}

static inline hash128_t
column_hash128 (column_t self, size_t position)
{
    BUG_ON (position >= self.count);
    return hash128_from_bytes (self.data + position * HASH128_SIZE);
}

//  Columns over numbers; borrow them.
static inline column_t
column_of_u32 (const uint32_t *values, size_t count)
{
    return (column_t){ (const uint8_t *)values, count };
}

static inline column_t
column_of_u64 (const uint64_t *values, size_t count)
{
    return (column_t){ (const uint8_t *)values, count };
}

//  A column over packed hashes: whole pieces of 16 bytes, as hash128_to_bytes writes them; borrows them.
static inline column_t
column_of_hash128 (span_t packed)
{
    BUG_ON (packed.size % HASH128_SIZE);
    return (column_t){ packed.data, packed.size / HASH128_SIZE };
}

//  Packs one more hash at the end of `packed`, for column_of_hash128.
static inline void
column_pack_hash128 (buffer_t *packed, hash128_t hash)
{
    hash128_to_bytes (hash, buffer_reserve (packed, HASH128_SIZE));
    buffer_commit (packed, HASH128_SIZE);
}

#endif
