#include "kv/index/reach.h"

#include "base/memory.h"

//  A worker while overlaps are counted.
typedef struct {
    uint64_t segment;    //  Number of the last segment it was seen in
    uint32_t rank;       //  Of the best holder that it reaches in this segment
    uint32_t slot;       //  1-based place in the answer; 0: not in it
} worker_t;

struct reach {
    array_t workers_of;    //  array_t * of uint32_t, by holder: who reaches it, in the order they came; NULL for nobody
    array_t workers;       //  worker_t by number
    array_t seen;          //  uint32_t: workers seen in this segment
    array_t holders;       //  uint32_t: holders of this segment
    uint64_t segment;      //  Number of the last segment looked at
};

reach_t *
reach_new (void)
{
    reach_t *self = memory_new (sizeof *self);
    array_init (&self->workers_of, sizeof (array_t *));
    array_init (&self->workers, sizeof (worker_t));
    array_init (&self->seen, sizeof (uint32_t));
    array_init (&self->holders, sizeof (uint32_t));
    return self;
}

//  NULL where nobody reaches it.
static array_t *
s_workers_of (const reach_t *self, uint32_t holder)
{
    return holder < self->workers_of.count ? ((array_t **)self->workers_of.data) [holder] : NULL;
}

void
reach_forget_holder (reach_t *self, uint32_t holder)
{
    array_t *workers = s_workers_of (self, holder);
    if (!workers)
        return;
    array_fini (workers);
    memory_free (workers);
    ((array_t **)self->workers_of.data) [holder] = NULL;
}

void
reach_destroy (reach_t **self_p)
{
    reach_t *self = *self_p;
    if (!self)
        return;
    for (uint32_t holder = 0; holder < self->workers_of.count; holder++)
        reach_forget_holder (self, holder);
    array_fini (&self->holders);
    array_fini (&self->seen);
    array_fini (&self->workers);
    array_fini (&self->workers_of);
    memory_free (self);
    *self_p = NULL;
}

static void
s_grow (array_t *array, size_t count)
{
    if (array->count < count)
        array_append (array, NULL, count - array->count);
}

static size_t
s_position (const array_t *workers, uint32_t worker)
{
    size_t position = 0;
    while (position < workers->count && ((uint32_t *)workers->data) [position] != worker)
        position++;
    return position;
}

void
reach_add (reach_t *self, uint32_t worker, uint32_t holder)
{
    s_grow (&self->workers_of, (size_t)holder + 1);
    s_grow (&self->workers, (size_t)worker + 1);
    array_t **workers = array_at (&self->workers_of, holder);
    if (!*workers) {
        *workers = memory_new (sizeof **workers);
        array_init (*workers, sizeof (uint32_t));
    }
    if (s_position (*workers, worker) == (*workers)->count)
        *(uint32_t *)array_add (*workers) = worker;
}

bool
reach_remove (reach_t *self, uint32_t worker, uint32_t holder)
{
    array_t *workers = s_workers_of (self, holder);
    size_t position = workers ? s_position (workers, worker) : 0;
    if (!workers || position == workers->count)
        return false;
    array_remove (workers, position);
    return true;
}

void
reach_forget_worker (reach_t *self, uint32_t worker)
{
    for (uint32_t holder = 0; holder < self->workers_of.count; holder++)
        reach_remove (self, worker, holder);
}

//  Notes the best rank of each worker that reaches a holder of the segment.
static void
s_see_segment (reach_t *self, const index_t *index, const index_segment_t *segment)
{
    self->segment++;
    array_cut (&self->seen, 0);
    array_cut (&self->holders, 0);
    index_segment_holders (index, segment, &self->holders);
    for (size_t i = 0; i < self->holders.count; i++) {
        uint32_t number = *(uint32_t *)array_at (&self->holders, i);
        const array_t *workers = s_workers_of (self, number);
        const holder_t *holder = index_holder (index, number);
        uint32_t rank = holder->kind * (uint32_t)TIER_COUNT + holder->tier;
        for (size_t k = 0; workers && k < workers->count; k++) {
            uint32_t who = *(uint32_t *)array_at (workers, k);
            worker_t *worker = array_at (&self->workers, who);
            if (worker->segment != self->segment) {
                worker->segment = self->segment;
                worker->rank = rank;
                *(uint32_t *)array_add (&self->seen) = who;
            } else if (rank < worker->rank)
                worker->rank = rank;
        }
    }
}

//  Counts the segment for a worker that has reached everything before it.  False for any other.
static bool
s_count_segment (reach_t *self, uint32_t number, const index_segment_t *segment, array_t *overlaps, size_t before)
{
    worker_t *worker = array_at (&self->workers, number);
    if (segment->first == 0) {
        *(reach_overlap_t *)array_add (overlaps) = (reach_overlap_t){ .worker = number };
        worker->slot = (uint32_t)(overlaps->count - before);
    }
    if (!worker->slot)
        return false;
    reach_overlap_t *overlap = array_at (overlaps, before + worker->slot - 1);
    if (overlap->total != segment->first)
        return false;
    uint32_t blocks = segment->end - segment->first;
    overlap->total += blocks;
    overlap->blocks [worker->rank % TIER_COUNT] += blocks;
    overlap->approximate += worker->rank / TIER_COUNT == HOLDER_APPROXIMATE ? blocks : 0;
    overlap->pending += worker->rank / TIER_COUNT == HOLDER_PENDING ? blocks : 0;
    return true;
}

void
reach_overlaps (reach_t *self, const index_t *index, const index_match_t *match, array_t *overlaps)
{
    size_t before = overlaps->count, going_on = 1;
    for (size_t i = 0; i < match->segments.count && going_on; i++) {
        const index_segment_t *segment = array_at (&match->segments, i);
        s_see_segment (self, index, segment);
        going_on = 0;
        for (size_t k = 0; k < self->seen.count; k++)
            going_on += s_count_segment (self, *(uint32_t *)array_at (&self->seen, k), segment, overlaps, before);
    }
    for (size_t i = before; i < overlaps->count; i++) {
        const reach_overlap_t *overlap = array_at (overlaps, i);
        ((worker_t *)array_at (&self->workers, overlap->worker))->slot = 0;
    }
}
