//  Snapshots of what a source has, written while it changes.

#include "kv/catalog/fixture_test.h"

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
        catalog_stored (fixture_catalog, source,
            &(kv_stored_t){ .namespace_id = space,
                .rank = rank,
                .tier = tier,
                .has_parent = true,
                .parent = parent,
                .hashes = hashes });
    else if (dice < 990)
        catalog_removed (fixture_catalog, source,
            &(kv_removed_t){ .namespace_id = space, .rank = rank, .tier = tier, .hashes = hashes });
    else if (dice < 995)
        catalog_cleared (fixture_catalog, source, &(kv_cleared_t){ .rank = rank, .tier = tier });
    else
        catalog_sweep (fixture_catalog);
}

static void
s_join (joiner_t *joiner)
{
    *joiner = (joiner_t){ .catalog = catalog_new (NULL) };
    joiner->snapshot = catalog_snapshot_new (fixture_catalog, WORKER, s_tell, joiner);
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
        assert_int_equal (catalog_digest (joiner.catalog, WORKER), catalog_digest (fixture_catalog, WORKER));
        while (s_step (&other))
            s_change (&random);
        assert_int_equal (catalog_digest (other.catalog, WORKER), catalog_digest (fixture_catalog, WORKER));
        events += joiner.events;
        between += joiner.between;
        catalog_check (joiner.catalog);
        catalog_check (fixture_catalog);
        s_leave (&other);
        s_leave (&joiner);
    }
    assert_true (catalog_digest (fixture_catalog, WORKER) != 0);
    assert_true (between > ROUNDS && events > 2 * between);
}

//  A step looks at no more ranks than some, however many the source has said something of.
static void
test_a_snapshot_of_many_ranks_takes_many_steps (void **state)
{
    enum { POSITIONS = RANKS * TIER_COUNT * HOLDER_KIND_COUNT, LOOKS = 256 };
    joiner_t joiner;
    fixture_store_prompt (WORKER, 0, TIER_DEVICE, 0, 4);
    fixture_store_prompt (WORKER, RANKS - 1, TIER_REMOTE, 0, 4);
    s_join (&joiner);
    int steps = 1;
    while (s_step (&joiner))
        steps++;
    assert_in_range (steps, POSITIONS / LOOKS, POSITIONS / LOOKS + 3);
    assert_int_equal (joiner.events, 2);
    assert_int_equal (catalog_digest (joiner.catalog, WORKER), catalog_digest (fixture_catalog, WORKER));
    s_leave (&joiner);
}

static void
test_a_snapshot_of_what_was_forgotten_is_stale (void **state)
{
    joiner_t joiner;
    bool ended;
    fixture_store (WORKER, 1);
    s_join (&joiner);
    catalog_forget_said (fixture_catalog, OTHER);
    assert_true (s_step (&joiner));
    catalog_forget_said (fixture_catalog, WORKER);
    assert_int_equal (catalog_snapshot_next (joiner.snapshot, &ended), STATUS_STALE);
    s_leave (&joiner);
    s_join (&joiner);
    assert_false (s_step (&joiner));
    assert_int_equal (joiner.events, 0);
    assert_int_equal (catalog_snapshot_source (joiner.snapshot), WORKER);
    catalog_destroy (&fixture_catalog);
    assert_int_equal (catalog_snapshot_next (joiner.snapshot, &ended), STATUS_STALE);
    s_leave (&joiner);
}

//  A hash that is no block's ends a store here, so what is told of it ends there too.
static void
test_a_snapshot_is_told_no_more_than_was_stored (void **state)
{
    uint8_t bytes [3 * HASH128_SIZE] = { 0 };
    joiner_t joiner;
    fixture_store (OTHER, 1);
    s_join (&joiner);
    while (s_step (&joiner))
        continue;
    hash128_to_bytes ((hash128_t){ 1001, 0 }, bytes);
    hash128_to_bytes ((hash128_t){ 1002, 0 }, bytes + 2 * HASH128_SIZE);
    catalog_stored (fixture_catalog, WORKER, &(kv_stored_t){ .namespace_id = 1, .hashes = { bytes, 3 } });
    assert_int_equal (joiner.between, 1);
    assert_true (catalog_digest (fixture_catalog, WORKER) != 0);
    assert_int_equal (catalog_digest (joiner.catalog, WORKER), catalog_digest (fixture_catalog, WORKER));
    s_leave (&joiner);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (
            test_a_snapshot_is_right_though_all_changes_meanwhile, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_snapshot_of_many_ranks_takes_many_steps, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_snapshot_of_what_was_forgotten_is_stale, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_snapshot_is_told_no_more_than_was_stored, fixture_set_up, fixture_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
