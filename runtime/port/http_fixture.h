//  http_fixture - a server on its own thread, and a client that is nothing but a socket
//
//  What the server does depends on the path:
//
//      /echo      responds with the body           /hold      says nothing; notes when the client leaves
//      /figures   responds with its figures        /stream    three pieces, then the end
//      /flood     FLOOD_BYTES, as fast as it may   /abort     begins, then cuts
//      others     "METHOD PATH QUERY", 200
//
//  What happens on the server's thread is told by one letter through a pipe: r request, g gone, a AGAIN, w writable.

#ifndef RUNTIME_PORT_HTTP_FIXTURE_H
#define RUNTIME_PORT_HTTP_FIXTURE_H

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "runtime/port/port_fixture.h"

enum { FLOOD_BYTES = 4 << 20, FLOOD_PIECE = 1000, SEEN_MAX = 4096, REPLY_MAX = 8 << 20 };

typedef struct {
    fixture_t base;               //  World and port
    port_listener_t *listener;    //  Under test
    pthread_t thread;             //  Runs the port
    int told [2];                 //  A pipe of letters, from the server's thread
    char seen [SEEN_MAX];         //  Paths of the requests, one a line; for after the end
    size_t refusals;              //  How often a write said AGAIN
    size_t visits;                //  Open exchanges
    bool is_stopping;             //  The port stops with the last of them
} server_t;

typedef struct {
    server_t *server;             //  Whose thread it is on
    port_exchange_t *exchange;    //  Open
    size_t written;               //  Bytes of a flood
} visit_t;

static inline void
server_tell (server_t *self, char letter)
{
    ssize_t size = write (self->told [1], &letter, 1);
    (void)size;
}

static inline void
visit_end (visit_t *self)
{
    server_t *server = self->server;
    free (self);
    server->visits--;
    if (server->visits == 0 && server->is_stopping)
        real_port_stop (server->base.port);
}

static inline void
visit_gone (void *arg)
{
    visit_t *self = arg;
    server_t *server = self->server;
    server->base.port->table->exchange_abort (self->exchange);
    visit_end (self);
    server_tell (server, 'g');
}

//  A letter of a flood tells where it stands.
static inline uint8_t
flood_byte (size_t position)
{
    return (uint8_t)('A' + (position ^ position >> 8 ^ position >> 16) % 26);
}

static inline void
visit_flood (visit_t *self)
{
    uint8_t piece [FLOOD_PIECE];
    const port_table_t *table = self->server->base.port->table;
    status_t status = STATUS_OK;
    while (status == STATUS_OK && self->written < FLOOD_BYTES) {
        size_t left = FLOOD_BYTES - self->written;
        size_t size = left < FLOOD_PIECE ? left : FLOOD_PIECE;
        for (size_t i = 0; i < size; i++)
            piece [i] = flood_byte (self->written + i);
        status = table->exchange_write (self->exchange, span_of (piece, size));
        self->written += size;
    }
    if (status == STATUS_AGAIN && self->server->refusals++ == 0)
        server_tell (self->server, 'a');
    if (self->written < FLOOD_BYTES)
        return;
    table->exchange_end (self->exchange);
    visit_end (self);
}

static inline void
visit_writable (void *arg)
{
    visit_t *self = arg;
    visit_flood (self);
}

static inline visit_t *
visit_new (server_t *server, port_exchange_t *exchange)
{
    visit_t *self = calloc (1, sizeof *self);
    *self = (visit_t){ .server = server, .exchange = exchange };
    exchange_watch_t watch = { .on_gone = visit_gone, .on_writable = visit_writable, .arg = self };
    server->base.port->table->exchange_watch (exchange, &watch);
    server->visits++;
    return self;
}

static inline void
server_respond_text (server_t *self, port_exchange_t *exchange, const char *text)
{
    http_header_t header = { SPAN ("Content-Type"), SPAN ("text/plain") };
    self->base.port->table->exchange_respond (exchange, 200, &header, 1, span_from_string (text));
}

static inline void
server_respond_figures (server_t *self, port_exchange_t *exchange)
{
    listener_figures_t figures;
    self->base.port->table->listener_figures (self->listener, &figures);
    char text [400];
    snprintf (text, sizeof text,
        "connections %" PRIu64 " accepted %" PRIu64 " requests %" PRIu64 " gone %" PRIu64 " written_off %" PRIu64
        " bodies %" PRIu64 " refused %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
        figures.connections, figures.accepted, figures.requests, figures.gone, figures.written_off, figures.body_bytes,
        figures.refused [0], figures.refused [1], figures.refused [2], figures.refused [3], figures.refused [4],
        figures.refused [5]);
    server_respond_text (self, exchange, text);
}

static inline void
server_note (server_t *self, span_t path)
{
    size_t used = strlen (self->seen);
    if (used + path.size + 2 < sizeof self->seen)
        snprintf (self->seen + used, sizeof self->seen - used, "%.*s\n", SPAN_ARG (path));
}

//  Says the body behind the end of the request, and whether it was handed over; what was given back can be taken again.
static inline void
server_respond_taken (server_t *self, port_exchange_t *exchange, const http_request_t *request)
{
    buffer_t body = { 0 };
    const uint8_t *shown = request->body.data;
    self->base.port->table->exchange_take_body (exchange, &body);
    self->base.port->table->exchange_return_body (exchange, &body);
    self->base.port->table->exchange_take_body (exchange, &body);
    self->base.port->table->exchange_begin (exchange, 200, NULL, 0);
    self->base.port->table->exchange_write (exchange, body.data == shown ? SPAN ("moved ") : SPAN ("copied "));
    self->base.port->table->exchange_write (exchange, buffer_span (&body));
    self->base.port->table->exchange_end (exchange);
    buffer_fini (&body);
}

static inline void
server_on_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    server_t *self = arg;
    const port_table_t *table = self->base.port->table;
    server_note (self, request->path);
    if (span_equal_string (request->path, "/echo"))
        table->exchange_respond (exchange, 200, NULL, 0, request->body);
    else if (span_equal_string (request->path, "/take"))
        server_respond_taken (self, exchange, request);
    else if (span_equal_string (request->path, "/figures"))
        server_respond_figures (self, exchange);
    else if (span_equal_string (request->path, "/hold")) {
        visit_new (self, exchange);
        server_tell (self, 'r');
    } else if (span_equal_string (request->path, "/flood")) {
        visit_t *visit = visit_new (self, exchange);
        table->exchange_begin (exchange, 200, NULL, 0);
        visit_flood (visit);
    } else if (span_equal_string (request->path, "/stream")) {
        table->exchange_begin (exchange, 200, NULL, 0);
        table->exchange_write (exchange, SPAN ("one "));
        table->exchange_write (exchange, SPAN (""));
        table->exchange_write (exchange, SPAN ("two "));
        table->exchange_write (exchange, SPAN ("three"));
        table->exchange_end (exchange);
    } else if (span_equal_string (request->path, "/abort")) {
        table->exchange_begin (exchange, 200, NULL, 0);
        table->exchange_write (exchange, SPAN ("half of"));
        table->exchange_abort (exchange);
    } else {
        char text [300];
        snprintf (text, sizeof text, "%.*s %.*s %.*s", SPAN_ARG (request->method), SPAN_ARG (request->path),
            SPAN_ARG (request->query));
        server_respond_text (self, exchange, text);
    }
}

static inline void *
server_run (void *arg)
{
    server_t *self = arg;
    real_port_run (self->base.port);
    return NULL;
}

//  options: without on_request, which is set here.
static inline void
server_start (server_t *self, listener_options_t options)
{
    memset (self, 0, sizeof *self);
    fixture_init (&self->base);
    assert_int_equal (pipe (self->told), 0);
    options.on_request = server_on_request;
    options.arg = self;
    error_t error = { 0 };
    self->listener = self->base.port->table->listen (self->base.port, "127.0.0.1:0", &options, &error);
    if (!self->listener)
        fail_msg ("%s", error.text);
    pthread_create (&self->thread, NULL, server_run, self);
}

//  The clients have left, but the server may not have noticed yet: its port runs on, here, until it has.
static inline void
server_stop (server_t *self)
{
    real_port_stop (self->base.port);
    pthread_join (self->thread, NULL);
    self->is_stopping = true;
    if (self->visits)
        fixture_run (&self->base);
    self->base.port->table->listener_close (self->listener);
    close (self->told [0]);
    close (self->told [1]);
    fixture_fini (&self->base);
}

//  Whether the server has told something that nobody has waited for yet.
static inline bool
server_has_told (server_t *self)
{
    struct pollfd ready = { .fd = self->told [0], .events = POLLIN };
    return poll (&ready, 1, 0) == 1;
}

//  Waits until the server tells this letter.
static inline void
server_expect (server_t *self, char letter)
{
    struct pollfd ready = { .fd = self->told [0], .events = POLLIN };
    while (poll (&ready, 1, -1) < 0)
        assert_int_equal (errno, EINTR);    //  This process stood still for a while
    char told;
    assert_int_equal (read (self->told [0], &told, 1), 1);
    assert_int_equal (told, letter);
}

//  ---- The client ----------------------------------------------------------------------------------------------------

//  Connects a socket to "127.0.0.1:PORT".
static inline bool
client_join (int fd, const char *address)
{
    struct sockaddr_in peer = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
        .sin_port = htons ((uint16_t)strtoul (strrchr (address, ':') + 1, NULL, 10)) };
    return connect (fd, (struct sockaddr *)&peer, sizeof peer) == 0;
}

//  The socket, or -1.
static inline int
client_connect_to (const char *address)
{
    int fd = socket (AF_INET, SOCK_STREAM, 0);
    assert_true (fd >= 0);
    if (client_join (fd, address))
        return fd;
    close (fd);
    return -1;
}

static inline const char *
server_address (server_t *self)
{
    return self->base.port->table->listener_address (self->listener);
}

static inline int
client_connect (server_t *server)
{
    int fd = client_connect_to (server_address (server));
    assert_true (fd >= 0);
    return fd;
}

//  The server may close while we send: that is not an error here.
static inline void
client_send (int fd, span_t bytes)
{
    while (bytes.size) {
        ssize_t sent = send (fd, bytes.data, bytes.size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes = span_slice (bytes, (size_t)sent, bytes.size);
    }
}

static inline void
client_send_text (int fd, const char *text)
{
    client_send (fd, span_from_string (text));
}

//  Reads up to the end, or until `until` is there.  Static memory: valid until the next call.
static inline const char *
client_read (int fd, const char *until)
{
    static char reply [REPLY_MAX + 1];
    size_t size = 0, scanned = 0;
    reply [0] = '\0';
    while (size < REPLY_MAX && !(until && strstr (reply + scanned, until))) {
        scanned = size > 64 ? size - 64 : 0;
        ssize_t got = recv (fd, reply + size, REPLY_MAX - size, 0);
        if (got <= 0)
            break;
        size += (size_t)got;
        reply [size] = '\0';
    }
    return reply;
}

//  Sends all, reads to the end.
static inline const char *
client_ask (server_t *server, span_t request)
{
    int fd = client_connect (server);
    client_send (fd, request);
    const char *reply = client_read (fd, NULL);
    close (fd);
    return reply;
}

static inline int
client_status (const char *reply)
{
    return strncmp (reply, "HTTP/1.1 ", 9) == 0 ? (int)strtol (reply + 9, NULL, 10) : 0;
}

static inline size_t
client_count (const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr (at, word)) != NULL; at += strlen (word))
        count++;
    return count;
}

static inline const char *
client_body (const char *reply)
{
    const char *body = strstr (reply, "\r\n\r\n");
    return body ? body + 4 : "";
}

#endif
