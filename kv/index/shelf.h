//  shelf - pieces of memory of one size, side by side
//
//  Where a piece is given back, the last one takes its place: a shelf has no holes, and takes the memory that its pieces take and
//  less than two pages more, whatever came and went.  So a piece moves when another is given back, and its owner is told.

#ifndef KV_INDEX_SHELF_H
#define KV_INDEX_SHELF_H

#include "base/array.h"

typedef struct {
    array_t pages;        //  uint8_t *: some pieces each
    size_t piece_size;    //  Bytes
    size_t count;         //  Pieces
    unsigned bits;        //  Of a page's pieces: so many are 1 << bits
} shelf_t;

void shelf_init (shelf_t *self, size_t piece_size);

//  Frees the pieces that are there, too.
void shelf_fini (shelf_t *self);

//  A piece, whose content is undefined.
void *shelf_take (shelf_t *self);

//  Gives a piece back.  Returns the same address where another piece has moved there, NULL where none has.
void *shelf_give (shelf_t *self, void *piece);

#endif
