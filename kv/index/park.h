//  park - blocks that wait for their parent
//
//  Events may come out of order, or begin in the middle after a gap.  A block whose parent its holder does not hold is no
//  part of any prefix yet; it waits here, apart from the index, until the parent comes.  Whoever owns the park bounds it.
//  A seat is the caller's small number for a holder; it never changes under a parked block.

#ifndef KV_INDEX_PARK_H
#define KV_INDEX_PARK_H

#include <stdbool.h>

#include "kv/table.h"

//  The parked blocks of one seat, oldest first; zero-initialised.
typedef struct {
    uint32_t first;    //  Node; TABLE_NONE where there is none
    uint32_t last;     //  Node
    uint32_t count;    //  Blocks
} park_list_t;

typedef struct {
    uint32_t seat;          //  Of the holder
    uint64_t hash;          //  The block
    uint64_t parent;        //  What it waits for
    uint32_t references;    //  How often it was stored
} parked_t;

typedef struct {
    table_t blocks;      //  By (seat, hash)
    table_t waiting;     //  By (seat, parent)
    uint64_t refused;    //  The caller's count of blocks there was no room for
} park_t;

void park_init (park_t *self);
void park_fini (park_t *self);

//  Blocks in all.
uint32_t park_count (const park_t *self);

//  How often this block of the seat waits; 0 where it does not.
uint32_t park_references (const park_t *self, uint32_t seat, uint64_t hash);

//  Parks a block that is not parked, or adds references to one that is.
void park_add (park_t *self, park_list_t *list, uint32_t seat, uint64_t parent, uint64_t hash, uint32_t references);

//  Takes one reference from a block, or all; the last one frees it.  Returns how many it took.
uint32_t park_drop (park_t *self, park_list_t *list, uint32_t seat, uint64_t hash);
uint32_t park_take (park_t *self, park_list_t *list, uint32_t seat, uint64_t hash);

//  A block of the seat that waits for this parent; false where there is none.
bool park_find_child (const park_t *self, uint32_t seat, uint64_t parent, uint64_t *hash);

//  Frees all blocks of a seat.
void park_clear (park_t *self, park_list_t *list);

//  Walks a seat's blocks, oldest first: start with *cursor TABLE_NONE; false at the end.
bool park_next (const park_t *self, const park_list_t *list, uint32_t *cursor, parked_t *parked);

#endif
