#include "workers/worker.h"

#include "base/memory.h"
#include "schemas/event.h"
#include "workers/worker_private.h"

enum { ASKS_MAX = 256, PATIENCE = 5 };

static const uint64_t MS = 1000000;

//  ---- Card and health -----------------------------------------------------------------------------------------------

static bool
s_is_well (const worker_t *self)
{
    return self->known && !self->trouble.size && !self->suspect;
}

static void
s_set_trouble (worker_t *self, const char *why)
{
    buffer_clear (&self->trouble);
    if (why)
        buffer_append_string (&self->trouble, why);
    actor_set_ready (self->actor, s_is_well (self));
}

static const namespace_t *
s_on_ready (void *arg, const model_card_t *given)
{
    worker_t *self = arg;
    model_card_t card = *given;
    error_t error;
    if (self->names.model.size)
        card.model = self->names.model;
    card.aliases = self->names.aliases;
    card.aliases_count = self->names.aliases_count;
    if (self->context_max && self->context_max < card.context)
        card.context = self->context_max;
    report_clear (self);
    files_fail_all (self, STATUS_AGAIN, "the engine was restarted");
    if (message_check (&model_card_message, &card, &error) ||
        namespace_init_model (&self->space, buffer_span (&self->secret), card.fingerprint, card.block_size, &error)) {
        actor_log (self->actor, LOG_ERROR, "the engine's card: %s", error.text);
        s_set_trouble (self, error.text);
        return &self->space;
    }
    message_memory_copy (&self->card_memory, &model_card_message, &card, &self->card);
    self->known = true;
    self->suspect = false;
    report_card (self);
    actor_set_card (self->actor, buffer_span (&self->card_memory.bytes));
    s_set_trouble (self, NULL);
    actor_log (self->actor, LOG_INFO, "serves %.*s by %.*s: %u slots, %llu blocks of %u tokens, context %u",
        SPAN_ARG (card.model), SPAN_ARG (card.engine), card.slots, (unsigned long long)card.capacity, card.block_size,
        card.context);
    report_on_load (self);
    return &self->space;
}

static void
s_on_health (void *arg, const char *why)
{
    worker_t *self = arg;
    bool is_news = why && !span_equal_string (buffer_span (&self->trouble), why);
    if (is_news && self->known)
        actor_log (self->actor, LOG_WARNING, "the engine is unwell: %s", why);
    else if (is_news)
        actor_log (self->actor, LOG_INFO, "waits for the engine: %s", why);
    s_set_trouble (self, why);
}

//  ---- Does anything move? -------------------------------------------------------------------------------------------

void
worker_moved (worker_t *self)
{
    self->moved_ns = actor_now (self->actor);
}

static void
s_set_suspect (worker_t *self, bool suspect)
{
    self->suspect = suspect;
    actor_set_ready (self->actor, s_is_well (self));
}

void
worker_probe_ended (worker_t *self, bool alive)
{
    self->probe = NULL;
    if (!alive)
        return;
    actor_log (self->actor, LOG_INFO, "the engine moves again");
    worker_moved (self);
    s_set_suspect (self, false);
}

//  A sign of life comes with the end of a prompt at the latest: what waits for its turn is no part of that.
static uint64_t
s_patience_ns (const worker_t *self)
{
    worker_load_t load = { 0 };
    self->class->load (self->engine, &load);
    uint64_t longest = generation_longest_prompt (self);
    uint64_t tokens = load.prefill_tokens < longest ? load.prefill_tokens : longest;
    uint64_t patience_ns = PATIENCE * pace_expected_ns (&self->pace, tokens);
    return patience_ns > self->options.suspect_after_ns ? patience_ns : self->options.suspect_after_ns;
}

static void
s_become_suspect (worker_t *self, uint64_t still_ns)
{
    report_count (self, COUNT_SUSPECT, 1);
    actor_log (self->actor, LOG_WARNING, "the engine has work but moved no token for %llu s: suspect",
        (unsigned long long)(still_ns / (1000 * MS)));
    s_set_suspect (self, true);
    generation_fail_all (self, STATUS_UNREACHABLE, "the engine has work but moves no token");
}

//  Every time that a suspect engine has stood still for long enough, it is asked once more.
static void
s_probe (worker_t *self)
{
    if (self->probe)
        generation_drop (self->probe);
    worker_moved (self);
    self->probe = generation_start_probe (self);
}

static void s_on_watch (void *self_, actor_t *actor, void *arg);

//  Never later than the least patience from now: what is expected may become less meanwhile.
static void
s_look_again (worker_t *self, uint64_t delay_ns)
{
    uint64_t least_ns = self->options.suspect_after_ns;
    timer_start (&self->watch, self->actor, delay_ns < least_ns ? delay_ns : least_ns, s_on_watch, NULL);
}

static void
s_on_watch (void *self_, actor_t *actor, void *arg)
{
    worker_t *self = self_;
    if (!self->runs && !self->suspect)
        return;
    uint64_t still_ns = actor_now (actor) - self->moved_ns;
    uint64_t patience_ns = s_patience_ns (self);
    if (still_ns >= patience_ns) {
        if (!self->suspect)
            s_become_suspect (self, still_ns);
        s_probe (self);
        still_ns = 0;
    }
    s_look_again (self, patience_ns - still_ns);
}

void
worker_watch (worker_t *self)
{
    if (!timer_is_running (&self->watch))
        s_look_again (self, self->options.suspect_after_ns);
}

//  ---- Generate ------------------------------------------------------------------------------------------------------

static bool
s_serves (const worker_t *self, span_t model)
{
    bool found = span_equal (self->card.model, model);
    for (size_t i = 0; i < self->card.aliases_count && !found; i++)
        found = span_equal (self->card.aliases [i], model);
    return found;
}

static status_t
s_check_state (const worker_t *self, error_t *error)
{
    if (actor_is_draining (self->actor))
        return error_set (error, STATUS_AGAIN, "this worker is draining; ask another one");
    span_t trouble = buffer_span (&self->trouble);
    if (!self->known)
        return error_set (
            error, STATUS_AGAIN, "the engine is not there yet%s%.*s", trouble.size ? ": " : "", SPAN_ARG (trouble));
    if (trouble.size)
        return error_set (error, STATUS_AGAIN, "the engine is unwell: %.*s", SPAN_ARG (trouble));
    if (self->suspect)
        return error_set (error, STATUS_AGAIN, "the engine is suspect: it had work but moved no token");
    if (self->generations.count >= (size_t)self->options.requests_max)
        return error_set (
            error, STATUS_AGAIN, "%zu generations are under way, which is the limit here", self->generations.count);
    return STATUS_OK;
}

//  max_tokens: what the request may produce.
static status_t
s_check_request (const worker_t *self, const generate_t *request, uint32_t *max_tokens, error_t *error)
{
    size_t count = request->tokens.count;
    if (!s_serves (self, request->model))
        return error_set (error, STATUS_NOT_FOUND, "model \"%.*s\" is not served here, but \"%.*s\" is",
            SPAN_ARG (request->model), SPAN_ARG (self->card.model));
    if (request->rank >= self->card.ranks)
        return error_set (error, STATUS_INVALID, "there is no rank %u", request->rank);
    if (count == 0)
        return error_set (error, STATUS_INVALID, "the prompt has no tokens");
    if (request->delivered >= count)
        return error_set (error, STATUS_INVALID, "%u tokens are said to be earlier output, but there are only %zu",
            request->delivered, count);
    if (count >= self->card.context)
        return error_set (error, STATUS_LIMIT, "the prompt has %zu tokens, the context of this model is %u tokens",
            count, self->card.context);
    *max_tokens = self->card.context - (uint32_t)count;
    if (!request->sampling.has_max_tokens)
        return STATUS_OK;
    if (request->sampling.max_tokens == 0)
        return error_set (error, STATUS_INVALID, "max_tokens is 0");
    if (request->sampling.max_tokens < *max_tokens)
        *max_tokens = request->sampling.max_tokens;
    return STATUS_OK;
}

static void
s_on_generate (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    worker_t *self = self_;
    const generate_t *request = message;
    uint32_t max_tokens = 0;
    error_t error;
    if (!self->runs)
        worker_moved (self);
    if (s_check_state (self, &error) || s_check_request (self, request, &max_tokens, &error) ||
        generation_start (self, incoming, request, max_tokens, &error)) {
        report_refused (self, error.status);
        incoming_fail (incoming, error.status, "%s", error.text);
    }
}

void
worker_generation_ended (worker_t *self)
{
    if (actor_is_draining (self->actor) && !self->generations.count)
        actor_drained (self->actor);
}

//  ---- Render and tokenize -------------------------------------------------------------------------------------------

//  A question that the engine has not answered.
typedef struct {
    list_link_t link;        //  In the worker's list
    worker_t *worker;        //  Who was asked
    incoming_t *incoming;    //  Who waits
} ask_t;

//  Frees the question; gives who waits.
static incoming_t *
s_end_ask (ask_t *ask)
{
    incoming_t *incoming = ask->incoming;
    list_remove (&ask->worker->asks, &ask->link);
    memory_free (ask);
    return incoming;
}

static void
s_on_answer (void *arg, status_t status, const char *why, buffer_t *reply)
{
    incoming_t *incoming = s_end_ask (arg);
    if (status)
        incoming_fail (incoming, status, "%s", why);
    else
        incoming_reply_encoded (incoming, reply);
}

static status_t
s_check_ask (const worker_t *self, span_t model, error_t *error)
{
    if (!self->known)
        return error_set (error, STATUS_AGAIN, "the engine is not there yet");
    if (!self->class->renders)
        return error_set (error, STATUS_UNSUPPORTED, "%s has neither chat template nor tokenizer", self->class->name);
    if (!s_serves (self, model))
        return error_set (error, STATUS_NOT_FOUND, "model \"%.*s\" is not served here", SPAN_ARG (model));
    if (self->asks.count >= ASKS_MAX)
        return error_set (
            error, STATUS_AGAIN, "%zu questions wait for the engine, which is the limit here", self->asks.count);
    return STATUS_OK;
}

//  NULL where the question was refused.
static ask_t *
s_start_ask (worker_t *self, incoming_t *incoming, span_t model)
{
    error_t error;
    if (s_check_ask (self, model, &error)) {
        incoming_fail (incoming, error.status, "%s", error.text);
        return NULL;
    }
    ask_t *ask = memory_new (sizeof *ask);
    ask->worker = self;
    ask->incoming = incoming;
    list_append (&self->asks, &ask->link);
    return ask;
}

static void
s_on_render (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    worker_t *self = self_;
    const render_t *question = message;
    ask_t *ask = s_start_ask (self, incoming, question->model);
    if (ask)
        self->class->render (self->engine, question->request, incoming_keep (incoming), s_on_answer, ask);
}

static void
s_on_tokenize (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    worker_t *self = self_;
    const tokenize_t *question = message;
    ask_t *ask = s_start_ask (self, incoming, question->model);
    if (ask)
        self->class->tokenize (self->engine, question->text, incoming_keep (incoming), s_on_answer, ask);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

//  The names of the configuration, for every card to come.
static status_t
s_take_names (worker_t *self, const worker_setup_t *setup, error_t *error)
{
    model_card_t names = { .model = setup->model };
    names.aliases = memory_new (setup->alias_count * sizeof (span_t));
    for (size_t i = 0; i < setup->alias_count; i++)
        names.aliases [names.aliases_count++] = span_from_string (setup->aliases [i]);
    status_t status = message_check (&model_card_message, &names, error);
    if (status == STATUS_OK)
        message_memory_copy (&self->names_memory, &model_card_message, &names, &self->names);
    memory_free (names.aliases);
    return status;
}

static status_t
s_take_setup (worker_t *self, const worker_setup_t *setup, error_t *error)
{
    if (setup->secret.size == 0 || setup->secret.size > CLUSTER_SECRET_MAX)
        return error_set (error, STATUS_INVALID, "a cluster secret has 1 to %d bytes", CLUSTER_SECRET_MAX);
    self->class = setup->engine;
    self->options = *setup->common;
    self->context_max = setup->context_max;
    buffer_append (&self->secret, setup->secret);
    return s_take_names (self, setup, error);
}

static status_t
s_open_engine (worker_t *self, const worker_setup_t *setup, error_t *error)
{
    engine_watch_t watch = {
        .on_ready = s_on_ready,
        .on_health = s_on_health,
        .on_progress = generation_on_progress,
        .on_tokens = generation_on_tokens,
        .on_end = generation_on_end,
        .on_stored = report_on_stored,
        .on_removed = report_on_removed,
        .on_load = report_on_load,
        .arg = self,
    };
    engine_setup_t engine = { .options = setup->engine_options,
        .url = setup->url ? setup->url : "",
        .model = self->names.model,
        .block_size = (uint32_t)self->options.block_size };
    self->engine = self->class->open (self->actor, &watch, &engine, error);
    return self->engine ? STATUS_OK : error->status;
}

static void
s_free (worker_t *self)
{
    message_memory_fini (&self->names_memory);
    message_memory_fini (&self->card_memory);
    buffer_fini (&self->secret);
    buffer_fini (&self->trouble);
    buffer_fini (&self->packed);
    array_fini (&self->gone);
    holdings_destroy (&self->holdings);
}

static status_t
s_init (void *self_, actor_t *actor, const void *setup, error_t *error)
{
    worker_t *self = self_;
    self->actor = actor;
    list_init (&self->generations);
    list_init (&self->asks);
    list_init (&self->sendings);
    array_init (&self->gone, sizeof (hash128_t));
    message_memory_init (&self->names_memory);
    message_memory_init (&self->card_memory);
    self->holdings = holdings_new ();
    pace_init (&self->pace);
    actor_set_ready (actor, false);
    if (s_take_setup (self, setup, error) || s_open_engine (self, setup, error)) {
        report_stop (self);
        s_free (self);
        return error->status;
    }
    report_start (self);
    return STATUS_OK;
}

static void
s_fini (void *self_, actor_t *actor)
{
    worker_t *self = self_;
    if (self->probe)
        generation_drop (self->probe);
    generation_drop_all (self);
    files_fail_all (self, STATUS_CANCELLED, "the worker ends");
    self->class->close (self->engine);
    report_stop (self);
    timer_stop (&self->overfull);
    timer_stop (&self->watch);
    for (list_link_t *link; (link = list_first (&self->asks));)
        s_end_ask (LIST_ENTRY (link, ask_t, link));
    s_free (self);
}

static void
s_drain (void *self_, actor_t *actor)
{
    worker_generation_ended (self_);
}

static void
s_describe (void *self_, actor_t *actor, buffer_t *out)
{
    worker_t *self = self_;
    if (!self->known) {
        buffer_print (out, "%s: no engine yet", self->class->name);
        if (self->trouble.size)
            buffer_print (out, " (%.*s)", SPAN_ARG (buffer_span (&self->trouble)));
        return;
    }
    worker_load_t load = { 0 };
    self->class->load (self->engine, &load);
    buffer_print (out, "%s serves %.*s: %u running, %u waiting, %llu of %llu blocks in use, %zu held",
        self->class->name, SPAN_ARG (self->card.model), load.running, load.waiting, (unsigned long long)load.kv_used,
        (unsigned long long)load.kv_capacity, holdings_count (self->holdings));
    if (self->trouble.size)
        buffer_print (out, "; unwell: %.*s", SPAN_ARG (buffer_span (&self->trouble)));
    if (self->suspect)
        buffer_append_string (out, "; suspect: it had work but moved no token");
}

static const actor_handler_t s_handlers [] = {
    HANDLES_CALL (generate, s_on_generate),
    HANDLES_CALL (render, s_on_render),
    HANDLES_CALL (tokenize, s_on_tokenize),
    HANDLES_CALL (fetch_model, files_on_fetch),
    HANDLES_SNAPSHOT (STREAM_KV, report_snapshot_kv),
    HANDLES_SNAPSHOT (STREAM_LOAD, report_snapshot_load),
    HANDLERS_END,
};

const actor_class_t worker_class = {
    .name = "worker",
    .state_size = sizeof (worker_t),
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .drain = s_drain,
    .describe = s_describe,
    .list_metrics = report_list_metrics,
};
