//  bench_load - clients that stream chat answers over HTTP
//
//  Some connections of this process, each with one request at a time, kept alive.  A response counts when all of it came.

#ifndef CLI_BENCH_LOAD_H
#define CLI_BENCH_LOAD_H

#include "cli/bench/bench.h"

typedef struct bench_load bench_load_t;

//  A TCP port of 127.0.0.1 that nobody listens at now; 0 where there is none.
unsigned bench_free_port (void);

//  Opens the connections to 127.0.0.1.  Gives the load; NULL where there are none to be had.
bench_load_t *bench_load_new (unsigned port, const char *model, size_t connections, error_t *error);
void bench_load_destroy (bench_load_t **self_p);

//  Asks `requests` times for `tokens` tokens, and waits for all of it.  Every request has its own prompt.
status_t bench_load_run (bench_load_t *self, uint64_t requests, uint64_t tokens, error_t *error);

//  Asks once on every connection, of some at once, and returns when each answer has begun.  They go on.
status_t bench_load_hold (bench_load_t *self, uint64_t tokens, error_t *error);

//  Reads until nothing comes any more.
status_t bench_load_drain (bench_load_t *self, error_t *error);

#endif
