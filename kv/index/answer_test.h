//  answer - for tests: what an index says of a query, and a copy that should say the same

#ifndef KV_INDEX_ANSWER_TEST_H
#define KV_INDEX_ANSWER_TEST_H

#include <string.h>

#include "base/bug.h"
#include "base/random.h"
#include "kv/index/snapshot.h"

typedef struct {
    index_match_t match;    //  What it found
    array_t overlaps;       //  index_overlap_t: who has how much
} answer_t;

//  Asks; borrows the hashes.
static inline void
answer_init (answer_t *self, const index_t *index, const uint64_t *hashes, size_t count)
{
    index_match_init (&self->match);
    array_init (&self->overlaps, sizeof (index_overlap_t));
    index_match (index, hashes, count, &self->match);
    index_overlaps (index, &self->match, &self->overlaps);
}

static inline void
answer_fini (answer_t *self)
{
    array_fini (&self->overlaps);
    index_match_fini (&self->match);
}

//  How many leading blocks each holder is said to have, by its owner, which is below `owners`.
static inline void
answer_by_owner (const index_t *index, const uint64_t *hashes, size_t count, uint32_t *said, uint32_t owners)
{
    answer_t answer;
    answer_init (&answer, index, hashes, count);
    memset (said, 0, owners * sizeof *said);
    for (size_t i = 0; i < answer.overlaps.count; i++) {
        const index_overlap_t *each = array_at (&answer.overlaps, i);
        BUG_ON (index_holder (index, each->holder)->owner >= owners);
        said [index_holder (index, each->holder)->owner] = each->blocks;
    }
    answer_fini (&answer);
}

//  Writes the blocks from a root to a random one; returns how many.  parents: of so many blocks, that number for those of roots.
static inline size_t
answer_draw_path (random_t *random, const uint32_t *parents, uint32_t blocks, uint32_t *path)
{
    size_t count = 0;
    for (uint32_t block = (uint32_t)random_below (random, blocks); block != blocks; block = parents [block])
        memmove (path + 1, path, count++ * sizeof *path), path [0] = block;
    return count;
}

//  By the bytes of a snapshot, in slices of `slice` bytes.  Gives it.
static inline index_t *
answer_copy (const index_t *index, size_t slice)
{
    buffer_t bytes = { 0 };
    index_t *copy = index_new (NULL);
    index_load_t load;
    index_snapshot_t *snapshot = index_snapshot_new (index, 0);
    for (bool ended = false; !ended;)
        BUG_ON (index_snapshot_next (snapshot, &bytes, slice, &ended) != STATUS_OK);
    index_snapshot_destroy (&snapshot);
    BUG_ON (index_load_init (&load, copy, buffer_span (&bytes), NULL) != STATUS_OK);
    while (!load.ended)
        BUG_ON (index_load_next (&load, slice, NULL) != STATUS_OK);
    index_load_fini (&load);
    buffer_fini (&bytes);
    return copy;
}

#endif
