#include "kv/index/surplus.h"

typedef struct {
    node_t node;            //  Key: of (seat, hash)
    uint32_t seat;          //  Of the holder
    uint64_t hash;          //  The block
    uint32_t references;    //  Never 0
} count_t;

void
surplus_init (surplus_t *self)
{
    table_init (&self->counts, sizeof (count_t));
}

void
surplus_fini (surplus_t *self)
{
    table_fini (&self->counts);
}

static count_t *
s_count (const surplus_t *self, uint32_t number)
{
    return table_at (&self->counts, number);
}

static uint32_t
s_find (const surplus_t *self, uint32_t seat, uint64_t hash)
{
    uint32_t number = table_find (&self->counts, table_key_of_pair (seat, hash));
    while (number && (s_count (self, number)->seat != seat || s_count (self, number)->hash != hash))
        number = table_next_equal (&self->counts, number);
    return number;
}

bool
surplus_add (surplus_t *self, uint32_t seat, uint64_t hash, uint32_t references)
{
    uint32_t number = s_find (self, seat, hash), before = number ? s_count (self, number)->references : 0;
    uint64_t key = table_key_of_pair (seat, hash);
    if (references > SURPLUS_MAX - before || (!number && table_is_crowded (&self->counts, key)))
        return false;
    if (!number) {
        number = table_add (&self->counts, key);
        s_count (self, number)->seat = seat;
        s_count (self, number)->hash = hash;
    }
    s_count (self, number)->references = before + references;
    return true;
}

bool
surplus_take (surplus_t *self, uint32_t seat, uint64_t hash)
{
    uint32_t number = s_find (self, seat, hash);
    if (!number)
        return false;
    if (--s_count (self, number)->references == 0)
        table_remove (&self->counts, number);
    return true;
}

void
surplus_forget (surplus_t *self, uint32_t seat, uint64_t hash)
{
    uint32_t number = s_find (self, seat, hash);
    if (number)
        table_remove (&self->counts, number);
}

uint32_t
surplus_count (const surplus_t *self, uint32_t seat, uint64_t hash)
{
    uint32_t number = s_find (self, seat, hash);
    return number ? s_count (self, number)->references : 0;
}

bool
surplus_at (const surplus_t *self, uint32_t number, uint32_t *seat, uint64_t *hash, uint32_t *references)
{
    const count_t *count = s_count (self, number);
    *seat = count->seat;
    *hash = count->hash;
    *references = count->references;
    return count->node.key != 0;
}

uint32_t
surplus_bound (const surplus_t *self)
{
    return table_bound (&self->counts);
}
