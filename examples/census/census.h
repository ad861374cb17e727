//  census - an actor that says how busy the fleet is
//
//  The example of docs/actors.md: it follows the load reports of all workers and writes a line in the log when the fleet
//  goes from idle to busy or back.  `stator call census/0 get_status` asks it for the numbers.

#ifndef EXAMPLES_CENSUS_H
#define EXAMPLES_CENSUS_H

#include "runtime/actor.h"

//  Takes no options.  Its state begins with a census_figures_t, for tests.
extern const actor_class_t census_class;

typedef struct {
    uint64_t workers;    //  That have said how busy they are
    uint64_t running;    //  Requests being computed, all workers together
    uint64_t waiting;    //  Requests that wait, likewise
} census_figures_t;

#endif
