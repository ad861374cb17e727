//  cache - which blocks an engine keeps
//
//  A prefix cache of so many blocks, as engines have one: a request pins the leading blocks it finds, sets room aside for
//  the rest of its prompt and its output, turns room into blocks as they are computed, and unpins all of them when it ends.
//  Unpinned blocks are idle: they stay until room is needed.  The block that goes is the last one of the path that was
//  released longest ago, so a prefix never goes before what continues it.
//
//  That is a plain queue: a release appends its path last block first, and eviction takes from the front.  The front has
//  no block behind it in the cache, because whoever had a later block pinned had this one pinned too, and released it after.
//  This rests on the one rule for callers: whoever pins a block pins all blocks before it.
//
//  No tokens, no clock, no memory of its own for KV: a simulated engine and the bookkeeping of an adapter share it.

#ifndef KV_CACHE_H
#define KV_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cache cache_t;

typedef enum {
    CACHE_STORED,    //  `count` blocks in a row came, behind `parent` (0: at the root)
    CACHE_REMOVED    //  `count` blocks went, in this order; parent is 0
} cache_change_t;

//  Told of every change, as it is made; borrows the hashes.  Must not call the cache.
typedef void (cache_change_fn) (
    void *arg, cache_change_t change, uint64_t parent, const uint64_t *hashes, size_t count);

typedef struct {
    size_t capacity;     //  Blocks there is memory for
    size_t cached;       //  Blocks in the cache, of which
    size_t pinned;       //  are in use
    size_t reserved;     //  Blocks of room set aside
    uint64_t evicted;    //  Blocks that went for want of room so far
} cache_stats_t;

//  capacity: blocks.  on_change: may be NULL.  Gives the cache; never NULL.
cache_t *cache_new (size_t capacity, cache_change_fn *on_change, void *arg);

//  Tells nobody of what was in it.
void cache_destroy (cache_t **self_p);

//  How many leading blocks of a prompt are cached; borrows the hashes, which are not 0.
size_t cache_lookup (const cache_t *self, const uint64_t *hashes, size_t count);

//  Pins the leading blocks of a prompt that are cached.  Returns how many.
size_t cache_acquire (cache_t *self, const uint64_t *hashes, size_t count);

//  Sets room for `blocks` blocks aside and evicts idle ones for it.  False, and nothing changes, where so many do not fit
//  beside what is in use.
bool cache_reserve (cache_t *self, size_t blocks);

//  Gives back room that was set aside.
void cache_unreserve (cache_t *self, size_t blocks);

//  Blocks in a row were computed, behind a pinned parent (0: at the root): caches them, pinned, in room set aside for them.
//  One that somebody else cached meanwhile is only pinned.  Either way `count` blocks of room are used up.
void cache_insert (cache_t *self, uint64_t parent, const uint64_t *hashes, size_t count);

//  Unpins the leading blocks of a prompt, each of which the caller pinned by acquire or insert.
void cache_release (cache_t *self, const uint64_t *hashes, size_t count);

void cache_stats (const cache_t *self, cache_stats_t *stats);

#endif
