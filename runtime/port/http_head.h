//  http_head - request line and headers of one request, strictly read
//
//  A head is first scanned byte by byte while it arrives, so that it is refused as early as it can be: only CRLF ends a
//  line; NUL, bare CR, bare LF and folded lines end the matter (RFC 9112 sections 2.2, 5.2).  A whole head then goes to
//  llhttp for the grammar, and what llhttp 8.1 lets pass is refused here: HTTP/0.9, HTTP/2.0, other protocols' versions,
//  several blanks in the request line, empty header names, doubtful framing.  Whoever frames a request in two ways wants
//  two parties to disagree about where it ends.

#ifndef RUNTIME_PORT_HTTP_HEAD_H
#define RUNTIME_PORT_HTTP_HEAD_H

#include "base/array.h"
#include "runtime/port.h"

//  ---- While it arrives ----------------------------------------------------------------------------------------------

typedef enum { HEAD_MORE, HEAD_WHOLE, HEAD_BROKEN } head_state_t;

typedef struct {
    uint8_t last;       //  Byte before
    uint64_t lines;     //  Lines before this one, empty ones in front not counted
    uint64_t column;    //  Bytes of this line
} head_scan_t;

//  Takes the next bytes of the connection; `*used` of them belong to the head.
head_state_t head_scan (head_scan_t *self, span_t bytes, size_t *used);

//  ---- When it is whole ----------------------------------------------------------------------------------------------

typedef struct {
    span_t method;              //  "POST"
    span_t path;                //  Raw, without the query
    span_t query;               //  Behind the '?'
    array_t headers;            //  http_header_t
    uint64_t content_length;    //  0 where there is no body or it is chunked
    bool is_chunked;            //  Transfer-Encoding: chunked
    bool is_head;               //  HEAD: the response has no body
    bool is_old;                //  HTTP/1.0: the response ends with the connection
    bool keep_alive;            //  The client wants the connection to go on
    bool expects_continue;      //  Expect: 100-continue
} http_head_t;

void http_head_init (http_head_t *self);
void http_head_fini (http_head_t *self);

//  Parses a whole head; all spans point into `bytes`.  Returns 0, or the HTTP status to refuse with and why.
int http_head_parse (http_head_t *self, span_t bytes, const char **reason);

#endif
