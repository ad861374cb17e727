//  process - children: started clean, watched through a pidfd, ended with everything they started
//
//  Every child leads its own process group, so that a signal reaches what it started; what is left of the group when the
//  leader ends is killed.  A pidfd on the actor's own loop says that it ended: no signal handler, no reaper that all
//  actors would have to share.
//
//  The functions are those of port_table_t (runtime/port.h), with the processes of the port in place of the port.

#ifndef RUNTIME_PORT_PROCESS_H
#define RUNTIME_PORT_PROCESS_H

#include "runtime/port.h"
#include "runtime/port/loop.h"

typedef struct {
    loop_t *loop;          //  Of the owner's thread
    const char *folder;    //  Of relative paths; borrowed
    list_t closed;         //  port_process_t that were closed and killed, and are not reaped yet
} processes_t;

void processes_init (processes_t *self, loop_t *loop, const char *folder);

//  Those that are not reaped yet are left to the system.
void processes_fini (processes_t *self);

port_process_t *process_start (processes_t *processes, const process_options_t *options, error_t *error);
int64_t process_id (const port_process_t *self);
void process_signal (port_process_t *self, process_signal_t signal);
void process_close (port_process_t *self);

#endif
