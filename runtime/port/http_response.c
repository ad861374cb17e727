#include "runtime/port/http_response.h"

#include <inttypes.h>
#include <time.h>

static const struct {
    int status;            //  Code
    const char *phrase;    //  For people
} s_phrases [] = {
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 304, "Not Modified" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 413, "Content Too Large" },
    { 415, "Unsupported Media Type" },
    { 417, "Expectation Failed" },
    { 422, "Unprocessable Content" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 529, "Overloaded" },
};

static const char *const s_ours [] = { "Connection", "Content-Length", "Transfer-Encoding", "Date" };

static const char *
s_phrase (int status)
{
    for (size_t i = 0; i < sizeof s_phrases / sizeof *s_phrases; i++)
        if (s_phrases [i].status == status)
            return s_phrases [i].phrase;
    return "";
}

bool
http_response_has_body (int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static bool
s_is_ours (span_t name)
{
    for (size_t i = 0; i < sizeof s_ours / sizeof *s_ours; i++)
        if (span_equal_nocase (name, span_from_string (s_ours [i])))
            return true;
    return false;
}

static void
s_append_clean (buffer_t *out, span_t text)
{
    uint8_t *to = buffer_reserve (out, text.size);
    for (size_t i = 0; i < text.size; i++) {
        bool is_control = (text.data [i] < ' ' && text.data [i] != '\t') || text.data [i] == 0x7f;
        to [i] = is_control ? ' ' : text.data [i];
    }
    buffer_commit (out, text.size);
}

static void
s_append_header (buffer_t *out, const http_header_t *header)
{
    if (s_is_ours (header->name))
        return;
    s_append_clean (out, header->name);
    buffer_append (out, SPAN (": "));
    s_append_clean (out, header->value);
    buffer_append (out, SPAN ("\r\n"));
}

static void
s_append_date (buffer_t *out)
{
    time_t now = time (NULL);
    struct tm parts;
    char text [64];
    gmtime_r (&now, &parts);
    strftime (text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    buffer_append_string (out, text);
}

void
http_response_render (const http_response_t *self, buffer_t *out)
{
    buffer_print (out, "HTTP/1.1 %d %s\r\n", self->status, s_phrase (self->status));
    s_append_date (out);
    for (size_t i = 0; i < self->header_count; i++)
        s_append_header (out, &self->headers [i]);
    if (self->framing == FRAMING_LENGTH)
        buffer_print (out, "Content-Length: %" PRIu64 "\r\n", self->length);
    if (self->framing == FRAMING_CHUNKED)
        buffer_append (out, SPAN ("Transfer-Encoding: chunked\r\n"));
    if (self->close)
        buffer_append (out, SPAN ("Connection: close\r\n"));
    buffer_append (out, SPAN ("\r\n"));
}
