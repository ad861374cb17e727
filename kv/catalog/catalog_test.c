//  What a fleet's index adds to those of its namespaces.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "kv/catalog/catalog.h"

enum { WORKER = 11, OTHER = 12, NAMESPACES = 4096 };

static catalog_t *s_catalog;

static int
s_set_up (void **state)
{
    s_catalog = catalog_new (NULL);
    return 0;
}

static int
s_tear_down (void **state)
{
    catalog_destroy (&s_catalog);
    return 0;
}

static void
s_hashes (uint8_t bytes [2 * HASH128_SIZE])
{
    hash128_to_bytes ((hash128_t){ 1001, 0 }, bytes);
    hash128_to_bytes ((hash128_t){ 1002, 0 }, bytes + HASH128_SIZE);
}

//  Two blocks, the second behind the first.
static void
s_store (uint64_t source, uint64_t namespace_id)
{
    uint8_t bytes [2 * HASH128_SIZE];
    s_hashes (bytes);
    kv_stored_t event = { .namespace_id = namespace_id, .tier = TIER_DEVICE, .hashes = { bytes, 2 } };
    catalog_stored (s_catalog, source, &event);
}

//  Holders that have both blocks.
static size_t
s_matches (uint64_t namespace_id)
{
    uint8_t bytes [2 * HASH128_SIZE];
    array_t overlaps;
    size_t found = 0;
    s_hashes (bytes);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (s_catalog, namespace_id, (column_t){ bytes, 2 }, &overlaps);
    for (size_t i = 0; i < overlaps.count; i++)
        found += ((catalog_overlap_t *)array_at (&overlaps, i))->blocks == 2;
    array_fini (&overlaps);
    return found;
}

static catalog_stats_t
s_stats (void)
{
    catalog_stats_t stats;
    catalog_stats (s_catalog, &stats);
    return stats;
}

static void
s_sweep (void)
{
    while (catalog_sweep (s_catalog))
        continue;
}

static void
test_namespaces_share_no_block (void **state)
{
    s_store (WORKER, 1);
    s_store (OTHER, 1);
    s_store (OTHER, 2);
    assert_int_equal (s_matches (1), 2);
    assert_int_equal (s_matches (2), 1);
    assert_int_equal (s_matches (3), 0);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 2);
    assert_int_equal (s_matches (1), 2);
}

static void
test_a_namespace_goes_with_its_last_block (void **state)
{
    s_store (WORKER, 1);
    s_store (OTHER, 1);
    s_store (WORKER, 2);
    s_store (OTHER, 3);
    catalog_forget (s_catalog, WORKER);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 2);
    assert_int_equal (s_matches (1), 1);
    assert_int_equal (s_matches (2), 0);
    assert_int_equal (s_matches (3), 1);
    s_store (WORKER, 2);
    assert_int_equal (s_matches (2), 1);
}

static void
test_there_is_room_again_where_it_was_full (void **state)
{
    for (uint64_t id = 1; id <= NAMESPACES + 1; id++)
        s_store (WORKER, id);
    assert_int_equal (s_matches (NAMESPACES), 1);
    assert_int_equal (s_matches (NAMESPACES + 1), 0);
    assert_int_equal (s_stats ().refused, 2);
    catalog_forget (s_catalog, WORKER);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 0);
    s_store (WORKER, NAMESPACES + 1);
    assert_int_equal (s_matches (NAMESPACES + 1), 1);
    assert_int_equal (s_stats ().refused, 2);
}

//  Many namespaces get no more memory than one.
static void
test_all_namespaces_share_one_bound (void **state)
{
    enum { BLOCKS_MAX = 20000 };
    catalog_t *one = s_catalog;
    s_catalog = catalog_new (&(catalog_options_t){ .blocks_max = BLOCKS_MAX });
    uint64_t id = 0, before = 0;
    while (!s_stats ().refused && ++id < 10 * BLOCKS_MAX)
        s_store (WORKER, id);
    assert_true (s_stats ().bytes < 2 * BLOCKS_MAX * 100);
    assert_true (id > 2);
    before = s_stats ().refused;
    s_store (WORKER, 1);
    assert_int_equal (s_stats ().refused, before + 2);
    catalog_forget (s_catalog, WORKER);
    s_sweep ();
    s_store (OTHER, id);
    assert_int_equal (s_matches (id), 1);
    catalog_destroy (&s_catalog);
    s_catalog = one;
}

//  ---- What is being computed ----

//  A worker is sent to compute both blocks.
static catalog_ticket_t
s_begin_prefill (uint64_t source, uint64_t namespace_id, uint64_t expiry_ns)
{
    uint8_t bytes [2 * HASH128_SIZE];
    s_hashes (bytes);
    catalog_prefill_t prefill = { .source = source,
        .namespace_id = namespace_id,
        .hashes = { bytes, 2 },
        .expected_ns = expiry_ns / 2,
        .expiry_ns = expiry_ns };
    return catalog_begin_prefill (s_catalog, &prefill);
}

static void
test_what_is_computed_is_told_apart_until_it_is_stored (void **state)
{
    uint8_t bytes [2 * HASH128_SIZE];
    array_t overlaps;
    array_init (&overlaps, sizeof (catalog_overlap_t));
    s_hashes (bytes);
    catalog_ticket_t ticket = s_begin_prefill (WORKER, 1, 100);
    s_store (OTHER, 1);
    catalog_match (s_catalog, 1, (column_t){ bytes, 2 }, &overlaps);
    assert_int_equal (overlaps.count, 2);
    for (size_t i = 0; i < overlaps.count; i++) {
        const catalog_overlap_t *overlap = array_at (&overlaps, i);
        assert_int_equal (overlap->kind, overlap->source == WORKER ? HOLDER_PENDING : HOLDER_EXACT);
        assert_int_equal (overlap->blocks, 2);
    }
    assert_int_equal (s_stats ().pending, 2);
    assert_int_equal (catalog_digest (s_catalog, WORKER), 0);
    s_store (WORKER, 1);
    assert_int_equal (s_stats ().pending, 0);
    assert_int_equal (s_matches (1), 2);
    assert_false (catalog_settle (s_catalog, ticket));
    array_fini (&overlaps);
}

static void
test_what_is_computed_ends (void **state)
{
    catalog_ticket_t ticket = s_begin_prefill (WORKER, 1, 100);
    catalog_ticket_t late = s_begin_prefill (OTHER, 2, 200);
    assert_int_equal (catalog_expire (s_catalog, 99), 0);
    assert_true (catalog_settle (s_catalog, ticket));
    assert_false (catalog_settle (s_catalog, ticket));
    assert_int_equal (s_matches (1), 0);
    assert_int_equal (s_matches (2), 1);
    assert_int_equal (catalog_expire (s_catalog, 200), 1);
    assert_false (catalog_settle (s_catalog, late));
    assert_int_equal (s_matches (2), 0);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 0);
    assert_false (catalog_settle (s_catalog, ticket));
}

//  A namespace that went and came again is another one: nobody ends there what began in the first.
static void
test_a_ticket_ends_with_its_namespace (void **state)
{
    catalog_ticket_t first = s_begin_prefill (WORKER, 1, 100);
    catalog_expire (s_catalog, 100);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 0);
    catalog_ticket_t second = s_begin_prefill (OTHER, 1, 200);
    assert_int_equal (second.id, first.id);
    assert_false (catalog_settle (s_catalog, first));
    assert_false (catalog_guess (s_catalog, first, &(catalog_outcome_t){ .computed = true }, 150));
    assert_int_equal (s_stats ().pending, 2);
    assert_true (catalog_settle (s_catalog, second));
}

//  Whoever gets the slot of one that went inherits nothing that it was to compute.
static void
test_what_is_computed_goes_with_its_worker (void **state)
{
    s_begin_prefill (WORKER, 1, 100);
    s_begin_prefill (WORKER, 2, 100);
    catalog_forget (s_catalog, WORKER);
    assert_int_equal (s_stats ().pending, 0);
    s_store (OTHER, 3);
    assert_int_equal (s_matches (1) + s_matches (2), 0);
}

//  Who says again all that it has still computes what it was sent.
static void
test_what_is_computed_outlives_what_was_said (void **state)
{
    s_store (WORKER, 1);
    catalog_ticket_t ticket = s_begin_prefill (WORKER, 2, 100);
    catalog_forget_said (s_catalog, WORKER);
    assert_int_equal (s_matches (1), 0);
    assert_int_equal (s_matches (2), 1);
    assert_int_equal (s_stats ().pending, 2);
    assert_true (catalog_settle (s_catalog, ticket));
    assert_int_equal (s_matches (2), 0);
}

static void
test_no_more_is_computed_than_the_bound_allows (void **state)
{
    catalog_t *one = s_catalog;
    s_catalog = catalog_new (&(catalog_options_t){ .pending_max = 5 });
    assert_int_not_equal (s_begin_prefill (WORKER, 1, 100).id, 0);
    assert_int_not_equal (s_begin_prefill (WORKER, 2, 100).id, 0);
    assert_int_equal (s_begin_prefill (OTHER, 3, 100).id, 0);
    assert_int_equal (s_matches (3), 0);
    catalog_expire (s_catalog, 100);
    assert_int_not_equal (s_begin_prefill (OTHER, 3, 200).id, 0);
    catalog_destroy (&s_catalog);
    s_catalog = one;
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_namespaces_share_no_block, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_namespace_goes_with_its_last_block, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_there_is_room_again_where_it_was_full, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_all_namespaces_share_one_bound, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_is_told_apart_until_it_is_stored, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_ends, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_ticket_ends_with_its_namespace, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_goes_with_its_worker, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_outlives_what_was_said, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_no_more_is_computed_than_the_bound_allows, s_set_up, s_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
