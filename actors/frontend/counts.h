//  counts - what a frontend counts
//
//  Names and labels are those that people who run vLLM, SGLang and Dynamo have on their dashboards; the edges of the
//  histograms are Dynamo's, so that both can be drawn in one panel.  Model names become labels only if they are served:
//  what clients make up is counted under "unknown".

#ifndef ACTORS_FRONTEND_COUNTS_H
#define ACTORS_FRONTEND_COUNTS_H

#include "hints/hints.h"
#include "model/memo/memo.h"
#include "runtime/metrics.h"
#include "runtime/port.h"

typedef enum {
    COUNTS_TTFT,         //  ns
    COUNTS_ITL,          //  ns
    COUNTS_E2E,          //  ns
    COUNTS_QUEUE,        //  ns
    COUNTS_PROMPT,       //  Tokens
    COUNTS_CACHED,       //  Tokens
    COUNTS_PREDICTED,    //  Tokens
    COUNTS_GENERATED,    //  Tokens
    COUNTS_RETRIES,      //  Requests sent to another worker before their first token
    COUNTS_MODEL_COUNT
} counts_kind_t;

//  The metrics of one model.
typedef struct {
    metric_t *metrics [COUNTS_MODEL_COUNT];    //  By counts_kind_t; borrowed
} counts_model_t;

typedef struct {
    metrics_t *all;              //  Of the actor, borrowed
    metric_t *running;           //  Requests in progress
    metric_t *waiting;           //  Of these, without a first token
    metric_t *handed_over;       //  Requests passed to the owner of their session
    metric_t *owners_lost;       //  Of these, those whose owner was lost in the middle of the answer
    metric_t *disconnected;      //  Clients that left
    metric_t *silent_notices;    //  Routers that could not be told of progress
    metric_t *conflicts;         //  Cards that share a name and differ in fingerprint
    metric_t *unscraped;         //  Actors that did not say their metrics in time
    metric_t *retries_left;      //  Of the retry budget
} counts_t;

//  Tells of each; of one that differs in labels alone more than once, in a row.
void counts_list_metrics (metric_told_fn *told, void *arg);

//  metrics: borrowed as long as the counts.
void counts_init (counts_t *self, metrics_t *metrics);

//  Finds the metrics of a model.  model: its name; empty for "unknown".
void counts_model (counts_t *self, span_t model, counts_model_t *metrics);

//  What the HTTP server has done since its start, what it refused before it was a request included.
void counts_listener (counts_t *self, const listener_figures_t *figures);

//  A request was answered.
void counts_answered (counts_t *self, span_t model, int code);

//  A request in progress moved to another worker.  reason: a status's name.
void counts_migrated (counts_t *self, span_t model, const char *reason);

//  A worker failed a request that is not given to another one.  reason: why not.
void counts_given_up (counts_t *self, span_t model, const char *reason);

//  A prompt would have taken too long here.
void counts_too_long (counts_t *self, span_t model);

//  A worker gave files of a model that are not those of its card.
void counts_wrong_files (counts_t *self, span_t model);

//  Whether prompts of this very model are made here, and what its memo knows.
void counts_local (counts_t *self, span_t model, uint64_t fingerprint, bool here, const memo_counts_t *memo);

//  A prompt made here was compared with the engine's; it differed.
void counts_checked (counts_t *self, span_t model);
void counts_differing (counts_t *self, span_t model);

//  What became of the hints.
void counts_receipts (counts_t *self, const hints_t *hints);

#endif
