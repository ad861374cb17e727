//  stator parser - what a model said, taken apart row by row

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/rows.h"
#include "model/parser/format_file.h"
#include "model/parser/parser.h"

enum { TOOLS_SIZE_MAX = 64 << 20, RANDOM_PIECE_MAX = 24 };

typedef struct {
    const char *rows;      //  Where they stand
    const char *format;    //  Name of a format, or a file that describes one
    const char *tools;     //  File with the tools of rows that name none; "": none
    const char *split;     //  How a text is cut
} parser_flags_t;

static const option_t s_flags [] = {
    { .name = "format",
        .type = OPTION_STRING,
        .offset = offsetof (parser_flags_t, format),
        .example = "hermes",
        .doc = "Name of the format, as vLLM, SGLang or Dynamo have it, or a YAML file that describes one." },
    { .name = "tools",
        .type = OPTION_STRING,
        .offset = offsetof (parser_flags_t, tools),
        .example = "tools.json",
        .doc = "File with a request's tools, for rows that bring none." },
    { .name = "split",
        .type = OPTION_STRING,
        .offset = offsetof (parser_flags_t, split),
        .fallback = "whole",
        .example = "random:7",
        .doc = "How each text comes: whole, bytes, or random:SEED." },
    { .name = "rows",
        .type = OPTION_STRING,
        .offset = offsetof (parser_flags_t, rows),
        .fallback = "-",
        .doc = "File with the rows; - is standard input." },
    OPTIONS_END,
};

typedef enum {
    SPLIT_WHOLE,     //  In one piece
    SPLIT_BYTES,     //  Byte by byte
    SPLIT_RANDOM,    //  In pieces drawn from a seed
} split_t;

//  What is done with each row.
typedef struct {
    const parser_flags_t *flags;    //  As typed
    parser_format_t *described;     //  By the file that --format names; NULL: none
    json_t *tools;                  //  Of rows that bring none
    split_t split;                  //  How texts come
    random_t random;                //  For SPLIT_RANDOM
    json_writer_t calls;            //  Into `calls_text`
    buffer_t calls_text;            //  The array of calls of a row
    buffer_t content;               //  Of a row
    buffer_t reasoning;             //  Of a row
    buffer_t arguments;             //  Of the call being read
} rows_t;

//  ---- What the parser says ------------------------------------------------------------------------------------------

static void
s_on_content (void *context, span_t text)
{
    rows_t *self = context;
    buffer_append (&self->content, text);
}

static void
s_on_reasoning (void *context, span_t text)
{
    rows_t *self = context;
    buffer_append (&self->reasoning, text);
}

static void
s_on_begin (void *context, span_t name, span_t id)
{
    rows_t *self = context;
    json_write_begin_object (&self->calls);
    json_write_key (&self->calls, "name");
    json_write_string (&self->calls, name);
    if (id.size) {
        json_write_key (&self->calls, "id");
        json_write_string (&self->calls, id);
    }
    buffer_clear (&self->arguments);
}

static void
s_on_arguments (void *context, span_t json)
{
    rows_t *self = context;
    buffer_append (&self->arguments, json);
}

//  Between tokens of JSON, and nowhere else in it, a line may end: a row is to be one line.
static void
s_join_lines (buffer_t *json)
{
    for (size_t i = 0; i < json->size; i++)
        if (json->data [i] == '\n' || json->data [i] == '\r')
            json->data [i] = ' ';
}

//  Arguments that are JSON stand as JSON; others as the text that the model wrote.
static void
s_on_end (void *context)
{
    rows_t *self = context;
    json_kind_t kind;
    span_t arguments = buffer_span (&self->arguments);
    json_write_key (&self->calls, "arguments");
    if (json_recognize (arguments, &kind)) {
        s_join_lines (&self->arguments);
        json_write_raw (&self->calls, arguments);
    } else
        json_write_string (&self->calls, arguments);
    json_write_end_object (&self->calls);
}

//  ---- A row ---------------------------------------------------------------------------------------------------------

static size_t
s_piece (rows_t *self)
{
    switch (self->split) {
    case SPLIT_BYTES:
        return 1;
    case SPLIT_RANDOM:
        return 1 + random_below (&self->random, RANDOM_PIECE_MAX);
    default:
        return SIZE_MAX;
    }
}

//  The format of a row: --format, else its own "format" or "grammar".
static status_t
s_refuse_format (span_t name, error_t *error)
{
    size_t count;
    const parser_format_t *formats = parser_formats (&count);
    suggest_t suggest;
    suggest_init (&suggest, name);
    for (size_t i = 0; i < count; i++) {
        suggest_offer (&suggest, formats [i].name);
        for (span_t rest = span_from_string (formats [i].names); rest.size;) {
            size_t size = span_find_byte (rest, ' ');
            suggest_offer_span (&suggest, span_slice (rest, 0, size));
            rest = span_slice (rest, size + 1, rest.size);
        }
    }
    return error_set (error, STATUS_NOT_FOUND, "no format is called '%.*s'%s", SPAN_ARG (span_slice (name, 0, 100)),
        suggest_best (&suggest) ? suggest_text (&suggest)
                                : "; name one of `stator parser formats`, or a file, with --format");
}

static const parser_format_t *
s_format (const rows_t *self, const json_t *row, error_t *error)
{
    span_t name = span_from_string (self->flags->format);
    if (self->described)
        return self->described;
    if (!name.size)
        name = json_string (json_get (row, "format"));
    if (!name.size)
        name = json_string (json_get (row, "grammar"));
    const parser_format_t *format = parser_find (name);
    if (!format)
        s_refuse_format (name, error);
    return format;
}

static void
s_parse (rows_t *self, const parser_format_t *format, const json_t *row, span_t text)
{
    const parser_sink_t sink = { self, s_on_content, s_on_reasoning, s_on_begin, s_on_arguments, s_on_end };
    const json_t *own = json_get (row, "tools");
    const json_t *prompt = json_get (row, "prompt");
    parser_options_t options = { .tools = json_kind (own) == JSON_ARRAY ? own : self->tools };
    options.no_calls = json_kind (own) == JSON_ARRAY && !json_count (own);
    options.prompted = json_kind (prompt) == JSON_STRING;
    options.prefill = parser_prefill (format, json_string (prompt));
    parser_t *parser = parser_new (format, &options, &sink);
    while (text.size) {
        size_t size = s_piece (self);
        parser_feed (parser, span_slice (text, 0, size));
        text = span_slice (text, size, text.size);
    }
    parser_finish (parser, span_equal_string (json_string (json_get (row, "finish_reason")), "length"));
    parser_destroy (&parser);
}

static status_t
s_answer (void *self_, const json_t *row, json_writer_t *json, error_t *error)
{
    rows_t *self = self_;
    const json_t *text = json_get (row, "text");
    const parser_format_t *format = s_format (self, row, error);
    if (!format)
        return STATUS_NOT_FOUND;
    if (json_kind (text) != JSON_STRING)
        return error_set (error, STATUS_INVALID, "it has no \"text\"");
    buffer_clear (&self->content);
    buffer_clear (&self->reasoning);
    buffer_clear (&self->calls_text);
    json_writer_init (&self->calls, &self->calls_text);
    json_write_begin_array (&self->calls);
    s_parse (self, format, row, json_string (text));
    json_write_end_array (&self->calls);
    json_write_key (json, "calls");
    json_write_raw (json, buffer_span (&self->calls_text));
    json_write_key (json, "normal_text");
    json_write_string (json, buffer_span (&self->content));
    json_write_key (json, "reasoning");
    json_write_string (json, buffer_span (&self->reasoning));
    return STATUS_OK;
}

//  ---- The verb ------------------------------------------------------------------------------------------------------

static status_t
s_read_split (rows_t *self, error_t *error)
{
    span_t text = span_from_string (self->flags->split);
    span_t random = SPAN ("random:");
    uint64_t seed = 0;
    if (span_equal_string (text, "bytes"))
        self->split = SPLIT_BYTES;
    else if (span_starts_with (text, random) && span_to_u64 (span_slice (text, random.size, text.size), &seed))
        self->split = SPLIT_RANDOM;
    else if (!span_equal_string (text, "whole"))
        return error_set (
            error, STATUS_INVALID, "--split is whole, bytes or random:SEED, not '%.100s'", self->flags->split);
    random_init (&self->random, seed);
    return STATUS_OK;
}

static status_t
s_read_tools (rows_t *self, error_t *error)
{
    buffer_t text = { 0 };
    const char *path = self->flags->tools;
    status_t status = *path ? environment_read_file (path, TOOLS_SIZE_MAX, &text, error) : STATUS_OK;
    if (*path && !status && (status = json_parse (buffer_span (&text), &self->tools, error)))
        error_prefix (error, "%s", path);
    buffer_fini (&text);
    return status;
}

//  What has a folder or an ending is a file.  A name is looked up before a row is read.
static status_t
s_read_format (rows_t *self, error_t *error)
{
    buffer_t text = { 0 };
    const char *path = self->flags->format;
    if (!*path || parser_find (span_from_string (path)))
        return STATUS_OK;
    if (!strpbrk (path, "/."))
        return s_refuse_format (span_from_string (path), error);
    status_t status = environment_read_file (path, PARSER_FORMAT_FILE_MAX, &text, error);
    if (!status && (status = parser_format_load (buffer_span (&text), &self->described, error)))
        error_prefix (error, "%s", path);
    buffer_fini (&text);
    return status;
}

static result_t
s_list (void)
{
    size_t count;
    const parser_format_t *formats = parser_formats (&count);
    for (size_t i = 0; i < count; i++)
        printf ("%s%s%s\n", formats [i].name, *formats [i].names ? " " : "", formats [i].names);
    return RESULT_OK;
}

static result_t
s_run (const invocation_t *invocation)
{
    rows_t rows = { .flags = invocation->flags };
    error_t error = { 0 };
    if (strcmp (invocation->words [0], "formats") == 0)
        return s_list ();
    status_t status = s_read_split (&rows, &error);
    if (!status)
        status = s_read_tools (&rows, &error);
    if (!status)
        status = s_read_format (&rows, &error);
    if (!status)
        status = rows_answer (rows.flags->rows, s_answer, &rows, &error);
    if (status)
        command_complain (invocation->command, "%s", error.text);
    parser_format_destroy (&rows.described);
    json_destroy (&rows.tools);
    buffer_fini (&rows.calls_text);
    buffer_fini (&rows.content);
    buffer_fini (&rows.reasoning);
    buffer_fini (&rows.arguments);
    return command_result (status);
}

static const char *const s_choices [] = { "run", "formats", NULL };

const command_t parser_command = {
    .name = "parser",
    .arguments = "run|formats",
    .doc = "Take apart what a model said: text, reasoning, tool calls.",
    .essay = "formats lists the formats, each with the names that others have for it. run reads rows.\n"
             "Rows are read as JSON, one a line: {\"text\": ..., \"id\"?, \"tools\"?, \"prompt\"?, "
             "\"finish_reason\"?}; printed are\n"
             "{\"id\"?, \"calls\": [{\"name\", \"id\"?, \"arguments\"}], \"normal_text\", \"reasoning\"}. Without "
             "--format each row names\n"
             "its own as \"format\" or \"grammar\". The end of \"prompt\" says whether reasoning is open.\n",
    .table = s_flags,
    .flags_size = sizeof (parser_flags_t),
    .choices = s_choices,
    .words_min = 1,
    .words_max = 1,
    .run = s_run,
};
