//  notice - telling a router how a request goes on
//
//  A router counts what it has decided as active until it is told otherwise, so it is told on every path: at the first
//  token, and when the request no longer runs where it was sent.  A notice outlives the request that it is about.

#ifndef ACTORS_FRONTEND_NOTICE_H
#define ACTORS_FRONTEND_NOTICE_H

#include "actors/frontend/counts.h"
#include "base/list.h"
#include "runtime/call.h"
#include "schemas/route.h"

typedef struct {
    list_t notices;                  //  Under way
    counts_t *counts;                //  Counts those that nobody heard
    void (*on_empty) (void *arg);    //  None is under way any more
    void *arg;                       //  For on_empty
} notices_t;

void notices_init (notices_t *self, counts_t *counts, void (*on_empty) (void *arg), void *arg);

//  Forgets those under way.
void notices_fini (notices_t *self);

//  Tells a router.  Borrows both for the call.
void notices_send (notices_t *self, actor_t *actor, span_t router, const route_progress_t *progress);

#endif
