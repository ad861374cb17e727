#include "workers/http_ask.h"

#include <string.h>

#include "base/memory.h"
#include "runtime/timer.h"

struct http_ask {
    list_link_t link;         //  In the peer
    http_peer_t *peer;        //  Who is asked
    port_fetch_t *fetch;      //  NULL: it could not be started, or its answer had no room
    actor_timer_t refusal;    //  Then this says so, later
    error_t error;            //  What it will say
    int code;                 //  HTTP status; 0 until it is there
    buffer_t body;            //  So far, taken from the actor's budget
    http_answer_fn *done;     //  Who is told
    void *arg;                //  For done
};

void
http_peer_init (http_peer_t *self, actor_t *actor, const char *url, const char *api_key, uint64_t connect_timeout_ns)
{
    *self = (http_peer_t){ .actor = actor, .url = url, .api_key = api_key, .connect_timeout_ns = connect_timeout_ns };
    list_init (&self->asks);
}

static void
s_free (http_ask_t *self)
{
    list_remove (&self->peer->asks, &self->link);
    timer_stop (&self->refusal);
    budget_give (actor_budget (self->peer->actor), self->body.size);
    buffer_fini (&self->body);
    memory_free (self);
}

void
http_peer_fini (http_peer_t *self)
{
    for (list_link_t *link; (link = list_first (&self->asks));) {
        http_ask_t *ask = LIST_ENTRY (link, http_ask_t, link);
        if (ask->fetch)
            actor_port (self->actor)->table->fetch_cancel (ask->fetch);
        s_free (ask);
    }
}

void
http_peer_address (const http_peer_t *self, const char *path, span_t body, fetch_options_t *options,
    http_header_t headers [3], buffer_t *scratch)
{
    size_t count = 0;
    buffer_print (scratch, "%s%s%c%s%s", self->url, path, 0, "Bearer ", self->api_key);
    const char *url = buffer_string (scratch);
    const char *bearer = url + strlen (url) + 1;
    if (body.size)
        headers [count++] = (http_header_t){ SPAN ("Content-Type"), SPAN ("application/json") };
    if (*self->api_key)
        headers [count++] = (http_header_t){ SPAN ("Authorization"), span_from_string (bearer) };
    options->method = body.size ? "POST" : "GET";
    options->url = url;
    options->headers = headers;
    options->header_count = count;
    options->body = body;
    options->connect_timeout_ns = self->connect_timeout_ns;
}

static void
s_on_head (void *arg, int code)
{
    http_ask_t *self = arg;
    self->code = code;
}

static void
s_on_end (void *arg, status_t status, const error_t *error)
{
    http_ask_t *self = arg;
    self->done (self->arg, status, status ? error->text : "", self->code, &self->body);
    s_free (self);
}

static void
s_on_refusal (void *state, actor_t *actor, void *arg)
{
    http_ask_t *self = arg;
    s_on_end (self, self->error.status, &self->error);
}

static void
s_refuse_later (http_ask_t *self)
{
    timer_start (&self->refusal, self->peer->actor, 0, s_on_refusal, self);
}

static void
s_on_data (void *arg, span_t bytes)
{
    http_ask_t *self = arg;
    actor_t *actor = self->peer->actor;
    if (budget_take (actor_budget (actor), bytes.size, &self->error) == STATUS_OK) {
        buffer_append (&self->body, bytes);
        return;
    }
    actor_port (actor)->table->fetch_cancel (self->fetch);
    self->fetch = NULL;
    s_refuse_later (self);
}

void
http_ask (http_peer_t *self, const http_question_t *question)
{
    http_ask_t *ask = memory_new (sizeof *ask);
    ask->peer = self;
    ask->done = question->done;
    ask->arg = question->arg;
    list_append (&self->asks, &ask->link);
    http_header_t headers [3];
    buffer_t scratch = { 0 };
    fetch_options_t options = { .total_timeout_ns = question->total_ns,
        .response_max = question->answer_max,
        .on_head = s_on_head,
        .on_data = s_on_data,
        .on_end = s_on_end,
        .arg = ask };
    http_peer_address (self, question->path, question->body, &options, headers, &scratch);
    options.keeper = question->keeper;
    port_t *port = actor_port (self->actor);
    ask->fetch = port->table->fetch (port, &options, &ask->error);
    buffer_fini (&scratch);
    if (!ask->fetch)
        s_refuse_later (ask);
}
