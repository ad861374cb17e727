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

//  A ROUTER, and a peer of it that keeps nothing when it is closed.
typedef struct {
    fixture_t fixture;
    inbox_t inbox;
    port_socket_t *router;
    void *dealer;
} scene_t;

static void
s_begin (scene_t *self, size_t work, socket_shed_fn *on_shed)
{
    int none = 0;
    fixture_init (&self->fixture);
    self->inbox = (inbox_t){ .fixture = &self->fixture, .work = work };
    socket_options_t options = {
        .kind = SOCKET_ROUTER, .on_message = s_on_message, .on_shed = on_shed, .arg = &self->inbox
    };
    const port_table_t *table = self->fixture.port->table;
    self->router = table->socket_open (self->fixture.port, &options, NULL);
    assert_int_equal (table->socket_bind (self->router, "inproc://shed", NULL), STATUS_OK);
    self->dealer = zmq_socket (world_zmq (self->fixture.world), ZMQ_DEALER);
    zmq_setsockopt (self->dealer, ZMQ_LINGER, &none, sizeof none);
    assert_int_equal (zmq_connect (self->dealer, "inproc://shed"), 0);
}

static void
s_end (scene_t *self)
{
    zmq_close (self->dealer);
    self->fixture.port->table->socket_close (self->router);
    fixture_fini (&self->fixture);
}

//  Large ones and a short one.
static void
s_exchange (scene_t *self, size_t large)
{
    s_send (self->dealer, LARGE, large);
    s_send (self->dealer, 100, 1);
    s_wait (&self->inbox, large + 1);
}

static void
test_a_socket_that_is_far_behind_sheds_what_is_large (void **state)
{
    scene_t scene;
    const inbox_t *inbox = &scene.inbox;
    s_begin (&scene, 2, s_on_shed);
    s_exchange (&scene, MESSAGES);
    assert_in_range (inbox->shed, 1, MESSAGES - 32);    //  Of more than 256 MiB
    assert_int_equal (inbox->count - inbox->large, 1);

    size_t shed = inbox->shed, large = inbox->large;
    s_exchange (&scene, 1);    //  Nothing waited
    assert_int_equal (inbox->shed, shed);
    assert_int_equal (inbox->large, large + 1);
    s_end (&scene);
}

//  A long time alone, or many bytes alone, are no reason.
static void
test_whoever_catches_up_sheds_nothing (void **state)
{
    scene_t scene;
    s_begin (&scene, MESSAGES, s_on_shed);
    for (int i = 0; i < 3; i++)
        s_exchange (&scene, MESSAGES / 2);
    assert_int_equal (scene.inbox.shed, 0);
    s_end (&scene);
}

//  What was asked for is taken, however far behind its reader is.
static void
test_a_socket_that_does_not_say_so_sheds_nothing (void **state)
{
    scene_t scene;
    s_begin (&scene, 2, NULL);
    s_exchange (&scene, MESSAGES);
    assert_int_equal (scene.inbox.large, MESSAGES);
    s_end (&scene);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_socket_that_is_far_behind_sheds_what_is_large),
        cmocka_unit_test (test_whoever_catches_up_sheds_nothing),
        cmocka_unit_test (test_a_socket_that_does_not_say_so_sheds_nothing),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
