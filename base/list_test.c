//  The linked list against a row of numbers, over random operations from a printed seed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/list.h"
#include "base/random.h"

enum { ELEMENTS = 30, OPERATIONS = 5000 };

typedef struct {
    int number;          //  Which one
    list_link_t link;    //  In the list
} element_t;

typedef struct {
    int numbers [ELEMENTS];    //  In the order of the list
    size_t count;              //  How many
} oracle_t;

static void
s_oracle_remove (oracle_t *oracle, int number)
{
    size_t position = 0;
    while (oracle->numbers [position] != number)
        position++;
    oracle->count--;
    memmove (oracle->numbers + position, oracle->numbers + position + 1, (oracle->count - position) * sizeof (int));
}

static void
s_assert_same (const list_t *list, const oracle_t *oracle)
{
    assert_int_equal (list->count, oracle->count);
    list_link_t *link = list_first (list);
    for (size_t i = 0; i < oracle->count; i++, link = list_next (list, link))
        assert_int_equal (LIST_ENTRY (link, element_t, link)->number, oracle->numbers [i]);
    assert_null (link);
}

static void
test_equals_a_row_of_numbers_under_random_operations (void **state)
{
    uint64_t seed = 32;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    element_t elements [ELEMENTS] = { 0 };
    oracle_t oracle = { 0 };
    list_t list;
    list_init (&list);
    for (int i = 0; i < OPERATIONS; i++) {
        element_t *element = &elements [random_below (&random, ELEMENTS)];
        element->number = (int)(element - elements);
        if (list_link_is_linked (&element->link)) {
            list_remove (&list, &element->link);
            s_oracle_remove (&oracle, element->number);
        } else {
            list_append (&list, &element->link);
            oracle.numbers [oracle.count++] = element->number;
        }
        s_assert_same (&list, &oracle);
    }
    while (oracle.count) {
        int first = oracle.numbers [0];
        assert_int_equal (LIST_ENTRY (list_take_first (&list), element_t, link)->number, first);
        s_oracle_remove (&oracle, first);
    }
    assert_null (list_take_first (&list));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_a_row_of_numbers_under_random_operations),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
