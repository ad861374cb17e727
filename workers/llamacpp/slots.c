#include "workers/llamacpp/slots.h"

#include "base/array.h"
#include "base/bug.h"
#include "base/memory.h"

typedef struct {
    array_t tokens;          //  uint32_t: prompt and output of the last request
    size_t computed;         //  Of these, so many are in the cache
    sequence_t *sequence;    //  Names the blocks of the computed ones
    bool busy;               //  A request runs
    uint64_t used_ns;        //  When the last one ended; 0: never
} slot_t;

struct slots {
    slots_watch_t watch;    //  Whom to tell
    size_t block_size;      //  Tokens
    uint32_t count;         //  Slots
    slot_t slots [];        //  By number
};

slots_t *
slots_new (uint32_t count, const namespace_t *space, const slots_watch_t *watch)
{
    slots_t *self = memory_new (sizeof *self + count * sizeof (slot_t));
    self->watch = *watch;
    self->block_size = space->block_size;
    self->count = count;
    for (uint32_t i = 0; i < count; i++) {
        array_init (&self->slots [i].tokens, sizeof (uint32_t));
        self->slots [i].sequence = sequence_new (space);
    }
    return self;
}

void
slots_destroy (slots_t **self_p)
{
    slots_t *self = *self_p;
    if (!self)
        return;
    for (uint32_t i = 0; i < self->count; i++) {
        array_fini (&self->slots [i].tokens);
        sequence_destroy (&self->slots [i].sequence);
    }
    memory_free (self);
    *self_p = NULL;
}

static slot_t *
s_slot (slots_t *self, uint32_t slot)
{
    BUG_ON (slot >= self->count);
    return &self->slots [slot];
}

static size_t
s_common (const slot_t *slot, column_t prompt)
{
    const uint32_t *tokens = slot->tokens.data;
    size_t count = 0;
    while (count < slot->computed && count < prompt.count && tokens [count] == column_u32 (prompt, count))
        count++;
    return count;
}

uint32_t
slots_choose (const slots_t *self, column_t prompt)
{
    uint32_t best = SLOT_NONE, oldest = SLOT_NONE;
    size_t longest = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        const slot_t *slot = &self->slots [i];
        if (slot->busy)
            continue;
        size_t common = s_common (slot, prompt);
        if (common > longest && common >= slot->computed - common) {
            longest = common;
            best = i;
        }
        if (oldest == SLOT_NONE || slot->used_ns < self->slots [oldest].used_ns)
            oldest = i;
    }
    return best == SLOT_NONE ? oldest : best;
}

//  ---- Blocks --------------------------------------------------------------------------------------------------------

//  Names what is computed up to `tokens` and tells of the blocks that became whole.
static void
s_grow (slots_t *self, slot_t *slot, size_t tokens)
{
    if (tokens <= slot->computed)
        return;
    size_t before = 0, after = 0;
    sequence_hashes (slot->sequence, &before);
    sequence_extend (slot->sequence, (const uint32_t *)slot->tokens.data + slot->computed, tokens - slot->computed);
    slot->computed = tokens;
    const hash128_t *hashes = sequence_hashes (slot->sequence, &after);
    if (before < after)
        self->watch.on_stored (
            self->watch.arg, before ? hashes [before - 1] : SEQUENCE_ROOT, hashes + before, after - before);
}

//  Forgets what is computed beyond `tokens` and tells of the blocks that lost some.
static void
s_shrink (slots_t *self, slot_t *slot, size_t tokens)
{
    if (tokens >= slot->computed)
        return;
    size_t before = 0, kept = tokens / self->block_size;
    sequence_hashes (slot->sequence, &before);
    if (kept < before) {
        uint64_t *gone = memory_new ((before - kept) * sizeof *gone);
        sequence_copy_short (slot->sequence, kept, before - kept, gone);
        self->watch.on_removed (self->watch.arg, gone, before - kept);
        memory_free (gone);
    }
    sequence_truncate (slot->sequence, kept);
    size_t whole = kept * self->block_size;
    sequence_extend (slot->sequence, (const uint32_t *)slot->tokens.data + whole, tokens - whole);
    slot->computed = tokens;
}

//  ---- A request -----------------------------------------------------------------------------------------------------

size_t
slots_begin (slots_t *self, uint32_t number, column_t prompt)
{
    slot_t *slot = s_slot (self, number);
    BUG_ON (slot->busy || prompt.count == 0);
    slot->busy = true;
    size_t common = s_common (slot, prompt);
    if (common == prompt.count)
        common--;
    s_shrink (self, slot, common);
    array_cut (&slot->tokens, 0);
    for (size_t i = 0; i < prompt.count; i++)
        array_append (&slot->tokens, &(uint32_t){ column_u32 (prompt, i) }, 1);
    return common;
}

void
slots_reused (slots_t *self, uint32_t number, size_t tokens)
{
    s_shrink (self, s_slot (self, number), tokens);
}

void
slots_computed (slots_t *self, uint32_t number, size_t tokens)
{
    slot_t *slot = s_slot (self, number);
    s_grow (self, slot, tokens < slot->tokens.count ? tokens : slot->tokens.count);
}

void
slots_generated (slots_t *self, uint32_t number, const uint32_t *tokens, size_t count)
{
    slot_t *slot = s_slot (self, number);
    if (!count)
        return;
    array_append (&slot->tokens, tokens, count);
    s_grow (self, slot, slot->tokens.count - 1);
}

void
slots_end (slots_t *self, uint32_t number, size_t cached, uint64_t now_ns)
{
    slot_t *slot = s_slot (self, number);
    slot->busy = false;
    slot->used_ns = now_ns;
    if (cached == SIZE_MAX)
        return;
    s_shrink (self, slot, cached);
    slots_computed (self, number, cached);
}

uint64_t
slots_busy_tokens (const slots_t *self)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < self->count; i++)
        tokens += self->slots [i].busy ? self->slots [i].computed : 0;
    return tokens;
}

size_t
slots_tokens (const slots_t *self, uint32_t slot)
{
    return self->slots [slot].computed;
}
