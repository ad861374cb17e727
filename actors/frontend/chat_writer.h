//  chat_writer - the response to a chat completion, whole or in pieces
//
//  Writes OpenAI's chat.completion object, or the same as server-sent events: a chunk with the role, chunks with text, one
//  with the finish reason, one that counts where it was asked for, [DONE].  All chunks carry the same id, time and model.
//  What does not change from chunk to chunk is written once and copied.

#ifndef ACTORS_FRONTEND_CHAT_WRITER_H
#define ACTORS_FRONTEND_CHAT_WRITER_H

#include "actors/frontend/api_error.h"

typedef struct {
    uint32_t prompt;        //  Tokens of the prompt, cached ones included
    uint32_t cached;        //  Of these, found in the engine's cache
    uint32_t completion;    //  Generated
} usage_t;

typedef struct {
    span_t id;               //  "chatcmpl-..."
    span_t model;            //  As asked for
    uint64_t created_s;      //  Wall-clock seconds
    uint64_t fingerprint;    //  Of the model card
    bool include_usage;      //  Chunks say "usage":null until the one that counts
} chat_identity_t;

typedef struct {
    uint32_t index;    //  In this answer
    span_t id;         //  Of the call
    span_t name;       //  Of the function
} chat_call_t;

//  A whole answer.
typedef struct {
    span_t text;         //  For the user
    span_t reasoning;    //  Thoughts; empty: none
    span_t calls;        //  Calls, parted by commas; empty: none
} chat_said_t;

typedef struct {
    buffer_t chunk;        //  A chunk up to its delta, whose first member comes next
    size_t chunk_start;    //  Of these, bytes before the choice
    span_t delta_end;      //  A chunk behind the delta's members, where nothing is finished
    span_t tail;           //  A chunk behind its choices
    buffer_t head;         //  Members that every object begins with
} chat_writer_t;

//  Borrows the identity for the call.
void chat_writer_init (chat_writer_t *self, const chat_identity_t *identity);
void chat_writer_fini (chat_writer_t *self);

//  A piece is coming: brings nearer what is copied.
void chat_writer_expect (const chat_writer_t *self);

//  Append one event each.  text: UTF-8.
void chat_write_role (const chat_writer_t *self, buffer_t *out);
void chat_write_text (const chat_writer_t *self, span_t text, buffer_t *out);
void chat_write_reasoning (const chat_writer_t *self, span_t text, buffer_t *out);
void chat_write_finish (const chat_writer_t *self, const char *reason, buffer_t *out);
void chat_write_usage (const chat_writer_t *self, const usage_t *usage, buffer_t *out);
void chat_write_done (buffer_t *out);

//  A tool call: it begins, its arguments come in pieces.
void chat_write_call (const chat_writer_t *self, const chat_call_t *call, buffer_t *out);
void chat_write_arguments (const chat_writer_t *self, uint32_t index, span_t json, buffer_t *out);

//  The same in a whole response: appended to the calls of chat_said_t; between the two the arguments, escaped.
void chat_begin_call (const chat_call_t *call, buffer_t *calls);
void chat_end_call (buffer_t *calls);

//  Appends the event that says that the rest is missing.  Nothing may follow it.
void chat_write_error (const api_error_t *error, buffer_t *out);

//  Appends a comment, which clients skip.
void chat_write_comment (span_t text, buffer_t *out);

//  Appends the whole response as one object.
void chat_write_completion (
    const chat_writer_t *self, const chat_said_t *said, const char *reason, const usage_t *usage, buffer_t *out);

#endif
