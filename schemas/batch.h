//  batch - the payload of an event message
//
//  One MessagePack array of alternating kind number and event, in the order they happened.  A batch is of one stream of one
//  source.  A reader steps over kinds it does not know, so a new kind disturbs nobody.

#ifndef SCHEMAS_BATCH_H
#define SCHEMAS_BATCH_H

#include "schemas/message.h"

typedef struct {
    buffer_t bytes;    //  The array, its head filled in by batch_span
    size_t count;      //  Events in it
} batch_t;

//  Empty.  batch_fini frees its memory.
void batch_init (batch_t *self);
void batch_fini (batch_t *self);

//  Empties it and keeps the memory.
void batch_clear (batch_t *self);

//  Appends an event.  type: of kind MESSAGE_EVENT, and all of one batch of the same stream.
void batch_append (batch_t *self, const message_type_t *type, const void *event);

//  Bytes it would have as a payload now.
size_t batch_size (const batch_t *self);

//  The payload.  Borrowed: valid until the next append or clear.
span_t batch_span (batch_t *self);

//  Reads a payload:
//
//      batch_reader_init (&reader, STREAM_KV, payload);
//      while (batch_reader_next (&reader, &type, &bytes, error))
//          if (type)
//              message_decode (type, bytes, ...);
//      if (reader.status)
//          ... malformed, what came before stands
typedef struct {
    span_t left;        //  What has not been read
    uint64_t count;     //  Events not read
    uint16_t stream;    //  Whose kinds they are
    bool begun;         //  The head of the array is read
    status_t status;    //  STATUS_OK, or STATUS_INVALID once something was malformed
} batch_reader_t;

//  At the front of a payload, borrowed until the last event was read.
void batch_reader_init (batch_reader_t *self, uint16_t stream, span_t payload);

//  The next event: its type, NULL for an unknown kind, and its bytes, borrowed from the payload and not checked beyond
//  their end.  False at the end and where the payload is malformed: then `status` and `error` say so.
bool batch_reader_next (batch_reader_t *self, const message_type_t **type, span_t *bytes, error_t *error);

#endif
