//  What is larger than a message may be is not sent: whoever wanted it sent, or waits for it, hears so, and what is beside it
//  on the same connection goes on.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/call.h"
#include "runtime/incoming.h"
#include "runtime/stream.h"
#include "schemas/directory.h"
#include "schemas/event.h"
#include "tests/stage_broker.h"

enum { FIELD_MAX = 64 << 20, TOO_LARGE = 66 << 20 };

//  ---- A call that is as large as one may be, and so is its answer ---------------------------------------------------

typedef struct {
    span_t bytes;    //  Of either
} blob_t;

static const message_field_t s_blob_field = {
    .name = "bytes", .key = "b", .kind = FIELD_BIN, .max = FIELD_MAX, .doc = "Anything"
};

static const message_type_t s_blob_reply = {
    .name = "blob_reply", .kind = MESSAGE_REPLY, .size = sizeof (blob_t), .fields = &s_blob_field, .field_count = 1
};

static const message_type_t blob_message = { .name = "blob",
    .kind = MESSAGE_CALL,
    .size = sizeof (blob_t),
    .fields = &s_blob_field,
    .field_count = 1,
    .reply = &s_blob_reply };

//  ---- Who answers: with as many bytes as the request's number says --------------------------------------------------

typedef struct {
    incoming_t *held;      //  A stream of which an item was sent; NULL: none
    size_t cancels;        //  Heard
    size_t answer_size;    //  Bytes of its next answer
    keeper_t keeper;       //  Of the last request,
    span_t request;        //  which is there
} server_t;

static uint8_t *s_bytes;    //  TOO_LARGE of them
static stage_t *s_stage;

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    server_t *self = arg;
    self->cancels++;
    self->held = NULL;
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

static void
s_on_list (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const list_actors_t *request = message;
    uint64_t size;
    assert_true (span_to_u64 (request->service, &size));
    actor_entry_t entry = { .has_card = true, .card = span_of (s_bytes, size), .state = ACTOR_STATE_ALIVE };
    incoming_reply (incoming, &(list_actors_reply_t){ .actors = &entry, .actors_count = 1 });
}

//  Keeps what it was asked, and encodes what it says before it says it.
static void
s_on_blob (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    server_t *self = self_;
    buffer_t encoded = { 0 };
    self->request = ((const blob_t *)message)->bytes;
    self->keeper = incoming_keep (incoming);
    blob_t reply = { .bytes = span_of (s_bytes, self->answer_size) };
    message_encode (&s_blob_reply, &reply, &encoded);
    incoming_reply_encoded (incoming, &encoded);
    assert_null (encoded.data);
}

static void
s_on_replay (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    server_t *self = self_;
    replayed_batch_t item = { .payload = span_of (s_bytes, ((const replay_t *)message)->to) };
    self->held = incoming;
    incoming_watch (incoming, &(incoming_watch_t){ .on_cancel = s_on_cancel, .arg = self });
    incoming_send (incoming, 1, &item);
    if (item.payload.size < TOO_LARGE)
        incoming_end (incoming, &(replay_end_t){ 0 });
}

static const actor_handler_t s_server_handlers [] = {
    HANDLES_CALL (list_actors, s_on_list),
    HANDLES_CALL (blob, s_on_blob),
    HANDLES_CALL (replay, s_on_replay),
    HANDLERS_END,
};

static const actor_class_t s_server_class = {
    .name = "server", .state_size = sizeof (server_t), .handlers = s_server_handlers
};

//  ---- Who asks ------------------------------------------------------------------------------------------------------

typedef struct {
    call_t calls [2];     //  Under way
    stream_t stream;      //  Under way
    size_t done;          //  Calls and streams that are over
    uint64_t received;    //  Bytes of items
    keeper_t keeper;      //  Of the last answer,
    span_t answer;        //  which is there
    status_t status;      //  Of the last one; OK: answered
    char text [128];      //  Its sentence
} client_t;

static void
s_note (client_t *self, call_result_t result, const error_t *error)
{
    self->done++;
    self->status = result == CALL_REPLIED ? STATUS_OK : error->status;
    snprintf (self->text, sizeof self->text, "%s", result == CALL_REPLIED ? "" : error->text);
}

static void
s_on_done (void *self, void *arg, call_result_t result, const void *reply)
{
    s_note (self, result, call_error (arg));
}

static void
s_on_blob_reply (void *self_, void *arg, call_result_t result, const void *reply)
{
    client_t *self = self_;
    s_note (self, result, call_error (arg));
    self->answer = reply ? ((const blob_t *)reply)->bytes : SPAN ("");
    self->keeper = call_keep (stage_find (s_stage, "client/0"));
}

static uint64_t
s_on_item (void *self, void *arg, uint64_t position, const void *item)
{
    ((client_t *)self)->received += ((const replayed_batch_t *)item)->payload.size;
    return 1;
}

static void
s_on_end (void *self_, void *arg, call_result_t result, const void *end)
{
    client_t *self = self_;
    s_note (self, result, stream_error (&self->stream));
}

static const actor_handler_t s_client_handlers [] = { HANDLERS_END };

static const actor_class_t s_client_class = {
    .name = "client", .state_size = sizeof (client_t), .handlers = s_client_handlers
};

//  ---- The stage -----------------------------------------------------------------------------------------------------

static client_t *
s_client (void)
{
    return actor_state (stage_find (s_stage, "client/0"));
}

static int
s_begin (void **state)
{
    s_bytes = memory_new (TOO_LARGE);
    s_stage = stage_of_two (7, &s_server_class, &s_client_class);
    return 0;
}

static int
s_end (void **state)
{
    stage_destroy (&s_stage);
    memory_free (s_bytes);
    return 0;
}

static void
s_call (call_t *call, span_t service)
{
    list_actors_t request = { .has_service = true, .service = service };
    call_start (call, stage_find (s_stage, "client/0"),
        &(call_options_t){ .address = SPAN ("server/a"),
            .type = &list_actors_message,
            .request = &request,
            .timeout_ns = REALM_SECOND,
            .done = s_on_done,
            .arg = call });
}

static server_t *
s_server (void)
{
    return actor_state (stage_find (s_stage, "server/a"));
}

//  Asks for an answer of so many bytes, with a request that is encoded before it is given.
static void
s_call_encoded (span_t callee, size_t size, size_t answer_size)
{
    call_t *call = &s_client ()->calls [0];
    blob_t request = { .bytes = span_of (s_bytes, size) };
    buffer_t encoded = { 0 };
    s_server ()->answer_size = answer_size;
    message_encode (&blob_message, &request, &encoded);
    call_start (call, stage_find (s_stage, "client/0"),
        &(call_options_t){ .address = callee,
            .type = &blob_message,
            .encoded = &encoded,
            .timeout_ns = REALM_SECOND,
            .done = s_on_blob_reply,
            .arg = call });
    assert_null (encoded.data);
}

static void
s_open (uint64_t item_bytes)
{
    replay_t request = { .to = item_bytes };
    stream_options_t options = {
        .on_item = s_on_item, .on_end = s_on_end, .credit = 10, .idle_timeout_ns = REALM_SECOND
    };
    stream_open (&s_client ()->stream, stage_find (s_stage, "client/0"), SPAN ("server/a"), &replay_message, &request,
        &options, NULL);
}

//  What has happened, and how often `address` counted something that was too large.
static void
s_expect (size_t done, status_t status, const char *text, const char *address, int64_t counted)
{
    stage_run (s_stage, REALM_SECOND / 2);
    assert_int_equal (s_client ()->done, done);
    assert_int_equal (s_client ()->status, status);
    assert_string_equal (s_client ()->text, text);
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    while (metrics_next (actor_metrics (stage_find (s_stage, address)), &cursor, &name, &labels, &value))
        if (strcmp (labels, "kind=\"too_large\"") == 0)
            assert_int_equal (value, counted);
}

//  ---- Stories -------------------------------------------------------------------------------------------------------

static void
test_a_request_that_is_too_large_is_refused_where_it_is_made (void **state)
{
    s_call (&s_client ()->calls [0], span_of (s_bytes, TOO_LARGE));
    assert_int_equal (s_client ()->done, 0);
    s_expect (
        1, STATUS_INVALID, "list_actors of 69206024 bytes was not sent: a message has at most 68157440", "client/0", 1);
    s_call (&s_client ()->calls [0], SPAN ("1"));
    s_expect (2, STATUS_OK, "", "client/0", 1);
}

//  The call beside it has its answer.
static void
test_an_answer_that_is_too_large_becomes_an_error (void **state)
{
    s_call (&s_client ()->calls [0], SPAN ("69206016"));
    s_expect (1, STATUS_INVALID, "list_actors_reply of 69206066 bytes was not sent: a message has at most 68157440",
        "server/a", 1);
    s_call (&s_client ()->calls [1], SPAN ("1"));
    s_expect (2, STATUS_OK, "", "server/a", 1);
}

//  Whoever sends the stream is told that nobody waits any more.
static void
test_an_item_that_is_too_large_ends_its_stream (void **state)
{
    s_open (TOO_LARGE);
    s_expect (1, STATUS_INVALID, "replayed_batch of 69206024 bytes was not sent: a message has at most 68157440",
        "server/a", 1);
    assert_true (s_server ()->cancels == 1 && !s_server ()->held);
    assert_int_equal (s_client ()->received, 0);
}

//  What is encoded before it is given is bounded as any other, and goes the same ways.
static void
test_what_is_encoded_already_is_refused_likewise (void **state)
{
    s_call_encoded (SPAN ("server/a"), 1, 1);
    s_expect (1, STATUS_OK, "", "client/0", 0);
    s_call_encoded (SPAN ("server/a"), TOO_LARGE, 1);
    s_expect (2, STATUS_INVALID, "blob of 69206024 bytes was not sent: a message has at most 68157440", "client/0", 1);
    s_call_encoded (SPAN ("server/a"), 1, TOO_LARGE);
    s_expect (
        3, STATUS_INVALID, "blob_reply of 69206024 bytes was not sent: a message has at most 68157440", "server/a", 1);
    s_call_encoded (SPAN ("server/a"), FIELD_MAX, FIELD_MAX);
    s_expect (4, STATUS_OK, "", "server/a", 1);
    keeper_release (&s_server ()->keeper);
    keeper_release (&s_client ()->keeper);
    s_call_encoded (SPAN ("nobody/0"), SOCKET_KEEP_MIN, 1);
    s_expect (5, STATUS_UNREACHABLE, "nobody/0 is not known in the directory", "server/a", 1);
}

//  What is large stays where it arrived, for whoever keeps it beyond call and answer; what is small is copied.
static void
test_large_requests_and_answers_may_be_kept (void **state)
{
    enum { SIZE = 200000 };
    s_call_encoded (SPAN ("server/a"), 1, 1);
    s_expect (1, STATUS_OK, "", "server/a", 0);
    assert_null (s_server ()->keeper.release);
    assert_null (s_client ()->keeper.release);
    assert_null (call_keep (stage_find (s_stage, "client/0")).release);
    memset (s_bytes, 'x', SIZE);
    s_call_encoded (SPAN ("server/a"), SIZE, SIZE);
    s_expect (2, STATUS_OK, "", "server/a", 0);
    assert_non_null (s_server ()->keeper.release);
    assert_true (span_equal (s_server ()->request, span_of (s_bytes, SIZE)));
    assert_true (span_equal (s_client ()->answer, span_of (s_bytes, SIZE)));
    keeper_release (&s_server ()->keeper);
    keeper_release (&s_client ()->keeper);
}

static void
test_the_largest_field_passes (void **state)
{
    s_open (FIELD_MAX);
    s_expect (1, STATUS_OK, "", "server/a", 0);
    assert_int_equal (s_client ()->received, FIELD_MAX);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_a_request_that_is_too_large_is_refused_where_it_is_made, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_an_answer_that_is_too_large_becomes_an_error, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_an_item_that_is_too_large_ends_its_stream, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_what_is_encoded_already_is_refused_likewise, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_large_requests_and_answers_may_be_kept, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_the_largest_field_passes, s_begin, s_end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
