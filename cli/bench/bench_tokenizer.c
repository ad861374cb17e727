//  stator bench tokenizer - text to token ids on one thread

#include "cli/bench/bench.h"
#include "cli/environment.h"
#include "cli/tokenizer_file.h"

enum { PASSES = 16, TEXT_MAX = 1 << 30, PAGE = 4096 };

static void
s_print_pass (const char *name, double seconds, size_t bytes, size_t tokens)
{
    bench_cell_t cell;
    bench_cell_begin (&cell, &bench_tokenizer, name);
    bench_cell_count (&cell, "bytes", bytes);
    bench_cell_count (&cell, "tokens", tokens);
    bench_cell_figure (&cell, "cpu_ms", seconds * 1e3);
    bench_cell_figure (&cell, "mb_per_s", (double)bytes / seconds / 1e6);
    bench_cell_figure (&cell, "tokens_per_s", (double)tokens / seconds);
    bench_cell_print (&cell);
}

static status_t
s_time_pass (tokenizer_t *tokenizer, span_t text, array_t *ids, double *took, error_t *error)
{
    array_cut (ids, 0);
    double start = bench_seconds ();
    status_t status = tokenizer_encode (tokenizer, text, (tokenizer_flags_t){ .parse_special = true }, ids, error);
    *took = bench_seconds () - start;
    return status;
}

//  Room for so many ids, each page of it touched once.
static void
s_make_room (array_t *ids, size_t count)
{
    array_reserve (ids, count);
    volatile uint8_t *bytes = ids->data;
    for (size_t at = 0; at < count * sizeof (uint32_t); at += PAGE)
        bytes [at] = 0;
}

//  Once with nothing remembered, then the best of some passes over the same text; last a text that is new to it. The room for ids
//  is there before, as it is for whoever encodes one text after the other: what the system takes to give memory is not measured.
static status_t
s_time_passes (const bench_run_t *run, tokenizer_t *tokenizer, span_t text, span_t more, error_t *error)
{
    array_t ids;
    double took, best = 0;
    status_t status = STATUS_OK;
    array_init (&ids, sizeof (uint32_t));
    s_make_room (&ids, text.size > more.size ? text.size : more.size);
    for (size_t pass = 0; pass <= (run->quick ? 1 : PASSES) && !status; pass++) {
        status = s_time_pass (tokenizer, text, &ids, &took, error);
        if (pass == 0 && !status)
            s_print_pass ("cold", took, text.size, ids.count);
        best = pass < 2 || took < best ? took : best;
    }
    if (!status)
        s_print_pass ("warm", best, text.size, ids.count);
    if (!status && more.size && !(status = s_time_pass (tokenizer, more, &ids, &took, error)))
        s_print_pass ("unseen", took, more.size, ids.count);
    array_fini (&ids);
    return status;
}

static void
s_print_load (double seconds)
{
    bench_cell_t cell;
    bench_cell_begin (&cell, &bench_tokenizer, "load");
    bench_cell_figure (&cell, "cpu_ms", seconds * 1e3);
    bench_cell_print (&cell);
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    tokenizer_t *tokenizer = NULL;
    buffer_t text = { 0 }, more = { 0 };
    status_t status = environment_read_file (run->words [1], TEXT_MAX, &text, error);
    if (!status && run->count > 2)
        status = environment_read_file (run->words [2], TEXT_MAX, &more, error);
    double start = bench_seconds ();
    if (!status)
        status = tokenizer_file_load (run->words [0], &tokenizer, error);
    if (!status) {
        s_print_load (bench_seconds () - start);
        status = s_time_passes (run, tokenizer, buffer_span (&text), buffer_span (&more), error);
    }
    tokenizer_destroy (&tokenizer);
    buffer_fini (&text);
    buffer_fini (&more);
    return status;
}

const bench_t bench_tokenizer = {
    .name = "tokenizer",
    .arguments = "MODEL TEXT [MORE]",
    .doc = "MODEL's tokenizer loads and encodes the file TEXT on one thread, once with nothing remembered, then again; "
           "then once MORE, which it has not seen.",
    .words_min = 2,
    .words_max = 3,
    .run = s_run,
};
