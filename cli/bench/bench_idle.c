//  stator bench idle - what a fleet costs that nobody asks
//
//  The core, with 64 mock workers registered that live in a second process, and with the heartbeats of the configuration.
//  There is nothing bare to compare with that would do the same.

#include "cli/bench/bench_fleet.h"

enum { WORKERS = 64 };
static const double SETTLE_S = 2, WATCH_S = 10, QUICK_S = 0.5;

static const char s_config [] = "version: 1\nfrontend: { port: 0 }\nmodels: [ { name: mock } ]\n"
                                "workers: [ { engine: mock, count: 64 } ]\n";

static void
s_watch (const char *name, const bench_child_t *child, double seconds)
{
    bench_cell_t cell;
    double cpu_s = bench_child_seconds (child), wall_s = bench_wall_seconds ();
    bench_wait (seconds);
    double share = (bench_child_seconds (child) - cpu_s) / (bench_wall_seconds () - wall_s);
    bench_cell_begin (&cell, &bench_idle, name);
    bench_cell_count (&cell, "workers", WORKERS);
    bench_cell_figure (&cell, "core_percent", share * 100);
    bench_cell_figure (&cell, "memory_mb", bench_child_memory (child) / 1e6);
    bench_cell_print (&cell);
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    bench_fleet_t fleet;
    double seconds = run->quick ? QUICK_S : WATCH_S;
    status_t status = bench_fleet_open (&fleet, run, s_config, error);
    bench_child_t *broker = status ? NULL : bench_fleet_start (&fleet, "broker", "broker", 1, error);
    bench_child_t *core = broker ? bench_fleet_start (&fleet, "core", "frontend", 1, error) : NULL;
    bench_child_t *workers = core ? bench_fleet_start (&fleet, "worker", "worker", WORKERS, error) : NULL;
    if (workers) {
        bench_wait (run->quick ? QUICK_S : SETTLE_S);
        if (bench_wants (run, "core"))
            s_watch ("core", core, seconds);
        if (bench_wants (run, "broker"))
            s_watch ("broker", broker, seconds);
    }
    bench_fleet_close (&fleet);
    return workers ? STATUS_OK : error->status;
}

const bench_t bench_idle = {
    .name = "idle",
    .arguments = "[CELL ...]",
    .doc = "The core and the broker of a fleet of 64 mock workers that nobody asks.",
    .words_max = BENCH_CELLS,
    .run = s_run,
};
