//  A store is one sorted row of pairs and a journal of what they were before: undoing the journal back to a mark is a
//  rollback to the commit the mark stands for.  `safe` is the part that a crash of the machine cannot undo.

#include "simulator/disk.h"

#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/memory.h"

//  The system writes back what was not synced after this long.
#define WRITE_BACK_NS UINT64_C (5000000000)

//  Undo steps that are kept; older commits count as written back.
enum { JOURNAL_MAX = 65536 };

#define STORE_SIZE_DEFAULT (UINT64_C (1) << 30)

struct disk {
    map_t *files;      //  disk_file_t by path
    map_t *stores;     //  disk_store_t by path
    map_t *regions;    //  disk_region_t by name
    uint64_t limit;    //  Bytes
    uint64_t used;     //  Bytes in files and stores
    uint64_t torn;     //  disk_torn
};

typedef struct {
    uint64_t at_ns;    //  When it was appended
    size_t size;       //  Of the file before that
} append_t;

struct disk_file {
    buffer_t content;    //  All of it
    array_t recent;      //  append_t that a crash of the machine may undo, oldest first
};

typedef struct {
    uint8_t *key;         //  Own memory, the value behind it
    size_t key_size;      //  Bytes
    size_t value_size;    //  Bytes
} pair_t;

typedef struct {
    bool mark;        //  A commit ends here; no pair
    bool existed;     //  Before the change
    pair_t before;    //  Own memory; only the key counts where it did not exist
} undo_t;

struct disk_store {
    disk_t *disk;         //  Where it lies
    char *format;         //  Of its first opening
    uint64_t size_max;    //  Bytes of keys and values
    uint64_t size;        //  Bytes of keys and values
    bool open;            //  Somebody has it
    error_t doom;         //  Why the transaction will fail; STATUS_OK: it will not
    array_t pairs;        //  pair_t, by key
    array_t journal;      //  undo_t since the last sync, oldest first
};

struct disk_region {
    disk_t *disk;           //  Where its name is
    char *name;             //  NULL once removed
    void *memory;           //  Zeroed at the start
    size_t size;            //  Bytes
    uint32_t references;    //  Who holds it
};

//  ---- The disk ------------------------------------------------------------------------------------------------------

disk_t *
disk_new (void)
{
    disk_t *self = memory_new (sizeof *self);
    self->files = map_new (0);
    self->stores = map_new (0);
    self->regions = map_new (0);
    self->limit = UINT64_MAX;
    return self;
}

static pair_t
s_pair_new (span_t key, span_t value)
{
    pair_t pair = { memory_new (key.size + value.size), key.size, value.size };
    if (key.size)
        memcpy (pair.key, key.data, key.size);
    if (value.size)
        memcpy (pair.key + key.size, value.data, value.size);
    return pair;
}

static void
s_file_destroy (disk_file_t *self)
{
    buffer_fini (&self->content);
    array_fini (&self->recent);
    memory_free (self);
}

static void
s_store_destroy (disk_store_t *self)
{
    for (size_t i = 0; i < self->pairs.count; i++)
        memory_free (((pair_t *)array_at (&self->pairs, i))->key);
    for (size_t i = 0; i < self->journal.count; i++)
        memory_free (((undo_t *)array_at (&self->journal, i))->before.key);
    array_fini (&self->pairs);
    array_fini (&self->journal);
    memory_free (self->format);
    memory_free (self);
}

static void
s_region_destroy (disk_region_t *self)
{
    memory_free (self->name);
    memory_free (self->memory);
    memory_free (self);
}

void
disk_destroy (disk_t **self_p)
{
    disk_t *self = *self_p;
    if (!self)
        return;
    void *value;
    for (size_t cursor = 0; map_next (self->files, &cursor, NULL, &value);)
        s_file_destroy (value);
    for (size_t cursor = 0; map_next (self->stores, &cursor, NULL, &value);)
        s_store_destroy (value);
    for (size_t cursor = 0; map_next (self->regions, &cursor, NULL, &value);)
        s_region_destroy (value);
    map_destroy (&self->files);
    map_destroy (&self->stores);
    map_destroy (&self->regions);
    memory_free (self);
    *self_p = NULL;
}

void
disk_set_limit (disk_t *self, uint64_t bytes)
{
    self->limit = bytes;
}

uint64_t
disk_used (const disk_t *self)
{
    return self->used;
}

static status_t
s_charge (disk_t *self, uint64_t added, uint64_t removed, error_t *error)
{
    if (added > removed && self->used + (added - removed) > self->limit)
        return error_set (error, STATUS_IO, "no space left on device");
    self->used += added;
    self->used -= removed;
    return STATUS_OK;
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

status_t
disk_read (disk_t *self, const char *path, size_t size_max, buffer_t *out, error_t *error)
{
    const disk_file_t *file = map_get (self->files, span_from_string (path));
    if (!file)
        return error_set (error, STATUS_NOT_FOUND, "%s: no such file", path);
    if (file->content.size > size_max)
        return error_set (
            error, STATUS_LIMIT, "%s has %zu bytes, more than the %zu allowed", path, file->content.size, size_max);
    buffer_append (out, buffer_span (&file->content));
    return STATUS_OK;
}

status_t
disk_read_front (disk_t *self, const char *path, size_t size, buffer_t *out, error_t *error)
{
    const disk_file_t *file = map_get (self->files, span_from_string (path));
    if (!file)
        return error_set (error, STATUS_NOT_FOUND, "%s: no such file", path);
    buffer_append (out, span_slice (buffer_span (&file->content), 0, size));
    return STATUS_OK;
}

disk_file_t *
disk_file (disk_t *self, const char *path)
{
    disk_file_t *file = map_get (self->files, span_from_string (path));
    if (file)
        return file;
    file = memory_new (sizeof *file);
    array_init (&file->recent, sizeof (append_t));
    map_put (self->files, span_from_string (path), file);
    return file;
}

status_t
disk_write (disk_t *self, const char *path, span_t bytes, error_t *error)
{
    const disk_file_t *old = map_get (self->files, span_from_string (path));
    status_t status = s_charge (self, bytes.size, old ? old->content.size : 0, error);
    if (status != STATUS_OK) {
        error_prefix (error, "%s", path);
        return status;
    }
    disk_file_t *file = disk_file (self, path);
    buffer_clear (&file->content);
    buffer_append (&file->content, bytes);
    array_cut (&file->recent, 0);
    return STATUS_OK;
}

static void
s_write_back (disk_file_t *file, uint64_t now_ns)
{
    size_t safe = 0;
    while (safe < file->recent.count && ((append_t *)array_at (&file->recent, safe))->at_ns + WRITE_BACK_NS <= now_ns)
        safe++;
    array_drop_front (&file->recent, safe);
}

status_t
disk_append (disk_t *self, disk_file_t *file, span_t bytes, uint64_t now_ns, error_t *error)
{
    status_t status = s_charge (self, bytes.size, 0, error);
    if (status != STATUS_OK)
        return status;
    s_write_back (file, now_ns);
    *(append_t *)array_add (&file->recent) = (append_t){ now_ns, file->content.size };
    buffer_append (&file->content, bytes);
    return STATUS_OK;
}

static void
s_file_crash (disk_t *self, disk_file_t *file, random_t *random)
{
    size_t kept = random_below (random, file->recent.count + 1);
    if (kept < file->recent.count) {
        size_t size = ((append_t *)array_at (&file->recent, kept))->size;
        self->used -= file->content.size - size;
        file->content.size = size;
    }
    array_cut (&file->recent, 0);
}

//  ---- Stores --------------------------------------------------------------------------------------------------------

static span_t
s_key (const pair_t *pair)
{
    return span_of (pair->key, pair->key_size);
}

static span_t
s_value (const pair_t *pair)
{
    return span_of (pair->key + pair->key_size, pair->value_size);
}

//  Position of the first pair at or behind the key.
static size_t
s_find (const disk_store_t *self, span_t key, bool *found)
{
    size_t low = 0, high = self->pairs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (span_compare (s_key (array_at (&self->pairs, middle)), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < self->pairs.count && span_equal (s_key (array_at (&self->pairs, low)), key);
    return low;
}

static void
s_insert_pair (disk_store_t *self, size_t position, pair_t pair)
{
    array_add (&self->pairs);
    pair_t *pairs = self->pairs.data;
    memmove (pairs + position + 1, pairs + position, (self->pairs.count - 1 - position) * sizeof *pairs);
    pairs [position] = pair;
}

static void
s_resize (disk_store_t *self, size_t added, size_t removed)
{
    self->size = self->size + added - removed;
    self->disk->used = self->disk->used + added - removed;
}

static size_t
s_pair_size (const pair_t *pair)
{
    return pair->key_size + pair->value_size;
}

static void
s_undo (disk_store_t *self, const undo_t *undo)
{
    bool found;
    size_t position = s_find (self, s_key (&undo->before), &found);
    if (found) {
        pair_t *pair = array_at (&self->pairs, position);
        s_resize (self, 0, s_pair_size (pair));
        memory_free (pair->key);
        array_remove (&self->pairs, position);
    }
    if (undo->existed) {
        s_insert_pair (self, position, undo->before);
        s_resize (self, s_pair_size (&undo->before), 0);
    } else
        memory_free (undo->before.key);
}

//  Undoes the newest entries until `count` are left.
static void
s_roll_back (disk_store_t *self, size_t count)
{
    while (self->journal.count > count) {
        undo_t *undo = array_at (&self->journal, self->journal.count - 1);
        if (!undo->mark)
            s_undo (self, undo);
        array_cut (&self->journal, self->journal.count - 1);
    }
}

//  Entries of the journal up to and with the last commit.
static size_t
s_committed (const disk_store_t *self)
{
    size_t count = self->journal.count;
    while (count && !((undo_t *)array_at (&self->journal, count - 1))->mark)
        count--;
    return count;
}

//  The oldest entries cannot be undone any more.
static void
s_make_safe (disk_store_t *self, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memory_free (((undo_t *)array_at (&self->journal, i))->before.key);
    array_drop_front (&self->journal, count);
}

static void
s_store_crash (disk_store_t *self, random_t *random)
{
    s_roll_back (self, s_committed (self));
    size_t commits = 0, kept = 0;
    for (size_t i = 0; i < self->journal.count; i++)
        commits += ((undo_t *)array_at (&self->journal, i))->mark;
    for (size_t keep = random_below (random, commits + 1); keep; kept++)
        keep -= ((undo_t *)array_at (&self->journal, kept))->mark;
    self->disk->torn += kept < self->journal.count;
    s_roll_back (self, kept);
    s_make_safe (self, self->journal.count);
    self->open = false;
}

disk_store_t *
disk_store_open (disk_t *self, const char *path, const char *format, uint64_t size_max, error_t *error)
{
    disk_store_t *store = map_get (self->stores, span_from_string (path));
    if (store && store->open) {
        error_set (error, STATUS_EXISTS, "store %s is open already", path);
        return NULL;
    }
    if (store && strcmp (store->format, format) != 0) {
        error_set (error, STATUS_UNSUPPORTED, "store %s has format %s, this program writes %s: remove it to start anew",
            path, store->format, format);
        return NULL;
    }
    if (!store) {
        store = memory_new (sizeof *store);
        store->disk = self;
        store->format = memory_copy_string (format);
        array_init (&store->pairs, sizeof (pair_t));
        array_init (&store->journal, sizeof (undo_t));
        map_put (self->stores, span_from_string (path), store);
    }
    store->size_max = size_max ? size_max : STORE_SIZE_DEFAULT;
    store->open = true;
    return store;
}

//  Undoes the transaction.
static void
s_abandon (disk_store_t *self)
{
    s_roll_back (self, s_committed (self));
    error_clear (&self->doom);
}

void
disk_store_close (disk_store_t *self)
{
    s_abandon (self);
    self->open = false;
}

span_t
disk_store_get (const disk_store_t *self, span_t key)
{
    bool found;
    size_t position = s_find (self, key, &found);
    return found ? s_value (array_at (&self->pairs, position)) : (span_t){ 0 };
}

//  Puts the pair aside for an undo, or notes that there was none.
static void
s_remember (disk_store_t *self, const pair_t *old, span_t key)
{
    undo_t *undo = array_add (&self->journal);
    undo->existed = old != NULL;
    undo->before = old ? *old : s_pair_new (key, (span_t){ 0 });
}

static status_t
s_make_room (disk_store_t *self, size_t added, size_t removed, error_t *error)
{
    if (self->size + added - removed > self->size_max)
        return error_set (error, STATUS_LIMIT, "the store is full: %llu bytes", (unsigned long long)self->size_max);
    status_t status = s_charge (self->disk, added, removed, error);
    if (status == STATUS_OK)
        self->size = self->size + added - removed;
    return status;
}

status_t
disk_store_put (disk_store_t *self, span_t key, span_t value, error_t *error)
{
    bool found;
    size_t position = s_find (self, key, &found);
    size_t removed = found ? s_pair_size (array_at (&self->pairs, position)) : 0;
    if (s_make_room (self, key.size + value.size, removed, &self->doom) != STATUS_OK)
        return error_set (error, self->doom.status, "%s", self->doom.text);
    pair_t pair = s_pair_new (key, value);
    if (found) {
        pair_t *old = array_at (&self->pairs, position);
        s_remember (self, old, key);
        *old = pair;
    } else {
        s_remember (self, NULL, key);
        s_insert_pair (self, position, pair);
    }
    return STATUS_OK;
}

void
disk_store_delete (disk_store_t *self, span_t key)
{
    bool found;
    size_t position = s_find (self, key, &found);
    if (!found)
        return;
    pair_t *pair = array_at (&self->pairs, position);
    s_resize (self, 0, s_pair_size (pair));
    s_remember (self, pair, key);
    array_remove (&self->pairs, position);
}

status_t
disk_store_commit (disk_store_t *self, bool sync, error_t *error)
{
    if (self->doom.status != STATUS_OK) {
        error_t doom = self->doom;
        s_abandon (self);
        return error_set (error, doom.status, "%s", doom.text);
    }
    undo_t *mark = array_add (&self->journal);
    mark->mark = true;
    if (sync || self->journal.count > JOURNAL_MAX)
        s_make_safe (self, self->journal.count);
    return STATUS_OK;
}

bool
disk_store_next (const disk_store_t *self, span_t from, bool after, span_t *key, span_t *value)
{
    bool found;
    size_t position = s_find (self, from, &found);
    if (found && after)
        position++;
    if (position >= self->pairs.count)
        return false;
    *key = s_key (array_at (&self->pairs, position));
    *value = s_value (array_at (&self->pairs, position));
    return true;
}

//  ---- Regions -------------------------------------------------------------------------------------------------------

disk_region_t *
disk_region_acquire (disk_t *self, const char *name, size_t size, bool create, error_t *error)
{
    disk_region_t *region = map_get (self->regions, span_from_string (name));
    if (region && create) {
        error_set (error, STATUS_EXISTS, "region %s exists already", name);
        return NULL;
    }
    if (!region && !create) {
        error_set (error, STATUS_NOT_FOUND, "region %s: no such region", name);
        return NULL;
    }
    if (!region) {
        region = memory_new (sizeof *region);
        region->disk = self;
        region->name = memory_copy_string (name);
        region->memory = memory_new (size);
        region->size = size;
        map_put (self->regions, span_from_string (name), region);
    }
    region->references++;
    return region;
}

void *
disk_region_memory (const disk_region_t *self, size_t *size)
{
    *size = self->size;
    return self->memory;
}

static void
s_region_unname (disk_region_t *self)
{
    if (!self->name)
        return;
    map_remove (self->disk->regions, span_from_string (self->name));
    memory_free (self->name);
    self->name = NULL;
}

void
disk_region_release (disk_region_t *self, bool remove)
{
    BUG_ON (self->references == 0);
    self->references--;
    if (remove)
        s_region_unname (self);
    if (self->references == 0 && !self->name)
        s_region_destroy (self);
}

bool
disk_is_unsafe (const disk_t *self)
{
    void *value;
    for (size_t cursor = 0; map_next (self->stores, &cursor, NULL, &value);)
        if (s_committed (value))
            return true;
    return false;
}

uint64_t
disk_torn (const disk_t *self)
{
    return self->torn;
}

void
disk_crash (disk_t *self, random_t *random)
{
    void *value;
    for (size_t cursor = 0; map_next (self->files, &cursor, NULL, &value);)
        s_file_crash (self, value, random);
    for (size_t cursor = 0; map_next (self->stores, &cursor, NULL, &value);)
        s_store_crash (value, random);
    for (size_t cursor = 0; map_next (self->regions, &cursor, NULL, &value);) {
        disk_region_t *region = value;
        s_region_unname (region);
        if (region->references == 0)
            s_region_destroy (region);
    }
}
