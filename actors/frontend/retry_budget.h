//  retry_budget - how often requests may be tried elsewhere
//
//  Where many workers fail, each request that fails is sent to others, which then have all the more to do: a fleet that is
//  dying is hammered to death.  So retries are paid from a bucket.  Every request that begins puts a share of one into it,
//  every second some more; it starts full and holds so many at most, which is what a single worker may lose at once.
//  So in any time there are at most `burst` + `share` x requests + `floor` x seconds of them.

#ifndef ACTORS_FRONTEND_RETRY_BUDGET_H
#define ACTORS_FRONTEND_RETRY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t share;    //  Retries that a request brings, in millionths
    int64_t floor;    //  Retries that a second brings
    int64_t burst;    //  Retries that it holds
} retry_limits_t;

typedef struct {
    retry_limits_t limits;    //  As given
    uint64_t left;            //  Retries in it, in millionths
    uint64_t filled_ns;       //  What the seconds until then brought is in it
} retry_budget_t;

void retry_budget_init (retry_budget_t *self, const retry_limits_t *limits, uint64_t now_ns);

//  Other limits from now on.  What no longer fits is gone.
void retry_budget_set (retry_budget_t *self, const retry_limits_t *limits, uint64_t now_ns);

//  A request begins.
void retry_budget_add (retry_budget_t *self, uint64_t now_ns);

//  Takes a retry; false where there is none.
bool retry_budget_take (retry_budget_t *self, uint64_t now_ns);

//  Whole retries that there are now.
uint64_t retry_budget_left (retry_budget_t *self, uint64_t now_ns);

#endif
