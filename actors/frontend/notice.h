//  notice - telling a router how a request goes on
//
//  A router counts what it has decided as active until it is told otherwise, so it is told on every path: at the first
//  token, and when the request no longer runs where it was sent.  A notice outlives the request that it is about.
//
//  An end that did not reach its router is told again, until it has, or that router is another one or gone: one that was
//  cut off, or stood still, comes back with all that it counted.

#ifndef ACTORS_FRONTEND_NOTICE_H
#define ACTORS_FRONTEND_NOTICE_H

#include "actors/frontend/counts.h"
#include "base/list.h"
#include "runtime/call.h"
#include "runtime/timer.h"
#include "schemas/route.h"

typedef struct {
    actor_t *actor;                  //  Who tells
    list_t notices;                  //  Under way
    list_t waiting;                  //  To be told again
    actor_timer_t again;             //  When
    counts_t *counts;                //  Counts those that nobody heard
    void (*on_empty) (void *arg);    //  None is under way any more
    void *arg;                       //  For on_empty
} notices_t;

void notices_init (notices_t *self, actor_t *actor, counts_t *counts, void (*on_empty) (void *arg), void *arg);

//  Forgets those under way, and those that wait.
void notices_fini (notices_t *self);

//  Tells a router.  Borrows both for the call.
void notices_send (notices_t *self, span_t router, const route_progress_t *progress);

//  A request goes to a router that it has left: what that one has not heard of it holds no more.
void notices_withdraw (notices_t *self, span_t router, span_t request);

#endif
