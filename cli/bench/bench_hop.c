//  stator bench hop - what a call from one actor to another costs
//
//  Two actors of one process, each on its thread, and a broker that tells the one where the other is.  The bare program has
//  two threads in one process too, and its frames have the sizes of ours.  Processor time is that of all threads, those of
//  libzmq included.  Both run in turn, some times; the least of each counts, since others on the machine only add to it.

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/bug.h"
#include "broker/broker.h"
#include "cli/bench/bench_child.h"
#include "cli/house.h"
#include "runtime/call.h"
#include "runtime/wire.h"
#include "schemas/status.h"

#define CALLEE "callee/0"
#define BROKER "inproc://bench-broker"
#define EVENTS "inproc://bench-events"

enum {
    IN_FLIGHT_MAX = 100,
    ROUNDS = 3,
    WARM_SHARE = 10,
    DEADLINE_S = 60,
    CALL_DEADLINE_MS = 10000,
    NAME_MAX_SIZE = 64,
    MS = 1000000
};

//  Where the callee is bound.  0.0.0.0 is no loopback address, so it is guarded, yet it leads back here.
static const struct {
    const char *name;        //  Of the cell
    const char *endpoint;    //  Of ours
    const char *bare;        //  Of the bare program
    bool curve;              //  Encrypted, and both sides proven
} s_ways [] = {
    { "inproc", "inproc://bench-callee", "inproc://bare", false },
    { "ipc", "ipc://%s/callee", "ipc://%s/bare", false },
    { "tcp", "tcp://127.0.0.1:*", "tcp://127.0.0.1:*", false },
    { "tcp_curve", "tcp://0.0.0.0:*", "tcp://127.0.0.1:*", true },
};
enum { WAYS = sizeof s_ways / sizeof *s_ways };

static const struct {
    const char *name;      //  In the cell
    uint64_t in_flight;    //  Calls at once
    uint64_t calls;        //  In all
    uint64_t quick;        //  The same, where only little is to be done
} s_loads [] = {
    { "1", 1, 5000, 100 },
    { "100", IN_FLIGHT_MAX, 100000, 1000 },
};
enum { LOADS = sizeof s_loads / sizeof *s_loads };

//  ---- The caller ----------------------------------------------------------------------------------------------------

//  What it is told, and what it finds out.  It posts `done` last.
typedef struct {
    uint64_t in_flight;    //  Calls at once
    uint64_t calls;        //  In all
    bench_cost_t cost;     //  Of one
    error_t error;         //  Of the first call that failed
    sem_t done;            //  It has finished
} task_t;

typedef struct {
    actor_t *actor;                  //  Itself
    task_t *task;                    //  Of main's thread until it is done
    call_t calls [IN_FLIGHT_MAX];    //  Under way
    uint64_t started;                //  How many so far
    uint64_t finished;               //  Of these
    double cpu_s;                    //  At the end of what does not count
    double wall_s;                   //  Likewise
} caller_state_t;

static void s_on_pong (void *self_, void *arg, call_result_t result, const void *reply);

static void
s_call (caller_state_t *self, call_t *call)
{
    static const ping_t ping;
    self->started++;
    call_start (call, self->actor,
        &(call_options_t){ .address = SPAN (CALLEE),
            .type = &ping_message,
            .request = &ping,
            .timeout_ns = (uint64_t)CALL_DEADLINE_MS * MS,
            .done = s_on_pong,
            .arg = call });
}

static void
s_finish (caller_state_t *self)
{
    task_t *task = self->task;
    double counted = (double)(task->calls - task->calls / WARM_SHARE);
    task->cost.cpu = (bench_seconds () - self->cpu_s) * 1e6 / counted;
    task->cost.wall = (bench_wall_seconds () - self->wall_s) * 1e6 / counted;
    sem_post (&task->done);
}

static void
s_on_pong (void *self_, void *arg, call_result_t result, const void *reply)
{
    caller_state_t *self = self_;
    task_t *task = self->task;
    call_t *call = arg;
    if (result != CALL_REPLIED && task->error.status == STATUS_OK)
        task->error = *call_error (call);
    if (++self->finished == task->calls / WARM_SHARE) {
        self->cpu_s = bench_seconds ();
        self->wall_s = bench_wall_seconds ();
    }
    if (self->finished == task->calls)
        s_finish (self);
    else if (self->started < task->calls)
        s_call (self, call);
}

static void
s_on_callee (void *self_, actor_t *actor, const actor_entry_t *entry)
{
    caller_state_t *self = self_;
    if (entry->state != ACTOR_STATE_ALIVE || self->started)
        return;
    for (uint64_t i = 0; i < self->task->in_flight; i++)
        s_call (self, &self->calls [i]);
}

static status_t
s_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    caller_state_t *self = self_;
    self->actor = actor;
    self->task = *(task_t *const *)options;
    return STATUS_OK;
}

static void
s_fini (void *self_, actor_t *actor)
{
    caller_state_t *self = self_;
    for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
        call_drop (&self->calls [i]);
}

static const actor_handler_t s_caller_handlers [] = { HANDLES_ACTOR ("callee", s_on_callee), HANDLERS_END };
static const actor_handler_t s_callee_handlers [] = { HANDLERS_END };

static const actor_class_t s_caller_class = { .name = "caller",
    .state_size = sizeof (caller_state_t),
    .init = s_init,
    .fini = s_fini,
    .handlers = s_caller_handlers };
static const actor_class_t s_callee_class = { .name = "callee", .handlers = s_callee_handlers };

//  ---- Ours ----------------------------------------------------------------------------------------------------------

//  Both actors live here, so one key serves both.
static status_t
s_read_keys (void *arg, keyring_t **keys, buffer_t *news, error_t *error)
{
    char secret [KEY_TEXT_SIZE];
    keyring_entry_t own = { .name = "bench", .address = "0.0.0.0", .roles = 1 };
    if (zmq_curve_keypair (own.public_key, secret) != 0)
        return error_set (error, STATUS_UNSUPPORTED, "this libzmq has no CURVE");
    *keys = keyring_new ();
    keyring_set_own (*keys, own.public_key, secret);
    return keyring_add (*keys, &own, error);
}

static status_t
s_measure_ours (const char *endpoint, const char *folder, task_t *task, error_t *error)
{
    static const char *const anything [] = { "*", NULL };
    static const guard_role_t role = { "bench", anything, anything };
    static const guard_t guard = { &role, 1 };
    static const broker_options_t base = {
        .events = EVENTS,
        .lease_ns = UINT64_C (5000) * MS,
        .heartbeat_ns = UINT64_C (1000) * MS,
        .gone_after_ns = UINT64_C (60000) * MS,
        .ring_bytes = 1 << 20,
        .ring_budget = 1 << 24,
        .subscriber_queue = 1000,
        .actors_max = 16,
    };
    actor_options_t common = { .instance = "0", .broker = BROKER, .events = EVENTS, .guard = &guard };
    assembly_actor_t actors [] = {
        { .class = &broker_class, .options = { .instance = "0", .endpoint = BROKER }, .class_options = &base },
        { .class = &s_callee_class, .options = common },
        { .class = &s_caller_class, .options = common, .class_options = &task },
    };
    actors [1].options.endpoint = endpoint;
    house_options_t options = { .state_dir = folder, .log_level = LOG_ERROR, .read_keys = s_read_keys };
    sem_init (&task->done, 0, 0);
    house_t *house = house_new (actors, sizeof actors / sizeof *actors, &options, error);
    status_t status = house ? STATUS_OK : error->status;
    if (house) {
        house_start (house);
        status = bench_await (&task->done, DEADLINE_S, error);
        house_destroy (&house);
        if (!status && task->error.status)
            *error = task->error;
        status = status ? status : task->error.status;
    }
    sem_destroy (&task->done);
    return status;
}

//  ---- Bare ----------------------------------------------------------------------------------------------------------

//  Sizes of the frames of a ping and its answer.
typedef struct {
    size_t header;          //  Of the call
    size_t body;            //  Likewise
    size_t reply_header;    //  Of the reply
    size_t reply_body;      //  Likewise
} sizes_t;

static size_t
s_size (const message_type_t *type, const void *message)
{
    buffer_t bytes = { 0 };
    message_encode (type, message, &bytes);
    size_t size = bytes.size;
    buffer_fini (&bytes);
    return size;
}

static sizes_t
s_sizes (void)
{
    frame_header_t call = { .version = WIRE_VERSION,
        .kind = FRAME_KIND_CALL,
        .id = UINT16_MAX + 1,
        .has_method = true,
        .method = SPAN ("ping"),
        .has_deadline_ms = true,
        .deadline_ms = CALL_DEADLINE_MS,
        .has_sender = true,
        .sender = SPAN ("caller/0") };
    frame_header_t reply = { .version = WIRE_VERSION, .kind = FRAME_KIND_REPLY, .id = UINT16_MAX + 1 };
    pong_t pong = { SPAN (CALLEE), UINT64_C (1) << 60, 1000 };
    return (sizes_t){ s_size (&frame_header_message, &call), s_size (&ping_message, &(ping_t){ 0 }),
        s_size (&frame_header_message, &reply), s_size (&pong_message, &pong) };
}

static status_t
s_measure_bare (
    const bench_run_t *run, const char *endpoint, bool curve, const task_t *task, bench_cost_t *cost, error_t *error)
{
    char text [6][32];
    sizes_t sizes = s_sizes ();
    uint64_t numbers [6] = { task->in_flight, task->calls, sizes.header, sizes.body, sizes.reply_header,
        sizes.reply_body };
    const char *words [9] = { endpoint, curve ? "1" : "0" };
    for (size_t i = 0; i < 6; i++) {
        snprintf (text [i], sizeof text [i], "%llu", (unsigned long long)numbers [i]);
        words [i + 2] = text [i];
    }
    bench_child_t child = { 0 };
    double figures [2];
    status_t status = bench_child_start_bare (&child, run, "hop", words, error);
    if (status == STATUS_OK)
        status = bench_child_read (&child, figures, 2, error);
    bench_child_stop (&child);
    if (status == STATUS_OK)
        *cost = (bench_cost_t){ figures [0], figures [1] };
    return status;
}

//  ---- Cells ---------------------------------------------------------------------------------------------------------

static void
s_print (const char *name, const bench_cost_t *ours, const bench_cost_t *bare)
{
    bench_cell_t cell;
    bench_cell_begin (&cell, &bench_hop, name);
    bench_cell_figure (&cell, "cpu_us", ours->cpu);
    bench_cell_figure (&cell, "wall_us", ours->wall);
    bench_cell_figure (&cell, "bare_cpu_us", bare->cpu);
    bench_cell_figure (&cell, "bare_wall_us", bare->wall);
    bench_cell_ratio (&cell, ours->cpu, bare->cpu);
    bench_cell_print (&cell);
}

static status_t
s_run_cell (const bench_run_t *run, const char *folder, size_t way, size_t load, error_t *error)
{
    char name [NAME_MAX_SIZE], endpoint [ENDPOINT_MAX], bare_endpoint [ENDPOINT_MAX];
    bench_cost_t ours = { 0 }, bare = { 0 };
    status_t status = STATUS_OK;
    snprintf (name, sizeof name, "%s_%s", s_ways [way].name, s_loads [load].name);
    if (!bench_wants (run, name))
        return STATUS_OK;
    snprintf (endpoint, sizeof endpoint, s_ways [way].endpoint, folder);
    snprintf (bare_endpoint, sizeof bare_endpoint, s_ways [way].bare, folder);
    for (int round = 0; round < (run->quick ? 1 : ROUNDS) && status == STATUS_OK; round++) {
        bench_cost_t cost = { 0 };
        task_t task = { .in_flight = s_loads [load].in_flight,
            .calls = run->quick ? s_loads [load].quick : s_loads [load].calls };
        status = s_measure_ours (endpoint, folder, &task, error);
        if (status == STATUS_OK)
            status = s_measure_bare (run, bare_endpoint, s_ways [way].curve, &task, &cost, error);
        bench_cost_keep_least (&ours, &task.cost, round == 0);
        bench_cost_keep_least (&bare, &cost, round == 0);
    }
    if (status == STATUS_OK)
        s_print (name, &ours, &bare);
    return status;
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    char folder [BENCH_FOLDER_MAX];
    status_t status = bench_folder_make (folder, error);
    if (status)
        return status;
    for (size_t way = 0; way < WAYS; way++)
        for (size_t load = 0; load < LOADS && status == STATUS_OK; load++)
            status = s_run_cell (run, folder, way, load, error);
    bench_folder_remove (folder);
    return status;
}

const bench_t bench_hop = {
    .name = "hop",
    .arguments = "[CELL ...]",
    .doc =
        "A call between two actors over inproc, ipc, tcp and tcp with CURVE, 1 and 100 in flight, beside bare libzmq.",
    .words_max = BENCH_CELLS,
    .run = s_run,
};
