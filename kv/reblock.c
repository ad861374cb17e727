//  Parts are the engine's blocks, a tree.  Block n of ours on a path of the tree covers the parts with depths
//  n * ours / theirs to ((n + 1) * ours - 1) / theirs, and *ends* in the last of these; that part keeps its hash, made once
//  when the part came.  It keeps the tokens behind the last block that ends in it, too, for the block that goes on from
//  there.  When a part comes or goes, the blocks that cover it are those that end in it or, the last one, below it.

#include "kv/reblock.h"

#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/memory.h"
#include "kv/table.h"

typedef struct {
    node_t node;             //  Key: of its hash
    uint32_t references;     //  Physical blocks; 0: remembered for what is behind it
    uint64_t hash;           //  The engine's
    uint32_t parent;         //  Part before it; TABLE_NONE at the root
    uint32_t child;          //  First part behind it
    uint32_t next;           //  Next part behind the same parent
    uint32_t previous;       //  The one before that
    uint32_t depth;          //  Parts before it
    uint32_t ended_count;    //  Blocks of ours that end in it
    uint32_t tail_count;     //  Tokens behind the last of them (all tokens where there is none)
    hash128_t *ended;        //  The blocks, then the tokens, in one piece
} part_t;

//  A block of ours that is held.
typedef struct {
    node_t node;       //  Key: first half of its hash
    uint32_t count;    //  Whole paths it ends in
    uint64_t low;      //  Other half of the hash
} block_t;

struct reblock {
    namespace_t ns;                  //  Of our hashes
    uint64_t ours;                   //  Tokens a block
    uint64_t theirs;                 //  Tokens a part
    uint32_t limit;                  //  Parts
    table_t parts;                   //  part_t
    table_t blocks;                  //  block_t
    array_t tokens;                  //  uint32_t: from the last boundary to the end of a new part
    array_t run;                     //  hash128_t: changed blocks, not yet told
    hash128_t run_parent;            //  Block before them, where they came
    reblock_change_fn *on_change;    //  Told of runs
    void *arg;                       //  Its
    reblock_stats_t counters;        //  What happened so far
};

reblock_t *
reblock_new (const namespace_t *ns, uint32_t engine_block_size, uint32_t limit, reblock_change_fn *on_change, void *arg)
{
    BUG_ON (engine_block_size == 0 || engine_block_size > BLOCK_SIZE_MAX);
    reblock_t *self = memory_new (sizeof *self);
    self->ns = *ns;
    self->ours = ns->block_size;
    self->theirs = engine_block_size;
    self->limit = limit;
    self->on_change = on_change;
    self->arg = arg;
    table_init (&self->parts, sizeof (part_t));
    table_init (&self->blocks, sizeof (block_t));
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->run, sizeof (hash128_t));
    return self;
}

static part_t *
s_part (const reblock_t *self, uint32_t number)
{
    return table_at (&self->parts, number);
}

static void
s_free_all (reblock_t *self)
{
    for (uint32_t number = 1; number < table_bound (&self->parts); number++)
        if (s_part (self, number)->node.key)
            memory_free (s_part (self, number)->ended);
    table_fini (&self->blocks);
    table_fini (&self->parts);
}

void
reblock_destroy (reblock_t **self_p)
{
    reblock_t *self = *self_p;
    if (!self)
        return;
    s_free_all (self);
    array_fini (&self->run);
    array_fini (&self->tokens);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Telling -------------------------------------------------------------------------------------------------------

static void
s_flush (reblock_t *self, reblock_change_t change)
{
    if (self->run.count)
        self->on_change (self->arg, change, self->run_parent, self->run.data, self->run.count);
    array_cut (&self->run, 0);
}

static void
s_tell_stored (reblock_t *self, hash128_t parent, hash128_t hash)
{
    size_t count = self->run.count;
    if (count && !hash128_equal (parent, *(hash128_t *)array_at (&self->run, count - 1)))
        s_flush (self, REBLOCK_STORED);
    if (!self->run.count)
        self->run_parent = parent;
    *(hash128_t *)array_add (&self->run) = hash;
}

static void
s_tell_removed (reblock_t *self, hash128_t hash)
{
    self->run_parent = SEQUENCE_ROOT;
    *(hash128_t *)array_add (&self->run) = hash;
}

//  ---- Blocks of ours ------------------------------------------------------------------------------------------------

static uint32_t
s_find_block (const reblock_t *self, hash128_t hash)
{
    uint32_t number = table_find (&self->blocks, hash.high ? hash.high : 1);
    while (number && ((block_t *)table_at (&self->blocks, number))->low != hash.low)
        number = table_next_equal (&self->blocks, number);
    return number;
}

static void
s_gain_block (reblock_t *self, hash128_t parent, hash128_t hash)
{
    uint32_t number = s_find_block (self, hash);
    if (!number) {
        number = table_add (&self->blocks, hash.high ? hash.high : 1);
        ((block_t *)table_at (&self->blocks, number))->low = hash.low;
        s_tell_stored (self, parent, hash);
    }
    ((block_t *)table_at (&self->blocks, number))->count++;
}

static void
s_lose_block (reblock_t *self, hash128_t hash)
{
    uint32_t number = s_find_block (self, hash);
    BUG_ON (number == TABLE_NONE);
    if (--((block_t *)table_at (&self->blocks, number))->count)
        return;
    table_remove (&self->blocks, number);
    s_tell_removed (self, hash);
}

//  ---- Where blocks lie ----------------------------------------------------------------------------------------------

static uint64_t
s_first_part (const reblock_t *self, uint64_t block)
{
    return block * self->ours / self->theirs;
}

static uint64_t
s_last_part (const reblock_t *self, uint64_t block)
{
    return ((block + 1) * self->ours - 1) / self->theirs;
}

//  The first block that ends in the part at this depth or behind it.
static uint64_t
s_first_block (const reblock_t *self, uint64_t depth)
{
    return depth * self->theirs / self->ours;
}

//  The last block of ours that ends in a part or before it.
static hash128_t
s_boundary (const reblock_t *self, uint32_t number)
{
    for (; number; number = s_part (self, number)->parent) {
        const part_t *part = s_part (self, number);
        if (part->ended_count)
            return part->ended [part->ended_count - 1];
    }
    return SEQUENCE_ROOT;
}

static bool
s_is_whole (const reblock_t *self, const part_t *part, uint64_t first_depth)
{
    while (part->references && part->depth > first_depth)
        part = s_part (self, part->parent);
    return part->references != 0;
}

//  A part at `depth` came or goes: those blocks that end in `part` (the same or one below), cover it and are whole with it
//  come or go.
static void
s_change_blocks (reblock_t *self, const part_t *part, uint32_t depth, bool gain)
{
    uint64_t block = s_first_block (self, part->depth);
    for (uint32_t i = 0; i < part->ended_count; i++, block++) {
        uint64_t first = s_first_part (self, block);
        if (first > depth || !s_is_whole (self, part, first))
            continue;
        if (gain)
            s_gain_block (self, i ? part->ended [i - 1] : s_boundary (self, part->parent), part->ended [i]);
        else
            s_lose_block (self, part->ended [i]);
    }
}

//  The next part of the subtree of `top`, parents first, no deeper than `end`; TABLE_NONE behind the last.
static uint32_t
s_next_below (const reblock_t *self, uint32_t top, uint32_t number, uint64_t end)
{
    const part_t *part = s_part (self, number);
    if (part->depth < end && part->child)
        return part->child;
    while (number != top && !s_part (self, number)->next)
        number = s_part (self, number)->parent;
    return number == top ? TABLE_NONE : s_part (self, number)->next;
}

static void
s_change_part (reblock_t *self, uint32_t top, bool gain)
{
    uint32_t depth = s_part (self, top)->depth;
    uint64_t last_block = ((depth + (uint64_t)1) * self->theirs - 1) / self->ours;
    uint64_t end = s_last_part (self, last_block);
    for (uint32_t number = top; number; number = s_next_below (self, top, number, end))
        s_change_blocks (self, s_part (self, number), depth, gain);
}

//  ---- Parts ---------------------------------------------------------------------------------------------------------

static uint32_t
s_find_part (const reblock_t *self, uint64_t hash)
{
    uint32_t number = table_find (&self->parts, table_key_of_pair (0, hash));
    while (number && s_part (self, number)->hash != hash)
        number = table_next_equal (&self->parts, number);
    return number;
}

static const uint32_t *
s_tail (const part_t *part)
{
    return (const uint32_t *)(part->ended + part->ended_count);
}

//  Puts the tokens between the last boundary before a part and its own tokens into self->tokens, then its own.
static void
s_gather_tokens (reblock_t *self, uint32_t parent, const uint32_t *tokens)
{
    size_t before = 0;
    for (uint32_t number = parent; number; number = s_part (self, number)->parent) {
        before += s_part (self, number)->tail_count;
        if (s_part (self, number)->ended_count)
            break;
    }
    array_cut (&self->tokens, 0);
    array_append (&self->tokens, NULL, before);
    for (uint32_t number = parent; before; number = s_part (self, number)->parent) {
        const part_t *part = s_part (self, number);
        before -= part->tail_count;
        memcpy ((uint32_t *)self->tokens.data + before, s_tail (part), part->tail_count * sizeof *tokens);
    }
    array_append (&self->tokens, tokens, self->theirs);
}

//  Names the blocks of ours that end in a new part, and keeps what the next one needs.
static void
s_name_blocks (reblock_t *self, part_t *part, const uint32_t *tokens)
{
    s_gather_tokens (self, part->parent, tokens);
    uint64_t behind = (part->depth + (uint64_t)1) * self->theirs % self->ours;
    part->ended_count = (uint32_t)(self->tokens.count / self->ours);
    part->tail_count = (uint32_t)(part->ended_count ? behind : self->theirs);
    part->ended = memory_new (part->ended_count * sizeof (hash128_t) + part->tail_count * sizeof *tokens);
    sequence_hash_tokens (
        &self->ns, s_boundary (self, part->parent), self->tokens.data, self->tokens.count, part->ended);
    memcpy (
        part->ended + part->ended_count, tokens + self->theirs - part->tail_count, part->tail_count * sizeof *tokens);
}

static void
s_link (reblock_t *self, uint32_t number)
{
    part_t *part = s_part (self, number);
    if (!part->parent)
        return;
    part_t *parent = s_part (self, part->parent);
    part->depth = parent->depth + 1;
    part->next = parent->child;
    if (part->next)
        s_part (self, part->next)->previous = number;
    parent->child = number;
}

static uint32_t
s_add_part (reblock_t *self, uint32_t parent, uint64_t hash, const uint32_t *tokens)
{
    uint32_t number = table_add (&self->parts, table_key_of_pair (0, hash));
    part_t *part = s_part (self, number);
    part->hash = hash;
    part->parent = parent;
    s_link (self, number);
    s_name_blocks (self, part, tokens);
    return number;
}

//  Forgets a part that is not there and has nothing behind it, and so on up.
static void
s_forget (reblock_t *self, uint32_t number)
{
    while (number && !s_part (self, number)->references && !s_part (self, number)->child) {
        part_t *part = s_part (self, number);
        uint32_t parent = part->parent;
        if (part->next)
            s_part (self, part->next)->previous = part->previous;
        if (part->previous)
            s_part (self, part->previous)->next = part->next;
        else if (parent)
            s_part (self, parent)->child = part->next;
        memory_free (part->ended);
        table_remove (&self->parts, number);
        number = parent;
    }
}

static uint32_t
s_store_part (reblock_t *self, uint32_t parent, uint64_t hash, const uint32_t *tokens)
{
    uint32_t number = s_find_part (self, hash);
    if (number)
        self->counters.conflicts += s_part (self, number)->parent != parent;
    else if (self->parts.count < self->limit)
        number = s_add_part (self, parent, hash, tokens);
    else
        return TABLE_NONE;
    self->counters.stored++;
    if (s_part (self, number)->references++)
        self->counters.duplicates++;
    else
        s_change_part (self, number, true);
    return number;
}

status_t
reblock_store (reblock_t *self, const uint64_t *parent, const uint64_t *hashes, size_t count, const uint32_t *tokens,
    size_t token_count, error_t *error)
{
    if (token_count != count * self->theirs) {
        self->counters.invalid++;
        return error_set (error, STATUS_INVALID, "%zu blocks of %llu tokens do not have %zu tokens", count,
            (unsigned long long)self->theirs, token_count);
    }
    uint32_t number = parent ? s_find_part (self, *parent) : TABLE_NONE;
    if (parent && !number) {
        self->counters.orphans += count;
        return error_set (error, STATUS_NOT_FOUND, "%zu blocks continue one that is not known", count);
    }
    status_t status = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        number = s_store_part (self, number, hashes [i], tokens + i * self->theirs);
        if (!number) {
            self->counters.refused += count - i;
            status = error_set (error, STATUS_LIMIT, "%u blocks of the engine are the bound", self->limit);
            break;
        }
    }
    s_flush (self, REBLOCK_STORED);
    return status;
}

void
reblock_remove (reblock_t *self, const uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t number = s_find_part (self, hashes [i]);
        if (!number || !s_part (self, number)->references) {
            self->counters.missing++;
            continue;
        }
        self->counters.removed++;
        if (s_part (self, number)->references > 1) {
            s_part (self, number)->references--;
            continue;
        }
        s_change_part (self, number, false);
        s_part (self, number)->references = 0;
        s_forget (self, number);
    }
    s_flush (self, REBLOCK_REMOVED);
}

void
reblock_clear (reblock_t *self)
{
    s_free_all (self);
    table_init (&self->parts, sizeof (part_t));
    table_init (&self->blocks, sizeof (block_t));
    self->counters.cleared++;
    self->on_change (self->arg, REBLOCK_CLEARED, SEQUENCE_ROOT, NULL, 0);
}

void
reblock_stats (const reblock_t *self, reblock_stats_t *stats)
{
    *stats = self->counters;
    stats->parts = self->parts.count;
    stats->blocks = self->blocks.count;
}
