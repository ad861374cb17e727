//  run - one simulated run from the command line, for looking at a seed
//
//  run SEED [SECONDS [WORKERS [FAULTS (0 or 1) [LOG (0 or 1)]]]]

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/chaos/fleet.h"

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

int
main (int argc, char **argv)
{
    static simulate_report_t report;
    chaos_shape_t shape = {
        .machines = 4, .workers = (uint32_t)s_argument (argc, argv, 3, 16), .routers = 1, .indexers = 1, .frontends = 1
    };
    chaos_fleet_t *fleet = chaos_fleet_new (&shape);
    simulate_options_t options = { .seed = s_argument (argc, argv, 1, 1),
        .time_ns = s_argument (argc, argv, 2, 3600) * REALM_SECOND,
        .harness = { .interval_ns = REALM_SECOND, .prompt_bytes = 2000, .turns = 4, .max_tokens = 64 } };
    chaos_fleet_fill (fleet, &options);
    if (s_argument (argc, argv, 4, 1)) {
        faults_set_usual (&options.faults);
        options.harness.plain_ppm = 50000;
        options.harness.leave_ppm = 30000;
        options.harness.slow_ppm = 30000;
    }
    if (s_argument (argc, argv, 5, 0))
        options.on_log = s_on_log;
    uint64_t begin_ns = s_wall_ns ();
    error_t error = { 0 };
    status_t status = simulate_run (&options, &report, &error);
    if (status != STATUS_OK)
        printf ("%s\n", error.text);
    buffer_t text = { 0 };
    simulate_report_print (&report, s_wall_ns () - begin_ns, &text);
    printf ("%s", buffer_string (&text));
    buffer_fini (&text);
    chaos_fleet_destroy (&fleet);
    return report.violation_count || status ? 1 : 0;
}
