//  A growing row.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/array.h"

static uint32_t
s_number (const array_t *array, size_t position)
{
    return *(const uint32_t *)array_at (array, position);
}

static array_t
s_counting (uint32_t count)
{
    array_t array;
    array_init (&array, sizeof (uint32_t));
    for (uint32_t i = 0; i < count; i++)
        *(uint32_t *)array_add (&array) = i;
    return array;
}

static void
test_it_grows_and_keeps_what_is_in_it (void **state)
{
    array_t array = s_counting (1000);
    assert_int_equal (array.count, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal (s_number (&array, i), i);
    uint32_t more [] = { 7, 8, 9 };
    void *first = array_append (&array, more, 3);
    assert_ptr_equal (first, array_at (&array, 1000));
    assert_int_equal (s_number (&array, 1002), 9);
    array_fini (&array);
    assert_int_equal (array.count, 0);
    array_fini (&array);
}

static void
test_new_elements_are_zero_even_where_old_ones_were (void **state)
{
    array_t array = s_counting (8);
    array_cut (&array, 2);
    array_append (&array, NULL, 3);
    assert_int_equal (array.count, 5);
    for (size_t i = 2; i < 5; i++)
        assert_int_equal (s_number (&array, i), 0);
    assert_int_equal (*(uint32_t *)array_add (&array), 0);
    array_fini (&array);
}

static void
test_removing_keeps_the_order_of_the_rest (void **state)
{
    array_t array = s_counting (6);
    array_remove (&array, 2);
    array_remove (&array, 4);
    array_remove (&array, 0);
    assert_int_equal (array.count, 3);
    assert_int_equal (s_number (&array, 0), 1);
    assert_int_equal (s_number (&array, 1), 3);
    assert_int_equal (s_number (&array, 2), 4);
    array_drop_front (&array, 2);
    assert_int_equal (array.count, 1);
    assert_int_equal (s_number (&array, 0), 4);
    array_drop_front (&array, 1);
    array_drop_front (&array, 0);
    assert_int_equal (array.count, 0);
    array_fini (&array);
}

//  What was reserved is there: nothing moves until more comes.
static void
test_what_is_reserved_holds_what_comes (void **state)
{
    array_t array = s_counting (3);
    array_reserve (&array, 1000);
    const void *data = array.data;
    for (uint32_t i = 3; i < 1003; i++)
        array_append (&array, &i, 1);
    assert_ptr_equal (array.data, data);
    assert_int_equal (s_number (&array, 2), 2);
    assert_int_equal (s_number (&array, 1002), 1002);
    array_fini (&array);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_it_grows_and_keeps_what_is_in_it),
        cmocka_unit_test (test_new_elements_are_zero_even_where_old_ones_were),
        cmocka_unit_test (test_what_is_reserved_holds_what_comes),
        cmocka_unit_test (test_removing_keeps_the_order_of_the_rest),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
