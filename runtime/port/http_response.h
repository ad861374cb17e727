//  http_response - the bytes in front of a response's body

#ifndef RUNTIME_PORT_HTTP_RESPONSE_H
#define RUNTIME_PORT_HTTP_RESPONSE_H

#include "runtime/port.h"

typedef enum {
    FRAMING_NONE,       //  No body and no word about it: 204, 304
    FRAMING_LENGTH,     //  Content-Length
    FRAMING_CHUNKED,    //  Transfer-Encoding: chunked
    FRAMING_CLOSE,      //  The body ends with the connection: HTTP/1.0
} http_framing_t;

typedef struct {
    int status;                      //  200
    const http_header_t *headers;    //  Of the caller
    size_t header_count;             //  How many
    http_framing_t framing;          //  How the body ends
    uint64_t length;                 //  FRAMING_LENGTH: bytes of the body
    bool close;                      //  The connection ends with this response
} http_response_t;

//  Appends status line and headers, the empty line included.  Date and framing headers are ours: those of the caller are
//  left out.  Control bytes in the caller's values become blanks, so that no value can end its line.
void http_response_render (const http_response_t *self, buffer_t *out);

//  Whether responses of this status may have a body.
bool http_response_has_body (int status);

#endif
