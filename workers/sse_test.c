//  Events of one stream, whole and in pieces.

#include "workers/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

//  Writes each event as "[type|data]".
static bool
s_write_event (void *arg, span_t type, span_t data)
{
    buffer_print (arg, "[%.*s|%.*s]", SPAN_ARG (type), SPAN_ARG (data));
    return true;
}

static void
s_assert_reads (const char *stream, const char *expected)
{
    sse_t sse;
    buffer_t events = { 0 };
    sse_init (&sse, 1000);
    assert_int_equal (sse_feed (&sse, span_from_string (stream), s_write_event, &events, NULL), STATUS_OK);
    assert_string_equal (buffer_string (&events), expected);
    sse_fini (&sse);
    buffer_fini (&events);
}

static void
test_the_examples_of_the_standard (void **state)
{
    s_assert_reads ("data: YHOO\ndata: +2\ndata: 10\n\n", "[|YHOO\n+2\n10]");
    s_assert_reads (": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
        "[|first event][|second event][| third event]");
    s_assert_reads ("data\n\ndata\ndata\n\ndata:", "[|][|\n]");
    s_assert_reads ("data:test\n\ndata: test\n\n", "[|test][|test]");
    s_assert_reads ("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n", "[add|73857293][remove|2153]");
}

static void
test_every_line_end_counts_once (void **state)
{
    s_assert_reads ("data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", "[|a][|b][|c]");
    s_assert_reads ("data: a\r\ndata: b\rdata: c\ndata: d\r\n\r\n", "[|a\nb\nc\nd]");
}

static void
test_a_byte_order_mark_is_no_text (void **state)
{
    s_assert_reads ("\xEF\xBB\xBF"
                    "data: a\n\n",
        "[|a]");
    s_assert_reads ("\xEF\xBB"
                    "data: a\n\ndata: b\n\n",
        "[|b]");
}

static void
test_an_unfinished_event_is_none (void **state)
{
    s_assert_reads ("data: a\n\ndata: b\n", "[|a]");
    s_assert_reads ("event: lonely\n\n", "");
}

static void
test_a_giant_event_is_refused (void **state)
{
    sse_t sse;
    error_t error;
    buffer_t events = { 0 };
    sse_init (&sse, 20);
    assert_int_equal (sse_feed (&sse, SPAN ("data: 0123456789\n\n"), s_write_event, &events, &error), STATUS_OK);
    assert_int_equal (sse_feed (&sse, SPAN ("data: 0123456789"), s_write_event, &events, &error), STATUS_OK);
    assert_int_equal (sse_feed (&sse, SPAN ("0123456789"), s_write_event, &events, &error), STATUS_LIMIT);
    assert_string_equal (buffer_string (&events), "[|0123456789]");
    sse_fini (&sse);
    buffer_fini (&events);
}

static bool
s_count_one (void *arg, span_t type, span_t data)
{
    ++*(int *)arg;
    return false;
}

static void
test_a_reader_can_stop_between_events (void **state)
{
    sse_t sse;
    int count = 0;
    sse_init (&sse, 100);
    assert_int_equal (sse_feed (&sse, SPAN ("data: a\n\ndata: b\n\n"), s_count_one, &count, NULL), STATUS_CANCELLED);
    assert_int_equal (count, 1);
    sse_fini (&sse);
}

//  Text of the pieces that streams are made of, in any order.
static void
s_make_stream (random_t *random, buffer_t *stream)
{
    static const char *const pieces [] = { "data", ":", " ", "event", "id: 7", "\n", "\r", "\r\n", "\n\n", "{\"a\":1}",
        "\xEF\xBB\xBF", "\xEF", "x", "data: y\n\n", "" };
    for (uint64_t left = random_below (random, 40); left; left--)
        buffer_append_string (stream, pieces [random_below (random, sizeof pieces / sizeof *pieces)]);
}

//  Whatever the stream is and wherever it is cut, the events are the same.
static void
test_any_split_gives_the_same_events (void **state)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        random_t random;
        random_init (&random, seed);
        buffer_t stream = { 0 };
        buffer_t whole = { 0 };
        buffer_t split = { 0 };
        s_make_stream (&random, &stream);

        sse_t sse;
        sse_init (&sse, 10000);
        assert_int_equal (sse_feed (&sse, buffer_span (&stream), s_write_event, &whole, NULL), STATUS_OK);
        sse_fini (&sse);

        sse_init (&sse, 10000);
        for (span_t left = buffer_span (&stream); left.size;) {
            span_t piece = span_slice (left, 0, 1 + random_below (&random, 1 + random_below (&random, 12)));
            assert_int_equal (sse_feed (&sse, piece, s_write_event, &split, NULL), STATUS_OK);
            left = span_slice (left, piece.size, SIZE_MAX);
        }
        sse_fini (&sse);

        if (strcmp (buffer_string (&whole), buffer_string (&split)) != 0)
            fail_msg ("seed %llu: \"%s\" gave %s whole and %s in pieces", (unsigned long long)seed,
                buffer_string (&stream), buffer_string (&whole), buffer_string (&split));
        buffer_fini (&stream);
        buffer_fini (&whole);
        buffer_fini (&split);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_examples_of_the_standard),
        cmocka_unit_test (test_every_line_end_counts_once),
        cmocka_unit_test (test_a_byte_order_mark_is_no_text),
        cmocka_unit_test (test_an_unfinished_event_is_none),
        cmocka_unit_test (test_a_giant_event_is_refused),
        cmocka_unit_test (test_a_reader_can_stop_between_events),
        cmocka_unit_test (test_any_split_gives_the_same_events),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
