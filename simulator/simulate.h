//  simulate - one run of a fleet in the simulated world, from a seed
//
//  Builds a realm, starts what a fleet's machines start, lets harnesses use it while faults strike, then lets everything
//  be repaired and come to rest, and says what happened.  The same seed and options give the same run; a violation is a
//  bug, and the seed is its report.

#ifndef SIMULATOR_SIMULATE_H
#define SIMULATOR_SIMULATE_H

#include "simulator/faults.h"
#include "simulator/harness.h"
#include "simulator/invariants.h"
#include "simulator/network.h"

//  What a machine starts by itself, and starts again when it ends.
typedef struct {
    const char *machine;        //  Name
    const char *const *argv;    //  NULL-terminated
} simulate_root_t;

typedef struct {
    uint64_t seed;                      //  Of everything
    uint64_t time_ns;                   //  In which harnesses work and faults strike
    uint64_t quiet_ns;                  //  To come to rest in; 0: 3 min
    const realm_program_t *programs;    //  What can be started; borrowed for the run
    size_t program_count;               //  How many
    const simulate_root_t *roots;       //  What is started; borrowed for the run
    size_t root_count;                  //  How many
    harness_options_t harness;          //  How the fleet is used; excuses and violations are filled in here
    faults_options_t faults;            //  How often what breaks; the rest is filled in here
    fleet_view_t view;                  //  How to look into it
    //  Each log line, as it is written; NULL for nobody.
    void (*on_log) (void *arg, uint64_t now_ns, const char *process, log_level_t level, span_t line);
    void *arg;    //  For on_log
} simulate_options_t;

//  What a run can show, and a batch of runs must have shown.
typedef enum {
    SITUATION_GAP,                //  A follower noticed that something is missing
    SITUATION_RING_REPLAY,        //  A ring filled it
    SITUATION_SNAPSHOT,           //  A snapshot did
    SITUATION_FENCE,              //  A newer incarnation took over
    SITUATION_ZOMBIE,             //  The one that it replaced was heard all the same
    SITUATION_MIGRATION,          //  An answer went on from another worker
    SITUATION_BROKER_LOSS,        //  The broker died
    SITUATION_PARTITION,          //  Somebody was cut off
    SITUATION_CRASH_STREAMING,    //  A process died while answers were being streamed
    SITUATION_LEFT,               //  A harness left in the middle of an answer
    SITUATION_MACHINE_LOSS,       //  A machine went down
    SITUATION_TORN,               //  A store lost by that what had been committed
    SITUATION_FULL_QUEUE,         //  A queue of messages had no room
    SITUATION_CREDIT_STALL,       //  A worker had tokens for which its caller gave no credit
    SITUATION_REFUSED,            //  Somebody's key was not good enough for what he said
    SITUATION_COUNT
} situation_t;

enum { SIMULATE_VIOLATIONS_MAX = 20, SIMULATE_SENTENCE_MAX = 512 };

typedef struct {
    uint64_t seed;                            //  As given
    uint64_t virtual_ns;                      //  That passed
    uint64_t events;                          //  That happened
    uint64_t log_hash;                        //  Of all of them
    harness_figures_t harness;                //  What harnesses saw
    uint64_t faults [FAULT_COUNT];            //  That struck
    uint64_t situations [SITUATION_COUNT];    //  How often
    network_figures_t network;                //  What was sent
    invariant_figures_t index;                //  What was compared
    uint64_t violation_count;                 //  In all
    //  The first ones.
    char violations [SIMULATE_VIOLATIONS_MAX][SIMULATE_SENTENCE_MAX];
} simulate_report_t;

//  Runs.  STATUS_INVALID where a root cannot be started; violations are no failure but stand in the report.
status_t simulate_run (const simulate_options_t *options, simulate_report_t *report, error_t *error);

//  "ring_replay" and so on.
const char *situation_name (situation_t situation);

//  For people, and as one JSON object in one line.  wall_ns: how long the run took, for the speed; 0: not said.
void simulate_report_print (const simulate_report_t *report, uint64_t wall_ns, buffer_t *out);
void simulate_report_json (const simulate_report_t *report, uint64_t wall_ns, buffer_t *out);

#endif
