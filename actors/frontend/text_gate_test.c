//  Whatever the tokens are cut into, the text that comes out is the same, whole, and ends where it must.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/frontend/text_gate.h"
#include "base/random.h"
#include "base/utf8.h"

//  What the gate lets pass is what it would have given out, and nothing of it is kept.
static void
s_put (text_gate_t *gate, span_t bytes, buffer_t *out)
{
    size_t before = out->size;
    bool passes = text_gate_lets_pass (gate, bytes);
    text_gate_put (gate, bytes, out);
    span_t given = span_slice (buffer_span (out), before, out->size);
    assert_true (utf8_is_valid (given));
    if (passes)
        assert_true (span_equal (given, bytes) && gate->held.size == 0);
}

//  Feeds `text` cut into pieces of `size` bytes; checks each piece that comes out.
static void
s_feed (text_gate_t *gate, span_t text, size_t size, buffer_t *out)
{
    for (size_t at = 0; at < text.size; at += size)
        s_put (gate, span_slice (text, at, size), out);
    if (!gate->stopped)
        text_gate_flush (gate, out);
}

static void
s_check (const char *text, const span_t *stops, size_t stop_count, const char *expected)
{
    for (size_t size = 1; size < 9; size++) {
        text_gate_t gate;
        buffer_t out = { 0 };
        text_gate_init (&gate, stops, stop_count);
        s_feed (&gate, span_from_string (text), size, &out);
        assert_string_equal (buffer_string (&out), expected);
        buffer_fini (&out);
        text_gate_fini (&gate);
    }
}

static void
test_a_character_is_never_cut (void **state)
{
    s_check ("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", NULL, 0, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
}

#define UNKNOWN "\xef\xbf\xbd"

static void
test_bytes_that_are_no_character_become_one_mark_each (void **state)
{
    s_check ("a\xff"
             "b",
        NULL, 0, "a" UNKNOWN "b");
    s_check ("\xf0\x9f\x98", NULL, 0, UNKNOWN);
    s_check ("\xf0\x9f\x98"
             "a",
        NULL, 0, UNKNOWN "a");
    s_check ("\x80\x80", NULL, 0, UNKNOWN UNKNOWN);
    s_check ("\xe2\x82\xe2\x82\xac", NULL, 0, UNKNOWN "\xe2\x82\xac");
    s_check ("\xed\xa0\x80", NULL, 0, UNKNOWN UNKNOWN UNKNOWN);
}

static void
test_the_text_ends_before_the_earliest_stop_string (void **state)
{
    static const span_t stops [] = { { (const uint8_t *)"STOP", 4 }, { (const uint8_t *)"\n\n", 2 } };
    s_check ("one\ntwo\n\nthree STOP", stops, 2, "one\ntwo");
    s_check ("STOP", stops, 2, "");
    s_check ("STO", stops, 2, "STO");
    s_check ("STSTOSTOP!", stops, 2, "STSTO");
    s_check ("no end\n", stops, 2, "no end\n");
}

//  What cannot become a stop string any more is not kept back.
static void
test_text_is_given_out_as_soon_as_it_is_certain (void **state)
{
    static const span_t stop = { (const uint8_t *)"abc", 3 };
    text_gate_t gate;
    buffer_t out = { 0 };
    text_gate_init (&gate, &stop, 1);
    assert_true (text_gate_put (&gate, SPAN ("xab"), &out));
    assert_string_equal (buffer_string (&out), "x");
    assert_true (text_gate_put (&gate, SPAN ("d"), &out));
    assert_string_equal (buffer_string (&out), "xabd");
    assert_false (text_gate_put (&gate, SPAN ("abc"), &out));
    assert_false (text_gate_put (&gate, SPAN ("more"), &out));
    assert_string_equal (buffer_string (&out), "xabd");
    buffer_fini (&out);
    text_gate_fini (&gate);
}

static bool
s_occurs (span_t text, span_t part)
{
    for (size_t at = 0; at + part.size <= text.size; at++)
        if (span_equal (span_slice (text, at, part.size), part))
            return true;
    return false;
}

static void
test_whole_characters_pass_where_nothing_stops_them (void **state)
{
    static const span_t stop = { (const uint8_t *)"stop", 4 };
    text_gate_t gate;
    buffer_t out = { 0 };
    text_gate_init (&gate, NULL, 0);
    assert_true (text_gate_lets_pass (&gate, SPAN ("a\xc3\xa4")));
    assert_false (text_gate_lets_pass (&gate, SPAN ("a\xc3")));
    text_gate_put (&gate, SPAN ("a\xc3"), &out);
    assert_false (text_gate_lets_pass (&gate, SPAN ("b")));
    text_gate_fini (&gate);
    text_gate_init (&gate, &stop, 1);
    assert_false (text_gate_lets_pass (&gate, SPAN ("a")));
    text_gate_fini (&gate);
    buffer_fini (&out);
}

//  The oracle looks at the whole text at once.  Every other text has no stop string.
static void
test_random_cuts_agree_with_the_whole (void **state)
{
    random_t random;
    uint64_t seed = 20260801;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&random, seed);
    static const span_t stop = { (const uint8_t *)"aba", 3 };
    for (int round = 0; round < 2000; round++) {
        size_t stops = (size_t)round % 2;
        uint8_t text [40];
        size_t size = random_below (&random, sizeof text + 1);
        for (size_t i = 0; i < size; i++)
            text [i] = (uint8_t) "ab\xc3\xa4\xe2\x82\xac\xff" [random_below (&random, 8)];
        buffer_t whole = { 0 }, pieces = { 0 };
        text_gate_t gate;
        text_gate_init (&gate, &stop, stops);
        s_feed (&gate, span_of (text, size), sizeof text, &whole);
        text_gate_fini (&gate);

        text_gate_init (&gate, &stop, stops);
        for (size_t at = 0; at < size;) {
            size_t cut = 1 + random_below (&random, 5);
            s_put (&gate, span_slice (span_of (text, size), at, cut), &pieces);
            at += cut;
        }
        if (!gate.stopped)
            text_gate_flush (&gate, &pieces);
        text_gate_fini (&gate);
        assert_true (span_equal (buffer_span (&whole), buffer_span (&pieces)));
        assert_true (utf8_is_valid (buffer_span (&whole)));
        assert_int_equal (stops && s_occurs (span_of (text, size), stop), gate.stopped);
        buffer_fini (&whole);
        buffer_fini (&pieces);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_character_is_never_cut),
        cmocka_unit_test (test_bytes_that_are_no_character_become_one_mark_each),
        cmocka_unit_test (test_the_text_ends_before_the_earliest_stop_string),
        cmocka_unit_test (test_text_is_given_out_as_soon_as_it_is_certain),
        cmocka_unit_test (test_whole_characters_pass_where_nothing_stops_them),
        cmocka_unit_test (test_random_cuts_agree_with_the_whole),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
