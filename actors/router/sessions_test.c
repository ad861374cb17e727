//  Where sessions were last, against a bound.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "actors/router/sessions.h"

static void
s_is_at (const sessions_t *sessions, const char *session, const char *worker, uint16_t expected)
{
    uint16_t rank = 0;
    assert_true (span_equal_string (sessions_get (sessions, span_from_string (session), &rank), worker));
    assert_int_equal (rank, expected);
}

static void
s_put (sessions_t *sessions, const char *session, const char *worker, uint16_t rank)
{
    sessions_put (sessions, span_from_string (session), span_from_string (worker), rank);
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
    assert_int_equal (sessions_count (sessions), 2);
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
    assert_int_equal (sessions_count (sessions), 2);
    s_is_at (sessions, "b", "", 0);
    s_is_at (sessions, "a", "worker/0", 0);
    s_is_at (sessions, "c", "worker/2", 0);
    sessions_destroy (&sessions);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_session_is_where_it_was_put_last),
        cmocka_unit_test (test_the_one_quiet_longest_is_forgotten_first),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
