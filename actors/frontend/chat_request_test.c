//  What clients send, read into one form; what cannot be done, refused by name.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/frontend/chat_request.h"

static bool
s_parse (chat_request_t *request, const char *text, api_error_t *error)
{
    json_t *body = NULL;
    *error = (api_error_t){ 0 };
    assert_int_equal (json_parse (span_from_string (text), &body, NULL), STATUS_OK);
    bool parsed = chat_request_parse (request, body, strlen (text), error);
    json_destroy (&body);
    return parsed;
}

#define MESSAGES "\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"

//  The conversation, rendered for a template.
static void
s_check_rendered (const char *text, const char *expected)
{
    chat_request_t request;
    api_error_t error;
    buffer_t out = { 0 };
    bool parsed = s_parse (&request, text, &error);
    if (!parsed)
        print_error ("%s\n", error.text);
    assert_true (parsed);
    chat_request_render (&request, &out);
    assert_string_equal (buffer_string (&out), expected);
    buffer_fini (&out);
    chat_request_fini (&request);
}

static void
test_a_plain_request_is_read (void **state)
{
    chat_request_t request;
    api_error_t error;
    assert_true (s_parse (&request,
        "{" MESSAGES
        ",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"temperature\":0.5,\"top_p\":1,\"seed\":-7,"
        "\"max_tokens\":5,\"max_completion_tokens\":9,\"stop\":[\"a\",\"\",\"b\"],\"stop_token_ids\":[2,3],\"top_k\":"
        "40,"
        "\"unknown\":{\"x\":[1]}}",
        &error));
    assert_true (span_equal (request.model, SPAN ("m")));
    assert_true (request.stream && request.include_usage);
    assert_int_equal (request.message_count, 1);
    assert_true (request.sampling.has_temperature && request.sampling.temperature == 0.5);
    assert_true (request.sampling.has_top_p && request.sampling.top_p == 1);
    assert_true (request.sampling.has_seed && request.sampling.seed == -7);
    assert_true (request.sampling.has_top_k && request.sampling.top_k == 40);
    assert_false (request.sampling.has_min_p);
    assert_int_equal (request.sampling.max_tokens, 9);
    assert_int_equal (request.sampling.stop_count, 2);
    assert_int_equal (column_u32 (request.sampling.stop_tokens, 1), 3);
    chat_request_fini (&request);
}

//  Cache markers, parts or strings, null, absent or empty content: the same tokens.
static void
test_one_conversation_has_one_form (void **state)
{
    const char *expected =
        "{\"messages\":[{\"role\":\"system\",\"content\":\"be\"},{\"role\":\"user\",\"content\":\"a\\nb\"}]}";
    s_check_rendered ("{\"model\":\"m\",\"messages\":[{\"role\":\"developer\",\"content\":\"be\"},"
                      "{\"role\":\"user\",\"content\":\"a\\nb\"}]}",
        expected);
    s_check_rendered (
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"be\","
        "\"cache_control\":{\"type\":\"ephemeral\"}}]},{\"role\":\"user\",\"content\":[{\"type\":\"text\","
        "\"text\":\"a\"},{\"text\":\"b\"}]}],\"user\":\"u\"}",
        expected);
}

static void
test_tool_calls_are_replayed_in_one_form (void **state)
{
    static const char *const contents [] = { "", "\"content\":null,", "\"content\":\"\",", "\"content\":[]," };
    for (size_t i = 0; i < 4; i++) {
        char text [512];
        snprintf (text, sizeof text,
            "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",%s\"tool_calls\":[{\"id\":\"c1\",\"type\":"
            "\"function\","
            "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"b\\\":1, \\\"a\\\":2}\"}}]},"
            "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"42\"}]}",
            contents [i]);
        s_check_rendered (text, "{\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
                                "\"c1\",\"type\":\"function\","
                                "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"b\\\":1, \\\"a\\\":2}\"}}]},"
                                "{\"role\":\"tool\",\"content\":\"42\",\"tool_call_id\":\"c1\"}]}");
    }
}

//  "", null and objects are sent where a string of JSON is due; anything else is kept as it is.
static void
test_odd_arguments_are_mended_or_kept (void **state)
{
    static const struct {
        const char *sent, *kept;
    } cases [] = {
        { "\"\"", "{}" },
        { "null", "{}" },
        { "\"null\"", "{}" },
        { "{\"a\":1}", "{\\\"a\\\":1}" },
        { "\"[]\"", "[]" },
        { "\"{bad\"", "{bad" },
        { "[1]", "[1]" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases [0]; i++) {
        char text [256], expected [256];
        snprintf (text, sizeof text,
            "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\","
            "\"arguments\":%s}}]}]}",
            cases [i].sent);
        snprintf (expected, sizeof expected,
            "{\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"type\":\"function\","
            "\"function\":"
            "{\"name\":\"f\",\"arguments\":\"%s\"}}]}]}",
            cases [i].kept);
        s_check_rendered (text, expected);
    }
}

static void
test_reasoning_is_read_under_each_of_its_names (void **state)
{
    static const char *const names [] = {
        "\"reasoning_content\":\"t\"",
        "\"reasoning\":\"t\"",
        "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"t\"}]",
    };
    for (size_t i = 0; i < sizeof names / sizeof names [0]; i++) {
        char text [256];
        snprintf (text, sizeof text, "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\"x\",%s}]}",
            names [i]);
        s_check_rendered (
            text, "{\"messages\":[{\"role\":\"assistant\",\"content\":\"x\",\"reasoning_content\":\"t\"}]}");
    }
}

static void
test_tools_and_template_arguments_pass_through_without_markers (void **state)
{
    s_check_rendered ("{" MESSAGES
                      ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"z\":0.10,"
                      "\"a\":null},\"cache_control\":{}},\"cache_control\":{\"type\":\"ephemeral\"}}],"
                      "\"chat_template_kwargs\":{\"x\":1,\"enable_thinking\":false},\"enable_thinking\":true,"
                      "\"reasoning\":{\"effort\":\"low\"}}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"tools\":[{\"type\":\"function\",\"function\":{"
        "\"name\":\"f\","
        "\"parameters\":{\"z\":0.10,\"a\":null}}}],\"chat_template_kwargs\":{\"x\":1,\"enable_thinking\":false,"
        "\"reasoning_effort\":\"low\"}}");
    s_check_rendered ("{" MESSAGES ",\"tools\":[{\"type\":\"function\"}],\"tool_choice\":\"none\"}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
}

//  An image in a question changes it; one in a tool's result must not end the conversation.
static void
test_images_are_refused_in_questions_and_named_in_results (void **state)
{
    chat_request_t request;
    api_error_t error;
    assert_false (s_parse (&request,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
        "\"x\"}}]}]}",
        &error));
    assert_int_equal (error.kind, API_INVALID_VALUE);
    assert_string_equal (error.param, "messages[0].content");
    chat_request_fini (&request);
    s_check_rendered (
        "{\"model\":\"m\",\"messages\":[{\"role\":\"tool\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}},"
        "{\"type\":\"novel\",\"x\":1}]}]}",
        "{\"messages\":[{\"role\":\"tool\",\"content\":\"[image]\\n{\\\"type\\\":\\\"novel\\\",\\\"x\\\":1}\"}]}");
}

typedef struct {
    const char *body;         //  What is sent
    api_error_kind_t kind;    //  What it is refused as
    const char *param;        //  And which field is named
} refused_t;

static const refused_t s_refused [] = {
    { "[]", API_INVALID_JSON, "" },
    { "null", API_INVALID_JSON, "" },
    { "{\"messages\":[]}", API_MISSING, "model" },
    { "{\"model\":1}", API_INVALID_TYPE, "model" },
    { "{\"model\":\"\"}", API_INVALID_VALUE, "model" },
    { "{\"model\":\"m\"}", API_MISSING, "messages" },
    { "{\"model\":\"m\",\"messages\":{}}", API_INVALID_TYPE, "messages" },
    { "{\"model\":\"m\",\"messages\":[]}", API_INVALID_VALUE, "messages" },
    { "{\"model\":\"m\",\"messages\":[1]}", API_INVALID_TYPE, "messages[0]" },
    { "{\"model\":\"m\",\"messages\":[{\"content\":\"x\"}]}", API_MISSING, "messages[0].role" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"king\",\"content\":\"x\"}]}", API_INVALID_VALUE, "messages[0].role" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"user\"}]}", API_MISSING, "messages[0].content" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":1}]}", API_INVALID_TYPE, "messages[0].content" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[1]}]}", API_INVALID_TYPE, "messages[0].content" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":1}]}]}",
        API_INVALID_TYPE, "messages[0].content" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"name\":1}]}", API_INVALID_TYPE,
        "messages[0].name" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":7}]}", API_INVALID_TYPE,
        "messages[0].tool_call_id" },
    { "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{}]}]}", API_MISSING,
        "messages[0].tool_calls" },
    { "{" MESSAGES ",\"stream\":1}", API_INVALID_TYPE, "stream" },
    { "{" MESSAGES ",\"temperature\":2.5}", API_INVALID_VALUE, "temperature" },
    { "{" MESSAGES ",\"temperature\":\"hot\"}", API_INVALID_TYPE, "temperature" },
    { "{" MESSAGES ",\"top_p\":-0.1}", API_INVALID_VALUE, "top_p" },
    { "{" MESSAGES ",\"presence_penalty\":3}", API_INVALID_VALUE, "presence_penalty" },
    { "{" MESSAGES ",\"seed\":1.5}", API_INVALID_TYPE, "seed" },
    { "{" MESSAGES ",\"max_tokens\":0}", API_INVALID_VALUE, "max_tokens" },
    { "{" MESSAGES ",\"max_completion_tokens\":\"many\"}", API_INVALID_TYPE, "max_completion_tokens" },
    { "{" MESSAGES ",\"stop\":7}", API_INVALID_TYPE, "stop" },
    { "{" MESSAGES ",\"stop_token_ids\":[-1]}", API_INVALID_TYPE, "stop_token_ids" },
    { "{" MESSAGES ",\"n\":2}", API_UNSUPPORTED, "n" },
    { "{" MESSAGES ",\"n\":0}", API_INVALID_VALUE, "n" },
    { "{" MESSAGES ",\"n\":\"one\"}", API_INVALID_TYPE, "n" },
    { "{" MESSAGES ",\"best_of\":-1}", API_INVALID_VALUE, "best_of" },
    { "{" MESSAGES ",\"ignore_eos\":\"yes\"}", API_INVALID_TYPE, "ignore_eos" },
    { "{" MESSAGES ",\"logprobs\":true}", API_UNSUPPORTED, "logprobs" },
    { "{" MESSAGES ",\"top_logprobs\":2}", API_UNSUPPORTED, "top_logprobs" },
    { "{" MESSAGES ",\"logit_bias\":{\"5\":1}}", API_UNSUPPORTED, "logit_bias" },
    { "{" MESSAGES ",\"response_format\":{\"type\":\"json_schema\"}}", API_UNSUPPORTED, "response_format" },
    { "{" MESSAGES ",\"modalities\":[\"text\",\"audio\"]}", API_UNSUPPORTED, "modalities" },
    { "{" MESSAGES ",\"add_generation_prompt\":false}", API_UNSUPPORTED, "add_generation_prompt" },
    { "{" MESSAGES ",\"tool_choice\":\"required\"}", API_UNSUPPORTED, "tool_choice" },
    { "{" MESSAGES ",\"tool_choice\":{\"type\":\"function\"}}", API_UNSUPPORTED, "tool_choice" },
    { "{" MESSAGES ",\"tool_choice\":\"perhaps\"}", API_INVALID_VALUE, "tool_choice" },
    { "{" MESSAGES ",\"tools\":{}}", API_INVALID_TYPE, "tools" },
    { "{" MESSAGES ",\"tools\":[1]}", API_INVALID_TYPE, "tools" },
    { "{" MESSAGES ",\"chat_template_kwargs\":[]}", API_INVALID_TYPE, "chat_template_kwargs" },
};

static void
test_what_cannot_be_done_is_refused_by_name (void **state)
{
    for (size_t i = 0; i < sizeof s_refused / sizeof s_refused [0]; i++) {
        chat_request_t request;
        api_error_t error;
        assert_false (s_parse (&request, s_refused [i].body, &error));
        assert_int_equal (error.kind, s_refused [i].kind);
        assert_string_equal (error.param, s_refused [i].param);
        assert_true (error.text [0] != '\0');
        chat_request_fini (&request);
    }
}

//  What could not go on elsewhere is told so, rather than lost half-way.
static void
test_what_could_not_move_says_so (void **state)
{
    static const struct {
        const char *body;    //  What is asked
        const char *says;    //  Told
    } cases [] = {
        { "{" MESSAGES ",\"n\":2}",
            "'n' is not supported here with this value: answers of several choices cannot go on" },
        { "{" MESSAGES ",\"logprobs\":true}", "answers with probabilities cannot go on at another worker" },
        { "{" MESSAGES ",\"guided_regex\":\"a*\"}", "answers that follow a grammar cannot go on at another worker" },
        { "{" MESSAGES ",\"logit_bias\":{\"5\":1}}", "'logit_bias' is not supported here with this value." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chat_request_t request;
        api_error_t error;
        assert_false (s_parse (&request, cases [i].body, &error));
        assert_non_null (strstr (error.text, cases [i].says));
        chat_request_fini (&request);
    }
}

//  Neutral values of the same fields ask for nothing.
static void
test_neutral_values_are_accepted (void **state)
{
    chat_request_t request;
    api_error_t error;
    assert_true (s_parse (&request,
        "{" MESSAGES
        ",\"n\":1,\"logprobs\":false,\"top_logprobs\":null,\"logit_bias\":{},\"response_format\":{\"type\":\"text\"},"
        "\"modalities\":[\"text\"],\"tool_choice\":\"auto\",\"tools\":[],\"parallel_tool_calls\":false,\"store\":true,"
        "\"add_generation_prompt\":true,\"metadata\":{},\"stop\":null,\"temperature\":null}",
        &error));
    assert_int_equal (request.tools.size, 0);
    assert_false (request.sampling.has_temperature);
    chat_request_fini (&request);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_plain_request_is_read),
        cmocka_unit_test (test_one_conversation_has_one_form),
        cmocka_unit_test (test_tool_calls_are_replayed_in_one_form),
        cmocka_unit_test (test_odd_arguments_are_mended_or_kept),
        cmocka_unit_test (test_reasoning_is_read_under_each_of_its_names),
        cmocka_unit_test (test_tools_and_template_arguments_pass_through_without_markers),
        cmocka_unit_test (test_images_are_refused_in_questions_and_named_in_results),
        cmocka_unit_test (test_what_cannot_be_done_is_refused_by_name),
        cmocka_unit_test (test_what_could_not_move_says_so),
        cmocka_unit_test (test_neutral_values_are_accepted),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
