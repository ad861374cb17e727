//  Message sockets in the loop: nothing stalls, nothing is torn, and every refusal has a sentence.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <zmq.h>

#include "runtime/port/port_fixture.h"

#include "base/random.h"
#include "runtime/port/reserve.h"

//  ---- Two actors in two threads, bursts of random sizes, and a timer on the same socket -----------------------------
//  (libzmq tells a sender what was read in steps of half a queue, so half of it is what may safely be in flight.)

enum { MESSAGES = 100000, IN_FLIGHT_MAX = 450, BURST_MAX = 300, TICK_NS = 100000 };

typedef struct {
    port_t *port;             //  Of this side's thread
    port_socket_t *socket;    //  ROUTER here, DEALER there
    random_t random;          //  Burst sizes
    uint64_t sent;            //  Messages
    uint64_t received;        //  Messages
    uint64_t ticks;           //  Messages the timer sent
    uint64_t out_of_order;    //  Replies that were not the next
    uint64_t refused;         //  Sends that did not return OK
    bool done;                //  The other side may stop
} side_t;

static void
s_echo (void *arg, const span_t *frames, size_t count)
{
    side_t *self = arg;
    self->received++;
    if (self->port->table->socket_send (self->socket, frames, count) != STATUS_OK)
        self->refused++;
}

static void
s_send_next (side_t *self)
{
    uint64_t number = self->sent;
    span_t frames [] = { span_of (&number, sizeof number), SPAN ("a frame that is too long to lie inside a message") };
    if (self->port->table->socket_send (self->socket, frames, 2) == STATUS_OK)
        self->sent++;
    else
        self->refused++;
}

static void
s_burst (side_t *self)
{
    for (uint64_t left = 1 + random_below (&self->random, BURST_MAX); left; left--)
        if (self->sent < MESSAGES && self->sent - self->received < IN_FLIGHT_MAX)
            s_send_next (self);
}

static void
s_on_reply (void *arg, const span_t *frames, size_t count)
{
    side_t *self = arg;
    uint64_t number = UINT64_MAX;
    if (count == 2 && frames [0].size == sizeof number)
        memcpy (&number, frames [0].data, sizeof number);
    self->out_of_order += number != self->received;
    self->received++;
    if (random_chance (&self->random, 10000))
        s_burst (self);
    if (self->received == MESSAGES)
        real_port_stop (self->port);
}

static void
s_tick (void *arg)
{
    side_t *self = arg;
    if (self->sent < MESSAGES && self->sent - self->received < IN_FLIGHT_MAX) {
        self->ticks++;
        s_send_next (self);
    }
    self->port->table->alarm (self->port, self->port->table->now_ns (self->port) + TICK_NS);
}

static void *
s_run (void *arg)
{
    side_t *self = arg;
    real_port_run (self->port);
    return NULL;
}

static void
s_exchange (const char *endpoint)
{
    fixture_t fixture;
    fixture_init (&fixture);
    side_t server = { 0 }, client = { 0 };
    uint64_t seed = 20261129;
    print_message ("%s seed %llu\n", endpoint, (unsigned long long)seed);
    random_init (&client.random, seed);
    server.port = fixture.port;
    client.port = fixture_port_new (&fixture, s_tick, NULL, &client);

    socket_options_t options = { .kind = SOCKET_ROUTER, .on_message = s_echo, .arg = &server };
    server.socket = server.port->table->socket_open (server.port, &options, NULL);
    error_t error = { 0 };
    if (server.port->table->socket_bind (server.socket, endpoint, &error) != STATUS_OK)
        fail_msg ("%s", error.text);
    options = (socket_options_t){ .kind = SOCKET_DEALER, .on_message = s_on_reply, .arg = &client };
    client.socket = client.port->table->socket_open (client.port, &options, NULL);
    const char *bound = server.port->table->socket_endpoint (server.socket);
    assert_int_equal (client.port->table->socket_connect (client.socket, bound, NULL), STATUS_OK);

    pthread_t thread;
    pthread_create (&thread, NULL, s_run, &server);
    s_tick (&client);
    real_port_run (client.port);
    real_port_stop (server.port);
    pthread_join (thread, NULL);

    assert_int_equal (client.received, MESSAGES);
    assert_int_equal (server.received, MESSAGES);
    assert_int_equal (client.out_of_order + client.refused + server.refused, 0);
    assert_true (client.ticks > 0);
    client.port->table->socket_close (client.socket);
    server.port->table->socket_close (server.socket);
    real_port_destroy (&client.port);
    fixture_fini (&fixture);
}

static void
test_bursts_and_a_timer_do_not_stall_over_inproc (void **state)
{
    s_exchange ("inproc://bursts");
}

static void
test_bursts_and_a_timer_do_not_stall_over_tcp (void **state)
{
    s_exchange ("tcp://127.0.0.1:*");
}

static void
test_bursts_and_a_timer_do_not_stall_over_ipc (void **state)
{
    char endpoint [64];
    snprintf (endpoint, sizeof endpoint, "ipc:///tmp/stator-bursts-%d", (int)getpid ());
    s_exchange (endpoint);
}

//  ---- Single sockets on the test's own thread -----------------------------------------------------------------------

typedef struct {
    fixture_t *fixture;          //  Whose port is stopped when `wanted` have come
    size_t count;                //  Messages that came
    size_t wanted;               //  Stop at so many
    size_t frames;               //  Of the last one
    char text [64];              //  Last frame of the last one
    char peer [16];              //  First frame of the last one
    size_t peer_size;            //  Bytes of it
    port_socket_t *close_me;     //  Closed from inside the callback
    size_t dropped;              //  Messages that were too large
    size_t dropped_peer_size;    //  Bytes of the last one's first frame
} inbox_t;

static void
s_collect (void *arg, const span_t *frames, size_t count)
{
    inbox_t *self = arg;
    self->count++;
    self->frames = count;
    span_copy_string (frames [count - 1], self->text, sizeof self->text);
    self->peer_size = frames [0].size < sizeof self->peer ? frames [0].size : 0;
    memcpy (self->peer, frames [0].data, self->peer_size);
    if (self->close_me)
        self->fixture->port->table->socket_close (self->close_me);
    if (self->count == self->wanted)
        real_port_stop (self->fixture->port);
}

static void
s_count_dropped (void *arg, span_t first)
{
    inbox_t *self = arg;
    self->dropped++;
    self->dropped_peer_size = first.size;
}

static port_socket_t *
s_open (fixture_t *fixture, socket_kind_t kind, inbox_t *inbox)
{
    inbox->fixture = fixture;
    socket_options_t options = {
        .kind = kind, .on_message = s_collect, .on_dropped = s_count_dropped, .arg = inbox, .message_max = 1000
    };
    return fixture->port->table->socket_open (fixture->port, &options, NULL);
}

static void
test_a_router_says_that_a_peer_is_not_there (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    inbox_t inbox = { 0 };
    port_socket_t *router = s_open (&fixture, SOCKET_ROUTER, &inbox);
    assert_int_equal (fixture.port->table->socket_bind (router, "inproc://nobody", NULL), STATUS_OK);
    span_t frames [] = { SPAN ("ghost"), SPAN (""), SPAN ("hello") };
    assert_int_equal (fixture.port->table->socket_send (router, frames, 3), STATUS_UNREACHABLE);
    fixture.port->table->socket_close (router);
    fixture_fini (&fixture);
}

static void
test_a_full_queue_says_again_and_sends_nothing (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    socket_options_t options = { .kind = SOCKET_DEALER, .send_queue = 10 };
    port_socket_t *dealer = fixture.port->table->socket_open (fixture.port, &options, NULL);
    assert_int_equal (fixture.port->table->socket_connect (dealer, "tcp://127.0.0.1:1", NULL), STATUS_OK);
    span_t frames [] = { SPAN ("one"), SPAN ("two") };
    for (int i = 0; i < 10; i++)
        assert_int_equal (fixture.port->table->socket_send (dealer, frames, 2), STATUS_OK);
    assert_int_equal (fixture.port->table->socket_send (dealer, frames, 2), STATUS_AGAIN);
    fixture.port->table->socket_close (dealer);
    fixture_fini (&fixture);
}

//  Sends as much as the other side, which reads nothing, will take, and leaves.  What waits on this side is lost then: so
//  many go that the queue there is full without it.
static void
s_fill_and_leave (const char *endpoint, int queue)
{
    void *context = zmq_ctx_new (), *dealer = zmq_socket (context, ZMQ_DEALER);
    uint8_t bytes [10000] = { 0 };
    int none = 0, patience_ms = 200, sent = 0;
    zmq_setsockopt (dealer, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt (dealer, ZMQ_SNDHWM, &queue, sizeof queue);
    zmq_setsockopt (dealer, ZMQ_SNDTIMEO, &patience_ms, sizeof patience_ms);
    assert_int_equal (zmq_connect (dealer, endpoint), 0);
    for (bool is_taken = true; is_taken || errno == EINTR || sent <= 2 * queue; sent += is_taken)
        is_taken = zmq_send (dealer, bytes, sizeof bytes, 0) >= 0;
    assert_int_equal (errno, EAGAIN);
    assert_int_equal (zmq_close (dealer), 0);
    assert_int_equal (zmq_ctx_term (context), 0);
}

//  Stands before the library's own, and notes whether anybody asks for pings: it ends the process that pings a peer which
//  filled its queue and left.
static bool s_pings;

int
zmq_setsockopt (void *socket, int option, const void *value, size_t size)
{
    static int (*original) (void *socket, int option, const void *value, size_t size);
    if (!original)
        *(void **)&original = dlsym (dlopen ("libzmq.so.5", RTLD_NOW), "zmq_setsockopt");
    s_pings |= option == ZMQ_HEARTBEAT_IVL && *(const int *)value > 0;
    return original (socket, option, value, size);
}

static void
test_a_peer_that_fills_the_queue_and_leaves_ends_nobody (void **state)
{
    enum { QUEUE = 10 };
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .fixture = &fixture, .wanted = QUEUE };
    socket_options_t options = {
        .kind = SOCKET_ROUTER, .receive_queue = QUEUE, .on_message = s_collect, .arg = &inbox
    };
    port_socket_t *router = table->socket_open (fixture.port, &options, NULL);
    char endpoint [64];
    snprintf (endpoint, sizeof endpoint, "ipc:///tmp/stator-full-%d", (int)getpid ());
    assert_int_equal (table->socket_bind (router, endpoint, NULL), STATUS_OK);
    s_fill_and_leave (endpoint, QUEUE);
    fixture_run (&fixture);
    assert_true (inbox.count >= QUEUE);
    assert_false (s_pings);
    table->socket_close (router);
    fixture_fini (&fixture);
}

//  A subscription takes some twenty times its size at the publisher for as long as it lasts.
static void
test_a_subscription_as_large_as_a_message_is_hung_up_on (void **state)
{
    enum { LARGE = 5000 };
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .fixture = &fixture, .wanted = 1 };
    socket_options_t options = { .kind = SOCKET_XPUB, .on_message = s_collect, .arg = &inbox };
    port_socket_t *publisher = table->socket_open (fixture.port, &options, NULL);
    assert_int_equal (table->socket_bind (publisher, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    void *context = zmq_ctx_new (), *follower = zmq_socket (context, ZMQ_XSUB);
    int none = 0;
    uint8_t large [LARGE] = { 1 };
    zmq_setsockopt (follower, ZMQ_LINGER, &none, sizeof none);
    assert_int_equal (zmq_connect (follower, table->socket_endpoint (publisher)), 0);
    assert_int_equal (zmq_send (follower, "\1kv.", 4, 0), 4);
    fixture_run (&fixture);
    assert_string_equal (inbox.text, "\1kv.");
    inbox.wanted = 2;
    assert_int_equal (zmq_send (follower, large, LARGE, 0), LARGE);
    fixture_run (&fixture);
    assert_int_equal (inbox.text [0], 0);    //  The end of the first one: whoever subscribed is gone
    assert_int_equal (zmq_close (follower), 0);
    assert_int_equal (zmq_ctx_term (context), 0);
    table->socket_close (publisher);
    fixture_fini (&fixture);
}

//  Whoever reads would hang up on it, and everything behind it would be lost: it is not sent, what comes behind it is.
static void
test_a_message_that_is_too_large_is_not_sent (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .wanted = 2 }, ignored = { 0 };
    port_socket_t *router = s_open (&fixture, SOCKET_ROUTER, &inbox);
    port_socket_t *dealer = s_open (&fixture, SOCKET_DEALER, &ignored);
    uint8_t bytes [1000] = { 0 };
    span_t over [] = { SPAN ("a"), span_of (bytes, sizeof bytes) };
    span_t most [] = { SPAN (""), span_of (bytes, sizeof bytes) };
    span_t last [] = { SPAN (""), SPAN ("the last") };
    assert_int_equal (table->socket_bind (router, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    assert_int_equal (table->socket_connect (dealer, table->socket_endpoint (router), NULL), STATUS_OK);
    assert_int_equal (table->socket_send (dealer, over, 2), STATUS_LIMIT);
    assert_int_equal (table->socket_send (dealer, most, 2), STATUS_OK);
    assert_int_equal (table->socket_send (dealer, last, 2), STATUS_OK);
    fixture_run (&fixture);
    assert_int_equal (inbox.dropped, 0);
    assert_string_equal (inbox.text, "the last");
    table->socket_close (router);
    table->socket_close (dealer);
    fixture_fini (&fixture);
}

static void
test_subscriptions_filter_by_prefix_and_reach_the_publisher (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t subscriptions = { .wanted = 2 }, events = { .wanted = 1 };
    port_socket_t *xpub = s_open (&fixture, SOCKET_XPUB, &subscriptions);
    port_socket_t *sub = s_open (&fixture, SOCKET_SUB, &events);
    assert_int_equal (table->socket_bind (xpub, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    assert_int_equal (table->socket_connect (sub, table->socket_endpoint (xpub), NULL), STATUS_OK);
    table->socket_subscribe (sub, SPAN ("kv."));
    table->socket_subscribe (sub, SPAN ("load."));
    fixture_run (&fixture);
    assert_string_equal (subscriptions.text + 1, "load.");

    subscriptions.wanted = 3;
    table->socket_unsubscribe (sub, SPAN ("load."));
    fixture_run (&fixture);
    span_t unwanted [] = { SPAN ("load.worker/0."), SPAN ("no") };
    span_t wanted [] = { SPAN ("kv.worker/0."), SPAN ("yes") };
    assert_int_equal (table->socket_send (xpub, unwanted, 2), STATUS_OK);
    assert_int_equal (table->socket_send (xpub, wanted, 2), STATUS_OK);
    fixture_run (&fixture);
    assert_string_equal (events.text, "yes");
    table->socket_close (sub);
    table->socket_close (xpub);
    fixture_fini (&fixture);
}

static void *
s_subscribe (fixture_t *fixture, const char *endpoint, const char *prefix, int queue)
{
    void *sub = zmq_socket (world_zmq (fixture->world), ZMQ_SUB);
    zmq_setsockopt (sub, ZMQ_RCVHWM, &queue, sizeof queue);
    zmq_setsockopt (sub, ZMQ_SUBSCRIBE, prefix, strlen (prefix));
    assert_int_equal (zmq_connect (sub, endpoint), 0);
    return sub;
}

static int
s_count_waiting (void *sub)
{
    int count = 0;
    while (zmq_recv (sub, NULL, 0, ZMQ_DONTWAIT) >= 0)
        count += zmq_recv (sub, NULL, 0, 0) >= 0;
    zmq_close (sub);
    return count;
}

//  That somebody misses something is noticed once; the others miss nothing.
static void
test_a_follower_that_is_too_far_behind_is_noticed (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t subscriptions = { .wanted = 2, .fixture = &fixture };
    socket_options_t options = {
        .kind = SOCKET_XPUB, .send_queue = 10, .on_message = s_collect, .arg = &subscriptions
    };
    port_socket_t *xpub = table->socket_open (fixture.port, &options, NULL);
    assert_int_equal (table->socket_bind (xpub, "inproc://behind", NULL), STATUS_OK);
    void *slow = s_subscribe (&fixture, "inproc://behind", "kv.", 10);
    void *other = s_subscribe (&fixture, "inproc://behind", "kv.worker/0.", 0);
    fixture_run (&fixture);
    span_t frames [] = { SPAN ("kv.worker/0."), SPAN ("x") };
    for (int i = 0; i < 20; i++)
        assert_int_equal (table->socket_send (xpub, frames, 2), STATUS_OK);
    assert_int_equal (table->socket_overflows (xpub), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal (table->socket_send (xpub, frames, 2), STATUS_OK);
    assert_int_equal (table->socket_overflows (xpub), 1);
    assert_int_equal (s_count_waiting (slow), 20);
    assert_int_equal (s_count_waiting (other), 40);
    table->socket_close (xpub);
    fixture_fini (&fixture);
}

//  The limits hold on inproc too, where libzmq does not check them, and the connection goes on.
static void
test_too_many_frames_or_bytes_are_dropped_and_counted (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .wanted = 1 };
    port_socket_t *router = s_open (&fixture, SOCKET_ROUTER, &inbox);
    assert_int_equal (table->socket_bind (router, "inproc://limits", NULL), STATUS_OK);
    void *stranger = zmq_socket (world_zmq (fixture.world), ZMQ_DEALER);
    assert_int_equal (zmq_connect (stranger, "inproc://limits"), 0);
    for (int i = 0; i < 40; i++)
        zmq_send (stranger, "x", 1, i < 39 ? ZMQ_SNDMORE : 0);
    static char large [2000];
    zmq_send (stranger, large, sizeof large, 0);
    zmq_send (stranger, "fits", 4, 0);
    fixture_run (&fixture);
    assert_int_equal (inbox.count, 1);
    assert_string_equal (inbox.text, "fits");
    assert_int_equal (inbox.dropped, 2);
    assert_int_equal (inbox.dropped_peer_size, inbox.peer_size);
    zmq_close (stranger);
    table->socket_close (router);
    fixture_fini (&fixture);
}

static void
test_a_socket_closed_by_its_own_callback_hears_nothing_more (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .wanted = 1 }, ignored = { 0 };
    port_socket_t *router = s_open (&fixture, SOCKET_ROUTER, &inbox);
    port_socket_t *dealer = s_open (&fixture, SOCKET_DEALER, &ignored);
    inbox.close_me = router;
    assert_int_equal (table->socket_bind (router, "inproc://once", NULL), STATUS_OK);
    assert_int_equal (table->socket_connect (dealer, "inproc://once", NULL), STATUS_OK);
    span_t frame = SPAN ("again");
    for (int i = 0; i < 5; i++)
        table->socket_send (dealer, &frame, 1);
    fixture_run (&fixture);
    assert_int_equal (inbox.count, 1);
    table->socket_close (dealer);
    fixture_fini (&fixture);
}

//  ---- A flood -------------------------------------------------------------------------------------------------------

enum { FLOOD = 1000, FLOOD_SIZE = 4096 };

typedef struct {
    fixture_t fixture;    //  First: its alarm is given this
    size_t heard;         //  Messages
    size_t in_round;      //  Of these, in the round of the loop that runs
    size_t most;          //  In one round
} flood_t;

static void
s_on_flood (void *arg, const span_t *frames, size_t count)
{
    flood_t *self = arg;
    self->in_round++;
    self->fixture.port->table->turn_end (self->fixture.port);
    if (++self->heard == FLOOD)
        real_port_stop (self->fixture.port);
}

static void
s_on_flood_turn (void *arg)
{
    flood_t *self = arg;
    self->most = self->in_round > self->most ? self->in_round : self->most;
    self->in_round = 0;
}

//  How many messages of this size, all of which are there, are handed over in one round.
static size_t
s_flood (size_t size)
{
    static const uint8_t bytes [FLOOD_SIZE];
    flood_t self = { 0 };
    fixture_init (&self.fixture);
    port_t *port = self.fixture.port;
    port->user = (port_user_t){ .on_alarm = fixture_on_alarm, .on_turn_end = s_on_flood_turn, .arg = &self };
    socket_options_t options = { .kind = SOCKET_ROUTER, .on_message = s_on_flood, .arg = &self };
    port_socket_t *router = port->table->socket_open (port, &options, NULL);
    port_socket_t *dealer = port->table->socket_open (port, &(socket_options_t){ .kind = SOCKET_DEALER }, NULL);
    assert_int_equal (port->table->socket_bind (router, "inproc://flood", NULL), STATUS_OK);
    assert_int_equal (port->table->socket_connect (dealer, "inproc://flood", NULL), STATUS_OK);
    span_t frame = span_of (bytes, size);
    for (size_t i = 0; i < FLOOD; i++)
        assert_int_equal (port->table->socket_send (dealer, &frame, 1), STATUS_OK);
    fixture_run (&self.fixture);
    s_on_flood_turn (&self);
    port->table->socket_close (dealer);
    port->table->socket_close (router);
    fixture_fini (&self.fixture);
    return self.most;
}

//  By number, and by size where they are larger, so that whatever else is ready gets its turn.  A socket may be looked at
//  twice in a round: because libzmq says so, and because the last look left something.
static void
test_a_flood_is_taken_in_shares (void **state)
{
    assert_in_range (s_flood (1), 1, 2 * 256);
    assert_in_range (s_flood (FLOOD_SIZE), 1, 2 * (64 << 10) / FLOOD_SIZE);
}

//  ---- Endpoints that cannot be bound --------------------------------------------------------------------------------

static void
s_expect_refusal (fixture_t *fixture, const char *endpoint, status_t status, const char *sentence)
{
    inbox_t inbox = { 0 };
    port_socket_t *socket = s_open (fixture, SOCKET_ROUTER, &inbox);
    error_t error = { 0 };
    assert_int_equal (fixture->port->table->socket_bind (socket, endpoint, &error), status);
    if (!strstr (error.text, sentence))
        fail_msg ("\"%s\" does not say \"%s\"", error.text, sentence);
    fixture->port->table->socket_close (socket);
}

static void
test_a_taken_port_names_its_occupant (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    inbox_t inbox = { 0 };
    port_socket_t *occupant = s_open (&fixture, SOCKET_ROUTER, &inbox);
    assert_int_equal (fixture.port->table->socket_bind (occupant, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    s_expect_refusal (
        &fixture, fixture.port->table->socket_endpoint (occupant), STATUS_EXISTS, "the port is held by this process");
    fixture.port->table->socket_close (occupant);
    fixture_fini (&fixture);
}

//  The child: listens, says where, and waits to be killed.
static int
s_listen_for_ever (void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int fd = socket (AF_INET, SOCK_STREAM, 0);
    if (bind (fd, (struct sockaddr *)&address, size) != 0 || listen (fd, 1) != 0)
        return 1;
    getsockname (fd, (struct sockaddr *)&address, &size);
    printf ("tcp://127.0.0.1:%d\n", ntohs (address.sin_port));
    fflush (stdout);
    pause ();
    return 0;
}

static const char *s_program;

static void
test_a_port_taken_by_another_process_names_it (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    const char *argv [] = { s_program, "listen", NULL };
    process_options_t options = { .argv = argv, .output = "output" };
    port_process_t *other = table->process_start (fixture.port, &options, NULL);
    assert_non_null (other);
    buffer_t endpoint = { 0 };
    while (!endpoint.size || endpoint.data [endpoint.size - 1] != '\n') {
        fixture_run_for (&fixture, MILLISECOND);
        buffer_clear (&endpoint);
        table->file_read (fixture.port, "output", 100, &endpoint, NULL);
    }
    endpoint.size--;
    char sentence [80];
    snprintf (sentence, sizeof sentence, "held by runtime_port_zm (pid %lld)", (long long)table->process_id (other));
    s_expect_refusal (&fixture, buffer_string (&endpoint), STATUS_EXISTS, sentence);
    buffer_fini (&endpoint);
    table->process_close (other);
    fixture_fini (&fixture);
}

static void
test_endpoints_that_are_none_are_refused (void **state)
{
    static const struct {
        const char *endpoint;    //  To bind
        status_t status;         //  Expected
        const char *sentence;    //  Part of it
    } cases [] = {
        { "", STATUS_INVALID, "Invalid argument" },
        { "tcp://", STATUS_INVALID, "Invalid argument" },
        { "tcp://127.0.0.1", STATUS_INVALID, "Invalid argument" },
        { "tcp://127.0.0.1:70000", STATUS_INVALID, "a port is at most 65535" },
        { "smoke://signals", STATUS_INVALID, "not supported" },
        { "tcp://203.0.113.7:0", STATUS_REFUSED, "needs keys" },
        { "ipc:///nowhere/at/all", STATUS_NOT_FOUND, "No such file" },
        { "ipc:///tmp", STATUS_EXISTS, "is not a socket" },
    };
    fixture_t fixture;
    fixture_init (&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        s_expect_refusal (&fixture, cases [i].endpoint, cases [i].status, cases [i].sentence);
    char path [200] = "ipc:///tmp/";
    memset (path + strlen (path), 'x', 150);
    s_expect_refusal (&fixture, path, STATUS_LIMIT, "at most 107 bytes");
    fixture_fini (&fixture);
}

//  A socket file left by a killed process is replaced; one somebody answers on is not, though libzmq would.
static void
test_a_stale_socket_file_is_replaced_and_a_live_one_kept (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf (address.sun_path, sizeof address.sun_path, "%s/left", fixture.folder);
    int fd = socket (AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal (bind (fd, (struct sockaddr *)&address, sizeof address), 0);
    close (fd);

    char endpoint [128];
    snprintf (endpoint, sizeof endpoint, "ipc://%s", address.sun_path);
    inbox_t inbox = { 0 };
    port_socket_t *socket = s_open (&fixture, SOCKET_ROUTER, &inbox);
    assert_int_equal (fixture.port->table->socket_bind (socket, endpoint, NULL), STATUS_OK);
    s_expect_refusal (&fixture, endpoint, STATUS_EXISTS, "is held by this process");
    fixture.port->table->socket_close (socket);
    fixture_fini (&fixture);
}

//  The first byte that a bound socket says to whoever connects; -1 where it hangs up instead.
static int
s_greeting (int fd, const struct sockaddr *address, socklen_t size)
{
    uint8_t byte;
    assert_int_equal (connect (fd, address, size), 0);
    ssize_t count = read (fd, &byte, 1);
    close (fd);
    return count == 1 ? byte : -1;
}

static void
s_turn_away_and_greet (const struct sockaddr *address, socklen_t size)
{
    int first = socket (address->sa_family, SOCK_STREAM, 0), second = socket (address->sa_family, SOCK_STREAM, 0);
    int next = dup (first);
    struct rlimit before, none;
    getrlimit (RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = (rlim_t)next;
    close (next);
    uint64_t turned_away = reserve_turned_away ();
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &none), 0);
    assert_int_equal (s_greeting (first, address, size), -1);
    first = dup (second);    //  What it left is taken
    assert_int_equal (s_greeting (second, address, size), -1);
    close (first);
    assert_int_equal (reserve_turned_away (), turned_away + 2);
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &before), 0);
    assert_int_equal (s_greeting (socket (address->sa_family, SOCK_STREAM, 0), address, size), 0xff);
}

//  libzmq alone ends the process where an ipc listener finds no descriptor left.
static void
test_ipc_peers_without_a_descriptor_are_turned_away (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    struct sockaddr_un path = { .sun_family = AF_UNIX };
    char endpoint [128];
    snprintf (path.sun_path, sizeof path.sun_path, "%s/full", fixture.folder);
    snprintf (endpoint, sizeof endpoint, "ipc://%s", path.sun_path);
    inbox_t inbox = { 0 };
    port_socket_t *socket = s_open (&fixture, SOCKET_ROUTER, &inbox);
    assert_int_equal (fixture.port->table->socket_bind (socket, endpoint, NULL), STATUS_OK);
    s_turn_away_and_greet ((struct sockaddr *)&path, sizeof path);
    fixture.port->table->socket_close (socket);
    fixture_fini (&fixture);
}

//  libzmq alone is busy for nothing where a tcp listener finds no descriptor left.
static void
test_tcp_peers_without_a_descriptor_are_turned_away (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    inbox_t inbox = { 0 };
    const port_table_t *table = fixture.port->table;
    port_socket_t *socket = s_open (&fixture, SOCKET_ROUTER, &inbox);
    assert_int_equal (table->socket_bind (socket, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    const char *port = strrchr (table->socket_endpoint (socket), ':') + 1;
    struct sockaddr_in place = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
        .sin_port = htons ((uint16_t)strtoul (port, NULL, 10)) };
    s_turn_away_and_greet ((struct sockaddr *)&place, sizeof place);
    table->socket_close (socket);
    fixture_fini (&fixture);
}

int
main (int argc, char **argv)
{
    if (argc == 2)
        return s_listen_for_ever ();
    s_program = argv [0];
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_bursts_and_a_timer_do_not_stall_over_inproc),
        cmocka_unit_test (test_bursts_and_a_timer_do_not_stall_over_tcp),
        cmocka_unit_test (test_bursts_and_a_timer_do_not_stall_over_ipc),
        cmocka_unit_test (test_a_router_says_that_a_peer_is_not_there),
        cmocka_unit_test (test_a_full_queue_says_again_and_sends_nothing),
        cmocka_unit_test (test_a_peer_that_fills_the_queue_and_leaves_ends_nobody),
        cmocka_unit_test (test_a_subscription_as_large_as_a_message_is_hung_up_on),
        cmocka_unit_test (test_a_message_that_is_too_large_is_not_sent),
        cmocka_unit_test (test_subscriptions_filter_by_prefix_and_reach_the_publisher),
        cmocka_unit_test (test_a_follower_that_is_too_far_behind_is_noticed),
        cmocka_unit_test (test_too_many_frames_or_bytes_are_dropped_and_counted),
        cmocka_unit_test (test_a_socket_closed_by_its_own_callback_hears_nothing_more),
        cmocka_unit_test (test_a_flood_is_taken_in_shares),
        cmocka_unit_test (test_a_taken_port_names_its_occupant),
        cmocka_unit_test (test_a_port_taken_by_another_process_names_it),
        cmocka_unit_test (test_endpoints_that_are_none_are_refused),
        cmocka_unit_test (test_a_stale_socket_file_is_replaced_and_a_live_one_kept),
        cmocka_unit_test (test_ipc_peers_without_a_descriptor_are_turned_away),
        cmocka_unit_test (test_tcp_peers_without_a_descriptor_are_turned_away),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
