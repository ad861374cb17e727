#include "tests/frontend/fixture.h"

#include "actors/router/router.h"
#include "base/json.h"
#include "base/memory.h"
#include "runtime/incoming.h"
#include "runtime/timer.h"
#include "schemas/worker.h"
#include "tests/stage_broker.h"

//  ---- A worker that follows a script --------------------------------------------------------------------------------

//  The token at position i of any answer is a byte of this, so that a hole or a repeat shows.
static const char s_text [] = "the quick brown fox jumps over the lazy dog. ";

enum { TEXT_SIZE = sizeof s_text - 1 };

const char *fixture_says;

static uint8_t
s_byte (uint32_t position)
{
    return (uint8_t)(fixture_says ? fixture_says [position % strlen (fixture_says)] : s_text [position % TEXT_SIZE]);
}

script_t fixture_scripts [3];

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
        tokens [count] = s_byte (run->from + sent + count);
    char text [16];
    for (uint32_t i = 0; i < count; i++)
        text [i] = (char)tokens [i];
    generated_t item = { .tokens = column_of_u32 (tokens, count), .text = span_of (text, fixture_engine ? count : 0) };
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

//  ---- Its engine: one that reads the files, or says three tokens, whatever the text ---------------------------------

const span_t *fixture_files;
bool fixture_withholds;
uint32_t fixture_differs;
size_t fixture_made;
uint32_t fixture_busy;

static bundle_t *s_engine;

static void
s_open_engine (void)
{
    error_t error;
    if (fixture_files && !s_engine && bundle_load (fixture_files, &s_engine, &error))
        s_engine = NULL;
}

static void
s_on_render (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const render_t *request = message;
    json_t *conversation = NULL;
    buffer_t prompt = { 0 };
    ((player_t *)self)->script->renderings++;
    if (fixture_busy) {
        fixture_busy--;
        incoming_fail (incoming, STATUS_AGAIN, "not now");
        return;
    }
    if (!s_engine || json_parse (request->request, &conversation, NULL) ||
        bundle_render (s_engine, conversation, 0, 0, &prompt, NULL))
        buffer_append (&prompt, request->request);
    incoming_reply (incoming, &(render_reply_t){ .prompt = buffer_span (&prompt) });
    buffer_fini (&prompt);
    json_destroy (&conversation);
}

static void
s_on_tokenize (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    static const uint32_t plain [] = { 1, 2, 3 };
    array_t tokens;
    array_init (&tokens, sizeof (uint32_t));
    if (!s_engine && fixture_made)
        array_append (&tokens, NULL, fixture_made);
    else if (!s_engine)
        array_append (&tokens, plain, 3);
    else if (tokenizer_encode (s_engine->tokenizer, ((const tokenize_t *)message)->text,
                 (tokenizer_flags_t){ .parse_special = true }, &tokens, NULL))
        fail ();
    if (fixture_differs) {
        fixture_differs--;
        array_append (&tokens, plain, 1);
    }
    incoming_reply (incoming, &(tokenize_reply_t){ .tokens = column_of_u32 (tokens.data, tokens.count) });
    array_fini (&tokens);
}

static void
s_on_fetch (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    if (fixture_withholds) {
        incoming_fail (incoming, STATUS_AGAIN, "not today");
        return;
    }
    for (unsigned i = 0; i < BUNDLE_FILES; i++)
        if (fixture_files [i].size)
            incoming_send (incoming, fixture_files [i].size, &(model_part_t){ (model_file_t)i, fixture_files [i] });
    incoming_end (incoming, &(model_end_t){ 0 });
}

static status_t
s_worker_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    player_t *self = self_;
    self->script = &fixture_scripts [*(const size_t *)options];
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

static const actor_handler_t s_worker_handlers [] = {
    HANDLES_CALL (generate, s_on_generate),
    HANDLES_CALL (render, s_on_render),
    HANDLES_CALL (tokenize, s_on_tokenize),
    HANDLES_CALL (fetch_model, s_on_fetch),
    HANDLERS_END,
};

static const actor_class_t s_worker_class = { .name = "worker",
    .state_size = sizeof (player_t),
    .init = s_worker_init,
    .fini = s_worker_fini,
    .handlers = s_worker_handlers };

//  ---- A harness that asks over HTTP, and listens for what requests came to ------------------------------------------

chat_t fixture_chats [FIXTURE_CHATS];
ended_t fixture_ended;

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
    fixture_ended.count++;
    fixture_ended.source = origin->source;
    fixture_ended.last = *(const request_ended_t *)event;
    span_copy_string (fixture_ended.last.worker, fixture_ended.worker, sizeof fixture_ended.worker);
    span_copy_string (fixture_ended.last.reason, fixture_ended.reason, sizeof fixture_ended.reason);
}

static void
s_harness_fini (void *self, actor_t *actor)
{
    for (size_t i = 0; i < sizeof fixture_chats / sizeof fixture_chats [0]; i++)
        if (fixture_chats [i].fetch)
            actor_port (actor)->table->fetch_cancel (fixture_chats [i].fetch);
}

static const actor_handler_t s_harness_handlers [] = {
    HANDLES_EVENT (request_ended, s_on_request_ended),
    HANDLERS_END,
};

static const actor_class_t s_harness_class = {
    .name = "harness", .state_size = 1, .fini = s_harness_fini, .handlers = s_harness_handlers
};

//  ---- The stage -----------------------------------------------------------------------------------------------------

static const router_options_t s_router_options = { .mode = 0,
    .overlap_weight = 1000000,
    .load_weight = 1000000,
    .lower_weight = 800000,
    .load_stale_ns = 3600 * REALM_SECOND,
    .blocks_max = 100000,
    .sessions_max = 1000 };
frontend_options_t fixture_options [2];

stage_t *fixture_stage;
uint32_t fixture_context;
bool fixture_engine;
static buffer_t s_cards [3];

static const char *const s_promised [] = { "tiny", "promised" };

static void
s_set_options (void)
{
    for (int i = 0; i < 2; i++)
        fixture_options [i] = (frontend_options_t){ .host = i ? "f1" : "f0",
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
            .retries = { .share = 200000, .floor = 10, .burst = 100 },
            .migrate_unseeded = true,
            .secret = SPAN ("secret"),
            .models = { s_promised, 2 } };
}

void
fixture_add_frontend (int position)
{
    const char *const names [] = { "0", "1" };
    stage_add (fixture_stage, &(stage_actor_t){ .class = &frontend_class,
                                  .instance = names [position],
                                  .machine = fixture_options [position].host,
                                  .options = &fixture_options [position] });
}

void
fixture_add_worker (size_t position, const char *model, uint64_t fingerprint)
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
        .context = fixture_context,
        .capacity = 100,
        .ranks = 1,
        .slots = 4,
        .engine = SPAN ("test"),
        .engine_version = SPAN ("1"),
        .sends_text = fixture_engine,
        .tokenizing = fixture_engine ? SPAN ("engine") : SPAN ("bytes"),
        .has_files = fixture_files != NULL,
        .files = fixture_files ? bundle_fingerprint (fixture_files) : 0 };
    s_open_engine ();
    buffer_clear (&s_cards [position]);
    model_card_encode (&card, &s_cards [position]);
    stage_add (fixture_stage, &(stage_actor_t){ .class = &s_worker_class,
                                  .instance = names [position],
                                  .machine = machines [position],
                                  .options = &positions [position],
                                  .card = buffer_span (&s_cards [position]) });
}

void
fixture_add_router (const char *instance)
{
    stage_add (
        fixture_stage, &(stage_actor_t){ .class = &router_class, .instance = instance, .options = &s_router_options });
}

void
fixture_begin (size_t workers)
{
    fixture_context = 400;
    fixture_engine = false;
    s_set_options ();
    memset (fixture_chats, 0, sizeof fixture_chats);
    memset (&fixture_ended, 0, sizeof fixture_ended);
    for (size_t i = 0; i < 3; i++)
        fixture_scripts [i] = (script_t){ .pause_ns = 10 * REALM_MS, .item_tokens = 3 };
    fixture_stage = stage_new (5);
    stage_add (
        fixture_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &stage_broker_options });
    fixture_add_router ("0");
    stage_add (fixture_stage, &(stage_actor_t){ .class = &s_harness_class, .instance = "0" });
    fixture_add_frontend (0);
    for (size_t i = 0; i < workers; i++)
        fixture_add_worker (i, "tiny", 7);
    stage_run (fixture_stage, 3 * REALM_SECOND);
}

void
fixture_end (void)
{
    stage_destroy (&fixture_stage);
    bundle_destroy (&s_engine);
    fixture_files = NULL;
    fixture_says = NULL;
    fixture_withholds = false;
    fixture_differs = fixture_busy = 0;
    fixture_made = 0;
    for (size_t i = 0; i < 3; i++)
        buffer_fini (&s_cards [i]);
    for (size_t i = 0; i < sizeof fixture_chats / sizeof fixture_chats [0]; i++)
        buffer_fini (&fixture_chats [i].body);
}

const port_table_t *
fixture_port (void)
{
    return actor_port (stage_find (fixture_stage, "harness/0"))->table;
}

chat_t *
fixture_request (size_t position, const char *method, const char *url, const char *body, const http_header_t *headers,
    size_t header_count)
{
    chat_t *chat = &fixture_chats [position];
    buffer_fini (&chat->body);
    *chat = (chat_t){ 0 };
    fetch_options_t options = { .method = method,
        .url = url,
        .headers = headers,
        .header_count = header_count,
        .body = span_from_string (body),
        .on_head = s_on_head,
        .on_data = s_on_data,
        .on_end = s_on_fetched,
        .arg = chat };
    chat->fetch = fixture_port ()->fetch (actor_port (stage_find (fixture_stage, "harness/0")), &options, NULL);
    assert_non_null (chat->fetch);
    return chat;
}

chat_t *
fixture_fetch (size_t position, const char *url, const char *body, const http_header_t *headers, size_t header_count)
{
    return fixture_request (position, body ? "POST" : "GET", url, body, headers, header_count);
}

chat_t *
fixture_ask (const char *body)
{
    return fixture_fetch (0, URL, body, NULL, 0);
}

//  What a client shows: the deltas put together.
void
fixture_check_streamed (chat_t *chat, uint32_t tokens, const char *finish)
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
void
fixture_check_router_is_idle (void)
{
    static const char *const routers [] = { "router/0", "router/1" };
    for (size_t i = 0; i < sizeof routers / sizeof *routers; i++) {
        buffer_t text = { 0 };
        actor_t *router = stage_find (fixture_stage, routers [i]);
        if (!router)
            continue;
        router_class.describe (actor_state (router), router, &text);
        assert_non_null (strstr (buffer_string (&text), "requests active: 0,"));
        buffer_fini (&text);
    }
}

bool
fixture_contains (chat_t *chat, const char *text)
{
    return strstr (buffer_string (&chat->body), text) != NULL;
}

int64_t
fixture_metric (const char *metric, const char *label)
{
    metrics_t *metrics = actor_metrics (stage_find (fixture_stage, "frontend/0"));
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value, sum = 0;
    while (metrics_next (metrics, &cursor, &name, &labels, &value))
        if (strcmp (name, metric) == 0 && strstr (labels ? labels : "", label))
            sum += value;
    return sum;
}
