//  A response in pieces says what the whole one says, in the order and shape that OpenAI's clients insist on.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/frontend/chat_writer.h"
#include "base/json.h"

static void
s_begin (chat_writer_t *writer, bool include_usage)
{
    chat_identity_t identity = { .id = SPAN ("chatcmpl-1"),
        .model = SPAN ("m\"x"),
        .created_s = 1700000000,
        .fingerprint = 0xabc,
        .include_usage = include_usage };
    chat_writer_init (writer, &identity);
}

//  The object of the event at the start of *text, which moves on.
static json_t *
s_take_event (span_t *text)
{
    json_t *tree = NULL;
    assert_true (span_starts_with (*text, SPAN ("data: ")));
    size_t size = span_find_byte (*text, '\n');
    assert_int_equal (json_parse (span_slice (*text, 6, size - 6), &tree, NULL), STATUS_OK);
    assert_true (span_starts_with (span_slice (*text, size, text->size), SPAN ("\n\n")));
    *text = span_slice (*text, size + 2, text->size);
    assert_true (span_equal (json_string (json_get (tree, "object")), SPAN ("chat.completion.chunk")));
    assert_true (span_equal (json_string (json_get (tree, "id")), SPAN ("chatcmpl-1")));
    assert_true (span_equal (json_string (json_get (tree, "model")), SPAN ("m\"x")));
    return tree;
}

static const json_t *
s_choice (const json_t *tree)
{
    return json_at (json_get (tree, "choices"), 0);
}

static void
test_pieces_come_in_order_and_shape (void **state)
{
    chat_writer_t writer;
    buffer_t out = { 0 };
    s_begin (&writer, true);
    chat_write_role (&writer, &out);
    chat_write_text (&writer, SPAN ("a\n\"\xe2\x82\xac"), &out);
    chat_write_finish (&writer, "length", &out);
    chat_write_usage (&writer, &(usage_t){ .prompt = 7, .cached = 4, .completion = 2 }, &out);
    chat_write_done (&out);

    span_t text = buffer_span (&out);
    json_t *role = s_take_event (&text);
    assert_true (span_equal (json_string (json_get_path (s_choice (role), "delta.role")), SPAN ("assistant")));
    json_t *piece = s_take_event (&text);
    assert_true (
        span_equal (json_string (json_get_path (s_choice (piece), "delta.content")), SPAN ("a\n\"\xe2\x82\xac")));
    assert_null (json_get (s_choice (piece), "finish_reason"));
    json_t *finish = s_take_event (&text);
    assert_true (span_equal (json_string (json_get (s_choice (finish), "finish_reason")), SPAN ("length")));
    json_t *usage = s_take_event (&text);
    assert_int_equal (json_kind (json_get (usage, "choices")), JSON_ARRAY);
    assert_int_equal (json_count (json_get (usage, "choices")), 0);
    int64_t total = 0, cached = 0;
    assert_true (json_to_i64 (json_get_path (usage, "usage.total_tokens"), &total) && total == 9);
    assert_true (
        json_to_i64 (json_get_path (usage, "usage.prompt_tokens_details.cached_tokens"), &cached) && cached == 4);
    assert_true (span_equal (text, SPAN ("data: [DONE]\n\n")));
    json_destroy (&role);
    json_destroy (&piece);
    json_destroy (&finish);
    json_destroy (&usage);
    buffer_fini (&out);
    chat_writer_fini (&writer);
}

//  "usage" is there, and null, only where it was asked for.
static void
test_usage_is_mentioned_only_where_it_was_asked_for (void **state)
{
    for (int asked = 0; asked < 2; asked++) {
        chat_writer_t writer;
        buffer_t out = { 0 };
        s_begin (&writer, asked);
        chat_write_text (&writer, SPAN ("x"), &out);
        assert_int_equal (strstr (buffer_string (&out), "\"usage\":null") != NULL, asked);
        buffer_fini (&out);
        chat_writer_fini (&writer);
    }
}

static void
test_the_whole_is_one_object (void **state)
{
    chat_writer_t writer;
    buffer_t out = { 0 };
    json_t *tree = NULL;
    s_begin (&writer, false);
    chat_write_completion (
        &writer, &(chat_said_t){ .text = SPAN ("hi\t") }, "stop", &(usage_t){ .prompt = 3, .completion = 1 }, &out);
    assert_int_equal (json_parse (buffer_span (&out), &tree, NULL), STATUS_OK);
    assert_true (span_equal (json_string (json_get (tree, "object")), SPAN ("chat.completion")));
    assert_true (span_equal (json_string (json_get_path (s_choice (tree), "message.content")), SPAN ("hi\t")));
    assert_true (span_equal (json_string (json_get (s_choice (tree), "finish_reason")), SPAN ("stop")));
    json_destroy (&tree);
    buffer_fini (&out);
    chat_writer_fini (&writer);
}

static void
test_an_error_says_type_param_and_code (void **state)
{
    api_error_t error = { 0 };
    buffer_t out = { 0 };
    api_error_set (&error, API_UNSUPPORTED, "n", "no \"%s\"", "n");
    chat_write_error (&error, &out);
    assert_string_equal (buffer_string (&out),
        "data: {\"error\":{\"message\":\"no \\\"n\\\"\",\"type\":\"invalid_request_error\",\"param\":\"n\","
        "\"code\":\"unsupported_parameter\"}}\n\n");
    buffer_fini (&out);
}

static void
test_a_refusal_of_the_server_has_the_same_shape (void **state)
{
    buffer_t out = { 0 };
    assert_string_equal (api_error_render_refusal (413, "the request body is too large", &out), "application/json");
    assert_string_equal (buffer_string (&out),
        "{\"error\":{\"message\":\"The request was refused: the request body is too large.\",\"type\":"
        "\"invalid_request_error\",\"param\":null,\"code\":null}}");
    buffer_fini (&out);
}

//  Every row is complete: a status that HTTP knows as an error, a type, a name of its own.
static void
test_the_error_table_is_whole (void **state)
{
    for (api_error_kind_t kind = API_OK + 1; kind < API_ERROR_COUNT; kind++) {
        const api_error_row_t *row = api_error_row (kind);
        assert_true (row->status >= 400 && row->status < 600);
        assert_true (row->type [0] && row->name [0]);
        for (api_error_kind_t other = API_OK; other < kind; other++)
            assert_string_not_equal (row->name, api_error_row (other)->name);
        assert_true ((row->status == 503 || row->status == 529) <= (row->retry_after > 0));
    }
    for (status_t status = STATUS_INVALID; status < STATUS_COUNT; status++)
        assert_true (api_error_row (api_error_from_status (status))->status >= 400);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_pieces_come_in_order_and_shape),
        cmocka_unit_test (test_usage_is_mentioned_only_where_it_was_asked_for),
        cmocka_unit_test (test_the_whole_is_one_object),
        cmocka_unit_test (test_an_error_says_type_param_and_code),
        cmocka_unit_test (test_a_refusal_of_the_server_has_the_same_shape),
        cmocka_unit_test (test_the_error_table_is_whole),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
