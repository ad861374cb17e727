//  stage - a broker, one worker and somebody who asks, in the simulated world
//
//  The client follows what the worker publishes, as a router would: `blocks` is what it believes the worker holds.

#ifndef TESTS_WORKERS_STAGE_H
#define TESTS_WORKERS_STAGE_H

#include "base/map.h"
#include "runtime/stream.h"
#include "schemas/load.h"
#include "simulator/realm.h"
#include "workers/worker.h"

//  One generate stream of the client.  Owned by the stage.
typedef struct {
    stream_t stream;         //  To the worker
    uint64_t step;           //  Credit kept ahead of what came; 0: only what the test grants
    uint64_t started_ns;     //  When it was opened
    uint64_t first_ns;       //  When the first token came; 0: none yet
    uint64_t last_ns;        //  When the last one came
    uint64_t gap_ns;         //  The longest time between two messages
    array_t tokens;          //  uint32_t
    buffer_t text;           //  Their bytes
    size_t items;            //  Messages they came in
    bool ended;              //  The end is here:
    call_result_t result;    //  How
    status_t status;         //  Of the error
    char error [512];        //  Its sentence
    generate_end_t end;      //  Where it replied; detail and receipts are not to be used
    char detail [512];       //  Of the end
    char receipt [256];      //  "hint outcome reason", of the first receipt
} talk_t;

//  A plain call of the client.
typedef struct {
    call_t call;             //  To the worker
    bool ended;              //  The answer is here:
    call_result_t result;    //  How
    status_t status;         //  Of the error
    char error [512];        //  Its sentence
    char bytes [256];    //  Prompt of a render_reply, tokens of a tokenize_reply, detail of an actor_status; cut to fit
} question_t;

//  The model's files on their way to the client.
typedef struct {
    stream_t stream;                  //  From the worker
    uint64_t step;                    //  Credit kept ahead of what came
    buffer_t files [BUNDLE_FILES];    //  So far
    size_t parts;                     //  Messages they came in
    bool ended;                       //  The end is here:
    call_result_t result;             //  How
    status_t status;                  //  Of the error
} fetching_t;

//  A snapshot of what the worker holds, on its way to the client as to a late joiner.
typedef struct {
    stream_t stream;         //  From the worker
    const talk_t *beside;    //  A talk that goes on meanwhile
    size_t tokens;           //  That came of it until the first part did, from the asking on
    size_t parts;            //  Messages that the snapshot came in
    size_t blocks;           //  Held, by what came so far
    size_t cleared;          //  Blocks that had come when all were said to be gone
    bool ended;              //  The end is here:
    call_result_t result;    //  How
} taking_t;

typedef struct {
    map_t *blocks;         //  Blocks held, by the first 64 bits; values are not to be used
    size_t stored;         //  How many came, those that came again included
    size_t orphans;        //  Blocks that came without their parent
    size_t strays;         //  Blocks that went though they were not there
    worker_load_t load;    //  Last one
    size_t loads;          //  How many came
    uint64_t load_ns;      //  When the last one did
    bool alive;            //  The worker is in the directory,
    bool draining;         //  and takes no new work
    model_card_t card;     //  Its card; spans are not to be used
} observed_t;

//  A program that is to run beside the three; before stage_begin.  Borrowed.
void stage_add (const realm_program_t *program);

//  Kills or starts the program that was added.
void stage_kill_added (void);
void stage_start_added (void);

//  Starts them all; the worker's setup is completed with a secret, the model "mock" and default options where these are
//  missing.  setup: borrowed until stage_end.
void stage_begin (uint64_t seed, const worker_setup_t *setup);
void stage_end (void);

//  Lets so much virtual time pass.
void stage_run_ms (uint64_t ms);

//  Runs until the talk has ended; fails the test where that takes more than a virtual hour.
void stage_finish (const talk_t *talk);

//  Opens a stream.  tokens: the prompt.  Gives the talk, which lives until stage_end.
talk_t *stage_generate (const generate_t *request, uint64_t credit, uint64_t step);

//  A request with text as tokens, a byte each.  Borrows it until the talk is open.
generate_t stage_request (const char *text, uint32_t max_tokens);

//  Calls a method of the worker.  question: until the answer is there, or stage_end.
void stage_ask (question_t *question, const message_type_t *type, const void *request);

//  The same, and runs until the answer is there.
void stage_call (question_t *question, const message_type_t *type, const void *request);

//  Asks the worker for the model's files with this hash; at most `step` bytes are on their way.  fetching: new.
void stage_fetch (fetching_t *fetching, uint64_t files, uint64_t step);

//  Runs until they are there or will not come.
void stage_fetch_finish (fetching_t *fetching);

//  Frees what came.
void stage_fetch_fini (fetching_t *fetching);

//  Asks the worker for a snapshot of what it holds, beside a talk.  taking: until it has ended.
void stage_take (taking_t *taking, const talk_t *beside);

//  Restarts the client's view from nothing, as a late joiner.
void stage_restart_client (void);

//  What the client has seen so far.
const observed_t *stage_observed (void);

//  The worker itself, for what only its own process can ask; NULL where it could not be made.
actor_t *stage_worker (void);

//  The last thing that somebody warned of, "" where nobody did.
const char *stage_warning (void);

//  Value of a metric of the worker whose name this is, all labels together.
int64_t stage_metric (const char *name);

#endif
