//  What is text, against a decoder that does it the long way.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/utf8.h"

//  Bytes of the well-formed character at the start, by decoding it and asking whether it needed that many bytes.
static size_t
s_oracle (span_t text)
{
    static const uint32_t least [] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (text.size == 0)
        return 0;
    uint8_t first = text.data [0];
    size_t size = first < 0x80             ? 1
                  : (first & 0xe0) == 0xc0 ? 2
                  : (first & 0xf0) == 0xe0 ? 3
                  : (first & 0xf8) == 0xf0 ? 4
                                           : 0;
    if (size == 0 || size > text.size)
        return 0;
    uint32_t code = size == 1 ? first : first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((text.data [i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text.data [i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code >= least [size] && code <= 0x10ffff && !surrogate ? size : 0;
}

//  Bytes of the characters at the start, one after the other.
static size_t
s_prefix (span_t text)
{
    size_t at = 0;
    for (size_t size; (size = s_oracle (span_slice (text, at, text.size))); at += size)
        ;
    return at;
}

//  All that two bytes can begin, with all third and fourth bytes that matter.
static void
test_every_character_agrees_with_the_long_way (void **state)
{
    static const uint8_t tails [] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff };
    for (unsigned start = 0; start < 0x10000; start++)
        for (size_t i = 0; i < sizeof tails; i++)
            for (size_t j = 0; j < sizeof tails; j++)
                for (size_t size = 1; size <= 4; size++) {
                    uint8_t bytes [4] = { (uint8_t)(start >> 8), (uint8_t)start, tails [i], tails [j] };
                    if (utf8_sequence (span_of (bytes, size)) != s_oracle (span_of (bytes, size)) ||
                        utf8_valid_prefix (span_of (bytes, size)) != s_prefix (span_of (bytes, size)))
                        fail_msg ("%02x %02x %02x %02x, %zu bytes", bytes [0], bytes [1], bytes [2], bytes [3], size);
                }
    assert_int_equal (utf8_sequence ((span_t){ NULL, 0 }), 0);
}

static void
test_the_first_byte_that_is_none_is_found (void **state)
{
    uint8_t text [40];
    for (size_t at = 0; at < sizeof text; at++) {
        for (size_t i = 0; i < sizeof text; i++)
            text [i] = i == at ? 0xff : 'a';
        assert_int_equal (utf8_valid_prefix (span_of (text, sizeof text)), at);
        assert_false (utf8_is_valid (span_of (text, sizeof text)));
        assert_true (utf8_is_valid (span_of (text, at)));
    }
    assert_true (utf8_is_valid (SPAN ("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 plain text behind it")));
    assert_int_equal (utf8_valid_prefix (SPAN ("12345678\xe2\x82")), 8);
}

//  A character of each size, or some random bytes, most of which go on with one.
static size_t
s_append_random (random_t *random, uint8_t *text)
{
    static const char *const characters [] = { "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
        "plain text that is as long as some steps are" };
    if (random_below (random, 100)) {
        const char *character = characters [random_below (random, sizeof characters / sizeof *characters)];
        memcpy (text, character, strlen (character));
        return strlen (character);
    }
    size_t size = (size_t)random_below (random, 4);
    for (size_t i = 0; i < size; i++)
        text [i] =
            (uint8_t)(random_below (random, 2) ? 0x80 + random_below (random, 0x40) : random_below (random, 0x100));
    return size;
}

//  Wherever in a text something is wrong: it is found there, whatever stands on both sides.
static void
test_long_texts_agree_with_the_long_way (void **state)
{
    enum { TEXTS = 50000, SIZE = 300, LONGEST = 48 };
    size_t whole = 0;
    for (uint64_t seed = 0; seed < TEXTS; seed++) {
        random_t random;
        uint8_t text [SIZE + LONGEST];
        random_init (&random, seed);
        size_t wanted = (size_t)random_below (&random, SIZE), size = 0;
        while (size < wanted)
            size += s_append_random (&random, text + size);
        size -= (size_t)random_below (&random, 4) % (size + 1);
        size_t found = utf8_valid_prefix (span_of (text, size));
        if (found != s_prefix (span_of (text, size)))
            fail_msg ("seed %llu: %zu of %zu bytes", (unsigned long long)seed, found, size);
        whole += found == size;
    }
    assert_in_range (whole, TEXTS / 10, TEXTS - TEXTS / 10);
}

//  All that two bytes can begin, at each place of what is looked at at once and beyond it.
static void
test_two_bytes_are_judged_alike_at_every_place (void **state)
{
    enum { SIZE = 100 };
    uint8_t text [SIZE];
    for (size_t at = 0; at < SIZE - 4; at += at == 4 ? 55 : 1)
        for (unsigned start = 0x8000; start < 0x10000; start++) {
            memset (text, 'a', sizeof text);
            memcpy (text + at, (uint8_t []){ (uint8_t)(start >> 8), (uint8_t)start, 0x80, 0x80 }, 4);
            if (utf8_valid_prefix (span_of (text, sizeof text)) != s_prefix (span_of (text, sizeof text)))
                fail_msg ("%04x at %zu", start, at);
        }
}

//  Wherever good text is cut, the tail holds exactly the character that was cut.
static void
test_the_tail_is_the_character_that_was_cut (void **state)
{
    span_t text = SPAN ("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
    static const size_t tails [] = { 0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 0 };
    for (size_t cut = 0; cut <= text.size; cut++)
        assert_int_equal (utf8_incomplete_tail (span_slice (text, 0, cut)), tails [cut]);
    //  What can never become a character is no incomplete one.
    assert_int_equal (utf8_incomplete_tail (SPAN ("\xff")), 0);
    assert_int_equal (utf8_incomplete_tail (SPAN ("\xed\xa0")), 0);
    assert_int_equal (utf8_incomplete_tail (SPAN ("\x80\x80")), 0);
    assert_int_equal (utf8_incomplete_tail (SPAN ("\xf0\x80")), 0);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_character_agrees_with_the_long_way),
        cmocka_unit_test (test_the_first_byte_that_is_none_is_found),
        cmocka_unit_test (test_long_texts_agree_with_the_long_way),
        cmocka_unit_test (test_two_bytes_are_judged_alike_at_every_place),
        cmocka_unit_test (test_the_tail_is_the_character_that_was_cut),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
