#include "runtime/port/http_exchange.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/http_response.h"

enum { SIZE_LINE_MAX = 2 * sizeof (size_t) + 2 };

//  ---- Reading the request -------------------------------------------------------------------------------------------

static void
s_tell_gone (void *arg)
{
    port_exchange_t *self = arg;
    if (self->watch.on_gone)
        self->watch.on_gone (self->watch.arg);
}

port_exchange_t *
http_exchange_new (port_listener_t *listener, http_connection_t *connection, const char *peer)
{
    port_exchange_t *self = memory_new (sizeof *self);
    self->listener = listener;
    self->connection = connection;
    self->tell = (loop_task_t){ .run = s_tell_gone, .arg = self };
    http_head_init (&self->head);
    snprintf (self->peer, sizeof self->peer, "%s", peer);
    return self;
}

//  What is left of the head are its flags.
static void
s_free_request (port_exchange_t *self)
{
    budget_give (&self->listener->bodies, self->admitted);
    self->admitted = 0;
    http_head_fini (&self->head);
    buffer_fini (&self->head_bytes);
    buffer_fini (&self->body);
}

void
http_exchange_destroy (port_exchange_t *self)
{
    if (self->is_handed_over)
        self->listener->exchanges--;
    loop_undefer (self->listener->loop, &self->tell);
    s_free_request (self);
    memory_free (self);
}

int
http_exchange_parse (port_exchange_t *self, const char **reason)
{
    return http_head_parse (&self->head, buffer_span (&self->head_bytes), reason);
}

//  The memory is claimed at once and touched as the body comes.
int
http_exchange_admit (port_exchange_t *self, uint64_t bytes, uint64_t announced, const char **reason)
{
    uint64_t room = self->listener->options.body_max - self->admitted;
    if (bytes > room || announced > room - bytes) {
        *reason = "the request body is too large";
        return 413;
    }
    if (budget_take (&self->listener->bodies, bytes, NULL) != STATUS_OK) {
        *reason = "too many request bodies are in flight, try again";
        return 503;
    }
    self->admitted += bytes;
    if (bytes)
        buffer_reserve (&self->body, (size_t)bytes);
    return 0;
}

void
http_exchange_hand_over (port_exchange_t *self)
{
    const http_head_t *head = &self->head;
    self->request = (http_request_t){ .method = head->method,
        .path = head->path,
        .query = head->query,
        .headers = head->headers.data,
        .header_count = head->headers.count,
        .body = buffer_span (&self->body),
        .peer = span_from_string (self->peer) };
    self->is_handed_over = true;
    self->listener->exchanges++;
    self->listener->figures.requests++;
    self->listener->options.on_request (self->listener->options.arg, self, &self->request);
}

//  ---- Who is told ---------------------------------------------------------------------------------------------------

void
http_exchange_watch (port_exchange_t *self, const exchange_watch_t *watch)
{
    self->watch = *watch;
    if (!self->connection)
        loop_defer (self->listener->loop, &self->tell);
}

//  The listener's budget bears it as before: whoever takes it has one of his own.
void
http_exchange_take_body (port_exchange_t *self, buffer_t *out)
{
    BUG_ON (out->data || self->is_streaming);
    *out = self->body;
    self->body = (buffer_t){ 0 };
}

void
http_exchange_return_body (port_exchange_t *self, buffer_t *body)
{
    BUG_ON (self->body.data || self->is_streaming);
    self->body = *body;
    *body = (buffer_t){ 0 };
}

void
http_exchange_gone (port_exchange_t *self)
{
    self->connection = NULL;
    self->listener->figures.gone++;
    s_tell_gone (self);
}

void
http_exchange_drained (port_exchange_t *self)
{
    bool was_blocked = self->is_blocked;
    self->is_blocked = false;
    if (was_blocked && self->watch.on_writable)
        self->watch.on_writable (self->watch.arg);
}

//  ---- Writing the response ------------------------------------------------------------------------------------------

static void
s_write_head (port_exchange_t *self, http_response_t *response)
{
    self->keeps = self->head.keep_alive && !self->head.is_chunked && !self->listener->is_stopped &&
                  response->framing != FRAMING_CLOSE;
    self->is_silent = self->head.is_head || response->framing == FRAMING_NONE;
    self->is_chunked = response->framing == FRAMING_CHUNKED;
    response->close = !self->keeps;
    http_response_render (response, http_connection_output (self->connection));
}

static uint8_t *
s_put (uint8_t *to, span_t bytes)
{
    if (bytes.size)
        memcpy (to, bytes.data, bytes.size);
    return to + bytes.size;
}

//  Printing it would be most of what a token costs here.
static uint8_t *
s_put_size_line (uint8_t *to, size_t size)
{
    char digits [2 * sizeof size];
    size_t first = sizeof digits;
    do
        digits [--first] = "0123456789abcdef" [size % 16];
    while (size /= 16);
    while (first < sizeof digits)
        *to++ = (uint8_t)digits [first++];
    return s_put (to, SPAN ("\r\n"));
}

static void
s_write_body (port_exchange_t *self, span_t bytes, buffer_t *output)
{
    uint8_t *begin = buffer_reserve (output, SIZE_LINE_MAX + bytes.size + 2), *end = begin;
    if (self->is_chunked)
        end = s_put_size_line (end, bytes.size);
    end = s_put (end, bytes);
    if (self->is_chunked)
        end = s_put (end, SPAN ("\r\n"));
    buffer_commit (output, (size_t)(end - begin));
}

static void
s_finish (port_exchange_t *self)
{
    http_connection_t *connection = self->connection;
    bool keeps = self->keeps;
    http_exchange_destroy (self);
    if (connection)
        http_connection_next (connection, keeps);
}

void
http_exchange_respond (port_exchange_t *self, int status, const http_header_t *headers, size_t count, span_t body)
{
    BUG_ON (self->is_streaming);
    http_response_t response = { .status = status,
        .headers = headers,
        .header_count = count,
        .length = body.size,
        .framing = http_response_has_body (status) ? FRAMING_LENGTH : FRAMING_NONE };
    if (self->connection) {
        s_write_head (self, &response);
        if (!self->is_silent)
            s_write_body (self, body, http_connection_output (self->connection));
    }
    s_finish (self);
}

void
http_exchange_begin (port_exchange_t *self, int status, const http_header_t *headers, size_t count)
{
    BUG_ON (self->is_streaming);
    self->is_streaming = true;
    http_framing_t framing = self->head.is_old ? FRAMING_CLOSE : FRAMING_CHUNKED;
    http_response_t response = { .status = status,
        .headers = headers,
        .header_count = count,
        .framing = http_response_has_body (status) ? framing : FRAMING_NONE };
    if (self->connection)
        s_write_head (self, &response);
    s_free_request (self);
}

status_t
http_exchange_write (port_exchange_t *self, span_t bytes)
{
    BUG_ON (!self->is_streaming);
    if (!self->connection)
        return STATUS_UNREACHABLE;
    if (!self->is_silent && bytes.size) {
        s_write_body (self, bytes, http_connection_piece (self->connection));
        http_connection_send (self->connection);
    }
    if (http_connection_waiting (self->connection) > EXCHANGE_HIGH_MARK)
        self->is_blocked = true;
    return self->is_blocked ? STATUS_AGAIN : STATUS_OK;
}

void
http_exchange_expect (const port_exchange_t *self, unsigned step)
{
    if (step == 0)
        memory_expect (self, offsetof (port_exchange_t, watch));
    else if (self->connection)
        http_connection_expect (self->connection);
}

void
http_exchange_end (port_exchange_t *self)
{
    BUG_ON (!self->is_streaming);
    if (self->connection && self->is_chunked && !self->is_silent)
        buffer_append (http_connection_output (self->connection), SPAN ("0\r\n\r\n"));
    s_finish (self);
}

void
http_exchange_abort (port_exchange_t *self)
{
    http_connection_t *connection = self->connection;
    http_exchange_destroy (self);
    if (connection)
        http_connection_cut (connection);
}
