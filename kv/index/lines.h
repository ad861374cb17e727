//  lines - where a hash is, one cache line away
//
//  A table of numbers, found by the hashes they stand for.  The hashes lie elsewhere, in rows that the owner allocates: the
//  high bits of a number say which row, the low ones where in it.  The table is made of lines of 64 bytes, each with ten
//  numbers and 16 bits of the hash of each, so that looking for what is not there reads one line, and looking for what is
//  there reads one hash more.  What does not fit in its line goes to a further one.
//
//  Numbers come and go in rows: the lines of the next 32 hashes are being loaded while one is looked at, so that memory
//  is waited for once a row and not once a number.
//
//  Linear hashing: every few numbers one line is split in two, the next in turn, by a bit that it has of each hash; growing
//  reads no hashes (but those of the first thousands) and walks through memory in order.  There is never a pause to move
//  everything: what is copied are the first lines, 32 KiB at most, so that an index of a few blocks takes a KiB.
//
//  Hashes must be well mixed and different from each other.  Where somebody makes them up so that they are not, the line that
//  they share takes 90 of them and no more, so that nobody has to wait for whoever does so.  Numbers are not 0.

#ifndef KV_INDEX_LINES_H
#define KV_INDEX_LINES_H

#include <stdbool.h>

#include "kv/pile.h"

enum { LINE_SLOTS = 10, ROW_BITS = 8, ROW_MAX = 1 << ROW_BITS, NUMBERS_MAX = 1 << 29, FURTHER_BITS = 24 };

typedef struct {
    uint32_t numbers [LINE_SLOTS];      //  Of them `used`
    uint16_t tags [LINE_SLOTS];         //  Bits 14 to 29 of their hashes
    uint32_t used : 8;                  //  Slots
    uint32_t further : FURTHER_BITS;    //  Line that goes on where this one is full; 0 where none does
} line_t;

typedef struct {
    pile_t rows;              //  const uint64_t *: the owner's
    array_t slabs;            //  line_t *: 1024 lines each, in order; the first has `span` of them while that is less
    array_t slab_memory;      //  void *: where each was allocated
    pile_t further;           //  line_t: further lines, at most 1 << FURTHER_BITS; the first is nobody's
    uint32_t free;            //  First further line that is nobody's
    uint32_t count;           //  Numbers, at most NUMBERS_MAX
    uint32_t lines;           //  Without further ones; more than half of `span`
    uint32_t span;            //  Power of two: a hash's low bits below this choose its line
    uint32_t further_used;    //  Further lines in use
} lines_t;

//  There are no rows yet.
void lines_init (lines_t *self);

//  Frees the lines and forgets the rows.
void lines_fini (lines_t *self);

//  Frees a piece of the memory of lines that are about to be destroyed: only this and lines_fini may follow.  False where none
//  is left.
bool lines_shed (lines_t *self);

//  Where the hashes of a row lie.
static inline const uint64_t **
lines_row (const lines_t *self, uint32_t row)
{
    return &((const uint64_t ***)self->rows.chunks.data) [row >> PILE_BITS][row & (PILE_CHUNK - 1)];
}

//  The hash a number stands for.
static inline uint64_t
lines_hash (const lines_t *self, uint32_t number)
{
    return (*lines_row (self, number >> ROW_BITS)) [number & (ROW_MAX - 1)];
}

//  Adds `count` numbers in a row, whose hashes are in their row.  Stops before the first hash that is there already, whose
//  number is *found then, else 0, or that there is no room for.  Returns how many were added.
uint32_t lines_add (lines_t *self, uint32_t number, uint32_t count, uint32_t *found);

//  Removes `count` numbers in a row, all of which are in the table and whose hashes are in their row still.
void lines_remove (lines_t *self, uint32_t number, uint32_t count);

//  The number of a hash; 0 where there is none.
uint32_t lines_find (const lines_t *self, uint64_t hash);

//  Starts loading what lines_find for these hashes will read first.
void lines_prefetch (const lines_t *self, const uint64_t *hashes, size_t count);

//  A number that may be the one of a hash, without a look at its row; 0 where the hash's line has none.
uint32_t lines_guess (const lines_t *self, uint64_t hash);

//  Bytes in use, the rows' addresses included.
uint64_t lines_bytes (const lines_t *self);

//  Stops the process where a number is in the wrong line or a count is wrong.  For tests.
void lines_check (const lines_t *self);

#endif
