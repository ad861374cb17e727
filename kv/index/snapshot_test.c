//  An index written and read back; bytes that are no such thing.  That nothing is lost whatever an index holds is proved by
//  index_random_test, which goes on with what it read.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/hash.h"
#include "kv/index/snapshot.h"

enum { LABEL = 4711, CHAIN = 200 };

static const holder_t s_first = { .owner = 70000, .rank = 3, .tier = TIER_DEVICE };
static const holder_t s_second = { .owner = 2, .tier = TIER_HOST };

//  Two holders, one chain, a hole, a block twice, one without its parent; a third holder came and went, and so did a
//  fourth's blocks.
static index_t *
s_story (void)
{
    uint64_t hashes [CHAIN];
    for (size_t i = 0; i < CHAIN; i++)
        hashes [i] = hash_u64 (i + 1);
    index_t *index = index_new (NULL);
    uint32_t first = index_holder_add (index, &s_first), gone = index_holder_add (index, &(holder_t){ .owner = 9 });
    uint32_t second = index_holder_add (index, &s_second),
             cleared = index_holder_add (index, &(holder_t){ .owner = 8 });
    index_store (index, first, INDEX_ROOT, hashes, CHAIN, NULL);
    index_store (index, second, INDEX_ROOT, hashes, CHAIN / 2, NULL);
    index_store (index, gone, INDEX_ROOT, hashes, CHAIN, NULL);
    index_store (index, cleared, INDEX_ROOT, hashes, CHAIN, NULL);
    index_remove (index, second, &hashes [10], 1, NULL);
    index_store (index, first, hashes [4], &hashes [5], 1, NULL);
    index_store (index, second, 12345, &hashes [CHAIN - 1], 1, NULL);
    index_retire (index, gone, NULL);
    index_clear (index, cleared, NULL);
    return index;
}

static void
s_write (const index_t *index, buffer_t *bytes)
{
    index_snapshot_t *snapshot = index_snapshot_new (index, LABEL);
    for (bool ended = false; !ended;)
        assert_int_equal (index_snapshot_next (snapshot, bytes, 64, &ended), STATUS_OK);
    index_snapshot_destroy (&snapshot);
}

//  Reads it in slices; checks the index whatever came of it.
static status_t
s_read (index_t *index, span_t bytes, error_t *error)
{
    index_load_t load;
    status_t status = index_load_init (&load, index, bytes, error);
    while (status == STATUS_OK && !load.ended)
        status = index_load_next (&load, 64, error);
    if (status == STATUS_OK)
        assert_int_equal (load.label, LABEL);
    index_load_fini (&load);
    index_check (index);
    return status;
}

static status_t
s_read_new (span_t bytes, error_t *error)
{
    index_t *index = index_new (NULL);
    status_t status = s_read (index, bytes, error);
    index_destroy (&index);
    return status;
}

static void
test_what_was_written_is_read (void **state)
{
    buffer_t bytes = { 0 }, again = { 0 };
    index_t *index = s_story (), *copy = index_new (NULL);
    s_write (index, &bytes);
    assert_int_equal (s_read (copy, buffer_span (&bytes), NULL), STATUS_OK);
    assert_int_equal (index_digest_all (copy), index_digest_all (index));
    uint32_t first = index_holder_find (copy, &s_first), second = index_holder_find (copy, &s_second);
    assert_int_equal (index_references (copy, first, hash_u64 (6)), 2);
    assert_int_equal (index_references (copy, second, hash_u64 (11)), 0);
    index_stats_t stats, expected;
    index_stats (copy, &stats);
    index_stats (index, &expected);
    assert_int_equal (stats.memberships, CHAIN + CHAIN / 2);
    assert_int_equal (stats.memberships, expected.memberships);
    assert_int_equal (stats.holders, 3);
    index_check (copy);
    s_write (copy, &again);
    assert_int_equal (again.size, bytes.size);    //  Nothing of the cleared holders is in either
    buffer_fini (&again);
    buffer_fini (&bytes);
    index_destroy (&copy);
    index_destroy (&index);
}

static void
test_an_empty_index_is_one_too (void **state)
{
    buffer_t bytes = { 0 };
    index_t *index = index_new (NULL);
    s_write (index, &bytes);
    assert_int_equal (s_read_new (buffer_span (&bytes), NULL), STATUS_OK);
    buffer_fini (&bytes);
    index_destroy (&index);
}

//  What is behind a hole counts again when the hole is filled, in the copy too.
static void
test_what_is_behind_a_hole_is_still_held (void **state)
{
    buffer_t bytes = { 0 };
    index_t *index = s_story (), *copy = index_new (NULL);
    s_write (index, &bytes);
    assert_int_equal (s_read (copy, buffer_span (&bytes), NULL), STATUS_OK);
    uint64_t hashes [CHAIN / 2];
    for (size_t i = 0; i < CHAIN / 2; i++)
        hashes [i] = hash_u64 (i + 1);
    uint32_t second = index_holder_find (copy, &s_second);
    assert_int_equal (index_explain (copy, second, hashes, CHAIN / 2).overlap, 10);
    index_store (copy, second, hashes [9], &hashes [10], 1, NULL);
    assert_int_equal (index_explain (copy, second, hashes, CHAIN / 2).overlap, CHAIN / 2);
    buffer_fini (&bytes);
    index_destroy (&copy);
    index_destroy (&index);
}

//  A run whose blocks all have different and large sets is written as several records, and each is read in several slices.
static void
test_no_slice_is_as_large_as_a_run_with_many_members (void **state)
{
    enum { HOLDERS = 300, BLOCKS = 64, SIZE = 64, MOST = 8192, SLICES = 200 };
    uint64_t hashes [BLOCKS];
    buffer_t bytes = { 0 };
    index_t *index = index_new (NULL), *copy = index_new (NULL);
    for (size_t i = 0; i < BLOCKS; i++)
        hashes [i] = hash_u64 (i + 1);
    for (uint32_t i = 0; i < HOLDERS; i++) {
        uint32_t holder = index_holder_add (index, &(holder_t){ .owner = i });
        index_store (index, holder, INDEX_ROOT, hashes, BLOCKS, NULL);
        index_remove (index, holder, &hashes [i % BLOCKS], 1, NULL);
    }
    index_snapshot_t *snapshot = index_snapshot_new (index, LABEL);
    for (bool ended = false; !ended;) {
        size_t before = bytes.size;
        assert_int_equal (index_snapshot_next (snapshot, &bytes, SIZE, &ended), STATUS_OK);
        assert_in_range (bytes.size - before, 1, MOST);
    }
    index_snapshot_destroy (&snapshot);
    index_load_t load;
    assert_int_equal (index_load_init (&load, copy, buffer_span (&bytes), NULL), STATUS_OK);
    int slices = 0;
    for (; !load.ended; slices++)
        assert_int_equal (index_load_next (&load, bytes.size, NULL), STATUS_OK);
    assert_true (slices > SLICES);
    index_load_fini (&load);
    index_check (copy);
    assert_int_equal (index_digest_all (copy), index_digest_all (index));
    buffer_fini (&bytes);
    index_destroy (&copy);
    index_destroy (&index);
}

static void
test_a_change_makes_a_snapshot_stale (void **state)
{
    buffer_t bytes = { 0 };
    bool ended;
    index_t *index = s_story ();
    index_snapshot_t *snapshot = index_snapshot_new (index, LABEL);
    assert_int_equal (index_snapshot_next (snapshot, &bytes, 64, &ended), STATUS_OK);
    while (index_sweep (index, 1))
        ;
    assert_int_equal (index_snapshot_next (snapshot, &bytes, 64, &ended), STATUS_OK);
    index_clear (index, index_holder_find (index, &s_first), NULL);
    assert_int_equal (index_snapshot_next (snapshot, &bytes, 64, &ended), STATUS_STALE);
    index_snapshot_destroy (&snapshot);
    buffer_fini (&bytes);
    index_destroy (&index);
}

//  An index whose bound leaves room for so many holders, and for none of their blocks.
static index_t *
s_new_for (uint32_t holders)
{
    index_stats_t stats;
    index_t *index = index_new (NULL);
    for (uint32_t i = 0; i < holders; i++)
        index_holder_add (index, &(holder_t){ .owner = i });
    index_stats (index, &stats);
    index_destroy (&index);
    return index_new (&(index_options_t){ .memory_limit = stats.bytes });
}

static void
test_nothing_is_read_that_a_bound_would_refuse (void **state)
{
    static const struct {
        uint32_t holders;     //  That there is room for, of three
        const char *error;    //  What it says
    } cases [] = { { 0, "the index has no room for the snapshot's holders" },
        { 2, "the index has no room for the snapshot's holders" }, { 3, "the index is full" } };
    buffer_t bytes = { 0 };
    index_t *index = s_story ();
    s_write (index, &bytes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error_t error;
        index_stats_t stats;
        index_t *small = s_new_for (cases [i].holders);
        assert_int_equal (s_read (small, buffer_span (&bytes), &error), STATUS_LIMIT);
        assert_non_null (strstr (error.text, cases [i].error));
        index_stats (small, &stats);
        assert_int_equal (stats.holders, cases [i].holders);
        assert_int_equal (stats.unadmitted, cases [i].holders < 3);
        index_destroy (&small);
    }
    buffer_fini (&bytes);
    index_destroy (&index);
}

static void
test_damage_is_noticed (void **state)
{
    buffer_t bytes = { 0 };
    error_t error;
    index_t *index = s_story ();
    s_write (index, &bytes);
    for (size_t size = 0; size < bytes.size; size++)
        assert_int_equal (s_read_new (span_slice (buffer_span (&bytes), 0, size), NULL), STATUS_CORRUPT);
    for (size_t at = 0; at < bytes.size; at++) {
        bytes.data [at] ^= (uint8_t)(1 << at % 8);
        status_t status = s_read_new (buffer_span (&bytes), &error);
        assert_true (status == STATUS_CORRUPT || (status == STATUS_UNSUPPORTED && at >= 8 && at < 16));
        bytes.data [at] ^= (uint8_t)(1 << at % 8);
    }
    buffer_append_byte (&bytes, 0);
    assert_int_equal (s_read_new (buffer_span (&bytes), NULL), STATUS_CORRUPT);
    buffer_fini (&bytes);
    index_destroy (&index);
}

//  Somebody's records with checks that are right: a head, its numbers, and what is said of them.
typedef struct {
    uint32_t type;            //  Of the record
    uint64_t numbers [10];    //  Behind the head
    uint32_t count;           //  Of them
    const char *error;        //  NULL: fine
} forged_t;

static void
s_forge (buffer_t *bytes, const forged_t *record, uint64_t *check)
{
    size_t start = bytes->size;
    buffer_append_u32_le (bytes, record->type);
    buffer_append_u32_le (bytes, record->count);
    for (uint32_t i = 0; i < record->count; i++)
        buffer_append_u64_le (bytes, record->numbers [i]);
    *check = hash_bytes (span_slice (buffer_span (bytes), start, SIZE_MAX), *check);
    buffer_append_u64_le (bytes, *check);
}

static void
s_forge_header (buffer_t *bytes, uint64_t *check)
{
    buffer_append (bytes, SPAN ("STATORIX"));
    buffer_append_u64_le (bytes, 2);
    buffer_append_u64_le (bytes, LABEL);
    *check = hash_bytes (buffer_span (bytes), 0);
    buffer_append_u64_le (bytes, *check);
}

static void
test_what_cannot_be_is_refused_though_its_checks_are_right (void **state)
{
    static const forged_t cases [] = {
        { 9, { 0 }, 0, "record 1 of the snapshot is of no type there is" },
        { 1, { 0, 2ull << 32, 0 }, 3, "record 1 of the snapshot is of a holder with an impossible number" },
        { 1, { UINT32_MAX, 2ull << 32, 0 }, 3, "record 1 of the snapshot is of a holder with an impossible number" },
        { 1, { 1, 1ull << 32, 0 }, 3, "record 1 of the snapshot is of a holder that is there already" },
        { 1, { 1, 9ull << 8, 0 }, 3, "record 1 of the snapshot is of a holder of no kind there is" },
        { 2, { 0, 129 }, 2, "record 1 of the snapshot is of a run with an impossible number of blocks" },
        { 2, { 0, 2, 5, 6, 1ull << 32 | 3, 0 }, 6,
            "record 1 of the snapshot has stretches that do not follow each other" },
        { 2, { 0, 1, 5, 1ull << 32 | 1, 7 }, 5, "record 1 of the snapshot names a holder that is not there" },
        { 2, { 0, 1, 5, 9ull << 32 | 1, 0 }, 5, "record 1 of the snapshot ends in a row of holders" },
        { 2, { 0, 1, 5, 1ull << 32 | 1, 0, 0 }, 6, "record 1 of the snapshot is longer than it should be" },
        { 2, { 0, 1, 0, 1ull << 32 | 1, 0 }, 5, "block 0 of a store has hash 0, which is no block's" },
        { 3, { 0, 5, 1 }, 3, "record 1 of the snapshot has references to what is not held" },
        { 4, { 2 }, 1, "record 1 of the snapshot is an end in the middle" },
        { 4, { 1 }, 1, "holder 0 of the snapshot has other blocks than its digest says" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buffer_t bytes = { 0 };
        error_t error;
        uint64_t check;
        s_forge_header (&bytes, &check);
        s_forge (&bytes, &(forged_t){ 1, { 0, 1ull << 32, 1 }, 3, NULL }, &check);
        s_forge (&bytes, &cases [i], &check);
        assert_true (s_read_new (buffer_span (&bytes), &error) != STATUS_OK);
        assert_string_equal (error.text, cases [i].error);
        buffer_fini (&bytes);
    }
}

//  Many holders with great numbers, which have nothing, as the digest says of all but one of them.
static void
s_forge_holders (buffer_t *bytes, uint64_t count, uint64_t wrong)
{
    uint64_t check;
    s_forge_header (bytes, &check);
    for (uint64_t i = 0; i < count; i++)
        s_forge (bytes, &(forged_t){ 1, { UINT32_MAX - 1 - i, i << 32, i == wrong }, 3, NULL }, &check);
    s_forge (bytes, &(forged_t){ 4, { count }, 1, NULL }, &check);
}

//  What holders take while they are read depends on how many there are, not on the numbers that somebody gave them; and at the
//  end no call looks at all of them.
static void
test_a_holder_takes_as_much_whatever_its_number (void **state)
{
    enum { HOLDERS = 3000, BYTES_A_HOLDER = 60 };
    buffer_t bytes = { 0 };
    index_t *index = index_new (NULL);
    index_load_t load;
    s_forge_holders (&bytes, HOLDERS, HOLDERS);
    assert_int_equal (index_load_init (&load, index, buffer_span (&bytes), NULL), STATUS_OK);
    int proofs = 0;
    for (; !load.ended; proofs += load.unproved != 0) {
        assert_int_equal (index_load_next (&load, 64, NULL), STATUS_OK);
        assert_true (table_bytes (&load.holders) <= (load.records + 1) * BYTES_A_HOLDER);
    }
    assert_in_range (proofs, HOLDERS / 1024, HOLDERS / 1024 + 1);
    index_load_fini (&load);
    index_check (index);
    for (uint64_t wrong = 0; wrong < HOLDERS; wrong += HOLDERS / 3) {
        buffer_clear (&bytes);
        s_forge_holders (&bytes, HOLDERS, wrong);
        assert_int_equal (s_read_new (buffer_span (&bytes), NULL), STATUS_CORRUPT);
    }
    buffer_fini (&bytes);
    index_destroy (&index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_was_written_is_read),
        cmocka_unit_test (test_an_empty_index_is_one_too),
        cmocka_unit_test (test_what_is_behind_a_hole_is_still_held),
        cmocka_unit_test (test_no_slice_is_as_large_as_a_run_with_many_members),
        cmocka_unit_test (test_a_change_makes_a_snapshot_stale),
        cmocka_unit_test (test_nothing_is_read_that_a_bound_would_refuse),
        cmocka_unit_test (test_damage_is_noticed),
        cmocka_unit_test (test_what_cannot_be_is_refused_though_its_checks_are_right),
        cmocka_unit_test (test_a_holder_takes_as_much_whatever_its_number),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
