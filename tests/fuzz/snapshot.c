//  Feeds bytes to the reader of snapshots.  The checks in a snapshot would stop every changed byte, so the records come
//  without them, and right ones are put in.  What could be read is written and read again, and must be the same.

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "kv/index/snapshot.h"
#include "tests/fuzz/fuzz.h"

enum { WORD = 8, SLICE = 4096, HASHES_MAX = 1 << 16 };

//  Appends bytes and the check behind them.
static void
s_append_checked (buffer_t *out, span_t bytes, uint64_t *check)
{
    buffer_append (out, bytes);
    *check = hash_bytes (bytes, *check);
    buffer_append_u64_le (out, *check);
}

//  A record is a head, whose second number says how many numbers follow; the last takes what there is.
static span_t
s_take_record (span_t *rest)
{
    uint32_t words = 0;
    if (rest->size >= WORD)
        memcpy (&words, rest->data + 4, sizeof words);
    span_t record = span_slice (*rest, 0, WORD + (size_t)words * WORD);
    *rest = span_slice (*rest, record.size, SIZE_MAX);
    return record;
}

static status_t
s_read (index_t *index, span_t bytes)
{
    index_load_t load;
    status_t status = index_load_init (&load, index, bytes, NULL);
    while (status == STATUS_OK && !load.ended)
        status = index_load_next (&load, SLICE, NULL);
    index_load_fini (&load);
    index_check (index);
    return status;
}

static void
s_write_and_read (const index_t *index)
{
    buffer_t bytes = { 0 };
    index_t *copy = index_new (NULL);
    index_snapshot_t *snapshot = index_snapshot_new (index, 0);
    for (bool ended = false; !ended;)
        BUG_ON (index_snapshot_next (snapshot, &bytes, SLICE, &ended) != STATUS_OK);
    BUG_ON (s_read (copy, buffer_span (&bytes)) != STATUS_OK);
    BUG_ON (index_digest_all (copy) != index_digest_all (index));
    index_snapshot_destroy (&snapshot);
    index_destroy (&copy);
    buffer_fini (&bytes);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    buffer_t bytes = { 0 }, header = { 0 };
    uint64_t check = 0;
    buffer_append (&header, SPAN ("STATORIX"));
    buffer_append_u64_le (&header, 2);
    buffer_append_u64_le (&header, 0);
    s_append_checked (&bytes, buffer_span (&header), &check);
    for (span_t rest = span_slice (span_of (data, size), 0, HASHES_MAX); rest.size;)
        s_append_checked (&bytes, s_take_record (&rest), &check);
    index_t *index = index_new (NULL);
    if (s_read (index, buffer_span (&bytes)) == STATUS_OK)
        s_write_and_read (index);
    index_destroy (&index);
    buffer_fini (&header);
    buffer_fini (&bytes);
    return 0;
}
