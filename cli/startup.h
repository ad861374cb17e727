//  startup - whoever waits for a fleet is told why it is not there yet
//
//  Asks the host of a fleet on this machine what its processes do, and says on standard error who crashed, with its last
//  words, and after a while who is being waited for.  Knows when waiting is of no use.

#ifndef CLI_STARTUP_H
#define CLI_STARTUP_H

#include "actors/host/host.h"

typedef struct startup startup_t;

//  endpoint: of the host.  programs: what it runs, `count` of them, borrowed as long as the startup lives.  Gives it; never
//  NULL.
startup_t *startup_new (const char *endpoint, const host_program_t *programs, size_t count);
void startup_destroy (startup_t **self_p);

//  Looks, at most twice a second however often it is called, and says what is new.  False where the fleet cannot come up,
//  and that was said: a process that all need crashes again and again, or each worker or its engine does.
bool startup_look (startup_t *self);

#endif
