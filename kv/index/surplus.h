//  surplus - how much more than once
//
//  Few blocks are held more than once by one holder.  Those have their further references here.

#ifndef KV_INDEX_SURPLUS_H
#define KV_INDEX_SURPLUS_H

#include <stdbool.h>

#include "kv/table.h"

//  What a holder may have of one block beside the first reference.
enum { SURPLUS_MAX = 1023 };

typedef struct {
    table_t counts;    //  By (seat, hash)
} surplus_t;

void surplus_init (surplus_t *self);
void surplus_fini (surplus_t *self);

//  Adds references to a pair.  False where those would be more than SURPLUS_MAX, or pairs were made up that nobody could find
//  quickly: then it has as many as before.
bool surplus_add (surplus_t *self, uint32_t seat, uint64_t hash, uint32_t references);

//  Takes one reference from a pair; false where it has none.
bool surplus_take (surplus_t *self, uint32_t seat, uint64_t hash);

//  Takes all references of a pair.
void surplus_forget (surplus_t *self, uint32_t seat, uint64_t hash);

//  References of a pair.
uint32_t surplus_count (const surplus_t *self, uint32_t seat, uint64_t hash);

//  A pair by its number, 1 .. surplus_bound - 1, and its references; false where the number is no pair's.
bool surplus_at (const surplus_t *self, uint32_t number, uint32_t *seat, uint64_t *hash, uint32_t *references);
uint32_t surplus_bound (const surplus_t *self);

#endif
