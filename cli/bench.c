//  stator bench - how fast a part is, by itself

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/mapping.h"
#include "cli/tokenizer_file.h"

enum { PASSES = 16 };

//  Time this process has computed: others on the machine do not count.
static double
s_seconds (void)
{
    struct timespec now;
    clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void
s_print_pass (const char *name, double seconds, size_t bytes, size_t tokens)
{
    printf ("%-8s %10.3f ms %8.1f MB/s %8.1f M tokens/s\n", name, seconds * 1e3, (double)bytes / seconds / 1e6,
        (double)tokens / seconds / 1e6);
}

//  Once with nothing remembered, then the best of some passes over the same text.
static status_t
s_time_passes (tokenizer_t *tokenizer, span_t text, error_t *error)
{
    array_t ids;
    double best = 0;
    status_t status = STATUS_OK;
    array_init (&ids, sizeof (uint32_t));
    for (size_t pass = 0; pass <= PASSES && !status; pass++) {
        array_cut (&ids, 0);
        double start = s_seconds ();
        status = tokenizer_encode (tokenizer, text, (tokenizer_flags_t){ .parse_special = true }, &ids, error);
        double took = s_seconds () - start;
        if (pass == 0)
            s_print_pass ("cold", took, text.size, ids.count);
        else if (pass == 1 || took < best)
            best = took;
    }
    if (!status)
        s_print_pass ("warm", best, text.size, ids.count);
    array_fini (&ids);
    return status;
}

static status_t
s_bench_tokenizer (const char *const *words, error_t *error)
{
    tokenizer_t *tokenizer = NULL;
    mapping_t text = { 0 };
    status_t status = mapping_open (&text, words [1], error);
    double start = s_seconds ();
    if (!status)
        status = tokenizer_file_load (words [0], &tokenizer, error);
    if (!status) {
        printf ("%-8s %10.3f ms\n", "load", (s_seconds () - start) * 1e3);
        status = s_time_passes (tokenizer, text.bytes, error);
    }
    tokenizer_destroy (&tokenizer);
    mapping_close (&text);
    return status;
}

static const struct {
    const char *name;                                              //  What is measured
    size_t words;                                                  //  How many it takes
    status_t (*run) (const char *const *words, error_t *error);    //  Measures and prints
} s_benches [] = {
    { "tokenizer", 2, s_bench_tokenizer },
};

static result_t
s_run (const invocation_t *invocation)
{
    for (size_t i = 0; i < sizeof s_benches / sizeof *s_benches; i++) {
        error_t error;
        if (strcmp (invocation->words [0], s_benches [i].name) != 0 || invocation->count != s_benches [i].words + 1)
            continue;
        if (s_benches [i].run (invocation->words + 1, &error) == STATUS_OK)
            return RESULT_OK;
        command_complain (invocation->command, "%s", error.text);
        return RESULT_FAILED;
    }
    command_complain (invocation->command, "nothing is measured by '%.100s' with %zu words", invocation->words [0],
        invocation->count - 1);
    return RESULT_USAGE;
}

const command_t bench_command = {
    .name = "bench",
    .arguments = "tokenizer MODEL TEXT",
    .doc = "Measure how fast a part is, by itself.",
    .essay = "bench tokenizer loads MODEL's tokenizer and encodes the file TEXT on one thread: once with nothing "
             "remembered,\n"
             "then again. Times are those of this process alone.\n",
    .words_min = 1,
    .words_max = 3,
    .run = s_run,
};
