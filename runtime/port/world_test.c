#include "runtime/port/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/resource.h>

//  A shell allows 1,024, a listener 20,000 connections.
static void
test_a_process_takes_all_descriptors_it_may_have (void **state)
{
    struct rlimit before, few, now;
    assert_int_equal (getrlimit (RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 128;
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &few), 0);
    world_t *world = world_new (NULL, NULL);
    assert_int_equal (getrlimit (RLIMIT_NOFILE, &now), 0);
    assert_int_equal (now.rlim_cur, before.rlim_max);
    world_destroy (&world);
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &before), 0);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_process_takes_all_descriptors_it_may_have),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
