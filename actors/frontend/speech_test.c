//  What a client is told of what a model says, streamed and whole.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "actors/frontend/speech.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"

#define TOOLS                                                                                                     \
    "[{\"type\":\"function\",\"function\":{\"name\":\"read\",\"parameters\":{\"type\":\"object\",\"properties\":" \
    "{\"path\":{\"type\":\"string\"}}}}}]"
#define CALL "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\\\"b\"}}\n</tool_call>"

//  What a client puts together.
typedef struct {
    buffer_t text;             //  Of all pieces
    buffer_t reasoning;        //  Of all pieces
    buffer_t ids [4];          //  Of calls
    buffer_t names [4];        //  Of calls
    buffer_t arguments [4];    //  Of calls
    size_t calls;              //  How many
} heard_t;

static void
s_forget (heard_t *self)
{
    buffer_fini (&self->text);
    buffer_fini (&self->reasoning);
    for (size_t i = 0; i < 4; i++) {
        buffer_fini (&self->ids [i]);
        buffer_fini (&self->names [i]);
        buffer_fini (&self->arguments [i]);
    }
    self->calls = 0;
}

//  The first piece of a call has its id and name, each piece its index; without one, it is a whole call.
static void
s_hear_call (heard_t *self, const json_t *call)
{
    uint64_t index = self->calls;
    json_to_u64 (json_get (call, "index"), &index);
    assert_true (index < 4);
    if (json_get (call, "id")) {
        assert_int_equal (index, self->calls);
        assert_true (span_equal_string (json_string (json_get (call, "type")), "function"));
        self->calls++;
    }
    assert_true (index < self->calls);
    buffer_append (&self->ids [index], json_string (json_get (call, "id")));
    buffer_append (&self->names [index], json_string (json_get_path (call, "function.name")));
    buffer_append (&self->arguments [index], json_string (json_get_path (call, "function.arguments")));
}

static void
s_hear_message (heard_t *self, const json_t *message)
{
    const json_t *calls = json_get (message, "tool_calls");
    buffer_append (&self->text, json_string (json_get (message, "content")));
    buffer_append (&self->reasoning, json_string (json_get (message, "reasoning_content")));
    for (size_t i = 0; i < json_count (calls); i++)
        s_hear_call (self, json_at (calls, i));
}

static void
s_hear_events (heard_t *self, span_t events)
{
    while (events.size) {
        json_t *tree = NULL;
        size_t size = span_find_byte (events, '\n');
        assert_int_equal (json_parse (span_slice (events, 6, size - 6), &tree, NULL), STATUS_OK);
        s_hear_message (self, json_get_path (json_at (json_get (tree, "choices"), 0), "delta"));
        json_destroy (&tree);
        events = span_slice (events, size + 2, events.size);
    }
}

static void
s_hear_whole (heard_t *self, const chat_writer_t *writer, const speech_t *speech)
{
    buffer_t body = { 0 };
    json_t *tree = NULL;
    chat_said_t said = { buffer_span (&speech->text), buffer_span (&speech->reasoning), buffer_span (&speech->calls) };
    chat_write_completion (writer, &said, "stop", &(usage_t){ 0 }, &body);
    assert_int_equal (json_parse (buffer_span (&body), &tree, NULL), STATUS_OK);
    const json_t *message = json_get (json_at (json_get (tree, "choices"), 0), "message");
    assert_true (said.text.size || !said.calls.size || !json_get (message, "content"));
    s_hear_message (self, message);
    json_destroy (&tree);
    buffer_fini (&body);
}

typedef struct {
    const char *format;     //  Name of the format
    const char *prefill;    //  Of the prompt
    const char *tools;      //  Of the request
    bool cut;               //  It ends at a limit
} model_t;

//  The text in pieces of random sizes.
static heard_t
s_say (const model_t *model, const char *text, bool stream, uint64_t seed)
{
    heard_t heard = { 0 };
    speech_t speech;
    chat_writer_t writer;
    buffer_t events = { 0 };
    random_t random;
    random_init (&random, seed);
    json_t *tools = NULL;
    assert_true (!*model->tools || json_parse (span_from_string (model->tools), &tools, NULL) == STATUS_OK);
    chat_writer_init (&writer, &(chat_identity_t){ .id = SPAN ("chatcmpl-1"), .model = SPAN ("m") });
    speech_init (&speech, stream ? &writer : NULL, stream ? &events : NULL);
    speech_read (&speech, &(speech_setup_t){ .format = parser_find (span_from_string (model->format)),
                              .prefill = span_from_string (model->prefill),
                              .tools = tools,
                              .seed = 7,
                              .calls_before = 3 });
    for (span_t rest = span_from_string (text); rest.size;) {
        size_t size = (size_t)random_below (&random, seed % 3 ? 12 : 1000) + 1;
        speech_put (&speech, span_slice (rest, 0, size));
        rest = span_slice (rest, size, rest.size);
    }
    speech_finish (&speech, model->cut);
    assert_int_equal (speech_has_calls (&speech), speech.call_count > 0);
    if (stream)
        s_hear_events (&heard, buffer_span (&events));
    else
        s_hear_whole (&heard, &writer, &speech);
    speech_fini (&speech);
    json_destroy (&tools);
    buffer_fini (&events);
    chat_writer_fini (&writer);
    return heard;
}

//  However it comes and however it is asked for, the client hears the same.
static void
s_check (const model_t *model, const char *said, const char *text, const char *reasoning, const char *const *arguments,
    size_t calls)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        heard_t heard = s_say (model, said, seed & 1, seed);
        assert_string_equal (buffer_string (&heard.text), text);
        assert_string_equal (buffer_string (&heard.reasoning), reasoning);
        assert_int_equal (heard.calls, calls);
        for (size_t i = 0; i < calls; i++) {
            assert_string_equal (buffer_string (&heard.arguments [i]), arguments [i]);
            assert_string_equal (buffer_string (&heard.names [i]), "read");
            assert_true (heard.ids [i].size >= 9);
            for (size_t other = 0; other < i; other++)
                assert_false (span_equal (buffer_span (&heard.ids [i]), buffer_span (&heard.ids [other])));
        }
        s_forget (&heard);
    }
}

static void
test_text_is_text (void **state)
{
    s_check (&(model_t){ "hermes", "", TOOLS, false }, "Just \"text\" <b> and\n\tmore \xc3\xa9.",
        "Just \"text\" <b> and\n\tmore \xc3\xa9.", "", NULL, 0);
}

static void
test_thoughts_and_calls_are_told_apart (void **state)
{
    static const char *const arguments [] = { "{\"path\": \"a\\\"b\"}", "{\"path\": \"a\\\"b\"}" };
    s_check (&(model_t){ "hermes", "", TOOLS, false }, "<think>\nHm.\n</think>\n\nI look.\n" CALL "\n" CALL,
        "I look.\n", "Hm.", arguments, 2);
    s_check (&(model_t){ "hermes", "<think>\n", TOOLS, false }, "Hm.\n</think>\n\n" CALL, "", "Hm.", arguments, 1);
}

//  Who brought no tools gets what the model wrote.
static void
test_without_tools_a_call_is_text (void **state)
{
    s_check (&(model_t){ "hermes", "", "", false }, "<think>Hm.</think>" CALL, CALL, "Hm.", NULL, 0);
}

//  What the limit cuts is delivered as far as it came; what the model left open is closed for it.
static void
test_a_call_that_ends_early (void **state)
{
    static const char open [] = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a";
    static const char *const cut [] = { "{\"path\": \"a" }, *const closed [] = { "{\"path\": \"a\"}" };
    s_check (&(model_t){ "hermes", "", TOOLS, true }, open, "", "", cut, 1);
    s_check (&(model_t){ "hermes", "", TOOLS, false }, open, "", "", closed, 1);
}

static void
test_ids_are_as_templates_want_them (void **state)
{
    model_t kimi = { "kimi_k2", "", TOOLS, false }, mistral = { "mistral", "", TOOLS, false };
    heard_t heard = s_say (&kimi,
        "<|tool_calls_section_begin|><|tool_call_begin|>read<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>",
        true, 1);
    assert_string_equal (buffer_string (&heard.ids [0]), "functions.read:3");
    s_forget (&heard);
    heard = s_say (&mistral, "[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {}}]", false, 1);
    assert_int_equal (heard.calls, 1);
    assert_int_equal (heard.ids [0].size, 9);
    s_forget (&heard);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_text_is_text),
        cmocka_unit_test (test_thoughts_and_calls_are_told_apart),
        cmocka_unit_test (test_without_tools_a_call_is_text),
        cmocka_unit_test (test_a_call_that_ends_early),
        cmocka_unit_test (test_ids_are_as_templates_want_them),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
