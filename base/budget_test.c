//  How much memory load may take.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/budget.h"

static void
test_what_does_not_fit_is_refused_counted_and_takes_nothing (void **state)
{
    budget_t budget;
    error_t error;
    budget_init (&budget, "bodies", 100);
    assert_int_equal (budget_take (&budget, 60, &error), STATUS_OK);
    assert_int_equal (budget_take (&budget, 41, &error), STATUS_LIMIT);
    assert_string_equal (error.text, "bodies: 41 bytes do not fit, 60 of 100 are in use");
    assert_int_equal (budget_take (&budget, UINT64_MAX, NULL), STATUS_LIMIT);
    assert_int_equal (budget.used, 60);
    assert_int_equal (budget.refused, 2);

    assert_int_equal (budget_take (&budget, 40, &error), STATUS_OK);
    budget_give (&budget, 100);
    assert_int_equal (budget.used, 0);
    assert_int_equal (budget.peak, 100);
    assert_int_equal (budget_take (&budget, 100, &error), STATUS_OK);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_does_not_fit_is_refused_counted_and_takes_nothing),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
