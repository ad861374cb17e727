#include "actors/frontend/frontend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/frontend/api_error.h"
#include "actors/frontend/frontend_http.h"
#include "actors/frontend/relay.h"
#include "actors/frontend/scrape.h"
#include "actors/frontend/turn.h"
#include "base/memory.h"
#include "runtime/endpoint.h"
#include "schemas/frontend.h"

enum { SERVER_MAX = 300 };    //  HOST:PORT

static const metric_desc_t s_port_metric = {
    .name = "stator_frontend_port", .help = "Where it listens, also where the system chose.", .kind = METRIC_GAUGE
};

//  ---- What is over --------------------------------------------------------------------------------------------------

static void
s_say_if_drained (frontend_t *self)
{
    bool idle =
        !self->turns.count && !self->relays.count && !self->leftovers.clients.count && !self->notices.notices.count;
    if (self->draining && idle)
        actor_drained (self->actor);
}

static void
s_on_bury (void *self_, actor_t *actor, void *arg)
{
    frontend_t *self = self_;
    turn_bury (self);
    relay_bury (self);
    s_say_if_drained (self);
}

void
frontend_bury_soon (frontend_t *self)
{
    if (!timer_is_running (&self->bury))
        timer_start (&self->bury, self->actor, 0, s_on_bury, NULL);
}

static void
s_on_idle (void *arg)
{
    frontend_bury_soon (arg);
}

//  ---- Models --------------------------------------------------------------------------------------------------------

static void
s_on_worker (void *self_, actor_t *actor, const actor_entry_t *entry)
{
    static const log_level_t levels [] = {
        [MODELS_SAME] = LOG_DEBUG,
        [MODELS_APPEARED] = LOG_INFO,
        [MODELS_VANISHED] = LOG_WARNING,
        [MODELS_CONFLICT] = LOG_WARNING,
        [MODELS_UNUSABLE] = LOG_WARNING,
    };
    frontend_t *self = self_;
    error_t sentence = { 0 };
    models_news_t news = models_see (self->models, entry, actor_wall (actor) / 1000000000, &sentence);
    if (news != MODELS_SAME)
        actor_log (actor, levels [news], "%s", sentence.text);
    if (news == MODELS_CONFLICT)
        metric_add (self->counts.conflicts, 1);
    if (self->options.local_prompts)
        locals_follow (&self->locals);
}

//  ---- Requests of other frontends -----------------------------------------------------------------------------------

static void
s_on_hand_over (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    frontend_t *self = self_;
    const hand_over_t *request = message;
    if (self->draining) {
        incoming_fail (incoming, STATUS_AGAIN, "this frontend is draining");
        return;
    }
    array_t headers;
    array_init (&headers, sizeof (http_header_t));
    for (size_t i = 0; i < request->headers_count; i++)
        *(http_header_t *)array_add (&headers) =
            (http_header_t){ request->headers [i].name, request->headers [i].value };
    http_request_t http = { .method = SPAN ("POST"),
        .path = request->path,
        .headers = headers.data,
        .header_count = headers.count,
        .body = request->body,
        .peer = request->peer };
    //  The other frontend cuts a client that does not read; who waits twice as long waits for a frontend that is no more.
    uint64_t patience_ns = 2 * self->options.write_timeout_ns;
    frontend_serve (self, client_from_incoming (actor, incoming, &self->leftovers, patience_ns), &http);
    array_fini (&headers);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static status_t
s_listen (frontend_t *self, error_t *error)
{
    const frontend_options_t *options = &self->options;
    listener_options_t listener = {
        .head_max = options->head_max,
        .head_timeout_ns = options->head_timeout_ns,
        .body_max = options->body_max,
        .body_timeout_ns = options->body_timeout_ns,
        .body_budget = options->body_budget,
        .idle_timeout_ns = options->idle_timeout_ns,
        .write_timeout_ns = options->write_timeout_ns,
        .connections_max = (uint32_t)options->connections_max,
        .on_request = frontend_on_request,
        .arg = self,
        .refusal = api_error_render_refusal,
    };
    char address [SERVER_MAX];
    host_write_server (span_from_string (options->host), (unsigned)options->port, address, sizeof address);
    port_t *port = actor_port (self->actor);
    self->listener = port->table->listen (port, address, &listener, error);
    return self->listener ? STATUS_OK : STATUS_IO;
}

//  For whoever let the system choose.
static void
s_note_port (frontend_t *self)
{
    const char *address = actor_port (self->actor)->table->listener_address (self->listener);
    const char *colon = strrchr (address, ':');
    uint64_t port = 0;
    if (colon)
        span_to_u64 (span_from_string (colon + 1), &port);
    metric_set (metrics_get (actor_metrics (self->actor), &s_port_metric, NULL), (int64_t)port);
}

//  Nobody asks harnesses for a key yet, so nobody but this machine may connect without somebody saying so.
static status_t
s_check_public (const frontend_options_t *options, error_t *error)
{
    if (host_is_local (span_from_string (options->host)) || options->allow_public)
        return STATUS_OK;
    return error_set (error, STATUS_REFUSED,
        "frontend.host: %s can be reached from other machines and nobody is asked for a key; set allow_public to do it "
        "all the same",
        options->host);
}

static status_t
s_init (void *self_, actor_t *actor, const void *options_, error_t *error)
{
    frontend_t *self = self_;
    const frontend_options_t *options = options_;
    if (options->secret.size == 0)
        return error_set (error, STATUS_INVALID, "the frontend needs the secret of the cluster");
    status_t status = s_check_public (options, error);
    if (status)
        return status;
    self->actor = actor;
    self->options = *options;
    self->host = memory_copy_string (options->host);
    self->options.host = self->host;
    status = s_listen (self, error);
    if (status) {
        memory_free (self->host);
        return status;
    }
    list_init (&self->turns);
    list_init (&self->over);
    list_init (&self->relays);
    list_init (&self->over_relays);
    list_init (&self->scrapes);
    self->models = models_new (options->secret);
    for (size_t i = 0; i < options->models.count; i++)
        models_expect (self->models, span_from_string (options->models.items [i]));
    counts_init (&self->counts, actor_metrics (actor));
    retry_budget_init (&self->retries, &options->retries, actor_now (actor));
    locals_init (&self->locals, &(local_setup_t){ .actor = actor,
                                    .models = self->models,
                                    .counts = &self->counts,
                                    .memo_bytes = options->memo,
                                    .check_every = (uint64_t)options->check_every });
    notices_init (&self->notices, actor, &self->counts, s_on_idle, self);
    client_leftovers_init (&self->leftovers, s_on_idle, self);
    s_note_port (self);
    actor_log (actor, LOG_INFO, "serving http://%s/v1", actor_port (actor)->table->listener_address (self->listener));
    return STATUS_OK;
}

static void
s_fini (void *self_, actor_t *actor)
{
    frontend_t *self = self_;
    turn_drop_all (self);
    relay_drop_all (self);
    scrape_drop_all (self);
    notices_fini (&self->notices);
    client_leftovers_fini (&self->leftovers);
    timer_stop (&self->bury);
    actor_port (actor)->table->listener_close (self->listener);
    locals_fini (&self->locals);
    models_destroy (&self->models);
    buffer_fini (&self->events);
    memory_free (self->host);
}

static void
s_drain (void *self_, actor_t *actor)
{
    frontend_t *self = self_;
    self->draining = true;
    actor_port (actor)->table->listener_stop (self->listener);
    frontend_bury_soon (self);
}

static void
s_reload (void *self_, actor_t *actor, const void *options_)
{
    frontend_t *self = self_;
    const frontend_options_t *options = options_;
    self->options.requests_max = options->requests_max;
    self->options.route_timeout_ns = options->route_timeout_ns;
    self->options.stall_timeout_ns = options->stall_timeout_ns;
    self->options.attempts = options->attempts;
    self->options.migrate_unseeded = options->migrate_unseeded;
    retry_budget_set (&self->retries, &options->retries, actor_now (actor));
}

static void
s_describe (void *self_, actor_t *actor, buffer_t *out)
{
    frontend_t *self = self_;
    buffer_print (out, "http://%s, models: %zu, workers: %zu, requests in progress: %zu",
        actor_port (actor)->table->listener_address (self->listener), models_count (self->models),
        models_accepting (self->models), self->turns.count);
    locals_describe (&self->locals, out);
}

static void
s_measure (void *self_, actor_t *actor)
{
    frontend_t *self = self_;
    listener_figures_t figures;
    actor_port (actor)->table->listener_figures (self->listener, &figures);
    counts_listener (&self->counts, &figures);
    locals_measure (&self->locals);
    metric_set (self->counts.retries_left, (int64_t)retry_budget_left (&self->retries, actor_now (actor)));
}

static const actor_handler_t s_handlers [] = {
    HANDLES_CALL (hand_over, s_on_hand_over),
    HANDLES_ACTOR ("worker", s_on_worker),
    HANDLERS_END,
};

static void
s_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_port_metric, NULL };
    metrics_tell (all, told, arg);
    counts_list_metrics (told, arg);
}

const actor_class_t frontend_class = {
    .name = "frontend",
    .state_size = sizeof (frontend_t),
    .list_metrics = s_list_metrics,
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .drain = s_drain,
    .reload = s_reload,
    .describe = s_describe,
    .measure = s_measure,
};
