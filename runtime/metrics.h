//  metrics - counters, gauges and histograms of one actor
//
//  Registered once by name and labels, then kept by pointer: an update is an addition.  All values are integers in a unit
//  of the metric's own; `scale` says how many of them make one of the unit that is printed (ns kept, seconds printed:
//  1000000000).  Rendered in Prometheus' text format.  One thread, the actor's.

#ifndef RUNTIME_METRICS_H
#define RUNTIME_METRICS_H

#include "base/buffer.h"

typedef struct metrics metrics_t;
typedef struct metric metric_t;

typedef enum { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM } metric_kind_t;

//  What a metric is; a static const of whoever keeps it.
typedef struct {
    const char *name;         //  "stator_requests_total"
    const char *help;         //  One sentence
    metric_kind_t kind;       //  Which
    uint64_t scale;           //  Kept units a printed unit; 0: 1
    const uint64_t *edges;    //  Histogram: upper bounds, kept units, ascending
    size_t edge_count;        //  How many
    const char *labels;       //  Names of its labels in their order, "model_name,code"; NULL: none
} metric_desc_t;

//  Is told of one.
typedef void (metric_told_fn) (void *arg, const metric_desc_t *desc);

//  Tells of each of a NULL-terminated list.
void metrics_tell (const metric_desc_t *const *list, metric_told_fn *told, void *arg);

metrics_t *metrics_new (void);
void metrics_destroy (metrics_t **self_p);

//  Appends NAME="VALUE", behind a comma where there is a label before it, quoted as the text format wants it.  The value may be
//  any bytes.
void metrics_add_label (buffer_t *labels, const char *name, span_t value);

//  The metric of this description with these labels (a="b",c="d", as it names them; NULL or empty: none); made where it is
//  not there.
//  Label values must be few and never come from requests unbounded: past 1000 metrics of a name, one with the label
//  other="true" stands for all further ones.  Borrowed, valid as long as the metrics.
metric_t *metrics_get (metrics_t *self, const metric_desc_t *desc, const char *labels);

void metric_add (metric_t *self, int64_t amount);        //  Counter, gauge
void metric_set (metric_t *self, int64_t value);         //  Gauge; counter that is kept elsewhere
void metric_observe (metric_t *self, uint64_t value);    //  Histogram
int64_t metric_value (const metric_t *self);             //  Counter, gauge: value; histogram: count

//  Prometheus' text format 0.0.4, metrics of one name together.
void metrics_render (const metrics_t *self, buffer_t *out);

//  Walks counters and gauges (and counts of histograms): start with *cursor 0; false at the end.  Borrowed.
bool metrics_next (const metrics_t *self, size_t *cursor, const char **name, const char **labels, int64_t *value);

#endif
