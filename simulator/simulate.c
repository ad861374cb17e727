#include "simulator/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "runtime/directory.h"
#include "simulator/disk.h"
#include "simulator/port/sim_port.h"

//  A root that ended is started again after this long.
#define RESTART_NS (2 * REALM_SECOND)

//  Figures are gathered this often, and at one look in so many invariants are checked.
#define LOOK_NS REALM_SECOND
enum { LOOKS_A_CHECK = 7 };

//  Fleets get this long to start before anybody asks or anything breaks.
#define HEAD_START_NS (5 * REALM_SECOND)

//  Requests that are still under way when faults have stopped get this long to end.
#define PATIENCE_NS (900 * REALM_SECOND)

//  Who has drained is back after this long.
#define RETURN_NS (20 * REALM_SECOND)

#define QUIET_DEFAULT_NS (180 * REALM_SECOND)

#define HARNESS_MACHINE "harness"

enum { COUNTED_MAX = 9 };

//  Metrics that are situations.
static const struct {
    const char *name;         //  Of the metric
    const char *labels;       //  Of the metric; NULL: all of this name together
    situation_t situation;    //  What it shows
    bool is_gauge;            //  Shown whenever it has risen from 0 since the last look
} s_counted [COUNTED_MAX] = {
    { "stator_bus_events_total", "kind=\"gap\"", SITUATION_GAP, false },
    { "stator_bus_events_total", "kind=\"replayed\"", SITUATION_RING_REPLAY, false },
    { "stator_bus_events_total", "kind=\"snapshot\"", SITUATION_SNAPSHOT, false },
    { "stator_bus_events_total", "kind=\"fence\"", SITUATION_FENCE, false },
    { "stator_bus_events_total", "kind=\"stale_event\"", SITUATION_ZOMBIE, false },
    { "stator_broker_batches_total", "result=\"stale\"", SITUATION_ZOMBIE, false },
    { "stator_bus_events_total", "kind=\"refused\"", SITUATION_REFUSED, false },
    { "stator_migrations_total", NULL, SITUATION_MIGRATION, false },
    { "stator_worker_parked_tokens", NULL, SITUATION_CREDIT_STALL, true },
};

//  What an actor's counters stood at when they were last read.
typedef struct {
    uint64_t started;                //  Number of its process
    int64_t values [COUNTED_MAX];    //  As in s_counted
} seen_t;

typedef struct simulation simulation_t;

typedef struct {
    const simulate_root_t *root;    //  What
    realm_machine_t *machine;       //  Where
    realm_process_t *process;       //  The last one
    uint64_t ended_ns;              //  When it was found dead; 0: it lives
} standing_t;

struct simulation {
    const simulate_options_t *options;    //  As given
    simulate_report_t *report;            //  Filled in as it happens
    realm_t *realm;                       //  The world
    faults_t *faults;                     //  What breaks it
    harness_t *harness;                   //  Who uses it
    realm_program_t program;              //  Of the harnesses
    standing_t *roots;                    //  One a root
    map_t *seen;                          //  seen_t by address of an actor
    realm_event_t look;                   //  The next look
    uint64_t looks;                       //  So far
    uint64_t draining_ns;                 //  When somebody who carries answers was last seen to drain; 0: never
};

static const char *const s_situation_names [SITUATION_COUNT] = {
    [SITUATION_GAP] = "gap",
    [SITUATION_RING_REPLAY] = "ring_replay",
    [SITUATION_SNAPSHOT] = "snapshot",
    [SITUATION_FENCE] = "fence",
    [SITUATION_ZOMBIE] = "zombie",
    [SITUATION_MIGRATION] = "migration",
    [SITUATION_BROKER_LOSS] = "broker_loss",
    [SITUATION_PARTITION] = "partition",
    [SITUATION_CRASH_STREAMING] = "crash_streaming",
    [SITUATION_LEFT] = "left",
    [SITUATION_MACHINE_LOSS] = "machine_loss",
    [SITUATION_TORN] = "torn",
    [SITUATION_FULL_QUEUE] = "full_queue",
    [SITUATION_CREDIT_STALL] = "credit_stall",
    [SITUATION_REFUSED] = "refused",
};

const char *
situation_name (situation_t situation)
{
    return s_situation_names [situation];
}

static void
s_on_violation (void *arg, const char *sentence)
{
    simulation_t *self = arg;
    simulate_report_t *report = self->report;
    if (report->violation_count < SIMULATE_VIOLATIONS_MAX)
        snprintf (report->violations [report->violation_count], SIMULATE_SENTENCE_MAX, "%s", sentence);
    report->violation_count++;
    if (self->options->on_log)
        self->options->on_log (
            self->options->arg, realm_now (self->realm), "VIOLATION", LOG_ERROR, span_from_string (sentence));
}

//  ---- Harnesses -----------------------------------------------------------------------------------------------------

//  What struck a request, or keeps it out: whoever drains takes nothing new for as long as somebody reads slowly.
static bool
s_excused (void *arg, uint64_t since_ns)
{
    const simulation_t *self = arg;
    return faults_since (self->faults, since_ns) || (self->draining_ns && self->draining_ns + RETURN_NS > since_ns);
}

static status_t
s_harness_start (realm_process_t *process, void **state, error_t *error)
{
    simulation_t *self = realm_process_program (process)->arg;
    harness_options_t options = self->options->harness;
    options.excused = s_excused;
    options.on_violation = s_on_violation;
    options.arg = self;
    random_t random;
    realm_fork_random (self->realm, &random, "harness", 0);
    self->harness = harness_new (sim_port_new (process), &options, random_u64 (&random));
    return STATUS_OK;
}

static void
s_harness_stop (realm_process_t *process, void *state)
{
    simulation_t *self = realm_process_program (process)->arg;
    harness_destroy (&self->harness);
}

//  ---- Roots ---------------------------------------------------------------------------------------------------------

static status_t
s_start_root (standing_t *standing, error_t *error)
{
    realm_start_t start = { .argv = standing->root->argv };
    standing->ended_ns = 0;
    standing->process = realm_process_start (standing->machine, &start, error);
    return standing->process ? STATUS_OK : error ? error->status : STATUS_INVALID;
}

//  As the init system of a machine does.
static void
s_keep_roots_standing (simulation_t *self)
{
    uint64_t now_ns = realm_now (self->realm);
    for (size_t i = 0; i < self->options->root_count; i++) {
        standing_t *standing = &self->roots [i];
        if (standing->process && realm_process_is_alive (standing->process))
            continue;
        if (!standing->ended_ns)
            standing->ended_ns = now_ns;
        else if (now_ns - standing->ended_ns >= RESTART_NS && realm_machine_is_up (standing->machine))
            s_start_root (standing, NULL);
    }
}

static status_t
s_start_roots (simulation_t *self, error_t *error)
{
    size_t count = self->options->root_count;
    self->roots = memory_new (count * sizeof *self->roots);
    for (size_t i = 0; i < count; i++) {
        const simulate_root_t *root = &self->options->roots [i];
        realm_machine_t *machine = realm_machine_find (self->realm, root->machine);
        self->roots [i] =
            (standing_t){ .root = root, .machine = machine ? machine : realm_machine_new (self->realm, root->machine) };
        status_t status = s_start_root (&self->roots [i], error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

//  ---- What is seen --------------------------------------------------------------------------------------------------

static bool
s_is_counted (int i, const char *name, const char *labels)
{
    return strcmp (name, s_counted [i].name) == 0 &&
           (!s_counted [i].labels || (labels && strcmp (labels, s_counted [i].labels) == 0));
}

static void
s_read_counters (const actor_t *actor, int64_t values [COUNTED_MAX])
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    memset (values, 0, COUNTED_MAX * sizeof *values);
    while (metrics_next (actor_metrics (actor), &cursor, &name, &labels, &value))
        for (int i = 0; i < COUNTED_MAX; i++)
            if (s_is_counted (i, name, labels))
                values [i] += value;
}

//  Counters begin anew with each process.
static void
s_gather (simulation_t *self, const realm_process_t *process, const actor_t *actor)
{
    int64_t values [COUNTED_MAX];
    span_t address = span_from_string (actor_address (actor));
    seen_t *seen = map_get (self->seen, address);
    if (!seen) {
        seen = memory_new (sizeof *seen);
        map_put (self->seen, address, seen);
    }
    if (seen->started != realm_process_number (process))
        *seen = (seen_t){ .started = realm_process_number (process) };
    s_read_counters (actor, values);
    for (int i = 0; i < COUNTED_MAX; i++) {
        int64_t more = s_counted [i].is_gauge ? values [i] && !seen->values [i] : values [i] - seen->values [i];
        self->report->situations [s_counted [i].situation] += (uint64_t)more;
        seen->values [i] = values [i];
    }
}

static void
s_gather_process (simulation_t *self, const realm_process_t *process)
{
    const actor_t *actor;
    for (size_t k = 0; (actor = self->options->view.actor_at (process, k)); k++)
        s_gather (self, process, actor);
}

static void
s_gather_all (simulation_t *self)
{
    const realm_process_t *process;
    for (size_t i = 0; (process = realm_process_at (self->realm, i)); i++)
        s_gather_process (self, process);
}

static void
s_check_index (simulation_t *self, bool quiet)
{
    invariants_check (self->realm, &self->options->view, quiet, &self->report->index, s_on_violation, self);
}

static bool
s_houses (simulation_t *self, const realm_process_t *process, const char *service)
{
    const actor_t *actor;
    for (size_t k = 0; (actor = self->options->view.actor_at (process, k)); k++)
        if (address_is_of (span_from_string (actor_address (actor)), service))
            return true;
    return false;
}

//  Answers go on from another worker; what they pass through on the way to the harness must stand.
static bool
s_carries_answers (simulation_t *self, const realm_process_t *process)
{
    return s_houses (self, process, "frontend") || s_houses (self, process, "router") ||
           s_houses (self, process, "host");
}

static bool
s_drains (simulation_t *self, const realm_process_t *process)
{
    const actor_t *actor;
    for (size_t k = 0; (actor = self->options->view.actor_at (process, k)); k++)
        if (actor_is_draining (actor))
            return true;
    return false;
}

static void
s_look_for_draining (simulation_t *self)
{
    const realm_process_t *process;
    for (size_t i = 0; (process = realm_process_at (self->realm, i)); i++)
        if (s_drains (self, process) && s_carries_answers (self, process))
            self->draining_ns = realm_now (self->realm);
}

static void
s_on_look (realm_event_t *event)
{
    simulation_t *self = LIST_ENTRY (event, simulation_t, look);
    s_keep_roots_standing (self);
    s_look_for_draining (self);
    s_gather_all (self);
    if (++self->looks % LOOKS_A_CHECK == 0)
        s_check_index (self, false);
    realm_schedule (self->realm, event, realm_now (self->realm) + LOOK_NS);
}

static void
s_on_process_crash (simulation_t *self, const realm_process_t *process)
{
    harness_figures_t figures = { 0 };
    if (self->harness)
        harness_figures (self->harness, &figures);
    s_gather_process (self, process);
    self->report->situations [SITUATION_BROKER_LOSS] += s_houses (self, process, "broker");
    self->report->situations [SITUATION_CRASH_STREAMING] += figures.streaming > 0;
}

static const actor_t *
s_find_actor (simulation_t *self, span_t address, const realm_process_t **process)
{
    const actor_t *actor;
    for (size_t i = 0; (*process = realm_process_at (self->realm, i)); i++)
        for (size_t k = 0; (actor = self->options->view.actor_at (*process, k)); k++)
            if (span_equal_string (address, actor_address (actor)))
                return actor;
    return NULL;
}

//  Whether answers can go on at a worker: it is the one that the directory lists, and is well.
static bool
s_takes_answers (
    simulation_t *self, const realm_process_t *frontend, const actor_entry_t *worker, const realm_process_t *struck)
{
    const realm_process_t *process;
    const actor_t *actor = s_find_actor (self, worker->address, &process);
    return actor && process != struck && worker->state == ACTOR_STATE_ALIVE &&
           worker->incarnation == actor_incarnation (actor) && !actor_is_draining (actor) &&
           !realm_process_is_frozen (process) && realm_process_reaches (frontend, process);
}

//  Whether a frontend has somebody to go to beside the one that is struck.
static bool
s_has_others (
    simulation_t *self, const realm_process_t *process, const actor_t *frontend, const realm_process_t *struck)
{
    const actor_entry_t *worker;
    size_t cursor = 0;
    while ((worker = directory_next (frontend, "worker", &cursor)))
        if (s_takes_answers (self, process, worker, struck))
            return true;
    return false;
}

static bool
s_leaves_nobody (simulation_t *self, const realm_process_t *struck)
{
    const realm_process_t *process;
    const actor_t *actor;
    for (size_t i = 0; (process = realm_process_at (self->realm, i)); i++)
        for (size_t k = 0; (actor = self->options->view.actor_at (process, k)); k++)
            if (address_is_of (span_from_string (actor_address (actor)), "frontend") &&
                !s_has_others (self, process, actor, struck))
                return true;
    return false;
}

//  These have endpoints that are written down: a second one does not come up.
static bool
s_is_bound_for_good (simulation_t *self, const realm_process_t *process)
{
    return s_houses (self, process, "frontend") || s_houses (self, process, "broker") ||
           s_houses (self, process, "host");
}

//  A machine that goes, or that nobody knows any more, takes several workers at once, perhaps as many as are tried for one
//  request.  A single worker is felt where it was the last one that was well.  Whoever starts anew is known by nobody before
//  the broker has heard of it.
static fault_feeling_t
s_feeling (simulation_t *self, fault_kind_t kind, const realm_process_t *process)
{
    if (kind == FAULT_CLOCK_JUMP || kind == FAULT_FULL_DISK || kind == FAULT_PUBLISH_LOSS ||
        (kind == FAULT_TWIN && s_is_bound_for_good (self, process)))
        return FEELS_NOTHING;
    if (!process || s_carries_answers (self, process) ||
        (s_houses (self, process, "worker") && s_leaves_nobody (self, process)))
        return FEELS_ALL;
    return s_houses (self, process, "broker") ? FEELS_RECOVERY : FEELS_NOTHING;
}

static fault_feeling_t
s_on_fault (void *arg, fault_kind_t kind, realm_process_t *process, realm_machine_t *machine)
{
    simulation_t *self = arg;
    char sentence [SIMULATE_SENTENCE_MAX];
    const char *whom = process ? realm_process_title (process) : machine ? realm_machine_name (machine) : "all";
    snprintf (sentence, sizeof sentence, "%s strikes %s", fault_name (kind), whom);
    if (self->options->on_log)
        self->options->on_log (
            self->options->arg, realm_now (self->realm), "FAULT", LOG_WARNING, span_from_string (sentence));
    if (kind == FAULT_PROCESS_CRASH)
        s_on_process_crash (self, process);
    self->report->situations [SITUATION_PARTITION] += kind == FAULT_PARTITION;
    self->report->situations [SITUATION_MACHINE_LOSS] += kind == FAULT_MACHINE_CRASH;
    return s_feeling (self, kind, process);
}

//  ---- The run -------------------------------------------------------------------------------------------------------

static status_t
s_build (simulation_t *self, error_t *error)
{
    const simulate_options_t *options = self->options;
    realm_options_t realm = { .seed = options->seed, .on_log = options->on_log, .arg = options->arg };
    self->realm = realm_new (&realm);
    self->seen = map_new (0);
    self->program =
        (realm_program_t){ .name = "harness", .arg = self, .start = s_harness_start, .stop = s_harness_stop };
    realm_register_program (self->realm, &self->program);
    for (size_t i = 0; i < options->program_count; i++)
        realm_register_program (self->realm, &options->programs [i]);
    status_t status = s_start_roots (self, error);
    if (status != STATUS_OK)
        return status;
    realm_run (self->realm, realm_now (self->realm) + HEAD_START_NS);
    const char *const argv [] = { "harness", NULL };
    realm_start_t start = { .argv = argv };
    faults_options_t faults = options->faults;
    realm_machine_t *machine = realm_machine_new (self->realm, HARNESS_MACHINE);
    realm_process_start (machine, &start, NULL);
    faults.spared = machine;
    faults.on_fault = s_on_fault;
    faults.arg = self;
    self->faults = faults_new (self->realm, &faults);
    self->look.fire = s_on_look;
    realm_schedule (self->realm, &self->look, realm_now (self->realm) + LOOK_NS);
    return STATUS_OK;
}

static void
s_run_for (simulation_t *self, uint64_t time_ns)
{
    realm_run (self->realm, realm_now (self->realm) + time_ns);
}

static void
s_complain_of_endless (simulation_t *self, const harness_figures_t *figures)
{
    char sentence [SIMULATE_SENTENCE_MAX];
    snprintf (sentence, sizeof sentence, "%" PRIu64 " requests never end, the oldest begun at %" PRIu64 " s",
        figures->open, figures->oldest_ns / REALM_SECOND);
    s_on_violation (self, sentence);
}

//  Whoever was asked to end has ended by then.
static void
s_check_nobody_drains (simulation_t *self)
{
    const realm_process_t *process;
    for (size_t i = 0; (process = realm_process_at (self->realm, i)); i++) {
        const actor_t *actor;
        for (size_t k = 0; (actor = self->options->view.actor_at (process, k)); k++) {
            char sentence [SIMULATE_SENTENCE_MAX];
            snprintf (sentence, sizeof sentence, "%s drains and does not end", actor_address (actor));
            if (actor_is_draining (actor))
                s_on_violation (self, sentence);
        }
    }
}

//  Everything is repaired, then nobody asks any more, then all that was asked has ended.
static void
s_come_to_rest (simulation_t *self)
{
    harness_figures_t *figures = &self->report->harness;
    faults_stop (self->faults);
    s_run_for (self, self->options->quiet_ns ? self->options->quiet_ns : QUIET_DEFAULT_NS);
    harness_stop (self->harness);
    for (uint64_t waited_ns = 0; waited_ns < PATIENCE_NS; waited_ns += REALM_SECOND) {
        harness_figures (self->harness, figures);
        if (!figures->open)
            break;
        s_run_for (self, REALM_SECOND);
    }
    s_run_for (self, 5 * REALM_SECOND);
    harness_figures (self->harness, figures);
    if (figures->open)
        s_complain_of_endless (self, figures);
    if (figures->started != figures->ended + figures->open)
        s_on_violation (self, "requests that ended more or less than once");
    s_check_nobody_drains (self);
    s_check_index (self, true);
    s_gather_all (self);
}

static void
s_write_report (simulation_t *self)
{
    simulate_report_t *report = self->report;
    report->virtual_ns = realm_now (self->realm);
    report->events = realm_event_count (self->realm);
    report->log_hash = realm_log_hash (self->realm);
    report->network = *network_figures (realm_network (self->realm));
    report->situations [SITUATION_LEFT] = report->harness.left;
    report->situations [SITUATION_FULL_QUEUE] = report->network.full;
    realm_machine_t *machine;
    for (size_t i = 0; (machine = realm_machine_at (self->realm, i)); i++)
        report->situations [SITUATION_TORN] += disk_torn (realm_machine_disk (machine));
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        report->faults [kind] = faults_count (self->faults, (fault_kind_t)kind);
}

static void
s_tear_down (simulation_t *self)
{
    faults_destroy (&self->faults);
    realm_destroy (&self->realm);
    void *seen;
    for (size_t cursor = 0; map_next (self->seen, &cursor, NULL, &seen);)
        memory_free (seen);
    map_destroy (&self->seen);
    memory_free (self->roots);
}

status_t
simulate_run (const simulate_options_t *options, simulate_report_t *report, error_t *error)
{
    simulation_t self = { .options = options, .report = report };
    memset (report, 0, sizeof *report);
    report->seed = options->seed;
    status_t status = s_build (&self, error);
    if (status == STATUS_OK) {
        s_run_for (&self, options->time_ns);
        s_come_to_rest (&self);
        s_write_report (&self);
    }
    s_tear_down (&self);
    return status;
}
