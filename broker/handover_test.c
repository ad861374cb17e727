//  What the broker makes of batches, right and wrong ones, in raw frames.

#include "schemas/call.h"
#include "schemas/event_header.h"
#include "tests/broker/fixture.h"

//  Whoever hands over and listens in raw frames, beside an actor.
typedef struct {
    port_socket_t *broker;    //  DEALER
    port_socket_t *events;    //  SUB
    size_t acknowledged;      //  Acknowledgements that came
    uint64_t position;        //  The last one's
    size_t heard;             //  Batches on the bus
} witness_t;

static void
s_on_answer (void *arg, const span_t *frames, size_t count)
{
    witness_t *self = arg;
    frame_header_t header;
    assert_int_equal (frame_header_decode (&header, frames [1], NULL, NULL), STATUS_OK);
    if (header.kind != FRAME_KIND_ACK)
        return;
    self->position = header.position;
    self->acknowledged++;
}

static void
s_on_batch (void *arg, const span_t *frames, size_t count)
{
    ((witness_t *)arg)->heard++;
}

static void
s_witness_open (witness_t *self)
{
    port_t *port = actor_port (stage_find (bus_stage, "source/0"));
    const port_table_t *table = port->table;
    socket_options_t dealer = { .kind = SOCKET_DEALER, .on_message = s_on_answer, .arg = self };
    socket_options_t sub = { .kind = SOCKET_SUB, .on_message = s_on_batch, .arg = self };
    *self = (witness_t){ table->socket_open (port, &dealer, NULL), table->socket_open (port, &sub, NULL), 0, 0, 0 };
    assert_int_equal (table->socket_connect (self->broker, STAGE_BROKER, NULL), STATUS_OK);
    assert_int_equal (table->socket_connect (self->events, STAGE_EVENTS, NULL), STATUS_OK);
    table->socket_subscribe (self->events, SPAN ("kv."));
    bus_run (REALM_SECOND);
}

static void
s_witness_close (witness_t *self)
{
    const port_table_t *table = actor_port (stage_find (bus_stage, "source/0"))->table;
    table->socket_close (self->broker);
    table->socket_close (self->events);
}

//  Hands over an empty batch in the name of the source.
static void
s_send_batch (witness_t *self, uint16_t stream, uint64_t incarnation, uint64_t sequence)
{
    uint8_t bytes [EVENT_HEADER_SIZE];
    buffer_t header = { 0 }, topic = { 0 };
    frame_header_t frame = { .version = 1, .kind = FRAME_KIND_EVENT };
    event_header_t event = { .version = EVENT_VERSION,
        .stream = stream,
        .source = event_source (SPAN ("source/0")),
        .incarnation = incarnation,
        .sequence = sequence };
    frame_header_encode (&frame, &header);
    event_header_encode (&event, bytes);
    event_topic_append (&topic, stream, SPAN ("source/0"));
    span_t frames [] = { SPAN (""), buffer_span (&header), buffer_span (&topic), span_of (bytes, sizeof bytes),
        SPAN ("\x90") };
    const port_table_t *table = actor_port (stage_find (bus_stage, "source/0"))->table;
    assert_int_equal (table->socket_send (self->broker, frames, 5), STATUS_OK);
    buffer_fini (&header);
    buffer_fini (&topic);
}

//  Long enough for all that follows from it.
static void
s_hand_over (witness_t *self, uint64_t incarnation, uint64_t sequence)
{
    s_send_batch (self, STREAM_KV, incarnation, sequence);
    bus_run (REALM_SECOND);
}

//  A heartbeat in the name of the source: how far its kv stream has come.
static void
s_claim (witness_t *self, uint64_t incarnation, uint64_t sequence)
{
    buffer_t header = { 0 }, body = { 0 };
    frame_header_t frame = {
        .version = 1, .kind = FRAME_KIND_CALL, .id = 1, .has_method = true, .method = SPAN ("heartbeat")
    };
    stream_tail_t tail = { STREAM_KV, sequence };
    heartbeat_t beat = { .address = SPAN ("source/0"), .incarnation = incarnation, .tails = &tail, .tails_count = 1 };
    frame_header_encode (&frame, &header);
    message_encode (&heartbeat_message, &beat, &body);
    span_t frames [] = { SPAN (""), buffer_span (&header), buffer_span (&body) };
    const port_table_t *table = actor_port (stage_find (bus_stage, "source/0"))->table;
    assert_int_equal (table->socket_send (self->broker, frames, 3), STATUS_OK);
    bus_run (REALM_SECOND);
    buffer_fini (&header);
    buffer_fini (&body);
}

static int64_t
s_batches (const char *result)
{
    char label [64];
    snprintf (label, sizeof label, "result=\"%s\"", result);
    return bus_metric (BROKER, "stator_broker_batches_total", label);
}

//  A source that heard no acknowledgement hands over again; it is told once more, and nobody else.
static void
test_a_batch_that_is_handed_over_twice_is_fanned_out_once (void **state)
{
    witness_t witness;
    bus_begin_all (20, RING);
    bus_source ()->quiet = true;
    s_witness_open (&witness);
    const actor_t *source = stage_find (bus_stage, "source/0");
    uint64_t next = actor_published (source, STREAM_KV) + 1;
    s_hand_over (&witness, actor_incarnation (source), next);
    assert_int_equal (witness.heard, 1);
    s_hand_over (&witness, actor_incarnation (source), next);
    assert_int_equal (witness.heard, 1);
    assert_int_equal (witness.acknowledged, 2);
    assert_int_equal (s_batches ("duplicate"), 1);
    s_witness_close (&witness);
    bus_end ();
}

//  Half of what a source may have under way is acknowledged as soon as it is there, less a moment later, and all by one.
static void
test_many_batches_are_acknowledged_by_one_message (void **state)
{
    witness_t witness;
    bus_begin_all (23, RING);
    bus_source ()->quiet = true;
    s_witness_open (&witness);
    const actor_t *source = stage_find (bus_stage, "source/0");
    uint64_t next = actor_published (source, STREAM_KV) + 1;
    for (int i = 0; i < HANDOVER_WINDOW / 2; i++)
        s_send_batch (&witness, STREAM_KV, actor_incarnation (source), next++);
    bus_run (20 * REALM_MS);
    assert_int_equal (witness.acknowledged, 1);
    for (int i = 0; i < HANDOVER_WINDOW / 4; i++)
        s_send_batch (&witness, STREAM_KV, actor_incarnation (source), next++);
    bus_run (REALM_SECOND);
    assert_int_equal (witness.acknowledged, 2);
    assert_int_equal (witness.position, next - 1);
    s_witness_close (&witness);
    bus_end ();
}

//  The connection ends before anything was said: who hands over again, on another one, is told.
static void
test_whoever_hands_over_last_is_acknowledged (void **state)
{
    witness_t lost, witness;
    bus_begin_all (25, RING);
    bus_source ()->quiet = true;
    s_witness_open (&lost);
    s_witness_open (&witness);
    const actor_t *source = stage_find (bus_stage, "source/0");
    uint64_t next = actor_published (source, STREAM_KV) + 1;
    s_send_batch (&lost, STREAM_KV, actor_incarnation (source), next);
    bus_run (20 * REALM_MS);
    assert_int_equal (witness.heard, 1);
    assert_int_equal (lost.acknowledged, 0);
    s_witness_close (&lost);
    s_hand_over (&witness, actor_incarnation (source), next);
    assert_int_equal (witness.heard, 1);
    assert_int_equal (witness.acknowledged, 1);
    assert_int_equal (witness.position, next);
    s_witness_close (&witness);
    bus_end ();
}

//  What was replaced may still be running somewhere.
static void
test_what_an_old_incarnation_publishes_reaches_nobody (void **state)
{
    witness_t witness;
    bus_begin_all (21, RING);
    bus_source ()->quiet = true;
    s_witness_open (&witness);
    const actor_t *source = stage_find (bus_stage, "source/0");
    s_hand_over (&witness, actor_incarnation (source) - 1, actor_published (source, STREAM_KV) + 1);
    assert_int_equal (witness.heard, 0);
    assert_int_equal (witness.acknowledged, 0);
    assert_int_equal (s_batches ("stale"), 1);
    s_witness_close (&witness);
    bus_end ();
}

//  The topic is what it would be, if there were such a stream.
static void
test_a_batch_of_no_stream_reaches_nobody (void **state)
{
    witness_t witness;
    bus_begin_all (24, RING);
    s_witness_open (&witness);
    uint64_t incarnation = actor_incarnation (stage_find (bus_stage, "source/0"));
    s_send_batch (&witness, 0, incarnation, 1);
    s_send_batch (&witness, STREAM_COUNT, incarnation, 1);
    s_send_batch (&witness, UINT16_MAX, incarnation, 1);
    bus_run (REALM_SECOND);
    assert_int_equal (witness.acknowledged, 0);
    assert_int_equal (s_batches ("malformed"), 3);
    s_witness_close (&witness);
    bus_end ();
}

//  A number that no batch can have is none, however it is said, and so is one behind what was handed over.
static void
test_what_cannot_be_is_said_of_nobody (void **state)
{
    witness_t witness;
    bus_begin_all (26, RING);
    bus_source ()->quiet = true;
    s_witness_open (&witness);
    const actor_t *source = stage_find (bus_stage, "source/0");
    uint64_t incarnation = actor_incarnation (source), last = actor_published (source, STREAM_KV);
    s_hand_over (&witness, incarnation, 0);
    s_hand_over (&witness, incarnation, EVENT_SEQUENCE_MAX + 1);
    s_hand_over (&witness, incarnation, UINT64_MAX);
    assert_int_equal (s_batches ("malformed"), 3);

    assert_int_equal (bus_metric (BROKER, "stator_broker_odd_tails_total", ""), 0);
    s_claim (&witness, incarnation, last);
    s_claim (&witness, incarnation, last - 1);
    s_claim (&witness, incarnation, EVENT_SEQUENCE_MAX + 1);
    s_claim (&witness, incarnation, UINT64_MAX);
    assert_int_equal (bus_metric (BROKER, "stator_broker_odd_tails_total", ""), 3);
    const char *said = strstr (stage_log (bus_stage), "source/0 says that it has come to ");
    assert_non_null (said);
    assert_null (strstr (said + 1, "source/0 says that it has come to "));
    assert_int_equal (bus_count (FOLLOWER, "gap"), 0);
    assert_int_equal (bus_count (FOLLOWER, "malformed"), 0);
    s_witness_close (&witness);
    bus_end ();
}

//  Those who follow subscribe; whoever sends anything else there is heard of.
static void
test_stray_messages_to_the_bus_are_counted (void **state)
{
    bus_begin_all (22, RING);
    port_t *port = actor_port (stage_find (bus_stage, "source/0"));
    socket_options_t options = { .kind = SOCKET_DEALER };
    port_socket_t *stray = port->table->socket_open (port, &options, NULL);
    span_t frames [] = { SPAN ("\x01"), SPAN ("hello") };
    assert_int_equal (port->table->socket_connect (stray, STAGE_EVENTS, NULL), STATUS_OK);
    assert_int_equal (bus_metric (BROKER, "stator_broker_strays_total", ""), 0);
    port->table->socket_send (stray, frames, 2);
    port->table->socket_send (stray, frames + 1, 1);
    bus_run (REALM_SECOND);
    assert_int_equal (bus_metric (BROKER, "stator_broker_strays_total", ""), 2);
    port->table->socket_close (stray);
    bus_end ();
}

//  Whatever is subscribed to is kept at many times its size, so there is a bound; whoever is hung up on for it repairs its gaps.
static void
test_subscriptions_beyond_the_bound_are_let_go (void **state)
{
    enum { LONG = 4000, FEW = 1000, MANY = 1100 };
    char prefix [LONG + 1];
    bus_begin_all (23, RING);
    port_t *port = actor_port (stage_find (bus_stage, "source/0"));
    port_socket_t *greedy = port->table->socket_open (port, &(socket_options_t){ .kind = SOCKET_SUB }, NULL);
    assert_int_equal (port->table->socket_connect (greedy, STAGE_EVENTS, NULL), STATUS_OK);
    for (int i = 0; i < MANY; i++) {
        if (i == FEW)
            bus_run (REALM_SECOND);
        assert_int_equal (bus_metric (BROKER, "stator_broker_followers_crowded_total", ""), 0);
        snprintf (prefix, sizeof prefix, "%0*d", LONG, i);
        port->table->socket_subscribe (greedy, span_from_string (prefix));
    }
    bus_run (REALM_SECOND);
    int64_t times = bus_metric (BROKER, "stator_broker_followers_crowded_total", "");
    assert_true (times > 0);
    port->table->socket_close (greedy);
    bus_check_equal_once_quiet ();
    assert_int_equal (bus_metric (BROKER, "stator_broker_followers_crowded_total", ""), times);
    bus_end ();
}

enum { PREFIX_SIZE = 4000, PREFIXES = 700 };    //  Twice as many are too many

static port_socket_t *
s_subscribe_to_much (port_t *port, int first)
{
    char prefix [PREFIX_SIZE + 1];
    port_socket_t *socket = port->table->socket_open (port, &(socket_options_t){ .kind = SOCKET_SUB }, NULL);
    assert_int_equal (port->table->socket_connect (socket, STAGE_EVENTS, NULL), STATUS_OK);
    for (int i = first; i < first + PREFIXES; i++) {
        snprintf (prefix, sizeof prefix, "%0*d", PREFIX_SIZE, i);
        port->table->socket_subscribe (socket, span_from_string (prefix));
    }
    bus_run (REALM_SECOND);
    return socket;
}

static void
s_unsubscribe (port_t *port, port_socket_t *socket, int first)
{
    char prefix [PREFIX_SIZE + 1];
    for (int i = first; i < first + PREFIXES; i++) {
        snprintf (prefix, sizeof prefix, "%0*d", PREFIX_SIZE, i);
        port->table->socket_unsubscribe (socket, span_from_string (prefix));
    }
    bus_run (REALM_SECOND);
}

static void
s_check_crowds (bool any)
{
    assert_int_equal (bus_metric (BROKER, "stator_broker_followers_crowded_total", "") > 0, any);
}

//  What counts is what is subscribed to: whoever comes and goes all day does not have the others hung up on.
static void
test_subscriptions_that_end_do_not_count (void **state)
{
    bus_begin_all (24, RING);
    port_t *port = actor_port (stage_find (bus_stage, "source/0"));
    port->table->socket_close (s_subscribe_to_much (port, 0));
    bus_run (REALM_SECOND);
    port_socket_t *changing = s_subscribe_to_much (port, PREFIXES), *same = s_subscribe_to_much (port, PREFIXES);
    s_unsubscribe (port, changing, PREFIXES);
    s_unsubscribe (port, same, PREFIXES);
    port_socket_t *one = s_subscribe_to_much (port, 0);
    s_check_crowds (false);
    port_socket_t *two = s_subscribe_to_much (port, PREFIXES);
    s_check_crowds (true);
    port_socket_t *const all [] = { changing, same, one, two };
    for (size_t i = 0; i < sizeof all / sizeof all [0]; i++)
        port->table->socket_close (all [i]);
    bus_end ();
}

//  The library passes on ends that are lies, so they take off only so much.
static void
test_ends_of_subscriptions_take_off_only_so_much (void **state)
{
    bus_begin_all (25, RING);
    port_t *port = actor_port (stage_find (bus_stage, "source/0"));
    for (int i = 0; i < 6; i++) {
        s_check_crowds (false);
        port->table->socket_close (s_subscribe_to_much (port, i * PREFIXES));
        bus_run (REALM_SECOND);
    }
    s_check_crowds (true);
    bus_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_batch_that_is_handed_over_twice_is_fanned_out_once),
        cmocka_unit_test (test_many_batches_are_acknowledged_by_one_message),
        cmocka_unit_test (test_whoever_hands_over_last_is_acknowledged),
        cmocka_unit_test (test_what_an_old_incarnation_publishes_reaches_nobody),
        cmocka_unit_test (test_a_batch_of_no_stream_reaches_nobody),
        cmocka_unit_test (test_what_cannot_be_is_said_of_nobody),
        cmocka_unit_test (test_stray_messages_to_the_bus_are_counted),
        cmocka_unit_test (test_subscriptions_beyond_the_bound_are_let_go),
        cmocka_unit_test (test_subscriptions_that_end_do_not_count),
        cmocka_unit_test (test_ends_of_subscriptions_take_off_only_so_much),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
