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

//  How many slots of a line are used.
static uint32_t
s_used (const line_t *line)
{
    uint32_t used = 0;
#pragma GCC unroll 10
    for (uint32_t i = 0; i < LINE_SLOTS; i++)
        used += line->numbers [i] != 0;
    return used;
}

static void
s_put (lines_t *self, line_t *line, uint32_t number, uint16_t tag)
{
    while (line->numbers [LINE_SLOTS - 1])
        line = line->further ? s_further (self, line->further) : s_add_further (self, line);
    uint32_t slot = s_used (line);
    line->numbers [slot] = number;
    line->tags [slot] = tag;
}

//  Moves the numbers of a line that was cut out of its place to where they belong now.
static void
s_divide (lines_t *self, const line_t *old, uint32_t bit, line_t *low, line_t *high)
{
    uint32_t used = s_used (old);
    for (uint32_t i = 0; i < used; i++)
        s_put (self, old->tags [i] & bit ? high : low, old->numbers [i], old->tags [i]);
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
    line_t *low = s_line (self, upper & (below - 1)), *high = s_line (self, upper), old = *low;
    memset (low, 0, sizeof *low);
    s_divide (self, &old, bit, low, high);
    while (old.further) {
        uint32_t further = old.further;
        old = *s_further (self, further);
        s_free_further (self, further);
        s_divide (self, &old, bit, low, high);
    }
}

void
lines_add (lines_t *self, uint32_t number)
{
    if (++self->count > (uint64_t)self->lines * FILL && self->lines < LINES_MAX)
        s_split (self);
    uint64_t hash = lines_hash (self, number);
    s_put (self, s_line_of (self, hash), number, s_tag (hash));
}

//  A bit for each slot with this tag.  Without branches: most slots do not have it.
static uint32_t
s_matches (const line_t *line, uint16_t tag)
{
    uint32_t matches = 0;
#pragma GCC unroll 10
    for (uint32_t i = 0; i < LINE_SLOTS; i++)
        matches |= (uint32_t)(line->tags [i] == tag) << i;
    return matches;
}

void
lines_remove (lines_t *self, uint32_t number)
{
    uint64_t hash = lines_hash (self, number);
    uint16_t tag = s_tag (hash);
    line_t *line = s_line_of (self, hash), *before = NULL, *hole = NULL;
    uint32_t slot = 0;
    for (;; line = s_further (self, line->further)) {
        for (uint32_t matches = hole ? 0 : s_matches (line, tag); matches; matches &= matches - 1)
            if (line->numbers [__builtin_ctz (matches)] == number) {
                hole = line;
                slot = (uint32_t)__builtin_ctz (matches);
            }
        if (!line->further)
            break;
        before = line;
    }
    BUG_ON (!hole);
    uint32_t last = s_used (line) - 1;    //  The last one of all fills the hole
    hole->numbers [slot] = line->numbers [last];
    hole->tags [slot] = line->tags [last];
    line->numbers [last] = 0;
    if (last == 0 && before) {
        s_free_further (self, before->further);
        before->further = 0;
    }
    self->count--;
}

uint32_t
lines_find (const lines_t *self, uint64_t hash)
{
    uint16_t tag = s_tag (hash);
    for (const line_t *line = s_line_of (self, hash); line; line = s_further (self, line->further))
        for (uint32_t matches = s_matches (line, tag); matches; matches &= matches - 1) {
            uint32_t number = line->numbers [__builtin_ctz (matches)];
            if (number && lines_hash (self, number) == hash)
                return number;
        }
    return 0;
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
            uint32_t used = s_used (line);
            BUG_ON (line->further && used < LINE_SLOTS);
            for (uint32_t i = used; i < LINE_SLOTS; i++)
                BUG_ON (line->numbers [i]);
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
