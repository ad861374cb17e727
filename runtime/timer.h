//  timer - something later
//
//  Embedded in what it belongs to.  One shot: start it again from its function for a beat.

#ifndef RUNTIME_TIMER_H
#define RUNTIME_TIMER_H

#include "runtime/actor.h"
#include "runtime/due.h"

typedef void (actor_timer_fn) (void *self, actor_t *actor, void *arg);

//  The fields belong to the runtime.
typedef struct {
    due_t due;                 //  When
    actor_t *actor;            //  Whose; NULL until started first
    actor_timer_fn *on_due;    //  What
    void *arg;                 //  For on_due
} actor_timer_t;

//  Calls on_due (the actor's state, the actor, arg) after `delay_ns`.  A running timer is set anew.
void timer_start (actor_timer_t *self, actor_t *actor, uint64_t delay_ns, actor_timer_fn *on_due, void *arg);

//  Fine on a timer that does not run.
void timer_stop (actor_timer_t *self);

bool timer_is_running (const actor_timer_t *self);

#endif
