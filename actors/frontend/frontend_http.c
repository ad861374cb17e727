#include "actors/frontend/frontend_http.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/api_error.h"
#include "actors/frontend/relay.h"
#include "actors/frontend/scrape.h"
#include "actors/frontend/turn.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "runtime/directory.h"

//  rest: what of the path is behind the route's, decoded.
typedef void (route_fn) (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, span_t rest);

typedef struct {
    const char *method;    //  What it takes beside OPTIONS, and HEAD where it takes GET
    const char *path;      //  All of the path, or its beginning where it ends with a slash
    route_fn *serve;       //  What answers
} http_route_t;

span_t
frontend_header (const http_request_t *http, const char *name)
{
    for (size_t i = 0; i < http->header_count; i++)
        if (span_equal_nocase (http->headers [i].name, span_from_string (name)))
            return http->headers [i].value;
    return SPAN ("");
}

bool
frontend_client_id (const http_request_t *http, char id [CLIENT_ID_SIZE])
{
    span_t given = span_trim (frontend_header (http, "x-request-id"));
    bool plain = given.size > 0 && given.size < CLIENT_ID_SIZE;
    for (size_t i = 0; i < given.size && plain; i++)
        plain = given.data [i] > 0x20 && given.data [i] < 0x7f;
    span_copy_string (plain ? given : SPAN (""), id, CLIENT_ID_SIZE);
    return plain;
}

//  ---- Short answers -------------------------------------------------------------------------------------------------

//  JSON, and the client's own id back.  allow: for 405, the methods there are; NULL otherwise.
static void
s_respond (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, int status, const char *allow,
    const buffer_t *body)
{
    char id [CLIENT_ID_SIZE];
    http_header_t headers [3] = { { SPAN ("content-type"), SPAN ("application/json") } };
    size_t count = 1;
    if (frontend_client_id (http, id))
        headers [count++] = (http_header_t){ SPAN ("x-request-id"), span_from_string (id) };
    if (allow)
        headers [count++] = (http_header_t){ SPAN ("allow"), span_from_string (allow) };
    actor_port (self->actor)->table->exchange_respond (exchange, status, headers, count, buffer_span (body));
}

static void
s_refuse (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, const api_error_t *error,
    const char *allow)
{
    const api_error_row_t *row = api_error_row (error->kind);
    buffer_t body = { 0 };
    api_error_render (error, &body);
    s_respond (self, exchange, http, row->status, allow, &body);
    buffer_fini (&body);
    counts_answered (&self->counts, SPAN (""), row->status);
}

//  ---- Models --------------------------------------------------------------------------------------------------------

static void
s_write_model (json_writer_t *json, span_t name, const model_t *model)
{
    json_write_begin_object (json);
    json_write_key (json, "id");
    json_write_string (json, name);
    json_write_key (json, "object");
    json_write_string (json, SPAN ("model"));
    json_write_key (json, "created");
    json_write_u64 (json, model->created_s);
    json_write_key (json, "owned_by");
    json_write_string (json, SPAN ("stator"));
    json_write_key (json, "root");
    json_write_string (json, span_from_string (model->id));
    if (model->context) {
        json_write_key (json, "max_model_len");
        json_write_u64 (json, model->context);
    }
    json_write_end_object (json);
}

static void
s_serve_models (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, span_t rest)
{
    buffer_t body = { 0 };
    json_writer_t json;
    json_writer_init (&json, &body);
    json_write_begin_object (&json);
    json_write_key (&json, "object");
    json_write_string (&json, SPAN ("list"));
    json_write_key (&json, "data");
    json_write_begin_array (&json);
    size_t cursor = 0;
    span_t name;
    const model_t *model;
    while (models_next_name (self->models, &cursor, &name, &model))
        s_write_model (&json, name, model);
    json_write_end_array (&json);
    json_write_end_object (&json);
    s_respond (self, exchange, http, 200, NULL, &body);
    buffer_fini (&body);
}

static void
s_serve_model (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, span_t rest)
{
    const model_t *model = models_find (self->models, rest);
    if (!model) {
        api_error_t error;
        buffer_t asked = { 0 };
        api_error_set (
            &error, API_NO_MODEL, "model", "The model '%s' does not exist here.", api_error_quote (rest, &asked));
        s_refuse (self, exchange, http, &error, NULL);
        buffer_fini (&asked);
        return;
    }
    buffer_t body = { 0 };
    json_writer_t json;
    json_writer_init (&json, &body);
    s_write_model (&json, rest, model);
    s_respond (self, exchange, http, 200, NULL, &body);
    buffer_fini (&body);
}

//  ---- Health and metrics --------------------------------------------------------------------------------------------

static void
s_serve_live (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, span_t rest)
{
    buffer_t body = { 0 };
    buffer_append_string (&body, "{\"status\":\"live\"}");
    s_respond (self, exchange, http, 200, NULL, &body);
    buffer_fini (&body);
}

//  Whether a request that comes now can be served.
static void
s_serve_health (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, span_t rest)
{
    bool routed = directory_any (self->actor, "router") != NULL;
    size_t workers = models_accepting (self->models);
    const char *status = self->draining ? "draining" : !routed ? "no router" : workers ? "ready" : "no worker";
    bool ready = !self->draining && routed && workers;
    buffer_t body = { 0 };
    buffer_print (&body, "{\"status\":\"%s\",\"models\":%zu,\"workers\":%zu,\"requests\":%zu}", status,
        models_count (self->models), workers, self->turns.count);
    s_respond (self, exchange, http, ready ? 200 : 503, NULL, &body);
    buffer_fini (&body);
}

static void
s_serve_metrics (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, span_t rest)
{
    scrape_start (self, exchange);
}

//  ---- Chat ----------------------------------------------------------------------------------------------------------

//  The owner of the request's session where that is another frontend; else the empty span.
static span_t
s_other_owner (const frontend_t *self, const turn_t *turn, const http_request_t *http)
{
    span_t session = turn_session (turn);
    if (session.size == 0 || http->body.size > RELAY_BODY_MAX)
        return SPAN ("");
    const actor_entry_t *owner = directory_owner (self->actor, "frontend", session);
    if (!owner || owner->endpoint.size == 0 || span_equal_string (owner->address, actor_address (self->actor)))
        return SPAN ("");
    return owner->address;
}

static void
s_on_read (frontend_t *self, turn_t *turn, const http_request_t *http)
{
    span_t owner = s_other_owner (self, turn, http);
    if (owner.size)
        relay_start (self, turn_hand_back (&turn), http, owner);
    else
        turn_begin (turn);
}

static void
s_serve_chat (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, span_t rest)
{
    turn_start (self, client_from_exchange (self->actor, exchange), http, s_on_read);
}

static void
s_on_read_here (frontend_t *self, turn_t *turn, const http_request_t *http)
{
    turn_begin (turn);
}

void
frontend_serve (frontend_t *self, client_t *client, const http_request_t *http)
{
    turn_start (self, client, http, s_on_read_here);
}

//  ---- The table -----------------------------------------------------------------------------------------------------

static const http_route_t s_routes [] = {
    { "POST", "/v1/chat/completions", s_serve_chat },
    { "GET", "/v1/models", s_serve_models },
    { "GET", "/v1/models/", s_serve_model },
    { "GET", "/health", s_serve_health },
    { "GET", "/live", s_serve_live },
    { "GET", "/metrics", s_serve_metrics },
};

static int
s_hex_value (uint8_t digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

//  Undoes percent-encoding; false where the result is no text.
static bool
s_decode_path (span_t path, buffer_t *out)
{
    for (size_t i = 0; i < path.size; i++) {
        int high = path.data [i] == '%' && i + 2 < path.size ? s_hex_value (path.data [i + 1]) : -1;
        int low = high >= 0 ? s_hex_value (path.data [i + 2]) : -1;
        buffer_append_byte (out, low >= 0 ? (uint8_t)(high * 16 + low) : path.data [i]);
        i += low >= 0 ? 2 : 0;
    }
    return utf8_is_valid (buffer_span (out));
}

//  The route of a path; *rest is what the route leaves of it.
static const http_route_t *
s_find_route (span_t path, span_t *rest)
{
    for (size_t i = 0; i < sizeof s_routes / sizeof s_routes [0]; i++) {
        span_t own = span_from_string (s_routes [i].path);
        bool is_prefix = own.data [own.size - 1] == '/' && path.size > own.size;
        *rest = span_slice (path, own.size, path.size);
        if (is_prefix ? span_starts_with (path, own) : span_equal (path, own))
            return &s_routes [i];
    }
    return NULL;
}

//  What clients of other harnesses ask for, which this version does not serve.
static bool
s_is_planned (span_t path)
{
    return span_equal_string (path, "/v1/messages") || span_equal_string (path, "/v1/responses");
}

static void
s_refuse_path (frontend_t *self, port_exchange_t *exchange, const http_request_t *http)
{
    api_error_t error;
    buffer_t served = { 0 };
    for (size_t i = 0; i < sizeof s_routes / sizeof s_routes [0]; i++)
        buffer_print (&served, "%s%s", i ? ", " : "", s_routes [i].path);
    api_error_set (&error, API_NOT_FOUND, NULL, "Invalid URL (%.*s %.*s). Served are: %s.",
        SPAN_ARG (span_slice (http->method, 0, 16)), SPAN_ARG (span_slice (http->path, 0, 128)),
        buffer_string (&served));
    s_refuse (self, exchange, http, &error, NULL);
    buffer_fini (&served);
}

//  ---- Methods -------------------------------------------------------------------------------------------------------

static bool
s_is_get (const http_route_t *route)
{
    return strcmp (route->method, "GET") == 0;
}

static const char *
s_allowed (const http_route_t *route)
{
    return s_is_get (route) ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
}

//  HEAD is GET; the port leaves out the body.
static bool
s_takes (const http_route_t *route, span_t method)
{
    return span_equal_string (method, route->method) || (s_is_get (route) && span_equal (method, SPAN ("HEAD")));
}

static void
s_serve_options (frontend_t *self, port_exchange_t *exchange, const char *allowed)
{
    http_header_t header = { SPAN ("allow"), span_from_string (allowed) };
    actor_port (self->actor)->table->exchange_respond (exchange, 204, &header, 1, SPAN (""));
}

static void
s_refuse_method (frontend_t *self, port_exchange_t *exchange, const http_request_t *http, const http_route_t *route)
{
    api_error_t error;
    api_error_set (&error, API_METHOD, NULL, "%s takes %s, not %.*s.", route->path, route->method,
        SPAN_ARG (span_slice (http->method, 0, 16)));
    s_refuse (self, exchange, http, &error, s_allowed (route));
}

void
frontend_on_request (void *self_, port_exchange_t *exchange, const http_request_t *http)
{
    frontend_t *self = self_;
    api_error_t error;
    buffer_t path = { 0 };
    span_t rest;
    bool is_text = s_decode_path (http->path, &path);
    const http_route_t *route = is_text ? s_find_route (buffer_span (&path), &rest) : NULL;
    if (!route && s_is_planned (buffer_span (&path))) {
        api_error_set (&error, API_NOT_FOUND, NULL,
            "%.*s is not served yet; this version serves /v1/chat/completions, with which any OpenAI client speaks.",
            SPAN_ARG (buffer_span (&path)));
        s_refuse (self, exchange, http, &error, NULL);
    } else if (!route)
        s_refuse_path (self, exchange, http);
    else if (span_equal (http->method, SPAN ("OPTIONS")))
        s_serve_options (self, exchange, s_allowed (route));
    else if (!s_takes (route, http->method))
        s_refuse_method (self, exchange, http, route);
    else
        route->serve (self, exchange, http, rest);
    buffer_fini (&path);
}
