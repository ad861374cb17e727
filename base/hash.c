#include "base/hash.h"

#include <sodium.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bug.h"

_Static_assert(crypto_shorthash_siphashx24_KEYBYTES == HASH_KEY_SIZE, "SipHash takes a key of 16 bytes");
_Static_assert(crypto_shorthash_siphashx24_BYTES == HASH128_SIZE, "SipHash-128 gives 16 bytes");

//  Most keys are a number, and for a size that is known when this is compiled little is left of the function.
uint64_t
hash_bytes (span_t bytes, uint64_t seed)
{
    if (bytes.size == sizeof (uint64_t))
        return XXH3_64bits_withSeed (bytes.data, sizeof (uint64_t), seed);
    return XXH3_64bits_withSeed (bytes.data, bytes.size, seed);
}

static void
s_put_be64 (uint8_t *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes [i] = (uint8_t)(value >> (56 - 8 * i));
}

//  In one expression, of which compilers make one load.
static uint64_t
s_get_be64 (const uint8_t *bytes)
{
    return (uint64_t)bytes [0] << 56 | (uint64_t)bytes [1] << 48 | (uint64_t)bytes [2] << 40 |
           (uint64_t)bytes [3] << 32 | (uint64_t)bytes [4] << 24 | (uint64_t)bytes [5] << 16 |
           (uint64_t)bytes [6] << 8 | (uint64_t)bytes [7];
}

uint64_t
hash_u64 (uint64_t value)
{
    uint8_t bytes [8];
    for (int i = 0; i < 8; i++)
        bytes [i] = (uint8_t)(value >> (8 * i));
    return hash_bytes (span_of (bytes, sizeof bytes), 0);
}

hash128_t
hash_keyed (const hash_key_t *key, span_t bytes)
{
    uint8_t result [HASH128_SIZE];
    crypto_shorthash_siphashx24 (result, bytes.data, bytes.size, key->bytes);
    return hash128_from_bytes (result);
}

hash_key_t
hash_key_derive (span_t secret, span_t label)
{
    hash_key_t key;
    BUG_ON (secret.size == 0 || secret.size > crypto_generichash_KEYBYTES_MAX);
    int failed = crypto_generichash (key.bytes, sizeof key.bytes, label.data, label.size, secret.data, secret.size);
    BUG_ON (failed);
    return key;
}

bool
hash128_equal (hash128_t a, hash128_t b)
{
    return a.high == b.high && a.low == b.low;
}

void
hash128_to_bytes (hash128_t hash, uint8_t bytes [HASH128_SIZE])
{
    s_put_be64 (bytes, hash.high);
    s_put_be64 (bytes + 8, hash.low);
}

hash128_t
hash128_from_bytes (const uint8_t bytes [HASH128_SIZE])
{
    return (hash128_t){ s_get_be64 (bytes), s_get_be64 (bytes + 8) };
}
