//  engine - what a worker needs of the engine behind it
//
//  An adapter is one table of these functions (workers/ENGINE/); everything that adapters have in common is in the worker
//  (worker.h), which alone calls them.  Adding an engine means filling in the table.
//
//  One engine, one thread: the functions are called on the worker's, and the adapter reports on it through the watch: on
//  the engine and its blocks at any time, on a request only from callbacks of its own, never from inside start or cancel.
//  What either side borrows it borrows for the call; a request's tokens, id and sampling are there until its run is over.
//
//  The life of a request: start - on_progress and on_tokens, any number - on_end, exactly once, unless it is cancelled.
//  An engine cannot be stopped: it reports tokens as they come, and the worker keeps what nobody may have yet.

#ifndef WORKERS_ENGINE_H
#define WORKERS_ENGINE_H

#include "kv/namespace.h"
#include "model/bundle/bundle.h"
#include "runtime/actor.h"
#include "schemas/load.h"
#include "schemas/worker.h"

typedef struct engine engine_t;            //  The adapter's own
typedef struct engine_run engine_run_t;    //  One request in it, the adapter's own

//  What an engine is opened with.  Borrowed.
typedef struct {
    const void *options;    //  Of the adapter's own type
    const char *url;        //  Where the engine listens; empty where it needs none
    span_t model;           //  Name clients ask for; empty: as the engine calls it
    uint32_t block_size;    //  Tokens a block
} engine_setup_t;

typedef struct {
    span_t request;                //  Its id, for logs
    column_t tokens;               //  u32: the prompt, followed by output that is already there; at least 1
    uint32_t delivered;            //  How many of them are earlier output; less than all
    uint32_t max_tokens;           //  To produce now; at least 1, and the context has room for them
    const sampling_t *sampling;    //  How to draw
} engine_request_t;

//  Tokens in a row.
typedef struct {
    const uint32_t *tokens;    //  Ids
    const uint32_t *sizes;     //  Bytes of `text` that each of them brought; may be 0
    size_t count;              //  How many
    span_t text;               //  Their bytes; may end inside a character
} engine_tokens_t;

typedef struct {
    status_t status;               //  STATUS_OK, or why the request failed
    span_t detail;                 //  The stop string, or the sentence on the failure; may be empty
    finish_reason_t reason;        //  Where status is STATUS_OK
    uint32_t prompt_tokens;        //  As the engine counted
    uint32_t cached_tokens;        //  Of these, found in its cache
    uint32_t predicted_tokens;     //  Of these, that the adapter believed there
    uint32_t completion_tokens;    //  Generated now, earlier output not counted
} engine_end_t;

//  Whom the adapter tells.  `arg` is the watch's own, `request` what engine->start was given.
typedef struct {
    //  The engine can serve, and this is what it is; again after it came back as another.  Borrows the card.
    //  The worker puts in what only the configuration knows: model (where it is empty) and aliases.
    //  Returns the namespace in which the blocks are to be named; valid until the next on_ready.
    const namespace_t *(*on_ready) (void *arg, const model_card_t *card);
    //  The engine went away or came back without having changed.  why: a sentence; NULL where it is well.
    void (*on_health) (void *arg, const char *why);
    //  So many more tokens of its prompt were computed, in this time; none: there is life, but no measurement.
    void (*on_progress) (void *arg, void *request, uint32_t tokens, uint64_t took_ns);
    //  This request, and no other, may be cancelled before it returns.
    void (*on_tokens) (void *arg, void *request, const engine_tokens_t *tokens);
    //  The run is gone when this returns.
    void (*on_end) (void *arg, void *request, const engine_end_t *end);
    //  One more copy of these blocks is readable, each the child of the one before it; parent: SEQUENCE_ROOT at the root.
    void (*on_stored) (void *arg, hash128_t parent, const hash128_t *hashes, size_t count);
    //  One copy less of each; hashes: their first 64 bits.
    void (*on_removed) (void *arg, const uint64_t *hashes, size_t count);
    //  What `load` would say has changed.
    void (*on_load) (void *arg);
    void *arg;
} engine_watch_t;

//  An answer to render or tokenize.  reply: the render_reply or tokenize_reply, encoded; may be taken.  status: else why not.
typedef void (engine_answer_fn) (void *arg, status_t status, const char *why, buffer_t *reply);

typedef struct {
    const char *name;           //  "mock"
    const char *program;        //  What must run for it, as its people call it: "llama-server"; NULL: nothing
    const char *health_path;    //  Where its program answers 200 once it can serve, "/health"; NULL: nowhere
    bool renders;               //  render and tokenize are there
    bool prioritises;           //  Schedules by the envelope's priority

    //  Gives the engine, whether or not it can serve already; NULL where the set-up makes no sense.  The actor is used until
    //  the close, the watch is copied.
    engine_t *(*open) (actor_t *actor, const engine_watch_t *watch, const engine_setup_t *setup, error_t *error);

    //  Forgets every request and answer under way.
    void (*close) (engine_t *self);

    //  Gives the run; NULL where the engine will never do it.
    engine_run_t *(*start) (engine_t *self, const engine_request_t *request, void *arg, error_t *error);

    //  Nobody wants it any more: it ends now, without on_end.
    void (*cancel) (engine_t *self, engine_run_t *run);

    //  Fills in all but the rank.  Tokens that are expected in the cache are not to be computed.
    void (*load) (const engine_t *self, worker_load_t *load);

    //  A conversation (JSON, as render's message has it) to the prompt; text to ids.  keeper: of the bytes, taken; where it
    //  keeps nothing they are borrowed for the call.  Answers exactly once, perhaps before this returns, unless closed.
    void (*render) (engine_t *self, span_t conversation, keeper_t keeper, engine_answer_fn *done, void *arg);
    void (*tokenize) (engine_t *self, span_t text, keeper_t keeper, engine_answer_fn *done, void *arg);

    //  What the model brings, where the card says that there is something.  Borrowed until the next on_ready.  NULL: never.
    void (*files) (const engine_t *self, span_t files [BUNDLE_FILES]);
} engine_class_t;

#endif
