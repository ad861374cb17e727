//  tally - how much more than once
//
//  Few blocks are held more than once by one holder.  Those have their further references here.

#ifndef KV_INDEX_TALLY_H
#define KV_INDEX_TALLY_H

#include <stdbool.h>

#include "kv/table.h"

typedef struct {
    table_t counts;    //  By (seat, hash)
} tally_t;

void tally_init (tally_t *self);
void tally_fini (tally_t *self);

//  Adds references to a pair.
void tally_add (tally_t *self, uint32_t seat, uint64_t hash, uint32_t references);

//  Takes one reference from a pair; false where it has none.
bool tally_take (tally_t *self, uint32_t seat, uint64_t hash);

//  Takes all references of a pair.
void tally_forget (tally_t *self, uint32_t seat, uint64_t hash);

//  References of a pair.
uint32_t tally_count (const tally_t *self, uint32_t seat, uint64_t hash);

#endif
