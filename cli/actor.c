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

static result_t
s_run_in (const invocation_t *invocation, const site_t *site)
{
    const actor_flags_t *flags = invocation->flags;
    error_t error;
    assembly_t *assembly = assembly_new (
        site->fleet, &site->assembly, invocation->words [0], *flags->instance ? flags->instance : NULL, &error);
    house_options_t options = { .state_dir = site->folders.state,
        .log_level = (log_level_t)site->fleet->observability.log_level,
        .log_form = (log_form_t)site->fleet->observability.log_format };
    house_t *house =
        assembly ? house_new (assembly_actor (assembly, 0), assembly_count (assembly), &options, &error) : NULL;
    result_t result = RESULT_FAILED;
    if (house) {
        house_start (house);
        result = house_wait (house);
    } else {
        command_complain (invocation->command, "%s", error.text);
    }
    house_destroy (&house);
    assembly_destroy (&assembly);
    return result;
}

static result_t
s_run (const invocation_t *invocation)
{
    const actor_flags_t *flags = invocation->flags;
    site_t site;
    error_t error;
    if (flags->parent && parent_watch (flags->parent, &error) != STATUS_OK)
        command_complain (invocation->command, "%s", error.text);
    result_t result = site_open (&site, invocation, *flags->config ? flags->config : NULL);
    if (result != RESULT_OK)
        return result;
    result = s_run_in (invocation, &site);
    site_close (&site);
    return result;
}

const command_t actor_command = {
    .name = "actor",
    .arguments = "SERVICE",
    .doc = "Run one actor, or those of one process, alone in this process.",
    .essay =
        "SERVICE is broker, frontend, router, indexer or worker, or core for all frontends, routers and indexers.\n"
        "This is what `stator up` starts; by hand it serves to spread a fleet otherwise, or to debug one actor.\n"
        "SIGTERM drains it, a second one ends it at once.\n",
    .table = s_flags,
    .flags_size = sizeof (actor_flags_t),
    .takes_fleet = true,
    .words_min = 1,
    .words_max = 1,
    .run = s_run,
};
