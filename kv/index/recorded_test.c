//  What a real engine sent (vLLM 0.32 with a small cache: hashes in several physical blocks, evictions all the time, clears) as two
//  workers that follow it, one some events behind, beside a naive count of references.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/index/index.h"

enum { EVENTS_MAX = 400, RUN_BLOCKS = 64, BLOCK_TOKENS = 32, BLOCKS_MAX = 1024, FOLLOWERS = 2, LAG = 10 };

typedef struct {
    char kind [8];                   //  "store", "remove", "clear"
    uint64_t parent;                 //  INDEX_ROOT for none
    size_t count;                    //  Of hashes
    uint64_t hashes [RUN_BLOCKS];    //  As the engine named them
} event_t;

typedef struct {
    uint32_t holder;                     //  Number in the index
    uint32_t references [BLOCKS_MAX];    //  By block
} follower_t;

typedef struct {
    event_t events [EVENTS_MAX];         //  The recording
    size_t event_count;                  //  Of them
    uint64_t hashes [BLOCKS_MAX];        //  Blocks that were ever stored
    uint64_t parents [BLOCKS_MAX];       //  Of each
    size_t block_count;                  //  Of them
    follower_t followers [FOLLOWERS];    //  In the order they were added
    index_t *index;                      //  Under test
} world_t;

static void
s_read_event (event_t *event, FILE *file)
{
    char parent [17] = "-";
    bool is_store = !strcmp (event->kind, "store");
    if (is_store)
        assert_int_equal (fscanf (file, "%16s", parent), 1);
    event->parent = *parent == '-' ? INDEX_ROOT : strtoull (parent, NULL, 16);
    event->count = 0;
    if (strcmp (event->kind, "clear"))
        assert_int_equal (fscanf (file, "%zu", &event->count), 1);
    assert_true (event->count <= RUN_BLOCKS);
    for (size_t i = 0; i < event->count; i++)
        assert_int_equal (fscanf (file, "%" SCNx64, &event->hashes [i]), 1);
    for (size_t i = 0; is_store && i < event->count * BLOCK_TOKENS; i++)
        assert_int_equal (fscanf (file, "%*u"), 0);
}

static void
s_read (world_t *world)
{
    FILE *file = fopen ("tests/data/engines/vllm-0.32.0.events", "r");
    assert_non_null (file);
    event_t *event = world->events;
    for (; fscanf (file, "%7s", event->kind) == 1; event++) {
        assert_true (event < world->events + EVENTS_MAX - 1);
        s_read_event (event, file);
    }
    world->event_count = (size_t)(event - world->events);
    fclose (file);
}

//  The position of a block; block_count where it was never stored.
static size_t
s_block (const world_t *world, uint64_t hash)
{
    size_t block = 0;
    while (block < world->block_count && world->hashes [block] != hash)
        block++;
    return block;
}

static void
s_follow_store (world_t *world, follower_t *follower, const event_t *event)
{
    uint64_t parent = event->parent;
    for (size_t i = 0; i < event->count; parent = event->hashes [i++]) {
        size_t block = s_block (world, event->hashes [i]);
        if (block == world->block_count) {
            assert_true (world->block_count++ < BLOCKS_MAX);
            world->hashes [block] = event->hashes [i];
            world->parents [block] = parent;
        }
        follower->references [block]++;
    }
    assert_int_equal (
        index_store (world->index, follower->holder, event->parent, event->hashes, event->count, NULL), STATUS_OK);
}

static void
s_follow (world_t *world, follower_t *follower, const event_t *event)
{
    if (!strcmp (event->kind, "store"))
        s_follow_store (world, follower, event);
    else if (!strcmp (event->kind, "remove")) {
        for (size_t i = 0; i < event->count; i++)
            follower->references [s_block (world, event->hashes [i])]--;
        index_remove (world->index, follower->holder, event->hashes, event->count, NULL);
    } else {
        memset (follower->references, 0, sizeof follower->references);
        index_clear (world->index, follower->holder, NULL);
    }
}

//  Writes the blocks that lead to one, itself included.  Returns how many.
static size_t
s_path (const world_t *world, size_t block, uint64_t *path)
{
    size_t count = 0;
    for (uint64_t hash = world->hashes [block]; hash != INDEX_ROOT; hash = world->parents [s_block (world, hash)])
        path [count++] = hash;
    for (size_t i = 0; i < count / 2; i++) {
        uint64_t hash = path [i];
        path [i] = path [count - 1 - i];
        path [count - 1 - i] = hash;
    }
    return count;
}

//  What the index says of the path to a block, beside what was counted.
static void
s_assert_path (const world_t *world, size_t block, index_match_t *match, array_t *overlaps)
{
    uint64_t path [BLOCKS_MAX];
    size_t count = s_path (world, block, path);
    uint32_t said [FOLLOWERS] = { 0 };
    array_cut (overlaps, 0);
    index_match (world->index, path, count, match);
    index_overlaps (world->index, match, overlaps);
    for (size_t i = 0; i < overlaps->count; i++) {
        const index_overlap_t *overlap = array_at (overlaps, i);
        said [overlap->holder] = overlap->blocks;
    }
    for (size_t i = 0; i < FOLLOWERS; i++) {
        const follower_t *follower = &world->followers [i];
        size_t leading = 0;
        while (leading < count && follower->references [s_block (world, path [leading])])
            leading++;
        assert_int_equal (said [follower->holder], leading);
        assert_int_equal (
            index_references (world->index, follower->holder, world->hashes [block]), follower->references [block]);
    }
}

static void
s_assert_world (const world_t *world)
{
    index_match_t match;
    array_t overlaps;
    index_match_init (&match);
    array_init (&overlaps, sizeof (index_overlap_t));
    index_check (world->index);
    for (size_t block = 0; block < world->block_count; block++)
        s_assert_path (world, block, &match, &overlaps);
    array_fini (&overlaps);
    index_match_fini (&match);
}

//  The engine continues nothing that it has not announced, and removes nothing that it has not stored.
static void
test_a_real_engine_is_followed_exactly (void **state)
{
    static world_t world;
    world.index = index_new (NULL);
    for (uint32_t i = 0; i < FOLLOWERS; i++)
        world.followers [i].holder = index_holder_add (world.index, &(holder_t){ .owner = i });
    s_read (&world);
    for (size_t i = 0; i < world.event_count + LAG; i++) {
        if (i < world.event_count)
            s_follow (&world, &world.followers [0], &world.events [i]);
        if (i >= LAG)
            s_follow (&world, &world.followers [1], &world.events [i - LAG]);
        s_assert_world (&world);
    }
    index_stats_t stats;
    index_stats (world.index, &stats);
    assert_true (stats.duplicates > 0 && stats.removed > 0 && stats.cleared > 0);
    assert_int_equal (stats.missing + stats.conflicts + stats.orphans, 0);
    assert_int_equal (index_digest (world.index, 0), index_digest (world.index, 1));
    index_destroy (&world.index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_real_engine_is_followed_exactly),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
