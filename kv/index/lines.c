#include "kv/index/lines.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/bug.h"
#include "base/memory.h"

enum {
    SLAB_BITS = 10,
    SLAB = 1 << SLAB_BITS,
    LINES_FIRST = 16,     //  The first slab grows from so many
    TAG_SHIFT = 14,       //  Of the bits of a hash that make its tag
    FILL = 6,             //  Numbers a line on average, beyond which a line is added
    AHEAD = 32,           //  Hashes of a row whose lines are being loaded,
    FURTHER_AHEAD = 8,    //  and those whose further lines are
    FURTHER_MAX = 8,      //  Lines that go on from one; more never come about where hashes are mixed
    FURTHER_LAST = (1 << FURTHER_BITS) - 1,
    LINES_MAX = 1 << 26    //  Beyond it lines get fuller: NUMBERS_MAX are eight a line
};

_Static_assert(sizeof (line_t) == 64, "a line is a cache line");

//  Slabs are a line larger than needed, so that the lines in them begin where cache lines do.
static void
s_add_slab (lines_t *self, size_t lines)
{
    void *memory = memory_new ((lines + 1) * sizeof (line_t));
    *(void **)array_add (&self->slab_memory) = memory;
    *(void **)array_add (&self->slabs) =
        (void *)(((uintptr_t)memory + sizeof (line_t) - 1) & ~(uintptr_t)(sizeof (line_t) - 1));
}

//  While it is the only one, its lines are copied to one of twice as many: small indexes take little.
static void
s_grow_first_slab (lines_t *self)
{
    void *memory = *(void **)array_at (&self->slab_memory, 0);
    const line_t *lines = *(line_t **)array_at (&self->slabs, 0);
    array_cut (&self->slab_memory, 0);
    array_cut (&self->slabs, 0);
    s_add_slab (self, self->span);
    memcpy (*(line_t **)array_at (&self->slabs, 0), lines, self->lines * sizeof *lines);
    memory_free (memory);
}

void
lines_init (lines_t *self)
{
    *self = (lines_t){ .lines = LINES_FIRST, .span = LINES_FIRST };
    pile_init (&self->rows, sizeof (uint64_t *));
    pile_init (&self->further, sizeof (line_t));
    pile_add (&self->further);
    array_init (&self->slabs, sizeof (void *));
    array_init (&self->slab_memory, sizeof (void *));
    s_add_slab (self, LINES_FIRST);
}

void
lines_fini (lines_t *self)
{
    for (size_t i = 0; i < self->slab_memory.count; i++)
        memory_free (((void **)self->slab_memory.data) [i]);
    array_fini (&self->slab_memory);
    array_fini (&self->slabs);
    pile_fini (&self->further);
    pile_fini (&self->rows);
}

bool
lines_shed (lines_t *self)
{
    size_t slabs = self->slab_memory.count;
    if (!slabs)
        return pile_shed (&self->further) || pile_shed (&self->rows);
    memory_free (((void **)self->slab_memory.data) [slabs - 1]);
    array_cut (&self->slab_memory, slabs - 1);
    return true;
}

static line_t *
s_line (const lines_t *self, uint32_t position)
{
    return ((line_t **)self->slabs.data) [position >> SLAB_BITS] + (position & (SLAB - 1));
}

//  What it takes to find a line, for loops in which none is added.
typedef struct {
    line_t *const *slabs;    //  Borrowed
    uint32_t lines;          //  As in lines_t
    uint32_t span;           //  As in lines_t
} grid_t;

static inline grid_t
s_grid (const lines_t *self)
{
    return (grid_t){ self->slabs.data, self->lines, self->span };
}

static inline line_t *
s_line_of (grid_t grid, uint64_t hash)
{
    uint32_t position = (uint32_t)hash & (grid.span - 1);
    position = position < grid.lines ? position : position - grid.span / 2;
    return grid.slabs [position >> SLAB_BITS] + (position & (SLAB - 1));
}

static line_t *
s_further (const lines_t *self, uint32_t number)
{
    return number ? pile_at (&self->further, number) : NULL;
}

static uint16_t
s_tag (uint64_t hash)
{
    return (uint16_t)(hash >> TAG_SHIFT);
}

//  NULL where there may be no more.
static line_t *
s_add_further (lines_t *self, line_t *line)
{
    uint32_t number = self->free;
    if (number)
        self->free = s_further (self, number)->further;
    else if (self->further.count > FURTHER_LAST)
        return NULL;
    else {
        number = (uint32_t)self->further.count;
        pile_add (&self->further);
    }
    self->further_used++;
    line->further = number & FURTHER_LAST;
    line_t *further = s_further (self, number);
    memset (further, 0, sizeof *further);
    return further;
}

static void
s_free_further (lines_t *self, uint32_t number)
{
    s_further (self, number)->further = self->free & FURTHER_LAST;
    self->free = number;
    self->further_used--;
}

//  The first line with room that goes on from a full one; NULL where there may be no more lines.
static line_t *
s_find_room (lines_t *self, line_t *line)
{
    for (int further = 0; line && line->used == LINE_SLOTS; further++) {
        if (further == FURTHER_MAX)
            return NULL;
        line = line->further ? s_further (self, line->further) : s_add_further (self, line);
    }
    return line;
}

//  False where there is no room.
static inline bool
s_put (lines_t *self, line_t *line, uint32_t number, uint16_t tag)
{
    if (line->used == LINE_SLOTS && !(line = s_find_room (self, line)))
        return false;
    uint32_t slot = line->used++;
    line->numbers [slot] = number;
    line->tags [slot] = tag;
    return true;
}

//  ---- Growing -------------------------------------------------------------------------------------------------------

//  Moves what has a bit of the hash to another line, which is empty, and closes the holes.
static void
s_divide (const lines_t *self, line_t *low, line_t *high, uint32_t bit)
{
    uint32_t used = low->used, lower = 0, upper = 0;
    for (uint32_t i = 0; i < used; i++) {
        uint32_t number = low->numbers [i];
        uint16_t tag = low->tags [i];
        bool is_upper = bit >> TAG_SHIFT ? tag & bit >> TAG_SHIFT : lines_hash (self, number) & bit;
        high->numbers [upper] = low->numbers [lower] = number;
        high->tags [upper] = low->tags [lower] = tag;
        upper += is_upper;
        lower += !is_upper;
    }
    high->used = (uint8_t)upper;
    low->used = (uint8_t)lower;
}

//  The same for a line that goes on from a full one: all of it is put anew, for which there is as much room as before.
static void
s_divide_further (lines_t *self, line_t *low, line_t *high, uint32_t further, uint32_t bit)
{
    line_t old = *s_further (self, further), half = { .used = 0 };
    s_free_further (self, further);
    s_divide (self, &old, &half, bit);
    for (uint32_t i = 0; i < old.used; i++)
        s_put (self, low, old.numbers [i], old.tags [i]);
    for (uint32_t i = 0; i < half.used; i++)
        s_put (self, high, half.numbers [i], half.tags [i]);
    if (old.further)
        s_divide_further (self, low, high, old.further, bit);
}

//  One more line: takes over those numbers of its lower twin whose hash has the next bit set.
static void
s_split (lines_t *self)
{
    if (self->lines == self->span) {
        self->span *= 2;
        if (self->span <= SLAB)
            s_grow_first_slab (self);
    }
    uint32_t upper = self->lines++, below = self->span / 2;
    if (upper >> SLAB_BITS == self->slabs.count)
        s_add_slab (self, SLAB);
    line_t *low = s_line (self, upper & (below - 1)), *high = s_line (self, upper);
    uint32_t further = low->further;
    low->further = 0;
    s_divide (self, low, high, below);
    if (further)
        s_divide_further (self, low, high, further, below);
}

//  ---- Finding -------------------------------------------------------------------------------------------------------

//  The slots in use that have a tag, as bits.
static inline uint32_t
s_slots (const line_t *line, uint16_t tag)
{
#if defined(__SSE2__)
    __m128i wanted = _mm_set1_epi16 ((short)tag);
    __m128i low = _mm_cmpeq_epi16 (_mm_loadu_si128 ((const void *)line->tags), wanted);
    __m128i high = _mm_cmpeq_epi16 (_mm_loadu_si128 ((const void *)(line->tags + LINE_SLOTS - 8)), wanted);
    uint32_t both = (uint32_t)_mm_movemask_epi8 (_mm_packs_epi16 (low, high));
    uint32_t slots = (both & 0xFF) | both >> 8 << (LINE_SLOTS - 8);
#else
    uint32_t slots = 0;
    for (uint32_t slot = 0; slot < LINE_SLOTS; slot++)
        slots |= (uint32_t)(line->tags [slot] == tag) << slot;
#endif
    return slots & ((1u << line->used) - 1);
}

static uint32_t
s_find (const lines_t *self, const line_t *line, uint64_t hash)
{
    for (; line; line = s_further (self, line->further))
        for (uint32_t slots = s_slots (line, s_tag (hash)); slots; slots &= slots - 1) {
            uint32_t slot = (uint32_t)__builtin_ctz (slots);
            if (lines_hash (self, line->numbers [slot]) == hash)
                return line->numbers [slot];
        }
    return 0;
}

uint32_t
lines_find (const lines_t *self, uint64_t hash)
{
    return s_find (self, s_line_of (s_grid (self), hash), hash);
}

void
lines_prefetch (const lines_t *self, const uint64_t *hashes, size_t count)
{
    grid_t grid = s_grid (self);
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch (s_line_of (grid, hashes [i]));
}

uint32_t
lines_guess (const lines_t *self, uint64_t hash)
{
    const line_t *line = s_line_of (s_grid (self), hash);
    uint32_t slots = s_slots (line, s_tag (hash));
    return slots ? line->numbers [__builtin_ctz (slots)] : 0;
}

//  ---- Adding and removing -------------------------------------------------------------------------------------------

//  The lines of hashes in a row, being loaded.
typedef struct {
    grid_t grid;                //  Where lines are
    const uint64_t *hashes;     //  Borrowed
    uint32_t count;             //  Of them
    line_t *lines [ROW_MAX];    //  By position, as far as loading goes
} loader_t;

static inline void
s_load (loader_t *self, uint32_t position)
{
    __builtin_prefetch (self->lines [position] = s_line_of (self->grid, self->hashes [position]));
}

static inline void
s_begin_loading (loader_t *self, const lines_t *lines, uint32_t number, uint32_t count)
{
    self->grid = s_grid (lines);
    self->hashes = *lines_row (lines, number >> ROW_BITS) + (number & (ROW_MAX - 1));
    self->count = count;
    for (uint32_t i = 0; i < AHEAD && i < count; i++)
        s_load (self, i);
}

//  The line of the hash at a position; each in turn.  What goes on from a line begins to be loaded when that is there.
static inline line_t *
s_loaded (loader_t *self, const lines_t *lines, uint32_t position)
{
    if (position + AHEAD < self->count)
        s_load (self, position + AHEAD);
    if (position + FURTHER_AHEAD < self->count) {
        uint32_t further = self->lines [position + FURTHER_AHEAD]->further;
        if (further)
            __builtin_prefetch (s_further (lines, further));
    }
    return self->lines [position];
}

uint32_t
lines_add (lines_t *self, uint32_t number, uint32_t count, uint32_t *found)
{
    loader_t loader;
    while (self->count + count > (uint64_t)self->lines * FILL && self->lines < LINES_MAX)
        s_split (self);
    s_begin_loading (&loader, self, number, count);
    uint32_t added = 0;
    *found = 0;
    for (; added < count; added++) {
        uint64_t hash = loader.hashes [added];
        uint16_t tag = s_tag (hash);
        line_t *line = s_loaded (&loader, self, added);
        bool is_new = !line->further && !s_slots (line, tag);    //  Nearly always
        *found = is_new ? 0 : s_find (self, line, hash);
        if (*found || !s_put (self, line, number + added, tag))
            break;
    }
    self->count += added;
    return added;
}

//  The slot with this number; LINE_SLOTS where it is not in the line.
static uint32_t
s_slot_of (const line_t *line, uint32_t number, uint16_t tag)
{
    uint32_t slots = s_slots (line, tag);
    while (slots && line->numbers [__builtin_ctz (slots)] != number)
        slots &= slots - 1;
    return slots ? (uint32_t)__builtin_ctz (slots) : LINE_SLOTS;
}

//  Takes a number out of a line or one that goes on from it; the last of all fills the hole.
static inline void
s_take (lines_t *self, line_t *line, uint32_t number, uint16_t tag)
{
    uint32_t slot;
    line_t *before = NULL;
    while ((slot = s_slot_of (line, number, tag)) == LINE_SLOTS) {
        BUG_ON (!line->further);
        before = line;
        line = s_further (self, line->further);
    }
    line_t *hole = line;
    for (; line->further; line = s_further (self, line->further))
        before = line;
    uint32_t last = --line->used;
    hole->numbers [slot] = line->numbers [last];
    hole->tags [slot] = line->tags [last];
    if (last == 0 && before) {
        s_free_further (self, before->further);
        before->further = 0;
    }
}

static void
s_remove_row (lines_t *self, uint32_t number, uint32_t count)
{
    loader_t loader;
    s_begin_loading (&loader, self, number, count);
    for (uint32_t i = 0; i < count; i++)
        s_take (self, s_loaded (&loader, self, i), number + i, s_tag (loader.hashes [i]));
}

void
lines_remove (lines_t *self, uint32_t number, uint32_t count)
{
    uint64_t first = lines_hash (self, number);
    if (count == 1)
        s_take (self, s_line_of (s_grid (self), first), number, s_tag (first));
    else
        s_remove_row (self, number, count);
    self->count -= count;
}

uint64_t
lines_bytes (const lines_t *self)
{
    uint64_t lines = self->span < SLAB ? self->span : self->lines;
    return (lines + self->further_used) * sizeof (line_t) + self->rows.count * sizeof (uint64_t *);
}

void
lines_check (const lines_t *self)
{
    uint32_t count = 0, further = 0, unused = 0;
    BUG_ON (self->lines > self->span || self->lines <= self->span / 2);
    for (uint32_t position = 0; position < self->lines; position++) {
        uint32_t length = 0;
        for (const line_t *line = s_line (self, position); line; line = s_further (self, line->further)) {
            uint32_t used = line->used;
            BUG_ON (used > LINE_SLOTS || (line->further && used < LINE_SLOTS));
            for (uint32_t i = 0; i < used; i++) {
                uint64_t hash = lines_hash (self, line->numbers [i]);
                BUG_ON (s_line_of (s_grid (self), hash) != s_line (self, position) || line->tags [i] != s_tag (hash));
            }
            BUG_ON (used == 0 && line != s_line (self, position));
            count += used;
            further += line->further != 0;
            BUG_ON (++length > 1 + FURTHER_MAX);
        }
    }
    for (uint32_t number = self->free; number; number = s_further (self, number)->further)
        unused++;
    BUG_ON (count != self->count || further != self->further_used || further + unused + 1 != self->further.count);
}
