//  Hash chains against vectors that were computed without this code, and against themselves cut in other ways.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "kv/sequence.h"
#include "kv/sequence_vectors.h"

enum { TOKENS_MAX = 4096 };

static uint32_t s_tokens [TOKENS_MAX];

static int
s_make_tokens (void **state)
{
    for (uint32_t i = 0; i < TOKENS_MAX; i++)
        s_tokens [i] = i * 2654435761u + 12345;
    return 0;
}

static namespace_t
s_namespace (const char *fingerprint, const char *lora, const char *salt, uint32_t block_size)
{
    uint8_t secret [32];
    for (uint8_t i = 0; i < sizeof secret; i++)
        secret [i] = i;
    namespace_parts_t parts = { span_from_string (fingerprint), span_from_string (lora), span_from_string (salt),
        block_size };
    namespace_t ns;
    assert_int_equal (namespace_init (&ns, span_of (secret, sizeof secret), &parts, NULL), STATUS_OK);
    return ns;
}

static void
s_assert_hex (const uint8_t *bytes, size_t size, const char *expected)
{
    char hex [2 * HASH128_SIZE + 1] = "";
    for (size_t i = 0; i < size; i++)
        snprintf (hex + 2 * i, 3, "%02x", bytes [i]);
    assert_string_equal (hex, expected);
}

static void
s_assert_hash (hash128_t hash, const char *expected)
{
    uint8_t bytes [HASH128_SIZE];
    hash128_to_bytes (hash, bytes);
    s_assert_hex (bytes, sizeof bytes, expected);
}

static void
s_assert_namespace (const namespace_t *ns, const char *key, const char *id)
{
    char hex [17];
    s_assert_hex (ns->key.bytes, HASH_KEY_SIZE, key);
    snprintf (hex, sizeof hex, "%016llx", (unsigned long long)ns->id);
    assert_string_equal (hex, id);
}

static void
s_assert_hashes (const sequence_t *sequence, const char *const *expected, size_t expected_count)
{
    size_t count;
    const hash128_t *hashes = sequence_hashes (sequence, &count);
    assert_int_equal (count, expected_count);
    for (size_t i = 0; i < count; i++)
        s_assert_hash (hashes [i], expected [i]);
}

static void
s_assert_same (const sequence_t *a, const sequence_t *b)
{
    size_t a_count, b_count;
    const hash128_t *a_hashes = sequence_hashes (a, &a_count);
    const hash128_t *b_hashes = sequence_hashes (b, &b_count);
    assert_int_equal (a_count, b_count);
    for (size_t i = 0; i < a_count; i++)
        assert_true (hash128_equal (a_hashes [i], b_hashes [i]));
}

#define COUNT_OF(array) (sizeof (array) / sizeof *(array))

//  Somebody else's BLAKE2b and SipHash give the same keys, names and hashes.
#define ASSERT_VECTOR(name, ns, count)                                               \
    do {                                                                             \
        namespace_t ns_ = ns;                                                        \
        sequence_t *sequence = sequence_new (&ns_);                                  \
        s_assert_namespace (&ns_, s_##name##_key, s_##name##_id);                    \
        sequence_extend (sequence, s_tokens, count);                                 \
        s_assert_hashes (sequence, s_##name##_hashes, COUNT_OF (s_##name##_hashes)); \
        sequence_destroy (&sequence);                                                \
    } while (0)

static void
test_hashes_are_the_published_functions (void **state)
{
    ASSERT_VECTOR (plain, s_namespace ("card", "", "", 64), 300);
    ASSERT_VECTOR (lora, s_namespace ("card", "sql", "", 16), 64);
    ASSERT_VECTOR (salt, s_namespace ("card", "", "sql", 16), 64);
    ASSERT_VECTOR (one_token_blocks, s_namespace ("", "", "", 1), 5);
}

static sequence_item_t
s_item (uint8_t byte, uint32_t position, uint32_t count)
{
    uint8_t bytes [HASH128_SIZE];
    memset (bytes, byte, sizeof bytes);
    return (sequence_item_t){ hash128_from_bytes (bytes), position, count };
}

static const struct {
    uint8_t byte;         //  Of the hash, repeated
    uint32_t position;    //  First placeholder
    uint32_t count;       //  Placeholders
} s_items [] = { { 9, 3, 2 }, { 2, 6, 10 }, { 5, 16, 1 }, { 1, 17, 7 } };

static sequence_t *
s_sequence_with_items (const namespace_t *ns)
{
    sequence_t *sequence = sequence_new (ns);
    for (size_t i = 0; i < COUNT_OF (s_items); i++) {
        sequence_item_t item = s_item (s_items [i].byte, s_items [i].position, s_items [i].count);
        assert_int_equal (sequence_add_item (sequence, &item, NULL), STATUS_OK);
    }
    return sequence;
}

//  Every block an image touches carries its hash; a cut in the middle of an image keeps it for the rest of its tokens.
static void
test_items_colour_the_blocks_they_touch (void **state)
{
    namespace_t ns = s_namespace ("card", "", "team", 8);
    s_assert_namespace (&ns, s_items_key, s_items_id);
    sequence_t *sequence = s_sequence_with_items (&ns);
    sequence_extend (sequence, s_tokens, 40);
    s_assert_hashes (sequence, s_items_hashes, COUNT_OF (s_items_hashes));

    sequence_truncate (sequence, 1);
    sequence_item_t again = s_item (5, 16, 1), last = s_item (1, 17, 7);
    assert_int_equal (sequence_add_item (sequence, &again, NULL), STATUS_OK);
    assert_int_equal (sequence_add_item (sequence, &last, NULL), STATUS_OK);
    sequence_extend (sequence, s_tokens + 8, 32);
    s_assert_hashes (sequence, s_items_hashes, COUNT_OF (s_items_hashes));
    sequence_destroy (&sequence);
}

static void
test_items_out_of_order_are_refused (void **state)
{
    namespace_t ns = s_namespace ("card", "", "", 8);
    sequence_t *sequence = sequence_new (&ns);
    sequence_item_t first = s_item (1, 10, 5), overlapping = s_item (2, 14, 1), empty = s_item (3, 20, 0);
    sequence_item_t endless = s_item (4, UINT32_MAX, 2), late = s_item (5, 20, 1);
    error_t error;
    assert_int_equal (sequence_add_item (sequence, &first, NULL), STATUS_OK);
    assert_int_equal (sequence_add_item (sequence, &overlapping, &error), STATUS_INVALID);
    assert_string_equal (error.text,
        "an item of 1 tokens at token 14 is empty, too long, or begins before token 15, where "
        "the next may begin");
    assert_int_equal (sequence_add_item (sequence, &empty, NULL), STATUS_INVALID);
    assert_int_equal (sequence_add_item (sequence, &endless, NULL), STATUS_INVALID);
    sequence_extend (sequence, s_tokens, 21);
    assert_int_equal (sequence_add_item (sequence, &late, NULL), STATUS_INVALID);
    sequence_destroy (&sequence);
}

//  However the tokens come in pieces, are cut back and come again, the chain is that of the whole.
static void
test_the_chain_depends_on_the_tokens_alone (void **state)
{
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    for (int round = 0; round < 200; round++) {
        namespace_t ns = s_namespace ("card", "", "", 1 + (uint32_t)random_below (&random, 40));
        sequence_t *whole = sequence_new (&ns), *pieces = sequence_new (&ns);
        size_t total = random_below (&random, TOKENS_MAX);
        assert_int_equal (sequence_extend (whole, s_tokens, total), total / ns.block_size);
        while (sequence_tokens (pieces) < total) {
            size_t have = sequence_tokens (pieces);
            sequence_extend (pieces, s_tokens + have, 1 + random_below (&random, total - have));
            size_t blocks = sequence_tokens (pieces) / ns.block_size;
            if (random_chance (&random, 300000))
                sequence_truncate (pieces, random_below (&random, blocks + 2));
        }
        s_assert_same (whole, pieces);

        hash128_t hashes [TOKENS_MAX];
        size_t count;
        const hash128_t *expected = sequence_hashes (whole, &count);
        size_t half = count / 2;
        assert_int_equal (sequence_hash_tokens (&ns, SEQUENCE_ROOT, s_tokens, half * ns.block_size, hashes), half);
        if (half) {
            sequence_hash_tokens (
                &ns, hashes [half - 1], s_tokens + half * ns.block_size, total - half * ns.block_size, hashes + half);
            assert_memory_equal (hashes, expected, count * sizeof *hashes);
            uint64_t shortened [2];
            sequence_copy_short (whole, count - 1, 1, shortened);
            assert_int_equal (shortened [0], expected [count - 1].high);
        }
        sequence_destroy (&pieces);
        sequence_destroy (&whole);
        assert_null (whole);
    }
}

//  Moving a byte from one part to the next gives another namespace.
static void
test_namespaces_do_not_run_into_each_other (void **state)
{
    namespace_t all [] = {
        s_namespace ("ab", "c", "", 16),
        s_namespace ("a", "bc", "", 16),
        s_namespace ("ab", "", "c", 16),
        s_namespace ("abc", "", "", 16),
        s_namespace ("ab", "c", "", 32),
    };
    for (size_t i = 0; i < COUNT_OF (all); i++)
        for (size_t k = 0; k < i; k++) {
            assert_memory_not_equal (&all [i].key, &all [k].key, HASH_KEY_SIZE);
            assert_true (all [i].id != all [k].id);
        }
}

//  A chain that is told its hashes goes on as the one that made them, wherever the tokens are cut.
static void
test_known_hashes_are_taken_over (void **state)
{
    namespace_t ns = s_namespace ("card", "", "", 7);
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_t random;
        random_init (&random, seed);
        sequence_t *made = sequence_new (&ns), *told = sequence_new (&ns);
        for (size_t at = 0, count; at < 300; at += count) {
            size_t before, after;
            count = (size_t)random_below (&random, 20);
            sequence_hashes (made, &before);
            sequence_extend (made, s_tokens + at, count);
            const hash128_t *hashes = sequence_hashes (made, &after);
            if (random_below (&random, 2))
                sequence_extend (told, s_tokens + at, count);
            else
                sequence_adopt (told, s_tokens + at, count, hashes + before, after - before);
            assert_int_equal (sequence_tokens (told), sequence_tokens (made));
            s_assert_same (told, made);
        }
        sequence_destroy (&made);
        sequence_destroy (&told);
    }
}

static void
test_bad_namespaces_are_refused (void **state)
{
    error_t error;
    namespace_t ns = { .id = 7 };
    namespace_parts_t parts = { .block_size = 16385 };
    assert_int_equal (namespace_init (&ns, SPAN ("secret"), &parts, &error), STATUS_INVALID);
    assert_string_equal (error.text, "a block has 1 to 16384 tokens, not 16385");
    parts.block_size = 0;
    assert_int_equal (namespace_init (&ns, SPAN ("secret"), &parts, NULL), STATUS_INVALID);
    parts.block_size = 64;
    assert_int_equal (namespace_init (&ns, SPAN (""), &parts, &error), STATUS_INVALID);
    assert_string_equal (error.text, "a cluster secret has 1 to 64 bytes, this one has 0");
    assert_int_equal (ns.id, 7);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_hashes_are_the_published_functions),
        cmocka_unit_test (test_items_colour_the_blocks_they_touch),
        cmocka_unit_test (test_items_out_of_order_are_refused),
        cmocka_unit_test (test_the_chain_depends_on_the_tokens_alone),
        cmocka_unit_test (test_namespaces_do_not_run_into_each_other),
        cmocka_unit_test (test_known_hashes_are_taken_over),
        cmocka_unit_test (test_bad_namespaces_are_refused),
    };
    return cmocka_run_group_tests (tests, s_make_tokens, NULL);
}
