//  What holders of keys may do, who is on a keyring, and which endpoints leave the machine.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include <stdio.h>

#include "runtime/endpoint.h"
#include "runtime/guard.h"

static const char *const s_everything [] = { "*", NULL };
static const char *const s_own [] = { "box/{name}", "box/{name}-*", NULL };
static const char *const s_few [] = { "bus.*", "*.ping", NULL };

static const guard_role_t s_roles [] = { { "looker", NULL, s_few }, { "box", s_own, s_few },
    { "master", s_everything, s_everything } };
static const guard_t s_guard = { s_roles, 3 };

enum { LOOKER = 1, BOX = 2, MASTER = 4 };

static socket_sender_t
s_sender (uint32_t roles)
{
    return (socket_sender_t){ .proven = true, .name = "ada", .roles = roles };
}

static bool
s_may_call (uint32_t roles, const char *service, const char *method)
{
    socket_sender_t sender = s_sender (roles);
    return guard_may_call (&s_guard, &sender, service, span_from_string (method));
}

static bool
s_may_speak (uint32_t roles, const char *address)
{
    socket_sender_t sender = s_sender (roles);
    return guard_may_speak (&s_guard, &sender, span_from_string (address));
}

static void
test_a_role_calls_what_its_patterns_name (void **state)
{
    assert_true (s_may_call (LOOKER, "bus", "list"));
    assert_true (s_may_call (LOOKER, "box", "ping"));
    assert_false (s_may_call (LOOKER, "box", "pings"));
    assert_false (s_may_call (LOOKER, "box", "open"));
    assert_false (s_may_call (LOOKER, "abus", "list"));
    assert_true (s_may_call (LOOKER | MASTER, "box", "open"));
    assert_false (s_may_call (0, "bus", "list"));
}

static void
test_a_role_speaks_for_its_own_addresses (void **state)
{
    assert_true (s_may_speak (BOX, "box/ada"));
    assert_true (s_may_speak (BOX, "box/ada-7"));
    assert_false (s_may_speak (BOX, "box/adam"));
    assert_false (s_may_speak (BOX, "box/eve"));
    assert_false (s_may_speak (LOOKER, "box/ada"));
    assert_true (s_may_speak (MASTER, "whoever/0"));
}

static void
test_who_is_of_this_machine_may_do_everything_and_without_roles_nobody_else (void **state)
{
    socket_sender_t here = { 0 }, there = s_sender (MASTER);
    assert_true (guard_may_call (NULL, &here, "box", SPAN ("open")));
    assert_true (guard_may_speak (NULL, &here, SPAN ("box/0")));
    assert_false (guard_may_call (NULL, &there, "box", SPAN ("open")));
    assert_false (guard_may_speak (NULL, &there, SPAN ("box/0")));
}

static void
test_roles_are_read_by_name (void **state)
{
    uint32_t roles;
    error_t error;
    assert_int_equal (guard_parse_roles (&s_guard, SPAN ("looker, master"), &roles, NULL), STATUS_OK);
    assert_int_equal (roles, LOOKER | MASTER);
    assert_int_equal (guard_parse_roles (&s_guard, SPAN (""), &roles, NULL), STATUS_OK);
    assert_int_equal (roles, 0);
    assert_int_equal (guard_parse_roles (&s_guard, SPAN ("box king"), &roles, &error), STATUS_NOT_FOUND);
    assert_non_null (strstr (error.text, "there is no role 'king', only "));
    assert_int_equal (guard_parse_roles (&s_guard, SPAN ("mastr"), &roles, &error), STATUS_NOT_FOUND);
    assert_non_null (strstr (error.text, "; did you mean 'master'?"));
}

static void
test_a_keyring_finds_by_key_and_by_address (void **state)
{
    keyring_t *keys = keyring_new ();
    keyring_entry_t ada = { "ada", "KEY-A", "10.0.0.1", BOX }, eve = { "eve", "KEY-E", "", LOOKER };
    assert_null (keyring_own_secret (keys));
    assert_int_equal (keyring_add (keys, &ada, NULL), STATUS_OK);
    assert_int_equal (keyring_add (keys, &eve, NULL), STATUS_OK);
    assert_string_equal (keyring_find (keys, SPAN ("KEY-E"))->name, "eve");
    assert_null (keyring_find (keys, SPAN ("KEY")));
    assert_string_equal (keyring_find_address (keys, SPAN ("10.0.0.1"))->name, "ada");
    assert_null (keyring_find_address (keys, SPAN ("")));
    keyring_entry_t twins [] = { { "bob", "KEY-A", "", 0 }, { "ada", "KEY-B", "", 0 },
        { "bob", "KEY-B", "10.0.0.1", 0 } };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal (keyring_add (keys, &twins [i], NULL), STATUS_EXISTS);
    keyring_destroy (&keys);
}

static void
test_which_endpoints_leave_the_machine (void **state)
{
    static const struct {
        const char *endpoint;
        const char *host;
        const char *port;
        bool leaves;
    } cases [] = {
        { "ipc:///run/x/broker", "", "", false },
        { "inproc://x", "", "", false },
        { "tcp://127.0.0.1:7400", "127.0.0.1", "7400", false },
        { "tcp://127.9.9.9:*", "127.9.9.9", "*", false },
        { "tcp://localhost:7400", "localhost", "7400", false },
        { "tcp://[::1]:7400", "::1", "7400", false },
        { "tcp://", "", "", false },
        { "tcp://*:7400", "*", "7400", true },
        { "tcp://0.0.0.0:7400", "0.0.0.0", "7400", true },
        { "tcp://10.0.0.1:7400", "10.0.0.1", "7400", true },
        { "tcp://[fe80::1]:7400", "fe80::1", "7400", true },
        { "tcp://127.example.org:7400", "127.example.org", "7400", true },
        { "tcp://127.0.0.1:0;10.0.0.1:7400", "10.0.0.1", "7400", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        span_t endpoint = span_from_string (cases [i].endpoint);
        assert_true (span_equal_string (endpoint_host (endpoint), cases [i].host));
        assert_true (span_equal_string (endpoint_port (endpoint), cases [i].port));
        assert_int_equal (endpoint_leaves_machine (endpoint), cases [i].leaves);
    }
}

static void
test_a_server_of_ipv6_is_written_in_brackets (void **state)
{
    char text [16];
    host_write_server (SPAN ("127.0.0.1"), 8000, text, sizeof text);
    assert_string_equal (text, "127.0.0.1:8000");
    host_write_server (SPAN ("::1"), 80, text, sizeof text);
    assert_string_equal (text, "[::1]:80");
    host_write_server (SPAN ("a.host.of.some.length"), 80, text, sizeof text);
    assert_string_equal (text, "a.host.of.some.");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_server_of_ipv6_is_written_in_brackets),
        cmocka_unit_test (test_a_role_calls_what_its_patterns_name),
        cmocka_unit_test (test_a_role_speaks_for_its_own_addresses),
        cmocka_unit_test (test_who_is_of_this_machine_may_do_everything_and_without_roles_nobody_else),
        cmocka_unit_test (test_roles_are_read_by_name),
        cmocka_unit_test (test_a_keyring_finds_by_key_and_by_address),
        cmocka_unit_test (test_which_endpoints_leave_the_machine),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
