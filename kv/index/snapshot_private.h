//  snapshot_private - what the writer and the reader of snapshots share

#ifndef KV_INDEX_SNAPSHOT_PRIVATE_H
#define KV_INDEX_SNAPSHOT_PRIVATE_H

#include "base/hash.h"

enum {
    SNAPSHOT_VERSION = 2,
    SNAPSHOT_WORD = 8,                     //  Bytes of a number
    SNAPSHOT_HEADER = 4 * SNAPSHOT_WORD    //  Bytes, the check included
};

#define SNAPSHOT_MAGIC SPAN ("STATORIX")

typedef enum { RECORD_HOLDER = 1, RECORD_RUN = 2, RECORD_MORE = 3, RECORD_END = 4, RECORD_TYPE_COUNT } record_type_t;

//  The check behind bytes, given the one before them.
static inline uint64_t
snapshot_check (span_t bytes, uint64_t check)
{
    return hash_bytes (bytes, check);
}

#endif
