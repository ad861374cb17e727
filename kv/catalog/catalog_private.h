//  catalog_private - what the files of the catalog share; nobody else includes it

#ifndef KV_CATALOG_CATALOG_PRIVATE_H
#define KV_CATALOG_CATALOG_PRIVATE_H

#include "base/list.h"
#include "base/map.h"
#include "kv/catalog/catalog.h"
#include "kv/index/index.h"
#include "kv/index/pending.h"
#include "kv/table.h"

//  What a source has of one rank, tier and kind (catalog_claims.c).
typedef struct {
    holder_t holder;    //  In each index; its own number is the owner
    uint32_t slot;      //  Of its source
    uint32_t next;      //  Among those that are over, or nobody's
    uint32_t left;      //  It has left namespaces whose slots are below it
    bool is_over;       //  It was cleared or forgotten
    uint64_t digest;    //  Of what it has in all namespaces, where that is exact
    array_t
        spaces;    //  uint64_t: as bits, slots of the namespaces it ever had a holder in; whose they are may be others now
} claim_t;

//  Whoever sends events.
typedef struct {
    node_t node;        //  Key: of the source
    uint32_t slot;      //  Its number in `sources`
    uint64_t source;    //  source id
    array_t claims;     //  uint32_t by catalog_position: number of the claim; 0 for none
} source_entry_t;

typedef struct {
    uint64_t id;            //  Public id of the namespace
    uint64_t number;        //  How many were made before it, and itself
    uint32_t slot;          //  Position in `by_slot`
    index_t *index;         //  Its blocks
    pending_t *pending;     //  Those that are being computed
    table_t guesses;        //  guess_entry_t: engines without events
    uint32_t guesses_at;    //  Where catalog_expire is among them
    uint64_t bytes;         //  It takes until it is freed, where it went
} namespace_entry_t;

//  A prefill that is over, and is taken into a guess piece by piece.
typedef struct {
    catalog_ticket_t ticket;      //  Of it; it is pending until then
    catalog_outcome_t outcome;    //  What became of it
    uint64_t now_ns;              //  When
    size_t end;                   //  Blocks before this one are to be learnt
} learning_t;

//  Where a round through the namespaces is that takes several calls.
typedef struct {
    size_t at;      //  Next position
    size_t done;    //  In a row without anything left to do
} round_t;

struct catalog {
    catalog_options_t options;    //  Defaults filled in
    array_t namespaces;           //  namespace_entry_t *, owned, in order of first sight
    map_t *by_namespace;          //  Namespace's id -> the same, borrowed
    array_t by_slot;              //  The same, borrowed; NULL where a slot is free
    uint64_t made;                //  Namespaces so far
    table_t sources;              //  source_entry_t
    pile_t claims;                //  claim_t by number; the first is none
    uint32_t leaving;             //  The last of those that are over; 0 for none
    uint32_t free_claim;          //  One that is nobody's; 0 for none
    uint64_t unfinished;          //  Prefills that come or go step by step, in all namespaces
    pile_t learnings;             //  learning_t
    array_t hashes;               //  uint64_t, scratch
    reach_t *reach;               //  Who reaches whose holders, in all indexes
    index_match_t match;          //  Scratch
    catalog_stats_t sums;         //  Over all namespaces; refused: of those that went, too
    round_t sweep;                //  Of catalog_sweep
    round_t expiry;               //  Of catalog_expire
    array_t spaces_left;          //  namespace_entry_t *, owned: empty ones, whose memory is freed piece by piece
    pile_t guesses_left;          //  guess_t *, owned: those of workers that are gone, likewise
    list_t snapshots;             //  catalog_snapshot_t: those under way
};

namespace_entry_t *catalog_namespace_at (const catalog_t *self, size_t position);

//  Takes a holder, and what it has, out of a namespace, if it is there.
void catalog_forget_holder (catalog_t *self, namespace_entry_t *space, const holder_t *holder);

//  ---- catalog_claims.c ----------------------------------------------------------------------------------------------

//  By its slot.
source_entry_t *catalog_source_at (const catalog_t *self, uint32_t slot);

//  NULL where nothing is known of it.
source_entry_t *catalog_find_source (const catalog_t *self, uint64_t source);

//  One that is not known is from now on.
source_entry_t *catalog_source (catalog_t *self, uint64_t source);

//  Forgets a source, all of whose claims have ended.
void catalog_end_source (catalog_t *self, source_entry_t *entry);

//  Where a source's claim to this stands among its claims.
uint32_t catalog_position (uint16_t rank, tier_t tier, holder_kind_t kind);

//  NULL where it has none.  entry: NULL for nobody.
claim_t *catalog_claim_at (const catalog_t *self, const source_entry_t *entry, size_t position);
claim_t *catalog_find_claim (
    const catalog_t *self, const source_entry_t *entry, uint16_t rank, tier_t tier, holder_kind_t kind);

//  The claim that a holder names; NULL where it is over.
claim_t *catalog_claim_of (const catalog_t *self, const holder_t *holder);

//  A source's claim, which begins if there is none, for a namespace, which it remembers.
claim_t *catalog_claim (
    catalog_t *self, const namespace_entry_t *space, uint64_t source, uint16_t rank, tier_t tier, holder_kind_t kind);

//  The next namespace that a claim may have a holder in, from a slot on; NULL behind the last.
namespace_entry_t *catalog_next_space (const catalog_t *self, const claim_t *claim, uint32_t *slot);

//  What the blocks of an exact claim in one namespace add to its digest.
uint64_t catalog_digest_in (const namespace_entry_t *space, const claim_t *claim);

//  Ends a claim, or all that a source has of some kinds: no answer knows it any more.
void catalog_end_claim (catalog_t *self, claim_t *claim);
void catalog_end_claims (catalog_t *self, const source_entry_t *entry, holder_kind_t first, holder_kind_t last);

//  Takes some holders of claims that are over out of their namespaces.  False where none is left.
bool catalog_leave (catalog_t *self, size_t steps);

void catalog_claims_fini (catalog_t *self);

//  ---- catalog_snapshot.c --------------------------------------------------------------------------------------------

//  Tell the snapshots of a source that are under way: what it has stored; what it is about to remove; that it was cleared; that
//  what it has said is forgotten.
void catalog_snapshots_stored (
    catalog_t *self, uint64_t source, const namespace_entry_t *space, const kv_stored_t *event);
void catalog_snapshots_removed (
    catalog_t *self, uint64_t source, const namespace_entry_t *space, const kv_removed_t *event);
void catalog_snapshots_cleared (catalog_t *self, uint64_t source, const kv_cleared_t *event);
void catalog_snapshots_forgotten (catalog_t *self, uint64_t source);

//  The catalog goes before its snapshots.
void catalog_snapshots_orphan (catalog_t *self);

#endif
