//  real_port - the port of an actor that lives in the real world
//
//  Made, used and destroyed on any thread, as long as it is one at a time; real_port_run makes the thread it is called on
//  the actor's.  Only real_port_stop may be called from another.

#ifndef RUNTIME_PORT_REAL_PORT_H
#define RUNTIME_PORT_REAL_PORT_H

#include "runtime/port.h"
#include "runtime/port/world.h"

typedef struct {
    world_t *world;              //  Shared by the process; borrowed until the port is destroyed
    const char *state_folder;    //  Of stores and files with relative paths; copied; NULL: the current one
    const char *name;            //  Of the thread, cut to 15 bytes; copied; NULL: unchanged
} real_port_options_t;

//  Gives the port; NULL where the system has no descriptors left.  Whoever makes its user fills in `user`.
port_t *real_port_new (const real_port_options_t *options, error_t *error);

//  Runs the loop until real_port_stop.  Calls nothing but callbacks.
void real_port_run (port_t *self);

//  Ends one real_port_run, also one that starts only afterwards.  From any thread.
void real_port_stop (port_t *self);

//  Waits for jobs that are under way and calls their `done`, then destroys the port and nulls the caller's pointer.
//  Whatever was opened must have been closed.
void real_port_destroy (port_t **self_p);

#endif
