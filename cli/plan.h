//  plan - the processes of a fleet on this machine, as its host wants to know them
//
//  The broker; the core, which houses frontends, routers and indexers; for each worker an engine where the fleet says how
//  to start one, and the worker beside it.

#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "actors/host/host.h"
#include "cli/manifest.h"

typedef struct plan plan_t;

//  program: path of this program.  config: file that the processes read.  run_dir: of engines' logs.  parent: the process
//  they must not outlive.  Gives the plan; never NULL.  All strings are copied.
plan_t *plan_new (
    const manifest_t *fleet, const char *program, const char *config, const char *run_dir, int64_t parent);
void plan_destroy (plan_t **self_p);

size_t plan_count (const plan_t *self);

//  In start order, units together.  Borrowed.
const host_program_t *plan_programs (const plan_t *self);

#endif
