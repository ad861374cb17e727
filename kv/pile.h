//  pile - an array that grows without moving
//
//  Elements lie in chunks of 1024, so growing never copies what is there (but the chunks' addresses), and an element stays
//  where it is until it is cut off.  For what may become millions; base/array.h is for everything else.

#ifndef KV_PILE_H
#define KV_PILE_H

#include <stdbool.h>

#include "base/array.h"

enum { PILE_BITS = 10, PILE_CHUNK = 1 << PILE_BITS };

typedef struct {
    array_t chunks;         //  uint8_t *: PILE_CHUNK elements each
    size_t element_size;    //  Bytes
    size_t count;           //  Elements in use
} pile_t;

void pile_init (pile_t *self, size_t element_size);
void pile_fini (pile_t *self);

//  The element at a position, which must be below count.
static inline void *
pile_at (const pile_t *self, size_t position)
{
    uint8_t *chunk = ((uint8_t **)self->chunks.data) [position >> PILE_BITS];
    return chunk + (position & (PILE_CHUNK - 1)) * self->element_size;
}

//  The same of a pile of numbers.
static inline uint32_t *
pile_number_at (const pile_t *self, size_t position)
{
    return ((uint32_t **)self->chunks.data) [position >> PILE_BITS] + (position & (PILE_CHUNK - 1));
}

//  Appends a zeroed element and returns it.
void *pile_add (pile_t *self);

//  Cuts the last element off, of which there must be one.  Its memory is kept.
void pile_cut (pile_t *self);

//  Frees the memory of the last elements: for what is about to be destroyed, a piece at a time.  False where none is left.
bool pile_shed (pile_t *self);

#endif
