//  The server's side of simulated HTTP: one circuit an exchange.  The request arrives as one parcel; the response goes out
//  as a head, pieces of data and an end; the client reports what it has taken, so that output has marks as in the real
//  world.

#include "simulator/port/sim_private.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

enum { HIGH_MARK = 64 << 10, LOW_MARK = 16 << 10, ADDRESS_MAX = 256, CONNECTIONS_DEFAULT = 20000 };

//  One write in so many is cut in two.
enum { CUT_PPM = 125000 };

//  Places in listener_figures_t.refused.
enum { REFUSED_413 = 2, REFUSED_431 = 4, REFUSED_503 = 5 };

struct port_listener {
    sim_port_t *port;              //  Whose
    listener_options_t options;    //  Defaults filled in
    network_bound_t *bound;        //  NULL once stopped
    char address [ADDRESS_MAX];    //  As people write it
    list_t exchanges;              //  port_exchange_t, also those that wait for their request
    listener_figures_t figures;    //  Since the start
};

struct port_exchange {
    port_listener_t *listener;    //  Whose
    list_link_t entry;            //  In the listener
    circuit_t *circuit;           //  NULL once the client has gone
    parcel_t *parcel;             //  The request's bytes; NULL before it came
    array_t headers;              //  http_header_t into the parcel
    http_request_t request;       //  Into the parcel
    exchange_watch_t watch;       //  Who to tell
    bool body_is_taken;           //  And was not returned
    bool gone_told;               //  on_gone was called
    bool blocked;                 //  on_writable is owed
    uint64_t waiting;             //  Bytes that the client has not taken
    uint64_t written;             //  Bytes in all, to see whether it moves
    uint64_t stalled_at;          //  `written - waiting` when the stall was last looked at
    realm_event_t gone;           //  Tells a late watch
    realm_event_t stall;          //  Looks whether the client still reads
};

static void
s_note (const port_exchange_t *self, uint32_t kind, parcel_t *parcel)
{
    const sim_port_t *port = self->listener->port;
    realm_note (port->realm, NOTE_HTTP, port->number, parcel_hash (parcel) + kind);
}

//  ---- Responses -----------------------------------------------------------------------------------------------------

static void
s_send (port_exchange_t *self, uint32_t kind, const span_t *frames, size_t count)
{
    if (!self->circuit)
        return;
    parcel_t *parcel = parcel_new (frames, count);
    circuit_send (self->circuit, END_BINDER, kind, parcel);
    parcel_release (parcel);
}

static void
s_send_head (port_exchange_t *self, int status, const http_header_t *headers, size_t count)
{
    buffer_t number = { 0 }, lines = { 0 };
    buffer_append_u32_le (&number, (uint32_t)status);
    sim_headers_encode (&lines, headers, count);
    span_t frames [] = { buffer_span (&number), buffer_span (&lines) };
    s_send (self, HTTP_HEAD, frames, 2);
    buffer_fini (&number);
    buffer_fini (&lines);
}

//  What answers HEAD has no body, whatever is written.
static void
s_send_data (port_exchange_t *self, span_t bytes)
{
    if (span_equal (self->request.method, SPAN ("HEAD")))
        return;
    random_t *random = &self->listener->port->chunk_random;
    self->waiting += bytes.size;
    self->written += bytes.size;
    while (bytes.size) {
        size_t size = random_chance (random, CUT_PPM) ? 1 + random_below (random, bytes.size) : bytes.size;
        span_t piece = span_slice (bytes, 0, size);
        s_send (self, HTTP_DATA, &piece, 1);
        bytes = span_slice (bytes, size, bytes.size);
    }
}

static void
s_free (port_exchange_t *self)
{
    port_listener_t *listener = self->listener;
    realm_t *realm = listener->port->realm;
    realm_unschedule (realm, &self->gone);
    realm_unschedule (realm, &self->stall);
    if (self->circuit)
        circuit_close (self->circuit, END_BINDER);
    listener->figures.body_bytes -= self->request.body.size;
    listener->figures.connections--;
    list_remove (&listener->exchanges, &self->entry);
    parcel_release (self->parcel);
    array_fini (&self->headers);
    memory_free (self);
}

//  ---- Requests ------------------------------------------------------------------------------------------------------

static void
s_parse_headers (port_exchange_t *self, span_t lines)
{
    while (lines.size) {
        span_t line = span_slice (lines, 0, span_find_byte (lines, '\n'));
        size_t colon = span_find_byte (line, ':');
        http_header_t *header = array_add (&self->headers);
        header->name = span_slice (line, 0, colon);
        header->value = span_trim (span_slice (line, colon + 1, line.size));
        lines = span_slice (lines, line.size + 1, lines.size);
    }
}

static void
s_parse_request (port_exchange_t *self, parcel_t *parcel)
{
    self->parcel = parcel_acquire (parcel);
    s_parse_headers (self, parcel_frame (parcel, 3));
    self->request = (http_request_t){ .method = parcel_frame (parcel, 0),
        .path = parcel_frame (parcel, 1),
        .query = parcel_frame (parcel, 2),
        .headers = self->headers.data,
        .header_count = self->headers.count,
        .body = parcel_frame (parcel, 4),
        .peer = span_from_string (circuit_peer (self->circuit, END_BINDER)) };
}

static void
s_refuse (port_exchange_t *self, int status, size_t place)
{
    self->listener->figures.refused [place]++;
    s_send_head (self, status, NULL, 0);
    s_send (self, HTTP_END, NULL, 0);
    s_free (self);
}

static void
s_on_request (port_exchange_t *self, parcel_t *parcel)
{
    port_listener_t *listener = self->listener;
    const listener_options_t *options = &listener->options;
    size_t body = parcel_frame (parcel, 4).size;
    s_note (self, HTTP_REQUEST, parcel);
    if (parcel_size (parcel) - body > options->head_max) {
        s_refuse (self, 431, REFUSED_431);
        return;
    }
    if (body > options->body_max) {
        s_refuse (self, 413, REFUSED_413);
        return;
    }
    if (listener->figures.body_bytes + body > options->body_budget) {
        s_refuse (self, 503, REFUSED_503);
        return;
    }
    s_parse_request (self, parcel);
    listener->figures.requests++;
    listener->figures.body_bytes += body;
    sim_port_t *port = listener->port;
    sim_enter (port);
    options->on_request (options->arg, self, &self->request);
    sim_leave (port);
}

//  ---- The client's side of it ---------------------------------------------------------------------------------------

static void
s_tell_gone (port_exchange_t *self)
{
    sim_port_t *port = self->listener->port;
    if (self->gone_told || !self->watch.on_gone)
        return;
    self->gone_told = true;
    sim_enter (port);
    self->watch.on_gone (self->watch.arg);
    sim_leave (port);
}

static void
s_on_gone (realm_event_t *event)
{
    s_tell_gone (LIST_ENTRY (event, port_exchange_t, gone));
}

static void
s_on_down (void *arg)
{
    port_exchange_t *self = arg;
    s_note (self, HTTP_END, NULL);
    self->circuit = NULL;
    if (!self->parcel) {
        s_free (self);
        return;
    }
    self->listener->figures.gone++;
    s_tell_gone (self);
}

static void
s_cut_off (port_exchange_t *self)
{
    self->listener->figures.written_off++;
    circuit_close (self->circuit, END_BINDER);
    self->circuit = NULL;
    s_tell_gone (self);
}

static void
s_on_stall (realm_event_t *event)
{
    port_exchange_t *self = LIST_ENTRY (event, port_exchange_t, stall);
    uint64_t taken = self->written - self->waiting;
    if (!self->circuit || !self->blocked)
        return;
    if (taken == self->stalled_at) {
        s_cut_off (self);
        return;
    }
    self->stalled_at = taken;
    sim_schedule_after (self->listener->port, &self->stall, self->listener->options.write_timeout_ns);
}

static void
s_on_taken (port_exchange_t *self, parcel_t *parcel)
{
    uint64_t taken;
    memcpy (&taken, parcel_frame (parcel, 0).data, sizeof taken);
    self->waiting -= taken;
    if (!self->blocked || self->waiting > LOW_MARK)
        return;
    self->blocked = false;
    realm_unschedule (self->listener->port->realm, &self->stall);
    if (!self->watch.on_writable)
        return;
    sim_port_t *port = self->listener->port;
    s_note (self, HTTP_TAKEN, NULL);
    sim_enter (port);
    self->watch.on_writable (self->watch.arg);
    sim_leave (port);
}

static void
s_on_parcel (void *arg, uint32_t kind, parcel_t *parcel)
{
    port_exchange_t *self = arg;
    if (kind == HTTP_REQUEST && !self->parcel)
        s_on_request (self, parcel);
    else if (kind == HTTP_TAKEN)
        s_on_taken (self, parcel);
}

static const circuit_watch_t s_watch = { NULL, s_on_parcel, s_on_down };

static void
s_on_accept (void *arg, circuit_t *circuit)
{
    port_listener_t *listener = arg;
    if (listener->figures.connections >= listener->options.connections_max) {
        listener->figures.refused [REFUSED_503]++;
        circuit_close (circuit, END_BINDER);
        return;
    }
    port_exchange_t *self = memory_new (sizeof *self);
    self->listener = listener;
    self->circuit = circuit;
    self->gone = sim_event (listener->port, s_on_gone);
    self->stall = sim_event (listener->port, s_on_stall);
    array_init (&self->headers, sizeof (http_header_t));
    list_append (&listener->exchanges, &self->entry);
    listener->figures.connections++;
    listener->figures.accepted++;
    circuit_take (circuit, &s_watch, self);
}

//  ---- For the user --------------------------------------------------------------------------------------------------

void
sim_exchange_watch (port_exchange_t *self, const exchange_watch_t *watch)
{
    self->watch = *watch;
    if (!self->circuit && !self->gone_told)
        sim_schedule_after (self->listener->port, &self->gone, 0);
}

//  The parcel is perhaps on its way to others, too.
void
sim_exchange_take_body (port_exchange_t *self, buffer_t *out)
{
    BUG_ON (self->body_is_taken);
    self->body_is_taken = true;
    buffer_append (out, self->request.body);
}

void
sim_exchange_return_body (port_exchange_t *self, buffer_t *body)
{
    BUG_ON (!self->body_is_taken || !span_equal (buffer_span (body), self->request.body));
    self->body_is_taken = false;
    buffer_fini (body);
}

void
sim_exchange_respond (port_exchange_t *self, int status, const http_header_t *headers, size_t count, span_t body)
{
    sim_exchange_begin (self, status, headers, count);
    s_send_data (self, body);
    sim_exchange_end (self);
}

void
sim_exchange_begin (port_exchange_t *self, int status, const http_header_t *headers, size_t count)
{
    s_send_head (self, status, headers, count);
}

status_t
sim_exchange_write (port_exchange_t *self, span_t bytes)
{
    if (!self->circuit)
        return STATUS_UNREACHABLE;
    s_send_data (self, bytes);
    if (self->waiting <= HIGH_MARK)
        return STATUS_OK;
    if (!self->blocked) {
        self->blocked = true;
        self->stalled_at = self->written - self->waiting;
        sim_schedule_after (self->listener->port, &self->stall, self->listener->options.write_timeout_ns);
    }
    return STATUS_AGAIN;
}

void
sim_exchange_expect (const port_exchange_t *self, unsigned step)
{
}

void
sim_exchange_end (port_exchange_t *self)
{
    s_send (self, HTTP_END, NULL, 0);
    s_free (self);
}

void
sim_exchange_abort (port_exchange_t *self)
{
    s_free (self);
}

//  ---- Listeners -----------------------------------------------------------------------------------------------------

static void
s_default (uint64_t *value, uint64_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static void
s_fill_in_defaults (listener_options_t *options)
{
    s_default (&options->head_max, 64 << 10);
    s_default (&options->body_max, 64 << 20);
    s_default (&options->body_budget, 1 << 30);
    s_default (&options->write_timeout_ns, 30 * REALM_SECOND);
    if (!options->connections_max)
        options->connections_max = CONNECTIONS_DEFAULT;
}

static void
s_endpoint (const char *address, char endpoint [ADDRESS_MAX])
{
    if (strncmp (address, "unix:", 5) == 0)
        snprintf (endpoint, ADDRESS_MAX, "ipc://%s", address + 5);
    else
        snprintf (endpoint, ADDRESS_MAX, "tcp://%s", address);
}

port_listener_t *
sim_listen (port_t *port_, const char *address, const listener_options_t *options, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    if (sim_check_alive (port, error) != STATUS_OK)
        return NULL;
    port_listener_t *self = memory_new (sizeof *self);
    self->port = port;
    self->options = *options;
    s_fill_in_defaults (&self->options);
    list_init (&self->exchanges);
    char endpoint [ADDRESS_MAX];
    s_endpoint (address, endpoint);
    network_bound_watch_t watch = { .on_accept = s_on_accept, .arg = self };
    self->bound = network_bound_open (port->process, endpoint, &watch, error);
    if (!self->bound) {
        memory_free (self);
        return NULL;
    }
    bool is_path = strncmp (address, "unix:", 5) == 0;
    snprintf (self->address, sizeof self->address, "%s", is_path ? address : network_bound_endpoint (self->bound) + 6);
    port->open_count++;
    return self;
}

const char *
sim_listener_address (const port_listener_t *self)
{
    return self->address;
}

void
sim_listener_figures (const port_listener_t *self, listener_figures_t *figures)
{
    *figures = self->figures;
}

void
sim_listener_stop (port_listener_t *self)
{
    if (self->bound)
        network_bound_close (self->bound);
    self->bound = NULL;
}

void
sim_listener_close (port_listener_t *self)
{
    sim_listener_stop (self);
    list_link_t *entry;
    while ((entry = list_first (&self->exchanges))) {
        port_exchange_t *exchange = LIST_ENTRY (entry, port_exchange_t, entry);
        BUG_ON (exchange->parcel);
        s_free (exchange);
    }
    self->port->open_count--;
    memory_free (self);
}
