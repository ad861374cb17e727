#include "actors/frontend/client.h"

#include "base/memory.h"
#include "schemas/frontend.h"

//  Marks of what may wait for another frontend's credit, and the most that goes in one message.
enum { WAITING_HIGH = 64 << 10, WAITING_LOW = 16 << 10, PART_MAX = 1 << 20 };

struct client {
    port_t *port;                     //  Of the exchange
    port_exchange_t *exchange;        //  NULL where it was handed over
    incoming_t *incoming;             //  NULL where it is an exchange
    exchange_watch_t watch;           //  Who to tell
    buffer_t waiting;                 //  Handed over: beyond the credit
    bool blocked;                     //  Handed over: a write said AGAIN
    bool ended;                       //  Handed over: the end follows what waits
    client_leftovers_t *leftovers;    //  Where it goes then
    list_link_t in_leftovers;         //  There
};

//  ---- Leftovers -----------------------------------------------------------------------------------------------------

void
client_leftovers_init (client_leftovers_t *self, void (*on_empty) (void *arg), void *arg)
{
    *self = (client_leftovers_t){ .on_empty = on_empty, .arg = arg };
    list_init (&self->clients);
}

static void
s_free (client_t *self)
{
    buffer_fini (&self->waiting);
    memory_free (self);
}

void
client_leftovers_fini (client_leftovers_t *self)
{
    list_link_t *link;
    while ((link = list_take_first (&self->clients))) {
        client_t *client = LIST_ENTRY (link, client_t, in_leftovers);
        incoming_fail (client->incoming, STATUS_CANCELLED, "the frontend ended");
        s_free (client);
    }
}

static void
s_leave_leftovers (client_t *self)
{
    client_leftovers_t *leftovers = self->leftovers;
    list_remove (&leftovers->clients, &self->in_leftovers);
    s_free (self);
    if (leftovers->clients.count == 0 && leftovers->on_empty)
        leftovers->on_empty (leftovers->arg);
}

//  ---- Handed over ---------------------------------------------------------------------------------------------------

//  Sends what the credit allows.
static void
s_send_waiting (client_t *self)
{
    while (self->waiting.size) {
        uint64_t room = incoming_credit (self->incoming) - incoming_position (self->incoming);
        span_t bytes = span_slice (buffer_span (&self->waiting), 0, room < PART_MAX ? (size_t)room : PART_MAX);
        if (bytes.size == 0)
            return;
        incoming_send (self->incoming, bytes.size, &(response_part_t){ .bytes = bytes });
        buffer_drop_front (&self->waiting, bytes.size);
    }
}

static void
s_on_credit (void *arg, incoming_t *incoming)
{
    client_t *self = arg;
    s_send_waiting (self);
    if (self->ended && self->waiting.size == 0) {
        incoming_end (self->incoming, &(response_end_t){ .whole = true });
        s_leave_leftovers (self);
    } else if (self->blocked && self->waiting.size <= WAITING_LOW) {
        self->blocked = false;
        if (self->watch.on_writable)
            self->watch.on_writable (self->watch.arg);
    }
}

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    client_t *self = arg;
    if (self->ended) {
        incoming_fail (self->incoming, STATUS_CANCELLED, "cancelled");
        s_leave_leftovers (self);
    } else if (self->watch.on_gone)
        self->watch.on_gone (self->watch.arg);
}

static void
s_send_head (client_t *self, int status, const http_header_t *headers, size_t count)
{
    http_field_t fields [64];
    response_part_t part = { .has_status = true, .status = (uint16_t)status, .headers = fields };
    for (; part.headers_count < count && part.headers_count < 64; part.headers_count++)
        fields [part.headers_count] =
            (http_field_t){ headers [part.headers_count].name, headers [part.headers_count].value };
    incoming_send (self->incoming, 0, &part);
}

//  ---- Both ----------------------------------------------------------------------------------------------------------

client_t *
client_from_exchange (actor_t *actor, port_exchange_t *exchange)
{
    client_t *self = memory_new (sizeof *self);
    self->port = actor_port (actor);
    self->exchange = exchange;
    return self;
}

client_t *
client_from_incoming (actor_t *actor, incoming_t *incoming, client_leftovers_t *leftovers, uint64_t patience_ns)
{
    client_t *self = memory_new (sizeof *self);
    self->incoming = incoming;
    self->leftovers = leftovers;
    incoming_watch (
        incoming, &(incoming_watch_t){
                      .on_cancel = s_on_cancel, .on_credit = s_on_credit, .arg = self, .patience_ns = patience_ns });
    return self;
}

port_exchange_t *
client_release (client_t **self_p)
{
    port_exchange_t *exchange = (*self_p)->exchange;
    s_free (*self_p);
    *self_p = NULL;
    return exchange;
}

void
client_take_body (client_t *self, buffer_t *out, keeper_t *keeper)
{
    if (self->exchange)
        self->port->table->exchange_take_body (self->exchange, out);
    else
        *keeper = incoming_keep (self->incoming);
}

void
client_watch (client_t *self, const exchange_watch_t *watch)
{
    self->watch = *watch;
    if (self->exchange)
        self->port->table->exchange_watch (self->exchange, watch);
}

void
client_respond (client_t **self_p, int status, const http_header_t *headers, size_t count, span_t body)
{
    client_t *self = *self_p;
    if (self->exchange) {
        self->port->table->exchange_respond (self->exchange, status, headers, count, body);
        s_free (self);
        *self_p = NULL;
        return;
    }
    client_begin (self, status, headers, count);
    client_write (self, body);
    client_end (self_p);
}

void
client_begin (client_t *self, int status, const http_header_t *headers, size_t count)
{
    if (self->exchange)
        self->port->table->exchange_begin (self->exchange, status, headers, count);
    else
        s_send_head (self, status, headers, count);
}

void
client_expect (const client_t *self, unsigned step)
{
    if (step == 0)
        memory_expect (self, offsetof (client_t, watch));
    else if (self->exchange)
        self->port->table->exchange_expect (self->exchange, step - 1);
}

status_t
client_write (client_t *self, span_t bytes)
{
    if (self->exchange)
        return self->port->table->exchange_write (self->exchange, bytes);
    buffer_append (&self->waiting, bytes);
    s_send_waiting (self);
    self->blocked |= self->waiting.size > WAITING_HIGH;
    return self->blocked ? STATUS_AGAIN : STATUS_OK;
}

void
client_end (client_t **self_p)
{
    client_t *self = *self_p;
    *self_p = NULL;
    if (self->exchange) {
        self->port->table->exchange_end (self->exchange);
        s_free (self);
    } else if (self->waiting.size == 0) {
        incoming_end (self->incoming, &(response_end_t){ .whole = true });
        s_free (self);
    } else {
        self->ended = true;
        list_append (&self->leftovers->clients, &self->in_leftovers);
    }
}

void
client_abort (client_t **self_p)
{
    client_t *self = *self_p;
    *self_p = NULL;
    if (self->exchange)
        self->port->table->exchange_abort (self->exchange);
    else
        incoming_end (self->incoming, &(response_end_t){ .whole = false });
    s_free (self);
}
