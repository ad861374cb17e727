//  stator simulate - a fleet in virtual time, from a seed, while things break

#include "simulator/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cli/rehearsal.h"
#include "cli/site.h"

enum { MILLION = 1000000 };

typedef struct {
    int64_t seed;        //  Of everything
    int64_t hours;       //  Millionths
    int64_t machines;    //  The fleet is spread over
    int64_t faults;      //  Millionths of the usual rates
    bool keys;           //  Machines prove who they are
    bool json;           //  For programs
    bool log;            //  Print what the processes log, too
} simulate_flags_t;

static const option_t s_flags [] = { { .name = "seed",
                                         .type = OPTION_INTEGER,
                                         .fallback = "1",
                                         .max = INT64_MAX,
                                         .offset = offsetof (simulate_flags_t, seed),
                                         .doc = "What everything is drawn from: the same seed gives the same run." },
    { .name = "hours",
        .type = OPTION_DECIMAL,
        .fallback = "1",
        .min = 1000,
        .max = INT64_C (10000) * MILLION,
        .offset = offsetof (simulate_flags_t, hours),
        .example = "0.25",
        .doc = "Virtual hours in which harnesses work and things break." },
    { .name = "machines",
        .type = OPTION_INTEGER,
        .fallback = "1",
        .min = 1,
        .max = 1000,
        .offset = offsetof (simulate_flags_t, machines),
        .doc = "On one, the host starts everything; on several, the actors are spread over them." },
    { .name = "faults",
        .type = OPTION_DECIMAL,
        .fallback = "1",
        .max = INT64_C (1000) * MILLION,
        .offset = offsetof (simulate_flags_t, faults),
        .doc = "How many times the usual rate of crashes, partitions and so on; 0 for a quiet run." },
    { .name = "keys",
        .type = OPTION_BOOL,
        .offset = offsetof (simulate_flags_t, keys),
        .doc = "Each machine has a key with the roles it needs, everybody who comes from another one is asked for his, "
               "and now and then a key is revoked for a while." },
    { .name = "json", .type = OPTION_BOOL, .offset = offsetof (simulate_flags_t, json), .doc = "Say it as JSON." },
    { .name = "log",
        .type = OPTION_BOOL,
        .offset = offsetof (simulate_flags_t, log),
        .doc = "Print what the processes say, and what strikes them, on standard error." },
    OPTIONS_END };

static void
s_on_log (void *arg, uint64_t now_ns, const char *process, log_level_t level, span_t line)
{
    fprintf (stderr, "%" PRIu64 ".%06" PRIu64 " %s: %.*s\n", now_ns / REALM_SECOND, now_ns % REALM_SECOND / REALM_US,
        process, SPAN_ARG (line));
}

static uint64_t
s_clock_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * REALM_SECOND + (uint64_t)now.tv_nsec;
}

static void
s_set_faults (faults_options_t *faults, uint64_t millionths)
{
    faults_set_usual (faults);
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        faults->per_hour [kind] = (uint32_t)(faults->per_hour [kind] * millionths / MILLION);
}

static status_t
s_run_fleet (manifest_t *fleet, const simulate_flags_t *flags, bool *violated, error_t *error)
{
    rehearsal_t *rehearsal = rehearsal_new (fleet, (uint32_t)flags->machines, flags->keys, error);
    if (!rehearsal)
        return error->status;
    simulate_options_t options = { .seed = (uint64_t)flags->seed,
        .time_ns = (uint64_t)flags->hours * (REALM_HOUR / MILLION),
        .on_log = flags->log ? s_on_log : NULL };
    rehearsal_fill (rehearsal, &options);
    s_set_faults (&options.faults, (uint64_t)flags->faults);
    simulate_report_t report;
    uint64_t begin_ns = s_clock_ns ();
    status_t status = simulate_run (&options, &report, error);
    if (status == STATUS_OK) {
        buffer_t text = { 0 };
        uint64_t wall_ns = s_clock_ns () - begin_ns;
        (flags->json ? simulate_report_json : simulate_report_print) (&report, wall_ns, &text);
        command_print (&text);
        buffer_fini (&text);
        *violated = report.violation_count > 0;
    }
    rehearsal_destroy (&rehearsal);
    return status;
}

static result_t
s_run (const invocation_t *invocation)
{
    manifest_t *fleet = NULL;
    bool violated = false;
    error_t error;
    const char *file = invocation->count ? invocation->words [0] : NULL;
    result_t result = site_read_fleet (&fleet, invocation, file, NULL);
    if (result == RESULT_OK && s_run_fleet (fleet, invocation->flags, &violated, &error) != STATUS_OK) {
        command_complain (invocation->command, "%s", error.text);
        result = RESULT_USAGE;
    }
    manifest_destroy (&fleet);
    return violated ? RESULT_FAILED : result;
}

const command_t simulate_command = {
    .name = "simulate",
    .arguments = "[FILE]",
    .doc = "Run a fleet in virtual time, from a seed, while things break.",
    .essay =
        "The very actors of FILE (a small built-in fleet where none is named) run in one thread and virtual time:\n"
        "harnesses ask, processes and machines crash, networks are cut, clocks jump, disks fill. Every answer is\n"
        "checked byte by byte, and what routers believe against what workers hold. The end says what happened;\n"
        "a violation is a bug, and the seed shows it again. Engines must be mock.\n",
    .table = s_flags,
    .flags_size = sizeof (simulate_flags_t),
    .takes_fleet = true,
    .words_max = 1,
    .run = s_run,
};
