//  What a follower makes of what the bus brings, however it comes: the broker is played here, so that every batch and every
//  snapshot is at hand.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/actor_private.h"
#include "runtime/directory.h"
#include "runtime/incoming.h"
#include "schemas/batch.h"
#include "schemas/event.h"
#include "schemas/event_header.h"
#include "schemas/host.h"
#include "simulator/stage.h"

#define BROKER "broker/0"

//  ---- A broker that does as it is told ------------------------------------------------------------------------------

typedef struct {
    actor_t *actor;          //  Itself
    port_socket_t *bus;      //  XPUB
    uint64_t incarnation;    //  That it claims to be
    incoming_t *asked;       //  Waits for a snapshot; NULL: nobody
    size_t replays;          //  Times that it was asked for batches
} played_t;

static status_t
s_played_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    played_t *self = self_;
    port_t *port = actor_port (actor);
    socket_options_t xpub = { .kind = SOCKET_XPUB };
    *self = (played_t){ .actor = actor, .bus = port->table->socket_open (port, &xpub, error), .incarnation = 100 };
    return port->table->socket_bind (self->bus, STAGE_EVENTS, error);
}

static void
s_played_fini (void *self, actor_t *actor)
{
    actor_port (actor)->table->socket_close (((played_t *)self)->bus);
}

static void
s_on_register (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const register_actor_t *request = message;
    incoming_reply (incoming, &(register_reply_t){ ((played_t *)self)->incarnation, request->entry.incarnation, 0 });
}

static void
s_on_heartbeat (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    incoming_reply (incoming, &(heartbeat_reply_t){ true, ((played_t *)self)->incarnation, 0 });
}

static void
s_on_replay (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    ((played_t *)self)->replays++;
    incoming_fail (incoming, STATUS_NOT_FOUND, "nothing is kept here");
}

static void
s_on_snapshot (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    ((played_t *)self)->asked = incoming;
}

static const actor_handler_t s_played_handlers [] = {
    HANDLES_CALL (register_actor, s_on_register),
    HANDLES_CALL (heartbeat, s_on_heartbeat),
    HANDLES_CALL (replay, s_on_replay),
    HANDLES_CALL (take_snapshot, s_on_snapshot),
    HANDLERS_END,
};

static const actor_class_t s_played_class = { .name = "broker",
    .state_size = sizeof (played_t),
    .init = s_played_init,
    .fini = s_played_fini,
    .handlers = s_played_handlers };

//  ---- What it says --------------------------------------------------------------------------------------------------

//  What became of an actor.
static void
s_say_state (batch_t *batch, const char *address, actor_state_t state)
{
    actor_changed_t event = { .entry = { .address = span_from_string (address),
                                  .endpoint = SPAN ("tcp://m0:1"),
                                  .incarnation = 1,
                                  .version = 1,
                                  .lease_ms = 5000,
                                  .state = state,
                                  .host = SPAN ("m0") } };
    batch_append (batch, &actor_changed_message, &event);
}

static void
s_say_alive (batch_t *batch, const char *address)
{
    s_say_state (batch, address, ACTOR_STATE_ALIVE);
}

static void
s_publish_of (played_t *self, const char *address, uint64_t incarnation, uint64_t sequence, batch_t *batch)
{
    uint8_t header [EVENT_HEADER_SIZE];
    buffer_t topic = { 0 };
    event_header_t event = { .version = EVENT_VERSION,
        .stream = STREAM_LIFE,
        .source = event_source (span_from_string (address)),
        .incarnation = incarnation,
        .sequence = sequence };
    event_header_encode (&event, header);
    event_topic_append (&topic, STREAM_LIFE, span_from_string (address));
    span_t frames [] = { buffer_span (&topic), span_of (header, sizeof header), batch_span (batch) };
    actor_port (self->actor)->table->socket_send (self->bus, frames, 3);
    buffer_fini (&topic);
}

static void
s_publish_batch (played_t *self, uint64_t incarnation, uint64_t sequence, batch_t *batch)
{
    s_publish_of (self, BROKER, incarnation, sequence, batch);
}

static void
s_publish (played_t *self, uint64_t incarnation, uint64_t sequence, const char *alive)
{
    batch_t batch;
    batch_init (&batch);
    s_say_alive (&batch, alive);
    s_publish_batch (self, incarnation, sequence, &batch);
    batch_fini (&batch);
}

//  What became of this actor, and that its life stream has come to a number.
static void
s_publish_actor_with_tail (
    played_t *self, uint64_t sequence, const char *address, actor_state_t state, uint64_t come_to)
{
    batch_t batch;
    source_tail_t tail = { event_source (span_from_string (address)), STREAM_LIFE, 1, come_to };
    batch_init (&batch);
    s_say_state (&batch, address, state);
    batch_append (&batch, &source_tails_message, &(source_tails_t){ &tail, 1 });
    s_publish_batch (self, 100, sequence, &batch);
    batch_fini (&batch);
}

//  What a worker says of its processes.
static void
s_publish_process (played_t *self, uint64_t sequence)
{
    batch_t batch;
    batch_init (&batch);
    batch_append (
        &batch, &process_changed_message, &(process_changed_t){ .process = { .state = PROCESS_STATE_RUNNING } });
    s_publish_of (self, "worker/first", 1, sequence, &batch);
    batch_fini (&batch);
}

//  Gives whoever waits the state of this incarnation.
static void
s_give_snapshot (played_t *self, uint64_t incarnation, uint64_t sequence, const char *alive)
{
    batch_t batch;
    batch_init (&batch);
    s_say_alive (&batch, alive);
    assert_non_null (self->asked);
    incoming_send (self->asked, 1, &(snapshot_part_t){ batch_span (&batch) });
    incoming_end (self->asked, &(snapshot_end_t){ incarnation, sequence });
    self->asked = NULL;
    batch_fini (&batch);
}

//  ---- The stage -----------------------------------------------------------------------------------------------------

typedef struct {
    size_t changes;    //  Events that it was told of
    size_t memory;     //  Most that decoded ones took, when one was handled
} follower_t;

static void
s_on_coming (void *self, actor_t *actor, const origin_t *origin, const void *event)
{
}

static void
s_on_changed (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    follower_t *self = self_;
    self->changes++;
    self->memory = actor->scratch.used > self->memory ? actor->scratch.used : self->memory;
}

static const actor_handler_t s_follower_handlers [] = {
    HANDLES_EVENT_AHEAD (actor_changed, s_on_coming, s_on_changed),
    HANDLERS_END,
};

static const actor_class_t s_follower_class = {
    .name = "follower", .state_size = sizeof (follower_t), .handlers = s_follower_handlers
};

//  One that follows what becomes of processes.
static void
s_on_process (void *self, actor_t *actor, const origin_t *origin, const void *event)
{
    ((follower_t *)self)->changes++;
}

static const actor_handler_t s_reader_handlers [] = { HANDLES_EVENT (process_changed, s_on_process), HANDLERS_END };

static const actor_class_t s_reader_class = {
    .name = "reader", .state_size = sizeof (follower_t), .handlers = s_reader_handlers
};

static stage_t *s_stage;

static void
s_settle (void)
{
    stage_run (s_stage, 100 * REALM_MS);
}

static bool
s_knows (const char *address)
{
    return directory_find (stage_find (s_stage, "follower/0"), span_from_string (address)) != NULL;
}

//  Gives the broker.
static played_t *
s_begin (void)
{
    s_stage = stage_new (1);
    stage_add (s_stage, &(stage_actor_t){ .class = &s_played_class, .instance = "0" });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_follower_class, .instance = "0" });
    stage_run (s_stage, REALM_SECOND);
    return actor_state (stage_find (s_stage, BROKER));
}

//  A follower that missed the second batch, holds the third, and waits for a snapshot.  Gives the broker.
static played_t *
s_begin_behind_a_hole (void)
{
    played_t *broker = s_begin ();
    s_publish (broker, 100, 1, "worker/first");
    s_settle ();
    assert_true (s_knows ("worker/first"));
    s_publish (broker, 100, 3, "worker/third");
    s_settle ();
    assert_false (s_knows ("worker/third"));
    assert_non_null (broker->asked);
    return broker;
}

//  ---- Stories -------------------------------------------------------------------------------------------------------

static void
test_what_waits_behind_a_hole_comes_after_the_snapshot (void **state)
{
    played_t *broker = s_begin_behind_a_hole ();
    s_give_snapshot (broker, 100, 2, "worker/second");
    s_settle ();
    assert_true (s_knows ("worker/second") && s_knows ("worker/third"));
    s_publish (broker, 100, 4, "worker/fourth");
    s_settle ();
    assert_true (s_knows ("worker/fourth"));
    stage_destroy (&s_stage);
}

//  The next broker answers, and its third batch is another one.
static void
s_check_that_the_next_broker_is_heard (played_t *broker)
{
    s_give_snapshot (broker, 200, 2, "worker/second");
    s_settle ();
    s_publish (broker, 200, 3, "worker/other");
    s_settle ();
    assert_true (s_knows ("worker/second") && s_knows ("worker/other"));
    assert_false (s_knows ("worker/third"));
    stage_destroy (&s_stage);
}

//  The question hangs until the next broker stands, which answers it.
static void
test_a_snapshot_of_the_next_broker_ends_what_waits_of_the_one_before (void **state)
{
    played_t *broker = s_begin_behind_a_hole ();
    broker->incarnation = 200;
    s_check_that_the_next_broker_is_heard (broker);
}

//  The same where a batch of the next broker is there first.
static void
test_a_batch_of_the_next_broker_ends_what_waits_of_the_one_before (void **state)
{
    played_t *broker = s_begin_behind_a_hole ();
    broker->incarnation = 200;
    s_publish (broker, 200, 2, "worker/late");
    s_settle ();
    s_check_that_the_next_broker_is_heard (broker);
}

//  What an older broker still says is nothing, and what it answers not the end of it.
static void
test_an_answer_of_a_broker_that_was_replaced_is_asked_for_again (void **state)
{
    played_t *broker = s_begin_behind_a_hole ();
    s_give_snapshot (broker, 99, 7, "worker/first");
    s_publish (broker, 99, 8, "worker/ghost");
    stage_run (s_stage, REALM_SECOND);
    assert_false (s_knows ("worker/third"));
    s_give_snapshot (broker, 100, 2, "worker/second");
    s_settle ();
    assert_true (s_knows ("worker/second") && s_knows ("worker/third"));
    assert_false (s_knows ("worker/ghost"));
    stage_destroy (&s_stage);
}

//  What is malformed takes no room from what comes behind it, and one line in the log.
static void
test_malformed_events_leave_nothing_behind (void **state)
{
    enum { MALFORMED = 1000, FEW = 4 * sizeof (actor_changed_t) };
    played_t *broker = s_begin ();
    batch_t batch;
    batch_init (&batch);
    uint8_t malformed [] = { (uint8_t)actor_changed_message.id, 0xc0 };
    for (int i = 0; i < MALFORMED; i++, batch.count++)
        buffer_append (&batch.bytes, span_of (malformed, sizeof malformed));
    s_say_alive (&batch, "worker/first");
    s_publish_batch (broker, 100, 1, &batch);
    s_settle ();
    const follower_t *follower = actor_state (stage_find (s_stage, "follower/0"));
    assert_int_equal (follower->changes, 1);
    assert_true (follower->memory <= FEW);
    const char *said = strstr (stage_log (s_stage), " ignored: ");
    assert_non_null (said);
    assert_null (strstr (said + 1, " ignored: "));
    batch_fini (&batch);
    stage_destroy (&s_stage);
}

//  Whoever gives less than what is missing is not asked again at once: it would give the same.
static void
test_a_snapshot_that_ends_too_early_is_none (void **state)
{
    played_t *broker = s_begin_behind_a_hole ();
    s_give_snapshot (broker, 100, 1, "worker/first");
    s_settle ();
    assert_null (broker->asked);
    stage_run (s_stage, REALM_SECOND);
    s_give_snapshot (broker, 100, 2, "worker/second");
    s_settle ();
    assert_true (s_knows ("worker/second") && s_knows ("worker/third"));
    stage_destroy (&s_stage);
}

//  ---- Claims --------------------------------------------------------------------------------------------------------

//  A reader, and a source of which the broker says that it has come to this number.  Gives the broker.
static played_t *
s_begin_with_claim (uint64_t come_to)
{
    s_stage = stage_new (1);
    stage_add (s_stage, &(stage_actor_t){ .class = &s_played_class, .instance = "0" });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_reader_class, .instance = "0" });
    stage_run (s_stage, REALM_SECOND);
    played_t *broker = actor_state (stage_find (s_stage, BROKER));
    assert_true (actor_is_synced (stage_find (s_stage, "reader/0"), STREAM_LIFE));
    s_publish_actor_with_tail (broker, 1, "worker/first", ACTOR_STATE_ALIVE, come_to);
    return broker;
}

static int64_t
s_reader_metric (const char *wanted, const char *label)
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    while (metrics_next (actor_metrics (stage_find (s_stage, "reader/0")), &cursor, &name, &labels, &value))
        if (strcmp (name, wanted) == 0 && strcmp (labels, label) == 0)
            return value;
    return -1;
}

static size_t
s_lines_that_say (const char *what)
{
    size_t lines = 0;
    for (const char *at = stage_log (s_stage); (at = strstr (at, what)) != NULL; at++)
        lines++;
    return lines;
}

//  How often the broker is asked meanwhile.
static size_t
s_asked_in (played_t *broker, uint64_t ns)
{
    size_t before = broker->replays;
    stage_run (s_stage, ns);
    return broker->replays - before;
}

//  Neither the broker nor anybody else has what an actor is said to have published, and that one does not answer.
static void
test_a_source_that_nobody_can_repair_is_not_waited_for_for_ever (void **state)
{
    s_begin_with_claim (5);
    const actor_t *reader = stage_find (s_stage, "reader/0");
    stage_run (s_stage, 5 * REALM_SECOND);
    assert_false (actor_is_synced (reader, STREAM_LIFE));
    stage_run (s_stage, 25 * REALM_SECOND);
    assert_true (actor_is_synced (reader, STREAM_LIFE));
    stage_destroy (&s_stage);
}

//  It is asked for less and less often, and once the log says so; until the source comes back, which may have it.
static void
test_what_nobody_has_is_asked_for_ever_more_rarely (void **state)
{
    played_t *broker = s_begin_with_claim (0);
    s_publish_process (broker, 1);
    s_settle ();
    s_publish_actor_with_tail (broker, 2, "worker/first", ACTOR_STATE_ALIVE, EVENT_SEQUENCE_MAX);
    size_t at_first = s_asked_in (broker, 8 * REALM_SECOND);
    assert_int_equal (s_reader_metric ("stator_bus_unrepaired", ""), 0);
    stage_run (s_stage, 180 * REALM_SECOND);
    size_t later = s_asked_in (broker, 300 * REALM_SECOND);
    assert_true (at_first >= 2);
    assert_in_range (later, 5, 11);    //  Not 60
    assert_int_equal (s_reader_metric ("stator_bus_unrepaired", ""), 1);
    assert_int_equal (s_lines_that_say ("of worker/first are said to exist and nobody has them"), 1);

    s_publish_actor_with_tail (broker, 3, "worker/first", ACTOR_STATE_UNREACHABLE, 0);
    s_publish_actor_with_tail (broker, 4, "worker/first", ACTOR_STATE_ALIVE, 0);
    assert_in_range (s_asked_in (broker, REALM_SECOND), 1, 2);
    s_publish_actor_with_tail (broker, 5, "worker/first", ACTOR_STATE_GONE, 0);
    s_settle ();
    assert_int_equal (s_reader_metric ("stator_bus_unrepaired", ""), 0);
    stage_destroy (&s_stage);
}

//  What it does publish is heard as it comes, and when it has come as far as it claimed nothing is missing.
static void
test_a_source_that_claims_too_much_is_heard_all_the_same (void **state)
{
    played_t *broker = s_begin_with_claim (0);
    const follower_t *reader = actor_state (stage_find (s_stage, "reader/0"));
    s_publish_process (broker, 1);
    s_settle ();
    assert_int_equal (reader->changes, 1);
    s_publish_actor_with_tail (broker, 2, "worker/first", ACTOR_STATE_ALIVE, 4);
    stage_run (s_stage, 180 * REALM_SECOND);
    assert_int_equal (s_reader_metric ("stator_bus_unrepaired", ""), 1);
    s_publish_process (broker, 2);
    s_settle ();
    assert_int_equal (reader->changes, 2);
    s_publish_process (broker, 4);
    s_settle ();
    assert_int_equal (reader->changes, 2);
    s_publish_process (broker, 3);
    s_settle ();
    assert_int_equal (reader->changes, 4);
    assert_int_equal (s_reader_metric ("stator_bus_unrepaired", ""), 0);
    stage_destroy (&s_stage);
}

//  It is counted; nobody is asked for it.
static void
test_a_claim_that_no_batch_can_keep_is_ignored (void **state)
{
    static const uint64_t claims [] = { EVENT_SEQUENCE_MAX + 1, UINT64_MAX };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        played_t *broker = s_begin_with_claim (claims [i]);
        stage_run (s_stage, 5 * REALM_SECOND);
        assert_true (actor_is_synced (stage_find (s_stage, "reader/0"), STREAM_LIFE));
        assert_int_equal (s_reader_metric ("stator_bus_events_total", "kind=\"malformed\""), 1);
        assert_int_equal (broker->replays, 0);
        stage_destroy (&s_stage);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_waits_behind_a_hole_comes_after_the_snapshot),
        cmocka_unit_test (test_a_snapshot_of_the_next_broker_ends_what_waits_of_the_one_before),
        cmocka_unit_test (test_a_batch_of_the_next_broker_ends_what_waits_of_the_one_before),
        cmocka_unit_test (test_an_answer_of_a_broker_that_was_replaced_is_asked_for_again),
        cmocka_unit_test (test_malformed_events_leave_nothing_behind),
        cmocka_unit_test (test_a_snapshot_that_ends_too_early_is_none),
        cmocka_unit_test (test_a_source_that_nobody_can_repair_is_not_waited_for_for_ever),
        cmocka_unit_test (test_what_nobody_has_is_asked_for_ever_more_rarely),
        cmocka_unit_test (test_a_source_that_claims_too_much_is_heard_all_the_same),
        cmocka_unit_test (test_a_claim_that_no_batch_can_keep_is_ignored),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
