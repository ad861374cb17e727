//  stator replay - recorded traffic through the real router, index and workers, in virtual time

#include "simulator/replay.h"

#include <inttypes.h>
#include <stdio.h>

#include "actors/router/router.h"
#include "base/memory.h"
#include "broker/broker.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "simulator/stage.h"
#include "workers/mock/mock.h"
#include "workers/worker.h"

enum { MILLION = 1000000, TRACE_BYTES_MAX = 1 << 30, WORKERS_MAX = 1024, INSTANCE_MAX = 16 };

//  Tokens an engine computes for each request before it says any of them: a tenth of a second at most, for an eighth of
//  the messages.
enum { BURST = 8 };

//  Nobody comes late to this fleet, so little has to be kept for replay.
enum { RING_BYTES = 1 << 20 };

#define REPLAY_SECRET SPAN ("the secret of a replayed cluster")

typedef struct {
    int64_t workers;           //  How many
    int policy;                //  Position in router_modes
    int64_t capacity;          //  Tokens a worker
    int64_t load;              //  Millionths
    int64_t seed;              //  Of everything
    int64_t sessions;          //  How many begin; 0: as many as the trace has
    uint64_t think_max_ns;     //  Longest pause
    int64_t overlap_weight;    //  The router's
    bool json;                 //  For programs
} replay_flags_t;

static const option_t s_flags [] = { { .name = "workers",
                                         .type = OPTION_INTEGER,
                                         .fallback = "16",
                                         .min = 1,
                                         .max = WORKERS_MAX,
                                         .offset = offsetof (replay_flags_t, workers),
                                         .doc = "How many workers there are." },
    { .name = "policy",
        .type = OPTION_ENUM,
        .fallback = "kv",
        .words = router_modes,
        .offset = offsetof (replay_flags_t, policy),
        .doc = "How the router chooses." },
    { .name = "capacity",
        .type = OPTION_INTEGER,
        .fallback = "1000000",
        .min = 1,
        .max = INT64_C (1) << 40,
        .offset = offsetof (replay_flags_t, capacity),
        .doc = "Tokens of KV each worker has room for." },
    { .name = "load",
        .type = OPTION_DECIMAL,
        .fallback = "1",
        .min = 10000,
        .max = INT64_C (1000) * MILLION,
        .offset = offsetof (replay_flags_t, load),
        .example = "4",
        .doc =
            "Sessions alive for each worker, on average, if nothing queued; for single requests how many times as fast "
            "as recorded they come." },
    { .name = "seed",
        .type = OPTION_INTEGER,
        .fallback = "1",
        .max = INT64_MAX,
        .offset = offsetof (replay_flags_t, seed),
        .doc = "What everything is drawn from: the same seed gives the same run." },
    { .name = "sessions",
        .type = OPTION_INTEGER,
        .fallback = "0",
        .max = 1000000,
        .offset = offsetof (replay_flags_t, sessions),
        .doc = "How many sessions begin; 0 for as many as the trace has." },
    { .name = "think_max",
        .type = OPTION_DURATION,
        .fallback = "60s",
        .max = INT64_MAX,
        .offset = offsetof (replay_flags_t, think_max_ns),
        .doc = "Longest pause between two requests of a session." },
    { .name = "overlap_weight",
        .type = OPTION_DECIMAL,
        .fallback = "1",
        .max = 1000 * MILLION,
        .offset = offsetof (replay_flags_t, overlap_weight),
        .doc = "The router's option of this name." },
    { .name = "json", .type = OPTION_BOOL, .offset = offsetof (replay_flags_t, json), .doc = "Say it as JSON." },
    OPTIONS_END };

//  A fleet on a stage, and what its actors are told.
typedef struct {
    stage_t *stage;                                //  Where it runs
    broker_options_t broker;                       //  Of the broker
    router_options_t router;                       //  Of the router
    mock_options_t engine;                         //  Of each engine
    worker_options_t common;                       //  Of each worker
    worker_setup_t worker;                         //  Of each worker
    replay_options_t replay;                       //  Of the replay
    char instances [WORKERS_MAX][INSTANCE_MAX];    //  Names of the workers
} fleet_stage_t;

//  The defaults of a table, with nothing said.
static void
s_set_defaults (const option_t *table, void *fields, arena_t *memory)
{
    option_context_t context = { .memory = memory };
    option_set_defaults ((option_target_t){ table, fields }, &context);
}

static void
s_set_options (fleet_stage_t *self, const replay_flags_t *flags, const trace_t *trace, arena_t *memory)
{
    s_set_defaults (broker_options_table, &self->broker, memory);
    s_set_defaults (router_options_table, &self->router, memory);
    s_set_defaults (mock_options_table, &self->engine, memory);
    s_set_defaults (worker_options_table, &self->common, memory);
    self->broker.events = STAGE_EVENTS;
    self->broker.ring_bytes = RING_BYTES;
    self->router.mode = flags->policy;
    self->router.overlap_weight = flags->overlap_weight;
    self->engine.capacity = flags->capacity / trace->block_size;
    self->engine.slots = INT32_MAX;
    self->engine.context = 2 * TRACE_TOKENS_MAX;
    self->engine.burst = BURST;
    self->common.block_size = trace->block_size;
    self->common.requests_max = INT32_MAX;
    self->common.parked_max = INT64_MAX;
    self->common.read_timeout_ns = self->common.suspect_after_ns = 1000 * REALM_HOUR;
    self->worker = (worker_setup_t){ .engine = &mock_engine,
        .engine_options = &self->engine,
        .secret = REPLAY_SECRET,
        .model = SPAN ("replayed"),
        .common = &self->common };
    self->replay = (replay_options_t){ .trace = trace,
        .seed = (uint64_t)flags->seed,
        .workers = (size_t)flags->workers,
        .load = (uint64_t)flags->load,
        .sessions = (size_t)flags->sessions,
        .think_max_ns = flags->think_max_ns,
        .secret = REPLAY_SECRET,
        .router = "router/0" };
}

static void
s_add (fleet_stage_t *self, const actor_class_t *class, const char *instance, const void *options)
{
    stage_add (self->stage,
        &(stage_actor_t){ .class = class, .instance = instance, .options = options, .ring_bytes = RING_BYTES });
}

static void
s_run_fleet (fleet_stage_t *self, uint64_t seed)
{
    self->stage = stage_new (seed);
    s_add (self, &broker_class, "0", &self->broker);
    s_add (self, &router_class, "0", &self->router);
    for (size_t i = 0; i < self->replay.workers; i++) {
        snprintf (self->instances [i], INSTANCE_MAX, "%04zu", i);
        s_add (self, &worker_class, self->instances [i], &self->worker);
    }
    s_add (self, &replay_class, "0", &self->replay);
    while (!replay_is_over (stage_find (self->stage, "replay/0")))
        stage_run (self->stage, REALM_SECOND);
}

//  What fails is no figure of a policy: it is said beside them.
static result_t
s_complain (const replay_report_t *report)
{
    if (report->failed)
        command_complain (&replay_command, "%" PRIu64 " of %" PRIu64 " requests failed, the first one so: %s",
            report->failed, report->requests, report->failure);
    return report->failed ? RESULT_DEGRADED : RESULT_OK;
}

static result_t
s_tell (const fleet_stage_t *self, const replay_flags_t *flags)
{
    buffer_t text = { 0 };
    const replay_report_t *report = replay_report (stage_find (self->stage, "replay/0"));
    uint64_t log_hash = realm_log_hash (stage_realm (self->stage));
    (flags->json ? replay_report_json : replay_report_print) (report, (uint64_t)flags->seed, log_hash, &text);
    command_print (&text);
    buffer_fini (&text);
    return s_complain (report);
}

//  How compressed files begin that people keep traces in, and what opens them.
static const struct {
    const char *magic;     //  First bytes
    const char *opener;    //  Command
} s_packed [] = { { "\x28\xb5\x2f\xfd", "zstd" }, { "\x1f\x8b", "gzip" } };

static status_t
s_check_unpacked (const char *path, span_t text, error_t *error)
{
    for (size_t i = 0; i < sizeof s_packed / sizeof *s_packed; i++)
        if (span_starts_with (text, span_from_string (s_packed [i].magic)))
            return error_set (error, STATUS_UNSUPPORTED, "%s is compressed: say %s -dc FILE | stator replay -", path,
                s_packed [i].opener);
    return STATUS_OK;
}

static status_t
s_read_trace (const char *path, trace_t *trace, error_t *error)
{
    buffer_t text = { 0 };
    status_t status = environment_read_file (path, TRACE_BYTES_MAX, &text, error);
    if (status == STATUS_OK)
        status = s_check_unpacked (path, buffer_span (&text), error);
    if (status == STATUS_OK && trace_init (trace, buffer_span (&text), error) != STATUS_OK)
        status = error_prefix (error, "%s", path);
    buffer_fini (&text);
    return status;
}

static status_t
s_check (const replay_flags_t *flags, const trace_t *trace, error_t *error)
{
    size_t sessions = flags->sessions ? (size_t)flags->sessions : trace->sessions.count;
    if (flags->capacity < trace->block_size)
        return error_set (
            error, STATUS_INVALID, "--capacity has no room for one block of %u tokens", trace->block_size);
    if (!trace->single && sessions < 2)
        return error_set (error, STATUS_INVALID,
            "of one session nothing is counted, because counting ends with the last start: say --sessions 2 or more");
    return STATUS_OK;
}

static result_t
s_replay (const trace_t *trace, const replay_flags_t *flags)
{
    arena_t memory;
    fleet_stage_t *fleet = memory_new (sizeof *fleet);
    arena_init (&memory, SIZE_MAX);
    s_set_options (fleet, flags, trace, &memory);
    s_run_fleet (fleet, (uint64_t)flags->seed);
    result_t result = s_tell (fleet, flags);
    stage_destroy (&fleet->stage);
    memory_free (fleet);
    arena_fini (&memory);
    return result;
}

static result_t
s_run (const invocation_t *invocation)
{
    const replay_flags_t *flags = invocation->flags;
    trace_t trace;
    error_t error;
    if (s_read_trace (invocation->words [0], &trace, &error) != STATUS_OK) {
        command_complain (invocation->command, "%s", error.text);
        return RESULT_USAGE;
    }
    status_t status = s_check (flags, &trace, &error);
    result_t result = RESULT_USAGE;
    if (status)
        command_complain (invocation->command, "%s", error.text);
    else
        result = s_replay (&trace, flags);
    trace_fini (&trace);
    return result;
}

const command_t replay_command = {
    .name = "replay",
    .arguments = "TRACE",
    .doc = "Send recorded traffic through a fleet in virtual time, and say what became of it.",
    .essay = "TRACE is a file, or - for standard input: Claude Code sessions in runs, or Mooncake's requests, one JSON "
             "object a\n"
             "line. The router, its index and the workers are the real ones, the engines are mock, time is virtual; "
             "the same\n"
             "seed gives the same run. docs/replay.md says what the figures mean.\n",
    .table = s_flags,
    .flags_size = sizeof (replay_flags_t),
    .words_min = 1,
    .words_max = 1,
    .run = s_run,
};
