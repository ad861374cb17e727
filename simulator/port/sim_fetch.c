//  The client's side of simulated HTTP.  What arrives while the user has paused waits in an inbox, untold to the server,
//  whose output then stops at its high mark.

#include "simulator/port/sim_private.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

//  The server hears of what was taken in steps of this many bytes.
enum { TAKEN_STEP = 4096, URL_PART_MAX = 1024 };

#define CONNECT_TIMEOUT_NS (5 * REALM_SECOND)

typedef struct {
    uint32_t kind;       //  HTTP_HEAD, HTTP_DATA or HTTP_END
    parcel_t *parcel;    //  A reference; may be NULL
} arrived_t;

struct port_fetch {
    sim_port_t *port;           //  Whose
    fetch_options_t options;    //  Callbacks and limits; what was borrowed is gone
    circuit_t *circuit;         //  NULL once it fell
    parcel_t *request;          //  To be sent when the circuit stands
    bool up;                    //  It stood
    bool broken;                //  It fell before the end of the response
    bool paused;                //  By the user
    bool busy;                  //  Inside one of its callbacks
    bool cancelled;             //  By the user, while busy
    array_t inbox;              //  arrived_t, while paused
    uint64_t received;          //  Bytes of the body
    uint64_t untold;            //  Bytes taken that the server has not heard of
    uint64_t started_ns;        //  When
    uint64_t moved_ns;          //  When something last happened
    realm_event_t clock;        //  Looks at the limits
    realm_event_t drain;        //  Empties the inbox
};

void
sim_headers_encode (buffer_t *out, const http_header_t *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append (out, headers [i].name);
        buffer_append_string (out, ": ");
        buffer_append (out, headers [i].value);
        buffer_append_byte (out, '\n');
    }
}

//  ---- The end -------------------------------------------------------------------------------------------------------

static void
s_free (port_fetch_t *self)
{
    realm_unschedule (self->port->realm, &self->clock);
    realm_unschedule (self->port->realm, &self->drain);
    if (self->circuit)
        circuit_close (self->circuit, END_DIALLER);
    for (size_t i = 0; i < self->inbox.count; i++)
        parcel_release (((arrived_t *)array_at (&self->inbox, i))->parcel);
    array_fini (&self->inbox);
    parcel_release (self->request);
    self->port->open_count--;
    memory_free (self);
}

static void
s_end (port_fetch_t *self, status_t status, const char *sentence)
{
    sim_port_t *port = self->port;
    fetch_options_t options = self->options;
    error_t error = { .status = status };
    if (sentence)
        error_set (&error, status, "%s", sentence);
    realm_note (port->realm, NOTE_HTTP, port->number, (uint64_t)status << 8 | HTTP_END);
    s_free (self);
    sim_enter (port);
    options.on_end (options.arg, status, &error);
    sim_leave (port);
}

//  ---- What arrives --------------------------------------------------------------------------------------------------

static void
s_report_taken (port_fetch_t *self, size_t size)
{
    self->untold += size;
    if (self->untold < TAKEN_STEP || !self->circuit)
        return;
    span_t frame = span_of (&self->untold, sizeof self->untold);
    parcel_t *parcel = parcel_new (&frame, 1);
    circuit_send (self->circuit, END_DIALLER, HTTP_TAKEN, parcel);
    parcel_release (parcel);
    self->untold = 0;
}

static void
s_tell (port_fetch_t *self, uint32_t kind, parcel_t *parcel)
{
    sim_port_t *port = self->port;
    const fetch_options_t *options = &self->options;
    realm_note (port->realm, NOTE_HTTP, port->number, parcel_hash (parcel) + kind);
    self->busy = true;
    sim_enter (port);
    if (kind == HTTP_HEAD && options->on_head) {
        uint32_t status;
        memcpy (&status, parcel_frame (parcel, 0).data, sizeof status);
        options->on_head (options->arg, (int)status);
    } else if (kind == HTTP_DATA && options->on_data)
        options->on_data (options->arg, parcel_frame (parcel, 0));
    self->busy = false;
    if (self->cancelled)
        s_free (self);
    sim_leave (port);
}

static void
s_deliver (port_fetch_t *self, uint32_t kind, parcel_t *parcel)
{
    size_t size = kind == HTTP_DATA ? parcel_size (parcel) : 0;
    self->moved_ns = realm_now (self->port->realm);
    self->received += size;
    if (kind == HTTP_END)
        s_end (self, STATUS_OK, NULL);
    else if (self->options.response_max && self->received > self->options.response_max)
        s_end (self, STATUS_LIMIT, "the response is larger than allowed");
    else {
        s_report_taken (self, size);
        s_tell (self, kind, parcel);
    }
}

//  One piece at a time: after each the user may have paused or cancelled.
static void
s_on_drain (realm_event_t *event)
{
    port_fetch_t *self = LIST_ENTRY (event, port_fetch_t, drain);
    if (self->paused)
        return;
    if (!self->inbox.count) {
        if (self->broken)
            s_end (self, STATUS_IO, "the connection broke before the response was whole");
        return;
    }
    arrived_t first = *(arrived_t *)array_at (&self->inbox, 0);
    array_drop_front (&self->inbox, 1);
    sim_schedule_after (self->port, &self->drain, 0);
    s_deliver (self, first.kind, first.parcel);
    parcel_release (first.parcel);
}

//  ---- Limits --------------------------------------------------------------------------------------------------------

static uint64_t
s_earliest (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

//  When the next limit is reached, if nothing happens before; UINT64_MAX for never.
static uint64_t
s_limit_ns (const port_fetch_t *self)
{
    const fetch_options_t *options = &self->options;
    uint64_t limit_ns = self->up ? UINT64_MAX : self->started_ns + options->connect_timeout_ns;
    if (self->up && options->idle_timeout_ns && !self->paused)
        limit_ns = s_earliest (limit_ns, self->moved_ns + options->idle_timeout_ns);
    if (options->total_timeout_ns)
        limit_ns = s_earliest (limit_ns, self->started_ns + options->total_timeout_ns);
    return limit_ns;
}

static void
s_wind_clock (port_fetch_t *self)
{
    uint64_t limit_ns = s_limit_ns (self);
    realm_unschedule (self->port->realm, &self->clock);
    if (limit_ns != UINT64_MAX)
        sim_schedule_after (self->port, &self->clock, limit_ns - realm_now (self->port->realm));
}

static void
s_on_clock (realm_event_t *event)
{
    port_fetch_t *self = LIST_ENTRY (event, port_fetch_t, clock);
    if (realm_now (self->port->realm) >= s_limit_ns (self))
        s_end (self, STATUS_DEADLINE, self->up ? "nothing came in time" : "no connection in time");
    else
        s_wind_clock (self);
}

//  ---- The circuit ---------------------------------------------------------------------------------------------------

static void
s_on_up (void *arg)
{
    port_fetch_t *self = arg;
    self->up = true;
    self->moved_ns = realm_now (self->port->realm);
    s_wind_clock (self);
    circuit_send (self->circuit, END_DIALLER, HTTP_REQUEST, self->request);
}

static void
s_on_parcel (void *arg, uint32_t kind, parcel_t *parcel)
{
    port_fetch_t *self = arg;
    if (!self->paused && !self->inbox.count) {
        s_deliver (self, kind, parcel);
        return;
    }
    arrived_t *arrived = array_add (&self->inbox);
    *arrived = (arrived_t){ kind, parcel_acquire (parcel) };
}

static void
s_on_down (void *arg)
{
    port_fetch_t *self = arg;
    self->circuit = NULL;
    self->broken = true;
    if (!self->up)
        s_end (self, STATUS_UNREACHABLE, "connection refused");
    else
        sim_schedule_after (self->port, &self->drain, 0);
}

static const circuit_watch_t s_watch = { s_on_up, s_on_parcel, s_on_down };

//  ---- For the user --------------------------------------------------------------------------------------------------

typedef struct {
    char endpoint [URL_PART_MAX];    //  tcp://HOST:PORT
    span_t path;                     //  Into the url
    span_t query;                    //  Into the url
} url_t;

static status_t
s_parse_url (url_t *self, const char *text, error_t *error)
{
    span_t url = span_from_string (text);
    bool tls = span_starts_with (url, SPAN ("https://"));
    if (!tls && !span_starts_with (url, SPAN ("http://")))
        return error_set (error, STATUS_INVALID, "%s: not http or https", text);
    url = span_slice (url, tls ? 8 : 7, url.size);
    span_t host = span_slice (url, 0, span_find_byte (url, '/'));
    span_t target = span_slice (url, host.size, url.size);
    if (!host.size || host.size > URL_PART_MAX - 16)
        return error_set (error, STATUS_INVALID, "%s: no host", text);
    bool has_port = span_find_byte (host, ':') < host.size && host.data [host.size - 1] != ']';
    snprintf (self->endpoint, sizeof self->endpoint, "tcp://%.*s%s", SPAN_ARG (host),
        has_port ? ""
        : tls    ? ":443"
                 : ":80");
    self->path = span_slice (target, 0, span_find_byte (target, '?'));
    self->query = span_slice (target, self->path.size + 1, target.size);
    if (!self->path.size)
        self->path = SPAN ("/");
    return STATUS_OK;
}

static parcel_t *
s_encode_request (const fetch_options_t *options, const url_t *url)
{
    buffer_t lines = { 0 };
    sim_headers_encode (&lines, options->headers, options->header_count);
    span_t frames [] = { span_from_string (options->method), url->path, url->query, buffer_span (&lines),
        options->body };
    parcel_t *parcel = parcel_new (frames, sizeof frames / sizeof frames [0]);
    buffer_fini (&lines);
    return parcel;
}

static port_fetch_t *
s_start (sim_port_t *port, const fetch_options_t *options, error_t *error)
{
    url_t url;
    if (sim_check_alive (port, error) != STATUS_OK || s_parse_url (&url, options->url, error) != STATUS_OK)
        return NULL;
    port_fetch_t *self = memory_new (sizeof *self);
    self->circuit = circuit_dial (port->process, url.endpoint, &s_watch, self, error);
    if (!self->circuit) {
        memory_free (self);
        return NULL;
    }
    self->port = port;
    self->options = *options;
    if (!self->options.connect_timeout_ns)
        self->options.connect_timeout_ns = CONNECT_TIMEOUT_NS;
    self->request = s_encode_request (options, &url);
    self->started_ns = realm_now (port->realm);
    self->clock = sim_event (port, s_on_clock);
    self->drain = sim_event (port, s_on_drain);
    array_init (&self->inbox, sizeof (arrived_t));
    port->open_count++;
    s_wind_clock (self);
    return self;
}

port_fetch_t *
sim_fetch (port_t *port, const fetch_options_t *options, error_t *error)
{
    port_fetch_t *self = s_start (sim_port_of (port), options, error);
    if (options->keeper)
        keeper_release (options->keeper);
    return self;
}

void
sim_fetch_pause (port_fetch_t *self, bool paused)
{
    self->paused = paused;
    self->moved_ns = realm_now (self->port->realm);
    s_wind_clock (self);
    if (!paused && (self->inbox.count || self->broken))
        sim_schedule_after (self->port, &self->drain, 0);
}

void
sim_fetch_cancel (port_fetch_t *self)
{
    if (self->busy)
        self->cancelled = true;
    else
        s_free (self);
}
