//  sse - server-sent events out of bytes that come in pieces
//
//  The event stream format of the HTML standard (section 9.2): lines end with LF, CR or CRLF; "data:" lines of one event
//  are joined by LF; a blank line ends the event; a line that begins with a colon is a comment; a byte order mark at the
//  start is no text.  An event that the stream ends in the middle of is none.  The pieces may be cut anywhere: the
//  splitter keeps what is unfinished.  `id` and `retry` are of no use here and ignored.

#ifndef WORKERS_SSE_H
#define WORKERS_SSE_H

#include "base/buffer.h"
#include "base/error.h"

//  An event.  type: of its "event:" line, empty where it has none.  Both are borrowed.
//  False: enough; the splitter is not touched any more, so it may have been freed.
typedef bool (sse_event_fn) (void *arg, span_t type, span_t data);

//  Embedded.  The fields belong to the splitter.
typedef struct {
    buffer_t line;       //  Of the line that has not ended
    buffer_t type;       //  Of the event that has not ended
    buffer_t data;       //  The same; a LF behind each line
    size_t event_max;    //  Bytes of one event
    size_t begun;        //  Bytes at the very start that a byte order mark may hide
    bool after_cr;       //  A LF that comes next belongs to the line end before it
} sse_t;

//  event_max: bytes that one event may take in all.
void sse_init (sse_t *self, size_t event_max);
void sse_fini (sse_t *self);

//  Borrows the next bytes of the stream and calls on_event for each event that they complete.
//  STATUS_LIMIT where an event is larger than event_max: nothing can be read from the stream any more.
//  STATUS_CANCELLED where on_event said that it is enough.
status_t sse_feed (sse_t *self, span_t bytes, sse_event_fn *on_event, void *arg, error_t *error);

#endif
