//  encoder - from a conversation to the tokens of a prompt, and back
//
//  A table of functions with an implementation for each way a model card names: `bytes` (a token is a byte, rendered
//  here, in a job where that takes long; what the mock engine serves) and `engine` (rendered and tokenised by the engine
//  behind a worker of the model).  An encoding is embedded in what it belongs to and completes exactly once.

#ifndef ACTORS_FRONTEND_ENCODER_H
#define ACTORS_FRONTEND_ENCODER_H

#include "actors/frontend/chat_request.h"
#include "runtime/call.h"

typedef struct encoder encoder_t;
typedef struct encoding encoding_t;

//  error: NULL where the tokens are there.  state: the actor's.
typedef void (encoding_done_fn) (void *state, void *arg, const api_error_t *error);

struct encoding {
    actor_t *actor;               //  Who encodes
    const encoder_t *encoder;     //  How
    call_t call;                  //  To the worker that helps
    char worker [ADDRESS_MAX];    //  Its address
    span_t model;                 //  Name of the model, borrowed
    array_t *tokens;              //  uint32_t: where they go; borrowed
    encoding_done_fn *done;       //  Called once
    void *arg;                    //  For done
};

struct encoder {
    const char *name;    //  As model_card.tokenizing
    //  Made here: how many tokens the prompt has, and they themselves, as many.  NULL: only a worker can.
    size_t (*count) (const chat_request_t *request);
    void (*fill) (const chat_request_t *request, uint32_t *tokens);
    //  Begins to have a worker make them.  NULL: they are made here.  conversation: of chat_request_render.
    void (*start) (encoding_t *self, span_t conversation);
    void (*text) (column_t tokens, buffer_t *out);    //  Their bytes; NULL: cannot say
};

extern const encoder_t encoder_bytes;
extern const encoder_t encoder_engine;

//  NULL where nobody tokenises like this.
const encoder_t *encoder_find (span_t tokenizing);

//  For an encoder with a start: appends the prompt's tokens to encoding->tokens, now or later; then done is called, perhaps
//  before this returns.  The caller has filled actor, encoder, worker, model, tokens, done and arg.  Borrows the conversation
//  for the call.
void encoding_start (encoding_t *self, span_t conversation);

//  Nobody wants the tokens any more: done is not called.  Fine on one that is not under way.
void encoding_drop (encoding_t *self);

//  For implementations: completes it.
void encoding_complete (encoding_t *self, const api_error_t *error);

#endif
