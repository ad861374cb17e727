//  tally - what a frontend counts
//
//  Names and labels are those that people who run vLLM, SGLang and Dynamo have on their dashboards; the edges of the
//  histograms are Dynamo's, so that both can be drawn in one panel.  Model names become labels only if they are served:
//  what clients make up is counted under "unknown".

#ifndef ACTORS_FRONTEND_TALLY_H
#define ACTORS_FRONTEND_TALLY_H

#include "hints/hints.h"
#include "runtime/metrics.h"

typedef enum {
    TALLY_TTFT,         //  ns
    TALLY_ITL,          //  ns
    TALLY_E2E,          //  ns
    TALLY_QUEUE,        //  ns
    TALLY_PROMPT,       //  Tokens
    TALLY_CACHED,       //  Tokens
    TALLY_PREDICTED,    //  Tokens
    TALLY_GENERATED,    //  Tokens
    TALLY_RETRIES,      //  Requests sent to another worker before their first token
    TALLY_MODEL_COUNT
} tally_kind_t;

//  The metrics of one model.
typedef struct {
    metric_t *metrics [TALLY_MODEL_COUNT];    //  By tally_kind_t; borrowed
} tally_model_t;

typedef struct {
    metrics_t *all;              //  Of the actor, borrowed
    metric_t *running;           //  Requests in progress
    metric_t *waiting;           //  Of these, without a first token
    metric_t *handed_over;       //  Requests passed to the owner of their session
    metric_t *disconnected;      //  Clients that left
    metric_t *silent_notices;    //  Routers that could not be told of progress
    metric_t *conflicts;         //  Cards that share a name and differ in fingerprint
} tally_t;

//  metrics: borrowed as long as the tally.
void tally_init (tally_t *self, metrics_t *metrics);

//  Finds the metrics of a model.  model: its name; empty for "unknown".
void tally_model (tally_t *self, span_t model, tally_model_t *metrics);

//  A request was answered.
void tally_answered (tally_t *self, span_t model, int code);

//  A request in progress moved to another worker.  reason: a status's name.
void tally_migrated (tally_t *self, span_t model, const char *reason);

//  What became of the hints.
void tally_receipts (tally_t *self, const hints_t *hints);

#endif
