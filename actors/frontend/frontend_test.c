//  The frontend beside broker, router and workers that follow a script, in the simulated world; a harness asks over HTTP.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/frontend.h"
#include "actors/router/router.h"
#include "base/json.h"
#include "base/memory.h"
#include "broker/broker.h"
#include "runtime/incoming.h"
#include "runtime/timer.h"
#include "schemas/route.h"
#include "schemas/worker.h"
#include "simulator/stage.h"

//  ---- A worker that follows a script ----------------------------------------------------------------------------------

//  The token at position i of any answer is a byte of this, so that a hole or a repeat shows.
static const char s_text [] = "the quick brown fox jumps over the lazy dog. ";

enum { TEXT_SIZE = sizeof s_text - 1 };

typedef struct {
    uint64_t pause_ns;         //  Before each item
    uint32_t item_tokens;      //  In each item
    uint32_t stop_after;       //  Tokens of the whole answer; 0: as many as asked for
    uint32_t fail_after;       //  Sends this many and fails; 0: never
    status_t refusal;          //  Refuses every request with this; 0: none
    bool silent;               //  Accepts, and says nothing
    uint32_t requests;         //  Out: seen
    uint32_t cancels;          //  Out: requests that nobody wanted any more
    uint32_t sent;             //  Out: tokens, of all requests
    uint32_t delivered;        //  Out: of the last request
    uint32_t prompt_tokens;    //  Out: of the last request
    char trace [64];           //  Out: of the last request
} script_t;

static script_t s_scripts [3];

typedef struct {
    script_t *script;    //  What to do
    list_t runs;         //  run_t
} player_t;

typedef struct {
    player_t *worker;        //  Whose
    actor_t *actor;          //  Its context
    list_link_t in_runs;     //  There
    incoming_t *incoming;    //  Who asked
    actor_timer_t timer;     //  Next item
    uint32_t from;           //  Position in the answer it began at
    uint32_t limit;          //  Tokens of this run
} run_t;

static void
s_free_run (run_t *run)
{
    timer_stop (&run->timer);
    list_remove (&run->worker->runs, &run->in_runs);
    memory_free (run);
}

static void
s_end_run (run_t *run)
{
    uint32_t sent = (uint32_t)incoming_position (run->incoming);
    bool stopped = run->worker->script->stop_after != 0;
    generate_end_t end = { .reason = stopped ? FINISH_REASON_STOP : FINISH_REASON_LENGTH,
        .prompt_tokens = run->worker->script->prompt_tokens,
        .cached_tokens = 2,
        .completion_tokens = sent };
    incoming_end (run->incoming, &end);
    s_free_run (run);
}

static void s_on_step (void *self, actor_t *actor, void *arg);

static void
s_schedule (run_t *run)
{
    if (!timer_is_running (&run->timer) && !run->worker->script->silent)
        timer_start (&run->timer, run->actor, run->worker->script->pause_ns, s_on_step, run);
}

static void
s_on_step (void *self, actor_t *actor, void *arg)
{
    run_t *run = arg;
    script_t *script = run->worker->script;
    uint32_t sent = (uint32_t)incoming_position (run->incoming);
    uint64_t room = incoming_credit (run->incoming) - sent;
    if (script->fail_after && sent >= script->fail_after) {
        incoming_fail (run->incoming, STATUS_IO, "the engine caught fire");
        s_free_run (run);
        return;
    }
    uint32_t tokens [16];
    uint32_t count = 0;
    for (; count < script->item_tokens && count < room && sent + count < run->limit; count++)
        tokens [count] = (uint8_t)s_text [(run->from + sent + count) % TEXT_SIZE];
    generated_t item = { .tokens = column_of_u32 (tokens, count) };
    if (count)
        incoming_send (run->incoming, count, &item);
    script->sent += count;
    if (sent + count == run->limit)
        s_end_run (run);
    else if (count)
        s_schedule (run);
}

static void
s_on_credit (void *arg, incoming_t *incoming)
{
    s_schedule (arg);
}

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    run_t *run = arg;
    run->worker->script->cancels++;
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
    s_free_run (run);
}

static void
s_on_generate (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    player_t *self = self_;
    const generate_t *request = message;
    script_t *script = self->script;
    script->requests++;
    script->delivered = request->delivered;
    span_copy_string (incoming_trace (incoming), script->trace, sizeof script->trace);
    script->prompt_tokens = (uint32_t)request->tokens.count - request->delivered;
    if (script->refusal) {
        incoming_fail (incoming, script->refusal, "not today");
        return;
    }
    run_t *run = memory_new (sizeof *run);
    run->worker = self;
    run->actor = actor;
    run->incoming = incoming;
    run->from = request->delivered;
    run->limit = request->sampling.max_tokens;
    if (script->stop_after && script->stop_after - run->from < run->limit)
        run->limit = script->stop_after - run->from;
    list_append (&self->runs, &run->in_runs);
    incoming_watch (incoming, &(incoming_watch_t){ .on_cancel = s_on_cancel, .on_credit = s_on_credit, .arg = run });
    s_schedule (run);
}

static status_t
s_worker_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    player_t *self = self_;
    self->script = &s_scripts [*(const size_t *)options];
    list_init (&self->runs);
    return STATUS_OK;
}

static void
s_worker_fini (void *self_, actor_t *actor)
{
    player_t *self = self_;
    list_link_t *link;
    while ((link = list_first (&self->runs)))
        s_free_run (LIST_ENTRY (link, run_t, in_runs));
}

static const actor_handler_t s_worker_handlers [] = { HANDLES_CALL (generate, s_on_generate), HANDLERS_END };

static const actor_class_t s_worker_class = { .name = "worker",
    .state_size = sizeof (player_t),
    .init = s_worker_init,
    .fini = s_worker_fini,
    .handlers = s_worker_handlers };

//  ---- A harness that asks over HTTP, and listens for what requests came to ----------------------------------------------

typedef struct {
    port_fetch_t *fetch;    //  Under way; NULL once it has ended
    int status;             //  HTTP
    buffer_t body;          //  So far
    bool ended;             //  The response is over
    status_t end;           //  How
} chat_t;

typedef struct {
    size_t count;            //  Requests that ended
    uint64_t source;         //  Of the last: which frontend
    request_ended_t last;    //  The last one; its texts are below
    char worker [128];       //  Of the last
    char reason [64];        //  Of the last
} ended_t;

static chat_t s_chats [8];
static ended_t s_ended;

static void
s_on_head (void *arg, int status)
{
    ((chat_t *)arg)->status = status;
}

static void
s_on_data (void *arg, span_t bytes)
{
    buffer_append (&((chat_t *)arg)->body, bytes);
}

static void
s_on_fetched (void *arg, status_t status, const error_t *error)
{
    chat_t *chat = arg;
    chat->ended = true;
    chat->end = status;
    chat->fetch = NULL;
}

static void
s_on_request_ended (void *self, actor_t *actor, const origin_t *origin, const void *event)
{
    s_ended.count++;
    s_ended.source = origin->source;
    s_ended.last = *(const request_ended_t *)event;
    span_copy_string (s_ended.last.worker, s_ended.worker, sizeof s_ended.worker);
    span_copy_string (s_ended.last.reason, s_ended.reason, sizeof s_ended.reason);
}

static void
s_harness_fini (void *self, actor_t *actor)
{
    for (size_t i = 0; i < sizeof s_chats / sizeof s_chats [0]; i++)
        if (s_chats [i].fetch)
            actor_port (actor)->table->fetch_cancel (s_chats [i].fetch);
}

static const actor_handler_t s_harness_handlers [] = {
    HANDLES_EVENT (request_ended, s_on_request_ended),
    HANDLERS_END,
};

static const actor_class_t s_harness_class = {
    .name = "harness", .state_size = 1, .fini = s_harness_fini, .handlers = s_harness_handlers
};

//  ---- The stage -------------------------------------------------------------------------------------------------------

static const broker_options_t s_broker_options = { .events = STAGE_EVENTS,
    .gone_after_ns = 600 * REALM_SECOND,
    .ring_bytes = 1 << 20,
    .subscriber_queue = 1000,
    .actors_max = 100 };
static const router_options_t s_router_options = { .mode = 0,
    .overlap_weight = 1000000,
    .load_weight = 1000000,
    .load_stale_ns = 3600 * REALM_SECOND,
    .blocks_max = 100000 };
static frontend_options_t s_frontend_options [2];

static stage_t *s_stage;
static uint32_t s_context;    //  Of every model
static buffer_t s_cards [3];

static void
s_set_options (void)
{
    for (int i = 0; i < 2; i++)
        s_frontend_options [i] = (frontend_options_t){ .host = i ? "f1" : "f0",
            .port = 8000,
            .allow_public = true,
            .body_max = 1 << 20,
            .connections_max = 100,
            .requests_max = 10,
            .write_timeout_ns = 1000 * REALM_SECOND,
            .keep_alive_ns = 10 * REALM_SECOND,
            .route_timeout_ns = 30 * REALM_SECOND,
            .stall_timeout_ns = 60 * REALM_SECOND,
            .attempts = 3,
            .secret = SPAN ("secret") };
}

static void
s_add_frontend (int position)
{
    const char *const names [] = { "0", "1" };
    stage_add (s_stage, &(stage_actor_t){ .class = &frontend_class,
                            .instance = names [position],
                            .machine = s_frontend_options [position].host,
                            .options = &s_frontend_options [position] });
}

static void
s_add_worker (size_t position, const char *model, uint64_t fingerprint)
{
    static const size_t positions [] = { 0, 1, 2 };
    static const char *const names [] = { "a", "b", "c" };
    static const char *const machines [] = { "m1", "m2", "m3" };
    span_t alias = SPAN ("nick");
    model_card_t card = { .model = span_from_string (model),
        .aliases = &alias,
        .aliases_count = 1,
        .fingerprint = fingerprint,
        .block_size = 16,
        .context = s_context,
        .capacity = 100,
        .ranks = 1,
        .slots = 4,
        .engine = SPAN ("test"),
        .engine_version = SPAN ("1"),
        .tokenizing = SPAN ("bytes") };
    buffer_clear (&s_cards [position]);
    model_card_encode (&card, &s_cards [position]);
    stage_add (s_stage, &(stage_actor_t){ .class = &s_worker_class,
                            .instance = names [position],
                            .machine = machines [position],
                            .options = &positions [position],
                            .card = buffer_span (&s_cards [position]) });
}

static void
s_begin (size_t workers)
{
    s_context = 400;
    s_set_options ();
    memset (s_chats, 0, sizeof s_chats);
    memset (&s_ended, 0, sizeof s_ended);
    for (size_t i = 0; i < 3; i++)
        s_scripts [i] = (script_t){ .pause_ns = 10 * REALM_MS, .item_tokens = 3 };
    s_stage = stage_new (5);
    stage_add (s_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &s_broker_options });
    stage_add (s_stage, &(stage_actor_t){ .class = &router_class, .instance = "0", .options = &s_router_options });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_harness_class, .instance = "0" });
    s_add_frontend (0);
    for (size_t i = 0; i < workers; i++)
        s_add_worker (i, "tiny", 7);
    stage_run (s_stage, 3 * REALM_SECOND);
}

static void
s_end (void)
{
    stage_destroy (&s_stage);
    for (size_t i = 0; i < 3; i++)
        buffer_fini (&s_cards [i]);
    for (size_t i = 0; i < sizeof s_chats / sizeof s_chats [0]; i++)
        buffer_fini (&s_chats [i].body);
}

static const port_table_t *
s_port (void)
{
    return actor_port (stage_find (s_stage, "harness/0"))->table;
}

//  body: NULL for a GET.
static chat_t *
s_fetch (size_t position, const char *url, const char *body, const http_header_t *headers, size_t header_count)
{
    chat_t *chat = &s_chats [position];
    buffer_fini (&chat->body);
    *chat = (chat_t){ 0 };
    fetch_options_t options = { .method = body ? "POST" : "GET",
        .url = url,
        .headers = headers,
        .header_count = header_count,
        .body = span_from_string (body),
        .on_head = s_on_head,
        .on_data = s_on_data,
        .on_end = s_on_fetched,
        .arg = chat };
    chat->fetch = s_port ()->fetch (actor_port (stage_find (s_stage, "harness/0")), &options, NULL);
    assert_non_null (chat->fetch);
    return chat;
}

#define URL "http://f0:8000/v1/chat/completions"
#define CHAT(members) "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]" members "}"

static chat_t *
s_ask (const char *body)
{
    return s_fetch (0, URL, body, NULL, 0);
}

//  What a client shows: the deltas put together.
static void
s_check_streamed (chat_t *chat, uint32_t tokens, const char *finish)
{
    char expected [8192] = "", shown [8192] = "", reason [32] = "";
    for (uint32_t i = 0; i < tokens; i++)
        expected [i] = s_text [i % TEXT_SIZE];
    span_t left = buffer_span (&chat->body);
    while (left.size) {
        size_t size = span_find_byte (left, '\n');
        span_t line = span_slice (left, 0, size);
        left = span_slice (left, size + 1, left.size);
        json_t *tree = NULL;
        if (!span_starts_with (line, SPAN ("data: {")))
            continue;
        assert_int_equal (json_parse (span_slice (line, 6, line.size), &tree, NULL), STATUS_OK);
        const json_t *choice = json_at (json_get (tree, "choices"), 0);
        span_t text = json_string (json_get_path (choice, "delta.content"));
        snprintf (shown + strlen (shown), sizeof shown - strlen (shown), "%.*s", SPAN_ARG (text));
        if (json_get (choice, "finish_reason"))
            span_copy_string (json_string (json_get (choice, "finish_reason")), reason, sizeof reason);
        json_destroy (&tree);
    }
    assert_string_equal (shown, expected);
    assert_string_equal (reason, finish);
}

//  No router counts what is over: a request that is not taken off its worker would bend every later decision.
static void
s_check_router_is_idle (void)
{
    buffer_t text = { 0 };
    actor_t *router = stage_find (s_stage, "router/0");
    router_class.describe (actor_state (router), router, &text);
    assert_non_null (strstr (buffer_string (&text), " 0 requests active"));
    buffer_fini (&text);
}

static bool
s_contains (chat_t *chat, const char *text)
{
    return strstr (buffer_string (&chat->body), text) != NULL;
}

//  ---- Answers ---------------------------------------------------------------------------------------------------------

static void
test_an_answer_is_streamed_and_counted (void **state)
{
    s_begin (1);
    chat_t *chat = s_ask (CHAT (",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":20"));
    stage_run (s_stage, REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    assert_int_equal (chat->status, 200);
    s_check_streamed (chat, 20, "length");
    assert_true (s_contains (chat, "\"completion_tokens\":20"));
    assert_true (s_contains (chat, "\"cached_tokens\":2"));
    assert_true (s_contains (chat, "data: [DONE]\n\n"));
    assert_int_equal (s_ended.count, 1);
    assert_int_equal (s_ended.last.code, 200);
    assert_int_equal (s_ended.last.completion_tokens, 20);
    assert_int_equal (s_ended.last.cached_tokens, 2);
    assert_true (s_ended.last.first_token_us > 0 && s_ended.last.first_token_us < s_ended.last.duration_us);
    assert_string_equal (s_ended.worker, "worker/a");
    assert_string_equal (s_ended.reason, "length");
    s_check_router_is_idle ();
    s_end ();
}

static void
test_the_same_answer_comes_whole (void **state)
{
    s_begin (1);
    s_scripts [0].stop_after = 9;
    chat_t *chat = s_ask (CHAT (""));
    stage_run (s_stage, REALM_SECOND);
    json_t *tree = NULL;
    assert_int_equal (json_parse (buffer_span (&chat->body), &tree, NULL), STATUS_OK);
    const json_t *choice = json_at (json_get (tree, "choices"), 0);
    assert_true (span_equal (json_string (json_get_path (choice, "message.content")), SPAN ("the quick")));
    assert_true (span_equal (json_string (json_get (choice, "finish_reason")), SPAN ("stop")));
    json_destroy (&tree);
    s_end ();
}

static void
test_a_stop_string_ends_the_text_wherever_tokens_are_cut (void **state)
{
    for (uint32_t tokens = 1; tokens < 8; tokens++) {
        s_begin (1);
        s_scripts [0].item_tokens = tokens;
        chat_t *chat = s_ask (CHAT (",\"stream\":true,\"stop\":[\"brown\"]"));
        stage_run (s_stage, 5 * REALM_SECOND);
        assert_true (chat->ended);
        s_check_streamed (chat, 10, "stop");
        assert_int_equal (s_scripts [0].cancels, 1);
        s_check_router_is_idle ();
        s_end ();
    }
}

static void
test_silence_is_broken_by_comments (void **state)
{
    s_begin (1);
    s_scripts [0].pause_ns = 25 * REALM_SECOND;
    s_scripts [0].stop_after = 3;
    chat_t *chat = s_ask (CHAT (",\"stream\":true"));
    stage_run (s_stage, 24 * REALM_SECOND);
    assert_int_equal (chat->status, 200);
    assert_string_equal (buffer_string (&chat->body), ": keep-alive\n\n: keep-alive\n\n");
    stage_run (s_stage, 10 * REALM_SECOND);
    s_check_streamed (chat, 3, "stop");
    s_end ();
}

//  What is no trace is not passed on.
static void
test_the_trace_of_a_request_reaches_the_worker (void **state)
{
    static const char *const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const char *const traces [] = { good, "00-0AF7", "zz-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "" };
    s_begin (1);
    s_scripts [0].stop_after = 1;
    for (size_t i = 0; i < sizeof traces / sizeof traces [0]; i++) {
        http_header_t header = { SPAN ("traceparent"), span_from_string (traces [i]) };
        chat_t *chat = s_fetch (0, URL, CHAT (""), &header, 1);
        stage_run (s_stage, REALM_SECOND);
        assert_int_equal (chat->status, 200);
        assert_string_equal (s_scripts [0].trace, i == 0 ? good : "");
    }
    s_end ();
}

//  ---- Workers that fail -------------------------------------------------------------------------------------------------

//  Whoever goes on gets the tokens that are there; the client sees one text, without gap or repeat.
static void
test_a_failing_worker_is_replaced_in_the_middle_of_a_text (void **state)
{
    s_begin (2);
    s_scripts [0].fail_after = s_scripts [1].fail_after = 30;
    chat_t *chat = s_ask (CHAT (",\"stream\":true,\"max_tokens\":50"));
    stage_run (s_stage, 2 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    s_check_streamed (chat, 50, "length");
    assert_int_equal (s_scripts [0].requests + s_scripts [1].requests, 2);
    assert_int_equal (s_scripts [0].delivered + s_scripts [1].delivered, 30);
    assert_int_equal (s_ended.last.migrations, 1);
    assert_int_equal (s_ended.last.completion_tokens, 50);
    s_check_router_is_idle ();
    s_end ();
}

static void
test_a_killed_worker_is_replaced_once_its_lease_is_lost (void **state)
{
    s_begin (1);
    s_scripts [0].pause_ns = REALM_SECOND;
    chat_t *chat = s_ask (CHAT (",\"stream\":true,\"max_tokens\":12"));
    stage_run (s_stage, 2500 * REALM_MS);
    s_add_worker (1, "tiny", 7);
    stage_run (s_stage, 500 * REALM_MS);
    stage_crash (s_stage, "worker/a");
    stage_run (s_stage, 30 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    s_check_streamed (chat, 12, "length");
    assert_true (s_scripts [1].delivered > 0);
    assert_string_equal (s_ended.worker, "worker/b");
    s_check_router_is_idle ();
    s_end ();
}

static void
test_a_worker_that_says_nothing_is_left (void **state)
{
    s_begin (2);
    s_scripts [0].silent = true;
    s_scripts [1].stop_after = 5;
    chat_t *first = s_fetch (0, URL, CHAT (",\"stream\":true"), NULL, 0);
    chat_t *second = s_fetch (1, URL, CHAT (",\"stream\":true"), NULL, 0);
    stage_run (s_stage, 70 * REALM_SECOND);
    s_check_streamed (first, 5, "stop");
    s_check_streamed (second, 5, "stop");
    assert_int_equal (s_scripts [0].cancels, s_scripts [0].requests);
    assert_true (s_scripts [0].requests > 0);
    s_check_router_is_idle ();
    s_end ();
}

static void
test_when_nobody_can_the_client_hears_it_in_the_stream (void **state)
{
    s_begin (2);
    s_scripts [0].fail_after = s_scripts [1].fail_after = 6;
    chat_t *chat = s_ask (CHAT (",\"stream\":true"));
    stage_run (s_stage, 2 * REALM_SECOND);
    assert_true (chat->ended);
    s_check_streamed (chat, 12, "");
    assert_true (s_contains (chat, "data: {\"error\":{"));
    assert_false (s_contains (chat, "[DONE]"));
    assert_int_equal (s_ended.count, 1);
    s_check_router_is_idle ();
    s_end ();
}

//  A request that is wrong for one worker is wrong for all.
static void
test_what_an_engine_refuses_is_not_tried_elsewhere (void **state)
{
    s_begin (2);
    s_scripts [0].refusal = s_scripts [1].refusal = STATUS_INVALID;
    chat_t *chat = s_ask (CHAT (""));
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (chat->status, 400);
    assert_true (s_contains (chat, "not today"));
    assert_int_equal (s_scripts [0].requests + s_scripts [1].requests, 1);
    s_check_router_is_idle ();
    s_end ();
}

//  ---- Clients that leave, or read slowly --------------------------------------------------------------------------------

static void
test_a_client_that_leaves_is_heard_by_the_worker (void **state)
{
    s_begin (1);
    chat_t *chat = s_ask (CHAT (",\"stream\":true"));
    stage_run (s_stage, 200 * REALM_MS);
    assert_true (s_scripts [0].sent > 0);
    s_port ()->fetch_cancel (chat->fetch);
    chat->fetch = NULL;
    stage_run (s_stage, 50 * REALM_MS);
    assert_int_equal (s_scripts [0].cancels, 1);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (s_ended.count, 1);
    assert_int_equal (s_ended.last.code, 499);
    assert_string_equal (s_ended.reason, "cancelled");
    s_check_router_is_idle ();
    s_end ();
}

//  What nobody reads is not computed: the worker is given no more credit than the client has room for.
static void
test_a_slow_reader_holds_the_worker_back (void **state)
{
    s_begin (0);
    s_context = 5000;
    s_add_worker (0, "tiny", 7);
    stage_run (s_stage, 2 * REALM_SECOND);
    s_scripts [0].pause_ns = REALM_MS;
    s_scripts [0].item_tokens = 1;
    chat_t *chat = s_ask (CHAT (",\"stream\":true,\"max_tokens\":4000"));
    stage_run (s_stage, 100 * REALM_MS);
    s_port ()->fetch_pause (chat->fetch, true);
    stage_run (s_stage, 20 * REALM_SECOND);
    uint32_t sent = s_scripts [0].sent;
    assert_in_range (sent, 100, 1500);
    stage_run (s_stage, 20 * REALM_SECOND);
    assert_int_equal (s_scripts [0].sent, sent);
    s_port ()->fetch_pause (chat->fetch, false);
    stage_run (s_stage, 20 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    s_check_streamed (chat, 4000, "length");
    s_end ();
}

//  The same across two frontends: the owner is held back by the client of the other.
static void
test_a_slow_reader_holds_back_the_owner_of_its_session (void **state)
{
    for (int i = 0; i < 4; i++) {
        char name [16];
        snprintf (name, sizeof name, "s%d", i);
        http_header_t session = { SPAN ("x-session-id"), span_from_string (name) };
        s_begin (0);
        s_context = 5000;
        s_add_frontend (1);
        s_add_worker (0, "tiny", 7);
        stage_run (s_stage, 3 * REALM_SECOND);
        s_scripts [0].pause_ns = REALM_MS;
        s_scripts [0].item_tokens = 1;
        chat_t *chat = s_fetch (0, URL, CHAT (",\"stream\":true,\"max_tokens\":4500"), &session, 1);
        stage_run (s_stage, 100 * REALM_MS);
        s_port ()->fetch_pause (chat->fetch, true);
        stage_run (s_stage, 20 * REALM_SECOND);
        assert_in_range (s_scripts [0].sent, 100, 3000);
        s_port ()->fetch_pause (chat->fetch, false);
        stage_run (s_stage, 20 * REALM_SECOND);
        assert_true (chat->ended && chat->end == STATUS_OK);
        s_check_streamed (chat, 4500, "length");
        s_end ();
    }
}

//  ---- Refusals --------------------------------------------------------------------------------------------------------

typedef struct {
    const char *url;     //  Asked for
    const char *body;    //  Posted; NULL: a GET
    int status;          //  Answered
    const char *text;    //  In the answer
} refusal_t;

static const refusal_t s_refusals [] = {
    { URL, "{", 400, "could not parse" },
    { URL, "[]", 400, "must be a JSON object" },
    { URL, "{\"model\":\"tiny\"}", 400, "\"param\":\"messages\"" },
    { URL, CHAT (",\"n\":3"), 400, "\"code\":\"unsupported_parameter\"" },
    { URL, "{\"model\":\"huge\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}", 404,
        "There are: tiny, nick." },
    { URL, NULL, 405, "takes POST" },
    { "http://f0:8000/v1/models", "{}", 405, "takes GET" },
    { "http://f0:8000/v1/nothing", NULL, 404, "unknown_url" },
    { "http://f0:8000/v1/models/huge", NULL, 404, "model_not_found" },
};

static void
test_refusals_say_what_is_wrong (void **state)
{
    s_begin (1);
    for (size_t i = 0; i < sizeof s_refusals / sizeof s_refusals [0]; i++) {
        const refusal_t *refusal = &s_refusals [i];
        chat_t *chat = s_fetch (0, refusal->url, refusal->body, NULL, 0);
        stage_run (s_stage, 100 * REALM_MS);
        assert_true (chat->ended);
        assert_int_equal (chat->status, refusal->status);
        assert_true (s_contains (chat, refusal->text));
    }
    assert_int_equal (s_scripts [0].requests, 0);
    s_end ();
}

static void
test_bodies_in_other_encodings_are_refused (void **state)
{
    static const http_header_t headers [] = {
        { { (const uint8_t *)"Content-Encoding", 16 }, { (const uint8_t *)"gzip", 4 } },
        { { (const uint8_t *)"content-type", 12 }, { (const uint8_t *)"text/plain", 10 } },
    };
    s_begin (1);
    for (size_t i = 0; i < 2; i++) {
        chat_t *chat = s_fetch (0, URL, CHAT (""), &headers [i], 1);
        stage_run (s_stage, 100 * REALM_MS);
        assert_int_equal (chat->status, 415);
    }
    s_end ();
}

static void
test_a_prompt_that_does_not_fit_is_refused_in_openais_words (void **state)
{
    s_begin (1);
    char body [700];
    snprintf (body, sizeof body, "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"%0500d\"}]}", 0);
    chat_t *chat = s_ask (body);
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 400);
    assert_true (s_contains (chat, "\"code\":\"context_length_exceeded\""));
    assert_true (s_contains (chat, "maximum context length is 400 tokens"));
    s_end ();
}

//  More than there is room for is what there is room for.
static void
test_max_tokens_is_cut_to_the_room_there_is (void **state)
{
    s_begin (1);
    chat_t *chat = s_ask (CHAT (",\"max_tokens\":100000,\"stream\":true"));
    stage_run (s_stage, 10 * REALM_SECOND);
    assert_true (chat->ended);
    s_check_streamed (chat, 400 - s_scripts [0].prompt_tokens, "length");
    s_end ();
}

static void
test_without_workers_or_routers_it_says_come_again (void **state)
{
    s_begin (0);
    chat_t *chat = s_ask (CHAT (""));
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);

    s_add_worker (0, "tiny", 7);
    stage_run (s_stage, 2 * REALM_SECOND);
    stage_crash (s_stage, "worker/a");
    stage_run (s_stage, 10 * REALM_SECOND);
    chat = s_ask (CHAT (""));
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);
    assert_true (s_contains (chat, "\"code\":\"no_worker\""));

    stage_start (s_stage, "worker/a");
    stage_crash (s_stage, "router/0");
    stage_run (s_stage, 10 * REALM_SECOND);
    chat = s_ask (CHAT (""));
    stage_run (s_stage, 10 * REALM_SECOND);
    assert_int_equal (chat->status, 503);
    assert_true (s_contains (chat, "\"code\":\"no_router\""));
    s_end ();
}

//  A router that is restarted in between is waited for.
static void
test_a_restarted_router_is_waited_for (void **state)
{
    s_begin (1);
    s_scripts [0].stop_after = 3;
    stage_drain (s_stage, "router/0");
    stage_run (s_stage, 50 * REALM_MS);
    chat_t *chat = s_ask (CHAT (",\"stream\":true"));
    stage_run (s_stage, REALM_SECOND);
    stage_start (s_stage, "router/0");
    stage_run (s_stage, 10 * REALM_SECOND);
    assert_true (chat->ended);
    s_check_streamed (chat, 3, "stop");
    s_end ();
}

static void
test_requests_have_a_bound (void **state)
{
    s_begin (1);
    s_frontend_options [0].requests_max = 2;
    stage_crash (s_stage, "frontend/0");
    stage_start (s_stage, "frontend/0");
    stage_run (s_stage, 3 * REALM_SECOND);
    s_scripts [0].silent = true;
    for (size_t i = 0; i < 3; i++)
        s_fetch (i, URL, CHAT (""), NULL, 0);
    stage_run (s_stage, REALM_SECOND);
    int refused = 0;
    for (size_t i = 0; i < 3; i++)
        refused += s_chats [i].status == 529;
    assert_int_equal (refused, 1);
    s_end ();
}

//  ---- Models ----------------------------------------------------------------------------------------------------------

static void
test_models_are_listed_under_all_their_names (void **state)
{
    s_begin (1);
    chat_t *chat = s_fetch (0, "http://f0:8000/v1/models", NULL, NULL, 0);
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 200);
    assert_true (s_contains (chat, "\"id\":\"tiny\""));
    assert_true (s_contains (chat, "\"id\":\"nick\""));
    assert_true (s_contains (chat, "\"max_model_len\":400"));
    chat = s_fetch (0, "http://f0:8000/v1/models/%6eick", NULL, NULL, 0);
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 200);
    assert_true (s_contains (chat, "\"id\":\"nick\""));
    s_end ();
}

//  Two cards of one name that differ are two models; the name means the one that more workers serve.
static void
test_two_fingerprints_are_two_models (void **state)
{
    s_begin (2);
    s_add_worker (2, "tiny", 8);
    stage_run (s_stage, 3 * REALM_SECOND);
    chat_t *chat = s_fetch (0, "http://f0:8000/v1/models", NULL, NULL, 0);
    stage_run (s_stage, 100 * REALM_MS);
    assert_true (s_contains (chat, "\"id\":\"tiny\""));
    assert_true (s_contains (chat, "\"id\":\"tiny@0000000000000008\""));
    assert_false (s_contains (chat, "\"id\":\"tiny@0000000000000007\""));
    assert_non_null (strstr (stage_log (s_stage), "another model under the name tiny"));

    s_scripts [0].stop_after = s_scripts [1].stop_after = s_scripts [2].stop_after = 1;
    for (int i = 0; i < 4; i++) {
        s_ask (CHAT (""));
        stage_run (s_stage, REALM_SECOND);
    }
    assert_int_equal (s_scripts [2].requests, 0);
    chat = s_ask ("{\"model\":\"tiny@0000000000000008\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (chat->status, 200);
    assert_int_equal (s_scripts [2].requests, 1);
    s_end ();
}

static void
test_health_tells_whether_a_request_can_be_served (void **state)
{
    s_begin (0);
    chat_t *chat = s_fetch (0, "http://f0:8000/health", NULL, NULL, 0);
    chat_t *live = s_fetch (1, "http://f0:8000/live", NULL, NULL, 0);
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 503);
    assert_int_equal (live->status, 200);
    s_add_worker (0, "tiny", 7);
    stage_run (s_stage, 2 * REALM_SECOND);
    chat = s_fetch (0, "http://f0:8000/health", NULL, NULL, 0);
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (chat->status, 200);
    chat = s_fetch (0, "http://f0:8000/metrics", NULL, NULL, 0);
    stage_run (s_stage, 100 * REALM_MS);
    assert_true (s_contains (chat, "stator_requests_running{actor=\"frontend/0\"} 0\n"));
    assert_true (s_contains (chat, "stator_router_decisions_total{actor=\"router/0\",result=\"routed\"} 0\n"));
    s_end ();
}

//  ---- Sessions --------------------------------------------------------------------------------------------------------

//  Wherever a turn of a session arrives, one frontend serves it.
static void
test_a_session_is_served_by_its_owner (void **state)
{
    s_begin (1);
    s_add_frontend (1);
    stage_run (s_stage, 2 * REALM_SECOND);
    s_scripts [0].item_tokens = 5;
    static const http_header_t session = { { (const uint8_t *)"x-session-id", 12 }, { (const uint8_t *)"s1", 2 } };
    static const char *const urls [] = { URL, "http://f1:8000/v1/chat/completions" };
    uint64_t owners [2];
    for (size_t i = 0; i < 2; i++) {
        chat_t *chat = s_fetch (i, urls [i], CHAT (",\"stream\":true,\"max_tokens\":300"), &session, 1);
        stage_run (s_stage, 3 * REALM_SECOND);
        assert_true (chat->ended && chat->end == STATUS_OK);
        assert_int_equal (chat->status, 200);
        s_check_streamed (chat, 300, "length");
        owners [i] = s_ended.source;
    }
    assert_int_equal (s_ended.count, 2);
    assert_int_equal (owners [0], owners [1]);
    s_end ();
}

//  Whole answers and refusals pass as well, and a client that leaves is heard two frontends away.
static void
test_everything_passes_between_frontends (void **state)
{
    s_begin (1);
    s_add_frontend (1);
    stage_run (s_stage, 2 * REALM_SECOND);
    s_scripts [0].stop_after = 9;
    s_scripts [0].pause_ns = 100 * REALM_MS;
    char name [16];
    http_header_t session = { SPAN ("x-session-id"), { (const uint8_t *)name, 2 } };
    for (int i = 0; i < 6; i++) {
        snprintf (name, sizeof name, "s%d", i);
        chat_t *whole = s_fetch (0, URL, CHAT (""), &session, 1);
        chat_t *refused =
            s_fetch (1, URL, "{\"model\":\"huge\",\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}", &session, 1);
        stage_run (s_stage, REALM_SECOND);
        assert_int_equal (whole->status, 200);
        assert_true (s_contains (whole, "\"content\":\"the quick\""));
        assert_int_equal (refused->status, 404);
        chat_t *leaver = s_fetch (2, URL, CHAT (",\"stream\":true"), &session, 1);
        stage_run (s_stage, 150 * REALM_MS);
        s_port ()->fetch_cancel (leaver->fetch);
        leaver->fetch = NULL;
        stage_run (s_stage, REALM_SECOND);
        assert_int_equal (s_ended.last.code, 499);
        s_check_router_is_idle ();
    }
    assert_int_equal (s_ended.count, 18);
    s_end ();
}

//  Nobody loses a turn because its owner is not there.
static void
test_a_request_whose_owner_is_dead_is_served_where_it_came (void **state)
{
    s_begin (1);
    s_add_frontend (1);
    stage_run (s_stage, 2 * REALM_SECOND);
    s_scripts [0].stop_after = 4;
    char name [16];
    http_header_t session = { SPAN ("x-session-id"), { (const uint8_t *)name, 0 } };
    stage_crash (s_stage, "frontend/1");
    for (int i = 0; i < 6; i++) {
        snprintf (name, sizeof name, "s%d", i);
        session.value = span_from_string (name);
        s_fetch ((size_t)i, URL, CHAT (",\"stream\":true"), &session, 1);
    }
    stage_run (s_stage, 15 * REALM_SECOND);
    for (int i = 0; i < 6; i++) {
        assert_int_equal (s_chats [i].status, 200);
        s_check_streamed (&s_chats [i], 4, "stop");
    }
    s_end ();
}

//  ---- The end ---------------------------------------------------------------------------------------------------------

static void
test_draining_finishes_streams_and_takes_no_more (void **state)
{
    s_begin (1);
    s_scripts [0].pause_ns = 200 * REALM_MS;
    s_scripts [0].stop_after = 30;
    chat_t *chat = s_ask (CHAT (",\"stream\":true"));
    stage_run (s_stage, 500 * REALM_MS);
    stage_drain (s_stage, "frontend/0");
    stage_run (s_stage, 500 * REALM_MS);
    assert_non_null (stage_find (s_stage, "frontend/0"));
    stage_run (s_stage, 10 * REALM_SECOND);
    s_check_streamed (chat, 30, "stop");
    assert_null (stage_find (s_stage, "frontend/0"));
    s_end ();
}

//  Destroyed in the middle of everything, it leaves nothing behind.
static void
test_it_can_end_at_any_moment (void **state)
{
    for (uint64_t moment = 0; moment < 30; moment++) {
        s_begin (1);
        s_scripts [0].stop_after = 6;
        s_ask (CHAT (",\"stream\":true"));
        s_fetch (1, URL, CHAT (""), NULL, 0);
        stage_run (s_stage, moment * 2 * REALM_MS);
        s_end ();
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_an_answer_is_streamed_and_counted),
        cmocka_unit_test (test_the_same_answer_comes_whole),
        cmocka_unit_test (test_a_stop_string_ends_the_text_wherever_tokens_are_cut),
        cmocka_unit_test (test_silence_is_broken_by_comments),
        cmocka_unit_test (test_the_trace_of_a_request_reaches_the_worker),
        cmocka_unit_test (test_a_failing_worker_is_replaced_in_the_middle_of_a_text),
        cmocka_unit_test (test_a_killed_worker_is_replaced_once_its_lease_is_lost),
        cmocka_unit_test (test_a_worker_that_says_nothing_is_left),
        cmocka_unit_test (test_when_nobody_can_the_client_hears_it_in_the_stream),
        cmocka_unit_test (test_what_an_engine_refuses_is_not_tried_elsewhere),
        cmocka_unit_test (test_a_client_that_leaves_is_heard_by_the_worker),
        cmocka_unit_test (test_a_slow_reader_holds_the_worker_back),
        cmocka_unit_test (test_a_slow_reader_holds_back_the_owner_of_its_session),
        cmocka_unit_test (test_refusals_say_what_is_wrong),
        cmocka_unit_test (test_bodies_in_other_encodings_are_refused),
        cmocka_unit_test (test_a_prompt_that_does_not_fit_is_refused_in_openais_words),
        cmocka_unit_test (test_max_tokens_is_cut_to_the_room_there_is),
        cmocka_unit_test (test_without_workers_or_routers_it_says_come_again),
        cmocka_unit_test (test_a_restarted_router_is_waited_for),
        cmocka_unit_test (test_requests_have_a_bound),
        cmocka_unit_test (test_models_are_listed_under_all_their_names),
        cmocka_unit_test (test_two_fingerprints_are_two_models),
        cmocka_unit_test (test_health_tells_whether_a_request_can_be_served),
        cmocka_unit_test (test_a_session_is_served_by_its_owner),
        cmocka_unit_test (test_everything_passes_between_frontends),
        cmocka_unit_test (test_a_request_whose_owner_is_dead_is_served_where_it_came),
        cmocka_unit_test (test_draining_finishes_streams_and_takes_no_more),
        cmocka_unit_test (test_it_can_end_at_any_moment),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
