//  Somebody sends more than can be handled: what is large is shed until nothing waits any more.

#include <zmq.h>

#include "runtime/port/loop.h"
#include "runtime/port/port_fixture.h"

enum { LARGE = 8 << 20, MESSAGES = 40, WORK_MS = 1100 };

typedef struct {
    fixture_t *fixture;    //  Whose port is stopped when `wanted` have come
    size_t work;           //  The message whose handling takes long
    size_t wanted;         //  Stop at so many
    size_t count;          //  Messages that came
    size_t large;          //  Of these, large ones
    size_t shed;           //  Others
} inbox_t;

static void
s_note (inbox_t *self)
{
    if (self->count + self->shed == self->wanted)
        real_port_stop (self->fixture->port);
}

//  It waits where others work.
static void
s_on_message (void *arg, const span_t *frames, size_t count)
{
    inbox_t *self = arg;
    self->count++;
    self->large += frames [count - 1].size == LARGE;
    uint64_t until_ns = self->count == self->work ? loop_now_ns () + (uint64_t)WORK_MS * MILLISECOND : 0;
    while (loop_now_ns () < until_ns)
        zmq_poll (NULL, 0, WORK_MS);
    s_note (self);
}

static void
s_on_shed (void *arg, const span_t *frames, size_t count)
{
    inbox_t *self = arg;
    assert_int_equal (count, 2);
    assert_int_equal (frames [1].size, LARGE);
    self->shed++;
    s_note (self);
}

static void
s_keep (void *data, void *hint)
{
}

//  All of it lies in the queue when this returns.
static void
s_send (void *dealer, size_t size, size_t count)
{
    static uint8_t bytes [LARGE];
    while (count--) {
        zmq_msg_t message;
        assert_int_equal (zmq_msg_init_data (&message, bytes, size, s_keep, NULL), 0);
        assert_int_equal (zmq_msg_send (&message, dealer, ZMQ_DONTWAIT), size);
    }
}

static void
s_wait (inbox_t *self, size_t more)
{
    self->wanted += more;
    fixture_run (self->fixture);
}

static void
test_a_socket_that_is_far_behind_sheds_what_is_large (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .fixture = &fixture, .work = 2 };
    socket_options_t options = {
        .kind = SOCKET_ROUTER, .on_message = s_on_message, .on_shed = s_on_shed, .arg = &inbox
    };
    port_socket_t *router = table->socket_open (fixture.port, &options, NULL);
    assert_int_equal (table->socket_bind (router, "inproc://shed", NULL), STATUS_OK);
    void *dealer = zmq_socket (world_zmq (fixture.world), ZMQ_DEALER);
    int none = 0;
    zmq_setsockopt (dealer, ZMQ_LINGER, &none, sizeof none);
    assert_int_equal (zmq_connect (dealer, "inproc://shed"), 0);

    s_send (dealer, LARGE, MESSAGES);
    s_send (dealer, 100, 1);
    s_wait (&inbox, MESSAGES + 1);
    assert_in_range (inbox.shed, 1, MESSAGES - 32);    //  Of more than 256 MiB
    assert_int_equal (inbox.count - inbox.large, 1);

    size_t shed = inbox.shed, large = inbox.large;    //  Nothing waits now
    s_send (dealer, LARGE, 1);
    s_wait (&inbox, 1);
    assert_int_equal (inbox.shed, shed);
    assert_int_equal (inbox.large, large + 1);
    zmq_close (dealer);
    table->socket_close (router);
    fixture_fini (&fixture);
}

//  A long time alone, or many bytes alone, are no reason.
static void
test_whoever_catches_up_sheds_nothing (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .fixture = &fixture, .work = MESSAGES };
    socket_options_t options = {
        .kind = SOCKET_ROUTER, .on_message = s_on_message, .on_shed = s_on_shed, .arg = &inbox
    };
    port_socket_t *router = table->socket_open (fixture.port, &options, NULL);
    assert_int_equal (table->socket_bind (router, "inproc://caught-up", NULL), STATUS_OK);
    void *dealer = zmq_socket (world_zmq (fixture.world), ZMQ_DEALER);
    assert_int_equal (zmq_connect (dealer, "inproc://caught-up"), 0);
    for (int i = 0; i < 3; i++) {
        s_send (dealer, LARGE, MESSAGES / 2);
        s_send (dealer, 100, 1);
        s_wait (&inbox, MESSAGES / 2 + 1);
    }
    assert_int_equal (inbox.shed, 0);
    zmq_close (dealer);
    table->socket_close (router);
    fixture_fini (&fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_socket_that_is_far_behind_sheds_what_is_large),
        cmocka_unit_test (test_whoever_catches_up_sheds_nothing),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
