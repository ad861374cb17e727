//  timing - how long the simulated engine takes
//
//  The polynomials that Dynamo's mocker publishes, the prefill one extended by the cached context:
//
//      prefill (n new, c cached) = 16.5 ms + 15183.44 ns n + 0.4209989 ns ((c + n)^2 - c^2)
//      ITL (u)                   = max (1 ms, -25.74 u^2 + 54.01 u + 5.74 ms), u = KV in use / capacity
//
//  There is at most one prefill and one step of all that decode at a time.  While both are under way prefill gets 0.75 of
//  the engine and decodes 0.25.  Everything is integer arithmetic, so that a simulated run is the same on every machine.

#ifndef WORKERS_MOCK_TIMING_H
#define WORKERS_MOCK_TIMING_H

#include <stdbool.h>
#include <stdint.h>

//  Nanoseconds to compute `fresh` prompt tokens behind `cached` ones; together at most 2^28.
uint64_t timing_prefill_ns (uint64_t fresh, uint64_t cached);

//  Nanoseconds from one token to the next, with `used` of `capacity` blocks in use (capacity: 1 to 2^40).
uint64_t timing_itl_ns (uint64_t used, uint64_t capacity);

typedef struct {
    bool active;      //  There is work
    uint64_t left;    //  Quarters of the nanoseconds that it still takes when alone
} timing_work_t;

//  Embedded; zero: idle.
typedef struct {
    timing_work_t prefill;    //  Of one request
    timing_work_t decode;     //  Of one step
    uint64_t at_ns;           //  When this much was left
} timing_t;

//  When the first of the two is done, the other going on beside it; UINT64_MAX where there is no work.
uint64_t timing_next_ns (const timing_t *self);

//  Works until `to_ns`, which must not lie behind timing_next_ns or before the last call.
void timing_advance (timing_t *self, uint64_t to_ns);

//  True where this work is done at the time advanced to; it is then idle.
bool timing_finish (timing_work_t *self);

//  Starts idle work that takes `alone_ns` when alone.
void timing_start (timing_work_t *self, uint64_t alone_ns);

#endif
