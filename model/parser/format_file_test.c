//  Formats described in YAML: the examples work as they say, every member is read, what is wrong is told with its line.

#include <string.h>

#include "model/parser/format_file.h"
#include "tests/parsers/said.h"

static parser_format_t *
s_load (span_t text)
{
    parser_format_t *format = NULL;
    error_t error = { 0 };
    if (parser_format_load (text, &format, &error))
        fail_msg ("%s", error.text);
    return format;
}

static void
s_assert_said (
    const parser_format_t *format, const char *text, const char *content, const char *reasoning, const char *calls)
{
    said_t said;
    parser_options_t options = { 0 };
    said_parse_all_ways (format, &options, span_from_string (text), false, &said);
    said_assert_text (text, buffer_span (&said.calls), span_from_string (calls), false);
    said_assert_text (text, buffer_span (&said.content), span_from_string (content), false);
    said_assert_text (text, buffer_span (&said.reasoning), span_from_string (reasoning), false);
    said_fini (&said);
}

//  The example of the manual reads what its comment says a model writes.
static void
test_the_example_reads_what_it_describes (void **state)
{
    buffer_t text = said_read_file ("examples/formats/actions.yaml");
    parser_format_t *format = s_load (buffer_span (&text));
    s_assert_said (format,
        "<reflect>I need the file.</reflect>I look.\n<actions>\n<do:read_file>\n<with:path>src/a.c</with>\n"
        "<with:limit>20</with>\n</do>\n</actions>",
        "I look.\n", "I need the file.", "read_file(){\"path\": \"src/a.c\", \"limit\": 20}\n");
    parser_format_destroy (&format);
    buffer_fini (&text);
}

//  A known format with other markers is `like` it; another way to write calls is `also` read.
static void
test_a_format_like_another (void **state)
{
    parser_format_t *format = s_load (SPAN ("section_start: <c>\nsection_end: </c>\nlike: hermes\nalso: mistral\n"
                                            "think_start: [<a>, <b>]\nthink_end: [</a>, </b>]\n"));
    s_assert_said (format, "<b>x</b><c>{\"name\": \"f\", \"arguments\": {}}</c>[TOOL_CALLS][{\"name\": \"g\"}]", "",
        "x", "f(){}\ng(){}\n");
    parser_format_destroy (&format);
    parser_format_destroy (&format);
    format = s_load (SPAN ("machine: json\nsection_start: 'call '"));
    s_assert_said (format, "call {\"name\": \"f\"}", "", "", "f(){}\n");
    parser_format_destroy (&format);
}

static void
test_what_is_wrong_is_told_with_its_line (void **state)
{
    static const char *const faults [][2] = { { "", "a format is a mapping of names to values" },
        { "[a]", "a format is a mapping of names to values" }, { "a: [", "line 2: did not find expected node content" },
        { "machine: tags\ncallstart: x", "line 2: a format has no 'callstart'" },
        { "machine: gears", "line 1: a word is expected here, plain|json|named|tags|literal|harmony, not 'gears'" },
        { "like: nobody", "line 1: no format is called 'nobody'" },
        { "machine: tags\ncall_start: <f>", "line 1: calls in tags need call_start, key_start, key_end and value_end" },
        { "call_start: <f>", "line 1: calls need a machine that reads them" },
        { "machine: json", "line 1: calls in JSON need a section_start, or a call_start other than {" },
        { "machine: json\ncall_start: '@call '", "line 1: calls in JSON begin with { or [, and so does call_start; "
                                                 "what stands before them is section_start" },
        { "machine: named", "line 1: calls with a header need a call_start" },
        { "machine: literal", "line 1: call expressions need a section_start or a call_start" },
        { "think_start: <a>", "line 1: think_start and think_end belong together" },
        { "call_alone: yes", "line 1: true or false is expected for 'call_alone'" },
        { "call_start: ''", "line 1: a marker has 1 to 64 bytes, none of them zero" },
        { "call_start: [a, b]", "line 1: there is no place for so many of 'call_start'" },
        { "silent: [a, [b]]", "line 1: a string is expected" } };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        parser_format_t *format = NULL;
        error_t error = { 0 };
        assert_int_equal (parser_format_load (span_from_string (faults [i][0]), &format, &error), STATUS_INVALID);
        assert_string_equal (error.text, faults [i][1]);
        assert_null (format);
    }
}

//  The manual explains every member.
static void
test_every_member_is_in_the_manual (void **state)
{
    buffer_t manual = said_read_file ("docs/models.md");
    for (size_t i = 0; parser_format_member (i); i++) {
        buffer_t name = { 0 };
        buffer_print (&name, "`%s`", parser_format_member (i));
        if (!strstr (buffer_string (&manual), buffer_string (&name)))
            fail_msg ("docs/models.md says nothing of %s", buffer_string (&name));
        buffer_fini (&name);
    }
    buffer_fini (&manual);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_example_reads_what_it_describes),
        cmocka_unit_test (test_a_format_like_another),
        cmocka_unit_test (test_what_is_wrong_is_told_with_its_line),
        cmocka_unit_test (test_every_member_is_in_the_manual),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
