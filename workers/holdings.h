//  holdings - the blocks that a worker has told the fleet about
//
//  An engine may hold a block in more than one place (two slots that share a prefix); the fleet is told of the first copy
//  and of the end of the last.  What a late joiner gets as a snapshot is written from here, in steps: no call costs more than
//  the blocks it names.  The memory of what was cleared is freed piece by piece, with the calls that follow.
//
//  Blocks are told apart by the first 64 bits of their hashes, as in an index.  It is as large as the engine's cache, 70
//  bytes a block.

#ifndef WORKERS_HOLDINGS_H
#define WORKERS_HOLDINGS_H

#include "base/list.h"
#include "kv/sequence.h"

typedef struct holdings holdings_t;

//  Blocks in a row, no more than an event has, each the child of the one before it.  parent: SEQUENCE_ROOT at the root.
//  Borrowed.
typedef void (holdings_run_fn) (void *arg, hash128_t parent, const hash128_t *hashes, size_t count);

//  Gives them, empty; never NULL.
holdings_t *holdings_new (void);
void holdings_destroy (holdings_t **self_p);

//  Counts one more copy of each block.  Calls on_run for those that were not held before.
void holdings_add (
    holdings_t *self, hash128_t parent, const hash128_t *hashes, size_t count, holdings_run_fn *on_run, void *arg);

//  Counts one copy less of each block, named by the first 64 bits; those that are not held are skipped.  gone: room for
//  `count` hashes, filled with those of which no copy is left.  Returns how many these are.
size_t holdings_remove (holdings_t *self, const uint64_t *hashes, size_t count, hash128_t *gone);

//  Forgets every copy.
void holdings_clear (holdings_t *self);

//  Frees some of the memory of what was cleared, for quiet moments; holdings_add frees at least as much as it needs.  False where
//  none is left.
bool holdings_shed (holdings_t *self);

//  Blocks held.
size_t holdings_count (const holdings_t *self);

//  A block that a walk has given is gone; NULL: all are.  Borrowed.
typedef void (holdings_gone_fn) (void *arg, const hash128_t *hash);

//  A walk through all of them, parents before children, in steps between which they change: it gets to what comes meanwhile,
//  and tells what goes that it has given.  Embedded; moves nowhere from begin to end.
typedef struct {
    list_link_t sibling;          //  Among the walks under way
    holdings_t *holdings;         //  Borrowed; NULL once they are destroyed
    uint32_t next;                //  The block to go on with; 0 where all are given
    uint64_t given;               //  Of the blocks that came, as many are passed
    holdings_gone_fn *on_gone;    //  Whom to tell
    void *arg;                    //  For on_gone
} holdings_walk_t;

void holdings_walk_begin (holdings_t *self, holdings_walk_t *walk, holdings_gone_fn *on_gone, void *arg);
void holdings_walk_end (holdings_walk_t *walk);

//  Gives at most `max` further blocks.  False where none is left, for now.
bool holdings_walk_next (holdings_walk_t *walk, size_t max, holdings_run_fn *on_run, void *arg);

#endif
