//  supervisor - who is started, restarted and stopped, and when
//
//  The logic of a host without its actor: a state machine that is told what happened (a process is ready, a process has
//  ended, time has passed) and says what to do.  It is deterministic and touches nothing.
//
//  Processes form units that live and die together: an engine and its worker are one.  The members of a unit start one
//  after the other, each when the one before it is ready; when one ends unasked, the others are ended too and the unit is
//  started again after a delay that doubles with each crash in a row.  One that was ready for healthy_after and ends well
//  was drained by somebody, for a fresh start: that is no crash.  One that ends sooner is, however it ends, or else what
//  ends as soon as it is ready would be started again and again without a pause.  The first unit is the one all others
//  need: they start when it is ready for the first time.  Stopping goes by rank: all processes of the lowest rank are asked to end;
//  when they have, those of the next.

#ifndef ACTORS_HOST_SUPERVISOR_H
#define ACTORS_HOST_SUPERVISOR_H

#include "actors/host/host_options.h"
#include "runtime/port.h"
#include "schemas/host.h"

typedef struct {
    const char *name;    //  "worker/mock-0"
    size_t unit;         //  Processes of one unit stand together; units count from 0
    unsigned rank;       //  Of stopping: lower ones first
    bool drains;         //  Finishes what is under way when asked to end, for which it gets the drain time
} supervised_t;

//  What the supervisor has done by whoever owns it.  No function of the supervisor may be called from inside these.
typedef struct {
    //  Starts a process.  On failure it counts as having crashed.
    status_t (*start) (void *arg, size_t process, error_t *error);
    void (*signal) (void *arg, size_t process, process_signal_t signal);
    //  It is in another state.  reason: a sentence, or NULL; borrowed.
    void (*changed) (void *arg, size_t process, const char *reason);
    void *arg;    //  For the three
} supervisor_orders_t;

//  One process as it is now.
typedef struct {
    process_state_t state;    //  Now
    uint32_t restarts;        //  Since the supervisor started
    bool has_exit;            //  It has ended at least once
    int last_exit;            //  Exit code, or 128 + signal
    uint64_t started_ns;      //  Of this run; 0: does not run
} supervised_now_t;

typedef struct supervisor supervisor_t;

enum { SUPERVISOR_HOW_MAX = 80 };

//  Writes how a process ended: "by signal 4 (Illegal instruction)", "with exit code 3".  code: as in last_exit.
void supervisor_describe_code (int code, char *out, size_t size);

//  Borrows specs and orders as long as it lives, options for the call.  count: at least 1.  Gives it; never NULL.
supervisor_t *supervisor_new (
    const supervised_t *specs, size_t count, const host_options_t *options, const supervisor_orders_t *orders);
void supervisor_destroy (supervisor_t **self_p);

//  What happened.  Each may order starts and signals before it returns.
void supervisor_start (supervisor_t *self, uint64_t now_ns);
void supervisor_ready (supervisor_t *self, size_t process, uint64_t now_ns);
void supervisor_exited (supervisor_t *self, size_t process, int code, uint64_t now_ns);
void supervisor_stop (supervisor_t *self, uint64_t now_ns);

//  Does what is due.  Returns when to call it again; PORT_NEVER where only an event can change anything.
uint64_t supervisor_advance (supervisor_t *self, uint64_t now_ns);

//  True once every process has ended after supervisor_stop.
bool supervisor_is_stopped (const supervisor_t *self);

const supervised_now_t *supervisor_now (const supervisor_t *self, size_t process);

#endif
