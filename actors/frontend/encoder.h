//  encoder - from a conversation to the tokens of a prompt, and back
//
//  A table of functions with an implementation for each way a model card names: `bytes` (a token is a byte, rendered
//  here, in a job where that takes long; what the mock engine serves) and `engine` (rendered and tokenised by the engine
//  behind a worker of the model).  An encoding is embedded in what it belongs to and completes exactly once.
//
//  A conversation may be as large as a message, and so may its prompt and what is sent for either: whatever copies that much
//  is a job's.

#ifndef ACTORS_FRONTEND_ENCODER_H
#define ACTORS_FRONTEND_ENCODER_H

#include "actors/frontend/chat_request.h"
#include "runtime/call.h"

typedef struct encoder encoder_t;
typedef struct encoding encoding_t;
typedef struct encoding_work encoding_work_t;

//  error: NULL where the tokens are there.  state: the actor's.
typedef void (encoding_done_fn) (void *state, void *arg, const api_error_t *error);

struct encoding {
    actor_t *actor;               //  Who encodes
    const encoder_t *encoder;     //  How
    call_t call;                  //  To the worker that helps
    encoding_work_t *work;        //  What a job does with its answer; NULL: none is under way
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
    //  Where a worker makes them, what it is asked, from a conversation (of chat_request_render); a job may call this.  NULL:
    //  they are made here.
    void (*write) (span_t model, span_t conversation, buffer_t *question);
    //  Begins to have a worker make them.  question: taken.
    void (*start) (encoding_t *self, buffer_t *question);
    void (*drop) (encoding_t *self);                  //  What it has under way
    void (*text) (column_t tokens, buffer_t *out);    //  Their bytes; NULL: cannot say
};

extern const encoder_t encoder_bytes;
extern const encoder_t encoder_engine;

//  NULL where nobody tokenises like this.
const encoder_t *encoder_find (span_t tokenizing);

//  For an encoder with a start: puts the prompt's tokens into encoding->tokens, which is empty, later; then done is called,
//  not before this returns.  The caller has filled actor, encoder, worker, model, tokens, done and arg.  question: what the
//  encoder's write has written; taken.
void encoding_start (encoding_t *self, buffer_t *question);

//  Nobody wants the tokens any more: done is not called.  Fine on one that is not under way.
void encoding_drop (encoding_t *self);

//  For implementations: completes it.
void encoding_complete (encoding_t *self, const api_error_t *error);

#endif
