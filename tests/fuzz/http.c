//  The HTTP server: whatever a client sends, whole or in pieces, the same requests are handed over, and all that is
//  opened is closed.

#include "tests/fuzz/fuzz.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "base/bug.h"
#include "runtime/port/http_connection.h"

enum { INPUT_MAX = 4096, ROUNDS = 8 };

typedef struct {
    loop_t *loop;                  //  Never waits
    port_listener_t *listener;     //  Under test, without a socket
    struct bufferevent *client;    //  Our end of the connection
    port_exchange_t *held;         //  A request that is answered by nobody
    buffer_t heard;                //  What was handed over, in order
} scene_t;

static void
s_on_gone (void *arg)
{
    scene_t *self = arg;
    http_exchange_abort (self->held);
    self->held = NULL;
}

static void
s_hear (scene_t *self, const http_request_t *request)
{
    buffer_append (&self->heard, request->method);
    buffer_append (&self->heard, request->path);
    buffer_append (&self->heard, request->query);
    for (size_t i = 0; i < request->header_count; i++) {
        BUG_ON (!request->headers [i].name.size);
        buffer_append (&self->heard, request->headers [i].name);
        buffer_append (&self->heard, request->headers [i].value);
    }
    buffer_append_u64_le (&self->heard, request->body.size);
    buffer_append (&self->heard, request->body);
}

static void
s_on_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    scene_t *self = arg;
    BUG_ON (!request->method.size || !request->path.size);
    s_hear (self, request);
    uint8_t last = request->path.data [request->path.size - 1];
    if (last == 'h') {
        exchange_watch_t watch = { .on_gone = s_on_gone, .arg = self };
        self->held = exchange;
        http_exchange_watch (exchange, &watch);
    } else if (last == 'a')
        http_exchange_abort (exchange);
    else if (last == 's') {
        buffer_t body = { 0 };    //  The request goes when its response begins
        buffer_append (&body, request->body);
        http_exchange_begin (exchange, 200, request->headers, request->header_count);
        http_exchange_write (exchange, buffer_span (&body));
        http_exchange_end (exchange);
        buffer_fini (&body);
    } else
        http_exchange_respond (exchange, 200, request->headers, request->header_count, request->body);
}

static void
s_settle (scene_t *self)
{
    for (int i = 0; i < ROUNDS; i++) {
        event_base_loop (loop_base (self->loop), EVLOOP_NONBLOCK);
        struct evbuffer *answers = bufferevent_get_input (self->client);
        evbuffer_drain (answers, evbuffer_get_length (answers));
    }
}

static void
s_connect (scene_t *self)
{
    struct bufferevent *ends [2];
    BUG_ON (bufferevent_pair_new (loop_base (self->loop), 0, ends) != 0);
    self->client = ends [0];
    bufferevent_enable (self->client, EV_READ | EV_WRITE);
    http_connection_new (self->listener, ends [1], "fuzz");
}

static void
s_play (scene_t *self, span_t input, size_t piece)
{
    listener_options_t options = {
        .on_request = s_on_request, .arg = self, .head_max = 1024, .body_max = 512, .body_budget = 600
    };
    self->listener = http_listener_new (self->loop, &options);
    s_connect (self);
    for (; input.size; input = span_slice (input, piece, SIZE_MAX)) {
        span_t next = span_slice (input, 0, piece);
        bufferevent_write (self->client, next.data, next.size);
        s_settle (self);
    }
    bufferevent_free (self->client);
    event_base_loop (loop_base (self->loop), EVLOOP_NONBLOCK);
    if (self->held)
        s_on_gone (self);
    listener_figures_t figures;
    http_listener_figures (self->listener, &figures);
    BUG_ON (figures.body_bytes && !figures.connections);
    http_listener_close (self->listener);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (size < 2 || size > INPUT_MAX)
        return 0;
    loop_user_t nobody = { 0 };
    loop_t *loop = loop_new (&nobody, NULL);
    BUG_ON (!loop);
    span_t input = span_of (data + 1, size - 1);
    scene_t whole = { .loop = loop }, split = { .loop = loop };
    s_play (&whole, input, INPUT_MAX);
    s_play (&split, input, 1 + data [0] % 64);
    BUG_ON (!span_equal (buffer_span (&whole.heard), buffer_span (&split.heard)));
    buffer_fini (&whole.heard);
    buffer_fini (&split.heard);
    loop_destroy (&loop);
    return 0;
}
