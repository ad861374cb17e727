//  worker_private - what the files of the worker share
//
//  worker.c is the actor: card, health, admission.  generation.c is one stream.  report.c says how it stands.

#ifndef WORKERS_WORKER_PRIVATE_H
#define WORKERS_WORKER_PRIVATE_H

#include "base/list.h"
#include "runtime/incoming.h"
#include "runtime/timer.h"
#include "schemas/message_memory.h"
#include "workers/holdings.h"
#include "workers/pace.h"
#include "workers/worker.h"

typedef struct worker worker_t;
typedef struct generation generation_t;

typedef enum {
    COUNT_PROMPT,       //  Tokens
    COUNT_CACHED,       //  Of these, found in the engine's cache
    COUNT_PREDICTED,    //  Of these, believed there
    COUNT_GENERATED,    //  Tokens
    COUNT_OVERRUN,      //  Generations cut off
    COUNT_UNREAD,       //  Generations given up because nobody read
    COUNT_SUSPECT,      //  Times that the engine stood still
    GAUGE_RUNNING,      //  Requests
    GAUGE_WAITING,      //  Requests
    GAUGE_KV_USAGE,     //  Blocks in use, in millionths of all
    GAUGE_KV_HELD,      //  Blocks told to the fleet
    GAUGE_PARKED,       //  Tokens beyond the credit
    FIGURE_COUNT
} figure_t;

struct worker {
    actor_t *actor;                      //  Whose state this is
    const engine_class_t *class;         //  Of the adapter
    worker_options_t options;            //  As given
    uint32_t context_max;                //  As given; 0: none
    model_card_t names;                  //  A card with nothing but the configured names
    message_memory_t names_memory;       //  Where it lies
    buffer_t secret;                     //  Of the cluster
    engine_t *engine;                    //  The adapter's
    list_t sendings;                     //  Readers of the model's files
    list_t asks;                         //  Questions to render and tokenize, oldest first
    bool known;                          //  There is a card
    model_card_t card;                   //  As it is registered
    message_memory_t card_memory;        //  Where it lies
    namespace_t space;                   //  Names blocks
    buffer_t trouble;                    //  Why the engine is unwell; empty: it is not
    bool suspect;                        //  It stood still
    list_t generations;                  //  generation_t, oldest first
    uint64_t parked;                     //  Tokens beyond the credit, all generations together
    uint32_t runs;                       //  Of the generations, those the engine has not ended
    generation_t *probe;                 //  A request of one token, while suspect
    uint64_t moved_ns;                   //  When the engine last showed life
    pace_t pace;                         //  When it should again
    actor_timer_t watch;                 //  Then it is suspect; runs while it has work
    holdings_t *holdings;                //  Blocks told to the fleet
    buffer_t packed;                     //  Scratch: hashes of one event
    array_t gone;                        //  Scratch: hash128_t
    actor_timer_t overfull;              //  More is parked than may be: somebody has to go
    actor_timer_t beat;                  //  Load reports, and a look at the engine
    bool load_changed;                   //  Since the last beat
    worker_load_t load;                  //  As last published
    uint64_t load_ns;                    //  When that was; 0: never
    metric_t *figures [FIGURE_COUNT];    //  Metrics; NULL until there is a card
};

//  ---- generation.c --------------------------------------------------------------------------------------------------

//  Starts a generation whose request was admitted.  The incoming becomes its own; where the engine refuses, it stays the
//  caller's.
status_t generation_start (
    worker_t *worker, incoming_t *incoming, const generate_t *request, uint32_t max_tokens, error_t *error);

//  Starts a request of one token that nobody waits for.  NULL where the engine refuses.
generation_t *generation_start_probe (worker_t *worker);

//  The callbacks of the engine's watch on a request.
void generation_on_progress (void *worker, void *generation, uint32_t tokens, uint64_t took_ns);
void generation_on_tokens (void *worker, void *generation, const engine_tokens_t *tokens);
void generation_on_end (void *worker, void *generation, const engine_end_t *end);

//  Gives up what nobody has read for too long.
void generation_check_readers (worker_t *worker);

//  The longest prompt of which no token has come.
uint64_t generation_longest_prompt (const worker_t *worker);

//  Fails all that the engine has not ended.
void generation_fail_all (worker_t *worker, status_t status, const char *why);

//  Takes it from the engine and frees it without a word to anybody.
void generation_drop (generation_t *self);
void generation_drop_all (worker_t *worker);

//  ---- worker.c ------------------------------------------------------------------------------------------------------

//  The engine showed life.
void worker_moved (worker_t *self);

//  It has work: from now on it is looked whether it moves.
void worker_watch (worker_t *self);

//  A generation is over: a draining worker may be done.
void worker_generation_ended (worker_t *self);

//  The probe is over.
void worker_probe_ended (worker_t *self, bool alive);

//  ---- files.c -------------------------------------------------------------------------------------------------------

//  The handler of fetch_model.
void files_on_fetch (void *self, actor_t *actor, incoming_t *incoming, const void *message);

//  Tells every reader that there is no more to come.
void files_fail_all (worker_t *self, status_t status, const char *why);

//  ---- report.c ------------------------------------------------------------------------------------------------------

//  Starts and stops the beat of load reports.
void report_start (worker_t *self);
void report_stop (worker_t *self);

//  Tells of each metric.
void report_list_metrics (metric_told_fn *told, void *arg);

//  Makes the metrics of the card's model.
void report_card (worker_t *self);
//  Adds to a figure of the worker, or to the refusals for this reason.
void report_count (worker_t *self, figure_t figure, int64_t amount);
void report_refused (worker_t *self, status_t status);

//  The callbacks of the engine's watch on blocks and load.
void report_on_stored (void *worker, hash128_t parent, const hash128_t *hashes, size_t count);
void report_on_removed (void *worker, const uint64_t *hashes, size_t count);
void report_on_load (void *worker);

//  Every block is gone.
void report_clear (worker_t *self);

//  What a late joiner gets: the blocks held, and the last load report.
status_t report_snapshot_kv (void *self, actor_t *actor, uint64_t source, snapshot_t *snapshot);
status_t report_snapshot_load (void *self, actor_t *actor, uint64_t source, snapshot_t *snapshot);

#endif
