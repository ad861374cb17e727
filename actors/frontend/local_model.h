//  local_model - a model whose prompts are made here
//
//  What the model brings (model/bundle) is fetched from one of its workers, by its hash.  Then a prompt is rendered and
//  tokenised here, and a memo makes a turn cost what is new in it.
//
//  The engine's word counts.  Before the first prompt is made here, and of one prompt in so many afterwards, an engine's own
//  template and tokenizer are asked for theirs; where the tokens differ, the engines make all prompts of the model from
//  then on, and log, metrics and status say so.  A conversation that cannot be rendered here is the engine's, too.
//
//  Tokenizer and memo have one owner at a time: works of a model are done one after the other, long ones in jobs.

#ifndef ACTORS_FRONTEND_LOCAL_MODEL_H
#define ACTORS_FRONTEND_LOCAL_MODEL_H

#include "actors/frontend/chat_request.h"
#include "actors/frontend/counts.h"
#include "actors/frontend/models.h"
#include "kv/sequence.h"
#include "model/parser/format.h"

typedef struct local_model local_model_t;
typedef struct local_work local_work_t;

typedef struct {
    actor_t *actor;            //  On whose thread
    const models_t *models;    //  Where workers are found; borrowed
    counts_t *counts;          //  Where it is counted; borrowed
    uint64_t memo_bytes;       //  Of what is remembered, each model
    uint64_t check_every;      //  Prompts to one that is checked; 0: none after the first
} local_setup_t;

//  What became of a prompt.
typedef struct {
    status_t status;           //  STATUS_OK, or the engine is to make it,
    const error_t *error;      //  and why
    array_t *tokens;           //  OK: uint32_t; the callee takes what it wants of it
    sequence_t **chain;        //  OK: their hashes; NULL it to keep it
    parser_choice_t format;    //  OK: how the model answers
    span_t prefill;            //  OK: parser_choice_prefill of the prompt
} local_result_t;

//  Called once, perhaps before local_model_encode returns, unless the work is dropped.
typedef void (local_done_fn) (void *arg, const local_result_t *result);

//  Begins to fetch the files of a model that has some.  Gives it.
local_model_t *local_model_new (const local_setup_t *setup, const model_t *model);

//  Whoever waits for a work is told that the engine is to do it.
void local_model_destroy (local_model_t **self_p);

//  Whether there is still this model, with these files.
bool local_model_is_current (const local_model_t *self);

//  Whether prompts of this conversation are made here now.  The end of an answer that is begun is the engine's to read.
bool local_model_takes (const local_model_t *self, const chat_request_t *request);

//  Makes the tokens of a prompt.  Takes the context (chat_request_context), of about `size` bytes.  *work: what to drop, NULL
//  once it is done; borrowed until then.
void local_model_encode (
    local_model_t *self, json_t *context, size_t size, local_done_fn *done, void *arg, local_work_t **work);

//  Nobody wants it any more: done is not called.  Fine where it is NULL; nulls it.
void local_work_drop (local_work_t **work);

//  A prompt was made here: where its turn has come, it is compared with what the engine makes of it.  Borrows both.
void local_model_made (local_model_t *self, const chat_request_t *request, const array_t *tokens);

//  Appends "prompts of NAME are made here", or by whom and why.
void local_model_describe (const local_model_t *self, buffer_t *out);

//  Its own counts into the metrics.
void local_model_measure (local_model_t *self);

#endif
