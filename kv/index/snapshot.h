//  snapshot - an index as bytes, and back
//
//  What an index knows, in a form that another machine, program or version can read: a process that starts again has its
//  index at once, and a difference between two copies can be looked at elsewhere.  Counters of what happened are left out;
//  what is read counts as stored.
//
//  The form (version 2).  All numbers are little-endian.  A header of four: "STATORIX", version, label (the caller's name
//  for what is indexed: a hash of the namespace, say), check.  Then records: a head of two 32-bit numbers (type, how many 64-bit
//  numbers follow), those numbers, and a check.
//      1 holder    its number here, the holder packed (holder_pack), its digest
//      2 run       parent, blocks, hashes [blocks]; then for each stretch: its end, members, members [...] as 32-bit numbers
//                  of holders, filled up with zeros to a multiple of 8 bytes.  A run of ours may be several records
//      3 more      holder, hash, references beyond the first
//      4 end       records before this one
//  A check is XXH3-64 of what stands between it and the check before, seeded with the check before: so nothing can be
//  changed, left out, cut off or moved without being noticed.  A holder stands before its blocks, and a run before what else
//  is said of them.
//
//  Both directions go in slices of the caller's size, so that a loop which also serves never stands still.

#ifndef KV_INDEX_SNAPSHOT_H
#define KV_INDEX_SNAPSHOT_H

#include "base/buffer.h"
#include "kv/index/index.h"
#include "kv/table.h"

typedef struct index_snapshot index_snapshot_t;

//  A snapshot of an index, which must outlive it.  Gives it; never NULL.
index_snapshot_t *index_snapshot_new (const index_t *index, uint64_t label);
void index_snapshot_destroy (index_snapshot_t **self_p);

//  Appends the next records, about `size` bytes of them; none where much of the index is free.  *ended says whether the last
//  one was among them.  STATUS_STALE where the index has changed since the snapshot began: what was written is of no use.
status_t index_snapshot_next (index_snapshot_t *self, buffer_t *bytes, size_t size, bool *ended);

//  A run on its way into an index: done where `first` is `count`.
typedef struct {
    span_t words;             //  Of its record, not read yet
    uint64_t parent;          //  Of the first block
    const uint8_t *hashes;    //  Of the blocks
    uint32_t count;           //  Blocks
    uint32_t first;           //  Of the stretch under way
    uint32_t end;             //  Behind its last block
    uint32_t members;         //  Of it, not read yet
    bool is_odd;              //  Whether it is filled up
} loading_run_t;

//  The reading of a snapshot.
typedef struct {
    index_t *index;       //  Borrowed: what it is read into
    span_t rest;          //  Not read yet
    uint64_t label;       //  As it was given
    uint64_t check;       //  The last one
    uint64_t records;     //  Read so far
    table_t holders;      //  loaded_t by number in the snapshot
    uint32_t unproved;    //  Of them, once all is read, those not yet compared with their digests are below this
    bool ended;           //  Whether all is read and right
    loading_run_t run;    //  The record that is read in slices
} index_load_t;

//  Begins to read a snapshot into an index without holders; borrows both until index_load_fini, which is due even where this
//  failed.  STATUS_CORRUPT for what is no snapshot, STATUS_UNSUPPORTED for one of another version.
status_t index_load_init (index_load_t *self, index_t *index, span_t bytes, error_t *error);
void index_load_fini (index_load_t *self);

//  Reads some records: about `size` bytes of them, or a part of one.  Not to be called once `ended` or failed.  STATUS_CORRUPT
//  where they are damaged, STATUS_LIMIT where a bound of the index bites: the index is then a part of what it was, fit for
//  index_destroy.
status_t index_load_next (index_load_t *self, size_t size, error_t *error);

#endif
