//  The router beside broker, indexer and workers that only say what they hold, in the simulated world.

#include "actors/router/policies/policy.h"
#include "schemas/message_memory.h"
#include "tests/router/fixture.h"

static void
test_a_request_goes_where_its_blocks_are (void **state)
{
    fixture_begin (true);
    fixture_ask ("r1", "tiny", 10, NULL);
    fixture_check_answer ("worker/b", 8);
    assert_int_equal (fixture_asker ()->records, 1);
    assert_int_equal (fixture_asker ()->candidates, 2);
    fixture_end ();
}

//  The index of a router that comes late is whole before it says that it is ready.
static void
test_a_late_router_knows_the_same (void **state)
{
    fixture_begin (false);
    fixture_add_router ();
    stage_run (fixture_stage, 3 * REALM_SECOND);
    assert_true (actor_is_synced (stage_find (fixture_stage, "router/0"), STREAM_KV));
    fixture_ask ("r1", "tiny", 10, NULL);
    fixture_check_answer ("worker/b", 8);
    fixture_end ();
}

static void
test_a_worker_that_failed_the_request_is_left_out (void **state)
{
    fixture_begin (true);
    fixture_ask ("r1", "tiny", 10, "worker/b");
    fixture_check_answer ("worker/a", 4);
    fixture_end ();
}

static void
test_a_dead_worker_is_not_chosen (void **state)
{
    fixture_begin (true);
    stage_crash (fixture_stage, "worker/b");
    stage_run (fixture_stage, 7 * REALM_SECOND);
    fixture_ask ("r1", "tiny", 10, NULL);
    fixture_check_answer ("worker/a", 4);
    fixture_end ();
}

//  Restarted and empty: what its predecessor held is not credited to it.
static void
test_a_restarted_worker_is_believed_only_what_it_says_itself (void **state)
{
    static size_t held = 8;
    fixture_begin (true);
    fixture_add_worker ("c", "m3", &held);
    stage_run (fixture_stage, REALM_SECOND);
    held = 1;
    stage_crash (fixture_stage, "worker/c");
    stage_start (fixture_stage, "worker/c");
    stage_run (fixture_stage, 2 * REALM_SECOND);
    stage_crash (fixture_stage, "worker/a");
    stage_crash (fixture_stage, "worker/b");
    stage_run (fixture_stage, 7 * REALM_SECOND);
    fixture_ask ("r1", "tiny", 10, NULL);
    fixture_check_answer ("worker/c", 1);
    held = 8;
    fixture_end ();
}

static void
s_on_told (void *self_, void *arg, call_result_t result, const void *reply)
{
    ((asker_t *)self_)->result = result;
}

static void
s_call_router (const message_type_t *type, const void *message)
{
    call_t *call = fixture_asker ()->calls;
    call_start (call, stage_find (fixture_stage, "asker/0"),
        &(call_options_t){ .address = SPAN ("router/0"),
            .type = type,
            .request = message,
            .timeout_ns = REALM_SECOND,
            .done = type == &route_message ? fixture_on_routed : s_on_told,
            .arg = call });
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_asker ()->result, CALL_REPLIED);
}

//  Asks where a prompt goes of which no event says anything.  session, exclude: NULL for none.
static void
s_ask_in (const char *session, const char *request, const char *exclude)
{
    span_t excluded = span_from_string (exclude);
    route_t route = { .request = span_from_string (request),
        .model = SPAN ("tiny"),
        .fingerprint = FINGERPRINT,
        .namespace_id = NAMESPACE + 1,
        .hashes = { fixture_chain, CHAIN },
        .prompt_tokens = CHAIN * 64,
        .exclude = &excluded,
        .exclude_count = exclude != NULL,
        .has_envelope = session != NULL,
        .envelope = { .has_session = true, .session = span_from_string (session) } };
    s_call_router (&route_message, &route);
}

static void
s_ask_anew (const char *request, const char *exclude)
{
    s_ask_in (NULL, request, exclude);
}

static void
s_tell_end (const char *request, bool finished)
{
    route_progress_t progress = { .request = span_from_string (request), .finished = finished };
    s_call_router (&route_progress_message, &progress);
}

static void
s_have_turn (const char *request, const char *session, const char *exclude)
{
    s_ask_in (session, request, exclude);
    s_tell_end (request, true);
}

//  Nothing is in flight and it would be a's turn, but what ran there will come back.
static void
test_a_new_session_begins_where_others_want_least (void **state)
{
    fixture_begin (true);
    s_have_turn ("r1", "s1", "worker/b");
    s_have_turn ("r2", "s1", "worker/b");
    s_have_turn ("r3", "s2", NULL);
    assert_string_equal (fixture_asker ()->worker, "worker/b");
    fixture_end ();
}

//  ---- What is being computed, and what is guessed -------------------------------------------------------------------

static buffer_t s_silent_card;

//  Two siblings that come before the first event about either go to one worker, and the record says why: by the time the
//  second comes, what the first brings should be there.
static void
test_siblings_go_where_the_first_of_them_is_computed (void **state)
{
    char first [128];
    fixture_begin (true);
    s_ask_anew ("r1", NULL);
    fixture_check_answer (fixture_asker ()->worker, 0);
    assert_int_equal (fixture_asker ()->pending, 0);
    snprintf (first, sizeof first, "%s", fixture_asker ()->worker);
    s_ask_anew ("r2", NULL);
    fixture_check_answer (first, CHAIN);
    assert_int_equal (fixture_asker ()->pending, CHAIN);
    assert_string_equal (fixture_asker ()->reason, "0 of 10 blocks there and 10 on their way, cost 0");
    s_tell_end ("r1", false);
    s_ask_anew ("r3", NULL);
    fixture_check_answer (first, CHAIN);
    fixture_end ();
}

//  Whether it succeeded, failed or was cancelled: what it was to bring is not waited for any more.
static void
test_what_ended_is_not_waited_for (void **state)
{
    fixture_begin (true);
    s_ask_anew ("r1", NULL);
    s_tell_end ("r1", true);
    s_ask_anew ("r2", NULL);
    fixture_check_answer (fixture_asker ()->worker, 0);
    fixture_end ();
}

//  A request that is routed again computes nothing where it was.
static void
test_what_moved_is_waited_for_where_it_went (void **state)
{
    fixture_begin (true);
    s_ask_anew ("r1", "worker/b");
    s_ask_anew ("r1", NULL);
    fixture_check_answer (fixture_asker ()->worker, 0);
    s_ask_anew ("r1", "worker/a");
    fixture_check_answer ("worker/b", 0);
    s_ask_anew ("r2", NULL);
    fixture_check_answer ("worker/b", CHAIN);
    s_ask_anew ("r3", "worker/b");
    fixture_check_answer ("worker/a", 0);
    fixture_end ();
}

static const actor_handler_t s_silent_handlers [] = { HANDLERS_END };

//  It has no events at all: not even that it was restarted shows in them.
static const actor_class_t s_silent_class = { .name = "worker", .state_size = 1, .handlers = s_silent_handlers };

//  A worker with room for 8 blocks that says nothing of what it stores.
static void
s_add_silent_worker (void)
{
    model_card_t card;
    message_memory_t memory;
    message_memory_init (&memory);
    assert_int_equal (
        message_memory_decode (&memory, &model_card_message, buffer_span (&fixture_card), &card, NULL), STATUS_OK);
    card.kv_events = false;
    card.capacity = 8;
    buffer_clear (&s_silent_card);
    model_card_encode (&card, &s_silent_card);
    stage_add (fixture_stage,
        &(stage_actor_t){
            .class = &s_silent_class, .instance = "silent", .machine = "m3", .card = buffer_span (&s_silent_card) });
    stage_run (fixture_stage, 2 * REALM_SECOND);
    message_memory_fini (&memory);
    stage_crash (fixture_stage, "worker/a");
    stage_crash (fixture_stage, "worker/b");
    stage_run (fixture_stage, 7 * REALM_SECOND);
}

//  It is over, and so many tokens of its prompt were found in the cache.
static void
s_tell_found (const char *request, uint32_t tokens)
{
    route_progress_t progress = {
        .request = span_from_string (request), .finished = true, .has_cached_tokens = true, .cached_tokens = tokens
    };
    s_call_router (&route_progress_message, &progress);
}

//  What an engine without events has computed is guessed to be there, as far as it has room; what it says that it found puts
//  the guess right, and what nobody asks for any more is forgotten.
static void
test_a_silent_engine_is_guessed_about (void **state)
{
    fixture_begin (true);
    s_add_silent_worker ();
    s_ask_anew ("r1", NULL);
    fixture_check_answer ("worker/silent", 0);
    s_ask_anew ("r2", NULL);
    fixture_check_answer ("worker/silent", CHAIN);
    assert_int_equal (fixture_asker ()->pending, CHAIN);
    s_tell_end ("r2", true);
    s_tell_end ("r1", false);
    s_tell_found ("r1", 0);
    s_ask_anew ("r3", NULL);
    fixture_check_answer ("worker/silent", 8);
    assert_int_equal (fixture_asker ()->guessed, 8);
    s_tell_found ("r3", 5 * 64 - 1);
    s_ask_anew ("r4", NULL);
    fixture_check_answer ("worker/silent", 5);
    s_tell_end ("r4", true);
    stage_run (fixture_stage, 590 * REALM_SECOND);
    s_ask_anew ("r5", NULL);
    fixture_check_answer ("worker/silent", 5);
    s_tell_end ("r5", true);
    stage_run (fixture_stage, 20 * REALM_SECOND);
    s_ask_anew ("r6", NULL);
    fixture_check_answer ("worker/silent", 0);
    fixture_end ();
    buffer_fini (&s_silent_card);
}

//  An engine without events that is restarted has nothing, and nobody says so.
static void
test_a_guess_ends_with_the_engine (void **state)
{
    fixture_begin (true);
    s_add_silent_worker ();
    s_ask_anew ("r1", NULL);
    s_tell_end ("r1", false);
    s_tell_found ("r1", 0);
    s_ask_anew ("r2", NULL);
    fixture_check_answer ("worker/silent", 8);
    stage_crash (fixture_stage, "worker/silent");
    stage_start (fixture_stage, "worker/silent");
    stage_run (fixture_stage, 2 * REALM_SECOND);
    s_ask_anew ("r3", NULL);
    fixture_check_answer ("worker/silent", 0);
    fixture_end ();
    buffer_fini (&s_silent_card);
}

static int64_t
s_figure (const char *wanted)
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    while (metrics_next (actor_metrics (stage_find (fixture_stage, "router/0")), &cursor, &name, &labels, &value))
        if (strcmp (name, wanted) == 0)
            return value;
    return -1;
}

//  Whoever is never heard of again is believed in for a while only.
static void
test_what_is_overdue_is_not_waited_for (void **state)
{
    fixture_begin (true);
    s_ask_anew ("r1", NULL);
    stage_run (fixture_stage, 8 * REALM_SECOND);
    s_ask_anew ("r2", NULL);
    fixture_check_answer (fixture_asker ()->worker, CHAIN);
    assert_int_equal (s_figure ("stator_router_prefills_overdue_total"), 0);
    stage_run (fixture_stage, 12 * REALM_SECOND);
    assert_int_equal (s_figure ("stator_router_prefills_overdue_total"), 2);
    s_ask_anew ("r3", NULL);
    fixture_check_answer (fixture_asker ()->worker, 0);
    fixture_end ();
}

static void
test_what_a_dead_worker_was_to_compute_is_not_waited_for (void **state)
{
    fixture_begin (true);
    s_ask_anew ("r1", "worker/a");
    stage_crash (fixture_stage, "worker/b");
    stage_start (fixture_stage, "worker/b");
    stage_run (fixture_stage, 2 * REALM_SECOND);
    s_ask_anew ("r2", "worker/a");
    fixture_check_answer ("worker/b", 0);
    fixture_end ();
}

//  For policies that decide by what is there, nothing else is looked at.
static void
test_a_reference_policy_waits_for_nothing (void **state)
{
    router_options_t options = fixture_options;
    while (strcmp (router_modes [fixture_options.mode], "affinity") != 0)
        fixture_options.mode++;
    fixture_begin (true);
    s_ask_anew ("r1", "worker/a");
    s_ask_anew ("r2", "worker/a");
    fixture_check_answer ("worker/b", 0);
    assert_int_equal (fixture_asker ()->pending, 0);
    fixture_end ();
    fixture_options = options;
}

//  Which session was forgotten does not show, but that one was.
static void
test_sessions_beyond_the_bound_are_counted (void **state)
{
    router_options_t options = fixture_options;
    fixture_options.sessions_max = 1;
    fixture_begin (true);
    s_have_turn ("r1", "s1", NULL);
    s_have_turn ("r2", "s1", NULL);
    assert_int_equal (s_figure ("stator_router_sessions_forgotten_total"), 0);
    s_have_turn ("r3", "s2", NULL);
    assert_int_equal (s_figure ("stator_router_sessions_forgotten_total"), 1);
    fixture_end ();
    fixture_options = options;
}

//  What does not fit the index is not known, and that shows.
static void
test_blocks_beyond_the_bound_are_counted (void **state)
{
    router_options_t options = fixture_options;
    fixture_options.blocks_max = 1;
    fixture_begin (true);
    assert_true (s_figure ("stator_router_blocks_refused_total") > 0);
    fixture_ask ("r1", "tiny", 10, NULL);
    fixture_check_answer (fixture_asker ()->worker, 0);
    fixture_end ();
    fixture_options = options;
    fixture_begin (true);
    assert_int_equal (s_figure ("stator_router_blocks_refused_total"), 0);
    fixture_end ();
}

static void
test_an_unknown_model_is_refused_and_recorded (void **state)
{
    fixture_begin (true);
    fixture_ask ("r1", "huge", 10, NULL);
    assert_int_equal (fixture_asker ()->result, CALL_FAILED);
    assert_string_equal (fixture_asker ()->text, "no worker serves huge");
    assert_int_equal (fixture_asker ()->records, 1);
    assert_false (fixture_asker ()->recorded_worker);
    fixture_end ();
}

//  What the configuration accepts must be there.
static void
test_every_mode_is_a_policy (void **state)
{
    for (const char *const *mode = router_modes; *mode; mode++)
        assert_non_null (policy_find (*mode));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_request_goes_where_its_blocks_are),
        cmocka_unit_test (test_a_late_router_knows_the_same),
        cmocka_unit_test (test_a_worker_that_failed_the_request_is_left_out),
        cmocka_unit_test (test_a_dead_worker_is_not_chosen),
        cmocka_unit_test (test_a_restarted_worker_is_believed_only_what_it_says_itself),
        cmocka_unit_test (test_a_new_session_begins_where_others_want_least),
        cmocka_unit_test (test_siblings_go_where_the_first_of_them_is_computed),
        cmocka_unit_test (test_what_ended_is_not_waited_for),
        cmocka_unit_test (test_what_moved_is_waited_for_where_it_went),
        cmocka_unit_test (test_what_is_overdue_is_not_waited_for),
        cmocka_unit_test (test_what_a_dead_worker_was_to_compute_is_not_waited_for),
        cmocka_unit_test (test_a_reference_policy_waits_for_nothing),
        cmocka_unit_test (test_a_silent_engine_is_guessed_about),
        cmocka_unit_test (test_a_guess_ends_with_the_engine),
        cmocka_unit_test (test_sessions_beyond_the_bound_are_counted),
        cmocka_unit_test (test_blocks_beyond_the_bound_are_counted),
        cmocka_unit_test (test_an_unknown_model_is_refused_and_recorded),
        cmocka_unit_test (test_every_mode_is_a_policy),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
