//  stator bench template - a conversation to a prompt on one thread

#include <stdio.h>

#include "cli/bench/bench.h"
#include "cli/contexts.h"
#include "cli/mapping.h"
#include "model/template/template.h"

enum { PASSES = 64 };

static void
s_print (const char *name, double seconds, size_t bytes)
{
    bench_cell_t cell;
    bench_cell_begin (&cell, &bench_template, name);
    bench_cell_count (&cell, "bytes", bytes);
    bench_cell_figure (&cell, "cpu_us", seconds * 1e6);
    bench_cell_figure (&cell, "mb_per_s", (double)bytes / seconds / 1e6);
    bench_cell_print (&cell);
}

static status_t
s_time_compile (span_t source, size_t passes, template_t **template, error_t *error)
{
    double best = 0;
    for (size_t pass = 0; pass < passes; pass++) {
        template_destroy (template);
        double start = bench_seconds ();
        *template = template_compile (source, error);
        double took = bench_seconds () - start;
        if (!*template)
            return error->status;
        best = pass && best < took ? best : took;
    }
    s_print ("compile", best, source.size);
    return STATUS_OK;
}

//  The best of some passes over one conversation, from its JSON tree to the prompt.  One that the template refuses is left
//  out.
static void
s_time_rendering (const template_t *template, const template_input_t *input, const char *name, size_t passes)
{
    buffer_t out = { 0 };
    double best = 0;
    for (size_t pass = 0; pass < passes; pass++) {
        buffer_clear (&out);
        double start = bench_seconds ();
        status_t status = template_render (template, input, &out, NULL, NULL);
        double took = bench_seconds () - start;
        best = pass && best < took ? best : took;
        if (status) {
            buffer_fini (&out);
            return;
        }
    }
    s_print (name, best, out.size);
    buffer_fini (&out);
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    mapping_t source = { 0 };
    contexts_t contexts = { 0 };
    template_t *template = NULL;
    size_t passes = run->quick ? 1 : PASSES;
    status_t status = mapping_open (&source, run->words [0], error);
    if (!status)
        status = contexts_open (&contexts, run->words [1], error);
    if (!status)
        status = s_time_compile (source.bytes, passes, &template, error);
    for (size_t i = 0; !status && i < contexts.rows.count; i++) {
        const context_t *row = array_at (&contexts.rows, i);
        char name [128];
        json_t *context = contexts_fill (&contexts, row->conversation);
        template_input_t input = { .context = context, .now_s = contexts.now_s };
        span_copy_string (buffer_span (&row->name), name, sizeof name);
        s_time_rendering (template, &input, name, passes);
        json_destroy (&context);
    }
    template_destroy (&template);
    contexts_close (&contexts);
    mapping_close (&source);
    return status;
}

const bench_t bench_template = {
    .name = "template",
    .arguments = "TEMPLATE CONTEXTS",
    .doc = "Chat template: compile it, and render the conversations of a file as `stator template render` does.",
    .words_min = 2,
    .words_max = 2,
    .run = s_run,
};
