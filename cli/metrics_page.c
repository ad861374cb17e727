#include "cli/metrics_page.h"

#include <string.h>

#include "actors/frontend/frontend.h"
#include "actors/host/host.h"
#include "actors/indexer/indexer.h"
#include "actors/router/router.h"
#include "broker/broker.h"
#include "workers/worker.h"

static const actor_class_t *const s_classes [] = { &frontend_class, &router_class, &indexer_class, &worker_class,
    &broker_class, &host_class };

static const char s_head [] =
    "# Metrics\n"
    "\n"
    "`GET /metrics` of any frontend has the metrics of every actor of the fleet, in the text format of\n"
    "Prometheus, each with the address of its actor in front as a label, `actor=\"worker/mock-0\"`; an actor that\n"
    "does not answer in time is left out, and `stator_scrapes_missed_total` counts it. `stator call ACTOR\n"
    "get_metrics` has those of one actor, without that label. Counters begin at 0 whenever their actor starts.\n"
    "Some that have labels are not there before there is something to count.\n"
    "\n"
    "A name that several kinds of actors have says what each of them saw: do not add up tokens of frontends and\n"
    "of workers.\n"
    "\n"
    "This page is printed by `stator check --print-metrics`.\n";

typedef struct {
    buffer_t *out;       //  The page
    const char *name;    //  Of the row before
} page_t;

static void
s_append_labels (const char *names, buffer_t *out)
{
    for (const char *name = names; name && *name;) {
        size_t size = strcspn (name, ",");
        buffer_print (out, "%s`%.*s`", name == names ? "" : ", ", (int)size, name);
        name += size + (name [size] == ',');
    }
}

//  Of those that differ in labels alone the first one stands for all.
static void
s_append_row (void *arg, const metric_desc_t *desc)
{
    static const char *const kinds [] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"
    };
    page_t *self = arg;
    if (self->name && strcmp (self->name, desc->name) == 0)
        return;
    self->name = desc->name;
    buffer_print (self->out, "| `%s` | %s | ", desc->name, kinds [desc->kind]);
    s_append_labels (desc->labels, self->out);
    buffer_print (self->out, " | %s |\n", desc->help);
}

static void
s_append_table (const char *title, void (*list) (metric_told_fn *told, void *arg), buffer_t *out)
{
    page_t page = { .out = out };
    buffer_print (out, "\n## %s\n\n| name | type | labels | what it says |\n|---|---|---|---|\n", title);
    list (s_append_row, &page);
}

void
metrics_page_print (buffer_t *out)
{
    buffer_append_string (out, s_head);
    s_append_table ("Every actor", actor_list_metrics, out);
    for (size_t i = 0; i < sizeof s_classes / sizeof *s_classes; i++)
        s_append_table (s_classes [i]->name, s_classes [i]->list_metrics, out);
}
