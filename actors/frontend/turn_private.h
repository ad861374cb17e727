//  turn_private - what the stages of a turn share: its state, and the ways from one to the next
//
//      turn_read.c       reads the request
//      turn.c            begins, ends
//      turn_work.c       does what takes long in a job
//      turn_encode.c     makes the tokens of the prompt
//      turn_route.c      asks a router who serves it
//      turn_generate.c   takes the worker's tokens
//      turn_move.c       goes on elsewhere, when a worker failed

#ifndef ACTORS_FRONTEND_TURN_PRIVATE_H
#define ACTORS_FRONTEND_TURN_PRIVATE_H

#include "actors/frontend/answer.h"
#include "actors/frontend/encoder.h"
#include "actors/frontend/local_model.h"
#include "actors/frontend/turn.h"
#include "kv/sequence.h"
#include "runtime/stream.h"

enum { TURN_ID_SIZE = 128, TRACE_SIZE = 55, TURN_FAILURES_MAX = 64 };

//  A worker that failed a request.  Restarted, it is another one.
typedef struct {
    char address [ADDRESS_MAX];    //  Of the worker
    uint64_t incarnation;          //  Which one
    bool died;                     //  It or its engine went, and is restarted where somebody looks after it
} turn_failure_t;

//  What is read of a body, by a job where it is large.
typedef struct turn_reading turn_reading_t;

typedef void (turn_step_fn) (turn_t *self);

//  What each token touches stands first.
struct turn {
    frontend_t *frontend;       //  Whose; NULL: it has ended before a job of this turn
    const char *stopping;       //  The answer is complete for this reason; the worker may still say how it was
    array_t tokens;             //  uint32_t: the prompt, then what is generated
    uint32_t prompt_tokens;     //  How many are prompt
    uint32_t max_tokens;        //  Generated at most
    uint64_t first_token_ns;    //  When it came; 0: none yet
    uint64_t last_token_ns;     //  When the last ones came
    bool began_there;           //  The present worker sent a token
    bool sends_text;            //  Items of the model carry bytes
    counts_model_t metrics;     //  Of the model
    answer_t answer;            //  The client's side

    list_link_t in_list;                //  Of turns, or of those that are over
    uint64_t arrived_ns;                //  When it was new
    char request_id [TURN_ID_SIZE];     //  Unique in the fleet
    char client_id [CLIENT_ID_SIZE];    //  x-request-id of the client, or ours
    char completion_id [64];            //  "chatcmpl-..."
    char trace [TRACE_SIZE + 1];        //  W3C traceparent of the client; empty: none
    uint64_t memory;                    //  Charged to the actor's budget
    bool over;                          //  It has ended; it is freed when nothing works on it
    turn_step_fn *work;                 //  What a job does for it; NULL: no job is under way
    turn_step_fn *after_work;           //  How it goes on then
    turn_reading_t *reading;            //  Until it is read
    turn_read_fn *read;                 //  Told then
    const http_request_t *http;         //  For it; borrowed

    chat_request_t request;    //  What was asked
    arena_t hint_arena;        //  Texts of the hints
    hints_t hints;             //  What was said about the future
    envelope_t envelope;       //  The same, for router and worker
    api_error_t *error;        //  What is wrong with the request, once it is read; NULL: nothing

    span_t model_name;           //  In the request's arena; empty until the model is known
    uint64_t fingerprint;        //  Of the model
    namespace_t ns;              //  Of its blocks
    uint32_t context;            //  Tokens that fit; 0: not known
    const encoder_t *encoder;    //  How its prompts become tokens

    json_t *variables;        //  For the template, where the prompt is made here
    json_t *tools;            //  For reading the answer
    uint32_t calls_before;    //  Tool calls in the conversation
    local_work_t *local;      //  Making it; NULL: nobody is
    bool local_failed;        //  It could not be made here
    buffer_t question;        //  What a worker is asked: to make tokens of it, or to go on from many
    encoding_t *encoding;     //  Making tokens, or could not; NULL: nobody was asked
    unsigned encodings;       //  Workers that could not
    sequence_t *chain;        //  Hashes of the tokens

    call_t route;                   //  To the router
    char router [ADDRESS_MAX];      //  Who was asked last; empty: nobody to tell
    uint64_t router_incarnation;    //  Of that one
    bool decided;                   //  Its decision was heard
    unsigned route_attempts;        //  Routers asked in vain, since one answered
    actor_timer_t wait;             //  Before asking again; for a worker to end
    uint64_t routed_ns;             //  When the first decision came; 0: none yet
    uint32_t predicted_tokens;      //  Of the prompt, expected in the cache
    array_t failures;               //  turn_failure_t: workers that failed it

    char worker [ADDRESS_MAX];    //  Where it runs, or ran last
    uint64_t incarnation;         //  Of that worker
    uint16_t rank;                //  There
    stream_t generation;          //  From there
    uint32_t cached_tokens;       //  Of the prompt, found in the engine's cache
    uint32_t found_tokens;        //  Of what its worker was sent, found there
    bool found_said;              //  It has said so
};

//  ---- Reading and working -------------------------------------------------------------------------------------------

//  Reads what the headers say.
void turn_read_head (turn_t *self, const http_request_t *http);

//  Reads the body and then calls `read`, perhaps before this returns.  A large body is taken from the client.
void turn_read (turn_t *self, client_t *client);
void turn_reading_destroy (turn_reading_t **self_p);

//  Gives a body that was taken back to the client's exchange, for whoever reads the request next.
void turn_return_body (turn_t *self, port_exchange_t *exchange);

//  Gives up the tokens that a worker is making.  Fine where nobody is.
void turn_drop_encoding (turn_t *self);

//  Bytes or tokens that are worked on at once: a millisecond.
enum { TURN_WORK_MAX = 128 << 10 };

//  Calls `work`, in a job where `size` bytes or tokens make it long, then `then`.  Work touches nothing but what is read,
//  question, tokens and chain, and nobody else touches these meanwhile.
void turn_work (turn_t *self, size_t size, turn_step_fn *work, turn_step_fn *then);

//  Frees it; where a job is under way, that does it.
void turn_free (turn_t *self);

//  Tokens generated so far.
uint32_t turn_generated (const turn_t *self);

//  ---- Stages: each leads to the next, or to an end ------------------------------------------------------------------

void turn_encode (turn_t *self);
void turn_route (turn_t *self);
void turn_route_later (turn_t *self, uint64_t delay_ns);

//  Hashes the tokens that are not hashed yet.  Work.
void turn_extend_chain (turn_t *self);

void turn_generate (turn_t *self);

//  The worker failed: goes on at another one, from the tokens that are there, or says why it does not.
void turn_move_on (turn_t *self, status_t status, const char *why);

//  A worker could not make the tokens: another one is to, or the turn fails.
void turn_encode_elsewhere (turn_t *self, const api_error_t *why);

//  ---- Ends ----------------------------------------------------------------------------------------------------------

//  The answer is complete, for the reason in `stopping`.
void turn_complete (turn_t *self);

void turn_fail (turn_t *self, const api_error_t *error);

//  As "who: why."
void turn_fail_from (turn_t *self, api_error_kind_t kind, const char *who, const char *why);

//  ---- On the way ----------------------------------------------------------------------------------------------------

//  It does not run where it was sent, or may have been sent by a decision that nobody heard: its router is told, once.
void turn_leave_worker (turn_t *self);

void turn_tell_router (turn_t *self, bool finished);

//  The header with the receipts, as they are now.
void turn_set_receipt (turn_t *self);

//  For the answer: the client has read.
void turn_on_writable (void *arg);

#endif
