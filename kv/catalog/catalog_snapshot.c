//  A snapshot goes through the namespaces in the order in which they were made, through the holders of the source in each by
//  number, and through the blocks of each by place (index_walk).  What lies before the point where it is has come and what
//  lies behind it will.  So a change of the source is an event of the snapshot where it concerns what has come; any other
//  shows when the walk gets there.

#include "base/memory.h"
#include "kv/catalog/catalog_private.h"

enum { SLICE = 256, NAMESPACES_A_STEP = 64 };

struct catalog_snapshot {
    list_link_t sibling;    //  In the catalog's list; first, so that the link is the snapshot
    catalog_t *catalog;     //  Borrowed; NULL once it is gone
    uint64_t source;        //  Whose state
    bool stale;             //  Whether that was forgotten
    uint64_t space;         //  Number of the namespace it is in
    uint32_t holder;        //  Number there of the holder it is at
    index_cursor_t at;      //  Where among its blocks
    array_t numbers;        //  uint32_t, scratch: holders of the source in one namespace
    kv_stored_t event;      //  On its way out, but for its hashes
    array_t hashes;         //  hash128_t of it, as 16 bytes each
    uint64_t last;          //  The last of them
    uint32_t references;    //  Of each of them
    catalog_add_fn *add;    //  Where events go
    void *arg;              //  For add
};

catalog_snapshot_t *
catalog_snapshot_new (catalog_t *self, uint64_t source, catalog_add_fn *add, void *arg)
{
    catalog_snapshot_t *snapshot = memory_new (sizeof *snapshot);
    snapshot->catalog = self;
    snapshot->source = source;
    snapshot->add = add;
    snapshot->arg = arg;
    array_init (&snapshot->numbers, sizeof (uint32_t));
    array_init (&snapshot->hashes, HASH128_SIZE);
    list_append (&self->snapshots, &snapshot->sibling);
    return snapshot;
}

void
catalog_snapshot_destroy (catalog_snapshot_t **self_p)
{
    catalog_snapshot_t *self = *self_p;
    if (!self)
        return;
    if (self->catalog)
        list_remove (&self->catalog->snapshots, &self->sibling);
    array_fini (&self->hashes);
    array_fini (&self->numbers);
    memory_free (self);
    *self_p = NULL;
}

uint64_t
catalog_snapshot_source (const catalog_snapshot_t *self)
{
    return self->source;
}

//  ---- What the walk gives ----

static void
s_flush (catalog_snapshot_t *self)
{
    self->event.hashes = (column_t){ self->hashes.data, self->hashes.count };
    for (uint32_t i = 0; i < self->references && self->hashes.count; i++)
        self->add (self->arg, &kv_stored_message, &self->event);
    array_cut (&self->hashes, 0);
}

//  Appends a block to the event on its way out, or begins another.
static void
s_write (catalog_snapshot_t *self, const index_block_t *block)
{
    bool has_room = self->hashes.count && self->hashes.count < KV_STORED_HASHES_MAX;
    bool continues = has_room && block->parent == self->last && block->references == self->references;
    if (!continues) {
        s_flush (self);
        self->event.has_parent = block->parent != INDEX_ROOT;
        self->event.parent = (hash128_t){ block->parent, 0 };
        self->references = block->references;
    }
    hash128_to_bytes ((hash128_t){ block->hash, 0 }, array_add (&self->hashes));
    self->last = block->hash;
}

//  The next blocks of the holder it is at.
static void
s_walk (catalog_snapshot_t *self, const namespace_entry_t *space)
{
    const holder_t *holder = index_holder (space->index, self->holder);
    index_block_t blocks [SLICE];
    size_t count;
    bool ended;
    self->event = (kv_stored_t){ .namespace_id = space->id, .rank = holder->rank, .tier = (tier_t)holder->tier };
    index_walk (space->index, self->holder, &self->at, blocks, SLICE, &count, &ended);
    for (size_t i = 0; i < count; i++)
        s_write (self, &blocks [i]);
    s_flush (self);
    if (ended) {
        self->holder++;
        self->at = (index_cursor_t){ 0 };
    }
}

//  The first namespace that is not passed; NULL where there is none.
static const namespace_entry_t *
s_find_space (const catalog_snapshot_t *self)
{
    size_t low = 0, count = self->catalog->namespaces.count;
    while (count) {
        size_t half = count / 2;
        if (catalog_namespace_at (self->catalog, low + half)->number < self->space) {
            low += half + 1;
            count -= half + 1;
        } else
            count = half;
    }
    return low < self->catalog->namespaces.count ? catalog_namespace_at (self->catalog, low) : NULL;
}

//  Moves on to the first holder in a namespace that is not passed.  False where there is none.
static bool
s_find_holder (catalog_snapshot_t *self, const namespace_entry_t *space, const source_entry_t *entry)
{
    if (space->number != self->space) {
        self->space = space->number;
        self->holder = 0;
        self->at = (index_cursor_t){ 0 };
    }
    catalog_holders_of (space->index, entry, HOLDER_EXACT, &self->numbers);
    for (size_t i = 0; i < self->numbers.count; i++) {
        uint32_t number = *(uint32_t *)array_at (&self->numbers, i);
        if (number < self->holder)
            continue;
        self->at = number == self->holder ? self->at : (index_cursor_t){ 0 };
        self->holder = number;
        return true;
    }
    return false;
}

status_t
catalog_snapshot_next (catalog_snapshot_t *self, bool *ended)
{
    *ended = false;
    if (self->stale)
        return STATUS_STALE;
    const source_entry_t *entry = catalog_find_source (self->catalog, self->source);
    for (int steps = NAMESPACES_A_STEP; steps; steps--) {
        const namespace_entry_t *space = entry ? s_find_space (self) : NULL;
        if (!space) {
            self->space = UINT64_MAX;
            *ended = true;
            return STATUS_OK;
        }
        if (s_find_holder (self, space, entry)) {
            s_walk (self, space);
            return STATUS_OK;
        }
        self->space++;
        self->holder = 0;
        self->at = (index_cursor_t){ 0 };
    }
    return STATUS_OK;
}

//  ---- What changes meanwhile ----

//  Whether a block of a holder has come, had it been there.
static bool
s_has_passed (const catalog_snapshot_t *self, const namespace_entry_t *space, uint32_t holder, hash128_t hash)
{
    if (space->number != self->space)
        return space->number < self->space;
    return holder < self->holder || (holder == self->holder && index_has_passed (space->index, self->at, hash.high));
}

//  The next row of hashes, from *first on, that have come.  Returns its end: *first where there is none.
static size_t
s_next_row (
    const catalog_snapshot_t *self, const namespace_entry_t *space, uint32_t holder, column_t hashes, size_t *first)
{
    while (*first < hashes.count && !s_has_passed (self, space, holder, column_hash128 (hashes, *first)))
        ++*first;
    size_t end = *first;
    while (end < hashes.count && s_has_passed (self, space, holder, column_hash128 (hashes, end)))
        end++;
    return end;
}

static column_t
s_row (column_t hashes, size_t first, size_t end)
{
    return (column_t){ hashes.data + first * HASH128_SIZE, end - first };
}

//  The next snapshot of a source behind a link, or behind none; NULL at the end.
static catalog_snapshot_t *
s_next_of (const catalog_t *self, uint64_t source, const catalog_snapshot_t *before)
{
    list_link_t *link = before ? list_next (&self->snapshots, &before->sibling) : list_first (&self->snapshots);
    while (link && ((catalog_snapshot_t *)link)->source != source)
        link = list_next (&self->snapshots, link);
    return (catalog_snapshot_t *)link;
}

//  Hashes before the first that is no block's: an index stores no further.
static column_t
s_valid (column_t hashes)
{
    size_t count = 0;
    while (count < hashes.count && column_hash128 (hashes, count).high != INDEX_ROOT)
        count++;
    return s_row (hashes, 0, count);
}

void
catalog_snapshots_stored (
    catalog_t *self, uint64_t source, const namespace_entry_t *space, uint32_t holder, const kv_stored_t *event)
{
    for (catalog_snapshot_t *each = NULL; (each = s_next_of (self, source, each));) {
        column_t hashes = s_valid (event->hashes);
        kv_stored_t part = *event;
        for (size_t first = 0, end; (end = s_next_row (each, space, holder, hashes, &first)) > first; first = end) {
            part.has_parent = first || event->has_parent;
            part.parent = first ? column_hash128 (hashes, first - 1) : event->parent;
            part.hashes = s_row (hashes, first, end);
            each->add (each->arg, &kv_stored_message, &part);
        }
    }
}

void
catalog_snapshots_removed (
    catalog_t *self, uint64_t source, const namespace_entry_t *space, uint32_t holder, const kv_removed_t *event)
{
    for (catalog_snapshot_t *each = NULL; (each = s_next_of (self, source, each));) {
        kv_removed_t part = *event;
        size_t first = 0, end;
        for (; (end = s_next_row (each, space, holder, event->hashes, &first)) > first; first = end) {
            part.hashes = s_row (event->hashes, first, end);
            each->add (each->arg, &kv_removed_message, &part);
        }
    }
}

void
catalog_snapshots_cleared (catalog_t *self, uint64_t source, const kv_cleared_t *event)
{
    for (catalog_snapshot_t *each = NULL; (each = s_next_of (self, source, each));)
        each->add (each->arg, &kv_cleared_message, event);
}

void
catalog_snapshots_forgotten (catalog_t *self, uint64_t source)
{
    for (catalog_snapshot_t *each = NULL; (each = s_next_of (self, source, each));)
        each->stale = true;
}

void
catalog_snapshots_orphan (catalog_t *self)
{
    for (list_link_t *link; (link = list_take_first (&self->snapshots));) {
        ((catalog_snapshot_t *)link)->catalog = NULL;
        ((catalog_snapshot_t *)link)->stale = true;
    }
}
