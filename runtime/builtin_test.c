//  What every actor serves to those who follow it: replays and snapshots, and what callers that misbehave may cost.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "runtime/directory.h"
#include "runtime/stream.h"
#include "schemas/call.h"
#include "schemas/directory.h"
#include "schemas/event.h"
#include "tests/stage_broker.h"

enum { CLIENT_STREAMS = 4, STATE_EVENTS = 20000 };

//  ---- The source: its state is a number of events, large enough for a snapshot of several parts ---------------------

typedef struct {
    int slices;         //  How many it writes a snapshot in; 0: it writes all at once
    int left;           //  Of the one under way
    int freed;          //  Snapshots that it was told go on no further
    status_t status;    //  How the last slice ends
    bool changes;       //  Whether its state does with each slice
} teller_t;

static void
s_write (snapshot_t *snapshot, int count)
{
    source_tail_t tail = { 0 };
    source_tails_t event = { &tail, 1 };
    for (int i = 0; i < count; i++)
        snapshot_add (snapshot, &source_tails_message, &event);
}

static status_t
s_write_more (void *self_, actor_t *actor, void *arg, snapshot_t *snapshot, bool *ended)
{
    teller_t *self = self_;
    source_tail_t tail = { 0 };
    s_write (snapshot, STATE_EVENTS / self->slices);
    if (self->changes)
        actor_publish (actor, &source_tails_message, &(source_tails_t){ &tail, 1 });
    *ended = --self->left == 0;
    return *ended ? self->status : STATUS_OK;
}

static void
s_free (void *arg)
{
    ((teller_t *)arg)->freed++;
}

static status_t
s_on_snapshot (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    teller_t *self = self_;
    self->left = self->slices;
    if (self->slices)
        snapshot_go_on (snapshot, s_write_more, s_free, self);
    else
        s_write (snapshot, STATE_EVENTS);
    return STATUS_OK;
}

static const actor_handler_t s_teller_handlers [] = { HANDLES_SNAPSHOT (STREAM_LIFE, s_on_snapshot), HANDLERS_END };

static const actor_class_t s_teller_class = {
    .name = "teller", .state_size = sizeof (teller_t), .handlers = s_teller_handlers
};

//  ---- The caller ----------------------------------------------------------------------------------------------------

typedef struct {
    stream_t stream;         //  To the teller
    uint64_t received;       //  Items
    bool ended;              //  It is over
    bool is_snapshot;        //  What is read is one,
    uint64_t sequence;       //  of this state
    call_result_t result;    //  How
    status_t status;         //  Why, where it failed
} reading_t;

typedef struct {
    reading_t readings [CLIENT_STREAMS];    //  One for each stream of a test
} client_t;

static uint64_t
s_on_item (void *self, void *arg, uint64_t position, const void *item)
{
    reading_t *reading = arg;
    reading->received++;
    return 1;
}

static void
s_on_end (void *self, void *arg, call_result_t result, const void *end)
{
    reading_t *reading = arg;
    reading->ended = true;
    reading->result = result;
    reading->status = stream_error (&reading->stream)->status;
    if (result == CALL_REPLIED && reading->is_snapshot)
        reading->sequence = ((const snapshot_end_t *)end)->sequence;
}

static void
s_client_fini (void *self_, actor_t *actor)
{
    client_t *self = self_;
    for (int i = 0; i < CLIENT_STREAMS; i++)
        stream_drop (&self->readings [i].stream);
}

static const actor_handler_t s_client_handlers [] = { HANDLERS_END };

static const actor_class_t s_client_class = {
    .name = "client", .state_size = sizeof (client_t), .fini = s_client_fini, .handlers = s_client_handlers
};

//  ---- The stage -----------------------------------------------------------------------------------------------------

static stage_t *s_stage;

static void
s_begin (uint64_t ring_bytes)
{
    const stage_actor_t actors [] = {
        { .class = &s_teller_class, .instance = "a", .machine = "m1", .ring_bytes = ring_bytes },
        { .class = &s_client_class, .instance = "0", .machine = "m2" }
    };
    s_stage = stage_with_broker (11, actors, 2);
}

static void
s_end (void)
{
    stage_destroy (&s_stage);
}

static actor_t *
s_teller (void)
{
    return stage_find (s_stage, "teller/a");
}

static reading_t *
s_reading (int number)
{
    return &((client_t *)actor_state (stage_find (s_stage, "client/0")))->readings [number];
}

static void
s_publish (int batches)
{
    source_tail_t tail = { 0 };
    source_tails_t event = { &tail, 1 };
    for (int i = 0; i < batches; i++) {
        actor_publish (s_teller (), &source_tails_message, &event);
        stage_run (s_stage, REALM_SECOND / 100);
    }
}

static void
s_open (int number, const message_type_t *type, const void *request, uint64_t credit)
{
    stream_options_t options = {
        .on_item = s_on_item, .on_end = s_on_end, .credit = credit, .idle_timeout_ns = PORT_NEVER
    };
    reading_t *reading = s_reading (number);
    stream_open (
        &reading->stream, stage_find (s_stage, "client/0"), SPAN ("teller/a"), type, request, &options, reading);
    stage_run (s_stage, REALM_SECOND);
}

static void
s_open_replay (int number, uint64_t from, uint64_t to, uint64_t credit)
{
    replay_t request = { actor_source (s_teller ()), STREAM_LIFE, actor_incarnation (s_teller ()), from, to };
    s_open (number, &replay_message, &request, credit);
}

static void
s_open_snapshot (int number, uint64_t credit)
{
    take_snapshot_t request = { .source = actor_source (s_teller ()), .stream = STREAM_LIFE };
    s_reading (number)->is_snapshot = true;
    s_open (number, &take_snapshot_message, &request, credit);
}

static void
s_expect_end (int number, call_result_t result, status_t status)
{
    assert_true (s_reading (number)->ended);
    assert_int_equal (s_reading (number)->result, result);
    if (result != CALL_REPLIED)
        assert_int_equal (s_reading (number)->status, status);
}

//  ---- Messages that are none ----------------------------------------------------------------------------------------

static int64_t
s_malformed (void)
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    while (metrics_next (actor_metrics (s_teller ()), &cursor, &name, &labels, &value))
        if (strcmp (labels, "kind=\"malformed\"") == 0)
            return value;
    return -1;
}

typedef struct {
    size_t count;       //  Answers
    status_t status;    //  Of the last one
} answers_t;

static void
s_on_answer (void *arg, const span_t *frames, size_t count)
{
    answers_t *self = arg;
    call_error_t failure;
    assert_int_equal (count, 3);
    assert_int_equal (message_decode (&call_error_message, frames [2], NULL, &failure, NULL), STATUS_OK);
    self->count++;
    self->status = failure.status;
}

static void
test_a_message_of_too_many_frames_is_refused_and_counted (void **state)
{
    s_begin (1 << 20);
    answers_t answers = { 0 };
    span_t frames [SOCKET_FRAMES_MAX] = { { NULL, 0 } };    //  The ROUTER adds one
    port_t *port = actor_port (stage_find (s_stage, "client/0"));
    socket_options_t options = { .kind = SOCKET_DEALER, .on_message = s_on_answer, .arg = &answers };
    port_socket_t *socket = port->table->socket_open (port, &options, NULL);
    char endpoint [ENDPOINT_MAX];
    span_copy_string (directory_find (s_teller (), SPAN ("teller/a"))->endpoint, endpoint, sizeof endpoint);
    assert_int_equal (port->table->socket_connect (socket, endpoint, NULL), STATUS_OK);
    assert_int_equal (port->table->socket_send (socket, frames, SOCKET_FRAMES_MAX), STATUS_OK);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (answers.count, 1);
    assert_int_equal (answers.status, STATUS_LIMIT);
    assert_int_equal (s_malformed (), 1);
    port->table->socket_close (socket);
    s_end ();
}

//  ---- Replays -------------------------------------------------------------------------------------------------------

static void
test_what_is_in_the_ring_is_replayed (void **state)
{
    s_begin (1 << 20);
    s_publish (10);
    s_open_replay (0, 3, 10, 64);
    s_expect_end (0, CALL_REPLIED, STATUS_OK);
    assert_int_equal (s_reading (0)->received, 8);
    s_end ();
}

static void
test_what_is_not_in_the_ring_is_a_gap (void **state)
{
    s_begin (1 << 20);
    s_publish (3);
    s_open_replay (0, 1, 4, 64);
    s_expect_end (0, CALL_FAILED, STATUS_GAP);
    s_open_replay (1, 0, 3, 64);
    s_expect_end (1, CALL_FAILED, STATUS_GAP);
    s_open_replay (2, 3, 1, 64);
    s_expect_end (2, CALL_FAILED, STATUS_GAP);
    s_end ();
}

//  Nothing is kept for a caller that takes its time: what left the ring meanwhile is a gap, what came before it stands.
static void
test_what_leaves_the_ring_before_its_turn_is_a_gap (void **state)
{
    s_begin (2000);
    s_publish (10);
    s_open_replay (0, 1, 10, 2);
    assert_int_equal (s_reading (0)->received, 2);
    s_publish (100);
    stream_credit (&s_reading (0)->stream, 64);
    stage_run (s_stage, REALM_SECOND);
    s_expect_end (0, CALL_FAILED, STATUS_GAP);
    assert_int_equal (s_reading (0)->received, 2);
    s_end ();
}

//  ---- Callers that never give credit --------------------------------------------------------------------------------

static void
test_a_snapshot_comes_whole (void **state)
{
    s_begin (1 << 20);
    s_open_snapshot (0, 64);
    s_expect_end (0, CALL_REPLIED, STATUS_OK);
    assert_true (s_reading (0)->received > 1);
    assert_int_equal (actor_budget (s_teller ())->used, 0);
    s_end ();
}

//  A state that takes long is written between other things, and read as if it had been written at once.
static void
test_a_snapshot_may_be_written_in_slices (void **state)
{
    s_begin (1 << 20);
    teller_t *teller = actor_state (s_teller ());
    s_open_snapshot (0, 64);
    s_expect_end (0, CALL_REPLIED, STATUS_OK);
    teller->slices = 100;
    s_open_snapshot (1, 64);
    s_expect_end (1, CALL_REPLIED, STATUS_OK);
    assert_int_equal (s_reading (1)->received, s_reading (0)->received);
    assert_int_equal (teller->freed, 1);
    teller->status = STATUS_STALE;
    s_open_snapshot (2, 64);
    s_expect_end (2, CALL_FAILED, STATUS_STALE);
    assert_int_equal (s_reading (2)->received, 0);
    assert_int_equal (teller->freed, 2);
    actor_budget (s_teller ())->limit = 10000;
    s_open_snapshot (3, 64);
    s_expect_end (3, CALL_FAILED, STATUS_LIMIT);
    assert_true (teller->left > 0);
    assert_int_equal (teller->freed, 3);
    assert_int_equal (actor_budget (s_teller ())->used, 0);
    s_end ();
}

//  What changes between its slices is in it, and so is the snapshot of the state at its end.
static void
test_a_snapshot_in_slices_is_of_its_end (void **state)
{
    s_begin (1 << 20);
    teller_t *teller = actor_state (s_teller ());
    s_open_snapshot (0, 64);
    teller->slices = 100;
    teller->changes = true;
    s_open_snapshot (1, 64);
    teller->slices = 0;
    s_open_snapshot (2, 64);
    assert_true (s_reading (1)->sequence > s_reading (0)->sequence);
    assert_int_equal (s_reading (1)->sequence, s_reading (2)->sequence);
    s_end ();
}

static void
test_a_caller_that_gives_no_credit_is_given_up (void **state)
{
    s_begin (1 << 20);
    s_publish (3);
    s_open_snapshot (0, 0);
    s_open_replay (1, 1, 3, 1);
    assert_true (actor_budget (s_teller ())->used > 0);
    stage_run (s_stage, 20 * REALM_SECOND);
    stream_credit (&s_reading (1)->stream, 2);    //  This one is only slow
    stage_run (s_stage, 20 * REALM_SECOND);
    s_expect_end (0, CALL_FAILED, STATUS_DEADLINE);
    assert_false (s_reading (1)->ended);
    stage_run (s_stage, 20 * REALM_SECOND);
    s_expect_end (1, CALL_FAILED, STATUS_DEADLINE);
    assert_int_equal (actor_budget (s_teller ())->used, 0);
    s_end ();
}

static void
test_snapshots_that_nobody_reads_stay_within_the_budget (void **state)
{
    s_begin (1 << 20);
    s_open_snapshot (0, 0);
    uint64_t one = actor_budget (s_teller ())->used;
    actor_budget (s_teller ())->limit = 2 * one + one / 2;
    s_open_snapshot (1, 0);
    s_open_snapshot (2, 0);
    s_expect_end (2, CALL_FAILED, STATUS_LIMIT);
    assert_int_equal (actor_budget (s_teller ())->used, 2 * one);
    stage_run (s_stage, 40 * REALM_SECOND);
    s_open_snapshot (3, 64);
    s_expect_end (3, CALL_REPLIED, STATUS_OK);
    s_end ();
}

//  Under a leak checker this one shows what the actor forgot.
static void
test_an_actor_that_ends_frees_what_it_was_sending (void **state)
{
    s_begin (1 << 20);
    s_publish (3);
    s_open_snapshot (0, 0);
    s_open_replay (1, 1, 3, 0);
    s_end ();
}

//  In the simulated world nothing takes any time: what the port measures is said to the actor as it would say it.
static void
test_the_longest_round_stays_known (void **state)
{
    stage_t *stage = stage_new (7);
    stage_add (stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &stage_broker_options });
    actor_t *broker = stage_find (stage, "broker/0");
    const port_user_t *user = &actor_port (broker)->user;
    user->on_round (user->arg, 3000000);
    user->on_round (user->arg, 87000000);
    user->on_round (user->arg, 12000000);
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value, longest = 0;
    while (metrics_next (actor_metrics (broker), &cursor, &name, &labels, &value))
        if (strcmp (name, ACTOR_LONGEST_ROUND) == 0)
            longest = value;
    assert_int_equal (longest, 87000000);
    stage_destroy (&stage);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_longest_round_stays_known),
        cmocka_unit_test (test_a_message_of_too_many_frames_is_refused_and_counted),
        cmocka_unit_test (test_what_is_in_the_ring_is_replayed),
        cmocka_unit_test (test_what_is_not_in_the_ring_is_a_gap),
        cmocka_unit_test (test_what_leaves_the_ring_before_its_turn_is_a_gap),
        cmocka_unit_test (test_a_snapshot_comes_whole),
        cmocka_unit_test (test_a_snapshot_may_be_written_in_slices),
        cmocka_unit_test (test_a_snapshot_in_slices_is_of_its_end),
        cmocka_unit_test (test_a_caller_that_gives_no_credit_is_given_up),
        cmocka_unit_test (test_snapshots_that_nobody_reads_stay_within_the_budget),
        cmocka_unit_test (test_an_actor_that_ends_frees_what_it_was_sending),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
