//  plan - the processes of a fleet on this machine, as its host wants to know them
//
//  The broker; the core, which houses frontends, routers and indexers, but for those that have a process of their own; for
//  each worker an engine where the fleet says how to start one, and the worker beside it.  Of a fleet that is spread over
//  hosts only what this one (cluster.host) runs.

#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "actors/host/host.h"
#include "cli/manifest.h"

typedef struct plan plan_t;

typedef struct {
    const char *program;    //  Path of this program
    const char *config;     //  File that the processes read
    const char *run_dir;    //  Where engines' logs go
    const char *log;        //  Where our own go; NULL: where the host's go
    int64_t parent;         //  Process that they must not outlive; 0: none
} plan_options_t;

//  Gives the plan; never NULL.  All strings are copied.
plan_t *plan_new (const manifest_t *fleet, const plan_options_t *options);
void plan_destroy (plan_t **self_p);

//  Programs in it.
size_t plan_count (const plan_t *self);

//  In start order, units together.  Borrowed.
const host_program_t *plan_programs (const plan_t *self);

#endif
