#include "examples/census/census.h"

#include <inttypes.h>

#include "base/array.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/load.h"

static const uint64_t LOOK_NS = 1000000000;

typedef struct {
    uint64_t source;     //  Which worker
    uint16_t rank;       //  Which of its ranks
    uint32_t running;    //  As it last said
    uint32_t waiting;    //  As it last said
} report_t;

typedef struct {
    census_figures_t figures;    //  Sums of the reports
    array_t reports;             //  report_t, in the order they first came
    actor_timer_t look;          //  When to compare with what was logged
    bool busy;                   //  As logged
} census_t;

static report_t *
s_report (census_t *self, uint64_t source, uint16_t rank)
{
    for (size_t i = 0; i < self->reports.count; i++) {
        report_t *report = array_at (&self->reports, i);
        if (report->source == source && report->rank == rank)
            return report;
    }
    report_t *report = array_add (&self->reports);
    *report = (report_t){ .source = source, .rank = rank };
    return report;
}

static void
s_sum (census_t *self)
{
    self->figures = (census_figures_t){ .workers = self->reports.count };
    for (size_t i = 0; i < self->reports.count; i++) {
        const report_t *report = array_at (&self->reports, i);
        self->figures.running += report->running;
        self->figures.waiting += report->waiting;
    }
}

static void
s_on_load (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    census_t *self = self_;
    const worker_load_t *load = event;
    report_t *report = s_report (self, origin->source, load->rank);
    report->running = load->running;
    report->waiting = load->waiting;
    s_sum (self);
}

static void
s_forget (census_t *self, uint64_t source)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->reports.count; i++) {
        const report_t *report = array_at (&self->reports, i);
        if (report->source != source)
            *(report_t *)array_at (&self->reports, kept++) = *report;
    }
    array_cut (&self->reports, kept);
    s_sum (self);
}

//  A worker that was restarted begins with nothing to do.
static void
s_on_reset (void *self, actor_t *actor, const origin_t *origin)
{
    s_forget (self, origin->source);
}

//  Nobody can say what an unreachable worker does.
static void
s_on_worker (void *self, actor_t *actor, const actor_entry_t *entry)
{
    if (entry->state != ACTOR_STATE_ALIVE)
        s_forget (self, event_source (entry->address));
}

static void
s_on_look (void *self_, actor_t *actor, void *arg)
{
    census_t *self = self_;
    bool busy = self->figures.running + self->figures.waiting > 0;
    if (busy != self->busy)
        actor_log (actor, LOG_INFO, "the fleet is %s", busy ? "busy" : "idle");
    self->busy = busy;
    timer_start (&self->look, actor, LOOK_NS, s_on_look, NULL);
}

static void
s_describe (void *self_, actor_t *actor, buffer_t *out)
{
    const census_figures_t *figures = &((census_t *)self_)->figures;
    buffer_print (out, "%" PRIu64 " running and %" PRIu64 " waiting on %" PRIu64 " workers", figures->running,
        figures->waiting, figures->workers);
}

static status_t
s_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    census_t *self = self_;
    array_init (&self->reports, sizeof (report_t));
    timer_start (&self->look, actor, LOOK_NS, s_on_look, NULL);
    return STATUS_OK;
}

static void
s_fini (void *self_, actor_t *actor)
{
    census_t *self = self_;
    timer_stop (&self->look);
    array_fini (&self->reports);
}

static const actor_handler_t s_handlers [] = {
    HANDLES_EVENT (worker_load, s_on_load),
    HANDLES_RESET (STREAM_LOAD, s_on_reset),
    HANDLES_ACTOR ("worker", s_on_worker),
    HANDLERS_END,
};

const actor_class_t census_class = {
    .name = "census",
    .state_size = sizeof (census_t),
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .describe = s_describe,
};
