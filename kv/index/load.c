//  Every record is checked whole before it is believed, and what is believed is no more trusted than a peer's events: a snapshot
//  somebody made up gives a wrong index, never a broken one.  At the end each holder's digest says whether all came.

#include <string.h>

#include "base/array.h"
#include "kv/index/index_private.h"
#include "kv/index/snapshot.h"
#include "kv/index/snapshot_private.h"

//  Records, and holders whose digest is proved, of one call.
enum { STEPS_MAX = 32, HOLDERS_A_STEP = 1024 };

//  A holder of the snapshot.
typedef struct {
    node_t node;        //  Key: of its number there
    uint32_t number;    //  In the index
    uint64_t name;      //  Its number there
    uint64_t digest;    //  What it should come to
} loaded_t;

//  A record under way: numbers not read yet.
typedef struct {
    uint32_t type;    //  record_type_t
    span_t words;     //  Left
} record_t;

static uint64_t
s_number (span_t bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i--;)
        value = value << 8 | bytes.data [i];
    return value;
}

//  Takes a number of `size` bytes; 0 where there is none left.
static uint64_t
s_take (span_t *bytes, size_t size)
{
    if (bytes->size < size)
        return 0;
    uint64_t value = s_number (*bytes, size);
    *bytes = span_slice (*bytes, size, SIZE_MAX);
    return value;
}

static status_t
s_refuse (const index_load_t *self, error_t *error, const char *what)
{
    return error_set (error, STATUS_CORRUPT, "record %llu of the snapshot %s", (unsigned long long)self->records, what);
}

//  Takes `size` bytes and the check behind them.
static bool
s_take_checked (index_load_t *self, size_t size, span_t *bytes)
{
    if (self->rest.size < SNAPSHOT_WORD || self->rest.size - SNAPSHOT_WORD < size)
        return false;
    *bytes = span_slice (self->rest, 0, size);
    self->rest = span_slice (self->rest, size, SIZE_MAX);
    self->check = snapshot_check (*bytes, self->check);
    return s_take (&self->rest, SNAPSHOT_WORD) == self->check;
}

status_t
index_load_init (index_load_t *self, index_t *index, span_t bytes, error_t *error)
{
    *self = (index_load_t){ .index = index, .rest = bytes };
    table_init (&self->holders, sizeof (loaded_t));
    span_t header;
    if (!span_starts_with (bytes, SNAPSHOT_MAGIC) || bytes.size < SNAPSHOT_HEADER)
        return error_set (error, STATUS_CORRUPT, "these bytes are no snapshot of an index");
    bool whole = s_take_checked (self, SNAPSHOT_HEADER - SNAPSHOT_WORD, &header);
    s_take (&header, SNAPSHOT_WORD);
    uint64_t version = s_take (&header, SNAPSHOT_WORD);
    if (version != SNAPSHOT_VERSION)
        return error_set (error, STATUS_UNSUPPORTED, "the snapshot has version %llu, and this program reads version %d",
            (unsigned long long)version, SNAPSHOT_VERSION);
    self->label = s_take (&header, SNAPSHOT_WORD);
    return whole ? STATUS_OK : error_set (error, STATUS_CORRUPT, "the snapshot's header is damaged");
}

void
index_load_fini (index_load_t *self)
{
    table_fini (&self->holders);
    self->index = NULL;
}

//  A holder by its number in the snapshot; NULL where there was none.
static const loaded_t *
s_holder (const index_load_t *self, uint64_t name)
{
    uint32_t found = table_find (&self->holders, table_key_of_pair (0, name));
    while (found && ((loaded_t *)table_at (&self->holders, found))->name != name)
        found = table_next_equal (&self->holders, found);
    return found ? table_at (&self->holders, found) : NULL;
}

static status_t
s_load_holder (index_load_t *self, record_t *record, error_t *error)
{
    uint64_t name = s_take (&record->words, SNAPSHOT_WORD), packed = s_take (&record->words, SNAPSHOT_WORD);
    holder_t holder = holder_unpack (packed);
    if (name >= HOLDER_NONE || s_holder (self, name))
        return s_refuse (self, error, "is of a holder with an impossible number");
    if (holder.tier >= TIER_COUNT || holder.kind >= HOLDER_KIND_COUNT)
        return s_refuse (self, error, "is of a holder of no kind there is");
    if (index_holder_find (self->index, &holder) != HOLDER_NONE)
        return s_refuse (self, error, "is of a holder that is there already");
    uint32_t number = index_holder_add (self->index, &holder);
    if (number == HOLDER_NONE)
        return error_set (error, STATUS_LIMIT, "the index has no room for the snapshot's holders");
    loaded_t *loaded = table_at (&self->holders, table_add (&self->holders, table_key_of_pair (0, name)));
    loaded->name = name;
    loaded->number = number;
    loaded->digest = s_take (&record->words, SNAPSHOT_WORD);
    return STATUS_OK;
}

//  Gives the blocks of the stretch under way to the holder that comes next.
static status_t
s_load_member (index_load_t *self, error_t *error)
{
    uint64_t hashes [RUN_MAX];
    uint32_t first = self->run.first, count = self->run.end - first;
    span_t bytes = span_of (self->run.hashes, (size_t)self->run.end * SNAPSHOT_WORD);
    uint64_t parent =
        first ? s_number (span_slice (bytes, (first - 1) * SNAPSHOT_WORD, SIZE_MAX), SNAPSHOT_WORD) : self->run.parent;
    bytes = span_slice (bytes, first * SNAPSHOT_WORD, SIZE_MAX);
    for (uint32_t i = 0; i < count; i++)
        hashes [i] = s_take (&bytes, SNAPSHOT_WORD);
    const loaded_t *holder = s_holder (self, s_take (&self->run.words, sizeof (uint32_t)));
    if (!holder)
        return s_refuse (self, error, "names a holder that is not there");
    self->run.members--;
    return index_restore (self->index, holder->number, parent, hashes, count, error);
}

//  Begins with the next stretch.
static status_t
s_load_stretch (index_load_t *self, error_t *error)
{
    uint64_t end = s_take (&self->run.words, sizeof (uint32_t));
    if (end <= self->run.first || end > self->run.count)
        return s_refuse (self, error, "has stretches that do not follow each other");
    self->run.end = (uint32_t)end;
    self->run.members = (uint32_t)s_take (&self->run.words, sizeof (uint32_t));
    self->run.is_odd = self->run.members % 2;
    if (self->run.members > self->run.words.size / sizeof (uint32_t))
        return s_refuse (self, error, "ends in a row of holders");
    return STATUS_OK;
}

static bool
s_is_loading_run (const index_load_t *self)
{
    return self->run.first < self->run.count;
}

//  Reads some more of a run, while there are steps left.
static status_t
s_load_more_of_run (index_load_t *self, int *steps, error_t *error)
{
    status_t status = STATUS_OK;
    for (; status == STATUS_OK && *steps && s_is_loading_run (self); --*steps) {
        status = self->run.end > self->run.first ? STATUS_OK : s_load_stretch (self, error);
        if (status == STATUS_OK && self->run.members)
            status = s_load_member (self, error);
        if (status != STATUS_OK || self->run.members)
            continue;
        if (self->run.is_odd)
            s_take (&self->run.words, sizeof (uint32_t));
        self->run.first = self->run.end;
    }
    if (status == STATUS_OK && !s_is_loading_run (self) && self->run.words.size)
        return s_refuse (self, error, "is longer than it should be");
    self->records += !s_is_loading_run (self);
    return status;
}

//  Its stretches are read later.
static status_t
s_load_run (index_load_t *self, record_t *record, error_t *error)
{
    uint64_t parent = s_take (&record->words, SNAPSHOT_WORD), count = s_take (&record->words, SNAPSHOT_WORD);
    if (count < 1 || count > RUN_MAX || record->words.size < count * SNAPSHOT_WORD)
        return s_refuse (self, error, "is of a run with an impossible number of blocks");
    self->run.parent = parent;
    self->run.hashes = record->words.data;
    self->run.count = (uint32_t)count;
    self->run.first = self->run.end = 0;
    self->run.words = span_slice (record->words, count * SNAPSHOT_WORD, SIZE_MAX);
    record->words = (span_t){ 0 };
    return STATUS_OK;
}

static bool
s_is_count (uint64_t references)
{
    return references >= 1 && references <= SURPLUS_MAX;
}

static status_t
s_load_more (index_load_t *self, record_t *record, error_t *error)
{
    index_t *index = self->index;
    const loaded_t *holder = s_holder (self, s_take (&record->words, SNAPSHOT_WORD));
    uint64_t hash = s_take (&record->words, SNAPSHOT_WORD), more = s_take (&record->words, SNAPSHOT_WORD);
    uint32_t seat = holder ? index_seat_of (index, holder->number) : 0;
    place_t place;
    if (!holder || !s_is_count (more) || !index_seat_has (index, seat, hash, &place) ||
        surplus_count (&index->surplus, seat, hash) || !surplus_add (&index->surplus, seat, hash, (uint32_t)more))
        return s_refuse (self, error, "has references to what is not held");
    runs_at (&index->runs, place.run)->repeated = true;
    index_seat (index, seat)->digest += index_mix (hash) * more;
    return STATUS_OK;
}

//  The end has come: what follows is whether each holder has what it should.
static status_t
s_load_end (index_load_t *self, record_t *record, error_t *error)
{
    if (s_take (&record->words, SNAPSHOT_WORD) != self->records || self->rest.size)
        return s_refuse (self, error, "is an end in the middle");
    self->unproved = table_bound (&self->holders);
    self->ended = !self->unproved;
    return STATUS_OK;
}

//  Looks at the next holders; the first node is none.
static status_t
s_prove (index_load_t *self, error_t *error)
{
    for (int left = HOLDERS_A_STEP; left && --self->unproved; left--) {
        const loaded_t *holder = table_at (&self->holders, self->unproved);
        if (index_digest (self->index, holder->number) != holder->digest)
            return error_set (error, STATUS_CORRUPT,
                "holder %llu of the snapshot has other blocks than its digest says", (unsigned long long)holder->name);
    }
    self->ended = !self->unproved;
    return STATUS_OK;
}

static status_t
s_load_record (index_load_t *self, error_t *error)
{
    static status_t (*const load [RECORD_TYPE_COUNT]) (index_load_t * self, record_t * record, error_t * error) = {
        [RECORD_HOLDER] = s_load_holder,
        [RECORD_RUN] = s_load_run,
        [RECORD_MORE] = s_load_more,
        [RECORD_END] = s_load_end,
    };
    span_t head = self->rest, bytes;
    record_t record = { .type = (uint32_t)s_take (&head, sizeof (uint32_t)) };
    uint64_t size = SNAPSHOT_WORD + s_take (&head, sizeof (uint32_t)) * SNAPSHOT_WORD;
    if (!s_take_checked (self, size, &bytes))
        return s_refuse (self, error, "is damaged or cut off");
    if (record.type >= RECORD_TYPE_COUNT || !load [record.type])
        return s_refuse (self, error, "is of no type there is");
    record.words = span_slice (bytes, SNAPSHOT_WORD, SIZE_MAX);
    status_t status = load [record.type](self, &record, error);
    if (status == STATUS_OK && record.words.size)
        return s_refuse (self, error, "is longer than it should be");
    self->records += !s_is_loading_run (self);
    return status;
}

status_t
index_load_next (index_load_t *self, size_t size, error_t *error)
{
    if (self->unproved)
        return s_prove (self, error);
    size_t until = self->rest.size > size ? self->rest.size - size : 0;
    int steps = STEPS_MAX;
    status_t status;
    do
        status = s_is_loading_run (self) ? s_load_more_of_run (self, &steps, error) : s_load_record (self, error);
    while (status == STATUS_OK && self->rest.size && steps && (s_is_loading_run (self) || self->rest.size > until));
    return status;
}
