//  event_header - the frames of an event message besides its payload
//
//  An event message is [topic][header][payload].  The topic is "<stream>.<address>." with a dot at the end, so that no
//  prefix of it matches a stranger: subscribe to "kv." or to "kv.worker/a.".  The header has 40 bytes, big-endian, the same
//  in every version: version u8, flags u8, stream u16, reserved u32, source u64, incarnation u64, sequence u64, wall ns
//  u64.

#ifndef SCHEMAS_EVENT_HEADER_H
#define SCHEMAS_EVENT_HEADER_H

#include "base/buffer.h"
#include "base/error.h"

enum { EVENT_HEADER_SIZE = 40, EVENT_VERSION = 1, EVENT_KEY_SIZE = 10 };

//  The highest number of a batch: one each microsecond for 285 years, and exact where numbers are doubles.
#define EVENT_SEQUENCE_MAX ((UINT64_C (1) << 53) - 1)

typedef struct {
    uint8_t version;         //  EVENT_VERSION
    uint8_t flags;           //  None yet; readers ignore what they do not know
    uint16_t stream;         //  STREAM_KV, ...
    uint64_t source;         //  event_source of the address
    uint64_t incarnation;    //  Of the source
    uint64_t sequence;       //  From 1 to EVENT_SEQUENCE_MAX, each stream of a source apart
    uint64_t wall_ns;        //  When it was published, for people; no logic reads it
} event_header_t;

//  As the second frame of an event.
void event_header_encode (const event_header_t *self, uint8_t bytes [EVENT_HEADER_SIZE]);

//  STATUS_INVALID where it is not 40 bytes or its number is none, STATUS_UNSUPPORTED for another version.
status_t event_header_decode (event_header_t *self, span_t bytes, error_t *error);

//  The number that stands for an address: its XXH3-64.
uint64_t event_source (span_t address);

//  The key of one stream of one source in a map.  Lies in `bytes`.
span_t event_key (uint64_t source, uint16_t stream, uint8_t bytes [EVENT_KEY_SIZE]);

//  Appends "<stream>.<address>.".
void event_topic_append (buffer_t *out, uint16_t stream, span_t address);

//  Whether a topic is "<stream>.<address>.".
bool event_topic_is (span_t topic, uint16_t stream, span_t address);

//  Takes a topic apart; the address is borrowed from it.  False where it is none, or of a stream we do not know.
bool event_topic_parse (span_t topic, uint16_t *stream, span_t *address);

#endif
