//  reach - what a worker need not compute
//
//  A worker reaches its own holders, those of its machine and the stores.  Its overlap with a query is the number of leading
//  blocks that it reaches in any of them: a block may be in the host's memory and the next on the device.  Each block counts
//  once, at the best holder that has it: one that is known exactly before a guess, a guess before what is being computed,
//  then the fastest tier.
//
//  Workers are the caller's small numbers, holders the index's.  Not thread-safe, and no part of the index: another reach on
//  the same index is another opinion on who reaches what.

#ifndef KV_INDEX_REACH_H
#define KV_INDEX_REACH_H

#include "kv/index/index.h"

typedef struct reach reach_t;

typedef struct {
    uint32_t worker;                 //  Number
    uint32_t total;                  //  Leading blocks it reaches
    uint32_t blocks [TIER_COUNT];    //  Of them, in each tier
    uint32_t approximate;            //  Of them, those that are a guess
    uint32_t pending;                //  Of them, those that are being computed
} reach_overlap_t;

//  Gives the reach; never NULL.
reach_t *reach_new (void);
void reach_destroy (reach_t **self_p);

//  A worker reaches a holder from now on.  Twice is once.
void reach_add (reach_t *self, uint32_t worker, uint32_t holder);

//  It does not any more.  False where it did not.
bool reach_remove (reach_t *self, uint32_t worker, uint32_t holder);

//  Nobody reaches this holder any more: its number may be another's next.
void reach_forget_holder (reach_t *self, uint32_t holder);

//  This worker reaches nothing any more.
void reach_forget_worker (reach_t *self, uint32_t worker);

//  Appends the overlap (reach_overlap_t) of every worker that has one with what the match found; the index must not have
//  changed since.  In no order that means anything.
void reach_overlaps (reach_t *self, const index_t *index, const index_match_t *match, array_t *overlaps);

#endif
