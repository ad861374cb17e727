//  Bad input at a callee, from a socket that speaks no protocol.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/actor_private.h"
#include "runtime/directory.h"
#include "runtime/incoming.h"
#include "schemas/call.h"
#include "schemas/directory.h"
#include "schemas/event.h"
#include "tests/stage_broker.h"

//  ---- The callee: answers nothing, and waits for those who give no credit as the test says --------------------------

static incoming_watch_t s_watch;

static void
s_on_list (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
}

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

static void
s_on_replay (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    incoming_watch (incoming, &s_watch);
}

static const actor_handler_t s_server_handlers [] = {
    HANDLES_CALL (replay, s_on_replay),
    HANDLES_CALL (list_actors, s_on_list),
    HANDLERS_END,
};

static const actor_class_t s_server_class = { .name = "server", .state_size = 1, .handlers = s_server_handlers };

static const actor_handler_t s_client_handlers [] = { HANDLERS_END };

static const actor_class_t s_client_class = { .name = "client", .state_size = 1, .handlers = s_client_handlers };

//  ---- The stage -----------------------------------------------------------------------------------------------------

static stage_t *s_stage;

static void
s_begin (void)
{
    s_stage = stage_of_two (7, &s_server_class, &s_client_class);
}

static void
s_end (void)
{
    stage_destroy (&s_stage);
}

//  ---- The socket ----------------------------------------------------------------------------------------------------

typedef struct {
    port_socket_t *socket;    //  DEALER
    size_t replies;           //  Heard
    frame_kind_t kind;        //  Of the last one
    uint64_t id;              //  Of the last one
    status_t status;          //  Of the last error
} stranger_t;

static void
s_on_stranger_message (void *arg, const span_t *frames, size_t count)
{
    stranger_t *self = arg;
    frame_header_t header;
    call_error_t error = { 0 };
    assert_true (count >= 2);
    assert_int_equal (frame_header_decode (&header, frames [1], NULL, NULL), STATUS_OK);
    self->replies++;
    self->kind = header.kind;
    self->id = header.id;
    if (header.kind == FRAME_KIND_ERROR) {
        assert_int_equal (call_error_decode (&error, frames [2], NULL, NULL), STATUS_OK);
        self->status = (status_t)error.status;
    }
}

//  Borrows the port of the client's process for a socket of its own.
static void
s_stranger_open (stranger_t *self)
{
    actor_t *client = stage_find (s_stage, "client/0");
    port_t *port = actor_port (client);
    char endpoint [ENDPOINT_MAX];
    span_copy_string (directory_find (client, SPAN ("server/a"))->endpoint, endpoint, sizeof endpoint);
    socket_options_t options = { .kind = SOCKET_DEALER, .on_message = s_on_stranger_message, .arg = self };
    *self = (stranger_t){ .socket = port->table->socket_open (port, &options, NULL) };
    assert_non_null (self->socket);
    assert_int_equal (port->table->socket_connect (self->socket, endpoint, NULL), STATUS_OK);
}

static void
s_stranger_send (stranger_t *self, const span_t *frames, size_t count)
{
    port_t *port = actor_port (stage_find (s_stage, "client/0"));
    self->replies = 0;
    self->status = STATUS_OK;
    assert_int_equal (port->table->socket_send (self->socket, frames, count), STATUS_OK);
    stage_run (s_stage, REALM_SECOND / 10);
}

static span_t
s_header (buffer_t *out, frame_header_t header)
{
    buffer_clear (out);
    frame_header_encode (&header, out);
    return buffer_span (out);
}

static void
s_stranger_close (stranger_t *self)
{
    port_t *port = actor_port (stage_find (s_stage, "client/0"));
    port->table->socket_close (self->socket);
}

static void
s_check_refused (stranger_t *stranger, const span_t *frames, size_t count, uint64_t id, status_t status)
{
    s_stranger_send (stranger, frames, count);
    assert_int_equal (stranger->replies, 1);
    assert_int_equal (stranger->kind, FRAME_KIND_ERROR);
    assert_int_equal (stranger->id, id);
    assert_int_equal (stranger->status, status);
}

static void
test_bad_frames_get_an_error_and_harm_nobody (void **state)
{
    buffer_t bytes = { 0 };
    stranger_t stranger;
    s_begin ();
    s_stranger_open (&stranger);

    span_t junk [] = { SPAN ("junk") };
    s_check_refused (&stranger, junk, 1, 0, STATUS_INVALID);
    span_t no_header [] = { SPAN (""), SPAN ("\xdf\xff\xff\xff\xff") };
    s_check_refused (&stranger, no_header, 2, 0, STATUS_INVALID);

    frame_header_t call = {
        .version = 1, .kind = FRAME_KIND_CALL, .id = 9, .has_method = true, .method = SPAN ("ping")
    };
    frame_header_t future = call;
    future.version = 2;
    span_t frames [] = { SPAN (""), s_header (&bytes, future), SPAN ("\x80") };
    s_check_refused (&stranger, frames, 3, 9, STATUS_UNSUPPORTED);

    frame_header_t unknown = call;
    unknown.method = SPAN ("make_coffee");
    frames [1] = s_header (&bytes, unknown);
    s_check_refused (&stranger, frames, 3, 9, STATUS_NOT_FOUND);

    frame_header_t reply = call;
    reply.kind = FRAME_KIND_REPLY;
    frames [1] = s_header (&bytes, reply);
    s_check_refused (&stranger, frames, 3, 9, STATUS_INVALID);

    frames [1] = s_header (&bytes, call);
    frames [2] = SPAN ("\x81");
    s_check_refused (&stranger, frames, 3, 9, STATUS_INVALID);

    frames [2] = SPAN ("\x80");
    s_stranger_send (&stranger, frames, 3);
    assert_int_equal (stranger.kind, FRAME_KIND_REPLY);

    s_stranger_close (&stranger);
    buffer_fini (&bytes);
    s_end ();
}

//  One id names one call under way.
static void
test_an_id_that_is_taken_is_refused (void **state)
{
    buffer_t header = { 0 };
    buffer_t body = { 0 };
    stranger_t stranger;
    s_begin ();
    s_stranger_open (&stranger);
    frame_header_t call = {
        .version = 1, .kind = FRAME_KIND_CALL, .id = 3, .has_method = true, .method = SPAN ("list_actors")
    };
    list_actors_t request = { .has_service = true, .service = SPAN ("anything") };
    list_actors_encode (&request, &body);
    span_t frames [] = { SPAN (""), s_header (&header, call), buffer_span (&body) };
    s_stranger_send (&stranger, frames, 3);
    assert_int_equal (stranger.replies, 0);
    s_check_refused (&stranger, frames, 3, 3, STATUS_INVALID);
    s_stranger_close (&stranger);
    buffer_fini (&header);
    buffer_fini (&body);
    s_end ();
}

//  Its connection may have gone unnoticed while something was on its way.
static void
test_a_caller_that_says_nothing_more_is_given_up (void **state)
{
    enum { PATIENCE = 10 };
    for (int suffices = 0; suffices < 2; suffices++) {
        buffer_t header = { 0 }, body = { 0 };
        stranger_t stranger;
        s_watch = (incoming_watch_t){
            .on_cancel = s_on_cancel, .patience_ns = PATIENCE * REALM_SECOND, .probe_suffices = suffices
        };
        s_begin ();
        s_stranger_open (&stranger);
        replay_encode (&(replay_t){ 0 }, &body);
        frame_header_t call = {
            .version = 1, .kind = FRAME_KIND_CALL, .id = 3, .has_method = true, .method = SPAN ("replay")
        };
        span_t frames [] = { SPAN (""), s_header (&header, call), buffer_span (&body) };
        s_stranger_send (&stranger, frames, 3);
        frames [1] = s_header (&header, (frame_header_t){ .version = 1, .kind = FRAME_KIND_PROBE, .id = 3 });
        for (int i = 0; i < 2 * PATIENCE && !stranger.replies; i++) {
            s_stranger_send (&stranger, frames, 2);
            stage_run (s_stage, REALM_SECOND);
        }
        assert_int_equal (stranger.replies, !suffices);
        stage_run (s_stage, PATIENCE * REALM_SECOND);
        assert_int_equal (stranger.replies, 1);
        assert_int_equal (stranger.status, STATUS_DEADLINE);
        s_stranger_close (&stranger);
        buffer_fini (&header);
        buffer_fini (&body);
        s_end ();
    }
}

//  Somebody opens streams without end and gives them no credit: whoever calls is heard all the same.
static void
test_streams_leave_room_for_calls (void **state)
{
    enum { STREAMS = 75000, BATCH = 500 };
    buffer_t header = { 0 }, body = { 0 };
    stranger_t stranger;
    s_watch = (incoming_watch_t){ .on_cancel = s_on_cancel };
    s_begin ();
    s_stranger_open (&stranger);
    const port_table_t *table = actor_port (stage_find (s_stage, "client/0"))->table;
    replay_encode (&(replay_t){ 0 }, &body);
    frame_header_t call = { .version = 1, .kind = FRAME_KIND_CALL, .has_method = true, .method = SPAN ("replay") };
    for (call.id = 1; call.id <= STREAMS; call.id++) {
        span_t frames [] = { SPAN (""), s_header (&header, call), buffer_span (&body) };
        assert_int_equal (table->socket_send (stranger.socket, frames, 3), STATUS_OK);
        if (call.id % BATCH == 0)
            stage_run (s_stage, REALM_SECOND / 10);
    }
    assert_int_equal (stranger.replies, 0);
    span_t frames [] = { SPAN (""), s_header (&header, call), buffer_span (&body) };
    s_check_refused (&stranger, frames, 3, call.id, STATUS_LIMIT);
    call.method = SPAN ("ping");
    frames [1] = s_header (&header, call);
    frames [2] = SPAN ("\x80");
    s_stranger_send (&stranger, frames, 3);
    assert_int_equal (stranger.kind, FRAME_KIND_REPLY);
    s_stranger_close (&stranger);
    buffer_fini (&header);
    buffer_fini (&body);
    s_end ();
}

//  What its socket sheds is counted, and never looked at closely, whatever it is.
static void
test_what_is_shed_is_counted (void **state)
{
    buffer_t bytes = { 0 };
    s_begin ();
    actor_t *server = stage_find (s_stage, "server/a");
    frame_header_t call = {
        .version = 1, .kind = FRAME_KIND_CALL, .id = 9, .has_method = true, .method = SPAN ("list_actors")
    };
    span_t frames [] = { SPAN ("peer"), SPAN (""), s_header (&bytes, call), SPAN ("no body at all") };
    incoming_refuse_shed (server, frames, 4);
    frames [2] = SPAN ("no header");
    incoming_refuse_shed (server, frames, 4);
    incoming_refuse_shed (server, frames, 1);
    assert_int_equal (metric_value (server->counts [COUNT_OVERLOADED]), 3);
    assert_int_equal (metric_value (server->counts [COUNT_BAD_REQUEST]), 0);
    assert_int_equal (metric_value (server->counts [COUNT_MALFORMED]), 0);
    buffer_fini (&bytes);
    s_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_bad_frames_get_an_error_and_harm_nobody),
        cmocka_unit_test (test_an_id_that_is_taken_is_refused),
        cmocka_unit_test (test_what_is_shed_is_counted),
        cmocka_unit_test (test_streams_leave_room_for_calls),
        cmocka_unit_test (test_a_caller_that_says_nothing_more_is_given_up),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
