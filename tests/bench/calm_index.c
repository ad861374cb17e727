//  Calls on an index.

#include "tests/bench/calm.h"

//  Every other block comes first, so that no two lie in a row.
static void
s_name_longest (world_t *self)
{
    for (uint64_t i = 0; i < LONGEST; i++)
        self->hashes [i] = calm_name (i < LONGEST / 2 ? 2 * i : 2 * (i - LONGEST / 2) + 1);
}

static void
s_store (world_t *self)
{
    index_store (self->index, 0, self->last, self->hashes, EVENT, NULL);
    self->last = self->hashes [EVENT - 1];
}

//  The last event of the largest worker, from its end.
static void
s_name_removed (world_t *self)
{
    self->next -= EVENT;
    for (uint64_t i = 0; i < EVENT; i++)
        self->hashes [i] = calm_name (self->next + EVENT - 1 - i);
    self->last = calm_name (self->next - 1);
}

static void
s_remove (world_t *self)
{
    index_remove (self->index, 0, self->hashes, EVENT, NULL);
}

static void
s_remove_longest (world_t *self)
{
    index_remove (self->index, WORKERS - 1, self->hashes, LONGEST, NULL);
}

static void
s_store_longest (world_t *self)
{
    index_store (self->index, WORKERS - 1, INDEX_ROOT, self->hashes, LONGEST, NULL);
}

static void
s_match (world_t *self)
{
    array_cut (&self->overlaps, 0);
    index_match (self->index, self->hashes, QUERY, &self->match);
    index_overlaps (self->index, &self->match, &self->overlaps);
}

static void
s_explain (world_t *self)
{
    index_explain (self->index, 1, self->hashes, LONGEST);
}

//  A quarter of the largest worker's blocks come before their parent: a chain backwards, one by one, and a crowd.
static void
s_let_wait (world_t *self)
{
    uint64_t parent = self->next++;
    for (uint64_t i = self->blocks / 8; i; i--) {
        uint64_t chained = calm_name (parent + i), other = calm_name (parent + self->blocks / 8 + i);
        index_store (self->index, 0, calm_name (parent + i - 1), &chained, 1, NULL);
        index_store (self->index, 0, calm_name (parent), &other, 1, NULL);
    }
    self->hashes [0] = calm_name (parent);
    self->next += self->blocks / 4;
}

static void
s_store_parent (world_t *self)
{
    index_store (self->index, 0, INDEX_ROOT, self->hashes, 1, NULL);
}

static void
s_walk (world_t *self)
{
    index_block_t blocks [LONGEST];
    size_t count;
    bool ended;
    index_walk (self->index, 0, &self->cursor, blocks, LONGEST, &count, &ended);
}

static void
s_write (world_t *self)
{
    bool ended;
    BUG_ON (index_snapshot_next (self->writing, &self->bytes, SLICE, &ended) != STATUS_OK);
}

static void
s_begin_writing (world_t *self)
{
    if (!self->writing)
        self->writing = index_snapshot_new (self->index, 0);
    buffer_clear (&self->bytes);
}

static void
s_begin_reading (world_t *self)
{
    if (self->copy)
        return;
    index_snapshot_destroy (&self->writing);
    s_begin_writing (self);
    for (bool ended = false; !ended;)
        index_snapshot_next (self->writing, &self->bytes, SLICE, &ended);
    self->copy = index_new (NULL);
    BUG_ON (index_load_init (&self->reading, self->copy, buffer_span (&self->bytes), NULL) != STATUS_OK);
}

static void
s_read (world_t *self)
{
    if (!self->reading.ended)
        BUG_ON (index_load_next (&self->reading, SLICE, NULL) != STATUS_OK);
}

static void
s_add_holder (world_t *self)
{
    index_holder_add (self->index, &(holder_t){ .owner = (uint32_t)(WORKERS + self->came [HOLDERS]++) });
}

static void
s_let_add (world_t *self)
{
    calm_let_come (self, HOLDERS, s_add_holder);
}

static void
s_digest (world_t *self)
{
    index_digest (self->index, 0);
}

static void
s_clear (world_t *self)
{
    index_clear (self->index, 0, NULL);
}

static void
s_retire (world_t *self)
{
    index_retire (self->index, 1, NULL);
}

static void
s_sweep (world_t *self)
{
    index_sweep (self->index, SWEEP_STEPS);
}

//  All have a prefix and each lacks one block of it or another, so that no two blocks have the same holders.
void
calm_fill_index (world_t *self)
{
    self->index = index_new (NULL);
    for (uint32_t i = 0; i < WORKERS; i++) {
        uint32_t holder = index_holder_add (self->index, &(holder_t){ .owner = i });
        calm_name_blocks (self, 0, LONGEST);
        index_store (self->index, holder, INDEX_ROOT, self->hashes, LONGEST, NULL);
        if (i && i < WORKERS - 1)
            index_remove (self->index, holder, &self->hashes [i % LONGEST], 1, NULL);
    }
    self->last = calm_name (LONGEST - 1);
    self->next = LONGEST;
    while (self->next < self->blocks) {
        calm_name_event (self);
        for (uint32_t i = 1; i < 4; i++)
            index_store (self->index, i, self->last, self->hashes, EVENT / i, NULL);
        s_store (self);
    }
}

const case_t calm_index_cases [] = {
    { "store", calm_name_event, s_store, 40 },
    { "remove", s_name_removed, s_remove, 40 },
    { "remove_longest", s_name_longest, s_remove_longest, 1 },
    { "store_longest", calm_name_query, s_store_longest, 1 },
    { "lookup", calm_name_query, s_match, 4 },
    { "explain", calm_name_query, s_explain, 1 },
    { "parent_of_many", s_let_wait, s_store_parent, 1 },
    { "walk", NULL, s_walk, 40 },
    { "snapshot", s_begin_writing, s_write, 40 },
    { "load", s_begin_reading, s_read, 100 },
    { "holder_add", s_let_add, s_add_holder, 4 * NEAR },
    { "digest", NULL, s_digest, 1 },
    { "clear", NULL, s_clear, 1 },
    { "retire", NULL, s_retire, 1 },
    { "sweep", NULL, s_sweep, 40 },
    { 0 },
};
