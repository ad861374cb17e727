//  Renders templates that come as rows until their steps are spent, and says what a step took.
//
//      costs CONTEXT STEPS < ROWS
//
//  ROWS: {"source"} a line.  CONTEXT: a file, JSON.  Prints {"ns_a_step", "spent"} a line: processor time by the steps that were
//  allowed, and whether they were spent.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json_writer.h"
#include "model/template/template.h"

#define MEMORY_MAX (SIZE_MAX / 2)    //  Steps are the bound that is looked at

static uint64_t
s_now_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
s_answer (span_t line, const json_t *context, uint64_t steps)
{
    json_t *row = NULL;
    error_t error = { 0 };
    buffer_t out = { 0 }, answer = { 0 };
    json_writer_t json;
    json_parse (line, &row, &error);
    template_t *template = template_compile (json_string (json_get (row, "source")), &error);
    template_input_t input = {
        .context = context, .steps_max = steps, .memory_max = MEMORY_MAX, .output_max = MEMORY_MAX
    };
    uint64_t before_ns = s_now_ns ();
    status_t status = template ? template_render (template, &input, &out, NULL, &error) : error.status;
    json_writer_init (&json, &answer);
    json_write_begin_object (&json);
    json_write_key (&json, "ns_a_step");
    json_write_u64 (&json, (s_now_ns () - before_ns) / steps);
    json_write_key (&json, "spent");
    json_write_bool (&json, status == STATUS_LIMIT);
    json_write_end_object (&json);
    puts (buffer_string (&answer));
    template_destroy (&template);
    json_destroy (&row);
    buffer_fini (&out);
    buffer_fini (&answer);
}

int
main (int count, char **words)
{
    json_t *context = NULL;
    buffer_t text = { 0 };
    char *line = NULL;
    size_t room = 0;
    FILE *file = count == 3 ? fopen (words [1], "rb") : NULL;
    if (!file)
        return 2;
    for (size_t size; (size = fread (buffer_reserve (&text, 65536), 1, 65536, file)) > 0;)
        buffer_commit (&text, size);
    fclose (file);
    if (json_parse (buffer_span (&text), &context, NULL))
        return 2;
    for (ssize_t size; (size = getline (&line, &room, stdin)) > 0;)
        s_answer (span_of (line, (size_t)size), context, strtoull (words [2], NULL, 10));
    json_destroy (&context);
    buffer_fini (&text);
    free (line);
    return 0;
}
