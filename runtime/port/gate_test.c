//  Endpoints that leave the machine: who may come in is known by key, and everybody else is turned away and counted.

#include <zmq.h>

#include "runtime/port/port_fixture.h"

//  0.0.0.0 is no loopback address, yet it leads back here.
#define PUBLIC "tcp://0.0.0.0:*"
#define PUBLIC_HOST "0.0.0.0"

enum { ADA_ROLES = 5, RETURN_MS = 2500, QUIET_MS = 300 };

typedef struct {
    char public_key [KEY_TEXT_SIZE];
    char secret_key [KEY_TEXT_SIZE];
} pair_t;

//  A binder with its world, what it heard, and who visits it.
typedef struct {
    fixture_t fixture;         //  Its world and port
    port_socket_t *router;     //  Bound
    size_t heard;              //  Messages
    size_t awaited;            //  The port stops at this many
    socket_sender_t sender;    //  Of the last one
    fixture_t visitor;         //  World and port of somebody else
    port_socket_t *dealer;     //  That one's, connected
} house_t;

static pair_t s_house, s_ada, s_eve;

static int
s_make_pairs (void **state)
{
    pair_t *pairs [] = { &s_house, &s_ada, &s_eve };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal (zmq_curve_keypair (pairs [i]->public_key, pairs [i]->secret_key), 0);
    return 0;
}

static keyring_t *
s_keyring (const pair_t *own)
{
    keyring_t *keys = keyring_new ();
    keyring_set_own (keys, own->public_key, own->secret_key);
    return keys;
}

static void
s_let_in (keyring_t *keys, const char *name, const pair_t *pair, const char *address, uint32_t roles)
{
    keyring_entry_t entry = { .roles = roles };
    snprintf (entry.name, sizeof entry.name, "%s", name);
    snprintf (entry.public_key, sizeof entry.public_key, "%s", pair->public_key);
    snprintf (entry.address, sizeof entry.address, "%s", address);
    assert_int_equal (keyring_add (keys, &entry, NULL), STATUS_OK);
}

static void
s_on_message (void *arg, const span_t *frames, size_t count)
{
    house_t *self = arg;
    self->sender = self->fixture.port->table->socket_sender (self->router);
    self->heard++;
    if (self->heard == self->awaited)
        real_port_stop (self->fixture.port);
}

static void
s_open (house_t *self, const char *endpoint, bool lets_ada_in)
{
    *self = (house_t){ 0 };
    fixture_init (&self->fixture);
    keyring_t *keys = s_keyring (&s_house);
    if (lets_ada_in)
        s_let_in (keys, "ada", &s_ada, "", ADA_ROLES);
    world_set_keys (self->fixture.world, keys);
    socket_options_t options = { .kind = SOCKET_ROUTER, .on_message = s_on_message, .arg = self };
    port_t *port = self->fixture.port;
    self->router = port->table->socket_open (port, &options, NULL);
    assert_int_equal (port->table->socket_bind (self->router, endpoint, NULL), STATUS_OK);
}

static void
s_close (house_t *self)
{
    self->fixture.port->table->socket_close (self->router);
    fixture_fini (&self->fixture);
}

static const char *
s_endpoint (const house_t *self)
{
    return self->fixture.port->table->socket_endpoint (self->router);
}

static uint64_t
s_refused (const house_t *self)
{
    return self->fixture.port->table->socket_refused (self->router);
}

//  Somebody in a world of its own who expects `expected` at the public address of the house.
static void
s_visit (house_t *self, const pair_t *own, const pair_t *expected)
{
    fixture_init (&self->visitor);
    const port_table_t *table = self->visitor.port->table;
    keyring_t *keys = s_keyring (own);
    s_let_in (keys, "house", expected, PUBLIC_HOST, 1);
    world_set_keys (self->visitor.world, keys);
    socket_options_t options = { .kind = SOCKET_DEALER };
    self->dealer = table->socket_open (self->visitor.port, &options, NULL);
    assert_int_equal (table->socket_connect (self->dealer, s_endpoint (self), NULL), STATUS_OK);
}

static void
s_leave (house_t *self)
{
    self->visitor.port->table->socket_close (self->dealer);
    fixture_fini (&self->visitor);
}

static void
s_say (house_t *self)
{
    span_t frame = SPAN ("hello");
    assert_int_equal (self->visitor.port->table->socket_send (self->dealer, &frame, 1), STATUS_OK);
}

//  A house, and a visitor who said something.
static void
s_meet (house_t *self, const char *endpoint, bool lets_ada_in, const pair_t *own, const pair_t *expected)
{
    s_open (self, endpoint, lets_ada_in);
    s_visit (self, own, expected);
    s_say (self);
}

static void
s_part (house_t *self)
{
    s_leave (self);
    s_close (self);
}

static void
s_await (house_t *self, size_t messages)
{
    self->awaited = messages;
    if (self->heard < messages)
        fixture_run (&self->fixture);
}

//  Waits until somebody was turned away, and a little longer for what must not come.
static void
s_expect_refusal (house_t *self)
{
    do
        fixture_run_for (&self->fixture, (uint64_t)QUIET_MS * MILLISECOND);
    while (!s_refused (self));
    assert_int_equal (self->heard, 0);
}

//  ---- Tests ---------------------------------------------------------------------------------------------------------

static void
test_a_message_carries_who_sent_it (void **state)
{
    house_t house;
    s_meet (&house, PUBLIC, true, &s_ada, &s_house);
    s_await (&house, 1);
    assert_true (house.sender.proven);
    assert_string_equal (house.sender.name, "ada");
    assert_int_equal (house.sender.roles, ADA_ROLES);
    assert_int_equal (s_refused (&house), 0);
    s_part (&house);
}

static void
test_a_key_taken_off_the_list_has_no_roles_from_its_next_message_on (void **state)
{
    house_t house;
    s_meet (&house, PUBLIC, true, &s_ada, &s_house);
    s_await (&house, 1);
    world_set_keys (house.fixture.world, s_keyring (&s_house));
    s_say (&house);
    s_await (&house, 2);
    assert_true (house.sender.proven);
    assert_string_equal (house.sender.name, "");
    assert_int_equal (house.sender.roles, 0);
    s_part (&house);
}

static void
test_a_key_that_is_not_on_the_list_is_turned_away (void **state)
{
    house_t house;
    s_meet (&house, PUBLIC, true, &s_eve, &s_house);
    s_expect_refusal (&house);
    s_part (&house);
}

static void
test_nobody_speaks_to_a_binder_that_is_not_whom_it_expects (void **state)
{
    house_t house;
    s_meet (&house, PUBLIC, true, &s_ada, &s_eve);
    s_expect_refusal (&house);
    s_part (&house);
}

static void
test_who_brings_no_key_is_turned_away (void **state)
{
    house_t house;
    int none = 0;
    s_open (&house, PUBLIC, true);
    void *zmq = zmq_ctx_new (), *socket = zmq_socket (zmq, ZMQ_DEALER);
    zmq_setsockopt (socket, ZMQ_LINGER, &none, sizeof none);
    assert_int_equal (zmq_connect (socket, s_endpoint (&house)), 0);
    assert_int_equal (zmq_send (socket, "hello", 5, 0), 5);
    s_expect_refusal (&house);
    zmq_close (socket);
    zmq_ctx_term (zmq);
    s_close (&house);
}

static void
test_a_list_that_is_read_again_lets_new_ones_in (void **state)
{
    house_t house;
    s_meet (&house, PUBLIC, false, &s_ada, &s_house);
    s_expect_refusal (&house);
    s_leave (&house);
    keyring_t *keys = s_keyring (&s_house);
    s_let_in (keys, "ada", &s_ada, "", ADA_ROLES);
    world_set_keys (house.fixture.world, keys);
    s_visit (&house, &s_ada, &s_house);
    s_say (&house);
    s_await (&house, 1);
    assert_string_equal (house.sender.name, "ada");
    s_part (&house);
}

//  It may have come before its key did: it comes again, and what it says then is heard.
static void
test_who_was_turned_away_comes_again (void **state)
{
    house_t house;
    s_meet (&house, PUBLIC, false, &s_ada, &s_house);
    s_expect_refusal (&house);
    keyring_t *keys = s_keyring (&s_house);
    s_let_in (keys, "ada", &s_ada, "", ADA_ROLES);
    world_set_keys (house.fixture.world, keys);
    uint64_t refused = s_refused (&house);
    fixture_run_for (&house.visitor, (uint64_t)RETURN_MS * MILLISECOND);
    s_say (&house);
    s_await (&house, 1);
    assert_string_equal (house.sender.name, "ada");
    assert_true (s_refused (&house) <= refused + 1);
    s_part (&house);
}

static void
test_a_plain_endpoint_asks_for_nothing (void **state)
{
    house_t house;
    s_meet (&house, "tcp://127.0.0.1:*", true, &s_eve, &s_house);
    s_await (&house, 1);
    assert_false (house.sender.proven);
    s_part (&house);
}

static void
test_without_keys_nothing_leaves_the_machine (void **state)
{
    fixture_t fixture;
    error_t error = { 0 };
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    socket_options_t options = { .kind = SOCKET_ROUTER };
    port_socket_t *socket = table->socket_open (fixture.port, &options, NULL);
    assert_int_equal (table->socket_bind (socket, PUBLIC, &error), STATUS_REFUSED);
    assert_non_null (strstr (error.text, "stator key new"));
    table->socket_close (socket);
    options.kind = SOCKET_DEALER;
    socket = table->socket_open (fixture.port, &options, NULL);
    assert_int_equal (table->socket_connect (socket, "tcp://192.0.2.1:7400", &error), STATUS_REFUSED);
    world_set_keys (fixture.world, s_keyring (&s_ada));
    assert_int_equal (table->socket_connect (socket, "tcp://192.0.2.1:7400", &error), STATUS_REFUSED);
    assert_non_null (strstr (error.text, "no key is known of a host at 192.0.2.1"));
    table->socket_close (socket);
    fixture_fini (&fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_message_carries_who_sent_it),
        cmocka_unit_test (test_a_key_taken_off_the_list_has_no_roles_from_its_next_message_on),
        cmocka_unit_test (test_a_key_that_is_not_on_the_list_is_turned_away),
        cmocka_unit_test (test_nobody_speaks_to_a_binder_that_is_not_whom_it_expects),
        cmocka_unit_test (test_who_brings_no_key_is_turned_away),
        cmocka_unit_test (test_a_list_that_is_read_again_lets_new_ones_in),
        cmocka_unit_test (test_who_was_turned_away_comes_again),
        cmocka_unit_test (test_a_plain_endpoint_asks_for_nothing),
        cmocka_unit_test (test_without_keys_nothing_leaves_the_machine),
    };
    return cmocka_run_group_tests (tests, s_make_pairs, NULL);
}
