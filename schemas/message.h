//  message - the one codec, driven by tables
//
//  schemas/*.toml says what is said; schemas/generate.py makes of it a C struct and a table of fields for each message, and
//  the functions here interpret the tables.  So there is one writer and one reader to get right and to fuzz, and a new
//  message is no new code.
//
//  On the wire a control message is a MessagePack map with short string keys: unknown keys are ignored, an absent optional
//  field has no key (nil is read as absent too), a missing required field or a key that comes twice is an error.  A hot
//  message is an array of its fields in order, nil for an absent one; it grows only at the end, so elements beyond the last
//  known field are ignored, and missing ones at the end are absent.  Lists of numbers are packed columns
//  (schemas/column.h).  A value out of the range of its type, text that is not UTF-8, anything longer than its `max`, a
//  float that is not finite: all are errors, and so are bytes behind the message.  An enum value we do not know is an error
//  in a required field; an optional field that has one is absent.
//
//  Optional lists have no has_ flag: absent and empty are the same.

#ifndef SCHEMAS_MESSAGE_H
#define SCHEMAS_MESSAGE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/hash.h"
#include "schemas/column.h"

typedef enum {
    MESSAGE_STRUCT,    //  A part of others, or the body of a frame
    MESSAGE_CALL,      //  A request with one reply
    MESSAGE_REPLY,     //  Its reply
    MESSAGE_STREAM,    //  A request with many items and an end
    MESSAGE_ITEM,      //  One of its items
    MESSAGE_END,       //  Its end
    MESSAGE_EVENT,     //  Published in a stream of its source
} message_kind_t;

typedef enum {
    FIELD_BOOL,       //  bool
    FIELD_U8,         //  uint8_t
    FIELD_U16,        //  uint16_t
    FIELD_U32,        //  uint32_t; list: column_t
    FIELD_U64,        //  uint64_t; list: column_t
    FIELD_I32,        //  int32_t
    FIELD_I64,        //  int64_t
    FIELD_F64,        //  double
    FIELD_HASH128,    //  hash128_t; list: column_t
    FIELD_ENUM,       //  The enum
    FIELD_STRING,     //  span_t of UTF-8; list: span_t * and its count
    FIELD_BIN,        //  span_t
    FIELD_STRUCT,     //  The struct by value; list: pointer and count
} message_field_kind_t;

typedef struct {
    const char *name;    //  Lower case
    uint32_t value;      //  On the wire
    const char *doc;     //  A sentence
} message_enum_value_t;

typedef struct {
    const char *name;                      //  Of the enum
    const message_enum_value_t *values;    //  In the order of the schema
    size_t value_count;                    //  How many
} message_enum_t;

typedef struct message_type message_type_t;

typedef struct {
    const char *name;                     //  Of the struct's member, and in JSON
    const char *key;                      //  In a control message
    message_field_kind_t kind;            //  Of the value, or of each element
    bool optional;                        //  May be absent
    bool list;                            //  Many of them
    size_t offset;                        //  Of the member
    size_t aside;                         //  Of has_NAME (bool) or NAME_count (size_t), where there is one
    size_t max;                           //  Elements of a list; else bytes of a string or bin
    size_t item_max;                      //  Bytes of each string of a list
    const message_enum_t *enumeration;    //  For FIELD_ENUM
    const message_type_t *structure;      //  For FIELD_STRUCT
    const char *doc;                      //  A sentence
} message_field_t;

struct message_type {
    const char *name;                 //  Unique among all messages; the method name of calls and streams
    const char *topic;                //  The schema file
    message_kind_t kind;              //  What it is for
    bool hot;                         //  An array on the wire, not a map
    uint16_t stream;                  //  Event: number of the stream; else 0
    uint16_t id;                      //  Event: its kind number in the stream; else 0
    size_t size;                      //  Bytes of the C struct
    const message_field_t *fields;    //  In the order of the schema
    size_t field_count;               //  How many
    const message_type_t *reply;      //  Call: its reply
    const message_type_t *item;       //  Stream: its items
    const message_type_t *end;        //  Stream: its end
    const char *doc;                  //  A sentence or two
};

//  Appends the message.  It writes what it is given; what comes from outside (a header, a file) and may break a bound is
//  asked about first with message_check.
void message_encode (const message_type_t *type, const void *message, buffer_t *out);

//  STATUS_INVALID with a sentence where a reader would refuse the message: text that is no UTF-8, something over its max,
//  a number that is not finite, an enum value that is none.
status_t message_check (const message_type_t *type, const void *message, error_t *error);

//  Reads exactly one message.  Spans and columns in `out` borrow `bytes`; lists of structs and strings lie in the arena
//  (which may be NULL for a message without any).  On failure `out` holds nothing to rely on and nothing to free.
//  STATUS_INVALID for malformed bytes, STATUS_LIMIT where the arena is too small.
status_t message_decode (const message_type_t *type, span_t bytes, arena_t *arena, void *out, error_t *error);

//  Appends the message as one JSON object: fields by name, enums by name, hashes in hex, a bin as text where it is
//  printable UTF-8 and else as "hex:00ff".
void message_to_json (const message_type_t *type, const void *message, buffer_t *out);

//  Reads such an object.  Unlike message_decode it is for what people type: an unknown field is an error, so is a bound that is
//  broken.  Everything outside the struct lies in the arena, nothing borrows `json`.  STATUS_INVALID, STATUS_LIMIT.
status_t message_from_json (const message_type_t *type, span_t json, arena_t *arena, void *out, error_t *error);

//  The name of an enum value, "unknown" for any other number.
const char *message_enum_name (const message_enum_t *self, uint32_t value);

//  Whether a number is one of its values.
bool message_enum_has (const message_enum_t *self, uint32_t value);

//  False where no value has this name.
bool message_enum_find (const message_enum_t *self, span_t name, uint32_t *value);

//  Every message, in the order of the schema files.
size_t message_count (void);
const message_type_t *message_at (size_t position);

//  NULL where there is none: by name; by method (calls and streams only); by stream and kind number (events only).
const message_type_t *message_find (span_t name);
const message_type_t *message_find_call (span_t method);
const message_type_t *message_find_event (uint16_t stream, uint16_t id);

//  "kv", ...; "unknown" for a number that is no stream.
const char *stream_name (uint16_t stream);

//  The number of a stream (STREAM_KV, ...: schemas/event.h); 0 where no stream has this name.
uint16_t stream_find (span_t name);

//  A hash over everything in the schemas that is seen on the wire: equal schemas, equal hash, in every language.
uint64_t schema_hash (void);

#endif
