//  llamacpp_private - what the files of the adapter share
//
//  llamacpp.c is the table, with load.  probe.c finds the server and what it is.  run.c is one completion.  questions.c
//  asks for prompts and tokens.  files.c reads what the model brings.

#ifndef WORKERS_LLAMACPP_LLAMACPP_PRIVATE_H
#define WORKERS_LLAMACPP_LLAMACPP_PRIVATE_H

#include "runtime/timer.h"
#include "workers/http_ask.h"
#include "workers/llamacpp/llamacpp.h"
#include "workers/llamacpp/slots.h"
#include "workers/llamacpp/wire.h"
#include "workers/sse.h"

#define LLAMACPP_HEALTH_PATH "/health"

typedef struct files_reading files_reading_t;
typedef void (files_done_fn) (engine_t *engine, bool has_files);

struct engine {
    actor_t *actor;                //  On whose thread
    engine_watch_t watch;          //  Whom to tell
    llamacpp_options_t options;    //  As given; the key is in `api_key`
    buffer_t url;                  //  Of the server
    buffer_t api_key;              //  Of the server
    buffer_t model;                //  Configured name; empty: none
    uint32_t block_size;           //  Tokens
    http_peer_t probes;            //  The server, asked how it is
    http_peer_t questions;         //  The same, asked for templates and tokens
    list_t asked;                  //  Questions that it has not answered
    actor_timer_t probe;           //  The next look at it
    files_reading_t *reading;      //  Its model file, in a job; NULL: no job is under way
    uint32_t failures;             //  Looks in a row that it did not stand
    bool ready;                    //  It serves, and this is known of it:
    wire_facts_t facts;            //  what it is,
    bool begins;                   //  whether it puts a token before a chat,
    buffer_t front;                //  the front of its model file as of the card; empty: it is not to be had,
    buffer_t chat_template;        //  the template as of the card,
    buffer_t habits;               //  what it does to prompts beside (BUNDLE_ENGINE), as of the card,
    slots_t *slots;                //  and what its slots hold
    list_t waiting;                //  engine_run_t without a slot, in order of arrival
    list_t running;                //  engine_run_t in a slot
    uint64_t computed_ns;          //  When it last said that it computed some of a prompt
    engine_run_t *telling;         //  Whose report is under way; NULL once it is gone
    wire_chunk_t chunk;            //  Scratch
};

struct engine_run {
    list_link_t link;            //  Waiting or running
    engine_t *engine;            //  In which
    engine_request_t request;    //  As given
    void *arg;                   //  The worker's
    uint32_t slot;               //  SLOT_NONE: it waits
    port_fetch_t *fetch;         //  The completion; NULL: it waits, or could not be started
    actor_timer_t refusal;       //  Then this ends it, later
    int code;                    //  HTTP status
    buffer_t complaint;          //  Body of an answer that is no stream
    sse_t sse;                   //  Events of the stream
    array_t tokens;              //  uint32_t: not yet told
    array_t sizes;               //  uint32_t: bytes of text of each
    buffer_t text;               //  Their bytes
    uint64_t started_ns;         //  When it got its slot
    uint64_t processed;          //  Tokens of the prompt computed
    uint64_t generated;          //  Tokens received
    size_t in_slot;              //  As the engine said at the end; SIZE_MAX: it did not
    bool stopped;                //  The server has said its last word
    bool done;                   //  Nothing more is to be read,
    engine_end_t end;            //  and this is how it ended
    error_t error;               //  Why it failed
    buffer_t stop_string;        //  Of the end
};

//  ---- run.c ---------------------------------------------------------------------------------------------------------

//  A run that waits for a slot.  The request's parts are borrowed until it is over.  Gives it.
engine_run_t *run_new (engine_t *engine, const engine_request_t *request, void *arg);

//  Takes it from the server and frees it, without a word to the worker.
void run_drop (engine_run_t *self);

//  Starts what waits while there are slots.
void run_start_waiting (engine_t *engine);

//  Fails every run.
void run_fail_all (engine_t *engine, status_t status, const char *why);

//  ---- questions.c ---------------------------------------------------------------------------------------------------

//  As the engine's class has them: render and tokenize.
void questions_render (engine_t *engine, span_t conversation, keeper_t keeper, engine_answer_fn *done, void *arg);
void questions_tokenize (engine_t *engine, span_t text, keeper_t keeper, engine_answer_fn *done, void *arg);

//  Once the server is not listened to any more: nobody is told.
void questions_drop (engine_t *engine);

//  ---- files.c -------------------------------------------------------------------------------------------------------

//  Reads what the model brings, and says whether it is to be had, perhaps before this returns.
void llamacpp_files_read (engine_t *engine, files_done_fn *done);

//  The engine is closed: nobody is told.
void llamacpp_files_drop (engine_t *engine);

//  What was read last.
void llamacpp_files_get (const engine_t *engine, span_t files [BUNDLE_FILES]);

//  ---- probe.c -------------------------------------------------------------------------------------------------------

//  Looks at once, and from then on at every interval; nothing where a look is under way.
void probe_now (engine_t *engine);

#endif
