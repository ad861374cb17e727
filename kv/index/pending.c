#include "kv/index/pending.h"

#include <string.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/memory.h"
#include "kv/index/index_private.h"

enum {
    ARRIVALS_MAX = 16,        //  Prefills of a worker that an event of it is held against
    ARRIVED_BLOCKS = 1024,    //  Blocks that it ends, about
    SLICE = 512,              //  Blocks that come or go in the call that adds or settles a prefill
    PREFILL_BLOCKS = 8        //  What forgetting a prefill costs beside its blocks, in blocks
};

//  What a worker has pending, as long as that is something.
typedef struct {
    list_link_t in_gone;    //  Among those of workers that are gone; first, so that the link is the work
    list_t prefills;        //  prefill_t, oldest first
    uint32_t holder;        //  Number
    uint32_t number;        //  Its node in `works`, until it is gone
    uint64_t blocks;        //  Of them
    bool is_gone;           //  The index has nothing of it any more, and nobody is told of it
} work_t;

typedef struct {
    heap_entry_t expiry;       //  First, so that the heap's entry is the prefill
    list_link_t sibling;       //  In its worker's list
    list_link_t unfinished;    //  Where blocks of it are to come into the index, or to go
    work_t *work;              //  Its worker's
    uint64_t id;               //  The caller's
    uint32_t number;           //  Its node in `prefills`; 0 once it is over
    uint64_t expected_ns;      //  When it will be done
    uint32_t holder;           //  Number
    uint32_t count;            //  Blocks
    uint32_t first;            //  Of those that the index has of it
    uint32_t end;              //  Behind the last of those
    uint64_t hashes [];        //  Of them
} prefill_t;

typedef struct {
    node_t node;           //  Key: of the id
    prefill_t *prefill;    //  Owned
} entry_t;

typedef struct {
    node_t node;     //  Key: of the holder's number
    work_t *work;    //  Owned
} work_entry_t;

struct pending {
    index_t *index;              //  Borrowed
    table_t works;               //  work_entry_t by holder
    list_t gone;                 //  work_t of workers that are gone, freed step by step
    list_t unfinished;           //  prefill_t whose blocks come and go step by step
    table_t prefills;            //  entry_t by id
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
    table_init (&self->works, sizeof (work_entry_t));
    list_init (&self->gone);
    list_init (&self->unfinished);
    table_init (&self->prefills, sizeof (entry_t));
    heap_init (&self->expiries);
    self->limit = limit;
    return self;
}

static work_t *
s_work_at (const pending_t *self, uint32_t number)
{
    return ((work_entry_t *)table_at (&self->works, number))->work;
}

//  What a holder has pending; NULL for nothing.
static work_t *
s_work (const pending_t *self, uint32_t holder)
{
    uint32_t number = table_find (&self->works, table_key_of_pair (0, holder));
    while (number && s_work_at (self, number)->holder != holder)
        number = table_next_equal (&self->works, number);
    return number ? s_work_at (self, number) : NULL;
}

static work_t *
s_make_work (pending_t *self, uint32_t holder)
{
    work_t *work = s_work (self, holder);
    if (work)
        return work;
    work = memory_new (sizeof *work);
    list_init (&work->prefills);
    work->holder = holder;
    work->number = table_add (&self->works, table_key_of_pair (0, holder));
    ((work_entry_t *)table_at (&self->works, work->number))->work = work;
    return work;
}

static entry_t *
s_entry (const pending_t *self, uint32_t number)
{
    return table_at (&self->prefills, number);
}

//  NULL where it is pending no more.
static prefill_t *
s_find (const pending_t *self, uint64_t id)
{
    uint32_t number = table_find (&self->prefills, table_key_of_pair (0, id));
    while (number && s_entry (self, number)->prefill->id != id)
        number = table_next_equal (&self->prefills, number);
    return number && !s_entry (self, number)->prefill->work->is_gone ? s_entry (self, number)->prefill : NULL;
}

//  How many blocks are to come or to go.
static size_t
s_left (const prefill_t *prefill)
{
    return prefill->number ? prefill->count - prefill->end : prefill->end - prefill->first;
}

//  The next blocks come into the index.  Where there is no room for them, it is as if the prompt ended before them.
static status_t
s_store (pending_t *self, prefill_t *prefill, size_t count, error_t *error)
{
    const uint64_t *hashes = prefill->hashes + prefill->end;
    uint64_t parent = prefill->end ? hashes [-1] : INDEX_ROOT;
    status_t status = index_store (self->index, prefill->holder, parent, hashes, count, error);
    if (status != STATUS_OK && status != STATUS_INVALID)    //  Whose blocks were made up is its own affair
        return status;
    prefill->end += (uint32_t)count;
    return STATUS_OK;
}

//  The next blocks go, the first ones first: without them the others are part of no overlap.
static void
s_remove (pending_t *self, prefill_t *prefill, size_t count)
{
    index_remove (self->index, prefill->holder, prefill->hashes + prefill->first, count, NULL);
    prefill->first += (uint32_t)count;
}

static void
s_free (pending_t *self, prefill_t *prefill)
{
    work_t *work = prefill->work;
    list_remove (&work->prefills, &prefill->sibling);
    if (list_link_is_linked (&prefill->unfinished))
        list_remove (&self->unfinished, &prefill->unfinished);
    memory_free (prefill);
    if (list_first (&work->prefills))
        return;
    if (work->is_gone)
        list_remove (&self->gone, &work->in_gone);
    else
        table_remove (&self->works, work->number);
    memory_free (work);
}

//  Takes what a call did from what it may do.
static void
s_charge (size_t *left, size_t cost)
{
    *left -= cost < *left ? cost : *left;
}

//  Some more blocks come, or go; the prefill goes with its last.
static void
s_go_on (pending_t *self, prefill_t *prefill, size_t *left)
{
    size_t rest = s_left (prefill), some = rest < *left ? rest : *left;
    bool is_over = !prefill->number;
    if (is_over)
        s_remove (self, prefill, some);
    else if (s_store (self, prefill, some, NULL) != STATUS_OK) {
        self->counters.blocks -= rest;
        prefill->work->blocks -= rest;
        prefill->count -= (uint32_t)rest;
        some = rest;
    }
    s_charge (left, some);
    if (some == rest && list_link_is_linked (&prefill->unfinished))
        list_remove (&self->unfinished, &prefill->unfinished);
    if (some == rest && is_over)
        s_free (self, prefill);
    else if (some < rest && !list_link_is_linked (&prefill->unfinished))
        list_append (&self->unfinished, &prefill->unfinished);
}

//  Ends a prefill: nobody finds it any more.
static void
s_end (pending_t *self, prefill_t *prefill, size_t *left)
{
    work_t *work = prefill->work;
    table_remove (&self->prefills, prefill->number);
    heap_remove (&self->expiries, &prefill->expiry);
    prefill->number = 0;
    work->blocks -= prefill->count;
    s_charge (left, PREFILL_BLOCKS);
    if (work->is_gone)
        s_free (self, prefill);
    else {
        self->counters.blocks -= prefill->count;
        s_go_on (self, prefill, left);
    }
}

//  A prefill whose worker is gone goes without its blocks, of which the index has none.
static void
s_drop (pending_t *self, prefill_t *prefill, size_t *left)
{
    s_charge (left, PREFILL_BLOCKS);
    if (prefill->number)
        s_end (self, prefill, left);
    else
        s_free (self, prefill);
}

void
pending_destroy (pending_t **self_p)
{
    pending_t *self = *self_p;
    if (!self)
        return;
    size_t left = SIZE_MAX;
    pending_expire (self, UINT64_MAX, &left);
    heap_fini (&self->expiries);
    table_fini (&self->prefills);
    table_fini (&self->works);
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
s_prefill_new (pending_t *self, uint32_t holder, const pending_prompt_t *prompt)
{
    size_t count = prompt->count;
    prefill_t *prefill = memory_new (sizeof *prefill + count * sizeof *prompt->hashes);
    prefill->id = ++self->last_id;
    prefill->number = table_add (&self->prefills, table_key_of_pair (0, prefill->id));
    s_entry (self, prefill->number)->prefill = prefill;
    prefill->work = s_make_work (self, holder);
    prefill->holder = holder;
    prefill->count = (uint32_t)count;
    if (count)
        memcpy (prefill->hashes, prompt->hashes, count * sizeof *prompt->hashes);
    list_append (&prefill->work->prefills, &prefill->sibling);
    prefill->work->blocks += count;
    self->counters.blocks += count;
    heap_insert (&self->expiries, &prefill->expiry, prompt->expiry_ns);
    return prefill;
}

status_t
pending_add (pending_t *self, const pending_prompt_t *prompt, uint64_t *id, error_t *error)
{
    const uint64_t *hashes = prompt->hashes;
    size_t count = prompt->count;
    *id = 0;
    self->counters.refused++;
    if (index_count_valid (hashes, count) < count)
        return error_set (error, STATUS_INVALID, "a prompt has a block with hash 0, which is no block's");
    if (count > self->limit - self->counters.blocks)
        return error_set (error, STATUS_LIMIT, "%u blocks that are being computed are the bound", self->limit);
    holder_t pending = s_pending (prompt->worker);
    uint32_t holder = index_holder_add (self->index, &pending);
    if (holder == HOLDER_NONE)
        return error_set (error, STATUS_LIMIT, "the index has no room for one more that computes");
    prefill_t *prefill = s_prefill_new (self, holder, prompt);
    size_t some = count < SLICE ? count : SLICE;
    status_t status = s_store (self, prefill, some, error);
    if (status != STATUS_OK) {
        s_end (self, prefill, &some);
        return status;
    }
    if (some < count)
        list_append (&self->unfinished, &prefill->unfinished);
    self->counters.refused--;
    self->counters.added++;
    prefill->expected_ns = prompt->expected_ns;
    *id = prefill->id;
    return STATUS_OK;
}

bool
pending_settle (pending_t *self, uint64_t id)
{
    prefill_t *prefill = s_find (self, id);
    size_t left = SLICE;
    if (!prefill)
        return false;
    s_end (self, prefill, &left);
    self->counters.settled++;
    return true;
}

static bool
s_has_arrived (const pending_t *self, const prefill_t *prefill, uint32_t exact)
{
    bool is_any = prefill->number && prefill->count;
    return is_any && index_references (self->index, exact, prefill->hashes [prefill->count - 1]);
}

size_t
pending_arrived (pending_t *self, const holder_t *worker, uint32_t exact)
{
    if (!self->counters.blocks)
        return 0;
    holder_t pending = s_pending (worker);
    const work_t *work = s_work (self, index_holder_find (self->index, &pending));
    list_link_t *link = work ? list_first (&work->prefills) : NULL;
    size_t arrived = 0, left = ARRIVED_BLOCKS;
    for (size_t i = 0; link && i < ARRIVALS_MAX && left; i++) {
        prefill_t *prefill = LIST_ENTRY (link, prefill_t, sibling);
        link = list_next (&work->prefills, link);
        if (!s_has_arrived (self, prefill, exact))
            continue;
        s_end (self, prefill, &left);
        arrived++;
    }
    self->counters.settled += arrived;
    return arrived;
}

const uint64_t *
pending_blocks (const pending_t *self, uint64_t id, uint32_t *holder, size_t *count)
{
    const prefill_t *prefill = s_find (self, id);
    *holder = prefill ? prefill->holder : HOLDER_NONE;
    *count = prefill ? prefill->count : 0;
    return prefill ? prefill->hashes : NULL;
}

size_t
pending_expire (pending_t *self, uint64_t now_ns, size_t *left)
{
    size_t count = 0;
    heap_entry_t *first;
    list_link_t *link;
    while (*left && (link = list_first (&self->unfinished))) {
        prefill_t *prefill = LIST_ENTRY (link, prefill_t, unfinished);
        (prefill->work->is_gone ? s_drop : s_go_on) (self, prefill, left);
    }
    while (*left && (first = heap_first (&self->expiries)) && first->at <= now_ns) {
        count += !((prefill_t *)first)->work->is_gone;
        s_end (self, (prefill_t *)first, left);
    }
    while (*left && (link = list_first (&self->gone)))
        s_drop (self, LIST_ENTRY (list_first (&((work_t *)link)->prefills), prefill_t, sibling), left);
    self->counters.expired += count;
    return count;
}

//  A block's hash is made from those before it, so it stands at one position in every prompt.
uint64_t
pending_expected (const pending_t *self, uint32_t holder, size_t position, uint64_t hash)
{
    const work_t *work = s_work (self, holder);
    uint64_t earliest = 0;
    for (list_link_t *link = work ? list_first (&work->prefills) : NULL; link;
         link = list_next (&work->prefills, link)) {
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
    work_t *work = s_work (self, holder);
    if (holder == HOLDER_NONE)
        return;
    if (work) {
        work->is_gone = true;
        self->counters.blocks -= work->blocks;
        list_append (&self->gone, &work->in_gone);
        table_remove (&self->works, work->number);
    }
    index_retire (self->index, holder, NULL);
}

bool
pending_shed (pending_t *self)
{
    return table_shed (&self->prefills) || table_shed (&self->works);
}

bool
pending_is_idle (const pending_t *self)
{
    return self->prefills.count == 0 && !list_first (&self->unfinished);
}

void
pending_stats (const pending_t *self, pending_stats_t *stats)
{
    *stats = self->counters;
    stats->unfinished = self->unfinished.count;
}
