//  index - which holder has which prefix
//
//  The index of one namespace: for each block (named by the first 64 bits of its sequence hash) the holders that have it.
//  One owner thread, no I/O, no clock.  What it means, exactly:
//
//  References.  A holder has a block as often as it was stored less the times it was removed: engines keep one hash in
//  several physical blocks and announce each.  One removal takes one reference.  (An option makes a second store of the
//  same block a no-op, for streams that announce a hash once and repeat themselves.)  What is beyond 1024 references is
//  refused, so that one hash that is announced for ever costs nobody more than that.
//  Parents.  A block whose parent its holder does not hold is held all the same, and waits as what lies behind a hole does:
//  it is part of no overlap until all before it is there.  So the order in which blocks are stored makes no difference, the
//  parent's coming costs no more than the parent, and what waits is bounded by what bounds all.  (An option refuses such
//  blocks, for streams whose oracle does.)
//  Holes.  Removing a block leaves what its holder has behind it.  Nothing behind a hole counts while the hole is there, and
//  all of it does again when the block comes back.
//  Overlap.  The overlap of a holder with a query is the number of leading blocks of the query that it holds: consecutively
//  from the first on.  The query's hashes are a chain, each made from the one before, so no position needs to be kept.
//  Removal of what is not held, clears of what is empty, empty stores and late events of retired holders change nothing but
//  a counter.
//
//  Two different blocks with the same 64 bits would be taken for one: somebody's overlap is then too high, the engine
//  computes what it does not find, and nobody gets foreign KV, because blocks themselves are named by all 128 bits.  The
//  hashes are keyed, so nobody can aim at it.  Different parents for one hash give it away; such stores are counted.  Of
//  hashes that a holder makes up so that they share their low bits only some are stored, so that nobody waits for them.
//
//  Cost: a clear or retirement is O(1); what a cleared holder had is swept out in small steps with later stores and
//  removals (or index_sweep).  No other call but a match costs more than its own blocks.
//  Bytes in use are bounded: a store that begins at or above the bound is refused as STATUS_LIMIT, and a holder that would be a
//  new one is; removals always work.

#ifndef KV_INDEX_H
#define KV_INDEX_H

#include "base/array.h"
#include "base/error.h"
#include "kv/holder.h"

//  The parent of a first block; never the hash of a block.
enum { INDEX_ROOT = 0, INDEX_DIGEST_PARTS = 256 };

typedef struct index index_t;

typedef struct {
    uint64_t memory_limit;    //  Bytes in use; 0 for none
    bool once;                //  Whether a block that is stored again is still held once
    bool rooted;              //  Whether blocks are refused whose parent their holder does not hold
} index_options_t;

//  What happened so far, and what there is now.
typedef struct {
    uint64_t stored;         //  Blocks stored, of which
    uint64_t duplicates;     //  were held by their holder already
    uint64_t removed;        //  References removed
    uint64_t missing;        //  Removals of blocks that were not there
    uint64_t cleared;        //  Clears and retirements
    uint64_t orphans;        //  Blocks stored, or refused where asked, before their parent
    uint64_t refused;        //  Blocks refused because of the memory bound, and references beyond theirs
    uint64_t invalid;        //  Blocks refused because their hash is 0, or made up to be like many others
    uint64_t conflicts;      //  Stores of a known block behind another parent than before
    uint64_t strangers;      //  Calls for a holder that is not there
    uint64_t unadmitted;     //  Holders refused because of the memory bound
    uint64_t blocks;         //  Now: different blocks, those of cleared holders not yet swept included
    uint64_t memberships;    //  Now: (holder, block) pairs held
    uint64_t sets;           //  Now: different sets of two or more holders
    uint64_t holders;        //  Now
    uint64_t bytes;          //  Now: in use
} index_stats_t;

//  Blocks `first` .. `end - 1` of a query are held by the same holders: all of them, and at least one.
typedef struct {
    uint32_t first;    //  Position in the query
    uint32_t end;      //  Position behind the last
    uint32_t set;      //  For index_segment_holders
} index_segment_t;

//  A match: the leading blocks of a query that anybody holds, cut where the holders change.
typedef struct {
    array_t segments;    //  index_segment_t, in order, without gaps
    array_t scratch;     //  uint64_t: room for index_overlaps
} index_match_t;

typedef struct {
    uint32_t holder;    //  Number
    uint32_t blocks;    //  Leading blocks of the query that it holds
} index_overlap_t;

//  Why a holder has the overlap it has.
typedef struct {
    overlap_end_t end;       //  Why it ends where it ends; a stranger is no holder
    uint32_t overlap;        //  Leading blocks
    uint32_t hidden;         //  Blocks of the query behind the end that it holds all the same
    uint32_t best;           //  Highest overlap of any holder
    uint32_t best_holder;    //  Who has it; HOLDER_NONE where that is 0
} index_explanation_t;

typedef struct {
    uint64_t hash;          //  The block
    uint64_t parent;        //  The one before; INDEX_ROOT for a first block
    uint32_t references;    //  How often the holder has it
} index_block_t;

//  options: NULL for no bounds.  Gives the index; never NULL.
index_t *index_new (const index_options_t *options);
void index_destroy (index_t **self_p);

//  Frees a piece of the memory of an index that holds no blocks and is about to be destroyed: only this and index_destroy may
//  follow.  False where little is left.
bool index_shed (index_t *self);

//  Another bound of the memory; what is there stays.
void index_set_memory_limit (index_t *self, uint64_t bytes);

//  The number of a holder, dense; one that was retired may be given to another.  HOLDER_NONE where a bound leaves no room for
//  one more.
uint32_t index_holder_add (index_t *self, const holder_t *holder);

//  HOLDER_NONE where it was not added.
uint32_t index_holder_find (const index_t *self, const holder_t *holder);

//  NULL where there is none with this number.  Borrowed until the next add.
const holder_t *index_holder (const index_t *self, uint32_t holder);

//  Numbers of holders are below this.
uint32_t index_holder_bound (const index_t *self);

//  Forgets a holder and all it has.  STATUS_NOT_FOUND where there is none, as in the next three.
status_t index_retire (index_t *self, uint32_t holder, error_t *error);

//  A holder got `count` blocks in a row, behind `parent` or INDEX_ROOT; borrows the hashes.  None is fine.
//  STATUS_LIMIT where a bound, STATUS_GAP where the option refused them; STATUS_INVALID where a hash is 0 or made up (those
//  before it are stored).
status_t index_store (
    index_t *self, uint32_t holder, uint64_t parent, const uint64_t *hashes, size_t count, error_t *error);

//  A holder lost one reference to each of `count` blocks, in any order; borrows the hashes.
status_t index_remove (index_t *self, uint32_t holder, const uint64_t *hashes, size_t count, error_t *error);

//  A holder lost everything.
status_t index_clear (index_t *self, uint32_t holder, error_t *error);

//  Starts loading from memory what calls about these blocks (parents too) will need first: for a caller that knows what
//  comes next, a few events ahead, in the order of the calls.  Changes no answer.
void index_expect (index_t *self, const uint64_t *hashes, size_t count);

//  How often a holder has a block.
uint32_t index_references (const index_t *self, uint32_t holder, uint64_t hash);

//  An empty match, for any number of calls of index_match.
void index_match_init (index_match_t *match);
void index_match_fini (index_match_t *match);

//  Who holds the beginning of a query; borrows the hashes.  The answer holds until the index changes.
void index_match (const index_t *self, const uint64_t *hashes, size_t count, index_match_t *match);

//  Appends the numbers (uint32_t) of the holders of a segment, in no order that means anything.
void index_segment_holders (const index_t *self, const index_segment_t *segment, array_t *holders);

//  Appends the overlap (index_overlap_t) of every holder that has one, in no order that means anything.
void index_overlaps (const index_t *self, index_match_t *match, array_t *overlaps);

//  Why a holder has the overlap it has; reads the index afresh and costs accordingly.
index_explanation_t index_explain (const index_t *self, uint32_t holder, const uint64_t *hashes, size_t count);

//  A number for all a holder has, references included, whatever the order it came in; 0 for nothing.
uint64_t index_digest (const index_t *self, uint32_t holder);

//  The same for all holders together, each told by owner, rank, tier and kind instead of its number.
uint64_t index_digest_all (const index_t *self);

//  Where a walk is; begins as { 0 }.
typedef struct {
    uint32_t run;       //  Of blocks; what lies below is passed
    uint32_t offset;    //  In it, likewise
} index_cursor_t;

//  Walks all a holder has: the next blocks, until they have `max` references; looks at no more than some thousand blocks of
//  the index, so it may give few and go on; *ended tells.  Storing what comes out, each block behind its parent and as often
//  as it has references, gives another index the same.  The index may change between two calls: what the holder has all the
//  time comes once.
void index_walk (const index_t *self, uint32_t holder, index_cursor_t *cursor, index_block_t *blocks, size_t max,
    size_t *count, bool *ended);

//  Whether a walk has passed the place of a block, which anybody has: then it will not come any more.  Whoever is to know
//  what a holder has at the end of a walk is told, beside what comes out, of changes to what is passed.
bool index_has_passed (const index_t *self, index_cursor_t cursor, uint64_t hash);

//  Adds blocks that a walk gave to the parts of a digest, by the first byte of their hashes.  All parts of a holder together
//  are its digest; where those of two copies differ, so do their blocks that begin with this byte.
void index_digest_add (uint64_t parts [INDEX_DIGEST_PARTS], const index_block_t *blocks, size_t count);

//  Sweeps cleared holders out of at most `steps` runs of blocks, for quiet moments.  True while there is more.
bool index_sweep (index_t *self, size_t steps);

void index_stats (const index_t *self, index_stats_t *stats);

//  Stops the process where an invariant does not hold; reads everything.  For tests.
void index_check (const index_t *self);

#endif
