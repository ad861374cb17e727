//  rehearsal - a fleet as the simulator plays it
//
//  The same configuration, the same assemblies, departures and host as in the real world, in processes of simulate.h.  On one
//  machine the host starts everything, as `stator up` does.  On several, each actor has a process of its own, the broker's
//  on the first machine and the others spread over all of them, and is started again by its machine.

#ifndef CLI_REHEARSAL_H
#define CLI_REHEARSAL_H

#include "cli/manifest.h"
#include "simulator/simulate.h"

typedef struct rehearsal rehearsal_t;

//  fleet: borrowed, but for the bus and the frontends' address, which become those of the simulated machines.
//  machines: at least 1.  keys: machines, several then, prove to each other who they are.  Gives the rehearsal; NULL where
//  the fleet cannot be played: the error says why.
rehearsal_t *rehearsal_new (manifest_t *fleet, uint32_t machines, bool keys, error_t *error);
void rehearsal_destroy (rehearsal_t **self_p);

//  Fills in what is started, how to look into it, and how harnesses use it: a request a second in all.
void rehearsal_fill (rehearsal_t *self, simulate_options_t *options);

#endif
