//  The map against a naive list of pairs, over random operations from a printed seed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/random.h"

enum { KEYS = 200, OPERATIONS = 20000 };

typedef struct {
    uint64_t key;    //  As stored
    void *value;     //  NULL: removed
} pair_t;

typedef struct {
    pair_t pairs [OPERATIONS];    //  In the order they were first put
    size_t count;
} oracle_t;

static pair_t *
s_oracle_find (oracle_t *oracle, uint64_t key)
{
    for (size_t i = 0; i < oracle->count; i++)
        if (oracle->pairs [i].value && oracle->pairs [i].key == key)
            return &oracle->pairs [i];
    return NULL;
}

static void
s_check_walk (const map_t *map, const oracle_t *oracle)
{
    size_t cursor = 0;
    span_t key;
    void *value;
    for (size_t i = 0; i < oracle->count; i++) {
        if (!oracle->pairs [i].value)
            continue;
        assert_true (map_next (map, &cursor, &key, &value));
        assert_ptr_equal (value, oracle->pairs [i].value);
        assert_memory_equal (key.data, &oracle->pairs [i].key, sizeof (uint64_t));
    }
    assert_false (map_next (map, &cursor, &key, &value));
}

static void
test_equals_a_list_of_pairs_under_random_operations (void **state)
{
    static oracle_t oracle;
    static char values [KEYS];
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    map_t *map = map_new (seed);
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t key = random_below (&random, KEYS);
        void *value = &values [random_below (&random, KEYS)];
        pair_t *pair = s_oracle_find (&oracle, key);
        if (random_chance (&random, 600000)) {
            assert_ptr_equal (map_put_u64 (map, key, value), pair ? pair->value : NULL);
            if (pair)
                pair->value = value;
            else
                oracle.pairs [oracle.count++] = (pair_t){ key, value };
        } else {
            assert_ptr_equal (map_remove_u64 (map, key), pair ? pair->value : NULL);
            if (pair)
                pair->value = NULL;
        }
        pair = s_oracle_find (&oracle, key);
        assert_ptr_equal (map_get_u64 (map, key), pair ? pair->value : NULL);
        if (i % 1000 == 0)
            s_check_walk (map, &oracle);
    }
    s_check_walk (map, &oracle);
    map_destroy (&map);
    assert_null (map);
}

//  Keys longer than what an entry holds inline, and keys with a NUL inside, are keys like others.
static void
test_keys_are_bytes_of_any_size (void **state)
{
    map_t *map = map_new (1);
    int a, b;
    span_t with_nul = SPAN ("worker\0one");
    span_t long_key = SPAN ("a key that is a good deal longer than sixteen bytes");
    map_put (map, with_nul, &a);
    map_put (map, long_key, &b);
    assert_ptr_equal (map_get (map, with_nul), &a);
    assert_ptr_equal (map_get (map, long_key), &b);
    assert_null (map_get (map, SPAN ("worker")));
    assert_ptr_equal (map_remove (map, long_key), &b);
    assert_null (map_get (map, long_key));
    assert_int_equal (map_count (map), 1);
    map_destroy (&map);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_a_list_of_pairs_under_random_operations),
        cmocka_unit_test (test_keys_are_bytes_of_any_size),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
