//  guess - what an engine that sends no events probably has
//
//  An engine keeps what it computed until it needs the room, and what was used longest ago goes first, of one prompt the end
//  before the beginning.  So whoever sees its prompts can guess what it has: the blocks of the last of them, up to its
//  capacity, and none older than a lifetime.  When the engine says how much of a prompt it found, the guess is put right.
//
//  The blocks stand in the index like anybody's, under a holder of kind HOLDER_APPROXIMATE, by which answers tell them apart.
//  Times are the caller's clock, in ns; nothing happens but in a call.

#ifndef KV_INDEX_GUESS_H
#define KV_INDEX_GUESS_H

#include "kv/index/index.h"

typedef struct guess guess_t;

//  What happened so far, and what there is now.
typedef struct {
    uint64_t evicted;     //  Blocks that had no room any more
    uint64_t expired;     //  Blocks that nobody used for a lifetime
    uint64_t mistaken;    //  Blocks the engine did not find
    uint64_t unknown;     //  Blocks the engine found unexpectedly
    uint64_t refused;     //  Blocks the index had no room for
    uint64_t blocks;      //  Now
} guess_stats_t;

//  A guess about a holder, whose kind is taken for HOLDER_APPROXIMATE; borrows the index, which counts references or not.
//  capacity: blocks, at least 1.  Gives it; never NULL.
guess_t *guess_new (index_t *index, const holder_t *holder, uint32_t capacity, uint64_t lifetime_ns);

//  Takes the holder out of the index.
void guess_destroy (guess_t **self_p);

//  Takes the holder out of the index, which is borrowed no more: only guess_shed and guess_destroy may follow.
void guess_leave (guess_t *self);

//  Frees a piece of the memory of a guess that has left.  False where little is left.
bool guess_shed (guess_t *self);

//  The engine has computed the blocks first .. end - 1 of a prompt, or had them; borrows its hashes, and goes no further than the
//  first that is 0.  A long prompt is said in pieces, the last first: its end is the first to go again.
void guess_computed (guess_t *self, const uint64_t *hashes, size_t first, size_t end, uint64_t now_ns);

//  Of the blocks first .. end - 1 of a prompt the engine found those before `found` and no other.  To be called before
//  guess_computed of the same.
void guess_found (guess_t *self, const uint64_t *hashes, size_t first, size_t end, size_t found, uint64_t now_ns);

//  Forgets what was not used for a lifetime, at most *left blocks, which it takes from there.  Returns how many.
size_t guess_expire (guess_t *self, uint64_t now_ns, size_t *left);

void guess_stats (const guess_t *self, guess_stats_t *stats);

#endif
