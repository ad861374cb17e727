//  pack_reader - MessagePack, item by item, from bytes that nobody trusts
//
//  The reader walks borrowed bytes and allocates nothing.  Every length is checked against the bytes that are left before
//  it is reported: a string or bin lies inside the frame, and an array or map has at least one byte for each element.  So
//  whoever allocates by a reported count allocates no more than the frame could hold.  Checked against msgpack-c in
//  message_oracle_test.c.

#ifndef SCHEMAS_PACK_READER_H
#define SCHEMAS_PACK_READER_H

#include "base/span.h"

//  Nesting of what is skipped, and items in it: who steps over more serves whoever wants to keep it busy.
enum { PACK_DEPTH_MAX = 16, PACK_SKIPPED_MAX = 1 << 20 };

//  First bytes of what comes most often: a short bin, and a short array, less its elements.
enum { PACK_BIN_8 = 0xc4, PACK_ARRAY_FIXED = 0x90, PACK_ARRAY_FIXED_MAX = 15 };

typedef enum {
    PACK_NIL,
    PACK_BOOL,      //  number: 0 or 1
    PACK_UINT,      //  number: the value
    PACK_INT,       //  number: a negative value, as two's complement
    PACK_FLOAT,     //  real: the value
    PACK_STRING,    //  bytes: not checked to be UTF-8
    PACK_BIN,       //  bytes
    PACK_ARRAY,     //  number: elements, which follow
    PACK_MAP,       //  number: pairs, which follow
    PACK_EXT,       //  bytes: the type byte and the data
} pack_kind_t;

typedef struct {
    pack_kind_t kind;    //  Which of the following counts
    uint64_t number;     //  See pack_kind_t
    double real;         //  See pack_kind_t
    span_t bytes;        //  See pack_kind_t; borrowed from the frame
} pack_item_t;

typedef struct {
    span_t left;            //  What has not been read
    uint32_t skipped;       //  Items that were stepped over
    const char *problem;    //  After a failure, what is wrong: "ends too early", ...
} pack_reader_t;

//  At the front of a frame, borrowed while it is read.
void pack_reader_init (pack_reader_t *self, span_t bytes);

//  The next item; elements of an array or map are read by further calls.  False where the bytes end or are no
//  MessagePack; then `problem` says why.
bool pack_read (pack_reader_t *self, pack_item_t *item);

//  Steps over the next item if that is nil; false where it is something else, or nothing.
bool pack_take_nil (pack_reader_t *self);

//  Steps over the next item if that is a bin of at most 255 bytes, written as short as can be, and gives these.
static inline bool
pack_take_bin (pack_reader_t *self, span_t *bytes)
{
    const uint8_t *data = self->left.data;
    if (self->left.size < 2 || data [0] != PACK_BIN_8 || data [1] > self->left.size - 2)
        return false;
    *bytes = span_of (data + 2, data [1]);
    self->left = span_of (bytes->data + bytes->size, self->left.size - 2 - bytes->size);
    return true;
}

//  Steps into the next item if that is an array of at most 15 elements, written as short as can be, and gives their number.
static inline bool
pack_take_array (pack_reader_t *self, uint64_t *count)
{
    uint8_t first = self->left.size ? self->left.data [0] : 0;
    *count = first & PACK_ARRAY_FIXED_MAX;
    if ((first ^ PACK_ARRAY_FIXED) > PACK_ARRAY_FIXED_MAX || *count >= self->left.size)
        return false;
    self->left = span_of (self->left.data + 1, self->left.size - 1);
    return true;
}

//  Steps over the next item if that is this string, of at most 31 bytes and written as short as can be.
bool pack_take_string (pack_reader_t *self, const char *string);

//  Steps over the next item and everything in it.
bool pack_skip (pack_reader_t *self);

//  "a string", "an array", ...: for sentences.
const char *pack_kind_name (pack_kind_t kind);

#endif
