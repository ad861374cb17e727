//  http_chunks - a body that comes in chunks (RFC 9112 section 7.1), strictly read
//
//  llhttp 8.1 takes any byte behind a CR for the end of a chunk's size line, and sets no bound on extensions; so this is
//  our own.  Trailers are refused: nobody here wants them, and they have been used to smuggle.

#ifndef RUNTIME_PORT_HTTP_CHUNKS_H
#define RUNTIME_PORT_HTTP_CHUNKS_H

#include "base/span.h"

typedef enum {
    CHUNKS_MORE,      //  All input is used; the body goes on
    CHUNKS_DATA,      //  `*data` is body; call again
    CHUNKS_WHOLE,     //  The body has ended
    CHUNKS_BROKEN,    //  Not chunks, or more framing than any client needs
} chunks_state_t;

typedef struct {
    int expect;          //  What the next byte must be; 0 at the start
    uint64_t size;       //  Of this chunk, as far as its size line is read
    uint64_t left;       //  Bytes of data that are left of this chunk
    uint32_t digits;     //  Of this size line
    uint32_t line;       //  Bytes of this size line
    uint64_t data;       //  Bytes of data so far
    uint64_t framing;    //  Bytes of everything else
} http_chunks_t;

//  Takes from the front of `*input` until there is something to say.  Zero-initialise before the first call.
chunks_state_t http_chunks_read (http_chunks_t *self, span_t *input, span_t *data);

#endif
