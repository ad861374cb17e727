//  pending - blocks that are being computed
//
//  Between a decision and the first event about it the index does not know what is on its way: of eight siblings that come
//  in these milliseconds each would have the same prefix computed.  So whoever decides says here who computes which blocks,
//  until when they are expected, and when to stop believing it; and asks here what the index has no more answer for.
//
//  Owners are the caller's small numbers.  Times are the caller's clock, in ns; nothing happens but in a call.

#ifndef KV_INDEX_PENDING_H
#define KV_INDEX_PENDING_H

#include "base/array.h"
#include "base/error.h"

typedef struct pending pending_t;

typedef struct {
    uint64_t added;      //  Prefills so far, of which
    uint64_t settled;    //  were settled
    uint64_t expired;    //  expired
    uint64_t refused;    //  Prefills there was no room for
    uint64_t blocks;     //  Now
} pending_stats_t;

//  limit: blocks in all.  Gives it; never NULL.
pending_t *pending_new (uint32_t limit);
void pending_destroy (pending_t **self_p);

//  An owner computes `count` blocks (hashes not 0; borrowed): done at about expected_ns, forgotten at expiry_ns.  *id is for
//  pending_settle, never 0.  STATUS_LIMIT where the bound leaves no room; *id is 0 then.
status_t pending_add (pending_t *self, uint32_t owner, const uint64_t *hashes, size_t count, uint64_t expected_ns,
    uint64_t expiry_ns, uint64_t *id, error_t *error);

//  It is done, or will not be: the index knows better now.  False where it expired already.
bool pending_settle (pending_t *self, uint64_t id);

//  Forgets what expires at now_ns or before.  Returns how many prefills.
size_t pending_expire (pending_t *self, uint64_t now_ns);

//  How many leading blocks of these an owner computes: the caller asks for those behind the overlap.  *expected_ns is when
//  the last of them will be there; 0 for none.  A block in several prefills counts at the earliest.
size_t pending_overlap (
    const pending_t *self, uint32_t owner, const uint64_t *hashes, size_t count, uint64_t *expected_ns);

//  Appends the owners (uint32_t) that compute a block, newest first; one may come twice.
void pending_owners (const pending_t *self, uint64_t hash, array_t *owners);

void pending_stats (const pending_t *self, pending_stats_t *stats);

#endif
