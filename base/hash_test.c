//  Hashes against the vectors their authors publish.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/hash.h"

//  vectors_sip128 of the SipHash reference implementation: key 00 .. 0f, input 00, 01, ...
static void
test_keyed_hashes_are_siphash_2_4_128 (void **state)
{
    static const struct {
        size_t size;
        uint8_t bytes [HASH128_SIZE];
    } vectors [] = {
        { 0, { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93 } },
        { 1, { 0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45 } },
        { 2, { 0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b, 0xde, 0xf6, 0x0a, 0xff, 0xe4 } },
        { 3, { 0x9c, 0x70, 0xb6, 0x0c, 0x52, 0x67, 0xa9, 0x4e, 0x5f, 0x33, 0xb6, 0xb0, 0x29, 0x85, 0xed, 0x51 } },
        { 15, { 0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3, 0xd9 } },
    };
    hash_key_t key;
    uint8_t input [16];
    for (uint8_t i = 0; i < 16; i++)
        key.bytes [i] = input [i] = i;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors [0]; i++) {
        uint8_t bytes [HASH128_SIZE];
        hash128_to_bytes (hash_keyed (&key, span_of (input, vectors [i].size)), bytes);
        assert_memory_equal (bytes, vectors [i].bytes, HASH128_SIZE);
    }
}

//  Of xxHash's own sanity check, over its generated input.
static void
test_plain_hashes_are_xxh3 (void **state)
{
    static const struct {
        size_t size;
        uint64_t hash;
    } vectors [] = { { 0, 0x2d06800538d394c2 }, { 1, 0xc44bdff4074eecdb }, { 6, 0x27b56a84cd2d7325 },
        { 12, 0xa713daf0dfbb77e7 }, { 24, 0xa3fe70bf9d3510eb }, { 48, 0x397da259ecba1f11 }, { 80, 0xbcdefbbb2c47c90a },
        { 195, 0xcd94217ee362ec3a }, { 403, 0xcdeb804d65c6dea4 } };
    uint8_t input [403];
    uint64_t generator = 2654435761u;
    for (size_t i = 0; i < sizeof input; i++) {
        input [i] = (uint8_t)(generator >> 56);
        generator *= 11400714785074694797u;
    }
    for (size_t i = 0; i < sizeof vectors / sizeof vectors [0]; i++)
        assert_true (hash_bytes (span_of (input, vectors [i].size), 0) == vectors [i].hash);
    assert_true (hash_bytes (SPAN (""), 1) != hash_bytes (SPAN (""), 0));
    assert_true (hash_u64 (0x0102030405060708) == hash_bytes (SPAN ("\x08\x07\x06\x05\x04\x03\x02\x01"), 0));
}

static void
test_bytes_are_big_endian_and_come_back (void **state)
{
    hash128_t hash = { 0x0001020304050607, 0x08090a0b0c0d0e0f };
    uint8_t bytes [HASH128_SIZE];
    hash128_to_bytes (hash, bytes);
    for (uint8_t i = 0; i < HASH128_SIZE; i++)
        assert_int_equal (bytes [i], i);
    assert_true (hash128_equal (hash128_from_bytes (bytes), hash));
    assert_false (
        hash128_equal (hash, (hash128_t){ hash.high, 0 }) || hash128_equal (hash, (hash128_t){ 0, hash.low }));
}

static void
test_derived_keys_differ_by_secret_and_by_label (void **state)
{
    hash_key_t key = hash_key_derive (SPAN ("secret"), SPAN ("label"));
    hash_key_t same = hash_key_derive (SPAN ("secret"), SPAN ("label"));
    hash_key_t label = hash_key_derive (SPAN ("secret"), SPAN ("labe1"));
    hash_key_t secret = hash_key_derive (SPAN ("secreT"), SPAN ("label"));
    assert_memory_equal (key.bytes, same.bytes, HASH_KEY_SIZE);
    assert_memory_not_equal (key.bytes, label.bytes, HASH_KEY_SIZE);
    assert_memory_not_equal (key.bytes, secret.bytes, HASH_KEY_SIZE);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_keyed_hashes_are_siphash_2_4_128),
        cmocka_unit_test (test_plain_hashes_are_xxh3),
        cmocka_unit_test (test_bytes_are_big_endian_and_come_back),
        cmocka_unit_test (test_derived_keys_differ_by_secret_and_by_label),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
