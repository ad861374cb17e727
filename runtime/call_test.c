//  Calls and streams between two actors, in the simulated world: each completes exactly once, whatever happens.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/call.h"
#include "runtime/directory.h"
#include "runtime/incoming.h"
#include "runtime/stream.h"
#include "schemas/call.h"
#include "schemas/directory.h"
#include "schemas/event.h"
#include "schemas/status.h"
#include "tests/stage_broker.h"

//  ---- The callee: answers list_actors by what is asked, serves replay as a stream of numbers ------------------------

typedef struct {
    incoming_t *held;    //  A call that is not answered
    incoming_t *last;    //  Stream: the newest
    size_t cancels;      //  Heard
    uint64_t to;         //  Stream: numbers below this
    uint64_t highest;    //  Stream: furthest position sent
    bool silent;         //  Stream: send nothing
} server_t;

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    server_t *self = arg;
    self->cancels++;
    if (self->held == incoming)
        self->held = NULL;
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

static void
s_on_list (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    server_t *self = self_;
    const list_actors_t *request = message;
    list_actors_reply_t reply = { 0 };
    if (span_equal (request->service, SPAN ("wrong"))) {
        incoming_fail (incoming, STATUS_REFUSED, "no service %.*s", SPAN_ARG (request->service));
    } else if (span_equal (request->service, SPAN ("hold"))) {
        incoming_watch_t watch = { .on_cancel = s_on_cancel, .arg = self };
        incoming_watch (incoming, &watch);
        self->held = incoming;
    } else {
        incoming_reply (incoming, &reply);
    }
}

static void
s_send_on (void *arg, incoming_t *incoming)
{
    server_t *self = arg;
    while (!self->silent && incoming_position (incoming) < self->to &&
           incoming_position (incoming) < incoming_credit (incoming)) {
        replayed_batch_t item = { .sequence = incoming_position (incoming) };
        incoming_send (incoming, 1, &item);
        self->highest = incoming_position (incoming);
    }
    replay_end_t end = { 0 };
    if (incoming_position (incoming) == self->to)
        incoming_end (incoming, &end);
}

static void
s_on_replay (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    server_t *self = self_;
    self->to = ((const replay_t *)message)->to;
    self->last = incoming;
    incoming_watch_t watch = { .on_cancel = s_on_cancel, .on_credit = s_send_on, .arg = self };
    incoming_watch (incoming, &watch);
    s_send_on (self, incoming);
}

static void
s_on_heartbeat (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    server_t *self = self_;
    incoming_watch_t watch = { .on_cancel = s_on_cancel, .arg = self };
    incoming_watch (incoming, &watch);
    self->held = incoming;
}

static const actor_handler_t s_server_handlers [] = {
    HANDLES_CALL (heartbeat, s_on_heartbeat),
    HANDLES_CALL (list_actors, s_on_list),
    HANDLES_CALL (replay, s_on_replay),
    HANDLERS_END,
};

static const actor_class_t s_server_class = {
    .name = "server", .state_size = sizeof (server_t), .handlers = s_server_handlers
};

//  ---- The caller ----------------------------------------------------------------------------------------------------

typedef struct {
    call_t call;             //  Under test
    stream_t stream;         //  Under test
    size_t done;             //  Times the call completed
    call_result_t result;    //  How
    char text [128];         //  Its sentence
    status_t status;         //  Its status
    uint64_t expected;       //  Stream: next number
    uint64_t window;         //  Stream: credit beyond what was received
    size_t ended;            //  Times the stream ended
} client_t;

static void
s_on_done (void *self_, void *arg, call_result_t result, const void *reply)
{
    client_t *self = self_;
    assert_ptr_equal (arg, &self->call);
    assert_true ((result == CALL_REPLIED) == (reply != NULL));
    self->done++;
    self->result = result;
    self->status = call_error (&self->call)->status;
    snprintf (self->text, sizeof self->text, "%s", call_error (&self->call)->text);
}

static uint64_t
s_on_item (void *self_, void *arg, uint64_t position, const void *item)
{
    client_t *self = self_;
    assert_int_equal (position, self->expected);
    assert_int_equal (((const replayed_batch_t *)item)->sequence, self->expected);
    self->expected++;
    if (self->window)
        stream_credit (&self->stream, self->expected + self->window);
    return 1;
}

static void
s_on_end (void *self_, void *arg, call_result_t result, const void *end)
{
    client_t *self = self_;
    self->ended++;
    self->result = result;
    self->status = stream_error (&self->stream)->status;
}

static void
s_client_fini (void *self_, actor_t *actor)
{
    client_t *self = self_;
    call_drop (&self->call);
    stream_drop (&self->stream);
}

static const actor_handler_t s_client_handlers [] = { HANDLERS_END };

static const actor_class_t s_client_class = {
    .name = "client", .state_size = sizeof (client_t), .fini = s_client_fini, .handlers = s_client_handlers
};

//  ---- The stage -----------------------------------------------------------------------------------------------------

static stage_t *s_stage;

static void
s_begin_with (uint64_t seed)
{
    s_stage = stage_of_two (seed, &s_server_class, &s_client_class);
}

static void
s_begin (void)
{
    s_begin_with (7);
}

static client_t *
s_client (void)
{
    return actor_state (stage_find (s_stage, "client/0"));
}

static server_t *
s_server (void)
{
    return actor_state (stage_find (s_stage, "server/a"));
}

static void
s_call (const char *address, const char *service, uint64_t timeout_ns)
{
    list_actors_t request = { .has_service = true, .service = span_from_string (service) };
    client_t *client = s_client ();
    call_start (&client->call, stage_find (s_stage, "client/0"),
        &(call_options_t){ .address = span_from_string (address),
            .type = &list_actors_message,
            .request = &request,
            .timeout_ns = timeout_ns,
            .done = s_on_done,
            .arg = &client->call });
    assert_int_equal (client->done, 0);    //  Never from inside the start
}

static void
s_expect (call_result_t result, status_t status)
{
    assert_int_equal (s_client ()->done, 1);
    assert_int_equal (s_client ()->result, result);
    if (result != CALL_REPLIED)
        assert_int_equal (s_client ()->status, status);
    assert_false (call_is_active (&s_client ()->call));
}

static void
s_open (uint64_t to, uint64_t credit, uint64_t window, uint64_t idle_ns)
{
    replay_t request = { .to = to };
    stream_options_t options = {
        .on_item = s_on_item, .on_end = s_on_end, .credit = credit, .idle_timeout_ns = idle_ns
    };
    s_client ()->window = window;
    stream_open (&s_client ()->stream, stage_find (s_stage, "client/0"), SPAN ("server/a"), &replay_message, &request,
        &options, NULL);
}

static void
s_end (void)
{
    stage_destroy (&s_stage);
}

//  ---- Calls ---------------------------------------------------------------------------------------------------------

static void
test_a_call_is_answered (void **state)
{
    s_begin ();
    s_call ("server/a", "anything", REALM_SECOND);
    stage_run (s_stage, REALM_SECOND / 2);
    s_expect (CALL_REPLIED, STATUS_OK);
    s_end ();
}

static void
test_a_refusal_carries_status_and_sentence (void **state)
{
    s_begin ();
    s_call ("server/a", "wrong", REALM_SECOND);
    stage_run (s_stage, REALM_SECOND / 2);
    s_expect (CALL_FAILED, STATUS_REFUSED);
    assert_string_equal (s_client ()->text, "no service wrong");
    s_end ();
}

static void
test_nobody_at_the_address_is_an_error_in_a_later_turn (void **state)
{
    s_begin ();
    s_call ("server/b", "anything", REALM_SECOND);
    stage_run (s_stage, REALM_SECOND / 2);
    s_expect (CALL_FAILED, STATUS_UNREACHABLE);
    assert_string_equal (s_client ()->text, "server/b is not known in the directory");
    s_end ();
}

//  The callee hears of the deadline too, and lets go of its work.
static void
test_time_runs_out_on_both_sides (void **state)
{
    s_begin ();
    s_call ("server/a", "hold", REALM_SECOND);
    stage_run (s_stage, REALM_SECOND / 2);
    assert_non_null (s_server ()->held);
    stage_run (s_stage, REALM_SECOND);
    s_expect (CALL_DEADLINE, STATUS_DEADLINE);
    assert_int_equal (s_server ()->cancels, 1);
    s_end ();
}

static void
test_a_cancel_reaches_the_callee (void **state)
{
    s_begin ();
    s_call ("server/a", "hold", 60 * REALM_SECOND);
    stage_run (s_stage, REALM_SECOND);
    call_cancel (&s_client ()->call);
    assert_int_equal (s_client ()->done, 0);
    stage_run (s_stage, REALM_SECOND);
    s_expect (CALL_CANCELLED, STATUS_CANCELLED);
    assert_int_equal (s_server ()->cancels, 1);
    s_end ();
}

//  Long before the deadline: the new incarnation in the directory says that the old one is no more.
static void
test_a_restarted_callee_fails_what_its_predecessor_had (void **state)
{
    s_begin ();
    s_call ("server/a", "hold", 600 * REALM_SECOND);
    stage_run (s_stage, REALM_SECOND);
    stage_crash (s_stage, "server/a");
    stage_start (s_stage, "server/a");
    stage_run (s_stage, 2 * REALM_SECOND);
    s_expect (CALL_FAILED, STATUS_UNREACHABLE);
    s_client ()->done = 0;
    s_call ("server/a", "anything", REALM_SECOND);
    stage_run (s_stage, REALM_SECOND);
    s_expect (CALL_REPLIED, STATUS_OK);
    s_end ();
}

static void
test_a_dead_callee_fails_with_its_lease (void **state)
{
    s_begin ();
    s_call ("server/a", "hold", 600 * REALM_SECOND);
    stage_run (s_stage, REALM_SECOND);
    stage_crash (s_stage, "server/a");
    stage_run (s_stage, 7 * REALM_SECOND);
    s_expect (CALL_FAILED, STATUS_UNREACHABLE);
    s_end ();
}

//  Whoever was cut off for a while comes back on a connection on which no answer will come, though nobody has died.
static void
test_a_call_whose_connection_fell_ends_soon (void **state)
{
    s_begin ();
    s_call ("server/a", "hold", 600 * REALM_SECOND);
    stage_run (s_stage, 20 * REALM_SECOND);
    assert_int_equal (s_client ()->done, 0);
    realm_process_set_group (stage_process (s_stage, "client/0"), 1);
    stage_run (s_stage, 20 * REALM_SECOND);
    realm_process_set_group (stage_process (s_stage, "client/0"), 0);
    stage_run (s_stage, 5 * REALM_SECOND);
    s_expect (CALL_FAILED, STATUS_GAP);
    s_end ();
}

//  Sends a heartbeat of so many tails and returns what it costs the callee while it is held.
static uint64_t
s_cost_of_tails (size_t count)
{
    stream_tail_t tails [64] = { { 0 } };
    heartbeat_t request = { .address = SPAN ("client/0"), .tails = tails, .tails_count = count };
    client_t *client = s_client ();
    client->done = 0;
    call_start (&client->call, stage_find (s_stage, "client/0"),
        &(call_options_t){ .address = SPAN ("server/a"),
            .type = &heartbeat_message,
            .request = &request,
            .timeout_ns = REALM_SECOND,
            .done = s_on_done,
            .arg = &client->call });
    stage_run (s_stage, REALM_SECOND / 2);
    uint64_t used = actor_budget (stage_find (s_stage, "server/a"))->used;
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (actor_budget (stage_find (s_stage, "server/a"))->used, 0);
    return used;
}

//  A list of small things takes more room as structs than on the wire: the memory of the callee bounds that, too.
static void
test_what_a_request_expands_to_is_charged (void **state)
{
    s_begin ();
    uint64_t cost = s_cost_of_tails (64);
    assert_true (cost > s_cost_of_tails (0) + 64 * sizeof (stream_tail_t));
    actor_budget (stage_find (s_stage, "server/a"))->limit = cost - 1;
    assert_int_equal (s_cost_of_tails (64), 0);
    s_expect (CALL_FAILED, STATUS_LIMIT);
    s_end ();
}

//  ---- Streams -------------------------------------------------------------------------------------------------------

static void
test_a_stream_comes_whole_under_credit (void **state)
{
    s_begin ();
    s_open (5000, 10, 10, REALM_SECOND);
    stage_run (s_stage, 10 * REALM_SECOND);
    assert_int_equal (s_client ()->ended, 1);
    assert_int_equal (s_client ()->result, CALL_REPLIED);
    assert_int_equal (s_client ()->expected, 5000);
    s_end ();
}

//  Without more credit the callee stops, and waiting for the consumer is no idleness.
static void
test_nothing_is_sent_beyond_the_credit (void **state)
{
    s_begin ();
    s_open (100, 7, 0, REALM_SECOND);
    stage_run (s_stage, 30 * REALM_SECOND);
    assert_int_equal (s_client ()->ended, 0);
    assert_int_equal (s_client ()->expected, 7);
    assert_int_equal (s_server ()->highest, 7);
    stream_credit (&s_client ()->stream, 100);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (s_client ()->ended, 1);
    assert_int_equal (s_client ()->expected, 100);
    s_end ();
}

static void
test_a_silent_callee_with_credit_is_given_up (void **state)
{
    s_begin ();
    s_server ()->silent = true;
    s_open (100, 10, 10, 3 * REALM_SECOND);
    stage_run (s_stage, 2 * REALM_SECOND);
    assert_int_equal (s_client ()->ended, 0);
    stage_run (s_stage, 2 * REALM_SECOND);
    assert_int_equal (s_client ()->ended, 1);
    assert_int_equal (s_client ()->result, CALL_DEADLINE);
    assert_int_equal (s_server ()->cancels, 1);
    s_end ();
}

static void
test_a_cancelled_stream_ends_once (void **state)
{
    s_begin ();
    s_open (1000000, 10, 10, REALM_SECOND);
    stage_run (s_stage, REALM_SECOND);
    stream_cancel (&s_client ()->stream);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (s_client ()->ended, 1);
    assert_int_equal (s_client ()->result, CALL_CANCELLED);
    assert_int_equal (s_server ()->cancels, 1);
    s_end ();
}

//  The broker is not on the way of a stream.
static void
test_a_stream_does_not_notice_that_the_broker_is_gone (void **state)
{
    s_begin ();
    s_open (1000000, 1, 1, REALM_SECOND);
    stage_run (s_stage, REALM_SECOND);
    stage_crash (s_stage, "broker/0");
    uint64_t before = s_client ()->expected;
    stage_run (s_stage, 3 * REALM_SECOND);
    stage_start (s_stage, "broker/0");
    stage_run (s_stage, 10 * REALM_SECOND);
    assert_int_equal (s_client ()->ended, 0);
    assert_true (s_client ()->expected > before + 1000);
    s_end ();
}

//  Whoever was cut off for a while comes back on a connection that knows nothing of the stream, though nobody has died.
static void
test_a_stream_whose_connection_fell_ends_soon (void **state)
{
    s_begin ();
    s_open (100, 7, 0, PORT_NEVER);
    stage_run (s_stage, REALM_SECOND);
    realm_process_set_group (stage_process (s_stage, "client/0"), 1);
    stage_run (s_stage, 20 * REALM_SECOND);
    realm_process_set_group (stage_process (s_stage, "client/0"), 0);
    stage_run (s_stage, 5 * REALM_SECOND);
    assert_int_equal (s_client ()->ended, 1);
    assert_int_equal (s_client ()->result, CALL_FAILED);
    assert_int_equal (s_client ()->status, STATUS_GAP);
    assert_int_equal (s_client ()->expected, 7);
    s_end ();
}

//  The end of the stream and the goodbye go two ways: in some worlds the goodbye is there first.
static void
test_a_goodbye_overtakes_nothing (void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        s_begin_with (seed);
        s_server ()->silent = true;
        s_open (5, 5, 0, PORT_NEVER);
        stage_run (s_stage, REALM_SECOND);
        realm_process_set_group (stage_process (s_stage, "client/0"), 1);
        s_server ()->silent = false;
        s_send_on (s_server (), s_server ()->last);
        stage_drain (s_stage, "server/a");
        stage_run (s_stage, 2 * REALM_SECOND);
        realm_process_set_group (stage_process (s_stage, "client/0"), 0);
        stage_run (s_stage, REALM_SECOND);
        assert_null (directory_find (stage_find (s_stage, "client/0"), SPAN ("server/a")));
        if (s_client ()->expected != 5 || s_client ()->ended != 1 || s_client ()->result != CALL_REPLIED)
            fail_msg ("seed %" PRIu64 ": %" PRIu64 " of 5 items, ended %zu times, result %d", seed,
                s_client ()->expected, s_client ()->ended, (int)s_client ()->result);
        s_end ();
    }
}

//  Whoever leaves answers nothing any more: what it had not answered ends without its deadline.
static void
test_what_a_leaver_left_open_ends_soon (void **state)
{
    s_begin ();
    s_call ("server/a", "hold", 600 * REALM_SECOND);
    s_open (9, 3, 0, PORT_NEVER);
    stage_run (s_stage, REALM_SECOND);
    stage_drain (s_stage, "server/a");
    stage_run (s_stage, 2 * REALM_SECOND);
    s_expect (CALL_FAILED, STATUS_UNREACHABLE);
    assert_string_equal (s_client ()->text, "server/a has left");
    assert_int_equal (s_client ()->ended, 1);
    assert_int_equal (s_client ()->expected, 3);
    assert_int_equal (s_client ()->status, STATUS_UNREACHABLE);
    s_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_call_is_answered),
        cmocka_unit_test (test_a_refusal_carries_status_and_sentence),
        cmocka_unit_test (test_nobody_at_the_address_is_an_error_in_a_later_turn),
        cmocka_unit_test (test_time_runs_out_on_both_sides),
        cmocka_unit_test (test_a_cancel_reaches_the_callee),
        cmocka_unit_test (test_a_restarted_callee_fails_what_its_predecessor_had),
        cmocka_unit_test (test_a_dead_callee_fails_with_its_lease),
        cmocka_unit_test (test_a_call_whose_connection_fell_ends_soon),
        cmocka_unit_test (test_what_a_request_expands_to_is_charged),
        cmocka_unit_test (test_a_stream_comes_whole_under_credit),
        cmocka_unit_test (test_nothing_is_sent_beyond_the_credit),
        cmocka_unit_test (test_a_silent_callee_with_credit_is_given_up),
        cmocka_unit_test (test_a_cancelled_stream_ends_once),
        cmocka_unit_test (test_a_stream_does_not_notice_that_the_broker_is_gone),
        cmocka_unit_test (test_a_stream_whose_connection_fell_ends_soon),
        cmocka_unit_test (test_a_goodbye_overtakes_nothing),
        cmocka_unit_test (test_what_a_leaver_left_open_ends_soon),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
