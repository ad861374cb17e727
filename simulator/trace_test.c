//  The reader of traces, on both forms and on what is neither.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "simulator/trace.h"

#define SECOND UINT64_C (1000000000)
#define HEADER "{\"session\":1,\"block_size\":64}\n"
#define FIRST "{\"a\":0,\"t\":0,\"in\":200,\"out\":5,\"keep\":0,\"new\":[[7,2],[20,1]],\"api\":4}\n"
#define SECOND_ROW "{\"a\":0,\"t\":30,\"in\":300,\"out\":0,\"keep\":2,\"new\":[[30,2]],\"think\":9.5,\"api\":1}\n"

static trace_t s_trace;
static error_t s_error;

static status_t
s_read (const char *text)
{
    return trace_init (&s_trace, span_from_string (text), &s_error);
}

static void
s_refuses (const char *text, const char *why)
{
    assert_int_equal (s_read (text), STATUS_INVALID);
    assert_string_equal (s_error.text, why);
}

static void
test_a_session_is_read_in_runs (void **state)
{
    assert_int_equal (s_read (HEADER FIRST SECOND_ROW), STATUS_OK);
    assert_int_equal (s_trace.requests, 2);
    assert_false (s_trace.single);
    const trace_thread_t *lead = trace_thread (trace_session (&s_trace, 0), 0);
    const trace_request_t *request = trace_request (lead, 1);
    assert_int_equal (request->prompt_tokens, 300);
    assert_int_equal (request->output_tokens, 1);    //  Nobody asks for none
    assert_int_equal (request->blocks, 4);
    assert_int_equal (request->keep, 2);
    assert_int_equal (request->run_count, 1);
    assert_int_equal (trace_runs (&s_trace, request)->first, 30);
    assert_int_equal (request->think_ns, 19 * SECOND / 2);
    trace_fini (&s_trace);
}

//  Where neither pause nor service time was recorded, times of arrival and the length of the answer have to do.
static void
test_what_was_not_recorded_is_estimated (void **state)
{
    assert_int_equal (s_read (HEADER "{\"a\":0,\"t\":0,\"in\":64,\"out\":100,\"keep\":0,\"new\":[[1,1]]}\n"
                                     "{\"a\":0,\"t\":10,\"in\":64,\"out\":1,\"keep\":1}\n"),
        STATUS_OK);
    const trace_thread_t *lead = trace_thread (trace_session (&s_trace, 0), 0);
    assert_int_equal (trace_request (lead, 0)->service_ns, 35 * SECOND / 10);
    assert_int_equal (trace_request (lead, 1)->think_ns, 65 * SECOND / 10);
    trace_fini (&s_trace);
}

//  The subagent ends at 24 s after 18 s: it began 2 s after the lead's first request.  It joins the second one.
static void
test_a_subagent_begins_behind_the_request_that_spawned_it (void **state)
{
    assert_int_equal (s_read (HEADER FIRST
                          "{\"spawn\":1,\"t\":24,\"duration_ms\":18000}\n"
                          "{\"a\":1,\"t\":0,\"in\":64,\"out\":1,\"keep\":0,\"new\":[[1,1]],\"api\":18}\n" SECOND_ROW),
        STATUS_OK);
    const trace_session_t *session = trace_session (&s_trace, 0);
    assert_int_equal (trace_thread (session, 1)->after, 0);
    assert_int_equal (trace_thread (session, 1)->offset_ns, 2 * SECOND);
    //  4 s, 2 s offset, 18 s, 1 s to join, 1 s: the pause of 9.5 s is over by then.
    assert_int_equal (trace_duration_ns (session, 60 * SECOND), 26 * SECOND);
    //  With pauses of at most 1 s: 4 + 1 + 18 + 1 + 1.
    assert_int_equal (trace_duration_ns (session, SECOND), 25 * SECOND);
    trace_fini (&s_trace);
}

//  The last block of the first prompt is not full and is left out; ids in a row become one run.
static void
test_single_requests_are_read (void **state)
{
    assert_int_equal (s_read ("{\"timestamp\":0,\"input_length\":1100,\"output_length\":3,\"hash_ids\":[4,5,6]}\n"
                              "{\"timestamp\":3000,\"input_length\":1024,\"output_length\":3,\"hash_ids\":[4,9]}\n"),
        STATUS_OK);
    assert_true (s_trace.single);
    assert_int_equal (s_trace.block_size, 512);
    const trace_thread_t *thread = trace_thread (trace_session (&s_trace, 0), 0);
    assert_int_equal (trace_request (thread, 0)->blocks, 2);
    assert_int_equal (trace_request (thread, 0)->run_count, 1);
    assert_int_equal (trace_request (thread, 1)->run_count, 2);
    assert_int_equal (trace_request (thread, 1)->at_ns, 3 * SECOND);
    trace_fini (&s_trace);
}

static void
test_what_is_no_trace_is_refused_with_its_line (void **state)
{
    s_refuses ("", "a trace without requests");
    s_refuses (HEADER, "session 0 has a thread without a request");
    s_refuses (FIRST, "line 1: it is neither a \"session\" nor a request with a \"timestamp\"");
    s_refuses (HEADER "[1]\n", "line 2: it is no object");
    s_refuses ("{\"session\":1,\"block_size\":0}\n", "line 1: block_size is 0, or another one than before");
    s_refuses (HEADER "{\"a\":0,\"in\":64,\"out\":1,\"keep\":1}\n", "line 2: \"keep\" is no number from 0 to 0");
    s_refuses (HEADER "{\"a\":1,\"in\":64,\"out\":1,\"keep\":0}\n", "line 2: \"a\" is no number from 0 to 0");
    s_refuses (HEADER "{\"a\":0,\"in\":64,\"out\":1,\"keep\":0,\"new\":[[1,2]]}\n",
        "line 2: more blocks than the prompt has tokens for");
    s_refuses (HEADER "{\"a\":0,\"in\":64,\"out\":1,\"keep\":0,\"new\":[7]}\n", "line 2: run 0 is not [first, count]");
    s_refuses (HEADER "{\"spawn\":1,\"t\":1}\n", "line 2: subagent 1 is out of order");
    s_refuses (HEADER "{\"a\":0,\"t\":-1,\"in\":64,\"out\":1,\"keep\":0}\n", "line 2: \"t\" is no time");
    s_refuses ("{\"timestamp\":5,\"input_length\":1,\"output_length\":1}\n"
               "{\"timestamp\":4,\"input_length\":1,\"output_length\":1}\n",
        "line 2: earlier than the line before it");
    s_refuses ("{\"timestamp\":5,\"input_length\":0,\"output_length\":1}\n", "line 1: a prompt without tokens");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_session_is_read_in_runs),
        cmocka_unit_test (test_what_was_not_recorded_is_estimated),
        cmocka_unit_test (test_a_subagent_begins_behind_the_request_that_spawned_it),
        cmocka_unit_test (test_single_requests_are_read),
        cmocka_unit_test (test_what_is_no_trace_is_refused_with_its_line),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
