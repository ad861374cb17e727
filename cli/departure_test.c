//  Who of a process is asked to finish, and when it has ended.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/departure.h"

static departure_t s_departure;

//  A frontend twice, a router, an indexer.
static int
s_set_up (void **state)
{
    static const unsigned phases [] = { 0, 1, 0, 2 };
    departure_init (&s_departure);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        departure_add (&s_departure, phases [i]);
    return 0;
}

static int
s_tear_down (void **state)
{
    departure_fini (&s_departure);
    return 0;
}

//  These are asked now, bit by position, and nobody else.
static void
s_expect (unsigned expected)
{
    unsigned asked = 0;
    for (size_t position; departure_next (&s_departure, &position);) {
        assert_false (asked & 1u << position);
        asked |= 1u << position;
    }
    assert_int_equal (asked, expected);
}

static void
s_drained (size_t position, unsigned expected)
{
    departure_note_drained (&s_departure, position);
    s_expect (expected);
}

static void
test_nobody_is_asked_before_the_process_is (void **state)
{
    s_expect (0);
    assert_false (departure_is_over (&s_departure));
}

static void
test_a_phase_begins_when_all_of_the_one_before_have_drained (void **state)
{
    assert_true (departure_ask (&s_departure));
    s_expect (1 << 0 | 1 << 2);
    s_drained (2, 0);
    s_drained (2, 0);    //  Once more is no news
    s_drained (0, 1 << 1);
    s_drained (1, 1 << 3);
    assert_false (departure_is_over (&s_departure));
    s_drained (3, 0);
    assert_true (departure_is_over (&s_departure));
}

static void
test_the_second_time_it_is_to_end_at_once (void **state)
{
    assert_true (departure_ask (&s_departure));
    assert_false (departure_ask (&s_departure));
}

//  A router that was called to drain, or that somebody newer has replaced: its host starts nothing before all have ended.
static void
test_who_drains_unasked_takes_the_others_along (void **state)
{
    s_drained (1, 1 << 0 | 1 << 2);
    assert_true (departure_ask (&s_departure));    //  Nobody had asked the process
    s_drained (0, 0);
    s_drained (2, 1 << 3);
    s_drained (3, 0);
    assert_true (departure_is_over (&s_departure));
}

static void
test_an_empty_process_has_ended (void **state)
{
    departure_t nobody;
    departure_init (&nobody);
    assert_true (departure_is_over (&nobody));
    departure_fini (&nobody);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_nobody_is_asked_before_the_process_is, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_phase_begins_when_all_of_the_one_before_have_drained, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_the_second_time_it_is_to_end_at_once, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_who_drains_unasked_takes_the_others_along, s_set_up, s_tear_down),
        cmocka_unit_test (test_an_empty_process_has_ended),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
