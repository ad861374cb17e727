//  stator bench - what a part costs

#include "cli/bench/bench.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

//  The C library's own, which it shows to none but GNU programs; sem_clockwait(3).
int sem_clockwait (sem_t *semaphore, clockid_t clock, const struct timespec *until);

static const bench_t *const s_benches [] = {
    &bench_fanout,
    &bench_hop,
    &bench_http,
    &bench_idle,
    &bench_index,
    &bench_memo,
    &bench_parser,
    &bench_route,
    &bench_template,
    &bench_tokenizer,
};
enum { BENCHES = sizeof s_benches / sizeof *s_benches, NAME_COLUMN = 12, PROGRAM_MAX = 4096 };

//  ---- Cells ---------------------------------------------------------------------------------------------------------

void
bench_cell_begin (bench_cell_t *self, const bench_t *bench, const char *name)
{
    *self = (bench_cell_t){ 0 };
    json_writer_init (&self->json, &self->text);
    json_write_begin_object (&self->json);
    bench_cell_text (self, "bench", bench->name);
    bench_cell_text (self, "cell", name);
}

void
bench_cell_print (bench_cell_t *self)
{
    json_write_end_object (&self->json);
    buffer_append_byte (&self->text, '\n');
    command_print (&self->text);
    fflush (stdout);
    buffer_fini (&self->text);
}

void
bench_cell_text (bench_cell_t *self, const char *key, const char *value)
{
    json_write_key (&self->json, key);
    json_write_string (&self->json, span_from_string (value));
}

void
bench_cell_count (bench_cell_t *self, const char *key, uint64_t value)
{
    json_write_key (&self->json, key);
    json_write_u64 (&self->json, value);
}

void
bench_cell_figure (bench_cell_t *self, const char *key, double value)
{
    char digits [32];
    snprintf (digits, sizeof digits, "%.4g", value);
    json_write_key (&self->json, key);
    json_write_double (&self->json, strtod (digits, NULL));
}

void
bench_cell_ratio (bench_cell_t *self, double ours, double theirs)
{
    bench_cell_figure (self, "ratio", ours / theirs);
}

bool
bench_wants (const bench_run_t *run, const char *cell)
{
    bool wanted = !run->count;
    for (size_t i = 0; i < run->count; i++) {
        bool named = strncmp (cell, run->words [i], strlen (run->words [i])) == 0;
        if (run->offering)
            suggest_offer (&run->cells [i].suggest, cell);
        run->cells [i].named |= named;
        wanted |= named;
    }
    return wanted && !run->offering;
}

//  ---- Measuring -----------------------------------------------------------------------------------------------------

static double
s_read (clockid_t clock)
{
    struct timespec now;
    clock_gettime (clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void
bench_cost_keep_least (bench_cost_t *least, const bench_cost_t *cost, bool first)
{
    least->cpu = first || cost->cpu < least->cpu ? cost->cpu : least->cpu;
    least->wall = first || cost->wall < least->wall ? cost->wall : least->wall;
}

double
bench_seconds (void)
{
    return s_read (CLOCK_PROCESS_CPUTIME_ID);
}

double
bench_wall_seconds (void)
{
    return s_read (CLOCK_MONOTONIC);
}

void
bench_wait (double seconds)
{
    struct timespec time = { .tv_sec = (time_t)seconds };
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    clock_nanosleep (CLOCK_MONOTONIC, 0, &time, NULL);
}

status_t
bench_await (sem_t *semaphore, unsigned seconds, error_t *error)
{
    struct timespec until;
    clock_gettime (CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    int rc;
    while ((rc = sem_clockwait (semaphore, CLOCK_MONOTONIC, &until)) != 0 && errno == EINTR)
        continue;
    return rc ? error_set (error, STATUS_DEADLINE, "it did not end within %u s", seconds) : STATUS_OK;
}

//  ---- Folders -------------------------------------------------------------------------------------------------------

status_t
bench_folder_make (char folder [BENCH_FOLDER_MAX], error_t *error)
{
    const char *temporary = getenv ("TMPDIR");
    const char *place = temporary && *temporary == '/' ? temporary : "/tmp";
    if (snprintf (folder, BENCH_FOLDER_MAX, "%s/stator-bench-XXXXXX", place) >= BENCH_FOLDER_MAX)
        return error_set (
            error, STATUS_LIMIT, "sockets under %s would have names that are too long; set TMPDIR", place);
    if (mkdtemp (folder))
        return STATUS_OK;
    return error_set (error, STATUS_IO, "cannot make %s: %s", folder, strerror (errno));
}

void
bench_folder_remove (const char *folder)
{
    char *paths [] = { (char *)(uintptr_t)folder, NULL };
    FTS *walk = fts_open (paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk && (entry = fts_read (walk)) != NULL;)
        if (entry->fts_info != FTS_D)
            remove (entry->fts_accpath);
    if (walk)
        fts_close (walk);
}

//  ---- The verb ------------------------------------------------------------------------------------------------------

typedef struct {
    bool quick;            //  See bench_run_t
    bool json;             //  Cells are JSON anyway
    bool verify;           //  See bench_run_t
    const char *stream;    //  See bench_run_t
} bench_flags_t;

static const option_t s_flags [] = {
    { .name = "quick",
        .type = OPTION_BOOL,
        .offset = offsetof (bench_flags_t, quick),
        .doc = "Do as little as shows that the bench works; the figures mean nothing." },
    { .name = "json",
        .type = OPTION_BOOL,
        .offset = offsetof (bench_flags_t, json),
        .doc = "Print JSON, which is what is printed anyway." },
    { .name = "stream",
        .type = OPTION_STRING,
        .offset = offsetof (bench_flags_t, stream),
        .doc = "For index: file with a recorded stream." },
    { .name = "verify",
        .type = OPTION_BOOL,
        .offset = offsetof (bench_flags_t, verify),
        .doc = "For index: print `mix` too, which differs as soon as one answer does." },
    OPTIONS_END,
};

static result_t
s_list (void)
{
    for (size_t i = 0; i < BENCHES; i++)
        printf ("%-*s%s%s%s\n", NAME_COLUMN, s_benches [i]->name, s_benches [i]->arguments,
            *s_benches [i]->arguments ? ": " : "", s_benches [i]->doc);
    return RESULT_OK;
}

static const bench_t *
s_find (const invocation_t *invocation)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (invocation->words [0]));
    for (size_t i = 0; i < BENCHES; i++) {
        if (strcmp (invocation->words [0], s_benches [i]->name) == 0)
            return s_benches [i];
        suggest_offer (&suggest, s_benches [i]->name);
    }
    command_complain (
        invocation->command, "nothing measures '%.100s'%s", invocation->words [0], suggest_text (&suggest));
    return NULL;
}

//  A word that names no cell is told of once those are printed that others name: only the bench knows its cells.  Which it may
//  have meant is asked only then, for what is measured should not pay for it.
static status_t
s_measure_cells (const bench_t *bench, bench_run_t *run, error_t *error)
{
    bench_word_t cells [BENCH_CELLS];
    for (size_t i = 0; i < run->count; i++) {
        cells [i].named = false;
        suggest_init (&cells [i].suggest, span_from_string (run->words [i]));
    }
    run->cells = cells;
    status_t status = bench->run (run, error);
    for (size_t i = 0; i < run->count && !status; i++)
        run->offering |= !cells [i].named;
    if (run->offering && !status)
        status = bench->run (run, error);
    for (size_t i = 0; i < run->count && !status; i++)
        if (!cells [i].named)
            status = error_set (error, STATUS_INVALID, "no cell's name begins with '%.100s'%s", run->words [i],
                suggest_text (&cells [i].suggest));
    return status;
}

static result_t
s_run (const invocation_t *invocation)
{
    if (!invocation->count)
        return s_list ();
    const bench_flags_t *flags = invocation->flags;
    const bench_t *bench = s_find (invocation);
    char program [PROGRAM_MAX];
    bench_run_t run = { .words = invocation->words + 1,
        .count = invocation->count - 1,
        .quick = flags->quick,
        .verify = flags->verify,
        .stream = flags->stream,
        .program = program };
    error_t error;
    command_find_program (invocation, program, sizeof program);
    if (!bench)
        return RESULT_USAGE;
    if (run.count < bench->words_min || run.count > bench->words_max) {
        command_complain (invocation->command, "usage: stator bench %s %s", bench->name, bench->arguments);
        return RESULT_USAGE;
    }
    bool by_cell = bench->words_max == BENCH_CELLS;
    status_t status = by_cell ? s_measure_cells (bench, &run, &error) : bench->run (&run, &error);
    if (status != STATUS_OK)
        command_complain (invocation->command, "%s: %s", bench->name, error.text);
    return command_result (status);
}

const command_t bench_command = {
    .name = "bench",
    .arguments = "[NAME [WORDS]]",
    .doc = "Measure what a part costs.",
    .essay =
        "Without a name, lists what can be measured. A bench prints a JSON object a line: what was measured, in\n"
        "absolute figures and, as `ratio`, beside something that does the same without Stator. Times are processor\n"
        "time.\n",
    .table = s_flags,
    .flags_size = sizeof (bench_flags_t),
    .words_max = SIZE_MAX,
    .run = s_run,
};
