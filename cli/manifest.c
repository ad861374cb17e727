#include "cli/manifest.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "cli/manifest_hosts.h"
#include "cli/manifest_place.h"
#include "cli/manifest_ports.h"
#include "cli/placeholder.h"
#include "runtime/endpoint.h"

enum { MEMORY_MAX = 16 << 20 };

//  What the messages that carry them have room for (schemas/worker.toml, schemas/route.toml).
enum { MODEL_MAX = 256, ALIASES_MAX = 64 };

//  What checking needs: the fleet, and where in the file it came from.
typedef struct {
    manifest_t *fleet;            //  What is checked
    const config_node_t *root;    //  NULL where the file could not be read
    complaints_t *complaints;     //  What is wrong with it
} check_t;

const manifest_model_t *
manifest_model (const manifest_t *self, size_t position)
{
    BUG_ON (position >= self->models.count);
    return (const manifest_model_t *)self->models.items + position;
}

static manifest_worker_t *
s_worker (const manifest_t *self, size_t position)
{
    BUG_ON (position >= self->workers.count);
    return (manifest_worker_t *)self->workers.items + position;
}

const manifest_worker_t *
manifest_worker (const manifest_t *self, size_t position)
{
    return s_worker (self, position);
}

//  ---- Instances -----------------------------------------------------------------------------------------------------

void
manifest_instance (const manifest_worker_t *worker, size_t position, char *out, size_t size)
{
    snprintf (out, size, "%s-%zu", worker->name, position);
}

void
manifest_started_url (const manifest_worker_t *worker, size_t position, char *out, size_t size)
{
    *out = '\0';
    if (worker->command.count)
        snprintf (out, size, "http://127.0.0.1:%lld", (long long)worker->port + (long long)position);
}

const char *const manifest_placeholders [] = { "port", "instance", "model", NULL };

//  ---- Checks --------------------------------------------------------------------------------------------------------

static bool
s_is_name (const char *name)
{
    size_t size = strlen (name);
    if (!size || size > MANIFEST_NAME_MAX || *name == '.' || *name == '-')
        return false;
    return strspn (name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == size;
}

bool
manifest_is_instance (const char *name)
{
    return s_is_name (name) && !strchr (name, '.');
}

static bool
s_model_answers_to (const manifest_model_t *model, const char *name)
{
    for (size_t i = 0; i < model->aliases.count; i++)
        if (strcmp (model->aliases.items [i], name) == 0)
            return true;
    return strcmp (model->name, name) == 0;
}

static const manifest_model_t *
s_model_of (const manifest_t *fleet, size_t limit, const char *name)
{
    for (size_t i = 0; i < limit; i++)
        if (s_model_answers_to (manifest_model (fleet, i), name))
            return manifest_model (fleet, i);
    return NULL;
}

const manifest_model_t *
manifest_find_model (const manifest_t *self, const char *name)
{
    return s_model_of (self, self->models.count, name);
}

static bool
s_has_control (const char *text)
{
    while (*text && (uint8_t)*text >= ' ' && *text != 0x7f)
        text++;
    return *text != '\0';
}

//  key: "name" or "aliases".
static void
s_check_model_name (check_t *self, size_t position, const char *key, const char *name)
{
    place_t place = manifest_place (self->root, "models", position, key);
    if (strlen (name) > MODEL_MAX)
        complaints_add (self->complaints, place, "models[%zu].%s: '%.40s...' is longer than %d bytes; shorten it",
            position, key, name, MODEL_MAX);
    if (s_has_control (name))
        complaints_add (self->complaints, place,
            "models[%zu].%s: '%.100s' has a control character, which no client would send", position, key, name);
    if (s_model_of (self->fleet, position, name))
        complaints_add (
            self->complaints, place, "models[%zu].%s: '%s' is the name or alias of another model", position, key, name);
}

static void
s_check_models (check_t *self)
{
    for (size_t i = 0; i < self->fleet->models.count; i++) {
        const manifest_model_t *model = manifest_model (self->fleet, i);
        place_t place = manifest_place (self->root, "models", i, "name");
        if (*model->name)
            s_check_model_name (self, i, "name", model->name);
        else if (place.line)
            complaints_add (self->complaints, place, "models[%zu].name is empty", i);
        for (size_t j = 0; j < model->aliases.count; j++)
            s_check_model_name (self, i, "aliases", model->aliases.items [j]);
        if (model->aliases.count > ALIASES_MAX)
            complaints_add (self->complaints, manifest_place (self->root, "models", i, "aliases"),
                "models[%zu].aliases: %zu are more than the %d that workers can say; leave some out", i,
                model->aliases.count, ALIASES_MAX);
    }
}

static void
s_complain_model (check_t *self, size_t position, const char *name)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (name));
    for (size_t i = 0; i < self->fleet->models.count; i++)
        suggest_offer (&suggest, manifest_model (self->fleet, i)->name);
    complaints_add (self->complaints, manifest_place (self->root, "workers", position, "model"),
        "workers[%zu].model: '%.100s' is not among the models%s", position, name,
        suggest_best (&suggest) ? suggest_text (&suggest) : "; add it there, or name one of them");
}

//  A worker's model by its proper name; the only one where none is named.
static void
s_settle_model (check_t *self, size_t position)
{
    manifest_worker_t *worker = s_worker (self->fleet, position);
    size_t models = self->fleet->models.count;
    if (!*worker->model && models == 1)
        worker->model = manifest_model (self->fleet, 0)->name;
    const manifest_model_t *model = s_model_of (self->fleet, models, worker->model);
    if (model)
        worker->model = model->name;
    else if (*worker->model && models)
        s_complain_model (self, position, worker->model);
    else if (!*worker->model)
        complaints_add (self->complaints, manifest_place (self->root, "workers", position, "engine"),
            "workers[%zu] has no 'model'; say what clients ask for", position);
}

static void
s_check_engine (check_t *self, size_t position)
{
    const manifest_worker_t *worker = manifest_worker (self->fleet, position);
    place_t place = manifest_place (self->root, "workers", position, "engine");
    const config_node_t *element = config_element (config_child (self->root, "workers"), position);
    bool said = config_child (element, "url") || config_child (element, "command");    //  Else it was refused already
    const char *program = manifest_engine (worker)->program;
    if (program && !*worker->url && !worker->command.count && !said)
        complaints_add (self->complaints, place,
            "workers[%zu] needs a 'url' of a running %s, or a 'command' to start one", position, program);
    if (*worker->url && worker->command.count)
        complaints_add (self->complaints, place,
            "workers[%zu] has both 'url' (runs already) and 'command' (we start it)", position);
    if (*worker->url && worker->count > 1)
        complaints_add (self->complaints, manifest_place (self->root, "workers", position, "count"),
            "workers[%zu].count: one 'url' is one engine; write an element for each", position);
    for (size_t i = 0; i < worker->environment.count; i++)
        if (!strchr (worker->environment.items [i], '=') || *worker->environment.items [i] == '=')
            complaints_add (self->complaints, manifest_place (self->root, "workers", position, "environment"),
                "workers[%zu].environment: '%.100s' is not NAME=value", position, worker->environment.items [i]);
}

static void
s_check_command (check_t *self, size_t position)
{
    const option_strings_t *command = &manifest_worker (self->fleet, position)->command;
    const config_node_t *element = config_element (config_child (self->root, "workers"), position);
    for (size_t i = 0; i < command->count; i++) {
        span_t name = placeholder_unknown (command->items [i], manifest_placeholders);
        const config_node_t *word = config_element (config_child (element, "command"), i);
        buffer_t text = { 0 };
        if (!name.size)
            continue;
        placeholder_complain (name, manifest_placeholders, &text);
        complaints_add (self->complaints,
            word ? word->place : manifest_place (self->root, "workers", position, "command"),
            "workers[%zu].command: %s", position, buffer_string (&text));
        buffer_fini (&text);
    }
}

//  What says to each of several engines which it is.
static bool
s_is_told_apart (const option_strings_t *command)
{
    for (size_t i = 0; i < command->count; i++)
        if (strstr (command->items [i], "{port}") || strstr (command->items [i], "{instance}"))
            return true;
    return false;
}

static void
s_check_count (check_t *self, size_t position)
{
    const manifest_worker_t *worker = manifest_worker (self->fleet, position);
    if (worker->command.count && worker->count > 1 && !s_is_told_apart (&worker->command))
        complaints_add (self->complaints, manifest_place (self->root, "workers", position, "command"),
            "workers[%zu].command: %lld engines would take one port; write {port} in place of its number", position,
            (long long)worker->count);
}

static void
s_check_pair (check_t *self, size_t first, size_t second)
{
    const manifest_worker_t *a = manifest_worker (self->fleet, first), *b = manifest_worker (self->fleet, second);
    if (strcmp (a->name, b->name) == 0)
        complaints_add (self->complaints, manifest_place (self->root, "workers", second, "name"),
            "workers[%zu] and workers[%zu] are both called '%s'; give one another 'name'", first, second, b->name);
    if (strcmp (a->model, b->model) == 0 && a->worker.block_size != b->worker.block_size)
        complaints_add (self->complaints, manifest_place (self->root, "workers", second, "block_size"),
            "workers[%zu].block_size: model '%s' has blocks of %lld tokens in workers[%zu]", second, b->model,
            (long long)a->worker.block_size, first);
    if (*a->url && strcmp (a->url, b->url) == 0 && strcmp (a->host, b->host) == 0)
        complaints_add (self->complaints, manifest_place (self->root, "workers", second, "url"),
            "workers[%zu].url: the engine at '%s' is that of workers[%zu]; an engine has one worker, "
            "and other names of its model are its 'aliases'",
            second, b->url, first);
}

static void
s_check_workers (check_t *self)
{
    for (size_t i = 0; i < self->fleet->workers.count; i++) {
        manifest_worker_t *worker = s_worker (self->fleet, i);
        if (!*worker->name)
            worker->name = manifest_engines [worker->engine];
        if (!manifest_is_instance (worker->name))
            complaints_add (self->complaints, manifest_place (self->root, "workers", i, "name"),
                "workers[%zu].name: '%.100s' is no name of actors: up to 64 letters, digits, '_' and '-'", i,
                worker->name);
        s_settle_model (self, i);
        worker->place = manifest_place (self->root, "workers", i, "command");
        s_check_engine (self, i);
        s_check_command (self, i);
        s_check_count (self, i);
        for (size_t j = 0; j < i; j++)
            s_check_pair (self, j, i);
    }
}

static void
s_check_reach (check_t *self)
{
    const frontend_options_t *frontend = &self->fleet->frontend.options;
    if (!frontend->allow_public && !host_is_local (span_from_string (frontend->host)))
        complaints_add (self->complaints, manifest_section_place (self->root, "frontend", "host"),
            "frontend.host: '%.100s' can be reached from other machines and nobody is asked for a key; set "
            "frontend.allow_public to allow it",
            frontend->host);
    const char *policy = self->fleet->router.options.policy_endpoint;
    if (endpoint_leaves_machine (span_from_string (policy)))
        complaints_add (self->complaints, manifest_section_place (self->root, "router", "policy_endpoint"),
            "router.policy_endpoint: '%s' is on another machine, and a policy proves itself with no key; run it beside "
            "the router, at tcp://127.0.0.1 or ipc://",
            policy);
}

static void
s_check (check_t *self)
{
    const config_node_t *version = config_child (self->root, "version");
    if (self->fleet->version != MANIFEST_VERSION)
        complaints_add (self->complaints, version ? version->place : (place_t){ 0 },
            "version %lld is not known here; this program reads version %d", (long long)self->fleet->version,
            MANIFEST_VERSION);
    if (!s_is_name (self->fleet->cluster.name))
        complaints_add (self->complaints, manifest_section_place (self->root, "cluster", "name"),
            "cluster.name: '%.100s' is no name: up to 64 letters, digits, '.', '_' and '-'", self->fleet->cluster.name);
    s_check_models (self);
    s_check_workers (self);
    manifest_check_ports (self->fleet, self->root, self->complaints);
    s_check_reach (self);
    manifest_check_hosts (self->fleet, self->root, self->complaints);
    roles_check (
        &self->fleet->security.roles, config_child (config_child (self->root, "security"), "roles"), self->complaints);
    if (self->fleet->host.restart_delay_ns > self->fleet->host.restart_delay_max_ns)
        complaints_add (self->complaints, manifest_section_place (self->root, "host", "restart_delay"),
            "host.restart_delay is longer than host.restart_delay_max");
    if (self->fleet->broker.lease_ns < 2 * self->fleet->broker.heartbeat_ns)
        complaints_add (self->complaints, manifest_section_place (self->root, "broker", "lease"),
            "broker.lease is shorter than two heartbeats");
}

//  Without a list of models, what the workers name is the list.
static void
s_derive_models (manifest_t *self)
{
    if (self->models.count)
        return;
    manifest_model_t *models = arena_new (&self->memory, (self->workers.count + 1) * sizeof *models);
    if (!models)
        return;
    self->models.items = models;
    for (size_t i = 0; i < self->workers.count; i++) {
        const char *name = manifest_worker (self, i)->model;
        if (*name && !s_model_of (self, self->models.count, name))
            models [self->models.count++].name = name;
    }
}

//  ---- The core ------------------------------------------------------------------------------------------------------

void
manifest_parts (const manifest_t *self, manifest_part_t parts [MANIFEST_PARTS])
{
    parts [0] =
        (manifest_part_t){ "frontend", (size_t)self->frontend.instances, (manifest_process_t)self->frontend.process };
    parts [1] = (manifest_part_t){ "router", (size_t)self->router.instances, (manifest_process_t)self->router.process };
    parts [2] =
        (manifest_part_t){ "indexer", (size_t)self->indexer.instances, (manifest_process_t)self->indexer.process };
}

//  ---- Reading -------------------------------------------------------------------------------------------------------

static void
s_read_flags (manifest_t *self, const manifest_flags_t *flags, option_context_t *context)
{
    const option_target_t targets [] = { { manifest_table, self }, flags->own };
    array_t rest;
    array_init (&rest, sizeof (const char *));
    option_read_arguments (targets, flags->own.table ? 2 : 1, flags->words, flags->count, &rest, context);
    array_fini (&rest);
}

manifest_t *
manifest_new (span_t text, const manifest_flags_t *flags, const config_world_t *world, complaints_t *complaints)
{
    manifest_t *self = memory_new (sizeof *self);
    arena_init (&self->memory, MEMORY_MAX);
    option_context_t context = { .memory = &self->memory, .complaints = complaints, .world = world };
    option_target_t target = { manifest_table, self };
    option_set_defaults (target, &context);
    config_t *config = config_parse (text, world, complaints);
    if (config)
        option_read_section (target, config_root (config), "", &context);
    if (flags)
        s_read_flags (self, flags, &context);
    if (config) {
        check_t check = { .fleet = self, .root = config_root (config), .complaints = complaints };
        s_derive_models (self);
        self->guard = roles_guard (&self->security.roles, &self->memory);
        s_check (&check);
    }
    config_destroy (&config);
    return self;
}

void
manifest_destroy (manifest_t **self_p)
{
    manifest_t *self = *self_p;
    if (!self)
        return;
    arena_fini (&self->memory);
    memory_free (self);
    *self_p = NULL;
}
