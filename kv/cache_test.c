//  The cache as an engine uses it, and against a list that looks for the block to evict among all of them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/random.h"
#include "kv/cache.h"

enum { BLOCKS = 60, REQUESTS = 6, OPERATIONS = 300000, CAPACITY = 24 };

typedef struct {
    uint64_t removed [BLOCKS];    //  Hashes, in the order they went
    size_t removed_count;         //  Of them
    bool cached [BLOCKS + 1];     //  By hash, as the changes say
    uint64_t parent;              //  Of the last stored run
} listener_t;

static void
s_on_change (void *arg, cache_change_t change, uint64_t parent, const uint64_t *hashes, size_t count)
{
    listener_t *listener = arg;
    assert_true (count > 0);
    if (change == CACHE_STORED) {
        listener->parent = parent;
        assert_true (parent == 0 || listener->cached [parent]);
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal (listener->cached [hashes [i]], change == CACHE_REMOVED);
        listener->cached [hashes [i]] = change == CACHE_STORED;
        if (change == CACHE_REMOVED)
            listener->removed [listener->removed_count++] = hashes [i];
    }
}

static void
s_serve (cache_t *cache, const uint64_t *hashes, size_t count)
{
    size_t cached = cache_acquire (cache, hashes, count);
    assert_true (cache_reserve (cache, count - cached));
    cache_insert (cache, cached ? hashes [cached - 1] : 0, hashes + cached, count - cached);
    cache_release (cache, hashes, count);
}

//  The path that was released longest ago goes, from its end, and only as far as room is needed.
static void
test_the_oldest_path_goes_from_its_end (void **state)
{
    listener_t listener = { 0 };
    cache_t *cache = cache_new (8, s_on_change, &listener);
    const uint64_t first [] = { 1, 2, 3, 4 }, second [] = { 1, 2, 5, 6 }, third [] = { 7, 8, 9 };
    s_serve (cache, first, 4);
    s_serve (cache, second, 4);
    s_serve (cache, third, 3);
    assert_int_equal (listener.removed_count, 1);
    assert_int_equal (listener.removed [0], 4);
    assert_int_equal (cache_lookup (cache, first, 4), 3);
    assert_true (cache_reserve (cache, 6));
    const uint64_t order [] = { 4, 3, 6, 5, 2, 1, 9 };
    assert_int_equal (listener.removed_count, 7);
    assert_memory_equal (listener.removed, order, sizeof order);
    cache_destroy (&cache);
    assert_null (cache);
}

//  Cached blocks that nobody has in use.
static size_t
s_idle (const cache_t *cache)
{
    cache_stats_t stats;
    cache_stats (cache, &stats);
    return stats.cached - stats.pinned;
}

static void
test_what_is_in_use_stays (void **state)
{
    cache_t *cache = cache_new (4, NULL, NULL);
    const uint64_t prompt [] = { 1, 2, 3 };
    cache_stats_t stats;
    s_serve (cache, prompt, 3);
    assert_int_equal (cache_acquire (cache, prompt, 2), 2);
    assert_false (cache_reserve (cache, 3));
    assert_int_equal (cache_lookup (cache, prompt, 3), 3);
    assert_true (cache_reserve (cache, 2));
    assert_int_equal (cache_lookup (cache, prompt, 3), 2);
    assert_int_equal (s_idle (cache), 0);
    cache_unreserve (cache, 2);
    cache_release (cache, prompt, 2);
    cache_stats (cache, &stats);
    assert_int_equal (stats.cached, 2);
    assert_int_equal (stats.pinned, 0);
    assert_int_equal (stats.reserved, 0);
    assert_int_equal (stats.evicted, 1);
    cache_destroy (&cache);
}

//  Two requests compute the same prompt at once: the second finds the first's blocks when it is done.
static void
test_what_somebody_else_cached_meanwhile_is_shared (void **state)
{
    listener_t listener = { 0 };
    cache_t *cache = cache_new (8, s_on_change, &listener);
    const uint64_t a [] = { 1, 2, 3 }, b [] = { 1, 2, 4 };
    assert_true (cache_reserve (cache, 6));
    cache_insert (cache, 0, a, 3);
    cache_insert (cache, 0, b, 3);
    assert_int_equal (listener.parent, 2);
    cache_stats_t stats;
    cache_stats (cache, &stats);
    assert_int_equal (stats.cached, 4);
    assert_int_equal (stats.reserved, 0);
    cache_release (cache, a, 3);
    assert_int_equal (s_idle (cache), 1);
    cache_release (cache, b, 3);
    assert_int_equal (s_idle (cache), 4);
    cache_destroy (&cache);
}

//  ---- The oracle ----------------------------------------------------------------------------------------------------

typedef struct {
    bool cached;       //  There
    uint32_t pins;     //  Users
    uint64_t stamp;    //  When it was last released
    uint32_t depth;    //  Blocks before it
} state_t;

typedef struct {
    uint64_t path [BLOCKS];    //  Its blocks
    size_t count;              //  Of the prompt
    size_t done;               //  Pinned so far
    bool running;              //  Between acquire and release
} request_t;

typedef struct {
    random_t random;                  //  Seeded
    cache_t *cache;                   //  Under test
    listener_t listener;              //  What it said
    state_t blocks [BLOCKS + 1];      //  What must be, by hash
    uint64_t parents [BLOCKS + 1];    //  By hash; 0 for a root
    request_t requests [REQUESTS];    //  Under way
    size_t reserved;                  //  Room
    uint64_t now;                     //  Releases so far
    uint64_t hits;                    //  Blocks found
} world_t;

static size_t
s_count (const world_t *world, bool pinned_only)
{
    size_t count = 0;
    for (uint64_t hash = 1; hash <= BLOCKS; hash++)
        count += world->blocks [hash].cached && (!pinned_only || world->blocks [hash].pins);
    return count;
}

static void
s_oracle_evict (world_t *world, size_t position)
{
    uint64_t victim = 0;
    for (uint64_t hash = 1; hash <= BLOCKS; hash++) {
        const state_t *block = &world->blocks [hash], *best = &world->blocks [victim];
        if (!block->cached || block->pins)
            continue;
        if (!victim || block->stamp < best->stamp || (block->stamp == best->stamp && block->depth > best->depth))
            victim = hash;
    }
    for (uint64_t child = 1; child <= BLOCKS; child++)
        assert_false (world->blocks [child].cached && world->parents [child] == victim);
    assert_int_equal (world->listener.removed [position], victim);
    world->blocks [victim].cached = false;
}

static void
s_oracle_release (world_t *world, const request_t *request)
{
    world->now++;
    for (size_t i = 0; i < request->done; i++) {
        state_t *block = &world->blocks [request->path [i]];
        if (--block->pins == 0)
            block->stamp = world->now;
    }
}

static void
s_draw_path (world_t *world, request_t *request)
{
    uint64_t hash = 1 + random_below (&world->random, BLOCKS);
    request->count = world->blocks [hash].depth + 1;
    for (size_t i = request->count; i--; hash = world->parents [hash])
        request->path [i] = hash;
}

static void
s_begin_request (world_t *world, request_t *request)
{
    s_draw_path (world, request);
    request->done = 0;
    while (request->done < request->count && world->blocks [request->path [request->done]].cached)
        world->blocks [request->path [request->done++]].pins++;
    assert_int_equal (cache_acquire (world->cache, request->path, request->count), request->done);
    world->hits += request->done;

    size_t need = request->count - request->done;
    request->running = need + s_count (world, true) + world->reserved <= CAPACITY;
    world->listener.removed_count = 0;
    assert_int_equal (cache_reserve (world->cache, need), request->running);
    if (request->running) {
        world->reserved += need;
        for (size_t i = 0; s_count (world, false) + world->reserved > CAPACITY; i++)
            s_oracle_evict (world, i);
    } else {
        cache_release (world->cache, request->path, request->done);
        s_oracle_release (world, request);
    }
}

static void
s_go_on (world_t *world, request_t *request)
{
    size_t count = random_below (&world->random, request->count - request->done + 1);
    uint64_t parent = request->done ? request->path [request->done - 1] : 0;
    cache_insert (world->cache, parent, request->path + request->done, count);
    world->reserved -= count;
    for (; count; count--) {
        state_t *block = &world->blocks [request->path [request->done++]];
        block->cached = true;
        block->pins++;
    }
}

static void
s_end_request (world_t *world, request_t *request)
{
    cache_unreserve (world->cache, request->count - request->done);
    world->reserved -= request->count - request->done;
    cache_release (world->cache, request->path, request->done);
    s_oracle_release (world, request);
    request->running = false;
}

static void
s_assert_world (const world_t *world)
{
    cache_stats_t stats;
    cache_stats (world->cache, &stats);
    assert_int_equal (stats.cached, s_count (world, false));
    assert_int_equal (stats.pinned, s_count (world, true));
    assert_int_equal (stats.reserved, world->reserved);
    for (uint64_t hash = 1; hash <= BLOCKS; hash++) {
        assert_int_equal (cache_lookup (world->cache, &hash, 1), world->blocks [hash].cached);
        assert_int_equal (world->listener.cached [hash], world->blocks [hash].cached);
    }
}

static void
test_equals_a_search_for_the_oldest_leaf (void **state)
{
    static world_t world;
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&world.random, seed);
    world.cache = cache_new (CAPACITY, s_on_change, &world.listener);
    for (uint64_t hash = 1; hash <= BLOCKS; hash++) {
        world.parents [hash] = random_chance (&world.random, 700000) ? hash - 1 : random_below (&world.random, hash);
        world.blocks [hash].depth = world.parents [hash] ? world.blocks [world.parents [hash]].depth + 1 : 0;
    }
    for (int i = 0; i < OPERATIONS; i++) {
        request_t *request = &world.requests [random_below (&world.random, REQUESTS)];
        if (!request->running)
            s_begin_request (&world, request);
        else if (random_chance (&world.random, 400000))
            s_end_request (&world, request);
        else
            s_go_on (&world, request);
        if (i % 16 == 0)
            s_assert_world (&world);
    }
    cache_stats_t stats;
    cache_stats (world.cache, &stats);
    assert_true (world.hits > OPERATIONS / 10 && stats.evicted > OPERATIONS / 10);
    cache_destroy (&world.cache);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_oldest_path_goes_from_its_end),
        cmocka_unit_test (test_what_is_in_use_stays),
        cmocka_unit_test (test_what_somebody_else_cached_meanwhile_is_shared),
        cmocka_unit_test (test_equals_a_search_for_the_oldest_leaf),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
