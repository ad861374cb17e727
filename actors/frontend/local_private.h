//  local_private - what the files of local_model.h share
//
//      local_model.c     fetches and loads
//      local_work.c      renders and tokenises, one work at a time
//      local_check.c     compares with the engine

#ifndef ACTORS_FRONTEND_LOCAL_PRIVATE_H
#define ACTORS_FRONTEND_LOCAL_PRIVATE_H

#include "actors/frontend/encoder.h"
#include "actors/frontend/local_model.h"
#include "model/bundle/bundle.h"
#include "model/memo/memo.h"
#include "runtime/stream.h"
#include "runtime/timer.h"

typedef enum {
    LOCAL_FETCHING,    //  Its files
    LOCAL_LOADING,     //  In a job
    LOCAL_CHECKING,    //  Before the first prompt
    LOCAL_TRUSTED,     //  Prompts are made here
    LOCAL_REFUSED,     //  They are the engine's, for a reason
} local_state_t;

struct local_work {
    list_link_t link;         //  In the model, while it waits
    local_model_t *model;     //  Whose
    local_work_t **handle;    //  The caller's; NULL: nobody waits
    local_done_fn *done;      //  Told
    void *arg;                //  For done
    json_t *context;          //  To render; NULL once it is
    size_t size;              //  Of about so many bytes
    int64_t now_s;            //  For the template
    array_t tokens;           //  uint32_t: of the prompt
    sequence_t *chain;        //  Their hashes
    status_t status;          //  How it went
    error_t error;            //  Why not
    buffer_t prefill;         //  parser_prefill of the prompt
};

//  One conversation, by us and by an engine.
typedef struct {
    bool running;             //  Under way
    bool repeated;            //  It differed once, and is made anew
    size_t probe;             //  Which of those before the first prompt; beyond them: a client's
    unsigned attempts;        //  Workers asked in vain
    buffer_t conversation;    //  As the engine gets it
    local_work_t *work;       //  Ours, under way
    array_t ours;             //  uint32_t
    encoding_t encoding;      //  Theirs, under way
    array_t theirs;           //  uint32_t
    actor_timer_t retry;      //  After an engine that could not be asked
} local_check_t;

struct local_model {
    local_setup_t setup;                 //  As given
    char *name;                          //  Of the model
    uint64_t fingerprint;                //  Of the model
    uint64_t files;                      //  Hash of them
    namespace_t ns;                      //  Of its blocks
    local_state_t state;                 //  How far it is
    error_t why;                         //  LOCAL_REFUSED: what is wrong
    unsigned attempts;                   //  Workers that did not give the files
    stream_t fetch;                      //  The files
    char giver [ADDRESS_MAX];            //  The worker that gives them
    actor_timer_t retry;                 //  Asks again for them
    buffer_t received [BUNDLE_FILES];    //  So far
    uint64_t charged;                    //  Bytes taken from the actor's budget
    bundle_t *bundle;                    //  The files, loaded
    memo_counts_t counts;                //  Of the memo, as last seen
    memo_t *memo;                        //  Of its prompts
    list_t waiting;                      //  local_work_t
    local_work_t *working;               //  In a job
    bool busy;                           //  A job is under way, or a work is being done
    bool orphan;                         //  Destroyed while busy
    bool too_long;                       //  A prompt took too long, which was said
    uint64_t made;                       //  Prompts
    local_check_t check;                 //  The last comparison
};

//  ---- local_model.c -------------------------------------------------------------------------------------------------

//  The engine makes the prompts from now on; whoever waits for one is told, and what was loaded goes.
void local_refuse (local_model_t *self, log_level_t level);

//  An address of a worker that serves the model now; empty: there is none.
span_t local_worker (const local_model_t *self, unsigned choice);

//  A job is done: frees what is not wanted any more.
void local_release (local_model_t *self);

//  Frees it where it is an orphan.  True then.
bool local_bury (local_model_t *self);

//  ---- local_work.c --------------------------------------------------------------------------------------------------

//  Whoever waits is told that nothing is made here any more.
void local_work_end_all (local_model_t *self);

//  ---- local_check.c -------------------------------------------------------------------------------------------------

void local_check_begin (local_model_t *self);
void local_check_drop (local_model_t *self);

#endif
