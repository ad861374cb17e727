#include "actors/frontend/relay.h"

#include "base/memory.h"
#include "runtime/stream.h"
#include "schemas/frontend.h"

//  Bytes that the owner may be ahead of the client.
static const uint64_t WINDOW = 256 << 10;

typedef struct {
    frontend_t *frontend;          //  Whose
    list_link_t in_list;           //  Of relays, or of those that are over
    port_exchange_t *exchange;     //  The client; NULL once it has ended
    const http_request_t *http;    //  What it asked; borrowed from the exchange
    stream_t response;             //  From the owner
    bool begun;                    //  The client has the head
    bool blocked;                  //  The client reads more slowly than it is written to
} relay_t;

static const port_table_t *
s_table (const relay_t *self)
{
    return actor_port (self->frontend->actor)->table;
}

static void
s_end (relay_t *self)
{
    self->exchange = NULL;
    stream_drop (&self->response);
    list_remove (&self->frontend->relays, &self->in_list);
    list_append (&self->frontend->over_relays, &self->in_list);
    frontend_bury_soon (self->frontend);
}

static void
s_on_gone (void *arg)
{
    relay_t *self = arg;
    s_table (self)->exchange_abort (self->exchange);
    s_end (self);
}

static void
s_on_writable (void *arg)
{
    relay_t *self = arg;
    self->blocked = false;
    stream_credit (&self->response, self->response.position + WINDOW);
}

static void
s_begin (relay_t *self, const response_part_t *part)
{
    array_t headers;
    array_init (&headers, sizeof (http_header_t));
    for (size_t i = 0; i < part->headers_count; i++)
        *(http_header_t *)array_add (&headers) = (http_header_t){ part->headers [i].name, part->headers [i].value };
    s_table (self)->exchange_begin (self->exchange, part->status, headers.data, headers.count);
    array_fini (&headers);
    self->begun = true;
}

static uint64_t
s_on_part (void *state, void *arg, uint64_t position, const void *message)
{
    relay_t *self = arg;
    const response_part_t *part = message;
    if (part->has_status && !self->begun)
        s_begin (self, part);
    if (!self->begun || part->bytes.size == 0)
        return part->bytes.size;
    self->blocked = s_table (self)->exchange_write (self->exchange, part->bytes) == STATUS_AGAIN;
    if (!self->blocked)
        stream_credit (&self->response, position + part->bytes.size + WINDOW);
    return part->bytes.size;
}

static void
s_on_end (void *state, void *arg, call_result_t result, const void *message)
{
    relay_t *self = arg;
    const response_end_t *end = message;
    if (!self->begun && result != CALL_REPLIED)
        frontend_serve (self->frontend, client_from_exchange (self->frontend->actor, self->exchange), self->http);
    else if (self->begun && result == CALL_REPLIED && end->whole)
        s_table (self)->exchange_end (self->exchange);
    else
        s_table (self)->exchange_abort (self->exchange);
    s_end (self);
}

static void
s_hand_over (relay_t *self, span_t owner)
{
    const http_request_t *http = self->http;
    array_t headers;
    array_init (&headers, sizeof (http_field_t));
    for (size_t i = 0; i < http->header_count; i++)
        *(http_field_t *)array_add (&headers) = (http_field_t){ http->headers [i].name, http->headers [i].value };
    hand_over_t request = { .path = http->path,
        .headers = headers.data,
        .headers_count = headers.count,
        .body = http->body,
        .peer = http->peer };
    //  A whole answer says nothing until it is there, however long that takes; that the owner lost it shows all the same.
    stream_options_t options = {
        .on_item = s_on_part, .on_end = s_on_end, .credit = WINDOW, .idle_timeout_ns = PORT_NEVER
    };
    stream_open (&self->response, self->frontend->actor, owner, &hand_over_message, &request, &options, self);
    array_fini (&headers);
}

void
relay_start (frontend_t *frontend, port_exchange_t *exchange, const http_request_t *http, span_t owner)
{
    relay_t *self = memory_new (sizeof *self);
    self->frontend = frontend;
    self->exchange = exchange;
    self->http = http;
    list_append (&frontend->relays, &self->in_list);
    metric_add (frontend->counts.handed_over, 1);
    s_table (self)->exchange_watch (
        exchange, &(exchange_watch_t){ .on_gone = s_on_gone, .on_writable = s_on_writable, .arg = self });
    s_hand_over (self, owner);
}

void
relay_bury (frontend_t *frontend)
{
    list_link_t *link;
    while ((link = list_take_first (&frontend->over_relays)))
        memory_free (LIST_ENTRY (link, relay_t, in_list));
}

void
relay_drop_all (frontend_t *frontend)
{
    list_link_t *link;
    relay_bury (frontend);
    while ((link = list_take_first (&frontend->relays))) {
        relay_t *self = LIST_ENTRY (link, relay_t, in_list);
        stream_drop (&self->response);
        s_table (self)->exchange_abort (self->exchange);
        memory_free (self);
    }
}
