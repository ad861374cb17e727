//  heap - an intrusive binary heap ordered by time, ties by insertion
//
//  Timers and simulated deliveries.  Two entries with the same time come out in the order they went in, so that the order
//  never depends on addresses.

#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

typedef struct {
    uint64_t at;        //  Key: smallest first
    uint64_t order;     //  Tie: set by heap_insert
    size_t position;    //  1-based slot in the heap; 0 while in none
} heap_entry_t;

typedef struct {
    array_t slots;        //  heap_entry_t *
    uint64_t inserted;    //  Next tie number
} heap_t;

void heap_init (heap_t *self);

//  Frees the heap, not its entries.
void heap_fini (heap_t *self);

bool heap_entry_is_queued (const heap_entry_t *entry);

//  The entry must be in no heap; it is borrowed until it leaves.
void heap_insert (heap_t *self, heap_entry_t *entry, uint64_t at);

//  The entry must be in this heap.
void heap_remove (heap_t *self, heap_entry_t *entry);

//  The earliest; NULL where the heap is empty.
heap_entry_t *heap_first (const heap_t *self);

#endif
