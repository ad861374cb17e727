//  Ours against the engine's, one conversation at a time.
//
//  A conversation that cannot be rendered here is no difference: the engine makes its prompt anyway.  Nor is one that comes
//  once: templates may say what day it is, and midnight comes between two renderings.

#include "actors/frontend/local_private.h"
#include "base/bug.h"

static const uint64_t RETRY_NS = 1000000000;    //  Before an engine is asked again, doubled each time

enum { RETRY_DOUBLINGS = 6 };

//  What is checked before the first prompt: each shows a way in which templates, vocabularies or engines have differed.
static const char *const s_probes [] = {
    "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}",
    "{\"messages\":[{\"role\":\"system\",\"content\":\" You are  brief. "
    "\"},{\"role\":\"user\",\"content\":\""
    "What's 1234567 + 89?\\n\\n\\tShow it.  \"},{\"role\":\"assistant\",\"content\":\"It is "
    "1234656.\"},{\"role\":\"user\","
    "\"content\":\"\\u00fcber \\u4f60\\u597d \\ud83e\\udd99\\ud83d\\udc4d\\ud83c\\udffd e\\u0301 \\u0000 <b>it's</b> "
    "[INST] <|im_end|> </s>\"}]}",
    "{\"messages\":[{\"role\":\"user\",\"content\":\"2+2?\"},{\"role\":\"assistant\",\"content\":\"4\","
    "\"reasoning_content\":\"Two and two.\"},{\"role\":\"user\",\"content\":\"3+3?\"}]}",
    "{\"messages\":[{\"role\":\"user\",\"content\":\"List "
    "a.c\"},{\"role\":\"assistant\",\"content\":null,"
    "\"tool_calls\":[{\"id\":\"call00001\",\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{"
    "\\\"path\\\":\\\"a.c\\\",\\\"lines\\\":[1,2.50],\\\"all\\\":true}\"}}]},{\"role\":\"tool\",\"tool_call_id\":"
    "\"call00001\","
    "\"content\":\"int "
    "main;\\n\"}],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"description\":\""
    "Reads \\\"it\\\" \\u2014 "
    "all.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"lines\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}},\"required\":[\"path\"]}}}]}",
    "{\"messages\":[{\"role\":\"user\",\"content\":\"No thoughts.\"}],\"chat_template_kwargs\":{"
    "\"enable_thinking\":false}}",
};

//  Bytes of a client's conversation that is checked: writing it down holds up everybody else.
enum { CHECKED_MAX = 1 << 20 };

enum { PROBES = sizeof s_probes / sizeof *s_probes };

static void s_ask_engine (local_model_t *self);
static void s_probe (local_model_t *self);
static void s_make_ours (local_model_t *self);

static void
s_end (local_model_t *self)
{
    local_check_t *check = &self->check;
    check->running = check->repeated = false;
    check->attempts = 0;
    buffer_fini (&check->conversation);
    if (self->state != LOCAL_CHECKING)
        return;
    check->probe++;
    if (check->probe < PROBES) {
        s_probe (self);
        return;
    }
    self->state = LOCAL_TRUSTED;
    actor_log (self->setup.actor, LOG_INFO, "prompts of %s are made here: its engine makes the same", self->name);
}

//  ---- Comparing -----------------------------------------------------------------------------------------------------

static void
s_differ (local_model_t *self)
{
    counts_differing (self->setup.counts, span_from_string (self->name));
    local_refuse (self, LOG_WARNING);
    s_end (self);
}

static void
s_compare (local_model_t *self)
{
    const array_t *ours = &self->check.ours, *theirs = &self->check.theirs;
    const uint32_t *a = ours->data, *b = theirs->data;
    size_t same = 0;
    while (same < ours->count && same < theirs->count && a [same] == b [same])
        same++;
    bool alike = same == ours->count && same == theirs->count;
    if (!alike && !self->check.repeated) {
        self->check.repeated = true;
        s_make_ours (self);
        return;
    }
    counts_checked (self->setup.counts, span_from_string (self->name));
    if (alike) {
        s_end (self);
        return;
    }
    error_set (&self->why, STATUS_CORRUPT,
        "theirs of %s conversation has %zu tokens, ours %zu, and they part at token %zu",
        self->check.probe < PROBES ? "a probe's" : "a client's", theirs->count, ours->count, same);
    s_differ (self);
}

static void
s_on_retry (void *state, actor_t *actor, void *arg)
{
    s_ask_engine (arg);
}

//  A client's conversation is not worth asking twice for.
static void
s_not_asked (local_model_t *self, const char *why)
{
    local_check_t *check = &self->check;
    if (self->state != LOCAL_CHECKING) {
        s_end (self);
        return;
    }
    if (check->attempts == 0)
        actor_log (self->setup.actor, LOG_WARNING, "an engine of %s is asked again what prompts it makes: %s",
            self->name, why);
    unsigned doublings = check->attempts < RETRY_DOUBLINGS ? check->attempts : RETRY_DOUBLINGS;
    check->attempts++;
    timer_start (&check->retry, self->setup.actor, RETRY_NS << doublings, s_on_retry, self);
}

static void
s_on_theirs (void *state, void *arg, const api_error_t *error)
{
    local_model_t *self = arg;
    if (!error) {
        s_compare (self);
    } else if (error->kind == API_INVALID_VALUE) {
        error_set (&self->why, STATUS_CORRUPT, "they refuse a conversation that is rendered here");
        s_differ (self);
    } else
        s_not_asked (self, error->text);
}

static void
s_ask_engine (local_model_t *self)
{
    local_check_t *check = &self->check;
    span_t worker = local_worker (self, check->attempts);
    array_cut (&check->theirs, 0);
    check->encoding = (encoding_t){ .actor = self->setup.actor,
        .encoder = &encoder_engine,
        .model = span_from_string (self->name),
        .tokens = &check->theirs,
        .done = s_on_theirs,
        .arg = self };
    if (worker.size == 0) {
        s_not_asked (self, "nobody serves it now");
        return;
    }
    span_copy_string (worker, check->encoding.worker, sizeof check->encoding.worker);
    buffer_t question = { 0 };
    encoder_engine.write (check->encoding.model, buffer_span (&check->conversation), &question);
    encoding_start (&check->encoding, &question);
}

//  ---- Ours ----------------------------------------------------------------------------------------------------------

//  The plainest conversation must work; of the others it is enough that none is wrong.
static void
s_on_ours (void *arg, const local_result_t *result)
{
    local_model_t *self = arg;
    array_cut (&self->check.ours, 0);
    if (result->status == STATUS_OK) {
        array_append (&self->check.ours, result->tokens->data, result->tokens->count);
        s_ask_engine (self);
    } else if (self->check.probe == 0) {
        self->why = *result->error;
        error_prefix (&self->why, "a plain conversation cannot be rendered");
        local_refuse (self, LOG_WARNING);
        s_end (self);
    } else
        s_end (self);
}

//  Reads the conversation as if a client had sent it: both sides get what is read of it.
static void
s_make_ours (local_model_t *self)
{
    local_check_t *check = &self->check;
    size_t size = check->conversation.size;
    json_t *tree = NULL;
    chat_request_t request;
    api_error_t error;
    BUG_ON (json_parse (buffer_span (&check->conversation), &tree, NULL));
    json_put (tree, "model", json_new_string (SPAN ("m")));
    if (chat_request_parse (&request, tree, size, &error)) {
        buffer_clear (&check->conversation);
        chat_request_render (&request, &check->conversation);
        local_model_encode (self, chat_request_context (&request), size, s_on_ours, self, &check->work);
    } else {
        error_set (&self->why, STATUS_INVALID, "what was rendered cannot be read again: %s", error.text);
        s_differ (self);
    }
    chat_request_fini (&request);
    json_destroy (&tree);
}

//  ---- Before the first prompt ---------------------------------------------------------------------------------------

static void
s_probe (local_model_t *self)
{
    local_check_t *check = &self->check;
    check->running = true;
    buffer_clear (&check->conversation);
    buffer_append_string (&check->conversation, s_probes [check->probe]);
    s_make_ours (self);
}

void
local_check_begin (local_model_t *self)
{
    s_probe (self);
}

//  ---- Afterwards ----------------------------------------------------------------------------------------------------

void
local_model_made (local_model_t *self, const chat_request_t *request, const array_t *tokens)
{
    uint64_t every = self->setup.check_every;
    bool due = every && ++self->made % every == 0;
    if (!due || request->arena.used > CHECKED_MAX || self->check.running || self->state != LOCAL_TRUSTED)
        return;
    self->check.running = true;
    array_cut (&self->check.ours, 0);
    array_append (&self->check.ours, tokens->data, tokens->count);
    chat_request_render (request, &self->check.conversation);
    s_ask_engine (self);
}

void
local_check_drop (local_model_t *self)
{
    timer_stop (&self->check.retry);
    encoding_drop (&self->check.encoding);
    local_work_drop (&self->check.work);
}
