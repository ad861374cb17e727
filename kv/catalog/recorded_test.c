//  What a server without events said that it found of each prompt, as guesses about it, beside a list that is read from end to
//  end.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>

#include "kv/catalog/catalog.h"
#include "kv/sequence.h"

enum {
    WORKER = 11,
    SPACE = 1,
    BLOCK_TOKENS = 4,
    TOKENS_MAX = 64,
    BLOCKS_MAX = TOKENS_MAX / BLOCK_TOKENS,
    HELD_MAX = 64
};

typedef struct {
    size_t found;                     //  Blocks that the server said it had
    size_t count;                     //  Blocks of the prompt
    hash128_t hashes [BLOCKS_MAX];    //  Of them
} ask_t;

typedef struct {
    namespace_t ns;               //  Of the hashes
    catalog_t *catalog;           //  Under test
    hash128_t held [HELD_MAX];    //  What the server should have, in no order
    size_t held_count;            //  Of them
    size_t asks;                  //  So far
    size_t right;                 //  Of which so many found what they should
} world_t;

//  False at the end.
static bool
s_read (const world_t *world, FILE *file, ask_t *ask)
{
    size_t found, count;
    uint32_t tokens [TOKENS_MAX];
    if (fscanf (file, "%zu %zu", &found, &count) != 2)
        return false;
    assert_true (count <= TOKENS_MAX);
    for (size_t i = 0; i < count; i++)
        assert_int_equal (fscanf (file, "%" SCNu32, &tokens [i]), 1);
    ask->found = (found + 1) / BLOCK_TOKENS;    //  The last token of a prompt is computed whatever it has
    ask->count = sequence_hash_tokens (&world->ns, SEQUENCE_ROOT, tokens, count, ask->hashes);
    return true;
}

static size_t
s_position (const world_t *world, hash128_t hash)
{
    size_t position = 0;
    while (position < world->held_count && !hash128_equal (world->held [position], hash))
        position++;
    return position;
}

static size_t
s_leading (const world_t *world, const ask_t *ask)
{
    size_t leading = 0;
    while (leading < ask->count && s_position (world, ask->hashes [leading]) < world->held_count)
        leading++;
    return leading;
}

//  What was not found is not there; what was computed is.
static void
s_note (world_t *world, const ask_t *ask)
{
    for (size_t i = ask->found; i < ask->count; i++) {
        size_t position = s_position (world, ask->hashes [i]);
        if (position < world->held_count)
            world->held [position] = world->held [--world->held_count];
    }
    for (size_t i = 0; i < ask->count; i++)
        if (s_position (world, ask->hashes [i]) == world->held_count) {
            assert_true (world->held_count < HELD_MAX);
            world->held [world->held_count++] = ask->hashes [i];
        }
}

static reach_overlap_t
s_match (const world_t *world, column_t hashes)
{
    reach_overlap_t reached = { 0 };
    array_t overlaps;
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (world->catalog, SPACE, hashes, HOLDER_PENDING, &overlaps);
    assert_true (overlaps.count <= 1);
    if (overlaps.count)
        reached = ((catalog_overlap_t *)overlaps.data)->reached;
    array_fini (&overlaps);
    return reached;
}

//  Before, while and after a server computes a prompt.
static void
s_ask (world_t *world, const ask_t *ask)
{
    uint8_t bytes [BLOCKS_MAX * HASH128_SIZE];
    for (size_t i = 0; i < ask->count; i++)
        hash128_to_bytes (ask->hashes [i], bytes + i * HASH128_SIZE);
    column_t hashes = { bytes, ask->count };
    size_t leading = s_leading (world, ask);
    reach_overlap_t before = s_match (world, hashes);
    assert_int_equal (before.total, leading);
    assert_int_equal (before.approximate, leading);

    catalog_prefill_t prefill = { .source = WORKER, .namespace_id = SPACE, .hashes = hashes, .expiry_ns = 100 };
    catalog_ticket_t ticket = catalog_begin_prefill (world->catalog, &prefill);
    reach_overlap_t during = s_match (world, hashes);
    assert_int_equal (during.total, ask->count);
    assert_int_equal (during.approximate, leading);
    assert_int_equal (during.pending, ask->count - leading);

    catalog_outcome_t outcome = { .computed = true, .said = true, .found = ask->found };
    assert_true (catalog_guess (world->catalog, ticket, &outcome, 10));
    s_note (world, ask);
    reach_overlap_t after = s_match (world, hashes);
    assert_int_equal (after.total, ask->count);
    assert_int_equal (after.approximate, ask->count);
    world->asks++;
    world->right += leading == ask->found;
}

//  The server was asked for other things in between, of which its answers here are all that is known.
static void
test_a_real_server_puts_guesses_right (void **state)
{
    static const struct {
        const char *file;    //  In tests/data/engines
        size_t asks;         //  Prompts
        size_t right;        //  Of which so many were guessed to the block
    } recordings [] = { { "llama-server-stories260K.asks", 10, 3 }, { "llama-server-smollm2.asks", 10, 4 } };
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        world_t world = { .catalog = catalog_new (NULL) };
        namespace_parts_t parts = { .fingerprint = SPAN ("card"), .block_size = BLOCK_TOKENS };
        ask_t ask;
        char path [128];
        assert_int_equal (namespace_init (&world.ns, SPAN ("secret"), &parts, NULL), STATUS_OK);
        snprintf (path, sizeof path, "tests/data/engines/%s", recordings [i].file);
        FILE *file = fopen (path, "r");
        assert_non_null (file);
        while (s_read (&world, file, &ask))
            s_ask (&world, &ask);
        fclose (file);
        assert_int_equal (world.asks, recordings [i].asks);
        assert_int_equal (world.right, recordings [i].right);
        catalog_destroy (&world.catalog);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_real_server_puts_guesses_right),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
