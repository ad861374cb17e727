//  Messages there and back, and what a reader refuses.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "schemas/directory.h"
#include "schemas/kv.h"
#include "schemas/message.h"
#include "schemas/route.h"

static void
test_a_call_comes_back_as_it_was (void **state)
{
    buffer_t packed = { 0 };
    column_pack_hash128 (&packed, (hash128_t){ 1, 2 });
    column_pack_hash128 (&packed, (hash128_t){ 3, 4 });
    span_t exclude [] = { SPAN ("worker/a"), SPAN ("worker/b") };
    route_t sent = {
        .request = SPAN ("r1"),
        .model = SPAN ("tiny"),
        .fingerprint = UINT64_MAX,
        .hashes = column_of_hash128 (buffer_span (&packed)),
        .prompt_tokens = 130,
        .exclude = exclude,
        .exclude_count = 2,
        .has_envelope = true,
        .envelope = { .has_priority = true, .priority = -5, .has_final = true, .final = true },
    };
    buffer_t bytes = { 0 };
    route_encode (&sent, &bytes);

    arena_t arena;
    arena_init (&arena, 4096);
    error_t error;
    route_t got;
    assert_int_equal (route_decode (&got, buffer_span (&bytes), &arena, &error), STATUS_OK);
    assert_true (span_equal_string (got.request, "r1"));
    assert_true (got.fingerprint == UINT64_MAX);
    assert_int_equal (got.hashes.count, 2);
    assert_int_equal (column_hash128 (got.hashes, 1).low, 4);
    assert_false (got.has_max_tokens);
    assert_int_equal (got.exclude_count, 2);
    assert_true (span_equal_string (got.exclude [1], "worker/b"));
    assert_true (got.has_envelope && got.envelope.has_priority && got.envelope.final);
    assert_int_equal (got.envelope.priority, -5);
    assert_false (got.envelope.has_session);

    arena_fini (&arena);
    buffer_fini (&bytes);
    buffer_fini (&packed);
}

static void
test_a_missing_field_is_named (void **state)
{
    error_t error;
    heartbeat_reply_t got;
    //  {"k": true}
    status_t status = heartbeat_reply_decode (&got, SPAN ("\x81\xa1k\xc3"), NULL, &error);
    assert_int_equal (status, STATUS_INVALID);
    assert_string_equal (error.text, "heartbeat_reply: broker_incarnation is missing");
}

static void
test_json_leads_there_and_back (void **state)
{
    static const char text [] = "{\"overlaps\":[{\"owner\":\"worker/a\",\"rank\":1,\"tier\":\"disk\",\"blocks\":7}]}";
    arena_t arena;
    arena_init (&arena, 4096);
    error_t error;
    match_prefix_reply_t reply;
    assert_int_equal (message_from_json (&match_prefix_reply_message, SPAN (text), &arena, &reply, &error), STATUS_OK);
    assert_int_equal (reply.overlaps [0].tier, TIER_DISK);
    buffer_t out = { 0 };
    message_to_json (&match_prefix_reply_message, &reply, &out);
    assert_string_equal (buffer_string (&out), text);
    buffer_fini (&out);
    arena_fini (&arena);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_call_comes_back_as_it_was),
        cmocka_unit_test (test_a_missing_field_is_named),
        cmocka_unit_test (test_json_leads_there_and_back),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
