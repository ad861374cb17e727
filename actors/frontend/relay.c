#include "actors/frontend/relay.h"

#include "actors/frontend/api_error.h"
#include "actors/frontend/chat_writer.h"
#include "base/memory.h"
#include "runtime/stream.h"
#include "schemas/frontend.h"

//  Bytes that the owner may be ahead of the client.
enum { WINDOW = 256 << 10 };

typedef struct packing packing_t;

typedef struct {
    frontend_t *frontend;          //  Whose
    list_link_t in_list;           //  Of relays, or of those that are over
    port_exchange_t *exchange;     //  The client; NULL once it has ended
    const http_request_t *http;    //  What it asked; borrowed from the exchange
    packing_t *packing;            //  A job is making a message of a large request; NULL: none is
    stream_t response;             //  From the owner
    bool begun;                    //  The client has the head
    bool streams;                  //  The answer is events
    uint8_t line_ends;             //  The last bytes of the answer that are; two between events, and before the first
    bool blocked;                  //  The client reads more slowly than it is written to
} relay_t;

static const port_table_t *
s_table (const relay_t *self)
{
    return actor_port (self->frontend->actor)->table;
}

static void s_drop (relay_t *self);

static void
s_end (relay_t *self)
{
    self->exchange = NULL;
    s_drop (self);
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

static bool
s_is_event_stream (const response_part_t *part)
{
    for (size_t i = 0; i < part->headers_count; i++)
        if (span_equal (part->headers [i].name, SPAN ("content-type")))
            return span_starts_with (part->headers [i].value, SPAN ("text/event-stream"));
    return false;
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
    self->streams = s_is_event_stream (part);
    self->line_ends = 2;
}

static void
s_note_line_ends (relay_t *self, span_t bytes)
{
    for (size_t i = bytes.size > 2 ? bytes.size - 2 : 0; i < bytes.size; i++)
        self->line_ends = bytes.data [i] == '\n' ? (uint8_t)(self->line_ends + 1) : 0;
    self->line_ends = self->line_ends < 2 ? self->line_ends : 2;
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
    s_note_line_ends (self, part->bytes);
    self->blocked = s_table (self)->exchange_write (self->exchange, part->bytes) == STATUS_AGAIN;
    if (!self->blocked)
        stream_credit (&self->response, position + part->bytes.size + WINDOW);
    return part->bytes.size;
}

//  The owner of an answer that has begun is lost.  Nobody would read an error inside an event, or inside of JSON: there the
//  client sees that its connection is cut.
static void
s_break_off (relay_t *self)
{
    metric_add (self->frontend->counts.owners_lost, 1);
    if (!self->streams || self->line_ends < 2) {
        s_table (self)->exchange_abort (self->exchange);
        return;
    }
    api_error_t error;
    buffer_t event = { 0 };
    api_error_set (&error, API_FRONTEND_LOST, NULL,
        "The frontend that has this session was lost, and the answer with it: %s.",
        stream_error (&self->response)->text);
    chat_write_error (&error, &event);
    s_table (self)->exchange_write (self->exchange, buffer_span (&event));
    s_table (self)->exchange_end (self->exchange);
    buffer_fini (&event);
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
    else if (self->begun && result != CALL_REPLIED)
        s_break_off (self);
    else
        s_table (self)->exchange_abort (self->exchange);
    s_end (self);
}

//  A whole answer says nothing until it is there, however long that takes; that the owner lost it shows all the same.
static const stream_options_t s_options = {
    .on_item = s_on_part, .on_end = s_on_end, .credit = WINDOW, .idle_timeout_ns = PORT_NEVER
};

//  headers: for the result, which borrows them and the request.
static hand_over_t
s_hand_over (const http_request_t *http, array_t *headers)
{
    array_init (headers, sizeof (http_field_t));
    for (size_t i = 0; i < http->header_count; i++)
        *(http_field_t *)array_add (headers) = (http_field_t){ http->headers [i].name, http->headers [i].value };
    return (hand_over_t){ .path = http->path,
        .headers = headers->data,
        .headers_count = headers->count,
        .body = http->body,
        .peer = http->peer };
}

//  ---- Large requests: copying one takes as long as many small ones --------------------------------------------------

//  The job has the body, for it may outlive the exchange.
struct packing {
    relay_t *relay;              //  Whose; NULL: nobody wants it any more
    char owner [ADDRESS_MAX];    //  To whom it goes
    arena_t arena;               //  Of all but the body, bounded as a head is
    hand_over_t request;         //  In the arena
    buffer_t body;               //  The client's
    buffer_t encoded;            //  The message
};

static void
s_discard (void *data)
{
    packing_t *self = data;
    arena_fini (&self->arena);
    buffer_fini (&self->body);
    buffer_fini (&self->encoded);
    memory_free (self);
}

static void
s_encode (void *data)
{
    packing_t *self = data;
    message_encode (&hand_over_message, &self->request, &self->encoded);
}

static void
s_on_encoded (void *port_, void *data)
{
    port_t *port = port_;
    packing_t *self = data;
    relay_t *relay = self->relay;
    if (!relay) {
        port->table->job_start (port, s_discard, NULL, NULL, self);
        return;
    }
    relay->packing = NULL;
    port->table->exchange_return_body (relay->exchange, &self->body);
    stream_open_encoded (&relay->response, relay->frontend->actor, span_from_string (self->owner), &hand_over_message,
        &self->encoded, &s_options, relay);
    s_discard (self);
}

static void
s_pack (relay_t *relay, span_t owner)
{
    port_t *port = actor_port (relay->frontend->actor);
    packing_t *self = relay->packing = memory_new (sizeof *self);
    array_t headers;
    self->relay = relay;
    span_copy_string (owner, self->owner, sizeof self->owner);
    self->request = s_hand_over (relay->http, &headers);
    arena_init (&self->arena, SIZE_MAX);
    self->request.path = arena_copy (&self->arena, self->request.path);
    self->request.peer = arena_copy (&self->arena, self->request.peer);
    http_field_t *fields = arena_new (&self->arena, (headers.count + 1) * sizeof *fields);
    for (size_t i = 0; i < headers.count; i++)
        fields [i] = (http_field_t){ arena_copy (&self->arena, relay->http->headers [i].name),
            arena_copy (&self->arena, relay->http->headers [i].value) };
    self->request.headers = fields;
    array_fini (&headers);
    port->table->exchange_take_body (relay->exchange, &self->body);
    self->request.body = buffer_span (&self->body);
    port->table->job_start (port, s_encode, s_on_encoded, port, self);
}

static void
s_drop (relay_t *self)
{
    if (self->packing)
        self->packing->relay = NULL;
    stream_drop (&self->response);
}

static void
s_open (relay_t *self, span_t owner)
{
    array_t headers;
    hand_over_t request = s_hand_over (self->http, &headers);
    stream_open (&self->response, self->frontend->actor, owner, &hand_over_message, &request, &s_options, self);
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
    if (http->body.size >= SOCKET_KEEP_MIN)
        s_pack (self, owner);
    else
        s_open (self, owner);
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
        s_drop (self);
        s_table (self)->exchange_abort (self->exchange);
        memory_free (self);
    }
}
