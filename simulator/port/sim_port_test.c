//  What the simulated port does when things break: the stories that the real world cannot be made to tell on demand.
//  What both worlds do alike is tested in tests/conformance.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "simulator/disk.h"
#include "simulator/network.h"
#include "simulator/port/sim_port.h"

enum { NODES = 4, TEXT_MAX = 4096 };

//  A process of the tests: one port, one socket, and what came in on it.
typedef struct {
    realm_process_t *process;       //  NULL before its start
    port_t *port;                   //  NULL after its end
    port_socket_t *socket;          //  What the test has open: a socket,
    port_fetch_t *fetch;            //  a fetch,
    port_store_t *store;            //  a store
    char heard [TEXT_MAX];          //  Messages, each followed by a blank
    char peer [8];                  //  ROUTER: who spoke last
    size_t peer_size;               //  Bytes of it
    int exit_code;                  //  What its parent heard; -1: nothing
    void (*on_heard) (int node);    //  After each message
} node_t;

static node_t s_nodes [NODES];
static realm_t *s_realm;

#define TABLE(node) (s_nodes [node].port->table)

static status_t
s_node_start (realm_process_t *process, void **state, error_t *error)
{
    node_t *node = &s_nodes [realm_process_argv (process) [1][0] - '0'];
    node->port = sim_port_new (process);
    *state = node;
    return STATUS_OK;
}

static void
s_node_stop (realm_process_t *process, void *state)
{
    node_t *node = state;
    if (!node)
        return;
    if (node->socket)
        node->port->table->socket_close (node->socket);
    if (node->store)
        node->port->table->store_close (node->store);
    if (node->fetch)
        node->port->table->fetch_cancel (node->fetch);
    node->socket = NULL;
    node->store = NULL;
    node->fetch = NULL;
    node->port = NULL;
}

static const realm_program_t s_node_program = { .name = "node", .start = s_node_start, .stop = s_node_stop };

static void
s_start (int node, const char *machine_name)
{
    realm_machine_t *machine = realm_machine_find (s_realm, machine_name);
    if (!machine)
        machine = realm_machine_new (s_realm, machine_name);
    char number [2] = { (char)('0' + node), 0 };
    const char *argv [] = { "node", number, NULL };
    realm_start_t start = { .argv = argv };
    s_nodes [node].process = realm_process_start (machine, &start, NULL);
    assert_non_null (s_nodes [node].process);
    realm_run (s_realm, realm_now (s_realm) + 20 * REALM_MS);
    assert_non_null (s_nodes [node].port);
}

static void
s_run_ms (uint64_t ms)
{
    realm_run (s_realm, realm_now (s_realm) + ms * REALM_MS);
}

static void
s_crash (int node)
{
    realm_process_signal (s_nodes [node].process, PROCESS_SIGNAL_KILL);
    s_run_ms (1);
    assert_null (s_nodes [node].port);
}

static int
s_set_up (void **state)
{
    memset (s_nodes, 0, sizeof s_nodes);
    for (int i = 0; i < NODES; i++)
        s_nodes [i].exit_code = -1;
    realm_options_t options = { .seed = 7 };
    s_realm = realm_new (&options);
    realm_register_program (s_realm, &s_node_program);
    return 0;
}

static int
s_tear_down (void **state)
{
    realm_destroy (&s_realm);
    return 0;
}

//  ---- Sockets -------------------------------------------------------------------------------------------------------

static void
s_on_message (void *arg, const span_t *frames, size_t count)
{
    node_t *node = arg;
    size_t first = 0;
    if (count > 1 && frames [0].size == 5 && frames [0].data [0] == 0) {
        memcpy (node->peer, frames [0].data, frames [0].size);
        node->peer_size = frames [0].size;
        first = 1;
    }
    size_t used = strlen (node->heard);
    for (size_t i = first; i < count; i++)
        used += (size_t)snprintf (node->heard + used, TEXT_MAX - used, "%.*s ", SPAN_ARG (frames [i]));
    if (node->on_heard)
        node->on_heard ((int)(node - s_nodes));
}

static void
s_open (int node, socket_kind_t kind, uint32_t send_queue)
{
    socket_options_t options = {
        .kind = kind, .send_queue = send_queue, .on_message = s_on_message, .arg = &s_nodes [node]
    };
    s_nodes [node].socket = TABLE (node)->socket_open (s_nodes [node].port, &options, NULL);
}

static void
s_bind (int node, socket_kind_t kind, const char *endpoint)
{
    s_open (node, kind, 0);
    assert_int_equal (TABLE (node)->socket_bind (s_nodes [node].socket, endpoint, NULL), STATUS_OK);
}

static void
s_connect (int node, socket_kind_t kind, const char *endpoint)
{
    s_open (node, kind, 0);
    assert_int_equal (TABLE (node)->socket_connect (s_nodes [node].socket, endpoint, NULL), STATUS_OK);
}

static status_t
s_say (int node, const char *word)
{
    span_t frame = span_from_string (word);
    return TABLE (node)->socket_send (s_nodes [node].socket, &frame, 1);
}

static status_t
s_answer (int node, const char *word)
{
    span_t frames [] = { span_of (s_nodes [node].peer, s_nodes [node].peer_size), span_from_string (word) };
    return TABLE (node)->socket_send (s_nodes [node].socket, frames, 2);
}

//  A router on machine a, and a dealer that has spoken to it.
static void
s_meet (const char *dealer_machine, const char *bound, const char *connected)
{
    s_start (0, "a");
    s_start (1, dealer_machine);
    s_bind (0, SOCKET_ROUTER, bound);
    s_connect (1, SOCKET_DEALER, connected);
    s_say (1, "one");
    s_run_ms (100);
    assert_string_equal (s_nodes [0].heard, "one ");
}

static void
test_a_dealer_finds_its_router_again_after_a_crash (void **state)
{
    s_meet ("b", "tcp://*:7400", "tcp://a:7400");
    assert_int_equal (s_answer (0, "yes"), STATUS_OK);
    s_run_ms (100);
    assert_string_equal (s_nodes [1].heard, "yes ");

    s_crash (0);
    s_run_ms (100);
    s_say (1, "two");
    s_say (1, "three");
    memset (s_nodes [0].heard, 0, TEXT_MAX);
    s_start (0, "a");
    s_bind (0, SOCKET_ROUTER, "tcp://*:7400");
    s_run_ms (5000);
    assert_string_equal (s_nodes [0].heard, "two three ");
}

static void
test_a_router_cannot_reach_a_peer_that_crashed (void **state)
{
    s_meet ("b", "tcp://*:7400", "tcp://a:7400");
    s_crash (1);
    s_run_ms (100);
    assert_int_equal (s_answer (0, "too late"), STATUS_UNREACHABLE);
}

static void
test_what_is_sent_into_a_short_partition_arrives_when_it_heals (void **state)
{
    s_meet ("b", "tcp://*:7400", "tcp://a:7400");
    realm_machine_set_group (realm_machine_find (s_realm, "b"), 1);
    s_say (1, "two");
    s_run_ms (3000);
    assert_string_equal (s_nodes [0].heard, "one ");
    realm_machine_set_group (realm_machine_find (s_realm, "b"), 0);
    s_run_ms (100);
    assert_string_equal (s_nodes [0].heard, "one two ");
}

static void
test_a_long_partition_drops_the_connection_and_what_waited (void **state)
{
    s_meet ("b", "tcp://*:7400", "tcp://a:7400");
    realm_process_set_group (s_nodes [1].process, 1);
    s_say (1, "lost");
    s_run_ms (20000);
    assert_int_equal (s_answer (0, "nobody"), STATUS_UNREACHABLE);
    s_say (1, "queued");
    realm_process_set_group (s_nodes [1].process, 0);
    s_run_ms (10000);
    assert_string_equal (s_nodes [0].heard, "one queued ");
}

static void
test_the_peers_of_a_crashed_machine_notice_after_a_while (void **state)
{
    s_meet ("b", "tcp://*:7400", "tcp://a:7400");
    realm_machine_crash (realm_machine_find (s_realm, "b"));
    s_run_ms (1000);
    assert_int_equal (s_answer (0, "into the void"), STATUS_OK);
    s_run_ms (15000);
    assert_int_equal (s_answer (0, "nobody"), STATUS_UNREACHABLE);
}

static void
test_a_frozen_process_hears_everything_when_it_thaws (void **state)
{
    s_meet ("a", "ipc:///run/a", "ipc:///run/a");
    realm_process_signal (s_nodes [0].process, PROCESS_SIGNAL_STOP);
    s_say (1, "two");
    s_say (1, "three");
    s_run_ms (1000);
    assert_string_equal (s_nodes [0].heard, "one ");
    realm_process_signal (s_nodes [0].process, PROCESS_SIGNAL_CONT);
    s_run_ms (100);
    assert_string_equal (s_nodes [0].heard, "one two three ");
}

static bool s_alarm_rang;

static void
s_on_alarm (void *arg)
{
    s_alarm_rang = true;
}

static void
test_no_alarm_rings_in_a_frozen_process (void **state)
{
    s_alarm_rang = false;
    s_start (0, "a");
    port_t *port = s_nodes [0].port;
    port->user.on_alarm = s_on_alarm;
    port->table->alarm (port, port->table->now_ns (port) + 10 * REALM_MS);
    realm_process_signal (s_nodes [0].process, PROCESS_SIGNAL_STOP);
    s_run_ms (100);
    assert_false (s_alarm_rang);
    realm_process_signal (s_nodes [0].process, PROCESS_SIGNAL_CONT);
    s_run_ms (1);
    assert_true (s_alarm_rang);
}

static void
test_a_full_queue_says_again (void **state)
{
    s_start (0, "a");
    s_open (0, SOCKET_DEALER, 3);
    assert_int_equal (TABLE (0)->socket_connect (s_nodes [0].socket, "tcp://127.0.0.1:7400", NULL), STATUS_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal (s_say (0, "waits"), STATUS_OK);
    assert_int_equal (network_figures (realm_network (s_realm))->full, 0);
    assert_int_equal (s_say (0, "does not fit"), STATUS_AGAIN);
    assert_int_equal (network_figures (realm_network (s_realm))->full, 1);
}

static void
test_a_subscriber_that_is_behind_loses_the_newest_and_only_it (void **state)
{
    s_start (0, "a");
    s_start (1, "b");
    s_start (2, "c");
    s_open (0, SOCKET_XPUB, 2);
    assert_int_equal (TABLE (0)->socket_bind (s_nodes [0].socket, "tcp://*:7401", NULL), STATUS_OK);
    for (int node = 1; node <= 2; node++) {
        s_connect (node, SOCKET_SUB, "tcp://a:7401");
        TABLE (node)->socket_subscribe (s_nodes [node].socket, SPAN ("k"));
    }
    s_say (0, "k0");
    s_run_ms (100);
    realm_process_signal (s_nodes [1].process, PROCESS_SIGNAL_STOP);
    for (char word [] = "k1"; word [1] <= '4'; word [1]++) {
        s_say (0, word);
        s_run_ms (100);
    }
    realm_process_signal (s_nodes [1].process, PROCESS_SIGNAL_CONT);
    s_run_ms (100);
    assert_string_equal (s_nodes [1].heard, "k1 k2 ");
    assert_string_equal (s_nodes [2].heard, "k1 k2 k3 k4 ");
}

//  What is behind is counted once, however much it misses.
static void
test_the_network_can_make_queues_of_subscribers_shorter (void **state)
{
    s_start (0, "a");
    s_start (1, "b");
    s_bind (0, SOCKET_XPUB, "tcp://*:7401");
    s_connect (1, SOCKET_SUB, "tcp://a:7401");
    TABLE (1)->socket_subscribe (s_nodes [1].socket, SPAN ("k"));
    s_run_ms (100);
    network_set_queue (realm_network (s_realm), 1);
    for (char word [] = "k1"; word [1] <= '3'; word [1]++)
        s_say (0, word);
    s_run_ms (100);
    network_set_queue (realm_network (s_realm), UINT32_MAX);
    for (char word [] = "k4"; word [1] <= '5'; word [1]++)
        s_say (0, word);
    s_run_ms (100);
    assert_string_equal (s_nodes [1].heard, "k1 k4 k5 ");
    assert_int_equal (network_figures (realm_network (s_realm))->full, 1);
}

static void
test_publishing_loses_and_reorders_when_told_to (void **state)
{
    s_start (0, "a");
    s_start (1, "b");
    s_bind (0, SOCKET_XPUB, "tcp://*:7401");
    s_connect (1, SOCKET_SUB, "tcp://a:7401");
    TABLE (1)->socket_subscribe (s_nodes [1].socket, SPAN (""));
    s_run_ms (100);
    network_t *network = realm_network (s_realm);
    network_set_publishing (network, 200000, 200000);
    for (int i = 0; i < 100; i++)
        s_say (0, "k");
    s_run_ms (1000);
    const network_figures_t *figures = network_figures (network);
    assert_true (figures->published_lost > 0 && figures->reordered > 0);
    assert_int_equal (strlen (s_nodes [1].heard) / 2, 100 - figures->published_lost);
}

//  ---- Processes -----------------------------------------------------------------------------------------------------

static void
s_on_exit (void *arg, int code)
{
    ((node_t *)arg)->exit_code = code;
}

static void
test_a_parent_hears_of_the_end_of_its_child_and_takes_it_along (void **state)
{
    s_start (0, "a");
    const char *argv [] = { "/usr/bin/node", "1", NULL };
    process_options_t options = { .argv = argv, .on_exit = s_on_exit, .arg = &s_nodes [1] };
    port_process_t *first = TABLE (0)->process_start (s_nodes [0].port, &options, NULL);
    s_run_ms (50);
    assert_non_null (s_nodes [1].port);
    TABLE (0)->process_signal (first, PROCESS_SIGNAL_TERM);
    s_run_ms (50);
    assert_int_equal (s_nodes [1].exit_code, 143);
    TABLE (0)->process_close (first);

    argv [1] = "2";
    options.arg = &s_nodes [2];
    port_process_t *second = TABLE (0)->process_start (s_nodes [0].port, &options, NULL);
    s_run_ms (50);
    assert_non_null (s_nodes [2].port);
    TABLE (0)->process_close (second);
    s_run_ms (50);
    assert_null (s_nodes [2].port);
    assert_int_equal (s_nodes [2].exit_code, -1);
}

static void
test_a_program_that_is_not_there_cannot_be_started (void **state)
{
    s_start (0, "a");
    const char *argv [] = { "no-such-engine", NULL };
    process_options_t options = { .argv = argv };
    error_t error;
    assert_null (TABLE (0)->process_start (s_nodes [0].port, &options, &error));
    assert_int_equal (error.status, STATUS_NOT_FOUND);
}

//  ---- Stores and files ----------------------------------------------------------------------------------------------

static void
s_open_store (int node)
{
    store_options_t options = { .name = "s", .format = "test/1" };
    s_nodes [node].store = TABLE (node)->store_open (s_nodes [node].port, &options, NULL);
    assert_non_null (s_nodes [node].store);
}

static void
s_put (int node, const char *key)
{
    assert_int_equal (
        TABLE (node)->store_put (s_nodes [node].store, span_from_string (key), SPAN ("v"), NULL), STATUS_OK);
}

static void
s_commit (int node, bool sync)
{
    assert_int_equal (TABLE (node)->store_commit (s_nodes [node].store, sync, NULL), STATUS_OK);
}

static size_t
s_keys (int node)
{
    size_t count = 0;
    span_t key = SPAN (""), value;
    while (TABLE (node)->store_next (s_nodes [node].store, key, count > 0, &key, &value))
        count++;
    return count;
}

static void
test_a_crash_of_the_process_keeps_what_was_committed (void **state)
{
    s_start (0, "a");
    s_open_store (0);
    s_put (0, "committed");
    s_commit (0, false);
    s_put (0, "open");
    assert_int_equal (s_keys (0), 2);
    s_crash (0);
    s_start (0, "a");
    s_open_store (0);
    assert_int_equal (s_keys (0), 1);
}

//  Over many seeds: what was synced always survives the machine, what was not sometimes does, and commits go whole and the
//  newest first.
static void
test_a_crash_of_the_machine_may_take_commits_that_were_not_synced (void **state)
{
    bool lost = false, kept = false;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        random_t random;
        random_init (&random, seed);
        disk_t *disk = disk_new ();
        disk_store_t *store = disk_store_open (disk, "/s", "test/1", 0, NULL);
        const char *keys [] = { "a", "b", "c" };
        for (int i = 0; i < 3; i++) {
            disk_store_put (store, span_from_string (keys [i]), SPAN ("1"), NULL);
            disk_store_put (store, SPAN ("last"), span_from_string (keys [i]), NULL);
            disk_store_commit (store, i == 0, NULL);
        }
        disk_crash (disk, &random);
        store = disk_store_open (disk, "/s", "test/1", 0, NULL);
        assert_non_null (disk_store_get (store, SPAN ("a")).data);
        bool b = disk_store_get (store, SPAN ("b")).data, c = disk_store_get (store, SPAN ("c")).data;
        assert_false (c && !b);
        span_t last = disk_store_get (store, SPAN ("last"));
        assert_true (span_equal_string (last, c ? "c" : b ? "b" : "a"));
        assert_int_equal (disk_torn (disk), !c);
        lost = lost || !b;
        kept = kept || c;
        disk_store_close (store);
        disk_destroy (&disk);
    }
    assert_true (lost && kept);
}

static void
test_a_full_disk_refuses_and_leaves_what_was_there (void **state)
{
    s_start (0, "a");
    disk_t *disk = realm_machine_disk (realm_machine_find (s_realm, "a"));
    port_t *port = s_nodes [0].port;
    assert_int_equal (port->table->file_write (port, "f", SPAN ("before"), false, NULL), STATUS_OK);
    disk_set_limit (disk, disk_used (disk) + 4);
    error_t error;
    assert_int_equal (port->table->file_write (port, "f", SPAN ("much longer than before"), false, &error), STATUS_IO);
    buffer_t content = { 0 };
    assert_int_equal (port->table->file_read (port, "f", 100, &content, NULL), STATUS_OK);
    assert_string_equal (buffer_string (&content), "before");
    buffer_fini (&content);
    s_open_store (0);
    assert_int_equal (TABLE (0)->store_put (s_nodes [0].store, SPAN ("k"), SPAN ("v"), &error), STATUS_OK);
    assert_int_equal (TABLE (0)->store_put (s_nodes [0].store, SPAN ("key"), SPAN ("value"), &error), STATUS_IO);
    assert_int_equal (TABLE (0)->store_commit (s_nodes [0].store, true, &error), STATUS_IO);
    assert_int_equal (s_keys (0), 0);
}

static void
test_clocks_jump_only_for_people (void **state)
{
    s_start (0, "a");
    port_t *port = s_nodes [0].port;
    uint64_t now_ns = port->table->now_ns (port), wall_ns = port->table->wall_ns (port);
    realm_machine_jump_clock (realm_machine_find (s_realm, "a"), -(int64_t)REALM_HOUR);
    assert_int_equal (port->table->now_ns (port), now_ns);
    assert_int_equal (port->table->wall_ns (port), wall_ns - REALM_HOUR);
}

//  ---- HTTP ----------------------------------------------------------------------------------------------------------

static port_exchange_t *s_exchange;
static bool s_gone, s_writable;
static size_t s_taken;
static status_t s_ended;

static void
s_on_gone (void *arg)
{
    s_gone = true;
}

static void
s_on_writable (void *arg)
{
    s_writable = true;
}

static void
s_on_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    s_exchange = exchange;
    exchange_watch_t watch = { .on_gone = s_on_gone, .on_writable = s_on_writable };
    TABLE (0)->exchange_watch (exchange, &watch);
    TABLE (0)->exchange_begin (exchange, 200, NULL, 0);
}

static void
s_on_data (void *arg, span_t bytes)
{
    s_taken += bytes.size;
}

static void
s_on_end (void *arg, status_t status, const error_t *error)
{
    s_nodes [1].fetch = NULL;
    s_ended = status;
}

static port_listener_t *
s_serve_and_fetch (void)
{
    s_gone = s_writable = false;
    s_taken = 0;
    s_ended = STATUS_COUNT;
    s_exchange = NULL;
    s_start (0, "a");
    s_start (1, "b");
    listener_options_t options = { .on_request = s_on_request };
    port_listener_t *listener = TABLE (0)->listen (s_nodes [0].port, "0.0.0.0:8000", &options, NULL);
    fetch_options_t fetch = { .method = "GET", .url = "http://a:8000/", .on_data = s_on_data, .on_end = s_on_end };
    s_nodes [1].fetch = TABLE (1)->fetch (s_nodes [1].port, &fetch, NULL);
    s_run_ms (100);
    assert_non_null (s_exchange);
    return listener;
}

static void
test_a_reader_that_pauses_holds_the_writer_back (void **state)
{
    port_listener_t *listener = s_serve_and_fetch ();
    TABLE (1)->fetch_pause (s_nodes [1].fetch, true);
    static const uint8_t bytes [8192];
    size_t written = 0;
    status_t status = STATUS_OK;
    while (status == STATUS_OK) {
        status = TABLE (0)->exchange_write (s_exchange, span_of (bytes, sizeof bytes));
        written += sizeof bytes;
    }
    assert_int_equal (status, STATUS_AGAIN);
    assert_true (written > 64 << 10 && written < 80 << 10);
    s_run_ms (1000);
    assert_false (s_writable);
    TABLE (1)->fetch_pause (s_nodes [1].fetch, false);
    s_run_ms (1000);
    assert_true (s_writable);
    TABLE (0)->exchange_end (s_exchange);
    s_run_ms (100);
    assert_int_equal (s_ended, STATUS_OK);
    assert_int_equal (s_taken, written);
    TABLE (0)->listener_close (listener);
}

static void
test_a_reader_that_never_comes_back_is_written_off (void **state)
{
    port_listener_t *listener = s_serve_and_fetch ();
    TABLE (1)->fetch_pause (s_nodes [1].fetch, true);
    static const uint8_t bytes [80000];
    assert_int_equal (TABLE (0)->exchange_write (s_exchange, span_of (bytes, sizeof bytes)), STATUS_AGAIN);
    s_run_ms (70000);
    assert_true (s_gone);
    listener_figures_t figures;
    TABLE (0)->listener_figures (listener, &figures);
    assert_int_equal (figures.written_off, 1);
    TABLE (0)->exchange_abort (s_exchange);
    TABLE (0)->listener_close (listener);
}

static void
test_the_server_hears_of_a_client_that_crashed (void **state)
{
    port_listener_t *listener = s_serve_and_fetch ();
    s_crash (1);
    s_run_ms (100);
    assert_true (s_gone);
    assert_int_equal (TABLE (0)->exchange_write (s_exchange, SPAN ("x")), STATUS_UNREACHABLE);
    TABLE (0)->exchange_abort (s_exchange);
    TABLE (0)->listener_close (listener);
}

static void
test_the_client_hears_of_a_server_that_broke_off (void **state)
{
    port_listener_t *listener = s_serve_and_fetch ();
    TABLE (0)->exchange_write (s_exchange, SPAN ("half"));
    TABLE (0)->exchange_abort (s_exchange);
    s_run_ms (100);
    assert_int_equal (s_taken, 4);
    assert_int_equal (s_ended, STATUS_IO);
    TABLE (0)->listener_close (listener);
}

//  ---- Determinism ---------------------------------------------------------------------------------------------------

static void
s_answer_always (int node)
{
    if (strlen (s_nodes [node].heard) < 1000)
        s_answer (node, "yes");
}

static void
s_ask_always (int node)
{
    if (strlen (s_nodes [node].heard) < 1000)
        s_say (node, "more");
}

static uint64_t
s_hash_of_a_run (uint64_t seed)
{
    realm_destroy (&s_realm);
    memset (s_nodes, 0, sizeof s_nodes);
    realm_options_t options = { .seed = seed };
    s_realm = realm_new (&options);
    realm_register_program (s_realm, &s_node_program);
    s_start (0, "a");
    s_start (1, "b");
    s_bind (0, SOCKET_ROUTER, "tcp://*:*");
    char endpoint [64];
    snprintf (
        endpoint, sizeof endpoint, "tcp://a:%s", strrchr (TABLE (0)->socket_endpoint (s_nodes [0].socket), ':') + 1);
    s_connect (1, SOCKET_DEALER, endpoint);
    s_nodes [0].on_heard = s_answer_always;
    s_nodes [1].on_heard = s_ask_always;
    s_say (1, "first");
    s_run_ms (50);
    realm_machine_set_group (realm_machine_find (s_realm, "b"), 1);
    s_run_ms (500);
    realm_machine_set_group (realm_machine_find (s_realm, "b"), 0);
    s_run_ms (5000);
    assert_true (strlen (s_nodes [1].heard) >= 500);
    return realm_log_hash (s_realm);
}

static void
test_the_same_seed_gives_the_same_run_and_another_seed_another (void **state)
{
    uint64_t first = s_hash_of_a_run (1);
    assert_true (first == s_hash_of_a_run (1));
    assert_true (first != s_hash_of_a_run (2));
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, s_set_up, s_tear_down)

int
main (void)
{
    const struct CMUnitTest tests [] = {
        TEST (test_a_dealer_finds_its_router_again_after_a_crash),
        TEST (test_a_router_cannot_reach_a_peer_that_crashed),
        TEST (test_what_is_sent_into_a_short_partition_arrives_when_it_heals),
        TEST (test_a_long_partition_drops_the_connection_and_what_waited),
        TEST (test_the_peers_of_a_crashed_machine_notice_after_a_while),
        TEST (test_a_frozen_process_hears_everything_when_it_thaws),
        TEST (test_no_alarm_rings_in_a_frozen_process),
        TEST (test_a_full_queue_says_again),
        TEST (test_a_subscriber_that_is_behind_loses_the_newest_and_only_it),
        TEST (test_the_network_can_make_queues_of_subscribers_shorter),
        TEST (test_publishing_loses_and_reorders_when_told_to),
        TEST (test_a_parent_hears_of_the_end_of_its_child_and_takes_it_along),
        TEST (test_a_program_that_is_not_there_cannot_be_started),
        TEST (test_a_crash_of_the_process_keeps_what_was_committed),
        TEST (test_a_crash_of_the_machine_may_take_commits_that_were_not_synced),
        TEST (test_a_full_disk_refuses_and_leaves_what_was_there),
        TEST (test_clocks_jump_only_for_people),
        TEST (test_a_reader_that_pauses_holds_the_writer_back),
        TEST (test_a_reader_that_never_comes_back_is_written_off),
        TEST (test_the_server_hears_of_a_client_that_crashed),
        TEST (test_the_client_hears_of_a_server_that_broke_off),
        TEST (test_the_same_seed_gives_the_same_run_and_another_seed_another),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
