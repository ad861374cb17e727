//  The wire, on what a real server sent.

#include "workers/llamacpp/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "workers/sse.h"

static void
s_read_file (const char *name, buffer_t *out)
{
    char path [256];
    snprintf (path, sizeof path, "tests/data/engines/llama-server/%s", name);
    FILE *file = fopen (path, "rb");
    assert_non_null (file);
    for (size_t size; (size = fread (buffer_reserve (out, 4096), 1, 4096, file)) > 0;)
        buffer_commit (out, size);
    fclose (file);
}

//  A stream as the adapter takes it in.
typedef struct {
    wire_chunk_t chunk;    //  The last one
    array_t tokens;        //  uint32_t
    buffer_t text;         //  Their bytes
    size_t sizes;          //  Sum of the sizes
    size_t progress;       //  Chunks about the prompt
} heard_t;

static bool
s_on_event (void *arg, span_t type, span_t data)
{
    heard_t *heard = arg;
    assert_int_equal (wire_read_chunk (&heard->chunk, data, NULL), STATUS_OK);
    assert_int_equal (heard->chunk.tokens.count, heard->chunk.sizes.count);
    array_append (&heard->tokens, heard->chunk.tokens.data, heard->chunk.tokens.count);
    buffer_append (&heard->text, buffer_span (&heard->chunk.text));
    for (size_t i = 0; i < heard->chunk.sizes.count; i++)
        heard->sizes += *(uint32_t *)array_at (&heard->chunk.sizes, i);
    heard->progress += heard->chunk.has_progress;
    return true;
}

static void
s_hear (heard_t *heard, const char *name)
{
    buffer_t file = { 0 };
    sse_t sse;
    memset (heard, 0, sizeof *heard);
    wire_chunk_init (&heard->chunk);
    array_init (&heard->tokens, sizeof (uint32_t));
    s_read_file (name, &file);
    sse_init (&sse, 1 << 20);
    assert_int_equal (sse_feed (&sse, buffer_span (&file), s_on_event, heard, NULL), STATUS_OK);
    assert_true (heard->chunk.stop);
    assert_int_equal (heard->sizes, heard->text.size);
    sse_fini (&sse);
    buffer_fini (&file);
}

static void
s_forget (heard_t *heard)
{
    wire_chunk_fini (&heard->chunk);
    array_fini (&heard->tokens);
    buffer_fini (&heard->text);
}

static void
test_a_recorded_stream (void **state)
{
    static const uint32_t expected [] = { 385, 328, 432, 358, 394, 261, 370, 268 };
    heard_t heard;
    s_hear (&heard, "stream.sse");
    assert_int_equal (heard.tokens.count, 8);
    assert_memory_equal (heard.tokens.data, expected, sizeof expected);
    assert_string_equal (buffer_string (&heard.text), " One day, she saw a big b");
    assert_int_equal (heard.chunk.reason, FINISH_REASON_LENGTH);
    assert_int_equal (heard.chunk.prompt_tokens, 38);
    assert_int_equal (heard.chunk.predicted, 8);
    assert_int_equal (heard.chunk.in_slot, 45);
    assert_true (heard.chunk.has_reused);
    assert_int_equal (heard.chunk.reused, 37);
    s_forget (&heard);
}

static void
test_progress_carries_no_token (void **state)
{
    heard_t heard;
    s_hear (&heard, "progress.sse");
    assert_int_equal (heard.progress, 2);
    assert_int_equal (heard.tokens.count, 3);
    assert_int_equal (*(uint32_t *)array_at (&heard.tokens, 0), 403);
    assert_int_equal (heard.chunk.reused, 0);
    s_forget (&heard);
}

//  The server keeps back text that could become the stop string, but not its token.
static void
test_text_may_lag_behind_its_token (void **state)
{
    heard_t heard;
    s_hear (&heard, "stop_word.sse");
    assert_int_equal (heard.tokens.count, 40);
    assert_int_equal (heard.chunk.in_slot, 77);
    s_forget (&heard);
}

static void
test_flat_and_nested_figures_are_read_alike (void **state)
{
    wire_chunk_t chunk;
    wire_chunk_init (&chunk);
    const char *end = "{\"content\":\"\",\"tokens\":[],\"stop\":true,\"stop_type\":\"word\",\"stopping_word\":\"END\","
                      "\"tokens_predicted\":3,\"tokens_evaluated\":6,\"tokens_cached\":8,\"timings/cache_n\":5}";
    assert_int_equal (wire_read_chunk (&chunk, span_from_string (end), NULL), STATUS_OK);
    assert_true (chunk.stop && chunk.has_reused);
    assert_int_equal (chunk.reused, 5);
    assert_int_equal (chunk.reason, FINISH_REASON_STOP);
    assert_string_equal (buffer_string (&chunk.stop_string), "END");
    wire_chunk_fini (&chunk);
}

static void
test_what_is_no_chunk_is_refused (void **state)
{
    static const char *const bad [] = { "", "[]", "[DONE]", "{}", "{\"stop\":1}", "{\"content\":\"a\",\"tokens\":[1]}",
        "{\"stop\":false,\"tokens\":[-1]}", "{\"stop\":false,\"tokens\":[4294967296]}",
        "{\"stop\":false,\"tokens\":[\"a\"]}" };
    wire_chunk_t chunk;
    error_t error;
    wire_chunk_init (&chunk);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error_clear (&error);
        assert_int_equal (wire_read_chunk (&chunk, span_from_string (bad [i]), &error), STATUS_INVALID);
        assert_true (*error.text);
    }
    wire_chunk_fini (&chunk);
}

static void
test_errors_keep_the_servers_sentence (void **state)
{
    buffer_t body = { 0 };
    error_t error;
    s_read_file ("too_long.json", &body);
    assert_int_equal (wire_read_error (400, buffer_span (&body), &error), STATUS_LIMIT);
    assert_string_equal (error.text,
        "the engine says: request (20000 tokens) exceeds the available context size (512 tokens), try increasing it");
    buffer_clear (&body);
    s_read_file ("invalid_tokens.json", &body);
    assert_int_equal (wire_read_error (400, buffer_span (&body), &error), STATUS_INVALID);
    assert_string_equal (error.text, "the engine says: Prompt contains invalid tokens");
    assert_int_equal (wire_read_error (502, SPAN ("<html>"), &error), STATUS_INTERNAL);
    assert_string_equal (error.text, "the engine answered with HTTP status 502");
    assert_int_equal (wire_read_error (503, SPAN (""), &error), STATUS_AGAIN);
    buffer_fini (&body);

    wire_chunk_t chunk;
    wire_chunk_init (&chunk);
    span_t failure = SPAN ("{\"error\":{\"code\":500,\"message\":\"Compute error\",\"type\":\"server_error\"}}");
    assert_int_equal (wire_read_chunk (&chunk, failure, NULL), STATUS_OK);
    assert_true (chunk.failed);
    assert_int_equal (chunk.error.status, STATUS_INTERNAL);
    assert_string_equal (chunk.error.text, "the engine says: Compute error");
    wire_chunk_fini (&chunk);
}

static void
test_recorded_facts (void **state)
{
    buffer_t props = { 0 }, models = { 0 };
    wire_facts_t facts = { 0 }, other = { 0 };
    s_read_file ("props.json", &props);
    s_read_file ("models.json", &models);
    assert_int_equal (wire_read_props (&facts, buffer_span (&props), NULL), STATUS_OK);
    assert_int_equal (wire_read_models (&facts, buffer_span (&models), NULL), STATUS_OK);
    assert_int_equal (facts.slots, 2);
    assert_int_equal (facts.context, 512);
    assert_string_equal (buffer_string (&facts.model), "stories260K");
    assert_string_equal (buffer_string (&facts.bos), "<s>");
    assert_string_equal (buffer_string (&facts.version), "b1-7e4c0a9");

    //  Another template is another model.
    char *text = (char *)props.data;
    char *place = strstr (buffer_string (&props), "\"chat_template\":\"");
    assert_non_null (place);
    text [place - text + 20] ^= 1;
    assert_int_equal (wire_read_props (&other, buffer_span (&props), NULL), STATUS_OK);
    assert_int_equal (wire_read_models (&other, buffer_span (&models), NULL), STATUS_OK);
    assert_true (other.fingerprint != facts.fingerprint);
    assert_int_equal (wire_read_props (&other, SPAN ("{}"), NULL), STATUS_UNSUPPORTED);
    assert_int_equal (wire_read_models (&other, SPAN ("{\"data\":[]}"), NULL), STATUS_UNSUPPORTED);
    wire_facts_fini (&facts);
    wire_facts_fini (&other);
    buffer_fini (&props);
    buffer_fini (&models);
}

static void
test_recorded_answers (void **state)
{
    buffer_t body = { 0 }, out = { 0 };
    s_read_file ("tokenize.json", &body);
    assert_int_equal (wire_read_tokens (buffer_span (&body), &out, NULL), STATUS_OK);
    assert_int_equal (out.size, 38 * sizeof (uint32_t));
    assert_int_equal (column_u32 ((column_t){ out.data, 38 }, 1), 403);
    buffer_clear (&body);
    buffer_clear (&out);
    s_read_file ("apply_template.json", &body);
    assert_int_equal (wire_read_prompt (buffer_span (&body), &out, NULL), STATUS_OK);
    assert_true (span_starts_with (buffer_span (&out), SPAN ("<|im_start|>")));
    assert_int_equal (wire_read_prompt (SPAN ("{\"prompt\":1}"), &out, NULL), STATUS_INTERNAL);
    assert_int_equal (wire_read_tokens (SPAN ("{}"), &out, NULL), STATUS_INTERNAL);
    buffer_fini (&body);
    buffer_fini (&out);
}

static void
test_tokens_are_read_off_the_text (void **state)
{
    static const char *const bad [] = { "{\"tokens\":[1]", "{\"tokens\":1}", "{\"tokens\":[\"1\"]}",
        "{\"tokens\":[[1]]}", "{\"tokens\":[1,-2]}", "{\"tokens\":[1.5]}", "{\"tokens\":[4294967296]}",
        "{\"tokens\":[1 2]}", "{\"n\":{\"tokens\":[1]}}", "[1]", "" };
    buffer_t out = { 0 };
    span_t good = SPAN (" { \"n\" : [{\"tokens\":[9]}], \"tokens\" : [ 1 , 4294967295,3 ] , \"m\":\"],\" } ");
    assert_int_equal (wire_read_tokens (good, &out, NULL), STATUS_OK);
    assert_int_equal (out.size, 12);
    assert_memory_equal (out.data, "\1\0\0\0\377\377\377\377\3\0\0\0", 12);
    buffer_clear (&out);
    assert_int_equal (wire_read_tokens (SPAN ("{\"tokens\":[ ]}"), &out, NULL), STATUS_OK);
    assert_int_equal (out.size, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal (wire_read_tokens (span_from_string (bad [i]), &out, NULL), STATUS_INTERNAL);
    buffer_fini (&out);
}

static void
test_a_completion_says_everything (void **state)
{
    static const uint32_t tokens [] = { 1, 403 };
    span_t stops [] = { SPAN ("a\"b"), SPAN ("") };
    sampling_t sampling = { .has_temperature = true,
        .temperature = 0.5,
        .has_top_k = true,
        .top_k = -1,
        .has_seed = true,
        .seed = -1,
        .has_repetition_penalty = true,
        .repetition_penalty = 1,
        .has_ignore_eos = true,
        .ignore_eos = true,
        .stop = stops,
        .stop_count = 2 };
    engine_request_t request = { .tokens = column_of_u32 (tokens, 2), .max_tokens = 7, .sampling = &sampling };
    buffer_t body = { 0 };
    wire_write_completion (&body, &request, 1);
    json_t *json = NULL;
    assert_int_equal (json_parse (buffer_span (&body), &json, NULL), STATUS_OK);
    json_destroy (&json);
    assert_string_equal (buffer_string (&body),
        "{\"prompt\":[1,403],\"id_slot\":1,\"n_predict\":7,\"stream\":true,\"cache_prompt\":true,\"return_tokens\":"
        "true,"
        "\"return_progress\":true,\"response_fields\":[\"content\",\"tokens\",\"stop\",\"stop_type\",\"stopping_word\","
        "\"tokens_predicted\",\"tokens_evaluated\",\"tokens_cached\",\"timings/cache_n\"],\"temperature\":0.5,"
        "\"repeat_penalty\":1.0,\"top_k\":-1,\"seed\":0,\"ignore_eos\":true,\"stop\":[\"a\\\"b\"]}");
    buffer_fini (&body);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_recorded_stream),
        cmocka_unit_test (test_progress_carries_no_token),
        cmocka_unit_test (test_text_may_lag_behind_its_token),
        cmocka_unit_test (test_flat_and_nested_figures_are_read_alike),
        cmocka_unit_test (test_what_is_no_chunk_is_refused),
        cmocka_unit_test (test_errors_keep_the_servers_sentence),
        cmocka_unit_test (test_recorded_facts),
        cmocka_unit_test (test_recorded_answers),
        cmocka_unit_test (test_tokens_are_read_off_the_text),
        cmocka_unit_test (test_a_completion_says_everything),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
