//  worker - one engine instance, made to look like every other
//
//  A worker wraps exactly one engine (engine.h) and lives and dies with it.  It serves the worker protocol
//  (schemas/worker.toml), tells the fleet which blocks the engine holds (schemas/kv.toml) and how busy it is
//  (schemas/load.toml).  What it does for every adapter:
//
//  * Card: the directory entry says what is served, as soon as the engine can serve it.
//  * Admission: what the engine could only fail at (no tokens, no room in the context, another model, too many at once)
//    is refused with a sentence and counted.
//  * Credit: an engine cannot be stopped.  What is beyond the credit waits here, bounded by max_tokens, parked_max (the
//    slowest reader goes first) and the actor's memory; whatever is cut off for it is counted.
//  * Cancel reaches the engine within the same turn.
//  * Health: an engine that says it is unwell takes no new work.  One that says it is well but moves no token is suspect
//    after `suspect_after`, or five times as long as it should have needed (pace.h), whichever is longer: its streams are
//    failed, so that they go on elsewhere, and it gets nothing until a request of one token has gone through it.
//  * Drain: what runs is finished, what is new is refused.
//
//  A resumed generation (`delivered` > 0) is a prompt that ends with earlier output: max_tokens counts what is still to
//  come, positions of the stream begin at 0 again, prompt_tokens includes the earlier output.  With a sampling seed an
//  engine may, but need not, draw what it would have drawn without the interruption.

#ifndef WORKERS_WORKER_H
#define WORKERS_WORKER_H

#include "schemas/kv.h"
#include "workers/engine.h"
#include "workers/worker_options.h"

typedef struct {
    const engine_class_t *engine;    //  Which adapter; a static of its room
    const void *engine_options;      //  Of the adapter's own type
    const char *url;                 //  Where the engine listens; NULL or empty where it needs none
    span_t secret;                   //  Of the cluster, 1..CLUSTER_SECRET_MAX bytes: block names are keyed with it
    span_t model;                    //  Name clients ask for; empty: as the engine calls it
    const char *const *aliases;      //  Other names for it
    size_t alias_count;              //  How many
    uint32_t context_max;            //  Tokens of a request, where the engine would take more; 0: what the engine takes
    const worker_options_t *common;    //  What can be set about any worker
} worker_setup_t;

//  Service "worker".  Class options: worker_setup_t, borrowed for the call except `engine`.
extern const actor_class_t worker_class;

//  The blocks the fleet was told of, as events that lead to them from nothing.  For whoever checks what others believe.
typedef void (worker_stored_fn) (void *arg, const kv_stored_t *event);

//  Calls on_stored for each of them, parents first.
void worker_tell_kv (const actor_t *worker, worker_stored_fn *on_stored, void *arg);

#endif
