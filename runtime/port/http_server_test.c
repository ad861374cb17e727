//  A server that stays up: pipelines, streams, slow readers, clients that leave, and two thousand of them at once.

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "runtime/port/http_fixture.h"
#include "runtime/port/http_server.h"
#include "runtime/port/reserve.h"

static void
test_pipelined_requests_are_answered_in_order (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    buffer_t requests = { 0 };
    for (int i = 0; i < 500; i++)
        buffer_print (&requests, "GET /n%d HTTP/1.1\r\nHost: x\r\n%s\r\n", i, i == 499 ? "Connection: close\r\n" : "");
    const char *reply = client_ask (&server, buffer_span (&requests));
    buffer_fini (&requests);
    assert_int_equal (client_count (reply, "HTTP/1.1 200 OK"), 500);
    for (int i = 0; i < 500; i++) {
        char text [32];
        snprintf (text, sizeof text, "GET /n%d ", i);
        reply = strstr (reply, text);
        assert_non_null (reply);
    }
    server_stop (&server);
}

//  A request behind an open exchange waits until it has ended.
static void
test_a_pipelined_request_waits_for_the_stream_before_it (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    int fd = client_connect (&server);
    client_send_text (fd, "GET /flood HTTP/1.1\r\nHost: x\r\n\r\nGET /behind HTTP/1.1\r\nHost: x\r\n\r\n");
    server_expect (&server, 'a');
    const char *reply = client_read (fd, "GET /behind");
    assert_true (strlen (reply) > FLOOD_BYTES / 2);
    close (fd);
    server_stop (&server);
}

//  Whoever sends requests and reads no answers is not served further, so that the answers do not pile up.
static void
test_a_client_that_does_not_read_is_not_read_from_either (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .write_timeout_ns = 300 * MILLISECOND });
    int fd = client_connect (&server);
    static char body [50001];
    memset (body, 'b', 50000);
    buffer_t request = { 0 };
    buffer_print (&request, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n%s", body);
    ssize_t sent = 1;
    for (int i = 0; i < 2000 && sent > 0; i++)
        sent = send (fd, request.data, request.size, MSG_NOSIGNAL);
    assert_true (sent <= 0);
    buffer_fini (&request);
    close (fd);
    const char *figures = client_ask (&server, SPAN ("GET /figures HTTP/1.0\r\n\r\n"));
    assert_non_null (strstr (figures, "written_off 1 "));
    server_stop (&server);
}

static void
test_a_stream_is_chunked_or_ends_with_the_connection (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    int fd = client_connect (&server);
    client_send_text (fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    const char *reply = client_read (fd, "0\r\n\r\n");
    assert_string_equal (client_body (reply), "4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n");
    client_send_text (fd, "GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal (client_status (client_read (fd, "/next")), 200);
    close (fd);
    reply = client_ask (&server, SPAN ("GET /stream HTTP/1.0\r\n\r\n"));
    assert_string_equal (client_body (reply), "one two three");
    assert_null (strstr (reply, "chunked"));
    server_stop (&server);
}

//  ---- Rounds --------------------------------------------------------------------------------------------------------

//  A server and its client on one thread: while the client reads, the server's loop stands still.
typedef struct {
    port_t *port;                 //  The server's
    port_exchange_t *exchange;    //  The stream, once it has begun
    int client;                   //  A socket
    char first [64];              //  What the client has had before the second piece was written
    bool is_early;                //  It had more before the round's end
} rounds_t;

static void
s_begin_rounds (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    rounds_t *self = arg;
    self->exchange = exchange;
    self->port->table->exchange_begin (exchange, 200, NULL, 0);
    real_port_stop (self->port);
}

static void
s_write_three (void *arg)
{
    rounds_t *self = arg;
    char more;
    const port_table_t *table = self->port->table;
    table->exchange_write (self->exchange, SPAN ("one"));
    snprintf (self->first, sizeof self->first, "%s", client_read (self->client, "one\r\n"));
    table->exchange_write (self->exchange, SPAN ("two"));
    table->exchange_write (self->exchange, SPAN ("three"));
    self->is_early = recv (self->client, &more, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
    real_port_stop (self->port);
}

//  What a stream says first in a round is not kept waiting; what it says beyond that waits for the round's end, so that it
//  goes together, in order.
static void
test_the_first_piece_of_a_round_is_sent_at_once_and_the_others_together (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    rounds_t rounds = { 0 };
    rounds.port = fixture_port_new (&fixture, s_write_three, NULL, &rounds);
    const port_table_t *table = rounds.port->table;
    listener_options_t options = { .on_request = s_begin_rounds, .arg = &rounds };
    port_listener_t *listener = table->listen (rounds.port, "127.0.0.1:0", &options, NULL);
    rounds.client = client_connect_to (table->listener_address (listener));
    client_send_text (rounds.client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    real_port_run (rounds.port);
    client_read (rounds.client, "\r\n\r\n");
    for (int i = 0; i < 2; i++) {
        table->alarm (rounds.port, table->now_ns (rounds.port));
        real_port_run (rounds.port);
        assert_string_equal (rounds.first, "3\r\none\r\n");
        assert_false (rounds.is_early);
        assert_string_equal (client_read (rounds.client, "three\r\n"), "3\r\ntwo\r\n5\r\nthree\r\n");
    }
    table->exchange_abort (rounds.exchange);
    close (rounds.client);
    table->listener_close (listener);
    real_port_destroy (&rounds.port);
    fixture_fini (&fixture);
}

static void
test_a_body_that_is_taken_is_handed_over_and_stays (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    const char *reply = client_ask (&server, SPAN ("POST /take HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello"));
    assert_string_equal (client_body (reply), "moved hello");
    reply = client_ask (&server, SPAN ("GET /figures HTTP/1.0\r\n\r\n"));
    assert_non_null (strstr (reply, " bodies 0 "));
    server_stop (&server);
}

static void
test_an_aborted_stream_is_seen_to_be_cut (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    int fd = client_connect (&server);
    client_send_text (fd, "GET /abort HTTP/1.1\r\nHost: x\r\n\r\n");
    char byte [512];
    ssize_t got;
    while ((got = recv (fd, byte, sizeof byte, 0)) > 0)
        ;
    assert_int_equal (got, -1);
    assert_int_equal (errno, ECONNRESET);
    close (fd);
    server_stop (&server);
}

//  ---- Clients that leave --------------------------------------------------------------------------------------------

typedef void (leave_fn) (int fd);

static void
s_leave_by_close (int fd)
{
    close (fd);
}

static void
s_leave_by_reset (int fd)
{
    struct linger reset = { .l_onoff = 1 };
    setsockopt (fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close (fd);
}

static void
s_leave_by_half (int fd)
{
    shutdown (fd, SHUT_WR);
}

//  Nothing is written meanwhile: a silent exchange notices all the same.
static void
test_a_client_that_leaves_is_noticed_at_once (void **state)
{
    static leave_fn *const ways [] = { s_leave_by_close, s_leave_by_reset, s_leave_by_half };
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int fd = client_connect (&server);
        client_send_text (fd, "POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
        server_expect (&server, 'r');
        ways [i](fd);
        server_expect (&server, 'g');
        if (ways [i] == s_leave_by_half)
            close (fd);
    }
    const char *figures = client_ask (&server, SPAN ("GET /figures HTTP/1.0\r\n\r\n"));
    assert_non_null (strstr (figures, "connections 1 accepted 4 requests 4 gone 3 written_off 0 bodies 0"));
    server_stop (&server);
}

//  ---- Slow readers --------------------------------------------------------------------------------------------------

enum { SLOW_READ = 10000 };

static void
test_a_slow_reader_holds_the_stream_back_and_loses_nothing (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    int fd = client_connect (&server);
    client_send_text (fd, "GET /flood HTTP/1.0\r\n\r\n");
    server_expect (&server, 'a');
    size_t size = 0;
    static char reply [REPLY_MAX];
    for (ssize_t got; (got = recv (fd, reply + size, SLOW_READ, 0)) > 0;)
        size += (size_t)got;
    const char *body = strstr (reply, "\r\n\r\n") + 4;
    assert_int_equal (reply + size - body, FLOOD_BYTES);
    for (size_t i = 0; i < FLOOD_BYTES; i++)
        assert_true ((uint8_t)body [i] == flood_byte (i));
    close (fd);
    server_stop (&server);
    assert_true (server.refusals > 1);
}

static void
test_a_reader_that_stops_is_written_off (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .write_timeout_ns = 200 * MILLISECOND });
    int fd = client_connect (&server);
    client_send_text (fd, "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
    server_expect (&server, 'a');
    server_expect (&server, 'g');
    const char *figures = client_ask (&server, SPAN ("GET /figures HTTP/1.0\r\n\r\n"));
    assert_non_null (strstr (figures, "gone 1 written_off 1 "));
    close (fd);
    server_stop (&server);
}

enum { LARGE_BODY = 12 << 20 };

//  The time between requests begins when the response is read: here it is over, for a neighbour, while most of it waits.
//  It is long enough for whoever is slow to send his request in.
static void
test_a_client_that_still_reads_is_not_idle (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .idle_timeout_ns = 3 * SECOND });
    char *body = calloc (1, LARGE_BODY);
    buffer_t request = { 0 };
    buffer_print (&request, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", LARGE_BODY);
    buffer_append (&request, span_of (body, LARGE_BODY));
    int fd = client_connect (&server);    //  Its time runs from here
    for (size_t sent = 0; sent < request.size;)
        sent += (size_t)send (fd, request.data + sent, request.size - sent, MSG_NOSIGNAL);
    size_t size = (size_t)recv (fd, body, LARGE_BODY / 100, 0);
    int neighbour = client_connect (&server);
    assert_string_equal (client_read (neighbour, NULL), "");
    close (neighbour);
    for (ssize_t got; size < LARGE_BODY && (got = recv (fd, body, LARGE_BODY, 0)) > 0;)
        size += (size_t)got;
    assert_true (size >= LARGE_BODY);
    buffer_fini (&request);
    free (body);
    close (fd);
    server_stop (&server);
}

//  ---- Many ----------------------------------------------------------------------------------------------------------

enum { CROWD = 2000 };

static void
s_allow_descriptors (rlim_t count)
{
    struct rlimit limit;
    getrlimit (RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count)
        return;
    limit.rlim_cur = limit.rlim_max < count ? limit.rlim_max : count;
    setrlimit (RLIMIT_NOFILE, &limit);
}

static void
test_two_thousand_clients_are_held_and_answered (void **state)
{
    s_allow_descriptors (2 * CROWD + 200);
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    static int fds [CROWD];
    for (int i = 0; i < CROWD; i++)
        fds [i] = client_connect (&server);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < CROWD; i++)
            client_send_text (fds [i], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nmany");
        for (int i = 0; i < CROWD; i++)
            assert_int_equal (client_status (client_read (fds [i], "many")), 200);
    }
    const char *figures = client_ask (&server, SPAN ("GET /figures HTTP/1.0\r\n\r\n"));
    assert_non_null (strstr (figures, "connections 2001 accepted 2001 requests 4001 gone 0"));
    for (int i = 0; i < CROWD; i++)
        close (fds [i]);
    server_stop (&server);
}

static void
test_connections_over_the_limit_are_refused (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .connections_max = 1 });
    int fd = client_connect (&server);
    client_send_text (fd, "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal (client_status (client_read (fd, "/one")), 200);
    assert_int_equal (client_status (client_ask (&server, SPAN (""))), 503);
    client_send_text (fd, "GET /figures HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_non_null (strstr (client_read (fd, "refused 0 0 0 0 0 1"), "connections 1 accepted 1"));
    close (fd);
    server_stop (&server);
}

//  However many clients come, something is left for files, processes and other actors.
static void
test_clients_do_not_take_the_last_descriptors (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    struct rlimit before, few;
    getrlimit (RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 200;
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &few), 0);
    int fds [100], count = 0, status = 200;
    while (status == 200 && count < 100) {
        fds [count] = client_connect (&server);
        client_send_text (fds [count], "GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
        status = client_status (client_read (fds [count++], "\r\n\r\n"));
    }
    assert_int_equal (status, 503);
    int left [40];
    for (int i = 0; i < 40; i++)
        assert_true ((left [i] = dup (fds [0])) >= 0);
    for (int i = 0; i < 40; i++)
        close (left [i]);
    while (count)
        close (fds [--count]);
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &before), 0);
    server_stop (&server);
}

//  Where no descriptor is left, who comes is turned away at once, and who is there is served on.
static void
test_a_client_without_a_descriptor_is_turned_away (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    int fd = client_connect (&server);
    client_send_text (fd, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
    client_read (fd, "GET /first");
    struct rlimit before, none;
    getrlimit (RLIMIT_NOFILE, &before);
    int other = socket (AF_INET, SOCK_STREAM, 0);
    none = before;
    none.rlim_cur = (rlim_t)other + 1;
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &none), 0);
    char nothing;
    uint64_t turned_away = reserve_turned_away ();
    assert_true (client_join (other, server_address (&server)));
    assert_int_equal (read (other, &nothing, 1), 0);
    assert_true (reserve_turned_away () > turned_away);
    client_send_text (fd, "GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
    client_read (fd, "GET /second");
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &before), 0);
    close (other);
    other = client_connect (&server);
    client_send_text (other, "GET /third HTTP/1.1\r\nHost: x\r\n\r\n");
    client_read (other, "GET /third");
    close (other);
    close (fd);
    server_stop (&server);
}

//  ---- Addresses and the end -----------------------------------------------------------------------------------------

static void
s_refuse_all (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
}

static void
test_addresses_that_cannot_be_listened_on_are_explained (void **state)
{
    static const struct {
        const char *address;     //  To listen on
        const char *sentence;    //  Part of the error
    } cases [] = {
        { "", "is not HOST:PORT" },
        { "127.0.0.1", "is not HOST:PORT" },
        { "127.0.0.1:http", "is not HOST:PORT" },
        { "127.0.0.1:65536", "is not HOST:PORT" },
        { "203.0.113.7:0", "Cannot assign requested address" },
        { "unix:/tmp", "is not a socket" },
    };
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    listener_options_t options = { .on_request = s_refuse_all };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error_t error = { 0 };
        assert_null (table->listen (fixture.port, cases [i].address, &options, &error));
        if (!strstr (error.text, cases [i].sentence))
            fail_msg ("\"%s\" does not say \"%s\"", error.text, cases [i].sentence);
    }
    port_listener_t *first = table->listen (fixture.port, "127.0.0.1:0", &options, NULL);
    error_t error = { 0 };
    assert_null (table->listen (fixture.port, table->listener_address (first), &options, &error));
    assert_int_equal (error.status, STATUS_EXISTS);
    assert_non_null (strstr (error.text, "held by this process"));
    assert_int_equal (http_listener_check (table->listener_address (first), &error), STATUS_EXISTS);
    assert_non_null (strstr (error.text, "held by this process"));
    char address [64];
    snprintf (address, sizeof address, "%s", table->listener_address (first));
    table->listener_close (first);
    assert_int_equal (http_listener_check (address, &error), STATUS_OK);
    fixture_fini (&fixture);
}

static void
test_a_unix_socket_serves_and_goes_away (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    char address [100];
    snprintf (address, sizeof address, "unix:%s/http", fixture.folder);
    listener_options_t options = { .on_request = s_refuse_all };
    port_listener_t *listener = fixture.port->table->listen (fixture.port, address, &options, NULL);
    assert_non_null (listener);
    assert_string_equal (fixture.port->table->listener_address (listener), address);
    struct stat info;
    assert_int_equal (stat (address + 5, &info), 0);
    fixture.port->table->listener_close (listener);
    assert_int_equal (stat (address + 5, &info), -1);
    fixture_fini (&fixture);
}

//  On one thread: the listener stops while one client waits for its answer and another waits between requests.
typedef struct {
    fixture_t fixture;            //  World and port
    port_listener_t *listener;    //  Under test
    port_exchange_t *exchange;    //  Handed over, not yet answered
} drain_t;

static void
s_keep (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    drain_t *self = arg;
    self->exchange = exchange;
    real_port_stop (self->fixture.port);
}

static void
test_a_stopped_listener_finishes_what_is_open (void **state)
{
    drain_t self = { 0 };
    fixture_init (&self.fixture);
    const port_table_t *table = self.fixture.port->table;
    listener_options_t options = { .on_request = s_keep, .arg = &self };
    self.listener = table->listen (self.fixture.port, "127.0.0.1:0", &options, NULL);
    char address [64];
    snprintf (address, sizeof address, "%s", table->listener_address (self.listener));
    int idle = client_connect_to (address);
    int busy = client_connect_to (address);
    client_send_text (busy, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    fixture_run (&self.fixture);

    table->listener_stop (self.listener);
    assert_int_equal (client_connect_to (address), -1);
    assert_string_equal (client_read (idle, NULL), "");
    table->exchange_respond (self.exchange, 200, NULL, 0, SPAN ("goodbye"));
    table->listener_close (self.listener);
    const char *reply = client_read (busy, NULL);
    assert_non_null (strstr (reply, "Connection: close"));
    assert_string_equal (client_body (reply), "goodbye");
    close (idle);
    close (busy);
    fixture_fini (&self.fixture);
}

//  What an actor puts into a header cannot end the line it stands on.
static void
test_a_header_value_cannot_break_out (void **state)
{
    drain_t self = { 0 };
    fixture_init (&self.fixture);
    const port_table_t *table = self.fixture.port->table;
    listener_options_t options = { .on_request = s_keep, .arg = &self };
    self.listener = table->listen (self.fixture.port, "127.0.0.1:0", &options, NULL);
    int fd = client_connect_to (table->listener_address (self.listener));
    client_send_text (fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    fixture_run (&self.fixture);
    http_header_t headers [] = { { SPAN ("x-request-id"), SPAN ("a\r\nX-Evil: b\n\nc") },
        { SPAN ("content-length"), SPAN ("999") } };
    table->exchange_respond (self.exchange, 200, headers, 2, SPAN ("body"));
    table->listener_close (self.listener);
    const char *reply = client_read (fd, NULL);
    assert_non_null (strstr (reply, "x-request-id: a  X-Evil: b  c\r\n"));
    assert_null (strstr (reply, "999"));
    assert_string_equal (client_body (reply), "body");
    close (fd);
    fixture_fini (&self.fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_pipelined_requests_are_answered_in_order),
        cmocka_unit_test (test_a_pipelined_request_waits_for_the_stream_before_it),
        cmocka_unit_test (test_a_client_that_does_not_read_is_not_read_from_either),
        cmocka_unit_test (test_a_stream_is_chunked_or_ends_with_the_connection),
        cmocka_unit_test (test_the_first_piece_of_a_round_is_sent_at_once_and_the_others_together),
        cmocka_unit_test (test_a_body_that_is_taken_is_handed_over_and_stays),
        cmocka_unit_test (test_an_aborted_stream_is_seen_to_be_cut),
        cmocka_unit_test (test_a_client_that_leaves_is_noticed_at_once),
        cmocka_unit_test (test_a_slow_reader_holds_the_stream_back_and_loses_nothing),
        cmocka_unit_test (test_a_reader_that_stops_is_written_off),
        cmocka_unit_test (test_a_client_that_still_reads_is_not_idle),
        cmocka_unit_test (test_two_thousand_clients_are_held_and_answered),
        cmocka_unit_test (test_connections_over_the_limit_are_refused),
        cmocka_unit_test (test_clients_do_not_take_the_last_descriptors),
        cmocka_unit_test (test_a_client_without_a_descriptor_is_turned_away),
        cmocka_unit_test (test_addresses_that_cannot_be_listened_on_are_explained),
        cmocka_unit_test (test_a_unix_socket_serves_and_goes_away),
        cmocka_unit_test (test_a_stopped_listener_finishes_what_is_open),
        cmocka_unit_test (test_a_header_value_cannot_break_out),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
