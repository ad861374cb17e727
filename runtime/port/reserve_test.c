#include "runtime/port/reserve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/port/loop.h"

//  As libraries call it; accept4(2).
int accept4 (int listener, struct sockaddr *address, socklen_t *size, int flags);

enum { TRIES = 20, PAUSE_NS = 1000000 };

//  A listener with a peer in its queue; the peer through *peer.
static int
s_listen (int *peer)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket (AF_INET, SOCK_STREAM, 0);
    assert_int_equal (bind (listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal (listen (listener, 1), 0);
    assert_int_equal (getsockname (listener, (struct sockaddr *)&address, &size), 0);
    *peer = socket (AF_INET, SOCK_STREAM, 0);
    assert_int_equal (connect (*peer, (struct sockaddr *)&address, size), 0);
    return listener;
}

//  No descriptor of this number or above; returns the limits before.
static struct rlimit
s_allow (rlim_t number)
{
    struct rlimit before, now;
    getrlimit (RLIMIT_NOFILE, &before);
    now = before;
    now.rlim_cur = number;
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &now), 0);
    return before;
}

//  As if others took each descriptor at once, the one that was kept back too: the peer stays in the queue, and a loop is told
//  of it again and again.  It must not spin.
static void
test_a_peer_that_cannot_be_turned_away_is_no_work_for_a_core (void **state)
{
    int peer, listener = s_listen (&peer);
    reserve_keep ();
    struct rlimit before = s_allow (0);
    uint64_t turned_away = reserve_turned_away (), began_ns = loop_now_ns ();
    for (int i = 0; i < TRIES; i++) {
        assert_int_equal (accept4 (listener, NULL, NULL, 0), -1);
        assert_int_equal (errno, ENFILE);
    }
    assert_true (loop_now_ns () - began_ns >= (uint64_t)TRIES * PAUSE_NS);
    assert_int_equal (reserve_turned_away (), turned_away);
    setrlimit (RLIMIT_NOFILE, &before);
    close (peer);
    close (listener);
}

//  What was lost is taken again as soon as it may be had.
static void
test_a_lost_reserve_is_found_again (void **state)
{
    int peer, listener = s_listen (&peer);
    struct rlimit before = s_allow (0);
    assert_int_equal (accept4 (listener, NULL, NULL, 0), -1);
    setrlimit (RLIMIT_NOFILE, &before);
    reserve_keep ();
    int free_number = dup (listener);
    close (free_number);
    s_allow ((rlim_t)free_number);
    uint64_t turned_away = reserve_turned_away ();
    assert_int_equal (accept4 (listener, NULL, NULL, 0), -1);
    assert_int_equal (errno, ECONNABORTED);
    assert_int_equal (reserve_turned_away (), turned_away + 1);
    setrlimit (RLIMIT_NOFILE, &before);
    close (peer);
    close (listener);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_peer_that_cannot_be_turned_away_is_no_work_for_a_core),
        cmocka_unit_test (test_a_lost_reserve_is_found_again),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
