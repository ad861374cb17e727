//  hash - what we hash with, and when
//
//  hash_bytes (XXH3) is for tables and checks that no attacker feeds; hash_keyed (SipHash-2-4-128) is for what crosses a
//  tenant border: without the key its results say nothing about the input.

#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/span.h"

typedef struct {
    uint64_t high;    //  First 8 bytes, big-endian: the part an index uses
    uint64_t low;     //  Last 8 bytes, big-endian
} hash128_t;

enum { HASH_KEY_SIZE = 16, HASH128_SIZE = 16 };

typedef struct {
    uint8_t bytes [HASH_KEY_SIZE];    //  Secret
} hash_key_t;

//  XXH3-64.  seed: 0 for the published function.
uint64_t hash_bytes (span_t bytes, uint64_t seed);

//  XXH3-64 over one number, as its 8 little-endian bytes.
uint64_t hash_u64 (uint64_t value);

//  SipHash-2-4 with 128 bits of result.
hash128_t hash_keyed (const hash_key_t *key, span_t bytes);

//  A key from a secret and a label: BLAKE2b keyed with the secret (1 to 64 bytes), over the label.
hash_key_t hash_key_derive (span_t secret, span_t label);

bool hash128_equal (hash128_t a, hash128_t b);
void hash128_to_bytes (hash128_t hash, uint8_t bytes [HASH128_SIZE]);
hash128_t hash128_from_bytes (const uint8_t bytes [HASH128_SIZE]);

#endif
