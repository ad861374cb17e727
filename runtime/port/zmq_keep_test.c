//  Large frames that go from hand to hand: nobody copies them, and whoever is last lets them go.

#include "runtime/port/port_fixture.h"

enum { LARGE = SOCKET_KEEP_MIN };

static const uint8_t *s_let_go;    //  What was let go last; on libzmq's thread or ours
static int s_releases;             //  How often

static void
s_release (void *owner)
{
    __atomic_store_n (&s_let_go, owner, __ATOMIC_RELEASE);
    __atomic_add_fetch (&s_releases, 1, __ATOMIC_RELEASE);
    free (owner);
}

static int
s_released (void)
{
    return __atomic_load_n (&s_releases, __ATOMIC_ACQUIRE);
}

//  Keeps what comes, and stops.
typedef struct {
    fixture_t *fixture;       //  Whose port is stopped
    port_socket_t *socket;    //  That hears it
    span_t frame;             //  The last frame of what came
    keeper_t keeper;          //  Of it
} keeping_t;

static void
s_on_kept (void *arg, const span_t *frames, size_t count)
{
    keeping_t *self = arg;
    self->frame = frames [count - 1];
    self->keeper = self->fixture->port->table->socket_keep (self->socket, &frames [count - 1]);
    real_port_stop (self->fixture->port);
}

static port_socket_t *
s_open_keeping (fixture_t *fixture, socket_kind_t kind, keeping_t *keeping)
{
    socket_options_t options = { .kind = kind, .on_message = s_on_kept, .arg = keeping };
    *keeping = (keeping_t){ .fixture = fixture };
    return keeping->socket = fixture->port->table->socket_open (fixture->port, &options, NULL);
}

//  Within a process even libzmq copies nothing.
static void
test_a_large_frame_goes_from_hand_to_hand_uncopied (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    keeping_t router, dealer;
    const port_table_t *table = fixture.port->table;
    s_open_keeping (&fixture, SOCKET_ROUTER, &router);
    s_open_keeping (&fixture, SOCKET_DEALER, &dealer);
    assert_int_equal (table->socket_bind (router.socket, "inproc://hands", NULL), STATUS_OK);
    assert_int_equal (table->socket_connect (dealer.socket, "inproc://hands", NULL), STATUS_OK);
    uint8_t *bytes = malloc (LARGE);
    memset (bytes, 7, LARGE);
    keeper_t keeper = { s_release, bytes };
    span_t frames [] = { SPAN (""), span_of (bytes, LARGE) };
    __atomic_store_n (&s_releases, 0, __ATOMIC_RELEASE);
    assert_int_equal (table->socket_send_kept (dealer.socket, frames, 2, &keeper), STATUS_OK);
    assert_null (keeper.release);
    fixture_run (&fixture);
    table->socket_close (router.socket);
    table->socket_close (dealer.socket);

    assert_ptr_equal (router.frame.data, bytes);
    assert_int_equal (router.frame.data [LARGE - 1], 7);
    assert_int_equal (s_released (), 0);
    keeper_release (&router.keeper);
    keeper_release (&router.keeper);
    assert_int_equal (s_released (), 1);
    assert_ptr_equal (__atomic_load_n (&s_let_go, __ATOMIC_ACQUIRE), bytes);
    fixture_fini (&fixture);
}

//  Too large, to nobody, to somebody who is far behind: it is let go all the same, and once.
static void
test_what_is_not_sent_is_let_go (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    socket_options_t bounded = { .kind = SOCKET_ROUTER, .message_max = 1000 };
    socket_options_t brief = { .kind = SOCKET_DEALER, .send_queue = 1 };
    port_socket_t *router = table->socket_open (fixture.port, &bounded, NULL);
    port_socket_t *dealer = table->socket_open (fixture.port, &brief, NULL);
    assert_int_equal (table->socket_bind (router, "inproc://nobody", NULL), STATUS_OK);
    assert_int_equal (table->socket_connect (dealer, "tcp://127.0.0.1:1", NULL), STATUS_OK);
    const struct {
        port_socket_t *socket;    //  Where
        size_t size;              //  Bytes
        status_t status;          //  What comes of it
    } sends [] = {
        { router, 2000, STATUS_LIMIT },
        { router, 10, STATUS_UNREACHABLE },
        { dealer, 10, STATUS_OK },
        { dealer, 10, STATUS_AGAIN },
    };
    __atomic_store_n (&s_releases, 0, __ATOMIC_RELEASE);
    for (size_t i = 0; i < sizeof sends / sizeof *sends; i++) {
        keeper_t keeper = { s_release, malloc (sends [i].size) };
        span_t frames [] = { SPAN ("ghost"), span_of (keeper.owner, sends [i].size) };
        assert_int_equal (table->socket_send_kept (sends [i].socket, frames, 2, &keeper), sends [i].status);
        assert_null (keeper.release);
        assert_int_equal (s_released (), i < 2 ? i + 1 : i == 2 ? 2 : 3);
    }
    table->socket_close (router);
    table->socket_close (dealer);
    fixture_fini (&fixture);
    assert_int_equal (__atomic_load_n (&s_releases, __ATOMIC_ACQUIRE), 4);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_large_frame_goes_from_hand_to_hand_uncopied),
        cmocka_unit_test (test_what_is_not_sent_is_let_go),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
