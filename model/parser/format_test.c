//  The table of formats: sound rows, everybody's names, and the choice by templates (tests/data/chat_templates).

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "model/parser/format.h"

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

static void
test_names_of_others_are_known (void **state)
{
    static const char *const names [] = { "hermes", "qwen3_coder", "qwen25", "llama3_json", "llama3", "llama4_pythonic",
        "mistral", "deepseek_v3", "deepseekv31", "deepseek-v3", "deepseek_v32", "deepseekv4", "glm45", "GLM47",
        "kimi_k2", "minimax-m2", "openai", "gpt-oss", "minimax_append_think", "granite", "granite-20b-fc",
        "phi4_mini_json", "cohere_command3", "jamba", "internlm", "step3", "seed_oss", "xlam", "gemma4", "gigachat3",
        "ernie45", "hunyuan_a13b", "hy_v3", "longcat", "nemotron_deci", "deepseek_r1", "deepseek-r1", "qwen3",
        "qwen3-thinking", "basic", "kimi", "default", "lfm2", "olmo3", "apertus2509" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!parser_find (span_from_string (names [i])))
            fail_msg ("%s", names [i]);
    assert_null (parser_find (SPAN ("nobody")));
    assert_null (parser_find ((span_t){ 0 }));
}

static buffer_t
s_read_file (const char *path)
{
    buffer_t text = { 0 };
    FILE *file = fopen (path, "rb");
    assert_non_null (file);
    for (size_t got = 1; got;) {
        got = fread (buffer_reserve (&text, 1 << 16), 1, 1 << 16, file);
        buffer_commit (&text, got);
    }
    fclose (file);
    return text;
}

static bool
s_has_mistral_token (void *context, span_t token)
{
    return span_equal_string (token, "[TOOL_CALLS]");
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
        { "vllm/tool_chat_template_mistral", "mistral" },
        { "llama.cpp/meta-llama-Llama-3.2-3B-Instruct", "llama3_json" },
        { "vllm/tool_chat_template_llama3.2_pythonic", "pythonic" },
        { "llama.cpp/CohereForAI-c4ai-command-r-plus-tool_use", "command_r" },
        { "llama.cpp/google-gemma-2-2b-it", "plain" } };
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        buffer_t path = { 0 };
        buffer_print (&path, "%s%s.jinja", TEMPLATES, chosen [i][0]);
        buffer_t source = s_read_file (buffer_string (&path));
        parser_choice_t choice = parser_choose (buffer_span (&source), NULL, NULL);
        assert_string_equal (choice.format->name, chosen [i][1]);
        assert_true (strlen (choice.reason) > 0);
        buffer_fini (&path);
        buffer_fini (&source);
    }
    parser_choice_t choice = parser_choose (SPAN ("{{ messages }}"), s_has_mistral_token, NULL);
    assert_string_equal (choice.format->name, "mistral");
    assert_string_equal (choice.reason, "the vocabulary has the token [TOOL_CALLS]");
    assert_string_equal (parser_choose ((span_t){ 0 }, NULL, NULL).format->name, "plain");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_rows_are_sound),
        cmocka_unit_test (test_names_of_others_are_known),
        cmocka_unit_test (test_the_template_says_which_format),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
