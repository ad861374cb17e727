//  What a worker need not compute, in all tiers, and what it is computing or guessed to have.

#include "kv/catalog/fixture_test.h"

enum { STORE = 99 };

//  What one worker reaches of the prompt.
static reach_overlap_t
s_reached (uint64_t source)
{
    uint8_t bytes [PROMPT * HASH128_SIZE];
    reach_overlap_t reached = { 0 };
    array_t overlaps;
    fixture_prompt (bytes);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (fixture_catalog, 1, (column_t){ bytes, PROMPT }, HOLDER_EXACT, &overlaps);
    for (size_t i = 0; i < overlaps.count; i++) {
        const catalog_overlap_t *overlap = array_at (&overlaps, i);
        if (overlap->source == source)
            reached = overlap->reached;
    }
    array_fini (&overlaps);
    return reached;
}

//  What was moved down from the device to make room is told as what is there still.
static void
test_a_worker_reaches_all_its_tiers (void **state)
{
    fixture_store_prompt (WORKER, 0, TIER_DEVICE, 0, 4);
    fixture_store_prompt (OTHER, 0, TIER_DEVICE, 0, 6);
    fixture_store_prompt (WORKER, 0, TIER_HOST, 0, 8);
    reach_overlap_t reached = s_reached (WORKER);
    assert_int_equal (reached.total, 8);
    assert_int_equal (reached.blocks [TIER_DEVICE], 4);
    assert_int_equal (reached.blocks [TIER_HOST], 4);
    assert_int_equal (s_reached (OTHER).total, 6);
}

//  A store that two workers share goes on where each of them ends, and whoever gets its slot shares nothing.
static void
test_workers_share_a_store (void **state)
{
    fixture_store_prompt (WORKER, 0, TIER_DEVICE, 0, 3);
    catalog_reach (fixture_catalog, WORKER, 0, STORE, TIER_HOST);
    catalog_reach (fixture_catalog, OTHER, 0, STORE, TIER_REMOTE);
    fixture_store_prompt (STORE, 0, TIER_REMOTE, 0, 9);
    fixture_store_prompt (STORE, 0, TIER_DISK, 0, 5);
    reach_overlap_t near = s_reached (WORKER), far = s_reached (OTHER);
    assert_int_equal (near.total, 9);
    assert_int_equal (near.blocks [TIER_DEVICE], 3);
    assert_int_equal (near.blocks [TIER_DISK], 2);
    assert_int_equal (near.blocks [TIER_REMOTE], 4);
    assert_int_equal (far.total, 9);
    assert_int_equal (far.blocks [TIER_REMOTE], 9);

    catalog_forget (fixture_catalog, STORE);
    fixture_store_prompt (STORE + 1, 0, TIER_REMOTE, 0, 9);
    assert_int_equal (s_reached (WORKER).total, 3);
    assert_int_equal (s_reached (OTHER).total, 0);
}

//  What a rank costs is bounded, whatever number it says it has.
static void
test_ranks_beyond_the_bound_have_nothing (void **state)
{
    fixture_store_prompt (WORKER, 1023, TIER_DEVICE, 0, 4);
    fixture_store_prompt (OTHER, 1024, TIER_DEVICE, 0, 4);
    assert_int_equal (s_reached (WORKER).total, 4);
    assert_int_equal (s_reached (OTHER).total, 0);
    assert_int_equal (fixture_stats ().refused, 4);
}

//  So it is with all ranks of a worker that goes.
static void
test_a_worker_of_many_ranks_goes_little_by_little (void **state)
{
    for (uint16_t i = 0; i < RANKS * TIER_COUNT; i++)
        fixture_store_prompt (WORKER, i / TIER_COUNT, i % TIER_COUNT, 0, 2);
    assert_int_equal (s_reached (WORKER).total, 2);
    catalog_forget (fixture_catalog, WORKER);
    assert_int_equal (s_reached (WORKER).total, 0);
    assert_int_equal (fixture_stats ().sources, 0);
    assert_int_equal (
        fixture_stats ().memberships, 2 * RANKS * TIER_COUNT - LEAVES_AT_ONCE / 2);    //  Its end is a step, too
    fixture_sweep ();
    assert_int_equal (fixture_stats ().memberships, 0);
    catalog_check (fixture_catalog);
}

//  ---- Why -----------------------------------------------------------------------------------------------------------

static void
s_assert_explained (uint64_t source, tier_t tier, uint64_t namespace_id, const index_explanation_t *expected)
{
    uint8_t bytes [PROMPT * HASH128_SIZE];
    fixture_prompt (bytes);
    match_prefix_t query = { .namespace_id = namespace_id, .hashes = { bytes, PROMPT } };
    index_explanation_t why;
    assert_true (catalog_explain (fixture_catalog, source, 0, tier, &query, &why));
    assert_string_equal (overlap_end_name (why.end), overlap_end_name (expected->end));
    assert_int_equal (why.overlap, expected->overlap);
    assert_int_equal (why.hidden, expected->hidden);
}

static bool
s_is_explained (uint64_t source, uint16_t rank, tier_t tier)
{
    index_explanation_t why;
    return catalog_explain (fixture_catalog, source, rank, tier, &(match_prefix_t){ .namespace_id = 1 }, &why);
}

static void
test_what_a_source_has_is_explained_tier_by_tier (void **state)
{
    fixture_store_prompt (WORKER, 0, TIER_DEVICE, 0, 4);
    fixture_store_prompt (WORKER, 0, TIER_DEVICE, 6, 9);
    fixture_store_prompt (WORKER, 0, TIER_HOST, 0, PROMPT);
    fixture_store_prompt (OTHER, 0, TIER_DEVICE, 0, 3);
    s_assert_explained (
        WORKER, TIER_DEVICE, 1, &(index_explanation_t){ .end = OVERLAP_END_ELSEWHERE, .overlap = 4, .hidden = 3 });
    s_assert_explained (WORKER, TIER_HOST, 1, &(index_explanation_t){ .end = OVERLAP_END_WHOLE, .overlap = PROMPT });
    s_assert_explained (OTHER, TIER_DEVICE, 1, &(index_explanation_t){ .end = OVERLAP_END_ELSEWHERE, .overlap = 3 });
    s_assert_explained (OTHER, TIER_DEVICE, 2, &(index_explanation_t){ .end = OVERLAP_END_STRANGER });
    fixture_store (WORKER, 2);
    s_assert_explained (OTHER, TIER_DEVICE, 2, &(index_explanation_t){ .end = OVERLAP_END_STRANGER });
    assert_false (s_is_explained (OTHER, 0, TIER_HOST));
    assert_false (s_is_explained (OTHER, 1, TIER_DEVICE));
    assert_false (s_is_explained (13, 0, TIER_DEVICE));
    catalog_cleared (fixture_catalog, WORKER, &(kv_cleared_t){ .tier = TIER_HOST });
    assert_false (s_is_explained (WORKER, 0, TIER_HOST));
    fixture_sweep ();
    s_assert_explained (
        WORKER, TIER_DEVICE, 1, &(index_explanation_t){ .end = OVERLAP_END_NOBODY, .overlap = 4, .hidden = 3 });
}

//  ---- What is being computed ----------------------------------------------------------------------------------------

static void
test_what_is_computed_is_told_apart_until_it_is_stored (void **state)
{
    uint8_t bytes [2 * HASH128_SIZE];
    array_t overlaps;
    array_init (&overlaps, sizeof (catalog_overlap_t));
    fixture_hashes (bytes);
    catalog_ticket_t ticket = fixture_begin_prefill (WORKER, 1, 100);
    fixture_store (OTHER, 1);
    catalog_match (fixture_catalog, 1, (column_t){ bytes, 2 }, HOLDER_PENDING, &overlaps);
    assert_int_equal (overlaps.count, 2);
    for (size_t i = 0; i < overlaps.count; i++) {
        const catalog_overlap_t *overlap = array_at (&overlaps, i);
        assert_int_equal (overlap->reached.pending, overlap->source == WORKER ? 2 : 0);
        assert_int_equal (overlap->expected_ns, overlap->source == WORKER ? 50 : 0);
        assert_int_equal (overlap->reached.total, 2);
    }
    assert_int_equal (fixture_stats ().pending, 2);
    assert_int_equal (catalog_digest (fixture_catalog, WORKER), 0);
    fixture_store (WORKER, 1);
    assert_int_equal (fixture_stats ().pending, 0);
    assert_int_equal (fixture_matches (1), 2);
    assert_false (catalog_settle (fixture_catalog, ticket));
    array_fini (&overlaps);
}

//  Of two prompts that begin alike the longer one is there when its own end is.
static void
test_what_is_computed_is_expected_when_its_end_is (void **state)
{
    uint8_t bytes [PROMPT * HASH128_SIZE];
    array_t overlaps;
    fixture_prompt (bytes);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    for (uint64_t blocks = 3; blocks <= 7; blocks += 4) {
        catalog_prefill_t prefill = { .source = WORKER,
            .namespace_id = 1,
            .hashes = { bytes, blocks },
            .expected_ns = 10 * blocks,
            .expiry_ns = 100 };
        catalog_begin_prefill (fixture_catalog, &prefill);
        catalog_match (fixture_catalog, 1, (column_t){ bytes, PROMPT }, HOLDER_PENDING, &overlaps);
        const catalog_overlap_t *overlap = array_at (&overlaps, overlaps.count - 1);
        assert_int_equal (overlap->reached.pending, blocks);
        assert_int_equal (overlap->expected_ns, 10 * blocks);
    }
    array_fini (&overlaps);
}

static void
test_what_is_computed_ends (void **state)
{
    catalog_ticket_t ticket = fixture_begin_prefill (WORKER, 1, 100);
    catalog_ticket_t late = fixture_begin_prefill (OTHER, 2, 200);
    assert_int_equal (fixture_expire (99), 0);
    assert_true (catalog_settle (fixture_catalog, ticket));
    assert_false (catalog_settle (fixture_catalog, ticket));
    assert_int_equal (fixture_matches (1), 0);
    assert_int_equal (fixture_matches (2), 1);
    assert_int_equal (fixture_expire (200), 1);
    assert_false (catalog_settle (fixture_catalog, late));
    assert_int_equal (fixture_matches (2), 0);
    fixture_sweep ();
    assert_int_equal (fixture_stats ().namespaces, 0);
    assert_false (catalog_settle (fixture_catalog, ticket));
}

//  A namespace that went and came again is another one: nobody ends there what began in the first.
static void
test_a_ticket_ends_with_its_namespace (void **state)
{
    catalog_ticket_t first = fixture_begin_prefill (WORKER, 1, 100);
    fixture_expire (100);
    fixture_sweep ();
    assert_int_equal (fixture_stats ().namespaces, 0);
    catalog_ticket_t second = fixture_begin_prefill (OTHER, 1, 200);
    assert_int_equal (second.id, first.id);
    assert_false (catalog_settle (fixture_catalog, first));
    assert_false (catalog_guess (fixture_catalog, first, &(catalog_outcome_t){ .computed = true }, 150));
    assert_int_equal (fixture_stats ().pending, 2);
    assert_true (catalog_settle (fixture_catalog, second));
}

//  Whoever gets the slot of one that went inherits nothing that it was to compute.
static void
test_what_is_computed_goes_with_its_worker (void **state)
{
    fixture_begin_prefill (WORKER, 1, 100);
    fixture_begin_prefill (WORKER, 2, 100);
    catalog_forget (fixture_catalog, WORKER);
    assert_int_equal (fixture_stats ().pending, 0);
    fixture_store (OTHER, 3);
    assert_int_equal (fixture_matches (1) + fixture_matches (2), 0);
}

//  Who says again all that it has still computes what it was sent.
static void
test_what_is_computed_outlives_what_was_said (void **state)
{
    fixture_store (WORKER, 1);
    catalog_ticket_t ticket = fixture_begin_prefill (WORKER, 2, 100);
    catalog_forget_said (fixture_catalog, WORKER);
    assert_int_equal (fixture_matches (1), 0);
    assert_int_equal (fixture_matches (2), 1);
    assert_int_equal (fixture_stats ().pending, 2);
    assert_true (catalog_settle (fixture_catalog, ticket));
    assert_int_equal (fixture_matches (2), 0);
}

static void
test_no_more_is_computed_than_the_bound_allows (void **state)
{
    catalog_t *one = fixture_catalog;
    fixture_catalog = catalog_new (&(catalog_options_t){ .pending_max = 5 });
    assert_int_not_equal (fixture_begin_prefill (WORKER, 1, 100).id, 0);
    assert_int_not_equal (fixture_begin_prefill (WORKER, 2, 100).id, 0);
    assert_int_equal (fixture_begin_prefill (OTHER, 3, 100).id, 0);
    assert_int_equal (fixture_matches (3), 0);
    fixture_expire (100);
    assert_int_not_equal (fixture_begin_prefill (OTHER, 3, 200).id, 0);
    catalog_destroy (&fixture_catalog);
    fixture_catalog = one;
}

//  Where each of several namespaces has more guesses than one call looks at, a round ends all the same.
static void
test_a_round_through_many_guesses_ends (void **state)
{
    enum { ENGINES = 100, CALLS_MAX = 20 };
    for (uint64_t i = 0; i < 3 * ENGINES; i++)
        catalog_guess (fixture_catalog, fixture_begin_prefill (WORKER + i % ENGINES, 1 + i / ENGINES, 100),
            &(catalog_outcome_t){ .computed = true }, 50);
    bool more = true;
    for (int calls = 0; more; calls++) {
        assert_true (calls < CALLS_MAX);
        catalog_expire (fixture_catalog, 60, &more);
    }
    assert_int_equal (fixture_matches (3), ENGINES);
}

//  A long prompt is pending in steps, and so it becomes a guess, the end first.
static void
test_a_long_prompt_is_learnt_in_steps (void **state)
{
    enum { LONG = 3000, SLICE = 128 };
    static uint8_t bytes [LONG * HASH128_SIZE];
    array_t overlaps;
    for (uint64_t i = 0; i < LONG; i++)
        hash128_to_bytes ((hash128_t){ hash_u64 (i), 0 }, bytes + i * HASH128_SIZE);
    catalog_prefill_t prefill = { .source = WORKER, .namespace_id = 1, .hashes = { bytes, LONG }, .expiry_ns = 100 };
    catalog_ticket_t ticket = catalog_begin_prefill (fixture_catalog, &prefill);
    assert_true (catalog_is_behind (fixture_catalog));
    fixture_expire (1);
    assert_false (catalog_is_behind (fixture_catalog));
    assert_int_equal (fixture_stats ().memberships, LONG);
    catalog_outcome_t outcome = { .computed = true, .capacity = 2 * LONG };
    assert_true (catalog_guess (fixture_catalog, ticket, &outcome, 2));
    bool more;
    for (uint64_t learnt = SLICE; learnt + SLICE < LONG; learnt += SLICE) {
        assert_int_equal (fixture_stats ().memberships, LONG + learnt);
        assert_true (catalog_is_behind (fixture_catalog));
        catalog_expire (fixture_catalog, 3, &more);
        assert_true (more);
    }
    fixture_expire (3);
    assert_false (catalog_is_behind (fixture_catalog));
    assert_int_equal (fixture_stats ().memberships, LONG);
    assert_int_equal (fixture_stats ().pending, 0);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (fixture_catalog, 1, (column_t){ bytes, LONG }, HOLDER_PENDING, &overlaps);
    assert_int_equal (((catalog_overlap_t *)array_at (&overlaps, 0))->reached.approximate, LONG);
    array_fini (&overlaps);
    catalog_check (fixture_catalog);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_a_worker_reaches_all_its_tiers, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_workers_share_a_store, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_ranks_beyond_the_bound_have_nothing, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_worker_of_many_ranks_goes_little_by_little, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_what_a_source_has_is_explained_tier_by_tier, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_what_is_computed_is_told_apart_until_it_is_stored, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_what_is_computed_is_expected_when_its_end_is, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_ends, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_a_ticket_ends_with_its_namespace, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_goes_with_its_worker, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_what_is_computed_outlives_what_was_said, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_no_more_is_computed_than_the_bound_allows, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_a_round_through_many_guesses_ends, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_a_long_prompt_is_learnt_in_steps, fixture_set_up, fixture_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
