//  Headers and topics that are none.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "schemas/event.h"
#include "schemas/event_header.h"

static void
test_a_header_of_another_size_or_version_is_refused (void **state)
{
    uint8_t bytes [EVENT_HEADER_SIZE + 1] = { 0 };
    event_header_t header = { .version = EVENT_VERSION, .stream = STREAM_KV, .sequence = 1 };
    event_header_encode (&header, bytes);
    error_t error;
    assert_int_equal (event_header_decode (&header, span_of (bytes, EVENT_HEADER_SIZE), &error), STATUS_OK);
    assert_int_equal (event_header_decode (&header, span_of (bytes, EVENT_HEADER_SIZE - 1), &error), STATUS_INVALID);
    assert_string_equal (error.text, "an event header has 40 bytes, not 39");
    assert_int_equal (event_header_decode (&header, span_of (bytes, sizeof bytes), &error), STATUS_INVALID);
    bytes [0] = 2;
    assert_int_equal (event_header_decode (&header, span_of (bytes, EVENT_HEADER_SIZE), &error), STATUS_UNSUPPORTED);
    assert_string_equal (error.text, "event version 2 is not 1");
}

static void
test_a_number_that_no_batch_can_have_is_refused (void **state)
{
    static const struct {
        uint64_t sequence;    //  Of the batch
        status_t status;      //  What is said of it
    } cases [] = { { 0, STATUS_INVALID }, { 1, STATUS_OK }, { 9007199254740991, STATUS_OK },
        { 9007199254740992, STATUS_INVALID }, { UINT64_MAX, STATUS_INVALID } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes [EVENT_HEADER_SIZE];
        event_header_t header = { .version = EVENT_VERSION, .stream = STREAM_KV, .sequence = cases [i].sequence };
        event_header_encode (&header, bytes);
        assert_int_equal (event_header_decode (&header, span_of (bytes, sizeof bytes), NULL), cases [i].status);
    }
}

static void
test_a_topic_comes_apart_and_what_is_none_does_not (void **state)
{
    uint16_t stream = 0;
    span_t address = { 0 };
    assert_true (event_topic_parse (SPAN ("load.worker/h100.example.org-3."), &stream, &address));
    assert_int_equal (stream, STREAM_LOAD);
    assert_true (span_equal_string (address, "worker/h100.example.org-3"));

    static const char *const none [] = { "", ".", "kv", "kv.", "kv..", "kv.a", "kva.", ".a.", "future.a.", "KV.a." };
    for (size_t i = 0; i < sizeof none / sizeof none [0]; i++)
        assert_false (event_topic_parse (span_from_string (none [i]), &stream, &address));
    assert_int_equal (stream, STREAM_LOAD);
}

static void
test_a_topic_is_that_of_one_stream_and_address_only (void **state)
{
    assert_true (event_topic_is (SPAN ("kv.worker/a."), STREAM_KV, SPAN ("worker/a")));
    static const char *const others [] = { "", "kv.", "kv.worker/a", "kv.worker/b.", "kv.worker/ab.", "load.worker/a.",
        "kvx.orker/a.", "kv.worker/aa", "xx.worker/a." };
    for (size_t i = 0; i < sizeof others / sizeof others [0]; i++)
        assert_false (event_topic_is (span_from_string (others [i]), STREAM_KV, SPAN ("worker/a")));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_header_of_another_size_or_version_is_refused),
        cmocka_unit_test (test_a_number_that_no_batch_can_have_is_refused),
        cmocka_unit_test (test_a_topic_comes_apart_and_what_is_none_does_not),
        cmocka_unit_test (test_a_topic_is_that_of_one_stream_and_address_only),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
