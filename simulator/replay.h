//  replay - recorded traffic, sent to a fleet again
//
//  An actor that stands where frontends and harnesses stand: it asks the router where each request of a trace goes, streams
//  it from that worker, tells the router how it goes on, and counts.  It also follows what the workers hold, to know what is
//  computed twice.  Router, index, workers and engines are the real ones; made up are only the tokens
//  (simulator/replay_prompt.h).
//
//  Sessions are a closed loop.  They begin by a Poisson process at such a rate that, if nothing ever queued, `load` of them
//  would be alive for each worker; they are drawn from a shuffled deck of the trace, which is dealt again when it is empty,
//  and no two share a block.  A request follows the completion of the one before it after the recorded pause, at most
//  think_max.  A subagent begins with the recorded offset after the completion of the lead's request that spawned it; the
//  lead's next request also waits for its end and one second more.  What happens between the start of session
//  1.5 x load x workers (at most a quarter of all) and the last start is counted; then it is over.
//
//  Single requests arrive as recorded, `load` times as fast, share what blocks they share, and all of them are counted.

#ifndef SIMULATOR_REPLAY_H
#define SIMULATOR_REPLAY_H

#include "runtime/actor.h"
#include "simulator/replay_tally.h"
#include "simulator/trace.h"

typedef struct {
    const trace_t *trace;     //  Borrowed for the actor's life
    uint64_t seed;            //  Of starts and of the deck
    size_t workers;           //  It begins once so many are there; at least 1
    uint64_t load;            //  Millionths; at least 10000
    size_t sessions;          //  How many begin; 0: as many as the trace has
    uint64_t think_max_ns;    //  Longest pause
    span_t secret;            //  Of the cluster; borrowed for the actor's life
    const char *router;       //  Address; borrowed for the actor's life
} replay_options_t;

//  Service "replay".  Its options are a replay_options_t, copied.
extern const actor_class_t replay_class;

//  Everything that is counted is over.
bool replay_is_over (const actor_t *replay);

//  Valid once it is over.  Borrowed.
const replay_report_t *replay_report (const actor_t *replay);

#endif
