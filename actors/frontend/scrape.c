#include "actors/frontend/scrape.h"

#include "actors/frontend/exposition.h"
#include "base/memory.h"
#include "runtime/directory.h"
#include "schemas/status.h"

static const uint64_t SCRAPE_TIMEOUT_NS = 2000000000;

typedef struct scrape scrape_t;

typedef struct {
    scrape_t *scrape;              //  Whose
    char address [ADDRESS_MAX];    //  Who is asked
    call_t call;                   //  Asking
} question_t;

struct scrape {
    frontend_t *frontend;         //  Whose
    list_link_t in_scrapes;       //  There
    port_exchange_t *exchange;    //  Who looks
    question_t *questions;        //  To the broker and each other actor
    size_t count;                 //  How many
    size_t open;                  //  Of these, not answered yet
    exposition_t page;            //  What they answered
};

static void
s_free (scrape_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        call_drop (&self->questions [i].call);
    list_remove (&self->frontend->scrapes, &self->in_scrapes);
    exposition_fini (&self->page);
    memory_free (self->questions);
    memory_free (self);
}

static void
s_respond (scrape_t *self)
{
    http_header_t headers [] = { { SPAN ("content-type"), SPAN ("text/plain; version=0.0.4; charset=utf-8") } };
    actor_t *actor = self->frontend->actor;
    buffer_t own = { 0 }, body = { 0 };
    actor_render_metrics (actor, &own);
    exposition_add (&self->page, buffer_span (&own), span_from_string (actor_address (actor)));
    exposition_render (&self->page, &body);
    actor_port (actor)->table->exchange_respond (self->exchange, 200, headers, 1, buffer_span (&body));
    buffer_fini (&own);
    buffer_fini (&body);
    s_free (self);
}

static void
s_on_answer (void *state, void *arg, call_result_t result, const void *reply_)
{
    question_t *question = arg;
    scrape_t *self = question->scrape;
    const metrics_text_t *reply = reply_;
    if (result != CALL_REPLIED || !exposition_add (&self->page, reply->text, span_from_string (question->address)))
        metric_add (self->frontend->counts.unscraped, 1);
    if (--self->open == 0)
        s_respond (self);
}

static void
s_on_gone (void *arg)
{
    scrape_t *self = arg;
    actor_port (self->frontend->actor)->table->exchange_abort (self->exchange);
    s_free (self);
}

static bool
s_is_asked (const frontend_t *frontend, const actor_entry_t *entry)
{
    return entry->state == ACTOR_STATE_ALIVE && entry->endpoint.size &&
           !span_equal_string (entry->address, actor_address (frontend->actor));
}

static void
s_ask (scrape_t *self, span_t address)
{
    question_t *question = &self->questions [self->open++];
    question->scrape = self;
    span_copy_string (address, question->address, sizeof question->address);
    call_start (&question->call, self->frontend->actor,
        &(call_options_t){ .address = address,
            .type = &get_metrics_message,
            .request = &(get_metrics_t){ 0 },
            .timeout_ns = SCRAPE_TIMEOUT_NS,
            .done = s_on_answer,
            .arg = question });
}

static void
s_ask_all (scrape_t *self)
{
    actor_t *actor = self->frontend->actor;
    size_t cursor = 0;
    const actor_entry_t *entry;
    self->count = 1;
    while ((entry = directory_next (actor, NULL, &cursor)))
        self->count += s_is_asked (self->frontend, entry);
    self->questions = memory_new (self->count * sizeof *self->questions);
    s_ask (self, SPAN (BROKER_ADDRESS));
    for (cursor = 0; (entry = directory_next (actor, NULL, &cursor));)
        if (s_is_asked (self->frontend, entry))
            s_ask (self, entry->address);
}

void
scrape_start (frontend_t *frontend, port_exchange_t *exchange)
{
    scrape_t *self = memory_new (sizeof *self);
    self->frontend = frontend;
    self->exchange = exchange;
    exposition_init (&self->page);
    list_append (&frontend->scrapes, &self->in_scrapes);
    actor_port (frontend->actor)
        ->table->exchange_watch (exchange, &(exchange_watch_t){ .on_gone = s_on_gone, .arg = self });
    s_ask_all (self);
}

void
scrape_drop_all (frontend_t *frontend)
{
    list_link_t *link;
    while ((link = list_first (&frontend->scrapes)))
        s_on_gone (LIST_ENTRY (link, scrape_t, in_scrapes));
}
