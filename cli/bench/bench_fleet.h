//  bench_fleet - a small fleet that a bench measures: processes of this program, in a folder that goes away

#ifndef CLI_BENCH_FLEET_H
#define CLI_BENCH_FLEET_H

#include "cli/bench/bench_child.h"
#include "runtime/actor.h"

enum { BENCH_FLEET_MAX = 4 };

typedef struct {
    const bench_run_t *run;                      //  Whose
    char folder [BENCH_FOLDER_MAX];              //  Where it lives
    char broker [ENDPOINT_MAX];                  //  Of its broker's ROUTER
    char events [ENDPOINT_MAX];                  //  Of its broker's XPUB
    bench_child_t children [BENCH_FLEET_MAX];    //  In the order of their start
    size_t count;                                //  How many
} bench_fleet_t;

//  Makes the folder and writes the configuration there.  Whatever comes of it, bench_fleet_close is called at the end.
status_t bench_fleet_open (bench_fleet_t *self, const bench_run_t *run, const char *config, error_t *error);

//  Ends what runs, the newest first, and removes the folder.
void bench_fleet_close (bench_fleet_t *self);

//  Starts a process (`stator actor PROCESS`), and waits until so many actors of a service are in the directory.  Gives the
//  process, borrowed until the close; NULL where it does not come up.
bench_child_t *bench_fleet_start (
    bench_fleet_t *self, const char *process, const char *service, size_t actors, error_t *error);

//  Reads one of the figures that an actor gives of itself, by the name of its metric.
status_t bench_fleet_ask (
    const bench_fleet_t *self, const char *address, const char *figure, int64_t *value, error_t *error);

#endif
