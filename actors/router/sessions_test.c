//  Where sessions were last, against a bound.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "actors/router/sessions.h"
#include "schemas/event_header.h"

static const uint64_t MINUTE = (uint64_t)60 * 1000000000;

static void
s_is_at (const sessions_t *sessions, const char *session, const char *worker, uint16_t expected)
{
    session_place_t place = sessions_get (sessions, span_from_string (session));
    assert_true (span_equal_string (place.worker, worker));
    assert_int_equal (place.rank, expected);
}

static void
s_put (sessions_t *sessions, const char *session, const char *worker, uint16_t rank)
{
    sessions_put (sessions, span_from_string (session), span_from_string (worker), rank, 10, 0);
}

static uint64_t
s_live (const sessions_t *sessions, const char *worker)
{
    return sessions_live_blocks (sessions, event_source (span_from_string (worker)), 0);
}

static void
test_a_session_is_where_it_was_put_last (void **state)
{
    sessions_t *sessions = sessions_new (10, 1);
    s_is_at (sessions, "a", "", 0);
    s_put (sessions, "a", "worker/0", 1);
    s_put (sessions, "b", "worker/1", 0);
    s_is_at (sessions, "a", "worker/0", 1);
    s_put (sessions, "a", "worker/12", 2);
    s_is_at (sessions, "a", "worker/12", 2);
    s_is_at (sessions, "b", "worker/1", 0);
    assert_int_equal (sessions_forgotten (sessions), 0);
    sessions_destroy (&sessions);
}

static void
test_the_one_quiet_longest_is_forgotten_first (void **state)
{
    sessions_t *sessions = sessions_new (2, 1);
    s_put (sessions, "a", "worker/0", 0);
    s_put (sessions, "b", "worker/1", 0);
    s_put (sessions, "a", "worker/0", 0);
    s_put (sessions, "c", "worker/2", 0);
    assert_int_equal (sessions_forgotten (sessions), 1);
    s_is_at (sessions, "b", "", 0);
    s_is_at (sessions, "a", "worker/0", 0);
    s_is_at (sessions, "c", "worker/2", 0);
    sessions_destroy (&sessions);
}

//  Its last prompt counts where that was served, and nowhere else.
static void
test_live_sessions_want_room_where_they_were_last (void **state)
{
    sessions_t *sessions = sessions_new (2, 1);
    sessions_put (sessions, SPAN ("a"), SPAN ("worker/0"), 0, 10, 0);
    sessions_put (sessions, SPAN ("b"), SPAN ("worker/0"), 0, 5, 0);
    sessions_put (sessions, SPAN ("a"), SPAN ("worker/0"), 0, 12, 0);
    assert_int_equal (s_live (sessions, "worker/0"), 17);
    assert_int_equal (sessions_live_blocks (sessions, event_source (SPAN ("worker/0")), 1), 0);
    sessions_put (sessions, SPAN ("a"), SPAN ("worker/1"), 0, 14, 0);
    assert_int_equal (s_live (sessions, "worker/0"), 5);
    assert_int_equal (s_live (sessions, "worker/1"), 14);
    sessions_put (sessions, SPAN ("c"), SPAN ("worker/1"), 0, 1, 0);    //  There was no place left for b
    assert_int_equal (s_live (sessions, "worker/0"), 0);
    assert_int_equal (s_live (sessions, "worker/1"), 15);
    sessions_destroy (&sessions);
}

//  It is still known where it was.
static void
test_a_session_quiet_for_five_minutes_wants_no_room (void **state)
{
    sessions_t *sessions = sessions_new (10, 1);
    sessions_put (sessions, SPAN ("a"), SPAN ("worker/0"), 0, 10, 0);
    sessions_put (sessions, SPAN ("b"), SPAN ("worker/0"), 0, 5, 3 * MINUTE);
    sessions_expire (sessions, 5 * MINUTE);
    assert_int_equal (s_live (sessions, "worker/0"), 15);
    sessions_expire (sessions, 5 * MINUTE + 1);
    assert_int_equal (s_live (sessions, "worker/0"), 5);
    s_is_at (sessions, "a", "worker/0", 0);
    assert_int_equal (sessions_get (sessions, SPAN ("a")).blocks, 0);
    assert_int_equal (sessions_get (sessions, SPAN ("b")).blocks, 5);
    sessions_put (sessions, SPAN ("a"), SPAN ("worker/0"), 0, 7, 6 * MINUTE);
    assert_int_equal (s_live (sessions, "worker/0"), 12);
    sessions_destroy (&sessions);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_session_is_where_it_was_put_last),
        cmocka_unit_test (test_the_one_quiet_longest_is_forgotten_first),
        cmocka_unit_test (test_live_sessions_want_room_where_they_were_last),
        cmocka_unit_test (test_a_session_quiet_for_five_minutes_wants_no_room),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
