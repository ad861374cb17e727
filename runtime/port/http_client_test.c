//  The client against our own server, and against servers that do it wrong.

#include "runtime/port/http_fixture.h"

typedef struct {
    fixture_t *fixture;                //  Whose port fetches
    port_fetch_t *fetch;               //  In progress
    int head;                          //  Status of the response
    size_t heads;                      //  on_head calls
    size_t size;                       //  Bytes of the body
    char body [200];                   //  Its beginning
    size_t ends;                       //  on_end calls
    status_t status;                   //  Of the end
    char sentence [ERROR_TEXT_MAX];    //  Of the end
    bool cancel_in_head;               //  Cancels when the head comes
    bool cancel_in_data;               //  Cancels when the first bytes come
    bool pause_in_data;                //  Pauses when the first bytes come
    const char *next_url;              //  Fetched from inside on_end
} pull_t;

static void s_start (pull_t *self, const char *url, fetch_options_t options);

static void
s_stop (pull_t *self)
{
    real_port_stop (self->fixture->port);
}

static void
s_cancel (pull_t *self)
{
    self->fixture->port->table->fetch_cancel (self->fetch);
    s_stop (self);
}

static void
s_on_head (void *arg, int status)
{
    pull_t *self = arg;
    self->head = status;
    self->heads++;
    if (self->cancel_in_head)
        s_cancel (self);
}

static void
s_on_data (void *arg, span_t bytes)
{
    pull_t *self = arg;
    if (self->size < sizeof self->body - 1)
        span_copy_string (bytes, self->body + self->size, sizeof self->body - self->size);
    self->size += bytes.size;
    if (self->cancel_in_data)
        s_cancel (self);
    if (self->pause_in_data) {
        self->fixture->port->table->fetch_pause (self->fetch, true);
        s_stop (self);
    }
}

static void
s_on_end (void *arg, status_t status, const error_t *error)
{
    pull_t *self = arg;
    self->ends++;
    self->status = status;
    snprintf (self->sentence, sizeof self->sentence, "%s", error->text);
    const char *next = self->next_url;
    self->next_url = NULL;
    if (next)
        s_start (self, next, (fetch_options_t){ 0 });
    else
        s_stop (self);
}

static fetch_options_t
s_options (pull_t *self, const char *url, fetch_options_t options)
{
    options.method = options.method ? options.method : "GET";
    options.url = url;
    options.on_head = s_on_head;
    options.on_data = s_on_data;
    options.on_end = s_on_end;
    options.arg = self;
    return options;
}

static void
s_start (pull_t *self, const char *url, fetch_options_t options)
{
    options = s_options (self, url, options);
    error_t error = { 0 };
    self->fetch = self->fixture->port->table->fetch (self->fixture->port, &options, &error);
    if (!self->fetch)
        fail_msg ("%s", error.text);
}

static void
s_fetch (pull_t *self, const char *url, fetch_options_t options)
{
    s_start (self, url, options);
    fixture_run (self->fixture);
}

//  ---- Against our own server ----------------------------------------------------------------------------------------

typedef struct {
    server_t server;      //  On its own thread
    fixture_t fixture;    //  The client's port, on the test's thread
    char url [100];       //  Of the path last asked for
} pair_t;

static pair_t *
s_pair_new (void)
{
    pair_t *self = calloc (1, sizeof *self);
    server_start (&self->server, (listener_options_t){ 0 });
    fixture_init (&self->fixture);
    return self;
}

static void
s_pair_destroy (pair_t *self)
{
    fixture_fini (&self->fixture);
    server_stop (&self->server);
    free (self);
}

static const char *
s_url (pair_t *self, const char *path)
{
    snprintf (self->url, sizeof self->url, "http://%s%s",
        self->server.base.port->table->listener_address (self->server.listener), path);
    return self->url;
}

//  Waits until the server tells this letter, which may take the client's loop too.
static void
s_expect (pair_t *self, char letter)
{
    while (!server_has_told (&self->server))
        fixture_run_for (&self->fixture, 5 * MILLISECOND);
    server_expect (&self->server, letter);
}

static void
test_a_body_goes_there_and_comes_back (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture };
    http_header_t header = { SPAN ("Content-Type"), SPAN ("text/plain") };
    s_fetch (&pull, s_url (pair, "/echo"),
        (fetch_options_t){ .method = "POST", .body = SPAN ("there and back"), .headers = &header, .header_count = 1 });
    assert_int_equal (pull.head, 200);
    assert_string_equal (pull.body, "there and back");
    assert_int_equal (pull.status, STATUS_OK);

    static uint8_t large [3 << 20];
    pull = (pull_t){ .fixture = &pair->fixture };
    s_fetch (
        &pull, s_url (pair, "/echo"), (fetch_options_t){ .method = "POST", .body = span_of (large, sizeof large) });
    assert_int_equal (pull.size, sizeof large);
    assert_int_equal (pull.heads + pull.ends, 2);
    s_pair_destroy (pair);
}

static void
s_count_release (void *owner)
{
    ++*(int *)owner;
}

//  It is read where it lies: what it holds when it is sent is what counts.  Whatever comes of it, it is let go once.
static void
test_a_body_that_is_kept_is_not_copied (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture };
    int releases = 0;
    char body [] = "before";
    keeper_t keeper = { s_count_release, &releases };
    fetch_options_t options = { .method = "POST", .body = span_of (body, 6), .keeper = &keeper };
    s_start (&pull, s_url (pair, "/echo"), options);
    assert_null (keeper.release);
    memcpy (body, "behind", 6);
    assert_int_equal (releases, 0);
    fixture_run (pull.fixture);
    assert_string_equal (pull.body, "behind");
    assert_int_equal (releases, 1);

    keeper = (keeper_t){ s_count_release, &releases };
    options = s_options (&pull, "ftp://127.0.0.1", options);
    assert_null (pull.fixture->port->table->fetch (pull.fixture->port, &options, NULL));
    assert_int_equal (releases, 2);
    keeper = (keeper_t){ s_count_release, &releases };
    pull = (pull_t){ .fixture = &pair->fixture, .cancel_in_head = true };
    s_fetch (
        &pull, s_url (pair, "/echo"), (fetch_options_t){ .method = "POST", .body = SPAN ("x"), .keeper = &keeper });
    s_pair_destroy (pair);
    assert_int_equal (releases, 3);
}

static void
test_methods_and_empty_bodies_are_sent_as_asked (void **state)
{
    static const char *const methods [] = { "GET", "POST", "PUT", "DELETE", "HEAD" };
    pair_t *pair = s_pair_new ();
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        pull_t pull = { .fixture = &pair->fixture };
        s_fetch (&pull, s_url (pair, "/a?b"), (fetch_options_t){ .method = methods [i] });
        assert_int_equal (pull.status, STATUS_OK);
        char expected [40];
        snprintf (expected, sizeof expected, "%s /a b", methods [i]);
        assert_string_equal (pull.body, i == 4 ? "" : expected);
    }
    s_pair_destroy (pair);
}

static void
test_a_stream_arrives_and_ends_once (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture };
    s_fetch (&pull, s_url (pair, "/stream"), (fetch_options_t){ 0 });
    assert_string_equal (pull.body, "one two three");
    assert_int_equal (pull.ends, 1);
    s_pair_destroy (pair);
}

static void
test_a_paused_fetch_holds_the_server_back_and_goes_on (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture, .pause_in_data = true };
    s_fetch (&pull, s_url (pair, "/flood"), (fetch_options_t){ .idle_timeout_ns = 5 * SECOND });
    pull.pause_in_data = false;
    server_expect (&pair->server, 'a');
    size_t before = pull.size;
    fixture_run_for (&pair->fixture, 6 * SECOND);
    assert_int_equal (pull.size, before);
    assert_int_equal (pull.ends, 0);

    pair->fixture.port->table->fetch_pause (pull.fetch, false);
    fixture_run (&pair->fixture);
    assert_int_equal (pull.size, FLOOD_BYTES);
    assert_int_equal (pull.status, STATUS_OK);
    s_pair_destroy (pair);
}

//  ---- Cancelling ----------------------------------------------------------------------------------------------------

static void
test_a_cancel_in_a_callback_is_the_last_that_is_heard (void **state)
{
    pair_t *pair = s_pair_new ();
    for (int in_head = 0; in_head < 2; in_head++) {
        pull_t pull = { .fixture = &pair->fixture, .cancel_in_head = in_head, .cancel_in_data = !in_head };
        s_fetch (&pull, s_url (pair, "/flood"), (fetch_options_t){ 0 });
        size_t size = pull.size;
        if (in_head == 0)
            server_expect (&pair->server, 'a');
        fixture_run_for (&pair->fixture, 20 * MILLISECOND);
        if (in_head == 0)
            s_expect (pair, 'g');
        assert_int_equal (pull.size, size);
        assert_int_equal (pull.heads, 1);
        assert_int_equal (pull.ends, 0);
    }
    s_pair_destroy (pair);
}

static void
test_a_cancel_before_the_start_and_one_while_waiting_are_silent (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t never = { .fixture = &pair->fixture };
    s_start (&never, s_url (pair, "/hold"), (fetch_options_t){ 0 });
    pair->fixture.port->table->fetch_cancel (never.fetch);

    pull_t waiting = { .fixture = &pair->fixture };
    s_start (&waiting, s_url (pair, "/hold"), (fetch_options_t){ 0 });
    s_expect (pair, 'r');
    pair->fixture.port->table->fetch_cancel (waiting.fetch);
    s_expect (pair, 'g');
    assert_int_equal (never.ends + waiting.ends + never.heads + waiting.heads, 0);
    s_pair_destroy (pair);
}

//  A cancelled fetch that the loop never got to see is freed with the port.
static void
test_a_port_may_end_right_after_a_cancel (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture };
    s_start (&pull, s_url (pair, "/hold"), (fetch_options_t){ 0 });
    pair->fixture.port->table->fetch_cancel (pull.fetch);
    s_pair_destroy (pair);
}

static void
test_the_next_fetch_may_start_inside_the_end_of_the_last (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture };
    char next [100];
    snprintf (next, sizeof next, "%s", s_url (pair, "/second"));
    pull.next_url = next;
    s_fetch (&pull, s_url (pair, "/first"), (fetch_options_t){ 0 });
    assert_int_equal (pull.ends, 2);
    assert_string_equal (pull.body, "GET /first GET /second ");
    s_pair_destroy (pair);
}

//  ---- Limits --------------------------------------------------------------------------------------------------------

static void
test_silence_and_slowness_meet_their_deadlines (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t idle = { .fixture = &pair->fixture };
    s_fetch (&idle, s_url (pair, "/hold"), (fetch_options_t){ .idle_timeout_ns = 50 * MILLISECOND });
    assert_int_equal (idle.status, STATUS_DEADLINE);
    assert_non_null (strstr (idle.sentence, "/hold: no byte for 50 ms"));
    pull_t total = { .fixture = &pair->fixture };
    s_fetch (&total, s_url (pair, "/hold"), (fetch_options_t){ .total_timeout_ns = 50 * MILLISECOND });
    assert_int_equal (total.status, STATUS_DEADLINE);
    s_pair_destroy (pair);
}

static void
test_a_response_over_the_limit_is_ended (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture };
    s_fetch (&pull, s_url (pair, "/flood"), (fetch_options_t){ .response_max = 100000 });
    assert_int_equal (pull.status, STATUS_LIMIT);
    assert_in_range (pull.size, 50000, 100000);
    assert_non_null (strstr (pull.sentence, "larger than 100000 bytes"));
    s_pair_destroy (pair);
}

static void
test_a_cut_response_is_not_whole (void **state)
{
    pair_t *pair = s_pair_new ();
    pull_t pull = { .fixture = &pair->fixture };
    s_fetch (&pull, s_url (pair, "/abort"), (fetch_options_t){ 0 });
    assert_int_equal (pull.status, STATUS_IO);
    s_pair_destroy (pair);
}

static void
test_nobody_there_is_unreachable (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    pull_t pull = { .fixture = &fixture };
    s_fetch (&pull, "http://127.0.0.1:1/x", (fetch_options_t){ 0 });
    assert_int_equal (pull.status, STATUS_UNREACHABLE);
    assert_non_null (strstr (pull.sentence, "http://127.0.0.1:1/x: "));
    assert_int_equal (pull.heads, 0);
    fixture_fini (&fixture);
}

static void
test_what_cannot_be_fetched_is_refused_at_once (void **state)
{
    static const char *const urls [] = { "", "127.0.0.1", "ftp://host/x", "file:///etc/passwd", "http://",
        "http://a b/", "http://host:99999/" };
    fixture_t fixture;
    fixture_init (&fixture);
    pull_t pull = { .fixture = &fixture };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        error_t error = { 0 };
        fetch_options_t options = s_options (&pull, urls [i], (fetch_options_t){ 0 });
        assert_null (fixture.port->table->fetch (fixture.port, &options, &error));
        assert_int_equal (error.status, STATUS_INVALID);
    }
    http_header_t evil = { SPAN ("x-id"), SPAN ("a\r\nX-Evil: b") };
    error_t error = { 0 };
    fetch_options_t options =
        s_options (&pull, "http://127.0.0.1/", (fetch_options_t){ .headers = &evil, .header_count = 1 });
    assert_null (fixture.port->table->fetch (fixture.port, &options, &error));
    assert_non_null (strstr (error.text, "x-id"));
    fixture_fini (&fixture);
}

enum { MANY = 200 };

static size_t s_left;

static void
s_on_one_end (void *arg, status_t status, const error_t *error)
{
    pull_t *self = arg;
    self->ends++;
    self->status = status;
    if (--s_left == 0)
        s_stop (self);
}

static void
test_many_fetches_at_once_all_end_once (void **state)
{
    pair_t *pair = s_pair_new ();
    static pull_t pulls [MANY];
    s_left = MANY;
    for (int i = 0; i < MANY; i++) {
        pulls [i] = (pull_t){ .fixture = &pair->fixture };
        fetch_options_t options = s_options (&pulls [i], s_url (pair, "/stream"), (fetch_options_t){ 0 });
        options.on_end = s_on_one_end;
        assert_non_null (pair->fixture.port->table->fetch (pair->fixture.port, &options, NULL));
    }
    fixture_run (&pair->fixture);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal (pulls [i].ends, 1);
        assert_int_equal (pulls [i].status, STATUS_OK);
        assert_string_equal (pulls [i].body, "one two three");
    }
    s_pair_destroy (pair);
}

//  ---- Against servers that do it wrong ------------------------------------------------------------------------------

typedef struct {
    int listener;         //  Bound socket
    const char *reply;    //  What every client gets, whatever it asks
} liar_t;

static void *
s_lie (void *arg)
{
    liar_t *self = arg;
    int fd = accept (self->listener, NULL, NULL);
    char request [2000];
    ssize_t size = recv (fd, request, sizeof request, 0);
    if (size > 0)
        client_send_text (fd, self->reply);
    shutdown (fd, SHUT_WR);
    while (recv (fd, request, sizeof request, 0) > 0)
        ;
    close (fd);
    return NULL;
}

static const struct {
    const char *reply;    //  The whole response
    status_t status;      //  How the fetch ends
} s_lies [] = {
    { "", STATUS_IO },
    { "hello", STATUS_CORRUPT },
    { "HTTP/1.1 abc\r\n\r\n", STATUS_CORRUPT },
    { "SSH-2.0-OpenSSH_9.2\r\n", STATUS_CORRUPT },
    { "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", STATUS_IO },
    { "HTTP/1.1 200 OK\r\nContent-Length: banana\r\n\r\nhalf", STATUS_CORRUPT },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", STATUS_IO },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n", STATUS_IO },
    { "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", STATUS_OK },
    { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", STATUS_OK },
    { "HTTP/1.0 200 OK\r\n\r\nuntil the end", STATUS_OK },
};

static void
test_wrong_responses_end_with_a_sentence (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    liar_t liar = { .listener = socket (AF_INET, SOCK_STREAM, 0) };
    assert_int_equal (bind (liar.listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal (listen (liar.listener, 5), 0);
    getsockname (liar.listener, (struct sockaddr *)&address, &size);
    char url [64];
    snprintf (url, sizeof url, "http://127.0.0.1:%d/", ntohs (address.sin_port));
    for (size_t i = 0; i < sizeof s_lies / sizeof *s_lies; i++) {
        liar.reply = s_lies [i].reply;
        pthread_t thread;
        pthread_create (&thread, NULL, s_lie, &liar);
        pull_t pull = { .fixture = &fixture };
        s_fetch (&pull, url, (fetch_options_t){ 0 });
        if (pull.status != s_lies [i].status)
            fail_msg ("%s -> %s: %s", s_lies [i].reply, status_name (pull.status), pull.sentence);
        assert_int_equal (pull.sentence [0] != '\0', pull.status != STATUS_OK);
        assert_true (pull.heads <= 1);
        //  An idle connection is kept for the next fetch: end it, so that the liar ends too.
        real_port_destroy (&fixture.port);
        fixture.port = fixture_port_new (&fixture, fixture_on_alarm, NULL, &fixture);
        pthread_join (thread, NULL);
    }
    close (liar.listener);
    fixture_fini (&fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_body_goes_there_and_comes_back),
        cmocka_unit_test (test_a_body_that_is_kept_is_not_copied),
        cmocka_unit_test (test_methods_and_empty_bodies_are_sent_as_asked),
        cmocka_unit_test (test_a_stream_arrives_and_ends_once),
        cmocka_unit_test (test_a_paused_fetch_holds_the_server_back_and_goes_on),
        cmocka_unit_test (test_a_cancel_in_a_callback_is_the_last_that_is_heard),
        cmocka_unit_test (test_a_cancel_before_the_start_and_one_while_waiting_are_silent),
        cmocka_unit_test (test_a_port_may_end_right_after_a_cancel),
        cmocka_unit_test (test_the_next_fetch_may_start_inside_the_end_of_the_last),
        cmocka_unit_test (test_silence_and_slowness_meet_their_deadlines),
        cmocka_unit_test (test_a_response_over_the_limit_is_ended),
        cmocka_unit_test (test_a_cut_response_is_not_whole),
        cmocka_unit_test (test_nobody_there_is_unreachable),
        cmocka_unit_test (test_what_cannot_be_fetched_is_refused_at_once),
        cmocka_unit_test (test_many_fetches_at_once_all_end_once),
        cmocka_unit_test (test_wrong_responses_end_with_a_sentence),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
