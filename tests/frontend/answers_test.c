//  What a frontend answers, and how it refuses.

#include "tests/frontend/fixture.h"

#include "base/json.h"

//  ---- Answers -------------------------------------------------------------------------------------------------------

static void
test_an_answer_is_streamed_and_counted (void **state)
{
    fixture_begin (1);
    chat_t *chat =
        fixture_ask (CHAT (",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":20"));
    stage_run (fixture_stage, REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    assert_int_equal (chat->status, 200);
    fixture_check_streamed (chat, 20, "length");
    assert_true (fixture_contains (chat, "\"completion_tokens\":20"));
    assert_true (fixture_contains (chat, "\"cached_tokens\":2"));
    assert_true (fixture_contains (chat, "data: [DONE]\n\n"));
    assert_int_equal (fixture_ended.count, 1);
    assert_int_equal (fixture_ended.last.code, 200);
    assert_int_equal (fixture_ended.last.completion_tokens, 20);
    assert_int_equal (fixture_ended.last.cached_tokens, 2);
    assert_true (
        fixture_ended.last.first_token_us > 0 && fixture_ended.last.first_token_us < fixture_ended.last.duration_us);
    assert_string_equal (fixture_ended.worker, "worker/a");
    assert_string_equal (fixture_ended.reason, "length");
    fixture_check_router_is_idle ();
    fixture_end ();
}

static void
test_the_same_answer_comes_whole (void **state)
{
    fixture_begin (1);
    fixture_scripts [0].stop_after = 9;
    chat_t *chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, REALM_SECOND);
    json_t *tree = NULL;
    assert_int_equal (json_parse (buffer_span (&chat->body), &tree, NULL), STATUS_OK);
    const json_t *choice = json_at (json_get (tree, "choices"), 0);
    assert_true (span_equal (json_string (json_get_path (choice, "message.content")), SPAN ("the quick")));
    assert_true (span_equal (json_string (json_get (choice, "finish_reason")), SPAN ("stop")));
    json_destroy (&tree);
    fixture_end ();
}

static void
test_a_stop_string_ends_the_text_wherever_tokens_are_cut (void **state)
{
    for (uint32_t tokens = 1; tokens < 8; tokens++) {
        fixture_begin (1);
        fixture_scripts [0].item_tokens = tokens;
        chat_t *chat = fixture_ask (CHAT (",\"stream\":true,\"stop\":[\"brown\"]"));
        stage_run (fixture_stage, 5 * REALM_SECOND);
        assert_true (chat->ended);
        fixture_check_streamed (chat, 10, "stop");
        assert_int_equal (fixture_scripts [0].cancels, 1);
        fixture_check_router_is_idle ();
        fixture_end ();
    }
}

static void
test_silence_is_broken_by_comments (void **state)
{
    fixture_begin (1);
    fixture_scripts [0].pause_ns = 25 * REALM_SECOND;
    fixture_scripts [0].stop_after = 3;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true"));
    stage_run (fixture_stage, 24 * REALM_SECOND);
    assert_int_equal (chat->status, 200);
    assert_string_equal (buffer_string (&chat->body), ": keep-alive\n\n: keep-alive\n\n");
    stage_run (fixture_stage, 10 * REALM_SECOND);
    fixture_check_streamed (chat, 3, "stop");
    fixture_end ();
}

//  What is no trace is not passed on.
static void
test_the_trace_of_a_request_reaches_the_worker (void **state)
{
    static const char *const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const char *const traces [] = { good, "00-0AF7", "zz-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "" };
    fixture_begin (1);
    fixture_scripts [0].stop_after = 1;
    for (size_t i = 0; i < sizeof traces / sizeof traces [0]; i++) {
        http_header_t header = { SPAN ("traceparent"), span_from_string (traces [i]) };
        chat_t *chat = fixture_fetch (0, URL, CHAT (""), &header, 1);
        stage_run (fixture_stage, REALM_SECOND);
        assert_int_equal (chat->status, 200);
        assert_string_equal (fixture_scripts [0].trace, i == 0 ? good : "");
    }
    fixture_end ();
}

//  ---- Refusals ------------------------------------------------------------------------------------------------------

typedef struct {
    const char *url;     //  Asked for
    const char *body;    //  Posted; NULL: a GET
    int status;          //  Answered
    const char *text;    //  In the answer
} refusal_t;

static const refusal_t s_refusals [] = {
    { URL, "{", 400, "could not parse" },
    { URL, "[]", 400, "must be a JSON object" },
    { URL, "{\"model\":\"tiny\"}", 400, "\"param\":\"messages\"" },
    { URL, CHAT (",\"n\":3"), 400, "\"code\":\"unsupported_parameter\"" },
    { URL, "{\"model\":\"huge\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}", 404,
        "There are: tiny, nick." },
    { URL, "{\"model\":\"a\\u0000b\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}", 404,
        "'a\\\\u0000b' does not exist here. There are: tiny, nick." },
    { "http://f0:8000/v1/models/a%00b", NULL, 404, "'a\\\\u0000b' does not exist here." },
    { URL, NULL, 405, "takes POST" },
    { "http://f0:8000/v1/models", "{}", 405, "takes GET" },
    { "http://f0:8000/v1/messages", NULL, 404, "is not served yet; this version serves /v1/chat/completions" },
    { "http://f0:8000/v1/responses", NULL, 404, "is not served yet; this version serves /v1/chat/completions" },
    { "http://f0:8000/v1/nothing", NULL, 404, "unknown_url" },
    { "http://f0:8000/chat/completions", "{}", 404,
        "Invalid URL (POST /chat/completions). Served are: /v1/chat/completions, /v1/models, /v1/models/, " },
    { "http://f0:8000/v1/models/huge", NULL, 404, "model_not_found" },
};

static void
test_refusals_say_what_is_wrong (void **state)
{
    fixture_begin (1);
    for (size_t i = 0; i < sizeof s_refusals / sizeof s_refusals [0]; i++) {
        const refusal_t *refusal = &s_refusals [i];
        chat_t *chat = fixture_fetch (0, refusal->url, refusal->body, NULL, 0);
        stage_run (fixture_stage, 100 * REALM_MS);
        assert_true (chat->ended);
        assert_int_equal (chat->status, refusal->status);
        assert_true (fixture_contains (chat, refusal->text));
    }
    assert_int_equal (fixture_scripts [0].requests, 0);
    fixture_end ();
}

typedef struct {
    const char *name;      //  Of a header
    const char *values;    //  Each line of it
    const char *more;      //  NULL: it has one line
    int status;            //  Answered
} coding_t;

static const coding_t s_codings [] = {
    { "Content-Encoding", "gzip", NULL, 415 },
    { "content-type", "text/plain", NULL, 415 },
    { "Content-Encoding", "identity", "gzip", 415 },
    { "Content-Encoding", "identity , br", NULL, 415 },
    { "Content-Encoding", "", "zstd", 415 },
    { "Content-Encoding", "identity,, Identity", " identity ", 200 },
};

static void
test_bodies_in_other_encodings_are_refused (void **state)
{
    fixture_begin (1);
    for (size_t i = 0; i < sizeof s_codings / sizeof s_codings [0]; i++) {
        const coding_t *coding = &s_codings [i];
        span_t name = span_from_string (coding->name);
        http_header_t lines [] = { { name, span_from_string (coding->values) },
            { name, span_from_string (coding->more) } };
        chat_t *chat = fixture_fetch (0, URL, CHAT (",\"max_tokens\":1,\"stream\":false"), lines, coding->more ? 2 : 1);
        stage_run (fixture_stage, REALM_SECOND);
        assert_int_equal (chat->status, coding->status);
    }
    fixture_end ();
}

typedef struct {
    const char *method;    //  Asked with
    const char *path;      //  Asked for
    int status;            //  Answered
    bool says;             //  It has a body
} method_t;

static const method_t s_methods [] = {
    { "HEAD", "/live", 200, false },
    { "HEAD", "/health", 200, false },
    { "HEAD", "/v1/models", 200, false },
    { "HEAD", "/v1/models/huge", 404, false },
    { "HEAD", "/metrics", 200, false },
    { "HEAD", "/v1/chat/completions", 405, false },
    { "OPTIONS", "/v1/chat/completions", 204, false },
    { "OPTIONS", "/live", 204, false },
    { "OPTIONS", "/nothing", 404, true },
    { "DELETE", "/live", 405, true },
};

static void
test_head_is_get_without_a_body_and_options_says_what_there_is (void **state)
{
    fixture_begin (1);
    for (size_t i = 0; i < sizeof s_methods / sizeof s_methods [0]; i++) {
        const method_t *row = &s_methods [i];
        char url [64];
        snprintf (url, sizeof url, "http://f0:8000%s", row->path);
        chat_t *chat = fixture_request (0, row->method, url, NULL, NULL, 0);
        stage_run (fixture_stage, REALM_SECOND);
        assert_true (chat->ended);
        assert_int_equal (chat->status, row->status);
        assert_int_equal (chat->body.size > 0, row->says);
    }
    fixture_end ();
}

static void
test_a_prompt_that_does_not_fit_is_refused_in_openais_words (void **state)
{
    fixture_begin (1);
    char body [700];
    snprintf (body, sizeof body, "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"%0500d\"}]}", 0);
    chat_t *chat = fixture_ask (body);
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 400);
    assert_true (fixture_contains (chat, "\"code\":\"context_length_exceeded\""));
    assert_true (fixture_contains (chat, "maximum context length is 400 tokens"));
    fixture_end ();
}

//  More than there is room for is what there is room for.
static void
test_max_tokens_is_cut_to_the_room_there_is (void **state)
{
    fixture_begin (1);
    chat_t *chat = fixture_ask (CHAT (",\"max_tokens\":100000,\"stream\":true"));
    stage_run (fixture_stage, 10 * REALM_SECOND);
    assert_true (chat->ended);
    fixture_check_streamed (chat, 400 - fixture_scripts [0].prompt_tokens, "length");
    fixture_end ();
}

//  Clients take 404 for final: a model whose only worker is being restarted is not unknown.
static void
test_a_promised_model_that_nobody_serves_is_not_unknown (void **state)
{
    fixture_begin (0);
    fixture_add_worker (0, "other", 7);
    fixture_add_worker (1, "tiny", 8);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    chat_t *chat = fixture_ask ("{\"model\":\"unknown\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 404);
    chat = fixture_ask ("{\"model\":\"promised\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);
    assert_true (fixture_contains (chat, "\"code\":\"no_worker\""));
    stage_drain (fixture_stage, "worker/b");
    stage_run (fixture_stage, REALM_SECOND);
    chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);
    fixture_end ();
}

static void
test_without_workers_or_routers_it_says_come_again (void **state)
{
    fixture_begin (0);
    chat_t *chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);

    fixture_add_worker (0, "tiny", 7);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    stage_crash (fixture_stage, "worker/a");
    stage_run (fixture_stage, 10 * REALM_SECOND);
    chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);
    assert_true (fixture_contains (chat, "\"code\":\"no_worker\""));

    stage_start (fixture_stage, "worker/a");
    stage_crash (fixture_stage, "router/0");
    stage_run (fixture_stage, 10 * REALM_SECOND);
    chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, 10 * REALM_SECOND);
    assert_int_equal (chat->status, 503);
    assert_true (fixture_contains (chat, "\"code\":\"no_router\""));
    fixture_end ();
}

//  A router that is restarted in between is waited for.
static void
test_a_restarted_router_is_waited_for (void **state)
{
    fixture_begin (1);
    fixture_scripts [0].stop_after = 3;
    stage_drain (fixture_stage, "router/0");
    stage_run (fixture_stage, 50 * REALM_MS);
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true"));
    stage_run (fixture_stage, REALM_SECOND);
    stage_start (fixture_stage, "router/0");
    stage_run (fixture_stage, 10 * REALM_SECOND);
    assert_true (chat->ended);
    fixture_check_streamed (chat, 3, "stop");
    fixture_end ();
}

static void
test_requests_have_a_bound (void **state)
{
    fixture_begin (1);
    fixture_options [0].requests_max = 2;
    stage_crash (fixture_stage, "frontend/0");
    stage_start (fixture_stage, "frontend/0");
    stage_run (fixture_stage, 3 * REALM_SECOND);
    fixture_scripts [0].silent = true;
    for (size_t i = 0; i < 3; i++)
        fixture_fetch (i, URL, CHAT (""), NULL, 0);
    stage_run (fixture_stage, REALM_SECOND);
    int refused = 0;
    for (size_t i = 0; i < 3; i++)
        refused += fixture_chats [i].status == 529;
    assert_int_equal (refused, 1);
    fixture_end ();
}

//  ---- Models --------------------------------------------------------------------------------------------------------

static void
test_models_are_listed_under_all_their_names (void **state)
{
    fixture_begin (1);
    chat_t *chat = fixture_fetch (0, "http://f0:8000/v1/models", NULL, NULL, 0);
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 200);
    assert_true (fixture_contains (chat, "\"id\":\"tiny\""));
    assert_true (fixture_contains (chat, "\"id\":\"nick\""));
    assert_true (fixture_contains (chat, "\"max_model_len\":400"));
    chat = fixture_fetch (0, "http://f0:8000/v1/models/%6eick", NULL, NULL, 0);
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 200);
    assert_true (fixture_contains (chat, "\"id\":\"nick\""));
    fixture_end ();
}

//  Two cards of one name that differ are two models; the name means the one that more workers serve.
static void
test_two_fingerprints_are_two_models (void **state)
{
    fixture_begin (2);
    fixture_add_worker (2, "tiny", 8);
    stage_run (fixture_stage, 3 * REALM_SECOND);
    chat_t *chat = fixture_fetch (0, "http://f0:8000/v1/models", NULL, NULL, 0);
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_true (fixture_contains (chat, "\"id\":\"tiny\""));
    assert_true (fixture_contains (chat, "\"id\":\"tiny@0000000000000008\""));
    assert_false (fixture_contains (chat, "\"id\":\"tiny@0000000000000007\""));
    assert_non_null (strstr (stage_log (fixture_stage), "another model under the name tiny"));

    fixture_scripts [0].stop_after = fixture_scripts [1].stop_after = fixture_scripts [2].stop_after = 1;
    for (int i = 0; i < 4; i++) {
        fixture_ask (CHAT (""));
        stage_run (fixture_stage, REALM_SECOND);
    }
    assert_int_equal (fixture_scripts [2].requests, 0);
    chat = fixture_ask ("{\"model\":\"tiny@0000000000000008\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (chat->status, 200);
    assert_int_equal (fixture_scripts [2].requests, 1);
    fixture_end ();
}

static void
test_health_tells_whether_a_request_can_be_served (void **state)
{
    fixture_begin (0);
    chat_t *chat = fixture_fetch (0, "http://f0:8000/health", NULL, NULL, 0);
    chat_t *live = fixture_fetch (1, "http://f0:8000/live", NULL, NULL, 0);
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);
    assert_int_equal (live->status, 200);
    fixture_add_worker (0, "tiny", 7);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    chat = fixture_fetch (0, "http://f0:8000/health", NULL, NULL, 0);
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 200);
    chat = fixture_fetch (0, "http://f0:8000/metrics", NULL, NULL, 0);
    stage_run (fixture_stage, 100 * REALM_MS);
    assert_true (fixture_contains (chat, "stator_requests_running{actor=\"frontend/0\"} 0\n"));
    assert_true (fixture_contains (chat, "stator_http_requests_total{actor=\"frontend/0\"} 4\n"));
    assert_true (fixture_contains (chat, "stator_http_refused_total{actor=\"frontend/0\",code=\"431\"} 0\n"));
    assert_true (fixture_contains (chat, "stator_router_decisions_total{actor=\"router/0\",result=\"routed\"} 0\n"));
    assert_true (fixture_contains (chat, "stator_broker_ring_bytes{actor=\"broker/0\"} "));
    fixture_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_an_answer_is_streamed_and_counted),
        cmocka_unit_test (test_the_same_answer_comes_whole),
        cmocka_unit_test (test_a_stop_string_ends_the_text_wherever_tokens_are_cut),
        cmocka_unit_test (test_silence_is_broken_by_comments),
        cmocka_unit_test (test_the_trace_of_a_request_reaches_the_worker),
        cmocka_unit_test (test_refusals_say_what_is_wrong),
        cmocka_unit_test (test_bodies_in_other_encodings_are_refused),
        cmocka_unit_test (test_head_is_get_without_a_body_and_options_says_what_there_is),
        cmocka_unit_test (test_a_prompt_that_does_not_fit_is_refused_in_openais_words),
        cmocka_unit_test (test_max_tokens_is_cut_to_the_room_there_is),
        cmocka_unit_test (test_a_promised_model_that_nobody_serves_is_not_unknown),
        cmocka_unit_test (test_without_workers_or_routers_it_says_come_again),
        cmocka_unit_test (test_a_restarted_router_is_waited_for),
        cmocka_unit_test (test_requests_have_a_bound),
        cmocka_unit_test (test_models_are_listed_under_all_their_names),
        cmocka_unit_test (test_two_fingerprints_are_two_models),
        cmocka_unit_test (test_health_tells_whether_a_request_can_be_served),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
