//  buckets - nodes found by a 64-bit key, without pauses
//
//  Linear hashing: buckets are chains of nodes, and each node that is linked beyond one a bucket splits one bucket, the next
//  in turn.  So it grows by one step a node and never stops to move everything.  Nodes have numbers, not addresses, and 0 is
//  none; they lie in chunks of equal size, which the owner (a table, or the runs of the index) allocates and frees.
//
//  Several nodes may have one key: buckets_find gives the newest, buckets_next_equal the others.  Keys must be well mixed
//  already (a keyed hash, a hash_u64 of something).  They are never 0: that is left to owners as the mark of a free node.

#ifndef KV_BUCKETS_H
#define KV_BUCKETS_H

#include "base/array.h"

enum { NODE_NONE = 0 };

//  Every node begins with this.  Packed, so that 4 bytes of the node's own fit behind it.
typedef struct {
    uint64_t key;     //  Not 0 while in use
    uint32_t next;    //  In the bucket, or among the free ones
} __attribute__ ((packed, aligned (4))) node_t;

typedef struct {
    array_t chunks;         //  uint8_t *: 1 << chunk_bits nodes each
    array_t heads;          //  uint32_t *: first nodes of 1024 buckets each
    size_t node_size;       //  Bytes
    uint32_t chunk_bits;    //  Low bits of a number: place in the chunk
    uint32_t count;         //  Nodes linked
    uint32_t buckets;       //  Chains; more than half of `span`
    uint32_t span;          //  Power of two: a key's low bits below this choose its bucket
} buckets_t;

//  node_size: of a struct that begins with a node_t.  There are no chunks yet.
void buckets_init (buckets_t *self, size_t node_size, uint32_t chunk_bits);

//  Frees the buckets and forgets the chunks, which the owner has freed.
void buckets_fini (buckets_t *self);

//  The node with this number, in a chunk that is there.
static inline node_t *
buckets_node (const buckets_t *self, uint32_t number)
{
    uint8_t *chunk = ((uint8_t **)self->chunks.data) [number >> self->chunk_bits];
    return (node_t *)(chunk + (number & ((1u << self->chunk_bits) - 1)) * self->node_size);
}

//  Links a node, whose key is set; it must not move while it is linked, unless buckets look it up by its number alone.
void buckets_link (buckets_t *self, uint32_t number);

//  Unlinks a linked node and leaves its key.
void buckets_unlink (buckets_t *self, uint32_t number);

//  The newest node with this key; NODE_NONE where there is none.
uint32_t buckets_find (const buckets_t *self, uint64_t key);

//  An older node with the same key; NODE_NONE where there is none.
uint32_t buckets_next_equal (const buckets_t *self, uint32_t number);

//  Start loading what buckets_find for this key will read first, and what it will read then (once the first is there).
void buckets_prefetch (const buckets_t *self, uint64_t key);
void buckets_prefetch_node (const buckets_t *self, uint64_t key);

//  Bytes of the buckets, without the nodes.
uint64_t buckets_bytes (const buckets_t *self);

//  Stops the process where a node hangs in the wrong bucket or the count is wrong.  For tests.
void buckets_check (const buckets_t *self);

#endif
