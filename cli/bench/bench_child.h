//  bench_child - a program that a bench runs beside itself
//
//  What it computes and holds is counted apart from ours.  It ends with us, whatever happens.

#ifndef CLI_BENCH_CHILD_H
#define CLI_BENCH_CHILD_H

#include <stdio.h>
#include <sys/types.h>

#include "cli/bench/bench.h"

enum { BENCH_PATH_MAX = 4096, BENCH_WORDS_MAX = 24 };

typedef struct {
    pid_t process;    //  0: none
    FILE *output;     //  What it prints
} bench_child_t;

//  Starts a program.  words: NULL-terminated, the first is its path, or a name that is looked up in PATH; log: file for
//  what it complains of, NULL: ours.
status_t bench_child_start (bench_child_t *self, const char *const *words, const char *log, error_t *error);

//  Starts the program of this name among those in tests/bench/bare, which stand in the folder `bare` beside ours.  words:
//  what is behind its name.
status_t bench_child_start_bare (
    bench_child_t *self, const bench_run_t *run, const char *name, const char *const *words, error_t *error);

//  Waits for a line of `count` numbers.
status_t bench_child_read (bench_child_t *self, double *figures, size_t count, error_t *error);

//  False once it has ended.
bool bench_child_runs (const bench_child_t *self);

//  Seconds that it has computed so far; bytes of memory that it holds now.
double bench_child_seconds (const bench_child_t *self);
double bench_child_memory (const bench_child_t *self);

//  Stops it for a while: it stands still, and holds what it has.
void bench_child_freeze (const bench_child_t *self);

//  Asks it to end, and waits for that; where it does not, kills it.  Fine where there is none.
void bench_child_stop (bench_child_t *self);

#endif
