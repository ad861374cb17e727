//  schemas/vectors.json through the C codec: bytes to JSON, JSON to bytes, and every way to cut the bytes short.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "schemas/batch.h"
#include "schemas/event_header.h"
#include "schemas/vectors_test.h"

static json_t *vectors;    //  The whole file
static arena_t arena;      //  Of one message at a time

static int
s_set_up (void **state)
{
    vectors = vectors_read ();
    arena_init (&arena, 1 << 20);
    return 0;
}

static int
s_tear_down (void **state)
{
    json_destroy (&vectors);
    arena_fini (&arena);
    return 0;
}

//  JSON of ours, through the reader, so that only what is said counts and not how it is escaped.
static void
s_assert_same_json (const json_t *expected, const buffer_t *json)
{
    buffer_t left = { 0 }, right = { 0 };
    json_t *tree = NULL;
    error_t error = { 0 };
    if (json_parse (buffer_span (json), &tree, &error))
        fail_msg ("%s", error.text);
    json_render (expected, &left);
    json_render (tree, &right);
    assert_string_equal (buffer_string (&right), buffer_string (&left));
    json_destroy (&tree);
    buffer_fini (&left);
    buffer_fini (&right);
}

static void
s_assert_reads_as (const message_type_t *type, span_t bytes, const json_t *expected)
{
    error_t error = { 0 };
    void *message = memory_new (type->size);
    buffer_t json = { 0 };
    if (message_decode (type, bytes, &arena, message, &error))
        fail_msg ("%s", error.text);
    message_to_json (type, message, &json);
    s_assert_same_json (expected, &json);
    assert_int_equal (message_check (type, message, &error), STATUS_OK);
    buffer_fini (&json);
    memory_free (message);
    arena_clear (&arena);
}

static void
test_bytes_read_as_the_json (void **state)
{
    const json_t *messages = json_get (vectors, "messages");
    for (size_t i = 0; i < json_count (messages); i++) {
        const json_t *vector = json_at (messages, i);
        buffer_t bytes = vector_bytes (vector);
        s_assert_reads_as (vector_type (vector), buffer_span (&bytes), json_get (vector, "json"));
        buffer_fini (&bytes);
    }
}

static void
test_the_json_is_written_as_the_bytes (void **state)
{
    const json_t *messages = json_get (vectors, "messages");
    for (size_t i = 0; i < json_count (messages); i++) {
        const json_t *vector = json_at (messages, i);
        const message_type_t *type = vector_type (vector);
        buffer_t expected = vector_bytes (vector), json = { 0 }, bytes = { 0 };
        void *message = memory_new (type->size);
        error_t error = { 0 };
        json_render (json_get (vector, "json"), &json);
        if (message_from_json (type, buffer_span (&json), &arena, message, &error))
            fail_msg ("%s", error.text);
        message_encode (type, message, &bytes);
        assert_int_equal (bytes.size, expected.size);
        assert_memory_equal (bytes.data, expected.data, expected.size);
        memory_free (message);
        arena_clear (&arena);
        buffer_fini (&expected);
        buffer_fini (&json);
        buffer_fini (&bytes);
    }
}

static void
test_every_message_has_a_vector (void **state)
{
    const json_t *messages = json_get (vectors, "messages");
    size_t found = 0;
    for (size_t i = 0; i < message_count (); i++)
        for (size_t j = 0; j < json_count (messages); j++)
            if (vector_type (json_at (messages, j)) == message_at (i)) {
                found++;
                break;
            }
    assert_int_equal (found, message_count ());
}

//  No beginning of a message is a message, and no message bears a byte behind it.
static void
test_neither_less_nor_more_than_a_message_is_read (void **state)
{
    const json_t *messages = json_get (vectors, "messages");
    for (size_t i = 0; i < json_count (messages); i++) {
        const message_type_t *type = vector_type (json_at (messages, i));
        buffer_t bytes = vector_bytes (json_at (messages, i));
        void *message = memory_new (type->size);
        for (size_t size = 0; size < bytes.size; size++) {
            //  A copy of its own size, so that a sanitizer sees a read past its end.
            char *cut = memory_copy (bytes.data, size);
            assert_int_equal (message_decode (type, span_of (cut, size), &arena, message, NULL), STATUS_INVALID);
            arena_clear (&arena);
            memory_free (cut);
        }
        buffer_append_byte (&bytes, 0xc0);
        error_t error;
        assert_int_equal (message_decode (type, buffer_span (&bytes), &arena, message, &error), STATUS_INVALID);
        assert_non_null (strstr (error.text, "1 bytes stand behind the message"));
        arena_clear (&arena);
        memory_free (message);
        buffer_fini (&bytes);
    }
}

static void
test_batches_are_read_and_unknown_kinds_stepped_over (void **state)
{
    const json_t *batches = json_get (vectors, "batches");
    assert_int_equal (json_count (batches), 4);
    for (size_t i = 0; i < json_count (batches); i++) {
        const json_t *events = json_get (json_at (batches, i), "events");
        buffer_t payload = vector_bytes (json_at (batches, i));
        batch_reader_t reader;
        batch_reader_init (
            &reader, stream_find (json_string (json_get (json_at (batches, i), "stream"))), buffer_span (&payload));
        const message_type_t *type;
        span_t bytes;
        size_t count = 0;
        for (; batch_reader_next (&reader, &type, &bytes, NULL); count++) {
            const json_t *event = json_at (events, count);
            assert_ptr_equal (type, event ? vector_type (event) : NULL);
            if (type)
                s_assert_reads_as (type, bytes, json_get (event, "json"));
        }
        assert_int_equal (reader.status, STATUS_OK);
        assert_int_equal (count, json_count (events));
        buffer_fini (&payload);
    }
}

static uint64_t
s_number (const json_t *object, const char *name)
{
    uint64_t value = 0;
    assert_true (json_to_u64 (json_get (object, name), &value));
    return value;
}

static void
test_headers_have_these_bytes (void **state)
{
    const json_t *headers = json_get (vectors, "headers");
    for (size_t i = 0; i < json_count (headers); i++) {
        const json_t *json = json_get (json_at (headers, i), "json");
        buffer_t bytes = vector_bytes (json_at (headers, i));
        event_header_t header;
        assert_int_equal (event_header_decode (&header, buffer_span (&bytes), NULL), STATUS_OK);
        assert_true (header.version == s_number (json, "version") && header.flags == s_number (json, "flags"));
        assert_true (header.stream == s_number (json, "stream") && header.source == s_number (json, "source"));
        assert_true (header.incarnation == s_number (json, "incarnation"));
        assert_true (header.sequence == s_number (json, "sequence") && header.wall_ns == s_number (json, "wall_ns"));
        uint8_t again [EVENT_HEADER_SIZE];
        event_header_encode (&header, again);
        assert_memory_equal (again, bytes.data, EVENT_HEADER_SIZE);
        buffer_fini (&bytes);
    }
}

static void
test_addresses_have_these_numbers_and_topics (void **state)
{
    const json_t *addresses = json_get (vectors, "addresses");
    for (size_t i = 0; i < json_count (addresses); i++) {
        const json_t *json = json_at (addresses, i);
        span_t address = json_string (json_get (json, "address"));
        buffer_t topic = { 0 };
        assert_true (event_source (address) == s_number (json, "source"));
        event_topic_append (&topic, stream_find (json_string (json_get (json, "stream"))), address);
        assert_true (span_equal (buffer_span (&topic), json_string (json_get (json, "topic"))));
        buffer_fini (&topic);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_bytes_read_as_the_json),
        cmocka_unit_test (test_the_json_is_written_as_the_bytes),
        cmocka_unit_test (test_every_message_has_a_vector),
        cmocka_unit_test (test_neither_less_nor_more_than_a_message_is_read),
        cmocka_unit_test (test_batches_are_read_and_unknown_kinds_stepped_over),
        cmocka_unit_test (test_headers_have_these_bytes),
        cmocka_unit_test (test_addresses_have_these_numbers_and_topics),
    };
    return cmocka_run_group_tests (tests, s_set_up, s_tear_down);
}
