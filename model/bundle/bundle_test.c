//  A model from the files it comes in: which template, which tokens around a text, what the engine adds.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/bundle/bundle.h"
#include "model/gguf.h"

static const int64_t NOW_S = 1768478400;

//  A tokenizer.json with two special tokens and next to no pieces.
#define TOKEN(id, text) "{\"id\":" #id ",\"content\":\"" text "\",\"special\":true}"
#define TOKENIZER                                                                                                 \
    "{\"added_tokens\":[" TOKEN (2, "<s>") "," TOKEN (                                                            \
        3, "</s>") "],\"pre_tokenizer\":{\"type\":\"Sequence\","                                                  \
                   "\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":\"ByteLevel\"," \
                   "\"add_prefix_space\":false,\"use_regex\":false}]},"                                           \
                   "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\">>>\":1},\"merges\":[]}}"
#define SAY "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"

typedef struct {
    span_t files [BUNDLE_FILES];    //  As loaded
    bundle_t *bundle;               //  What came of them
    buffer_t prompt;                //  Rendered last
    error_t error;                  //  Of the last call
} house_t;

static void
s_put (house_t *self, bundle_file_t kind, const char *text)
{
    self->files [kind] = span_from_string (text);
}

static void
s_load (house_t *self)
{
    if (bundle_load (self->files, &self->bundle, &self->error))
        fail_msg ("%s", self->error.text);
}

static void
s_close (house_t *self)
{
    bundle_destroy (&self->bundle);
    bundle_destroy (&self->bundle);
    buffer_fini (&self->prompt);
}

static status_t
s_render (house_t *self, const char *conversation)
{
    json_t *tree = NULL;
    assert_int_equal (json_parse (span_from_string (conversation), &tree, NULL), STATUS_OK);
    buffer_clear (&self->prompt);
    status_t status = bundle_render (self->bundle, tree, NOW_S, 0, &self->prompt, &self->error);
    json_destroy (&tree);
    return status;
}

static void
s_check_render (house_t *self, const char *conversation, const char *expected)
{
    if (s_render (self, conversation))
        fail_msg ("%s", self->error.text);
    assert_string_equal (buffer_string (&self->prompt), expected);
}

#define HELLO "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"

//  ---- Where the template comes from ---------------------------------------------------------------------------------

static void
test_a_folder_says_its_template_and_its_tokens (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_CONFIG,
        "{\"bos_token\":{\"content\":\"<s>\"},\"eos_token\":\"</s>\",\"chat_template\":\"" SAY "\"}");
    s_load (&house);
    s_check_render (&house, HELLO "}", "<s>user: hi</s>");
    assert_string_equal (house.bundle->plain->origin, "tokenizer_config.json");
    assert_string_equal (buffer_string (&house.bundle->vocabulary), "BPE");
    assert_string_equal (buffer_string (&house.bundle->cutting), "Digits, ByteLevel");
    s_close (&house);
}

static void
test_a_template_of_its_own_wins (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_CONFIG,
        "{\"chat_template\":[{\"name\":\"default\",\"template\":\"config\"},{\"name\":\"tool_use\",\"template\":"
        "\"tools\"}]}");
    s_put (&house, BUNDLE_TEMPLATE, "file");
    s_load (&house);
    s_check_render (&house, HELLO "}", "file");
    s_check_render (&house, HELLO ",\"tools\":[{}]}", "file");
    s_close (&house);
}

static void
test_conversations_with_tools_have_their_template (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_CONFIG,
        "{\"chat_template\":[{\"name\":\"rag\",\"template\":\"{% rag %}\"},{\"name\":\"tool_use\",\"template\":"
        "\"tools <tool_call>{{ tools }}\"},{\"name\":\"default\",\"template\":\"plain\"}]}");
    s_load (&house);
    s_check_render (&house, HELLO "}", "plain");
    s_check_render (&house, HELLO ",\"tools\":[]}", "plain");
    s_check_render (&house, HELLO ",\"tools\":[{}]}", "tools <tool_call>[{}]");
    assert_int_equal (house.bundle->templates.count, 3);
    assert_string_equal (house.bundle->format.format->name, "hermes");
    s_close (&house);
}

static void
test_without_a_default_only_conversations_with_tools_are_rendered (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_CONFIG,
        "{\"chat_template\":[{\"name\":\"rag\",\"template\":\"rag\"},{\"name\":\"tool_use\",\"template\":\"tools\"}]}");
    s_load (&house);
    s_check_render (&house, HELLO ",\"tools\":[{}]}", "tools");
    assert_int_equal (s_render (&house, HELLO "}"), STATUS_UNSUPPORTED);
    assert_string_equal (house.error.text, "no chat template of the model is called default: rag, tool_use");
    s_close (&house);
}

//  Files of their own, then the processor's, then the tokenizer's: the first of them gives all.
static void
test_templates_come_from_the_first_place_that_has_any (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_CONFIG,
        "{\"chat_template\":[{\"name\":\"default\",\"template\":\"config\"},{\"name\":\"tool_use\",\"template\":"
        "\"config with tools\"}]}");
    s_load (&house);
    s_check_render (&house, HELLO "}", "config");
    s_close (&house);
    s_put (&house, BUNDLE_PROCESSOR, "{\"chat_template\":\"processor\"}");
    s_load (&house);
    s_check_render (&house, HELLO ",\"tools\":[{}]}", "processor");
    assert_string_equal (house.bundle->plain->origin, "chat_template.json");
    s_close (&house);
    s_put (&house, BUNDLE_TEMPLATE, "file");
    s_load (&house);
    s_check_render (&house, HELLO ",\"tools\":[{}]}", "file");
    s_close (&house);
    s_put (&house, BUNDLE_TEMPLATES, "[{\"name\":\"tool_use\",\"template\":\"folder\"}]");
    s_load (&house);
    s_check_render (&house, HELLO "}", "file");
    s_check_render (&house, HELLO ",\"tools\":[{}]}", "folder");
    s_close (&house);
}

//  ---- What it does with conversations -------------------------------------------------------------------------------

static void
test_a_template_that_is_used_is_tried_when_it_is_loaded (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_TEMPLATE,
        "{% if not day or bos_token != '<s>' %}{{ raise_exception('incomplete') }}{% endif %}" SAY
        "{% if add_generation_prompt %}assistant:{% endif %}");
    s_put (&house, BUNDLE_TEMPLATES,
        "[{\"name\":\"tool_use\",\"template\":\"{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor "
        "%}\"}]");
    s_put (&house, BUNDLE_CONFIG, "{\"bos_token\":\"<s>\"}");
    s_put (&house, BUNDLE_ENGINE, "{\"rendered\":{\"day\":\"{{ strftime_now('%d %b') }}\"}}");
    s_load (&house);
    const template_findings_t *plain = &house.bundle->plain->findings;
    const template_findings_t *with_tools = &house.bundle->with_tools->findings;
    assert_int_equal (plain->system_middle, FATE_KEPT);
    assert_true (span_equal_string (buffer_span (&plain->tail), "assistant:"));
    assert_int_equal (with_tools->system_middle, FATE_DROPPED);
    assert_int_equal (with_tools->tail.size, 0);
    s_close (&house);
}

//  A small model's GGUF file; the text lives as long as the test.
static span_t
s_read_gguf (void)
{
    static char bytes [4 << 20];
    FILE *file = fopen ("tests/data/models/stories260K-f32.gguf", "rb");
    assert_non_null (file);
    span_t text = span_of (bytes, fread (bytes, 1, sizeof bytes, file));
    fclose (file);
    return text;
}

static void
test_a_gguf_file_brings_all_in_one (void **state)
{
    house_t house = { .files [BUNDLE_GGUF] = s_read_gguf () };
    s_put (&house, BUNDLE_TEMPLATE, SAY);
    s_load (&house);
    s_check_render (&house, HELLO "}", "<s>user: hi</s>");
    assert_string_equal (buffer_string (&house.bundle->name), "stories260K");
    assert_string_equal (buffer_string (&house.bundle->vocabulary), "llama");
    assert_int_equal (tokenizer_size (house.bundle->tokenizer), 512);
    s_close (&house);
}

static void
s_append_gguf_string (buffer_t *file, const char *key, const char *text)
{
    buffer_append_u64_le (file, strlen (key));
    buffer_append_string (file, key);
    buffer_append_u32_le (file, GGUF_STRING);
    buffer_append_u64_le (file, strlen (text));
    buffer_append_string (file, text);
}

//  A file like it that says two templates more: behind magic, version and tensors stands the number of what it says.
static void
test_a_gguf_file_brings_its_templates (void **state)
{
    enum { COUNT_AT = 16, ENTRIES_AT = 24 };
    span_t plain = s_read_gguf ();
    buffer_t file = { 0 };
    buffer_append (&file, span_slice (plain, 0, COUNT_AT));
    buffer_append_u64_le (&file, plain.data [COUNT_AT] + 2u);
    s_append_gguf_string (&file, "tokenizer.chat_template", "plain");
    s_append_gguf_string (&file, "tokenizer.chat_template.tool_use", "tools");
    buffer_append (&file, span_slice (plain, ENTRIES_AT, plain.size));
    house_t house = { .files [BUNDLE_GGUF] = buffer_span (&file) };
    s_load (&house);
    s_check_render (&house, HELLO "}", "plain");
    s_check_render (&house, HELLO ",\"tools\":[{}]}", "tools");
    assert_string_equal (house.bundle->plain->origin, "GGUF");
    s_close (&house);
    buffer_fini (&file);
}

//  ---- What the engine does beside -----------------------------------------------------------------------------------

static void
test_the_engines_variables_give_way_to_the_conversations (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_TEMPLATE, "{{ enable_thinking }} {{ add_generation_prompt }} {{ day }}");
    s_put (&house, BUNDLE_ENGINE,
        "{\"variables\":{\"enable_thinking\":true},\"rendered\":{\"day\":\"{{ strftime_now('%d %b') }}\"}}");
    s_load (&house);
    s_check_render (&house, HELLO "}", "True True 15 Jan");
    s_check_render (
        &house, HELLO ",\"enable_thinking\":false,\"add_generation_prompt\":false,\"day\":\"one\"}", "False False one");
    s_close (&house);
    s_put (&house, BUNDLE_ENGINE, "{\"rendered\":{\"day\":\"{% if %}\"}}");
    s_load (&house);
    assert_int_equal (s_render (&house, HELLO "}"), STATUS_INVALID);
    assert_true (span_starts_with (span_from_string (house.error.text), SPAN ("variable day: line 1")));
    s_close (&house);
}

static void
test_what_begins_every_prompt_is_there_once (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_TEMPLATE, "{% if first %}<s>{% endif %}hi");
    s_put (&house, BUNDLE_ENGINE, "{\"begin\":\"<s>\"}");
    s_load (&house);
    s_check_render (&house, "{}", "<s>hi");
    s_check_render (&house, "{\"first\":true}", "<s>hi");
    s_close (&house);
}

//  ---- Answers -------------------------------------------------------------------------------------------------------

//  A word of the vocabulary is no marker.
static void
test_only_added_tokens_speak_for_a_format (void **state)
{
    house_t house = { 0 };
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_load (&house);
    assert_string_equal (house.bundle->format.format->name, "plain");
    s_close (&house);
    s_put (&house, BUNDLE_TEMPLATE, "{%- macro m() %}{% endmacro %}<tool_call>{{ tools|tojson }}");
    s_load (&house);
    assert_string_equal (house.bundle->format.format->name, "hermes");
    size_t cursor = 0;
    assert_string_equal (bundle_next_feature (house.bundle, &cursor), "macros");
    assert_string_equal (bundle_next_feature (house.bundle, &cursor), "tojson");
    assert_string_equal (bundle_next_feature (house.bundle, &cursor), "tools");
    assert_null (bundle_next_feature (house.bundle, &cursor));
    s_close (&house);
}

//  ---- What is refused -----------------------------------------------------------------------------------------------

static void
s_check_refused (const house_t *files, const char *expected)
{
    bundle_t *bundle = NULL;
    error_t error = { 0 };
    assert_int_not_equal (bundle_load (files->files, &bundle, &error), STATUS_OK);
    assert_null (bundle);
    if (!strstr (error.text, expected))
        fail_msg ("%s", error.text);
}

static void
test_files_that_are_none_are_refused_by_name (void **state)
{
    house_t house = { 0 };
    s_check_refused (&house, "there is neither a GGUF file nor a tokenizer.json");
    s_put (&house, BUNDLE_TOKENIZER, "[]");
    s_check_refused (&house, "tokenizer.json");
    s_put (&house, BUNDLE_TOKENIZER, TOKENIZER);
    s_put (&house, BUNDLE_CONFIG, "{");
    s_check_refused (&house, "tokenizer_config.json: not JSON");
    s_put (&house, BUNDLE_CONFIG, "{\"chat_template\":\"{% if %}\"}");
    s_check_refused (&house, "the chat template of tokenizer_config.json: line 1");
    s_put (&house, BUNDLE_CONFIG, "{\"chat_template\":[{\"name\":\"default\"}]}");
    s_check_refused (&house, "tokenizer_config.json: a listed chat template needs \"name\" and \"template\"");
    s_put (&house, BUNDLE_CONFIG, "{}");
    s_put (&house, BUNDLE_ENGINE, "nothing");
    s_check_refused (&house, "what the engine does: not JSON");
    s_put (&house, BUNDLE_ENGINE, "{}");
    s_load (&house);
    assert_int_equal (s_render (&house, HELLO "}"), STATUS_UNSUPPORTED);
    assert_string_equal (house.error.text, "the model has no chat template");
    s_close (&house);
    s_put (&house, BUNDLE_GGUF, "GGUF");
    s_check_refused (&house, "GGUF");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_folder_says_its_template_and_its_tokens),
        cmocka_unit_test (test_a_template_of_its_own_wins),
        cmocka_unit_test (test_conversations_with_tools_have_their_template),
        cmocka_unit_test (test_without_a_default_only_conversations_with_tools_are_rendered),
        cmocka_unit_test (test_templates_come_from_the_first_place_that_has_any),
        cmocka_unit_test (test_a_template_that_is_used_is_tried_when_it_is_loaded),
        cmocka_unit_test (test_a_gguf_file_brings_all_in_one),
        cmocka_unit_test (test_a_gguf_file_brings_its_templates),
        cmocka_unit_test (test_the_engines_variables_give_way_to_the_conversations),
        cmocka_unit_test (test_what_begins_every_prompt_is_there_once),
        cmocka_unit_test (test_only_added_tokens_speak_for_a_format),
        cmocka_unit_test (test_files_that_are_none_are_refused_by_name),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
