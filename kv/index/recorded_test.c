//  What real engines sent, as workers that follow them: each twice, one some events behind, beside a naive count of references.

#include "kv/index/index.h"
#include "kv/recording_test.h"

enum {
    BLOCKS_MAX = 1024,
    ENGINES = 4,
    GROUPS = 2,
    COPIES = 2,
    FOLLOWERS = ENGINES * GROUPS * COPIES,
    LAG = 10,
    TOP = 0
};

//  What a recording must have brought when it is over, of one copy of each follower.
typedef struct {
    const char *file;       //  In tests/data/engines
    uint64_t stored;        //  Blocks
    uint64_t duplicates;    //  Of them, those that were held already: in several physical blocks
    uint64_t removed;       //  Blocks
    uint64_t cleared;       //  Caches that were cleared
    uint64_t conflicts;     //  Blocks behind another one than before
} recording_facts_t;

typedef struct {
    uint64_t hash;                      //  As the engine named it
    size_t parent;                      //  The block before it when it was stored last; TOP
    uint32_t references [FOLLOWERS];    //  By follower
} block_t;

typedef struct {
    block_t blocks [BLOCKS_MAX];    //  That were ever stored; the first is none
    size_t count;                   //  Of them
    index_t *index;                 //  Under test
    uint64_t missing;               //  Removals of what was not there, as counted here
} world_t;

//  The number of a follower, and of its holder in the index.
static uint32_t
s_follower (uint32_t engine, uint32_t group, uint32_t copy)
{
    assert_true (engine < ENGINES && group < GROUPS);
    return (copy * ENGINES + engine) * GROUPS + group;
}

//  The position of a block, which is known from now on.
static size_t
s_block (world_t *world, uint64_t hash)
{
    size_t block = 1;
    while (block < world->count && world->blocks [block].hash != hash)
        block++;
    if (block == world->count) {
        assert_true (world->count++ < BLOCKS_MAX);
        world->blocks [block] = (block_t){ .hash = hash };
    }
    return block;
}

static void
s_follow_store (world_t *world, uint32_t follower, const recorded_event_t *event)
{
    size_t parent = event->at_root ? TOP : s_block (world, event->parent);
    for (size_t i = 0; i < event->count; i++) {
        size_t block = s_block (world, event->hashes [i]);
        world->blocks [block].references [follower]++;
        world->blocks [block].parent = parent;
        parent = block;
    }
    uint64_t before = event->at_root ? INDEX_ROOT : event->parent;
    assert_int_equal (index_store (world->index, follower, before, event->hashes, event->count, NULL), STATUS_OK);
}

static void
s_follow_remove (world_t *world, uint32_t follower, const recorded_event_t *event)
{
    for (size_t i = 0; i < event->count; i++) {
        uint32_t *references = &world->blocks [s_block (world, event->hashes [i])].references [follower];
        world->missing += *references == 0;
        *references -= *references > 0;
    }
    index_remove (world->index, follower, event->hashes, event->count, NULL);
}

//  An engine clears all its groups.
static void
s_follow_clear (world_t *world, uint32_t engine, uint32_t copy)
{
    for (uint32_t group = 0; group < GROUPS; group++) {
        uint32_t follower = s_follower (engine, group, copy);
        for (size_t block = 0; block < world->count; block++)
            world->blocks [block].references [follower] = 0;
        index_clear (world->index, follower, NULL);
    }
}

static void
s_follow (world_t *world, uint32_t copy, const recorded_event_t *event)
{
    if (!strcmp (event->kind, "store"))
        s_follow_store (world, s_follower (event->engine, event->group, copy), event);
    else if (!strcmp (event->kind, "remove"))
        s_follow_remove (world, s_follower (event->engine, event->group, copy), event);
    else
        s_follow_clear (world, event->engine, copy);
}

//  Writes the blocks that lead to one, itself included.  Returns how many.
static size_t
s_path (const world_t *world, size_t block, size_t path [BLOCKS_MAX], uint64_t hashes [BLOCKS_MAX])
{
    size_t count = 0;
    for (size_t each = block; each != TOP; each = world->blocks [each].parent)
        count++;
    for (size_t i = count; i--; block = world->blocks [block].parent) {
        path [i] = block;
        hashes [i] = world->blocks [block].hash;
    }
    return count;
}

//  What the index says of the path to a block, beside what was counted.
static void
s_assert_path (const world_t *world, size_t block, index_match_t *match, array_t *overlaps)
{
    size_t path [BLOCKS_MAX];
    uint64_t hashes [BLOCKS_MAX];
    size_t count = s_path (world, block, path, hashes);
    uint32_t said [FOLLOWERS] = { 0 };
    array_cut (overlaps, 0);
    index_match (world->index, hashes, count, match);
    index_overlaps (world->index, match, overlaps);
    for (size_t i = 0; i < overlaps->count; i++) {
        const index_overlap_t *overlap = array_at (overlaps, i);
        said [overlap->holder] = overlap->blocks;
    }
    for (uint32_t follower = 0; follower < FOLLOWERS; follower++) {
        size_t leading = 0;
        while (leading < count && world->blocks [path [leading]].references [follower])
            leading++;
        assert_int_equal (said [follower], leading);
        assert_int_equal (index_references (world->index, follower, world->blocks [block].hash),
            world->blocks [block].references [follower]);
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
    for (size_t block = 1; block < world->count; block++)
        s_assert_path (world, block, &match, &overlaps);
    array_fini (&overlaps);
    index_match_fini (&match);
}

static void
s_assert_facts (const world_t *world, const recording_facts_t *facts)
{
    index_stats_t stats;
    index_stats (world->index, &stats);
    assert_int_equal (stats.stored, COPIES * facts->stored);
    assert_int_equal (stats.duplicates, COPIES * facts->duplicates);
    assert_int_equal (stats.removed, COPIES * facts->removed);
    assert_int_equal (stats.cleared, COPIES * GROUPS * facts->cleared);
    assert_int_equal (stats.conflicts, COPIES * facts->conflicts);
    assert_int_equal (stats.missing + stats.orphans + world->missing, 0);
    for (uint32_t i = 0; i < FOLLOWERS / COPIES; i++)
        assert_int_equal (index_digest (world->index, i), index_digest (world->index, i + FOLLOWERS / COPIES));
}

static void
s_play (const recording_facts_t *facts)
{
    static recording_t recording;
    static world_t world;
    memset (&world, 0, sizeof world);
    world.count = 1;
    world.index = index_new (NULL);
    for (uint32_t i = 0; i < FOLLOWERS; i++)
        assert_int_equal (index_holder_add (world.index, &(holder_t){ .owner = i }), i);
    recording_read (&recording, facts->file);
    for (size_t i = 0; i < recording.count + LAG; i++) {
        if (i < recording.count)
            s_follow (&world, 0, &recording.events [i]);
        if (i >= LAG)
            s_follow (&world, 1, &recording.events [i - LAG]);
        s_assert_world (&world);
    }
    s_assert_facts (&world, facts);
    index_destroy (&world.index);
}

//  No engine removes what it has not stored nor continues what it does not have.  What has several groups of caches gives a
//  block another parent in each: where a window slides, the blocks before it are none.
static void
test_real_engines_are_followed_exactly (void **state)
{
    static const recording_facts_t recordings [] = {
        { "vllm-0.23.0.events", 254, 29, 217, 3, 0 },
        { "vllm-0.25.1.events", 254, 31, 212, 3, 0 },
        { "vllm-0.32.0.events", 247, 22, 203, 3, 0 },
        { "vllm-0.32.0-gemma3.events", 76, 0, 1, 1, 6 },
        { "vllm-0.32.0-pd-nixl.events", 36, 0, 0, 0, 0 },
        { "sglang-0.5.23.events", 55, 10, 8, 4, 0 },
    };
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        print_message ("%s\n", recordings [i].file);
        s_play (&recordings [i]);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_real_engines_are_followed_exactly),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
