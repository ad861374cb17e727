//  Run by run, so that the cost is that of the index and not of the index times its holders.  A run with many members in its
//  stretches is several records, so that none is large: each continues the one before.  Seats of cleared holders, which wait
//  for the sweep, are left out.  A sweep between two slices does no harm: it takes away only what is left out anyway.

#include "kv/index/snapshot.h"

#include "base/memory.h"
#include "kv/index/index_private.h"
#include "kv/index/snapshot_private.h"

//  Runs, or parts of one, of one call; members of sets with which a part ends.
enum { STEPS_MAX = 256, MEMBERS_MAX = 512 };

typedef enum { PART_HOLDERS, PART_RUNS, PART_MORE, PART_END } part_t;

struct index_snapshot {
    const index_t *index;    //  Borrowed
    uint64_t label;          //  For the header
    uint64_t change;         //  Last change of the index when it began
    uint64_t check;          //  The last one written
    uint64_t records;        //  Written
    bool begun;              //  Whether the header is written
    bool ended;              //  Whether the last record is
    part_t part;             //  What comes next
    uint32_t at;             //  Next holder, run or further reference
    uint32_t offset;         //  Next block of the run
    buffer_t *bytes;         //  Where to, during a call
    size_t start;            //  Where the record under way begins there
};

index_snapshot_t *
index_snapshot_new (const index_t *index, uint64_t label)
{
    index_snapshot_t *self = memory_new (sizeof *self);
    self->index = index;
    self->label = label;
    self->change = index->change;
    return self;
}

void
index_snapshot_destroy (index_snapshot_t **self_p)
{
    memory_free (*self_p);
    *self_p = NULL;
}

static void
s_end_checked (index_snapshot_t *self)
{
    self->check = snapshot_check (span_slice (buffer_span (self->bytes), self->start, SIZE_MAX), self->check);
    buffer_append_u64_le (self->bytes, self->check);
}

static void
s_write_header (index_snapshot_t *self)
{
    self->begun = true;
    self->start = self->bytes->size;
    buffer_append (self->bytes, SNAPSHOT_MAGIC);
    buffer_append_u64_le (self->bytes, SNAPSHOT_VERSION);
    buffer_append_u64_le (self->bytes, self->label);
    s_end_checked (self);
}

static void
s_begin_record (index_snapshot_t *self, record_type_t type, size_t words)
{
    self->start = self->bytes->size;
    buffer_append_u32_le (self->bytes, type);
    buffer_append_u32_le (self->bytes, (uint32_t)words);
}

static void
s_end_record (index_snapshot_t *self)
{
    s_end_checked (self);
    self->records++;
}

static void
s_write_record (index_snapshot_t *self, record_type_t type, const uint64_t *words, size_t count)
{
    s_begin_record (self, type, count);
    for (size_t i = 0; i < count; i++)
        buffer_append_u64_le (self->bytes, words [i]);
    s_end_record (self);
}

static void
s_write_holder (index_snapshot_t *self, uint32_t number)
{
    const holder_t *holder = index_holder (self->index, number);
    if (holder)
        s_write_record (
            self, RECORD_HOLDER, (uint64_t []){ number, holder_pack (holder), index_digest (self->index, number) }, 3);
}

//  Members of a set that are somebody's.
static uint32_t
s_count_live (const index_t *index, set_view_t view)
{
    uint32_t live = 0;
    while (view.left)
        live += index_holder_of (index, sets_next (&view)) != HOLDER_NONE;
    return live;
}

static size_t
s_stretch_words (uint32_t members)
{
    return ((size_t)members + 3) / 2;
}

//  A part of a run, as large as a record may be.
typedef struct {
    uint32_t first;     //  Stretch
    uint32_t end;       //  Behind the last
    uint32_t behind;    //  The block behind its last
    size_t words;       //  Of the record
} run_part_t;

//  From the block at `offset` on: with which a stretch begins, or alone, where it is disputed what is before each.
static run_part_t
s_run_part (const index_t *index, const run_t *run, const stretch_t *stretches, uint32_t offset)
{
    run_part_t part = { .words = 2 };
    while (part.first < run->stretch_count && stretches [part.first].end <= offset)
        part.first++;
    uint32_t members = 0, last = run->disputed ? part.first + 1 : run->stretch_count;
    for (part.end = part.first; part.end < last && members < MEMBERS_MAX; part.end++) {
        set_view_t view;
        sets_view (index->sets, stretches [part.end].set, &view);
        members += view.count;
        part.words += s_stretch_words (s_count_live (index, view));
    }
    part.behind = run->disputed ? offset + 1 : stretches [part.end - 1].end;
    part.words += part.behind - offset;
    return part;
}

static void
s_write_stretch (index_snapshot_t *self, stretch_t stretch, uint32_t offset)
{
    set_view_t view;
    sets_view (self->index->sets, stretch.set, &view);
    uint32_t members = s_count_live (self->index, view);
    buffer_append_u32_le (self->bytes, stretch.end - offset);
    buffer_append_u32_le (self->bytes, members);
    while (view.left) {
        uint32_t holder = index_holder_of (self->index, sets_next (&view));
        if (holder != HOLDER_NONE)
            buffer_append_u32_le (self->bytes, holder);
    }
    if (members % 2)
        buffer_append_u32_le (self->bytes, 0);
}

static void
s_write_run (index_snapshot_t *self, uint32_t number)
{
    const index_t *index = self->index;
    if (!runs_has (&index->runs, number))
        return;
    const run_t *run = runs_at (&index->runs, number);
    stretch_t single;
    const stretch_t *stretches = runs_stretches (run, &single);
    uint32_t offset = self->offset;
    run_part_t part = s_run_part (index, run, stretches, offset);
    uint32_t end = part.behind;
    const uint64_t *hashes = runs_hashes (&index->runs, (place_t){ number, 0 });
    s_begin_record (self, RECORD_RUN, part.words);
    buffer_append_u64_le (
        self->bytes, run->disputed ? INDEX_ROOT : runs_parent (&index->runs, (place_t){ number, offset }));
    buffer_append_u64_le (self->bytes, end - offset);
    for (uint32_t i = offset; i < end; i++)
        buffer_append_u64_le (self->bytes, hashes [i]);
    for (uint32_t i = part.first; i < part.end; i++)
        s_write_stretch (
            self, (stretch_t){ stretches [i].end < end ? stretches [i].end : end, stretches [i].set }, offset);
    s_end_record (self);
    self->offset = end < run->count ? end : 0;
}

static void
s_write_more (index_snapshot_t *self, uint32_t number)
{
    uint32_t seat, more;
    uint64_t hash;
    bool is_any = number && surplus_at (&self->index->surplus, number, &seat, &hash, &more);
    if (is_any && index_holder_of (self->index, seat) != HOLDER_NONE)
        s_write_record (self, RECORD_MORE, (uint64_t []){ index_holder_of (self->index, seat), hash, more }, 3);
}

static void
s_write_end (index_snapshot_t *self, uint32_t at)
{
    (void)at;
    s_write_record (self, RECORD_END, &self->records, 1);
    self->ended = true;
}

//  How many holders, runs or further references there are to write.
static uint32_t
s_bound (const index_snapshot_t *self)
{
    switch (self->part) {
    case PART_HOLDERS:
        return index_holder_bound (self->index);
    case PART_RUNS:
        return runs_bound (&self->index->runs);
    case PART_MORE:
        return surplus_bound (&self->index->surplus);
    default:
        return 1;
    }
}

//  Writes the next thing there is, or goes on to the next part.
static void
s_step (index_snapshot_t *self)
{
    static void (*const write []) (index_snapshot_t * self, uint32_t at) = {
        [PART_HOLDERS] = s_write_holder,
        [PART_RUNS] = s_write_run,
        [PART_MORE] = s_write_more,
        [PART_END] = s_write_end,
    };
    if (self->at < s_bound (self)) {
        write [self->part](self, self->at);
        self->at += self->offset == 0;
        return;
    }
    self->part++;
    self->at = 0;
}

status_t
index_snapshot_next (index_snapshot_t *self, buffer_t *bytes, size_t size, bool *ended)
{
    size_t until = bytes->size + size;
    if (self->change != self->index->change)
        return STATUS_STALE;
    self->bytes = bytes;
    if (!self->begun)
        s_write_header (self);
    for (int steps = STEPS_MAX; !self->ended && steps && bytes->size < until; steps--)
        s_step (self);
    *ended = self->ended;
    return STATUS_OK;
}
