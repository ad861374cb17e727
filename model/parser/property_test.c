//  Parsers against text that nobody wrote: full of what formats are made of, and endless.

#include <string.h>

#include "base/random.h"
#include "tests/parsers/said.h"

//  Words that formats are made of, so that what is drawn looks like calls that went wrong.
static void
s_draw_text (random_t *random, const parser_format_t *format, buffer_t *out)
{
    const char *const words [] = { format->think_start [0], format->think_end [0], format->section_start,
        format->section_end, format->call_start, format->call_end, format->name_end, format->key_start, format->key_end,
        format->value_start, format->value_end, format->quote,
        "{\"name\": \"f\", \"arguments\": ", "{\"a\": [1, \"x\\\"\"]}", "{", "}", "[", "]", "f(", "a=", "'b'", ")",
        "\"", "\\", ",", ":", "\n", " ", "<", "word", "\xe6\xbc\xa2", "null", "<|channel|>", "<|message|>", "<|end|>",
        "f" };
    for (uint64_t left = 1 + random_below (random, 24); left; left--) {
        const char *word = words [random_below (random, sizeof words / sizeof *words)];
        size_t size = word ? strlen (word) : 0;
        if (size && random_below (random, 12) == 0)
            size = random_below (random, size);
        buffer_append (out, span_of (word, size));
    }
}

//  Whatever a model says, in every format: the cut of the bytes changes nothing, calls begin and end, nothing more comes out
//  than went in, and without markers all of it does.
static void
test_any_text_gives_one_result (void **state)
{
    size_t count;
    const uint64_t seed = 20261129;
    const parser_format_t *formats = parser_formats (&count);
    json_t *tools = said_parse_json (SPAN ("[{\"name\": \"f\"}, {\"name\": \"word\"}]"));
    random_t random;
    random_init (&random, seed);
    print_message ("seed %llu\n", (unsigned long long)seed);
    for (uint32_t round = 0; round < 6000; round++) {
        const parser_format_t *format = &formats [random_below (&random, count)];
        parser_options_t options = { .no_calls = random_below (&random, 8) == 0,
            .prompted = random_below (&random, 2),
            .tools = random_below (&random, 2) ? tools : NULL };
        buffer_t text = { 0 };
        said_t said;
        s_draw_text (&random, format, &text);
        said_parse_all_ways (format, &options, buffer_span (&text), random_below (&random, 2), &said);
        assert_true (said.content.size + said.reasoning.size <= text.size);
        assert_true (!options.no_calls || said.count == 0);
        said_fini (&said);
        buffer_fini (&text);
    }
    json_destroy (&tools);
}

//  What has come out, as a line each.
static void
s_so_far (const said_t *said, buffer_t *out)
{
    buffer_print (out, "%u%d %.*s\n%.*s\n", said->count, said->open, SPAN_ARG (buffer_span (&said->content)),
        SPAN_ARG (buffer_span (&said->reasoning)));
    buffer_append (out, buffer_span (&said->calls));
}

//  Behind every byte of a text.
static void
s_assert_same_so_far (const parser_format_t *format, const parser_options_t *options, span_t text)
{
    said_t bytes = { 0 };
    parser_sink_t sink = said_sink (&bytes);
    parser_t *parser = parser_new (format, options, &sink);
    for (size_t at = 0; at < text.size; at++) {
        said_t whole = { 0 };
        buffer_t expected = { 0 }, got = { 0 };
        parser_sink_t whole_sink = said_sink (&whole);
        parser_t *fresh = parser_new (format, options, &whole_sink);
        parser_feed (fresh, span_slice (text, 0, at + 1));
        parser_feed (parser, span_slice (text, at, 1));
        s_so_far (&whole, &expected);
        s_so_far (&bytes, &got);
        said_assert_text (format->name, buffer_span (&got), buffer_span (&expected), false);
        parser_destroy (&fresh);
        said_fini (&whole);
        buffer_fini (&expected);
        buffer_fini (&got);
    }
    parser_destroy (&parser);
    said_fini (&bytes);
}

//  Byte by byte, as much has come out behind each as if all before it had come at once: nothing waits for the next piece.
static void
test_nothing_waits_for_the_next_piece (void **state)
{
    size_t count;
    const parser_format_t *formats = parser_formats (&count);
    random_t random;
    random_init (&random, 11);
    for (uint32_t round = 0; round < 1500; round++) {
        const parser_format_t *format = &formats [random_below (&random, count)];
        const parser_options_t options = { .prompted = random_below (&random, 2) };
        buffer_t text = { 0 };
        s_draw_text (&random, format, &text);
        s_assert_same_so_far (format, &options, buffer_span (&text));
        buffer_fini (&text);
    }
}

//  Of plain text no more than a marker waits, also where it is full of beginnings of markers.
static void
test_what_waits_is_bounded (void **state)
{
    size_t count;
    const parser_format_t *formats = parser_formats (&count);
    random_t random;
    random_init (&random, 7);
    for (size_t i = 0; i < count; i++) {
        said_t said = { 0 };
        parser_sink_t sink = said_sink (&said);
        parser_options_t options = { .prompted = true };
        parser_t *parser = parser_new (&formats [i], &options, &sink);
        span_t opener =
            span_from_string (formats [i].section_start ? formats [i].section_start : formats [i].call_start);
        size_t fed = 0;
        for (uint32_t piece = 0; piece < 2000; piece++) {
            span_t text = random_below (&random, 2) && opener.size > 1 ? span_slice (opener, 0, opener.size - 1)
                                                                       : SPAN ("a < b\n");
            parser_feed (parser, text);
            parser_feed (parser, SPAN ("!"));
            fed += text.size + 1;
            assert_true (fed - said.content.size - said.reasoning.size <= PARSER_HOLD_MARKER);
        }
        parser_finish (parser, false);
        assert_int_equal (said.content.size, fed);
        parser_destroy (&parser);
        said_fini (&said);
    }
}

//  Ten megabytes in one string, in a name, in a key, before a name, without an end: nothing is kept beyond the bound, and arguments
//  go out whole.
static void
test_endless_input_is_bounded (void **state)
{
    static const char *const openers [][2] = { { "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"" },
        { "hermes", "<tool_call>{\"arguments\":{\"a\":\"" }, { "hermes", "<tool_call>{\"name\":\"" },
        { "hermes", "<tool_call>{\"" }, { "hermes", "<tool_call>" },
        { "qwen3_coder", "<function=bash><parameter=command>" }, { "qwen3_coder", "<function=" },
        { "qwen3_coder", "<function=f><parameter=" }, { "qwen3_coder", "<function=edit><parameter=opts>" },
        { "kimi_k2", "<|tool_call_begin|>" }, { "pythonic", "[f(a='" }, { "pythonic", "[f(a=" },
        { "gemma4", "<|tool_call>call:f{k:<|\"|>" }, { "harmony", "<|channel|>" },
        { "harmony", "<|channel|>commentary to=functions.f<|message|>" }, { "glm45", "<tool_call>" },
        { "granite", "Here is my thought process:" } };
    enum { SIZE = 10 << 20 };
    buffer_t text = { 0 };
    memset (buffer_reserve (&text, SIZE), 'x', SIZE);
    buffer_commit (&text, SIZE);
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        said_t said = { 0 };
        parser_sink_t sink = said_sink (&said);
        parser_options_t options = { 0 };
        parser_t *parser = parser_new (parser_find (span_from_string (openers [i][0])), &options, &sink);
        parser_feed (parser, span_from_string (openers [i][1]));
        parser_feed (parser, buffer_span (&text));
        size_t out = said.content.size + said.reasoning.size + said.calls.size;
        assert_true (said.count || out + PARSER_HOLD_MAX + PARSER_HOLD_MARKER >= SIZE || i == 7);
        parser_finish (parser, false);
        parser_destroy (&parser);
        said_fini (&said);
    }
    buffer_fini (&text);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_any_text_gives_one_result),
        cmocka_unit_test (test_nothing_waits_for_the_next_piece),
        cmocka_unit_test (test_what_waits_is_bounded),
        cmocka_unit_test (test_endless_input_is_bounded),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
