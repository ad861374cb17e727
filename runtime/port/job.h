//  job - a pool of threads for what is too slow for a loop
//
//  A job runs on one of a few threads that all ports of the process share; its `done` is posted to the loop it came
//  from.  The loop is held meanwhile, so that a port is not destroyed before its last job is done.

#ifndef RUNTIME_PORT_JOB_H
#define RUNTIME_PORT_JOB_H

#include "runtime/port.h"
#include "runtime/port/loop.h"

typedef struct job_pool job_pool_t;

//  threads: 0 for as many as there are cores, 2 to 8.  They start with the first job.
job_pool_t *job_pool_new (uint32_t threads);

//  Joins the threads and nulls the caller's pointer.  No job may be waiting or running.
void job_pool_destroy (job_pool_t **self_p);

//  Queues a job.  Called on the loop's thread, where `done` is called later.  data: handed over until then.
void job_start (job_pool_t *self, loop_t *loop, job_fn *run, job_done_fn *done, void *arg, void *data);

#endif
