//  Where a request ends: everything two parties could disagree about is refused, and nothing behind it is ever served.

#include "runtime/port/http_fixture.h"
#include "runtime/port/loop.h"

//  ---- Attacks on the framing: each is sent as it stands, followed by what it tries to smuggle -----------------------

#define SMUGGLED "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: x\r\n"
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define ATTACK(name, status, bytes)                                  \
    {                                                                \
        name, { (const uint8_t *)bytes, sizeof (bytes) - 1 }, status \
    }

//  clang-format off
static const struct {
    const char *name;    //  What it tries
    span_t bytes;        //  As sent
    int status;          //  The only answer
} s_attacks [] = {
    ATTACK ("two lengths that differ", 400, POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello" SMUGGLED),
    ATTACK ("two lengths that agree", 400, POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a list of lengths", 400, POST "Content-Length: 5, 5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a length with a sign", 400, POST "Content-Length: +5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a negative length", 400, POST "Content-Length: -5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a length in hexadecimal", 400, POST "Content-Length: 0x5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a length with a blank inside", 400, POST "Content-Length: 5 0\r\n\r\nhello" SMUGGLED),
    ATTACK ("a length that overflows", 400, POST "Content-Length: 18446744073709551621\r\n\r\nhello" SMUGGLED),
    ATTACK ("an empty length", 400, POST "Content-Length:\r\n\r\n" SMUGGLED),
    ATTACK ("a blank before the colon", 400, POST "Content-Length : 5\r\n\r\nhello" SMUGGLED),
    ATTACK ("length and chunks", 400, POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("chunks and length", 400, POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("an unknown encoding", 400, POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("chunks that are not last", 400, POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("chunks behind gzip", 400, POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("two encodings", 400,
        POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("an encoding behind a vertical tab", 400,
        POST "Transfer-Encoding: \x0b"
             "chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("chunks in HTTP/1.0", 400, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("a folded length", 400, POST "X: y\r\n Content-Length: 5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a line that ends with CR alone", 400, POST "X: y\rContent-Length: 5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a line that ends with LF alone", 400, POST "X: y\nContent-Length: 5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a head that ends with LF LF", 400, "GET / HTTP/1.1\r\nHost: x\n\n" SMUGGLED),
    ATTACK ("a head that ends with CRLF CR X", 400, "GET / HTTP/1.1\r\nHost: x\r\n\rX" SMUGGLED),
    ATTACK ("NUL in a value", 400, POST "X: a\0b\r\n\r\n" SMUGGLED),
    ATTACK ("NUL in a name", 400, POST "X\0: b\r\n\r\n" SMUGGLED),
    ATTACK ("a control byte in a value", 400, POST "X: a\x01\r\n\r\n" SMUGGLED),
    ATTACK ("an empty header name", 400, POST ": 5\r\n\r\n" SMUGGLED),
    ATTACK ("a header without a colon", 400, POST "Content-Length\r\n\r\n" SMUGGLED),
    ATTACK ("no Host", 400, "GET / HTTP/1.1\r\n\r\n" SMUGGLED),
    ATTACK ("two Hosts", 400, "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" SMUGGLED),
    ATTACK ("a chunk size in 0x", 400, CHUNKED "0x5\r\nhello\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("a negative chunk size", 400, CHUNKED "-1\r\nhello\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("a chunk size that overflows", 400, CHUNKED "ffffffffffffffff5\r\nhello\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("an empty chunk size", 400, CHUNKED "\r\nhello\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("a chunk size that ends with LF", 400, CHUNKED "5\nhello\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("a chunk size that ends with CR X", 400, CHUNKED "5\rXhello\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("an extension that ends with LF", 400, CHUNKED "5;a\nhello\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("chunk data that ends with LF", 400, CHUNKED "5\r\nhello\n0\r\n\r\n" SMUGGLED),
    ATTACK ("chunk data longer than its size", 400, CHUNKED "5\r\nhelloworld\r\n0\r\n\r\n" SMUGGLED),
    ATTACK ("a last chunk that ends with LF", 400, CHUNKED "0\r\n\n" SMUGGLED),
    ATTACK ("a trailer", 400, CHUNKED "0\r\nContent-Length: 5\r\n\r\n" SMUGGLED),
    ATTACK ("HTTP/0.9", 400, "GET /\r\n\r\n" SMUGGLED),
    ATTACK ("HTTP/2.0", 400, "GET / HTTP/2.0\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("HTTP/2 with prior knowledge", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ATTACK ("another protocol", 400, "GET / RTSP/1.0\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("TLS", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    ATTACK ("two blanks in the request line", 400, "GET  / HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("a tab in the request line", 400, "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("a blank in the path", 400, "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("a control byte in the path", 400, "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("a fragment in the path", 400, "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("a tunnel", 400, "CONNECT evil:80 HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("an unknown method", 400, "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED),
    ATTACK ("an unknown expectation", 417, POST "Expect: tea\r\nContent-Length: 5\r\n\r\nhello" SMUGGLED),
    ATTACK ("a length over the limit", 413, POST "Content-Length: 100001\r\n\r\n" SMUGGLED),
    ATTACK ("a chunk over the limit", 413, CHUNKED "186a1\r\n" SMUGGLED),
};
//  clang-format on

static void
test_doubtful_framing_gets_one_refusal_and_the_end (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .body_max = 100000 });
    int fd = client_connect (&server);
    for (size_t i = 0; i < sizeof s_attacks / sizeof *s_attacks; i++) {
        const char *reply = client_ask (&server, s_attacks [i].bytes);
        if (client_status (reply) != s_attacks [i].status || client_count (reply, "HTTP/1.1 ") != 1)
            fail_msg ("%s: expected %d, got: %s", s_attacks [i].name, s_attacks [i].status, reply);
        assert_non_null (strstr (reply, "Connection: close"));
    }
    client_send_text (fd, "GET /after HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal (client_status (client_read (fd, "/after")), 200);
    close (fd);
    server_stop (&server);
    assert_string_equal (server.seen, "/after\n");
}

//  The same, one byte a packet: no state depends on where a read ends.
static void
test_the_same_attacks_byte_by_byte (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .body_max = 100000 });
    for (size_t i = 0; i < sizeof s_attacks / sizeof *s_attacks; i++) {
        int fd = client_connect (&server);
        int on = 1;
        setsockopt (fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof on);
        for (size_t at = 0; at < s_attacks [i].bytes.size; at++)
            client_send (fd, span_slice (s_attacks [i].bytes, at, 1));
        const char *reply = client_read (fd, NULL);
        if (client_status (reply) != s_attacks [i].status || client_count (reply, "HTTP/1.1 ") != 1)
            fail_msg ("%s: expected %d, got: %s", s_attacks [i].name, s_attacks [i].status, reply);
        close (fd);
    }
    server_stop (&server);
    assert_string_equal (server.seen, "");
}

//  ---- What is right is understood -----------------------------------------------------------------------------------

#define LAST "Connection: close\r\n"

static const struct {
    const char *request;    //  As sent
    const char *body;       //  Of the answer, which has status 200
} s_requests [] = {
    { "GET /a/b?c=d&e HTTP/1.1\r\nHost: x\r\n" LAST "\r\n", "GET /a/b c=d&e" },
    { "GET http://host:80/a?b HTTP/1.1\r\nHost: x\r\n" LAST "\r\n", "GET /a b" },
    { "GET https://host HTTP/1.1\r\nHost: x\r\n" LAST "\r\n", "GET / " },
    { "OPTIONS * HTTP/1.1\r\nHost: x\r\n" LAST "\r\n", "OPTIONS * " },
    { "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n" LAST "\r\n", "GET / " },
    { "GET / HTTP/1.0\r\n\r\n", "GET / " },
    { "GET / HTTP/1.1\r\nHost:\r\nX-Empty:\r\n" LAST "\r\n", "GET / " },
    { "POST /echo HTTP/1.1\r\nHost: x\r\ncontent-length: 5 \r\n" LAST "\r\nhello", "hello" },
    { "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" LAST "\r\n", "" },
    { "POST /echo HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello", "hello" },
    { "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello" },
    { CHUNKED "5;name=\"value\"\r\nhello\r\n1\r\n \r\n00a\r\n0123456789\r\n000\r\n\r\n", "hello 0123456789" },
    { "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi",
        "hi" },
};

static void
test_what_is_right_is_understood (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    for (size_t i = 0; i < sizeof s_requests / sizeof *s_requests; i++) {
        const char *reply = client_ask (&server, span_from_string (s_requests [i].request));
        assert_int_equal (client_status (reply), 200);
        assert_string_equal (client_body (reply), s_requests [i].body);
        assert_non_null (strstr (reply, "\r\nDate: "));
    }
    server_stop (&server);
}

static void
test_head_has_the_length_but_not_the_body (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    int fd = client_connect (&server);
    client_send_text (fd, "HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\nHEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n"
                          "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const char *reply = client_read (fd, NULL);
    assert_int_equal (client_count (reply, "HTTP/1.1 200 OK"), 3);
    assert_non_null (strstr (reply, "Content-Length: 10\r\n\r\nHTTP/1.1"));
    assert_non_null (strstr (reply, "Transfer-Encoding: chunked\r\n\r\nHTTP/1.1"));
    close (fd);
    server_stop (&server);
}

//  ---- Limits and deadlines ------------------------------------------------------------------------------------------

static void
test_a_head_over_the_limit_is_refused_however_it_comes (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .head_max = 64 << 10 });
    static char head [80 << 10];
    snprintf (head, sizeof head, "GET / HTTP/1.1\r\nHost: x\r\nX: ");
    memset (head + strlen (head), 'y', sizeof head - 1 - strlen (head));
    assert_int_equal (client_status (client_ask (&server, span_from_string (head))), 431);
    int fd = client_connect (&server);
    for (size_t at = 0; at < sizeof head - 1; at += 777)
        client_send (fd, span_slice (span_from_string (head), at, 777));
    assert_int_equal (client_status (client_read (fd, NULL)), 431);
    close (fd);

    size_t used = (size_t)snprintf (head, sizeof head, "GET / HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < 300; i++)
        used += (size_t)snprintf (head + used, sizeof head - used, "X-%d: y\r\n", i);
    snprintf (head + used, sizeof head - used, "\r\n");
    assert_int_equal (client_status (client_ask (&server, span_from_string (head))), 431);
    server_stop (&server);
}

static const char *
s_say_in_json (int status, const char *reason, buffer_t *out)
{
    buffer_print (out, "{\"%d\":\"%s\"}", status, reason);
    return "application/json";
}

static void
test_a_refusal_is_worded_by_whoever_listens (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .body_max = 10, .refusal = s_say_in_json });
    const char *reply = client_ask (&server, SPAN (POST "Content-Length: 11\r\n\r\n"));
    assert_int_equal (client_status (reply), 413);
    assert_non_null (strstr (reply, "Content-Type: application/json\r\n"));
    assert_non_null (strstr (reply, "\r\n\r\n{\"413\":\"the request body is too large\"}"));
    server_stop (&server);
}

//  A deadline counts from the first byte: sending now and then does not move it.
static void
s_expect_deadline (const char *start, const char *drip)
{
    enum { DEADLINE_NS = 300 * MILLISECOND, COARSE_NS = 20 * MILLISECOND, DRIPS_MAX = 3000 };
    server_t server;
    server_start (&server, (listener_options_t){ .head_timeout_ns = DEADLINE_NS, .body_timeout_ns = DEADLINE_NS });
    uint64_t began_ns = loop_now_ns ();
    int fd = client_connect (&server);
    client_send_text (fd, start);
    struct pollfd answer = { .fd = fd, .events = POLLIN };
    size_t sent = 0;
    while (poll (&answer, 1, 20) <= 0) {
        client_send (fd, span_slice (span_from_string (drip), sent++ % strlen (drip), 1));
        assert_true (sent < DRIPS_MAX);
    }
    assert_int_equal (client_status (client_read (fd, NULL)), 408);
    assert_true (loop_now_ns () - began_ns >= DEADLINE_NS - COARSE_NS);    //  As the library's clock is
    close (fd);
    server_stop (&server);
}

static void
test_a_head_that_trickles_meets_its_deadline (void **state)
{
    s_expect_deadline ("GET / HTTP/1.1\r\nHost: x\r\n", "X: y\r\n");
}

static void
test_a_body_that_trickles_meets_its_deadline (void **state)
{
    s_expect_deadline (POST "Content-Length: 5000\r\n\r\n", "x");
    s_expect_deadline (CHUNKED, "1\r\nx\r\n");
}

static void
test_a_silent_connection_is_closed_without_a_word (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .idle_timeout_ns = 100 * MILLISECOND });
    int fd = client_connect (&server);
    assert_string_equal (client_read (fd, NULL), "");
    close (fd);
    server_stop (&server);
}

//  A megabyte of chunk extensions carries four bytes of body: that is refused long before it is read.
static void
test_chunk_framing_is_bounded (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ 0 });
    buffer_t request = { 0 };
    buffer_append_string (&request, CHUNKED);
    for (int i = 0; i < 2000; i++)
        buffer_print (&request, "1;%0500d\r\nx\r\n", 0);
    assert_int_equal (client_status (client_ask (&server, buffer_span (&request))), 400);

    buffer_clear (&request);
    buffer_append_string (&request, CHUNKED);
    for (int i = 0; i < 20000; i++)
        buffer_append_string (&request, "1\r\nx\r\n");
    buffer_append_string (&request, "0\r\n\r\n");
    const char *reply = client_ask (&server, buffer_span (&request));
    assert_int_equal (client_status (reply), 200);
    assert_int_equal (strlen (client_body (reply)), 20000);
    buffer_fini (&request);
    server_stop (&server);
}

//  The budget is for all bodies together: the second claim does not fit while the first is open.
static void
test_bodies_in_flight_share_a_budget (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .body_max = 60000, .body_budget = 100000 });
    int first = client_connect (&server);
    client_send_text (first, POST "Content-Length: 60000\r\nExpect: 100-continue\r\n\r\n");
    client_read (first, "100 Continue\r\n\r\n");
    int second = client_connect (&server);
    client_send_text (second, POST "Content-Length: 60000\r\n\r\n");
    assert_int_equal (client_status (client_read (second, NULL)), 503);
    close (second);
    static char body [60001];
    memset (body, 'z', 60000);
    client_send_text (first, body);
    assert_int_equal (client_status (client_read (first, "zzzz")), 200);
    close (first);
    const char *figures = client_ask (&server, SPAN ("GET /figures HTTP/1.0\r\n\r\n"));
    assert_non_null (strstr (figures, "bodies 0 refused 0 0 0 0 0 1"));
    server_stop (&server);
}

static void
test_continue_is_said_after_the_checks_and_only_where_it_is_awaited (void **state)
{
    server_t server;
    server_start (&server, (listener_options_t){ .body_max = 1000 });
    int fd = client_connect (&server);
    client_send_text (fd, POST "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    assert_string_equal (client_read (fd, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client_send_text (fd, "hello");
    assert_int_equal (client_status (client_read (fd, "hello")), 200);
    client_send_text (fd, POST "Content-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\nhello");
    assert_int_equal (client_status (client_read (fd, NULL)), 200);
    close (fd);
    const char *reply = client_ask (&server, SPAN (POST "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n"));
    assert_int_equal (client_status (reply), 413);
    server_stop (&server);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_doubtful_framing_gets_one_refusal_and_the_end),
        cmocka_unit_test (test_the_same_attacks_byte_by_byte),
        cmocka_unit_test (test_what_is_right_is_understood),
        cmocka_unit_test (test_head_has_the_length_but_not_the_body),
        cmocka_unit_test (test_a_head_over_the_limit_is_refused_however_it_comes),
        cmocka_unit_test (test_a_refusal_is_worded_by_whoever_listens),
        cmocka_unit_test (test_a_head_that_trickles_meets_its_deadline),
        cmocka_unit_test (test_a_body_that_trickles_meets_its_deadline),
        cmocka_unit_test (test_a_silent_connection_is_closed_without_a_word),
        cmocka_unit_test (test_chunk_framing_is_bounded),
        cmocka_unit_test (test_bodies_in_flight_share_a_budget),
        cmocka_unit_test (test_continue_is_said_after_the_checks_and_only_where_it_is_awaited),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
