#include "workers/llamacpp/llamacpp.h"

#include <string.h>

#include "base/memory.h"
#include "workers/llamacpp/llamacpp_private.h"

//  ---- Opening and closing -------------------------------------------------------------------------------------------

static void
s_keep_url (engine_t *self, const char *url)
{
    span_t text = span_from_string (url);
    while (text.size && text.data [text.size - 1] == '/')
        text.size--;
    buffer_append (&self->url, text);
}

static void
s_init_peer (engine_t *self, http_peer_t *peer)
{
    http_peer_init (peer, self->actor, buffer_string (&self->url), buffer_string (&self->api_key),
        self->options.connect_timeout_ns);
}

static engine_t *
s_open (actor_t *actor, const engine_watch_t *watch, const engine_setup_t *setup, error_t *error)
{
    if (strncmp (setup->url, "http://", 7) != 0 && strncmp (setup->url, "https://", 8) != 0) {
        error_set (error, STATUS_INVALID, "llamacpp needs the url of a llama-server, not \"%s\"", setup->url);
        return NULL;
    }
    engine_t *self = memory_new (sizeof *self);
    self->actor = actor;
    self->watch = *watch;
    self->options = *(const llamacpp_options_t *)setup->options;
    self->block_size = setup->block_size;
    s_keep_url (self, setup->url);
    buffer_append_string (&self->api_key, self->options.api_key ? self->options.api_key : "");
    buffer_append (&self->model, setup->model);
    s_init_peer (self, &self->probes);
    s_init_peer (self, &self->questions);
    list_init (&self->asked);
    list_init (&self->waiting);
    list_init (&self->running);
    wire_chunk_init (&self->chunk);
    probe_now (self);
    return self;
}

static void
s_close (engine_t *self)
{
    list_t *const lists [] = { &self->running, &self->waiting };
    for (size_t i = 0; i < 2; i++)
        for (list_link_t *link; (link = list_first (lists [i]));)
            run_drop (LIST_ENTRY (link, engine_run_t, link));
    timer_stop (&self->probe);
    llamacpp_files_drop (self);
    http_peer_fini (&self->probes);
    http_peer_fini (&self->questions);
    questions_drop (self);
    slots_destroy (&self->slots);
    wire_facts_fini (&self->facts);
    buffer_fini (&self->front);
    buffer_fini (&self->chat_template);
    buffer_fini (&self->habits);
    wire_chunk_fini (&self->chunk);
    buffer_fini (&self->url);
    buffer_fini (&self->api_key);
    buffer_fini (&self->model);
    memory_free (self);
}

//  ---- Requests ------------------------------------------------------------------------------------------------------

static engine_run_t *
s_start (engine_t *self, const engine_request_t *request, void *arg, error_t *error)
{
    engine_run_t *run = run_new (self, request, arg);
    run_start_waiting (self);
    return run;
}

static void
s_cancel (engine_t *self, engine_run_t *run)
{
    run_drop (run);
    run_start_waiting (self);
}

static uint64_t
s_unprocessed (const list_t *runs)
{
    uint64_t tokens = 0;
    for (list_link_t *link = list_first (runs); link; link = list_next (runs, link)) {
        const engine_run_t *run = LIST_ENTRY (link, engine_run_t, link);
        //  Before it says what it has found, it is believed to find what it should.
        tokens += run->request.tokens.count - (run->processed ? run->processed : run->end.predicted_tokens);
    }
    return tokens;
}

static void
s_load (const engine_t *self, worker_load_t *load)
{
    if (!self->slots)
        return;
    load->running = (uint32_t)self->running.count;
    load->waiting = (uint32_t)self->waiting.count;
    load->prefill_tokens = s_unprocessed (&self->running) + s_unprocessed (&self->waiting);
    load->kv_used = slots_busy_tokens (self->slots) / self->block_size;
    load->kv_capacity = self->facts.slots * (self->facts.context / self->block_size);
}

const engine_class_t llamacpp_engine = {
    .name = "llamacpp",
    .program = "llama-server",
    .health_path = LLAMACPP_HEALTH_PATH,
    .renders = true,
    .open = s_open,
    .close = s_close,
    .start = s_start,
    .cancel = s_cancel,
    .load = s_load,
    .render = questions_render,
    .tokenize = questions_tokenize,
    .files = llamacpp_files_get,
};
