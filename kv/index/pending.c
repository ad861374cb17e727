#include "kv/index/pending.h"

#include <string.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"
#include "kv/index/index_private.h"

//  Prefills of a worker that an event of it is held against.
enum { ARRIVALS_MAX = 16 };

typedef struct {
    heap_entry_t expiry;     //  First, so that the heap's entry is the prefill
    list_link_t sibling;     //  In its holder's list
    uint64_t id;             //  The caller's
    uint64_t expected_ns;    //  When it will be done
    uint32_t holder;         //  Number
    uint32_t count;          //  Blocks
    uint64_t hashes [];      //  Of them
} prefill_t;

struct pending {
    index_t *index;              //  Borrowed
    array_t prefills_of;         //  list_t * by holder, of prefill_t; NULL for none
    map_t *prefills;             //  By id
    heap_t expiries;             //  Of prefills
    uint32_t limit;              //  Blocks
    uint64_t last_id;            //  Given
    pending_stats_t counters;    //  What happened so far, and blocks now
};

pending_t *
pending_new (index_t *index, uint32_t limit)
{
    pending_t *self = memory_new (sizeof *self);
    self->index = index;
    array_init (&self->prefills_of, sizeof (list_t *));
    self->prefills = map_new (0);
    heap_init (&self->expiries);
    self->limit = limit;
    return self;
}

//  The prefills of a holder; NULL where it never had any.
static list_t *
s_list (const pending_t *self, uint32_t holder)
{
    return holder < self->prefills_of.count ? *(list_t **)array_at (&self->prefills_of, holder) : NULL;
}

static list_t *
s_make_list (pending_t *self, uint32_t holder)
{
    if (holder >= self->prefills_of.count)
        array_append (&self->prefills_of, NULL, holder + 1 - self->prefills_of.count);
    list_t **list = array_at (&self->prefills_of, holder);
    if (!*list) {
        *list = memory_new (sizeof **list);
        list_init (*list);
    }
    return *list;
}

static void
s_forget (pending_t *self, prefill_t *prefill)
{
    index_remove (self->index, prefill->holder, prefill->hashes, prefill->count, NULL);
    list_remove (s_list (self, prefill->holder), &prefill->sibling);
    map_remove_u64 (self->prefills, prefill->id);
    heap_remove (&self->expiries, &prefill->expiry);
    self->counters.blocks -= prefill->count;
    memory_free (prefill);
}

void
pending_destroy (pending_t **self_p)
{
    pending_t *self = *self_p;
    if (!self)
        return;
    pending_expire (self, UINT64_MAX);
    for (uint32_t holder = 0; holder < self->prefills_of.count; holder++)
        memory_free (s_list (self, holder));
    heap_fini (&self->expiries);
    map_destroy (&self->prefills);
    array_fini (&self->prefills_of);
    memory_free (self);
    *self_p = NULL;
}

static holder_t
s_pending (const holder_t *worker)
{
    holder_t holder = *worker;
    holder.kind = HOLDER_PENDING;
    return holder;
}

static prefill_t *
s_prefill_new (pending_t *self, uint32_t holder, const uint64_t *hashes, size_t count)
{
    prefill_t *prefill = memory_new (sizeof *prefill + count * sizeof *hashes);
    prefill->id = ++self->last_id;
    prefill->holder = holder;
    prefill->count = (uint32_t)count;
    if (count)
        memcpy (prefill->hashes, hashes, count * sizeof *hashes);
    list_append (s_make_list (self, holder), &prefill->sibling);
    map_put_u64 (self->prefills, prefill->id, prefill);
    self->counters.blocks += count;
    return prefill;
}

status_t
pending_add (pending_t *self, const holder_t *worker, const uint64_t *hashes, size_t count, uint64_t expected_ns,
    uint64_t expiry_ns, uint64_t *id, error_t *error)
{
    *id = 0;
    self->counters.refused++;
    if (index_count_valid (hashes, count) < count)
        return error_set (error, STATUS_INVALID, "a prompt has a block with hash 0, which is no block's");
    if (count > self->limit - self->counters.blocks)
        return error_set (error, STATUS_LIMIT, "%u blocks that are being computed are the bound", self->limit);
    holder_t pending = s_pending (worker);
    uint32_t holder = index_holder_add (self->index, &pending);
    status_t status = index_store (self->index, holder, INDEX_ROOT, hashes, count, error);
    if (status != STATUS_OK)
        return status;
    self->counters.refused--;
    self->counters.added++;
    prefill_t *prefill = s_prefill_new (self, holder, hashes, count);
    prefill->expected_ns = expected_ns;
    heap_insert (&self->expiries, &prefill->expiry, expiry_ns);
    *id = prefill->id;
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

static bool
s_has_arrived (const pending_t *self, const prefill_t *prefill, uint32_t exact)
{
    return prefill->count && index_references (self->index, exact, prefill->hashes [prefill->count - 1]);
}

size_t
pending_arrived (pending_t *self, const holder_t *worker)
{
    if (!self->counters.blocks)
        return 0;
    holder_t pending = s_pending (worker);
    const list_t *list = s_list (self, index_holder_find (self->index, &pending));
    uint32_t exact = index_holder_find (self->index, worker);
    list_link_t *link = list ? list_first (list) : NULL;
    size_t arrived = 0;
    for (size_t i = 0; link && i < ARRIVALS_MAX; i++) {
        prefill_t *prefill = LIST_ENTRY (link, prefill_t, sibling);
        link = list_next (list, link);
        arrived += s_has_arrived (self, prefill, exact) && pending_settle (self, prefill->id);
    }
    return arrived;
}

const uint64_t *
pending_blocks (const pending_t *self, uint64_t id, uint32_t *holder, size_t *count)
{
    const prefill_t *prefill = map_get_u64 (self->prefills, id);
    *holder = prefill ? prefill->holder : HOLDER_NONE;
    *count = prefill ? prefill->count : 0;
    return prefill ? prefill->hashes : NULL;
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

//  A block's hash is made from those before it, so it stands at one position in every prompt.
uint64_t
pending_expected (const pending_t *self, uint32_t holder, size_t position, uint64_t hash)
{
    const list_t *list = s_list (self, holder);
    uint64_t earliest = 0;
    for (list_link_t *link = list ? list_first (list) : NULL; link; link = list_next (list, link)) {
        const prefill_t *prefill = LIST_ENTRY (link, prefill_t, sibling);
        bool has = position < prefill->count && prefill->hashes [position] == hash;
        if (has && (!earliest || prefill->expected_ns < earliest))
            earliest = prefill->expected_ns;
    }
    return earliest;
}

void
pending_forget (pending_t *self, const holder_t *worker)
{
    holder_t pending = s_pending (worker);
    uint32_t holder = index_holder_find (self->index, &pending);
    const list_t *list = s_list (self, holder);
    list_link_t *link;
    if (holder == HOLDER_NONE)
        return;
    while (list && (link = list_first (list)))
        s_forget (self, LIST_ENTRY (link, prefill_t, sibling));
    index_retire (self->index, holder, NULL);
}

void
pending_stats (const pending_t *self, pending_stats_t *stats)
{
    *stats = self->counters;
}
