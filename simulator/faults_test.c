//  Faults strike, are repaired, and leave nothing behind when they are stopped.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "simulator/disk.h"
#include "simulator/faults.h"
#include "simulator/network.h"

enum { MACHINES = 3, PROCESSES = 4 };

static realm_t *s_realm;
static faults_options_t s_options;
static uint64_t s_struck [FAULT_COUNT];
static fault_feeling_t s_feelings [FAULT_COUNT];
static const realm_process_t *s_cut;    //  Cut off when something was felt; NULL: nobody
static size_t s_revoked;                //  Keys, now

static status_t
s_idle_start (realm_process_t *process, void **state, error_t *error)
{
    return STATUS_OK;
}

static void
s_idle_stop (realm_process_t *process, void *state)
{
}

static const realm_program_t s_idle = { .name = "idle", .start = s_idle_start, .stop = s_idle_stop };

//  The youngest process that is cut off; NULL: there is none.
static const realm_process_t *
s_find_cut (void)
{
    const realm_process_t *process, *found = NULL;
    for (size_t i = 0; (process = realm_process_at (s_realm, i)); i++)
        if (!realm_process_reaches (realm_process_at (s_realm, 0), process))
            found = process;
    return found;
}

static fault_feeling_t
s_on_fault (void *arg, fault_kind_t kind, realm_process_t *process, realm_machine_t *machine)
{
    s_struck [kind]++;
    assert_true (!process || realm_process_machine (process) != s_options.spared);
    assert_true (!machine || machine != s_options.spared);
    if (s_feelings [kind] == FEELS_ALL)
        s_cut = s_find_cut ();
    return s_feelings [kind];
}

static void
s_set_key (void *keys, realm_t *realm, const realm_machine_t *machine, bool revoked)
{
    assert_ptr_equal (realm, s_realm);
    assert_ptr_not_equal (machine, s_options.spared);
    assert_true (revoked || s_revoked);
    s_revoked += revoked ? 1 : (size_t)-1;
}

static void
s_populate (void)
{
    const char *argv [] = { "idle", NULL };
    realm_start_t start = { .argv = argv };
    realm_machine_t *machine;
    for (size_t i = 0; (machine = realm_machine_at (s_realm, i)); i++)
        for (int k = 0; k < PROCESSES && realm_machine_is_up (machine); k++)
            realm_process_start (machine, &start, NULL);
}

static int
s_set_up (void **state)
{
    static const char *const names [MACHINES] = { "m0", "m1", "harness" };
    realm_options_t options = { .seed = 5 };
    s_realm = realm_new (&options);
    realm_register_program (s_realm, &s_idle);
    for (int i = 0; i < MACHINES; i++)
        realm_machine_new (s_realm, names [i]);
    s_populate ();
    s_options = (faults_options_t){
        .spared = realm_machine_find (s_realm, "harness"), .on_fault = s_on_fault, .set_key = s_set_key
    };
    s_cut = NULL;
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        s_feelings [kind] = FEELS_ALL;
        s_struck [kind] = 0;
    }
    return 0;
}

static int
s_tear_down (void **state)
{
    realm_destroy (&s_realm);
    return 0;
}

static void
s_check_all_is_well (void)
{
    const realm_process_t *process;
    realm_machine_t *machine;
    const realm_process_t *first = realm_process_at (s_realm, 0);
    for (size_t i = 0; (process = realm_process_at (s_realm, i)); i++) {
        assert_false (realm_process_is_frozen (process));
        assert_true (realm_process_reaches (first, process));
    }
    for (size_t i = 0; (machine = realm_machine_at (s_realm, i)); i++) {
        assert_true (realm_machine_is_up (machine));
        assert_int_equal (disk_write (realm_machine_disk (machine), "/f", SPAN ("fits"), NULL), STATUS_OK);
    }
    assert_int_equal (network_loss_ppm (realm_network (s_realm)), 0);
    assert_int_equal (network_reorder_ppm (realm_network (s_realm)), 0);
    assert_int_equal (s_revoked, 0);
}

//  A day of the usual faults, with more processes started all the time: each kind strikes about as often as it should.
static void
test_each_kind_strikes_at_its_rate_and_all_is_repaired (void **state)
{
    faults_set_usual (&s_options);
    faults_t *faults = faults_new (s_realm, &s_options);
    for (int turn = 0; turn < 24 * 12; turn++) {
        realm_run (s_realm, realm_now (s_realm) + REALM_HOUR / 12);
        s_populate ();
    }
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        uint64_t expected = (uint64_t)s_options.per_hour [kind] * 24;
        assert_int_equal (faults_count (faults, (fault_kind_t)kind), s_struck [kind]);
        assert_in_range (s_struck [kind], expected / 2, expected * 2);
    }
    faults_stop (faults);
    s_check_all_is_well ();
    realm_run (s_realm, realm_now (s_realm) + REALM_HOUR);
    assert_int_equal (faults_count (faults, FAULT_FREEZE), s_struck [FAULT_FREEZE]);
    faults_destroy (&faults);
}

static void
test_no_key_is_revoked_where_machines_have_none (void **state)
{
    s_options.set_key = NULL;
    s_options.per_hour [FAULT_REVOKED_KEY] = 60;
    faults_t *faults = faults_new (s_realm, &s_options);
    realm_run (s_realm, REALM_HOUR);
    assert_int_equal (faults_count (faults, FAULT_REVOKED_KEY), 0);
    faults_destroy (&faults);
}

static void
test_what_is_not_felt_excuses_nobody (void **state)
{
    s_options.per_hour [FAULT_PUBLISH_LOSS] = 60;
    s_feelings [FAULT_PUBLISH_LOSS] = FEELS_NOTHING;
    faults_t *faults = faults_new (s_realm, &s_options);
    realm_run (s_realm, REALM_HOUR);
    assert_true (s_struck [FAULT_PUBLISH_LOSS] > 0);
    assert_false (faults_since (faults, 0));
    faults_destroy (&faults);
}

static void
test_what_is_felt_excuses_until_its_aftermath_is_over (void **state)
{
    s_options.per_hour [FAULT_FREEZE] = 60;
    faults_t *faults = faults_new (s_realm, &s_options);
    realm_run (s_realm, REALM_HOUR);
    faults_stop (faults);
    assert_true (s_struck [FAULT_FREEZE] > 0);
    assert_true (faults_since (faults, 0));
    assert_false (faults_since (faults, realm_now (s_realm) + 600 * REALM_SECOND));
    faults_destroy (&faults);
}

//  A partition keeps those from coming back that freeze meanwhile, or just before.
static void
test_what_is_felt_is_so_until_what_delays_it_is_repaired (void **state)
{
    size_t late = 0, unfelt = 0;
    s_options.per_hour [FAULT_PARTITION] = 60;
    s_options.per_hour [FAULT_FREEZE] = 20;
    s_feelings [FAULT_PARTITION] = FEELS_RECOVERY;
    faults_t *faults = faults_new (s_realm, &s_options);
    for (uint64_t frozen = 0, frozen_ns = 0, turn = 0; turn < 240 * 3600; turn++) {
        realm_run (s_realm, realm_now (s_realm) + REALM_SECOND);
        uint64_t now_ns = realm_now (s_realm);
        if (frozen != s_struck [FAULT_FREEZE])
            frozen_ns = now_ns;
        frozen = s_struck [FAULT_FREEZE];
        if (s_cut && realm_process_reaches (realm_process_at (s_realm, 0), s_cut))
            s_cut = NULL;
        assert_true (!s_cut || faults_since (faults, now_ns));
        late += s_cut && now_ns - frozen_ns > 30 * REALM_SECOND;
        unfelt += s_find_cut () && !faults_since (faults, now_ns);
    }
    assert_true (late && unfelt);
    faults_destroy (&faults);
}

static size_t
s_count_processes (void)
{
    size_t count = 0;
    while (realm_process_at (s_realm, count))
        count++;
    return count;
}

static void
test_a_twin_lives_beside_the_first (void **state)
{
    s_options.per_hour [FAULT_TWIN] = 60;
    size_t before = s_count_processes ();
    faults_t *faults = faults_new (s_realm, &s_options);
    realm_run (s_realm, REALM_HOUR);
    faults_stop (faults);
    assert_true (s_struck [FAULT_TWIN] > 0);
    assert_int_equal (s_count_processes (), before + s_struck [FAULT_TWIN]);
    faults_destroy (&faults);
}

//  Commits something unsynced now and then, for a moment.
static void
s_write_now_and_then (disk_store_t *store, uint64_t turn)
{
    bool sync = turn % 100 != 0;
    assert_int_equal (disk_store_put (store, SPAN ("key"), SPAN ("value"), NULL), STATUS_OK);
    assert_int_equal (disk_store_commit (store, sync, NULL), STATUS_OK);
}

//  A tenth of a second in ten is the time to hurt: of crashes that do not wait for it one in a hundred would.
static void
test_crashes_of_machines_lie_in_wait_for_what_is_not_synced (void **state)
{
    disk_t *disk = realm_machine_disk (realm_machine_find (s_realm, "m1"));
    disk_store_t *store = NULL;
    s_options.per_hour [FAULT_MACHINE_CRASH] = 20;
    faults_t *faults = faults_new (s_realm, &s_options);
    for (uint64_t turn = 0; turn < 10 * 36000; turn++) {
        if (!realm_machine_is_up (realm_machine_find (s_realm, "m1")))
            store = NULL;
        else if (!store)
            store = disk_store_open (disk, "/store", "test", 0, NULL);
        if (store)
            s_write_now_and_then (store, turn);
        realm_run (s_realm, realm_now (s_realm) + 100 * REALM_MS);
    }
    assert_true (s_struck [FAULT_MACHINE_CRASH] > 50);
    assert_true (disk_torn (disk) > s_struck [FAULT_MACHINE_CRASH] / 10);
    faults_destroy (&faults);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, s_set_up, s_tear_down)

int
main (void)
{
    const struct CMUnitTest tests [] = {
        TEST (test_each_kind_strikes_at_its_rate_and_all_is_repaired),
        TEST (test_no_key_is_revoked_where_machines_have_none),
        TEST (test_what_is_not_felt_excuses_nobody),
        TEST (test_what_is_felt_excuses_until_its_aftermath_is_over),
        TEST (test_what_is_felt_is_so_until_what_delays_it_is_repaired),
        TEST (test_a_twin_lives_beside_the_first),
        TEST (test_crashes_of_machines_lie_in_wait_for_what_is_not_synced),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
