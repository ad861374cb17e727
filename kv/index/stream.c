#include "kv/index/stream.h"

#include <string.h>

#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are used as they lie in memory");

enum { HEADER_WORDS = 16, WORKERS_MAX = 1 << 20, HAS_PARENT = 1, SWEEP_STEPS = 1024 };

//  Numbers of the header.
enum { H_MAGIC, H_RECORDS, H_WORKERS, H_BLOCK_TOKENS };

typedef struct {
    uint32_t type;      //  stream_type_t
    uint32_t worker;    //  To whom
    uint32_t count;     //  Blocks
    uint32_t flags;     //  HAS_PARENT
} head_t;

status_t
stream_init (stream_t *self, span_t bytes, error_t *error)
{
    uint64_t header [HEADER_WORDS];
    if (bytes.size < sizeof header || (uintptr_t)bytes.data % sizeof (uint64_t))
        return error_set (error, STATUS_CORRUPT, "a stream begins with 128 bytes at a multiple of 8");
    memcpy (header, bytes.data, sizeof header);
    if (memcmp (&header [H_MAGIC], "KVIS0001", sizeof (uint64_t)))
        return error_set (error, STATUS_CORRUPT, "the stream does not begin with KVIS0001");
    if (header [H_WORKERS] > WORKERS_MAX)
        return error_set (error, STATUS_CORRUPT, "%llu workers are too many", (unsigned long long)header [H_WORKERS]);
    *self = (stream_t){ .rest = span_slice (bytes, sizeof header, SIZE_MAX),
        .records = header [H_RECORDS],
        .workers = (uint32_t)header [H_WORKERS],
        .block_tokens = (uint32_t)header [H_BLOCK_TOKENS] };
    return STATUS_OK;
}

//  Numbers before the hashes, in a record of this type.
static uint64_t
s_words_before (const head_t *head)
{
    switch (head->type) {
    case STREAM_STORED:
        return 1 + (uint64_t)head->count;
    case STREAM_LOOKUP:
        return head->count;
    default:
        return 0;
    }
}

status_t
stream_next (stream_t *self, stream_record_t *record, error_t *error)
{
    head_t head;
    if (self->rest.size < sizeof head)
        return error_set (
            error, STATUS_CORRUPT, "the stream ends %llu records early", (unsigned long long)self->records);
    memcpy (&head, self->rest.data, sizeof head);
    if (head.type < STREAM_STORED || head.type > STREAM_LOOKUP || head.worker >= self->workers)
        return error_set (error, STATUS_CORRUPT, "a record has type %u and worker %u", head.type, head.worker);
    uint64_t before = s_words_before (&head), hashes = head.type == STREAM_CLEARED ? 0 : head.count;
    span_t body = span_slice (self->rest, sizeof head, SIZE_MAX);
    if (body.size / sizeof (uint64_t) < before + hashes)
        return error_set (error, STATUS_CORRUPT, "the stream ends in a record of %u blocks", head.count);
    const uint64_t *words = (const void *)body.data;
    bool has_parent = head.type == STREAM_STORED && head.flags & HAS_PARENT;
    *record = (stream_record_t){ .type = (stream_type_t)head.type,
        .worker = head.worker,
        .parent = has_parent ? words [0] : INDEX_ROOT,
        .hashes = hashes ? words + before : NULL,
        .count = (uint32_t)hashes };
    self->rest = span_slice (body, (before + hashes) * sizeof (uint64_t), SIZE_MAX);
    self->records--;
    return STATUS_OK;
}

struct player {
    index_t *index;            //  Its own; worker and holder have the same number
    index_match_t match;       //  Of the last lookup
    array_t overlaps;          //  index_overlap_t of the last lookup
    player_result_t result;    //  So far
};

player_t *
player_new (const stream_t *stream)
{
    player_t *self = memory_new (sizeof *self);
    self->index = index_new (&(index_options_t){ .once = true, .rooted = true });
    for (uint32_t worker = 0; worker < stream->workers; worker++)
        index_holder_add (self->index, &(holder_t){ .owner = worker });
    index_match_init (&self->match);
    array_init (&self->overlaps, sizeof (index_overlap_t));
    return self;
}

void
player_destroy (player_t **self_p)
{
    player_t *self = *self_p;
    if (!self)
        return;
    array_fini (&self->overlaps);
    index_match_fini (&self->match);
    index_destroy (&self->index);
    memory_free (self);
    *self_p = NULL;
}

//  SplitMix64's last step.
static uint64_t
s_mix (uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static void
s_look_up (player_t *self, const stream_record_t *record, bool mix)
{
    array_cut (&self->overlaps, 0);
    index_match (self->index, record->hashes, record->count, &self->match);
    index_overlaps (self->index, &self->match, &self->overlaps);
    const index_overlap_t *overlaps = self->overlaps.data;
    for (size_t i = 0; i < self->overlaps.count; i++)
        self->result.sum += overlaps [i].blocks;
    for (size_t i = 0; mix && i < self->overlaps.count; i++) {
        uint64_t who = (uint64_t)overlaps [i].holder << 32 | overlaps [i].blocks;
        self->result.mix += s_mix (self->result.lookups * 0x9E3779B97F4A7C15u ^ who);
    }
    self->result.pairs += self->overlaps.count;
    self->result.lookups++;
}

void
player_expect (const player_t *self, const stream_record_t *record)
{
    if (record->parent != INDEX_ROOT)
        index_expect (self->index, &record->parent, 1);
    index_expect (self->index, record->hashes, record->count);
}

void
player_play (player_t *self, const stream_record_t *record, bool mix)
{
    switch (record->type) {
    case STREAM_STORED:
        index_store (self->index, record->worker, record->parent, record->hashes, record->count, NULL);
        break;
    case STREAM_REMOVED:
        index_remove (self->index, record->worker, record->hashes, record->count, NULL);
        break;
    case STREAM_CLEARED:
        index_clear (self->index, record->worker, NULL);
        break;
    case STREAM_LOOKUP:
        s_look_up (self, record, mix);
        break;
    }
}

void
player_drain (player_t *self)
{
    while (index_sweep (self->index, SWEEP_STEPS))
        ;
}

const index_t *
player_index (const player_t *self)
{
    return self->index;
}

void
player_result (const player_t *self, player_result_t *result)
{
    *result = self->result;
}
