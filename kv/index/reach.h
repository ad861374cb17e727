//  reach - what a worker need not compute
//
//  A worker is a rank of an owner.  It reaches that rank's holders, in whatever tier they are, and those of others that it is
//  said to reach: its machine's block manager, a store.  Its overlap with a query is the number of leading blocks that it
//  reaches in any of them: a block may be in the host's memory and the next on the device.  Each block counts once, at the
//  best holder that has it: one that is known exactly before a guess, a guess before what is being computed, then the
//  fastest tier.
//
//  An answer looks at a holder only where it begins or ceases to have what the query asks for: it costs as much as whoever
//  has the first block and the changes behind it together.
//
//  Whose a holder is can be said in a word, beside the index: the owner that it names may stand for another one, or for nobody
//  any more, and then all that such holders have in whatever index counts so at once.
//
//  Not thread-safe, and no part of an index: one reach serves all indexes whose holders have the same owners.

#ifndef KV_INDEX_REACH_H
#define KV_INDEX_REACH_H

#include "kv/index/index.h"

//  The number of no owner.
#define REACH_NOBODY UINT32_MAX

typedef struct reach reach_t;

typedef struct {
    uint32_t owner;                  //  Whose overlap
    uint16_t rank;                   //  And which rank's of it
    uint32_t total;                  //  Leading blocks it reaches
    uint32_t blocks [TIER_COUNT];    //  Of them, in each tier
    uint32_t approximate;            //  Of them, those that are a guess
    uint32_t pending;                //  Of them, those that are being computed
    uint32_t pending_end;            //  Position behind the last of these
} reach_overlap_t;

//  Gives the reach; never NULL.
reach_t *reach_new (void);
void reach_destroy (reach_t **self_p);

//  A worker reaches, from now on, what another owner's exact holders of any rank have in this tier and those below it.
void reach_add (reach_t *self, uint32_t owner, uint16_t rank, uint32_t other, tier_t nearest);

//  An owner is gone: its workers reach nothing, and nobody reaches what it has.  Its number may be another's next.
void reach_forget (reach_t *self, uint32_t owner);

//  Holders that name this owner count, from now on, as another owner's; as nobody's where that is REACH_NOBODY.  Until it is said,
//  each stands for itself.  Of holders that differ in nothing else and are not exact one at most may count as an owner's.
void reach_count_as (reach_t *self, uint32_t named, uint32_t owner);

//  Appends the overlap of every worker that has one with what the match found, as a reach_overlap_t that the element of the
//  array begins with; the rest of it is 0.  The index must not have changed since.  last: holders of a kind behind this one
//  are not looked at.  In no order that means anything.
void reach_overlaps (
    reach_t *self, const index_t *index, const index_match_t *match, holder_kind_t last, array_t *overlaps);

#endif
