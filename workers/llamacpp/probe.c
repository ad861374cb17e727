//  Finding the server: health, then facts.  A server that was gone is asked for its facts anew, and its slots are empty.

#include "workers/llamacpp/llamacpp_private.h"

enum { ANSWER_MAX = 16 << 20, FAILURES_MAX = 3 };

static const uint64_t PROBE_NS = 5000000000;

static void
s_ask (engine_t *self, const char *path, span_t body, http_answer_fn *done)
{
    http_question_t question = {
        .path = path, .body = body, .total_ns = PROBE_NS, .answer_max = ANSWER_MAX, .done = done, .arg = self
    };
    http_ask (&self->probes, &question);
}

static void
s_on_probe (void *state, actor_t *actor, void *arg)
{
    probe_now (arg);
}

static void
s_later (engine_t *self)
{
    timer_start (&self->probe, self->actor, self->options.probe_interval_ns, s_on_probe, self);
}

//  A server that refuses is gone; one that is slow to answer may be busy.
static void
s_fail (engine_t *self, bool refuses, const char *why)
{
    s_later (self);
    if (self->ready && !refuses && ++self->failures < FAILURES_MAX)
        return;
    self->ready = false;
    self->watch.on_health (self->watch.arg, why);
    run_fail_all (self, STATUS_UNREACHABLE, why);
}

//  True where the answer is there and good; else the sentence is passed on.
static bool
s_is_good (engine_t *self, status_t status, const char *why, int code, const buffer_t *body)
{
    error_t error;
    if (status) {
        s_fail (self, status == STATUS_UNREACHABLE, why);
    } else if (code != 200) {
        wire_read_error (code, buffer_span (body), &error);
        s_fail (self, code == 503, error.text);
    } else
        return true;
    return false;
}

static void
s_become_ready (engine_t *self, bool has_files)
{
    const wire_facts_t *facts = &self->facts;
    run_fail_all (self, STATUS_UNREACHABLE, "the engine was restarted");
    span_t files [BUNDLE_FILES];
    llamacpp_files_get (self, files);
    model_card_t card = {
        .model = buffer_span (self->model.size ? &self->model : &facts->model),
        .fingerprint = facts->fingerprint,
        .block_size = self->block_size,
        .context = (uint32_t)facts->context,
        .capacity = facts->slots * (facts->context / self->block_size),
        .ranks = 1,
        .slots = (uint32_t)facts->slots,
        .engine = SPAN ("llamacpp"),
        .engine_version = buffer_span (&facts->version),
        .tokenizing = SPAN ("engine"),
        .sends_text = true,
        .kv_events = true,
        .has_files = has_files,
        .files = bundle_fingerprint (files),
    };
    const namespace_t *space = self->watch.on_ready (self->watch.arg, &card);
    slots_watch_t watch = { self->watch.on_stored, self->watch.on_removed, self->watch.arg };
    slots_destroy (&self->slots);
    self->slots = slots_new ((uint32_t)facts->slots, space, &watch);
    self->ready = true;
    s_later (self);
}

//  ---- The questions, in order ---------------------------------------------------------------------------------------

static void
s_on_begin (void *arg, status_t status, const char *why, int code, buffer_t *body)
{
    engine_t *self = arg;
    if (!s_is_good (self, status, why, code, body))
        return;
    error_t error;
    buffer_t tokens = { 0 };
    status = wire_read_tokens (buffer_span (body), &tokens, &error);
    self->begins = tokens.size > 0 && self->facts.bos.size > 0;
    buffer_fini (&tokens);
    if (status)
        s_fail (self, false, error.text);
    else
        llamacpp_files_read (self, s_become_ready);
}

static void
s_on_models (void *arg, status_t status, const char *why, int code, buffer_t *body)
{
    engine_t *self = arg;
    if (!s_is_good (self, status, why, code, body))
        return;
    error_t error;
    if (wire_read_models (&self->facts, buffer_span (body), &error)) {
        s_fail (self, false, error.text);
        return;
    }
    buffer_t question = { 0 };
    wire_write_tokenize (&question, SPAN (""), true);
    s_ask (self, "/tokenize", buffer_span (&question), s_on_begin);
    buffer_fini (&question);
}

static void
s_on_props (void *arg, status_t status, const char *why, int code, buffer_t *body)
{
    engine_t *self = arg;
    if (!s_is_good (self, status, why, code, body))
        return;
    error_t error;
    wire_facts_fini (&self->facts);
    if (wire_read_props (&self->facts, buffer_span (body), &error))
        s_fail (self, false, error.text);
    else
        s_ask (self, "/v1/models", (span_t){ 0 }, s_on_models);
}

static void
s_on_health (void *arg, status_t status, const char *why, int code, buffer_t *body)
{
    engine_t *self = arg;
    if (!s_is_good (self, status, why, code, body))
        return;
    self->failures = 0;
    if (self->ready)
        s_later (self);
    else
        s_ask (self, "/props", (span_t){ 0 }, s_on_props);
}

void
probe_now (engine_t *self)
{
    if (self->probes.asks.count || self->reading)
        return;
    timer_stop (&self->probe);
    s_ask (self, LLAMACPP_HEALTH_PATH, (span_t){ 0 }, s_on_health);
}
