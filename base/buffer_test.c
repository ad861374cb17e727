//  Bytes that grow at the end.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"

static void
test_pieces_of_every_kind_stand_one_behind_the_other (void **state)
{
    buffer_t buffer = { 0 };
    buffer_append (&buffer, SPAN ("ab"));
    buffer_append (&buffer, (span_t){ NULL, 0 });
    buffer_append_string (&buffer, "cd");
    buffer_append_byte (&buffer, 0);
    buffer_append_u32_le (&buffer, 0x01020304);
    buffer_append_u64_le (&buffer, 0x05060708090a0b0cu);
    buffer_print (&buffer, "%d-%s", 7, "x");
    assert_true (span_equal (buffer_span (&buffer), SPAN ("abcd\0\x04\x03\x02\x01\x0c\x0b\x0a\x09\x08\x07\x06\x05"
                                                          "7-x")));
    buffer_fini (&buffer);
    assert_int_equal (buffer.size, 0);
    buffer_fini (&buffer);
}

static void
test_a_string_ends_with_a_nul_that_does_not_count (void **state)
{
    buffer_t buffer = { 0 };
    assert_string_equal (buffer_string (&buffer), "");
    for (int i = 0; i < 64; i++) {
        buffer_append_byte (&buffer, 'x');
        assert_int_equal (strlen (buffer_string (&buffer)), buffer.size);
    }
    buffer_fini (&buffer);
}

static void
test_reserved_bytes_count_once_they_are_committed (void **state)
{
    buffer_t buffer = { 0 };
    memcpy (buffer_reserve (&buffer, 100000), "hello", 5);
    assert_int_equal (buffer.size, 0);
    buffer_commit (&buffer, 5);
    assert_string_equal (buffer_string (&buffer), "hello");
    buffer_fini (&buffer);
}

static void
test_the_front_goes_and_the_rest_moves_up (void **state)
{
    buffer_t buffer = { 0 };
    buffer_append_string (&buffer, "abcdef");
    buffer_drop_front (&buffer, 2);
    assert_string_equal (buffer_string (&buffer), "cdef");
    buffer_drop_front (&buffer, 4);
    buffer_drop_front (&buffer, 0);
    assert_int_equal (buffer.size, 0);
    buffer_append_string (&buffer, "g");
    buffer_clear (&buffer);
    buffer_append_string (&buffer, "h");
    assert_string_equal (buffer_string (&buffer), "h");
    buffer_fini (&buffer);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_pieces_of_every_kind_stand_one_behind_the_other),
        cmocka_unit_test (test_a_string_ends_with_a_nul_that_does_not_count),
        cmocka_unit_test (test_reserved_bytes_count_once_they_are_committed),
        cmocka_unit_test (test_the_front_goes_and_the_rest_moves_up),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
