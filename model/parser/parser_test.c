//  Parsers against texts of every format (tests/data/streams), however they are cut, and against what models do when they
//  err.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "base/random.h"
#include "model/parser/parser.h"

#define FOLDER "tests/data/streams/"

//  ---- What a parser said ------------------------------------------------------------------------------------------------

typedef struct {
    buffer_t content;      //  All of it
    buffer_t reasoning;    //  All of it
    buffer_t calls;        //  name(id)arguments, a line each
    bool open;             //  A call is
    uint32_t count;        //  Calls that ended
    size_t waiting;        //  Bytes fed and not delivered, where text is all there is
} said_t;

static void
s_on_content (void *context, span_t text)
{
    said_t *said = context;
    assert_false (said->open);
    buffer_append (&said->content, text);
}

static void
s_on_reasoning (void *context, span_t text)
{
    said_t *said = context;
    assert_false (said->open);
    buffer_append (&said->reasoning, text);
}

static void
s_on_begin (void *context, span_t name, span_t id)
{
    said_t *said = context;
    assert_false (said->open);
    assert_true (name.size > 0);
    said->open = true;
    buffer_append (&said->calls, name);
    buffer_append_byte (&said->calls, '(');
    buffer_append (&said->calls, id);
    buffer_append_byte (&said->calls, ')');
}

static void
s_on_arguments (void *context, span_t json)
{
    said_t *said = context;
    assert_true (said->open);
    buffer_append (&said->calls, json);
}

static void
s_on_end (void *context)
{
    said_t *said = context;
    assert_true (said->open);
    said->open = false;
    said->count++;
    buffer_append_byte (&said->calls, '\n');
}

static parser_sink_t
s_sink (said_t *said)
{
    return (parser_sink_t){ said, s_on_content, s_on_reasoning, s_on_begin, s_on_arguments, s_on_end };
}

static void
s_said_fini (said_t *said)
{
    buffer_fini (&said->content);
    buffer_fini (&said->reasoning);
    buffer_fini (&said->calls);
}

//  How a text is cut: whole, into bytes, or at random from a seed.
enum { WHOLE = 0, BYTES = 1 };

static size_t
s_piece (random_t *random, uint64_t split)
{
    if (split == WHOLE)
        return SIZE_MAX;
    return split == BYTES ? 1 : 1 + random_below (random, random_below (random, 2) ? 4 : 40);
}

static parser_counts_t
s_parse (
    const parser_format_t *format, const parser_options_t *options, span_t text, uint64_t split, bool cut, said_t *said)
{
    random_t random;
    parser_sink_t sink = s_sink (said);
    *said = (said_t){ 0 };
    random_init (&random, split);
    parser_t *parser = parser_new (format, options, &sink);
    for (size_t at = 0; at < text.size;) {
        span_t piece = span_slice (text, at, s_piece (&random, split));
        parser_feed (parser, piece);
        at += piece.size;
    }
    parser_finish (parser, cut);
    parser_counts_t counts = parser_counts (parser);
    parser_destroy (&parser);
    assert_false (said->open);
    assert_int_equal (counts.calls, said->count);
    return counts;
}

static void
s_assert_same (const said_t *a, const said_t *b, uint64_t split, const char *what)
{
    bool same = span_equal (buffer_span (&a->content), buffer_span (&b->content)) &&
                span_equal (buffer_span (&a->reasoning), buffer_span (&b->reasoning)) &&
                span_equal (buffer_span (&a->calls), buffer_span (&b->calls));
    if (!same)
        print_error ("%s: split %llu differs from whole:\n  content   %.*s | %.*s\n  reasoning %.*s | %.*s\n  calls    "
                     " %.*s | %.*s\n",
            what, (unsigned long long)split, SPAN_ARG (buffer_span (&a->content)), SPAN_ARG (buffer_span (&b->content)),
            SPAN_ARG (buffer_span (&a->reasoning)), SPAN_ARG (buffer_span (&b->reasoning)),
            SPAN_ARG (buffer_span (&a->calls)), SPAN_ARG (buffer_span (&b->calls)));
    assert_true (same);
}

//  Parses whole, in bytes, and cut at random; the same each time.  Leaves what was said.
static parser_counts_t
s_parse_all_ways (const parser_format_t *format, const parser_options_t *options, span_t text, bool cut, said_t *said)
{
    parser_counts_t counts = s_parse (format, options, text, WHOLE, cut, said);
    for (uint64_t split = BYTES; split < 12; split++) {
        said_t other;
        s_parse (format, options, text, split, cut, &other);
        s_assert_same (said, &other, split, format->name);
        s_said_fini (&other);
    }
    return counts;
}

//  ---- Golden rows -------------------------------------------------------------------------------------------------------

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

static json_t *
s_parse_json (span_t text)
{
    json_t *json = NULL;
    error_t error = { 0 };
    if (json_parse (text, &json, &error))
        fail_msg ("%s in %.*s", error.text, SPAN_ARG (text));
    return json;
}

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
        json_t *json = s_parse_json (span_slice (line, arguments, line.size));
        json_render (json, out);
        buffer_append_byte (out, '\n');
        json_destroy (&json);
        calls = span_slice (calls, size + 1, calls.size);
    }
}

static void
s_assert_text (const char *what, span_t got, span_t expected, bool loosely)
{
    if (loosely) {
        got = span_trim (got);
        expected = span_trim (expected);
    }
    if (!span_equal (got, expected))
        fail_msg ("%s: got \"%.*s\", expected \"%.*s\"", what, SPAN_ARG (got), SPAN_ARG (expected));
}

static void
s_check_row (const char *what, const json_t *row, const said_t *said, bool loosely)
{
    buffer_t got = { 0 };
    buffer_t expected = { 0 };
    s_expected_calls (json_get (row, "calls"), &expected);
    s_normal_calls (buffer_span (&said->calls), &got);
    s_assert_text (what, buffer_span (&got), buffer_span (&expected), false);
    s_assert_text (what, buffer_span (&said->content), json_string (json_get (row, "normal_text")), loosely);
    s_assert_text (what, buffer_span (&said->reasoning), json_string (json_get (row, "reasoning")), loosely);
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
    s_parse_all_ways (format, &options, text, false, &said);
    s_check_row (buffer_string (&what), row, &said, loosely);
    s_said_fini (&said);
    buffer_fini (&what);
}

static size_t
s_for_each_row (const char *path, void (*each) (const json_t *row, const json_t *tools))
{
    size_t rows = 0;
    buffer_t text = s_read_file (path);
    buffer_t tools_text = s_read_file (FOLDER "tools_common.json");
    json_t *tools = s_parse_json (buffer_span (&tools_text));
    for (span_t rest = buffer_span (&text); rest.size;) {
        size_t size = span_find_byte (rest, '\n');
        json_t *row = s_parse_json (span_slice (rest, 0, size));
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

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_format_is_read),
        cmocka_unit_test (test_streams_of_engines_are_read),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
