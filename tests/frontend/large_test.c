//  Large requests: while they are worked on, others are served.

#include "tests/frontend/fixture.h"
#include "tests/held_job.h"

enum { LARGE = 200 << 10 };

static void
s_release_job (void)
{
    held_job_end ();
    stage_run (fixture_stage, REALM_SECOND);
}

static budget_t *
s_budget (void)
{
    return actor_budget (stage_find (fixture_stage, "frontend/0"));
}

//  A frontend whose jobs are held; the context is given.
static void
s_begin_holding (uint32_t context, bool engine)
{
    fixture_begin (0);
    fixture_context = context;
    fixture_engine = engine;
    fixture_add_worker (0, "tiny", 7);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    held_job_begin (actor_port (stage_find (fixture_stage, "frontend/0")));
}

//  Starts a chat of so many bytes, and has it weighed: the job that is held is the next one, or the one that was.
static chat_t *
s_ask_of (size_t size, size_t position, const char *members, uint64_t run_ns)
{
    buffer_t body = { 0 };
    buffer_append_string (&body, "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"");
    for (size_t i = 0; i < size; i++)
        buffer_append_byte (&body, 'x');
    buffer_print (&body, "\"}]%s}", members);
    held_job_t before = held_job;
    held_job.run = NULL;
    chat_t *chat = fixture_fetch (position, URL, buffer_string (&body), NULL, 0);
    buffer_fini (&body);
    stage_run (fixture_stage, run_ns);
    if (held_job.run)
        s_release_job ();
    if (before.run)
        held_job = before;
    return chat;
}

static chat_t *
s_ask_much (size_t position, const char *members, uint64_t run_ns)
{
    return s_ask_of (LARGE, position, members, run_ns);
}

//  While it is read and while its tokens are made others are served; what is left of it is freed aside, too.
static void
test_a_large_request_is_worked_on_aside (void **state)
{
    s_begin_holding (1 << 20, false);
    fixture_scripts [0].stop_after = 6;
    chat_t *large = s_ask_much (0, ",\"stream\":true", REALM_SECOND);
    for (size_t i = 1; i <= 2; i++) {
        chat_t *small = fixture_fetch (i, URL, CHAT (""), NULL, 0);
        stage_run (fixture_stage, REALM_SECOND);
        assert_int_equal (small->status, 200);
        assert_int_equal (fixture_scripts [0].requests, i);
        s_release_job ();
    }
    assert_int_equal (held_job_others, 1);
    assert_true (large->ended && large->end == STATUS_OK);
    fixture_check_streamed (large, 6, "stop");
    assert_true (fixture_scripts [0].prompt_tokens > LARGE);
    assert_true (s_budget ()->used > LARGE);
    s_release_job ();
    assert_null (held_job.run);
    assert_int_equal (s_budget ()->used, 0);
    fixture_end ();
}

//  So does the message with its tokens; whoever leaves meanwhile costs no worker anything.
static void
test_very_many_tokens_are_sent_aside (void **state)
{
    enum { VERY_LARGE = 300000 };
    s_begin_holding (1 << 20, false);
    fixture_scripts [0].stop_after = 6;
    for (uint32_t i = 0; i < 2; i++) {
        chat_t *large = s_ask_of (VERY_LARGE, 0, ",\"stream\":true", REALM_SECOND);
        s_release_job ();
        s_release_job ();
        assert_int_equal (fixture_scripts [0].requests, i);
        if (i)
            fixture_port ()->fetch_cancel (large->fetch);
        stage_run (fixture_stage, REALM_SECOND);
        s_release_job ();
        assert_int_equal (fixture_scripts [0].requests, 1);
        if (i == 0) {
            assert_true (large->ended && large->end == STATUS_OK);
            fixture_check_streamed (large, 6, "stop");
            assert_true (fixture_scripts [0].prompt_tokens > VERY_LARGE);
        }
        large->fetch = NULL;
        s_release_job ();
        assert_null (held_job.run);
        assert_int_equal (s_budget ()->used, 0);
    }
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  What a worker is to make tokens of is rendered aside, too.
static void
test_a_large_conversation_is_rendered_aside (void **state)
{
    s_begin_holding (1 << 20, true);
    fixture_scripts [0].stop_after = 6;
    chat_t *chat = s_ask_much (0, ",\"stream\":true", REALM_SECOND);
    s_release_job ();
    assert_int_equal (fixture_scripts [0].renderings, 0);
    s_release_job ();
    assert_int_equal (fixture_scripts [0].renderings, 1);
    assert_int_equal (fixture_scripts [0].requests, 0);
    s_release_job ();
    fixture_check_streamed (chat, 6, "stop");
    assert_int_equal (fixture_scripts [0].prompt_tokens, 3);
    s_release_job ();
    assert_int_equal (s_budget ()->used, 0);
    fixture_end ();
}

//  So are many tokens that a worker made, however short what they were made of.
static void
test_many_tokens_of_a_worker_are_taken_over_aside (void **state)
{
    enum { TOKENS = 40000 };
    s_begin_holding (1 << 20, true);
    fixture_scripts [0].stop_after = 6;
    fixture_made = TOKENS;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true"));
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_scripts [0].renderings, 1);
    assert_int_equal (fixture_scripts [0].requests, 0);
    s_release_job ();
    assert_null (held_job.run);
    fixture_check_streamed (chat, 6, "stop");
    assert_int_equal (fixture_scripts [0].prompt_tokens, TOKENS);
    fixture_end ();
}

//  Nobody wants what a job makes of a worker's answer any more, and what wanted it is gone before the job has ended.
static void
test_a_client_that_leaves_while_an_answer_is_worked_on_is_dropped (void **state)
{
    s_begin_holding (1 << 20, true);
    chat_t *chat = s_ask_much (0, "", REALM_SECOND);
    s_release_job ();
    s_release_job ();
    assert_int_equal (fixture_scripts [0].renderings, 1);
    held_job_t work = held_job;
    held_job.run = NULL;
    fixture_port ()->fetch_cancel (chat->fetch);
    chat->fetch = NULL;
    stage_run (fixture_stage, REALM_SECOND);
    s_release_job ();
    assert_int_equal (fixture_ended.last.code, 499);
    assert_int_equal (s_budget ()->used, 0);
    work.run (work.data);
    work.done (work.arg, work.data);
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_scripts [0].requests, 0);
    assert_null (held_job.run);
    fixture_end ();
}

static void
test_no_token_is_made_of_a_prompt_that_does_not_fit (void **state)
{
    s_begin_holding (LARGE / 2, false);
    chat_t *chat = s_ask_much (0, "", REALM_SECOND);
    s_release_job ();
    assert_int_equal (chat->status, 400);
    s_release_job ();
    assert_null (held_job.run);
    assert_true (fixture_contains (chat, "context_length_exceeded"));
    fixture_end ();
}

//  Whatever the job is about, nobody wants it any more: what it made is freed, and its memory is given back when it is.
static void
test_a_client_that_leaves_a_job_is_dropped_with_it (void **state)
{
    for (unsigned jobs_done = 0; jobs_done < 2; jobs_done++) {
        s_begin_holding (1 << 20, false);
        chat_t *chat = s_ask_much (0, "", REALM_SECOND);
        if (jobs_done)
            s_release_job ();
        fixture_port ()->fetch_cancel (chat->fetch);
        chat->fetch = NULL;
        stage_run (fixture_stage, REALM_SECOND);
        assert_int_equal (fixture_ended.count, 1);
        assert_int_equal (fixture_ended.last.code, 499);
        assert_int_equal (fixture_ended.last.completion_tokens, 0);
        assert_true (s_budget ()->used > LARGE);
        for (unsigned jobs = 0; jobs <= jobs_done; jobs++)
            s_release_job ();
        assert_null (held_job.run);
        assert_int_equal (fixture_scripts [0].requests, 0);
        assert_int_equal (s_budget ()->used, 0);
        fixture_check_router_is_idle ();
        fixture_end ();
    }
}

static void
test_a_drain_waits_for_what_is_read (void **state)
{
    s_begin_holding (1 << 20, false);
    chat_t *chat = s_ask_much (0, "", REALM_SECOND);
    actor_drain (stage_find (fixture_stage, "frontend/0"));
    stage_run (fixture_stage, REALM_SECOND);
    assert_false (chat->ended);
    s_release_job ();
    assert_int_equal (chat->status, 503);
    assert_true (fixture_contains (chat, "\"code\":\"draining\""));
    assert_null (stage_find (fixture_stage, "frontend/0"));
    s_release_job ();
    fixture_end ();
}

//  What there is no memory for is refused before it takes any.
static void
test_large_requests_keep_to_the_memory_there_is (void **state)
{
    s_begin_holding (1 << 20, false);
    s_budget ()->limit = 20 * LARGE;
    chat_t *first = s_ask_much (0, ",\"max_tokens\":3", REALM_SECOND);
    chat_t *second = s_ask_much (1, "", REALM_SECOND);
    assert_false (first->ended);
    assert_int_equal (second->status, 529);
    assert_true (fixture_contains (second, "\"code\":\"overloaded\""));
    s_budget ()->limit = 2 * LARGE;
    chat_t *third = s_ask_much (2, "", REALM_SECOND);
    assert_int_equal (third->status, 413);
    assert_true (fixture_contains (third, "\"code\":\"request_too_large\""));
    s_budget ()->limit = 20 * LARGE;
    s_release_job ();
    s_release_job ();
    assert_int_equal (first->status, 200);
    s_release_job ();
    assert_int_equal (s_budget ()->used, 0);
    fixture_end ();
}

//  A few bytes can stand for a value of hundreds.
static void
test_many_small_values_take_the_memory_they_take (void **state)
{
    buffer_t more = { 0 };
    buffer_append_string (&more, ",\"more\":[{}");
    for (size_t i = 0; i < 10000; i++)
        buffer_append_string (&more, ",{}");
    buffer_append_byte (&more, ']');
    s_begin_holding (1 << 20, false);
    s_budget ()->limit = 20 * LARGE;
    chat_t *chat = s_ask_much (0, buffer_string (&more), REALM_SECOND);
    assert_int_equal (chat->status, 413);
    fixture_end ();
    buffer_fini (&more);
}

static void
test_it_can_end_while_a_job_is_under_way (void **state)
{
    for (uint64_t moment = 0; moment < 40; moment++) {
        fixture_begin (0);
        fixture_context = 1 << 20;
        fixture_add_worker (0, "tiny", 7);
        stage_run (fixture_stage, 2 * REALM_SECOND);
        s_ask_much (0, "", moment * 100 * REALM_US);
        if (moment % 2)
            stage_crash (fixture_stage, "frontend/0");
        fixture_end ();
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_large_request_is_worked_on_aside),
        cmocka_unit_test (test_very_many_tokens_are_sent_aside),
        cmocka_unit_test (test_a_large_conversation_is_rendered_aside),
        cmocka_unit_test (test_many_tokens_of_a_worker_are_taken_over_aside),
        cmocka_unit_test (test_a_client_that_leaves_while_an_answer_is_worked_on_is_dropped),
        cmocka_unit_test (test_no_token_is_made_of_a_prompt_that_does_not_fit),
        cmocka_unit_test (test_a_client_that_leaves_a_job_is_dropped_with_it),
        cmocka_unit_test (test_a_drain_waits_for_what_is_read),
        cmocka_unit_test (test_large_requests_keep_to_the_memory_there_is),
        cmocka_unit_test (test_many_small_values_take_the_memory_they_take),
        cmocka_unit_test (test_it_can_end_while_a_job_is_under_way),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
