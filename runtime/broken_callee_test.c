//  A callee that breaks the rules: what it sends ends the stream it belongs to, and harms nobody else.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "runtime/stream.h"
#include "schemas/call.h"
#include "schemas/directory.h"
#include "schemas/event.h"
#include "tests/stage_broker.h"

//  ---- The caller ----------------------------------------------------------------------------------------------------

typedef struct {
    stream_t stream;         //  Under test
    uint64_t expected;       //  Next number
    size_t ended;            //  Times the stream ended
    call_result_t result;    //  How
    status_t status;         //  Its status
} client_t;

static uint64_t
s_on_item (void *self_, void *arg, uint64_t position, const void *item)
{
    client_t *self = self_;
    assert_int_equal (position, self->expected);
    assert_int_equal (((const replayed_batch_t *)item)->sequence, self->expected);
    self->expected++;
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
s_client_fini (void *self, actor_t *actor)
{
    stream_drop (&((client_t *)self)->stream);
}

static const actor_handler_t s_no_handlers [] = { HANDLERS_END };

static const actor_class_t s_client_class = {
    .name = "client", .state_size = sizeof (client_t), .fini = s_client_fini, .handlers = s_no_handlers
};

//  The process of the callee is that of an actor that does nothing.
static const actor_class_t s_server_class = { .name = "server", .state_size = 1, .handlers = s_no_handlers };

//  ---- The stage -----------------------------------------------------------------------------------------------------

static stage_t *s_stage;

static void
s_begin (void)
{
    s_stage = stage_of_two (7, &s_server_class, &s_client_class);
}

static client_t *
s_client (void)
{
    return actor_state (stage_find (s_stage, "client/0"));
}

//  ---- The callee ----------------------------------------------------------------------------------------------------

//  How its items come.
typedef enum {
    CHEAT_APART,       //  Each in a message of its own
    CHEAT_GATHERED,    //  All of them in one
    CHEAT_LISTS,       //  The same, and a position is missing
    CHEAT_SHORT,       //  The same, and a byte is missing
    CHEAT_LONG,        //  The same, and there is a byte too many
    CHEAT_RUINED,      //  One message without a header
    CHEAT_GARBLED,     //  One message, which breaks its schema
} cheat_way_t;

//  Answers a stream with items at the positions of its script, whatever is expected.
typedef struct {
    cheat_way_t way;              //  How
    port_socket_t *socket;        //  ROUTER
    const uint64_t *positions;    //  Of its items
    size_t count;                 //  How many
    frame_kind_t garbled;         //  What the message is that breaks its schema
    size_t cancels;               //  Heard
} cheat_t;

static void
s_cheat_send (const cheat_t *self, span_t peer, const frame_header_t *header, span_t body)
{
    buffer_t head = { 0 };
    frame_header_encode (header, &head);
    span_t frames [] = { peer, SPAN (""), buffer_span (&head), body };
    port_t *port = actor_port (stage_find (s_stage, "server/a"));
    assert_int_equal (port->table->socket_send (self->socket, frames, 4), STATUS_OK);
    buffer_fini (&head);
}

static void
s_cheat_apart (const cheat_t *self, span_t peer, uint64_t id)
{
    buffer_t body = { 0 };
    for (size_t i = 0; i < self->count; i++) {
        frame_header_t header = {
            .version = 1, .kind = FRAME_KIND_ITEM, .id = id, .has_position = true, .position = self->positions [i]
        };
        buffer_clear (&body);
        replayed_batch_encode (&(replayed_batch_t){ .sequence = self->positions [i] }, &body);
        s_cheat_send (self, peer, &header, buffer_span (&body));
    }
    buffer_fini (&body);
}

static void
s_cheat_gathered (const cheat_t *self, span_t peer, uint64_t id)
{
    frame_header_t header = { .version = 1, .kind = FRAME_KIND_ITEMS };
    uint64_t ids [8];
    uint32_t sizes [8];
    buffer_t items = { 0 }, body = { 0 };
    for (size_t i = 0; i < self->count; i++) {
        size_t before = items.size;
        replayed_batch_encode (&(replayed_batch_t){ .sequence = self->positions [i] }, &items);
        ids [i] = id;
        sizes [i] = (uint32_t)(items.size - before);
    }
    if (self->way == CHEAT_LONG)
        buffer_append_byte (&items, 0);
    gathered_items_t message = { .ids = column_of_u64 (ids, self->count),
        .positions = column_of_u64 (self->positions, self->count - (self->way == CHEAT_LISTS)),
        .sizes = column_of_u32 (sizes, self->count),
        .items = span_slice (buffer_span (&items), 0, items.size - (self->way == CHEAT_SHORT)) };
    gathered_items_encode (&message, &body);
    s_cheat_send (self, peer, &header, buffer_span (&body));
    buffer_fini (&items);
    buffer_fini (&body);
}

static void
s_cheat_garbled (const cheat_t *self, span_t peer, uint64_t id)
{
    frame_header_t header = { .version = 1, .kind = self->garbled, .id = id, .has_position = true };
    s_cheat_send (self, peer, &header, SPAN ("?"));
}

static void
s_cheat_ruined (const cheat_t *self, span_t peer, uint64_t id)
{
    span_t frames [] = { peer, SPAN (""), SPAN ("?") };
    port_t *port = actor_port (stage_find (s_stage, "server/a"));
    assert_int_equal (port->table->socket_send (self->socket, frames, 3), STATUS_OK);
}

static void
s_on_cheat_message (void *arg, const span_t *frames, size_t count)
{
    static void (*const answers []) (const cheat_t *self, span_t peer, uint64_t id) = {
        [CHEAT_APART] = s_cheat_apart,
        [CHEAT_GATHERED] = s_cheat_gathered,
        [CHEAT_LISTS] = s_cheat_gathered,
        [CHEAT_SHORT] = s_cheat_gathered,
        [CHEAT_LONG] = s_cheat_gathered,
        [CHEAT_RUINED] = s_cheat_ruined,
        [CHEAT_GARBLED] = s_cheat_garbled,
    };
    cheat_t *self = arg;
    frame_header_t header;
    assert_true (count >= 3);
    assert_int_equal (frame_header_decode (&header, frames [2], NULL, NULL), STATUS_OK);
    self->cancels += header.kind == FRAME_KIND_CANCEL;
    if (header.kind == FRAME_KIND_CALL)
        answers [self->way](self, frames [0], header.id);
}

static void
s_cheat_register (const register_actor_t *request)
{
    port_t *port = actor_port (stage_find (s_stage, "server/a"));
    socket_options_t options = { .kind = SOCKET_DEALER };
    port_socket_t *broker = port->table->socket_open (port, &options, NULL);
    buffer_t head = { 0 };
    buffer_t body = { 0 };
    frame_header_t header = {
        .version = 1, .kind = FRAME_KIND_CALL, .id = 1, .has_method = true, .method = SPAN ("register_actor")
    };
    frame_header_encode (&header, &head);
    register_actor_encode (request, &body);
    span_t frames [] = { SPAN (""), buffer_span (&head), buffer_span (&body) };
    assert_int_equal (port->table->socket_connect (broker, STAGE_BROKER, NULL), STATUS_OK);
    assert_int_equal (port->table->socket_send (broker, frames, 3), STATUS_OK);
    stage_run (s_stage, REALM_SECOND);
    port->table->socket_close (broker);
    buffer_fini (&head);
    buffer_fini (&body);
}

//  Enters the directory as server/cheat, with a socket of its own in the process of server/a.
static void
s_cheat_open (cheat_t *self)
{
    actor_t *server = stage_find (s_stage, "server/a");
    port_t *port = actor_port (server);
    socket_options_t options = { .kind = SOCKET_ROUTER, .on_message = s_on_cheat_message, .arg = self };
    self->socket = port->table->socket_open (port, &options, NULL);
    assert_int_equal (port->table->socket_bind (self->socket, "tcp://m1:*", NULL), STATUS_OK);
    register_actor_t request = { .entry = { .address = SPAN ("server/cheat"),
                                     .endpoint = span_from_string (port->table->socket_endpoint (self->socket)),
                                     .incarnation = 1,
                                     .state = ACTOR_STATE_ALIVE,
                                     .version = 1,
                                     .lease_ms = 3600000 } };
    s_cheat_register (&request);
}

//  Opens a stream to it, and gives it time.
static void
s_cheat_begin (cheat_t *self, uint64_t credit)
{
    s_begin ();
    s_cheat_open (self);
    replay_t request = { .to = 100 };
    stream_options_t options = {
        .on_item = s_on_item, .on_end = s_on_end, .credit = credit, .idle_timeout_ns = PORT_NEVER
    };
    stream_open (&s_client ()->stream, stage_find (s_stage, "client/0"), SPAN ("server/cheat"), &replay_message,
        &request, &options, NULL);
    stage_run (s_stage, REALM_SECOND);
}

static void
s_cheat_end (cheat_t *self)
{
    port_t *port = actor_port (stage_find (s_stage, "server/a"));
    port->table->socket_close (self->socket);
    stage_destroy (&s_stage);
}

//  ---- What becomes of the stream ------------------------------------------------------------------------------------

//  Items at these positions end the stream, however they come.
static void
s_check_cheat (const uint64_t *positions, size_t count, uint64_t credit, status_t status, uint64_t taken)
{
    for (cheat_way_t way = CHEAT_APART; way <= CHEAT_GATHERED; way++) {
        cheat_t cheat = { .way = way, .positions = positions, .count = count };
        s_cheat_begin (&cheat, credit);
        assert_int_equal (s_client ()->ended, 1);
        assert_int_equal (s_client ()->result, CALL_FAILED);
        assert_int_equal (s_client ()->status, status);
        assert_int_equal (s_client ()->expected, taken);
        assert_int_equal (cheat.cancels, 1);
        s_cheat_end (&cheat);
    }
}

static void
test_a_hole_in_a_stream_breaks_it (void **state)
{
    static const uint64_t hole [] = { 0, 2, 3 };
    static const uint64_t repeat [] = { 0, 1, 1 };
    s_check_cheat (hole, 3, 10, STATUS_GAP, 1);
    s_check_cheat (repeat, 3, 10, STATUS_GAP, 2);
}

//  The one item that shows it was looked at; what follows is not.
static void
test_items_beyond_the_credit_break_a_stream (void **state)
{
    static const uint64_t many [] = { 0, 1, 2, 3, 4 };
    s_check_cheat (many, 5, 2, STATUS_CORRUPT, 3);
}

static void
s_expect_malformed (void)
{
    buffer_t text = { 0 };
    actor_render_metrics (stage_find (s_stage, "client/0"), &text);
    assert_non_null (strstr (buffer_string (&text), "stator_bus_events_total{kind=\"malformed\"} 1\n"));
    buffer_fini (&text);
}

//  The callee is to blame, not what it was asked; where it may say more it is told to stop.
static void
test_a_message_that_breaks_its_schema_breaks_the_stream (void **state)
{
    static const frame_kind_t kinds [] = { FRAME_KIND_ITEM, FRAME_KIND_END, FRAME_KIND_ERROR };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cheat_t cheat = { .way = CHEAT_GARBLED, .garbled = kinds [i] };
        s_cheat_begin (&cheat, 10);
        assert_int_equal (s_client ()->ended, 1);
        assert_int_equal (s_client ()->result, CALL_FAILED);
        assert_int_equal (s_client ()->status, STATUS_CORRUPT);
        assert_true (cheat.cancels || kinds [i] != FRAME_KIND_ITEM);
        s_expect_malformed ();
        s_cheat_end (&cheat);
    }
}

//  Nobody knows whose they are: none is taken, the message is counted, and no stream of the peer waits for what was lost.
static void
test_what_cannot_be_read_breaks_the_streams_of_its_sender (void **state)
{
    static const uint64_t positions [] = { 0, 1, 2 };
    for (cheat_way_t way = CHEAT_LISTS; way <= CHEAT_RUINED; way++) {
        cheat_t cheat = { .way = way, .positions = positions, .count = 3 };
        s_cheat_begin (&cheat, 10);
        assert_int_equal (s_client ()->ended, 1);
        assert_int_equal (s_client ()->result, CALL_FAILED);
        assert_int_equal (s_client ()->status, STATUS_CORRUPT);
        assert_int_equal (s_client ()->expected, 0);
        assert_int_equal (cheat.cancels, 1);
        s_expect_malformed ();
        s_cheat_end (&cheat);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_hole_in_a_stream_breaks_it),
        cmocka_unit_test (test_items_beyond_the_credit_break_a_stream),
        cmocka_unit_test (test_a_message_that_breaks_its_schema_breaks_the_stream),
        cmocka_unit_test (test_what_cannot_be_read_breaks_the_streams_of_its_sender),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
