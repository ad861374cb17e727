//  stator bench parser - what a model says, taken apart, as it comes

#include <string.h>

#include "base/memory.h"
#include "cli/bench/bench.h"
#include "model/parser/parser.h"

enum { SIZE = 32 << 20, QUICK_SIZE = 1 << 16, PIECE = 1 << 16, BYTE = 1, TOKEN = 4, WORD = 16 };

//  A text in a format: an opening, then a line again and again, then a closing.
typedef struct {
    const char *cell;      //  Name of the cell
    const char *format;    //  Name of the format
    size_t piece;          //  Bytes that come at once
    const char *open;      //  Before the lines
    const char *line;      //  Repeated
    const char *close;     //  Behind them
} sample_t;

#define PROSE                                                                                                   \
    "The build passes on both machines, and (as far as I can tell) nothing else depends on it: see line 42 of " \
    "main.c.\n"
#define CODE "    if (self->count == 0 && !last) return \\\"none\\\";\\n"
#define RAW "    if (self->count == 0 && !last) return \"none\";\n"
#define BAR "\xef\xbd\x9c"
#define LOW "\xe2\x96\x81"
#define CALL_BEGIN "<" BAR "tool" LOW "call" LOW "begin" BAR ">"

//  What is open, repeated and closed in a call with one long argument.
#define HERMES_CALL "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"", CODE, "\"}}</tool_call>"
#define QWEN_CALL "<tool_call>\n<function=f>\n<parameter=a>\n", RAW, "\n</parameter>\n</function>\n</tool_call>"
#define PYTHON_CALL "[f(a=\"", CODE, "\")]"
#define HARMONY_CALL "<|channel|>commentary to=functions.f<|message|>{\"a\":\"", CODE, "\"}<|call|>"

//  The same of short calls, one after the other.
#define HERMES_CALLS "", "<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":\"main.c\",\"i\":20}}\n</tool_call>\n", ""
#define QWEN_CALLS                                                                                            \
    "",                                                                                                       \
        "<tool_call>\n<function=f>\n<parameter=a>\nmain.c\n</parameter>\n<parameter=i>\n20\n</parameter>\n</" \
        "function>\n"                                                                                         \
        "</tool_call>\n",                                                                                     \
        ""
#define PYTHON_CALLS "", "[f(a=\"main.c\", i=20)]\n", ""

static const sample_t s_samples [] = {
    { "text_hermes", "hermes", PIECE, "", PROSE, "" },
    { "text_qwen3_coder", "qwen3_coder", PIECE, "", PROSE, "" },
    { "text_deepseek_v3_1", "deepseek_v3_1", PIECE, "", PROSE, "" },
    { "text_mistral", "mistral", PIECE, "", PROSE, "" },
    { "text_harmony", "harmony", PIECE, "<|channel|>final<|message|>", PROSE, "<|return|>" },
    { "text_pythonic", "pythonic", PIECE, "", PROSE, "" },
    { "signs_hermes", "hermes", PIECE, "", "    if (i < n && a [i] << 2 < <b>) { x [0] = y; }\n", "" },
    { "signs_llama3_json", "llama3_json", PIECE, "", "    if (i < n && a [i] << 2 < <b>) { x [0] = y; }\n", "" },
    { "signs_pythonic", "pythonic", PIECE, "", "    if (i < n && a [i] << 2 < <b>) { x [0] = y; }\n", "" },
    { "reasoning_hermes", "hermes", PIECE, "<think>", PROSE, "</think>" },
    { "byte_hermes", "hermes", BYTE, "", PROSE, "" },
    { "token_hermes", "hermes", TOKEN, "", PROSE, "" },
    { "call_hermes", "hermes", PIECE, HERMES_CALL },
    { "call_deepseek_v3_1", "deepseek_v3_1", PIECE, CALL_BEGIN "f<" BAR "tool" LOW "sep" BAR ">{\"a\":\"", CODE,
        "\"}" },
    { "call_qwen3_coder", "qwen3_coder", PIECE, QWEN_CALL },
    { "call_glm45", "glm45", PIECE, "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>", RAW,
        "</arg_value>\n</tool_call>" },
    { "call_pythonic", "pythonic", PIECE, PYTHON_CALL },
    { "call_harmony", "harmony", PIECE, HARMONY_CALL },
    { "call_byte_hermes", "hermes", BYTE, HERMES_CALL },
    { "call_byte_qwen3_coder", "qwen3_coder", BYTE, QWEN_CALL },
    { "call_byte_pythonic", "pythonic", BYTE, PYTHON_CALL },
    { "call_byte_harmony", "harmony", BYTE, HARMONY_CALL },
    { "call_token_hermes", "hermes", TOKEN, HERMES_CALL },
    { "call_token_qwen3_coder", "qwen3_coder", TOKEN, QWEN_CALL },
    { "call_token_pythonic", "pythonic", TOKEN, PYTHON_CALL },
    { "call_word_hermes", "hermes", WORD, HERMES_CALL },
    { "calls_hermes", "hermes", PIECE, HERMES_CALLS },
    { "calls_qwen3_coder", "qwen3_coder", PIECE, QWEN_CALLS },
    { "calls_pythonic", "pythonic", PIECE, PYTHON_CALLS },
    { "calls_byte_hermes", "hermes", BYTE, HERMES_CALLS },
    { "calls_byte_qwen3_coder", "qwen3_coder", BYTE, QWEN_CALLS },
    { "calls_byte_pythonic", "pythonic", BYTE, PYTHON_CALLS },
};

//  A long argument is a string to it, so that it goes out as it comes.
static const char s_tools [] =
    "[{\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":{\"type\":\"string\"},\"i\":{\"type\":\"integer\"}}}}]";

static void
s_on_text (void *context, span_t text)
{
    *(size_t *)context += text.size;
}

static void
s_on_begin (void *context, span_t name, span_t id)
{
}

static void
s_on_end (void *context)
{
}

static void
s_write (const sample_t *sample, size_t size, buffer_t *text)
{
    buffer_append_string (text, sample->open);
    while (text->size < size)
        buffer_append_string (text, sample->line);
    buffer_append_string (text, sample->close);
}

//  Returns the seconds that it took; *delivered counts bytes.
static double
s_parse (const sample_t *sample, const json_t *tools, span_t text, size_t *delivered)
{
    const parser_sink_t sink = { delivered, s_on_text, s_on_text, s_on_begin, s_on_text, s_on_end };
    const parser_options_t options = { .tools = tools };
    *delivered = 0;
    double start = bench_seconds ();
    parser_t *parser = parser_new (parser_find (span_from_string (sample->format)), &options, &sink);
    for (size_t at = 0; at < text.size; at += sample->piece)
        parser_feed (parser, span_slice (text, at, sample->piece));
    parser_finish (parser, false);
    parser_destroy (&parser);
    return bench_seconds () - start;
}

static status_t
s_run_sample (const bench_run_t *run, const sample_t *sample, const json_t *tools, error_t *error)
{
    bench_cell_t cell;
    buffer_t text = { 0 };
    size_t delivered;
    s_write (sample, run->quick ? QUICK_SIZE : SIZE, &text);
    double seconds = s_parse (sample, tools, buffer_span (&text), &delivered);
    bool whole = delivered * 5 >= text.size;    //  Short calls are mostly markers
    bench_cell_begin (&cell, &bench_parser, sample->cell);
    bench_cell_count (&cell, "bytes", text.size);
    bench_cell_count (&cell, "piece_bytes", sample->piece);
    bench_cell_figure (&cell, "cpu_ms", seconds * 1e3);
    bench_cell_figure (&cell, "mb_per_s", (double)text.size / seconds / 1e6);
    bench_cell_print (&cell);
    buffer_fini (&text);
    return whole ? STATUS_OK
                 : error_set (error, STATUS_INVALID, "%s: only %zu bytes came out", sample->cell, delivered);
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    json_t *tools = NULL;
    status_t status = json_parse (span_from_string (s_tools), &tools, error);
    for (size_t i = 0; i < sizeof s_samples / sizeof *s_samples && !status; i++)
        if (bench_wants (run, s_samples [i].cell))
            status = s_run_sample (run, &s_samples [i], tools, error);
    json_destroy (&tools);
    return status;
}

const bench_t bench_parser = {
    .name = "parser",
    .arguments = "[CELL ...]",
    .doc = "Text, reasoning, arguments and short calls in several formats, in large pieces and token by token.",
    .words_min = 0,
    .words_max = BENCH_CELLS,
    .run = s_run,
};
