//  catalog_private - what the files of the catalog share; nobody else includes it

#ifndef KV_CATALOG_CATALOG_PRIVATE_H
#define KV_CATALOG_CATALOG_PRIVATE_H

#include "base/list.h"
#include "base/map.h"
#include "kv/catalog/catalog.h"
#include "kv/index/index.h"
#include "kv/index/pending.h"

//  Whoever sends events; its slot is the owner number of its holders.
typedef struct {
    uint64_t source;    //  source id
    uint32_t slot;      //  Position in `sources`
    map_t *seats;       //  Kind, rank and tier of each holder it ever had, in some namespace; values mean nothing
    array_t
        spaces;    //  uint64_t: as bits, slots of the namespaces it ever had one in; whose they are now may be others
} source_entry_t;

typedef struct {
    uint64_t id;           //  Public id of the namespace
    uint64_t number;       //  How many were made before it, and itself
    uint32_t slot;         //  Position in `by_slot`
    index_t *index;        //  Its blocks
    pending_t *pending;    //  Those that are being computed
    map_t *guesses;        //  guess_t by its packed holder, owned: engines without events
    size_t guesses_at;     //  Where catalog_expire is among them
    uint64_t bytes;        //  It takes until it is freed, where it went
} namespace_entry_t;

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
    array_t sources;              //  source_entry_t; forgotten ones keep their slot, source 0
    array_t free_slots;           //  uint32_t, of those
    map_t *by_source;             //  source -> slot + 1
    array_t hashes;               //  uint64_t, scratch
    reach_t *reach;               //  Who reaches whose holders, in all indexes
    index_match_t match;          //  Scratch
    catalog_stats_t sums;         //  Over all namespaces; refused: of those that went, too
    round_t sweep;                //  Of catalog_sweep
    round_t expiry;               //  Of catalog_expire
    array_t spaces_left;          //  namespace_entry_t *, owned: empty ones, whose memory is freed piece by piece
    array_t guesses_left;         //  guess_t *, owned: those of workers that are gone, likewise
    list_t snapshots;             //  catalog_snapshot_t: those under way
};

namespace_entry_t *catalog_namespace_at (const catalog_t *self, size_t position);

//  NULL where nothing is known of it.
source_entry_t *catalog_find_source (const catalog_t *self, uint64_t source);

//  Numbers of the holders of a kind that a source has in an index, ascending, in place of what is in `numbers`.
void catalog_holders_of (const index_t *index, const source_entry_t *entry, holder_kind_t kind, array_t *numbers);

//  Tell the snapshots of a source that are under way: what it has stored, with the number of its holder; what it is about to
//  remove; that it was cleared; that what it has said is forgotten.
void catalog_snapshots_stored (
    catalog_t *self, uint64_t source, const namespace_entry_t *space, uint32_t holder, const kv_stored_t *event);
void catalog_snapshots_removed (
    catalog_t *self, uint64_t source, const namespace_entry_t *space, uint32_t holder, const kv_removed_t *event);
void catalog_snapshots_cleared (catalog_t *self, uint64_t source, const kv_cleared_t *event);
void catalog_snapshots_forgotten (catalog_t *self, uint64_t source);

//  The catalog goes before its snapshots.
void catalog_snapshots_orphan (catalog_t *self);

#endif
