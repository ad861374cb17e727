//  What the index means, one sentence of its header at a time.  That it means the same whatever happens in whatever order is
//  index_random_test's to show.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/hash.h"
#include "kv/index/index.h"

enum { CHAIN = 8 };

static const uint64_t s_chain [CHAIN] = { 11, 22, 33, 44, 55, 66, 77, 88 };

static const holder_t s_a = { .owner = 1 }, s_b = { .owner = 2 };

static uint32_t
s_overlap_of (const index_t *index, uint32_t holder, const uint64_t *hashes, size_t count)
{
    index_match_t match;
    array_t overlaps;
    uint32_t blocks = 0;
    index_match_init (&match);
    array_init (&overlaps, sizeof (index_overlap_t));
    index_match (index, hashes, count, &match);
    index_overlaps (index, &match, &overlaps);
    for (size_t i = 0; i < overlaps.count; i++) {
        const index_overlap_t *each = array_at (&overlaps, i);
        if (each->holder == holder)
            blocks = each->blocks;
    }
    array_fini (&overlaps);
    index_match_fini (&match);
    return blocks;
}

static uint32_t
s_overlap (const index_t *index, uint32_t holder)
{
    return s_overlap_of (index, holder, s_chain, CHAIN);
}

//  Stores blocks first .. end - 1 of the chain behind the one before them.
static status_t
s_store (index_t *index, uint32_t holder, size_t first, size_t end)
{
    uint64_t parent = first ? s_chain [first - 1] : INDEX_ROOT;
    return index_store (index, holder, parent, s_chain + first, end - first, NULL);
}

static void
s_remove (index_t *index, uint32_t holder, size_t first, size_t end)
{
    assert_int_equal (index_remove (index, holder, s_chain + first, end - first, NULL), STATUS_OK);
}

static index_stats_t
s_stats (const index_t *index)
{
    index_stats_t stats;
    index_check (index);
    index_stats (index, &stats);
    return stats;
}

static void
test_overlap_is_the_leading_blocks (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    s_store (index, a, 0, 3);
    s_store (index, b, 0, 6);
    s_store (index, a, 3, 4);
    assert_int_equal (s_overlap (index, a), 4);
    assert_int_equal (s_overlap (index, b), 6);
    assert_int_equal (s_overlap_of (index, b, s_chain, 2), 2);
    assert_int_equal (s_overlap_of (index, b, s_chain, 0), 0);
    assert_int_equal (s_overlap_of (index, b, s_chain + 6, 2), 0);
    index_destroy (&index);
    assert_null (index);
}

//  A query may leave a long row of blocks behind any of them.
static void
test_a_query_may_leave_anywhere (void **state)
{
    enum { LONG = 600 };
    uint64_t row [LONG], query [LONG];
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    for (size_t i = 0; i < LONG; i++)
        row [i] = hash_u64 (i + 1);
    index_store (index, a, INDEX_ROOT, row, LONG, NULL);
    memcpy (query, row, sizeof row);
    for (size_t left = LONG; left-- > 0;) {
        query [left] = hash_u64 (LONG + left + 1);
        assert_int_equal (s_overlap_of (index, a, query, LONG), left);
        assert_int_equal (s_overlap_of (index, a, query, left), left);
    }
    memcpy (query, row, sizeof row);
    for (size_t left = 0; left < LONG; left++) {    //  And what lies behind it is none of its blocks
        query [left] = hash_u64 (LONG + left + 1);
        assert_int_equal (s_overlap_of (index, a, query, left + 1), left);
        query [left] = row [left];
    }
    index_destroy (&index);
}

//  The answer is cut where the holders change, and nowhere else.
static void
test_segments_name_the_holders_of_each_stretch (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    s_store (index, a, 0, 2);
    s_store (index, b, 0, 5);
    index_match_t match;
    array_t holders;
    index_match_init (&match);
    array_init (&holders, sizeof (uint32_t));
    index_match (index, s_chain, CHAIN, &match);
    assert_int_equal (match.segments.count, 2);
    const index_segment_t *segments = match.segments.data;
    assert_int_equal (segments [0].first, 0);
    assert_int_equal (segments [0].end, 2);
    assert_int_equal (segments [1].first, 2);
    assert_int_equal (segments [1].end, 5);
    index_segment_holders (index, &segments [0], &holders);
    assert_int_equal (holders.count, 2);
    array_cut (&holders, 0);
    index_segment_holders (index, &segments [1], &holders);
    assert_int_equal (holders.count, 1);
    assert_int_equal (*(uint32_t *)array_at (&holders, 0), b);

    index_clear (index, a, NULL);
    array_cut (&holders, 0);
    index_match (index, s_chain, CHAIN, &match);
    index_segment_holders (index, array_at (&match.segments, 0), &holders);
    assert_int_equal (holders.count, 1);
    array_fini (&holders);
    index_match_fini (&match);
    index_destroy (&index);
}

//  One hash in three physical blocks is there until the third is gone.
static void
test_a_removal_takes_one_reference (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    s_store (index, a, 0, 4);
    s_store (index, a, 3, 4);
    s_store (index, a, 3, 4);
    assert_int_equal (index_references (index, a, s_chain [3]), 3);
    s_remove (index, a, 3, 4);
    s_remove (index, a, 3, 4);
    assert_int_equal (s_overlap (index, a), 4);
    s_remove (index, a, 3, 4);
    assert_int_equal (s_overlap (index, a), 3);
    s_remove (index, a, 3, 4);
    index_stats_t stats = s_stats (index);
    assert_int_equal (stats.stored, 6);
    assert_int_equal (stats.duplicates, 2);
    assert_int_equal (stats.removed, 3);
    assert_int_equal (stats.missing, 1);
    index_destroy (&index);
}

//  A hash that is announced for ever has so many references and no more, and a walk gives few blocks of so many at once.
static void
test_references_are_bounded (void **state)
{
    enum { REFERENCES = 1024, ANNOUNCED = 3000 };
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    for (int i = 0; i < ANNOUNCED; i++)
        s_store (index, a, 0, 2);
    assert_int_equal (index_references (index, a, s_chain [0]), REFERENCES);
    assert_int_equal (s_stats (index).refused, 2 * (ANNOUNCED - REFERENCES));

    index_cursor_t cursor = { 0 };
    index_block_t blocks [CHAIN];
    size_t count;
    bool ended;
    index_walk (index, a, &cursor, blocks, CHAIN, &count, &ended);
    assert_int_equal (count, 1);
    index_walk (index, a, &cursor, blocks, CHAIN, &count, &ended);
    assert_int_equal (count, 1);
    assert_int_equal (blocks [0].references, REFERENCES);

    for (int i = 0; i < REFERENCES; i++)
        s_remove (index, a, 0, 2);
    assert_int_equal (index_digest (index, a), 0);
    index_destroy (&index);
}

static void
test_a_second_store_counts_for_nothing_where_asked (void **state)
{
    index_t *index = index_new (&(index_options_t){ .once = true });
    uint32_t a = index_holder_add (index, &s_a);
    s_store (index, a, 0, 2);
    s_store (index, a, 0, 2);
    s_store (index, a, 3, 4);
    s_store (index, a, 3, 4);
    s_store (index, a, 2, 4);
    assert_int_equal (s_overlap (index, a), 4);
    s_remove (index, a, 3, 4);
    s_remove (index, a, 1, 2);
    assert_int_equal (s_overlap (index, a), 1);
    assert_int_equal (index_references (index, a, s_chain [3]), 0);
    s_stats (index);
    index_destroy (&index);
}

static void
test_removing_before_storing_changes_nothing (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    s_remove (index, a, 0, 4);
    s_store (index, a, 0, 4);
    assert_int_equal (s_overlap (index, a), 4);
    assert_int_equal (s_stats (index).missing, 4);
    index_destroy (&index);
}

//  A removed block hides what is behind it, the root too, and all comes back with it.
static void
test_children_return_with_their_parent (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    s_store (index, a, 0, 8);
    s_remove (index, a, 4, 5);
    assert_int_equal (s_overlap (index, a), 4);
    s_remove (index, a, 0, 1);
    assert_int_equal (s_overlap (index, a), 0);
    s_store (index, a, 0, 1);
    assert_int_equal (s_overlap (index, a), 4);
    s_store (index, a, 4, 5);
    assert_int_equal (s_overlap (index, a), 8);
    s_stats (index);
    index_destroy (&index);
}

//  Behind a hole, an engine goes on storing: its parent is held, hidden or not.
static void
test_stores_behind_a_hole_are_held (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    s_store (index, a, 0, 6);
    s_remove (index, a, 2, 3);
    assert_int_equal (s_store (index, a, 6, 8), STATUS_OK);
    s_store (index, a, 2, 3);
    assert_int_equal (s_overlap (index, a), 8);
    index_destroy (&index);
}

static void
test_blocks_without_a_parent_wait_for_it (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    assert_int_equal (s_store (index, a, 6, 8), STATUS_OK);
    assert_int_equal (s_store (index, a, 4, 6), STATUS_OK);
    s_store (index, b, 0, 4);
    assert_int_equal (s_overlap (index, a), 0);
    assert_int_equal (s_stats (index).orphans, 4);
    s_store (index, a, 0, 4);
    assert_int_equal (s_overlap (index, a), 8);
    assert_int_equal (s_stats (index).orphans, 4);
    index_destroy (&index);
}

//  What waits is removed, counted and cleared like anything else.
static void
test_waiting_blocks_have_references_too (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    s_store (index, a, 5, 6);
    s_store (index, a, 5, 7);
    assert_int_equal (index_references (index, a, s_chain [5]), 2);
    s_remove (index, a, 5, 7);
    assert_int_equal (s_stats (index).memberships, 1);
    s_store (index, a, 0, 5);
    assert_int_equal (s_overlap (index, a), 6);
    s_store (index, a, 7, 8);
    index_clear (index, a, NULL);
    assert_int_equal (s_stats (index).memberships, 0);
    index_destroy (&index);
}

//  A chain that comes backwards, a block an event, and a crowd of children before their only parent: the parent costs what
//  it costs alone, and removals meet whatever is there.
static void
test_a_parent_comes_after_all_that_waits_for_it (void **state)
{
    enum { BLOCKS = 2000 };
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    uint64_t chain [BLOCKS], crowd [BLOCKS];
    for (uint64_t i = 0; i < BLOCKS; i++) {
        chain [i] = hash_u64 (i + 1);
        crowd [i] = hash_u64 (BLOCKS + i + 1);
    }
    for (size_t i = BLOCKS; --i;) {
        assert_int_equal (index_store (index, a, chain [i - 1], &chain [i], 1, NULL), STATUS_OK);
        assert_int_equal (index_store (index, a, chain [0], &crowd [i], 1, NULL), STATUS_OK);
    }
    index_remove (index, a, &chain [BLOCKS / 2], 1, NULL);
    index_remove (index, a, &crowd [BLOCKS / 2], 1, NULL);
    assert_int_equal (s_stats (index).orphans, 2 * BLOCKS - 2);
    assert_int_equal (s_overlap_of (index, a, chain, BLOCKS), 0);
    index_store (index, a, INDEX_ROOT, chain, 1, NULL);
    assert_int_equal (s_overlap_of (index, a, chain, BLOCKS), BLOCKS / 2);
    for (size_t i = 1; i < BLOCKS; i++)
        assert_int_equal (s_overlap_of (index, a, (uint64_t []){ chain [0], crowd [i] }, 2), i == BLOCKS / 2 ? 1 : 2);
    index_store (index, a, chain [BLOCKS / 2 - 1], &chain [BLOCKS / 2], 1, NULL);
    assert_int_equal (s_overlap_of (index, a, chain, BLOCKS), BLOCKS);
    index_store (index, b, INDEX_ROOT, chain, BLOCKS, NULL);
    assert_int_equal (s_overlap_of (index, b, chain, BLOCKS), BLOCKS);
    assert_int_equal (s_stats (index).conflicts, 0);
    index_retire (index, a, NULL);
    index_remove (index, b, chain, BLOCKS, NULL);
    while (index_sweep (index, 100))
        continue;
    assert_int_equal (s_stats (index).blocks, 0);
    index_destroy (&index);
}

static void
test_blocks_without_a_parent_are_refused_where_asked (void **state)
{
    index_t *index = index_new (&(index_options_t){ .rooted = true });
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    error_t error;
    s_store (index, b, 0, 4);
    assert_int_equal (index_store (index, a, s_chain [3], s_chain + 4, 3, &error), STATUS_GAP);
    assert_string_equal (error.text, "the parent of 3 blocks is unknown");
    s_store (index, a, 0, 4);
    assert_int_equal (s_overlap (index, a), 4);
    assert_int_equal (s_store (index, a, 4, 7), STATUS_OK);
    assert_int_equal (s_overlap (index, a), 7);
    assert_int_equal (s_stats (index).orphans, 3);
    index_destroy (&index);
}

static void
test_clears_take_everything_at_once (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    s_store (index, a, 0, 8);
    s_store (index, a, 7, 8);
    s_store (index, b, 0, 4);
    index_clear (index, a, NULL);
    index_clear (index, a, NULL);
    assert_int_equal (s_overlap (index, a), 0);
    assert_int_equal (s_overlap (index, b), 4);
    assert_int_equal (index_digest (index, a), 0);
    s_remove (index, a, 0, 8);
    s_store (index, a, 0, 2);
    assert_int_equal (s_overlap (index, a), 2);
    assert_int_equal (s_stats (index).memberships, 6);
    while (index_sweep (index, 1))
        s_stats (index);
    assert_int_equal (s_overlap (index, a), 2);
    assert_int_equal (s_stats (index).blocks, 4);
    index_destroy (&index);
}

//  Clearing one holder again and again neither loses blocks of others nor gathers seats.
static void
test_the_sweep_keeps_up_with_clears (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    s_store (index, b, 0, 8);
    uint64_t bytes = 0;
    for (int round = 0; round < 10000; round++) {
        s_store (index, a, 0, 8);
        index_clear (index, a, NULL);
        if (round == 100)
            bytes = s_stats (index).bytes;
    }
    assert_int_equal (s_overlap (index, a), 0);
    assert_int_equal (s_overlap (index, b), 8);
    assert_int_equal (s_stats (index).bytes, bytes);
    index_destroy (&index);
}

//  Else a clear among thousands of sets would be a pause: of a run whose blocks all have different and large sets, a step looks
//  at few.
static void
test_a_run_with_many_sets_takes_many_steps_of_the_sweep (void **state)
{
    enum { BLOCKS = 64, HOLDERS = 200, STEPS = 16 };
    index_t *index = index_new (NULL);
    uint32_t calls = 1, holders [HOLDERS];
    uint64_t hashes [BLOCKS];
    for (uint64_t i = 0; i < BLOCKS; i++)
        hashes [i] = hash_u64 (i + 1);
    for (uint32_t i = 0; i < HOLDERS; i++) {
        holders [i] = index_holder_add (index, &(holder_t){ .owner = i });
        index_store (index, holders [i], INDEX_ROOT, hashes, BLOCKS, NULL);
        index_remove (index, holders [i], &hashes [i % BLOCKS], 1, NULL);
    }
    index_clear (index, holders [HOLDERS - 1], NULL);
    while (index_sweep (index, STEPS)) {
        s_stats (index);
        calls++;
    }
    assert_in_range (calls, BLOCKS / STEPS, BLOCKS);
    assert_int_equal (s_stats (index).memberships, (HOLDERS - 1) * (BLOCKS - 1));
    index_destroy (&index);
}

static void
test_a_retired_holder_is_a_stranger (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    error_t error;
    s_store (index, a, 0, 8);
    s_store (index, b, 0, 2);
    assert_int_equal (index_retire (index, a, NULL), STATUS_OK);
    assert_int_equal (index_retire (index, a, NULL), STATUS_NOT_FOUND);
    assert_int_equal (index_store (index, a, INDEX_ROOT, s_chain, 1, &error), STATUS_NOT_FOUND);
    assert_string_equal (error.text, "the index has no holder 0");
    assert_int_equal (index_remove (index, a, s_chain, 1, NULL), STATUS_NOT_FOUND);
    assert_int_equal (index_clear (index, 77, NULL), STATUS_NOT_FOUND);
    assert_null (index_holder (index, a));
    assert_int_equal (index_holder_find (index, &s_a), HOLDER_NONE);
    assert_int_equal (s_overlap (index, b), 2);

    holder_t c = { .owner = 3 };
    assert_int_equal (index_holder_add (index, &c), a);
    assert_int_equal (s_overlap (index, a), 0);
    index_stats_t stats = s_stats (index);
    assert_int_equal (stats.strangers, 4);
    assert_int_equal (stats.holders, 2);
    index_destroy (&index);
}

static void
test_empty_stores_and_hash_zero (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a);
    uint64_t hashes [] = { 5, 0, 6 };
    assert_int_equal (index_store (index, a, INDEX_ROOT, NULL, 0, NULL), STATUS_OK);
    assert_int_equal (index_store (index, a, s_chain [7], NULL, 0, NULL), STATUS_OK);
    assert_int_equal (index_store (index, a, INDEX_ROOT, hashes, 3, NULL), STATUS_INVALID);
    assert_int_equal (s_overlap_of (index, a, hashes, 3), 1);
    assert_int_equal (index_remove (index, a, hashes, 3, NULL), STATUS_OK);
    index_stats_t stats = s_stats (index);
    assert_int_equal (stats.invalid, 2);
    assert_int_equal (stats.blocks, 0);
    index_destroy (&index);
}

//  Whoever makes hashes up so that all belong in one line is not waited for: some are stored, and what others say is.
static void
test_made_up_hashes_keep_nobody_waiting (void **state)
{
    enum { MADE_UP = 1000, LINE_MAX = 90 };
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    uint64_t hashes [MADE_UP];
    for (uint64_t i = 0; i < MADE_UP; i++)
        hashes [i] = (i + 1) << 32 | 5;
    assert_int_equal (index_store (index, a, INDEX_ROOT, hashes, MADE_UP, NULL), STATUS_INVALID);
    for (size_t i = 0; i < MADE_UP; i++)
        index_store (index, b, i ? hashes [i - 1] : INDEX_ROOT, &hashes [i], 1, NULL);
    assert_int_equal (s_stats (index).blocks, LINE_MAX);
    assert_int_equal (s_stats (index).invalid, 2 * (MADE_UP - LINE_MAX));
    assert_int_equal (s_overlap_of (index, b, hashes, MADE_UP), LINE_MAX);
    s_store (index, b, 0, CHAIN);
    assert_int_equal (s_overlap (index, b), CHAIN);
    index_remove (index, a, hashes, MADE_UP, NULL);
    index_remove (index, b, hashes, MADE_UP, NULL);
    assert_int_equal (s_stats (index).blocks, CHAIN);
    index_destroy (&index);
}

static void
test_another_parent_for_a_known_block_is_noticed (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    s_store (index, a, 0, 3);
    index_store (index, b, INDEX_ROOT, s_chain + 2, 1, NULL);
    assert_int_equal (s_stats (index).conflicts, 1);
    index_destroy (&index);
}

//  At the bound stores are refused, removals work, and then there is room again.  A block that one holder has takes less than
//  24 bytes.
static void
test_bytes_are_bounded (void **state)
{
    index_t *index = index_new (&(index_options_t){ .memory_limit = 1 << 20 });
    uint32_t a = index_holder_add (index, &s_a);
    uint64_t hashes [64], parent = INDEX_ROOT, run = 0;
    status_t status = STATUS_OK;
    while (status == STATUS_OK) {
        for (uint64_t i = 0; i < 64; i++)
            hashes [i] = hash_u64 (run * 64 + i);
        status = index_store (index, a, parent, hashes, 64, NULL);
        parent = hashes [63];
        run += status == STATUS_OK;
    }
    assert_int_equal (status, STATUS_LIMIT);
    index_stats_t stats = s_stats (index);
    assert_int_equal (stats.refused, 64);
    assert_true (stats.bytes < (1 << 20) + 64 * 64 && stats.bytes < 24 * stats.memberships);
    for (uint64_t back = 0; back < 4; back++) {
        run--;
        for (uint64_t i = 0; i < 64; i++)
            hashes [i] = hash_u64 (run * 64 + i);
        index_remove (index, a, hashes, 64, NULL);
    }
    parent = hash_u64 (run * 64 - 1);
    assert_int_equal (index_store (index, a, parent, hashes, 64, NULL), STATUS_OK);
    index_destroy (&index);
}

static void
s_assert_explained (const index_t *index, uint32_t holder, overlap_end_t end, uint32_t overlap, uint32_t hidden)
{
    index_explanation_t explanation = index_explain (index, holder, s_chain, CHAIN);
    assert_string_equal (overlap_end_name (explanation.end), overlap_end_name (end));
    assert_int_equal (explanation.overlap, overlap);
    assert_int_equal (explanation.hidden, hidden);
}

static void
test_an_overlap_is_explained (void **state)
{
    index_t *index = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    s_assert_explained (index, a, OVERLAP_END_NOBODY, 0, 0);
    assert_int_equal (index_explain (index, a, s_chain, CHAIN).best_holder, HOLDER_NONE);
    s_store (index, a, 0, 8);
    s_store (index, b, 0, 6);
    s_store (index, b, 7, 8);
    s_assert_explained (index, a, OVERLAP_END_WHOLE, 8, 0);
    s_assert_explained (index, b, OVERLAP_END_ELSEWHERE, 6, 1);
    s_remove (index, b, 2, 3);
    s_assert_explained (index, b, OVERLAP_END_ELSEWHERE, 2, 4);
    index_explanation_t explanation = index_explain (index, b, s_chain, CHAIN);
    assert_int_equal (explanation.best, 8);
    assert_int_equal (explanation.best_holder, a);
    s_assert_explained (index, 9, OVERLAP_END_STRANGER, 0, 0);
    index_clear (index, a, NULL);
    s_assert_explained (index, b, OVERLAP_END_NOBODY, 2, 4);
    index_destroy (&index);
}

static void
test_digests_do_not_depend_on_order_or_numbers (void **state)
{
    index_t *one = index_new (NULL), *other = index_new (NULL);
    uint32_t a = index_holder_add (one, &s_a), b = index_holder_add (one, &s_b);
    uint32_t other_b = index_holder_add (other, &s_b), other_a = index_holder_add (other, &s_a);
    s_store (one, a, 0, 6);
    s_store (one, b, 0, 3);
    s_store (one, a, 2, 3);
    s_store (other, other_b, 2, 3);
    s_store (other, other_a, 2, 6);
    s_store (other, other_b, 0, 2);
    assert_true (index_digest_all (one) != index_digest_all (other));
    s_store (other, other_a, 0, 3);
    assert_int_equal (index_digest (one, a), index_digest (other, other_a));
    assert_int_equal (index_digest_all (one), index_digest_all (other));
    s_remove (other, other_b, 0, 1);
    s_store (other, other_a, 7, 8);
    assert_true (index_digest (one, b) != index_digest (other, other_b));
    assert_true (index_digest (one, a) != index_digest (other, other_a));
    index_destroy (&other);
    index_destroy (&one);
}

//  A walk of one block at a time gives what another index needs, whatever changes meanwhile, if that is told of what is passed.
static void
test_a_walk_feeds_a_late_joiner (void **state)
{
    index_t *index = index_new (NULL), *joiner = index_new (NULL);
    uint32_t a = index_holder_add (index, &s_a), b = index_holder_add (index, &s_b);
    uint32_t joined = index_holder_add (joiner, &s_a);
    s_store (index, a, 0, 6);
    s_store (index, a, 4, 5);
    uint64_t orphan = 99, parent = 98;
    index_store (index, a, parent, &orphan, 1, NULL);

    index_cursor_t cursor = { 0 };
    size_t total = 0;
    for (bool ended = false; !ended;) {
        index_block_t block;
        size_t count;
        index_walk (index, a, &cursor, &block, 1, &count, &ended);
        for (uint32_t i = 0; count && i < block.references; i++)
            assert_int_equal (index_store (joiner, joined, block.parent, &block.hash, 1, NULL), STATUS_OK);
        total += count;
        s_store (index, b, 0, 1);
        s_remove (index, b, 0, 1);
        if (total != 2)
            continue;
        assert_true (index_has_passed (index, cursor, s_chain [1]));
        assert_false (index_has_passed (index, cursor, s_chain [5]));
        s_remove (index, a, 1, 2);
        s_remove (joiner, joined, 1, 2);
        s_store (index, a, 6, 8);
        total = 100;
    }
    assert_int_equal (total, 107);
    assert_int_equal (index_digest_all (joiner), index_digest_all (index));
    index_destroy (&joiner);
    index_destroy (&index);
}

static void
s_digest_parts (const index_t *index, uint32_t holder, uint64_t parts [INDEX_DIGEST_PARTS])
{
    index_block_t blocks [3];
    size_t count;
    memset (parts, 0, INDEX_DIGEST_PARTS * sizeof *parts);
    index_cursor_t cursor = { 0 };
    for (bool ended = false; !ended;) {
        index_walk (index, holder, &cursor, blocks, 3, &count, &ended);
        index_digest_add (parts, blocks, count);
    }
}

static void
test_parts_of_a_digest_tell_where_two_copies_differ (void **state)
{
    uint64_t hashes [4] = { 1ull << 56, 2ull << 56, 2ull << 56 | 1, 9ull << 56 };
    uint64_t parts [INDEX_DIGEST_PARTS], others [INDEX_DIGEST_PARTS], sum = 0;
    index_t *one = index_new (NULL), *other = index_new (NULL);
    uint32_t a = index_holder_add (one, &(holder_t){ .owner = 1 });
    uint32_t b = index_holder_add (other, &(holder_t){ .owner = 1 });
    index_store (one, a, INDEX_ROOT, hashes, 4, NULL);
    index_store (one, a, INDEX_ROOT, hashes, 1, NULL);
    index_store (one, a, 77, &(uint64_t){ 0xFFull << 56 }, 1, NULL);
    index_store (other, b, INDEX_ROOT, hashes, 4, NULL);
    index_store (other, b, INDEX_ROOT, hashes, 1, NULL);
    index_store (other, b, 77, &(uint64_t){ 0xFFull << 56 }, 1, NULL);
    index_remove (other, b, &hashes [2], 1, NULL);
    s_digest_parts (one, a, parts);
    s_digest_parts (other, b, others);
    for (int i = 0; i < INDEX_DIGEST_PARTS; i++) {
        assert_int_equal (parts [i] != others [i], i == 2);
        sum += parts [i];
    }
    assert_true (sum == index_digest (one, a));
    index_destroy (&other);
    index_destroy (&one);
}

static void
test_a_walk_of_nobody_ends_at_once (void **state)
{
    index_t *index = index_new (NULL);
    index_cursor_t cursor = { 0 };
    index_block_t block;
    size_t count;
    bool ended;
    uint32_t a = index_holder_add (index, &s_a);
    s_store (index, a, 0, 4);
    index_walk (index, 7, &cursor, &block, 1, &count, &ended);
    assert_true (ended && count == 0);
    index_walk (index, a, &cursor, &block, 1, &count, &ended);
    assert_true (!ended && count == 1);
    index_retire (index, a, NULL);
    index_walk (index, a, &cursor, &block, 1, &count, &ended);
    assert_true (ended && count == 0);
    index_destroy (&index);
}

//  A prefix that everybody has is stored once, and a thousand holders leave at once without taking it from the last.
static void
test_a_thousand_holders_of_one_prefix (void **state)
{
    enum { HOLDERS = 1000, BLOCKS = 100 };
    index_t *index = index_new (NULL);
    uint64_t hashes [BLOCKS];
    for (uint64_t i = 0; i < BLOCKS; i++)
        hashes [i] = hash_u64 (i);
    for (uint32_t i = 0; i < HOLDERS; i++) {
        uint32_t holder = index_holder_add (index, &(holder_t){ .owner = i });
        index_store (index, holder, INDEX_ROOT, hashes, BLOCKS - i % 10, NULL);
    }
    index_stats_t stats = s_stats (index);
    assert_int_equal (stats.blocks, BLOCKS);
    assert_int_equal (stats.memberships, HOLDERS * BLOCKS - HOLDERS * 9 / 2);
    assert_true (stats.bytes < 2 * stats.memberships);
    assert_int_equal (s_overlap_of (index, 999, hashes, BLOCKS), 91);
    assert_int_equal (s_overlap_of (index, 990, hashes, BLOCKS), 100);
    for (uint32_t holder = 0; holder < HOLDERS - 1; holder++)
        index_retire (index, holder, NULL);
    assert_int_equal (s_overlap_of (index, 999, hashes, BLOCKS), 91);
    assert_int_equal (s_overlap_of (index, 990, hashes, BLOCKS), 0);
    while (index_sweep (index, 100))
        continue;
    stats = s_stats (index);
    assert_int_equal (stats.blocks, 91);
    assert_int_equal (stats.sets, 0);
    index_destroy (&index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_overlap_is_the_leading_blocks),
        cmocka_unit_test (test_a_query_may_leave_anywhere),
        cmocka_unit_test (test_segments_name_the_holders_of_each_stretch),
        cmocka_unit_test (test_a_removal_takes_one_reference),
        cmocka_unit_test (test_references_are_bounded),
        cmocka_unit_test (test_a_second_store_counts_for_nothing_where_asked),
        cmocka_unit_test (test_removing_before_storing_changes_nothing),
        cmocka_unit_test (test_children_return_with_their_parent),
        cmocka_unit_test (test_stores_behind_a_hole_are_held),
        cmocka_unit_test (test_blocks_without_a_parent_wait_for_it),
        cmocka_unit_test (test_waiting_blocks_have_references_too),
        cmocka_unit_test (test_a_parent_comes_after_all_that_waits_for_it),
        cmocka_unit_test (test_blocks_without_a_parent_are_refused_where_asked),
        cmocka_unit_test (test_clears_take_everything_at_once),
        cmocka_unit_test (test_the_sweep_keeps_up_with_clears),
        cmocka_unit_test (test_a_run_with_many_sets_takes_many_steps_of_the_sweep),
        cmocka_unit_test (test_a_retired_holder_is_a_stranger),
        cmocka_unit_test (test_empty_stores_and_hash_zero),
        cmocka_unit_test (test_made_up_hashes_keep_nobody_waiting),
        cmocka_unit_test (test_another_parent_for_a_known_block_is_noticed),
        cmocka_unit_test (test_bytes_are_bounded),
        cmocka_unit_test (test_an_overlap_is_explained),
        cmocka_unit_test (test_digests_do_not_depend_on_order_or_numbers),
        cmocka_unit_test (test_a_walk_feeds_a_late_joiner),
        cmocka_unit_test (test_parts_of_a_digest_tell_where_two_copies_differ),
        cmocka_unit_test (test_a_walk_of_nobody_ends_at_once),
        cmocka_unit_test (test_a_thousand_holders_of_one_prefix),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
