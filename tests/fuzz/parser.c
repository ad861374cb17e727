//  Feeds bytes to the parsers of what models say.  The first line names the format (or chooses one by its size), the byte
//  behind it says how the rest is cut and what is asked for; one tool with an argument of each kind is known.  What comes
//  out must not depend on the cut.

#include "base/bug.h"
#include "model/parser/parser.h"
#include "tests/fuzz/fuzz.h"

static const char s_tools [] = "[{\"name\":\"f\",\"parameters\":{\"properties\":{\"s\":{\"type\":\"string\"},\"n\":{"
                               "\"type\":[\"integer\",\"null\"]},"
                               "\"o\":{\"anyOf\":[{\"type\":\"object\"},{\"$ref\":\"#/properties/o\"}]}}}}]";

//  All that was said, with a byte before each piece of another kind.
typedef struct {
    buffer_t text;    //  In order
    uint8_t kind;     //  Of the last piece
    bool open;        //  A call is
} said_t;

static void
s_say (said_t *said, uint8_t kind, span_t text)
{
    if (kind != said->kind)
        buffer_append_byte (&said->text, kind);
    said->kind = kind;
    buffer_append (&said->text, text);
}

static void
s_on_content (void *context, span_t text)
{
    s_say (context, 'c', text);
}

static void
s_on_reasoning (void *context, span_t text)
{
    s_say (context, 'r', text);
}

static void
s_on_begin (void *context, span_t name, span_t id)
{
    said_t *said = context;
    BUG_ON (said->open || !name.size);
    said->open = true;
    s_say (said, 'n', name);
    s_say (said, 'i', id);
}

static void
s_on_arguments (void *context, span_t json)
{
    said_t *said = context;
    BUG_ON (!said->open);
    s_say (said, 'a', json);
}

static void
s_on_end (void *context)
{
    said_t *said = context;
    BUG_ON (!said->open);
    said->open = false;
    s_say (said, 'e', (span_t){ 0 });
}

static void
s_parse (
    const parser_format_t *format, const parser_options_t *options, span_t text, size_t piece, bool cut, said_t *said)
{
    const parser_sink_t sink = { said, s_on_content, s_on_reasoning, s_on_begin, s_on_arguments, s_on_end };
    parser_t *parser = parser_new (format, options, &sink);
    for (size_t at = 0; at < text.size; at += piece)
        parser_feed (parser, span_slice (text, at, piece));
    parser_finish (parser, cut);
    BUG_ON (said->open);
    parser_destroy (&parser);
}

static const parser_format_t *
s_choose (span_t name)
{
    size_t count;
    const parser_format_t *formats = parser_formats (&count);
    const parser_format_t *named = parser_find (name);
    return named ? named : &formats [name.size % count];
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    json_t *tools = NULL;
    span_t input = span_of (data, size);
    size_t line = span_find_byte (input, '\n');
    if (size < line + 2 || json_parse (span_from_string (s_tools), &tools, NULL))
        return 0;
    const parser_format_t *format = s_choose (span_slice (input, 0, line));
    uint8_t flags = data [line + 1];
    span_t text = span_slice (input, line + 2, size);
    parser_options_t options = { .tools = flags & 1 ? tools : NULL, .no_calls = flags & 2, .prompted = flags & 4 };
    options.prefill = flags & 8 ? parser_prefill (format, text) : (span_t){ 0 };
    said_t whole = { 0 };
    said_t pieces = { 0 };
    s_parse (format, &options, text, size, flags & 16, &whole);
    s_parse (format, &options, text, 1 + (flags >> 5), flags & 16, &pieces);
    BUG_ON (!span_equal (buffer_span (&whole.text), buffer_span (&pieces.text)));
    buffer_fini (&whole.text);
    buffer_fini (&pieces.text);
    json_destroy (&tools);
    return 0;
}
