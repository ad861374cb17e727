//  stator actor - one actor, or the actors of one process, alone in a process

#include "cli/command.h"
#include "cli/house.h"
#include "cli/parent.h"
#include "cli/site.h"

typedef struct {
    const char *config;      //  The fleet's file
    const char *instance;    //  Which one; "": all of the service
    int64_t parent;          //  Process that it must not outlive; 0: none
} actor_flags_t;

static const option_t s_flags [] = {
    { .name = "config",
        .type = OPTION_STRING,
        .offset = offsetof (actor_flags_t, config),
        .example = "fleet.yaml",
        .doc = "Configuration of the fleet; the built-in one where none is named." },
    { .name = "instance",
        .type = OPTION_STRING,
        .offset = offsetof (actor_flags_t, instance),
        .example = "mock-0",
        .doc = "Which instance of the service; all of them where none is named." },
    { .name = "parent",
        .type = OPTION_INTEGER,
        .traits = OPTION_HIDDEN,
        .max = INT32_MAX,
        .offset = offsetof (actor_flags_t, parent),
        .doc = "Process whose end ends this one." },
    OPTIONS_END,
};

//  A process of actors, and what it was made from.
typedef struct {
    const invocation_t *invocation;    //  As typed
    site_t site;                       //  The fleet
    assembly_t *assembly;              //  What holds
    assembly_t *first;                 //  Of the start, whose names and endpoints the actors keep
    assembly_t *before;                //  Of the reload before, until they have the new options
} process_t;

static const char *
s_file (const process_t *self)
{
    const actor_flags_t *flags = self->invocation->flags;
    return *flags->config ? flags->config : NULL;
}

//  The actors as the fleet now says; NULL where it has none of this name.
static assembly_t *
s_assemble (process_t *self, error_t *error)
{
    const actor_flags_t *flags = self->invocation->flags;
    const char *instance = *flags->instance ? flags->instance : NULL;
    return assembly_new (self->site.fleet, &self->site.assembly, self->invocation->words [0], instance, error);
}

static status_t
s_on_reload (void *arg, house_reload_t *reload, error_t *error)
{
    process_t *self = arg;
    status_t status = site_reload (&self->site, self->invocation, s_file (self), false, error);
    if (status)
        return status;
    assembly_t *assembly = s_assemble (self, error);
    if (!assembly)
        return error->status;
    if (self->before != self->first)
        assembly_destroy (&self->before);
    self->before = self->assembly;
    self->assembly = assembly;
    *reload = (house_reload_t){ .actors = assembly_actor (assembly, 0),
        .log_level = (log_level_t)self->site.fleet->observability.log_level,
        .changed = buffer_string (&self->site.changed) };
    return STATUS_OK;
}

static status_t
s_read_keys (void *arg, keyring_t **keys, buffer_t *news, error_t *error)
{
    return site_read_keys (&((process_t *)arg)->site, keys, news, error);
}

static result_t
s_live (process_t *self)
{
    const manifest_observability_t *observability = &self->site.fleet->observability;
    const actor_flags_t *flags = self->invocation->flags;
    error_t error;
    house_options_t options = {
        .state_dir = self->site.folders.state,
        .log_level = (log_level_t)observability->log_level,
        .log_form = (log_form_t)observability->log_format,
        .news_level = flags->parent ? LOG_DEBUG : LOG_INFO,    //  Whoever started it has said so already
        .read_keys = s_read_keys,
        .on_reload = s_on_reload,
        .arg = self,
    };
    self->first = self->before = self->assembly = s_assemble (self, &error);
    if (!self->first) {
        command_complain (self->invocation->command, "%s", error.text);
        return RESULT_USAGE;
    }
    house_t *house = house_new (assembly_actor (self->first, 0), assembly_count (self->first), &options, &error);
    if (!house) {
        command_complain (self->invocation->command, "%s", error.text);
        return RESULT_FAILED;
    }
    house_start (house);
    result_t result = house_wait (house);
    house_destroy (&house);
    return result;
}

static result_t
s_run (const invocation_t *invocation)
{
    const actor_flags_t *flags = invocation->flags;
    process_t process = { .invocation = invocation };
    error_t error;
    if (flags->parent)
        command_complain_in_log (LOG_FORM_AUTO);
    if (flags->parent && parent_watch (flags->parent, &error) != STATUS_OK)
        command_complain (invocation->command, "%s", error.text);
    result_t result = site_open (&process.site, invocation, s_file (&process));
    if (result != RESULT_OK)
        return result;
    if (flags->parent)
        command_complain_in_log ((log_form_t)process.site.fleet->observability.log_format);
    result = s_live (&process);
    if (process.assembly != process.before)
        assembly_destroy (&process.assembly);
    if (process.before != process.first)
        assembly_destroy (&process.before);
    assembly_destroy (&process.first);
    site_close (&process.site);
    return result;
}

static const char *const s_choices [] = { "broker", "core", "frontend", "router", "indexer", "worker", NULL };

const command_t actor_command = {
    .name = "actor",
    .arguments = "SERVICE",
    .doc = "Run one actor, or those of one process, alone in this process.",
    .essay = "SERVICE is broker, frontend, router, indexer or worker; or core: of frontend, router and indexer those "
             "that the\n"
             "configuration gives no process of their own.\n"
             "This is what `stator up` starts; by hand it serves to spread a fleet otherwise, or to debug one actor.\n"
             "SIGTERM drains it, a second one ends it at once; SIGHUP reads the configuration again.\n",
    .table = s_flags,
    .flags_size = sizeof (actor_flags_t),
    .takes_fleet = true,
    .choices = s_choices,
    .words_min = 1,
    .words_max = 1,
    .run = s_run,
};
