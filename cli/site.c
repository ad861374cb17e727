#include "cli/site.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/environment.h"

//  ---- A fleet to run ------------------------------------------------------------------------------------------------------

static result_t
s_read (manifest_t **fleet, const invocation_t *invocation, const char *file)
{
    buffer_t text = { 0 }, said = { 0 };
    error_t error;
    complaints_t complaints;
    complaints_init (&complaints, file ? file : "built-in fleet");
    result_t result = RESULT_OK;
    if (!file)
        buffer_append_string (&text, manifest_builtin);
    else if (environment_read_file (file, CONFIG_SIZE_MAX, &text, &error) != STATUS_OK) {
        command_complain (invocation->command, "%s", error.text);
        result = RESULT_USAGE;
    }
    if (result == RESULT_OK) {
        *fleet = manifest_new (buffer_span (&text), &invocation->all, &environment_world, &complaints);
        result = complaints_any (&complaints) ? RESULT_USAGE : RESULT_OK;
        complaints_render (&complaints, &said);
        fputs (buffer_string (&said), stderr);
    }
    buffer_fini (&said);
    buffer_fini (&text);
    complaints_fini (&complaints);
    return result;
}

static status_t
s_settle (site_t *self, error_t *error)
{
    status_t status = folders_find (&self->folders, &self->fleet->cluster, error);
    if (status == STATUS_OK)
        status = folders_make (&self->folders, error);
    if (status == STATUS_OK)
        status = folders_secret (&self->folders, self->secret, error);
    if (gethostname (self->machine, sizeof self->machine - 1) != 0)
        snprintf (self->machine, sizeof self->machine, "localhost");
    self->assembly = (assembly_site_t){
        .run_dir = self->folders.run, .machine = self->machine, .secret = span_of (self->secret, SECRET_SIZE)
    };
    return status;
}

result_t
site_open (site_t *self, const invocation_t *invocation, const char *file)
{
    error_t error;
    *self = (site_t){ 0 };
    array_init (&self->older, sizeof (manifest_t *));
    result_t result = s_read (&self->fleet, invocation, file);
    if (result == RESULT_OK && s_settle (self, &error) != STATUS_OK) {
        command_complain (invocation->command, "%s", error.text);
        result = RESULT_FAILED;
    }
    if (result != RESULT_OK)
        site_close (self);
    return result;
}

void
site_close (site_t *self)
{
    manifest_destroy (&self->fleet);
    for (size_t i = 0; i < self->older.count; i++)
        manifest_destroy (array_at (&self->older, i));
    array_fini (&self->older);
}

//  What changes, and whether it may.
typedef struct {
    const invocation_t *invocation;    //  Who complains
    bool refused;                      //  Something takes a new start
} change_t;

static void
s_on_change (void *arg, const char *path, const option_t *row)
{
    change_t *self = arg;
    if (row->traits & OPTION_LIVE)
        return;
    command_complain (self->invocation->command, "a reload cannot change %s; nothing was reloaded", path);
    self->refused = true;
}

bool
site_reload (site_t *self, const invocation_t *invocation, const char *file)
{
    manifest_t *fresh = NULL;
    change_t change = { .invocation = invocation };
    if (s_read (&fresh, invocation, file) == RESULT_OK)
        option_compare (manifest_table, self->fleet, fresh, "", s_on_change, &change);
    else
        change.refused = true;
    if (change.refused) {
        manifest_destroy (&fresh);
        return false;
    }
    array_append (&self->older, &self->fleet, 1);
    self->fleet = fresh;
    return true;
}

//  ---- A fleet that runs ---------------------------------------------------------------------------------------------------

const option_t site_flags_table [] = {
    { .name = "cluster",
        .type = OPTION_STRING,
        .fallback = "default",
        .offset = offsetof (site_flags_t, cluster),
        .doc = "Which fleet of this user." },
    { .name = "run_dir",
        .type = OPTION_STRING,
        .offset = offsetof (site_flags_t, run_dir),
        .example = "/run/stator",
        .doc = "Its run folder, where it is not the usual one." },
    { .name = "broker",
        .type = OPTION_ENDPOINT,
        .offset = offsetof (site_flags_t, broker),
        .example = "tcp://127.0.0.1:7400",
        .doc = "Its broker, where it has no run folder here." },
    { .name = "events",
        .type = OPTION_ENDPOINT,
        .offset = offsetof (site_flags_t, events),
        .example = "tcp://127.0.0.1:7401",
        .doc = "Where its broker publishes, likewise." },
    OPTIONS_END,
};

static status_t
s_read_running (const folders_t *folders, char endpoint [ENDPOINT_MAX], char events [ENDPOINT_MAX], error_t *error)
{
    char path [FOLDER_PATH_MAX];
    buffer_t text = { 0 };
    complaints_t complaints;
    complaints_init (&complaints, SITE_CONFIG);
    folders_path (folders, SITE_CONFIG, path, sizeof path);
    status_t status = environment_read_file (path, CONFIG_SIZE_MAX, &text, error);
    if (status == STATUS_NOT_FOUND)
        error_set (error, STATUS_NOT_FOUND,
            "no fleet runs in %s; start one with `stator up`, or name its broker with --broker", folders->run);
    if (status == STATUS_OK) {
        manifest_t *fleet = manifest_new (buffer_span (&text), NULL, NULL, &complaints);
        assembly_broker (fleet, &(assembly_site_t){ .run_dir = folders->run }, endpoint, events);
        status = complaints_to_error (&complaints, error);
        manifest_destroy (&fleet);
    }
    complaints_fini (&complaints);
    buffer_fini (&text);
    return status;
}

status_t
site_find_broker (const site_flags_t *flags, char endpoint [ENDPOINT_MAX], char events [ENDPOINT_MAX], error_t *error)
{
    folders_t folders;
    manifest_cluster_t cluster = { .name = flags->cluster, .run_dir = flags->run_dir, .state_dir = "/" };
    status_t status = STATUS_OK;
    if (!*flags->broker || !*flags->events)
        status = folders_find (&folders, &cluster, error);
    if (status == STATUS_OK && (!*flags->broker || !*flags->events))
        status = s_read_running (&folders, endpoint, events, error);
    if (*flags->broker)
        snprintf (endpoint, ENDPOINT_MAX, "%s", flags->broker);
    if (*flags->events)
        snprintf (events, ENDPOINT_MAX, "%s", flags->events);
    //  Whoever names the broker needs no run folder; what only the folder could tell stays empty.
    return *flags->broker && status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
