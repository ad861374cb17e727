//  calm - calls that are measured, and what they are made on: an index, a catalog and a worker's holdings that hold much

#ifndef TESTS_BENCH_CALM_H
#define TESTS_BENCH_CALM_H

#include "base/bug.h"
#include "base/hash.h"
#include "kv/catalog/catalog.h"
#include "kv/index/snapshot.h"
#include "workers/holdings.h"

enum {
    WORKERS = 1000,                     //  In the index
    EVENT = 32,                         //  Blocks of most events
    LONGEST = KV_REMOVED_HASHES_MAX,    //  Blocks of the longest event, each with another set of holders
    QUERY = 1024,                       //  Blocks of a lookup
    PROMPT = 8192,                      //  Blocks of the longest prompt that is sent to be computed
    SPACES = 4000,                      //  Namespaces of the catalog that the largest worker is in
    RANKS = 1024,                       //  Of it, each with something in all tiers
    PREFILLS = 1000,                    //  Pending at once
    SLICE = 4096,                       //  Bytes of a slice
    SWEEP_STEPS = 16,                   //  Of a sweep
    LEAST = 1024,                       //  Workers of a crowd,
    CROWDED = 64,                       //  and another one for so many blocks of the largest
    NEAR = 4,                  //  So many of a crowd come just before a power of two is full, and as many after
    WORKER = 1,                //  Source of the largest worker
    MEMO_SPACE = 1,            //  Namespace that most is in
    SILENT = 2,                //  Source of a worker of which much is guessed
    GONE = 3,                  //  And of one that is gone
    CROWD_SOURCES = 1000000    //  More than any crowd has
};

//  Of many small workers, who come one by one.
typedef enum { HOLDERS, SPEAKING, COMPUTING, GUESSED, CROWDS } crowd_t;

typedef struct {
    uint64_t blocks;                           //  Of the largest worker
    uint64_t next;                             //  Name of the next block that nobody has
    uint64_t hashes [PROMPT];                  //  Of a call
    uint8_t packed [PROMPT * HASH128_SIZE];    //  The same, for the catalog
    uint64_t last;                             //  Hash of the largest worker's last block
    index_t *index;                            //  Of holders 0 (the largest) .. WORKERS - 1
    index_match_t match;                       //  Of lookups
    array_t overlaps;                          //  Of lookups
    index_cursor_t cursor;                     //  Of a walk
    index_snapshot_t *writing;                 //  Of the index
    buffer_t bytes;                            //  What it wrote
    index_t *copy;                             //  What that is read into
    index_load_t reading;                      //  Of it
    catalog_t *catalog;                        //  The same blocks in one namespace, and some in others
    catalog_snapshot_t *snapshot;              //  Of the largest worker
    uint64_t told;                             //  Events of it
    uint64_t now_ns;                           //  By the clock of prefills
    uint64_t calls;                            //  Made so far
    catalog_ticket_t ticket;                   //  Of the last one
    catalog_t *fleet;                          //  Another one, of the crowds
    uint64_t came [CROWDS];                    //  So many of each crowd
    uint64_t left;                             //  And so many of those that speak are gone
    holdings_t *holdings;                      //  Of the largest worker
} world_t;

typedef void (step_fn) (world_t *self);

typedef struct {
    const char *name;    //  Of the kind of call
    step_fn *prepare;    //  Comes before each; NULL: nothing
    step_fn *call;       //  Is measured
    int tries;           //  How often
} case_t;

//  The name of a block, by its number.
uint64_t calm_name (uint64_t number);

//  Name the blocks of the next call: from a number on; some that nobody has; an event of those; a query's.
void calm_name_blocks (world_t *self, uint64_t first, uint64_t count);
void calm_name_new (world_t *self, uint64_t count);
void calm_name_event (world_t *self);
void calm_name_query (world_t *self);

//  Many come, until the next ones may meet what is full.
void calm_let_come (world_t *self, crowd_t crowd, step_fn *come);

//  Make them, and all that they hold.
void calm_fill_index (world_t *self);
void calm_fill_catalog (world_t *self);

//  In this order; the one behind the last has no name.
extern const case_t calm_index_cases [];
extern const case_t calm_catalog_cases [];

#endif
