#include "simulator/trace.h"

#include <inttypes.h>

#include "base/json.h"

enum { SINGLE_BLOCK = 512, BLOCK_MAX = 16384, THREADS_MAX = 4096, SECONDS_MAX = 100000000 };

static const uint64_t SECOND_NS = 1000000000, MS_NS = 1000000;

//  Where the time a request took was not recorded: this much, and for each token of its answer.
static const uint64_t SERVICE_NS = 2000000000, SERVICE_TOKEN_NS = 15000000;

//  A subagent's end and the next request of its lead lie this far apart.
static const uint64_t JOIN_NS = 1000000000;

typedef struct {
    trace_t *trace;              //  Being filled
    trace_session_t *session;    //  The last one; NULL before the first
    error_t *error;              //  Of the line
} reader_t;

//  ---- Fields --------------------------------------------------------------------------------------------------------

static status_t
s_read_u32 (const json_t *row, const char *key, uint64_t max, uint32_t *value, error_t *error)
{
    uint64_t number = 0;
    if (!json_to_u64 (json_get (row, key), &number) || number > max)
        return error_set (error, STATUS_INVALID, "\"%s\" is no number from 0 to %" PRIu64, key, max);
    *value = (uint32_t)number;
    return STATUS_OK;
}

//  Seconds or the like, to the microsecond; absent: left as it is.
static status_t
s_read_time (const json_t *row, const char *key, uint64_t unit_ns, uint64_t *ns, error_t *error)
{
    double number = 0;
    const json_t *value = json_get (row, key);
    if (!value)
        return STATUS_OK;
    double units_max = (double)SECONDS_MAX * (double)(SECOND_NS / unit_ns);
    if (!json_to_double (value, &number) || !(number >= 0 && number <= units_max))
        return error_set (error, STATUS_INVALID, "\"%s\" is no time", key);
    *ns = (uint64_t)(number * (double)(unit_ns / 1000) + 0.5) * 1000;
    return STATUS_OK;
}

static status_t
s_read_tokens (const json_t *row, const char *in, const char *out, trace_request_t *request, error_t *error)
{
    status_t status = s_read_u32 (row, in, TRACE_TOKENS_MAX, &request->prompt_tokens, error);
    if (status == STATUS_OK)
        status = s_read_u32 (row, out, TRACE_TOKENS_MAX, &request->output_tokens, error);
    if (status == STATUS_OK && request->prompt_tokens == 0)
        status = error_set (error, STATUS_INVALID, "a prompt without tokens");
    if (request->output_tokens == 0)
        request->output_tokens = 1;
    return status;
}

//  ---- Sessions in runs ----------------------------------------------------------------------------------------------

static trace_thread_t *
s_add_thread (trace_session_t *session)
{
    trace_thread_t *thread = array_add (&session->threads);
    array_init (&thread->requests, sizeof (trace_request_t));
    return thread;
}

static trace_session_t *
s_add_session (trace_t *self)
{
    trace_session_t *session = array_add (&self->sessions);
    array_init (&session->threads, sizeof (trace_thread_t));
    s_add_thread (session);
    return session;
}

static status_t
s_read_header (reader_t *self, const json_t *row)
{
    uint32_t block_size = 0;
    status_t status = s_read_u32 (row, "block_size", BLOCK_MAX, &block_size, self->error);
    if (status)
        return status;
    if (block_size == 0 || (self->session && block_size != self->trace->block_size))
        return error_set (self->error, STATUS_INVALID, "block_size is 0, or another one than before");
    self->trace->block_size = block_size;
    self->session = s_add_session (self->trace);
    return STATUS_OK;
}

static trace_request_t *
s_last_request (const trace_thread_t *thread)
{
    return thread->requests.count ? array_at (&thread->requests, thread->requests.count - 1) : NULL;
}

static status_t
s_read_spawn (reader_t *self, const json_t *row)
{
    uint32_t number = 0;
    uint64_t end_ns = 0, duration_ns = 0;
    status_t status = s_read_u32 (row, "spawn", THREADS_MAX, &number, self->error);
    if (status == STATUS_OK)
        status = s_read_time (row, "t", SECOND_NS, &end_ns, self->error);
    if (status == STATUS_OK)
        status = s_read_time (row, "duration_ms", MS_NS, &duration_ns, self->error);
    if (status)
        return status;
    const trace_thread_t *lead = array_at (&self->session->threads, 0);
    if (number != self->session->threads.count || lead->requests.count == 0)
        return error_set (self->error, STATUS_INVALID, "subagent %" PRIu32 " is out of order", number);
    const trace_request_t *last = s_last_request (lead);
    uint64_t begin_ns = end_ns > duration_ns ? end_ns - duration_ns : 0;
    uint64_t before_ns = last->at_ns + last->service_ns;
    uint32_t after = (uint32_t)lead->requests.count - 1;
    trace_thread_t *thread = s_add_thread (self->session);
    thread->after = after;
    thread->offset_ns = begin_ns > before_ns ? begin_ns - before_ns : 0;
    return STATUS_OK;
}

static status_t
s_read_runs (reader_t *self, const json_t *runs, trace_request_t *request)
{
    uint64_t blocks = request->keep;
    request->first_run = self->trace->runs.count;
    for (size_t i = 0; i < json_count (runs); i++) {
        uint64_t first = 0, count = 0;
        const json_t *run = json_at (runs, i);
        if (!json_to_u64 (json_at (run, 0), &first) || !json_to_u64 (json_at (run, 1), &count) || count == 0 ||
            count > TRACE_TOKENS_MAX || first > UINT64_MAX / 2)
            return error_set (self->error, STATUS_INVALID, "run %zu is not [first, count]", i);
        *(trace_run_t *)array_add (&self->trace->runs) = (trace_run_t){ first, (uint32_t)count };
        blocks += count;
        if (blocks * self->trace->block_size > request->prompt_tokens)
            return error_set (self->error, STATUS_INVALID, "more blocks than the prompt has tokens for");
    }
    request->run_count = (uint32_t)(self->trace->runs.count - request->first_run);
    request->blocks = (uint32_t)blocks;
    return STATUS_OK;
}

static status_t
s_read_turn (reader_t *self, const json_t *row, trace_thread_t *thread)
{
    trace_request_t request = { 0 };
    const trace_request_t *last = s_last_request (thread);
    uint32_t keep_max = last ? last->blocks : 0;
    status_t status = s_read_tokens (row, "in", "out", &request, self->error);
    if (status == STATUS_OK)
        status = s_read_u32 (row, "keep", keep_max, &request.keep, self->error);
    if (status == STATUS_OK && (uint64_t)request.keep * self->trace->block_size > request.prompt_tokens)
        status = error_set (self->error, STATUS_INVALID, "more blocks than the prompt has tokens for");
    if (status == STATUS_OK)
        status = s_read_runs (self, json_get (row, "new"), &request);
    if (status == STATUS_OK)
        status = s_read_time (row, "t", SECOND_NS, &request.at_ns, self->error);
    request.service_ns = SERVICE_NS + request.output_tokens * SERVICE_TOKEN_NS;
    if (status == STATUS_OK)
        status = s_read_time (row, "api", SECOND_NS, &request.service_ns, self->error);
    uint64_t before_ns = last ? last->at_ns + last->service_ns : request.at_ns;
    request.think_ns = request.at_ns > before_ns ? request.at_ns - before_ns : 0;
    if (status == STATUS_OK)
        status = s_read_time (row, "think", SECOND_NS, &request.think_ns, self->error);
    if (status)
        return status;
    *(trace_request_t *)array_add (&thread->requests) = request;
    self->trace->requests++;
    return STATUS_OK;
}

static status_t
s_read_session_row (reader_t *self, const json_t *row)
{
    uint32_t thread = 0;
    if (json_get (row, "session"))
        return s_read_header (self, row);
    if (!self->session)
        return error_set (
            self->error, STATUS_INVALID, "it is neither a \"session\" nor a request with a \"timestamp\"");
    if (json_get (row, "spawn"))
        return s_read_spawn (self, row);
    status_t status = s_read_u32 (row, "a", self->session->threads.count - 1, &thread, self->error);
    return status ? status : s_read_turn (self, row, array_at (&self->session->threads, thread));
}

//  ---- Single requests -----------------------------------------------------------------------------------------------

static void
s_add_block (trace_t *self, trace_request_t *request, uint64_t block)
{
    trace_run_t *last = request->run_count ? array_at (&self->runs, self->runs.count - 1) : NULL;
    request->blocks++;
    if (last && last->first + last->count == block) {
        last->count++;
        return;
    }
    *(trace_run_t *)array_add (&self->runs) = (trace_run_t){ block, 1 };
    request->run_count++;
}

static status_t
s_read_single (reader_t *self, const json_t *row)
{
    trace_t *trace = self->trace;
    trace_request_t request = { .first_run = trace->runs.count };
    trace_thread_t *thread = array_at (&self->session->threads, 0);
    const trace_request_t *last = s_last_request (thread);
    const json_t *ids = json_get (row, "hash_ids");
    status_t status = s_read_tokens (row, "input_length", "output_length", &request, self->error);
    if (status == STATUS_OK)
        status = s_read_time (row, "timestamp", MS_NS, &request.at_ns, self->error);
    if (status)
        return status;
    if (last && last->at_ns > request.at_ns)
        return error_set (self->error, STATUS_INVALID, "earlier than the line before it");
    for (size_t i = 0; i < json_count (ids) && i < request.prompt_tokens / SINGLE_BLOCK; i++) {
        uint64_t block = 0;
        if (!json_to_u64 (json_at (ids, i), &block) || block > UINT64_MAX / 2)
            return error_set (self->error, STATUS_INVALID, "hash_ids [%zu] is no block number", i);
        s_add_block (trace, &request, block);
    }
    request.service_ns = SERVICE_NS + request.output_tokens * SERVICE_TOKEN_NS;
    *(trace_request_t *)array_add (&thread->requests) = request;
    trace->requests++;
    return STATUS_OK;
}

//  ---- The whole -----------------------------------------------------------------------------------------------------

static void
s_begin (reader_t *self, const json_t *first)
{
    self->trace->single = json_get (first, "timestamp") != NULL;
    if (!self->trace->single)
        return;
    self->trace->block_size = SINGLE_BLOCK;
    self->session = s_add_session (self->trace);
}

static status_t
s_read_line (reader_t *self, span_t line)
{
    json_t *row = NULL;
    status_t status = json_parse (line, &row, self->error);
    if (status)
        return status;
    if (json_kind (row) != JSON_OBJECT)
        status = error_set (self->error, STATUS_INVALID, "it is no object");
    else {
        if (self->trace->sessions.count == 0)
            s_begin (self, row);
        status = self->trace->single ? s_read_single (self, row) : s_read_session_row (self, row);
    }
    json_destroy (&row);
    return status;
}

static status_t
s_check (const trace_t *self, error_t *error)
{
    for (size_t i = 0; i < self->sessions.count; i++) {
        const trace_session_t *session = trace_session (self, i);
        for (size_t k = 0; k < session->threads.count; k++)
            if (trace_thread (session, k)->requests.count == 0)
                return error_set (error, STATUS_INVALID, "session %zu has a thread without a request", i);
    }
    return self->requests ? STATUS_OK : error_set (error, STATUS_INVALID, "a trace without requests");
}

status_t
trace_init (trace_t *self, span_t text, error_t *error)
{
    error_t local;
    *self = (trace_t){ 0 };
    array_init (&self->sessions, sizeof (trace_session_t));
    array_init (&self->runs, sizeof (trace_run_t));
    reader_t reader = { .trace = self, .error = error ? error : &local };
    status_t status = STATUS_OK;
    for (size_t at = 0, number = 1; at < text.size && status == STATUS_OK; number++) {
        size_t size = span_find_byte (span_slice (text, at, text.size), '\n');
        span_t line = span_slice (text, at, size);
        at += size + 1;
        if (span_trim (line).size && s_read_line (&reader, line) != STATUS_OK)
            status = error_prefix (reader.error, "line %zu", number);
    }
    if (status == STATUS_OK)
        status = s_check (self, reader.error);
    if (status)
        trace_fini (self);
    return status;
}

void
trace_fini (trace_t *self)
{
    for (size_t i = 0; i < self->sessions.count; i++) {
        trace_session_t *session = array_at (&self->sessions, i);
        for (size_t k = 0; k < session->threads.count; k++)
            array_fini (&((trace_thread_t *)array_at (&session->threads, k))->requests);
        array_fini (&session->threads);
    }
    array_fini (&self->sessions);
    array_fini (&self->runs);
}

const trace_session_t *
trace_session (const trace_t *self, size_t position)
{
    return array_at (&self->sessions, position);
}

const trace_thread_t *
trace_thread (const trace_session_t *session, size_t position)
{
    return array_at (&session->threads, position);
}

const trace_request_t *
trace_request (const trace_thread_t *thread, size_t position)
{
    return array_at (&thread->requests, position);
}

const trace_run_t *
trace_runs (const trace_t *self, const trace_request_t *request)
{
    return request->run_count ? array_at (&self->runs, request->first_run) : NULL;
}

//  ---- Time ----------------------------------------------------------------------------------------------------------

static uint64_t
s_least (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
s_thread_ns (const trace_thread_t *thread, uint64_t think_max_ns)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < thread->requests.count; i++) {
        const trace_request_t *request = trace_request (thread, i);
        ns += (i ? s_least (request->think_ns, think_max_ns) : 0) + request->service_ns;
    }
    return ns;
}

uint64_t
trace_duration_ns (const trace_session_t *session, uint64_t think_max_ns)
{
    const trace_thread_t *lead = trace_thread (session, 0);
    uint64_t now = 0, end = 0;
    for (size_t i = 0, next = 1; i < lead->requests.count; i++) {
        uint64_t joined = 0;
        now += trace_request (lead, i)->service_ns;
        end = now > end ? now : end;
        for (; next < session->threads.count && trace_thread (session, next)->after == i; next++) {
            const trace_thread_t *thread = trace_thread (session, next);
            uint64_t over = now + s_least (thread->offset_ns, think_max_ns) + s_thread_ns (thread, think_max_ns);
            joined = over + JOIN_NS > joined ? over + JOIN_NS : joined;
            end = over > end ? over : end;
        }
        if (i + 1 == lead->requests.count)
            break;
        now += s_least (trace_request (lead, i + 1)->think_ns, think_max_ns);
        now = joined > now ? joined : now;
    }
    return end;
}
