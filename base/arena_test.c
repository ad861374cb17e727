//  Pieces that are freed together, under a bound.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdalign.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"

//  Pieces of all sizes are aligned, zeroed, and apart: each keeps what was written into it.
static void
test_pieces_do_not_touch_each_other (void **state)
{
    enum { PIECES = 300 };
    static struct {
        uint8_t *at;
        size_t size;
    } pieces [PIECES];
    random_t random;
    random_init (&random, 31);
    arena_t arena;
    arena_init (&arena, SIZE_MAX);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < PIECES; i++) {
            pieces [i].size = random_below (&random, i % 50 ? 200 : 20000) + 1;
            pieces [i].at = arena_new (&arena, pieces [i].size);
            assert_int_equal ((uintptr_t)pieces [i].at % alignof (max_align_t), 0);
            for (size_t j = 0; j < pieces [i].size; j++)
                assert_int_equal (pieces [i].at [j], 0);
            memset (pieces [i].at, (int)(i % 255 + 1), pieces [i].size);
        }
        for (size_t i = 0; i < PIECES; i++)
            for (size_t j = 0; j < pieces [i].size; j++)
                assert_int_equal (pieces [i].at [j], i % 255 + 1);
        arena_clear (&arena);
    }
    arena_fini (&arena);
}

static void
test_the_limit_holds_and_clear_gives_it_back (void **state)
{
    arena_t arena;
    arena_init (&arena, 112);
    assert_non_null (arena_new (&arena, 60));
    assert_null (arena_new (&arena, 49));
    assert_null (arena_new (&arena, SIZE_MAX));
    assert_non_null (arena_new (&arena, 48));
    assert_null (arena_new (&arena, 1));
    assert_null (arena_copy (&arena, SPAN ("x")).data);
    arena_clear (&arena);
    assert_non_null (arena_new (&arena, 112));
    arena_fini (&arena);
}

//  A piece of one byte takes as much as the alignment.
static void
test_small_pieces_are_charged_what_they_take (void **state)
{
    arena_t arena;
    arena_init (&arena, 10 * alignof (max_align_t));
    for (int i = 0; i < 10; i++)
        assert_non_null (arena_new (&arena, 1));
    assert_null (arena_new (&arena, 1));
    arena_fini (&arena);
    arena_init (&arena, SIZE_MAX);
    assert_null (arena_new (&arena, SIZE_MAX));
    arena_fini (&arena);
}

static void
test_a_copy_is_its_own (void **state)
{
    arena_t arena;
    arena_init (&arena, SIZE_MAX);
    char text [] = "abc";
    span_t copy = arena_copy (&arena, span_of (text, 3));
    text [0] = 'x';
    assert_true (span_equal_string (copy, "abc"));
    assert_int_equal (arena_copy (&arena, SPAN ("")).size, 0);
    arena_fini (&arena);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_pieces_do_not_touch_each_other),
        cmocka_unit_test (test_the_limit_holds_and_clear_gives_it_back),
        cmocka_unit_test (test_small_pieces_are_charged_what_they_take),
        cmocka_unit_test (test_a_copy_is_its_own),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
