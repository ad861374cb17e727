//  MessagePack item by item: each format at its edges.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "schemas/pack_reader.h"

#define BYTES(literal)                                   \
    {                                                    \
        (const uint8_t *)(literal), sizeof (literal) - 1 \
    }

typedef struct {
    span_t bytes;        //  What is read
    pack_kind_t kind;    //  What it is
    uint64_t number;     //  Its value, or count
    size_t size;         //  Bytes of its text or data
} reading_t;

static const reading_t s_readings [] = {
    { BYTES ("\x00"), PACK_UINT, 0, 0 },
    { BYTES ("\x7f"), PACK_UINT, 127, 0 },
    { BYTES ("\xe0"), PACK_INT, (uint64_t)-32, 0 },
    { BYTES ("\xff"), PACK_INT, (uint64_t)-1, 0 },
    { BYTES ("\xc0"), PACK_NIL, 0, 0 },
    { BYTES ("\xc2"), PACK_BOOL, 0, 0 },
    { BYTES ("\xc3"), PACK_BOOL, 1, 0 },
    { BYTES ("\xcc\xff"), PACK_UINT, 255, 0 },
    { BYTES ("\xcd\x01\x02"), PACK_UINT, 0x0102, 0 },
    { BYTES ("\xce\x01\x02\x03\x04"), PACK_UINT, 0x01020304, 0 },
    { BYTES ("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), PACK_UINT, UINT64_MAX, 0 },
    { BYTES ("\xd0\x80"), PACK_INT, (uint64_t)-128, 0 },
    { BYTES ("\xd0\x7f"), PACK_UINT, 127, 0 },
    { BYTES ("\xd1\x80\x00"), PACK_INT, (uint64_t)-32768, 0 },
    { BYTES ("\xd2\xff\xff\xff\xff"), PACK_INT, (uint64_t)-1, 0 },
    { BYTES ("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), PACK_INT, (uint64_t)INT64_MIN, 0 },
    { BYTES ("\xd3\x7f\xff\xff\xff\xff\xff\xff\xff"), PACK_UINT, INT64_MAX, 0 },
    { BYTES ("\xa0"), PACK_STRING, 0, 0 },
    { BYTES ("\xa2xy"), PACK_STRING, 2, 2 },
    { BYTES ("\xd9\x02xy"), PACK_STRING, 2, 2 },
    { BYTES ("\xda\x00\x02xy"), PACK_STRING, 2, 2 },
    { BYTES ("\xdb\x00\x00\x00\x02xy"), PACK_STRING, 2, 2 },
    { BYTES ("\xc4\x02xy"), PACK_BIN, 2, 2 },
    { BYTES ("\xc5\x00\x02xy"), PACK_BIN, 2, 2 },
    { BYTES ("\xc6\x00\x00\x00\x02xy"), PACK_BIN, 2, 2 },
    { BYTES ("\xd4\x05x"), PACK_EXT, 0, 2 },
    { BYTES ("\xd5\x05xy"), PACK_EXT, 0, 3 },
    { BYTES ("\xd6\x05"
             "1234"),
        PACK_EXT, 0, 5 },
    { BYTES ("\xd7\x05"
             "12345678"),
        PACK_EXT, 0, 9 },
    { BYTES ("\xd8\x05"
             "1234567890123456"),
        PACK_EXT, 0, 17 },
    { BYTES ("\xc7\x02\x05xy"), PACK_EXT, 2, 3 },
    { BYTES ("\xc8\x00\x02\x05xy"), PACK_EXT, 2, 3 },
    { BYTES ("\xc9\x00\x00\x00\x02\x05xy"), PACK_EXT, 2, 3 },
    { BYTES ("\x90"), PACK_ARRAY, 0, 0 },
    { BYTES ("\x80"), PACK_MAP, 0, 0 },
    { BYTES ("\xdc\x00\x00"), PACK_ARRAY, 0, 0 },
    { BYTES ("\xdd\x00\x00\x00\x00"), PACK_ARRAY, 0, 0 },
    { BYTES ("\xde\x00\x00"), PACK_MAP, 0, 0 },
    { BYTES ("\xdf\x00\x00\x00\x00"), PACK_MAP, 0, 0 },
};

static void
test_every_format_says_what_it_holds (void **state)
{
    for (size_t i = 0; i < sizeof s_readings / sizeof s_readings [0]; i++) {
        const reading_t *expected = &s_readings [i];
        pack_reader_t reader;
        pack_item_t item;
        pack_reader_init (&reader, expected->bytes);
        assert_true (pack_read (&reader, &item));
        assert_int_equal (item.kind, expected->kind);
        assert_true (item.number == expected->number);
        assert_int_equal (item.bytes.size, expected->size);
        assert_int_equal (reader.left.size, 0);

        //  A byte less is too few.
        pack_reader_init (&reader, span_slice (expected->bytes, 0, expected->bytes.size - 1));
        assert_false (pack_read (&reader, &item));
        assert_string_equal (reader.problem, "ends too early");
    }
}

static void
test_floats_of_both_sizes_are_exact (void **state)
{
    pack_reader_t reader;
    pack_item_t item;
    pack_reader_init (&reader, SPAN ("\xca\xc0\x20\x00\x00\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a"));
    assert_true (pack_read (&reader, &item) && item.kind == PACK_FLOAT && item.real == -2.5);
    assert_true (pack_read (&reader, &item) && item.kind == PACK_FLOAT && item.real == 0.1);
}

//  An array of n needs n bytes, a map of n pairs 2 n: not one less.
static void
test_a_count_is_not_believed_beyond_the_bytes_left (void **state)
{
    static const struct {
        span_t bytes;
        bool fits;
    } counts [] = {
        { BYTES ("\x93xyz"), true },
        { BYTES ("\x93xy"), false },
        { BYTES ("\xdc\x00\x03xyz"), true },
        { BYTES ("\xdc\x00\x03xy"), false },
        { BYTES ("\x82wxyz"), true },
        { BYTES ("\x82wxy"), false },
        { BYTES ("\xdf\x00\x00\x00\x02wxyz"), true },
        { BYTES ("\xdf\x00\x00\x00\x02wxy"), false },
        { BYTES ("\xdf\xff\xff\xff\xffwxyz"), false },
        { BYTES ("\xdd\xff\xff\xff\xffwxyz"), false },
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts [0]; i++) {
        pack_reader_t reader;
        pack_item_t item;
        pack_reader_init (&reader, counts [i].bytes);
        assert_int_equal (pack_read (&reader, &item), counts [i].fits);
    }
}

static void
test_skipping_takes_one_item_and_all_in_it (void **state)
{
    pack_reader_t reader;
    pack_reader_init (&reader, SPAN ("\x92\x81\xa1x\x90\xc4\x01y\x07"));
    assert_true (pack_skip (&reader));
    assert_true (span_equal (reader.left, SPAN ("\x07")));
    assert_true (pack_skip (&reader));
    assert_false (pack_skip (&reader));
    assert_string_equal (reader.problem, "ends too early");
    pack_reader_init (&reader, SPAN ("\x91\xc1"));
    assert_false (pack_skip (&reader));
    assert_string_equal (reader.problem, "has the byte 0xc1, which MessagePack does not use");
}

//  Of everything that can be read, and of all that is cut short, a short bin is taken and nothing else.
static void
test_a_short_bin_is_taken_as_it_would_be_read (void **state)
{
    for (size_t i = 0; i < sizeof s_readings / sizeof *s_readings; i++)
        for (size_t size = 0; size <= s_readings [i].bytes.size; size++) {
            pack_reader_t reader, taker;
            pack_item_t item;
            span_t taken = { 0 }, bytes = span_slice (s_readings [i].bytes, 0, size);
            pack_reader_init (&reader, bytes);
            taker = reader;
            bool is_short = size && bytes.data [0] == 0xc4 && pack_read (&reader, &item);
            assert_int_equal (pack_take_bin (&taker, &taken), is_short);
            assert_true (span_equal (taker.left, is_short ? reader.left : bytes));
            assert_true (!is_short || span_equal (taken, item.bytes));
        }
}

//  The same of the head of a short array, whatever follows it.
static void
test_a_short_array_is_taken_as_it_would_be_read (void **state)
{
    for (unsigned first = 0; first <= UINT8_MAX; first++)
        for (size_t size = 0; size <= 20; size++) {
            uint8_t bytes [20] = { (uint8_t)first };
            pack_reader_t reader, taker;
            pack_item_t item = { 0 };
            uint64_t count = 0;
            pack_reader_init (&reader, span_of (bytes, size));
            taker = reader;
            bool is_short = size && (first & 0xf0) == 0x90 && pack_read (&reader, &item);
            assert_int_equal (pack_take_array (&taker, &count), is_short);
            assert_int_equal (taker.left.size, is_short ? size - 1 : size);
            assert_true (!is_short || count == item.number);
        }
}

//  Reading a message takes a bounded time, whatever somebody puts into it that is not known here.
static void
test_what_is_skipped_has_a_bound (void **state)
{
    buffer_t bytes = { 0 };
    buffer_append (&bytes, SPAN ("\xdd\x00\x0f\xff\xff"));
    memset (buffer_reserve (&bytes, PACK_SKIPPED_MAX), 1, PACK_SKIPPED_MAX);
    buffer_commit (&bytes, PACK_SKIPPED_MAX);
    pack_reader_t reader;
    pack_reader_init (&reader, buffer_span (&bytes));
    assert_true (pack_skip (&reader));
    assert_int_equal (reader.left.size, 1);
    assert_false (pack_skip (&reader));
    assert_string_equal (reader.problem, "has too much in it that is not known here");
    buffer_fini (&bytes);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_format_says_what_it_holds),
        cmocka_unit_test (test_floats_of_both_sizes_are_exact),
        cmocka_unit_test (test_a_count_is_not_believed_beyond_the_bytes_left),
        cmocka_unit_test (test_skipping_takes_one_item_and_all_in_it),
        cmocka_unit_test (test_what_is_skipped_has_a_bound),
        cmocka_unit_test (test_a_short_bin_is_taken_as_it_would_be_read),
        cmocka_unit_test (test_a_short_array_is_taken_as_it_would_be_read),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
