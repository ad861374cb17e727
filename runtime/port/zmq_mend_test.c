//  The file of a bound path is removed by somebody: it is bound again.

#include <fcntl.h>
#include <sys/stat.h>
#include <zmq.h>

#include "runtime/port/port_fixture.h"

typedef struct {
    fixture_t *fixture;    //  Whose port is stopped when `wanted` have come
    size_t count;          //  Messages that came
    size_t wanted;         //  Stop at so many
} inbox_t;

static void
s_count (void *arg, const span_t *frames, size_t count)
{
    inbox_t *self = arg;
    if (++self->count == self->wanted)
        real_port_stop (self->fixture->port);
}

static bool
s_mend (const port_table_t *table, port_socket_t *socket)
{
    bool mended;
    assert_int_equal (table->socket_mend (socket, &mended, NULL), STATUS_OK);
    return mended;
}

static size_t
s_open_descriptors (void)
{
    size_t count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl (fd, F_GETFD) >= 0;
    return count;
}

//  Sends a byte and waits until it is there.
static void
s_speak (fixture_t *fixture, inbox_t *inbox, port_socket_t *dealer)
{
    inbox->wanted = inbox->count + 1;
    assert_int_equal (fixture->port->table->socket_send (dealer, (span_t []){ SPAN ("x") }, 1), STATUS_OK);
    fixture_run (fixture);
    assert_int_equal (inbox->count, inbox->wanted);
}

static port_socket_t *
s_dial (fixture_t *fixture, const char *endpoint)
{
    const port_table_t *table = fixture->port->table;
    port_socket_t *dealer = table->socket_open (fixture->port, &(socket_options_t){ .kind = SOCKET_DEALER }, NULL);
    assert_int_equal (table->socket_connect (dealer, endpoint, NULL), STATUS_OK);
    return dealer;
}

//  Those who are connected do not notice, and those who come find the new one.  What it takes has a bound.
static void
test_a_path_whose_file_was_removed_is_bound_again (void **state)
{
    enum { LOSSES = 200, DESCRIPTORS_MAX = 150 };
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    inbox_t inbox = { .fixture = &fixture };
    socket_options_t options = { .kind = SOCKET_ROUTER, .on_message = s_count, .arg = &inbox };
    port_socket_t *router = table->socket_open (fixture.port, &options, NULL);
    char path [FIXTURE_PATH_MAX + 8], endpoint [sizeof path + 8];
    snprintf (path, sizeof path, "%s/lost", fixture.folder);
    snprintf (endpoint, sizeof endpoint, "ipc://%s", path);
    assert_int_equal (table->socket_bind (router, endpoint, NULL), STATUS_OK);
    assert_int_equal (table->socket_bind (router, "tcp://127.0.0.1:*", NULL), STATUS_OK);
    port_socket_t *before = s_dial (&fixture, endpoint);
    s_speak (&fixture, &inbox, before);
    assert_false (s_mend (table, router));
    assert_int_equal (unlink (path), 0);
    assert_true (s_mend (table, router));
    assert_false (s_mend (table, router));
    assert_memory_equal (table->socket_endpoint (router), "tcp://", 6);
    port_socket_t *behind = s_dial (&fixture, endpoint);
    s_speak (&fixture, &inbox, behind);
    s_speak (&fixture, &inbox, before);
    table->socket_close (behind);
    table->socket_close (before);
    for (int i = 0; i < LOSSES; i++) {
        assert_int_equal (unlink (path), 0);
        assert_true (s_mend (table, router));
    }
    while (s_open_descriptors () > DESCRIPTORS_MAX)    //  The library closes them on a thread of its own
        zmq_poll (NULL, 0, 1);
    behind = s_dial (&fixture, endpoint);
    s_speak (&fixture, &inbox, behind);
    table->socket_close (behind);
    table->socket_close (router);
    fixture_fini (&fixture);
}

//  Somebody else's file is left alone, and what is wrong is said once.
static void
test_a_path_that_somebody_else_took_is_told_once (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    port_socket_t *router = table->socket_open (fixture.port, &(socket_options_t){ .kind = SOCKET_ROUTER }, NULL);
    char path [FIXTURE_PATH_MAX + 8], endpoint [sizeof path + 8];
    bool mended;
    error_t error;
    snprintf (path, sizeof path, "%s/lost", fixture.folder);
    snprintf (endpoint, sizeof endpoint, "ipc://%s", path);
    assert_int_equal (table->socket_bind (router, endpoint, NULL), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal (unlink (path), 0);
        assert_int_equal (mkdir (path, 0700), 0);
        assert_int_equal (table->socket_mend (router, &mended, &error), STATUS_EXISTS);
        assert_non_null (strstr (error.text, "is there and is not a socket"));
        assert_false (s_mend (table, router));
        assert_int_equal (rmdir (path), 0);
        assert_true (s_mend (table, router));
    }
    table->socket_close (router);
    fixture_fini (&fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_path_whose_file_was_removed_is_bound_again),
        cmocka_unit_test (test_a_path_that_somebody_else_took_is_told_once),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
