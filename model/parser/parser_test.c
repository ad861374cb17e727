//  Parsers against texts of every format (tests/data/streams), however they are cut, and against what models do when they
//  err.

#include <stdio.h>
#include <string.h>

#include "tests/parsers/said.h"

#define FOLDER "tests/data/streams/"

//  ---- Golden rows ---------------------------------------------------------------------------------------------------

//  Calls of a row in the form that s_normal_calls gives ours.
static void
s_expected_calls (const json_t *calls, buffer_t *out)
{
    for (size_t i = 0; i < json_count (calls); i++) {
        buffer_append (out, json_string (json_get (json_at (calls, i), "name")));
        json_render (json_get (json_at (calls, i), "arguments"), out);
        buffer_append_byte (out, '\n');
    }
}

//  name(id)arguments with the id left out and the arguments rendered anew.
static void
s_normal_calls (span_t calls, buffer_t *out)
{
    while (calls.size) {
        size_t size = span_find_byte (calls, '\n');
        span_t line = span_slice (calls, 0, size);
        buffer_append (out, span_slice (line, 0, span_find_byte (line, '(')));
        size_t arguments = span_find_byte (line, ')') + 1;
        json_t *json = said_parse_json (span_slice (line, arguments, line.size));
        json_render (json, out);
        buffer_append_byte (out, '\n');
        json_destroy (&json);
        calls = span_slice (calls, size + 1, calls.size);
    }
}

static void
s_check_row (const char *what, const json_t *row, const said_t *said, bool loosely)
{
    buffer_t got = { 0 };
    buffer_t expected = { 0 };
    s_expected_calls (json_get (row, "calls"), &expected);
    s_normal_calls (buffer_span (&said->calls), &got);
    said_assert_text (what, buffer_span (&got), buffer_span (&expected), false);
    said_assert_text (what, buffer_span (&said->content), json_string (json_get (row, "normal_text")), loosely);
    said_assert_text (what, buffer_span (&said->reasoning), json_string (json_get (row, "reasoning")), loosely);
    buffer_fini (&got);
    buffer_fini (&expected);
}

static void
s_run_row (const json_t *row, const json_t *tools, const char *name_key, span_t text, bool loosely)
{
    said_t said;
    span_t name = json_string (json_get (row, name_key));
    span_t note = json_string (json_get (row, "case"));
    const parser_format_t *format = parser_find (name);
    parser_options_t options = { .tools = tools };
    buffer_t what = { 0 };
    buffer_print (&what, "%.*s/%.*s", SPAN_ARG (name), SPAN_ARG (note));
    if (!format)
        fail_msg ("no format %s", buffer_string (&what));
    said_parse_all_ways (format, &options, text, false, &said);
    s_check_row (buffer_string (&what), row, &said, loosely);
    said_fini (&said);
    buffer_fini (&what);
}

static size_t
s_for_each_row (const char *path, void (*each) (const json_t *row, const json_t *tools))
{
    size_t rows = 0;
    buffer_t text = said_read_file (path);
    buffer_t tools_text = said_read_file (FOLDER "tools_common.json");
    json_t *tools = said_parse_json (buffer_span (&tools_text));
    for (span_t rest = buffer_span (&text); rest.size;) {
        size_t size = span_find_byte (rest, '\n');
        json_t *row = said_parse_json (span_slice (rest, 0, size));
        each (row, tools);
        json_destroy (&row);
        rows++;
        rest = span_slice (rest, size + 1, rest.size);
    }
    json_destroy (&tools);
    buffer_fini (&tools_text);
    buffer_fini (&text);
    return rows;
}

static void
s_run_authored (const json_t *row, const json_t *tools)
{
    s_run_row (
        row, tools, "grammar", json_string (json_get (row, "text")), json_is_true (json_get (row, "strip_compare")));
}

//  Every notation in every situation gives the calls, the text and the reasoning that it should, however it is cut.
static void
test_every_format_is_read (void **state)
{
    assert_int_equal (s_for_each_row (FOLDER "tool_formats.jsonl", s_run_authored), 198);
}

static void
s_run_captured (const json_t *row, const json_t *tools)
{
    buffer_t text = { 0 };
    const json_t *chunks = json_get (row, "chunks");
    for (size_t i = 0; i < json_count (chunks); i++)
        buffer_append (&text, json_string (json_at (chunks, i)));
    s_run_row (row, NULL, "format", buffer_span (&text), true);
    buffer_fini (&text);
}

//  Streams of real engines give what Dynamo's tests expect of them.
static void
test_streams_of_engines_are_read (void **state)
{
    assert_int_equal (s_for_each_row (FOLDER "dynamo/captured.jsonl", s_run_captured), 20);
}

//  ---- One text ------------------------------------------------------------------------------------------------------

typedef struct {
    const char *format;       //  Name of the format
    const char *text;         //  What the model says
    const char *content;      //  What is for the user
    const char *reasoning;    //  What is not
    const char *calls;        //  name(id)arguments, a line each
    const char *prompt;       //  What stood before; NULL: nobody looked
    bool cut;                 //  The answer ended at a limit
    bool no_calls;            //  The request has no tools
} example_t;

#define SAYS(f, t, c, r, k) .format = f, .text = t, .content = c, .reasoning = r, .calls = k

static void
s_run_example (const example_t *example, const json_t *tools)
{
    said_t said;
    const parser_format_t *format = parser_find (span_from_string (example->format));
    assert_non_null (format);
    parser_options_t options = { .tools = tools, .no_calls = example->no_calls, .prompted = example->prompt != NULL };
    options.prefill = parser_prefill (format, span_from_string (example->prompt));
    said_parse_all_ways (format, &options, span_from_string (example->text), example->cut, &said);
    said_assert_text (example->text, buffer_span (&said.calls), span_from_string (example->calls), false);
    said_assert_text (example->text, buffer_span (&said.content), span_from_string (example->content), false);
    said_assert_text (example->text, buffer_span (&said.reasoning), span_from_string (example->reasoning), false);
    said_fini (&said);
}

static void
s_run_examples (const example_t *examples, size_t count)
{
    buffer_t text = said_read_file (FOLDER "tools_common.json");
    json_t *tools = said_parse_json (buffer_span (&text));
    for (size_t i = 0; i < count; i++)
        s_run_example (&examples [i], tools);
    json_destroy (&tools);
    buffer_fini (&text);
}

//  DeepSeek's signs.
#define BAR "\xef\xbd\x9c"
#define LOW "\xe2\x96\x81"

//  MiniMax's mark before every tag.
#define NS "]<]minimax[>["
#define PLAMO(word) "<|plamo:" word ":plamo|>"

#define RUN(examples) s_run_examples (examples, sizeof examples / sizeof *examples)

//  Text around calls is kept to the byte; only line ends behind a marker are the marker's.
static void
test_text_around_calls_is_content (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "I look.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\nThere.",
            "I look.\nThere.", "", "f(){}\n") },
        { SAYS ("qwen3_coder", "a <b> c\n<function=git_status>\n</function>\n</tool_call>\nd", "a <b> c\nd", "",
            "git_status(){}\n") },
        { SAYS ("mistral", "So: [TOOL_CALLS]f[CALL_ID]abcdefgh9[ARGS]{\"a\": 1} and", "So: and", "",
            "f(abcdefgh9){\"a\": 1}\n") },
        { SAYS ("kimi_k2",
            "x<|tool_call_section_begin|><|tool_call_begin|>a.b-c:7<|tool_call_argument_begin|>{}<|tool_call_end|>"
            "<|tool_call_section_end|>y",
            "xy", "", "a.b-c(a.b-c:7){}\n") },
        { SAYS ("mistral",
            "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}]\n[TOOL_CALLS] [{\"name\": \"g\", \"arguments\": {}}]",
            "", "", "f(){}\ng(){}\n") },
        { SAYS ("pythonic", "See [git_status(), read_file(path='it\\'s')] now", "See  now", "",
            "git_status(){}\nread_file(){\"path\": \"it's\"}\n") },
        { SAYS ("llama3_json", "Run {\"name\": \"git_status\", \"parameters\": {}} now", "Run now", "",
            "git_status(){}\n") },
    };
    RUN (examples);
}

//  What begins like a call and is none is text, byte for byte.
static void
test_a_false_marker_is_text (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "The tag <tool_call> opens a call, <tool_cal too, <",
            "The tag <tool_call> opens a call, <tool_cal too, <", "", "") },
        { SAYS ("hermes", "<tool_call>\n{\"title\": \"no name\"}\n</tool_call>",
            "<tool_call>\n{\"title\": \"no name\"}\n</tool_call>", "", "") },
        { SAYS ("hermes", "<tool_call>{\"name\": \"<tool_call>\"}", "<tool_call>{\"name\": \"<tool_call>\"}", "", "") },
        { SAYS ("llama3_json", "{\"name\": \"nobody\"} {\"a\": {\"b\": 1}}",
            "{\"name\": \"nobody\"} {\"a\": {\"b\": 1}}", "", "") },
        { SAYS ("pythonic", "[1] and [link](url) and [nobody(x=1)]", "[1] and [link](url) and [nobody(x=1)]", "", "") },
        { SAYS ("qwen3_coder", "<tool_call>\nnothing\n</tool_call>", "<tool_call>\nnothing\n</tool_call>", "", "") },
        { SAYS ("functionary", ">>> print(1)\n{", ">>> print(1)\n{", "", "") },
        { SAYS ("harmony", "<|channel|>", "", "", "") },
    };
    RUN (examples);
}

//  Markers inside strings of arguments are arguments.
static void
test_markers_in_arguments_stay (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"</tool_call>\\\"}\"}}</tool_call>", "", "",
            "f(){\"a\":\"</tool_call>\\\"}\"}\n") },
        { SAYS ("qwen3_coder",
            "<tool_call>\n<function=bash>\n<parameter=command>\necho </parameter> <tool_call>\n</parameter>\n"
            "</function>\n</tool_call>",
            "", "", "bash(){\"command\": \"echo </parameter> <tool_call>\"}\n") },
        { SAYS ("harmony",
            "<|channel|>commentary to=functions.f<|message|>{\"a\":\"<|call|> <|start|>\"}<|call|><|start|>assistant"
            "<|channel|>commentary "
            "to=functions.g<|message|>{\"a\":\"open<|call|><|start|>assistant<|channel|>final<|message|>x",
            "x", "", "f(){\"a\":\"<|call|> <|start|>\"}\ng(){\"a\":\"open\"}\n") },
        { SAYS ("glm45",
            "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>a</arg_value>b</arg_value>\n</tool_call>", "", "",
            "bash(){\"command\": \"a</arg_value>b\"}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f{k:<|\"|>a\"}<b\n<|\"|>,n:{m:[1,true]}}<tool_call|>", "", "",
            "f(){\"k\": \"a\\\"}<b\\n\", \"n\": {\"m\": [1, true]}}\n") },
        { SAYS ("deepseek_v3_1",
            "<\xef\xbd\x9ctool\xe2\x96\x81"
            "calls\xe2\x96\x81"
            "begin\xef\xbd\x9c><\xef\xbd\x9ctool\xe2\x96\x81"
            "call"
            "\xe2\x96\x81"
            "begin\xef\xbd\x9c>f<\xef\xbd\x9ctool\xe2\x96\x81sep\xef\xbd\x9c>{\"a\":\"<\xef\xbd\x9ctool"
            "\xe2\x96\x81"
            "call\xe2\x96\x81"
            "end\xef\xbd\x9c>\"}",
            "", "",
            "f(){\"a\":\"<\xef\xbd\x9ctool\xe2\x96\x81"
            "call\xe2\x96\x81"
            "end\xef\xbd\x9c>\"}\n") },
    };
    RUN (examples);
}

//  A call that the end of the answer interrupts is closed where its name is known; at a limit it is left as it is.
static void
test_an_interrupted_call_is_closed (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":[1,{\"b\":\"x\\", "", "",
            "f(){\"a\":[1,{\"b\":\"x\\\\\"}]}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":tr", "", "", "f(){\"a\":true}\n") },
        { SAYS (
            "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1</tool_call>.", ".", "", "f(){\"a\":1}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":tr", "", "", "f(){\"a\":tr\n"),
            .cut = true },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":[1,2], ", "", "", "f(){\"a\":[1,2]}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":[1 ,\n", "", "", "f(){\"a\":[1 ]}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1,", "", "", "f(){\"a\":1,\n"),
            .cut = true },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\" , \n \"b\":1 , \"c\":[ , ]}}", "", "",
            "f(){\"a\" , \n \"b\":1 , \"c\":[ , ]}\n") },
        { SAYS ("functionary_v3_1", "<function=f>{\"a\":1, ", "", "", "f(){\"a\":1}\n") },
        { SAYS ("harmony", "<|channel|>commentary to=functions.f<|message|>{\"a\":1,", "", "", "f(){\"a\":1}\n") },
        { SAYS ("harmony", "<|channel|>analysis to=python code<|message|> print(1)\n<|call|>", "", "",
            "python()print(1)\n\n") },
        { SAYS ("deepseek_v3",
            "<" BAR "tool" LOW "calls" LOW "begin" BAR "><" BAR "tool" LOW "call" LOW "begin" BAR ">function<" BAR
            "tool" LOW "sep" BAR ">f\n```json\n{\"a\": {\"b\": 1}\n```<" BAR "tool" LOW "call" LOW "end" BAR ">.",
            ".", "", "f(){\"a\": {\"b\": 1}\n}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",", "", "", "f(){}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f", "", "", "") },
        { SAYS ("qwen3_coder", "<tool_call><function=bash><parameter=command>\nls", "", "",
            "bash(){\"command\": \"ls\"}\n") },
        { SAYS (
            "qwen3_coder", "<tool_call><function=bash><parameter=timeout>\n7", "", "", "bash(){\"timeout\": 7}\n") },
        { SAYS ("pythonic", "[bash(command='ls", "", "", "bash(){\"command\": \"ls\"}\n") },
        { SAYS ("harmony", "<|channel|>commentary to=functions.f<|message|>{\"a\":\"", "", "", "f(){\"a\":\"\"}\n") },
    };
    RUN (examples);
}

//  A string or a value that the model did not close ends where the answer ends with the closers of its call, however many; where
//  anything follows them, or where it was cut at a limit, they are text.
static void
test_an_answer_ends_with_closers (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\n</tool_call>", "", "",
            "f(){\"a\": \"x\"}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x</tool_call>.", "", "",
            "f(){\"a\": \"x</tool_call>.\"}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x</tool_cal", "", "",
            "f(){\"a\": \"x</tool_cal\"}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x</tool_call>", "", "",
              "f(){\"a\": \"x</tool_call>\n"),
            .cut = true },
        { SAYS ("kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": "
            "\"x<|tool_call_end|><|tool_calls_section_end|>\n",
            "", "", "f(functions.f:0){\"a\": \"x\"}\n") },
        { SAYS ("qwen3_coder", "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</function>\n</tool_call>", "",
            "", "bash(){\"command\": \"ls\"}\n") },
        { SAYS ("qwen3_coder", "<function=bash>\n<parameter=timeout>\n5\n</function>", "", "",
            "bash(){\"timeout\": 5}\n") },
        { SAYS ("qwen3_coder", "<function=bash>\n<parameter=command>\nls\n</function>\n", "", "",
            "bash(){\"command\": \"ls\"}\n") },
        { SAYS ("qwen3_coder", "<function=bash>\n<parameter=command>\nls </function> .\n</parameter>\n</function>", "",
            "", "bash(){\"command\": \"ls </function> .\"}\n") },
        { SAYS ("qwen3_coder", "<function=f>\n{\"a\": \"b</function>", "", "", "f(){\"a\": \"b\"}\n") },
        { SAYS (
            "glm45", "<tool_call>f\n<arg_key>k</arg_key>\n<arg_value>v</tool_call>", "", "", "f(){\"k\": \"v\"}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f{k:<|\"|>v<tool_call|>", "", "", "f(){\"k\": \"v\"}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f{k:<|\"|>v<tool_call|>!", "", "", "f(){\"k\": \"v<tool_call|>!\"}\n") },
        { SAYS ("llama4", "<|python_start|>[git_status(a='v<|python_end|>", "", "", "git_status(){\"a\": \"v\"}\n") },
        { SAYS ("lfm2", "<|tool_call_start|>[f(a='v<|tool_call_end|>", "", "", "f(){\"a\": \"v\"}\n") },
    };
    RUN (examples);
}

//  Outside strings a closer ends a call expression, whatever brackets are open; a word that is longer than what is kept is a string
//  like any other.
static void
test_a_closer_ends_a_call_expression (void **state)
{
    static const example_t examples [] = {
        { SAYS ("gemma4", "<|tool_call>call:f{a:5<tool_call|>.", ".", "", "f(){\"a\": 5}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f {a:5}<tool_call|>", "", "", "f(){\"a\": 5}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f \n<tool_call|>", "", "", "f(){}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f g{a:5}", "<|tool_call>call:f g{a:5}", "", "") },
        { SAYS ("gemma4", "<|tool_call>call:f{a:[1,{b:x <tool_call|><|tool_call>call:g{}<tool_call|>", "", "",
            "f(){\"a\": [1, {\"b\": \"x\"}]}\ng(){}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f{a:<tool_call|>", "", "", "f(){\"a\": \"\"}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f{a:x<y,b:<,c:<tool>}<tool_call|>", "", "",
            "f(){\"a\": \"x<y\", \"b\": \"<\", \"c\": \"<tool>\"}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f{a:S]}<tool_call|>", "", "", "f(){\"a\": \"S\"}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f{a:(1)}}<tool_call|>.", ".", "", "f(){\"a\": \"(1)\"}\n") },
        { SAYS ("gemma4", "<|tool_call>call:f<tool_call|><|tool_call>:g{a:1}<tool_call|>", "", "",
            "f(){}\ng(){\"a\": 1}\n") },
        { SAYS ("functiongemma", "<start_function_call>call:f{a:5<end_function_call>", "", "", "f(){\"a\": 5}\n") },
        { SAYS ("lfm2", "<|tool_call_start|>[f(a=1, b=[2<|tool_call_end|>.", ".", "", "f(){\"a\": 1, \"b\": [2]}\n") },
        { SAYS ("olmo3", "<function_calls>\nf(a=1\n</function_calls>", "", "", "f(){\"a\": 1}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\": \"f\", \"arguments\": {}}}</tool_call>.", ".", "", "f(){}\n") },
    };
    RUN (examples);
    static const char *const forms [][3] = { { "gemma4", "<|tool_call>call:f{a:%s,b:{%s:1}}<tool_call|>",
                                                 "f(){\"a\": \"%s\", \"b\": {\"%s\": 1}}\n" },
        { "gemma4", "<|tool_call>call:f{a:%s<tool_call|><|tool_call>call:g{b:%s",
            "f(){\"a\": \"%s\"}\ng(){\"b\": \"%s\"}\n" },
        { "lfm2", "<|tool_call_start|>[f(a=%s), g(b=[%s])]<|tool_call_end|>",
            "f(){\"a\": \"%s\"}\ng(){\"b\": [\"%s\"]}\n" } };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t size = 254; size < 260; size++) {
            char word [300] = "", text [1024], calls [1024];
            memset (word, 'x', size);
            snprintf (text, sizeof text, forms [i][1], word, word);
            snprintf (calls, sizeof calls, forms [i][2], word, word);
            example_t example = { SAYS (forms [i][0], text, "", "", calls) };
            s_run_example (&example, NULL);
        }
}

//  A value that the model did not close ends where another argument of the tool begins at the start of a line.
static void
test_another_argument_ends_a_value (void **state)
{
    static const example_t examples [] = {
        { SAYS ("qwen3_coder",
            "<function=edit>\n<parameter=path>\na\n<parameter=old>\nb\n<parameter=opts>\n{}\n</parameter>\n</function>",
            "", "", "edit(){\"path\": \"a\", \"old\": \"b\", \"opts\": {}}\n") },
        { SAYS ("qwen3_coder",
            "<function=edit>\n<parameter=old>\n<parameter=x>\n<parameter=old>\n "
            "<parameter=path>\n<parameter=\n</parameter>"
            "\n</function>",
            "", "", "edit(){\"old\": \"<parameter=x>\\n<parameter=old>\\n <parameter=path>\\n<parameter=\"}\n") },
    };
    RUN (examples);
}

//  A call whose name is whole is one, also where the answer ends before its arguments.
static void
test_a_name_is_enough (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "<tool_call>{\"name\": \"f\"", "", "", "f(){}\n") },
        { SAYS ("kimi_k2", "<|tool_call_begin|>functions.f:0<|tool_call_argument", "", "", "f(functions.f:0){}\n") },
        { SAYS ("kimi_k2", "<|tool_call_begin|>functions.f:0", "", "", "") },
        { SAYS ("mistral", "[TOOL_CALLS]f[ARGS]", "", "", "f(){}\n") },
        { SAYS ("deepseek_v3",
            "<" BAR "tool" LOW "calls" LOW "begin" BAR "><" BAR "tool" LOW "call" LOW "begin" BAR ">function<" BAR
            "tool" LOW "s",
            "", "", "") },
    };
    RUN (examples);
}

//  Formats that the golden rows lack.
static const example_t s_beyond_goldens [] = {
    { SAYS ("step3",
        "<\xef\xbd\x9ctool_calls_begin\xef\xbd\x9c><\xef\xbd\x9ctool_call_begin\xef\xbd\x9c>function<"
        "\xef\xbd\x9ctool_sep"
        "\xef\xbd\x9c><steptml:invoke name=\"f\"><steptml:parameter "
        "name=\"k\">v</steptml:parameter></steptml:invoke>"
        "<\xef\xbd\x9ctool_call_end\xef\xbd\x9c><\xef\xbd\x9ctool_calls_end\xef\xbd\x9c>.",
        ".", "", "f(){\"k\": \"v\"}\n") },
    { SAYS ("hy_v3",
        "<tool_calls><tool_call>f<tool_sep><arg_key>k</arg_key><arg_value>[1]</arg_value></tool_call></tool_calls>", "",
        "", "f(){\"k\": [1]}\n") },
    { SAYS ("hunyuan",
        "<tool_calls:opensource><tool_call:opensource>f<tool_sep:opensource></tool_call:opensource></"
        "tool_calls:opensource>",
        "", "", "f(){}\n") },
    { SAYS ("seed_oss", "<seed:think>a</seed:think><seed:tool_call>\n<function=f>\n</function>\n</seed:tool_call>", "",
        "a", "f(){}\n") },
    { SAYS ("internlm", "so <|action_start|><|plugin|>{\"name\": \"f\", \"parameters\": {}}<|action_end|>\nand",
        "so and", "", "f(){}\n") },
    { SAYS ("lfm2", "<|tool_call_start|>[f(a=-1.5, b=[True, None])]<|tool_call_end|>", "", "",
        "f(){\"a\": -1.5, \"b\": [true, null]}\n") },
    { SAYS ("cohere_command4",
        "<|START_THINKING|>a<|END_THINKING|><|START_ACTION|>[{\"tool_call_id\":\"0\",\"tool_name\":\"f\","
        "\"parameters\":{}}]"
        "<|END_ACTION|>",
        "", "a", "f(0){}\n") },
    { SAYS ("cohere_command4", "<|START_RESPONSE|>hi<|END_RESPONSE|>", "hi", "", "") },
    { SAYS ("gigachat3", "<|function_call|>{\"name\": \"f\", \"arguments\": {\"a\": 1}}", "", "", "f(){\"a\": 1}\n") },
    { SAYS ("functiongemma", "<start_function_call>call:f{k:<escape>a\"b<escape>}<end_function_call>", "", "",
        "f(){\"k\": \"a\\\"b\"}\n") },
    { SAYS ("functiongemma", "<start_function_call>call:f{it's:1,o:{\xc3\xa9 \":2}}<end_function_call>", "", "",
        "f(){\"it's\": 1, \"o\": {\"\xc3\xa9 \\\"\": 2}}\n") },
    { SAYS ("gemma4", "<|tool_call>call:f{o:{\xc3\xa9 \":1,\"x:2,a[0]:3,b(c):4},:5}<tool_call|>", "", "",
        "f(){\"o\": {\"\xc3\xa9 \\\"\": 1, \"\\\"x\": 2, \"a[0]\": 3, \"b(c)\": 4}, \"\": 5}\n") },
    { SAYS ("gemma4", "<|tool_call>call:f{at:12:30 ,u:http://x/?q=1,l:[a b, 5\" pipe],\"k\": true}<tool_call|>", "", "",
        "f(){\"at\": \"12:30\", \"u\": \"http://x/?q=1\", \"l\": [\"a b\", \"5\\\" pipe\"], \"k\": true}\n") },
    { SAYS ("lfm2", "<|tool_call_start|>[f(a=1 b=hello world)]<|tool_call_end|>", "", "",
        "f(){\"a\": 1, \"b\": \"hello\", \"world\": null}\n") },
    { SAYS ("longcat", "<longcat_tool_call>{\"name\":\"f\",\"arguments\":{}}</longcat_tool_call>", "", "", "f(){}\n") },
    { SAYS ("xlam", "```json\n[{\"name\":\"f\",\"arguments\":{}}]\n```", "", "", "f(){}\n") },
    { SAYS ("hunyuan_a13b", "<think>\na\n</think>\n<answer>\nb</answer>", "b", "a", "") },
    { SAYS ("llama4", "<|python_start|>[git_status()]<|python_end|>", "", "", "git_status(){}\n") },
    { SAYS ("gemma4", "<|channel>thought\na\n<channel|>b", "b", "a", "") },
    { SAYS ("hermes", "<tool_call>\n<function=git_status>\n</function>\n</tool_call>", "", "", "git_status(){}\n") },
    { SAYS ("deepseek_v3_2",
        "<|DSML|invoke name=\"f\">\n<|DSML|parameter name=\"k\" "
        "string=\"false\">7</|DSML|parameter>\n</|DSML|invoke>\n"
        "</|DSML|function_calls>",
        "", "", "f(){\"k\": 7}\n") },
    { SAYS ("kimi_k3",
        "<|open|>think<|sep|>a<|close|>think<|sep|><|open|>response<|sep|>b<|close|>response<|sep|><|open|>tools<|"
        "sep|>"
        "<|open|>call tool=\"f&quot;\" index=\"1\"<|sep|>f<|close|>call<|sep|><|open|>call tool=\"g\" "
        "index=\"2\"<|sep|>"
        "<|open|>argument type=\"string\" key=\"k&amp;\"<|sep|>1<|close|>argument<|sep|><|open|>argument key=\"n\" "
        "type=\"number\"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|open|>call index=\"3\" "
        "tool=\"h\"<|sep|><|open|>json type=\"object\"<|sep|>{\"x\": "
        "\"}\"}<|close|>json<|sep|><|close|>call<|sep|>"
        "<|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>",
        "b<|open|>tools<|sep|><|open|>call tool=\"f&quot;\" index=\"1\"<|sep|>f<|close|>call<|sep|>", "a",
        "g(){\"k&\": \"1\", \"n\": 1}\nh(){\"x\": \"}\"}\n") },
    { SAYS ("minimax_m3",
        "<mm:think>a</mm:think>b" NS "<tool_call>\n" NS "<invoke name=\"f\">\n" NS "</invokes>" NS "<o>" NS "<a>1" NS
        "</a>" NS "<o>x" NS "</o>" NS "<l>" NS "<item>1" NS "</item>" NS "<item>" NS "<k>v" NS "</k>" NS "</item>" NS
        "</l>" NS "<t>u" NS "</t>" NS "<t>v" NS "</t>" NS "</o>\n" NS "<s>w" NS "</s>" NS "</invoke>" NS
        "</tool_call>c",
        "bc", "a",
        "f(){\"o\": {\"a\": 1, \"o\": \"x\", \"l\": [1, {\"k\": \"v\"}], \"t\": [\"u\", \"v\"]}, \"s\": "
        "\"w\"}\n") },
    { SAYS ("minimax_m3",
        NS "<tool_call>" NS "<invoke name=\"edit\">" NS "<path>1" NS "</path>" NS "<opts>" NS "</opts>" NS "<lines>" NS
           "<item>1" NS "</item>" NS "</lines>" NS "</invoke>" NS "</tool_call>",
        "", "", "edit(){\"path\": \"1\", \"opts\": {}, \"lines\": [1]}\n") },
    { SAYS ("solar_open2",
        "<|think:start|>a<|think:end|><|tool_call:start|>f\n<|tool_arg:start|>k<|tool_arg:value|>v<|tool_arg:end|>"
        "\n"
        "<|tool_call:end|>",
        "", "a", "f(){\"k\": \"v\"}\n") },
    { SAYS ("k2_horizon",
        "<ifm|think_fast>a</ifm|think_fast><ifm|tool_calls>\n<ifm|tool_call>f\n<ifm|arg_key>k</ifm|arg_key>\n"
        "<ifm|arg_type>string</ifm|arg_type><ifm|arg_value>1</ifm|arg_value>\n</ifm|tool_call>\n</ifm|tool_calls>",
        "", "a", "f(){\"k\": \"1\"}\n") },
    { SAYS ("k2_horizon",
        "<ifm|think>a</ifm|think><ifm|tool_calls>\n<ifm|tool_call>\n{\"name\": \"f\", \"arguments\": {\"k\": "
        "\"</ifm|tool_call>\"}}\n</ifm|tool_call>\n<ifm|tool_call>\n{\"name\": \"g\"}\n</ifm|tool_call>\n"
        "</ifm|tool_calls>b",
        "b", "a", "f(){\"k\": \"</ifm|tool_call>\"}\ng(){}\n") },
    { SAYS ("iquest_q1", "<iquest_tool_call>f\n<arg_key>k</arg_key>\n<arg_value>1</arg_value>\n</iquest_tool_call>a",
        "a", "", "f(){\"k\": 1}\n") },
    { SAYS ("hy_v4",
        "<think:opensource>a</think:opensource><tool_calls:opensource>\n<tool_call:opensource>f\n"
        "<arg_key:opensource>k</arg_key:opensource>\n<arg_value:opensource>v</arg_value:opensource>\n"
        "</tool_call:opensource>\n</tool_calls:opensource>",
        "", "a", "f(){\"k\": \"v\"}\n") },
    { SAYS ("deepseek_v41",
        "<think>a</think>b<" BAR "DSML" BAR " calls>\n<" BAR "DSML" BAR " invoke name=\"f\">\n<" BAR "DSML" BAR
        " parameter name=\"k\" string=\"true\">1</" BAR "DSML" BAR " parameter>\n</" BAR "DSML" BAR " invoke>\n</" BAR
        "DSML" BAR " calls>",
        "b", "a", "f(){\"k\": \"1\"}\n") },
    { SAYS ("gigachat35",
        "<think>a</think><" BAR "GCML" BAR "tool_calls>\n<" BAR "GCML" BAR "invoke name=\"f\">\n<" BAR "GCML" BAR
        "parameter name=\"k\" string=\"false\">1</" BAR "GCML" BAR "parameter>\n</" BAR "GCML" BAR "invoke>\n</" BAR
        "GCML" BAR "tool_calls><|message_sep|>",
        "", "a", "f(){\"k\": 1}\n") },
    { SAYS ("gigachat35", "a<|function_call|>{\"name\": \"f\", \"arguments\": {}}", "a", "", "f(){}\n") },
    { SAYS ("plamo3",
        PLAMO ("begin_think") "a" PLAMO ("end_think") PLAMO ("begin_tool_requests") PLAMO ("begin_tool_request")
            PLAMO ("begin_tool_name") "f" PLAMO ("end_tool_name") PLAMO ("begin_tool_arguments")
                PLAMO ("constrain") "json<|plamo:msg|>{\"k\": 1}" PLAMO ("end_tool_arguments")
                    PLAMO ("end_tool_request") PLAMO ("end_tool_requests") "<|plamo:tag|>",
        "", "a", "f(){\"k\": 1}\n") },
    { SAYS ("cohere_command4", "<|START_THINKING|>a<|END_THINKING|><|START_TEXT|>b<|END_TEXT|>", "b", "a", "") },
    { SAYS ("inkling",
        "<|content_text|>a<|end_message|><|message_model|><|content_tool_error|>b<|end_message|><|message_model|>f"
        "<|content_invoke_tool_text|>c<|end_message|>",
        "abc", "", "") },
    { SAYS ("dots",
        "<dots_function_call>\n<invoke name=\"f\">\n<parameter name=\"k\">v</parameter>\n</invoke>\n"
        "</dots_function_call>",
        "", "", "f(){\"k\": \"v\"}\n") },
    { SAYS (
        "dots", "<dots_function_call>{\"name\": \"f\", \"arguments\": {}}</dots_function_call>", "", "", "f(){}\n") },
    { SAYS ("muse",
        "<atem:function_calls><atem:invoke name=\"f\"><atem:parameter name=\"k\">[1]</atem:parameter></atem:invoke>"
        "</atem:function_calls>",
        "", "", "f(){\"k\": [1]}\n") },
    { SAYS (
        "minicpm5", "a<function name=\"f\"><param name=\"k\">v</param></function>", "a", "", "f(){\"k\": \"v\"}\n") },
    { SAYS ("minicpm5", "<function name=\"bash\"><param name=\"command\"><![CDATA[a</param><b>]]></param></function>",
        "", "", "bash(){\"command\": \"a</param><b>\"}\n") },
    { SAYS ("lfm2", "<|tool_call_start|>[{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\"}]<|tool_call_end|>.",
        ".", "", "f(){}\ng(){}\n") },
    { SAYS ("inkling",
        "<|content_thinking|>a<|end_message|><|message_model|><|content_text|>b<|end_message|><|message_model|>f.g"
        "<|content_invoke_tool_json|>{\"name\":\"f\",\"args\":{}}<|end_message|><|content_model_end_sampling|>",
        "b", "a", "f(){}\n") },
    { SAYS ("olmo3", "<function_calls>\nf(a=null)\ng()\n</function_calls>", "", "", "f(){\"a\": null}\ng(){}\n") },
    { SAYS ("apriel", "a\n[BEGIN FINAL RESPONSE]\nb\n<tool_calls>[{\"name\": \"f\", \"arguments\": {}}]</tool_calls>",
          "b\n", "a", "f(){}\n"),
        .prompt = "<|begin_assistant|>\nHere are my reasoning steps:\n" },
    { SAYS ("gigachat3",
        "a<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"f\", \"arguments\": {}}<|message_sep|>", "a", "",
        "f(){}\n") },
    { SAYS ("qwen3_coder", "<tool_call>\n<function=f>\n{\"a\": \"</function>\"}\n</function>\n</tool_call>", "", "",
        "f(){\"a\": \"</function>\"}\n") },
    { SAYS ("command_r", "Action: ```json\n[{\"tool_name\": \"f\", \"parameters\": {}}]\n```", "", "", "f(){}\n") },
};

static void
test_formats_beyond_the_golden_rows (void **state)
{
    RUN (s_beyond_goldens);
}

#define ATEM(name) "<atem:function_calls>\n<atem:invoke name=\"" name "\">\n</atem:invoke>\n</atem:function_calls>"

//  In messages the recipient says what is reasoning, what is text and where calls are calls.
static void
test_messages_say_to_whom_they_are (void **state)
{
    static const example_t examples [] = {
        { SAYS ("muse",
            " to=self<|message|>a to=b<|eom|><|start|>assistant to=f<|message|>" ATEM (
                "f") "<|eom|>"
                     "<|start|>assistant to=commentary<|message|>c<|eom|><|start|>assistant to=user<|message|>d<|eot|>",
            "cd", "a to=b", "f(){}\n") },
        { SAYS ("muse", "<|message|>a<|start|>assistant to=user<|message|>b", "b", "a", "") },
        { SAYS ("muse", "to=self<|message|>a to=f<|message|>" ATEM ("f") "<|eom|>", "", "a ", "f(){}\n") },
        { SAYS ("muse", " to=user<|message|>say " ATEM ("f"), "say " ATEM ("f"), "", "") },
        { SAYS ("muse", " to=self<|message|>say " ATEM ("f") "<|eom|>", "", "say " ATEM ("f"), "") },
        { SAYS ("muse", " to=user<|message|>b", "b", "", ""), .prompt = "<|eot|><|start|>assistant" },
        { SAYS ("muse", "b", "b", "", ""), .prompt = "<|start|>assistant to=user<|message|>a" },
        { SAYS ("muse", "two = 2", "two = 2", "", "") },
        { SAYS ("muse", " to", " to", "", "") },
        { SAYS ("muse", " to=us", "", "", "") },
        { SAYS ("muse", "assistants", "assistants", "", "") },
        { SAYS ("muse", ATEM ("read_file.read_file") ATEM ("f.f") ATEM ("f.g"), "", "",
            "read_file(){}\nf.f(){}\nf.g(){}\n") },
        { SAYS ("muse", " to=f<|message|>" ATEM ("f"), ATEM ("f"), "", ""), .no_calls = true },
    };
    RUN (examples);
}

//  A closer of reasoning with which an answer begins closes nothing: nobody wants to see it.
static void
test_a_closer_at_the_start_is_dropped (void **state)
{
    static const example_t examples [] = {
        { SAYS ("minimax_m3", "</mm:think>a</mm:think>", "a</mm:think>", "", "") },
        { SAYS ("hermes", "\n</think>\n\na", "\na", "", "") },
        { SAYS ("hermes", "<think>a</think></think>b", "b", "a", "") },
    };
    RUN (examples);
}

//  Arguments may come before the name, as a string, under another key, in OpenAI's wrapping, twice or not at all.
static void
test_members_in_any_order (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "<tool_call>{\"arguments\": {\"a\": 1}, \"name\": \"f\"}</tool_call>", "", "",
            "f(){\"a\": 1}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}</tool_call>", "", "",
            "f(){\"a\": 1}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\": \"f\", \"parameters\": null}</tool_call>", "", "", "f(){}\n") },
        { SAYS ("hermes",
            "<tool_call>{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": {}}}</tool_call>", "",
            "", "f(){}\n") },
        { SAYS ("hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{}}\n{\"name\":\"g\",\"arguments\":{}}</tool_call>",
            "", "", "f(){}\ng(){}\n") },
        { SAYS ("mistral", "[TOOL_CALLS][{\"id\": \"abcdefgh1\", \"name\": \"f\", \"arguments\": {}}]", "", "",
            "f(abcdefgh1){}\n") },
        { SAYS ("apertus", "<|tools_prefix|>[{\"f\": {\"a\": 1}}, {\"g\": {}}]<|tools_suffix|>", "", "",
            "f(){\"a\": 1}\ng(){}\n") },
    };
    RUN (examples);
}

//  Whether reasoning is open is read from the prompt; a repeated opener, a missing closer and a call inside are what they are.
static void
test_reasoning_begins_where_the_prompt_left_it (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "so\n</think>\n\nyes", "yes", "so", ""), .prompt = "<|im_start|>assistant\n<think>\n" },
        { SAYS ("hermes", "<think>\nso\n</think>\n\nyes", "yes", "so", ""),
            .prompt = "<|im_start|>assistant\n<think>\n" },
        { SAYS ("hermes", "yes", "yes", "", ""), .prompt = "<|im_start|>assistant\n<think>\n\n</think>\n\n" },
        { SAYS ("hermes", "yes", "yes", "", ""),
            .prompt = "<|im_start|>user\nwhat is <think><|im_end|>\n<|im_start|>assistant\n" },
        { SAYS ("hermes", "<think>never closed", "", "never closed", "") },
        { SAYS ("hermes", "say <think> here", "say <think> here", "", "") },
        { SAYS ("hermes", "<think>x<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call></think>y", "y", "x",
            "f(){}\n") },
        { SAYS ("gemma4", "<|channel>thought\nx<|tool_call>call:f{}<tool_call|><channel|>y", "y", "x", "f(){}\n") },
        { SAYS ("seed_oss", "<seed:think>x<seed:tool_call><function=f></function></seed:tool_call></seed:think>y", "y",
            "x", "f(){}\n") },
        { SAYS ("minimax_m2", "x<minimax:tool_call><invoke name=\"f\"></invoke></minimax:tool_call></think>y", "y", "x",
              "f(){}\n"),
            .prompt = "<think>\n" },
        { SAYS ("hermes", "<think>the <tool_call> tag</think>y", "y", "the <tool_call> tag", "") },
        { SAYS ("mistral", "a [TOOL_CALLS]f{} b[/THINK]c", "c", "a [TOOL_CALLS]f{} b", ""), .prompt = "[THINK]" },
        { SAYS ("deepseek_r1", "so</think>yes", "yes", "so", "") },
        { SAYS ("deepseek_r1", "yes", "yes", "", ""), .prompt = "<\xef\xbd\x9c"
                                                                "Assistant\xef\xbd\x9c>" },
        { SAYS ("harmony", "so<|end|><|start|>assistant<|channel|>final<|message|>yes", "yes", "so", ""),
            .prompt = "<|start|>assistant<|channel|>analysis<|message|>" },
        { SAYS ("harmony", " to=functions.f<|channel|>commentary json<|message|>{}", "", "", "f(){}\n"),
            .prompt = "<|start|>assistant" },
        { SAYS ("harmony", "just text", "just text", "", ""), .prompt = "<|end|><|start|>assistant" },
        { SAYS ("harmony", " to=functions.f<|channel|>commentary json<|message|>{}", "", "", "f(){}\n") },
        { SAYS ("harmony", "assistant to=functions.f <|constrain|>json<|message|>{}", "", "", "f(){}\n") },
        { SAYS ("harmony", "to=f<|channel|>analysis<|message|>{}<|call|>", "", "", "f(){}\n") },
        { SAYS ("harmony", "assistants to be", "assistants to be", "", "") },
        { SAYS ("harmony", " to=5", " to=5", "", "") },
        { SAYS ("harmony", "to=5<6 <|message|>", "to=5<6 <|message|>", "", "") },
        { SAYS ("beam",
            "<|channel|>analysis<|message|>plan<|end|><|start|>assistant to=bash<|channel|>analysis "
            "<|constrain|>xml<|message|><rfl:parameter name=\"command\">\nls <|call|>\n</rfl:parameter>"
            "<rfl:parameter name=\"timeout\">\n7.5\n</rfl:parameter><|end|><|start|>assistant to=git_status<|channel|>"
            "analysis <|constrain|>xml<|message|><|call|>",
            "", "plan", "bash(){\"command\": \"ls <|call|>\", \"timeout\": 7.5}\ngit_status(){}\n") },
        { SAYS ("beam",
            " to=git_status<|channel|>analysis <|constrain|>xml<|message|><|call|><|start|>assistant<|channel|>analysis"
            "<|message|>a<|end|>b",
            "b", "a", "git_status(){}\n") },
        { SAYS ("beam",
              " to=bash<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"command\">\nls\n"
              "</rfl:parameter><|end|><|start|>assistant<|channel|>final<|message|>So.<|end|><|start|>assistant"
              "<|channel|>analysis<|message|>more<|end|>",
              "So.", "more", "bash(){\"command\": \"ls\"}\n"),
            .prompt = "<|start|>assistant" },
        { SAYS ("harmony",
              "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis "
              "to=functions.f<|message|>{}"
              "<|call|>",
              "I look.", "", "f(){}\n"),
            .prompt = "<|start|>assistant" },
        { SAYS ("functionary", "all\nhello", "hello", "", ""), .prompt = "assistant\n>>>" },
        { SAYS ("functionary", "f\n{\"a\": 1}>>>g\n{}", "", "", "f(){\"a\": 1}\ng(){}\n"), .prompt = "assistant\n>>>" },
    };
    RUN (examples);
}

//  Without tools a call is text, to the byte; reasoning is reasoning all the same.
static void
test_without_tools_calls_are_text (void **state)
{
    static const example_t examples [] = {
        { SAYS ("hermes", "<think>a</think><tool_call>{\"name\": \"f\"}</tool_call>",
              "<tool_call>{\"name\": \"f\"}</tool_call>", "a", ""),
            .no_calls = true },
        { SAYS ("pythonic", "[git_status()]", "[git_status()]", "", ""), .no_calls = true },
        { SAYS ("harmony", "<|channel|>commentary to=functions.f<|message|>{}<|call|>", "{}", "", ""),
            .no_calls = true },
    };
    RUN (examples);
}

//  ---- Types of arguments --------------------------------------------------------------------------------------------

//  A value in tags has the type that the schema says, and is a string where it cannot have it.
static void
test_values_have_the_type_of_the_schema (void **state)
{
    static const char schema [] =
        "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"$defs\":{\"n\":{\"type\":\"integer\"}},"
        "\"properties\":{"
        "\"s\":{\"type\":\"string\"},\"i\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"},\"o\":{\"type\":"
        "\"object\"},"
        "\"m\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]},\"r\":{\"$ref\":\"#/$defs/n\"},"
        "\"F\":{\"type\":\"Float\"},\"B\":{\"type\":\"bool\"},\"D\":{\"type\":\"dict\"},\"A\":{\"type\":\"any\"},"
        "\"u\":{\"type\":[\"integer\",\"string\"]},\"loop\":{\"$ref\":\"#/properties/loop\"}}}}}]";
    static const char *const values [][3] = { { "s", "02134", "\"02134\"" }, { "s", "", "\"\"" },
        { "s", "\na\n", "\"\\na\\n\"" }, { "i", "20", "20" }, { "i", "x", "\"x\"" }, { "i", "+5", "5" },
        { "i", "-007", "-7" }, { "i", "0", "0" }, { "i", ".5", "0.5" }, { "i", "5.", "5" }, { "i", "1e3", "1e3" },
        { "i", "+", "\"+\"" }, { "i", ".", "\".\"" }, { "i", "1.2.3", "\"1.2.3\"" }, { "i", "5 6", "\"5 6\"" },
        { "i", "123456789012345678901234567890", "123456789012345678901234567890" }, { "b", "True", "true" },
        { "b", "FALSE", "false" }, { "b", "1", "true" }, { "b", "0", "false" }, { "b", "yes", "\"yes\"" },
        { "o", "{'a': (1, None)}", "{\"a\": [1, null]}" }, { "o", "{\"a\": [1, ", "{\"a\": [1]}" },
        { "o", "{\"a\": 1,", "{\"a\": 1}" }, { "o", "{1: [", "\"{1: [\"" }, { "m", "null", "null" },
        { "m", "None", "\"None\"" }, { "m", "nullify", "\"nullify\"" }, { "m", "a longer one", "\"a longer one\"" },
        { "r", "7", "7" }, { "u", "7", "7" }, { "u", "7x", "\"7x\"" }, { "u", "007", "\"007\"" },
        { "F", "3.14", "3.14" }, { "B", "TRUE", "true" }, { "D", "{'a': 1}", "{\"a\": 1}" }, { "A", "[1]", "[1]" },
        { "A", "x y", "\"x y\"" }, { "loop", "1", "\"1\"" }, { "unknown", "7", "\"7\"" } };
    json_t *tools = said_parse_json (span_from_string (schema));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        buffer_t text = { 0 };
        buffer_t expected = { 0 };
        said_t said;
        parser_options_t options = { .tools = tools };
        buffer_print (
            &text, "<function=f>\n<parameter=%s>\n%s\n</parameter>\n</function>", values [i][0], values [i][1]);
        buffer_print (&expected, "f(){\"%s\": %s}\n", values [i][0], values [i][2]);
        said_parse_all_ways (parser_find (SPAN ("qwen3_coder")), &options, buffer_span (&text), false, &said);
        said_assert_text (values [i][1], buffer_span (&said.calls), buffer_span (&expected), false);
        said_fini (&said);
        buffer_fini (&text);
        buffer_fini (&expected);
    }
    json_destroy (&tools);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_format_is_read),
        cmocka_unit_test (test_streams_of_engines_are_read),
        cmocka_unit_test (test_text_around_calls_is_content),
        cmocka_unit_test (test_a_false_marker_is_text),
        cmocka_unit_test (test_markers_in_arguments_stay),
        cmocka_unit_test (test_an_interrupted_call_is_closed),
        cmocka_unit_test (test_an_answer_ends_with_closers),
        cmocka_unit_test (test_a_closer_ends_a_call_expression),
        cmocka_unit_test (test_another_argument_ends_a_value),
        cmocka_unit_test (test_a_name_is_enough),
        cmocka_unit_test (test_formats_beyond_the_golden_rows),
        cmocka_unit_test (test_messages_say_to_whom_they_are),
        cmocka_unit_test (test_a_closer_at_the_start_is_dropped),
        cmocka_unit_test (test_members_in_any_order),
        cmocka_unit_test (test_reasoning_begins_where_the_prompt_left_it),
        cmocka_unit_test (test_without_tools_calls_are_text),
        cmocka_unit_test (test_values_have_the_type_of_the_schema),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
