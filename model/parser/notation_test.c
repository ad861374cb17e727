//  How strings, names and keys are written: with which quotes, and what models make of them.

#include <string.h>

#include "base/json_writer.h"
#include "tests/parsers/said.h"

#define NS "]<]minimax[>["
#define Q "<|\"|>"

//  A text in a format, and the calls that it has.
typedef struct {
    const char *format;     //  Its name
    const char *text;       //  What the model says
    const char *content;    //  What of it is for the user
    const char *calls;      //  name(id)arguments, a line each
} example_t;

static void
s_check (const example_t *example)
{
    said_t said;
    parser_options_t options = { 0 };
    const parser_format_t *format = parser_find (span_from_string (example->format));
    said_parse_all_ways (format, &options, span_from_string (example->text), false, &said);
    said_assert_text (example->text, buffer_span (&said.calls), span_from_string (example->calls), false);
    said_assert_text (example->text, buffer_span (&said.content), span_from_string (example->content), false);
    said_fini (&said);
}

#define CHECK_ALL(examples)                                         \
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) \
    s_check (&examples [i])

//  Python's strings: three quotes, strings side by side; and quotes that models forget to escape, as those of shells.
static void
test_strings_of_python (void **state)
{
    static const char *const values [][2] = { { "\"\"\"x\n'y' \"z\" \"\"\"", "x\\n'y' \\\"z\\\" " }, { "''''''", "" },
        { "''", "" }, { "'x' \"y\"\n'z'", "xyz" }, { "'' 'y'", "y" }, { "'x''y'", "xy" }, { "'''x''y'''", "x''y" },
        { "'sed -n '360p' f.py'", "sed -n '360p' f.py" }, { "\"say \"$x\"!\"", "say \\\"$x\\\"!" },
        { "'it's'", "it's" }, { "'x'\n", "x" }, { "'x\\'' ", "x'" } };
    static const example_t examples [] = {
        { "pythonic", "[f(a='x' b='y')]", "", "f(){\"a\": \"x\", \"b\": \"y\"}\n" },
        { "pythonic", "[f(a={'x': 'y' 'z'})]", "", "f(){\"a\": {\"x\": \"yz\"}}\n" },
        { "lfm2", "<|tool_call_start|>[f(a='x<|tool_call_end|>", "", "f(){\"a\": \"x\"}\n" },
        { "lfm2", "<|tool_call_start|>[f(a='x'<|tool_call_end|>y", "y", "f(){\"a\": \"x\"}\n" },
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        buffer_t text = { 0 }, calls = { 0 };
        buffer_print (&text, "<|python_start|>[f(a=%s), g(b='c')]<|python_end|>", values [i][0]);
        buffer_print (&calls, "f(){\"a\": \"%s\"}\ng(){\"b\": \"c\"}\n", values [i][1]);
        s_check (&(example_t){ "llama4", buffer_string (&text), "", buffer_string (&calls) });
        buffer_fini (&text);
        buffer_fini (&calls);
    }
    CHECK_ALL (examples);
}

//  Python writes numbers in ways that JSON has not; what only looks like one is a string.
static void
test_numbers_of_python (void **state)
{
    static const char *const numbers [][2] = { { "0x1F", "31" }, { "-0b11", "-3" }, { "0O17", "15" },
        { "1_000", "1000" }, { "007", "7" }, { "-07", "-7" }, { "00", "0" }, { "+3", "3" }, { ".5", "0.5" },
        { "5.", "5.0" }, { "5.e3", "5.0e3" }, { "007.50", "7.50" }, { "1_0E-2", "10E-2" },
        { "0xffffffffffffffff", "\"0xffffffffffffffff\"" }, { "1__0", "\"1__0\"" }, { "_1", "\"_1\"" },
        { "1_", "\"1_\"" }, { "0x", "\"0x\"" }, { "5.e", "\"5.e\"" }, { "1+2", "\"1+2\"" }, { "+", "\"+\"" },
        { ".", "\".\"" }, { "-x", "\"-x\"" }, { "2024-01-15", "\"2024-01-15\"" } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        buffer_t text = { 0 }, calls = { 0 };
        buffer_print (&text, "[f(a=%s, b=[%s])]", numbers [i][0], numbers [i][0]);
        buffer_print (&calls, "f(){\"a\": %s, \"b\": [%s]}\n", numbers [i][1], numbers [i][1]);
        s_check (&(example_t){ "pythonic", buffer_string (&text), "", buffer_string (&calls) });
        buffer_fini (&text);
        buffer_fini (&calls);
    }
}

//  A set is a list; what has a colon is none.
static void
test_sets_of_python (void **state)
{
    static const example_t examples [] = {
        { "pythonic", "[f(a={'x', 'y'}, b={1, 0x2, True}, c={'z'}, d={}, e={'k': {'s', 't'}})]", "",
            "f(){\"a\": [\"x\", \"y\"], \"b\": [1, 2, true], \"c\": [\"z\"], \"d\": {}, \"e\": {\"k\": [\"s\", "
            "\"t\"]}}\n" },
        { "pythonic", "[f(a=[{'q\\'\xc3\xa9\"', x}, {'k': 1, 'l': 2}, {-07}, {'a'}, {'b': {3}}])]", "",
            "f(){\"a\": [[\"q'\xc3\xa9\\\"\", \"x\"], {\"k\": 1, \"l\": 2}, [-7], [\"a\"], {\"b\": [3]}]}\n" },
        { "pythonic", "[f(a={'k", "", "f(){\"a\": {\"k\": null}}\n" },
        { "pythonic", "[f(a={'k', 1", "", "f(){\"a\": [\"k\", 1]}\n" },
        { "pythonic", "[f(a={'k' 'l': 1, 2: 3}, b={'x' 'y'})]", "",
            "f(){\"a\": {\"kl\": 1, \"2\": 3}, \"b\": [\"xy\"]}\n" },
    };
    CHECK_ALL (examples);
}

//  Nothing escapes Gemma's own quote: it ends a string where one can end.
static void
test_own_quotes_in_strings (void **state)
{
    static const char *const values [][2] = { { "", "" }, { Q, Q }, { "x " Q " y", "x " Q " y" }, { Q Q, Q Q },
        { "x" Q "y" Q, "x" Q "y" Q } };
    static const example_t examples [] = {
        { "gemma4", "<|tool_call>call:f{a:" Q "x" Q "b:" Q "y" Q "}<tool_call|>", "",
            "f(){\"a\": \"x\", \"b\": \"y\"}\n" },
        { "gemma4", "<|tool_call>call:f{a:" Q "x" Q "<tool_call|>y", "y", "f(){\"a\": \"x\"}\n" },
        { "gemma4", "<|tool_call>call:f{a:" Q "x" Q, "", "f(){\"a\": \"x\"}\n" },
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        buffer_t text = { 0 }, calls = { 0 }, value = { 0 };
        json_escape_bytes (&value, span_from_string (values [i][1]));
        buffer_print (
            &text, "<|tool_call>call:f{a:" Q "%s" Q ",n:1}<tool_call|><|tool_call>call:g{}<tool_call|>", values [i][0]);
        buffer_print (&calls, "f(){\"a\": \"%s\", \"n\": 1}\ng(){}\n", buffer_string (&value));
        s_check (&(example_t){ "gemma4", buffer_string (&text), "", buffer_string (&calls) });
        buffer_fini (&text);
        buffer_fini (&calls);
        buffer_fini (&value);
    }
    CHECK_ALL (examples);
}

//  Names and keys may stand in either quote or none, attributes behind a key.
static void
test_names_in_tags_are_quoted_or_not (void **state)
{
    static const example_t examples [] = {
        { "dots",
            "<dots_function_call><invoke name='f'><parameter name='k'>1</parameter><parameter name=l>2</parameter>"
            "</invoke><invoke name=g></invoke></dots_function_call>",
            "", "f(){\"k\": 1, \"l\": 2}\ng(){}\n" },
        { "muse",
            "<atem:invoke name=\"f\"><atem:parameter name=\"k\" string=\"true\">1</atem:parameter><atem:parameter "
            "name=\"l\">1</atem:parameter></atem:invoke>",
            "", "f(){\"k\": \"1\", \"l\": 1}\n" },
        { "minimax_m3", NS "<invoke name='f'>" NS "<k>1" NS "</k>" NS "</invoke>" NS "<invoke name=g>" NS "</invoke>",
            "", "f(){\"k\": 1}\ng(){}\n" },
        { "minicpm5", "<tool_call>\n<function name='f'><param name='k'>1</param></function>\n</tool_call>a", "a",
            "f(){\"k\": 1}\n" },
    };
    CHECK_ALL (examples);
}

//  Entities stand for what they do in XML, where a notation has its CDATA.
static void
test_entities_in_values (void **state)
{
    static const example_t examples [] = {
        { "minicpm5",
            "<function name=\"f\"><param name=\"s\" type=\"string\">a &lt; b &amp;&amp; &nbsp; &</param><param "
            "name=\"l\">"
            "[&quot;&gt;&quot;]</param><param name=\"d\"><![CDATA[&lt;]]></param></function>",
            "", "f(){\"s\": \"a < b && &nbsp; &\", \"l\": [\">\"], \"d\": \"&lt;\"}\n" },
        { "minimax_m2", "<minimax:tool_call><invoke name=\"f\"><parameter name=\"s\">&lt;</parameter></invoke>", "",
            "f(){\"s\": \"&lt;\"}\n" },
    };
    CHECK_ALL (examples);
}

//  The same family's models write calls in JSON in other wrappers, too.
static void
test_wrappers_of_calls_in_json (void **state)
{
    static const example_t examples [] = {
        { "llama4", "<|python_start|>{\"name\": \"f\", \"parameters\": {}}<|python_end|>a", "a", "f(){}\n" },
        { "llama4_json", "<|python_start|>{\"name\": \"f\", \"parameters\": {}}<|python_end|>a", "a", "f(){}\n" },
        { "xlam", "[TOOL_CALLS][{\"name\": \"f\"}]", "", "f(){}\n" },
        { "xlam", "<tool_call>[{\"name\": \"f\"}]</tool_call>", "", "f(){}\n" },
        { "xlam", "a\n```\n[{\"name\": \"f\"}]\n```", "a\n", "f(){}\n" },
        { "xlam", "a\n```python\nx = {\"name\": 1}\n```", "a\n```python\nx = {\"name\": 1}\n```", "" },
    };
    CHECK_ALL (examples);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_strings_of_python),
        cmocka_unit_test (test_numbers_of_python),
        cmocka_unit_test (test_sets_of_python),
        cmocka_unit_test (test_own_quotes_in_strings),
        cmocka_unit_test (test_names_in_tags_are_quoted_or_not),
        cmocka_unit_test (test_entities_in_values),
        cmocka_unit_test (test_wrappers_of_calls_in_json),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
