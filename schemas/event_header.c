#include "schemas/event_header.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "schemas/message.h"

static uint8_t *
s_put (uint8_t *at, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        at [i] = (uint8_t)(value >> (8 * (width - 1 - i)));
    return at + width;
}

static uint64_t
s_get (const uint8_t *at)
{
    return (uint64_t)at [0] << 56 | (uint64_t)at [1] << 48 | (uint64_t)at [2] << 40 | (uint64_t)at [3] << 32 |
           (uint64_t)at [4] << 24 | (uint64_t)at [5] << 16 | (uint64_t)at [6] << 8 | at [7];
}

void
event_header_encode (const event_header_t *self, uint8_t bytes [EVENT_HEADER_SIZE])
{
    uint8_t *at = s_put (bytes, self->version, 1);
    at = s_put (at, self->flags, 1);
    at = s_put (at, self->stream, 2);
    at = s_put (at, 0, 4);
    at = s_put (at, self->source, 8);
    at = s_put (at, self->incarnation, 8);
    at = s_put (at, self->sequence, 8);
    s_put (at, self->wall_ns, 8);
}

status_t
event_header_decode (event_header_t *self, span_t bytes, error_t *error)
{
    if (bytes.size != EVENT_HEADER_SIZE)
        return error_set (
            error, STATUS_INVALID, "an event header has %d bytes, not %zu", EVENT_HEADER_SIZE, bytes.size);
    const uint8_t *at = bytes.data;
    if (*at != EVENT_VERSION)
        return error_set (error, STATUS_UNSUPPORTED, "event version %u is not %d", *at, EVENT_VERSION);
    self->version = at [0];
    self->flags = at [1];
    self->stream = (uint16_t)(at [2] << 8 | at [3]);
    self->source = s_get (at + 8);
    self->incarnation = s_get (at + 16);
    self->sequence = s_get (at + 24);
    self->wall_ns = s_get (at + 32);
    if (self->sequence == 0 || self->sequence > EVENT_SEQUENCE_MAX)
        return error_set (error, STATUS_INVALID, "a batch has a number from 1 to %" PRIu64 ", not %" PRIu64,
            EVENT_SEQUENCE_MAX, self->sequence);
    return STATUS_OK;
}

uint64_t
event_source (span_t address)
{
    return hash_bytes (address, 0);
}

span_t
event_key (uint64_t source, uint16_t stream, uint8_t bytes [EVENT_KEY_SIZE])
{
    memcpy (bytes, &source, sizeof source);
    memcpy (bytes + sizeof source, &stream, sizeof stream);
    return span_of (bytes, EVENT_KEY_SIZE);
}

void
event_topic_append (buffer_t *out, uint16_t stream, span_t address)
{
    buffer_append_string (out, stream_name (stream));
    buffer_append_byte (out, '.');
    buffer_append (out, address);
    buffer_append_byte (out, '.');
}

bool
event_topic_is (span_t topic, uint16_t stream, span_t address)
{
    span_t name = span_from_string (stream_name (stream));
    return topic.size == name.size + address.size + 2 && topic.data [name.size] == '.' &&
           topic.data [topic.size - 1] == '.' && span_starts_with (topic, name) &&
           span_equal (span_slice (topic, name.size + 1, address.size), address);
}

bool
event_topic_parse (span_t topic, uint16_t *stream, span_t *address)
{
    size_t dot = span_find_byte (topic, '.');
    if (topic.size < dot + 3 || topic.data [topic.size - 1] != '.')
        return false;
    uint16_t number = stream_find (span_slice (topic, 0, dot));
    if (number == 0)
        return false;
    *stream = number;
    *address = span_slice (topic, dot + 1, topic.size - dot - 2);
    return true;
}
