//  Server-sent events: whatever the bytes, cut in two they give the same events as whole.

#include "tests/fuzz/fuzz.h"

#include "base/bug.h"
#include "workers/sse.h"

static bool
s_write_event (void *arg, span_t type, span_t data)
{
    buffer_append (arg, type);
    buffer_append_byte (arg, '|');
    buffer_append (arg, data);
    buffer_append_byte (arg, '\n');
    return true;
}

static void
s_read (span_t stream, size_t cut, buffer_t *events)
{
    sse_t sse;
    sse_init (&sse, 4096);
    if (sse_feed (&sse, span_slice (stream, 0, cut), s_write_event, events, NULL) == STATUS_OK)
        sse_feed (&sse, span_slice (stream, cut, SIZE_MAX), s_write_event, events, NULL);
    sse_fini (&sse);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096)
        return 0;
    span_t stream = span_of (data + 1, size - 1);
    buffer_t whole = { 0 };
    buffer_t split = { 0 };
    s_read (stream, 0, &whole);
    s_read (stream, data [0] % size, &split);
    BUG_ON (!span_equal (buffer_span (&whole), buffer_span (&split)));
    buffer_fini (&whole);
    buffer_fini (&split);
    return 0;
}
