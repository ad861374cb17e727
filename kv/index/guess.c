#include "kv/index/guess.h"

#include "base/memory.h"
#include "kv/index/index_private.h"
#include "kv/table.h"

enum { ROW = 64 };    //  Blocks that leave the index in one call

typedef struct {
    node_t node;         //  Key: the block's hash
    uint32_t older;      //  Used before it
    uint64_t used_ns;    //  Last time
    uint32_t newer;      //  Used after it
} block_t;

struct guess {
    index_t *index;            //  Borrowed; NULL once it has left
    uint32_t holder;           //  Number
    uint32_t capacity;         //  Blocks
    uint64_t lifetime_ns;      //  Of what nobody uses
    table_t blocks;            //  block_t: what the holder has
    uint32_t oldest;           //  Ends of the chain of them
    uint32_t newest;           //  TABLE_NONE while there is none
    guess_stats_t counters;    //  What happened so far
};

guess_t *
guess_new (index_t *index, const holder_t *holder, uint32_t capacity, uint64_t lifetime_ns)
{
    guess_t *self = memory_new (sizeof *self);
    holder_t approximate = *holder;
    approximate.kind = HOLDER_APPROXIMATE;
    self->index = index;
    self->holder = index_holder_add (index, &approximate);
    self->capacity = capacity;
    self->lifetime_ns = lifetime_ns;
    table_init (&self->blocks, sizeof (block_t));
    return self;
}

void
guess_destroy (guess_t **self_p)
{
    guess_t *self = *self_p;
    if (!self)
        return;
    if (self->index)
        guess_leave (self);
    table_fini (&self->blocks);
    memory_free (self);
    *self_p = NULL;
}

void
guess_leave (guess_t *self)
{
    index_retire (self->index, self->holder, NULL);
    self->index = NULL;
}

bool
guess_shed (guess_t *self)
{
    return table_shed (&self->blocks);
}

static block_t *
s_block (const guess_t *self, uint32_t number)
{
    return table_at (&self->blocks, number);
}

//  ---- The chain of use ----------------------------------------------------------------------------------------------

static void
s_unlink (guess_t *self, uint32_t number)
{
    const block_t *block = s_block (self, number);
    *(block->older ? &s_block (self, block->older)->newer : &self->oldest) = block->newer;
    *(block->newer ? &s_block (self, block->newer)->older : &self->newest) = block->older;
}

static void
s_link_newest (guess_t *self, uint32_t number, uint64_t now_ns)
{
    block_t *block = s_block (self, number);
    block->used_ns = now_ns;
    block->newer = TABLE_NONE;
    block->older = self->newest;
    *(self->newest ? &s_block (self, self->newest)->newer : &self->oldest) = number;
    self->newest = number;
}

//  Blocks that are to leave the index, of which those in a row leave together.
typedef struct {
    uint64_t hashes [ROW];    //  Of them
    size_t count;             //  How many
} leaving_t;

static void
s_leave (guess_t *self, leaving_t *leaving)
{
    index_remove (self->index, self->holder, leaving->hashes, leaving->count, NULL);
    leaving->count = 0;
}

static void
s_forget (guess_t *self, uint32_t number, leaving_t *leaving)
{
    if (leaving->count == ROW)
        s_leave (self, leaving);
    leaving->hashes [leaving->count++] = s_block (self, number)->node.key;
    s_unlink (self, number);
    table_remove (&self->blocks, number);
}

//  Forgets as many blocks, those that were not used for longest: of one prompt they lie in a row.
static void
s_forget_oldest (guess_t *self, size_t count)
{
    leaving_t leaving;
    leaving.count = 0;
    while (count--)
        s_forget (self, self->oldest, &leaving);
    s_leave (self, &leaving);
}

//  ---- What happened -------------------------------------------------------------------------------------------------

static void
s_add (guess_t *self, uint64_t hash, uint64_t now_ns)
{
    s_link_newest (self, table_add (&self->blocks, hash), now_ns);
}

//  Stores those of the blocks that are not there, each row of them at once.  Returns up to where they are there then.
static size_t
s_store_missing (guess_t *self, const uint64_t *hashes, size_t first, size_t end, uint64_t now_ns)
{
    for (size_t behind; first < end; first = behind + 1) {
        for (behind = first; behind < end && !table_find (&self->blocks, hashes [behind]);)
            behind++;
        if (behind == first)
            continue;
        uint64_t parent = first ? hashes [first - 1] : INDEX_ROOT;
        status_t status = index_store_part (self->index, self->holder, parent, hashes + first, behind - first, NULL);
        if (status != STATUS_OK && status != STATUS_INVALID) {
            self->counters.refused += end - first;
            return first;
        }
        for (size_t i = first; i < behind; i++)
            s_add (self, hashes [i], now_ns);
    }
    return end;
}

//  Where the blocks end that are some and for which there is room.
static size_t
s_valid_end (const guess_t *self, const uint64_t *hashes, size_t first, size_t end)
{
    end = end < self->capacity ? end : self->capacity;
    return first < end ? first + index_count_valid (hashes + first, end - first) : first;
}

void
guess_computed (guess_t *self, const uint64_t *hashes, size_t first, size_t end, uint64_t now_ns)
{
    end = s_store_missing (self, hashes, first, s_valid_end (self, hashes, first, end), now_ns);
    index_sweep_beside (self->index, end - first);
    for (size_t i = end; i-- > first;) {
        uint32_t number = table_find (&self->blocks, hashes [i]);
        s_unlink (self, number);
        s_link_newest (self, number, now_ns);
    }
    if (self->blocks.count <= self->capacity)
        return;
    size_t many = self->blocks.count - self->capacity;
    s_forget_oldest (self, many);
    self->counters.evicted += many;
}

void
guess_found (guess_t *self, const uint64_t *hashes, size_t first, size_t end, size_t found, uint64_t now_ns)
{
    leaving_t leaving;
    leaving.count = 0;
    end = first + index_count_valid (hashes + first, end - first);
    for (size_t i = first; i < end; i++) {
        uint32_t number = table_find (&self->blocks, hashes [i]);
        if (i < found)
            self->counters.unknown += !number;
        else if (number) {
            s_forget (self, number, &leaving);
            self->counters.mistaken++;
        }
    }
    s_leave (self, &leaving);
    guess_computed (self, hashes, first, found < end ? found : end, now_ns);
}

size_t
guess_expire (guess_t *self, uint64_t now_ns, size_t *left)
{
    size_t count = 0;
    for (uint32_t number = self->oldest; number && count < *left; number = s_block (self, number)->newer) {
        if (now_ns - s_block (self, number)->used_ns < self->lifetime_ns)
            break;
        count++;
    }
    s_forget_oldest (self, count);
    *left -= count;
    self->counters.expired += count;
    return count;
}

void
guess_stats (const guess_t *self, guess_stats_t *stats)
{
    *stats = self->counters;
    stats->blocks = self->blocks.count;
}
