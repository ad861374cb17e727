//  host - the only supervisor: one a machine
//
//  Starts the processes it was told to run, knows when each is ready, restarts what crashes with growing delays, and ends
//  them in order when it drains: first what takes new work, the broker last.  supervisor.h decides; this actor carries
//  out, answers list_processes, and publishes process_changed.
//
//  A process is ready when the actors it houses are alive in the directory and take work, or answer a ping where the
//  directory does not list them, or when a URL answers 200; one that names none of these is ready once it runs.  A reload
//  is passed on to the processes that take it.  Destroying the actor kills whatever still runs.

#ifndef ACTORS_HOST_HOST_H
#define ACTORS_HOST_HOST_H

#include "actors/host/supervisor.h"
#include "runtime/actor.h"

typedef struct {
    supervised_t supervised;           //  Name, unit, rank
    const char *const *argv;           //  What to start, NULL-terminated
    const char *const *environment;    //  Added to the host's own, NULL-terminated; NULL: none
    const char *output;                //  File for what it writes; NULL: where the host's own goes
    bool reloads;                      //  Takes PROCESS_SIGNAL_HUP for a wish to read its configuration again
    const char *const *actors;         //  Ready when these addresses take work, NULL-terminated; NULL: not asked
    const char *ping;                  //  Ready when this address answers; NULL: not asked
    const char *url;                   //  Ready when a GET of this is answered with 200; NULL: not asked
} host_program_t;

//  The class's options.  Programs are borrowed as long as the actor lives, the rest for the call.
typedef struct {
    const host_options_t *options;     //  How patient it is
    const host_program_t *programs;    //  In start order, units together
    size_t count;                      //  At least 1
} host_setup_t;

extern const actor_class_t host_class;

#endif
