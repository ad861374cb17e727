//  An engine's events as blocks of ours: stories, what real engines sent, and random events against an oracle that looks at
//  every path.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "kv/reblock.h"
#include "kv/recording_test.h"

enum { HELD_MAX = 4096, TOKENS_MAX = 2048 };

//  What the changes add up to.
typedef struct {
    hash128_t held [HELD_MAX];    //  Blocks, in no order
    size_t count;                 //  Of them
    size_t calls;                 //  Changes so far
    hash128_t parent;             //  Of the last stored run
    size_t run;                   //  Blocks of the last change
} listener_t;

static size_t
s_position (const listener_t *listener, hash128_t hash)
{
    size_t position = 0;
    while (position < listener->count && !hash128_equal (listener->held [position], hash))
        position++;
    return position;
}

static void
s_on_change (void *arg, reblock_change_t change, hash128_t parent, const hash128_t *hashes, size_t count)
{
    listener_t *listener = arg;
    listener->calls++;
    listener->parent = parent;
    listener->run = count;
    if (change == REBLOCK_CLEARED)
        listener->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t position = s_position (listener, hashes [i]);
        assert_int_equal (position < listener->count, change == REBLOCK_REMOVED);
        if (change == REBLOCK_REMOVED)
            listener->held [position] = listener->held [--listener->count];
        else {
            assert_true (listener->count < HELD_MAX);
            listener->held [listener->count++] = hashes [i];
        }
    }
}

static namespace_t
s_namespace (uint32_t block_size)
{
    namespace_t ns;
    namespace_parts_t parts = { .fingerprint = SPAN ("card"), .block_size = block_size };
    assert_int_equal (namespace_init (&ns, SPAN ("secret"), &parts, NULL), STATUS_OK);
    return ns;
}

//  ---- Stories -------------------------------------------------------------------------------------------------------

static const uint32_t s_tokens [] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    24 };

typedef struct {
    namespace_t ns;           //  Of our hashes
    reblock_t *reblock;       //  Under test
    listener_t listener;      //  What it said
    uint32_t theirs;          //  Tokens a part
    hash128_t ours [24];      //  Blocks of s_tokens
    reblock_stats_t stats;    //  As last read
} story_t;

static story_t *
s_story (uint32_t ours, uint32_t theirs, uint32_t limit)
{
    static story_t story;
    memset (&story, 0, sizeof story);
    story.ns = s_namespace (ours);
    story.theirs = theirs;
    story.reblock = reblock_new (&story.ns, theirs, limit, s_on_change, &story.listener);
    sequence_hash_tokens (&story.ns, SEQUENCE_ROOT, s_tokens, 24, story.ours);
    return &story;
}

//  Stores the parts first .. end - 1 of s_tokens, which have the hashes 101, 102 and so on.
static status_t
s_store (story_t *story, uint64_t first, uint64_t end)
{
    uint64_t hashes [24], parent = 100 + first;
    for (uint64_t i = first; i < end; i++)
        hashes [i - first] = 101 + i;
    return reblock_store (story->reblock, first ? &parent : NULL, hashes, end - first, s_tokens + first * story->theirs,
        (end - first) * story->theirs, NULL);
}

static void
s_remove (story_t *story, uint64_t part)
{
    uint64_t hash = 101 + part;
    reblock_remove (story->reblock, &hash, 1);
}

static bool
s_is_held (const story_t *story, size_t block)
{
    return s_position (&story->listener, story->ours [block]) < story->listener.count;
}

static void
s_end (story_t *story)
{
    reblock_stats (story->reblock, &story->stats);
    assert_int_equal (story->stats.blocks, story->listener.count);
    reblock_destroy (&story->reblock);
    assert_null (story->reblock);
}

//  Four engine blocks make one of ours: it is there with the fourth and gone without any.
static void
test_several_parts_make_a_block (void **state)
{
    story_t *story = s_story (8, 2, 100);
    s_store (story, 0, 3);
    assert_int_equal (story->listener.count, 0);
    s_store (story, 3, 9);
    assert_int_equal (story->listener.count, 2);
    assert_int_equal (story->listener.run, 2);
    assert_true (s_is_held (story, 0) && s_is_held (story, 1));
    s_remove (story, 1);
    assert_false (s_is_held (story, 0));
    assert_true (s_is_held (story, 1));
    s_store (story, 1, 2);
    assert_true (s_is_held (story, 0));
    s_end (story);
}

static void
test_one_part_makes_several_blocks (void **state)
{
    story_t *story = s_story (2, 8, 100);
    s_store (story, 0, 2);
    assert_int_equal (story->listener.count, 8);
    assert_int_equal (story->listener.calls, 1);
    s_remove (story, 0);
    assert_int_equal (story->listener.count, 4);
    assert_false (s_is_held (story, 3));
    assert_true (s_is_held (story, 4));
    s_end (story);
}

//  Parts of six tokens and blocks of four: the second block needs the first two parts.
static void
test_sizes_need_not_divide_each_other (void **state)
{
    story_t *story = s_story (4, 6, 100);
    s_store (story, 0, 1);
    assert_int_equal (story->listener.count, 1);
    s_store (story, 1, 2);
    assert_int_equal (story->listener.count, 3);
    s_remove (story, 0);
    assert_true (!s_is_held (story, 0) && !s_is_held (story, 1) && s_is_held (story, 2));
    s_end (story);
}

//  Two parts that differ at their ends share the blocks before; those stay until both are gone.
static void
test_siblings_share_what_they_have_in_common (void **state)
{
    story_t *story = s_story (2, 4, 100);
    uint32_t other [4] = { 1, 2, 30, 40 };
    uint64_t hash = 7;
    s_store (story, 0, 1);
    assert_int_equal (reblock_store (story->reblock, NULL, &hash, 1, other, 4, NULL), STATUS_OK);
    assert_int_equal (story->listener.count, 3);
    s_remove (story, 0);
    assert_true (s_is_held (story, 0) && !s_is_held (story, 1));
    reblock_remove (story->reblock, &hash, 1);
    assert_int_equal (story->listener.count, 0);
    s_end (story);
    assert_int_equal (story->stats.parts, 0);
}

//  A part in three physical places goes with the third; the blocks are announced once.
static void
test_physical_copies_count (void **state)
{
    story_t *story = s_story (4, 4, 100);
    s_store (story, 0, 2);
    s_store (story, 1, 2);
    s_store (story, 1, 2);
    assert_int_equal (story->listener.calls, 1);
    s_remove (story, 1);
    s_remove (story, 1);
    assert_true (s_is_held (story, 1));
    s_remove (story, 1);
    assert_false (s_is_held (story, 1));
    s_remove (story, 1);
    s_end (story);
    assert_int_equal (story->stats.duplicates, 2);
    assert_int_equal (story->stats.removed, 3);
    assert_int_equal (story->stats.missing, 1);
}

//  A part that went is known while others follow it, so its children can be named; then it is a stranger.
static void
test_parents_are_remembered_for_their_children (void **state)
{
    story_t *story = s_story (4, 2, 100);
    s_store (story, 0, 3);
    s_remove (story, 0);
    s_remove (story, 1);
    assert_int_equal (s_store (story, 3, 4), STATUS_OK);
    assert_true (!s_is_held (story, 0) && s_is_held (story, 1));
    assert_true (hash128_equal (story->listener.parent, story->ours [0]));
    s_remove (story, 3);
    s_remove (story, 2);
    assert_int_equal (s_store (story, 1, 2), STATUS_NOT_FOUND);
    s_end (story);
    assert_int_equal (story->stats.parts, 0);
    assert_int_equal (story->stats.orphans, 1);
}

static void
test_clears_and_bounds (void **state)
{
    story_t *story = s_story (4, 4, 3);
    assert_int_equal (s_store (story, 0, 5), STATUS_LIMIT);
    assert_int_equal (story->listener.count, 3);
    reblock_clear (story->reblock);
    reblock_clear (story->reblock);
    assert_int_equal (story->listener.count, 0);
    assert_int_equal (s_store (story, 3, 4), STATUS_NOT_FOUND);
    assert_int_equal (s_store (story, 0, 2), STATUS_OK);
    uint64_t hash = 9;
    error_t error;
    assert_int_equal (reblock_store (story->reblock, NULL, &hash, 1, s_tokens, 5, &error), STATUS_INVALID);
    assert_string_equal (error.text, "1 blocks of 4 tokens do not have 5 tokens");
    assert_int_equal (reblock_store (story->reblock, NULL, NULL, 0, s_tokens, 8, NULL), STATUS_INVALID);
    s_end (story);
    assert_int_equal (story->stats.refused, 2);
    assert_int_equal (story->stats.cleared, 2);
    assert_int_equal (story->stats.invalid, 2);
    assert_int_equal (story->stats.orphans, 1);
}

//  ---- The oracle ----------------------------------------------------------------------------------------------------

enum { PARTS = 40, PARTS_MAX = 400, PART_TOKENS = 32, PATH_TOKENS = PARTS_MAX * PART_TOKENS, TOP = PARTS_MAX };

typedef struct {
    random_t random;                             //  Seeded
    namespace_t ns;                              //  Of our hashes
    uint32_t theirs;                             //  Tokens a part
    reblock_t *reblock;                          //  Under test
    listener_t listener;                         //  What it said
    uint32_t count;                              //  Parts there can be
    uint64_t hashes [PARTS_MAX];                 //  The engine's
    uint32_t parents [PARTS_MAX];                //  A part with a smaller number; TOP at the root
    uint32_t tokens [PARTS_MAX][PART_TOKENS];    //  Of a part
    uint32_t references [PARTS_MAX];             //  Physical copies
    uint64_t seen;                               //  Blocks held, summed over all comparisons
} world_t;

static bool
s_is_known (const world_t *world, uint32_t part)
{
    bool known [PARTS_MAX] = { false };
    for (uint32_t each = world->count; each--;) {
        known [each] |= world->references [each] != 0;
        if (known [each] && world->parents [each] != TOP)
            known [world->parents [each]] = true;
    }
    return known [part];
}

//  The parts from the root to this one; returns how many.
static uint32_t
s_path (const world_t *world, uint32_t part, uint32_t *path)
{
    uint32_t count = 0;
    for (uint32_t each = part; each != TOP; each = world->parents [each])
        count++;
    for (uint32_t i = count; i--; part = world->parents [part])
        path [i] = part;
    return count;
}

//  Every block on the path to a part that has all its tokens in parts that are there.
static void
s_expect_path (const world_t *world, uint32_t part, listener_t *expected)
{
    uint32_t path [PARTS_MAX], tokens [PATH_TOKENS];
    hash128_t hashes [PATH_TOKENS];
    uint32_t count = s_path (world, part, path);
    for (uint32_t i = 0; i < count; i++)
        memcpy (tokens + i * world->theirs, world->tokens [path [i]], world->theirs * sizeof *tokens);
    size_t blocks = sequence_hash_tokens (&world->ns, SEQUENCE_ROOT, tokens, count * world->theirs, hashes);
    for (size_t block = 0; block < blocks; block++) {
        bool whole = true;
        for (size_t token = block * world->ns.block_size; token < (block + 1) * world->ns.block_size; token++)
            whole &= world->references [path [token / world->theirs]] != 0;
        if (whole && s_position (expected, hashes [block]) == expected->count)
            expected->held [expected->count++] = hashes [block];
    }
}

static void
s_assert_world (world_t *world)
{
    listener_t expected = { .count = 0 };
    for (uint32_t part = 0; part < world->count; part++)
        if (world->references [part])
            s_expect_path (world, part, &expected);
    assert_int_equal (world->listener.count, expected.count);
    for (size_t i = 0; i < expected.count; i++)
        assert_true (s_position (&world->listener, expected.held [i]) < world->listener.count);
    world->seen += expected.count;
}

static void
s_random_store (world_t *world)
{
    uint32_t path [PARTS], tokens [PATH_TOKENS];
    uint64_t hashes [PARTS];
    uint32_t count = s_path (world, (uint32_t)random_below (&world->random, PARTS), path);
    uint32_t first = (uint32_t)random_below (&world->random, count);
    uint64_t parent = first ? world->hashes [path [first - 1]] : 0;
    bool known = !first || s_is_known (world, path [first - 1]);
    for (uint32_t i = first; i < count; i++) {
        hashes [i - first] = world->hashes [path [i]];
        memcpy (tokens + (i - first) * world->theirs, world->tokens [path [i]], world->theirs * sizeof *tokens);
        world->references [path [i]] += known;
    }
    status_t status = reblock_store (
        world->reblock, first ? &parent : NULL, hashes, count - first, tokens, (count - first) * world->theirs, NULL);
    assert_int_equal (status, known ? STATUS_OK : STATUS_NOT_FOUND);
}

static void
s_random_remove (world_t *world)
{
    uint64_t hashes [6];
    size_t count = random_below (&world->random, 7);
    for (size_t i = 0; i < count; i++) {
        uint64_t part = random_below (&world->random, PARTS);
        hashes [i] = world->hashes [part];
        world->references [part] -= world->references [part] != 0;
    }
    reblock_remove (world->reblock, hashes, count);
}

static void
s_run_world (world_t *world, uint64_t seed)
{
    memset (world, 0, sizeof *world);
    random_init (&world->random, seed);
    world->ns = s_namespace (1 + (uint32_t)random_below (&world->random, 12));
    world->theirs = 1 + (uint32_t)random_below (&world->random, 12);
    world->reblock = reblock_new (&world->ns, world->theirs, PARTS, s_on_change, &world->listener);
    world->count = PARTS;
    for (uint32_t part = 0; part < PARTS; part++) {
        world->hashes [part] = random_u64 (&world->random);
        world->parents [part] = part == 0 ? TOP
                                : random_chance (&world->random, 600000)
                                    ? part - 1
                                    : (uint32_t)random_below (&world->random, part);
        for (uint32_t i = 0; i < world->theirs; i++)    //  Siblings begin alike
            world->tokens [part][i] = i < world->theirs / 2 ? 5 : (uint32_t)random_below (&world->random, 3);
    }
    for (int i = 0; i < 400; i++) {
        uint64_t dice = random_below (&world->random, 100);
        if (dice < 50)
            s_random_store (world);
        else if (dice < 99)
            s_random_remove (world);
        else {
            reblock_clear (world->reblock);
            memset (world->references, 0, sizeof world->references);
        }
        s_assert_world (world);
    }
    for (uint32_t part = 0; part < PARTS; part++)
        for (; world->references [part]; world->references [part]--)
            reblock_remove (world->reblock, &world->hashes [part], 1);
    reblock_stats_t stats;
    reblock_stats (world->reblock, &stats);
    assert_int_equal (stats.parts, 0);
    assert_int_equal (stats.blocks, 0);
    reblock_destroy (&world->reblock);
}

static void
test_equals_a_look_at_every_path (void **state)
{
    static world_t world;
    uint64_t seed = 20261129, seen = 0;
    print_message ("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 300; round++) {
        s_run_world (&world, seed + (uint64_t)round);
        seen += world.seen;
    }
    assert_true (seen > 100000);
}

//  ---- What real engines sent ----------------------------------------------------------------------------------------

//  One engine of a recording, and its caches that attend to everything.
typedef struct {
    const char *file;    //  In tests/data/engines
    uint32_t engine;     //  Which
    uint32_t group;      //  Of its caches
    uint32_t theirs;     //  Tokens a block of it
    uint32_t changes;    //  That reblocks to all sizes see together
} recorded_engine_t;

static uint32_t
s_part_of (const world_t *world, uint64_t hash)
{
    uint32_t part = 0;
    while (part < world->count && world->hashes [part] != hash)
        part++;
    return part;
}

static void
s_recorded_store (world_t *world, const recorded_event_t *event)
{
    uint32_t before = event->at_root ? TOP : s_part_of (world, event->parent);
    for (size_t i = 0; i < event->count; i++) {
        uint32_t part = s_part_of (world, event->hashes [i]);
        if (part == world->count) {
            assert_true (world->count++ < PARTS_MAX);
            world->hashes [part] = event->hashes [i];
            world->parents [part] = before;
            memcpy (world->tokens [part], event->tokens + i * world->theirs, world->theirs * sizeof *event->tokens);
        }
        world->references [part]++;
        before = part;
    }
    assert_int_equal (reblock_store (world->reblock, event->at_root ? NULL : &event->parent, event->hashes,
                          event->count, event->tokens, event->count * world->theirs, NULL),
        STATUS_OK);
}

static void
s_recorded_event (world_t *world, const recorded_event_t *event)
{
    if (!strcmp (event->kind, "store"))
        s_recorded_store (world, event);
    else if (!strcmp (event->kind, "remove")) {
        for (size_t i = 0; i < event->count; i++)
            world->references [s_part_of (world, event->hashes [i])]--;
        reblock_remove (world->reblock, event->hashes, event->count);
    } else {
        reblock_clear (world->reblock);
        memset (world->references, 0, sizeof world->references);
    }
}

static void
s_replay_recording (world_t *world, const recording_t *recording, const recorded_engine_t *engine, uint32_t block_size)
{
    memset (world, 0, sizeof *world);
    world->ns = s_namespace (block_size);
    world->theirs = engine->theirs;
    world->reblock = reblock_new (&world->ns, engine->theirs, PARTS_MAX, s_on_change, &world->listener);
    for (size_t i = 0; i < recording->count; i++) {
        const recorded_event_t *event = &recording->events [i];
        bool is_clear = !strcmp (event->kind, "clear");
        if (event->engine != engine->engine || (!is_clear && event->group != engine->group))
            continue;
        s_recorded_event (world, event);
        s_assert_world (world);
    }
}

//  A real engine never continues what it has not announced nor removes what it has not stored, though it has hashes in several
//  places and evicts all the time.
static void
test_real_engines_are_understood_whole (void **state)
{
    static const recorded_engine_t engines [] = {
        { "vllm-0.23.0.events", 0, 0, 32, 1190 },
        { "vllm-0.25.1.events", 0, 0, 32, 1158 },
        { "vllm-0.32.0.events", 0, 0, 32, 1166 },
        { "vllm-0.32.0-gemma3.events", 0, 1, 32, 57 },
        { "vllm-0.32.0-pd-nixl.events", 0, 0, 32, 48 },
        { "vllm-0.32.0-pd-nixl.events", 1, 0, 32, 38 },
        { "sglang-0.5.23.events", 0, 0, 1, 15 },
        { "sglang-0.5.23.events", 1, 0, 4, 15 },
        { "sglang-0.5.23.events", 2, 0, 4, 1 },
    };
    static const uint32_t sizes [] = { 3, 16, 32, 48, 64 };
    static recording_t recording;
    static world_t world;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        uint64_t changes = 0;
        recording_read (&recording, engines [i].file);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            s_replay_recording (&world, &recording, &engines [i], sizes [k]);
            reblock_stats_t stats;
            reblock_stats (world.reblock, &stats);
            assert_int_equal (stats.missing + stats.orphans + stats.conflicts + stats.refused + stats.invalid, 0);
            changes += world.listener.calls;
            reblock_destroy (&world.reblock);
        }
        assert_int_equal (changes, engines [i].changes);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_several_parts_make_a_block),
        cmocka_unit_test (test_one_part_makes_several_blocks),
        cmocka_unit_test (test_sizes_need_not_divide_each_other),
        cmocka_unit_test (test_siblings_share_what_they_have_in_common),
        cmocka_unit_test (test_physical_copies_count),
        cmocka_unit_test (test_parents_are_remembered_for_their_children),
        cmocka_unit_test (test_clears_and_bounds),
        cmocka_unit_test (test_equals_a_look_at_every_path),
        cmocka_unit_test (test_real_engines_are_understood_whole),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
