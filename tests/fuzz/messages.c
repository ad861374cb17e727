//  Feeds bytes to every reader of schemas/.  An input is a name, a NUL, and what the reader of that name gets: a message,
//  or the batch of a stream.  A name that is none chooses a message by its hash, so that no input is in vain.
//
//  What is read is written again, as MessagePack and as JSON, and both must read back to the same: writers and readers agree
//  on whatever gets in.

#include <stdlib.h>

#include "base/memory.h"
#include "schemas/batch.h"
#include "schemas/event_header.h"
#include "schemas/message.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_LIMIT = 1 << 22 };

static void
s_stop_unless (bool condition)
{
    if (!condition)
        abort ();
}

static void
s_write_again (const message_type_t *type, span_t bytes, const void *message)
{
    buffer_t again = { 0 };
    message_encode (type, message, &again);
    s_stop_unless (span_equal (buffer_span (&again), bytes));
    buffer_fini (&again);
}

static void
s_feed_message (const message_type_t *type, span_t bytes)
{
    error_t error;
    arena_t arena;
    arena_init (&arena, ARENA_LIMIT);
    void *message = memory_new (type->size);
    if (message_decode (type, bytes, &arena, message, &error) == STATUS_OK) {
        buffer_t written = { 0 }, json = { 0 };
        s_stop_unless (message_check (type, message, &error) == STATUS_OK);
        message_encode (type, message, &written);
        message_to_json (type, message, &json);

        s_stop_unless (message_decode (type, buffer_span (&written), &arena, message, &error) == STATUS_OK);
        s_write_again (type, buffer_span (&written), message);
        status_t status = message_from_json (type, buffer_span (&json), &arena, message, &error);
        s_stop_unless (status == STATUS_OK || status == STATUS_LIMIT);
        if (status == STATUS_OK)
            s_write_again (type, buffer_span (&written), message);
        buffer_fini (&written);
        buffer_fini (&json);
    }
    memory_free (message);
    arena_fini (&arena);
}

static void
s_feed_batch (uint16_t stream, span_t payload)
{
    error_t error;
    batch_reader_t reader;
    const message_type_t *type;
    span_t bytes;
    batch_reader_init (&reader, stream, payload);
    while (batch_reader_next (&reader, &type, &bytes, &error))
        if (type)
            s_feed_message (type, bytes);
}

static void
s_feed_frames (span_t bytes)
{
    event_header_t header;
    error_t error;
    uint16_t stream;
    span_t address;
    event_header_decode (&header, bytes, &error);
    event_topic_parse (bytes, &stream, &address);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    span_t input = span_of (data, size);
    size_t end = span_find_byte (input, '\0');
    span_t name = span_slice (input, 0, end);
    span_t bytes = span_slice (input, end + 1, size);
    uint16_t stream = stream_find (name);
    if (stream)
        s_feed_batch (stream, bytes);
    else {
        const message_type_t *type = message_find (name);
        s_feed_message (type ? type : message_at (hash_bytes (name, 0) % message_count ()), bytes);
        s_feed_frames (bytes);
    }
    return 0;
}
