//  The table of formats.  A family that writes one of these in its own words is a name more; one with other markers is a row
//  more.  Where several rows read the same words, the one that parser_choose should prefer stands first.

#include "model/parser/format.h"

#include <string.h>

#define THINK .think_start = { "<think>" }, .think_end = { "</think>" }
#define DSML_TAGS(mark)                                                                          \
    .call_start = "<" mark "invoke name=\"", .name_end = "\">", .call_end = "</" mark "invoke>", \
    .key_start = "<" mark "parameter name=\"", .key_end = "\"", .value_start = ">",              \
    .value_end = "</" mark "parameter>", .machine = PARSER_TAGS, .call_alone = true
#define QWEN_TAGS                                                                                                  \
    .machine = PARSER_TAGS, .call_alone = true, .trim_newline = true, .call_start = "<function=", .name_end = ">", \
    .call_end = "</function>", .key_start = "<parameter=", .key_end = ">", .value_end = "</parameter>"
#define GLM_TAGS(call)                                                                                  \
    .machine = PARSER_TAGS, .guess_types = true, .call_start = "<" call ">", .call_end = "</" call ">", \
    .name_end = "\n", .key_start = "<arg_key>", .key_end = "</arg_key>", .value_start = "<arg_value>",  \
    .value_end = "</arg_value>", .calls_end_thinking = true
#define HUNYUAN_TAGS(suffix)                                                                                      \
    .machine = PARSER_TAGS, .guess_types = true, .section_start = "<tool_calls" suffix ">",                       \
    .section_end = "</tool_calls" suffix ">", .call_start = "<tool_call" suffix ">",                              \
    .call_end = "</tool_call" suffix ">", .name_end = "<tool_sep" suffix ">", .key_start = "<arg_key" suffix ">", \
    .key_end = "</arg_key" suffix ">", .value_start = "<arg_value" suffix ">", .value_end = "</arg_value" suffix ">"
#define KIMI_CALL                                                                                             \
    .machine = PARSER_NAMED, .ids = PARSER_IDS_KIMI, .call_alone = true, .call_start = "<|tool_call_begin|>", \
    .call_end = "<|tool_call_end|>"

#define K2_SECTION .section_start = "<ifm|tool_calls>", .section_end = "</ifm|tool_calls>"
#define INVOKE_TAGS(prefix)                                                                                \
    .machine = PARSER_TAGS, .guess_types = true, .call_start = "<" prefix "invoke name=", .name_end = ">", \
    .call_end = "</" prefix "invoke>", .key_start = "<" prefix "parameter name=", .key_end = ">",          \
    .value_end = "</" prefix "parameter>"
#define NS "]<]minimax[>["
#define MINIMAX_TAGS INVOKE_TAGS (""), .section_start = "<minimax:tool_call>", .section_end = "</minimax:tool_call>"

//  ---- Further ways to write calls that a family's row reads, too ----------------------------------------------------

#define BAR "\xef\xbd\x9c"
#define LOW "\xe2\x96\x81"
#define DSML BAR "DSML" BAR
#define GCML BAR "GCML" BAR
#define PLAMO(word) "<|plamo:" word ":plamo|>"

static const parser_format_t s_hermes_tags = { QWEN_TAGS, .section_start = "<tool_call>",
    .section_end = "</tool_call>" };
static const parser_format_t s_tagged_json = {
    .machine = PARSER_JSON, .section_start = "<tool_call>", .section_end = "</tool_call>", .call_start = "{"
};
static const parser_format_t s_mistral_named = {
    .machine = PARSER_NAMED, .ids = PARSER_IDS_NINE, .call_start = "[TOOL_CALLS]"
};
static const parser_format_t s_llama_json = {
    .machine = PARSER_JSON, .section_start = "<|python_start|>", .section_end = "<|python_end|>", .call_start = "{"
};
static const parser_format_t s_llama_pythonic = { .machine = PARSER_LITERAL,
    .section_start = "<|python_start|>",
    .section_end = "<|python_end|>",
    .also = &s_llama_json };
static const parser_format_t s_dsml_bar_v4 = { DSML_TAGS ("|DSML|"), .section_start = "<|DSML|tool_calls>",
    .section_end = "</|DSML|tool_calls>" };
static const parser_format_t s_dsml_bar = { DSML_TAGS ("|DSML|"), .section_start = "<|DSML|function_calls>",
    .section_end = "</|DSML|function_calls>", .also = &s_dsml_bar_v4 };
static const parser_format_t s_dsml_v4 = { DSML_TAGS (DSML), .section_start = "<" DSML "tool_calls>",
    .section_end = "</" DSML "tool_calls>", .also = &s_dsml_bar };
static const parser_format_t s_dsml_v32 = { DSML_TAGS (DSML), .section_start = "<" DSML "function_calls>",
    .section_end = "</" DSML "function_calls>", .also = &s_dsml_bar };
static const parser_format_t s_kimi_singular = { KIMI_CALL, .section_start = "<|tool_call_section_begin|>",
    .section_end = "<|tool_call_section_end|>" };
static const parser_format_t s_xlam_mistral = {
    .machine = PARSER_JSON, .section_start = "[TOOL_CALLS]", .call_start = "{", .also = &s_tagged_json
};
static const parser_format_t s_xlam_bare_fence = {
    .machine = PARSER_JSON, .section_start = "```", .section_end = "```", .call_start = "{", .also = &s_xlam_mistral
};
static const parser_format_t s_xlam_fence = { .machine = PARSER_JSON,
    .section_start = "```json",
    .section_end = "```",
    .call_start = "{",
    .also = &s_xlam_bare_fence };
static const parser_format_t s_command_r_blank = {
    .machine = PARSER_JSON, .section_start = "Action: ```json", .section_end = "```", .call_start = "{"
};
static const parser_format_t s_hunyuan_suffix = { HUNYUAN_TAGS (":opensource") };
static const parser_format_t s_gigachat_role = {
    .machine = PARSER_JSON, .section_start = "function call<|role_sep|>\n", .call_start = "{"
};
static const parser_format_t s_gemma_bare = { .machine = PARSER_LITERAL,
    .section_start = "<|tool_call>",
    .section_end = "<tool_call|>",
    .call_start = ":",
    .quote = "<|\"|>" };
static const parser_format_t s_lfm2_json = { .machine = PARSER_JSON,
    .section_start = "<|tool_call_start|>",
    .section_end = "<|tool_call_end|>",
    .call_start = "{" };
static const parser_format_t s_dots_json = { .machine = PARSER_JSON,
    .section_start = "<dots_function_call>",
    .section_end = "</dots_function_call>",
    .call_start = "{" };
static const parser_format_t s_k2_tags = {
    K2_SECTION,
    .machine = PARSER_TAGS,
    .call_alone = true,
    .guess_types = true,
    .call_start = "<ifm|tool_call>",
    .name_end = "\n",
    .call_end = "</ifm|tool_call>",
    .key_start = "<ifm|arg_key>",
    .key_end = "</ifm|arg_key>",
    .value_start = "<ifm|arg_value>",
    .value_end = "</ifm|arg_value>",
};
static const parser_format_t s_gigachat_call = {
    .machine = PARSER_JSON, .section_start = "<|function_call|>", .call_start = "{", .also = &s_gigachat_role
};
static const parser_format_t s_default_python = {
    .machine = PARSER_JSON, .section_start = "<|python_tag|>", .call_start = "{"
};

//  ---- The table -----------------------------------------------------------------------------------------------------

static const parser_format_t s_formats [] = {
    { .name = "beam",
        .names = "",
        .machine = PARSER_HARMONY,
        .trim_newline = true,
        .call_end = "<|call|>",
        .section_end = "<|end|>",
        .key_start = "<rfl:parameter name=\"",
        .key_end = "\">",
        .value_end = "</rfl:parameter>",
        .evidence = { "<rfl:parameter" } },
    { .name = "harmony",
        .names = "openai gpt_oss openai_gptoss gptoss reasoning_harmony",
        .machine = PARSER_HARMONY,
        .evidence = { "<|channel|>" } },
    { .name = "deepseek_v4_1",
        .names = "deepseek_v41 deepseekv41",
        THINK,
        DSML_TAGS (DSML " "),
        .calls_end_thinking = true,
        .section_start = "<" DSML " calls>",
        .section_end = "</" DSML " calls>",
        .evidence = { "DSML" BAR " calls" },
        .also = &s_dsml_v4 },
    { .name = "deepseek_v4",
        .names = "deepseekv4",
        THINK,
        DSML_TAGS (DSML),
        .calls_end_thinking = true,
        .section_start = "<" DSML "tool_calls>",
        .section_end = "</" DSML "tool_calls>",
        .evidence = { "DSML" BAR "tool_calls" },
        .also = &s_dsml_v32 },
    { .name = "deepseek_v3_2",
        .names = "deepseek_v32 deepseekv32",
        THINK,
        DSML_TAGS (DSML),
        .calls_end_thinking = true,
        .section_start = "<" DSML "function_calls>",
        .section_end = "</" DSML "function_calls>",
        .evidence = { "DSML" BAR },
        .also = &s_dsml_v4 },
    { .name = "deepseek_v3",
        .names = "deepseekv3",
        THINK,
        .machine = PARSER_NAMED,
        .call_alone = true,
        .section_start = "<" BAR "tool" LOW "calls" LOW "begin" BAR ">",
        .section_end = "<" BAR "tool" LOW "calls" LOW "end" BAR ">",
        .call_start = "<" BAR "tool" LOW "call" LOW "begin" BAR ">",
        .call_end = "<" BAR "tool" LOW "call" LOW "end" BAR ">",
        .header_start = "function<" BAR "tool" LOW "sep" BAR ">",
        .between = { "```" },
        .evidence = { "<" BAR "tool" LOW "calls" LOW "begin" BAR ">" },
        .evidence_too = "```json" },
    { .name = "deepseek_v3_1",
        .names = "deepseek_v31 deepseekv31",
        THINK,
        .machine = PARSER_NAMED,
        .call_alone = true,
        .section_start = "<" BAR "tool" LOW "calls" LOW "begin" BAR ">",
        .section_end = "<" BAR "tool" LOW "calls" LOW "end" BAR ">",
        .call_start = "<" BAR "tool" LOW "call" LOW "begin" BAR ">",
        .call_end = "<" BAR "tool" LOW "call" LOW "end" BAR ">",
        .evidence = { "<" BAR "tool" LOW "calls" LOW "begin" BAR ">" } },
    { .name = "kimi_k2",
        .names = "kimi_k25 kimi_k2_5",
        THINK,
        KIMI_CALL,
        .calls_end_thinking = true,
        .section_start = "<|tool_calls_section_begin|>",
        .section_end = "<|tool_calls_section_end|>",
        .evidence = { "<|tool_calls_section_begin|>" },
        .also = &s_kimi_singular },
    { .name = "kimi_k3",
        .names = "",
        .machine = PARSER_TAGS,
        .call_alone = true,
        .entities = true,
        .guess_types = true,
        .think_start = { "<|open|>think<|sep|>" },
        .think_end = { "<|close|>think<|sep|>" },
        .silent = { "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>",
            "<|end_of_msg|>" },
        .section_start = "<|open|>tools<|sep|>",
        .section_end = "<|close|>tools<|sep|>",
        .attributes = true,
        .call_start = "<|open|>call ",
        .name_end = "<|sep|>",
        .call_end = "<|close|>call<|sep|>",
        .key_start = "<|open|>argument ",
        .key_end = "<|sep|>",
        .value_end = "<|close|>argument<|sep|>",
        .evidence = { "<|open|>" } },
    { .name = "minimax_m3",
        .names = "minimax_m3_nom",
        .machine = PARSER_TAGS,
        .call_alone = true,
        .nested = true,
        .guess_types = true,
        .think_start = { "<mm:think>" },
        .think_end = { "</mm:think>" },
        .section_start = NS "<tool_call>",
        .section_end = NS "</tool_call>",
        .call_start = NS "<invoke name=",
        .name_end = ">",
        .call_end = NS "</invoke>",
        .key_start = NS "<",
        .key_end = ">",
        .value_end = NS "</",
        .evidence = { NS } },
    { .name = "minimax_m2",
        .names = "minimax",
        THINK,
        MINIMAX_TAGS,
        .calls_end_thinking = true,
        .evidence = { "<minimax:tool_call>" } },
    { .name = "minimax_append_think", .names = "minimax_m2_append_think", MINIMAX_TAGS },
    { .name = "step3",
        .names = "",
        THINK,
        .machine = PARSER_TAGS,
        .section_start = "<" BAR "tool_calls_begin" BAR ">",
        .section_end = "<" BAR "tool_calls_end" BAR ">",
        .call_start = "<steptml:invoke name=",
        .between = { "<" BAR "tool_call_begin" BAR ">function<" BAR "tool_sep" BAR ">",
            "<" BAR "tool_call_end" BAR ">" },
        .name_end = ">",
        .call_end = "</steptml:invoke>",
        .key_start = "<steptml:parameter name=",
        .key_end = ">",
        .value_end = "</steptml:parameter>",
        .guess_types = true,
        .evidence = { "<steptml:invoke" } },
    { .name = "hy_v3",
        .names = "hunyuan hunyuan_v3 hy_v4",
        .think_start = { "<think>", "<think:opensource>" },
        .think_end = { "</think>", "</think:opensource>" },
        HUNYUAN_TAGS (""),
        .evidence = { "<tool_sep>", ":opensource>" },
        .also = &s_hunyuan_suffix },
    { .name = "solar_open2",
        .names = "",
        .machine = PARSER_TAGS,
        .guess_types = true,
        .think_start = { "<|think:start|>" },
        .think_end = { "<|think:end|>" },
        .call_start = "<|tool_call:start|>",
        .name_end = "\n",
        .call_end = "<|tool_call:end|>",
        .key_start = "<|tool_arg:start|>",
        .key_end = "<|tool_arg:value|>",
        .value_end = "<|tool_arg:end|>",
        .evidence = { "<|tool_call:start|>" } },
    { .name = "k2_horizon",
        .names = "",
        K2_SECTION,
        .machine = PARSER_JSON,
        .think_start = { "<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>" },
        .think_end = { "</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>" },
        .call_start = "{",
        .between = { "<ifm|tool_call>", "</ifm|tool_call>" },
        .evidence = { "<ifm|tool_call>" },
        .also = &s_k2_tags },
    { .name = "dots",
        .names = "",
        THINK,
        INVOKE_TAGS (""),
        .section_start = "<dots_function_call>",
        .section_end = "</dots_function_call>",
        .evidence = { "<dots_function_call>" },
        .also = &s_dots_json },
    { .name = "muse",
        .names = "muse_glimmer musespark1x",
        .recipients = true,
        INVOKE_TAGS ("atem:"),
        .call_alone = true,
        .section_start = "<atem:function_calls>",
        .section_end = "</atem:function_calls>",
        .evidence = { "<atem:function_calls>" } },
    { .name = "minicpm5",
        .names = "",
        THINK,
        .machine = PARSER_TAGS,
        .guess_types = true,
        .call_alone = true,
        .section_start = "<tool_call>",
        .section_end = "</tool_call>",
        .call_start = "<function name=",
        .name_end = ">",
        .call_end = "</function>",
        .key_start = "<param name=",
        .key_end = ">",
        .value_end = "</param>",
        .cdata = true,
        .evidence = { "<param name=" } },
    { .name = "seed_oss",
        .names = "",
        .think_start = { "<seed:think>" },
        .think_end = { "</seed:think>" },
        QWEN_TAGS,
        .calls_end_thinking = true,
        .section_start = "<seed:tool_call>",
        .section_end = "</seed:tool_call>",
        .evidence = { "<seed:tool_call>" } },
    { .name = "functionary_v3_1",
        .names = "",
        .machine = PARSER_NAMED,
        .call_start = "<function=",
        .call_end = "</function>",
        .evidence = { "<function=example_function_name>{" } },
    { .name = "qwen3_coder",
        .names = "qwen3_xml mimo step3p5 step5 nanbeige minicpmv nemotron_nano nemotron3 nemotron_3 nemotron_v3",
        THINK,
        QWEN_TAGS,
        .calls_end_thinking = true,
        .section_start = "<tool_call>",
        .section_end = "</tool_call>",
        .evidence = { "<function=" },
        .also = &s_tagged_json },
    { .name = "iquest_q1", .names = "", THINK, GLM_TAGS ("iquest_tool_call"), .evidence = { "<iquest_tool_call>" } },
    { .name = "glm45",
        .names = "glm glm46 poolside_v1 ling3 spark25",
        THINK,
        GLM_TAGS ("tool_call"),
        .evidence = { "<arg_key>" } },
    { .name = "glm47", .names = "glm5", THINK, GLM_TAGS ("tool_call") },
    { .name = "gemma4",
        .names = "gemma_4",
        .machine = PARSER_LITERAL,
        .think_start = { "<|channel>thought\n" },
        .think_end = { "<channel|>" },
        .section_start = "<|tool_call>",
        .section_end = "<tool_call|>",
        .call_start = "call:",
        .quote = "<|\"|>",
        .calls_end_thinking = true,
        .evidence = { "<|tool_call>" },
        .also = &s_gemma_bare },
    { .name = "functiongemma",
        .names = "",
        .machine = PARSER_LITERAL,
        .section_start = "<start_function_call>",
        .section_end = "<end_function_call>",
        .call_start = "call:",
        .quote = "<escape>",
        .evidence = { "<start_function_call>" } },
    { .name = "olmo3",
        .names = "",
        THINK,
        .machine = PARSER_LITERAL,
        .section_start = "<function_calls>",
        .section_end = "</function_calls>",
        .evidence = { "<function_calls>" } },
    { .name = "lfm2",
        .names = "",
        THINK,
        .machine = PARSER_LITERAL,
        .section_start = "<|tool_call_start|>",
        .section_end = "<|tool_call_end|>",
        .also = &s_lfm2_json,
        .evidence = { "<|tool_call_start|>", "<|tool_list_start|>" } },
    { .name = "cohere_command4",
        .names = "cohere_command3 cohere cohere2",
        .machine = PARSER_JSON,
        .think_start = { "<|START_THINKING|>" },
        .think_end = { "<|END_THINKING|>" },
        .section_start = "<|START_ACTION|>",
        .section_end = "<|END_ACTION|>",
        .call_start = "{",
        .silent = { "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>" },
        .evidence = { "<|START_ACTION|>" } },
    { .name = "nemotron_deci",
        .names = "",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "<TOOLCALL>",
        .section_end = "</TOOLCALL>",
        .call_start = "{",
        .evidence = { "<TOOLCALL>" } },
    { .name = "inkling",
        .names = "",
        .machine = PARSER_JSON,
        .think_start = { "<|content_thinking|>" },
        .think_end = { "<|end_message|>" },
        .silent = { "<|content_text|>", "<|end_message|>", "<|content_model_end_sampling|>", "<|content_tool_error|>",
            "<|content_invoke_tool_text|>" },
        .label_start = "<|message_model|>",
        .calls_end_thinking = true,
        .section_start = "<|content_invoke_tool_json|>",
        .section_end = "<|end_message|>",
        .call_start = "{",
        .evidence = { "<|content_invoke_tool_json|>" } },
    { .name = "internlm",
        .names = "interns1 intern_s1",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "<|action_start|><|plugin|>",
        .section_end = "<|action_end|>",
        .call_start = "{",
        .evidence = { "<|action_start|>" } },
    { .name = "apertus",
        .names = "apertus2509",
        .machine = PARSER_JSON,
        .name_is_key = true,
        .think_start = { "<|inner_prefix|>" },
        .think_end = { "<|inner_suffix|>" },
        .section_start = "<|tools_prefix|>",
        .section_end = "<|tools_suffix|>",
        .call_start = "{",
        .evidence = { "<|tools_prefix|>" } },
    { .name = "plamo3",
        .names = "",
        .machine = PARSER_NAMED,
        .calls_end_thinking = true,
        .think_start = { PLAMO ("begin_think") },
        .think_end = { PLAMO ("end_think") },
        .silent = { "<|plamo:tag|>" },
        .section_start = PLAMO ("begin_tool_requests"),
        .section_end = PLAMO ("end_tool_requests"),
        .call_start = PLAMO ("begin_tool_request"),
        .header_start = PLAMO ("begin_tool_name"),
        .call_end = PLAMO ("end_tool_request"),
        .between = { PLAMO ("end_tool_arguments") },
        .evidence = { PLAMO ("begin_tool_request") } },
    { .name = "gigachat3_5",
        .names = "gigachat35",
        THINK,
        DSML_TAGS (GCML),
        .silent = { "<|message_sep|>" },
        .section_start = "<" GCML "tool_calls>",
        .section_end = "</" GCML "tool_calls>",
        .evidence = { GCML "tool_calls" },
        .also = &s_gigachat_call },
    { .name = "gigachat3",
        .names = "",
        .machine = PARSER_JSON,
        .silent = { "<|message_sep|>" },
        .section_start = "<|function_call|>",
        .call_start = "{",
        .evidence = { "<|function_call|>", "<|role_sep|>" },
        .also = &s_gigachat_role },
    { .name = "granite_20b_fc",
        .names = "granite20b",
        .machine = PARSER_JSON,
        .section_start = "<function_call>",
        .section_end = "</function_call>",
        .call_start = "{",
        .evidence = { "<function_call>" } },
    { .name = "granite",
        .names = "reasoning_granite granite_thinking_parser",
        .machine = PARSER_JSON,
        .think_start = { "Here is my thought process:", "Here's my thought process:", "<think>" },
        .think_end = { "Here is my response:", "Here's my response:", "</think>" },
        .section_start = "<|tool_call|>",
        .call_start = "{",
        .evidence = { "<|tool_call|>" },
        .also = &s_tagged_json },
    { .name = "longcat",
        .names = "",
        .machine = PARSER_JSON,
        .think_start = { "<longcat_think>", "<think>" },
        .think_end = { "</longcat_think>", "</think>" },
        .section_start = "<longcat_tool_call>",
        .section_end = "</longcat_tool_call>",
        .call_start = "{",
        .evidence = { "<longcat_tool_call>" } },
    { .name = "hunyuan_a13b",
        .names = "",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "<tool_calls>",
        .section_end = "</tool_calls>",
        .call_start = "{",
        .silent = { "<answer>", "</answer>" },
        .evidence = { "<answer>" } },
    { .name = "command_r",
        .names = "",
        .machine = PARSER_JSON,
        .section_start = "Action:```json",
        .section_end = "```",
        .call_start = "{",
        .evidence = { "Action:" },
        .evidence_too = "```json",
        .also = &s_command_r_blank },
    { .name = "apriel",
        .names = "",
        .machine = PARSER_JSON,
        .think_start = { "Here are my reasoning steps:\n" },
        .think_end = { "[BEGIN FINAL RESPONSE]" },
        .section_start = "<tool_calls>",
        .section_end = "</tool_calls>",
        .call_start = "{",
        .silent = { "[END FINAL RESPONSE]" },
        .evidence = { "[BEGIN FINAL RESPONSE]" } },
    { .name = "jamba",
        .names = "",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "<tool_calls>",
        .section_end = "</tool_calls>",
        .call_start = "{",
        .evidence = { "<tool_calls>" } },
    { .name = "ernie45",
        .names = "ernie",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "<tool_call>",
        .section_end = "</tool_call>",
        .call_start = "{",
        .silent = { "<response>", "</response>" },
        .evidence = { "<response>" } },
    { .name = "hermes",
        .names = "qwen25 qwen qwen3 qwen3_json granite4 trinity holo2",
        THINK,
        .machine = PARSER_JSON,
        .calls_end_thinking = true,
        .section_start = "<tool_call>",
        .section_end = "</tool_call>",
        .call_start = "{",
        .evidence = { "<tool_call>" },
        .also = &s_hermes_tags },
    { .name = "mistral",
        .names = "mistral_v11 reasoning_mistral magistral",
        .ids = PARSER_IDS_NINE,
        .machine = PARSER_JSON,
        .think_start = { "[THINK]" },
        .think_end = { "[/THINK]" },
        .section_start = "[TOOL_CALLS]",
        .section_end = "[/TOOL_CALLS]",
        .call_start = "{",
        .evidence = { "[TOOL_CALLS]" },
        .also = &s_mistral_named },
    { .name = "llama3_json",
        .names = "llama3 llama4_json",
        THINK,
        .machine = PARSER_JSON,
        .call_alone = true,
        .section_start = "<|python_tag|>",
        .call_start = "{",
        .silent = { "<|eom_id|>", "<|eot_id|>" },
        .also = &s_llama_json,
        .evidence = { "<|python_tag|>", "\"name\": function name, \"parameters\"" } },
    { .name = "functionary_v3_2",
        .names = "functionary",
        .machine = PARSER_NAMED,
        .call_start = ">>>",
        .silent = { ">>>all\n" },
        .evidence = { ">>>all" } },
    { .name = "phi4",
        .names = "phi4_mini_json",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "functools",
        .call_start = "{",
        .evidence = { "functools" } },
    { .name = "pythonic",
        .names = "llama4_pythonic llama4",
        THINK,
        .machine = PARSER_LITERAL,
        .section_start = "[",
        .evidence = { "<|python_start|>", "[func_name1(" },
        .also = &s_llama_pythonic },
    { .name = "xlam",
        .names = "",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "[",
        .call_start = "{",
        .also = &s_xlam_fence },
    { .name = "default",
        .names = "",
        THINK,
        .machine = PARSER_JSON,
        .section_start = "<TOOLCALL>",
        .section_end = "</TOOLCALL>",
        .call_start = "{",
        .also = &s_default_python },

    //  Reasoning without calls; names of parsers for reasoning alone.
    { .name = "kimi",
        .names = "reasoning_kimi",
        .think_start = { "\xe2\x97\x81think\xe2\x96\xb7" },
        .think_end = { "\xe2\x97\x81/think\xe2\x96\xb7" },
        .evidence = { "\xe2\x97\x81think\xe2\x96\xb7" } },
    { .name = "deepseek_r1",
        .names = "qwen3_thinking step3_thinking kimi_k2_thinking reasoning_think_implicit_start",
        THINK,
        .think_open = true },
    { .name = "basic",
        .names = "think telechat4 deepseek_v3_reasoning reasoning_think_explicit "
                 "reasoning_think_unterminated reasoning_think_empty",
        THINK,
        .evidence = { "<think>" } },
    { .name = "plain", .names = "none" },
};

const parser_format_t *
parser_formats (size_t *count)
{
    *count = sizeof s_formats / sizeof *s_formats;
    return s_formats;
}

//  ---- By name -------------------------------------------------------------------------------------------------------

static uint8_t
s_fold (uint8_t byte)
{
    if (byte == '-' || byte == '.')
        return '_';
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

static bool
s_same_name (span_t a, span_t b)
{
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++)
        if (s_fold (a.data [i]) != s_fold (b.data [i]))
            return false;
    return true;
}

static bool
s_is_listed (const char *names, span_t name)
{
    span_t rest = span_from_string (names);
    while (rest.size) {
        size_t size = span_find_byte (rest, ' ');
        if (s_same_name (span_slice (rest, 0, size), name))
            return true;
        rest = span_slice (rest, size + 1, rest.size);
    }
    return false;
}

const parser_format_t *
parser_find (span_t name)
{
    if (!name.size)
        return NULL;
    for (size_t i = 0; i < sizeof s_formats / sizeof *s_formats; i++)
        if (s_same_name (span_from_string (s_formats [i].name), name) || s_is_listed (s_formats [i].names, name))
            return &s_formats [i];
    return NULL;
}
