//  Holders get small numbers, and numbers that are given back go to the next.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "kv/holder.h"

static void
test_numbers_are_dense_and_the_last_given_back_is_next (void **state)
{
    holder_table_t *table = holder_table_new ();
    holder_t holders [5];
    for (uint32_t i = 0; i < 5; i++) {
        holders [i] = (holder_t){ .owner = 70000 + i, .rank = (uint16_t)i, .tier = TIER_HOST };
        assert_int_equal (holder_table_add (table, &holders [i]), i);
    }
    assert_int_equal (holder_table_add (table, &holders [3]), 3);
    assert_true (holder_table_remove (table, 3));
    assert_true (holder_table_remove (table, 1));
    assert_false (holder_table_remove (table, 1));
    assert_false (holder_table_remove (table, 5));
    assert_int_equal (holder_table_find (table, &holders [3]), HOLDER_NONE);
    assert_null (holder_table_get (table, 3));

    holder_t other = { .owner = 1, .tier = TIER_DISK };
    assert_int_equal (holder_table_add (table, &other), 1);
    assert_int_equal (holder_table_get (table, 1)->tier, TIER_DISK);
    assert_int_equal (holder_table_add (table, &holders [1]), 3);
    assert_int_equal (holder_table_bound (table), 5);
    holder_table_destroy (&table);
    assert_null (table);
}

//  Rank, tier and kind are part of who a holder is.
static void
test_a_holder_is_owner_rank_tier_and_kind (void **state)
{
    holder_table_t *table = holder_table_new ();
    holder_t holders [] = { { 1, 2, 3, 0 }, { 1, 2, 3, 1 }, { 1, 2, 2, 0 }, { 1, 3, 3, 0 }, { 2, 2, 3, 0 } };
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal (holder_table_add (table, &holders [i]), i);
    holder_table_destroy (&table);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_numbers_are_dense_and_the_last_given_back_is_next),
        cmocka_unit_test (test_a_holder_is_owner_rank_tier_and_kind),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
