//  The heap against a sorted row, over random operations from a printed seed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/heap.h"
#include "base/random.h"

enum { ENTRIES = 60, OPERATIONS = 20000, TIMES = 10 };

//  Entries sorted by time, equal times by insertion: a new one goes behind all that are not later.
typedef struct {
    heap_entry_t *entries [ENTRIES];    //  Earliest first
    size_t count;                       //  How many
} oracle_t;

static void
s_oracle_insert (oracle_t *oracle, heap_entry_t *entry, uint64_t at)
{
    size_t position = 0;
    while (position < oracle->count && oracle->entries [position]->at <= at)
        position++;
    size_t behind = oracle->count++ - position;
    memmove (oracle->entries + position + 1, oracle->entries + position, behind * sizeof entry);
    oracle->entries [position] = entry;
}

static void
s_oracle_remove (oracle_t *oracle, const heap_entry_t *entry)
{
    size_t position = 0;
    while (oracle->entries [position] != entry)
        position++;
    oracle->count--;
    memmove (oracle->entries + position, oracle->entries + position + 1, (oracle->count - position) * sizeof entry);
}

//  Few times and many entries: ties all the way.
static void
test_equals_a_sorted_row_under_random_operations (void **state)
{
    uint64_t seed = 33;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    static heap_entry_t entries [ENTRIES];
    oracle_t oracle = { 0 };
    heap_t heap;
    heap_init (&heap);
    for (int i = 0; i < OPERATIONS; i++) {
        heap_entry_t *entry = &entries [random_below (&random, ENTRIES)];
        if (heap_entry_is_queued (entry)) {
            heap_remove (&heap, entry);
            s_oracle_remove (&oracle, entry);
        } else {
            uint64_t at = random_below (&random, TIMES);
            s_oracle_insert (&oracle, entry, at);
            heap_insert (&heap, entry, at);
        }
        assert_ptr_equal (heap_first (&heap), oracle.count ? oracle.entries [0] : NULL);
    }
    for (size_t i = 0; i < oracle.count; i++) {
        heap_entry_t *first = heap_first (&heap);
        assert_ptr_equal (first, oracle.entries [i]);
        heap_remove (&heap, first);
    }
    assert_null (heap_first (&heap));
    heap_fini (&heap);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_a_sorted_row_under_random_operations),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
