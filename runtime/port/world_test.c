#include "runtime/port/real_port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

//  What is added up over all actors of a process is not there as often as it has actors.
static void
test_one_port_speaks_for_the_process (void **state)
{
    world_t *world = world_new (NULL, NULL);
    real_port_options_t options = { .world = world, .state_folder = "/tmp", .name = "port" };
    port_t *first = real_port_new (&options, NULL), *second = real_port_new (&options, NULL);
    port_figures_t figures;
    for (int i = 0; i < 2; i++) {
        assert_true (first->table->figures (first, &figures));
        assert_false (second->table->figures (second, &figures));
    }
    real_port_destroy (&first);
    real_port_destroy (&second);
    world_destroy (&world);
}

//  Sanitizers bring an allocator of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

enum { PIECES = 20000, PIECE = 2000 };

//  Resident pages of this process.
static long
s_pages (void)
{
    long size = 0, pages = 0;
    FILE *file = fopen ("/proc/self/statm", "r");
    assert_non_null (file);
    assert_int_equal (fscanf (file, "%ld %ld", &size, &pages), 2);
    fclose (file);
    return pages;
}

//  The last piece stays, so that the others lie in the middle, where an allocator keeps what is free.
static void
test_what_was_freed_is_given_back (void **state)
{
    static void *pieces [PIECES];
    long before = s_pages ();
    for (int i = 0; i < PIECES; i++) {
        pieces [i] = malloc (PIECE);
        memset (pieces [i], 1, PIECE);
    }
    for (int i = 0; i < PIECES - 1; i++)
        free (pieces [i]);
    long kept = s_pages () - before;
    assert_true (kept > PIECES * PIECE / sysconf (_SC_PAGESIZE) / 2);
    assert_true (world_trim () >= 10000000000);
    assert_true (s_pages () - before < kept / 4);
    free (pieces [PIECES - 1]);
}

#endif

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_process_takes_all_descriptors_it_may_have),
        cmocka_unit_test (test_one_port_speaks_for_the_process),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test (test_what_was_freed_is_given_back),
#endif
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
