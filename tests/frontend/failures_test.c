//  Workers that fail, clients that leave or read slowly, and the end.

#include <stdlib.h>

#include "actors/router/router.h"
#include "tests/frontend/fixture.h"

//  ---- Workers that fail ---------------------------------------------------------------------------------------------

//  Whoever goes on gets the tokens that are there; the client sees one text, without gap or repeat.
static void
test_a_failing_worker_is_replaced_in_the_middle_of_a_text (void **state)
{
    fixture_begin (2);
    fixture_scripts [0].fail_after = fixture_scripts [1].fail_after = 30;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true,\"max_tokens\":50"));
    stage_run (fixture_stage, 2 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    fixture_check_streamed (chat, 50, "length");
    assert_int_equal (fixture_scripts [0].requests + fixture_scripts [1].requests, 2);
    assert_int_equal (fixture_scripts [0].delivered + fixture_scripts [1].delivered, 30);
    assert_int_equal (fixture_ended.last.migrations, 1);
    assert_int_equal (fixture_ended.last.completion_tokens, 50);
    fixture_check_router_is_idle ();
    fixture_end ();
}

static void
test_a_killed_worker_is_replaced_once_its_lease_is_lost (void **state)
{
    fixture_begin (1);
    fixture_scripts [0].pause_ns = REALM_SECOND;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true,\"max_tokens\":12"));
    stage_run (fixture_stage, 2500 * REALM_MS);
    fixture_add_worker (1, "tiny", 7);
    stage_run (fixture_stage, 500 * REALM_MS);
    stage_crash (fixture_stage, "worker/a");
    stage_run (fixture_stage, 30 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    fixture_check_streamed (chat, 12, "length");
    assert_true (fixture_scripts [1].delivered > 0);
    assert_string_equal (fixture_ended.worker, "worker/b");
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  Even the only one: restarted, it is another worker, and goes on where its predecessor was.
static void
test_a_worker_restarted_in_the_middle_of_a_text_goes_on (void **state)
{
    fixture_begin (1);
    fixture_scripts [0].pause_ns = 100 * REALM_MS;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true,\"max_tokens\":60"));
    stage_run (fixture_stage, REALM_SECOND);
    stage_crash (fixture_stage, "worker/a");
    stage_run (fixture_stage, REALM_SECOND);
    stage_start (fixture_stage, "worker/a");
    stage_run (fixture_stage, 10 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    fixture_check_streamed (chat, 60, "length");
    assert_true (fixture_scripts [0].delivered > 0);
    assert_int_equal (fixture_ended.last.migrations, 1);
    fixture_check_router_is_idle ();
    fixture_end ();
}

static void
test_a_worker_that_says_nothing_is_left (void **state)
{
    fixture_begin (2);
    fixture_scripts [0].silent = true;
    fixture_scripts [1].stop_after = 5;
    chat_t *first = fixture_fetch (0, URL, CHAT (",\"stream\":true"), NULL, 0);
    chat_t *second = fixture_fetch (1, URL, CHAT (",\"stream\":true"), NULL, 0);
    stage_run (fixture_stage, 70 * REALM_SECOND);
    fixture_check_streamed (first, 5, "stop");
    fixture_check_streamed (second, 5, "stop");
    assert_int_equal (fixture_scripts [0].cancels, fixture_scripts [0].requests);
    assert_true (fixture_scripts [0].requests > 0);
    fixture_check_router_is_idle ();
    fixture_end ();
}

static void
test_when_nobody_can_the_client_hears_it_in_the_stream (void **state)
{
    fixture_begin (2);
    fixture_scripts [0].fail_after = fixture_scripts [1].fail_after = 6;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true"));
    stage_run (fixture_stage, 10 * REALM_SECOND);
    assert_true (chat->ended);
    fixture_check_streamed (chat, 12, "");
    assert_true (fixture_contains (chat, "data: {\"error\":{"));
    assert_false (fixture_contains (chat, "[DONE]"));
    assert_int_equal (fixture_ended.count, 1);
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  Every worker has failed it and stays: nobody is waited for, and the last one's own words say why.
static void
test_when_every_worker_has_failed_it_the_client_hears_it_at_once (void **state)
{
    static const struct {
        status_t refusal;    //  Of both workers
        int status;          //  Expected
    } cases [] = { { STATUS_IO, 502 }, { STATUS_AGAIN, 529 }, { STATUS_LIMIT, 529 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_begin (2);
        fixture_scripts [0].refusal = fixture_scripts [1].refusal = cases [i].refusal;
        chat_t *chat = fixture_ask (CHAT (""));
        stage_run (fixture_stage, 100 * REALM_MS);
        assert_true (chat->ended);
        assert_int_equal (chat->status, cases [i].status);
        assert_true (fixture_contains (chat, "not today; no other worker serves this model."));
        assert_int_equal (fixture_scripts [0].requests + fixture_scripts [1].requests, 2);
        assert_int_equal (fixture_metric ("stator_retries_refused_total", "reason=\"nobody_else\""), 1);
        fixture_check_router_is_idle ();
        fixture_end ();
    }
}

//  The engine of one died and the other one fails it: the first one is restarted, and serves it.
static void
test_a_worker_that_died_is_waited_for_when_the_others_fail (void **state)
{
    fixture_begin (1);
    fixture_scripts [0].refusal = STATUS_UNREACHABLE;
    fixture_scripts [1].refusal = STATUS_IO;
    chat_t *chat = fixture_ask (CHAT (",\"max_tokens\":3"));
    stage_run (fixture_stage, 100 * REALM_MS);
    fixture_add_worker (1, "tiny", 7);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    assert_int_equal (fixture_scripts [0].requests, 1);
    assert_int_equal (fixture_scripts [1].requests, 1);
    assert_false (chat->ended);
    fixture_scripts [0].refusal = STATUS_OK;
    stage_crash (fixture_stage, "worker/a");
    stage_start (fixture_stage, "worker/a");
    stage_run (fixture_stage, 5 * REALM_SECOND);
    assert_int_equal (chat->status, 200);
    assert_string_equal (fixture_ended.worker, "worker/a");
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  A request that is wrong for one worker is wrong for all.
static void
test_what_an_engine_refuses_is_not_tried_elsewhere (void **state)
{
    fixture_begin (2);
    fixture_scripts [0].refusal = fixture_scripts [1].refusal = STATUS_INVALID;
    chat_t *chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (chat->status, 400);
    assert_true (fixture_contains (chat, "not today"));
    assert_int_equal (fixture_scripts [0].requests + fixture_scripts [1].requests, 1);
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  Workers that are restarted one after the other: whoever is sent to the next one the moment that his own is gone comes
//  just before its end, and has soon tried as many as are allowed.
static void
test_workers_that_die_in_a_row_do_not_use_up_the_attempts (void **state)
{
    static const char *const workers [] = { "worker/a", "worker/b", "worker/c" };
    fixture_begin (3);
    for (size_t i = 0; i < 3; i++)
        fixture_scripts [i].pause_ns = 100 * REALM_MS;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true,\"max_tokens\":60"));
    stage_run (fixture_stage, REALM_SECOND);
    for (size_t i = 0; i < 3; i++) {
        realm_process_signal (stage_process (fixture_stage, workers [i]), PROCESS_SIGNAL_KILL);
        stage_run (fixture_stage, 3 * REALM_MS);
    }
    for (size_t i = 0; i < 3; i++)
        stage_start (fixture_stage, workers [i]);
    stage_run (fixture_stage, 20 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    fixture_check_streamed (chat, 60, "length");
    assert_in_range (fixture_ended.last.migrations, 1, 2);
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  ---- What is not tried elsewhere -----------------------------------------------------------------------------------

//  A fleet in which everything fails is asked little more often than there are requests.
static void
test_retries_are_paid_from_a_budget (void **state)
{
    fixture_begin (0);
    frontend_options_t options = fixture_options [0];
    options.retries = (retry_limits_t){ .share = 500000, .burst = 3 };
    actor_reload (stage_find (fixture_stage, "frontend/0"), &options);
    for (size_t i = 0; i < 3; i++)
        fixture_add_worker (i, "tiny", 7);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    for (size_t i = 0; i < 3; i++)
        fixture_scripts [i].refusal = STATUS_IO;
    enum { REQUESTS = 8, RETRIES = 3 + (REQUESTS - 1) / 2 };
    for (size_t i = 0; i < REQUESTS; i++) {
        chat_t *chat = fixture_fetch (i, URL, CHAT (""), NULL, 0);
        stage_run (fixture_stage, REALM_SECOND);
        assert_int_equal (chat->status, 502);
    }
    uint32_t asked = 0;
    for (size_t i = 0; i < 3; i++)
        asked += fixture_scripts [i].requests;
    assert_int_equal (asked, REQUESTS + RETRIES);
    assert_int_equal (fixture_metric ("stator_retries_total", ""), RETRIES);
    assert_int_equal (fixture_metric ("stator_retries_refused_total", "reason=\"budget\"") +
                          fixture_metric ("stator_retries_refused_total", "reason=\"attempts\""),
        REQUESTS);
    assert_true (fixture_metric ("stator_retries_refused_total", "reason=\"budget\"") >= REQUESTS - RETRIES);
    chat_t *last = &fixture_chats [REQUESTS - 1];
    assert_true (fixture_contains (last, "\"code\":\"retry_budget_spent\""));
    assert_true (fixture_contains (last, "not today; no other worker is tried, because the retry budget"));
    assert_string_equal (fixture_ended.reason, "retry_budget_spent");
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  So are workers that are to read a conversation, and they are not asked in the same breath.
static void
test_reading_a_prompt_elsewhere_is_paid_and_waits (void **state)
{
    enum { BURST = 3 };
    fixture_begin (0);
    frontend_options_t options = fixture_options [0];
    options.retries = (retry_limits_t){ .burst = BURST };
    actor_reload (stage_find (fixture_stage, "frontend/0"), &options);
    fixture_engine = true;
    fixture_add_worker (0, "tiny", 7);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_busy = 1000;
    chat_t *chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, 10 * REALM_MS);
    assert_int_equal (fixture_scripts [0].renderings, 1);
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_scripts [0].renderings, 3);
    assert_int_equal (chat->status, 529);
    assert_int_equal (fixture_metric ("stator_retries_refused_total", "reason=\"attempts\""), 1);

    chat = fixture_ask (CHAT (""));
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_scripts [0].renderings, 5);
    assert_int_equal (chat->status, 502);
    assert_true (fixture_contains (chat, "\"code\":\"retry_budget_spent\""));
    assert_true (fixture_contains (chat, "not now; no other worker is tried, because the retry budget"));
    assert_int_equal (fixture_metric ("stator_retries_total", ""), BURST);

    fixture_busy = 0;
    chat = fixture_ask (CHAT (",\"max_tokens\":3"));
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (chat->status, 200);
    fixture_end ();
}

//  Which answers go on elsewhere where what is drawn without a seed may not.
static void
test_what_is_drawn_without_a_seed_can_be_kept_from_moving (void **state)
{
    static const struct {
        const char *body;    //  What is asked
        uint32_t begun;      //  Tokens that were there when the worker failed
        bool may_migrate;    //  frontend.migrate_unseeded
        bool goes_on;        //  Expected
    } cases [] = {
        { CHAT (",\"stream\":true,\"max_tokens\":50"), 30, true, true },
        { CHAT (",\"stream\":true,\"max_tokens\":50"), 30, false, false },
        { CHAT (",\"stream\":true,\"max_tokens\":50,\"temperature\":0.5"), 30, false, false },
        { CHAT (",\"stream\":true,\"max_tokens\":50,\"temperature\":0"), 30, false, true },
        { CHAT (",\"stream\":true,\"max_tokens\":50,\"top_k\":1"), 30, false, true },
        { CHAT (",\"stream\":true,\"max_tokens\":50,\"seed\":3"), 30, false, true },
        { CHAT (",\"stream\":true,\"max_tokens\":50"), 0, false, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_begin (2);
        frontend_options_t options = fixture_options [0];
        options.migrate_unseeded = cases [i].may_migrate;
        actor_reload (stage_find (fixture_stage, "frontend/0"), &options);
        fixture_scripts [0].fail_after = fixture_scripts [1].fail_after = cases [i].begun;
        fixture_scripts [0].refusal = cases [i].begun ? STATUS_OK : STATUS_IO;
        chat_t *chat = fixture_ask (cases [i].body);
        stage_run (fixture_stage, 2 * REALM_SECOND);
        assert_true (chat->ended);
        assert_int_equal (fixture_ended.last.migrations, cases [i].goes_on);
        fixture_check_streamed (chat, cases [i].goes_on ? 50 : 30, cases [i].goes_on ? "length" : "");
        assert_int_equal (fixture_contains (chat, "\"code\":\"cannot_migrate\""), !cases [i].goes_on);
        assert_int_equal (fixture_contains (chat, "because it is drawn without a seed"), !cases [i].goes_on);
        assert_int_equal (
            fixture_metric ("stator_retries_refused_total", "reason=\"unseeded\""), cases [i].goes_on ? 0 : 1);
        fixture_check_router_is_idle ();
        fixture_end ();
    }
}

//  ---- Routers that stand still --------------------------------------------------------------------------------------

static void
s_freeze (const char *address, bool frozen)
{
    realm_process_signal (stage_process (fixture_stage, address), frozen ? PROCESS_SIGNAL_STOP : PROCESS_SIGNAL_CONT);
}

//  Shorter and longer than a lease.
static void
test_a_router_that_stood_still_hears_what_ended_meanwhile (void **state)
{
    static const uint64_t seconds [] = { 4, 8, 30 };
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        fixture_begin (1);
        fixture_scripts [0].pause_ns = 100 * REALM_MS;
        chat_t *chat = fixture_ask (CHAT (",\"stream\":true,\"max_tokens\":60"));
        stage_run (fixture_stage, REALM_SECOND);
        s_freeze ("router/0", true);
        stage_run (fixture_stage, seconds [i] * REALM_SECOND);
        fixture_check_streamed (chat, 60, "length");
        s_freeze ("router/0", false);
        stage_run (fixture_stage, 15 * REALM_SECOND);
        fixture_check_router_is_idle ();
        fixture_end ();
    }
}

static void
s_ask_all (void)
{
    for (size_t i = 0; i < FIXTURE_CHATS; i++)
        fixture_fetch (i, URL, CHAT (",\"stream\":true,\"max_tokens\":30"), NULL, 0);
    stage_run (fixture_stage, 8 * REALM_SECOND);
    for (size_t i = 0; i < FIXTURE_CHATS; i++)
        fixture_check_streamed (&fixture_chats [i], 30, "length");
}

//  It decides about what came while it stood still, though its lease was lost and another router has been asked.
static void
test_a_router_that_stood_still_hears_that_another_one_decided (void **state)
{
    fixture_begin (1);
    fixture_add_router ("1");
    stage_run (fixture_stage, 3 * REALM_SECOND);
    s_ask_all ();
    s_freeze ("router/0", true);
    s_ask_all ();
    s_freeze ("router/0", false);
    stage_run (fixture_stage, 15 * REALM_SECOND);
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  Requests that a router counts.
static size_t
s_active (const char *address)
{
    buffer_t text = { 0 };
    actor_t *router = stage_find (fixture_stage, address);
    router_class.describe (actor_state (router), router, &text);
    const char *active_text = strstr (buffer_string (&text), "active: ");
    assert_non_null (active_text);
    size_t active = strtoul (active_text + strlen ("active: "), NULL, 10);
    buffer_fini (&text);
    return active;
}

//  A router stands still for as long, comes back, and gets requests again that had left it, because their worker died.
static void
s_serve_again_after (uint64_t still_ns)
{
    fixture_begin (1);
    fixture_add_router ("1");
    stage_run (fixture_stage, 3 * REALM_SECOND);
    s_freeze ("router/0", true);
    fixture_scripts [0].pause_ns = fixture_scripts [1].pause_ns = 500 * REALM_MS;
    for (size_t i = 0; i < FIXTURE_CHATS; i++)
        fixture_fetch (i, URL, CHAT (",\"stream\":true,\"max_tokens\":300"), NULL, 0);
    stage_run (fixture_stage, 14 * REALM_SECOND);
    assert_int_equal (s_active ("router/1"), FIXTURE_CHATS);
    fixture_add_worker (1, "tiny", 7);
    stage_run (fixture_stage, still_ns);
    s_freeze ("router/0", false);
    stage_run (fixture_stage, 100 * REALM_MS);
    stage_crash (fixture_stage, "worker/a");
    stage_run (fixture_stage, 6 * REALM_SECOND);
}

//  That they had left it is told again every two seconds, but no more once they are back.
static void
test_what_a_router_serves_again_is_not_ended_there (void **state)
{
    for (uint64_t still_ms = 0; still_ms < 2000; still_ms += 250) {
        s_serve_again_after (still_ms * REALM_MS);
        assert_true (s_active ("router/0") > 0);
        assert_int_equal (s_active ("router/0") + s_active ("router/1"), FIXTURE_CHATS);
        fixture_end ();
    }
}

//  ---- Clients that leave, or read slowly ----------------------------------------------------------------------------

static void
test_a_client_that_leaves_is_heard_by_the_worker (void **state)
{
    fixture_begin (1);
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true"));
    stage_run (fixture_stage, 200 * REALM_MS);
    assert_true (fixture_scripts [0].sent > 0);
    fixture_port ()->fetch_cancel (chat->fetch);
    chat->fetch = NULL;
    stage_run (fixture_stage, 50 * REALM_MS);
    assert_int_equal (fixture_scripts [0].cancels, 1);
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_ended.count, 1);
    assert_int_equal (fixture_ended.last.code, 499);
    assert_string_equal (fixture_ended.reason, "cancelled");
    fixture_check_router_is_idle ();
    fixture_end ();
}

//  What nobody reads is not computed: the worker is given no more credit than the client has room for.
static void
test_a_slow_reader_holds_the_worker_back (void **state)
{
    fixture_begin (0);
    fixture_context = 5000;
    fixture_add_worker (0, "tiny", 7);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_scripts [0].pause_ns = REALM_MS;
    fixture_scripts [0].item_tokens = 1;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true,\"max_tokens\":4000"));
    stage_run (fixture_stage, 100 * REALM_MS);
    fixture_port ()->fetch_pause (chat->fetch, true);
    stage_run (fixture_stage, 20 * REALM_SECOND);
    uint32_t sent = fixture_scripts [0].sent;
    assert_in_range (sent, 100, 1500);
    stage_run (fixture_stage, 20 * REALM_SECOND);
    assert_int_equal (fixture_scripts [0].sent, sent);
    fixture_port ()->fetch_pause (chat->fetch, false);
    stage_run (fixture_stage, 20 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    fixture_check_streamed (chat, 4000, "length");
    fixture_end ();
}

//  The same across two frontends: the owner is held back by the client of the other.
static void
test_a_slow_reader_holds_back_the_owner_of_its_session (void **state)
{
    for (int i = 0; i < 4; i++) {
        char name [16];
        snprintf (name, sizeof name, "s%d", i);
        http_header_t session = { SPAN ("x-session-id"), span_from_string (name) };
        fixture_begin (0);
        fixture_context = 5000;
        fixture_add_frontend (1);
        fixture_add_worker (0, "tiny", 7);
        stage_run (fixture_stage, 3 * REALM_SECOND);
        fixture_scripts [0].pause_ns = REALM_MS;
        fixture_scripts [0].item_tokens = 1;
        chat_t *chat = fixture_fetch (0, URL, CHAT (",\"stream\":true,\"max_tokens\":4500"), &session, 1);
        stage_run (fixture_stage, 100 * REALM_MS);
        fixture_port ()->fetch_pause (chat->fetch, true);
        stage_run (fixture_stage, 20 * REALM_SECOND);
        assert_in_range (fixture_scripts [0].sent, 100, 3000);
        fixture_port ()->fetch_pause (chat->fetch, false);
        stage_run (fixture_stage, 20 * REALM_SECOND);
        assert_true (chat->ended && chat->end == STATUS_OK);
        fixture_check_streamed (chat, 4500, "length");
        fixture_end ();
    }
}

//  ---- The end -------------------------------------------------------------------------------------------------------

static void
test_draining_finishes_streams_and_takes_no_more (void **state)
{
    fixture_begin (1);
    fixture_scripts [0].pause_ns = 200 * REALM_MS;
    fixture_scripts [0].stop_after = 30;
    chat_t *chat = fixture_ask (CHAT (",\"stream\":true"));
    stage_run (fixture_stage, 500 * REALM_MS);
    stage_drain (fixture_stage, "frontend/0");
    stage_run (fixture_stage, 500 * REALM_MS);
    assert_non_null (stage_find (fixture_stage, "frontend/0"));
    stage_run (fixture_stage, 10 * REALM_SECOND);
    fixture_check_streamed (chat, 30, "stop");
    assert_null (stage_find (fixture_stage, "frontend/0"));
    fixture_end ();
}

//  Destroyed in the middle of everything, it leaves nothing behind.
static void
test_it_can_end_at_any_moment (void **state)
{
    for (uint64_t moment = 0; moment < 30; moment++) {
        fixture_begin (1);
        fixture_scripts [0].stop_after = 6;
        fixture_ask (CHAT (",\"stream\":true"));
        fixture_fetch (1, URL, CHAT (""), NULL, 0);
        stage_run (fixture_stage, moment * 2 * REALM_MS);
        fixture_end ();
    }
}

//  Nobody is left to say that its requests ended.
static void
test_what_a_killed_frontend_routed_is_not_counted_any_more (void **state)
{
    fixture_begin (1);
    fixture_ask (CHAT (",\"stream\":true"));
    stage_run (fixture_stage, 100 * REALM_MS);
    stage_crash (fixture_stage, "frontend/0");
    stage_start (fixture_stage, "frontend/0");
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_check_router_is_idle ();
    fixture_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_failing_worker_is_replaced_in_the_middle_of_a_text),
        cmocka_unit_test (test_a_killed_worker_is_replaced_once_its_lease_is_lost),
        cmocka_unit_test (test_a_worker_restarted_in_the_middle_of_a_text_goes_on),
        cmocka_unit_test (test_a_worker_that_says_nothing_is_left),
        cmocka_unit_test (test_when_nobody_can_the_client_hears_it_in_the_stream),
        cmocka_unit_test (test_when_every_worker_has_failed_it_the_client_hears_it_at_once),
        cmocka_unit_test (test_a_worker_that_died_is_waited_for_when_the_others_fail),
        cmocka_unit_test (test_what_an_engine_refuses_is_not_tried_elsewhere),
        cmocka_unit_test (test_workers_that_die_in_a_row_do_not_use_up_the_attempts),
        cmocka_unit_test (test_retries_are_paid_from_a_budget),
        cmocka_unit_test (test_reading_a_prompt_elsewhere_is_paid_and_waits),
        cmocka_unit_test (test_what_is_drawn_without_a_seed_can_be_kept_from_moving),
        cmocka_unit_test (test_a_router_that_stood_still_hears_what_ended_meanwhile),
        cmocka_unit_test (test_a_router_that_stood_still_hears_that_another_one_decided),
        cmocka_unit_test (test_what_a_router_serves_again_is_not_ended_there),
        cmocka_unit_test (test_a_client_that_leaves_is_heard_by_the_worker),
        cmocka_unit_test (test_a_slow_reader_holds_the_worker_back),
        cmocka_unit_test (test_a_slow_reader_holds_back_the_owner_of_its_session),
        cmocka_unit_test (test_draining_finishes_streams_and_takes_no_more),
        cmocka_unit_test (test_it_can_end_at_any_moment),
        cmocka_unit_test (test_what_a_killed_frontend_routed_is_not_counted_any_more),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
