//  The table against an array of keys, over random operations from a printed seed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/table.h"

enum { NODES = 8000, KEYS = 5000, OPERATIONS = 200000 };

typedef struct {
    node_t node;     //  Key
    uint32_t own;    //  To tell nodes with one key apart
} item_t;

static uint32_t
s_find (const table_t *table, uint64_t key, uint32_t own)
{
    uint32_t number = table_find (table, key);
    while (number && ((item_t *)table_at (table, number))->own != own)
        number = table_next_equal (table, number);
    return number;
}

//  Nodes stay findable through growth and removal, twins with one key apart from each other, and numbers stay small.
static void
test_equals_an_array_of_keys (void **state)
{
    static uint32_t numbers [NODES];
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    table_t table;
    table_init (&table, sizeof (item_t));
    uint32_t count = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t own = (uint32_t)random_below (&random, NODES);
        uint64_t key = hash_u64 (own % KEYS);
        assert_int_equal (s_find (&table, key, own), numbers [own]);
        if (numbers [own]) {
            table_remove (&table, numbers [own]);
            numbers [own] = TABLE_NONE;
            count--;
        } else {
            numbers [own] = table_add (&table, key);
            ((item_t *)table_at (&table, numbers [own]))->own = own;
            count++;
        }
        assert_int_equal (table.count, count);
        if (i % 20000 == 0)
            table_check (&table);
    }
    table_check (&table);
    assert_true (table_bound (&table) <= NODES + 1);
    assert_true (table_bytes (&table) >= count * sizeof (item_t));
    assert_int_equal (table_find (&table, hash_u64 (KEYS)), TABLE_NONE);
    table_fini (&table);
}

//  Keys that somebody made up to share a bucket are noticed, as long as they do.
static void
test_a_crowd_of_keys_is_noticed (void **state)
{
    enum { ALIKE = 100 };
    table_t table;
    uint64_t alike = 0;
    table_init (&table, sizeof (item_t));
    for (uint64_t i = 1; i <= NODES; i++) {
        assert_false (table_is_crowded (&table, hash_u64 (i)));
        table_add (&table, hash_u64 (i));
    }
    while (!table_is_crowded (&table, alike << 32 | 1) && alike < ALIKE)
        table_add (&table, ++alike << 32 | 1);
    assert_true (alike > 40 && alike < ALIKE);
    assert_false (table_is_crowded (&table, 2));
    table_fini (&table);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_an_array_of_keys),
        cmocka_unit_test (test_a_crowd_of_keys_is_noticed),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
