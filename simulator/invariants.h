//  invariants - what must hold, looked at from outside
//
//  An index that follows workers is either behind, and knows it, or right: where a follower has applied all that a worker
//  has published, what it believes of the worker equals what the worker holds.  At every look that is checked; once all
//  is quiet nobody may be behind any more.

#ifndef SIMULATOR_INVARIANTS_H
#define SIMULATOR_INVARIANTS_H

#include "runtime/actor.h"
#include "simulator/realm.h"

//  How to look into the processes of a fleet.  Filled in by whoever knows its classes.
typedef struct {
    //  The actors of a process, one after the other; NULL behind the last.
    actor_t *(*actor_at) (const realm_process_t *process, size_t position);
    //  A number for what this actor holds and publishes on `stream`; false where it is no such source.
    bool (*truth) (const actor_t *actor, uint64_t *digest);
    //  The same number for what this actor believes of a source; false where it does not follow `stream`.
    bool (*belief) (const actor_t *actor, uint64_t source, uint64_t *digest);
    uint16_t stream;    //  Number of the stream that tells of it
} fleet_view_t;

typedef struct {
    uint64_t looks;       //  Pairs of follower and source looked at
    uint64_t behind;      //  Of these, not up to date, and knowing it
    uint64_t compared;    //  Of these, up to date, and so compared
    uint64_t wrong;       //  Of these, different
} invariant_figures_t;

//  Looks at all pairs.  quiet: nobody may be behind.  Adds to the figures.  on_violation: told each that does not hold.
void invariants_check (realm_t *realm, const fleet_view_t *view, bool quiet, invariant_figures_t *figures,
    void (*on_violation) (void *arg, const char *sentence), void *arg);

#endif
