#include "kv/index/lines.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

enum { SLAB_BITS = 10, SLAB = 1 << SLAB_BITS, FILL = 7, LINES_MAX = 1 << 26 };

_Static_assert(sizeof (line_t) == 64, "a line is a cache line");

static void
s_add_slab (lines_t *self)
{
    *(void **)array_add (&self->slabs) = memory_new ((SLAB + 1) * sizeof (line_t));
}

void
lines_init (lines_t *self, uint32_t row_bits)
{
    *self = (lines_t){ .row_bits = row_bits, .lines = SLAB, .span = SLAB };
    pile_init (&self->rows, sizeof (uint64_t *));
    pile_init (&self->further, sizeof (line_t));
    pile_add (&self->further);
    array_init (&self->slabs, sizeof (void *));
    s_add_slab (self);
}

void
lines_fini (lines_t *self)
{
    for (size_t i = 0; i < self->slabs.count; i++)
        memory_free (((void **)self->slabs.data) [i]);
    array_fini (&self->slabs);
    pile_fini (&self->further);
    pile_fini (&self->rows);
}

//  Slabs are a line larger than needed, so that the lines in them begin where cache lines do.
static line_t *
s_line (const lines_t *self, uint32_t position)
{
    uintptr_t slab = (uintptr_t)((char **)self->slabs.data) [position >> SLAB_BITS];
    line_t *lines = (line_t *)((slab + sizeof (line_t) - 1) & ~(uintptr_t)(sizeof (line_t) - 1));
    return &lines [position & (SLAB - 1)];
}

static line_t *
s_further (const lines_t *self, uint32_t number)
{
    return number ? pile_at (&self->further, number) : NULL;
}

static line_t *
s_line_of (const lines_t *self, uint64_t hash)
{
    uint32_t position = (uint32_t)hash & (self->span - 1);
    return s_line (self, position < self->lines ? position : position & (self->span / 2 - 1));
}

static uint16_t
s_tag (uint64_t hash)
{
    return (uint16_t)(hash >> SLAB_BITS);
}

static line_t *
s_add_further (lines_t *self, line_t *line)
{
    uint32_t number = self->free;
    if (number)
        self->free = s_further (self, number)->further;
    else {
        number = (uint32_t)self->further.count;
        pile_add (&self->further);
    }
    self->further_used++;
    line->further = number;
    line_t *further = s_further (self, number);
    memset (further, 0, sizeof *further);
    return further;
}

static void
s_free_further (lines_t *self, uint32_t number)
{
    s_further (self, number)->further = self->free;
    self->free = number;
    self->further_used--;
}

static void
s_put (lines_t *self, line_t *line, uint32_t number, uint16_t tag)
{
    while (line->used == LINE_SLOTS)
        line = line->further ? s_further (self, line->further) : s_add_further (self, line);
    line->numbers [line->used] = number;
    line->tags [line->used++] = tag;
}

//  Moves what belongs to `high` there, and closes the holes it leaves.  `high` has room for a line.
static void
s_divide (line_t *low, line_t *high, uint32_t bit)
{
    uint32_t used = low->used;
    low->used = 0;
    for (uint32_t i = 0; i < used; i++) {
        line_t *line = low->tags [i] & bit ? high : low;
        line->numbers [line->used] = low->numbers [i];
        line->tags [line->used++] = low->tags [i];
    }
}

//  The same for a line that goes on: everything is put anew.
static void
s_divide_further (lines_t *self, line_t *low, line_t *high, uint32_t bit)
{
    line_t old = *low;
    memset (low, 0, sizeof *low);
    for (uint32_t further = old.further;; further = old.further) {
        for (uint32_t i = 0; i < old.used; i++)
            s_put (self, old.tags [i] & bit ? high : low, old.numbers [i], old.tags [i]);
        if (!further)
            break;
        old = *s_further (self, further);
        s_free_further (self, further);
    }
}

//  One more line: takes over those numbers of its lower twin whose hash has the next bit set.
static void
s_split (lines_t *self)
{
    if (self->lines == self->span)
        self->span *= 2;
    uint32_t upper = self->lines++, below = self->span / 2, bit = below >> SLAB_BITS;
    if (upper >> SLAB_BITS == self->slabs.count)
        s_add_slab (self);
    line_t *low = s_line (self, upper & (below - 1)), *high = s_line (self, upper);
    if (low->further)
        s_divide_further (self, low, high, bit);
    else
        s_divide (low, high, bit);
}

void
lines_add (lines_t *self, uint32_t number, uint64_t hash)
{
    if (++self->count > (uint64_t)self->lines * FILL && self->lines < LINES_MAX)
        s_split (self);
    s_put (self, s_line_of (self, hash), number, s_tag (hash));
}

//  Four tags of a line at a time: bit 15 of each that is this one.
static uint64_t
s_equal_tags (const uint16_t *tags, uint16_t tag)
{
    const uint64_t low = 0x7FFF7FFF7FFF7FFFu;
    uint64_t four;
    memcpy (&four, tags, sizeof four);
    four ^= tag * 0x0001000100010001u;
    return ~(((four & low) + low) | four | low);
}

//  The slot with this number; LINE_SLOTS where it is not in the line.
static uint32_t
s_slot_of (const line_t *line, uint32_t number)
{
    uint32_t slot = 0;
    while (slot < line->used && line->numbers [slot] != number)
        slot++;
    return slot < line->used ? slot : LINE_SLOTS;
}

void
lines_remove (lines_t *self, uint32_t number)
{
    line_t *line = s_line_of (self, lines_hash (self, number)), *before = NULL;
    uint32_t slot;
    while ((slot = s_slot_of (line, number)) == LINE_SLOTS) {
        BUG_ON (!line->further);
        before = line;
        line = s_further (self, line->further);
    }
    line_t *hole = line;
    for (; line->further; line = s_further (self, line->further))
        before = line;
    line->used--;    //  The last one of all fills the hole
    hole->numbers [slot] = line->numbers [line->used];
    hole->tags [slot] = line->tags [line->used];
    if (line->used == 0 && before) {
        s_free_further (self, before->further);
        before->further = 0;
    }
    self->count--;
}

//  The number of a hash that is in one of the slots first .. first + 3 with a bit set, 16 bits a slot; 0 where it is in none.
static uint32_t
s_verify (const lines_t *self, const line_t *line, uint32_t first, uint64_t slots, uint64_t hash)
{
    for (; slots; slots &= slots - 1) {
        uint32_t slot = first + (uint32_t)__builtin_ctzll (slots) / 16;
        if (slot < line->used && lines_hash (self, line->numbers [slot]) == hash)
            return line->numbers [slot];
    }
    return 0;
}

uint32_t
lines_find (const lines_t *self, uint64_t hash)
{
    uint16_t tag = s_tag (hash);
    uint32_t number = 0;
    for (const line_t *line = s_line_of (self, hash); line && !number; line = s_further (self, line->further)) {
        uint64_t first = s_equal_tags (line->tags, tag), second = s_equal_tags (line->tags + 4, tag);
        uint64_t last = (line->tags [8] == tag) | (uint64_t)(line->tags [9] == tag) << 16;
        if (first)
            number = s_verify (self, line, 0, first, hash);
        if (second && !number)
            number = s_verify (self, line, 4, second, hash);
        if (last && !number)
            number = s_verify (self, line, 8, last, hash);
    }
    return number;
}

void
lines_prefetch (const lines_t *self, uint64_t hash)
{
    __builtin_prefetch (s_line_of (self, hash));
}

uint64_t
lines_bytes (const lines_t *self)
{
    return ((uint64_t)self->lines + self->further_used) * sizeof (line_t);
}

void
lines_check (const lines_t *self)
{
    uint32_t count = 0, further = 0;
    for (uint32_t position = 0; position < self->lines; position++)
        for (const line_t *line = s_line (self, position); line; line = s_further (self, line->further)) {
            uint32_t used = line->used;
            BUG_ON (used > LINE_SLOTS || (line->further && used < LINE_SLOTS));
            for (uint32_t i = 0; i < used; i++) {
                uint64_t hash = lines_hash (self, line->numbers [i]);
                BUG_ON (s_line_of (self, hash) != s_line (self, position) || line->tags [i] != s_tag (hash));
            }
            BUG_ON (used == 0 && line != s_line (self, position));
            count += used;
            further += line->further != 0;
        }
    BUG_ON (count != self->count || further != self->further_used);
}
