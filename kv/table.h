//  table - small nodes found by a 64-bit key, without pauses
//
//  Linear hashing: buckets are chains of nodes, and each node that is added beyond one a bucket splits one bucket, the next
//  in turn.  So the table grows by one step a node and never stops to move everything.  Nodes never move and their memory
//  never shrinks: a removed node is the next to be used again.  Nodes have numbers, not addresses, and 0 is none.
//
//  Several nodes may have one key: table_find gives the newest, table_next_equal the others.  Keys must be well mixed already
//  (a keyed hash, a hash_u64 of something) and are not 0, which marks a free node.

#ifndef KV_TABLE_H
#define KV_TABLE_H

#include "kv/pile.h"

enum { TABLE_NONE = 0 };

//  Every node begins with this.  Packed, so that 4 bytes of the node's own fit behind it.
typedef struct {
    uint64_t key;     //  Not 0 while in use
    uint32_t next;    //  In the bucket, or among the free ones
} __attribute__ ((packed, aligned (4))) node_t;

typedef struct {
    pile_t nodes;      //  All that were ever used; the first is none
    pile_t heads;      //  uint32_t: first node of each bucket
    uint32_t free;     //  First free node
    uint32_t count;    //  Nodes in use
    uint32_t span;     //  Power of two: a key's low bits below this choose its bucket; less than twice the buckets
} table_t;

//  node_size: of a struct that begins with a node_t.
void table_init (table_t *self, size_t node_size);
void table_fini (table_t *self);

//  Adds a node with this key (not 0), zeroed behind it.  Returns its number.
uint32_t table_add (table_t *self, uint64_t key);

//  Removes a node, which must be in use.
void table_remove (table_t *self, uint32_t number);

//  The newest node with this key; TABLE_NONE where there is none.
uint32_t table_find (const table_t *self, uint64_t key);

//  An older node with the same key; TABLE_NONE where there is none.
uint32_t table_next_equal (const table_t *self, uint32_t number);

//  Whether so many nodes share the bucket of a key that their keys were made up: one that is to be added had better not.
bool table_is_crowded (const table_t *self, uint64_t key);

//  The node, which must be in use or, in a walk over all numbers below table_bound, free (its key is 0 then).  Valid until
//  it is removed.
static inline void *
table_at (const table_t *self, uint32_t number)
{
    return pile_at (&self->nodes, number);
}

//  Node numbers ever used are below this.
uint32_t table_bound (const table_t *self);

//  A well mixed key for a pair; different pairs may have the same.
uint64_t table_key_of_pair (uint32_t first, uint64_t second);

//  Bytes of the nodes in use and of the buckets.
uint64_t table_bytes (const table_t *self);

//  Frees a piece of the memory of a table that is about to be destroyed: only this and table_fini may follow.  False where
//  none is left.
bool table_shed (table_t *self);

//  Stops the process where a node hangs in the wrong bucket or a count is wrong.  For tests.
void table_check (const table_t *self);

#endif
