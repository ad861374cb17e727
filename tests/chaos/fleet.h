//  fleet - a whole fleet in the simulated world, for runs from a seed
//
//  A broker, indexers, routers, frontends and mock workers, each in a process of its own on a few machines, with the
//  options everybody gets.

#ifndef TESTS_CHAOS_FLEET_H
#define TESTS_CHAOS_FLEET_H

#include "simulator/simulate.h"

typedef struct chaos_fleet chaos_fleet_t;

typedef struct {
    uint32_t machines;     //  Of the workers; the others are on the first
    uint32_t workers;      //  In all
    uint32_t routers;      //  In all
    uint32_t indexers;     //  In all
    uint32_t frontends;    //  In all
} chaos_shape_t;

//  Gives the fleet; never NULL.
chaos_fleet_t *chaos_fleet_new (const chaos_shape_t *shape);
void chaos_fleet_destroy (chaos_fleet_t **self_p);

//  Fills in programs, roots, view, and how harnesses use it.  Borrows the fleet for the run.
void chaos_fleet_fill (chaos_fleet_t *self, simulate_options_t *options);

#endif
