//  run - one simulated run from the command line, for looking at a seed
//
//  run SEED [SECONDS [WORKERS [MACHINES [FAULTS (times the usual rate) [LOG (0 or 1)]]]]]

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/rehearsal.h"

static void
s_on_log (void *arg, uint64_t now_ns, const char *process, log_level_t level, span_t line)
{
    printf ("%" PRIu64 ".%06" PRIu64 " %s: %.*s\n", now_ns / REALM_SECOND, now_ns % REALM_SECOND / REALM_US, process,
        SPAN_ARG (line));
}

static uint64_t
s_wall_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * REALM_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t
s_argument (int argc, char **argv, int position, uint64_t otherwise)
{
    return argc > position ? strtoull (argv [position], NULL, 10) : otherwise;
}

static manifest_t *
s_fleet (unsigned workers)
{
    char text [256];
    complaints_t complaints;
    complaints_init (&complaints, "run");
    snprintf (text, sizeof text,
        "version: 1\nmodels:\n  - name: mock\nworkers:\n  - engine: mock\n    model: mock\n    count: %u\n", workers);
    manifest_t *fleet = manifest_new (span_from_string (text), NULL, NULL, &complaints);
    buffer_t said = { 0 };
    complaints_render (&complaints, &said);
    fputs (buffer_string (&said), stderr);
    buffer_fini (&said);
    complaints_fini (&complaints);
    return fleet;
}

int
main (int argc, char **argv)
{
    static simulate_report_t report;
    error_t error = { 0 };
    manifest_t *fleet = s_fleet ((unsigned)s_argument (argc, argv, 3, 16));
    rehearsal_t *rehearsal = rehearsal_new (fleet, (uint32_t)s_argument (argc, argv, 4, 1), &error);
    simulate_options_t options = { .seed = s_argument (argc, argv, 1, 1),
        .time_ns = s_argument (argc, argv, 2, 3600) * REALM_SECOND };
    rehearsal_fill (rehearsal, &options);
    faults_set_usual (&options.faults);
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        options.faults.per_hour [kind] *= (uint32_t)s_argument (argc, argv, 5, 1);
    if (s_argument (argc, argv, 6, 0))
        options.on_log = s_on_log;
    uint64_t begin_ns = s_wall_ns ();
    status_t status = simulate_run (&options, &report, &error);
    if (status != STATUS_OK)
        printf ("%s\n", error.text);
    buffer_t text = { 0 };
    simulate_report_print (&report, s_wall_ns () - begin_ns, &text);
    printf ("%s", buffer_string (&text));
    buffer_fini (&text);
    rehearsal_destroy (&rehearsal);
    manifest_destroy (&fleet);
    return report.violation_count || status ? 1 : 0;
}
