#include "runtime/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void
test_what_is_found_is_what_was_pushed (void **state)
{
    ring_t ring;
    ring_init (&ring, 1 << 20);
    ring_push (&ring, 5, 50, SPAN ("five"));
    ring_push (&ring, 9, 90, SPAN ("nine"));    //  A hole between them
    ring_push (&ring, 9, 91, SPAN ("late"));
    assert_true (span_equal (ring_find (&ring, 9)->payload, SPAN ("nine")));
    assert_int_equal (ring_find (&ring, 5)->wall_ns, 50);
    assert_null (ring_find (&ring, 7));
    assert_int_equal (ring_first (&ring), 5);
    assert_int_equal (ring_last (&ring), 9);
    ring_fini (&ring);
}

//  A limit on payloads alone would let empty ones grow for ever.
static void
test_empty_batches_are_bounded_too (void **state)
{
    ring_t ring;
    ring_init (&ring, 1000);
    for (uint64_t sequence = 1; sequence <= 10000; sequence++)
        ring_push (&ring, sequence, 0, SPAN (""));
    assert_int_equal (ring_last (&ring), 10000);
    assert_true (ring_first (&ring) > 10000 - 1000 / sizeof (ring_batch_t) - 1);
    assert_int_equal (ring.dropped, ring_first (&ring) - 1);
    ring_fini (&ring);
}

static void
test_a_batch_larger_than_the_limit_stays (void **state)
{
    ring_t ring;
    ring_init (&ring, 10);
    ring_push (&ring, 1, 0, SPAN ("longer than ten bytes"));
    assert_non_null (ring_find (&ring, 1));
    ring_push (&ring, 2, 0, SPAN ("x"));
    assert_null (ring_find (&ring, 1));
    assert_non_null (ring_find (&ring, 2));
    ring_fini (&ring);
}

static void
test_who_empties_it_learns_of_how_much (void **state)
{
    ring_t ring;
    ring_init (&ring, 1000);
    for (uint64_t sequence = 1; sequence <= 3; sequence++)
        ring_push (&ring, sequence, 0, SPAN ("batch"));
    assert_int_equal (ring_clear (&ring), 3);
    assert_int_equal (ring_clear (&ring), 0);
    assert_true (ring.bytes == 0 && ring.dropped == 0 && ring_last (&ring) == 0);
    ring_fini (&ring);
}

//  The memory of those that leave goes to those that come.
static void
test_what_is_kept_is_whole_whatever_sizes_come (void **state)
{
    ring_t ring;
    uint8_t bytes [200];
    ring_init (&ring, 2000);
    for (uint64_t sequence = 1; sequence <= 1000; sequence++) {
        ring_push (&ring, sequence, 0, span_of (memset (bytes, (int)sequence & 255, 200), sequence * 7919 % 200));
        assert_true (ring.bytes <= 2000);
        for (uint64_t kept = ring_first (&ring); kept <= sequence; kept++) {
            span_t payload = ring_find (&ring, kept)->payload;
            memset (bytes, (int)kept & 255, 200);
            assert_true (span_equal (payload, span_of (bytes, kept * 7919 % 200)));
        }
    }
    ring_fini (&ring);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_is_found_is_what_was_pushed),
        cmocka_unit_test (test_empty_batches_are_bounded_too),
        cmocka_unit_test (test_a_batch_larger_than_the_limit_stays),
        cmocka_unit_test (test_who_empties_it_learns_of_how_much),
        cmocka_unit_test (test_what_is_kept_is_whole_whatever_sizes_come),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
