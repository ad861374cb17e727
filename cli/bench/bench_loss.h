//  bench_loss - are there losses that nobody notices?
//
//  A source publishes as fast as it can, and waits for nobody; half of those who follow stand still meanwhile, so that the
//  broker's queues to them overflow.  All are actors as a fleet has them.  In the end each must know all that was
//  published: it has got every event, or it was told to forget and what a snapshot says leads to the same.

#ifndef CLI_BENCH_LOSS_H
#define CLI_BENCH_LOSS_H

#include "cli/bench/bench.h"

//  Runs and prints the cell "loss".  STATUS_CORRUPT where an event was lost unnoticed, and where nothing was lost at all:
//  then nothing was tried.
status_t bench_loss_run (const bench_run_t *run, const bench_t *bench, error_t *error);

#endif
