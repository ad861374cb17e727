#include "kv/index/pending.h"

#include "base/heap.h"
#include "base/map.h"
#include "base/memory.h"
#include "kv/table.h"

typedef struct {
    heap_entry_t expiry;     //  First, so that the heap's entry is the prefill
    uint64_t id;             //  The caller's
    uint64_t expected_ns;    //  When it will be done
    uint32_t owner;          //  Who computes
    uint32_t first;          //  Its blocks, linked
} prefill_t;

typedef struct {
    node_t node;           //  Key: the block's hash
    uint32_t sibling;      //  Next block of the prefill
    prefill_t *prefill;    //  Which
} block_t;

struct pending {
    table_t blocks;              //  block_t
    map_t *prefills;             //  By id
    heap_t expiries;             //  Of prefills
    uint32_t limit;              //  Blocks
    uint64_t last_id;            //  Given
    pending_stats_t counters;    //  What happened so far
};

pending_t *
pending_new (uint32_t limit)
{
    pending_t *self = memory_new (sizeof *self);
    table_init (&self->blocks, sizeof (block_t));
    self->prefills = map_new (0);
    heap_init (&self->expiries);
    self->limit = limit;
    return self;
}

static block_t *
s_block (const pending_t *self, uint32_t number)
{
    return table_at (&self->blocks, number);
}

static void
s_forget (pending_t *self, prefill_t *prefill)
{
    for (uint32_t number = prefill->first; number;) {
        uint32_t sibling = s_block (self, number)->sibling;
        table_remove (&self->blocks, number);
        number = sibling;
    }
    map_remove_u64 (self->prefills, prefill->id);
    heap_remove (&self->expiries, &prefill->expiry);
    memory_free (prefill);
}

void
pending_destroy (pending_t **self_p)
{
    pending_t *self = *self_p;
    if (!self)
        return;
    pending_expire (self, UINT64_MAX);
    heap_fini (&self->expiries);
    map_destroy (&self->prefills);
    table_fini (&self->blocks);
    memory_free (self);
    *self_p = NULL;
}

status_t
pending_add (pending_t *self, uint32_t owner, const uint64_t *hashes, size_t count, uint64_t expected_ns,
    uint64_t expiry_ns, uint64_t *id, error_t *error)
{
    *id = 0;
    if (count > self->limit - self->blocks.count) {
        self->counters.refused++;
        return error_set (error, STATUS_LIMIT, "%u blocks that are being computed are the bound", self->limit);
    }
    prefill_t *prefill = memory_new (sizeof *prefill);
    prefill->id = *id = ++self->last_id;
    prefill->expected_ns = expected_ns;
    prefill->owner = owner;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = table_add (&self->blocks, hashes [i]);
        s_block (self, number)->prefill = prefill;
        s_block (self, number)->sibling = prefill->first;
        prefill->first = number;
    }
    map_put_u64 (self->prefills, prefill->id, prefill);
    heap_insert (&self->expiries, &prefill->expiry, expiry_ns);
    self->counters.added++;
    return STATUS_OK;
}

bool
pending_settle (pending_t *self, uint64_t id)
{
    prefill_t *prefill = map_get_u64 (self->prefills, id);
    if (!prefill)
        return false;
    s_forget (self, prefill);
    self->counters.settled++;
    return true;
}

size_t
pending_expire (pending_t *self, uint64_t now_ns)
{
    size_t count = 0;
    heap_entry_t *first;
    while ((first = heap_first (&self->expiries)) && first->at <= now_ns) {
        s_forget (self, (prefill_t *)first);
        count++;
    }
    self->counters.expired += count;
    return count;
}

//  The owner's earliest prefill with this block; NULL where there is none.
static const prefill_t *
s_find (const pending_t *self, uint32_t owner, uint64_t hash)
{
    const prefill_t *earliest = NULL;
    for (uint32_t number = table_find (&self->blocks, hash); number;
         number = table_next_equal (&self->blocks, number)) {
        const prefill_t *prefill = s_block (self, number)->prefill;
        if (prefill->owner == owner && (!earliest || prefill->expected_ns < earliest->expected_ns))
            earliest = prefill;
    }
    return earliest;
}

size_t
pending_overlap (const pending_t *self, uint32_t owner, const uint64_t *hashes, size_t count, uint64_t *expected_ns)
{
    size_t overlap = 0;
    *expected_ns = 0;
    for (; overlap < count; overlap++) {
        const prefill_t *prefill = s_find (self, owner, hashes [overlap]);
        if (!prefill)
            break;
        if (prefill->expected_ns > *expected_ns)
            *expected_ns = prefill->expected_ns;
    }
    return overlap;
}

void
pending_owners (const pending_t *self, uint64_t hash, array_t *owners)
{
    for (uint32_t number = table_find (&self->blocks, hash); number; number = table_next_equal (&self->blocks, number))
        *(uint32_t *)array_add (owners) = s_block (self, number)->prefill->owner;
}

void
pending_stats (const pending_t *self, pending_stats_t *stats)
{
    *stats = self->counters;
    stats->blocks = self->blocks.count;
}
