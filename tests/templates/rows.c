//  Renders templates that come as rows, so that another program can compare.
//
//      rows < ROWS
//
//  ROWS: {"source", "context"[, "now_s"]} a line.  Prints {"text"} or {"error"} a line.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "model/template/template.h"

static status_t
s_render (const json_t *row, buffer_t *out, error_t *error)
{
    template_t *template = template_compile (json_string (json_get (row, "source")), error);
    if (!template)
        return error->status;
    template_input_t input = { .context = json_get (row, "context") };
    json_to_i64 (json_get (row, "now_s"), &input.now_s);
    status_t status = template_render (template, &input, out, NULL, error);
    template_destroy (&template);
    return status;
}

static void
s_answer (span_t line)
{
    json_t *row = NULL;
    error_t error = { 0 };
    buffer_t text = { 0 };
    buffer_t answer = { 0 };
    json_writer_t json;
    json_writer_init (&json, &answer);
    json_write_begin_object (&json);
    status_t status = json_parse (line, &row, &error);
    if (!status)
        status = s_render (row, &text, &error);
    json_write_key (&json, status ? "error" : "text");
    json_write_string (&json, status ? span_from_string (error.text) : buffer_span (&text));
    json_write_end_object (&json);
    puts (buffer_string (&answer));
    json_destroy (&row);
    buffer_fini (&text);
    buffer_fini (&answer);
}

int
main (void)
{
    char *line = NULL;
    size_t room = 0;
    for (ssize_t size; (size = getline (&line, &room, stdin)) > 0;)
        s_answer (span_of (line, (size_t)size));
    free (line);
    return 0;
}
