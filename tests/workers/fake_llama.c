#include "tests/workers/fake_llama.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "simulator/port/sim_port.h"

static const uint64_t STEP_NS = 10000000;

typedef struct {
    port_exchange_t *exchange;         //  Whose request runs; NULL: idle
    uint32_t tokens [FAKE_CONTEXT];    //  Cached
    size_t count;                      //  How many
    size_t prompt;                     //  Tokens of the request
    uint64_t reused;                   //  Of these, found
    uint64_t said;                     //  Tokens generated
    uint64_t limit;                    //  At most
} fake_slot_t;

fake_llama_t fake_llama;
static port_t *s_port;
static port_listener_t *s_listener;
static fake_slot_t s_slots [FAKE_SLOTS];

void
fake_llama_forget (void)
{
    for (int i = 0; i < FAKE_SLOTS; i++)
        if (!s_slots [i].exchange)
            s_slots [i].count = 0;
}

static void
s_respond (port_exchange_t *exchange, int status, const char *body)
{
    s_port->table->exchange_respond (exchange, status, NULL, 0, span_from_string (body));
}

static void
s_write (fake_slot_t *slot, const char *json)
{
    char event [512];
    int size = snprintf (event, sizeof event, "data: %s\n\n", json);
    s_port->table->exchange_write (slot->exchange, span_of (event, (size_t)size));
}

static void
s_finish (fake_slot_t *slot, const char *last)
{
    s_write (slot, last);
    s_port->table->exchange_end (slot->exchange);
    slot->exchange = NULL;
}

static void
s_stop (fake_slot_t *slot)
{
    char last [512];
    snprintf (last, sizeof last,
        "{\"content\":\"\",\"tokens\":[],\"stop\":true,\"stop_type\":\"limit\",\"stopping_word\":\"\","
        "\"tokens_predicted\":%" PRIu64 ",\"tokens_evaluated\":%zu,\"tokens_cached\":%zu,\"timings/cache_n\":%" PRIu64
        "}",
        slot->said, slot->prompt, slot->count - 1, slot->reused);
    slot->count--;
    s_finish (slot, last);
}

static void
s_step (fake_slot_t *slot)
{
    char chunk [256];
    uint64_t token = 300 + slot->said++;
    slot->tokens [slot->count++] = (uint32_t)token;
    if (slot->said == fake_llama.hangs_up_at) {
        s_port->table->exchange_end (slot->exchange);
        slot->exchange = NULL;
        return;
    }
    if (slot->said == fake_llama.fails_at) {
        s_finish (slot, "{\"error\":{\"code\":500,\"message\":\"Compute error\",\"type\":\"server_error\"}}");
        return;
    }
    if (fake_llama.cuts && slot->said == slot->limit) {
        s_finish (slot,
            "{\"error\":{\"code\":500,\"message\":\"The model produced output that does not match the expected "
            "Content-only format\",\"type\":\"server_error\"}}");
        return;
    }
    snprintf (chunk, sizeof chunk,
        "{\"index\":0,\"content\":\"w%" PRIu64 " \",\"tokens\":[%" PRIu64 "],\"stop\":false}", slot->said - 1, token);
    s_write (slot, chunk);
    if (slot->said == slot->limit || slot->count == FAKE_CONTEXT)
        s_stop (slot);
}

static void
s_on_alarm (void *arg)
{
    bool busy = false;
    for (int i = 0; i < FAKE_SLOTS; i++) {
        if (s_slots [i].exchange && !fake_llama.hangs)
            s_step (&s_slots [i]);
        busy = busy || s_slots [i].exchange;
    }
    if (busy)
        s_port->table->alarm (s_port, s_port->table->now_ns (s_port) + STEP_NS);
}

static void
s_on_gone (void *arg)
{
    fake_slot_t *slot = arg;
    fake_llama.aborted++;
    s_port->table->exchange_abort (slot->exchange);
    slot->exchange = NULL;
}

static void
s_begin (fake_slot_t *slot, const json_t *prompt)
{
    size_t common = 0, count = json_count (prompt);
    for (size_t i = 0; i < count; i++) {
        uint64_t token = 0;
        json_to_u64 (json_at (prompt, i), &token);
        if (common == i && i < slot->count && i + 1 < count && slot->tokens [i] == token)
            common++;
        slot->tokens [i] = (uint32_t)token;
    }
    slot->count = slot->prompt = count;
    slot->reused = fake_llama.last_reused = common;
    slot->said = 0;
}

static void
s_complete (port_exchange_t *exchange, const json_t *json)
{
    const json_t *prompt = json_get (json, "prompt");
    uint64_t number = 0, limit = 0;
    json_to_u64 (json_get (json, "id_slot"), &number);
    json_to_u64 (json_get (json, "n_predict"), &limit);
    if (json_count (prompt) >= FAKE_CONTEXT) {
        s_respond (exchange, 400,
            "{\"error\":{\"code\":400,\"message\":\"too long\",\"type\":\"exceed_context_size_error\"}}");
        return;
    }
    if (fake_llama.refuses) {
        s_respond (exchange, 400, "{\"error\":{\"code\":400,\"message\":\"Prompt contains invalid tokens\"}}");
        return;
    }
    fake_slot_t *slot = &s_slots [number % FAKE_SLOTS];
    if (slot->exchange) {
        s_respond (exchange, 500, "{\"error\":{\"code\":500,\"message\":\"the slot is busy\"}}");
        return;
    }
    fake_llama.requests++;
    fake_llama.last_slot = (uint32_t)number;
    s_begin (slot, prompt);
    slot->exchange = exchange;
    slot->limit = limit;
    s_port->table->exchange_watch (exchange, &(exchange_watch_t){ .on_gone = s_on_gone, .arg = slot });
    s_port->table->exchange_begin (exchange, 200, NULL, 0);
    char chunk [256];
    uint64_t beyond = fake_llama.overstates ? UINT32_MAX : 0;
    for (int i = 0; i < 2; i++) {
        snprintf (chunk, sizeof chunk,
            "{\"content\":\"\",\"tokens\":[0],\"stop\":false,\"prompt_progress\":{\"total\":%zu,\"cache\":%" PRIu64
            ",\"processed\":%" PRIu64 ",\"time_ms\":0}}",
            slot->prompt, slot->reused + beyond, (i ? (uint64_t)slot->prompt : slot->reused) + beyond);
        s_write (slot, chunk);
    }
    s_port->table->alarm (s_port, s_port->table->now_ns (s_port) + STEP_NS);
}

static void
s_say_props (port_exchange_t *exchange)
{
    char body [256];
    snprintf (body, sizeof body,
        "{\"total_slots\":2,\"default_generation_settings\":{\"n_ctx\":512},\"bos_token\":\"<s>\","
        "\"chat_template\":\"%s\",\"model_path\":\"/m/fake.gguf\",\"build_info\":\"b1\"}",
        fake_llama.template_now ? fake_llama.template_now : "x");
    s_respond (exchange, 200, body);
}

//  Every byte is a token; 1 begins.
static void
s_tokenize (port_exchange_t *exchange, const json_t *json)
{
    span_t content = json_string (json_get (json, "content"));
    buffer_t body = { 0 };
    buffer_append_string (&body, "{\"tokens\":[");
    if (json_is_true (json_get (json, "add_special")))
        buffer_append_string (&body, "1");
    for (size_t i = 0; i < content.size; i++)
        buffer_print (&body, "%s%u", i ? "," : "", content.data [i]);
    buffer_append_string (&body, "]}");
    s_respond (exchange, 200, buffer_string (&body));
    buffer_fini (&body);
}

static void
s_apply_template (port_exchange_t *exchange, const json_t *json)
{
    span_t content = json_string (json_get (json_at (json_get (json, "messages"), 0), "content"));
    buffer_t body = { 0 };
    json_writer_t writer;
    json_writer_init (&writer, &body);
    json_write_begin_object (&writer);
    json_write_key (&writer, "prompt");
    json_write_string (&writer, content);
    json_write_end_object (&writer);
    s_respond (exchange, 200, buffer_string (&body));
    buffer_fini (&body);
}

static void
s_on_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    json_t *json = NULL;
    if (request->body.size)
        json_parse (request->body, &json, NULL);
    if (span_equal_string (request->path, "/health"))
        s_respond (exchange, fake_llama.loading ? 503 : 200, "{\"status\":\"ok\"}");
    else if (span_equal_string (request->path, "/props") && !fake_llama.stranger)
        s_say_props (exchange);
    else if (span_equal_string (request->path, "/v1/models") && !fake_llama.nameless)
        s_respond (exchange, 200, "{\"data\":[{\"id\":\"fake\",\"meta\":{\"n_vocab\":512}}]}");
    else if (span_equal_string (request->path, "/tokenize"))
        s_tokenize (exchange, json);
    else if (span_equal_string (request->path, "/apply-template") && json_count (json_get (json, "messages")))
        s_apply_template (exchange, json);
    else if (span_equal_string (request->path, "/completion"))
        s_complete (exchange, json);
    else
        s_respond (exchange, 500, "{\"error\":{\"code\":500,\"message\":\"no messages\"}}");
    json_destroy (&json);
}

static status_t
s_start (realm_process_t *process, void **state, error_t *error)
{
    s_port = sim_port_new (process);
    s_port->user = (port_user_t){ .on_alarm = s_on_alarm };
    memset (s_slots, 0, sizeof s_slots);
    *state = s_port;
    s_listener = s_port->table->listen (s_port, "a:8080", &(listener_options_t){ .on_request = s_on_request }, error);
    return s_listener ? STATUS_OK : error->status;
}

static void
s_end (realm_process_t *process, void *state)
{
    for (int i = 0; i < FAKE_SLOTS; i++)
        if (s_slots [i].exchange)
            s_port->table->exchange_abort (s_slots [i].exchange);
    s_port->table->listener_close (s_listener);
    sim_port_destroy (&s_port);
}

const realm_program_t fake_llama_program = { .name = "llama", .start = s_start, .stop = s_end };
