#include "cli/assembly.h"

#include <stdio.h>
#include <string.h>

#include "actors/frontend/frontend.h"
#include "actors/indexer/indexer.h"
#include "actors/router/router.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "broker/broker.h"
#include "workers/worker.h"

//  The endpoints of the broker: as configured or at the host that runs it, for everybody, and in the run folder, for those
//  of its host.  Without hosts the run folder is for everybody.
typedef struct {
    char endpoint [ENDPOINT_MAX];    //  Of its ROUTER
    char events [ENDPOINT_MAX];      //  Of its XPUB
} bus_t;

struct assembly {
    const manifest_t *fleet;    //  Borrowed
    arena_t memory;             //  Names, endpoints, options: the file bounds them
    array_t actors;             //  assembly_actor_t
    option_strings_t names;     //  Every one that clients may ask for
    const char *broker;         //  Endpoint of its ROUTER for those who live here
    const char *events;         //  Endpoint of its XPUB, likewise
    bus_t bus;                  //  Both for everybody
    const char *machine;        //  Name
    const char *run_dir;        //  Of sockets
    const char *bind_host;      //  NULL: sockets in run_dir
    span_t secret;              //  Of the cluster
};

//  What a service is made of: a row for each class.
typedef struct part part_t;
struct part {
    const char *service;                          //  Also the class's name
    const char *process;                          //  Process that houses it by default, another name for all of these
    const actor_class_t *class;                   //  What it is
    unsigned phase;                               //  Of draining
    size_t (*count) (const manifest_t *fleet);    //  Instances
    const void *(*options) (assembly_t *self, size_t position);    //  What the class is given
};

static void
s_local_bus (bus_t *self, const assembly_site_t *site)
{
    snprintf (self->endpoint, ENDPOINT_MAX, "ipc://%s/broker", site->run_dir);
    snprintf (self->events, ENDPOINT_MAX, "ipc://%s/events", site->run_dir);
}

static void
s_public_bus (bus_t *self, const manifest_t *fleet, const assembly_site_t *site)
{
    const manifest_host_t *host = manifest_host_of (fleet, "broker");
    s_local_bus (self, site);
    if (host) {
        manifest_host_endpoint (host, MANIFEST_BROKER_PORT, self->endpoint, ENDPOINT_MAX);
        manifest_host_endpoint (host, MANIFEST_EVENTS_PORT, self->events, ENDPOINT_MAX);
    }
    if (*fleet->broker.endpoint)
        snprintf (self->endpoint, ENDPOINT_MAX, "%s", fleet->broker.endpoint);
    if (*fleet->broker.events)
        snprintf (self->events, ENDPOINT_MAX, "%s", fleet->broker.events);
}

//  This is the host of the broker, one of several.
static bool
s_has_local_bus (const manifest_t *fleet)
{
    const manifest_host_t *own = manifest_own_host (fleet);
    return own && own == manifest_host_of (fleet, "broker");
}

void
assembly_broker (
    const manifest_t *fleet, const assembly_site_t *site, char endpoint [ENDPOINT_MAX], char events [ENDPOINT_MAX])
{
    bus_t bus;
    if (s_has_local_bus (fleet))
        s_local_bus (&bus, site);
    else
        s_public_bus (&bus, fleet, site);
    snprintf (endpoint, ENDPOINT_MAX, "%s", bus.endpoint);
    snprintf (events, ENDPOINT_MAX, "%s", bus.events);
}

void
assembly_endpoint (const manifest_t *fleet, const assembly_site_t *site, const char *name, char out [ENDPOINT_MAX])
{
    const manifest_host_t *own = manifest_own_host (fleet);
    if (own)
        manifest_host_endpoint (own, "*", out, ENDPOINT_MAX);
    else if (site->bind_host)
        snprintf (out, ENDPOINT_MAX, "tcp://%s:*", site->bind_host);
    else
        snprintf (out, ENDPOINT_MAX, "ipc://%s/%s", site->run_dir, name);
}

bool
assembly_local (const manifest_t *fleet, const assembly_site_t *site, const char *name, char out [ENDPOINT_MAX])
{
    snprintf (out, ENDPOINT_MAX, "ipc://%s/%s", site->run_dir, name);
    return manifest_own_host (fleet) != NULL;
}

static const char *
s_keep (assembly_t *self, const char *text)
{
    return (const char *)arena_copy (&self->memory, span_of (text, strlen (text) + 1)).data;
}

//  ---- Options of each class -----------------------------------------------------------------------------------------

static size_t
s_one (const manifest_t *fleet)
{
    return 1;
}

static const void *
s_broker_options (assembly_t *self, size_t position)
{
    broker_options_t *options = arena_new (&self->memory, sizeof *options);
    *options = self->fleet->broker;
    options->endpoint = s_keep (self, self->bus.endpoint);
    options->events = s_keep (self, self->bus.events);
    options->local_events = s_has_local_bus (self->fleet) ? self->events : NULL;
    return options;
}

static size_t
s_frontend_count (const manifest_t *fleet)
{
    return (size_t)fleet->frontend.instances;
}

//  All frontends promise the same ones.
static void
s_collect_names (assembly_t *self)
{
    const manifest_model_t *models = self->fleet->models.items;
    size_t count = 0;
    for (size_t i = 0; i < self->fleet->models.count; i++)
        count += 1 + models [i].aliases.count;
    const char **next = arena_new (&self->memory, count * sizeof *next);
    self->names = (option_strings_t){ next, count };
    for (size_t i = 0; i < self->fleet->models.count; i++) {
        *next++ = models [i].name;
        for (size_t j = 0; j < models [i].aliases.count; j++)
            *next++ = models [i].aliases.items [j];
    }
}

//  Each next one has the next port.
static const void *
s_frontend_options (assembly_t *self, size_t position)
{
    frontend_options_t *options = arena_new (&self->memory, sizeof *options);
    *options = self->fleet->frontend.options;
    options->port += options->port ? (int64_t)position : 0;
    options->secret = self->secret;
    options->models = self->names;
    return options;
}

static size_t
s_router_count (const manifest_t *fleet)
{
    return (size_t)fleet->router.instances;
}

static const void *
s_router_options (assembly_t *self, size_t position)
{
    return &self->fleet->router.options;
}

static size_t
s_indexer_count (const manifest_t *fleet)
{
    return (size_t)fleet->indexer.instances;
}

static const void *
s_indexer_options (assembly_t *self, size_t position)
{
    return &self->fleet->indexer.options;
}

static size_t
s_worker_count (const manifest_t *fleet)
{
    size_t count = 0;
    for (size_t i = 0; i < fleet->workers.count; i++)
        count += (size_t)manifest_worker (fleet, i)->count;
    return count;
}

//  The group of the `position`th worker of the fleet, which becomes its position in the group.
static const manifest_worker_t *
s_worker_at (const manifest_t *fleet, size_t *position)
{
    size_t group = 0;
    while (*position >= (size_t)manifest_worker (fleet, group)->count)
        *position -= (size_t)manifest_worker (fleet, group++)->count;
    return manifest_worker (fleet, group);
}

static const void *
s_worker_options (assembly_t *self, size_t position)
{
    const manifest_worker_t *worker = s_worker_at (self->fleet, &position);
    const manifest_model_t *model = manifest_find_model (self->fleet, worker->model);
    worker_setup_t *setup = arena_new (&self->memory, sizeof *setup);
    char url [ENDPOINT_MAX];
    manifest_started_url (worker, position, url, sizeof url);
    *setup = (worker_setup_t){
        .engine = manifest_engine (worker),
        .engine_options = manifest_engine_options (worker),
        .url = *worker->url ? worker->url : s_keep (self, url),
        .secret = self->secret,
        .model = span_from_string (model->name),
        .aliases = model->aliases.items,
        .alias_count = model->aliases.count,
        .context_max = (uint32_t)model->max_model_len,
        .common = &worker->worker,
    };
    return setup;
}

static const part_t s_parts [] = {
    { "broker", "broker", &broker_class, 0, s_one, s_broker_options },
    { "frontend", "core", &frontend_class, 0, s_frontend_count, s_frontend_options },
    { "router", "core", &router_class, 1, s_router_count, s_router_options },
    { "indexer", "core", &indexer_class, 2, s_indexer_count, s_indexer_options },
    { "worker", "worker", &worker_class, 0, s_worker_count, s_worker_options },
};
enum { PARTS = sizeof s_parts / sizeof *s_parts };

//  ---- Putting together ----------------------------------------------------------------------------------------------

static void
s_name (const assembly_t *self, const part_t *part, size_t position, char *out, size_t size)
{
    if (part->class == &worker_class) {
        const manifest_worker_t *worker = s_worker_at (self->fleet, &position);
        manifest_instance (worker, position, out, size);
    } else {
        snprintf (out, size, "%zu", position);
    }
}

static void
s_add (assembly_t *self, const part_t *part, size_t position, const char *name)
{
    char endpoint [ENDPOINT_MAX], local [ENDPOINT_MAX], file [ENDPOINT_MAX];
    bool is_broker = part->class == &broker_class;
    assembly_site_t site = { .run_dir = self->run_dir, .bind_host = self->bind_host };
    snprintf (file, sizeof file, is_broker ? "broker" : "%s-%s", part->service, name);
    assembly_endpoint (self->fleet, &site, file, endpoint);
    bool has_local = assembly_local (self->fleet, &site, file, local);
    assembly_actor_t *actor = array_add (&self->actors);
    *actor = (assembly_actor_t){
        .class = part->class,
        .phase = part->phase,
        .class_options = part->options (self, position),
        .options = {
            .instance = s_keep (self, name),
            .endpoint = s_keep (self, is_broker ? self->bus.endpoint : endpoint),
            .local = has_local ? s_keep (self, local) : NULL,
            .broker = is_broker ? NULL : self->broker,
            .events = is_broker ? NULL : self->events,
            .host = self->machine,
            .heartbeat_ns = self->fleet->broker.heartbeat_ns,
            .lease_ns = self->fleet->broker.lease_ns,
            .ring_bytes = self->fleet->broker.ring_bytes,
            .guard = self->fleet->guard,
        },
    };
}

static void
s_add_part (assembly_t *self, const part_t *part, const char *instance)
{
    size_t count = part->count (self->fleet);
    for (size_t i = 0; i < count; i++) {
        char name [ADDRESS_MAX];
        s_name (self, part, i, name, sizeof name);
        if (!instance || strcmp (instance, name) == 0)
            s_add (self, part, i, name);
    }
}

//  A process of this name houses the part.
static bool
s_houses (const manifest_t *fleet, const char *process, const part_t *part)
{
    manifest_part_t parts [MANIFEST_PARTS];
    manifest_parts (fleet, parts);
    bool apart = false;
    for (size_t i = 0; i < MANIFEST_PARTS; i++)
        apart = apart || (strcmp (parts [i].service, part->service) == 0 && parts [i].process == PROCESS_OWN);
    return strcmp (process, part->service) == 0 || (strcmp (process, part->process) == 0 && !apart);
}

static void
s_refuse (const assembly_t *self, const char *service, const char *instance, error_t *error)
{
    char name [ADDRESS_MAX];
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (instance));
    for (size_t i = 0; i < PARTS; i++)
        for (size_t j = 0; s_houses (self->fleet, service, &s_parts [i]) && j < s_parts [i].count (self->fleet); j++) {
            s_name (self, &s_parts [i], j, name, sizeof name);
            suggest_offer (&suggest, name);
        }
    error_set (error, STATUS_NOT_FOUND, "the fleet has no %s%s%s%s", service, instance ? "/" : "",
        instance ? instance : "", suggest_text (&suggest));
}

assembly_t *
assembly_new (
    const manifest_t *fleet, const assembly_site_t *site, const char *service, const char *instance, error_t *error)
{
    assembly_t *self = memory_new (sizeof *self);
    char broker [ENDPOINT_MAX], events [ENDPOINT_MAX];
    self->fleet = fleet;
    arena_init (&self->memory, SIZE_MAX);
    array_init (&self->actors, sizeof (assembly_actor_t));
    s_public_bus (&self->bus, fleet, site);
    assembly_broker (fleet, site, broker, events);
    self->broker = s_keep (self, broker);
    self->events = s_keep (self, events);
    self->machine = s_keep (self, site->machine);
    self->run_dir = s_keep (self, site->run_dir);
    self->bind_host = site->bind_host ? s_keep (self, site->bind_host) : NULL;
    self->secret = arena_copy (&self->memory, site->secret);
    s_collect_names (self);
    for (size_t i = 0; i < PARTS; i++)
        if (s_houses (fleet, service, &s_parts [i]))
            s_add_part (self, &s_parts [i], instance);
    if (!self->actors.count) {
        s_refuse (self, service, instance, error);
        assembly_destroy (&self);
    }
    return self;
}

void
assembly_destroy (assembly_t **self_p)
{
    assembly_t *self = *self_p;
    if (!self)
        return;
    array_fini (&self->actors);
    arena_fini (&self->memory);
    memory_free (self);
    *self_p = NULL;
}

size_t
assembly_count (const assembly_t *self)
{
    return self->actors.count;
}

const assembly_actor_t *
assembly_actor (const assembly_t *self, size_t position)
{
    return array_at (&self->actors, position);
}
