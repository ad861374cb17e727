//  stream - a recorded stream of events and lookups, played to an index
//
//  The format (KVIS 1) is little-endian and 8-byte aligned, so that arrays are used where they lie.  A header of 16 numbers:
//  "KVIS0001", records, workers, tokens a block, records stored / removed / cleared / lookups, blocks stored / removed /
//  looked up, memberships and different blocks at the end, most memberships at once, seed, reserved.  Then records: four
//  32-bit numbers (type, worker, count, flags) and behind them
//      1 stored    parent, local [count], hash [count]    flags bit 0: there is a parent, else the run begins at the root
//      2 removed   hash [count]
//      3 cleared
//      4 lookup    local [count], hash [count]
//  where `hash` is the chain's and `local` the block's own, which we have no use for.
//
//  Two numbers say whether an index answered right: `sum`, of the overlaps of all workers in all lookups, and `mix`, which
//  differs as soon as one worker's overlap in one lookup does.

#ifndef KV_INDEX_STREAM_H
#define KV_INDEX_STREAM_H

#include "kv/index/index.h"

enum { STREAM_RECORD_MIN = 16 };    //  Bytes of the shortest record

typedef enum { STREAM_STORED = 1, STREAM_REMOVED = 2, STREAM_CLEARED = 3, STREAM_LOOKUP = 4 } stream_type_t;

typedef struct {
    span_t rest;              //  Records not read yet
    uint64_t records;         //  How many of them
    uint32_t workers;         //  Their numbers are below
    uint32_t block_tokens;    //  Tokens a block
} stream_t;

typedef struct {
    stream_type_t type;        //  What happened
    uint32_t worker;           //  To whom; 0 in a lookup
    uint64_t parent;           //  INDEX_ROOT where there is none
    const uint64_t *hashes;    //  Borrowed from the stream's bytes
    uint32_t count;            //  Of them
} stream_record_t;

//  A player feeds records to an index of its own.
typedef struct player player_t;

typedef struct {
    uint64_t lookups;    //  Played
    uint64_t pairs;      //  Overlaps above 0 in them
    uint64_t sum;        //  Of these overlaps
    uint64_t mix;        //  Over (lookup, worker, overlap); 0 unless asked for
} player_result_t;

//  Reads the header; borrows the bytes, which lie at a multiple of 8.  STATUS_CORRUPT for anything else.
status_t stream_init (stream_t *self, span_t bytes, error_t *error);

//  Reads the next record, of which there must be one (`records`).  STATUS_CORRUPT where it is none or is cut short.
status_t stream_next (stream_t *self, stream_record_t *record, error_t *error);

//  A player of a stream, whose index means what the format's oracle means: a block is held once however often it is stored,
//  and one without its parent not at all.  Gives the player; never NULL.
player_t *player_new (const stream_t *stream);
void player_destroy (player_t **self_p);

//  Tells the index of a record that will be played soon.
void player_expect (const player_t *self, const stream_record_t *record);

//  Plays one record; with `mix`, adds to that number too.
void player_play (player_t *self, const stream_record_t *record, bool mix);

//  Sweeps out all that cleared workers had.
void player_drain (player_t *self);

//  Borrowed.
const index_t *player_index (const player_t *self);

void player_result (const player_t *self, player_result_t *result);

#endif
