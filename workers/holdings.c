//  Blocks are chained in the order in which they came.  A child is held only while its parent is, so parents come first, and
//  what a walk has not got to is behind it, whatever comes and goes.

#include "workers/holdings.h"

#include "base/array.h"
#include "base/memory.h"
#include "kv/table.h"
#include "schemas/kv.h"

enum { BLOCKS_A_PIECE = PILE_CHUNK / 4, PIECES_A_CLEAR = 4, PIECES = 12 };

typedef struct {
    node_t node;         //  Key: of the first 64 bits of its hash
    uint32_t copies;     //  How often the engine has it
    uint32_t older;      //  Came before it
    uint32_t newer;      //  Came after it
    uint64_t order;      //  How many came so far
    hash128_t parent;    //  The block before it
    hash128_t hash;      //  The block
} held_t;

struct holdings {
    table_t blocks;     //  held_t
    uint32_t oldest;    //  Ends of the chain of them
    uint32_t newest;    //  TABLE_NONE while there is none
    uint64_t came;      //  Blocks so far
    list_t walks;       //  holdings_walk_t, under way
    array_t cleared;    //  table_t: what is left of what was cleared
};

//  Collects what follows each other.
typedef struct {
    hash128_t parent;           //  Of the first
    array_t hashes;             //  hash128_t
    holdings_run_fn *on_run;    //  Whom to tell
    void *arg;                  //  For on_run
} run_t;

holdings_t *
holdings_new (void)
{
    holdings_t *self = memory_new (sizeof *self);
    table_init (&self->blocks, sizeof (held_t));
    list_init (&self->walks);
    array_init (&self->cleared, sizeof (table_t));
    return self;
}

//  Frees pieces of what was cleared.
static void
s_shed (holdings_t *self, size_t pieces)
{
    for (size_t count; pieces && (count = self->cleared.count); pieces--) {
        table_t *last = array_at (&self->cleared, count - 1);
        if (table_shed (last))
            continue;
        table_fini (last);
        array_cut (&self->cleared, count - 1);
    }
}

bool
holdings_shed (holdings_t *self)
{
    s_shed (self, PIECES);
    return self->cleared.count != 0;
}

void
holdings_destroy (holdings_t **self_p)
{
    holdings_t *self = *self_p;
    if (!self)
        return;
    for (list_link_t *link; (link = list_take_first (&self->walks));)
        LIST_ENTRY (link, holdings_walk_t, sibling)->holdings = NULL;
    s_shed (self, SIZE_MAX);
    array_fini (&self->cleared);
    table_fini (&self->blocks);
    memory_free (self);
    *self_p = NULL;
}

static held_t *
s_held (const holdings_t *self, uint32_t number)
{
    return table_at (&self->blocks, number);
}

static uint64_t
s_key (uint64_t hash)
{
    return hash ? hash : 1;
}

//  ---- Rows ----------------------------------------------------------------------------------------------------------

static void
s_run_flush (run_t *run)
{
    if (run->hashes.count)
        run->on_run (run->arg, run->parent, run->hashes.data, run->hashes.count);
    array_cut (&run->hashes, 0);
}

static void
s_run_add (run_t *run, hash128_t parent, hash128_t hash)
{
    size_t count = run->hashes.count;
    const hash128_t *last = count ? array_at (&run->hashes, count - 1) : NULL;
    if (!last || count == KV_STORED_HASHES_MAX || !hash128_equal (*last, parent)) {
        s_run_flush (run);
        run->parent = parent;
    }
    array_append (&run->hashes, &hash, 1);
}

static void
s_run_fini (run_t *run)
{
    s_run_flush (run);
    array_fini (&run->hashes);
}

//  ---- What comes and goes -------------------------------------------------------------------------------------------

static holdings_walk_t *
s_next_walk (const holdings_t *self, const holdings_walk_t *walk)
{
    list_link_t *link = walk ? list_next (&self->walks, &walk->sibling) : list_first (&self->walks);
    return link ? LIST_ENTRY (link, holdings_walk_t, sibling) : NULL;
}

static uint32_t
s_append (holdings_t *self, hash128_t parent, hash128_t hash)
{
    uint32_t number = table_add (&self->blocks, s_key (hash.high));
    held_t *held = s_held (self, number);
    held->parent = parent;
    held->hash = hash;
    held->order = ++self->came;
    held->older = self->newest;
    *(self->newest ? &s_held (self, self->newest)->newer : &self->oldest) = number;
    self->newest = number;
    for (holdings_walk_t *walk = NULL; (walk = s_next_walk (self, walk));)
        walk->next = walk->next ? walk->next : number;
    return number;
}

void
holdings_add (
    holdings_t *self, hash128_t parent, const hash128_t *hashes, size_t count, holdings_run_fn *on_run, void *arg)
{
    run_t run = { .on_run = on_run, .arg = arg };
    array_init (&run.hashes, sizeof (hash128_t));
    s_shed (self, 1 + count / BLOCKS_A_PIECE);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = table_find (&self->blocks, s_key (hashes [i].high));
        if (!number) {
            number = s_append (self, parent, hashes [i]);
            s_run_add (&run, parent, hashes [i]);
        }
        s_held (self, number)->copies++;
        parent = hashes [i];
    }
    s_run_fini (&run);
}

//  Each walk goes on behind a block that goes, and tells of it where it has given it.
static void
s_leave_walks (holdings_t *self, uint32_t number)
{
    const held_t *held = s_held (self, number);
    for (holdings_walk_t *walk = NULL; (walk = s_next_walk (self, walk));) {
        if (held->order <= walk->given)
            walk->on_gone (walk->arg, &held->hash);
        if (walk->next == number)
            walk->next = held->newer;
    }
}

static void
s_forget (holdings_t *self, uint32_t number)
{
    s_leave_walks (self, number);
    const held_t *held = s_held (self, number);
    *(held->older ? &s_held (self, held->older)->newer : &self->oldest) = held->newer;
    *(held->newer ? &s_held (self, held->newer)->older : &self->newest) = held->older;
    table_remove (&self->blocks, number);
}

size_t
holdings_remove (holdings_t *self, const uint64_t *hashes, size_t count, hash128_t *gone)
{
    size_t gone_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = table_find (&self->blocks, s_key (hashes [i]));
        if (!number || --s_held (self, number)->copies)
            continue;
        gone [gone_count++] = s_held (self, number)->hash;
        s_forget (self, number);
    }
    return gone_count;
}

void
holdings_clear (holdings_t *self)
{
    for (holdings_walk_t *walk = NULL; (walk = s_next_walk (self, walk));) {
        walk->on_gone (walk->arg, NULL);
        walk->next = TABLE_NONE;
    }
    array_append (&self->cleared, &self->blocks, 1);
    table_init (&self->blocks, sizeof (held_t));
    self->oldest = self->newest = TABLE_NONE;
    s_shed (self, PIECES_A_CLEAR);
}

size_t
holdings_count (const holdings_t *self)
{
    return self->blocks.count;
}

//  ---- Walks ---------------------------------------------------------------------------------------------------------

void
holdings_walk_begin (holdings_t *self, holdings_walk_t *walk, holdings_gone_fn *on_gone, void *arg)
{
    *walk = (holdings_walk_t){ .holdings = self, .next = self->oldest, .on_gone = on_gone, .arg = arg };
    list_append (&self->walks, &walk->sibling);
}

void
holdings_walk_end (holdings_walk_t *walk)
{
    if (walk->holdings)
        list_remove (&walk->holdings->walks, &walk->sibling);
    walk->holdings = NULL;
}

bool
holdings_walk_next (holdings_walk_t *walk, size_t max, holdings_run_fn *on_run, void *arg)
{
    const holdings_t *self = walk->holdings;
    run_t run = { .on_run = on_run, .arg = arg };
    array_init (&run.hashes, sizeof (hash128_t));
    uint32_t number = walk->next;
    for (; number && max; max--) {
        const held_t *held = s_held (self, number);
        s_run_add (&run, held->parent, held->hash);
        walk->given = held->order;
        number = held->newer;
    }
    walk->next = number;
    s_run_fini (&run);
    return number != TABLE_NONE;
}
