#include "simulator/harness.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/random.h"

enum {
    SESSIONS_MAX = 256,      //  Alive at once
    SHARED_PROMPTS = 4,      //  System prompts that sessions have in common
    USER_BYTES = 200,        //  Of a later turn
    SENTENCE_MAX = 512,      //  Of a violation
    PAUSE_MEAN_MS = 2000,    //  Of a slow reader
    BODY_MAX = 1 << 20,      //  Of what is kept of a response
};

#define MS UINT64_C (1000000)

typedef struct session session_t;

typedef enum { READS_STREAM, READS_WHOLE, LEAVES, READS_SLOWLY } manner_t;

//  What is known of one request, while it is under way.
typedef struct {
    port_fetch_t *fetch;     //  NULL once it is over
    manner_t manner;         //  How the client behaves
    int64_t seed;            //  Of the answer
    uint32_t max_tokens;     //  Of the answer
    uint64_t started_ns;     //  When
    int status;              //  HTTP; 0: none yet
    buffer_t line;           //  Of the stream, unfinished; of the response, all
    buffer_t answer;         //  Text so far
    uint64_t leave_after;    //  LEAVES: bytes of the answer
    uint32_t finishes;       //  Finish reasons that came
    bool ended_by_length;    //  The last one was "length"
    bool done;               //  [DONE] came
    bool failed;             //  An error event came
    bool paused;             //  READS_SLOWLY: now
    uint64_t resume_ns;      //  READS_SLOWLY: when it goes on
} request_t;

struct session {
    harness_t *harness;     //  Whose
    list_link_t link;       //  In sessions
    uint64_t number;        //  In order of their beginning
    uint32_t turns_left;    //  After the present one
    random_t random;        //  What it says and how
    buffer_t messages;      //  JSON, "{...},{...}"
    request_t request;      //  The present one
};

struct harness {
    port_t *port;                 //  Where it lives
    harness_options_t options;    //  As given
    size_t url_count;             //  Of options.urls
    random_t random;              //  When what happens
    list_t sessions;              //  session_t, all that live
    uint64_t session_count;       //  That ever began
    uint64_t request_count;       //  That ever began
    uint64_t next_ns;             //  The next request; PORT_NEVER: none
    harness_figures_t figures;    //  So far
};

static const port_table_t *
s_table (const harness_t *self)
{
    return self->port->table;
}

static uint64_t
s_now (const harness_t *self)
{
    return s_table (self)->now_ns (self->port);
}

//  ---- What is wrong -------------------------------------------------------------------------------------------------

static void __attribute__ ((format (printf, 2, 3))) s_violation (session_t *session, const char *format, ...)
{
    char what [SENTENCE_MAX - 64], sentence [SENTENCE_MAX];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (what, sizeof what, format, arguments);
    va_end (arguments);
    harness_t *self = session->harness;
    snprintf (sentence, sizeof sentence, "request of session %" PRIu64 " begun at %" PRIu64 ".%03" PRIu64 " s: %s",
        session->number, session->request.started_ns / (1000 * MS), session->request.started_ns / MS % 1000, what);
    self->options.on_violation (self->options.arg, sentence);
}

static bool
s_is_excused (const session_t *session)
{
    const harness_options_t *options = &session->harness->options;
    return options->excused (options->arg, session->request.started_ns);
}

static void
s_check_answer (session_t *session)
{
    const harness_options_t *options = &session->harness->options;
    const request_t *request = &session->request;
    if (request->answer.size > request->max_tokens)
        s_violation (session, "%zu tokens where %u were asked for", request->answer.size, request->max_tokens);
    for (size_t i = 0; options->token && i < request->answer.size; i++)
        if (request->answer.data [i] != options->token (options->token_arg, request->seed, i)) {
            s_violation (session, "token %zu of %zu is not what the engine says there", i, request->answer.size);
            return;
        }
    if (request->done && request->ended_by_length && request->answer.size != request->max_tokens)
        s_violation (session, "ended by length after %zu tokens of %u", request->answer.size, request->max_tokens);
}

//  ---- The end of a request ------------------------------------------------------------------------------------------

static void
s_session_destroy (session_t *session)
{
    list_remove (&session->harness->sessions, &session->link);
    buffer_fini (&session->request.line);
    buffer_fini (&session->request.answer);
    buffer_fini (&session->messages);
    memory_free (session);
}

static void
s_append_message (session_t *session, const char *role, span_t text)
{
    json_writer_t writer;
    if (session->messages.size)
        buffer_append_byte (&session->messages, ',');
    json_writer_init (&writer, &session->messages);
    json_write_begin_object (&writer);
    json_write_key (&writer, "role");
    json_write_string (&writer, span_from_string (role));
    json_write_key (&writer, "content");
    json_write_string (&writer, text);
    json_write_end_object (&writer);
}

//  The conversation goes on from a whole answer; else the harness gives the session up.
static void
s_close_request (session_t *session, bool whole)
{
    request_t *request = &session->request;
    session->harness->figures.ended++;
    session->harness->figures.whole += whole;
    request->fetch = NULL;
    if (!whole || session->turns_left == 0) {
        s_session_destroy (session);
        return;
    }
    session->turns_left--;
    s_append_message (session, "assistant", buffer_span (&request->answer));
}

static void
s_leave (session_t *session)
{
    harness_t *self = session->harness;
    s_check_answer (session);
    s_table (self)->fetch_cancel (session->request.fetch);
    self->figures.left++;
    s_close_request (session, false);
}

//  ---- What arrives --------------------------------------------------------------------------------------------------

//  Where `what` begins in the text; its size where it does not occur.
static size_t
s_find (span_t text, span_t what)
{
    for (size_t at = 0; at + what.size <= text.size; at++) {
        at += span_find_byte (span_slice (text, at, text.size), what.data [0]);
        if (span_starts_with (span_slice (text, at, text.size), what))
            return at;
    }
    return text.size;
}

static bool
s_contains (span_t text, span_t what)
{
    return s_find (text, what) < text.size;
}

static span_t
s_behind (span_t text, span_t what)
{
    return span_slice (text, s_find (text, what) + what.size, text.size);
}

static uint64_t
s_number_behind (span_t text, span_t key)
{
    span_t rest = s_behind (text, key);
    uint64_t value = 0;
    for (size_t i = 0; i < rest.size && rest.data [i] >= '0' && rest.data [i] <= '9'; i++)
        value = value * 10 + (uint64_t)(rest.data [i] - '0');
    return value;
}

//  Appends the text of a JSON string that begins behind `key`.  The engines of a simulated fleet say plain ASCII; an escape
//  is taken for the byte behind the backslash.
static void
s_take_string (span_t text, span_t key, buffer_t *out)
{
    span_t rest = s_behind (text, key);
    for (size_t i = 0; i < rest.size && rest.data [i] != '"'; i++) {
        i += rest.data [i] == '\\' && i + 1 < rest.size;
        buffer_append_byte (out, rest.data [i]);
    }
}

static void
s_take_usage (harness_t *self, span_t text)
{
    self->figures.prompt_tokens += s_number_behind (text, SPAN ("\"prompt_tokens\":"));
    self->figures.cached_tokens += s_number_behind (text, SPAN ("\"cached_tokens\":"));
}

static void
s_take_finish (request_t *request, span_t text)
{
    if (s_contains (text, SPAN ("\"finish_reason\":\""))) {
        request->finishes++;
        request->ended_by_length = s_contains (text, SPAN ("\"finish_reason\":\"length\""));
    }
}

static void
s_take_text (session_t *session, span_t text)
{
    harness_t *self = session->harness;
    request_t *request = &session->request;
    size_t before = request->answer.size;
    s_take_string (text, SPAN ("\"content\":\""), &request->answer);
    self->figures.tokens += request->answer.size - before;
    if (before || !request->answer.size || request->manner == READS_WHOLE)
        return;
    uint64_t waited_ns = s_now (self) - request->started_ns;
    self->figures.first_tokens++;
    self->figures.first_token_ns += waited_ns;
    if (waited_ns > self->figures.first_token_max_ns)
        self->figures.first_token_max_ns = waited_ns;
}

static void
s_on_event (session_t *session, span_t data)
{
    request_t *request = &session->request;
    if (request->done || request->failed)
        s_violation (session, "an event behind the end: %.*s", SPAN_ARG (span_slice (data, 0, 80)));
    if (span_equal_string (data, "[DONE]"))
        request->done = true;
    else if (span_starts_with (data, SPAN ("{\"error\"")))
        request->failed = true;
    else {
        if (request->finishes && s_contains (data, SPAN ("\"content\":\"")))
            s_violation (session, "text behind the finish reason");
        s_take_text (session, data);
        s_take_finish (request, data);
        if (s_contains (data, SPAN ("\"usage\":{")))
            s_take_usage (session->harness, data);
    }
}

static void
s_read_events (session_t *session)
{
    buffer_t *line = &session->request.line;
    span_t rest = buffer_span (line);
    for (;;) {
        size_t size = s_find (rest, SPAN ("\n\n"));
        if (size == rest.size)
            break;
        span_t event = span_slice (rest, 0, size);
        if (span_starts_with (event, SPAN ("data: ")))
            s_on_event (session, span_slice (event, 6, event.size));
        else if (!span_starts_with (event, SPAN (":")))
            s_violation (session, "no event: %.*s", SPAN_ARG (span_slice (event, 0, 80)));
        rest = span_slice (rest, size + 2, rest.size);
    }
    buffer_drop_front (line, line->size - rest.size);
}

static void
s_set_alarm (harness_t *self)
{
    uint64_t at_ns = self->next_ns;
    for (list_link_t *link = list_first (&self->sessions); link; link = list_next (&self->sessions, link)) {
        const request_t *request = &LIST_ENTRY (link, session_t, link)->request;
        if (request->paused && (at_ns == PORT_NEVER || request->resume_ns < at_ns))
            at_ns = request->resume_ns;
    }
    s_table (self)->alarm (self->port, at_ns);
}

//  As often in a long answer as in a short one.
static uint32_t
s_pause_ppm (const session_t *session)
{
    return (uint32_t)(UINT64_C (100000) * session->harness->options.max_tokens / session->request.max_tokens);
}

static void
s_pause (session_t *session)
{
    harness_t *self = session->harness;
    session->request.paused = true;
    session->request.resume_ns = s_now (self) + random_exponential (&session->random, PAUSE_MEAN_MS * MS);
    s_table (self)->fetch_pause (session->request.fetch, true);
    s_set_alarm (self);
}

static void
s_on_head (void *arg, int status)
{
    ((session_t *)arg)->request.status = status;
}

static void
s_on_data (void *arg, span_t bytes)
{
    session_t *session = arg;
    request_t *request = &session->request;
    if (request->line.size + bytes.size > BODY_MAX) {
        s_violation (session, "a response without end");
        return;
    }
    buffer_append (&request->line, bytes);
    if (request->status != 200 || request->manner == READS_WHOLE)
        return;
    s_read_events (session);
    if (request->manner == LEAVES && request->answer.size >= request->leave_after)
        s_leave (session);
    else if (request->manner == READS_SLOWLY && random_chance (&session->random, s_pause_ppm (session)))
        s_pause (session);
}

//  ---- The end, as the client sees it --------------------------------------------------------------------------------

static void
s_read_whole (session_t *session)
{
    span_t body = buffer_span (&session->request.line);
    s_take_text (session, body);
    s_take_finish (&session->request, body);
    s_take_usage (session->harness, body);
    session->request.done = true;
}

static void
s_judge_error_status (session_t *session)
{
    harness_t *self = session->harness;
    int status = session->request.status;
    bool overloaded = status == 429 || status == 529;
    self->figures.refused++;
    if (status < 500 && status != 429)
        s_violation (
            session, "status %d: %.*s", status, SPAN_ARG (span_slice (buffer_span (&session->request.line), 0, 200)));
    else if (!overloaded && !s_is_excused (session))
        s_violation (session, "status %d although nothing was broken: %.*s", status,
            SPAN_ARG (span_slice (buffer_span (&session->request.line), 0, 200)));
}

static void
s_judge_stream (session_t *session, status_t status)
{
    const request_t *request = &session->request;
    if (status == STATUS_OK && !request->done && !request->failed)
        s_violation (session, "the stream ended without saying so");
    if (request->done && request->finishes != 1)
        s_violation (session, "%u finish reasons", request->finishes);
    if (!request->done && !s_is_excused (session))
        s_violation (session, "broke off after %zu tokens although nothing was broken (%s)", request->answer.size,
            request->failed ? "an error event" : status_name (status));
    session->harness->figures.broken += !request->done;
}

static void
s_on_end (void *arg, status_t status, const error_t *error)
{
    session_t *session = arg;
    request_t *request = &session->request;
    if (request->status && request->status != 200) {
        s_judge_error_status (session);
        s_close_request (session, false);
        return;
    }
    if (status == STATUS_OK && request->manner == READS_WHOLE)
        s_read_whole (session);
    s_judge_stream (session, status);
    s_check_answer (session);
    s_close_request (session, request->done && status == STATUS_OK);
}

//  ---- Requests ------------------------------------------------------------------------------------------------------

//  Words without a meaning, the same for the same stream of numbers.
static void
s_append_words (random_t *random, size_t size, buffer_t *out)
{
    size_t end = out->size + size;
    while (out->size < end) {
        uint64_t word = random_u64 (random);
        for (int length = 2 + (int)(word % 8); length; length--, word /= 32)
            buffer_append_byte (out, (uint8_t)('a' + word / 8 % 26));
        buffer_append_byte (out, ' ');
    }
}

static void
s_say_words (session_t *session, const char *role, random_t *random, size_t size)
{
    buffer_t text = { 0 };
    s_append_words (random, size, &text);
    s_append_message (session, role, buffer_span (&text));
    buffer_fini (&text);
}

static session_t *
s_session_new (harness_t *self)
{
    session_t *session = memory_new (sizeof *session);
    session->harness = self;
    session->number = ++self->session_count;
    random_init (&session->random, random_u64 (&self->random));
    session->turns_left = (uint32_t)random_exponential (&session->random, self->options.turns);
    list_append (&self->sessions, &session->link);
    random_t shared;
    random_init (&shared, random_below (&session->random, SHARED_PROMPTS));
    s_say_words (session, "system", &shared, self->options.prompt_bytes / 2);
    s_say_words (session, "user", &session->random, self->options.prompt_bytes / 2);
    return session;
}

static manner_t
s_draw_manner (session_t *session)
{
    const harness_options_t *options = &session->harness->options;
    uint64_t draw = random_below (&session->random, 1000000);
    if (draw < options->plain_ppm)
        return READS_WHOLE;
    draw -= options->plain_ppm;
    if (draw < options->leave_ppm)
        return LEAVES;
    return draw - options->leave_ppm < options->slow_ppm ? READS_SLOWLY : READS_STREAM;
}

static void
s_write_body (const session_t *session, buffer_t *body)
{
    const harness_options_t *options = &session->harness->options;
    bool stream = session->request.manner != READS_WHOLE;
    buffer_print (body, "{\"model\":\"%s\",\"max_tokens\":%u,\"seed\":%" PRId64 ",", options->model,
        session->request.max_tokens, session->request.seed);
    if (stream)
        buffer_append_string (body, "\"stream\":true,\"stream_options\":{\"include_usage\":true},");
    if (session->request.manner == READS_SLOWLY)
        buffer_append_string (body, "\"ignore_eos\":true,");
    buffer_append_string (body, "\"messages\":[");
    buffer_append (body, buffer_span (&session->messages));
    buffer_append_string (body, "]}");
}

static void
s_send (session_t *session)
{
    harness_t *self = session->harness;
    buffer_t body = { 0 };
    char url [300], name [32];
    s_write_body (session, &body);
    snprintf (url, sizeof url, "%s/v1/chat/completions",
        self->options.urls [random_below (&session->random, self->url_count)]);
    snprintf (name, sizeof name, "session-%" PRIu64, session->number);
    http_header_t headers [] = { { SPAN ("content-type"), SPAN ("application/json") },
        { SPAN ("x-session-id"), span_from_string (name) } };
    fetch_options_t fetch = { .method = "POST",
        .url = url,
        .headers = headers,
        .header_count = sizeof headers / sizeof headers [0],
        .body = buffer_span (&body),
        .on_head = s_on_head,
        .on_data = s_on_data,
        .on_end = s_on_end,
        .arg = session };
    session->request.fetch = s_table (self)->fetch (self->port, &fetch, NULL);
    BUG_ON (!session->request.fetch);
    buffer_fini (&body);
}

static void
s_begin_request (session_t *session)
{
    harness_t *self = session->harness;
    request_t *request = &session->request;
    buffer_fini (&request->line);
    buffer_fini (&request->answer);
    manner_t manner = s_draw_manner (session);
    bool is_long = manner == READS_SLOWLY && self->options.slow_tokens;
    *request = (request_t){ .manner = manner,
        .max_tokens = is_long ? self->options.slow_tokens : self->options.max_tokens,
        .seed = (int64_t)++self->request_count,
        .started_ns = s_now (self),
        .leave_after = random_below (&session->random, self->options.max_tokens) };
    self->figures.started++;
    s_send (session);
}

//  Now and then a new session; else the next turn of one that waits, drawn among them.
static session_t *
s_choose_session (harness_t *self)
{
    session_t *waiting [SESSIONS_MAX];
    size_t count = 0;
    for (list_link_t *link = list_first (&self->sessions); link; link = list_next (&self->sessions, link)) {
        session_t *session = LIST_ENTRY (link, session_t, link);
        if (!session->request.fetch && count < SESSIONS_MAX)
            waiting [count++] = session;
    }
    bool begin = self->sessions.count < SESSIONS_MAX && random_below (&self->random, self->options.turns + 1) == 0;
    if (count && !begin) {
        session_t *session = waiting [random_below (&self->random, count)];
        s_say_words (session, "user", &session->random, USER_BYTES);
        return session;
    }
    return self->sessions.count < SESSIONS_MAX ? s_session_new (self) : NULL;
}

static void
s_resume (harness_t *self, uint64_t now_ns)
{
    for (list_link_t *link = list_first (&self->sessions); link; link = list_next (&self->sessions, link)) {
        request_t *request = &LIST_ENTRY (link, session_t, link)->request;
        if (!request->paused || request->resume_ns > now_ns)
            continue;
        request->paused = false;
        if (request->fetch)
            s_table (self)->fetch_pause (request->fetch, false);
    }
}

static void
s_on_alarm (void *arg)
{
    harness_t *self = arg;
    uint64_t now_ns = s_now (self);
    s_resume (self, now_ns);
    if (self->next_ns != PORT_NEVER && self->next_ns <= now_ns) {
        session_t *session = s_choose_session (self);
        if (session)
            s_begin_request (session);
        self->next_ns = now_ns + 1 + random_exponential (&self->random, self->options.interval_ns);
    }
    s_set_alarm (self);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

harness_t *
harness_new (port_t *port, const harness_options_t *options, uint64_t seed)
{
    harness_t *self = memory_new (sizeof *self);
    self->port = port;
    self->options = *options;
    while (options->urls [self->url_count])
        self->url_count++;
    random_init (&self->random, seed);
    list_init (&self->sessions);
    port->user = (port_user_t){ .on_alarm = s_on_alarm, .arg = self };
    self->next_ns = s_now (self) + 1 + random_exponential (&self->random, options->interval_ns);
    s_set_alarm (self);
    return self;
}

void
harness_destroy (harness_t **self_p)
{
    harness_t *self = *self_p;
    if (!self)
        return;
    list_link_t *link;
    while ((link = list_first (&self->sessions))) {
        session_t *session = LIST_ENTRY (link, session_t, link);
        if (session->request.fetch)
            s_table (self)->fetch_cancel (session->request.fetch);
        s_session_destroy (session);
    }
    memory_free (self);
    *self_p = NULL;
}

void
harness_stop (harness_t *self)
{
    self->next_ns = PORT_NEVER;
    s_set_alarm (self);
}

void
harness_figures (const harness_t *self, harness_figures_t *figures)
{
    *figures = self->figures;
    for (list_link_t *link = list_first (&self->sessions); link; link = list_next (&self->sessions, link)) {
        const request_t *request = &LIST_ENTRY (link, session_t, link)->request;
        if (!request->fetch)
            continue;
        figures->open++;
        figures->streaming += request->answer.size > 0;
        if (!figures->oldest_ns || request->started_ns < figures->oldest_ns)
            figures->oldest_ns = request->started_ns;
    }
}
