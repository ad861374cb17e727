//  What a policy is told of a candidate comes from all tiers that it reaches.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "actors/router/choice.h"
#include "base/hash.h"
#include "schemas/event_header.h"
#include "schemas/worker.h"

enum { CHAIN = 10, NAMESPACE = 5 };

static const char A [] = "worker/a", B [] = "worker/b", STORE [] = "kvbm/m1";

static choice_sources_t s_sources;
static choice_t s_choice;
static uint8_t s_chain [CHAIN * HASH128_SIZE];
static uint64_t s_now_ns;

static uint64_t
s_source (const char *address)
{
    return event_source (span_from_string (address));
}

static void
s_add_worker (const char *address)
{
    model_card_t card = { .model = SPAN ("tiny"), .block_size = 64, .ranks = 1, .capacity = 1000, .kv_events = true };
    buffer_t bytes = { 0 };
    model_card_encode (&card, &bytes);
    actor_entry_t entry = { .address = span_from_string (address),
        .incarnation = 1,
        .state = ACTOR_STATE_ALIVE,
        .has_card = true,
        .card = buffer_span (&bytes) };
    assert_int_equal (fleet_see (s_sources.fleet, &entry, NULL), STATUS_OK);
    buffer_fini (&bytes);
}

static int
s_set_up (void **state)
{
    fleet_options_t options = { .load_stale_ns = 1, .active_max = 10 };
    s_sources = (choice_sources_t){ .fleet = fleet_new (&options),
        .catalog = catalog_new (NULL),
        .sessions = sessions_new (10, 1),
        .policy = policy_find ("kv"),
        .weights = { 1000000, 1000000, 800000 },
        .foresees = true };
    choice_init (&s_choice);
    s_now_ns = 1;
    for (uint64_t i = 0; i < CHAIN; i++)
        hash128_to_bytes ((hash128_t){ 1000 + i, i }, s_chain + i * HASH128_SIZE);
    s_add_worker (A);
    s_add_worker (B);
    return 0;
}

static int
s_tear_down (void **state)
{
    choice_fini (&s_choice);
    sessions_destroy (&s_sources.sessions);
    catalog_destroy (&s_sources.catalog);
    fleet_destroy (&s_sources.fleet);
    return 0;
}

//  The first `count` blocks of the chain.
static void
s_store (const char *address, tier_t tier, size_t count)
{
    kv_stored_t event = { .namespace_id = NAMESPACE, .tier = tier, .hashes = { s_chain, count } };
    catalog_stored (s_sources.catalog, s_source (address), &event);
}

//  Asks for the whole chain.  Returns the position of the choice.
static size_t
s_ask (void)
{
    route_t request = { .model = SPAN ("tiny"), .namespace_id = NAMESPACE, .hashes = { s_chain, CHAIN } };
    policy_request_t asked = { 0 };
    error_t reason;
    return choice_make (&s_choice, &s_sources, &request, &asked, s_now_ns, &reason);
}

static candidate_t
s_candidate (size_t position)
{
    return candidate_from_policy (array_at (&s_choice.candidates, position));
}

static void
test_a_candidate_has_what_its_tiers_have_together (void **state)
{
    s_store (A, TIER_DEVICE, 4);
    s_store (A, TIER_HOST, 8);
    s_store (B, TIER_DEVICE, 6);
    assert_int_equal (s_ask (), 0);
    candidate_t a = s_candidate (0), b = s_candidate (1);
    assert_int_equal (a.overlap_blocks, 8);
    assert_int_equal (a.host_blocks, 4);
    assert_false (a.has_disk_blocks || a.has_remote_blocks || a.has_guessed_blocks || a.has_pending_blocks);
    assert_int_equal (b.overlap_blocks, 6);
    assert_false (b.has_host_blocks);
}

static void
test_a_shared_store_counts_for_each_candidate_behind_its_own (void **state)
{
    s_store (A, TIER_DEVICE, 3);
    catalog_reach (s_sources.catalog, s_source (A), 0, s_source (STORE), TIER_HOST);
    catalog_reach (s_sources.catalog, s_source (B), 0, s_source (STORE), TIER_REMOTE);
    s_store (STORE, TIER_DISK, 5);
    s_store (STORE, TIER_REMOTE, 9);
    assert_int_equal (s_ask (), 0);
    candidate_t a = s_candidate (0), b = s_candidate (1);
    assert_int_equal (a.overlap_blocks, 9);
    assert_int_equal (a.disk_blocks, 2);
    assert_int_equal (a.remote_blocks, 4);
    assert_int_equal (b.overlap_blocks, 9);
    assert_int_equal (b.remote_blocks, 9);
}

//  Until a worker has shown how fast it is, a block is taken to need 100 ms.
static void
test_what_is_computed_is_waited_for_less_and_less (void **state)
{
    enum { BLOCK_NS = 100000000 };
    catalog_prefill_t prefill = { .source = s_source (A),
        .namespace_id = NAMESPACE,
        .hashes = { s_chain, 7 },
        .expected_ns = 10 * (uint64_t)BLOCK_NS,
        .expiry_ns = 20 * (uint64_t)BLOCK_NS };
    catalog_begin_prefill (s_sources.catalog, &prefill);
    static const struct {
        uint64_t now;        //  Blocks later
        uint32_t awaited;    //  Blocks
    } rows [] = { { 0, 7 }, { 3, 7 }, { 4, 6 }, { 9, 1 }, { 10, 0 }, { 11, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s_now_ns = rows [i].now * BLOCK_NS;
        s_ask ();
        assert_int_equal (s_candidate (0).pending_blocks, 7);
        assert_int_equal (s_candidate (0).awaited_blocks, rows [i].awaited);
    }
}

//  What is being computed is told to a policy that foresees, behind what is there, and hides nothing from one that does not.
static void
test_what_is_computed_is_told_to_those_who_foresee (void **state)
{
    catalog_prefill_t prefill = {
        .source = s_source (A), .namespace_id = NAMESPACE, .hashes = { s_chain, 7 }, .expected_ns = 10, .expiry_ns = 20
    };
    s_store (A, TIER_DEVICE, 3);
    assert_int_not_equal (catalog_begin_prefill (s_sources.catalog, &prefill).id, 0);
    s_ask ();
    assert_int_equal (s_candidate (0).overlap_blocks, 3);
    assert_int_equal (s_candidate (0).pending_blocks, 4);
    s_sources.foresees = false;
    s_ask ();
    assert_int_equal (s_candidate (0).overlap_blocks, 3);
    assert_int_equal (s_candidate (0).pending_blocks, 0);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_a_candidate_has_what_its_tiers_have_together, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_shared_store_counts_for_each_candidate_behind_its_own, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_is_waited_for_less_and_less, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_is_told_to_those_who_foresee, s_set_up, s_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
