//  What a fleet's index adds to those of its namespaces.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/catalog/catalog.h"

enum { WORKER = 11, OTHER = 12, NAMESPACES = 4096, RANKS = 1024 };

static catalog_t *s_catalog;

static int
s_set_up (void **state)
{
    s_catalog = catalog_new (NULL);
    return 0;
}

static int
s_tear_down (void **state)
{
    catalog_destroy (&s_catalog);
    return 0;
}

static void
s_hashes (uint8_t bytes [2 * HASH128_SIZE])
{
    hash128_to_bytes ((hash128_t){ 1001, 0 }, bytes);
    hash128_to_bytes ((hash128_t){ 1002, 0 }, bytes + HASH128_SIZE);
}

//  Two blocks, the second behind the first.
static void
s_store (uint64_t source, uint64_t namespace_id)
{
    uint8_t bytes [2 * HASH128_SIZE];
    s_hashes (bytes);
    kv_stored_t event = { .namespace_id = namespace_id, .tier = TIER_DEVICE, .hashes = { bytes, 2 } };
    catalog_stored (s_catalog, source, &event);
}

//  Workers that reach both blocks.
static size_t
s_matches (uint64_t namespace_id)
{
    uint8_t bytes [2 * HASH128_SIZE];
    array_t overlaps;
    size_t found = 0;
    s_hashes (bytes);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (s_catalog, namespace_id, (column_t){ bytes, 2 }, HOLDER_PENDING, &overlaps);
    for (size_t i = 0; i < overlaps.count; i++)
        found += ((catalog_overlap_t *)array_at (&overlaps, i))->reached.total == 2;
    array_fini (&overlaps);
    return found;
}

//  A worker is sent to compute both blocks.
static catalog_ticket_t
s_begin_prefill (uint64_t source, uint64_t namespace_id, uint64_t expiry_ns)
{
    uint8_t bytes [2 * HASH128_SIZE];
    s_hashes (bytes);
    catalog_prefill_t prefill = { .source = source,
        .namespace_id = namespace_id,
        .hashes = { bytes, 2 },
        .expected_ns = expiry_ns / 2,
        .expiry_ns = expiry_ns };
    return catalog_begin_prefill (s_catalog, &prefill);
}

static catalog_stats_t
s_stats (void)
{
    catalog_stats_t stats;
    catalog_stats (s_catalog, &stats);
    return stats;
}

//  To the end of the round under way, and another one.
static void
s_sweep (void)
{
    for (int rounds = 2; rounds; rounds -= !catalog_sweep (s_catalog))
        continue;
}

static size_t
s_expire (uint64_t now_ns)
{
    size_t expired = 0;
    for (bool more = true; more;)
        expired += catalog_expire (s_catalog, now_ns, &more);
    return expired;
}

//  (holder, block) pairs that a call takes out of the indexes at most: two in each of some namespaces.
enum { LEAVES_AT_ONCE = 2 * 64, LEAVES_A_CALL = 2 * 4 };

static void
test_namespaces_share_no_block (void **state)
{
    s_store (WORKER, 1);
    s_store (OTHER, 1);
    s_store (OTHER, 2);
    assert_int_equal (s_matches (1), 2);
    assert_int_equal (s_matches (2), 1);
    assert_int_equal (s_matches (3), 0);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 2);
    assert_int_equal (s_matches (1), 2);
}

static void
test_a_namespace_goes_with_its_last_block (void **state)
{
    s_store (WORKER, 1);
    s_store (OTHER, 1);
    s_store (WORKER, 2);
    s_store (OTHER, 3);
    catalog_forget (s_catalog, WORKER);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 2);
    assert_int_equal (s_matches (1), 1);
    assert_int_equal (s_matches (2), 0);
    assert_int_equal (s_matches (3), 1);
    s_store (WORKER, 2);
    assert_int_equal (s_matches (2), 1);
}

static void
test_there_is_room_again_where_it_was_full (void **state)
{
    for (uint64_t id = 1; id <= NAMESPACES + 1; id++)
        s_store (WORKER, id);
    assert_int_equal (s_matches (NAMESPACES), 1);
    assert_int_equal (s_matches (NAMESPACES + 1), 0);
    assert_int_equal (s_stats ().refused, 2);
    catalog_forget (s_catalog, WORKER);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 0);
    s_store (WORKER, NAMESPACES + 1);
    assert_int_equal (s_matches (NAMESPACES + 1), 1);
    assert_int_equal (s_stats ().refused, 2);
}

//  Whoever had something in a namespace that went has nothing to do with the one that is in its place.
static void
test_a_namespace_in_the_place_of_another_is_another (void **state)
{
    s_store (WORKER, 1);
    catalog_cleared (s_catalog, WORKER, &(kv_cleared_t){ 0 });
    s_sweep ();
    s_store (OTHER, 2);
    catalog_forget (s_catalog, WORKER);
    assert_int_equal (s_matches (2), 1);
    s_store (WORKER, 2);
    catalog_forget (s_catalog, WORKER);
    assert_int_equal (s_matches (2), 1);
}

//  While somebody leaves one namespace all the time, another one that is empty goes.
static void
test_no_namespace_keeps_others_from_going (void **state)
{
    s_store (OTHER, 1);
    s_store (WORKER, 1);
    s_store (WORKER, 2);
    for (int i = 0; i < 10; i++) {
        catalog_forget_said (s_catalog, WORKER);
        catalog_sweep (s_catalog);
        s_store (WORKER, 1);
    }
    assert_int_equal (s_stats ().namespaces, 1);
    assert_int_equal (s_matches (1), 2);
}

//  What is left of namespaces that went counts until it is freed, so that nobody fills memory by coming and going.
static void
test_what_went_takes_room_until_it_is_freed (void **state)
{
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        s_store (WORKER, id);
    catalog_forget (s_catalog, WORKER);
    while (s_stats ().namespaces)
        catalog_sweep (s_catalog);
    uint64_t left = s_stats ().bytes;
    assert_true (left > 0);
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        s_store (OTHER, id);
    assert_true (s_stats ().namespaces > 0 && s_stats ().namespaces < NAMESPACES);
    catalog_forget (s_catalog, OTHER);
    s_sweep ();
    assert_int_equal (s_stats ().bytes, 0);
    s_store (OTHER, 1);
    assert_int_equal (s_matches (1), 1);
}

//  Many namespaces get no more memory than one.
static void
test_all_namespaces_share_one_bound (void **state)
{
    enum { BLOCKS_MAX = 20000 };
    catalog_t *one = s_catalog;
    s_catalog = catalog_new (&(catalog_options_t){ .blocks_max = BLOCKS_MAX });
    uint64_t id = 0, before = 0;
    while (!s_stats ().refused && ++id < 10 * BLOCKS_MAX)
        s_store (WORKER, id);
    assert_true (s_stats ().bytes < 2 * BLOCKS_MAX * 100);
    assert_true (id > 2);
    before = s_stats ().refused;
    s_store (WORKER, 1);
    assert_int_equal (s_stats ().refused, before + 2);
    catalog_forget (s_catalog, WORKER);
    s_sweep ();
    s_store (OTHER, id);
    assert_int_equal (s_matches (id), 1);
    catalog_destroy (&s_catalog);
    s_catalog = one;
}

//  ---- What is over ----

//  A worker that has something everywhere is cleared: at once in every answer, and in memory some with each call.
static void
test_a_clear_takes_out_little_at_a_time (void **state)
{
    uint64_t left = 2 * NAMESPACES;
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        s_store (WORKER, id);
    catalog_cleared (s_catalog, WORKER, &(kv_cleared_t){ 0 });
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        assert_int_equal (s_matches (id), 0);
    assert_int_equal (s_stats ().memberships, left - LEAVES_AT_ONCE);
    s_store (WORKER, 2);
    assert_int_equal (s_matches (2), 1);
    assert_int_equal (s_stats ().memberships, left - LEAVES_AT_ONCE - LEAVES_A_CALL + 2);
    catalog_check (s_catalog);
    for (uint64_t before = left; s_stats ().memberships > 4; before = left) {
        s_store (OTHER, 1);
        left = s_stats ().memberships;
        assert_true (left < before);
    }
    catalog_check (s_catalog);
    assert_int_equal (s_matches (1) + s_matches (2), 2);
}

//  Whatever is cleared, forgotten and said again, in however many namespaces, answers know at once.
static void
test_answers_equal_plain_notes (void **state)
{
    enum { SEED = 20261201, SOURCES = 4, PLACES = 100, STEPS = 30000 };
    static bool said [SOURCES][PLACES + 1], computed [SOURCES][PLACES + 1];
    random_t random;
    print_message ("seed %d\n", SEED);
    random_init (&random, SEED);
    for (int step = 0; step < STEPS; step++) {
        uint64_t source = random_below (&random, SOURCES), place = 1 + random_below (&random, PLACES);
        uint64_t dice = random_below (&random, 1000), expected = 0;
        bool ends_said = dice >= 850 && dice < 880, ends_computed = dice >= 860 && dice < 890;
        if (dice < 400)
            s_store (WORKER + source, place);
        else if (dice < 850 && !computed [source][place])
            s_begin_prefill (WORKER + source, place, UINT64_MAX);
        else if (dice < 850)
            continue;
        else if (dice < 855)
            catalog_cleared (s_catalog, WORKER + source, &(kv_cleared_t){ 0 });
        else if (dice < 860)
            catalog_forget_said (s_catalog, WORKER + source);
        else if (dice < 880)
            catalog_forget (s_catalog, WORKER + source);
        else if (dice < 890)
            catalog_forget_unsaid (s_catalog, WORKER + source);
        else if (dice < 900)
            catalog_sweep (s_catalog);
        said [source][place] |= dice < 400;
        computed [source][place] = dice >= 400 && (dice < 850 || computed [source][place]);
        for (uint64_t each = 0; each <= PLACES; each++) {
            said [source][each] &= !ends_said;
            computed [source][each] &= !ends_computed;
        }
        for (uint64_t each = 0; each < SOURCES; each++)
            expected += said [each][place] || computed [each][place];
        assert_int_equal (s_matches (place), expected);
        if (step % 100 == 0)
            catalog_check (s_catalog);
    }
}

//  ---- What a worker reaches ----

enum { PROMPT = 10, STORE = 99 };

static void
s_prompt (uint8_t bytes [PROMPT * HASH128_SIZE])
{
    for (uint64_t i = 0; i < PROMPT; i++)
        hash128_to_bytes ((hash128_t){ 2001 + i, 0 }, bytes + i * HASH128_SIZE);
}

//  Blocks `first` up to `end` of the prompt, in a tier.
static void
s_store_prompt (uint64_t source, uint16_t rank, tier_t tier, size_t first, size_t end)
{
    uint8_t bytes [PROMPT * HASH128_SIZE];
    s_prompt (bytes);
    kv_stored_t event = { .namespace_id = 1,
        .rank = rank,
        .tier = tier,
        .hashes = { bytes + first * HASH128_SIZE, end - first },
        .has_parent = first > 0,
        .parent = { 2000 + first, 0 } };
    catalog_stored (s_catalog, source, &event);
}

//  What one worker reaches of the prompt.
static reach_overlap_t
s_reached (uint64_t source)
{
    uint8_t bytes [PROMPT * HASH128_SIZE];
    reach_overlap_t reached = { 0 };
    array_t overlaps;
    s_prompt (bytes);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (s_catalog, 1, (column_t){ bytes, PROMPT }, HOLDER_EXACT, &overlaps);
    for (size_t i = 0; i < overlaps.count; i++) {
        const catalog_overlap_t *overlap = array_at (&overlaps, i);
        if (overlap->source == source)
            reached = overlap->reached;
    }
    array_fini (&overlaps);
    return reached;
}

//  What was moved down from the device to make room is told as what is there still.
static void
test_a_worker_reaches_all_its_tiers (void **state)
{
    s_store_prompt (WORKER, 0, TIER_DEVICE, 0, 4);
    s_store_prompt (OTHER, 0, TIER_DEVICE, 0, 6);
    s_store_prompt (WORKER, 0, TIER_HOST, 0, 8);
    reach_overlap_t reached = s_reached (WORKER);
    assert_int_equal (reached.total, 8);
    assert_int_equal (reached.blocks [TIER_DEVICE], 4);
    assert_int_equal (reached.blocks [TIER_HOST], 4);
    assert_int_equal (s_reached (OTHER).total, 6);
}

//  A store that two workers share goes on where each of them ends, and whoever gets its slot shares nothing.
static void
test_workers_share_a_store (void **state)
{
    s_store_prompt (WORKER, 0, TIER_DEVICE, 0, 3);
    catalog_reach (s_catalog, WORKER, 0, STORE, TIER_HOST);
    catalog_reach (s_catalog, OTHER, 0, STORE, TIER_REMOTE);
    s_store_prompt (STORE, 0, TIER_REMOTE, 0, 9);
    s_store_prompt (STORE, 0, TIER_DISK, 0, 5);
    reach_overlap_t near = s_reached (WORKER), far = s_reached (OTHER);
    assert_int_equal (near.total, 9);
    assert_int_equal (near.blocks [TIER_DEVICE], 3);
    assert_int_equal (near.blocks [TIER_DISK], 2);
    assert_int_equal (near.blocks [TIER_REMOTE], 4);
    assert_int_equal (far.total, 9);
    assert_int_equal (far.blocks [TIER_REMOTE], 9);

    catalog_forget (s_catalog, STORE);
    s_store_prompt (STORE + 1, 0, TIER_REMOTE, 0, 9);
    assert_int_equal (s_reached (WORKER).total, 3);
    assert_int_equal (s_reached (OTHER).total, 0);
}

//  What a rank costs is bounded, whatever number it says it has.
static void
test_ranks_beyond_the_bound_have_nothing (void **state)
{
    s_store_prompt (WORKER, 1023, TIER_DEVICE, 0, 4);
    s_store_prompt (OTHER, 1024, TIER_DEVICE, 0, 4);
    assert_int_equal (s_reached (WORKER).total, 4);
    assert_int_equal (s_reached (OTHER).total, 0);
    assert_int_equal (s_stats ().refused, 4);
}

//  So it is with all ranks of a worker that goes.
static void
test_a_worker_of_many_ranks_goes_little_by_little (void **state)
{
    for (uint16_t i = 0; i < RANKS * TIER_COUNT; i++)
        s_store_prompt (WORKER, i / TIER_COUNT, i % TIER_COUNT, 0, 2);
    assert_int_equal (s_reached (WORKER).total, 2);
    catalog_forget (s_catalog, WORKER);
    assert_int_equal (s_reached (WORKER).total, 0);
    assert_int_equal (s_stats ().sources, 0);
    assert_int_equal (
        s_stats ().memberships, 2 * RANKS * TIER_COUNT - LEAVES_AT_ONCE / 2);    //  Its end is a step, too
    s_sweep ();
    assert_int_equal (s_stats ().memberships, 0);
    catalog_check (s_catalog);
}

//  ---- What is being computed ----

static void
test_what_is_computed_is_told_apart_until_it_is_stored (void **state)
{
    uint8_t bytes [2 * HASH128_SIZE];
    array_t overlaps;
    array_init (&overlaps, sizeof (catalog_overlap_t));
    s_hashes (bytes);
    catalog_ticket_t ticket = s_begin_prefill (WORKER, 1, 100);
    s_store (OTHER, 1);
    catalog_match (s_catalog, 1, (column_t){ bytes, 2 }, HOLDER_PENDING, &overlaps);
    assert_int_equal (overlaps.count, 2);
    for (size_t i = 0; i < overlaps.count; i++) {
        const catalog_overlap_t *overlap = array_at (&overlaps, i);
        assert_int_equal (overlap->reached.pending, overlap->source == WORKER ? 2 : 0);
        assert_int_equal (overlap->expected_ns, overlap->source == WORKER ? 50 : 0);
        assert_int_equal (overlap->reached.total, 2);
    }
    assert_int_equal (s_stats ().pending, 2);
    assert_int_equal (catalog_digest (s_catalog, WORKER), 0);
    s_store (WORKER, 1);
    assert_int_equal (s_stats ().pending, 0);
    assert_int_equal (s_matches (1), 2);
    assert_false (catalog_settle (s_catalog, ticket));
    array_fini (&overlaps);
}

//  Of two prompts that begin alike the longer one is there when its own end is.
static void
test_what_is_computed_is_expected_when_its_end_is (void **state)
{
    uint8_t bytes [PROMPT * HASH128_SIZE];
    array_t overlaps;
    s_prompt (bytes);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    for (uint64_t blocks = 3; blocks <= 7; blocks += 4) {
        catalog_prefill_t prefill = { .source = WORKER,
            .namespace_id = 1,
            .hashes = { bytes, blocks },
            .expected_ns = 10 * blocks,
            .expiry_ns = 100 };
        catalog_begin_prefill (s_catalog, &prefill);
        catalog_match (s_catalog, 1, (column_t){ bytes, PROMPT }, HOLDER_PENDING, &overlaps);
        const catalog_overlap_t *overlap = array_at (&overlaps, overlaps.count - 1);
        assert_int_equal (overlap->reached.pending, blocks);
        assert_int_equal (overlap->expected_ns, 10 * blocks);
    }
    array_fini (&overlaps);
}

static void
test_what_is_computed_ends (void **state)
{
    catalog_ticket_t ticket = s_begin_prefill (WORKER, 1, 100);
    catalog_ticket_t late = s_begin_prefill (OTHER, 2, 200);
    assert_int_equal (s_expire (99), 0);
    assert_true (catalog_settle (s_catalog, ticket));
    assert_false (catalog_settle (s_catalog, ticket));
    assert_int_equal (s_matches (1), 0);
    assert_int_equal (s_matches (2), 1);
    assert_int_equal (s_expire (200), 1);
    assert_false (catalog_settle (s_catalog, late));
    assert_int_equal (s_matches (2), 0);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 0);
    assert_false (catalog_settle (s_catalog, ticket));
}

//  A namespace that went and came again is another one: nobody ends there what began in the first.
static void
test_a_ticket_ends_with_its_namespace (void **state)
{
    catalog_ticket_t first = s_begin_prefill (WORKER, 1, 100);
    s_expire (100);
    s_sweep ();
    assert_int_equal (s_stats ().namespaces, 0);
    catalog_ticket_t second = s_begin_prefill (OTHER, 1, 200);
    assert_int_equal (second.id, first.id);
    assert_false (catalog_settle (s_catalog, first));
    assert_false (catalog_guess (s_catalog, first, &(catalog_outcome_t){ .computed = true }, 150));
    assert_int_equal (s_stats ().pending, 2);
    assert_true (catalog_settle (s_catalog, second));
}

//  Whoever gets the slot of one that went inherits nothing that it was to compute.
static void
test_what_is_computed_goes_with_its_worker (void **state)
{
    s_begin_prefill (WORKER, 1, 100);
    s_begin_prefill (WORKER, 2, 100);
    catalog_forget (s_catalog, WORKER);
    assert_int_equal (s_stats ().pending, 0);
    s_store (OTHER, 3);
    assert_int_equal (s_matches (1) + s_matches (2), 0);
}

//  Who says again all that it has still computes what it was sent.
static void
test_what_is_computed_outlives_what_was_said (void **state)
{
    s_store (WORKER, 1);
    catalog_ticket_t ticket = s_begin_prefill (WORKER, 2, 100);
    catalog_forget_said (s_catalog, WORKER);
    assert_int_equal (s_matches (1), 0);
    assert_int_equal (s_matches (2), 1);
    assert_int_equal (s_stats ().pending, 2);
    assert_true (catalog_settle (s_catalog, ticket));
    assert_int_equal (s_matches (2), 0);
}

static void
test_no_more_is_computed_than_the_bound_allows (void **state)
{
    catalog_t *one = s_catalog;
    s_catalog = catalog_new (&(catalog_options_t){ .pending_max = 5 });
    assert_int_not_equal (s_begin_prefill (WORKER, 1, 100).id, 0);
    assert_int_not_equal (s_begin_prefill (WORKER, 2, 100).id, 0);
    assert_int_equal (s_begin_prefill (OTHER, 3, 100).id, 0);
    assert_int_equal (s_matches (3), 0);
    s_expire (100);
    assert_int_not_equal (s_begin_prefill (OTHER, 3, 200).id, 0);
    catalog_destroy (&s_catalog);
    s_catalog = one;
}

//  Where each of several namespaces has more guesses than one call looks at, a round ends all the same.
static void
test_a_round_through_many_guesses_ends (void **state)
{
    enum { ENGINES = 100, CALLS_MAX = 20 };
    for (uint64_t i = 0; i < 3 * ENGINES; i++)
        catalog_guess (s_catalog, s_begin_prefill (WORKER + i % ENGINES, 1 + i / ENGINES, 100),
            &(catalog_outcome_t){ .computed = true }, 50);
    bool more = true;
    for (int calls = 0; more; calls++) {
        assert_true (calls < CALLS_MAX);
        catalog_expire (s_catalog, 60, &more);
    }
    assert_int_equal (s_matches (3), ENGINES);
}

//  A long prompt is pending in steps, and so it becomes a guess, the end first.
static void
test_a_long_prompt_is_learnt_in_steps (void **state)
{
    enum { LONG = 3000, SLICE = 256 };
    static uint8_t bytes [LONG * HASH128_SIZE];
    array_t overlaps;
    for (uint64_t i = 0; i < LONG; i++)
        hash128_to_bytes ((hash128_t){ hash_u64 (i), 0 }, bytes + i * HASH128_SIZE);
    catalog_prefill_t prefill = { .source = WORKER, .namespace_id = 1, .hashes = { bytes, LONG }, .expiry_ns = 100 };
    catalog_ticket_t ticket = catalog_begin_prefill (s_catalog, &prefill);
    assert_true (catalog_is_behind (s_catalog));
    s_expire (1);
    assert_false (catalog_is_behind (s_catalog));
    assert_int_equal (s_stats ().memberships, LONG);
    catalog_outcome_t outcome = { .computed = true, .capacity = 2 * LONG };
    assert_true (catalog_guess (s_catalog, ticket, &outcome, 2));
    bool more;
    for (uint64_t learnt = SLICE; learnt + SLICE < LONG; learnt += SLICE) {
        assert_int_equal (s_stats ().memberships, LONG + learnt);
        assert_true (catalog_is_behind (s_catalog));
        catalog_expire (s_catalog, 3, &more);
        assert_true (more);
    }
    s_expire (3);
    assert_false (catalog_is_behind (s_catalog));
    assert_int_equal (s_stats ().memberships, LONG);
    assert_int_equal (s_stats ().pending, 0);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (s_catalog, 1, (column_t){ bytes, LONG }, HOLDER_PENDING, &overlaps);
    assert_int_equal (((catalog_overlap_t *)array_at (&overlaps, 0))->reached.approximate, LONG);
    array_fini (&overlaps);
    catalog_check (s_catalog);
}

//  ---- Snapshots ----

enum { CHAIN = 600, SPACES = 3, ROUNDS = 40, CHANGES = 300 };

//  One that joins late, and the snapshot that it is told.
typedef struct {
    catalog_t *catalog;              //  What it knows
    catalog_snapshot_t *snapshot;    //  NULL while there is none
    uint64_t events;                 //  Told so far
    uint64_t between;                //  Of them, those that no step of the snapshot gave
    bool stepping;                   //  Whether one is under way
} joiner_t;

static void
s_tell (void *arg, const message_type_t *type, const void *event)
{
    joiner_t *joiner = arg;
    if (type == &kv_stored_message) {
        assert_true (!joiner->stepping || ((const kv_stored_t *)event)->hashes.count <= KV_STORED_HASHES_MAX);
        catalog_stored (joiner->catalog, WORKER, event);
    } else if (type == &kv_removed_message)
        catalog_removed (joiner->catalog, WORKER, event);
    else
        catalog_cleared (joiner->catalog, WORKER, event);
    joiner->events++;
    joiner->between += !joiner->stepping;
}

//  Blocks in a row of one of the chains, from anywhere on.
static column_t
s_random_row (random_t *random, uint8_t bytes [CHAIN * HASH128_SIZE], hash128_t *parent)
{
    uint64_t chain = random_below (random, 4) << 20, first = random_below (random, CHAIN);
    uint64_t most = random_chance (random, 100000) ? CHAIN - first : 20, count = 0;
    *parent = (hash128_t){ hash_u64 (chain | first), 0 };
    for (; count < random_below (random, most) + 1 && first + count < CHAIN; count++)
        hash128_to_bytes ((hash128_t){ hash_u64 (chain | (first + count + 1)), 0 }, bytes + count * HASH128_SIZE);
    return (column_t){ bytes, count };
}

static void
s_change (random_t *random)
{
    static uint8_t bytes [CHAIN * HASH128_SIZE];
    hash128_t parent;
    uint64_t source = random_chance (random, 700000) ? WORKER : OTHER, space = 1 + random_below (random, SPACES);
    tier_t tier = random_chance (random, 700000) ? TIER_DEVICE : TIER_HOST;
    uint16_t rank = random_chance (random, 700000) ? 0 : 30;
    column_t hashes = s_random_row (random, bytes, &parent);
    uint64_t dice = random_below (random, 1000);
    if (dice < 550)
        catalog_stored (s_catalog, source,
            &(kv_stored_t){ .namespace_id = space,
                .rank = rank,
                .tier = tier,
                .has_parent = true,
                .parent = parent,
                .hashes = hashes });
    else if (dice < 990)
        catalog_removed (
            s_catalog, source, &(kv_removed_t){ .namespace_id = space, .rank = rank, .tier = tier, .hashes = hashes });
    else if (dice < 995)
        catalog_cleared (s_catalog, source, &(kv_cleared_t){ .rank = rank, .tier = tier });
    else
        catalog_sweep (s_catalog);
}

static void
s_join (joiner_t *joiner)
{
    *joiner = (joiner_t){ .catalog = catalog_new (NULL) };
    joiner->snapshot = catalog_snapshot_new (s_catalog, WORKER, s_tell, joiner);
}

//  One step.  True while there is more.
static bool
s_step (joiner_t *joiner)
{
    bool ended;
    joiner->stepping = true;
    assert_int_equal (catalog_snapshot_next (joiner->snapshot, &ended), STATUS_OK);
    joiner->stepping = false;
    return !ended;
}

static void
s_leave (joiner_t *joiner)
{
    catalog_snapshot_destroy (&joiner->snapshot);
    catalog_destroy (&joiner->catalog);
}

//  Whatever happens between two steps, in the end both know the same; two snapshots at once do not disturb each other.
static void
test_a_snapshot_is_right_though_all_changes_meanwhile (void **state)
{
    enum { SEED = 20261130 };
    random_t random;
    uint64_t events = 0, between = 0;
    print_message ("seed %d\n", SEED);
    random_init (&random, SEED);
    for (int round = 0; round < ROUNDS; round++) {
        joiner_t joiner, other;
        for (int i = 0; i < CHANGES; i++)
            s_change (&random);
        s_join (&joiner);
        s_join (&other);
        s_step (&other);
        while (s_step (&joiner))
            for (uint64_t changes = random_below (&random, 30); changes; changes--)
                s_change (&random);
        assert_int_equal (catalog_digest (joiner.catalog, WORKER), catalog_digest (s_catalog, WORKER));
        while (s_step (&other))
            s_change (&random);
        assert_int_equal (catalog_digest (other.catalog, WORKER), catalog_digest (s_catalog, WORKER));
        events += joiner.events;
        between += joiner.between;
        catalog_check (joiner.catalog);
        catalog_check (s_catalog);
        s_leave (&other);
        s_leave (&joiner);
    }
    assert_true (catalog_digest (s_catalog, WORKER) != 0);
    assert_true (between > ROUNDS && events > 2 * between);
}

//  A step looks at no more ranks than some, however many the source has said something of.
static void
test_a_snapshot_of_many_ranks_takes_many_steps (void **state)
{
    enum { POSITIONS = RANKS * TIER_COUNT * HOLDER_KIND_COUNT, LOOKS = 256 };
    joiner_t joiner;
    s_store_prompt (WORKER, 0, TIER_DEVICE, 0, 4);
    s_store_prompt (WORKER, RANKS - 1, TIER_REMOTE, 0, 4);
    s_join (&joiner);
    int steps = 1;
    while (s_step (&joiner))
        steps++;
    assert_in_range (steps, POSITIONS / LOOKS, POSITIONS / LOOKS + 3);
    assert_int_equal (joiner.events, 2);
    assert_int_equal (catalog_digest (joiner.catalog, WORKER), catalog_digest (s_catalog, WORKER));
    s_leave (&joiner);
}

static void
test_a_snapshot_of_what_was_forgotten_is_stale (void **state)
{
    joiner_t joiner;
    bool ended;
    s_store (WORKER, 1);
    s_join (&joiner);
    catalog_forget_said (s_catalog, OTHER);
    assert_true (s_step (&joiner));
    catalog_forget_said (s_catalog, WORKER);
    assert_int_equal (catalog_snapshot_next (joiner.snapshot, &ended), STATUS_STALE);
    s_leave (&joiner);
    s_join (&joiner);
    assert_false (s_step (&joiner));
    assert_int_equal (joiner.events, 0);
    assert_int_equal (catalog_snapshot_source (joiner.snapshot), WORKER);
    catalog_destroy (&s_catalog);
    assert_int_equal (catalog_snapshot_next (joiner.snapshot, &ended), STATUS_STALE);
    s_leave (&joiner);
}

//  A hash that is no block's ends a store here, so what is told of it ends there too.
static void
test_a_snapshot_is_told_no_more_than_was_stored (void **state)
{
    uint8_t bytes [3 * HASH128_SIZE] = { 0 };
    joiner_t joiner;
    s_store (OTHER, 1);
    s_join (&joiner);
    while (s_step (&joiner))
        continue;
    hash128_to_bytes ((hash128_t){ 1001, 0 }, bytes);
    hash128_to_bytes ((hash128_t){ 1002, 0 }, bytes + 2 * HASH128_SIZE);
    catalog_stored (s_catalog, WORKER, &(kv_stored_t){ .namespace_id = 1, .hashes = { bytes, 3 } });
    assert_int_equal (joiner.between, 1);
    assert_true (catalog_digest (s_catalog, WORKER) != 0);
    assert_int_equal (catalog_digest (joiner.catalog, WORKER), catalog_digest (s_catalog, WORKER));
    s_leave (&joiner);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_namespaces_share_no_block, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_namespace_goes_with_its_last_block, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_there_is_room_again_where_it_was_full, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_namespace_in_the_place_of_another_is_another, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_no_namespace_keeps_others_from_going, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_went_takes_room_until_it_is_freed, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_all_namespaces_share_one_bound, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_clear_takes_out_little_at_a_time, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_worker_of_many_ranks_goes_little_by_little, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_answers_equal_plain_notes, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_worker_reaches_all_its_tiers, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_workers_share_a_store, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_ranks_beyond_the_bound_have_nothing, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_is_told_apart_until_it_is_stored, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_is_expected_when_its_end_is, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_ends, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_ticket_ends_with_its_namespace, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_goes_with_its_worker, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_is_computed_outlives_what_was_said, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_no_more_is_computed_than_the_bound_allows, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_round_through_many_guesses_ends, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_long_prompt_is_learnt_in_steps, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_snapshot_is_right_though_all_changes_meanwhile, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_snapshot_of_many_ranks_takes_many_steps, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_snapshot_of_what_was_forgotten_is_stale, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_snapshot_is_told_no_more_than_was_stored, s_set_up, s_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
