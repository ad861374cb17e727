//  catalog - the fleet's index: every namespace's, fed by kv events
//
//  One index a namespace (kv/index), the holders in them named by the source of the events, its rank and tier.  Routers and
//  indexers own one each and feed it what they follow; the answers are the same where the events were.  One owner thread,
//  no I/O, no clock.
//
//  A namespace is made by the first event that names it and goes with its last block, at a sweep.  There are at most 4096;
//  blocks of further ones are counted and ignored (their requests have no overlap).

#ifndef KV_CATALOG_CATALOG_H
#define KV_CATALOG_CATALOG_H

#include "base/array.h"
#include "base/error.h"
#include "schemas/kv.h"

typedef struct catalog catalog_t;

typedef struct {
    uint64_t blocks_max;      //  Unique blocks of all namespaces, by the memory that indexes take for them; 0: no bound
    uint32_t parked_limit;    //  Blocks that wait for their parent, each namespace; 0: 100000
} catalog_options_t;

//  The overlap of one holder with a query.
typedef struct {
    uint64_t source;    //  Whose: source id of the actor
    uint16_t rank;      //  Data-parallel rank
    uint8_t tier;       //  tier_t
    uint32_t blocks;    //  Leading blocks
} catalog_overlap_t;

typedef struct {
    uint64_t namespaces;     //  Now
    uint64_t sources;        //  Now
    uint64_t blocks;         //  Now, different ones
    uint64_t memberships;    //  Now, (holder, block) pairs
    uint64_t parked;         //  Now
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

//  Forgets all a source has said.
void catalog_forget (catalog_t *self, uint64_t source);

//  Appends catalog_overlap_t for every holder that has leading blocks of the query, by source, rank and tier.
//  hashes: hash128 column.
void catalog_match (catalog_t *self, uint64_t namespace_id, column_t hashes, array_t *overlaps);

//  Writes what a source has as events that lead to it from nothing: add is called for each, type is kv_stored_message.
//  Of the hashes only the first 64 bits are known here; the others are 0.
typedef void (catalog_add_fn) (void *arg, const message_type_t *type, const void *event);
void catalog_snapshot (const catalog_t *self, uint64_t source, catalog_add_fn *add, void *arg);

//  A number for all that a source has, whatever the order it came in; 0 for nothing.
uint64_t catalog_digest (const catalog_t *self, uint64_t source);

//  Sweeps out some of what was forgotten, and the namespaces that are empty, for quiet moments.  True while there is more.
bool catalog_sweep (catalog_t *self);

void catalog_stats (const catalog_t *self, catalog_stats_t *stats);

#endif
