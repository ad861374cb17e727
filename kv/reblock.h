//  reblock - an engine's blocks as blocks of ours
//
//  An engine cuts prompts into blocks of its own size and names them by hashes we cannot compute.  Its events say which
//  tokens a block has and what it continues; from these a reblock keeps the engine's tree of blocks and works out which
//  blocks of ours the engine holds: those of which it holds every part.  Sizes are free: several engine blocks make one of
//  ours, one makes several, or they overlap.
//
//  What comes out is exact and without repetition: a block of ours is stored when its last missing part comes and removed
//  when the first part goes, however many physical blocks, siblings or twins it is in.  An engine block that was removed
//  while blocks behind it stay is remembered until they go, so that their chain can be continued.
//
//  A block behind an unknown parent cannot be named, because the tokens before it are not known: it is counted and left
//  out.  Text only: the caller leaves out blocks that stand for something else, and all behind them are then left out too.
//  One namespace: the caller has a reblock for each adapter (LoRA) and salt that the engine serves.

#ifndef KV_REBLOCK_H
#define KV_REBLOCK_H

#include "kv/sequence.h"

typedef struct reblock reblock_t;

typedef enum {
    REBLOCK_STORED,     //  `count` blocks in a row are held now, behind `parent`
    REBLOCK_REMOVED,    //  `count` blocks, in any order, are not held any more; parent is the root
    REBLOCK_CLEARED     //  Nothing is held any more; count is 0
} reblock_change_t;

//  Told of each change at the end of the call that made it; borrows the hashes.  Must not call the reblock.
typedef void (reblock_change_fn) (
    void *arg, reblock_change_t change, hash128_t parent, const hash128_t *hashes, size_t count);

typedef struct {
    uint64_t stored;        //  Engine blocks stored, of which
    uint64_t duplicates;    //  were there already
    uint64_t removed;       //  References to engine blocks removed
    uint64_t missing;       //  Removals of engine blocks that were not there
    uint64_t cleared;       //  Clears
    uint64_t orphans;       //  Engine blocks left out because their parent is unknown
    uint64_t conflicts;     //  Stores of a known engine block behind another parent
    uint64_t refused;       //  Engine blocks left out because of the bound
    uint64_t invalid;       //  Stores whose tokens do not fill their blocks
    uint32_t parts;         //  Now: engine blocks remembered
    uint32_t blocks;        //  Now: blocks of ours held
} reblock_stats_t;

//  engine_block_size: tokens, 1..BLOCK_SIZE_MAX.  limit: engine blocks remembered at most.  Copies the namespace.  Gives the
//  reblock; never NULL.
reblock_t *reblock_new (
    const namespace_t *ns, uint32_t engine_block_size, uint32_t limit, reblock_change_fn *on_change, void *arg);

//  Tells nobody.
void reblock_destroy (reblock_t **self_p);

//  The engine stored `count` blocks in a row behind *parent (NULL: at the root); borrows hashes and tokens.
//  STATUS_INVALID where the tokens do not fill the blocks exactly, STATUS_NOT_FOUND for an unknown parent, STATUS_LIMIT
//  where the bound left some out.
status_t reblock_store (reblock_t *self, const uint64_t *parent, const uint64_t *hashes, size_t count,
    const uint32_t *tokens, size_t token_count, error_t *error);

//  The engine dropped one reference to each of these blocks.
void reblock_remove (reblock_t *self, const uint64_t *hashes, size_t count);

//  The engine dropped everything.
void reblock_clear (reblock_t *self);

void reblock_stats (const reblock_t *self, reblock_stats_t *stats);

#endif
