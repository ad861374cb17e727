#include "kv/index/park.h"

typedef struct {
    node_t node;            //  Key: of (seat, hash)
    uint32_t references;    //  How often it was stored
    uint64_t hash;          //  The block
    uint64_t parent;        //  What it waits for
    uint32_t seat;          //  Of the holder
    uint32_t older;         //  In the seat's list
    uint32_t newer;         //  In the seat's list
    uint32_t waiter;        //  Its node in `waiting`
} block_t;

typedef struct {
    node_t node;       //  Key: of (seat, parent)
    uint32_t block;    //  Node in `blocks`
} waiter_t;

void
park_init (park_t *self)
{
    *self = (park_t){ 0 };
    table_init (&self->blocks, sizeof (block_t));
    table_init (&self->waiting, sizeof (waiter_t));
}

void
park_fini (park_t *self)
{
    table_fini (&self->waiting);
    table_fini (&self->blocks);
}

uint32_t
park_count (const park_t *self)
{
    return self->blocks.count;
}

static block_t *
s_block (const park_t *self, uint32_t number)
{
    return table_at (&self->blocks, number);
}

static uint32_t
s_find (const park_t *self, uint32_t seat, uint64_t hash)
{
    uint32_t number = table_find (&self->blocks, table_key_of_pair (seat, hash));
    while (number && (s_block (self, number)->seat != seat || s_block (self, number)->hash != hash))
        number = table_next_equal (&self->blocks, number);
    return number;
}

uint32_t
park_references (const park_t *self, uint32_t seat, uint64_t hash)
{
    uint32_t number = s_find (self, seat, hash);
    return number ? s_block (self, number)->references : 0;
}

static void
s_append (park_t *self, park_list_t *list, uint32_t number)
{
    s_block (self, number)->older = list->last;
    if (list->last)
        s_block (self, list->last)->newer = number;
    else
        list->first = number;
    list->last = number;
    list->count++;
}

static void
s_unlink (park_t *self, park_list_t *list, uint32_t number)
{
    const block_t *block = s_block (self, number);
    *(block->older ? &s_block (self, block->older)->newer : &list->first) = block->newer;
    *(block->newer ? &s_block (self, block->newer)->older : &list->last) = block->older;
    list->count--;
}

void
park_add (park_t *self, park_list_t *list, uint32_t seat, uint64_t parent, uint64_t hash, uint32_t references)
{
    uint32_t number = s_find (self, seat, hash);
    if (number) {
        s_block (self, number)->references += references;
        return;
    }
    number = table_add (&self->blocks, table_key_of_pair (seat, hash));
    block_t *block = s_block (self, number);
    block->hash = hash;
    block->parent = parent;
    block->seat = seat;
    block->references = references;
    block->waiter = table_add (&self->waiting, table_key_of_pair (seat, parent));
    ((waiter_t *)table_at (&self->waiting, block->waiter))->block = number;
    s_append (self, list, number);
}

static void
s_free (park_t *self, park_list_t *list, uint32_t number)
{
    s_unlink (self, list, number);
    table_remove (&self->waiting, s_block (self, number)->waiter);
    table_remove (&self->blocks, number);
}

uint32_t
park_drop (park_t *self, park_list_t *list, uint32_t seat, uint64_t hash)
{
    uint32_t number = s_find (self, seat, hash);
    if (!number)
        return 0;
    if (--s_block (self, number)->references == 0)
        s_free (self, list, number);
    return 1;
}

uint32_t
park_take (park_t *self, park_list_t *list, uint32_t seat, uint64_t hash)
{
    uint32_t number = s_find (self, seat, hash);
    if (!number)
        return 0;
    uint32_t references = s_block (self, number)->references;
    s_free (self, list, number);
    return references;
}

bool
park_find_child (const park_t *self, uint32_t seat, uint64_t parent, uint64_t *hash)
{
    uint32_t number = table_find (&self->waiting, table_key_of_pair (seat, parent));
    for (; number; number = table_next_equal (&self->waiting, number)) {
        const block_t *block = s_block (self, ((waiter_t *)table_at (&self->waiting, number))->block);
        if (block->seat == seat && block->parent == parent) {
            *hash = block->hash;
            return true;
        }
    }
    return false;
}

void
park_clear (park_t *self, park_list_t *list)
{
    while (list->last)    //  Newest first: it is the first of its chain
        s_free (self, list, list->last);
}

bool
park_next (const park_t *self, const park_list_t *list, uint32_t *cursor, parked_t *parked)
{
    *cursor = *cursor ? s_block (self, *cursor)->newer : list->first;
    if (!*cursor)
        return false;
    const block_t *block = s_block (self, *cursor);
    *parked = (parked_t){ block->seat, block->hash, block->parent, block->references };
    return true;
}
