//  table - small nodes found by a 64-bit key, without pauses
//
//  Linear hashing: buckets are chains, and each node that is added beyond one a bucket splits one bucket, the next in
//  turn.  So the table grows by one step an addition and never stops to move everything.  Nodes lie in chunks that never
//  move and never shrink; a freed node is the next to be used again.  Nodes have numbers, not addresses: 0 is none.
//
//  Several nodes may have one key: table_find gives one, table_next_equal the others.  Keys must be well mixed already (a
//  keyed hash, a hash_u64 of something) and are not 0, which marks a free node.

#ifndef KV_TABLE_H
#define KV_TABLE_H

#include "base/array.h"

enum { TABLE_NONE = 0 };

//  Every node begins with this.  Packed, so that 4 bytes of the node's own fit behind it.
typedef struct {
    uint64_t key;     //  Not 0 while in use
    uint32_t next;    //  In the bucket, or among the free ones
} __attribute__ ((packed, aligned (4))) table_node_t;

typedef struct {
    array_t chunks;      //  uint8_t *: TABLE_CHUNK nodes each
    array_t heads;       //  uint32_t *: first node of TABLE_CHUNK buckets each
    size_t node_size;    //  Bytes
    uint32_t bound;      //  Node numbers ever used are below this
    uint32_t free;       //  First free node below it
    uint32_t count;      //  Nodes in use
    uint32_t buckets;    //  Chains; more than half of `span`
    uint32_t span;       //  Power of two: a key's low bits below this choose its bucket
} table_t;

//  node_size: of a struct that begins with a table_node_t.
void table_init (table_t *self, size_t node_size);
void table_fini (table_t *self);

//  Adds a node, zeroed behind its key.  Returns its number.
uint32_t table_add (table_t *self, uint64_t key);

//  Removes a node, which must be in use.
void table_remove (table_t *self, uint32_t number);

//  The newest node with this key; TABLE_NONE where there is none.
uint32_t table_find (const table_t *self, uint64_t key);

//  An older node with the same key; TABLE_NONE where there is none.
uint32_t table_next_equal (const table_t *self, uint32_t number);

//  The node, which must be in use or, in a walk over all numbers below `bound`, free (its key is 0 then).  Valid until it
//  is removed.
void *table_at (const table_t *self, uint32_t number);

//  Start loading what table_find for this key will read first, and what it will read then (once the first is there).
void table_prefetch_bucket (const table_t *self, uint64_t key);
void table_prefetch_node (const table_t *self, uint64_t key);

//  A well mixed key for a pair; different pairs may have the same.
uint64_t table_key_of_pair (uint32_t first, uint64_t second);

//  Bytes of the nodes in use and of the buckets.
uint64_t table_bytes (const table_t *self);

//  Stops the process where a node hangs in the wrong bucket or a count is wrong.  For tests.
void table_check (const table_t *self);

#endif
