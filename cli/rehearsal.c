#include "cli/rehearsal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "actors/indexer/indexer.h"
#include "actors/router/router.h"
#include "base/memory.h"
#include "cli/assembly.h"
#include "cli/command.h"
#include "cli/departure.h"
#include "cli/plan.h"
#include "cli/rehearsal_keys.h"
#include "kv/catalog/catalog.h"
#include "schemas/event.h"
#include "simulator/port/sim_port.h"
#include "workers/mock/mock.h"
#include "workers/worker.h"

#define RUN_DIR "/run/stator"
#define FIRST_MACHINE "m0"

enum { TEXT_MAX = 256, ARGV_MAX = 8 };

struct rehearsal {
    manifest_t *fleet;          //  Borrowed
    uint32_t machines;          //  How many
    plan_t *plan;               //  One machine: what the host starts
    arena_t memory;             //  Names and argument lists
    realm_program_t program;    //  "stator"
    array_t roots;              //  simulate_root_t
    array_t urls;               //  const char *, of frontends, NULL behind the last
    rehearsal_keys_t *keys;     //  Of the machines; NULL: plain endpoints
};

typedef struct household household_t;

//  An actor on a port.
typedef struct {
    household_t *household;    //  Whose
    size_t position;           //  In it
    actor_t *actor;            //  Itself
} lodger_t;

//  A process: its assembly, and its actors.
struct household {
    realm_process_t *process;    //  Which
    assembly_t *assembly;        //  NULL for the host's
    lodger_t *lodgers;           //  In the order of the assembly
    size_t count;                //  How many
    departure_t departure;       //  Of these, in the same order
};

static const char *s_print (rehearsal_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

static const char *
s_print (rehearsal_t *self, const char *format, ...)
{
    char text [TEXT_MAX];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (text, sizeof text, format, arguments);
    va_end (arguments);
    return (const char *)arena_copy (&self->memory, span_of (text, strlen (text) + 1)).data;
}

//  ---- Processes -----------------------------------------------------------------------------------------------------

static void
s_depart (household_t *self)
{
    size_t position;
    while (departure_next (&self->departure, &position))
        actor_drain (self->lodgers [position].actor);
}

static void
s_on_drained (void *arg, actor_t *actor)
{
    const lodger_t *lodger = arg;
    household_t *self = lodger->household;
    departure_note_drained (&self->departure, lodger->position);
    if (departure_is_over (&self->departure))
        realm_process_exit (self->process, 0);
    else
        s_depart (self);
}

//  A port with the keyring of its machine, where it has one.
static port_t *
s_open_port (realm_process_t *process)
{
    const rehearsal_t *self = realm_process_program (process)->arg;
    port_t *port = sim_port_new (process);
    if (self->keys)
        sim_port_set_keys (
            port, rehearsal_keys_find (self->keys, realm_machine_name (realm_process_machine (process))));
    return port;
}

static status_t
s_move_in (household_t *self, const assembly_actor_t *spec, error_t *error)
{
    lodger_t *lodger = &self->lodgers [self->count];
    *lodger = (lodger_t){ .household = self, .position = self->count };
    actor_options_t options = spec->options;
    options.process = realm_process_number (self->process);
    options.on_drained = s_on_drained;
    options.arg = lodger;
    lodger->actor = actor_new (spec->class, s_open_port (self->process), &options, spec->class_options, error);
    if (!lodger->actor)
        return error->status;
    departure_add (&self->departure, spec->phase);
    self->count++;
    return STATUS_OK;
}

static status_t
s_move_all_in (household_t *self, const assembly_actor_t *specs, size_t count, error_t *error)
{
    status_t status = STATUS_OK;
    self->lodgers = memory_new (count * sizeof *self->lodgers);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = s_move_in (self, &specs [i], error);
    return status;
}

static assembly_site_t
s_site (const rehearsal_t *self, const realm_process_t *process)
{
    const char *machine = realm_machine_name (realm_process_machine (process));
    return (assembly_site_t){ .run_dir = RUN_DIR,
        .bind_host = self->machines > 1 ? machine : NULL,
        .machine = machine,
        .secret = SPAN ("the secret of a rehearsal cluster") };
}

static status_t
s_start_host (const rehearsal_t *self, household_t *household, error_t *error)
{
    assembly_site_t site = s_site (self, household->process);
    char broker [ENDPOINT_MAX], events [ENDPOINT_MAX];
    assembly_broker (self->fleet, &site, broker, events);
    host_setup_t setup = {
        .options = &self->fleet->host, .programs = plan_programs (self->plan), .count = plan_count (self->plan)
    };
    assembly_actor_t host = { .class = &host_class,
        .class_options = &setup,
        .options = { .instance = site.machine,
            .endpoint = "ipc://" RUN_DIR "/host",
            .broker = broker,
            .events = events,
            .host = site.machine } };
    return s_move_all_in (household, &host, 1, error);
}

//  The word behind a flag; NULL where it is not there.
static const char *
s_flag (const char *const *argv, const char *flag)
{
    for (size_t i = 0; argv [i]; i++)
        if (strcmp (argv [i], flag) == 0)
            return argv [i + 1];
    return NULL;
}

//  stator up, stator actor SERVICE [--config FILE] [--instance NAME]
static status_t
s_start (realm_process_t *process, void **state, error_t *error)
{
    const rehearsal_t *self = realm_process_program (process)->arg;
    const char *const *argv = realm_process_argv (process);
    household_t *household = memory_new (sizeof *household);
    household->process = process;
    departure_init (&household->departure);
    *state = household;
    if (strcmp (argv [1], "up") == 0)
        return s_start_host (self, household, error);
    assembly_site_t site = s_site (self, process);
    household->assembly = assembly_new (self->fleet, &site, argv [2], s_flag (argv, "--instance"), error);
    if (!household->assembly)
        return error->status;
    return s_move_all_in (
        household, assembly_actor (household->assembly, 0), assembly_count (household->assembly), error);
}

static void
s_signal (realm_process_t *process, void *state, process_signal_t signal)
{
    household_t *self = state;
    if (signal != PROCESS_SIGNAL_TERM)
        return;
    if (departure_ask (&self->departure))
        s_depart (self);
    else
        realm_process_exit (self->process, RESULT_FAILED);
}

static void
s_stop (realm_process_t *process, void *state)
{
    household_t *self = state;
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++)
        actor_destroy (&self->lodgers [i].actor);
    departure_fini (&self->departure);
    assembly_destroy (&self->assembly);
    memory_free (self->lodgers);
    memory_free (self);
}

//  ---- Looking in ----------------------------------------------------------------------------------------------------

static actor_t *
s_actor_at (const realm_process_t *process, size_t position)
{
    bool ours = realm_process_program (process)->start == s_start;
    const household_t *household = ours ? realm_process_state (process) : NULL;
    return household && position < household->count ? household->lodgers [position].actor : NULL;
}

//  Everybody's keyring is read anew.
static void
s_set_key (void *arg, realm_t *realm, const realm_machine_t *machine, bool revoked)
{
    rehearsal_t *self = arg;
    rehearsal_keys_set (self->keys, realm_machine_name (machine), revoked);
    realm_process_t *process;
    for (size_t i = 0; (process = realm_process_at (realm, i)); i++) {
        const char *name = realm_machine_name (realm_process_machine (process));
        actor_t *actor;
        for (size_t k = 0; (actor = s_actor_at (process, k)); k++)
            sim_port_set_keys (actor_port (actor), rehearsal_keys_find (self->keys, name));
    }
}

typedef struct {
    catalog_t *catalog;    //  Of one source alone
    uint64_t source;       //  Which
} truth_t;

static void
s_on_stored (void *arg, const kv_stored_t *event)
{
    truth_t *truth = arg;
    catalog_stored (truth->catalog, truth->source, event);
}

static bool
s_truth (const actor_t *actor, uint64_t *digest)
{
    if (!span_starts_with (span_from_string (actor_address (actor)), SPAN ("worker/")))
        return false;
    truth_t truth = { catalog_new (NULL), actor_source (actor) };
    worker_tell_kv (actor, s_on_stored, &truth);
    *digest = catalog_digest (truth.catalog, truth.source);
    catalog_destroy (&truth.catalog);
    return true;
}

static bool
s_belief (const actor_t *actor, uint64_t source, uint64_t *digest)
{
    span_t address = span_from_string (actor_address (actor));
    const catalog_t *catalog = span_starts_with (address, SPAN ("indexer/"))  ? indexer_catalog (actor)
                               : span_starts_with (address, SPAN ("router/")) ? router_catalog (actor)
                                                                              : NULL;
    if (catalog)
        *digest = catalog_digest (catalog, source);
    return catalog != NULL;
}

//  What a mock says at a position, for harnesses to check.
static uint8_t
s_token (void *arg, int64_t seed, uint64_t position)
{
    const rehearsal_t *self = arg;
    sampling_t sampling = { .has_seed = true, .seed = seed };
    span_t model = span_from_string (manifest_model (self->fleet, 0)->name);
    return (uint8_t)mock_token (&manifest_worker (self->fleet, 0)->mock, model, (column_t){ 0 }, &sampling, position);
}

//  ---- The fleet -----------------------------------------------------------------------------------------------------

static void
s_add_root (rehearsal_t *self, const char *machine, const char *const *words)
{
    const char **argv = arena_new (&self->memory, ARGV_MAX * sizeof *argv);
    for (size_t i = 0; words [i]; i++)
        argv [i] = words [i];
    *(simulate_root_t *)array_add (&self->roots) = (simulate_root_t){ machine, argv };
}

static const char *
s_place (rehearsal_t *self, size_t position)
{
    return s_print (self, "m%u", (unsigned)(position % self->machines));
}

static void
s_add_process (rehearsal_t *self, const char *service, const char *instance, size_t position)
{
    const char *words [] = { "stator", "actor", service, "--instance", s_print (self, "%s", instance), NULL };
    s_add_root (self, s_place (self, position), words);
}

static void
s_add_instances (rehearsal_t *self, const char *service, int64_t count)
{
    char instance [TEXT_MAX];
    for (int64_t i = 0; i < count; i++) {
        snprintf (instance, sizeof instance, "%d", (int)i);
        s_add_process (self, service, instance, (size_t)i);
    }
}

static void
s_add_workers (rehearsal_t *self)
{
    char instance [TEXT_MAX];
    size_t position = 0;
    for (size_t i = 0; i < self->fleet->workers.count; i++)
        for (size_t k = 0; k < (size_t)manifest_worker (self->fleet, i)->count; k++) {
            manifest_instance (manifest_worker (self->fleet, i), k, instance, sizeof instance);
            s_add_process (self, "worker", instance, position++);
        }
}

static void
s_add_roots (rehearsal_t *self)
{
    manifest_t *fleet = self->fleet;
    if (self->machines == 1) {
        self->plan = plan_new (
            fleet, &(plan_options_t){ .program = "stator", .config = RUN_DIR "/fleet.yaml", .run_dir = RUN_DIR });
        s_add_root (self, FIRST_MACHINE, (const char *[]){ "stator", "up", NULL });
        return;
    }
    fleet->broker.endpoint = "tcp://" FIRST_MACHINE ":7400";
    fleet->broker.events = "tcp://" FIRST_MACHINE ":7401";
    s_add_root (self, FIRST_MACHINE, (const char *[]){ "stator", "actor", "broker", NULL });
    s_add_instances (self, "frontend", fleet->frontend.instances);
    s_add_instances (self, "router", fleet->router.instances);
    s_add_instances (self, "indexer", fleet->indexer.instances);
    s_add_workers (self);
}

static void
s_add_urls (rehearsal_t *self)
{
    frontend_options_t *frontend = &self->fleet->frontend.options;
    frontend->host = "0.0.0.0";
    frontend->allow_public = true;
    for (int64_t i = 0; i < self->fleet->frontend.instances; i++)
        *(const char **)array_add (&self->urls) =
            s_print (self, "http://%s:%u", s_place (self, (size_t)i), (unsigned)(frontend->port + i));
    array_add (&self->urls);
}

static status_t
s_check (const manifest_t *fleet, error_t *error)
{
    if (!fleet->models.count || !fleet->workers.count)
        return error_set (error, STATUS_INVALID, "a fleet without models or workers cannot be simulated");
    for (size_t i = 0; i < fleet->workers.count; i++)
        if (manifest_worker (fleet, i)->engine != ENGINE_MOCK)
            return error_set (error, STATUS_UNSUPPORTED, "worker %s: only mock engines can be simulated",
                manifest_worker (fleet, i)->name);
    return fleet->frontend.options.port ? STATUS_OK : error_set (error, STATUS_INVALID, "frontend.port must be said");
}

rehearsal_t *
rehearsal_new (manifest_t *fleet, uint32_t machines, bool keys, error_t *error)
{
    if (s_check (fleet, error) != STATUS_OK)
        return NULL;
    if (keys && machines == 1) {
        error_set (error, STATUS_INVALID, "one machine has nobody to show a key to: say --machines 2 or more");
        return NULL;
    }
    rehearsal_t *self = memory_new (sizeof *self);
    fleet->hosts.count = 0;    //  The machines are the rehearsal's own
    self->fleet = fleet;
    self->machines = machines;
    arena_init (&self->memory, SIZE_MAX);
    array_init (&self->roots, sizeof (simulate_root_t));
    array_init (&self->urls, sizeof (const char *));
    self->program =
        (realm_program_t){ .name = "stator", .arg = self, .start = s_start, .signal = s_signal, .stop = s_stop };
    s_add_roots (self);
    s_add_urls (self);
    if (keys)
        self->keys = rehearsal_keys_new (fleet->guard, self->roots.data, self->roots.count, error);
    if (keys && !self->keys)
        rehearsal_destroy (&self);
    return self;
}

void
rehearsal_destroy (rehearsal_t **self_p)
{
    rehearsal_t *self = *self_p;
    if (!self)
        return;
    plan_destroy (&self->plan);
    rehearsal_keys_destroy (&self->keys);
    array_fini (&self->roots);
    array_fini (&self->urls);
    arena_fini (&self->memory);
    memory_free (self);
    *self_p = NULL;
}

void
rehearsal_fill (rehearsal_t *self, simulate_options_t *options)
{
    options->programs = &self->program;
    options->program_count = 1;
    options->roots = self->roots.data;
    options->root_count = self->roots.count;
    if (self->keys) {
        options->faults.set_key = s_set_key;
        options->faults.keys = self;
    }
    options->view = (fleet_view_t){ s_actor_at, s_truth, s_belief, STREAM_KV };
    options->harness = (harness_options_t){ .urls = self->urls.data,
        .model = manifest_model (self->fleet, 0)->name,
        .interval_ns = REALM_SECOND,
        .prompt_bytes = 2000,
        .turns = 4,
        .max_tokens = 64,
        .slow_tokens = 1024,
        .plain_ppm = 50000,
        .leave_ppm = 30000,
        .slow_ppm = 30000,
        .token = s_token,
        .token_arg = self };
}
