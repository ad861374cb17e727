//  Frontends that serve each other's sessions.

#include "tests/frontend/fixture.h"

//  Wherever a turn of a session arrives, one frontend serves it.
static void
test_a_session_is_served_by_its_owner (void **state)
{
    fixture_begin (1);
    fixture_add_frontend (1);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_scripts [0].item_tokens = 5;
    static const http_header_t session = { { (const uint8_t *)"x-session-id", 12 }, { (const uint8_t *)"s1", 2 } };
    static const char *const urls [] = { URL, "http://f1:8000/v1/chat/completions" };
    uint64_t owners [2];
    for (size_t i = 0; i < 2; i++) {
        chat_t *chat = fixture_fetch (i, urls [i], CHAT (",\"stream\":true,\"max_tokens\":300"), &session, 1);
        stage_run (fixture_stage, 3 * REALM_SECOND);
        assert_true (chat->ended && chat->end == STATUS_OK);
        assert_int_equal (chat->status, 200);
        fixture_check_streamed (chat, 300, "length");
        owners [i] = fixture_ended.source;
    }
    assert_int_equal (fixture_ended.count, 2);
    assert_int_equal (owners [0], owners [1]);
    fixture_end ();
}

//  Whole answers and refusals pass as well, and a client that leaves is heard two frontends away.
static void
test_everything_passes_between_frontends (void **state)
{
    fixture_begin (1);
    fixture_add_frontend (1);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_scripts [0].stop_after = 9;
    fixture_scripts [0].pause_ns = 100 * REALM_MS;
    char name [16];
    http_header_t session = { SPAN ("x-session-id"), { (const uint8_t *)name, 2 } };
    for (int i = 0; i < 6; i++) {
        snprintf (name, sizeof name, "s%d", i);
        chat_t *whole = fixture_fetch (0, URL, CHAT (""), &session, 1);
        chat_t *refused = fixture_fetch (
            1, URL, "{\"model\":\"huge\",\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}", &session, 1);
        stage_run (fixture_stage, REALM_SECOND);
        assert_int_equal (whole->status, 200);
        assert_true (fixture_contains (whole, "\"content\":\"the quick\""));
        assert_int_equal (refused->status, 404);
        chat_t *leaver = fixture_fetch (2, URL, CHAT (",\"stream\":true"), &session, 1);
        stage_run (fixture_stage, 150 * REALM_MS);
        fixture_port ()->fetch_cancel (leaver->fetch);
        leaver->fetch = NULL;
        stage_run (fixture_stage, REALM_SECOND);
        assert_int_equal (fixture_ended.last.code, 499);
        fixture_check_router_is_idle ();
    }
    assert_int_equal (fixture_ended.count, 18);
    fixture_end ();
}

//  The harness read slowly and its frontend died: nothing is left at the owner that would keep it from ending.
static void
test_what_a_dead_frontend_handed_over_is_given_up (void **state)
{
    fixture_begin (0);
    fixture_context = 100000;
    fixture_add_worker (0, "tiny", 7);
    fixture_options [1].write_timeout_ns = 10 * REALM_SECOND;
    fixture_add_frontend (1);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_scripts [0].item_tokens = 8;
    char name [16];
    http_header_t session = { SPAN ("x-session-id"), { (const uint8_t *)name, 2 } };
    for (size_t i = 0; i < 6; i++) {
        snprintf (name, sizeof name, "s%zu", i);
        chat_t *chat = fixture_fetch (i, URL, CHAT (",\"stream\":true,\"max_tokens\":90000"), &session, 1);
        fixture_port ()->fetch_pause (chat->fetch, true);
    }
    stage_run (fixture_stage, 20 * REALM_SECOND);
    stage_crash (fixture_stage, "frontend/0");
    stage_run (fixture_stage, 10 * REALM_SECOND);
    stage_drain (fixture_stage, "frontend/1");
    stage_run (fixture_stage, 30 * REALM_SECOND);
    assert_null (stage_find (fixture_stage, "frontend/1"));
    fixture_end ();
}

//  Nobody loses a turn because its owner is not there.
static void
test_a_request_whose_owner_is_dead_is_served_where_it_came (void **state)
{
    fixture_begin (1);
    fixture_add_frontend (1);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_scripts [0].stop_after = 4;
    char name [16];
    http_header_t session = { SPAN ("x-session-id"), { (const uint8_t *)name, 0 } };
    stage_crash (fixture_stage, "frontend/1");
    for (int i = 0; i < 6; i++) {
        snprintf (name, sizeof name, "s%d", i);
        session.value = span_from_string (name);
        fixture_fetch ((size_t)i, URL, CHAT (",\"stream\":true"), &session, 1);
    }
    stage_run (fixture_stage, 15 * REALM_SECOND);
    for (int i = 0; i < 6; i++) {
        assert_int_equal (fixture_chats [i].status, 200);
        fixture_check_streamed (&fixture_chats [i], 4, "stop");
    }
    fixture_end ();
}

//  The answers of a frontend that dies end with an error that the client can read, and are counted; nobody else notices.
static void
test_an_answer_whose_owner_dies_ends_with_an_error (void **state)
{
    fixture_begin (1);
    fixture_add_frontend (1);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_scripts [0].pause_ns = 100 * REALM_MS;
    fixture_scripts [0].stop_after = 100;
    char name [16];
    http_header_t session = { SPAN ("x-session-id"), { (const uint8_t *)name, 2 } };
    for (size_t i = 0; i < 6; i++) {
        snprintf (name, sizeof name, "s%zu", i);
        fixture_fetch (i, URL, CHAT (",\"stream\":true"), &session, 1);
    }
    stage_run (fixture_stage, 3 * REALM_SECOND);
    stage_crash (fixture_stage, "frontend/1");
    stage_run (fixture_stage, 30 * REALM_SECOND);
    int64_t broken = 0;
    for (size_t i = 0; i < 6; i++) {
        chat_t *chat = &fixture_chats [i];
        assert_true (chat->ended && chat->end == STATUS_OK);
        if (!fixture_contains (chat, "\"code\":\"frontend_lost\"")) {
            fixture_check_streamed (chat, 100, "stop");
            continue;
        }
        broken++;
        assert_true (fixture_contains (
            chat, "}\n\ndata: {\"error\":{\"message\":\"The frontend that has this session was lost"));
        assert_false (fixture_contains (chat, "[DONE]"));
    }
    assert_in_range (broken, 1, 5);
    assert_int_equal (fixture_metric ("stator_requests_owners_lost_total", ""), broken);
    fixture_end ();
}

//  A chat that is made into a message aside, where another frontend owns its session.
static chat_t *
s_ask_large (size_t position)
{
    enum { LARGE = 200000 };
    char name [16];
    snprintf (name, sizeof name, "s%zu", position);
    http_header_t session = { SPAN ("x-session-id"), span_from_string (name) };
    buffer_t body = { 0 };
    buffer_append_string (&body, "{\"model\":\"tiny\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"");
    for (size_t i = 0; i < LARGE; i++)
        buffer_append_byte (&body, 'x');
    buffer_append_string (&body, "\"}]}");
    chat_t *chat = fixture_fetch (position, URL, buffer_string (&body), &session, 1);
    buffer_fini (&body);
    return chat;
}

static void
s_begin_large (void)
{
    fixture_begin (0);
    fixture_context = 400000;
    fixture_add_worker (0, "tiny", 7);
    fixture_add_frontend (1);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    fixture_scripts [0].stop_after = 4;
}

static void
s_check_large (void)
{
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal (fixture_chats [i].status, 200);
        fixture_check_streamed (&fixture_chats [i], 4, "stop");
    }
}

static void
test_large_requests_pass_between_frontends (void **state)
{
    s_begin_large ();
    for (size_t i = 0; i < 6; i++)
        s_ask_large (i);
    stage_run (fixture_stage, 20 * REALM_SECOND);
    s_check_large ();
    assert_int_equal (fixture_scripts [0].requests, 6);
    fixture_end ();
}

//  Nor where its body is so large that it was read aside: who reads the request next finds it whole.
static void
test_a_large_request_whose_owner_is_dead_is_served_where_it_came (void **state)
{
    s_begin_large ();
    stage_crash (fixture_stage, "frontend/1");
    for (size_t i = 0; i < 6; i++)
        s_ask_large (i);
    stage_run (fixture_stage, 20 * REALM_SECOND);
    s_check_large ();
    fixture_end ();
}

//  The job that makes a message of a request has what it works on, whoever leaves meanwhile.
static void
test_a_client_and_a_frontend_may_leave_while_a_large_request_is_packed (void **state)
{
    for (uint64_t moment = 0; moment < 60; moment++) {
        s_begin_large ();
        chat_t *chat = s_ask_large (moment / 2 % 6);
        stage_run (fixture_stage, moment / 2 * 300 * REALM_US);
        if (moment % 2) {
            stage_crash (fixture_stage, "frontend/0");
        } else if (chat->fetch) {
            fixture_port ()->fetch_cancel (chat->fetch);
            chat->fetch = NULL;
            stage_run (fixture_stage, REALM_SECOND);
            assert_int_equal (actor_budget (stage_find (fixture_stage, "frontend/0"))->used, 0);
            fixture_check_router_is_idle ();
        }
        fixture_end ();
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_session_is_served_by_its_owner),
        cmocka_unit_test (test_everything_passes_between_frontends),
        cmocka_unit_test (test_what_a_dead_frontend_handed_over_is_given_up),
        cmocka_unit_test (test_a_request_whose_owner_is_dead_is_served_where_it_came),
        cmocka_unit_test (test_an_answer_whose_owner_dies_ends_with_an_error),
        cmocka_unit_test (test_large_requests_pass_between_frontends),
        cmocka_unit_test (test_a_large_request_whose_owner_is_dead_is_served_where_it_came),
        cmocka_unit_test (test_a_client_and_a_frontend_may_leave_while_a_large_request_is_packed),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
