//  The message of the block under construction lies ready in `message`: parent hash first, then the tokens so far.  A full
//  block gets its items behind them, is hashed in place, and the message starts again with the new parent.

#include "kv/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/bug.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tokens are hashed as they lie in memory");

struct sequence {
    namespace_t ns;      //  Key and block size
    array_t hashes;      //  hash128_t, oldest first
    array_t items;       //  sequence_item_t by position, those of finished blocks too: a truncate may want them again
    size_t next_item;    //  First item that reaches into the unfinished block or beyond
    buffer_t message;    //  Parent hash and the tokens of the unfinished block
};

static void
s_begin_block (sequence_t *self)
{
    size_t count = self->hashes.count;
    hash128_t parent = count ? *(hash128_t *)array_at (&self->hashes, count - 1) : SEQUENCE_ROOT;
    uint8_t bytes [HASH128_SIZE];
    hash128_to_bytes (parent, bytes);
    buffer_clear (&self->message);
    buffer_append (&self->message, span_of (bytes, sizeof bytes));
}

static size_t
s_unfinished (const sequence_t *self)
{
    return (self->message.size - HASH128_SIZE) / sizeof (uint32_t);
}

static uint64_t
s_item_end (const sequence_item_t *item)
{
    return (uint64_t)item->position + item->count;
}

sequence_t *
sequence_new (const namespace_t *ns)
{
    BUG_ON (ns->block_size == 0 || ns->block_size > BLOCK_SIZE_MAX);
    sequence_t *self = memory_new (sizeof *self);
    self->ns = *ns;
    array_init (&self->hashes, sizeof (hash128_t));
    array_init (&self->items, sizeof (sequence_item_t));
    buffer_init (&self->message);
    s_begin_block (self);
    return self;
}

void
sequence_destroy (sequence_t **self_p)
{
    sequence_t *self = *self_p;
    if (!self)
        return;
    buffer_fini (&self->message);
    array_fini (&self->items);
    array_fini (&self->hashes);
    memory_free (self);
    *self_p = NULL;
}

status_t
sequence_add_item (sequence_t *self, const sequence_item_t *item, error_t *error)
{
    size_t count = self->items.count;
    uint64_t free_from = sequence_tokens (self);
    if (count && s_item_end (array_at (&self->items, count - 1)) > free_from)
        free_from = s_item_end (array_at (&self->items, count - 1));
    if (item->count == 0 || item->position < free_from || s_item_end (item) > UINT32_MAX)
        return error_set (error, STATUS_INVALID,
            "an item of %u tokens at token %u is empty, too long, or begins before token %llu, where the next may "
            "begin",
            item->count, item->position, (unsigned long long)free_from);
    *(sequence_item_t *)array_add (&self->items) = *item;
    return STATUS_OK;
}

//  By (hash, position); no two items have the same position.
static int
s_compare_items (const void *a_, const void *b_)
{
    const sequence_item_t *a = a_, *b = b_;
    if (a->hash.high != b->hash.high)
        return a->hash.high < b->hash.high ? -1 : 1;
    if (a->hash.low != b->hash.low)
        return a->hash.low < b->hash.low ? -1 : 1;
    return a->position < b->position ? -1 : 1;
}

static void
s_append_item (buffer_t *message, const sequence_item_t *item)
{
    uint8_t hash [HASH128_SIZE];
    hash128_to_bytes (item->hash, hash);
    buffer_append (message, span_of (hash, sizeof hash));
    buffer_append_u32_le (message, item->position);
}

//  Appends the items that touch the block which ends at token `end`.
static void
s_append_items (sequence_t *self, uint64_t end)
{
    array_t touching;
    array_init (&touching, sizeof (sequence_item_t));
    for (size_t i = self->next_item; i < self->items.count; i++) {
        const sequence_item_t *item = array_at (&self->items, i);
        if (item->position >= end)
            break;
        *(sequence_item_t *)array_add (&touching) = *item;
        if (s_item_end (item) <= end)
            self->next_item = i + 1;
    }
    if (touching.count)
        qsort (touching.data, touching.count, sizeof (sequence_item_t), s_compare_items);
    for (size_t i = 0; i < touching.count; i++)
        s_append_item (&self->message, array_at (&touching, i));
    array_fini (&touching);
}

static void
s_close_block (sequence_t *self)
{
    if (self->next_item < self->items.count)
        s_append_items (self, (uint64_t)(self->hashes.count + 1) * self->ns.block_size);
    hash128_t hash = hash_keyed (&self->ns.key, buffer_span (&self->message));
    *(hash128_t *)array_add (&self->hashes) = hash;
    s_begin_block (self);
}

size_t
sequence_extend (sequence_t *self, const uint32_t *tokens, size_t count)
{
    size_t before = self->hashes.count;
    while (count) {
        size_t taken = self->ns.block_size - s_unfinished (self);
        if (taken > count)
            taken = count;
        buffer_append (&self->message, span_of (tokens, taken * sizeof *tokens));
        tokens += taken;
        count -= taken;
        if (s_unfinished (self) == self->ns.block_size)
            s_close_block (self);
    }
    return self->hashes.count - before;
}

void
sequence_adopt (sequence_t *self, const uint32_t *tokens, size_t count, const hash128_t *hashes, size_t hash_count)
{
    size_t unfinished = s_unfinished (self) + count;
    BUG_ON (self->next_item < self->items.count || unfinished / self->ns.block_size != hash_count);
    size_t left = hash_count ? unfinished % self->ns.block_size : count;
    if (hash_count) {
        array_append (&self->hashes, hashes, hash_count);
        s_begin_block (self);
    }
    buffer_append (&self->message, span_of (tokens + (count - left), left * sizeof *tokens));
}

void
sequence_truncate (sequence_t *self, size_t blocks)
{
    if (blocks < self->hashes.count)
        array_cut (&self->hashes, blocks);
    s_begin_block (self);
    uint64_t end = sequence_tokens (self);
    size_t kept = self->items.count;
    while (kept && ((sequence_item_t *)array_at (&self->items, kept - 1))->position >= end)
        kept--;
    array_cut (&self->items, kept);
    self->next_item = kept;
    if (kept && s_item_end (array_at (&self->items, kept - 1)) > end)
        self->next_item = kept - 1;
}

size_t
sequence_tokens (const sequence_t *self)
{
    return self->hashes.count * self->ns.block_size + s_unfinished (self);
}

const hash128_t *
sequence_hashes (const sequence_t *self, size_t *count)
{
    *count = self->hashes.count;
    return self->hashes.data;
}

void
sequence_copy_short (const sequence_t *self, size_t first, size_t count, uint64_t *hashes)
{
    BUG_ON (first > self->hashes.count || count > self->hashes.count - first);
    const hash128_t *from = self->hashes.data;
    for (size_t i = 0; i < count; i++)
        hashes [i] = from [first + i].high;
}

size_t
sequence_hash_tokens (const namespace_t *ns, hash128_t parent, const uint32_t *tokens, size_t count, hash128_t *hashes)
{
    size_t blocks = count / ns->block_size;
    size_t size = ns->block_size * sizeof *tokens;
    uint8_t *message = memory_new (HASH128_SIZE + size);
    for (size_t i = 0; i < blocks; i++) {
        hash128_to_bytes (parent, message);
        memcpy (message + HASH128_SIZE, tokens + i * ns->block_size, size);
        parent = hashes [i] = hash_keyed (&ns->key, span_of (message, HASH128_SIZE + size));
    }
    memory_free (message);
    return blocks;
}
