#include "runtime/port/http_head.h"

#include <llhttp.h>

#include "base/bug.h"

enum { HEADERS_MAX = 256 };

//  ---- While it arrives ----------------------------------------------------------------------------------------------

static bool
s_is_allowed (const head_scan_t *self, uint8_t byte)
{
    if (byte == '\0' || (self->last == '\r' && byte != '\n') || (byte == '\n' && self->last != '\r'))
        return false;
    return !(self->column == 0 && self->lines > 0 && (byte == ' ' || byte == '\t'));
}

//  A line has ended.  Empty lines in front of the first are skipped (RFC 9112 section 2.2); a later one ends the head.
static bool
s_ends_head (head_scan_t *self)
{
    bool is_empty = self->column == 1;
    self->column = 0;
    if (is_empty)
        return self->lines > 0;
    self->lines++;
    return false;
}

head_state_t
head_scan (head_scan_t *self, span_t bytes, size_t *used)
{
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = bytes.data [i];
        *used = i + 1;
        if (!s_is_allowed (self, byte))
            return HEAD_BROKEN;
        self->last = byte;
        if (byte != '\n')
            self->column++;
        else if (s_ends_head (self))
            return HEAD_WHOLE;
    }
    *used = bytes.size;
    return HEAD_MORE;
}

//  ---- llhttp: the grammar -------------------------------------------------------------------------------------------

typedef struct {
    array_t *headers;      //  http_header_t
    span_t target;         //  Of the request line
    http_header_t next;    //  The header in progress
    bool is_whole;         //  The end of the headers was seen
    uint64_t length;       //  Content-Length
    bool closes;           //  Connection: close
} grammar_t;

//  llhttp may hand over one thing in pieces; they lie side by side.
static void
s_extend (span_t *span, const char *data, size_t size)
{
    if (!span->size)
        span->data = (const uint8_t *)data;
    span->size += size;
}

static int
s_on_target (llhttp_t *parser, const char *data, size_t size)
{
    grammar_t *self = parser->data;
    s_extend (&self->target, data, size);
    return HPE_OK;
}

static int
s_on_name (llhttp_t *parser, const char *data, size_t size)
{
    grammar_t *self = parser->data;
    s_extend (&self->next.name, data, size);
    return HPE_OK;
}

static int
s_on_value (llhttp_t *parser, const char *data, size_t size)
{
    grammar_t *self = parser->data;
    s_extend (&self->next.value, data, size);
    return HPE_OK;
}

static int
s_on_header (llhttp_t *parser)
{
    grammar_t *self = parser->data;
    if (!self->next.name.size)
        return HPE_USER;
    self->next.value = span_trim (self->next.value);
    array_append (self->headers, &self->next, 1);
    self->next = (http_header_t){ 0 };
    return HPE_OK;
}

static int
s_on_end (llhttp_t *parser)
{
    grammar_t *self = parser->data;
    self->is_whole = true;
    self->length = parser->content_length;
    self->closes = parser->flags & F_CONNECTION_CLOSE;
    return HPE_OK;
}

static const llhttp_settings_t s_settings = {
    .on_url = s_on_target,
    .on_header_field = s_on_name,
    .on_header_value = s_on_value,
    .on_header_value_complete = s_on_header,
    .on_headers_complete = s_on_end,
};

//  An upgrade that is asked for is not done, which RFC 9110 section 7.8 allows; llhttp only wants to be told.
static bool
s_parse_grammar (grammar_t *grammar, span_t bytes)
{
    llhttp_t parser;
    llhttp_init (&parser, HTTP_REQUEST, &s_settings);
    parser.data = grammar;
    llhttp_errno_t rc = llhttp_execute (&parser, (const char *)bytes.data, bytes.size);
    return (rc == HPE_OK || rc == HPE_PAUSED_UPGRADE) && grammar->is_whole;
}

//  ---- What the grammar lets pass ------------------------------------------------------------------------------------

static size_t
s_count (const http_head_t *self, span_t name, span_t *value)
{
    size_t count = 0;
    for (size_t i = 0; i < self->headers.count; i++) {
        const http_header_t *header = array_at (&self->headers, i);
        if (!span_equal_nocase (header->name, name))
            continue;
        *value = header->value;
        count++;
    }
    return count;
}

//  METHOD SP TARGET SP HTTP/1.x and nothing else, not even a second blank.
static bool
s_read_request_line (http_head_t *self, span_t bytes, span_t target)
{
    span_t line = span_slice (bytes, 0, span_find_byte (bytes, '\r'));
    self->method = span_slice (line, 0, span_find_byte (line, ' '));
    span_t version = span_slice (line, line.size - (line.size < 8 ? line.size : 8), 8);
    if (line.size != self->method.size + 1 + target.size + 1 + version.size)
        return false;
    self->is_old = span_equal (version, SPAN ("HTTP/1.0"));
    self->is_head = span_equal (self->method, SPAN ("HEAD"));
    return self->is_old || span_equal (version, SPAN ("HTTP/1.1"));
}

//  "http://authority/path?query" -> "/path?query"; a target without a path means "/".
static span_t
s_without_authority (span_t target)
{
    static const span_t schemes [] = { { (const uint8_t *)"http://", 7 }, { (const uint8_t *)"https://", 8 } };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (!span_equal_nocase (span_slice (target, 0, schemes [i].size), schemes [i]))
            continue;
        span_t rest = span_slice (target, schemes [i].size, target.size);
        span_t path = span_slice (rest, span_find_byte (rest, '/'), rest.size);
        return path.size ? path : SPAN ("/");
    }
    return target;
}

static bool
s_read_target (http_head_t *self, span_t target)
{
    target = s_without_authority (target);
    size_t mark = span_find_byte (target, '?');
    self->path = span_slice (target, 0, mark);
    self->query = span_slice (target, mark + 1, target.size);
    if (span_find_byte (target, '#') < target.size || !target.size)
        return false;
    return target.data [0] == '/' || (span_equal (target, SPAN ("*")) && span_equal (self->method, SPAN ("OPTIONS")));
}

//  Exactly one way to know where the body ends.
static bool
s_read_framing (http_head_t *self, const grammar_t *grammar)
{
    span_t value;
    size_t lengths = s_count (self, SPAN ("Content-Length"), &value);
    size_t encodings = s_count (self, SPAN ("Transfer-Encoding"), &value);
    if (lengths + encodings > 1 || (encodings && self->is_old))
        return false;
    if (encodings && !span_equal_nocase (value, SPAN ("chunked")))
        return false;
    self->is_chunked = encodings == 1;
    self->content_length = lengths ? grammar->length : 0;
    self->keep_alive = !self->is_old && !grammar->closes;
    return true;
}

static bool
s_host_is_right (const http_head_t *self)
{
    span_t host;
    size_t hosts = s_count (self, SPAN ("Host"), &host);
    return hosts == 1 || (hosts == 0 && self->is_old);
}

static bool
s_read_expectation (http_head_t *self)
{
    span_t value;
    size_t count = s_count (self, SPAN ("Expect"), &value);
    if (!count || self->is_old)
        return true;
    self->expects_continue = span_equal_nocase (value, SPAN ("100-continue"));
    return count == 1 && self->expects_continue;
}

static int
s_refuse (const char **reason, int status, const char *sentence)
{
    *reason = sentence;
    return status;
}

int
http_head_parse (http_head_t *self, span_t bytes, const char **reason)
{
    while (bytes.size && (bytes.data [0] == '\r' || bytes.data [0] == '\n'))
        bytes = span_slice (bytes, 1, bytes.size);
    grammar_t grammar = { .headers = &self->headers };
    if (!s_parse_grammar (&grammar, bytes))
        return s_refuse (reason, 400, "this is no request of HTTP/1.1");
    if (!s_read_request_line (self, bytes, grammar.target))
        return s_refuse (reason, 400, "the request line is not METHOD TARGET HTTP/1.1");
    if (!s_read_target (self, grammar.target))
        return s_refuse (reason, 400, "the request target is not a path");
    if (!s_read_framing (self, &grammar))
        return s_refuse (reason, 400, "the length of the body is not clear");
    if (!s_host_is_right (self))
        return s_refuse (reason, 400, "exactly one Host header is needed");
    if (!s_read_expectation (self))
        return s_refuse (reason, 417, "the only expectation known is 100-continue");
    if (self->headers.count > HEADERS_MAX)
        return s_refuse (reason, 431, "too many headers");
    return 0;
}

void
http_head_init (http_head_t *self)
{
    *self = (http_head_t){ 0 };
    array_init (&self->headers, sizeof (http_header_t));
}

void
http_head_fini (http_head_t *self)
{
    array_fini (&self->headers);
}
