//  The contract of runtime/port.h, told once and kept by both worlds.
//
//  A scene plays on one port: it starts, things happen in callbacks, and the scene says when it is over.  The same scene
//  then plays in the other world.  What only one of them can show (crashes, partitions, the system's own errors) is tested
//  beside its implementation.

#define _XOPEN_SOURCE 700    //  nftw

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "runtime/port/real_port.h"
#include "simulator/port/sim_port.h"

enum { WATCHDOG_SECONDS = 60, HEARD_MAX = 4096 };

#define MILLISECOND UINT64_C (1000000)

typedef struct scene scene_t;

struct scene {
    port_t *port;                     //  Where it plays
    void (*over) (scene_t *scene);    //  Stops the world
    bool is_over;                     //  The scene has said so
    char heard [HEARD_MAX];           //  What happened, in order, a blank behind each
    int count;                        //  The scene's own
    uint64_t due_ns;                  //  The scene's own
    port_socket_t *server;            //  The scene's own
    port_socket_t *client;            //  The scene's own
    port_listener_t *listener;        //  The scene's own
    port_exchange_t *exchange;        //  The scene's own
    port_fetch_t *fetch;              //  The scene's own
    char endpoint [256];              //  The scene's own
};

#define PORT(scene) ((scene)->port->table)

static void
s_hear (scene_t *scene, const char *word)
{
    size_t used = strlen (scene->heard);
    snprintf (scene->heard + used, HEARD_MAX - used, "%s ", word);
}

static void
s_over (scene_t *scene)
{
    scene->is_over = true;
    scene->over (scene);
}

//  ---- The two worlds --------------------------------------------------------------------------------------------------

typedef void (scene_fn) (scene_t *scene);

static void
s_stop_real (scene_t *scene)
{
    real_port_stop (scene->port);
}

static int
s_remove (const char *path, const struct stat *status, int kind, struct FTW *place)
{
    return remove (path);
}

static void
s_play_real (scene_fn *play, scene_t *scene)
{
    char folder [] = "/tmp/stator-test-XXXXXX";
    assert_non_null (mkdtemp (folder));
    world_t *world = world_new (NULL, NULL);
    real_port_options_t options = { .world = world, .state_folder = folder };
    scene->port = real_port_new (&options, NULL);
    scene->port->user.arg = scene;
    scene->over = s_stop_real;
    alarm (WATCHDOG_SECONDS);
    play (scene);
    if (!scene->is_over)
        real_port_run (scene->port);
    alarm (0);
    real_port_destroy (&scene->port);
    world_destroy (&world);
    assert_int_equal (nftw (folder, s_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static scene_t *s_scene_in_realm;
static scene_fn *s_play_in_realm;

static void
s_stop_simulated (scene_t *scene)
{
}

static status_t
s_stage_start (realm_process_t *process, void **state, error_t *error)
{
    scene_t *scene = s_scene_in_realm;
    scene->port = sim_port_new (process);
    scene->port->user.arg = scene;
    s_play_in_realm (scene);
    return STATUS_OK;
}

static void
s_stage_stop (realm_process_t *process, void *state)
{
}

static void
s_play_simulated (scene_fn *play, scene_t *scene)
{
    static const realm_program_t stage = { .name = "stage", .start = s_stage_start, .stop = s_stage_stop };
    realm_options_t options = { .seed = 1 };
    realm_t *realm = realm_new (&options);
    realm_register_program (realm, &stage);
    scene->over = s_stop_simulated;
    s_scene_in_realm = scene;
    s_play_in_realm = play;
    const char *argv [] = { "stage", NULL };
    realm_start_t start = { .argv = argv };
    realm_process_start (realm_machine_new (realm, "a"), &start, NULL);
    for (int ms = 0; !scene->is_over && ms < WATCHDOG_SECONDS * 1000; ms++)
        realm_run (realm, realm_now (realm) + MILLISECOND);
    assert_true (scene->is_over);
    realm_destroy (&realm);
}

//  Plays in both worlds; what was heard must be the same in both.
static void
s_play (scene_fn *play, const char *expected)
{
    scene_t real = { 0 }, simulated = { 0 };
    s_play_simulated (play, &simulated);
    assert_string_equal (simulated.heard, expected);
    s_play_real (play, &real);
    assert_string_equal (real.heard, expected);
}

//  ---- Alarms and turns --------------------------------------------------------------------------------------------------

static void
s_on_second_alarm (void *arg)
{
    scene_t *scene = arg;
    s_hear (scene, "second");
    s_over (scene);
}

static void
s_on_first_alarm (void *arg)
{
    scene_t *scene = arg;
    uint64_t now_ns = PORT (scene)->now_ns (scene->port);
    s_hear (scene, now_ns < scene->due_ns ? "early" : "first");
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
    s_hear (scene, "set");
}

static void
test_one_alarm_replaced_cleared_and_never_from_inside (void **state)
{
    s_play (s_alarms, "set first second ");
}

static void
s_on_turn_end (void *arg)
{
    scene_t *scene = arg;
    s_hear (scene, "end");
    s_over (scene);
}

static void
s_on_alarm_with_turn (void *arg)
{
    scene_t *scene = arg;
    PORT (scene)->turn_end (scene->port);
    PORT (scene)->turn_end (scene->port);
    s_hear (scene, "handler");
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
    s_play (s_turns, "handler end ");
}

//  ---- Sockets ---------------------------------------------------------------------------------------------------------

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
    s_over (scene);
}

static void
s_hear_span (scene_t *scene, span_t word)
{
    char text [64];
    span_copy_string (word, text, sizeof text);
    s_hear (scene, text);
}

static void
s_on_answer (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    assert_int_equal (count, 1);
    s_hear_span (scene, frames [0]);
    if (++scene->count == 2)
        s_close_both (scene);
}

static void
s_on_question (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    assert_int_equal (count, 2);
    s_hear_span (scene, frames [1]);
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
    s_hear (scene, "sent");
}

static void
test_a_router_answers_who_asked_and_cannot_reach_a_stranger (void **state)
{
    scene_t real = { 0 }, simulated = { 0 };
    s_play_simulated (s_questions, &simulated);
    s_play_real (s_questions, &real);
    assert_true (strncmp (simulated.heard, "sent one ", 9) == 0 && strncmp (real.heard, "sent one ", 9) == 0);
    assert_int_equal (strlen (simulated.heard), strlen (real.heard));
}

static void
s_on_late_message (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    s_hear_span (scene, frames [count - 1]);
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
    s_play (s_early_dealer, "one two three ");
}

static void
s_on_published (void *arg, const span_t *frames, size_t count)
{
    scene_t *scene = arg;
    s_hear_span (scene, frames [0]);
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
    s_play (s_publishing, "kv.first kv.last ");
}

static void
s_taken_endpoint (scene_t *scene)
{
    scene->server = s_open (scene, SOCKET_ROUTER, NULL);
    scene->client = s_open (scene, SOCKET_ROUTER, NULL);
    assert_int_equal (PORT (scene)->socket_bind (scene->server, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    error_t error = { 0 };
    const char *endpoint = PORT (scene)->socket_endpoint (scene->server);
    s_hear (scene, status_name (PORT (scene)->socket_bind (scene->client, endpoint, &error)));
    s_hear (scene, strstr (error.text, endpoint) ? "named" : error.text);
    s_hear (scene, status_name (PORT (scene)->socket_bind (scene->client, "nonsense", &error)));
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
    s_hear_span (scene, frames [0].size == LONG_WORD ? span_slice (frames [0], LONG_WORD - 4, 4) : frames [0]);
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
    s_play (s_echoes, "short long a_word_that_fills_more_than_a_message_itself ");
}

static void
test_a_taken_endpoint_is_an_error_that_names_it (void **state)
{
    s_play (s_taken_endpoint, "exists named invalid ");
}

//  ---- HTTP --------------------------------------------------------------------------------------------------------------

static void
s_fetch_from_listener (scene_t *scene, const fetch_options_t *options)
{
    char url [300];
    fetch_options_t whole = *options;
    snprintf (url, sizeof url, "http://%s/v1/chat?stream=1", PORT (scene)->listener_address (scene->listener));
    whole.url = url;
    whole.arg = scene;
    scene->fetch = PORT (scene)->fetch (scene->port, &whole, NULL);
    assert_non_null (scene->fetch);
}

static void
s_listen (scene_t *scene, listener_request_fn *on_request)
{
    listener_options_t options = { .on_request = on_request, .arg = scene };
    scene->listener = PORT (scene)->listen (scene->port, "127.0.0.1:0", &options, NULL);
    assert_non_null (scene->listener);
}

static void
s_on_head (void *arg, int status)
{
    char text [16];
    snprintf (text, sizeof text, "%d", status);
    s_hear (arg, text);
}

//  The pieces are of any size: hears the bytes one by one.
static void
s_on_data (void *arg, span_t bytes)
{
    char text [2] = "";
    for (size_t i = 0; i < bytes.size; i++) {
        text [0] = (char)bytes.data [i];
        s_hear (arg, text);
    }
}

static void
s_on_end (void *arg, status_t status, const error_t *error)
{
    scene_t *scene = arg;
    s_hear (scene, status_name (status));
    PORT (scene)->listener_close (scene->listener);
    s_over (scene);
}

static const http_header_t s_header = { { (const uint8_t *)"X-Test", 6 }, { (const uint8_t *)"yes", 3 } };

static void
s_on_more (void *arg)
{
    scene_t *scene = arg;
    if (scene->count++ < 3) {
        PORT (scene)->exchange_write (scene->exchange, SPAN ("ab"));
        PORT (scene)->alarm (scene->port, PORT (scene)->now_ns (scene->port) + MILLISECOND);
    } else
        PORT (scene)->exchange_end (scene->exchange);
}

static bool
s_has_header (const http_request_t *request)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (span_equal_nocase (request->headers [i].name, s_header.name))
            return span_equal (request->headers [i].value, s_header.value);
    return false;
}

static void
s_on_streaming_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    scene_t *scene = arg;
    scene->exchange = exchange;
    s_hear_span (scene, request->method);
    s_hear_span (scene, request->path);
    s_hear_span (scene, request->query);
    s_hear_span (scene, request->body);
    s_hear (scene, s_has_header (request) ? "header" : "none");
    PORT (scene)->exchange_begin (exchange, 200, &s_header, 1);
    scene->port->user.on_alarm = s_on_more;
    PORT (scene)->alarm (scene->port, PORT (scene)->now_ns (scene->port) + MILLISECOND);
}

static void
s_streaming (scene_t *scene)
{
    s_listen (scene, s_on_streaming_request);
    fetch_options_t options = { .method = "POST",
        .headers = &s_header,
        .header_count = 1,
        .body = SPAN ("{}"),
        .on_head = s_on_head,
        .on_data = s_on_data,
        .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_a_streamed_response_arrives_in_order_and_whole (void **state)
{
    s_play (s_streaming, "POST /v1/chat stream=1 {} header 200 a b a b a b ok ");
}

static void
s_on_plain_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    PORT ((scene_t *)arg)->exchange_respond (exchange, 404, NULL, 0, SPAN ("no"));
}

static void
s_plain (scene_t *scene)
{
    s_listen (scene, s_on_plain_request);
    fetch_options_t options = { .method = "GET", .on_head = s_on_head, .on_data = s_on_data, .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_an_error_status_is_still_a_whole_response (void **state)
{
    s_play (s_plain, "404 n o ok ");
}

static void
s_on_aborted_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    scene_t *scene = arg;
    PORT (scene)->exchange_begin (exchange, 200, NULL, 0);
    PORT (scene)->exchange_abort (exchange);
}

static void
s_aborted (scene_t *scene)
{
    s_listen (scene, s_on_aborted_request);
    fetch_options_t options = { .method = "GET", .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_a_response_that_breaks_off_is_an_error (void **state)
{
    s_play (s_aborted, "io ");
}

static void
s_on_gone (void *arg)
{
    scene_t *scene = arg;
    s_hear (scene, "gone");
    s_hear (scene, status_name (PORT (scene)->exchange_write (scene->exchange, SPAN ("x"))));
    PORT (scene)->exchange_abort (scene->exchange);
    PORT (scene)->listener_close (scene->listener);
    s_over (scene);
}

static void
s_on_head_cancel (void *arg, int status)
{
    scene_t *scene = arg;
    s_hear (scene, "head");
    PORT (scene)->fetch_cancel (scene->fetch);
}

static void
s_on_watched_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    scene_t *scene = arg;
    exchange_watch_t watch = { .on_gone = s_on_gone, .arg = scene };
    scene->exchange = exchange;
    PORT (scene)->exchange_watch (exchange, &watch);
    PORT (scene)->exchange_begin (exchange, 200, NULL, 0);
    PORT (scene)->exchange_write (exchange, SPAN ("first"));
}

static void
s_client_leaves (scene_t *scene)
{
    s_listen (scene, s_on_watched_request);
    fetch_options_t options = { .method = "GET", .on_head = s_on_head_cancel, .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_the_server_hears_that_its_client_left (void **state)
{
    s_play (s_client_leaves, "head gone unreachable ");
}

static void
s_on_refused (void *arg, status_t status, const error_t *error)
{
    s_hear (arg, status_name (status));
    s_over (arg);
}

static void
s_nobody_listens (scene_t *scene)
{
    s_listen (scene, s_on_plain_request);
    char url [300];
    snprintf (url, sizeof url, "http://%s/", PORT (scene)->listener_address (scene->listener));
    PORT (scene)->listener_close (scene->listener);
    fetch_options_t options = { .method = "GET", .url = url, .on_end = s_on_refused, .arg = scene };
    assert_non_null (PORT (scene)->fetch (scene->port, &options, NULL));
    s_hear (scene, "asked");
}

static void
test_a_fetch_from_nobody_is_unreachable (void **state)
{
    s_play (s_nobody_listens, "asked unreachable ");
}

//  ---- Jobs ----------------------------------------------------------------------------------------------------------------

static void
s_double (void *data)
{
    *(int *)data *= 2;
}

static void
s_on_doubled (void *arg, void *data)
{
    scene_t *scene = arg;
    s_hear (scene, *(int *)data == 42 ? "done" : "wrong");
    memory_free (data);
    s_over (scene);
}

static void
s_jobs (scene_t *scene)
{
    int *number = memory_new (sizeof *number);
    *number = 21;
    PORT (scene)->job_start (scene->port, s_double, s_on_doubled, scene, number);
    s_hear (scene, "started");
}

static void
test_a_job_is_done_after_the_handler_that_started_it (void **state)
{
    s_play (s_jobs, "started done ");
}

//  ---- Stores and files ----------------------------------------------------------------------------------------------------

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
        s_hear (scene, at);
        s_hear_span (scene, value);
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
    s_hear_span (scene, PORT (scene)->store_get (store, SPAN ("a")));
    PORT (scene)->store_close (store);

    store = s_open_store (scene, "test/1");
    s_hear_keys (scene, store);
    s_hear (scene, PORT (scene)->store_get (store, SPAN ("c")).data ? "there" : "absent");
    PORT (scene)->store_close (store);
    s_hear (scene, s_open_store (scene, "test/2") ? "opened" : "refused");
    s_over (scene);
}

static void
test_a_store_keeps_what_was_committed_in_key_order (void **state)
{
    s_play (s_stores, "9 a 1 b 2 absent refused ");
}

static void
s_hear_file (scene_t *scene, size_t size_max)
{
    buffer_t content = { 0 };
    status_t status = PORT (scene)->file_read (scene->port, "file", size_max, &content, NULL);
    s_hear (scene, status == STATUS_OK ? buffer_string (&content) : status_name (status));
    buffer_fini (&content);
}

static void
s_hear_front (scene_t *scene, size_t size)
{
    buffer_t content = { 0 };
    status_t status = PORT (scene)->file_read_front (scene->port, "file", size, &content, NULL);
    s_hear (scene, status == STATUS_OK ? buffer_string (&content) : status_name (status));
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
    s_over (scene);
}

static void
test_a_file_is_replaced_whole_and_grows_by_appends (void **state)
{
    s_play (s_files, "not_found not_found new newer limit newe newer ");
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
        cmocka_unit_test (test_a_streamed_response_arrives_in_order_and_whole),
        cmocka_unit_test (test_an_error_status_is_still_a_whole_response),
        cmocka_unit_test (test_a_response_that_breaks_off_is_an_error),
        cmocka_unit_test (test_the_server_hears_that_its_client_left),
        cmocka_unit_test (test_a_fetch_from_nobody_is_unreachable),
        cmocka_unit_test (test_a_job_is_done_after_the_handler_that_started_it),
        cmocka_unit_test (test_a_store_keeps_what_was_committed_in_key_order),
        cmocka_unit_test (test_a_file_is_replaced_whole_and_grows_by_appends),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
