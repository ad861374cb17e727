#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/turn_private.h"
#include "base/memory.h"

//  ---- The head ------------------------------------------------------------------------------------------------------

//  A client's id is kept, with something behind it: retries carry the same one.
static void
s_make_ids (turn_t *self, const http_request_t *http)
{
    actor_t *actor = self->frontend->actor;
    uint64_t high = actor_random (actor), low = actor_random (actor);
    snprintf (self->completion_id, sizeof self->completion_id, "chatcmpl-%016" PRIx64 "%016" PRIx64, high, low);
    if (frontend_client_id (http, self->client_id)) {
        snprintf (self->request_id, sizeof self->request_id, "%s.%016" PRIx64, self->client_id, low);
        return;
    }
    snprintf (self->request_id, sizeof self->request_id, "%016" PRIx64 "%016" PRIx64, high, low);
    span_copy_string (span_from_string (self->request_id), self->client_id, sizeof self->client_id);
}

//  Version, trace, parent and flags in lower-case hex: what is not of this form is no trace.
static void
s_take_trace (turn_t *self, const http_request_t *http)
{
    static const char form [] = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    span_t given = frontend_header (http, "traceparent");
    bool formed = given.size == TRACE_SIZE;
    for (size_t i = 0; i < given.size && formed; i++)
        formed =
            form [i] == 'x' ? strchr ("0123456789abcdef", given.data [i]) && given.data [i] : given.data [i] == '-';
    if (formed)
        span_copy_string (given, self->trace, sizeof self->trace);
}

//  Where to say what is wrong.
static api_error_t *
s_wrong (turn_t *self)
{
    if (!self->error)
        self->error = memory_new (sizeof *self->error);
    return self->error;
}

//  A header that is a list is one list, over however many lines (RFC 9110 section 5.3).  Gives the first coding that is more
//  than a name, or the empty span.
static span_t
s_find_coding (const http_request_t *http)
{
    for (size_t i = 0; i < http->header_count; i++) {
        span_t rest = http->headers [i].value;
        while (rest.size && span_equal_nocase (http->headers [i].name, SPAN ("content-encoding"))) {
            size_t comma = span_find_byte (rest, ',');
            span_t coding = span_trim (span_slice (rest, 0, comma));
            if (coding.size && !span_equal_nocase (coding, SPAN ("identity")))
                return coding;
            rest = span_slice (rest, comma + 1, rest.size);
        }
    }
    return SPAN ("");
}

static bool
s_check_head (turn_t *self, const http_request_t *http)
{
    span_t encoding = s_find_coding (http);
    span_t type = frontend_header (http, "content-type");
    type = span_trim (span_slice (type, 0, span_find_byte (type, ';')));
    if (encoding.size)
        return api_error_set (s_wrong (self), API_MEDIA_TYPE, NULL,
            "Bodies in content-encoding '%.*s' are not read here.", SPAN_ARG (span_slice (encoding, 0, 64)));
    bool read =
        type.size == 0 || span_equal_nocase (type, SPAN ("application/json")) ||
        span_equal_nocase (type, SPAN ("application/x-www-form-urlencoded"));    //  What curl -d says of any text
    if (!read)
        return api_error_set (s_wrong (self), API_MEDIA_TYPE, NULL,
            "Bodies of content-type '%.*s' are not read here: send application/json.",
            SPAN_ARG (span_slice (type, 0, 64)));
    return true;
}

void
turn_read_head (turn_t *self, const http_request_t *http)
{
    s_make_ids (self, http);
    s_take_trace (self, http);
    for (size_t i = 0; i < http->header_count; i++)
        hints_read_header (&self->hints, http->headers [i].name, http->headers [i].value);
    s_check_head (self, http);
}

//  ---- The body ------------------------------------------------------------------------------------------------------

struct turn_reading {
    buffer_t kept;             //  The body, where a job reads it
    keeper_t keeper;           //  Of the body instead, where it was handed over
    span_t body;               //  What is read
    uint64_t weight;           //  Bytes that a tree of it takes
    chat_request_t request;    //  What it asks
    hints_t hints;             //  Those of the headers, then its own; its texts lie in the turn's arena
    api_error_t error;         //  What is wrong with it
};

void
turn_reading_destroy (turn_reading_t **self_p)
{
    turn_reading_t *self = *self_p;
    if (!self)
        return;
    buffer_fini (&self->kept);
    keeper_release (&self->keeper);
    chat_request_fini (&self->request);
    memory_free (self);
    *self_p = NULL;
}

//  Work: touches the reading alone, and the arena of the hints.
static void
s_read_body (turn_t *turn)
{
    turn_reading_t *self = turn->reading;
    json_t *body = NULL;
    error_t why;
    if (json_parse (self->body, &body, &why)) {
        api_error_set (
            &self->error, API_INVALID_JSON, NULL, "We could not parse the body of your request: %s.", why.text);
        return;
    }
    hints_read_body (&self->hints, body);
    chat_request_parse (&self->request, body, self->body.size, &self->error);
    json_destroy (&body);
}

static void
s_on_discard (void *data)
{
    turn_reading_t *reading = data;
    turn_reading_destroy (&reading);
}

void
turn_return_body (turn_t *self, port_exchange_t *exchange)
{
    if (self->reading && self->reading->kept.data)
        actor_port (self->frontend->actor)->table->exchange_return_body (exchange, &self->reading->kept);
}

//  A large body goes in a job, and not before the turn was told: whoever hands the request over reads it.  The turn may be
//  over afterwards, and is buried later.
static void
s_say_read (turn_t *self)
{
    port_t *port = actor_port (self->frontend->actor);
    hints_choose (&self->hints, &self->envelope);
    self->read (self->frontend, self, self->http);
    turn_reading_t *reading = self->reading;
    self->reading = NULL;
    if (reading && (reading->kept.size || reading->keeper.release))
        port->table->job_start (port, s_on_discard, NULL, NULL, reading);
    else
        turn_reading_destroy (&reading);
}

static void
s_take_body (turn_t *self)
{
    turn_reading_t *reading = self->reading;
    self->request = reading->request;
    reading->request = (chat_request_t){ 0 };
    self->hints = reading->hints;
    if (reading->error.kind != API_OK)
        *s_wrong (self) = reading->error;
    s_say_read (self);
}

//  The body, the request and the tokens of the prompt take this much for each byte of the body; a tree of it is weighed.
enum { MEMORY_FACTOR = 12, MEMORY_FIXED = 64 << 10 };

static bool
s_charge (turn_t *self)
{
    span_t body = self->reading->body;
    uint64_t memory = (uint64_t)body.size * MEMORY_FACTOR + self->reading->weight + MEMORY_FIXED;
    budget_t *budget = actor_budget (self->frontend->actor);
    if (memory > budget->limit)
        return api_error_set (
            s_wrong (self), API_TOO_LARGE, NULL, "A request of %zu bytes takes more memory than there is.", body.size);
    if (budget_take (budget, memory, NULL))
        return api_error_set (s_wrong (self), API_OVERLOADED, NULL,
            "This frontend has no memory for another request of %zu bytes now; try again later.", body.size);
    self->memory = memory;
    return true;
}

//  Work.
static void
s_weigh (turn_t *self)
{
    self->reading->weight = json_weight (self->reading->body);
}

static void
s_on_weighed (turn_t *self)
{
    if (s_charge (self))
        turn_work (self, self->reading->body.size, s_read_body, s_take_body);
    else
        s_say_read (self);
}

void
turn_read (turn_t *self, client_t *client)
{
    if (self->error) {
        s_say_read (self);
        return;
    }
    turn_reading_t *reading = self->reading = memory_new (sizeof *reading);
    reading->hints = self->hints;
    reading->body = self->http->body;
    if (reading->body.size > TURN_WORK_MAX)
        client_take_body (client, &reading->kept, &reading->keeper);
    if (reading->kept.size)
        reading->body = buffer_span (&reading->kept);
    turn_work (self, reading->body.size, s_weigh, s_on_weighed);
}
