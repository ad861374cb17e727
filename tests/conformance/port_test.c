//  The contract of runtime/port.h, told once and kept by both worlds; http_test has what it says of HTTP.
//
//  What only one of them can show (crashes, partitions, the system's own errors) is tested beside its implementation.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/conformance/scene.h"

//  ---- Alarms and turns ----------------------------------------------------------------------------------------------

static void
s_on_second_alarm (void *arg)
{
    scene_t *scene = arg;
    scene_hear (scene, "second");
    scene_over (scene);
}

static void
s_on_first_alarm (void *arg)
{
    scene_t *scene = arg;
    uint64_t now_ns = PORT (scene)->now_ns (scene->port);
    scene_hear (scene, now_ns < scene->due_ns ? "early" : "first");
    scene->port->user.on_alarm = s_on_second_alarm;
    PORT (scene)->alarm (scene->port, now_ns - 1);
}

//  A later setting replaces the earlier one; one in the past comes soon, but not from inside the call.
static void
s_alarms (scene_t *scene)
{
    uint64_t now_ns = PORT (scene)->now_ns (scene->port);
    assert_true (now_ns > 0);
    scene->due_ns = now_ns + 5 * MILLISECOND;
    scene->port->user.on_alarm = s_on_first_alarm;
    PORT (scene)->alarm (scene->port, now_ns + 1000000 * MILLISECOND);
    PORT (scene)->alarm (scene->port, PORT_NEVER);
    PORT (scene)->alarm (scene->port, scene->due_ns);
    scene_hear (scene, "set");
}

static void
test_one_alarm_replaced_cleared_and_never_from_inside (void **state)
{
    scene_play (s_alarms, "set first second ");
}

static void
s_on_turn_end (void *arg)
{
    scene_t *scene = arg;
    scene_hear (scene, "end");
    scene_over (scene);
}

static void
s_on_alarm_with_turn (void *arg)
{
    scene_t *scene = arg;
    PORT (scene)->turn_end (scene->port);
    PORT (scene)->turn_end (scene->port);
    scene_hear (scene, "handler");
}

static void
s_turns (scene_t *scene)
{
    scene->port->user.on_alarm = s_on_alarm_with_turn;
    scene->port->user.on_turn_end = s_on_turn_end;
    PORT (scene)->alarm (scene->port, PORT (scene)->now_ns (scene->port) + MILLISECOND);
}

static void
test_the_end_of_a_turn_comes_once_behind_the_handler (void **state)
{
    scene_play (s_turns, "handler end ");
}

//  ---- Sockets -------------------------------------------------------------------------------------------------------

static port_socket_t *
s_open (scene_t *scene, socket_kind_t kind, socket_message_fn *on_message)
{
    socket_options_t options = { .kind = kind, .on_message = on_message, .arg = scene };
    port_socket_t *socket = PORT (scene)->socket_open (scene->port, &options, NULL);
    assert_non_null (socket);
    return socket;
}

static void
s_bind_and_connect (scene_t *scene)
{
    assert_int_equal (PORT (scene)->socket_bind (scene->server, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    snprintf (scene->endpoint, sizeof scene->endpoint, "%s", PORT (scene)->socket_endpoint (scene->server));
    assert_int_equal (PORT (scene)->socket_connect (scene->client, scene->endpoint, NULL), STATUS_OK);
}

static void
s_send_word (scene_t *scene, port_socket_t *socket, const char *word)
{
    span_t frame = span_from_string (word);
    assert_int_equal (PORT (scene)->socket_send (socket, &frame, 1), STATUS_OK);
}

static void
s_close_both (scene_t *scene)
{
    PORT (scene)->socket_close (scene->client);
    PORT (scene)->socket_close (scene->server);
    scene_over (scene);
}

static void
s_on_answer (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    assert_int_equal (count, 1);
    scene_hear_span (scene, frames [0]);
    if (++scene->count == 2)
        s_close_both (scene);
}

static void
s_on_question (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    assert_int_equal (count, 2);
    scene_hear_span (scene, frames [1]);
    span_t answer [] = { frames [0], SPAN ("answer") };
    assert_int_equal (PORT (scene)->socket_send (scene->server, answer, 2), STATUS_OK);
    span_t stranger [] = { SPAN ("nobody"), SPAN ("answer") };
    assert_int_equal (PORT (scene)->socket_send (scene->server, stranger, 2), STATUS_UNREACHABLE);
}

//  Both questions are on their way before the first answer can be: they are heard in order.
static void
s_questions (scene_t *scene)
{
    scene->server = s_open (scene, SOCKET_ROUTER, s_on_question);
    scene->client = s_open (scene, SOCKET_DEALER, s_on_answer);
    s_bind_and_connect (scene);
    s_send_word (scene, scene->client, "one");
    s_send_word (scene, scene->client, "two");
    scene_hear (scene, "sent");
}

static void
test_a_router_answers_who_asked_and_cannot_reach_a_stranger (void **state)
{
    scene_t real = { 0 }, simulated = { 0 };
    scene_play_simulated (s_questions, &simulated);
    scene_play_real (s_questions, &real);
    assert_true (strncmp (simulated.heard, "sent one ", 9) == 0 && strncmp (real.heard, "sent one ", 9) == 0);
    assert_int_equal (strlen (simulated.heard), strlen (real.heard));
}

static void
s_on_late_message (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    scene_hear_span (scene, frames [count - 1]);
    if (++scene->count == 3)
        s_close_both (scene);
}

//  The dealer speaks before anybody is bound.
static void
s_early_dealer (scene_t *scene)
{
    snprintf (scene->endpoint, sizeof scene->endpoint, "ipc://@stator-port-test-%d", (int)getpid ());
    scene->client = s_open (scene, SOCKET_DEALER, NULL);
    assert_int_equal (PORT (scene)->socket_connect (scene->client, scene->endpoint, NULL), STATUS_OK);
    s_send_word (scene, scene->client, "one");
    s_send_word (scene, scene->client, "two");
    s_send_word (scene, scene->client, "three");
    scene->server = s_open (scene, SOCKET_ROUTER, s_on_late_message);
    assert_int_equal (PORT (scene)->socket_bind (scene->server, scene->endpoint, NULL), STATUS_OK);
}

static void
test_a_dealer_queues_until_its_router_is_there (void **state)
{
    scene_play (s_early_dealer, "one two three ");
}

static void
s_on_published (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    scene_hear_span (scene, frames [0]);
    if (span_equal_string (frames [0], "kv.last"))
        s_close_both (scene);
}

//  The publisher hears of the subscription: what it says from then on arrives, where it begins with the prefix.
static void
s_on_subscribed (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    assert_true (span_equal (frames [0], SPAN ("\1kv.")));
    s_send_word (scene, scene->server, "kv.first");
    s_send_word (scene, scene->server, "kvx");
    s_send_word (scene, scene->server, "load.first");
    s_send_word (scene, scene->server, "kv.last");
}

static void
s_publishing (scene_t *scene)
{
    scene->server = s_open (scene, SOCKET_XPUB, s_on_subscribed);
    scene->client = s_open (scene, SOCKET_SUB, s_on_published);
    s_send_word (scene, scene->server, "kv.before");
    s_bind_and_connect (scene);
    PORT (scene)->socket_subscribe (scene->client, SPAN ("kv."));
}

static void
test_a_subscriber_hears_its_prefix_from_when_it_has_joined (void **state)
{
    scene_play (s_publishing, "kv.first kv.last ");
}

static void
s_taken_endpoint (scene_t *scene)
{
    scene->server = s_open (scene, SOCKET_ROUTER, NULL);
    scene->client = s_open (scene, SOCKET_ROUTER, NULL);
    assert_int_equal (PORT (scene)->socket_bind (scene->server, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    error_t error = { 0 };
    const char *endpoint = PORT (scene)->socket_endpoint (scene->server);
    scene_hear (scene, status_name (PORT (scene)->socket_bind (scene->client, endpoint, &error)));
    scene_hear (scene, strstr (error.text, endpoint) ? "named" : error.text);
    scene_hear (scene, status_name (PORT (scene)->socket_bind (scene->client, "nonsense", &error)));
    s_close_both (scene);
}

enum { LONG_WORD = 100000 };

//  The peer is one of the frames, so the message goes back to it.
static void
s_on_forwarded (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    assert_int_equal (count, 2);
    assert_int_equal (PORT (scene)->socket_forward (scene->server, scene->server, frames, 2), STATUS_OK);
}

static void
s_on_echo (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    assert_int_equal (count, 1);
    scene_hear_span (scene, frames [0].size == LONG_WORD ? span_slice (frames [0], LONG_WORD - 4, 4) : frames [0]);
    if (++scene->count == 3)
        s_close_both (scene);
}

static void
s_echoes (scene_t *scene)
{
    char *word = memory_new (LONG_WORD + 1);
    memset (word, '.', LONG_WORD);
    memcpy (word + LONG_WORD - 4, "long", 4);
    scene->server = s_open (scene, SOCKET_ROUTER, s_on_forwarded);
    scene->client = s_open (scene, SOCKET_DEALER, s_on_echo);
    s_bind_and_connect (scene);
    s_send_word (scene, scene->client, "short");
    s_send_word (scene, scene->client, word);
    s_send_word (scene, scene->client, "a_word_that_fills_more_than_a_message_itself");
    memory_free (word);
}

static void
test_what_is_forwarded_arrives_as_it_came (void **state)
{
    scene_play (s_echoes, "short long a_word_that_fills_more_than_a_message_itself ");
}

static void
test_a_taken_endpoint_is_an_error_that_names_it (void **state)
{
    scene_play (s_taken_endpoint, "exists named invalid ");
}

//  ---- Jobs ----------------------------------------------------------------------------------------------------------

static void
s_double (void *data)
{
    *(int *)data *= 2;
}

static void
s_on_doubled (void *arg, void *data)
{
    scene_t *scene = arg;
    scene_hear (scene, *(int *)data == 42 ? "done" : "wrong");
    memory_free (data);
    scene_over (scene);
}

static void
s_jobs (scene_t *scene)
{
    int *number = memory_new (sizeof *number);
    *number = 21;
    PORT (scene)->job_start (scene->port, s_double, s_on_doubled, scene, number);
    scene_hear (scene, "started");
}

static void
test_a_job_is_done_after_the_handler_that_started_it (void **state)
{
    scene_play (s_jobs, "started done ");
}

//  ---- Stores and files ----------------------------------------------------------------------------------------------

static port_store_t *
s_open_store (scene_t *scene, const char *format)
{
    store_options_t options = { .name = "store", .format = format };
    return PORT (scene)->store_open (scene->port, &options, NULL);
}

static void
s_hear_keys (scene_t *scene, port_store_t *store)
{
    span_t key, value;
    bool found = PORT (scene)->store_next (store, SPAN (""), false, &key, &value);
    while (found) {
        char at [16];
        span_copy_string (key, at, sizeof at);
        scene_hear (scene, at);
        scene_hear_span (scene, value);
        found = PORT (scene)->store_next (store, span_from_string (at), true, &key, &value);
    }
}

//  Committed: there after the next opening.  Not committed: visible until then, and gone.
static void
s_stores (scene_t *scene)
{
    port_store_t *store = s_open_store (scene, "test/1");
    assert_non_null (store);
    PORT (scene)->store_put (store, SPAN ("b"), SPAN ("2"), NULL);
    PORT (scene)->store_put (store, SPAN ("a"), SPAN ("1"), NULL);
    PORT (scene)->store_put (store, SPAN ("c"), SPAN ("3"), NULL);
    assert_int_equal (PORT (scene)->store_commit (store, false, NULL), STATUS_OK);
    PORT (scene)->store_delete (store, SPAN ("c"), NULL);
    assert_int_equal (PORT (scene)->store_commit (store, true, NULL), STATUS_OK);
    PORT (scene)->store_put (store, SPAN ("a"), SPAN ("9"), NULL);
    scene_hear_span (scene, PORT (scene)->store_get (store, SPAN ("a")));
    PORT (scene)->store_close (store);

    store = s_open_store (scene, "test/1");
    s_hear_keys (scene, store);
    scene_hear (scene, PORT (scene)->store_get (store, SPAN ("c")).data ? "there" : "absent");
    PORT (scene)->store_close (store);
    scene_hear (scene, s_open_store (scene, "test/2") ? "opened" : "refused");
    scene_over (scene);
}

static void
test_a_store_keeps_what_was_committed_in_key_order (void **state)
{
    scene_play (s_stores, "9 a 1 b 2 absent refused ");
}

static void
s_hear_file (scene_t *scene, size_t size_max)
{
    buffer_t content = { 0 };
    status_t status = PORT (scene)->file_read (scene->port, "file", size_max, &content, NULL);
    scene_hear (scene, status == STATUS_OK ? buffer_string (&content) : status_name (status));
    buffer_fini (&content);
}

static void
s_hear_front (scene_t *scene, size_t size)
{
    buffer_t content = { 0 };
    status_t status = PORT (scene)->file_read_front (scene->port, "file", size, &content, NULL);
    scene_hear (scene, status == STATUS_OK ? buffer_string (&content) : status_name (status));
    buffer_fini (&content);
}

static void
s_files (scene_t *scene)
{
    s_hear_front (scene, 3);
    s_hear_file (scene, 100);
    assert_int_equal (PORT (scene)->file_write (scene->port, "file", SPAN ("old"), true, NULL), STATUS_OK);
    assert_int_equal (PORT (scene)->file_write (scene->port, "file", SPAN ("new"), true, NULL), STATUS_OK);
    s_hear_file (scene, 100);
    port_file_t *file = PORT (scene)->file_open (scene->port, "file", NULL);
    assert_int_equal (PORT (scene)->file_append (file, SPAN ("er"), NULL), STATUS_OK);
    PORT (scene)->file_close (file);
    s_hear_file (scene, 5);
    s_hear_file (scene, 4);
    s_hear_front (scene, 4);
    s_hear_front (scene, 100);
    scene_over (scene);
}

static void
test_a_file_is_replaced_whole_and_grows_by_appends (void **state)
{
    scene_play (s_files, "not_found not_found new newer limit newe newer ");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_one_alarm_replaced_cleared_and_never_from_inside),
        cmocka_unit_test (test_the_end_of_a_turn_comes_once_behind_the_handler),
        cmocka_unit_test (test_a_router_answers_who_asked_and_cannot_reach_a_stranger),
        cmocka_unit_test (test_a_dealer_queues_until_its_router_is_there),
        cmocka_unit_test (test_a_subscriber_hears_its_prefix_from_when_it_has_joined),
        cmocka_unit_test (test_what_is_forwarded_arrives_as_it_came),
        cmocka_unit_test (test_a_taken_endpoint_is_an_error_that_names_it),
        cmocka_unit_test (test_a_job_is_done_after_the_handler_that_started_it),
        cmocka_unit_test (test_a_store_keeps_what_was_committed_in_key_order),
        cmocka_unit_test (test_a_file_is_replaced_whole_and_grows_by_appends),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
