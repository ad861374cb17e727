#include "runtime/port/http_connection.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/http_exchange.h"
#include "runtime/port/http_response.h"

enum {
    READ_MARK = 16 << 10,      //  Bytes of input that wait while an exchange is open; then reading stops
    SPARE_MAX = 64 << 10,      //  Bytes of memory that are kept for the next piece of any stream
    LINGER_NS = 1000000000,    //  How long a client gets to read the last response before its input is reset
};

typedef enum {
    CONNECTION_IDLE,        //  Between requests; deadline: idle
    CONNECTION_HEAD,        //  A head has begun; deadline: head
    CONNECTION_BODY,        //  A head is whole; deadline: body
    CONNECTION_EXCHANGE,    //  The request was handed over; no deadline but the stream's write timeout
    CONNECTION_CLOSING,     //  The last response is on its way; then the client's input is drained until it leaves
} connection_state_t;

//  What each piece of a stream touches stands first.
struct http_connection {
    buffer_t output;                  //  Written in this round and not sent; without memory where there is none
    uint64_t sent_round;              //  The last one in which a piece was sent at once
    loop_task_t flush;                //  Sends it; what the system does not take goes through the stream
    port_listener_t *listener;        //  Whose it is
    int fd;                           //  The socket; -1: closed
    connection_state_t state;         //  What the next byte is
    bool is_behind;                   //  The stream holds output
    bool has_left;                    //  The client sends nothing more (half-close); the last response is on its way
    bool is_shut;                     //  We send nothing more
    bool is_advancing;                //  Inside s_advance: a drop frees only at its end
    bool is_dropped;                  //  Dropped inside s_advance
    port_exchange_t *exchange;        //  In progress: being read or handed over; NULL otherwise
    struct bufferevent *stream;       //  Of the socket
    list_link_t link;                 //  In the listener's list
    struct event *deadline;           //  Of the state
    loop_task_t resume;               //  Goes on reading after an exchange ended outside of s_advance
    head_scan_t scan;                 //  Of the head in progress
    char peer [HTTP_ADDRESS_SIZE];    //  For logs
};

http_connection_t *
http_connection_of (list_link_t *link)
{
    return LIST_ENTRY (link, http_connection_t, link);
}

//  ---- Output --------------------------------------------------------------------------------------------------------

buffer_t *
http_connection_piece (http_connection_t *self)
{
    if (!self->output.data) {
        self->output = self->listener->spare;
        self->listener->spare = (buffer_t){ 0 };
    }
    return &self->output;
}

buffer_t *
http_connection_output (http_connection_t *self)
{
    loop_finish (self->listener->loop, &self->flush);
    return http_connection_piece (self);
}

size_t
http_connection_waiting (const http_connection_t *self)
{
    return self->output.size + (self->is_behind ? evbuffer_get_length (bufferevent_get_output (self->stream)) : 0);
}

//  What the system takes now.
static size_t
s_send_now (http_connection_t *self)
{
    if (self->is_behind || !self->output.size)
        return 0;
    ssize_t sent = send (self->fd, self->output.data, self->output.size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent > 0 ? (size_t)sent : 0;
}

static void
s_spare (http_connection_t *self)
{
    if (self->listener->spare.data || self->output.capacity > SPARE_MAX) {
        buffer_fini (&self->output);
        return;
    }
    self->listener->spare = self->output;
    buffer_clear (&self->listener->spare);
    self->output = (buffer_t){ 0 };
}

//  What the system does not take is left to libevent, which also finds out where the client is gone.
static void
s_send_output (http_connection_t *self)
{
    span_t rest = span_slice (buffer_span (&self->output), s_send_now (self), SIZE_MAX);
    if (rest.size) {
        evbuffer_add (bufferevent_get_output (self->stream), rest.data, rest.size);
        self->is_behind = true;
    }
    s_spare (self);
}

void
http_connection_expect (const http_connection_t *self)
{
    memory_expect (self, offsetof (http_connection_t, has_left));
}

//  A token that comes alone goes at once, while its bytes are at hand; of many that come together all but the first wait for
//  the last.
void
http_connection_send (http_connection_t *self)
{
    loop_t *loop = self->listener->loop;
    uint64_t round = loop_round (loop);
    if (self->flush.list || self->sent_round == round) {
        loop_finish (loop, &self->flush);
        return;
    }
    self->sent_round = round;
    s_send_output (self);
}

//  ---- Ends ----------------------------------------------------------------------------------------------------------

//  Gives up whatever request is in progress.  An exchange that was handed over lives on without its connection.
static port_exchange_t *
s_release_exchange (http_connection_t *self)
{
    port_exchange_t *exchange = self->exchange;
    self->exchange = NULL;
    if (!exchange || self->state == CONNECTION_EXCHANGE)
        return exchange;
    http_exchange_destroy (exchange);
    return NULL;
}

//  libevent would close it only when the loop runs again.
static void
s_close_socket (http_connection_t *self)
{
    bufferevent_setfd (self->stream, -1);
    close (self->fd);
    self->fd = -1;
}

static void
s_drop (http_connection_t *self)
{
    BUG_ON (s_release_exchange (self));
    loop_undefer (self->listener->loop, &self->resume);
    loop_undefer (self->listener->loop, &self->flush);
    list_remove (&self->listener->connections, &self->link);
    self->listener->figures.connections--;
    s_close_socket (self);
    bufferevent_free (self->stream);
    event_free (self->deadline);
    buffer_fini (&self->output);
    self->is_dropped = true;
    if (!self->is_advancing)
        memory_free (self);
}

//  The client is gone.  Whoever works for it hears of it last, when nothing here is touched any more.
static void
s_lose (http_connection_t *self)
{
    port_exchange_t *exchange = s_release_exchange (self);
    s_drop (self);
    if (exchange)
        http_exchange_gone (exchange);
}

static void
s_close_after_output (http_connection_t *self)
{
    BUG_ON (s_release_exchange (self));
    self->state = CONNECTION_CLOSING;
    event_del (self->deadline);
}

//  Closing with input unread would reset the connection, and the client might lose the response it was sent: so say
//  that nothing more comes, and read until the client leaves too.
static void
s_shut (http_connection_t *self)
{
    if (self->has_left) {
        s_drop (self);
        return;
    }
    self->is_shut = true;
    shutdown (self->fd, SHUT_WR);
    loop_event_after (self->deadline, LINGER_NS);
}

static const char *
s_say_reason (int status, const char *reason, buffer_t *out)
{
    buffer_print (out, "%s\n", reason);
    return "text/plain";
}

static void
s_refuse (http_connection_t *self, int status, const char *reason)
{
    http_listener_count_refusal (self->listener, status);
    listener_refusal_fn *say = self->listener->options.refusal ? self->listener->options.refusal : s_say_reason;
    buffer_t body = { 0 };
    http_header_t type = { SPAN ("Content-Type"), span_from_string (say (status, reason, &body)) };
    http_response_t response = { .status = status,
        .headers = &type,
        .header_count = 1,
        .framing = FRAMING_LENGTH,
        .length = body.size,
        .close = true };
    buffer_t *output = http_connection_output (self);
    http_response_render (&response, output);
    buffer_append (output, buffer_span (&body));
    buffer_fini (&body);
    s_close_after_output (self);
}

//  ---- Reading: one step a state, until there is nothing to do -------------------------------------------------------

static span_t
s_front (http_connection_t *self)
{
    struct evbuffer_iovec front = { 0 };
    evbuffer_peek (bufferevent_get_input (self->stream), -1, NULL, &front, 1);
    return span_of (front.iov_base, front.iov_len);
}

static void
s_consume (http_connection_t *self, size_t size)
{
    evbuffer_drain (bufferevent_get_input (self->stream), size);
}

static bool
s_step_idle (http_connection_t *self)
{
    if (!s_front (self).size || http_connection_waiting (self) > EXCHANGE_LOW_MARK)
        return false;
    self->state = CONNECTION_HEAD;
    self->scan = (head_scan_t){ 0 };
    self->exchange = http_exchange_new (self->listener, self, self->peer);
    loop_event_after (self->deadline, self->listener->options.head_timeout_ns);
    return true;
}

static void
s_begin_body (http_connection_t *self)
{
    port_exchange_t *exchange = self->exchange;
    const char *reason = NULL;
    int status = http_exchange_parse (exchange, &reason);
    if (!status)
        status = http_exchange_admit (exchange, exchange->head.content_length, 0, &reason);
    if (status) {
        s_refuse (self, status, reason);
        return;
    }
    self->state = CONNECTION_BODY;
    loop_event_after (self->deadline, self->listener->options.body_timeout_ns);
    if (exchange->head.expects_continue && !s_front (self).size)
        buffer_append_string (http_connection_output (self), "HTTP/1.1 100 Continue\r\n\r\n");
}

static bool
s_step_head (http_connection_t *self)
{
    span_t front = s_front (self);
    if (!front.size)
        return false;
    size_t used;
    head_state_t state = head_scan (&self->scan, front, &used);
    buffer_append (&self->exchange->head_bytes, span_slice (front, 0, used));
    s_consume (self, used);
    if (state == HEAD_BROKEN)
        s_refuse (self, 400, "lines of a request head end with CRLF, and hold no NUL and no folds");
    else if (self->exchange->head_bytes.size > self->listener->options.head_max)
        s_refuse (self, 431, "the request head is too large");
    else if (state == HEAD_WHOLE)
        s_begin_body (self);
    return true;
}

static void
s_hand_over (http_connection_t *self)
{
    self->state = CONNECTION_EXCHANGE;
    event_del (self->deadline);
    http_exchange_hand_over (self->exchange);
}

static bool
s_step_length (http_connection_t *self)
{
    port_exchange_t *exchange = self->exchange;
    size_t left = (size_t)exchange->head.content_length - exchange->body.size;
    if (!left) {
        s_hand_over (self);
        return true;
    }
    span_t front = span_slice (s_front (self), 0, left);
    buffer_append (&exchange->body, front);
    s_consume (self, front.size);
    return front.size > 0;
}

static bool
s_step_chunks (http_connection_t *self)
{
    span_t front = s_front (self), rest = front, data = { 0 };
    chunks_state_t state = http_chunks_read (&self->exchange->chunks, &rest, &data);
    const char *reason = "the chunks of the body are malformed, or end with trailers";
    int status = 400;
    if (state != CHUNKS_BROKEN)
        status = http_exchange_admit (self->exchange, data.size, self->exchange->chunks.left, &reason);
    if (!status)
        buffer_append (&self->exchange->body, data);
    s_consume (self, front.size - rest.size);
    if (status)
        s_refuse (self, status, reason);
    else if (state == CHUNKS_WHOLE)
        s_hand_over (self);
    return front.size > 0;
}

static bool
s_step_body (http_connection_t *self)
{
    return self->exchange->head.is_chunked ? s_step_chunks (self) : s_step_length (self);
}

static bool
s_step_exchange (http_connection_t *self)
{
    return false;
}

static bool
s_step_closing (http_connection_t *self)
{
    s_consume (self, SIZE_MAX);
    if (!http_connection_waiting (self) && !self->is_shut)
        s_shut (self);
    return false;
}

static bool (*const s_steps []) (http_connection_t *self) = {
    [CONNECTION_IDLE] = s_step_idle,
    [CONNECTION_HEAD] = s_step_head,
    [CONNECTION_BODY] = s_step_body,
    [CONNECTION_EXCHANGE] = s_step_exchange,
    [CONNECTION_CLOSING] = s_step_closing,
};

static void
s_advance (void *arg)
{
    http_connection_t *self = arg;
    self->is_advancing = true;
    while (!self->is_dropped && s_steps [self->state](self))
        ;
    self->is_advancing = false;
    if (self->is_dropped)
        memory_free (self);
}

//  ---- What the stream says ------------------------------------------------------------------------------------------

static void
s_on_input (struct bufferevent *stream, void *arg)
{
    loop_note (((http_connection_t *)arg)->listener->loop);
    s_advance (arg);
}

//  Output has drained to the low mark, or further.
static void
s_on_drained (http_connection_t *self)
{
    if (self->state == CONNECTION_EXCHANGE)
        http_exchange_drained (self->exchange);
    else
        s_advance (self);
}

static void
s_on_output (struct bufferevent *stream, void *arg)
{
    http_connection_t *self = arg;
    loop_note (self->listener->loop);
    self->is_behind = evbuffer_get_length (bufferevent_get_output (stream)) > 0;
    s_on_drained (self);
}

static void
s_flush (void *arg)
{
    http_connection_t *self = arg;
    s_send_output (self);
    if (!self->is_behind)
        s_on_drained (self);
}

//  EOF: the client has closed, or shut down its half.  Both mean that it is not interested any more.
static void
s_on_eof (http_connection_t *self)
{
    if (self->state == CONNECTION_EXCHANGE || !http_connection_waiting (self)) {
        s_lose (self);
        return;
    }
    s_close_after_output (self);
    self->has_left = true;
}

static void
s_on_event (struct bufferevent *stream, short what, void *arg)
{
    http_connection_t *self = arg;
    loop_note (self->listener->loop);
    if (what & BEV_EVENT_EOF) {
        s_on_eof (self);
        return;
    }
    if (what & BEV_EVENT_TIMEOUT)
        self->listener->figures.written_off++;
    s_lose (self);
}

static void
s_wait_for_request (http_connection_t *self)
{
    self->state = CONNECTION_IDLE;
    loop_event_after (self->deadline, self->listener->options.idle_timeout_ns);
}

//  Nobody is idle who still reads a response.
static void
s_on_deadline (evutil_socket_t fd, short what, void *arg)
{
    http_connection_t *self = arg;
    if (self->state == CONNECTION_HEAD || self->state == CONNECTION_BODY)
        s_refuse (self, 408, "the request took too long to arrive");
    else if (self->state == CONNECTION_IDLE && http_connection_waiting (self))
        s_wait_for_request (self);
    else
        s_drop (self);
}

//  ---- What listener and exchange say --------------------------------------------------------------------------------

void
http_connection_new (port_listener_t *listener, struct bufferevent *stream, const char *peer)
{
    http_connection_t *self = memory_new (sizeof *self);
    self->listener = listener;
    self->stream = stream;
    self->fd = bufferevent_getfd (stream);
    self->resume = (loop_task_t){ .run = s_advance, .arg = self };
    self->flush = (loop_task_t){ .run = s_flush, .arg = self };
    self->deadline = loop_event (listener->loop, -1, 0, s_on_deadline, self);
    snprintf (self->peer, sizeof self->peer, "%s", peer);
    list_append (&listener->connections, &self->link);
    listener->figures.connections++;
    listener->figures.accepted++;
    uint64_t timeout_ns = listener->options.write_timeout_ns;
    struct timeval timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000u),
        .tv_usec = (suseconds_t)(timeout_ns % 1000000000u / 1000u) };
    bufferevent_set_timeouts (stream, NULL, &timeout);
    bufferevent_setwatermark (stream, EV_READ, 0, READ_MARK);
    bufferevent_setwatermark (stream, EV_WRITE, EXCHANGE_LOW_MARK, 0);
    bufferevent_setcb (stream, s_on_input, s_on_output, s_on_event, self);
    s_wait_for_request (self);
    bufferevent_enable (stream, EV_READ | EV_WRITE);
}

void
http_connection_next (http_connection_t *self, bool keep)
{
    self->exchange = NULL;
    if (keep)
        s_wait_for_request (self);
    else
        s_close_after_output (self);
    if (!self->is_advancing)
        loop_defer (self->listener->loop, &self->resume);
}

void
http_connection_cut (http_connection_t *self)
{
    struct linger reset = { .l_onoff = 1, .l_linger = 0 };
    setsockopt (self->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    self->exchange = NULL;
    s_drop (self);
}

void
http_connection_retire (http_connection_t *self)
{
    if (self->state != CONNECTION_IDLE)
        return;
    if (http_connection_waiting (self))
        s_close_after_output (self);
    else
        s_drop (self);
}

void
http_connection_close (http_connection_t *self)
{
    s_send_output (self);
    s_drop (self);
}
