//  A query is walked run by run: a lookup where it enters a run, then comparing row with row.  Consecutive blocks with one set
//  make one segment, so the answer costs nothing for the holders in it until somebody asks for them.  Sets of different
//  segments are intersected only then.

#include <string.h>

#include "kv/index/index_private.h"

//  Runs, the lines of runs and, further on, blocks of the query that are being loaded while a run is looked at; and of how many
//  blocks one is compared until they differ.
enum { RUNS_AHEAD = 4, LINES_AHEAD = 8, HASHES_AHEAD = 4, STRIDE = 16 };

void
index_match_init (index_match_t *match)
{
    array_init (&match->segments, sizeof (index_segment_t));
    array_init (&match->scratch, sizeof (uint64_t));
}

void
index_match_fini (index_match_t *match)
{
    array_fini (&match->scratch);
    array_fini (&match->segments);
}

//  Appends a segment, or makes the last one longer.  False where nobody has these blocks.
static bool
s_add_segment (const index_t *self, array_t *segments, uint32_t first, uint32_t end, set_t set)
{
    index_segment_t *last = segments->count ? array_at (segments, segments->count - 1) : NULL;
    if (last && last->set == set) {
        last->end = end;
        return true;
    }
    if (!index_set_is_live (self, set))
        return false;
    sets_prefetch (self->sets, set);
    *(index_segment_t *)array_add (segments) = (index_segment_t){ first, end, set };
    return true;
}

//  A query, and what of it is on its way from memory.  Runs are taken to be full, as most along a long prompt are, until one
//  is not.
typedef struct {
    const uint64_t *hashes;    //  Borrowed
    size_t count;              //  Of them
    size_t next;               //  Where the next run begins, if the one before is full
    size_t runs;               //  Runs that begin before this are being loaded,
    size_t lines;              //  and the lines of those that begin before this
} query_t;

//  Starts loading what comes from a position on, where a run begins: runs, whose lines are there since the last time, lines, and
//  the query's own blocks, which may have been read long ago.
static void
s_look_ahead (const index_t *self, query_t *query, size_t position)
{
    if (position != query->next) {
        query->lines = position;
        query->runs = position + RUN_MAX;
    }
    query->next = position + RUN_MAX;
    for (; query->runs < query->lines && query->runs < position + RUNS_AHEAD * RUN_MAX; query->runs += RUN_MAX)
        runs_prefetch_run (&self->runs, query->hashes [query->runs], RUN_MAX - 1);
    for (; query->lines < query->count && query->lines < position + LINES_AHEAD * RUN_MAX; query->lines += RUN_MAX) {
        runs_prefetch (&self->runs, &query->hashes [query->lines], 1);
        if (query->count - query->lines > HASHES_AHEAD * RUN_MAX)
            __builtin_prefetch (&query->hashes [query->lines + HASHES_AHEAD * RUN_MAX]);
    }
}

//  How many blocks from a place on are those of the query; the first is, and so is the last of them.  Where nobody lied those
//  between are; no comparison waits for what another one read.
static uint32_t
s_common (const run_t *run, const uint64_t *ours, uint32_t blocks, const uint64_t *hashes)
{
    uint32_t common = 1;
    if (run->disputed)
        return (uint32_t)index_equal (ours, hashes, blocks);
    if (ours [blocks - 1] == hashes [blocks - 1])
        return blocks;
    while (common + STRIDE < blocks && ours [common + STRIDE] == hashes [common + STRIDE])
        common += STRIDE + 1;
    while (ours [common] == hashes [common])
        common++;
    return common;
}

//  Adds the stretches of the run that the query runs along, up to the first whose last block is another one.  Returns how many
//  blocks that is; 0 where nobody has the next.
static uint32_t
s_match_run (const index_t *self, place_t place, query_t *query, uint32_t position, array_t *segments)
{
    stretch_t single;
    const run_t *run = runs_at (&self->runs, place.run);
    const stretch_t *stretch = runs_stretches (run, &single);
    __builtin_prefetch (stretch);
    const uint64_t *ours = runs_hashes (&self->runs, place), *hashes = query->hashes + position;
    uint32_t blocks = run->count - place.offset, left = (uint32_t)(query->count - position), done = 0;
    uint32_t common = s_common (run, ours, blocks < left ? blocks : left, hashes);
    s_look_ahead (self, query, position + common);
    for (; done < common; stretch++) {
        uint32_t here = place.offset + done, end = place.offset + common;
        if (stretch->end <= here)
            continue;
        blocks = (stretch->end < end ? stretch->end : end) - here;
        if (ours [done + blocks - 1] != hashes [done + blocks - 1])
            common = done + (blocks = (uint32_t)index_equal (ours + done, hashes + done, blocks));
        if (!s_add_segment (self, segments, position + done, position + done + blocks, stretch->set))
            return 0;
        done += blocks;
    }
    return done;
}

void
index_match (const index_t *self, const uint64_t *hashes, size_t count, index_match_t *match)
{
    query_t query = { .hashes = hashes, .count = count };
    place_t place;
    uint32_t blocks = 1;
    array_cut (&match->segments, 0);
    for (uint32_t i = 0; i < count && i < UINT32_MAX - RUN_MAX && blocks; i += blocks) {
        if (!runs_find (&self->runs, hashes [i], &place))
            return;
        blocks = s_match_run (self, place, &query, i, &match->segments);
    }
}

void
index_segment_holders (const index_t *self, const index_segment_t *segment, array_t *holders)
{
    set_view_t view;
    sets_view (self->sets, segment->set, &view);
    while (view.left) {
        uint32_t holder = index_holder_of (self, sets_next (&view));
        if (holder != HOLDER_NONE)
            *(uint32_t *)array_add (holders) = holder;
    }
}

//  Writes the overlap of a seat, if that is somebody's still.  Returns where the next goes.
static inline index_overlap_t *
s_write_overlap (const index_t *self, uint32_t seat, uint32_t blocks, index_overlap_t *next)
{
    uint32_t holder = index_holder_of (self, seat);
    *next = (index_overlap_t){ holder, blocks };
    return next + (holder != HOLDER_NONE);
}

//  The same for all seats whose bits are set in one word.
static inline index_overlap_t *
s_write_overlaps (const index_t *self, uint64_t bits, size_t word, uint32_t blocks, index_overlap_t *next)
{
    for (; bits; bits &= bits - 1)
        next = s_write_overlap (self, (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll (bits), blocks, next);
    return next;
}

//  Who leads, and how far.
typedef struct {
    uint64_t *leading;        //  Their seats as bits
    size_t words;             //  Of bits
    uint64_t *room;           //  As many words
    index_overlap_t *next;    //  Where the next overlap goes
} race_t;

//  The overlap of those that are leading and not in the segment ends where that begins.  True while anybody leads.
static bool
s_end_overlaps (const index_t *self, race_t *race, const index_segment_t *segment)
{
    uint32_t count;
    const uint64_t *now = sets_bits (self->sets, segment->set, race->room, &count);
    uint64_t any = 0;
    for (size_t word = 0; word < race->words; word++) {
        uint64_t here = word < count ? now [word] : 0;
        race->next = s_write_overlaps (self, race->leading [word] & ~here, word, segment->first, race->next);
        any |= race->leading [word] &= here;
    }
    return any;
}

//  The overlaps of a match that has several segments.  Returns where the next goes.
static index_overlap_t *
s_race (const index_t *self, index_match_t *match, index_overlap_t *next)
{
    const index_segment_t *segment = match->segments.data, *last = segment + match->segments.count - 1;
    size_t words = self->seats.count / 64 + 1;
    for (const index_segment_t *each = segment; each <= last; each++)
        sets_prefetch_bits (self->sets, each->set);
    array_cut (&match->scratch, 0);
    uint64_t *leading = array_append (&match->scratch, NULL, 2 * words);
    race_t race = { leading, words, leading + words, next };
    uint32_t count, end = segment->end;
    const uint64_t *first = sets_bits (self->sets, segment->set, race.room, &count);
    memcpy (leading, first, count * sizeof *first);
    while (segment < last && s_end_overlaps (self, &race, ++segment))
        end = segment->end;
    for (size_t word = 0; word < words; word++)
        race.next = s_write_overlaps (self, leading [word], word, end, race.next);
    return race.next;
}

void
index_overlaps (const index_t *self, index_match_t *match, array_t *overlaps)
{
    const index_segment_t *first = match->segments.data;
    set_view_t view;
    if (!match->segments.count)
        return;
    sets_view (self->sets, first->set, &view);    //  Whoever has an overlap has its beginning
    index_overlap_t *start = array_append (overlaps, NULL, view.count), *next = start;
    if (match->segments.count > 1 || view.bits)
        next = s_race (self, match, next);
    else
        while (view.left)
            next = s_write_overlap (self, sets_next (&view), first->end, next);
    array_cut (overlaps, overlaps->count - view.count + (size_t)(next - start));
}

static void
s_find_best (const index_t *self, const uint64_t *hashes, size_t count, index_explanation_t *explanation)
{
    index_match_t match;
    array_t overlaps;
    index_match_init (&match);
    array_init (&overlaps, sizeof (index_overlap_t));
    index_match (self, hashes, count, &match);
    index_overlaps (self, &match, &overlaps);
    for (size_t i = 0; i < overlaps.count; i++) {
        const index_overlap_t *each = array_at (&overlaps, i);
        bool better = each->blocks > explanation->best ||
                      (each->blocks == explanation->best && each->holder < explanation->best_holder);
        if (better) {
            explanation->best = each->blocks;
            explanation->best_holder = each->holder;
        }
    }
    array_fini (&overlaps);
    index_match_fini (&match);
}

index_explanation_t
index_explain (const index_t *self, uint32_t holder, const uint64_t *hashes, size_t count)
{
    index_explanation_t explanation = { .end = OVERLAP_END_WHOLE, .best_holder = HOLDER_NONE };
    uint32_t seat = index_seat_of (self, holder);
    s_find_best (self, hashes, count, &explanation);
    if (!seat)
        explanation.end = OVERLAP_END_STRANGER;
    for (size_t i = 0; i < count && seat; i++) {
        place_t place = { 0, 0 };
        bool held = index_seat_has (self, seat, hashes [i], &place);
        if (explanation.end != OVERLAP_END_WHOLE)
            explanation.hidden += held;
        else if (held)
            explanation.overlap++;
        else
            explanation.end =
                place.run && index_place_is_live (self, place) ? OVERLAP_END_ELSEWHERE : OVERLAP_END_NOBODY;
    }
    return explanation;
}
