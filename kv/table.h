//  table - small nodes found by a 64-bit key
//
//  Buckets (buckets.h) with nodes of its own: they lie in chunks that never move and never shrink, and a freed node is the
//  next to be used again.

#ifndef KV_TABLE_H
#define KV_TABLE_H

#include "kv/buckets.h"

enum { TABLE_NONE = NODE_NONE };

typedef struct {
    buckets_t buckets;    //  Of the nodes in use
    uint32_t bound;       //  Node numbers ever used are below this
    uint32_t free;        //  First free node below it
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

//  The node, which must be in use or, in a walk over all numbers below `bound`, free (its key is 0 then).  Valid until it
//  is removed.
void *table_at (const table_t *self, uint32_t number);

//  A well mixed key for a pair; different pairs may have the same.
uint64_t table_key_of_pair (uint32_t first, uint64_t second);

//  Nodes in use.
uint32_t table_count (const table_t *self);

//  Bytes of the nodes in use and of the buckets.
uint64_t table_bytes (const table_t *self);

//  Stops the process where a node hangs in the wrong bucket or a count is wrong.  For tests.
void table_check (const table_t *self);

#endif
