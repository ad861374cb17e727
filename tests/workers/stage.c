#include "tests/workers/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/list.h"
#include "base/memory.h"
#include "broker/broker.h"
#include "runtime/directory.h"
#include "schemas/batch.h"
#include "schemas/event.h"
#include "schemas/kv.h"
#include "schemas/status.h"
#include "simulator/port/sim_port.h"

static const uint64_t HOUR = UINT64_C (3600000000000), MS = 1000000;

//  An actor in its process.
typedef struct {
    realm_process_t *process;    //  Where
    port_t *port;                //  Its port
    actor_t *actor;              //  Itself
} home_t;

typedef struct {
    list_link_t link;    //  In s_talks
    talk_t talk;         //  The test's
} talk_entry_t;

static realm_t *s_realm;
static const realm_program_t *s_added;
static realm_process_t *s_added_process;
static home_t s_broker, s_worker, s_client;
static worker_setup_t s_setup;
static worker_options_t s_common;
static arena_t s_memory;
static list_t s_talks;
static observed_t s_observed;
static char s_warning [1024];
static column_t s_bytes;
static buffer_t s_text;

//  ---- What the client sees ------------------------------------------------------------------------------------------

static void
s_on_stored (void *self, actor_t *actor, const origin_t *origin, const void *message)
{
    const kv_stored_t *event = message;
    if (event->has_parent && !map_get_u64 (s_observed.blocks, event->parent.high))
        s_observed.orphans++;
    s_observed.stored += event->hashes.count;
    for (size_t i = 0; i < event->hashes.count; i++)
        map_put_u64 (s_observed.blocks, column_hash128 (event->hashes, i).high, &s_observed);
}

static void
s_on_removed (void *self, actor_t *actor, const origin_t *origin, const void *message)
{
    const kv_removed_t *event = message;
    for (size_t i = 0; i < event->hashes.count; i++)
        if (!map_remove_u64 (s_observed.blocks, column_hash128 (event->hashes, i).high))
            s_observed.strays++;
}

static void
s_forget_blocks (void)
{
    map_destroy (&s_observed.blocks);
    s_observed.blocks = map_new (0);
}

static void
s_on_cleared (void *self, actor_t *actor, const origin_t *origin, const void *message)
{
    s_forget_blocks ();
}

static void
s_on_reset (void *self, actor_t *actor, const origin_t *origin)
{
    s_forget_blocks ();
}

static void
s_on_load (void *self, actor_t *actor, const origin_t *origin, const void *message)
{
    s_observed.load = *(const worker_load_t *)message;
    s_observed.load_ns = actor_now (actor);
    s_observed.loads++;
}

static void
s_on_worker (void *self, actor_t *actor, const actor_entry_t *entry)
{
    s_observed.alive = entry->state == ACTOR_STATE_ALIVE;
    s_observed.draining = entry->draining;
    if (entry->has_card)
        assert_int_equal (model_card_decode (&s_observed.card, entry->card, &s_memory, NULL), STATUS_OK);
}

static const actor_handler_t s_client_handlers [] = {
    HANDLES_EVENT (kv_stored, s_on_stored),
    HANDLES_EVENT (kv_removed, s_on_removed),
    HANDLES_EVENT (kv_cleared, s_on_cleared),
    HANDLES_RESET (STREAM_KV, s_on_reset),
    HANDLES_EVENT (worker_load, s_on_load),
    HANDLES_ACTOR ("worker", s_on_worker),
    HANDLERS_END,
};

static const actor_class_t s_client_class = { .name = "client", .state_size = 1, .handlers = s_client_handlers };

//  ---- Processes -----------------------------------------------------------------------------------------------------

static status_t
s_make (home_t *home, const actor_class_t *class, realm_process_t *process, const char *endpoint, const void *options,
    error_t *error)
{
    home->process = process;
    home->port = sim_port_new (process);
    actor_options_t common = { .instance = "0", .endpoint = endpoint, .host = "a" };
    if (home != &s_broker) {
        common.broker = "tcp://a:7400";
        common.events = "tcp://a:7401";
    }
    home->actor = actor_new (class, home->port, &common, options, error);
    return home->actor ? STATUS_OK : error->status;
}

static status_t
s_start_broker (realm_process_t *process, void **state, error_t *error)
{
    broker_options_t options = { 0 };
    option_context_t context = { .memory = &s_memory };
    option_set_defaults ((option_target_t){ broker_options_table, &options }, &context);
    options.events = "tcp://*:7401";
    *state = &s_broker;
    return s_make (&s_broker, &broker_class, process, "tcp://*:7400", &options, error);
}

static status_t
s_start_worker (realm_process_t *process, void **state, error_t *error)
{
    *state = &s_worker;
    return s_make (&s_worker, &worker_class, process, "tcp://a:7500", &s_setup, error);
}

static status_t
s_start_client (realm_process_t *process, void **state, error_t *error)
{
    *state = &s_client;
    return s_make (&s_client, &s_client_class, process, NULL, NULL, error);
}

static void
s_stop (realm_process_t *process, void *state)
{
    home_t *home = state;
    actor_destroy (&home->actor);
    sim_port_destroy (&home->port);
}

static const realm_program_t s_programs [] = {
    { .name = "broker", .start = s_start_broker, .stop = s_stop },
    { .name = "worker", .start = s_start_worker, .stop = s_stop },
    { .name = "client", .start = s_start_client, .stop = s_stop },
};

static realm_process_t *
s_run_program (const char *name)
{
    const char *argv [] = { name, NULL };
    realm_process_t *process =
        realm_process_start (realm_machine_find (s_realm, "a"), &(realm_start_t){ .argv = argv }, NULL);
    assert_non_null (process);
    stage_run_ms (200);
    return process;
}

void
stage_add (const realm_program_t *program)
{
    s_added = program;
}

void
stage_kill_added (void)
{
    realm_process_signal (s_added_process, PROCESS_SIGNAL_KILL);
    stage_run_ms (10);
}

void
stage_start_added (void)
{
    s_added_process = s_run_program (s_added->name);
}

static void
s_on_log (void *arg, uint64_t now_ns, const char *process, log_level_t level, span_t line)
{
    if (level >= LOG_WARNING)
        span_copy_string (line, s_warning, sizeof s_warning);
}

void
stage_begin (uint64_t seed, const worker_setup_t *setup)
{
    arena_init (&s_memory, 16 << 20);
    list_init (&s_talks);
    s_observed = (observed_t){ .blocks = map_new (0) };
    *s_warning = 0;
    s_setup = *setup;
    if (!s_setup.secret.size)
        s_setup.secret = SPAN ("secret");
    if (!s_setup.model.size)
        s_setup.model = SPAN ("mock");
    if (!s_setup.common) {
        option_context_t context = { .memory = &s_memory };
        option_set_defaults ((option_target_t){ worker_options_table, &s_common }, &context);
        s_setup.common = &s_common;
    }
    s_realm = realm_new (&(realm_options_t){ .seed = seed, .on_log = s_on_log });
    realm_machine_new (s_realm, "a");
    for (size_t i = 0; i < sizeof s_programs / sizeof *s_programs; i++)
        realm_register_program (s_realm, &s_programs [i]);
    s_run_program ("broker");
    if (s_added) {
        realm_register_program (s_realm, s_added);
        stage_start_added ();
    }
    s_run_program ("worker");
    s_run_program ("client");
    stage_run_ms (2000);
}

void
stage_end (void)
{
    realm_destroy (&s_realm);
    s_added = NULL;
    for (list_link_t *link; (link = list_take_first (&s_talks));) {
        talk_entry_t *entry = LIST_ENTRY (link, talk_entry_t, link);
        array_fini (&entry->talk.tokens);
        buffer_fini (&entry->talk.text);
        memory_free (entry);
    }
    map_destroy (&s_observed.blocks);
    buffer_fini (&s_text);
    arena_fini (&s_memory);
}

void
stage_run_ms (uint64_t ms)
{
    realm_run (s_realm, realm_now (s_realm) + ms * MS);
}

void
stage_restart_client (void)
{
    realm_process_exit (s_client.process, 0);
    stage_run_ms (10);
    s_forget_blocks ();
    s_run_program ("client");
    stage_run_ms (2000);
}

//  ---- Asking --------------------------------------------------------------------------------------------------------

static uint64_t
s_on_item (void *self, void *arg, uint64_t position, const void *message)
{
    talk_t *talk = arg;
    const generated_t *item = message;
    assert_int_equal (position, talk->tokens.count);
    uint64_t now = actor_now (s_client.actor);
    if (!talk->first_ns)
        talk->first_ns = now;
    if (talk->last_ns && now - talk->last_ns > talk->gap_ns)
        talk->gap_ns = now - talk->last_ns;
    talk->last_ns = now;
    for (size_t i = 0; i < item->tokens.count; i++)
        array_append (&talk->tokens, &(uint32_t){ column_u32 (item->tokens, i) }, 1);
    buffer_append (&talk->text, item->text);
    talk->items++;
    if (talk->step)
        stream_credit (&talk->stream, position + item->tokens.count + talk->step);
    return item->tokens.count;
}

static void
s_on_end (void *self, void *arg, call_result_t result, const void *message)
{
    talk_t *talk = arg;
    talk->ended = true;
    talk->result = result;
    talk->status = stream_error (&talk->stream)->status;
    snprintf (talk->error, sizeof talk->error, "%s", stream_error (&talk->stream)->text);
    if (!message)
        return;
    talk->end = *(const generate_end_t *)message;
    if (talk->end.has_detail)
        span_copy_string (talk->end.detail, talk->detail, sizeof talk->detail);
    if (talk->end.receipts_count)
        snprintf (talk->receipt, sizeof talk->receipt, "%.*s %s %.*s", SPAN_ARG (talk->end.receipts->hint),
            outcome_name (talk->end.receipts->outcome), SPAN_ARG (talk->end.receipts->reason));
}

talk_t *
stage_generate (const generate_t *request, uint64_t credit, uint64_t step)
{
    talk_entry_t *entry = memory_new (sizeof *entry);
    list_append (&s_talks, &entry->link);
    talk_t *talk = &entry->talk;
    talk->step = step;
    talk->started_ns = realm_now (s_realm);
    array_init (&talk->tokens, sizeof (uint32_t));
    stream_options_t options = { .on_item = s_on_item, .on_end = s_on_end, .credit = credit };
    stream_open (&talk->stream, s_client.actor, SPAN ("worker/0"), &generate_message, request, &options, talk);
    return talk;
}

void
stage_finish (const talk_t *talk)
{
    for (uint64_t until = realm_now (s_realm) + HOUR; !talk->ended && realm_now (s_realm) < until;)
        stage_run_ms (10);
    assert_true (talk->ended);
}

generate_t
stage_request (const char *text, uint32_t max_tokens)
{
    buffer_clear (&s_text);
    for (const char *at = text; *at; at++)
        buffer_append_u32_le (&s_text, (uint8_t)*at);
    s_bytes = (column_t){ s_text.data, strlen (text) };
    return (generate_t){
        .request = SPAN ("r"),
        .model = SPAN ("mock"),
        .tokens = s_bytes,
        .sampling = { .has_max_tokens = true, .max_tokens = max_tokens, .has_ignore_eos = true, .ignore_eos = true },
    };
}

static void
s_keep_bytes (question_t *question, const void *reply)
{
    span_t bytes = { 0 };
    if (question->call.type == &render_message)
        bytes = ((const render_reply_t *)reply)->prompt;
    else if (question->call.type == &tokenize_message)
        bytes = span_of (
            ((const tokenize_reply_t *)reply)->tokens.data, ((const tokenize_reply_t *)reply)->tokens.count * 4);
    else if (question->call.type == &get_status_message)
        bytes = ((const actor_status_t *)reply)->detail;
    bytes = span_slice (bytes, 0, sizeof question->bytes - 1);
    if (bytes.size)
        memcpy (question->bytes, bytes.data, bytes.size);
}

static void
s_on_answer (void *self, void *arg, call_result_t result, const void *reply)
{
    question_t *question = arg;
    question->ended = true;
    question->result = result;
    question->status = call_error (&question->call)->status;
    snprintf (question->error, sizeof question->error, "%s", call_error (&question->call)->text);
    if (reply)
        s_keep_bytes (question, reply);
}

void
stage_ask (question_t *question, const message_type_t *type, const void *request)
{
    memset (question, 0, sizeof *question);
    call_start (&question->call, s_client.actor,
        &(call_options_t){ .address = SPAN ("worker/0"),
            .type = type,
            .request = request,
            .timeout_ns = HOUR,
            .done = s_on_answer,
            .arg = question });
}

void
stage_call (question_t *question, const message_type_t *type, const void *request)
{
    stage_ask (question, type, request);
    for (int i = 0; !question->ended && i < 1000; i++)
        stage_run_ms (10);
    assert_true (question->ended);
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

static uint64_t
s_on_part (void *self, void *arg, uint64_t position, const void *message)
{
    fetching_t *fetching = arg;
    const model_part_t *part = message;
    fetching->parts++;
    buffer_append (&fetching->files [part->file], part->bytes);
    stream_credit (&fetching->stream, position + part->bytes.size + fetching->step);
    return part->bytes.size;
}

static void
s_on_fetched (void *self, void *arg, call_result_t result, const void *message)
{
    fetching_t *fetching = arg;
    fetching->ended = true;
    fetching->result = result;
    fetching->status = result == CALL_REPLIED ? STATUS_OK : stream_error (&fetching->stream)->status;
}

void
stage_fetch (fetching_t *fetching, uint64_t files, uint64_t step)
{
    stream_options_t options = { .on_item = s_on_part, .on_end = s_on_fetched, .credit = step };
    *fetching = (fetching_t){ .step = step };
    stream_open (&fetching->stream, s_client.actor, SPAN ("worker/0"), &fetch_model_message,
        &(fetch_model_t){ .model = SPAN ("mock"), .files = files }, &options, fetching);
}

void
stage_fetch_finish (fetching_t *fetching)
{
    for (int i = 0; !fetching->ended && i < 100000; i++)
        stage_run_ms (1);
    assert_true (fetching->ended);
}

void
stage_fetch_fini (fetching_t *fetching)
{
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        buffer_fini (&fetching->files [i]);
}

//  ---- Snapshots -----------------------------------------------------------------------------------------------------

static uint64_t
s_on_snapshot_part (void *self, void *arg, uint64_t position, const void *message)
{
    taking_t *taking = arg;
    batch_reader_t reader;
    const message_type_t *type;
    span_t bytes;
    if (!taking->parts++)
        taking->tokens = taking->beside->tokens.count - taking->tokens;
    batch_reader_init (&reader, STREAM_KV, ((const snapshot_part_t *)message)->payload);
    while (batch_reader_next (&reader, &type, &bytes, NULL)) {
        kv_stored_t stored;
        if (type == &kv_cleared_message) {
            taking->cleared += taking->blocks;
            taking->blocks = 0;
        }
        if (type != &kv_stored_message)
            continue;
        assert_int_equal (kv_stored_decode (&stored, bytes, &s_memory, NULL), STATUS_OK);
        taking->blocks += stored.hashes.count;
    }
    assert_int_equal (reader.status, STATUS_OK);
    return 1;
}

static void
s_on_taken (void *self, void *arg, call_result_t result, const void *message)
{
    taking_t *taking = arg;
    taking->ended = true;
    taking->result = result;
}

void
stage_take (taking_t *taking, const talk_t *beside)
{
    stream_options_t options = { .on_item = s_on_snapshot_part, .on_end = s_on_taken, .credit = UINT32_MAX };
    *taking = (taking_t){ .beside = beside, .tokens = beside->tokens.count };
    stream_open (&taking->stream, s_client.actor, SPAN ("worker/0"), &take_snapshot_message,
        &(take_snapshot_t){ .source = actor_source (s_worker.actor), .stream = STREAM_KV }, &options, taking);
}

const observed_t *
stage_observed (void)
{
    return &s_observed;
}

actor_t *
stage_worker (void)
{
    return s_worker.actor;
}

const char *
stage_warning (void)
{
    return s_warning;
}

int64_t
stage_metric (const char *name)
{
    int64_t total = 0, value = 0;
    const char *found, *labels;
    for (size_t cursor = 0; metrics_next (actor_metrics (s_worker.actor), &cursor, &found, &labels, &value);)
        if (strcmp (found, name) == 0)
            total += value;
    return total;
}
