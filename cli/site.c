#include "cli/site.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/caller.h"
#include "cli/environment.h"
#include "cli/trust.h"
#include "runtime/endpoint.h"

//  ---- A fleet to run ------------------------------------------------------------------------------------------------

static const char *
s_keep (manifest_t *fleet, const char *text)
{
    return (const char *)arena_copy (&fleet->memory, span_of (text, strlen (text) + 1)).data;
}

//  From now on the fleet names its folders itself, whatever the environment of whoever reads it.
static status_t
s_settle_folders (manifest_t *fleet, folders_t *folders, error_t *error)
{
    status_t status = folders_find (folders, &fleet->cluster, error);
    if (status == STATUS_OK) {
        fleet->cluster.run_dir = s_keep (fleet, folders->run);
        fleet->cluster.state_dir = s_keep (fleet, folders->state);
    }
    return status;
}

void
site_check_keys (const manifest_t *fleet, bool own_only, complaints_t *complaints)
{
    folders_t folders;
    char keys [FOLDER_PATH_MAX];
    error_t error;
    if (complaints_any (complaints) || !fleet->hosts.count)
        return;
    if (folders_find (&folders, &fleet->cluster, &error) != STATUS_OK) {
        complaints_add (complaints, (place_t){ 0 }, "%s", error.text);
        return;
    }
    trust_folder (fleet, folders.state, keys, sizeof keys);
    trust_check (fleet, keys, own_only, complaints);
}

//  What to run is a fleet on one machine, or one host of it.
static void
s_check_host (const manifest_t *fleet, complaints_t *complaints)
{
    buffer_t names = { 0 };
    for (size_t i = 0; i < fleet->hosts.count; i++)
        buffer_print (&names, "%s%s", i ? ", " : "", manifest_host (fleet, i)->name);
    if (!complaints_any (complaints) && fleet->hosts.count && !*fleet->cluster.host)
        complaints_add (complaints, (place_t){ 0 }, "the fleet has hosts: say with --host which one this is: %s",
            buffer_string (&names));
    buffer_fini (&names);
}

void
site_check_programs (const manifest_t *fleet, complaints_t *complaints)
{
    if (fleet->hosts.count && !*fleet->cluster.host)
        return;    //  It is not known which of them this machine is
    for (size_t i = 0; i < fleet->workers.count; i++) {
        const manifest_worker_t *worker = manifest_worker (fleet, i);
        if (worker->command.count && manifest_worker_is_here (fleet, worker) &&
            !environment_has_program (worker->command.items [0]))
            complaints_add (complaints, worker->place,
                "workers[%zu].command: there is no program '%s' here; install it, or say where it is", i,
                worker->command.items [0]);
    }
}

//  What only a start needs is checked too.
static void
s_check_start (const manifest_t *fleet, complaints_t *complaints)
{
    s_check_host (fleet, complaints);
    site_check_keys (fleet, true, complaints);
}

void
site_check_contents (span_t text, complaints_t *complaints)
{
    while (text.size) {
        span_t line = span_trim (span_slice (text, 0, span_find_byte (text, '\n')));
        if (line.size && line.data [0] != '#')
            return;
        text = span_slice (text, span_find_byte (text, '\n') + 1, text.size);
    }
    complaints_add (complaints, (place_t){ 0 },
        "it says nothing; begin with examples/fleet.yaml, or with `stator check --print-default`");
}

//  An error without complaints: there is no such file.
static status_t
s_read_fleet (manifest_t **fleet, const invocation_t *invocation, const char *file, site_check_fn *check,
    complaints_t *complaints, error_t *error)
{
    buffer_t text = { 0 };
    status_t status = STATUS_OK;
    if (!file)
        buffer_append_string (&text, manifest_builtin);
    else
        status = environment_read_file (file, CONFIG_SIZE_MAX, &text, error);
    if (status == STATUS_OK) {
        *fleet = manifest_new (buffer_span (&text), &invocation->all, &environment_world, complaints);
        site_check_contents (buffer_span (&text), complaints);
        if (check)
            check (*fleet, complaints);
        status = complaints_to_error (complaints, error);
    }
    buffer_fini (&text);
    return status;
}

static const char *
s_name_of (const char *file)
{
    return file ? file : "built-in fleet";
}

result_t
site_read_fleet (manifest_t **fleet, const invocation_t *invocation, const char *file, site_check_fn *check)
{
    error_t error;
    complaints_t complaints;
    complaints_init (&complaints, s_name_of (file));
    status_t status = s_read_fleet (fleet, invocation, file, check, &complaints, &error);
    if (status != STATUS_OK && !complaints_any (&complaints))
        command_complain (invocation->command, "%s", error.text);
    command_print_complaints (&complaints);
    complaints_fini (&complaints);
    return status == STATUS_OK ? RESULT_OK : RESULT_USAGE;
}

manifest_t *
site_load_fleet (const char *file, error_t *error)
{
    buffer_t text = { 0 };
    complaints_t complaints;
    manifest_t *fleet = NULL;
    complaints_init (&complaints, file ? file : "no file");
    if (!file || environment_read_file (file, CONFIG_SIZE_MAX, &text, error) == STATUS_OK) {
        fleet = manifest_new (buffer_span (&text), NULL, &environment_world, &complaints);
        if (complaints_to_error (&complaints, error) != STATUS_OK)
            manifest_destroy (&fleet);
    }
    complaints_fini (&complaints);
    buffer_fini (&text);
    return fleet;
}

//  The name of this machine, as the host actor is called by it: without its domain, whose dots would end the name in topics.
static void
s_name_machine (site_t *self)
{
    const char *given = self->fleet->cluster.host;
    if (*given)
        snprintf (self->machine, sizeof self->machine, "%s", given);
    else if (gethostname (self->machine, sizeof self->machine - 1) != 0 || *self->machine == '.')
        snprintf (self->machine, sizeof self->machine, "localhost");
    self->machine [strcspn (self->machine, ".")] = '\0';
}

static status_t
s_settle (site_t *self, error_t *error)
{
    status_t status = s_settle_folders (self->fleet, &self->folders, error);
    if (status == STATUS_OK)
        status = folders_make (&self->folders, error);
    if (status == STATUS_OK)
        status = folders_secret (&self->folders, manifest_runs_here (self->fleet, "core"), self->secret, error);
    s_name_machine (self);
    self->assembly = (assembly_site_t){
        .run_dir = self->folders.run, .machine = self->machine, .secret = span_of (self->secret, SECRET_SIZE)
    };
    return status;
}

result_t
site_open (site_t *self, const invocation_t *invocation, const char *file)
{
    error_t error;
    *self = (site_t){ .lock = -1 };
    array_init (&self->certificates, sizeof (certificate_t));
    result_t result = site_read_fleet (&self->fleet, invocation, file, s_check_start);
    self->first = self->before = self->fleet;
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
    if (self->fleet != self->before)
        manifest_destroy (&self->fleet);
    if (self->before != self->first)
        manifest_destroy (&self->before);
    manifest_destroy (&self->first);
    buffer_fini (&self->changed);
    array_fini (&self->certificates);
}

//  What a reload would change, by name.
typedef struct {
    buffer_t live;     //  What may be
    buffer_t fixed;    //  What takes a new start
} changes_t;

static void
s_on_change (void *arg, const char *path, const option_t *row)
{
    changes_t *self = arg;
    buffer_t *names = row->traits & OPTION_LIVE ? &self->live : &self->fixed;
    buffer_print (names, "%s%s", names->size ? ", " : "", path);
}

//  Takes both.  Of those before only what may still be pointed into is kept.
static void
s_renew (site_t *self, manifest_t *fresh, buffer_t *changed)
{
    if (self->before != self->first)
        manifest_destroy (&self->before);
    self->before = self->fleet;
    self->fleet = fresh;
    buffer_fini (&self->changed);
    self->changed = *changed;
}

//  What the fleet before may not become is an error.
static status_t
s_compare (const manifest_t *before, manifest_t *fresh, buffer_t *changed, error_t *error)
{
    folders_t folders;
    changes_t changes = { 0 };
    status_t status = s_settle_folders (fresh, &folders, error);
    if (status == STATUS_OK)
        option_compare (manifest_table, before, fresh, "", s_on_change, &changes);
    if (changes.fixed.size)
        status = error_set (error, STATUS_INVALID,
            "a reload cannot change %s, that takes a new start; all of the file%s%s%s is as before",
            buffer_string (&changes.fixed), changes.live.size ? ", " : "", buffer_string (&changes.live),
            changes.live.size ? " too," : "");
    buffer_fini (&changes.fixed);
    *changed = changes.live;
    return status;
}

status_t
site_publish (const site_t *self, manifest_t *fleet, error_t *error)
{
    buffer_t text = { 0 };
    option_print_secrets ((option_target_t){ manifest_table, fleet }, &text);
    status_t status = folders_write (&self->folders, SITE_CONFIG, buffer_span (&text), error);
    buffer_fini (&text);
    return status;
}

static bool
s_is_there (const site_t *self, const char *name)
{
    char path [FOLDER_PATH_MAX];
    folders_path (&self->folders, name, path, sizeof path);
    return access (path, F_OK) == 0;
}

status_t
site_restore (site_t *self, bool *restored, error_t *error)
{
    *restored = false;
    if (s_is_there (self, FOLDERS_LOCK) && s_is_there (self, SITE_CONFIG))
        return STATUS_OK;
    status_t status = folders_make (&self->folders, error);
    if (status == STATUS_OK)
        status = folders_lock (&self->folders, &self->lock, error);
    if (status == STATUS_OK)
        status = site_publish (self, self->fleet, error);
    *restored = status == STATUS_OK;
    return status;
}

//  What is wrong is said where the log is, not to a terminal that may be gone.
static status_t
s_read_anew (manifest_t **fresh, const invocation_t *invocation, const char *file, error_t *error)
{
    error_t why;
    complaints_t complaints;
    complaints_init (&complaints, s_name_of (file));
    status_t status = s_read_fleet (fresh, invocation, file, s_check_host, &complaints, &why);
    complaints_fini (&complaints);
    return status == STATUS_OK ? STATUS_OK
                               : error_set (error, STATUS_INVALID, "%s; all of the file is as before", why.text);
}

status_t
site_reload (site_t *self, const invocation_t *invocation, const char *file, bool publish, error_t *error)
{
    manifest_t *fresh = NULL;
    buffer_t changed = { 0 };
    status_t status = s_read_anew (&fresh, invocation, file, error);
    if (status == STATUS_OK)
        status = s_compare (self->fleet, fresh, &changed, error);
    if (status == STATUS_OK && publish)
        status = site_publish (self, fresh, error);
    if (status == STATUS_OK) {
        s_renew (self, fresh, &changed);
    } else {
        manifest_destroy (&fresh);
        buffer_fini (&changed);
    }
    return status;
}

//  ---- Keys ----------------------------------------------------------------------------------------------------------

//  own: whose key.  list: of the certificates, appended.
static status_t
s_read_keys (
    const manifest_t *fleet, const char *state_dir, const char *own, keyring_t **keys, array_t *list, error_t *error)
{
    char folder [FOLDER_PATH_MAX];
    trust_folder (fleet, state_dir, folder, sizeof folder);
    *keys = trust_read (fleet, folder, own, list, error);
    return *keys ? STATUS_OK : error->status;
}

status_t
site_read_keys (site_t *self, keyring_t **keys, buffer_t *news, error_t *error)
{
    const manifest_host_t *own = manifest_own_host (self->fleet);
    array_t list;
    *keys = NULL;
    if (!own || host_is_local (span_from_string (own->address)))
        return STATUS_OK;
    array_init (&list, sizeof (certificate_t));
    status_t status = s_read_keys (self->fleet, self->folders.state, own->name, keys, &list, error);
    if (status != STATUS_OK) {
        array_fini (&list);
        return status;
    }
    trust_compare (self->fleet, &self->certificates, &list, news);
    array_fini (&self->certificates);
    self->certificates = list;
    return STATUS_OK;
}

//  ---- A fleet that runs ---------------------------------------------------------------------------------------------

const option_t site_flags_table [] = {
    { .name = "cluster",
        .type = OPTION_STRING,
        .fallback = "default",
        .offset = offsetof (site_flags_t, cluster),
        .doc = "Which fleet of this user." },
    { .name = "host",
        .type = OPTION_STRING,
        .offset = offsetof (site_flags_t, host),
        .example = "gpu-1",
        .doc = "Which of its hosts this machine is, where it has hosts." },
    { .name = "config",
        .type = OPTION_STRING,
        .offset = offsetof (site_flags_t, config),
        .example = "fleet.yaml",
        .doc = "Its file, on a machine that is none of its hosts." },
    { .name = "key",
        .type = OPTION_STRING,
        .offset = offsetof (site_flags_t, key),
        .example = "ada",
        .doc = "Whose key to use, of those in the fleet's folder of keys; the host's where none is named." },
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

//  On a machine that is none of its hosts, or to say which one it is.
static manifest_t *
s_read_named (const site_flags_t *flags, folders_t *folders, error_t *error)
{
    manifest_t *fleet = site_load_fleet (flags->config, error);
    status_t status = fleet ? STATUS_OK : error_set (error, STATUS_INVALID, "%s", error->text);
    if (fleet && *flags->host)
        fleet->cluster.host = flags->host;
    if (fleet && *flags->host && !manifest_own_host (fleet))
        status = manifest_refuse_host (fleet, flags->host, error);
    if (status == STATUS_OK)
        status = s_settle_folders (fleet, folders, error);
    if (status != STATUS_OK)
        manifest_destroy (&fleet);
    return fleet;
}

//  The configuration it was started with, or else the file that was named.
static manifest_t *
s_find_fleet (const site_flags_t *flags, folders_t *folders, error_t *error)
{
    manifest_cluster_t cluster = {
        .name = flags->cluster, .host = flags->host, .run_dir = flags->run_dir, .state_dir = "/"
    };
    char path [FOLDER_PATH_MAX], host [FOLDER_PATH_MAX];
    if (*flags->config)
        return s_read_named (flags, folders, error);
    if (folders_find (folders, &cluster, error) != STATUS_OK)
        return NULL;
    folders_path (folders, SITE_CONFIG, path, sizeof path);
    manifest_t *fleet = site_load_fleet (path, error);
    if (fleet || error->status != STATUS_NOT_FOUND)
        return fleet;
    if (folders_find_host (folders, SITE_CONFIG, host))
        error_set (error, STATUS_UNREACHABLE, "no fleet runs in %s, but host '%s' of it does: say --host %s",
            folders->run, host, host);
    else
        error_set (error, STATUS_UNREACHABLE,
            "no fleet runs in %s; start one with `stator up`, say which --host of it this is, or name its broker with "
            "--broker",
            folders->run);
    return NULL;
}

//  Callers prove themselves where the fleet is spread over machines, with a key that has a role for what they ask.
static status_t
s_take_key (const site_flags_t *flags, const manifest_t *fleet, error_t *error)
{
    const manifest_host_t *own = manifest_own_host (fleet), *broker = manifest_host_of (fleet, "broker");
    keyring_t *keys = NULL;
    array_t list;
    caller_set_host (own ? own->name : "");
    if (!broker || host_is_local (span_from_string (broker->address)))
        return STATUS_OK;
    if (!*flags->key && !own)
        return error_set (error, STATUS_INVALID, "the fleet asks who you are: name your key with --key");
    array_init (&list, sizeof (certificate_t));
    status_t status =
        s_read_keys (fleet, fleet->cluster.state_dir, *flags->key ? flags->key : own->name, &keys, &list, error);
    array_fini (&list);
    caller_set_keys (keys);
    return status;
}

status_t
site_find_broker (const site_flags_t *flags, char endpoint [ENDPOINT_MAX], char events [ENDPOINT_MAX], error_t *error)
{
    status_t status = STATUS_OK;
    if (!*flags->broker || !*flags->events || *flags->config) {
        folders_t folders;
        manifest_t *fleet = s_find_fleet (flags, &folders, error);
        status = fleet ? s_take_key (flags, fleet, error) : error->status;
        if (fleet)
            assembly_broker (fleet, &(assembly_site_t){ .run_dir = folders.run }, endpoint, events);
        manifest_destroy (&fleet);
    }
    if (*flags->broker)
        snprintf (endpoint, ENDPOINT_MAX, "%s", flags->broker);
    if (*flags->events)
        snprintf (events, ENDPOINT_MAX, "%s", flags->events);
    bool named = *flags->broker && (status == STATUS_NOT_FOUND || status == STATUS_UNREACHABLE);
    return named ? STATUS_OK : status;
}
