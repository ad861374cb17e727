//  The table of formats: sound rows, everybody's names, and the choice by templates (tests/data/chat_templates).

#include <string.h>

#include "tests/parsers/said.h"

#define TEMPLATES "tests/data/chat_templates/"

//  No marker is longer than what is looked at before a byte is taken; every row is found by its names.
static void
test_rows_are_sound (void **state)
{
    size_t count;
    const parser_format_t *formats = parser_formats (&count);
    for (size_t i = 0; i < count; i++) {
        const parser_format_t *row = &formats [i];
        assert_ptr_equal (parser_find (span_from_string (row->name)), row);
        for (; row; row = row->also) {
            const char *const markers [] = { row->section_start, row->section_end, row->call_start, row->call_end,
                row->name_end, row->key_start, row->key_end, row->value_start, row->value_end, row->quote };
            for (size_t m = 0; m < sizeof markers / sizeof *markers; m++)
                assert_true (!markers [m] || (strlen (markers [m]) <= PARSER_MARKER_MAX && *markers [m]));
        }
    }
}

//  What vLLM, SGLang and Dynamo call their parsers of tool calls and of reasoning, and the row that reads them.
static const char *const s_others [][2] = {
    { "hermes", "hermes qwen qwen25 qwen3 qwen3_json granite4 trinity holo2" },
    { "qwen3_coder",
        "qwen3_coder qwen3_xml mimo step3p5 step5 nanbeige minicpmv nemotron_nano nemotron3 nemotron_3 nemotron_v3" },
    { "seed_oss", "seed_oss" },
    { "llama3_json", "llama3_json llama3 llama4_json" },
    { "pythonic", "pythonic llama4_pythonic" },
    { "mistral", "mistral" },
    { "deepseek_v3", "deepseek_v3 deepseekv3 deepseek-v3" },
    { "deepseek_v3_1", "deepseek_v31 deepseekv31 deepseek_v3_1" },
    { "deepseek_v3_2", "deepseek_v32 deepseekv32 deepseek_v3_2" },
    { "deepseek_v4", "deepseek_v4 deepseekv4 deepseek-v4" },
    { "glm45", "glm glm45 poolside_v1 ling3 spark25" },
    { "glm47", "glm47" },
    { "kimi_k2", "kimi_k2 kimi_k25" },
    { "kimi_k3", "kimi_k3 kimi-k3" },
    { "minimax_m2", "minimax_m2 minimax-m2 minimax" },
    { "minimax_append_think", "minimax_m2_append_think minimax-append-think minimax_append_think" },
    { "minimax_m3", "minimax_m3 minimax-m3 minimax_m3_nom" },
    { "harmony", "openai gpt-oss harmony openai_gptoss gpt_oss" },
    { "beam", "beam" },
    { "granite", "granite granite_thinking_parser" },
    { "granite_20b_fc", "granite-20b-fc" },
    { "phi4", "phi4_mini_json phi4" },
    { "cohere_command4", "cohere_command3 cohere_command4" },
    { "jamba", "jamba" },
    { "internlm", "internlm interns1" },
    { "nemotron_deci", "nemotron_deci" },
    { "step3", "step3" },
    { "hunyuan_a13b", "hunyuan_a13b" },
    { "hy_v3", "hy_v3 hy_v4 hunyuan" },
    { "longcat", "longcat" },
    { "xlam", "xlam" },
    { "apertus", "apertus apertus2509" },
    { "lfm2", "lfm2" },
    { "gemma4", "gemma4 gemma-4" },
    { "functiongemma", "functiongemma" },
    { "gigachat3", "gigachat3" },
    { "ernie45", "ernie45" },
    { "olmo3", "olmo3" },
    { "minicpm5", "minicpm5" },
    { "inkling", "inkling" },
    { "solar_open2", "solar_open2" },
    { "dots", "dots" },
    { "k2_horizon", "k2_horizon" },
    { "muse", "muse muse_glimmer musespark1x" },
    { "deepseek_v4_1", "deepseek_v41 deepseekv41" },
    { "gigachat3_5", "gigachat35" },
    { "iquest_q1", "iquest_q1" },
    { "plamo3", "plamo3" },
    { "default", "default" },
    { "deepseek_r1", "deepseek_r1 deepseek-r1 qwen3-thinking" },
    { "basic", "basic telechat4" },
    { "kimi", "kimi" },
};

static void
test_names_of_others_are_known (void **state)
{
    for (size_t i = 0; i < sizeof s_others / sizeof *s_others; i++)
        for (span_t rest = span_from_string (s_others [i][1]), name; rest.size;) {
            name = span_slice (rest, 0, span_find_byte (rest, ' '));
            const parser_format_t *row = parser_find (name);
            if (!row || strcmp (row->name, s_others [i][0]) != 0)
                fail_msg ("%.*s is %s", SPAN_ARG (name), row ? row->name : "nothing");
            rest = span_slice (rest, name.size + 1, rest.size);
        }
    assert_null (parser_find (SPAN ("nobody")));
    assert_null (parser_find ((span_t){ 0 }));
}

//  The context is the vocabulary, parted by blanks.
static bool
s_has_token (void *context, span_t token)
{
    for (span_t rest = span_from_string (context); rest.size;) {
        size_t size = span_find_byte (rest, ' ');
        if (span_equal (span_slice (rest, 0, size), token))
            return true;
        rest = span_slice (rest, size + 1, rest.size);
    }
    return false;
}

//  The format is read from what the template writes, else from what the vocabulary has, and a sentence says so.
static void
test_the_template_says_which_format (void **state)
{
    static const char *const chosen [][2] = { { "llama.cpp/ByteDance-Seed-OSS", "seed_oss" },
        { "llama.cpp/Apertus-8B-Instruct", "apertus" }, { "llama.cpp/GLM-4.6", "glm45" },
        { "llama.cpp/Kimi-K2-Instruct", "kimi_k2" }, { "dynamo/gemma4_tool", "gemma4" },
        { "npm/deepseek_v3", "deepseek_v3" }, { "npm/qwen3", "hermes" },
        { "llama.cpp/deepseek-ai-DeepSeek-V3.1", "deepseek_v3_1" },
        { "llama.cpp/deepseek-ai-DeepSeek-V3.2", "deepseek_v3_2" }, { "llama.cpp/Qwen3-Coder", "qwen3_coder" },
        { "llama.cpp/openai-gpt-oss-120b", "harmony" },
        { "llama.cpp/meetkai-functionary-medium-v3.1", "functionary_v3_1" },
        { "vllm/tool_chat_template_mistral", "mistral" }, { "llama.cpp/LFM2-8B-A1B", "lfm2" },
        { "llama.cpp/GigaChat3-10B-A1.8B", "gigachat3" }, { "llama.cpp/unsloth-Apriel-1.5", "apriel" },
        { "llama.cpp/meta-llama-Llama-3.2-3B-Instruct", "llama3_json" },
        { "vllm/tool_chat_template_llama3.2_pythonic", "pythonic" },
        { "llama.cpp/CohereForAI-c4ai-command-r-plus-tool_use", "command_r" },
        { "llama.cpp/google-gemma-2-2b-it", "plain" } };
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        buffer_t path = { 0 };
        buffer_print (&path, "%s%s.jinja", TEMPLATES, chosen [i][0]);
        buffer_t source = said_read_file (buffer_string (&path));
        parser_choice_t choice = parser_choose (buffer_span (&source), NULL, NULL);
        assert_string_equal (choice.format->name, chosen [i][1]);
        assert_null (choice.reasoning);
        assert_true (strlen (choice.reason) > 0);
        buffer_fini (&path);
        buffer_fini (&source);
    }
    assert_string_equal (parser_choose ((span_t){ 0 }, NULL, NULL).format->name, "plain");
}

//  Where the template says nothing, tokens do: first those that a template would have been known by.
static void
test_the_vocabulary_says_which_format (void **state)
{
    static char *const chosen [][2] = { { "a [TOOL_CALLS]", "mistral" }, { "<|message|> <|channel|>", "harmony" },
        { "<think> <tool_call> </tool_call>", "hermes" }, { "<tool_call> <arg_key> <think>", "glm45" },
        { "<|tool_call_start|>", "lfm2" }, { "<think>", "plain" } };
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        parser_choice_t choice = parser_choose (SPAN ("{{ messages }}"), s_has_token, chosen [i][0]);
        assert_string_equal (choice.format->name, chosen [i][1]);
    }
    parser_choice_t choice = parser_choose (SPAN ("{{ messages }}"), s_has_token, "[TOOL_CALLS]");
    assert_string_equal (choice.reason, "the vocabulary has the token [TOOL_CALLS]");
}

//  A template may write one family's calls and think like another's.
static void
test_reasoning_is_chosen_by_itself (void **state)
{
    parser_choice_t choice = parser_choose (SPAN ("[THINK]{{ t }}[/THINK]<tool_call>{{ c }}</tool_call>"), NULL, NULL);
    assert_string_equal (choice.format->name, "hermes");
    assert_string_equal (choice.reasoning->name, "mistral");
    assert_null (parser_choose (SPAN ("<think><tool_call>"), NULL, NULL).reasoning);
}

//  ---- Start ---------------------------------------------------------------------------------------------------------

//  A rendered prompt leaves reasoning open where it ends in an opener.
static bool
s_ends_open (const parser_format_t *format, span_t prompt)
{
    prompt = span_trim (prompt);
    for (size_t i = 0; i < PARSER_ALTERNATIVES && format->think_start [i]; i++) {
        span_t opener = span_trim (span_from_string (format->think_start [i]));
        if (prompt.size >= opener.size &&
            span_equal (span_slice (prompt, prompt.size - opener.size, opener.size), opener))
            return true;
    }
    return false;
}

static void
s_check_prompt (const json_t *row, size_t *open)
{
    buffer_t path = { 0 };
    span_t name = json_string (json_get (row, "template")), prompt = json_string (json_get (row, "text"));
    buffer_print (&path, "%s%.*s", TEMPLATES, SPAN_ARG (name));
    buffer_t source = said_read_file (buffer_string (&path));
    const parser_format_t *format = parser_choose (buffer_span (&source), NULL, NULL).format;
    span_t prefill = parser_prefill (format, prompt);
    bool thinks = prefill.size && format->machine != PARSER_HARMONY && !span_equal_string (prefill, ">>>");
    if (thinks != s_ends_open (format, prompt))
        fail_msg ("%.*s: %.*s", SPAN_ARG (name), SPAN_ARG (prefill));
    *open += thinks;
    buffer_fini (&path);
    buffer_fini (&source);
}

//  Of every template in every conversation, the prompt says whether the answer begins in open reasoning.
static void
test_the_prompt_says_whether_reasoning_is_open (void **state)
{
    size_t open = 0, rows = 0;
    buffer_t text = said_read_file (TEMPLATES "golden.jsonl");
    for (span_t rest = buffer_span (&text); rest.size; rows++) {
        size_t size = span_find_byte (rest, '\n');
        json_t *row = said_parse_json (span_slice (rest, 0, size));
        if (json_get (row, "text"))
            s_check_prompt (row, &open);
        json_destroy (&row);
        rest = span_slice (rest, size + 1, rest.size);
    }
    assert_true (rows > 1000 && open > 50);
    buffer_fini (&text);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_rows_are_sound),
        cmocka_unit_test (test_names_of_others_are_known),
        cmocka_unit_test (test_the_template_says_which_format),
        cmocka_unit_test (test_the_vocabulary_says_which_format),
        cmocka_unit_test (test_reasoning_is_chosen_by_itself),
        cmocka_unit_test (test_the_prompt_says_whether_reasoning_is_open),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
