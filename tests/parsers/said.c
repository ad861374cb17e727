#include "tests/parsers/said.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"

//  ---- Sink ----------------------------------------------------------------------------------------------------------

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

parser_sink_t
said_sink (said_t *said)
{
    return (parser_sink_t){ said, s_on_content, s_on_reasoning, s_on_begin, s_on_arguments, s_on_end };
}

void
said_fini (said_t *said)
{
    buffer_fini (&said->content);
    buffer_fini (&said->reasoning);
    buffer_fini (&said->calls);
}

static size_t
s_piece (random_t *random, uint64_t split)
{
    if (split == SAID_WHOLE)
        return SIZE_MAX;
    return split == SAID_BYTES ? 1 : 1 + random_below (random, random_below (random, 2) ? 4 : 40);
}

parser_counts_t
said_parse (
    const parser_format_t *format, const parser_options_t *options, span_t text, uint64_t split, bool cut, said_t *said)
{
    random_t random;
    parser_sink_t sink = said_sink (said);
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

parser_counts_t
said_parse_all_ways (
    const parser_format_t *format, const parser_options_t *options, span_t text, bool cut, said_t *said)
{
    parser_counts_t counts = said_parse (format, options, text, SAID_WHOLE, cut, said);
    for (uint64_t split = SAID_BYTES; split < 12; split++) {
        said_t other;
        parser_counts_t others = said_parse (format, options, text, split, cut, &other);
        s_assert_same (said, &other, split, format->name);
        assert_int_equal (others.false_calls, counts.false_calls);
        assert_int_equal (others.dropped, counts.dropped);
        said_fini (&other);
    }
    return counts;
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

buffer_t
said_read_file (const char *path)
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

json_t *
said_parse_json (span_t text)
{
    json_t *json = NULL;
    error_t error = { 0 };
    if (json_parse (text, &json, &error))
        fail_msg ("%s in %.*s", error.text, SPAN_ARG (text));
    return json;
}

void
said_assert_text (const char *what, span_t got, span_t expected, bool loosely)
{
    if (loosely) {
        got = span_trim (got);
        expected = span_trim (expected);
    }
    if (!span_equal (got, expected))
        fail_msg ("%s: got \"%.*s\", expected \"%.*s\"", what, SPAN_ARG (got), SPAN_ARG (expected));
}
