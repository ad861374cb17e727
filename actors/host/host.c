#include "actors/host/host.h"

#include <string.h>

#include "base/memory.h"
#include "runtime/call.h"
#include "runtime/directory.h"
#include "runtime/incoming.h"
#include "runtime/timer.h"
#include "schemas/host.h"
#include "schemas/status.h"

enum { COMMAND_MAX = 1024, HTTP_OK = 200 };

static const uint64_t MS = 1000000;
static const uint64_t PROBE_TIMEOUT_NS = 2000000000;

typedef struct host host_t;

//  A program, and its process while there is one.
typedef struct {
    host_t *host;                     //  Whose
    const host_program_t *program;    //  What
    size_t position;                  //  In the host's list
    port_process_t *process;          //  NULL: does not run
    char command [COMMAND_MAX];       //  argv in one line
    call_t ping;                      //  Is it there?
    port_fetch_t *fetch;              //  Is its URL there?  NULL: not being asked
    int fetch_code;                   //  HTTP status of the answer
    bool reload_due;                  //  It is to read its configuration again
    metric_t *restarts;               //  Counted
} child_t;

struct host {
    actor_t *actor;                //  Itself
    child_t *children;             //  One a program
    size_t count;                  //  How many
    supervised_t *specs;           //  For the supervisor
    supervisor_t *supervisor;      //  Decides
    supervisor_orders_t orders;    //  What it may order
    uint64_t probe_interval_ns;    //  Between two questions
    actor_timer_t due;             //  When the supervisor wants to be asked
    actor_timer_t probe;           //  When starting processes are asked
};

static const metric_desc_t s_restarts_metric = { .name = "stator_process_restarts_total",
    .help = "Starts after a crash or a drain.",
    .kind = METRIC_COUNTER,
    .labels = "process" };

static void s_on_due (void *state, actor_t *actor, void *arg);

//  After everything that may have changed what is due.
static void
s_rearm (host_t *self)
{
    uint64_t now_ns = actor_now (self->actor);
    uint64_t next_ns = supervisor_advance (self->supervisor, now_ns);
    if (next_ns == PORT_NEVER)
        timer_stop (&self->due);
    else
        timer_start (&self->due, self->actor, next_ns > now_ns ? next_ns - now_ns : 1, s_on_due, NULL);
    if (supervisor_is_stopped (self->supervisor) && actor_is_draining (self->actor))
        actor_drained (self->actor);
}

static void
s_on_due (void *state, actor_t *actor, void *arg)
{
    s_rearm (state);
}

//  ---- What is told about a process ----------------------------------------------------------------------------------

static host_process_t
s_describe (const host_t *self, const child_t *child)
{
    const supervised_now_t *now = supervisor_now (self->supervisor, child->position);
    const port_t *port = actor_port (self->actor);
    return (host_process_t){
        .name = span_from_string (child->program->supervised.name),
        .state = now->state,
        .pid = child->process ? port->table->process_id (child->process) : 0,
        .restarts = now->restarts,
        .has_last_exit = now->has_exit,
        .last_exit = now->last_exit,
        .uptime_ms = now->started_ns ? (actor_now (self->actor) - now->started_ns) / MS : 0,
        .command = span_from_string (child->command),
    };
}

static void
s_on_changed (void *arg, size_t process, const char *reason)
{
    host_t *self = arg;
    const child_t *child = &self->children [process];
    process_changed_t event = { .process = s_describe (self, child) };
    event.has_reason = reason != NULL;
    event.reason = span_from_string (reason);
    log_level_t level = event.process.state == PROCESS_STATE_LOOPING ? LOG_ERROR : reason ? LOG_WARNING : LOG_INFO;
    const char *output = level >= LOG_WARNING ? child->program->output : NULL;
    actor_log (self->actor, level, "%s is %s%s%s%s%s", child->program->supervised.name,
        process_state_name (event.process.state), reason ? ": " : "", reason ? reason : "", output ? "; see " : "",
        output ? output : "");
    actor_publish (self->actor, &process_changed_message, &event);
}

//  ---- Processes -----------------------------------------------------------------------------------------------------

static void
s_stop_asking (child_t *child)
{
    const port_t *port = actor_port (child->host->actor);
    call_drop (&child->ping);
    if (child->fetch)
        port->table->fetch_cancel (child->fetch);
    child->fetch = NULL;
}

static void
s_on_exit (void *arg, int code)
{
    child_t *child = arg;
    host_t *self = child->host;
    s_stop_asking (child);
    actor_port (self->actor)->table->process_close (child->process);
    child->process = NULL;
    supervisor_exited (self->supervisor, child->position, code, actor_now (self->actor));
    s_rearm (self);
}

static status_t
s_on_start (void *arg, size_t process, error_t *error)
{
    host_t *self = arg;
    child_t *child = &self->children [process];
    port_t *port = actor_port (self->actor);
    process_options_t options = {
        .argv = child->program->argv,
        .environment = child->program->environment,
        .output = child->program->output,
        .on_exit = s_on_exit,
        .arg = child,
    };
    if (supervisor_now (self->supervisor, process)->restarts)
        metric_add (child->restarts, 1);
    child->process = port->table->process_start (port, &options, error);
    return child->process ? STATUS_OK : error->status;
}

static void
s_on_signal (void *arg, size_t process, process_signal_t signal)
{
    host_t *self = arg;
    actor_port (self->actor)->table->process_signal (self->children [process].process, signal);
}

//  ---- Readiness -----------------------------------------------------------------------------------------------------

static bool
s_is_starting (const child_t *child)
{
    return supervisor_now (child->host->supervisor, child->position)->state == PROCESS_STATE_STARTING;
}

static void
s_set_ready (child_t *child)
{
    host_t *self = child->host;
    s_stop_asking (child);
    supervisor_ready (self->supervisor, child->position, actor_now (self->actor));
    s_rearm (self);
}

//  An entry from the process's earlier life does not count.
static bool
s_takes_work (const child_t *child, const actor_entry_t *entry)
{
    const port_t *port = actor_port (child->host->actor);
    return entry && entry->state == ACTOR_STATE_ALIVE && !entry->draining &&
           entry->process == (uint64_t)port->table->process_id (child->process);
}

static bool
s_actors_are_ready (const child_t *child)
{
    if (!child->program->actors)
        return false;
    for (const char *const *address = child->program->actors; *address; address++)
        if (!s_takes_work (child, directory_find (child->host->actor, span_from_string (*address))))
            return false;
    return true;
}

static void
s_on_actor (void *state, actor_t *actor, const actor_entry_t *entry)
{
    host_t *self = state;
    for (size_t i = 0; i < self->count; i++)
        if (s_is_starting (&self->children [i]) && s_actors_are_ready (&self->children [i]))
            s_set_ready (&self->children [i]);
}

static void
s_on_pong (void *state, void *arg, call_result_t result, const void *reply)
{
    child_t *child = arg;
    if (result == CALL_REPLIED && s_is_starting (child))
        s_set_ready (child);
}

static void
s_on_fetch_head (void *arg, int code)
{
    child_t *child = arg;
    child->fetch_code = code;
}

static void
s_on_fetch_end (void *arg, status_t status, const error_t *error)
{
    child_t *child = arg;
    child->fetch = NULL;
    if (status == STATUS_OK && child->fetch_code == HTTP_OK && s_is_starting (child))
        s_set_ready (child);
}

static void
s_fetch (child_t *child)
{
    port_t *port = actor_port (child->host->actor);
    fetch_options_t options = {
        .method = "GET",
        .url = child->program->url,
        .total_timeout_ns = PROBE_TIMEOUT_NS,
        .response_max = 1 << 20,
        .on_head = s_on_fetch_head,
        .on_end = s_on_fetch_end,
        .arg = child,
    };
    child->fetch_code = 0;
    child->fetch = port->table->fetch (port, &options, NULL);
}

static void
s_ask (child_t *child)
{
    const host_program_t *program = child->program;
    ping_t ping = { 0 };
    if (!program->actors && !program->ping && !program->url) {
        s_set_ready (child);
        return;
    }
    if (program->ping && !call_is_active (&child->ping))
        call_start (&child->ping, child->host->actor,
            &(call_options_t){ .address = span_from_string (program->ping),
                .type = &ping_message,
                .request = &ping,
                .timeout_ns = PROBE_TIMEOUT_NS,
                .done = s_on_pong,
                .arg = child });
    if (program->url && !child->fetch)
        s_fetch (child);
}

//  Too early a signal would end the process: it is there for signals when it is in the directory, or else when it is ready.
static bool
s_takes_signals (const child_t *child)
{
    const port_t *port = actor_port (child->host->actor);
    const char *const *address = child->program->actors;
    const actor_entry_t *entry =
        address && *address ? directory_find (child->host->actor, span_from_string (*address)) : NULL;
    return !s_is_starting (child) || (entry && entry->process == (uint64_t)port->table->process_id (child->process));
}

static void
s_pass_on_reloads (host_t *self)
{
    for (size_t i = 0; i < self->count; i++) {
        child_t *child = &self->children [i];
        if (!child->reload_due || !child->process || !s_takes_signals (child))
            continue;
        child->reload_due = false;
        actor_port (self->actor)->table->process_signal (child->process, PROCESS_SIGNAL_HUP);
    }
}

//  Directory events may have come before the process was known to be starting: look again, too.
static void
s_on_probe (void *state, actor_t *actor, void *arg)
{
    host_t *self = state;
    for (size_t i = 0; i < self->count; i++)
        if (s_is_starting (&self->children [i]))
            s_ask (&self->children [i]);
    s_on_actor (self, actor, NULL);
    s_pass_on_reloads (self);
    timer_start (&self->probe, actor, self->probe_interval_ns, s_on_probe, NULL);
}

//  ---- Calls ---------------------------------------------------------------------------------------------------------

static void
s_on_list_processes (void *state, actor_t *actor, incoming_t *incoming, const void *message)
{
    const host_t *self = state;
    host_process_t *processes = memory_new (self->count * sizeof *processes);
    for (size_t i = 0; i < self->count; i++)
        processes [i] = s_describe (self, &self->children [i]);
    list_processes_reply_t reply = { .processes = processes, .processes_count = self->count };
    incoming_reply (incoming, &reply);
    memory_free (processes);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static void
s_init_child (host_t *self, size_t position, const host_program_t *program)
{
    child_t *child = &self->children [position];
    buffer_t text = { 0 };
    *child = (child_t){ .host = self, .program = program, .position = position };
    for (const char *const *word = program->argv; *word; word++)
        buffer_print (&text, "%s%s", word == program->argv ? "" : " ", *word);
    span_copy_string (buffer_span (&text), child->command, sizeof child->command);
    buffer_clear (&text);
    buffer_print (&text, "process=\"%s\"", program->supervised.name);
    child->restarts = metrics_get (actor_metrics (self->actor), &s_restarts_metric, buffer_string (&text));
    buffer_fini (&text);
    self->specs [position] = program->supervised;
}

static status_t
s_init (void *state, actor_t *actor, const void *options, error_t *error)
{
    host_t *self = state;
    const host_setup_t *setup = options;
    if (!setup->count)
        return error_set (error, STATUS_INVALID, "a host needs something to run");
    self->actor = actor;
    self->count = setup->count;
    self->probe_interval_ns = setup->options->probe_interval_ns;
    self->children = memory_new (setup->count * sizeof *self->children);
    self->specs = memory_new (setup->count * sizeof *self->specs);
    for (size_t i = 0; i < setup->count; i++)
        s_init_child (self, i, &setup->programs [i]);
    self->orders = (supervisor_orders_t){ s_on_start, s_on_signal, s_on_changed, self };
    self->supervisor = supervisor_new (self->specs, self->count, setup->options, &self->orders);
    supervisor_start (self->supervisor, actor_now (actor));
    s_rearm (self);
    s_on_probe (self, actor, NULL);
    return STATUS_OK;
}

static void
s_fini (void *state, actor_t *actor)
{
    host_t *self = state;
    timer_stop (&self->due);
    timer_stop (&self->probe);
    for (size_t i = 0; i < self->count; i++) {
        s_stop_asking (&self->children [i]);
        if (self->children [i].process)
            actor_port (actor)->table->process_close (self->children [i].process);
    }
    supervisor_destroy (&self->supervisor);
    memory_free (self->children);
    memory_free (self->specs);
}

static void
s_drain (void *state, actor_t *actor)
{
    host_t *self = state;
    timer_stop (&self->probe);
    supervisor_stop (self->supervisor, actor_now (actor));
    s_rearm (self);
}

//  Nothing about the host itself can change: those that it runs may read their configuration again.
static void
s_reload (void *state, actor_t *actor, const void *options)
{
    host_t *self = state;
    for (size_t i = 0; i < self->count; i++)
        self->children [i].reload_due = self->children [i].process && self->children [i].program->reloads;
    s_pass_on_reloads (self);
}

static void
s_describe_host (void *state, actor_t *actor, buffer_t *out)
{
    const host_t *self = state;
    size_t running = 0, looping = 0;
    for (size_t i = 0; i < self->count; i++) {
        process_state_t now = supervisor_now (self->supervisor, i)->state;
        running += now == PROCESS_STATE_RUNNING;
        looping += now == PROCESS_STATE_LOOPING;
    }
    buffer_print (out, "%zu of %zu processes are running", running, self->count);
    if (looping)
        buffer_print (out, ", %zu crashing again and again", looping);
}

static const actor_handler_t s_handlers [] = {
    HANDLES_CALL (list_processes, s_on_list_processes),
    HANDLES_ACTOR (NULL, s_on_actor),
    HANDLERS_END,
};

static void
s_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_restarts_metric, NULL };
    metrics_tell (all, told, arg);
}

const actor_class_t host_class = {
    .name = "host",
    .state_size = sizeof (host_t),
    .list_metrics = s_list_metrics,
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .drain = s_drain,
    .reload = s_reload,
    .describe = s_describe_host,
};
