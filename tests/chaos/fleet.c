#include "tests/chaos/fleet.h"

#include <stdio.h>
#include <string.h>

#include "actors/indexer/indexer.h"
#include "actors/router/router.h"
#include "base/memory.h"
#include "broker/broker.h"
#include "kv/catalog/catalog.h"
#include "runtime/option.h"
#include "schemas/event.h"
#include "simulator/port/sim_port.h"
#include "workers/mock/mock.h"
#include "workers/worker.h"

#define BROKER "tcp://m0:7400"
#define EVENTS "tcp://m0:7401"
#define MODEL "mock"

enum { ROOTS_MAX = 128, NAME_MAX_ = 64 };

struct chaos_fleet {
    arena_t memory;                       //  Options and names
    broker_options_t broker;              //  Of the broker
    indexer_options_t indexer;            //  Of each
    router_options_t router;              //  Of each
    worker_options_t worker;              //  Of each
    mock_options_t mock;                  //  Of each
    worker_setup_t setup;                 //  Of each worker
    realm_program_t program;              //  Of every process
    simulate_root_t roots [ROOTS_MAX];    //  One an actor
    size_t root_count;                    //  How many
    const char *argv [ROOTS_MAX][3];      //  Of the roots
};

//  An actor in its process.
typedef struct {
    realm_process_t *process;
    actor_t *actor;
} house_t;

//  ---- Processes -------------------------------------------------------------------------------------------------------------

typedef struct {
    const char *service;           //  First part of an address
    const actor_class_t *class;    //  What it is
    size_t options;                //  Where its options stand in the fleet
} part_t;

static const part_t s_parts [] = {
    { "broker", &broker_class, offsetof (chaos_fleet_t, broker) },
    { "indexer", &indexer_class, offsetof (chaos_fleet_t, indexer) },
    { "router", &router_class, offsetof (chaos_fleet_t, router) },
    { "worker", &worker_class, offsetof (chaos_fleet_t, setup) },
};

static const part_t *
s_part (const char *address)
{
    for (size_t i = 0; i < sizeof s_parts / sizeof s_parts [0]; i++)
        if (strncmp (address, s_parts [i].service, strlen (s_parts [i].service)) == 0)
            return &s_parts [i];
    return NULL;
}

static void
s_on_drained (void *arg, actor_t *actor)
{
    realm_process_exit (((house_t *)arg)->process, 0);
}

static status_t
s_start (realm_process_t *process, void **state, error_t *error)
{
    const chaos_fleet_t *self = realm_process_program (process)->arg;
    const char *address = realm_process_argv (process) [1];
    const part_t *part = s_part (address);
    const char *machine = realm_machine_name (realm_process_machine (process));
    bool is_broker = part->class == &broker_class;
    char endpoint [NAME_MAX_];
    snprintf (endpoint, sizeof endpoint, "tcp://%s:*", machine);
    house_t *house = memory_new (sizeof *house);
    house->process = process;
    *state = house;
    actor_options_t options = { .instance = strchr (address, '/') + 1,
        .endpoint = is_broker ? BROKER : endpoint,
        .broker = is_broker ? NULL : BROKER,
        .events = is_broker ? NULL : EVENTS,
        .host = machine,
        .process = realm_process_number (process),
        .on_drained = s_on_drained,
        .arg = house };
    house->actor = actor_new (part->class, sim_port_new (process), &options, (const char *)self + part->options, error);
    return house->actor ? STATUS_OK : error->status;
}

static void
s_signal (realm_process_t *process, void *state, process_signal_t signal)
{
    if (signal == PROCESS_SIGNAL_TERM)
        actor_drain (((house_t *)state)->actor);
}

static void
s_stop (realm_process_t *process, void *state)
{
    house_t *house = state;
    if (!house)
        return;
    actor_destroy (&house->actor);
    memory_free (house);
}

//  ---- Looking in ------------------------------------------------------------------------------------------------------------

static actor_t *
s_actor_at (const realm_process_t *process, size_t position)
{
    const house_t *house = realm_process_program (process)->start == s_start ? realm_process_state (process) : NULL;
    return house && position == 0 ? house->actor : NULL;
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
    if (strncmp (actor_address (actor), "worker/", 7) != 0)
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
    const catalog_t *catalog = NULL;
    if (strncmp (actor_address (actor), "indexer/", 8) == 0)
        catalog = indexer_catalog (actor);
    else if (strncmp (actor_address (actor), "router/", 7) == 0)
        catalog = router_catalog (actor);
    if (catalog)
        *digest = catalog_digest (catalog, source);
    return catalog != NULL;
}

//  ---- The fleet -------------------------------------------------------------------------------------------------------------

static void
s_defaults (chaos_fleet_t *self)
{
    option_context_t context = { .memory = &self->memory };
    option_set_defaults ((option_target_t){ broker_options_table, &self->broker }, &context);
    option_set_defaults ((option_target_t){ indexer_options_table, &self->indexer }, &context);
    option_set_defaults ((option_target_t){ router_options_table, &self->router }, &context);
    option_set_defaults ((option_target_t){ worker_options_table, &self->worker }, &context);
    option_set_defaults ((option_target_t){ mock_options_table, &self->mock }, &context);
    self->broker.events = EVENTS;
    self->setup = (worker_setup_t){ .engine = &mock_engine,
        .engine_options = &self->mock,
        .secret = SPAN ("a secret of the cluster for runs"),
        .model = SPAN (MODEL),
        .common = &self->worker };
}

static void
s_add (chaos_fleet_t *self, const char *service, uint32_t count, uint32_t machines)
{
    for (uint32_t i = 0; i < count; i++) {
        char address [NAME_MAX_], machine [NAME_MAX_];
        snprintf (address, sizeof address, "%s/%u", service, i);
        snprintf (machine, sizeof machine, "m%u", i % machines);
        size_t root = self->root_count++;
        self->argv [root][0] = "actor";
        self->argv [root][1] = (const char *)arena_copy (&self->memory, span_of (address, strlen (address) + 1)).data;
        self->roots [root].machine =
            (const char *)arena_copy (&self->memory, span_of (machine, strlen (machine) + 1)).data;
        self->roots [root].argv = self->argv [root];
    }
}

chaos_fleet_t *
chaos_fleet_new (const chaos_shape_t *shape)
{
    chaos_fleet_t *self = memory_new (sizeof *self);
    arena_init (&self->memory, SIZE_MAX);
    s_defaults (self);
    self->program =
        (realm_program_t){ .name = "actor", .arg = self, .start = s_start, .signal = s_signal, .stop = s_stop };
    s_add (self, "broker", 1, 1);
    s_add (self, "indexer", shape->indexers, 1);
    s_add (self, "router", shape->routers, 1);
    s_add (self, "worker", shape->workers, shape->machines);
    return self;
}

void
chaos_fleet_destroy (chaos_fleet_t **self_p)
{
    chaos_fleet_t *self = *self_p;
    if (!self)
        return;
    arena_fini (&self->memory);
    memory_free (self);
    *self_p = NULL;
}

void
chaos_fleet_fill (chaos_fleet_t *self, simulate_options_t *options)
{
    static const char *const urls [] = { "http://m0:8000", NULL };
    options->programs = &self->program;
    options->program_count = 1;
    options->roots = self->roots;
    options->root_count = self->root_count;
    options->view = (fleet_view_t){ s_actor_at, s_truth, s_belief, STREAM_KV };
    options->harness.urls = urls;
    options->harness.model = MODEL;
}
