//  wire - what llama-server is told and what it says
//
//  Facts from the server's own documentation and from recordings of build b10434 (tests/data/engines):
//
//  * With `response_fields` the last chunk has only these, nested ones under their path ("timings/cache_n"); without, it
//    repeats the whole prompt as text.  A server that does not know the field sends the nested objects.
//  * Chunks with `prompt_progress` carry a token that is none.
//  * The native stream ends with a chunk that says `stop: true`, not with "[DONE]".
//  * What goes wrong in the middle comes as an event with `error`; before it, as an HTTP status with the same object.
//  * A seed of 4294967295 means a random one.

#ifndef WORKERS_LLAMACPP_WIRE_H
#define WORKERS_LLAMACPP_WIRE_H

#include "base/array.h"
#include "base/buffer.h"
#include "workers/engine.h"

//  What a chunk says.  Embedded; the arrays are kept from one reading to the next.
typedef struct {
    array_t tokens;            //  uint32_t
    array_t sizes;             //  uint32_t: bytes of text of each
    buffer_t text;             //  Their bytes
    bool has_progress;         //  It is about the prompt:
    uint64_t cached;           //  tokens reused,
    uint64_t processed;        //  tokens computed, reused ones included
    bool stop;                 //  It is the last one:
    finish_reason_t reason;    //  why,
    buffer_t stop_string;      //  the string that ended it,
    uint64_t prompt_tokens;    //  as counted by the engine,
    uint64_t predicted;        //  tokens generated,
    uint64_t in_slot;          //  tokens in the slot now,
    bool has_reused;           //  and it says how many were reused:
    uint64_t reused;           //  so many
    bool failed;               //  It is an error:
    error_t error;             //  this one
} wire_chunk_t;

//  What the server is.
typedef struct {
    buffer_t model;            //  Name
    buffer_t version;          //  Build
    buffer_t path;             //  Of its model file, as the server has it
    buffer_t chat_template;    //  That it uses; empty: none
    buffer_t bos;              //  Text of the token that begins a prompt; empty where it has none
    uint64_t slots;            //  Requests at once
    uint64_t context;          //  Tokens of one request
    uint64_t fingerprint;      //  Of model file, vocabulary and template
} wire_facts_t;

//  Appends the body of POST /completion.
void wire_write_completion (buffer_t *out, const engine_request_t *request, uint32_t slot);

//  Appends the body of POST /tokenize.
void wire_write_tokenize (buffer_t *out, span_t text, bool begin);

//  A chunk to read into, again and again.
void wire_chunk_init (wire_chunk_t *self);
void wire_chunk_fini (wire_chunk_t *self);

//  Reads the data of an event.  STATUS_INVALID where it is none of these.
status_t wire_read_chunk (wire_chunk_t *self, span_t data, error_t *error);

//  Reads the body of an HTTP error.  Returns what it comes to; never STATUS_OK.
status_t wire_read_error (int code, span_t body, error_t *error);

//  Reads {"prompt": "..."} and appends the text; {"tokens": [...]} and appends them as packed u32.
status_t wire_read_prompt (span_t body, buffer_t *out, error_t *error);
status_t wire_read_tokens (span_t body, buffer_t *out, error_t *error);

//  Frees what was read; the facts are then as new.
void wire_facts_fini (wire_facts_t *self);

//  Reads the answers of GET /props, then of GET /v1/models.
status_t wire_read_props (wire_facts_t *self, span_t body, error_t *error);
status_t wire_read_models (wire_facts_t *self, span_t body, error_t *error);

#endif
