//  What a router remembers of the requests it has routed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "actors/router/fleet.h"
#include "schemas/event_header.h"
#include "schemas/worker.h"

enum { ACTIVE_MAX = 2 };
static const uint64_t SECOND = 1000000000;

static fleet_t *
s_fleet (const fleet_options_t *options)
{
    model_card_t card = { .model = SPAN ("tiny"),
        .block_size = 64,
        .ranks = 1,
        .slots = 1,
        .engine = SPAN ("test"),
        .tokenizing = SPAN ("bytes") };
    buffer_t bytes = { 0 };
    model_card_encode (&card, &bytes);
    actor_entry_t entry = { .address = SPAN ("worker/a"),
        .incarnation = 1,
        .state = ACTOR_STATE_ALIVE,
        .has_card = true,
        .card = buffer_span (&bytes) };
    fleet_t *fleet = fleet_new (options);
    assert_int_equal (fleet_see (fleet, &entry, NULL), STATUS_OK);
    buffer_fini (&bytes);
    return fleet;
}

static fleet_t *
s_fleet_of_one (void)
{
    return s_fleet (&(fleet_options_t){ .load_stale_ns = SECOND, .active_max = ACTIVE_MAX });
}

static void
s_begin (fleet_t *fleet, const char *request, uint64_t now_ns)
{
    policy_candidate_t choice = { .worker = SPAN ("worker/a"), .source = event_source (SPAN ("worker/a")) };
    fleet_request_t routed = { .request = span_from_string (request),
        .asker = SPAN ("frontend/0"),
        .asker_incarnation = now_ns ? 5 : 0,
        .new_blocks = 3,
        .prompt_blocks = 10,
        .prefill = { .namespace_id = 4, .id = 2 } };
    fleet_begin (fleet, &routed, &choice, now_ns);
}

static bool
s_progress (fleet_t *fleet, const char *request, const char *worker, bool finished, uint64_t now_ns)
{
    route_progress_t progress = {
        .request = span_from_string (request), .worker = span_from_string (worker), .finished = finished
    };
    return fleet_progress (fleet, &progress, now_ns);
}

static policy_candidate_t
s_candidate (fleet_t *fleet, uint64_t now_ns)
{
    array_t candidates;
    route_t request = { .model = SPAN ("tiny") };
    array_init (&candidates, sizeof (policy_candidate_t));
    fleet_candidates (fleet, &request, now_ns, &candidates, NULL);
    assert_int_equal (candidates.count, 1);
    policy_candidate_t candidate = *(policy_candidate_t *)array_at (&candidates, 0);
    array_fini (&candidates);
    return candidate;
}

static void
test_active_requests_weigh_until_they_end (void **state)
{
    fleet_t *fleet = s_fleet_of_one ();
    s_begin (fleet, "r1", 0);
    assert_int_equal (s_candidate (fleet, 0).prefill_blocks, 3);
    assert_true (s_progress (fleet, "r1", "", false, 1));
    assert_int_equal (s_candidate (fleet, 1).prefill_blocks, 0);
    assert_int_equal (s_candidate (fleet, 1).active_blocks, 10);
    assert_true (s_progress (fleet, "r1", "worker/a", true, 2));
    assert_int_equal (s_candidate (fleet, 2).active_blocks, 0);
    assert_false (s_progress (fleet, "r1", "", true, 3));
    fleet_destroy (&fleet);
}

//  A worker that says it has more requests than there are numbers does not look idle.
static void
test_requests_beyond_all_numbers_are_many (void **state)
{
    fleet_t *fleet = s_fleet_of_one ();
    worker_load_t load = { .running = UINT32_MAX, .waiting = 1 };
    fleet_report (fleet, event_source (SPAN ("worker/a")), &load, 1);
    assert_int_equal (s_candidate (fleet, 1).active, UINT32_MAX);
    assert_int_equal (s_candidate (fleet, 2 * SECOND).active, 0);
    fleet_destroy (&fleet);
}

static void
test_what_is_not_heard_of_for_an_hour_is_dropped (void **state)
{
    fleet_t *fleet = s_fleet_of_one ();
    s_begin (fleet, "r1", 0);
    s_begin (fleet, "r2", 0);
    s_progress (fleet, "r1", "", false, 10 * SECOND);
    assert_int_equal (fleet_expire (fleet, 3600 * SECOND), 0);
    assert_int_equal (fleet_expire (fleet, 3601 * SECOND), 1);
    assert_int_equal (s_candidate (fleet, 3601 * SECOND).active, 1);
    fleet_destroy (&fleet);
}

//  Whoever routes and never says how it went takes no more than this.
static void
test_beyond_the_bound_the_one_unheard_of_for_longest_goes (void **state)
{
    fleet_t *fleet = s_fleet_of_one ();
    s_begin (fleet, "r1", 0);
    s_begin (fleet, "r2", 1);
    s_progress (fleet, "r1", "", false, 2);
    s_begin (fleet, "r3", 3);
    assert_int_equal (fleet_active (fleet), ACTIVE_MAX);
    assert_false (s_progress (fleet, "r2", "", false, 4));
    assert_true (s_progress (fleet, "r1", "", false, 4));
    assert_int_equal (fleet_expire (fleet, 5), 1);
    assert_int_equal (fleet_expire (fleet, 5), 0);
    fleet_destroy (&fleet);
}

//  ---- What it was to compute ----------------------------------------------------------------------------------------

static size_t s_ended;

static void
s_on_ended (void *arg, const fleet_end_t *end)
{
    assert_int_equal (end->prefill.namespace_id, 4);
    *(uint64_t *)arg += end->prefill.id;
    s_ended++;
}

//  However a request ends, somebody is told once which prefill was its own.
static void
test_every_end_is_told_once (void **state)
{
    uint64_t sum = 0;
    fleet_t *fleet = s_fleet (
        &(fleet_options_t){ .load_stale_ns = SECOND, .active_max = ACTIVE_MAX, .on_ended = s_on_ended, .arg = &sum });
    s_ended = 0;
    s_begin (fleet, "r1", 0);
    s_begin (fleet, "r2", 0);
    s_progress (fleet, "r1", "", false, 1);
    assert_int_equal (s_ended, 0);
    s_progress (fleet, "r1", "", true, 2);
    assert_int_equal (s_ended, 1);
    s_begin (fleet, "r2", 3);
    assert_int_equal (s_ended, 2);
    s_begin (fleet, "r3", 4);
    s_begin (fleet, "r4", 5);
    assert_int_equal (s_ended, 3);
    fleet_destroy (&fleet);
    assert_int_equal (s_ended, 5);
    assert_int_equal (sum, 2 + 2 + 2 + 2 + 2);
}

//  A worker shows how fast it computes: 100 ms a block until it did, then what it took, whatever waited before.
static void
test_what_is_expected_is_what_it_took (void **state)
{
    fleet_t *fleet = s_fleet_of_one ();
    policy_candidate_t candidate = s_candidate (fleet, 0);
    assert_int_equal (fleet_expected_ns (fleet, &candidate, 5), SECOND / 2);
    s_begin (fleet, "r1", 0);
    s_progress (fleet, "r1", "", false, 3 * SECOND);
    s_progress (fleet, "r1", "", true, 90 * SECOND);
    candidate = s_candidate (fleet, 90 * SECOND);
    assert_int_equal (fleet_expected_ns (fleet, &candidate, 5), 5 * SECOND);
    candidate.prefill_blocks = 2;
    assert_int_equal (fleet_expected_ns (fleet, &candidate, 5), 7 * SECOND);
    candidate.prefill_blocks = UINT32_MAX;
    assert_int_equal (fleet_expected_ns (fleet, &candidate, 5), 1000000 * SECOND);
    fleet_destroy (&fleet);
}

//  A dead one can say no more that its requests ended; a living one that changes its state has not ended them.
static void
test_what_was_asked_for_ends_with_the_asker (void **state)
{
    fleet_t *fleet = s_fleet_of_one ();
    actor_entry_t entry = { .address = SPAN ("frontend/0"), .incarnation = 5, .state = ACTOR_STATE_ALIVE };
    s_begin (fleet, "before it was named", 0);
    s_begin (fleet, "after", 1);
    fleet_see_asker (fleet, &entry);
    entry.state = ACTOR_STATE_UNREACHABLE;
    fleet_see_asker (fleet, &entry);
    fleet_see_asker (fleet, &(actor_entry_t){ .address = SPAN ("frontend/1"), .incarnation = 6 });
    assert_int_equal (fleet_active (fleet), 2);
    entry.incarnation = 6;
    fleet_see_asker (fleet, &entry);
    assert_int_equal (fleet_active (fleet), 0);
    s_begin (fleet, "the last", 2);
    entry.state = ACTOR_STATE_GONE;
    entry.incarnation = 5;
    fleet_see_asker (fleet, &entry);
    assert_int_equal (fleet_active (fleet), 0);
    assert_int_equal (s_candidate (fleet, 3).active_blocks, 0);
    fleet_destroy (&fleet);
}

//  A restarted worker whose engine is not there yet has no card, and later the same one: it is another worker all the same.
static void
test_what_was_active_ends_with_the_worker (void **state)
{
    fleet_t *fleet = s_fleet_of_one ();
    s_begin (fleet, "r1", 1);
    actor_entry_t entry = { .address = SPAN ("worker/a"), .incarnation = 2, .state = ACTOR_STATE_ALIVE };
    assert_int_equal (fleet_see (fleet, &entry, NULL), STATUS_OK);
    assert_int_equal (fleet_active (fleet), 0);
    array_t candidates;
    error_t reason;
    array_init (&candidates, sizeof (policy_candidate_t));
    fleet_candidates (fleet, &(route_t){ .model = SPAN ("tiny") }, 2, &candidates, &reason);
    assert_int_equal (candidates.count, 0);
    array_fini (&candidates);
    fleet_destroy (&fleet);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_active_requests_weigh_until_they_end),
        cmocka_unit_test (test_requests_beyond_all_numbers_are_many),
        cmocka_unit_test (test_what_is_not_heard_of_for_an_hour_is_dropped),
        cmocka_unit_test (test_beyond_the_bound_the_one_unheard_of_for_longest_goes),
        cmocka_unit_test (test_every_end_is_told_once),
        cmocka_unit_test (test_what_is_expected_is_what_it_took),
        cmocka_unit_test (test_what_was_asked_for_ends_with_the_asker),
        cmocka_unit_test (test_what_was_active_ends_with_the_worker),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
