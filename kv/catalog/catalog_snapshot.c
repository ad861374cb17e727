//  A snapshot goes through the ranks and tiers of the source, through the namespaces that each has something in, by slot, and
//  through the blocks there by place (index_walk).  What lies before the point where it is has come and what lies behind it
//  will.  So a change of the source is an event of the snapshot where it concerns what has come; any other shows when the
//  walk gets there.

#include "base/memory.h"
#include "kv/catalog/catalog_private.h"

enum { SLICE = 256, LOOKS_A_STEP = 256, THE_END = UINT32_MAX };

struct catalog_snapshot {
    list_link_t sibling;    //  In the catalog's list; first, so that the link is the snapshot
    catalog_t *catalog;     //  Borrowed; NULL once it is gone
    uint64_t source;        //  Whose state
    bool stale;             //  Whether that was forgotten
    uint32_t position;      //  Of the claim it is at (catalog_position)
    uint32_t slot;          //  Of the namespace it is in
    index_cursor_t at;      //  Where among the blocks there
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
    memory_free (self);
    *self_p = NULL;
}

uint64_t
catalog_snapshot_source (const catalog_snapshot_t *self)
{
    return self->source;
}

//  ---- What the walk gives -------------------------------------------------------------------------------------------

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

//  The next blocks of a holder.  True while there are more.
static bool
s_walk (catalog_snapshot_t *self, const namespace_entry_t *space, uint32_t number)
{
    const holder_t *holder = index_holder (space->index, number);
    index_block_t blocks [SLICE];
    size_t count;
    bool ended;
    self->event = (kv_stored_t){ .namespace_id = space->id, .rank = holder->rank, .tier = (tier_t)holder->tier };
    index_walk (space->index, number, &self->at, blocks, SLICE, &count, &ended);
    for (size_t i = 0; i < count; i++)
        s_write (self, &blocks [i]);
    s_flush (self);
    return !ended;
}

static void
s_go_to (catalog_snapshot_t *self, uint32_t position, uint32_t slot)
{
    if (position != self->position || slot != self->slot)
        self->at = (index_cursor_t){ 0 };
    self->position = position;
    self->slot = slot;
}

//  Writes what it is at, or looks at what is next.  True where blocks were looked at.
static bool
s_step (catalog_snapshot_t *self, const source_entry_t *entry)
{
    const claim_t *claim = catalog_claim_at (self->catalog, entry, self->position);
    bool is_said = claim && claim->holder.kind == HOLDER_EXACT;
    uint32_t slot = self->slot;
    const namespace_entry_t *space = is_said ? catalog_next_space (self->catalog, claim, &slot) : NULL;
    if (!space) {
        s_go_to (self, self->position + 1, 0);
        return false;
    }
    s_go_to (self, self->position, slot);
    uint32_t number = index_holder_find (space->index, &claim->holder);
    if (number == HOLDER_NONE || !s_walk (self, space, number))
        s_go_to (self, self->position, slot + 1);
    return number != HOLDER_NONE;
}

status_t
catalog_snapshot_next (catalog_snapshot_t *self, bool *ended)
{
    *ended = false;
    if (self->stale)
        return STATUS_STALE;
    const source_entry_t *entry = catalog_find_source (self->catalog, self->source);
    uint32_t end = entry ? (uint32_t)entry->claims.count : 0;
    for (int looks = LOOKS_A_STEP; looks && self->position < end; looks--)
        if (s_step (self, entry))
            return STATUS_OK;
    *ended = self->position >= end;
    if (*ended)
        self->position = THE_END;
    return STATUS_OK;
}

//  ---- What changes meanwhile ----------------------------------------------------------------------------------------

//  Blocks that change: hashes of one claim in one namespace.
typedef struct {
    const namespace_entry_t *space;    //  Where
    uint32_t position;                 //  Of the claim
    column_t hashes;                   //  Which
} changed_t;

//  Whether a block has come, had it been there.
static bool
s_has_passed (const catalog_snapshot_t *self, const changed_t *changed, size_t block)
{
    if (changed->position != self->position)
        return changed->position < self->position;
    if (changed->space->slot != self->slot)
        return changed->space->slot < self->slot;
    return index_has_passed (changed->space->index, self->at, column_hash128 (changed->hashes, block).high);
}

//  The next row of blocks, from *first on, that have come.  Returns its end: *first where there is none.
static size_t
s_next_row (const catalog_snapshot_t *self, const changed_t *changed, size_t *first)
{
    while (*first < changed->hashes.count && !s_has_passed (self, changed, *first))
        ++*first;
    size_t end = *first;
    while (end < changed->hashes.count && s_has_passed (self, changed, end))
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
catalog_snapshots_stored (catalog_t *self, uint64_t source, const namespace_entry_t *space, const kv_stored_t *event)
{
    changed_t changed = { space, catalog_position (event->rank, event->tier, HOLDER_EXACT), s_valid (event->hashes) };
    column_t hashes = changed.hashes;
    for (catalog_snapshot_t *each = NULL; (each = s_next_of (self, source, each));) {
        kv_stored_t part = *event;
        for (size_t first = 0, end; (end = s_next_row (each, &changed, &first)) > first; first = end) {
            part.has_parent = first || event->has_parent;
            part.parent = first ? column_hash128 (hashes, first - 1) : event->parent;
            part.hashes = s_row (hashes, first, end);
            each->add (each->arg, &kv_stored_message, &part);
        }
    }
}

void
catalog_snapshots_removed (catalog_t *self, uint64_t source, const namespace_entry_t *space, const kv_removed_t *event)
{
    changed_t changed = { space, catalog_position (event->rank, event->tier, HOLDER_EXACT), event->hashes };
    for (catalog_snapshot_t *each = NULL; (each = s_next_of (self, source, each));) {
        kv_removed_t part = *event;
        for (size_t first = 0, end; (end = s_next_row (each, &changed, &first)) > first; first = end) {
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
