#include "runtime/port/world.h"

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
    world_trim ();
    assert_true (s_pages () - before < kept / 4);
    free (pieces [PIECES - 1]);
}

#endif

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_process_takes_all_descriptors_it_may_have),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test (test_what_was_freed_is_given_back),
#endif
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
