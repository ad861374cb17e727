//  Events through the broker to those who follow, and who is alive: what breaks on the way costs nothing.

#include "tests/broker/fixture.h"

static void
test_a_follower_mirrors_its_source (void **state)
{
    bus_begin_all (1, RING);
    bus_run (5 * REALM_SECOND);
    assert_true (bus_follower ()->events > 500);
    bus_check_equal_once_quiet ();
    assert_int_equal (bus_follower ()->doubles, 0);
    assert_int_equal (bus_count (FOLLOWER, "gap"), 0);
    bus_end ();
}

//  Who comes late takes the state over, then follows.
static void
test_a_late_follower_begins_with_a_snapshot (void **state)
{
    bus_begin (2, RING);
    bus_run (10 * REALM_SECOND);
    bus_add (FOLLOWER);
    bus_run (3 * REALM_SECOND);
    assert_int_equal (bus_count (FOLLOWER, "snapshot"), 2);    //  The directory's, and the source's
    bus_check_equal_once_quiet ();
    assert_int_equal (bus_follower ()->doubles, 0);
    bus_end ();
}

//  Killed under load for two seconds: what was published meanwhile comes out of the source's ring.
static void
test_a_killed_broker_costs_nothing (void **state)
{
    bus_begin_all (3, RING);
    size_t resets = bus_follower ()->resets;
    stage_crash (bus_stage, bus_addresses [BROKER]);
    bus_run (2 * REALM_SECOND);
    size_t events = bus_follower ()->events;
    stage_start (bus_stage, bus_addresses [BROKER]);
    bus_run (5 * REALM_SECOND);
    assert_true (bus_follower ()->events > events + 500);
    assert_int_equal (bus_follower ()->unreachable, 0);
    assert_true (bus_count (SOURCE, "registered") >= 2);
    bus_check_equal_once_quiet ();
    assert_int_equal (bus_follower ()->resets, resets);
    assert_int_equal (bus_follower ()->doubles, 0);
    bus_end ();
}

//  A restarted source begins from nothing: what its predecessor had is forgotten, not mixed in.
static void
test_a_restarted_source_is_fenced (void **state)
{
    bus_begin_all (4, RING);
    bus_run (3 * REALM_SECOND);
    stage_crash (bus_stage, bus_addresses [SOURCE]);
    bus_run (REALM_SECOND);
    stage_start (bus_stage, bus_addresses [SOURCE]);
    bus_run (3 * REALM_SECOND);
    assert_int_equal (bus_count (FOLLOWER, "fence"), 1);
    assert_true (bus_follower ()->resets >= 1);
    bus_check_equal_once_quiet ();
    bus_end ();
}

static const budget_t *
s_lose_some (uint64_t memory)
{
    bus_follower_memory = memory;
    bus_begin_all (5, RING);
    network_set_publishing (realm_network (stage_realm (bus_stage)), 200000, 50000);
    bus_run (20 * REALM_SECOND);
    assert_true (bus_count (FOLLOWER, "gap") > 10 && bus_count (FOLLOWER, "replayed") > 10);
    bus_source ()->quiet = true;
    bus_run (5 * REALM_SECOND);
    network_set_publishing (realm_network (stage_realm (bus_stage)), 0, 0);
    bus_check_equal_once_quiet ();
    assert_int_equal (bus_follower ()->doubles, 0);
    bus_follower_memory = 0;
    return actor_budget (stage_find (bus_stage, "follower/0"));
}

//  One in five messages to followers is lost, the last ones too: all of it comes back.  What waits behind a hole is in the
//  follower's budget; where that has no room all of it is given up, counted, and asked for.
static void
test_what_the_fabric_drops_is_replayed (void **state)
{
    const budget_t *budget = s_lose_some (1 << 20);
    assert_true (budget->peak && !budget->used && !budget->refused);
    bus_end ();
    budget = s_lose_some (112);
    assert_true (budget->peak && budget->refused > 5);
    assert_true (bus_count (FOLLOWER, "unkept") > (int64_t)budget->refused);    //  At times several batches wait
    bus_end ();
}

//  Where no ring reaches back far enough the state is taken over whole.
static void
test_a_ring_that_is_too_short_leads_to_a_snapshot (void **state)
{
    bus_begin_all (6, 2000);
    int64_t before = bus_count (FOLLOWER, "snapshot");
    bus_separate (FOLLOWER, true);
    bus_run (30 * REALM_SECOND);
    bus_separate (FOLLOWER, false);
    bus_run (10 * REALM_SECOND);
    assert_true (bus_count (FOLLOWER, "snapshot") > before);
    bus_check_equal_once_quiet ();
    bus_end ();
}

//  It stands still until its queue is full: the broker says so, and it finds what it missed.
static void
test_a_follower_that_falls_too_far_behind_is_counted (void **state)
{
    bus_begin (12, RING);
    bus_options.subscriber_queue = 100;
    stage_crash (bus_stage, bus_addresses [BROKER]);
    stage_start (bus_stage, bus_addresses [BROKER]);
    bus_add (FOLLOWER);
    bus_run (2 * REALM_SECOND);
    assert_int_equal (bus_metric (BROKER, "stator_broker_overflows_total", ""), 0);
    realm_process_signal (stage_process (bus_stage, bus_addresses [FOLLOWER]), PROCESS_SIGNAL_STOP);
    bus_run (2 * REALM_SECOND);
    realm_process_signal (stage_process (bus_stage, bus_addresses [FOLLOWER]), PROCESS_SIGNAL_CONT);
    bus_run (REALM_SECOND);
    assert_int_equal (bus_metric (BROKER, "stator_broker_overflows_total", ""), 1);
    assert_true (bus_count (FOLLOWER, "gap") > 0);
    bus_check_equal_once_quiet ();
    bus_end ();
}

static int64_t
s_fanned_out (void)
{
    return bus_metric (BROKER, "stator_broker_batches_total", "result=\"fanned_out\"");
}

//  The broker is away for so long that far more batches leave the source's ring than it ever has under way.
static void
test_a_source_goes_on_after_more_was_lost_than_its_window_holds (void **state)
{
    bus_begin_all (11, 2000);
    bus_run (REALM_SECOND);
    stage_crash (bus_stage, bus_addresses [BROKER]);
    bus_run (30 * REALM_SECOND);
    stage_start (bus_stage, bus_addresses [BROKER]);
    bus_run (10 * REALM_SECOND);
    assert_true (bus_count (SOURCE, "dropped") > 1000);
    int64_t fanned_out = s_fanned_out ();
    bus_run (10 * REALM_SECOND);
    assert_true (s_fanned_out () > fanned_out + 500);
    bus_check_equal_once_quiet ();
    bus_end ();
}

//  A change that takes more bytes than a message may have.
static void
s_publish_too_much (source_state_t *source, uint64_t number)
{
    enum { HASHES = 5 << 20 };
    buffer_t bytes = { 0 };
    for (int i = 0; i < HASHES; i++)
        column_pack_hash128 (&bytes, s_hash (number));
    kv_stored_t stored = { .tier = TIER_DEVICE, .hashes = column_of_hash128 (buffer_span (&bytes)) };
    source->has [number] = true;
    actor_publish (source->actor, &kv_stored_message, &stored);
    buffer_fini (&bytes);
}

//  It is not handed over, which would end the connection, but counted, and found missing: a snapshot has it.
static void
test_an_event_that_is_too_large_becomes_a_gap (void **state)
{
    bus_begin_all (13, RING);
    int64_t snapshots = bus_count (FOLLOWER, "snapshot");
    bus_source ()->has [7] = bus_follower ()->has [7] = false;
    s_publish_too_much (bus_source (), 7);
    bus_run (5 * REALM_SECOND);
    assert_int_equal (bus_count (SOURCE, "too_large"), 1);
    assert_int_equal (bus_count (FOLLOWER, "snapshot"), snapshots + 1);
    bus_check_equal_once_quiet ();
    bus_end ();
}

//  It is the last one for a while: who follows learns by the tail that it exists.
static void
test_an_event_that_is_too_large_is_missed_though_nothing_follows (void **state)
{
    bus_begin_all (14, RING);
    bus_source ()->quiet = true;
    bus_run (REALM_SECOND);
    s_publish_too_much (bus_source (), 7);
    bus_run (5 * REALM_SECOND);
    assert_true (bus_follower ()->has [7]);
    bus_source ()->quiet = false;
    s_change (bus_source (), bus_source ()->actor, NULL);
    bus_run (5 * REALM_SECOND);
    assert_int_equal (bus_count (SOURCE, "too_large"), 1);
    assert_int_equal (bus_count (FOLLOWER, "gap"), 1);
    bus_check_equal_once_quiet ();
    bus_end ();
}

static int64_t
s_ring_bytes (void)
{
    return bus_metric (BROKER, "stator_broker_ring_bytes", "");
}

//  However many sources there are, what is kept of them fits the budget; without one each ring fills up to its limit.
static void
test_all_rings_together_keep_to_their_budget (void **state)
{
    enum { BUDGET = 3000 };
    bus_begin_all (8, RING);
    bus_run (30 * REALM_SECOND);
    assert_true (s_ring_bytes () > BUDGET);
    bus_end ();
    bus_begin (8, RING);
    bus_options.ring_budget = BUDGET;
    stage_crash (bus_stage, bus_addresses [BROKER]);
    stage_start (bus_stage, bus_addresses [BROKER]);
    bus_add (FOLLOWER);
    bus_run (30 * REALM_SECOND);
    assert_true (s_ring_bytes () > 0 && s_ring_bytes () <= BUDGET);
    bus_check_equal_once_quiet ();
    bus_end ();
}

//  Cut off for longer than its lease, a source is unreachable; back, it is alive, and nothing was forgotten.
static void
test_a_source_that_was_cut_off_comes_back (void **state)
{
    bus_begin_all (7, RING);
    size_t resets = bus_follower ()->resets;
    bus_separate (SOURCE, true);
    bus_run (8 * REALM_SECOND);
    assert_int_equal (bus_follower ()->unreachable, 1);
    bus_separate (SOURCE, false);
    bus_run (10 * REALM_SECOND);
    assert_int_equal (bus_follower ()->alive, 2);
    assert_non_null (strstr (stage_log (bus_stage), "is back after"));
    bus_check_equal_once_quiet ();
    assert_int_equal (bus_follower ()->resets, resets);
    bus_end ();
}

//  A broker that stood still, or was cut off from everybody, hears nobody for longer than a lease: nobody is absent for
//  that.
static void
test_a_broker_that_was_away_reports_nobody_absent (void **state)
{
    bus_begin_all (8, RING);
    realm_process_t *broker = stage_process (bus_stage, bus_addresses [BROKER]);
    realm_process_signal (broker, PROCESS_SIGNAL_STOP);
    bus_run (7 * REALM_SECOND);
    realm_process_signal (broker, PROCESS_SIGNAL_CONT);
    bus_run (10 * REALM_SECOND);
    assert_int_equal (bus_follower ()->unreachable, 0);
    bus_separate (BROKER, true);
    bus_run (20 * REALM_SECOND);
    bus_separate (BROKER, false);
    bus_run (10 * REALM_SECOND);
    assert_int_equal (bus_follower ()->unreachable, 0);
    bus_check_equal_once_quiet ();
    bus_end ();
}

static void
s_break_something (random_t *random)
{
    uint64_t choice = random_below (random, 6);
    if (choice < 2 || choice == 2) {
        role_t role = (role_t)choice;
        stage_crash (bus_stage, bus_addresses [role]);
        bus_run (random_below (random, 4000) * REALM_MS + REALM_MS);
        stage_start (bus_stage, bus_addresses [role]);
    } else if (choice == 3) {
        role_t role = (role_t)random_below (random, 3);
        bus_separate (role, true);
        bus_run (random_below (random, 15000) * REALM_MS);
        bus_separate (role, false);
    } else if (choice == 4) {
        network_set_publishing (realm_network (stage_realm (bus_stage)), 300000, 100000);
        bus_run (random_below (random, 3000) * REALM_MS);
        network_set_publishing (realm_network (stage_realm (bus_stage)), 0, 0);
    } else {
        realm_machine_jump_clock (
            realm_machine_find (stage_realm (bus_stage), bus_machines [SOURCE]), -(int64_t)(10 * REALM_SECOND));
    }
    bus_run (random_below (random, 4000) * REALM_MS);
}

static void
test_whatever_breaks_they_are_equal_once_quiet (void **state)
{
    for (uint64_t seed = 100; seed < 160; seed++) {
        random_t random;
        random_init (&random, seed);
        print_message ("seed %llu\n", (unsigned long long)seed);
        bus_begin_all (seed, random_chance (&random, 500000) ? 3000 : RING);
        for (int i = 0; i < 8; i++)
            s_break_something (&random);
        bus_run (15 * REALM_SECOND);
        bus_check_equal_once_quiet ();
        bus_end ();
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_follower_mirrors_its_source),
        cmocka_unit_test (test_a_late_follower_begins_with_a_snapshot),
        cmocka_unit_test (test_a_killed_broker_costs_nothing),
        cmocka_unit_test (test_a_restarted_source_is_fenced),
        cmocka_unit_test (test_what_the_fabric_drops_is_replayed),
        cmocka_unit_test (test_a_ring_that_is_too_short_leads_to_a_snapshot),
        cmocka_unit_test (test_a_follower_that_falls_too_far_behind_is_counted),
        cmocka_unit_test (test_a_source_goes_on_after_more_was_lost_than_its_window_holds),
        cmocka_unit_test (test_an_event_that_is_too_large_becomes_a_gap),
        cmocka_unit_test (test_an_event_that_is_too_large_is_missed_though_nothing_follows),
        cmocka_unit_test (test_all_rings_together_keep_to_their_budget),
        cmocka_unit_test (test_a_source_that_was_cut_off_comes_back),
        cmocka_unit_test (test_a_broker_that_was_away_reports_nobody_absent),
        cmocka_unit_test (test_whatever_breaks_they_are_equal_once_quiet),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
