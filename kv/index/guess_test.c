//  What an engine without events probably has: the story, and the same against lists that are read from end to end.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/index/guess.h"

enum { CAPACITY = 12, LIFETIME = 50, DEPTH = 8, PROMPTS = 3, OPERATIONS = 100000 };

static const holder_t s_engine = { .owner = 5, .rank = 1, .tier = TIER_DEVICE };
static const uint64_t s_chain [] = { 11, 22, 33, 44, 55, 66 };
static const uint64_t s_branch [] = { 11, 22, 77 };

//  HOLDER_NONE where nothing is guessed.
static uint32_t
s_guessed (const index_t *index)
{
    holder_t holder = s_engine;
    holder.kind = HOLDER_APPROXIMATE;
    return index_holder_find (index, &holder);
}

static uint32_t
s_overlap (const index_t *index, uint32_t holder, const uint64_t *hashes, size_t count)
{
    return index_explain (index, holder, hashes, count).overlap;
}

static size_t
s_expire_at (guess_t *guess, uint64_t now_ns)
{
    size_t left = SIZE_MAX, before = left, expired = guess_expire (guess, now_ns, &left);
    assert_int_equal (before - left, expired);
    return expired;
}

static void
test_of_prompts_the_ends_go_first_and_of_those_the_oldest (void **state)
{
    index_t *index = index_new (NULL);
    guess_t *guess = guess_new (index, &s_engine, 5, 1000);
    uint32_t holder = s_guessed (index);
    guess_stats_t stats;
    guess_computed (guess, s_chain, 0, 4, 10);
    guess_computed (guess, s_branch, 0, 3, 20);
    assert_int_equal (s_overlap (index, holder, s_chain, 6), 4);
    guess_computed (guess, (uint64_t []){ 88 }, 0, 1, 30);
    assert_int_equal (s_overlap (index, holder, s_chain, 6), 3);
    assert_int_equal (s_overlap (index, holder, s_branch, 3), 3);
    guess_computed (guess, s_chain, 0, 6, 40);
    assert_int_equal (s_overlap (index, holder, s_chain, 6), 5);
    guess_stats (guess, &stats);
    assert_int_equal (stats.blocks, 5);
    assert_int_equal (stats.evicted, 1 + 2);
    guess_destroy (&guess);
    assert_int_equal (s_guessed (index), HOLDER_NONE);
    index_destroy (&index);
}

static void
test_the_engine_puts_a_guess_right (void **state)
{
    index_t *index = index_new (NULL);
    guess_t *guess = guess_new (index, &s_engine, 100, 1000);
    uint32_t holder = s_guessed (index);
    guess_stats_t stats;
    guess_computed (guess, s_chain, 0, 5, 10);
    guess_found (guess, s_chain, 0, 6, 2, 20);
    assert_int_equal (s_overlap (index, holder, s_chain, 6), 2);
    guess_found (guess, s_branch, 0, 3, 3, 30);
    assert_int_equal (s_overlap (index, holder, s_branch, 3), 3);
    guess_stats (guess, &stats);
    assert_int_equal (stats.mistaken, 3);
    assert_int_equal (stats.unknown, 1);
    guess_destroy (&guess);
    index_destroy (&index);
}

static void
test_what_nobody_uses_is_forgotten_in_time (void **state)
{
    index_t *index = index_new (NULL);
    guess_t *guess = guess_new (index, &s_engine, 100, 1000);
    guess_computed (guess, s_chain, 0, 4, 10);
    guess_computed (guess, s_branch, 0, 2, 500);
    assert_int_equal (s_expire_at (guess, 1009), 0);
    assert_int_equal (s_expire_at (guess, 1010), 2);
    assert_int_equal (s_overlap (index, s_guessed (index), s_chain, 6), 2);
    assert_int_equal (s_expire_at (guess, 1500), 2);
    guess_destroy (&guess);
    index_destroy (&index);
}

static void
test_a_full_index_is_not_lied_about (void **state)
{
    index_t *index = index_new (&(index_options_t){ .memory_limit = 1 });
    guess_t *guess = guess_new (index, &s_engine, 100, 1000);
    guess_stats_t stats;
    guess_computed (guess, s_chain, 0, 4, 10);
    guess_stats (guess, &stats);
    assert_int_equal (stats.refused, 4);
    assert_int_equal (stats.blocks, 0);
    guess_destroy (&guess);
    index_destroy (&index);
}

//  ---- Against lists -------------------------------------------------------------------------------------------------

//  Blocks are numbers in base PROMPTS, a digit a level: a prompt is the beginning of such a number.
typedef struct {
    random_t random;             //  Seeded
    index_t *index;              //  One for all
    guess_t *guess;              //  Under test
    uint64_t list [CAPACITY];    //  Oracle: hashes, used longest ago first
    uint64_t used [CAPACITY];    //  When
    size_t count;                //  Of them
    uint64_t now;                //  ns
    uint64_t hits;               //  So that the test cannot pass on nothing
} world_t;

static size_t
s_random_prompt (world_t *world, uint64_t *hashes)
{
    size_t count = 1 + random_below (&world->random, DEPTH);
    uint64_t parent = 0;
    for (size_t i = 0; i < count; i++)
        parent = hashes [i] = hash_u64 (parent + random_below (&world->random, PROMPTS));
    return count;
}

static size_t
s_position (const world_t *world, uint64_t hash)
{
    size_t at = 0;
    while (at < world->count && world->list [at] != hash)
        at++;
    return at;
}

static void
s_drop (world_t *world, size_t at)
{
    world->count--;
    memmove (&world->list [at], &world->list [at + 1], (world->count - at) * sizeof (uint64_t));
    memmove (&world->used [at], &world->used [at + 1], (world->count - at) * sizeof (uint64_t));
}

static void
s_use (world_t *world, const uint64_t *hashes, size_t count)
{
    size_t missing = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = s_position (world, hashes [i]);
        missing += at == world->count;
        if (at < world->count)
            s_drop (world, at);
    }
    while (world->count + count > CAPACITY)
        s_drop (world, 0);
    for (size_t i = count; i--;) {
        world->list [world->count] = hashes [i];
        world->used [world->count++] = world->now;
    }
    world->hits += count - missing;
}

static void
s_step (world_t *world)
{
    uint64_t hashes [DEPTH], dice = random_below (&world->random, 1000);
    size_t count = s_random_prompt (world, hashes), found = random_below (&world->random, count + 1);
    size_t cut = random_below (&world->random, count + 1);    //  It is said in two pieces
    world->now += random_below (&world->random, 10);
    if (dice < 600) {
        guess_computed (world->guess, hashes, cut, count, world->now);
        guess_computed (world->guess, hashes, 0, cut, world->now);
        s_use (world, hashes, count);
    } else if (dice < 850) {
        guess_found (world->guess, hashes, cut, count, found, world->now);
        guess_found (world->guess, hashes, 0, cut, found, world->now);
        for (size_t i = found; i < count; i++)
            if (s_position (world, hashes [i]) < world->count)
                s_drop (world, s_position (world, hashes [i]));
        s_use (world, hashes, found);
    } else if (dice < 995) {
        s_expire_at (world->guess, world->now);
        while (world->count && world->now - world->used [0] >= LIFETIME)
            s_drop (world, 0);
    } else {
        guess_destroy (&world->guess);
        world->guess = guess_new (world->index, &s_engine, CAPACITY, LIFETIME);
        world->count = 0;
    }
}

static void
test_equals_a_list (void **state)
{
    world_t world = { .index = index_new (NULL) };
    random_init (&world.random, 20261129);
    world.guess = guess_new (world.index, &s_engine, CAPACITY, LIFETIME);
    for (int i = 0; i < OPERATIONS; i++) {
        guess_stats_t stats;
        s_step (&world);
        guess_stats (world.guess, &stats);
        assert_int_equal (stats.blocks, world.count);
        for (size_t k = 0; k < world.count; k++)
            assert_int_equal (index_references (world.index, s_guessed (world.index), world.list [k]), 1);
        if (i % 64 == 0)
            index_check (world.index);
    }
    assert_true (world.hits > OPERATIONS / 10);
    guess_destroy (&world.guess);
    index_destroy (&world.index);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_of_prompts_the_ends_go_first_and_of_those_the_oldest),
        cmocka_unit_test (test_the_engine_puts_a_guess_right),
        cmocka_unit_test (test_what_nobody_uses_is_forgotten_in_time),
        cmocka_unit_test (test_a_full_index_is_not_lied_about),
        cmocka_unit_test (test_equals_a_list),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
