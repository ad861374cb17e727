//  Feeds bytes to the reader of formats: what stands before the first line `---` describes one, what stands behind it is what
//  a model says in it.  What comes out must not depend on the cut.

#include "base/bug.h"
#include "base/buffer.h"
#include "model/parser/format_file.h"
#include "model/parser/parser.h"
#include "model/parser/text.h"
#include "tests/fuzz/fuzz.h"

static void
s_on_text (void *context, span_t text)
{
    buffer_append (context, text);
}

static void
s_on_begin (void *context, span_t name, span_t id)
{
    buffer_append_byte (context, 'n');
    buffer_append (context, name);
    buffer_append_byte (context, '(');
}

static void
s_on_end (void *context)
{
    buffer_append_byte (context, ')');
}

static void
s_parse (const parser_format_t *format, span_t text, size_t piece, buffer_t *said)
{
    const parser_sink_t sink = { said, s_on_text, s_on_text, s_on_begin, s_on_text, s_on_end };
    parser_options_t options = { .prefill = parser_prefill (format, text) };
    parser_t *parser = parser_new (format, &options, &sink);
    for (size_t at = 0; at < text.size; at += piece)
        parser_feed (parser, span_slice (text, at, piece));
    parser_finish (parser, false);
    parser_destroy (&parser);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    parser_format_t *format = NULL;
    span_t input = span_of (data, size);
    size_t line = text_find (input, "\n---\n");
    line = line == SIZE_MAX ? size : line;
    if (parser_format_load (span_slice (input, 0, line), &format, NULL))
        return 0;
    span_t text = span_slice (input, line + 5, size);
    buffer_t whole = { 0 }, pieces = { 0 };
    s_parse (format, text, size, &whole);
    s_parse (format, text, 1 + size % 7, &pieces);
    BUG_ON (!span_equal (buffer_span (&whole), buffer_span (&pieces)));
    buffer_fini (&whole);
    buffer_fini (&pieces);
    parser_format_destroy (&format);
    return 0;
}
