//  catalog - the fleet's index: every namespace's, fed by kv events
//
//  One index a namespace (kv/index), the holders in them named by the source of the events, its rank and tier.  Routers and
//  indexers own one each and feed it what they follow; the answers are the same where the events were.  One owner thread,
//  no I/O, no clock.
//
//  A namespace is made by the first event that names it and goes with its last block, at a sweep.  There are at most 4096,
//  and 1024 ranks of a source; blocks of further ones are counted and ignored (their requests have no overlap).
//
//  No call takes longer because a source has much: what is cleared or forgotten is in no answer from then on, and leaves memory
//  bit by bit with the calls that follow.
//
//  Beside what holders say they have stands what whoever decides has just sent them to compute (kv/index/pending.h): it is
//  told apart in answers, and no part of snapshots and digests.  So does what an engine without events probably has
//  (kv/index/guess.h), which is learnt from the prefills that it was sent.

#ifndef KV_CATALOG_CATALOG_H
#define KV_CATALOG_CATALOG_H

#include "base/array.h"
#include "base/error.h"
#include "kv/index/reach.h"

typedef struct catalog catalog_t;

typedef struct {
    uint64_t blocks_max;     //  Unique blocks of all namespaces, by the memory that indexes take for them; 0: no bound
    uint64_t pending_max;    //  Blocks of all prefills together that are pending; 0: 4000000
    uint64_t guessed_ns;     //  How long a guess lasts that nobody uses; 0: ten minutes
} catalog_options_t;

//  What a worker need not compute of a query.
typedef struct {
    reach_overlap_t reached;    //  Leading blocks, by tier and kind
    uint64_t source;            //  Whose: source id of the actor
    uint64_t expected_ns;    //  When the last that is computed is there, by the clock of whoever began it; 0: none is
} catalog_overlap_t;

//  A prompt that a worker was sent to compute.
typedef struct {
    uint64_t source;          //  Whose: source id of the worker
    uint16_t rank;            //  Data-parallel rank
    uint64_t namespace_id;    //  Of the blocks
    column_t hashes;          //  hash128 column: from the prompt's first block on, those it has included; borrowed
    uint64_t expected_ns;     //  Done at about this time, by the caller's clock
    uint64_t expiry_ns;       //  Forgotten at this time
} catalog_prefill_t;

//  Names a prefill; all zero: none.
typedef struct {
    uint64_t namespace_id;    //  Where
    uint64_t number;          //  Of the namespace: it may go meanwhile, and another one of the same id come
    uint64_t id;              //  Which; never 0 for one that is
} catalog_ticket_t;

//  What became of a prefill of an engine that sends no events.
typedef struct {
    bool computed;        //  It has the whole prompt now
    bool said;            //  It said how much of the prompt it found
    uint64_t found;       //  So many leading blocks
    uint32_t capacity;    //  Blocks that it has room for; 0: it does not say, and 4096 are assumed
} catalog_outcome_t;

typedef struct {
    uint64_t namespaces;     //  Now
    uint64_t sources;        //  Now
    uint64_t blocks;         //  Now, different ones, those that were forgotten and not yet swept out included
    uint64_t memberships;    //  Now, (holder, block) pairs, those of holders included that have yet to leave
    uint64_t pending;        //  Now: blocks of all prefills that are pending
    uint64_t bytes;          //  Now
    uint64_t refused;        //  So far: blocks a bound kept out
} catalog_stats_t;

//  options: NULL for the defaults.  Gives the catalog; never NULL.
catalog_t *catalog_new (const catalog_options_t *options);
void catalog_destroy (catalog_t **self_p);

//  Events of a source, in the order of its stream.  Borrow the event.
void catalog_stored (catalog_t *self, uint64_t source, const kv_stored_t *event);
void catalog_removed (catalog_t *self, uint64_t source, const kv_removed_t *event);
void catalog_cleared (catalog_t *self, uint64_t source, const kv_cleared_t *event);

//  What comes next, some events ahead and in their order: starts loading from memory what they will need.  Borrow the event.
void catalog_expect_stored (catalog_t *self, const kv_stored_t *event);
void catalog_expect_removed (catalog_t *self, const kv_removed_t *event);

//  Forgets all a source has said, and what it was to compute or is guessed to have.
void catalog_forget (catalog_t *self, uint64_t source);

//  Forgets what a source has said: it says all of it again.
void catalog_forget_said (catalog_t *self, uint64_t source);

//  Forgets what a source was to compute or is guessed to have: it was restarted.
void catalog_forget_unsaid (catalog_t *self, uint64_t source);

//  A prefill is pending from now on: until the last of its blocks is stored on the worker's device, it is settled, the
//  worker is forgotten, or it expires.  Gives the ticket for catalog_settle, one of id 0 where a bound leaves no room.
catalog_ticket_t catalog_begin_prefill (catalog_t *self, const catalog_prefill_t *prefill);

//  It is done, or will not be.  False where it was pending no more.
bool catalog_settle (catalog_t *self, catalog_ticket_t ticket);

//  Settles a prefill of an engine that sends no events: what it has from now on is a guess, one in each namespace, no larger
//  than the engine's room, and put right by what it said that it found.  Of a long prompt that takes some more calls of
//  catalog_expire, and so long it is pending still.  False where it was pending no more.
bool catalog_guess (catalog_t *self, catalog_ticket_t ticket, const catalog_outcome_t *outcome, uint64_t now_ns);

//  Goes on with what is pending or guessed of long prompts, and forgets some of the prefills that expire at now_ns or before,
//  and of the guesses that nobody used for long.  *more: whether this round through all namespaces is not over; what begins
//  to be due meanwhile the next one sees.  Returns how many prefills expired.
size_t catalog_expire (catalog_t *self, uint64_t now_ns, bool *more);

//  Whether a long prompt that is pending or being learnt waits for catalog_expire: the sooner, the sooner answers know all of it.
bool catalog_is_behind (const catalog_t *self);

//  A worker, a rank of a source, reaches what another source has in this tier and those below it: its machine's block
//  manager, a store.  What it has itself it reaches anyway.
void catalog_reach (catalog_t *self, uint64_t source, uint16_t rank, uint64_t other, tier_t nearest);

//  Appends catalog_overlap_t for every worker that reaches leading blocks of the query, in no order that means anything.
//  hashes: hash128 column.  last: holders of a kind behind this one are not looked at.
void catalog_match (catalog_t *self, uint64_t namespace_id, column_t hashes, holder_kind_t last, array_t *overlaps);

//  Why what a rank of a source itself has in this tier goes as far into the sequence as it does (index_explain): events of it,
//  not what it is guessed to have or computes.  Who was forgotten counts among the others until it has left the namespace.  False
//  where nothing is known of this rank and tier.
bool catalog_explain (catalog_t *self, uint64_t source, uint16_t rank, tier_t tier, const match_prefix_t *query,
    index_explanation_t *explanation);

//  A snapshot of what a source has, written in steps while it changes.
typedef struct catalog_snapshot catalog_snapshot_t;

//  Where events go that lead to the state from nothing; type is that of a kv event.  Borrows the event.
typedef void (catalog_add_fn) (void *arg, const message_type_t *type, const void *event);

//  add: is called for each event, by catalog_snapshot_next and by whatever changes what a source has that came already.  Of the
//  hashes that come from the catalog only the first 64 bits are known; the others are 0.  Gives the snapshot; never NULL.
catalog_snapshot_t *catalog_snapshot_new (catalog_t *self, uint64_t source, catalog_add_fn *add, void *arg);
void catalog_snapshot_destroy (catalog_snapshot_t **self_p);

uint64_t catalog_snapshot_source (const catalog_snapshot_t *self);

//  Writes the next blocks, some hundreds.  *ended: whether those were the last; all events together lead to what the source
//  has then.  STATUS_STALE where what it had said was forgotten meanwhile: what was written is of no use.
status_t catalog_snapshot_next (catalog_snapshot_t *self, bool *ended);

//  A number for all that a source has, whatever the order it came in; 0 for nothing.
uint64_t catalog_digest (const catalog_t *self, uint64_t source);

//  Sweeps out some of what was forgotten, and the namespaces that are empty, for quiet moments.  True while this round through
//  all namespaces is not over; what goes meanwhile the next one sees.
bool catalog_sweep (catalog_t *self);

void catalog_stats (const catalog_t *self, catalog_stats_t *stats);

//  Stops the process where an invariant does not hold; reads everything.  For tests.
void catalog_check (const catalog_t *self);

#endif
