//  lines - where a hash is, one cache line away
//
//  A table of numbers, found by the hashes they stand for.  The hashes lie elsewhere, in rows that the owner allocates: the
//  high bits of a number say which row, the low ones where in it.  The table is made of lines of 64 bytes, each with ten
//  numbers and 16 bits of the hash of each, so that looking for what is not there reads one line, and looking for what is
//  there reads one hash more.  What does not fit in its line goes to a further one.
//
//  Linear hashing: every few numbers one line is split in two, the next in turn, by a bit that it has of each hash; growing
//  reads no hashes and walks through memory in order.  There is never a pause to move everything.
//
//  Hashes must be well mixed and different from each other.  Numbers are not 0.

#ifndef KV_INDEX_LINES_H
#define KV_INDEX_LINES_H

#include <stdbool.h>

#include "kv/pile.h"

enum { LINE_SLOTS = 10 };

typedef struct {
    uint32_t numbers [LINE_SLOTS];    //  Of them `used`
    uint16_t tags [LINE_SLOTS];       //  Bits 10 to 25 of their hashes
    uint32_t used : 4;                //  Slots
    uint32_t further : 28;            //  Line that goes on where this one is full; 0 where none does
} line_t;

typedef struct {
    pile_t rows;              //  const uint64_t *: the owner's
    uint32_t row_bits;        //  Low bits of a number: position in the row
    array_t slabs;            //  char *: 1024 lines each, in order
    pile_t further;           //  line_t: further lines; the first is nobody's
    uint32_t free;            //  First further line that is nobody's
    uint32_t count;           //  Numbers
    uint32_t lines;           //  Without further ones; more than half of `span`
    uint32_t span;            //  Power of two: a hash's low bits below this choose its line
    uint32_t further_used;    //  Further lines in use
} lines_t;

//  There are no rows yet.
void lines_init (lines_t *self, uint32_t row_bits);

//  Frees the lines and forgets the rows.
void lines_fini (lines_t *self);

//  The hash a number stands for.
static inline uint64_t
lines_hash (const lines_t *self, uint32_t number)
{
    const uint64_t *row = *(const uint64_t **)pile_at (&self->rows, number >> self->row_bits);
    return row [number & ((1u << self->row_bits) - 1)];
}

//  Adds a number and its hash, which is in its row and not in the table.
void lines_add (lines_t *self, uint32_t number, uint64_t hash);

//  Removes a number that is in the table.
void lines_remove (lines_t *self, uint32_t number);

//  The number of a hash; 0 where there is none.
uint32_t lines_find (const lines_t *self, uint64_t hash);

//  Starts loading what lines_find for this hash will read first.
void lines_prefetch (const lines_t *self, uint64_t hash);

//  Bytes in use.
uint64_t lines_bytes (const lines_t *self);

//  Stops the process where a number is in the wrong line or a count is wrong.  For tests.
void lines_check (const lines_t *self);

#endif
