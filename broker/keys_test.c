//  Who may speak and who may listen on the bus: each machine has a key, and so has a stranger.

#include "tests/broker/fixture.h"

static const keyring_entry_t s_known_keys [] = { { "m0", "KEY-M0", "m0", ROLE_BROKER },
    { "left", "KEY-LEFT", "left", ROLE_SOURCE }, { "right", "KEY-RIGHT", "right", ROLE_FOLLOWER } };
enum { KNOWN_KEYS = sizeof s_known_keys / sizeof *s_known_keys };

//  The keyring of the holder of `own`, with those of the known keys whose bits are set.
static keyring_t *
s_keyring (const char *own, unsigned known)
{
    keyring_t *keys = keyring_new ();
    keyring_set_own (keys, own, "secret");
    for (size_t i = 0; i < KNOWN_KEYS; i++)
        if (known >> i & 1)
            assert_int_equal (keyring_add (keys, &s_known_keys [i], NULL), STATUS_OK);
    return keys;
}

//  Each with the key of its machine and everybody's on its keyring, but for the source's own, which is given.
static void
s_give_keys (const char *source)
{
    bus_keys [BROKER] = s_keyring ("KEY-M0", 7);
    bus_keys [SOURCE] = s_keyring (source, 7);
    bus_keys [FOLLOWER] = s_keyring ("KEY-RIGHT", 7);
}

static int64_t
s_strangers (void)
{
    return bus_metric (BROKER, "stator_broker_followers_refused_total", "");
}

static void
test_with_the_right_keys_nothing_is_different (void **state)
{
    s_give_keys ("KEY-LEFT");
    bus_begin_all (9, RING);
    stage_crash (bus_stage, bus_addresses [BROKER]);
    bus_run (2 * REALM_SECOND);
    stage_start (bus_stage, bus_addresses [BROKER]);
    bus_run (5 * REALM_SECOND);
    assert_true (bus_follower ()->events > 500);
    assert_int_equal (bus_count (BROKER, "refused"), 0);
    bus_check_equal_once_quiet ();
    bus_end ();
}

static void
test_a_stranger_is_turned_away_and_counted (void **state)
{
    s_give_keys ("KEY-EVE");
    bus_begin_all (10, RING);
    assert_int_equal (bus_count (SOURCE, "registered"), 0);
    assert_int_equal (bus_follower ()->alive, 0);
    assert_true (s_strangers () > 0);
    bus_end ();
}

//  A key that is let in, but for something else.
static void
test_nobody_speaks_for_a_source_without_the_role_for_it (void **state)
{
    s_give_keys ("KEY-RIGHT");
    bus_begin_all (11, RING);
    assert_int_equal (bus_count (SOURCE, "registered"), 0);
    assert_int_equal (bus_follower ()->alive, 0);
    assert_true (bus_count (BROKER, "refused") > 0);
    bus_end ();
}

//  Revoked in the middle of it all: what it says afterwards is refused, although its connections stand.
static void
test_a_revoked_key_says_nothing_more (void **state)
{
    s_give_keys ("KEY-LEFT");
    bus_begin_all (12, RING);
    assert_true (bus_follower ()->events > 0);
    keyring_t *revoked = s_keyring ("KEY-M0", 5);
    sim_port_set_keys (actor_port (stage_find (bus_stage, "broker/0")), revoked);
    bus_run (100 * REALM_MS);
    size_t events = bus_follower ()->events;
    bus_run (10 * REALM_SECOND);
    assert_int_equal (bus_follower ()->events, events);
    assert_int_equal (bus_follower ()->unreachable, 1);
    assert_true (bus_count (BROKER, "refused") > 10);
    sim_port_set_keys (actor_port (stage_find (bus_stage, "broker/0")), bus_keys [BROKER]);
    bus_run (10 * REALM_SECOND);
    bus_check_equal_once_quiet ();
    keyring_destroy (&revoked);
    bus_end ();
}

//  Who follows says nothing, so it must be asked who it is once more.
static void
test_a_follower_whose_key_is_revoked_hears_nothing_more (void **state)
{
    s_give_keys ("KEY-LEFT");
    bus_begin_all (13, RING);
    actor_t *broker = stage_find (bus_stage, "broker/0");
    keyring_t *revoked = s_keyring ("KEY-M0", 3);
    sim_port_set_keys (actor_port (broker), revoked);
    actor_reload (broker, NULL);
    bus_run (REALM_SECOND);
    size_t events = bus_follower ()->events;
    bus_run (10 * REALM_SECOND);
    assert_int_equal (bus_follower ()->events, events);
    assert_true (s_strangers () > 0);
    sim_port_set_keys (actor_port (broker), bus_keys [BROKER]);
    bus_run (10 * REALM_SECOND);
    assert_true (bus_follower ()->events > events);
    bus_check_equal_once_quiet ();
    keyring_destroy (&revoked);
    bus_end ();
}

//  Somebody takes the endpoint while it is bound anew: whoever reads the log learns why nobody hears anything.
static void
test_an_endpoint_that_is_taken_meanwhile_is_told (void **state)
{
    s_give_keys ("KEY-LEFT");
    bus_begin_all (14, RING);
    actor_t *broker = stage_find (bus_stage, "broker/0");
    port_t *port = actor_port (broker);
    socket_options_t options = { .kind = SOCKET_XPUB };
    port_socket_t *squatter = port->table->socket_open (port, &options, NULL);
    actor_reload (broker, NULL);
    assert_int_equal (port->table->socket_bind (squatter, STAGE_EVENTS, NULL), STATUS_OK);
    bus_run (5 * REALM_SECOND);
    const char *told =
        strstr (stage_log (bus_stage), "no events are published since their socket was closed to be opened anew: ");
    assert_non_null (told);
    assert_null (strstr (told + 1, "no events are published"));
    assert_null (strstr (told, "published again"));
    port->table->socket_close (squatter);
    bus_run (5 * REALM_SECOND);
    assert_non_null (strstr (stage_log (bus_stage), "events are published again"));
    bus_check_equal_once_quiet ();
    bus_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_with_the_right_keys_nothing_is_different),
        cmocka_unit_test (test_a_stranger_is_turned_away_and_counted),
        cmocka_unit_test (test_nobody_speaks_for_a_source_without_the_role_for_it),
        cmocka_unit_test (test_a_revoked_key_says_nothing_more),
        cmocka_unit_test (test_a_follower_whose_key_is_revoked_hears_nothing_more),
        cmocka_unit_test (test_an_endpoint_that_is_taken_meanwhile_is_told),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
