//  What a fleet's index adds to those of its namespaces: who has what where, until it is over.

#include "kv/catalog/fixture_test.h"

static void
test_namespaces_share_no_block (void **state)
{
    fixture_store (WORKER, 1);
    fixture_store (OTHER, 1);
    fixture_store (OTHER, 2);
    assert_int_equal (fixture_matches (1), 2);
    assert_int_equal (fixture_matches (2), 1);
    assert_int_equal (fixture_matches (3), 0);
    fixture_sweep ();
    assert_int_equal (fixture_stats ().namespaces, 2);
    assert_int_equal (fixture_matches (1), 2);
}

static void
test_a_namespace_goes_with_its_last_block (void **state)
{
    fixture_store (WORKER, 1);
    fixture_store (OTHER, 1);
    fixture_store (WORKER, 2);
    fixture_store (OTHER, 3);
    catalog_forget (fixture_catalog, WORKER);
    fixture_sweep ();
    assert_int_equal (fixture_stats ().namespaces, 2);
    assert_int_equal (fixture_matches (1), 1);
    assert_int_equal (fixture_matches (2), 0);
    assert_int_equal (fixture_matches (3), 1);
    fixture_store (WORKER, 2);
    assert_int_equal (fixture_matches (2), 1);
}

static void
test_there_is_room_again_where_it_was_full (void **state)
{
    for (uint64_t id = 1; id <= NAMESPACES + 1; id++)
        fixture_store (WORKER, id);
    assert_int_equal (fixture_matches (NAMESPACES), 1);
    assert_int_equal (fixture_matches (NAMESPACES + 1), 0);
    assert_int_equal (fixture_stats ().refused, 2);
    catalog_forget (fixture_catalog, WORKER);
    fixture_sweep ();
    assert_int_equal (fixture_stats ().namespaces, 0);
    fixture_store (WORKER, NAMESPACES + 1);
    assert_int_equal (fixture_matches (NAMESPACES + 1), 1);
    assert_int_equal (fixture_stats ().refused, 2);
}

//  Whoever had something in a namespace that went has nothing to do with the one that is in its place.
static void
test_a_namespace_in_the_place_of_another_is_another (void **state)
{
    fixture_store (WORKER, 1);
    catalog_cleared (fixture_catalog, WORKER, &(kv_cleared_t){ 0 });
    fixture_sweep ();
    fixture_store (OTHER, 2);
    catalog_forget (fixture_catalog, WORKER);
    assert_int_equal (fixture_matches (2), 1);
    fixture_store (WORKER, 2);
    catalog_forget (fixture_catalog, WORKER);
    assert_int_equal (fixture_matches (2), 1);
}

//  While somebody leaves one namespace all the time, another one that is empty goes.
static void
test_no_namespace_keeps_others_from_going (void **state)
{
    fixture_store (OTHER, 1);
    fixture_store (WORKER, 1);
    fixture_store (WORKER, 2);
    for (int i = 0; i < 10; i++) {
        catalog_forget_said (fixture_catalog, WORKER);
        catalog_sweep (fixture_catalog);
        fixture_store (WORKER, 1);
    }
    assert_int_equal (fixture_stats ().namespaces, 1);
    assert_int_equal (fixture_matches (1), 2);
}

//  What is left of namespaces that went counts until it is freed, so that nobody fills memory by coming and going.
static void
test_what_went_takes_room_until_it_is_freed (void **state)
{
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        fixture_store (WORKER, id);
    catalog_forget (fixture_catalog, WORKER);
    while (fixture_stats ().namespaces)
        catalog_sweep (fixture_catalog);
    uint64_t left = fixture_stats ().bytes;
    assert_true (left > 0);
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        fixture_store (OTHER, id);
    assert_true (fixture_stats ().namespaces > 0 && fixture_stats ().namespaces < NAMESPACES);
    catalog_forget (fixture_catalog, OTHER);
    fixture_sweep ();
    assert_int_equal (fixture_stats ().bytes, 0);
    fixture_store (OTHER, 1);
    assert_int_equal (fixture_matches (1), 1);
}

//  Many namespaces get no more memory than one.
static void
test_all_namespaces_share_one_bound (void **state)
{
    enum { BLOCKS_MAX = 20000 };
    catalog_t *one = fixture_catalog;
    fixture_catalog = catalog_new (&(catalog_options_t){ .blocks_max = BLOCKS_MAX });
    uint64_t id = 0, before = 0;
    while (!fixture_stats ().refused && ++id < 10 * BLOCKS_MAX)
        fixture_store (WORKER, id);
    assert_true (fixture_stats ().bytes < 2 * BLOCKS_MAX * 100);
    assert_true (id > 2);
    before = fixture_stats ().refused;
    fixture_store (WORKER, 1);
    assert_int_equal (fixture_stats ().refused, before + 2);
    catalog_forget (fixture_catalog, WORKER);
    fixture_sweep ();
    fixture_store (OTHER, id);
    assert_int_equal (fixture_matches (id), 1);
    catalog_destroy (&fixture_catalog);
    fixture_catalog = one;
}

//  So a namespace that has hardly anything leaves room for the others.
static void
test_a_namespace_of_few_blocks_takes_little (void **state)
{
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        fixture_store (WORKER, id);
    assert_int_equal (fixture_stats ().namespaces, NAMESPACES);
    assert_in_range (fixture_stats ().bytes, 1000 * NAMESPACES, 2000 * NAMESPACES);
}

//  ---- What is over --------------------------------------------------------------------------------------------------

//  A worker that has something everywhere is cleared: at once in every answer, and in memory some with each call.
static void
test_a_clear_takes_out_little_at_a_time (void **state)
{
    uint64_t left = 2 * NAMESPACES;
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        fixture_store (WORKER, id);
    catalog_cleared (fixture_catalog, WORKER, &(kv_cleared_t){ 0 });
    for (uint64_t id = 1; id <= NAMESPACES; id++)
        assert_int_equal (fixture_matches (id), 0);
    assert_int_equal (fixture_stats ().memberships, left - LEAVES_AT_ONCE);
    fixture_store (WORKER, 2);
    assert_int_equal (fixture_matches (2), 1);
    assert_int_equal (fixture_stats ().memberships, left - LEAVES_AT_ONCE - LEAVES_A_CALL + 2);
    catalog_check (fixture_catalog);
    for (uint64_t before = left; fixture_stats ().memberships > 4; before = left) {
        fixture_store (OTHER, 1);
        left = fixture_stats ().memberships;
        assert_true (left < before);
    }
    catalog_check (fixture_catalog);
    assert_int_equal (fixture_matches (1) + fixture_matches (2), 2);
}

enum { SOURCES = 4, PLACES = 100, STEPS = 30000 };

//  Who has said, or was to compute, both blocks where.
typedef struct {
    bool said [SOURCES][PLACES + 1];        //  By source and namespace
    bool computed [SOURCES][PLACES + 1];    //  Likewise
} notes_t;

//  Something happens to a source, in a namespace or everywhere.
static void
s_happen (notes_t *notes, random_t *random, uint64_t place)
{
    uint64_t source = random_below (random, SOURCES), dice = random_below (random, 1000);
    bool ends_said = dice >= 850 && dice < 880, ends_computed = dice >= 860 && dice < 890;
    bool *said = notes->said [source], *computed = notes->computed [source];
    uint64_t refused = fixture_stats ().refused;
    if (dice < 400)
        fixture_store (WORKER + source, place);
    else if (dice < 850 && !computed [place])
        computed [place] = fixture_begin_prefill (WORKER + source, place, UINT64_MAX).id;
    else if (dice >= 850 && dice < 855)
        catalog_cleared (fixture_catalog, WORKER + source, &(kv_cleared_t){ 0 });
    else if (dice >= 855 && dice < 860)
        catalog_forget_said (fixture_catalog, WORKER + source);
    else if (dice >= 860 && dice < 880)
        catalog_forget (fixture_catalog, WORKER + source);
    else if (dice >= 880 && dice < 890)
        catalog_forget_unsaid (fixture_catalog, WORKER + source);
    else if (dice >= 890 && dice < 900)
        catalog_sweep (fixture_catalog);
    computed [place] &=
        dice >= 400 || fixture_stats ().refused > refused;    //  What was computed is there, if it has room
    said [place] |= dice < 400;
    for (uint64_t each = 0; each <= PLACES; each++) {
        said [each] &= !ends_said;
        computed [each] &= !ends_computed;
    }
}

static size_t
s_noted (const notes_t *notes, uint64_t place)
{
    size_t count = 0;
    for (uint64_t source = 0; source < SOURCES; source++)
        count += notes->said [source][place] || notes->computed [source][place];
    return count;
}

//  Whatever is cleared, forgotten and said again, in however many namespaces, answers know at once.
static void
test_answers_equal_plain_notes (void **state)
{
    enum { SEED = 20261201 };
    static notes_t notes;
    random_t random;
    print_message ("seed %d\n", SEED);
    random_init (&random, SEED);
    for (int step = 0; step < STEPS; step++) {
        uint64_t place = 1 + random_below (&random, PLACES);
        s_happen (&notes, &random, place);
        assert_int_equal (fixture_matches (place), s_noted (&notes, place));
        if (step % 100 == 0)
            catalog_check (fixture_catalog);
    }
}

//  The same where there is room for some of it only: answers say nothing that is not so, and at the end nothing is left.
static void
test_answers_invent_nothing_where_there_is_no_room (void **state)
{
    enum { SEED = 20261202, ROOM = 1300 };
    static notes_t notes;
    random_t random;
    size_t found = 0;
    print_message ("seed %d\n", SEED);
    random_init (&random, SEED);
    catalog_destroy (&fixture_catalog);
    fixture_catalog = catalog_new (&(catalog_options_t){ .blocks_max = ROOM });
    for (int step = 0; step < STEPS; step++) {
        uint64_t place = 1 + random_below (&random, PLACES);
        s_happen (&notes, &random, place);
        size_t matches = fixture_matches (place);
        assert_true (matches <= s_noted (&notes, place));
        found += matches;
        if (step % 100 == 0)
            catalog_check (fixture_catalog);
    }
    print_message ("found %zu refused %zu\n", found, (size_t)fixture_stats ().refused);
    assert_true (found > STEPS / 10);
    assert_true (fixture_stats ().refused > STEPS / 10);
    for (uint64_t source = 0; source < SOURCES; source++)
        catalog_forget (fixture_catalog, WORKER + source);
    while (fixture_stats ().namespaces || fixture_stats ().bytes)
        catalog_sweep (fixture_catalog);
    assert_int_equal (fixture_stats ().memberships + fixture_stats ().pending, 0);
    fixture_store (WORKER, 1);
    assert_int_equal (fixture_matches (1), 1);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_namespaces_share_no_block, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_a_namespace_goes_with_its_last_block, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_there_is_room_again_where_it_was_full, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_namespace_in_the_place_of_another_is_another, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_no_namespace_keeps_others_from_going, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_what_went_takes_room_until_it_is_freed, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_all_namespaces_share_one_bound, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_namespace_of_few_blocks_takes_little, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_a_clear_takes_out_little_at_a_time, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (test_answers_equal_plain_notes, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown (
            test_answers_invent_nothing_where_there_is_no_room, fixture_set_up, fixture_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
