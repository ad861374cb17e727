#include "actors/frontend/counts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define MS(value) ((uint64_t)(value)*1000000)
#define S(value) ((uint64_t)(value)*1000000000)
#define COUNTER(text, sentence, named)                                          \
    {                                                                           \
        .name = text, .help = sentence, .kind = METRIC_COUNTER, .labels = named \
    }
#define GAUGE(text, sentence, named)                                          \
    {                                                                         \
        .name = text, .help = sentence, .kind = METRIC_GAUGE, .labels = named \
    }
#define TIMES(text, sentence, array)                                                              \
    {                                                                                             \
        .name = text, .help = sentence, .kind = METRIC_HISTOGRAM, .scale = S (1), .edges = array, \
        .edge_count = sizeof (array) / sizeof (array) [0], .labels = "model_name"                 \
    }

//  1 ms to 480 s, 1 ms to 80 s and 1 s to 512 s: evenly spaced in the logarithm, rounded to two digits, the first one 0.
static const uint64_t s_ttft_edges [] = { 0, 2200000, 4700000, MS (10), MS (22), MS (47), MS (100), MS (220), MS (470),
    S (1), MS (2200), MS (4700), S (10), S (22), S (48), S (100), S (220), S (480) };
static const uint64_t s_itl_edges [] = { 0, 1800000, 3300000, 5900000, MS (11), MS (20), MS (35), MS (64), MS (120),
    MS (210), MS (380), MS (690), MS (1200), MS (2300), MS (4100), MS (7400), S (13), S (24), S (44), S (80) };
static const uint64_t s_duration_edges [] = { 0, S (2), S (4), S (8), S (16), S (32), S (64), S (130), S (260),
    S (510) };

typedef struct {
    metric_desc_t desc;    //  What it is
    const char *labels;    //  Besides the model; may be empty
} model_metric_t;

static const model_metric_t s_model_metrics [COUNTS_MODEL_COUNT] = {
    [COUNTS_TTFT] = { TIMES ("stator_time_to_first_token_seconds", "From a request's arrival to its first token.",
                          s_ttft_edges),
        "" },
    [COUNTS_ITL] = { TIMES ("stator_inter_token_latency_seconds", "Between two tokens of an answer.", s_itl_edges),
        "" },
    [COUNTS_E2E] = { TIMES ("stator_e2e_request_latency_seconds", "From a request's arrival to the end of its answer.",
                         s_duration_edges),
        "" },
    [COUNTS_QUEUE] = { TIMES ("stator_request_queue_time_seconds", "From a request's arrival to the router's decision.",
                           s_ttft_edges),
        "" },
    [COUNTS_PROMPT] = { COUNTER ("stator_prompt_tokens_total", "Tokens of prompts.", "model_name"), "" },
    [COUNTS_CACHED] = { COUNTER ("stator_prompt_tokens_cached_total", "Tokens of prompts found in an engine's cache.",
                            "model_name,tier"),
        ",tier=\"device\"" },
    [COUNTS_PREDICTED] = { COUNTER ("stator_prompt_tokens_predicted_total", "Of these, what routers expected.",
                               "model_name"),
        "" },
    [COUNTS_GENERATED] = { COUNTER ("stator_generation_tokens_total", "Tokens of answers.", "model_name,role"),
        ",role=\"assistant\"" },
    [COUNTS_RETRIES] = { COUNTER (
                             "stator_retries_total", "Requests sent elsewhere before their first token.", "model_name"),
        "" },
};

static const metric_desc_t s_requests =
    COUNTER ("stator_requests_total", "Requests answered.", "model_name,dialect,code");
static const metric_desc_t s_migrations =
    COUNTER ("stator_migrations_total", "Answers that went on at another worker.", "model_name,reason");
static const metric_desc_t s_given_up = COUNTER ("stator_retries_refused_total",
    "Requests that their worker failed and no other one was given.", "model_name,reason");
static const metric_desc_t s_retries_left = GAUGE ("stator_retry_budget", "Retries that may be made now.", NULL);
static const metric_desc_t s_receipts = COUNTER ("stator_hint_receipts_total", "Hints answered.", "hint,outcome");
static const metric_desc_t s_running = GAUGE ("stator_requests_running", "Requests in progress.", NULL);
static const metric_desc_t s_waiting = GAUGE ("stator_requests_waiting", "Of these, without a first token.", NULL);
static const metric_desc_t s_handed_over =
    COUNTER ("stator_requests_handed_over_total", "Requests passed to the frontend that owns their session.", NULL);
static const metric_desc_t s_owners_lost = COUNTER (
    "stator_requests_owners_lost_total", "Of these, those whose answer broke off since that frontend was lost.", NULL);
static const metric_desc_t s_disconnected =
    COUNTER ("stator_disconnected_clients_total", "Clients that left before their answer was complete.", NULL);
static const metric_desc_t s_silent_notices =
    COUNTER ("stator_route_notices_lost_total", "Progress that a router could not be told.", NULL);
static const metric_desc_t s_conflicts =
    COUNTER ("stator_model_conflicts_total", "Models that appeared under the name of another one.", NULL);
static const metric_desc_t s_unscraped =
    COUNTER ("stator_scrapes_missed_total", "Actors that did not say their metrics in time.", NULL);

#define REFUSED(position, status)                                                                                     \
    {                                                                                                                 \
        COUNTER ("stator_http_refused_total", "Refused before it was a whole request, or for want of room.", "code"), \
            "code=\"" #status "\"", offsetof (listener_figures_t, refused) + position * sizeof (uint64_t)             \
    }

static const struct {
    metric_desc_t desc;    //  What it is
    const char *labels;    //  Its own
    size_t offset;         //  Of the figure, uint64_t
} s_listener_metrics [] = {
    { GAUGE ("stator_http_connections", "Connections open.", NULL), "", offsetof (listener_figures_t, connections) },
    { COUNTER ("stator_http_connections_total", "Connections accepted.", NULL), "",
        offsetof (listener_figures_t, accepted) },
    { COUNTER ("stator_http_requests_total", "Whole requests read.", NULL), "",
        offsetof (listener_figures_t, requests) },
    REFUSED (0, 400),
    REFUSED (1, 408),
    REFUSED (2, 413),
    REFUSED (3, 417),
    REFUSED (4, 431),
    REFUSED (5, 503),
    { COUNTER ("stator_http_clients_cut_total", "Clients cut because they did not read their answer.", NULL), "",
        offsetof (listener_figures_t, written_off) },
    { GAUGE ("stator_http_body_bytes", "Request bodies in memory.", NULL), "",
        offsetof (listener_figures_t, body_bytes) },
};

void
counts_listener (counts_t *self, const listener_figures_t *figures)
{
    for (size_t i = 0; i < sizeof s_listener_metrics / sizeof s_listener_metrics [0]; i++) {
        uint64_t figure = *(const uint64_t *)(const void *)((const char *)figures + s_listener_metrics [i].offset);
        metric_set (
            metrics_get (self->all, &s_listener_metrics [i].desc, s_listener_metrics [i].labels), (int64_t)figure);
    }
}

void
counts_init (counts_t *self, metrics_t *metrics)
{
    *self = (counts_t){
        .all = metrics,
        .running = metrics_get (metrics, &s_running, NULL),
        .waiting = metrics_get (metrics, &s_waiting, NULL),
        .handed_over = metrics_get (metrics, &s_handed_over, NULL),
        .owners_lost = metrics_get (metrics, &s_owners_lost, NULL),
        .disconnected = metrics_get (metrics, &s_disconnected, NULL),
        .silent_notices = metrics_get (metrics, &s_silent_notices, NULL),
        .unscraped = metrics_get (metrics, &s_unscraped, NULL),
        .conflicts = metrics_get (metrics, &s_conflicts, NULL),
        .retries_left = metrics_get (metrics, &s_retries_left, NULL),
    };
}

static void
s_label_model (buffer_t *labels, span_t model)
{
    metrics_add_label (labels, "model_name", model.size ? model : SPAN ("unknown"));
}

void
counts_model (counts_t *self, span_t model, counts_model_t *metrics)
{
    buffer_t labels = { 0 };
    for (size_t i = 0; i < COUNTS_MODEL_COUNT; i++) {
        buffer_clear (&labels);
        s_label_model (&labels, model);
        buffer_append_string (&labels, s_model_metrics [i].labels);
        metrics->metrics [i] = metrics_get (self->all, &s_model_metrics [i].desc, buffer_string (&labels));
    }
    buffer_fini (&labels);
}

void
counts_answered (counts_t *self, span_t model, int code)
{
    buffer_t labels = { 0 };
    s_label_model (&labels, model);
    buffer_print (&labels, ",dialect=\"chat\",code=\"%d\"", code);
    metric_add (metrics_get (self->all, &s_requests, buffer_string (&labels)), 1);
    buffer_fini (&labels);
}

static void
s_count_reason (counts_t *self, const metric_desc_t *metric, span_t model, const char *reason)
{
    buffer_t labels = { 0 };
    s_label_model (&labels, model);
    buffer_print (&labels, ",reason=\"%s\"", reason);
    metric_add (metrics_get (self->all, metric, buffer_string (&labels)), 1);
    buffer_fini (&labels);
}

void
counts_migrated (counts_t *self, span_t model, const char *reason)
{
    s_count_reason (self, &s_migrations, model, reason);
}

void
counts_given_up (counts_t *self, span_t model, const char *reason)
{
    s_count_reason (self, &s_given_up, model, reason);
}

//  ---- Prompts that are made here ------------------------------------------------------------------------------------

static const metric_desc_t s_local =
    GAUGE ("stator_local_prompts", "1: prompts of the model are made here.", "model_name,fingerprint");
static const metric_desc_t s_checked =
    COUNTER ("stator_prompts_checked_total", "Prompts made here that were compared with the engine's.", "model_name");
static const metric_desc_t s_differing = COUNTER (
    "stator_prompts_differing_total", "Of these, those that differed: the engine makes them since.", "model_name");
static const metric_desc_t s_too_long = COUNTER ("stator_prompts_too_long_total",
    "Prompts left to the engine: to render them here would take too long.", "model_name");
static const metric_desc_t s_wrong_files = COUNTER ("stator_model_files_wrong_total",
    "Files a worker gave of the model that were not those of its card.", "model_name");

static const struct {
    metric_desc_t desc;    //  What it is
    size_t offset;         //  Of the figure, uint64_t
} s_memo_metrics [] = {
    { COUNTER ("stator_memo_prompts_total", "Prompts made here.", "model_name,fingerprint"),
        offsetof (memo_counts_t, prompts) },
    { COUNTER ("stator_memo_bytes_total", "Bytes of these prompts.", "model_name,fingerprint"),
        offsetof (memo_counts_t, bytes) },
    { COUNTER ("stator_memo_bytes_known_total", "Of these, bytes whose tokens were known.", "model_name,fingerprint"),
        offsetof (memo_counts_t, known) },
    { COUNTER ("stator_memo_evicted_total", "Stretches of prompts forgotten to make room.", "model_name,fingerprint"),
        offsetof (memo_counts_t, evicted) },
    { GAUGE ("stator_memo_used_bytes", "Memory of what is known.", "model_name,fingerprint"),
        offsetof (memo_counts_t, used) },
};

//  more: labels, each after a comma.
static metric_t *
s_of_model (counts_t *self, const metric_desc_t *metric, span_t model, const char *more)
{
    buffer_t labels = { 0 };
    s_label_model (&labels, model);
    buffer_append_string (&labels, more);
    metric_t *found = metrics_get (self->all, metric, buffer_string (&labels));
    buffer_fini (&labels);
    return found;
}

void
counts_local (counts_t *self, span_t model, uint64_t fingerprint, bool here, const memo_counts_t *memo)
{
    char label [48];
    snprintf (label, sizeof label, ",fingerprint=\"%016" PRIx64 "\"", fingerprint);
    metric_set (s_of_model (self, &s_local, model, label), here);
    for (size_t i = 0; i < sizeof s_memo_metrics / sizeof s_memo_metrics [0]; i++) {
        uint64_t figure = *(const uint64_t *)(const void *)((const char *)memo + s_memo_metrics [i].offset);
        metric_set (s_of_model (self, &s_memo_metrics [i].desc, model, label), (int64_t)figure);
    }
}

void
counts_checked (counts_t *self, span_t model)
{
    metric_add (s_of_model (self, &s_checked, model, ""), 1);
}

void
counts_differing (counts_t *self, span_t model)
{
    metric_add (s_of_model (self, &s_differing, model, ""), 1);
}

void
counts_too_long (counts_t *self, span_t model)
{
    metric_add (s_of_model (self, &s_too_long, model, ""), 1);
}

void
counts_wrong_files (counts_t *self, span_t model)
{
    metric_add (s_of_model (self, &s_wrong_files, model, ""), 1);
}

void
counts_receipts (counts_t *self, const hints_t *hints)
{
    buffer_t labels = { 0 };
    for (size_t i = 0; i < hints->count; i++) {
        const hint_t *hint = &hints->hints [i];
        buffer_clear (&labels);
        buffer_print (&labels, "hint=\"%s\",outcome=\"%s\"",
            hint_field_name (hint->source ? hint->source->field : HINT_NOTHING), outcome_name (hint->outcome));
        metric_add (metrics_get (self->all, &s_receipts, buffer_string (&labels)), 1);
    }
    buffer_fini (&labels);
}

//  ---- The manual ----------------------------------------------------------------------------------------------------

void
counts_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_requests, &s_running, &s_waiting, &s_migrations, &s_given_up,
        &s_retries_left, &s_handed_over, &s_owners_lost, &s_disconnected, &s_silent_notices, &s_receipts, &s_local,
        &s_checked, &s_differing, &s_too_long, &s_wrong_files, &s_conflicts, &s_unscraped, NULL };
    for (size_t i = 0; i < COUNTS_MODEL_COUNT; i++)
        told (arg, &s_model_metrics [i].desc);
    metrics_tell (all, told, arg);
    for (size_t i = 0; i < sizeof s_memo_metrics / sizeof s_memo_metrics [0]; i++)
        told (arg, &s_memo_metrics [i].desc);
    for (size_t i = 0; i < sizeof s_listener_metrics / sizeof s_listener_metrics [0]; i++)
        told (arg, &s_listener_metrics [i].desc);
}
