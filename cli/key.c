//  stator key - whom a fleet that is spread over machines lets in

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "cli/certificate.h"
#include "cli/command.h"
#include "cli/site.h"
#include "cli/trust.h"

enum { NAME_WIDTH = 20, ROLES_WIDTH = 24 };

typedef struct {
    const char *config;        //  The fleet's file; "": the usual folders and roles
    const char *cluster;       //  Its name, where no file says it
    const char *state_dir;     //  Its state folder, likewise
    const char *keys_dir;      //  Its folder of keys, likewise
    option_strings_t roles;    //  Of a new key
    bool json;                 //  For programs
} key_flags_t;

static const option_t s_flags [] = {
    { .name = "roles",
        .type = OPTION_STRINGS,
        .offset = offsetof (key_flags_t, roles),
        .example = "host,worker",
        .doc = "What the holder of a new key may do: host, core, worker, operator, policy." },
    { .name = "config",
        .type = OPTION_STRING,
        .offset = offsetof (key_flags_t, config),
        .example = "fleet.yaml",
        .doc = "The fleet's file, where it names folders or roles of its own." },
    { .name = "cluster",
        .type = OPTION_STRING,
        .offset = offsetof (key_flags_t, cluster),
        .example = "default",
        .doc = "Which fleet of this user, where no file says it." },
    { .name = "state_dir",
        .type = OPTION_STRING,
        .offset = offsetof (key_flags_t, state_dir),
        .example = "/var/lib/stator",
        .doc = "Its state folder, where it is not the usual one." },
    { .name = "keys_dir",
        .type = OPTION_STRING,
        .offset = offsetof (key_flags_t, keys_dir),
        .example = "/etc/stator/keys",
        .doc = "Its folder of keys, where that is not `keys` in the state folder." },
    { .name = "json", .type = OPTION_BOOL, .offset = offsetof (key_flags_t, json), .doc = "Say it as JSON." },
    OPTIONS_END,
};

//  What a sub-verb works on.
typedef struct {
    const key_flags_t *flags;         //  As typed
    const char *name;                 //  Of the key; NULL where none is needed
    manifest_t *fleet;                //  For its roles
    char folder [FOLDER_PATH_MAX];    //  Of keys
} key_run_t;

//  ---- Which folder --------------------------------------------------------------------------------------------------

//  `makes`: it need not be there yet.
static status_t
s_find_folder (key_run_t *self, bool makes, error_t *error)
{
    const key_flags_t *flags = self->flags;
    folders_t folders;
    self->fleet = site_load_fleet (*flags->config ? flags->config : NULL, error);
    if (!self->fleet)
        return error->status;
    manifest_cluster_t *cluster = &self->fleet->cluster;
    cluster->name = *flags->cluster ? flags->cluster : cluster->name;
    cluster->state_dir = *flags->state_dir ? flags->state_dir : cluster->state_dir;
    if (*flags->keys_dir)
        self->fleet->security.keys_dir = flags->keys_dir;
    status_t status = folders_find (&folders, cluster, error);
    if (status == STATUS_OK && makes)
        status = folders_make (&folders, error);
    if (status == STATUS_OK)
        trust_folder (self->fleet, folders.state, self->folder, sizeof self->folder);
    if (status == STATUS_OK && !makes && access (self->folder, F_OK) != 0)
        status = error_set (
            error, STATUS_NOT_FOUND, "there is no folder of keys %s: `stator key new` makes it", self->folder);
    return status;
}

//  ---- new, revoke, list ---------------------------------------------------------------------------------------------

static status_t
s_join_roles (const key_run_t *self, buffer_t *roles, error_t *error)
{
    uint32_t bits;
    for (size_t i = 0; i < self->flags->roles.count; i++)
        buffer_print (roles, "%s%s", i ? " " : "", self->flags->roles.items [i]);
    if (!self->flags->roles.count)
        return error_set (
            error, STATUS_INVALID, "say with --roles what the holder may do, for example --roles host,worker");
    return guard_parse_roles (self->fleet->guard, buffer_span (roles), &bits, error);
}

static status_t
s_new (const key_run_t *self, error_t *error)
{
    buffer_t roles = { 0 };
    certificate_t certificate;
    status_t status = s_join_roles (self, &roles, error);
    if (status == STATUS_OK)
        status = certificate_make (&certificate, self->name, buffer_string (&roles), error);
    if (status == STATUS_OK)
        status = certificate_write (&certificate, self->folder, error);
    if (status == STATUS_OK)
        printf (
            "%s/%s.cert\n    is public: copy it into the folder of keys of every host, and send SIGHUP to `stator up` "
            "there\n%s/%s.cert_secret\n    is secret: it belongs on the machine of '%s' alone\n",
            self->folder, self->name, self->folder, self->name, self->name);
    sodium_memzero (&certificate, sizeof certificate);
    buffer_fini (&roles);
    return status;
}

static status_t
s_revoke (const key_run_t *self, error_t *error)
{
    status_t status = certificate_revoke (self->folder, self->name, error);
    if (status == STATUS_OK)
        printf ("'%s' is revoked in %s; what it says is refused as soon as `stator up` here gets SIGHUP. Revoke it on "
                "every other host too.\n",
            self->name, self->folder);
    return status;
}

static void
s_print_line (const certificate_t *certificate, bool revoked, buffer_t *out)
{
    buffer_print (out, "%-*s %-*s %-8s %s\n", NAME_WIDTH, certificate->name, ROLES_WIDTH, certificate->roles,
        revoked ? "revoked" : "valid", certificate->public_key);
}

static void
s_print_json (const certificate_t *certificate, bool revoked, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "name");
    json_write_string (&json, span_from_string (certificate->name));
    json_write_key (&json, "roles");
    json_write_string (&json, span_from_string (certificate->roles));
    json_write_key (&json, "public_key");
    json_write_string (&json, span_from_string (certificate->public_key));
    json_write_key (&json, "revoked");
    json_write_bool (&json, revoked);
    json_write_end_object (&json);
    buffer_append_byte (out, '\n');
}

static status_t
s_list_half (const key_run_t *self, bool revoked, buffer_t *out, error_t *error)
{
    array_t list;
    array_init (&list, sizeof (certificate_t));
    status_t status = certificate_list (self->folder, revoked, &list, error);
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++)
        (self->flags->json ? s_print_json : s_print_line) (array_at (&list, i), revoked, out);
    array_fini (&list);
    return status;
}

static status_t
s_list (const key_run_t *self, error_t *error)
{
    buffer_t text = { 0 };
    if (!self->flags->json)
        buffer_print (&text, "%-*s %-*s %-8s %s\n", NAME_WIDTH, "NAME", ROLES_WIDTH, "ROLES", "STATE", "PUBLIC KEY");
    status_t status = s_list_half (self, false, &text, error);
    if (status == STATUS_OK)
        status = s_list_half (self, true, &text, error);
    if (status == STATUS_OK)
        command_print (&text);
    buffer_fini (&text);
    return status;
}

//  ---- Running -------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;                                           //  As typed
    size_t words;                                               //  Behind it
    bool makes;                                                 //  The folder of keys, where there is none
    status_t (*run) (const key_run_t *self, error_t *error);    //  Does it
} s_verbs [] = { { "new", 1, true, s_new }, { "list", 0, false, s_list }, { "revoke", 1, false, s_revoke } };

static result_t
s_run (const invocation_t *invocation)
{
    size_t verb = 0;
    key_run_t run = { .flags = invocation->flags, .name = invocation->count > 1 ? invocation->words [1] : NULL };
    error_t error;
    while (strcmp (s_verbs [verb].name, invocation->words [0]) != 0)
        verb++;
    if (invocation->count != s_verbs [verb].words + 1) {
        command_complain (invocation->command, "say `new NAME --roles ROLES`, `list` or `revoke NAME`");
        return RESULT_USAGE;
    }
    status_t status = s_find_folder (&run, s_verbs [verb].makes, &error);
    if (status == STATUS_OK)
        status = s_verbs [verb].run (&run, &error);
    if (status != STATUS_OK)
        command_complain (invocation->command, "%s", error.text);
    manifest_destroy (&run.fleet);
    return command_result (status);
}

static const char *const s_choices [] = { "new", "list", "revoke", NULL };

const command_t key_command = {
    .name = "key",
    .arguments = "new NAME | list | revoke NAME",
    .doc = "Make, list and revoke the keys of a fleet that is spread over machines.",
    .essay =
        "A key has the name of its host, or of a person. Its public half, NAME.cert, lets its holder in where it lies "
        "in the\n"
        "folder of keys; its secret half, NAME.cert_secret, never leaves the holder's machine. `stator up` reads the "
        "folder again\n"
        "at SIGHUP.\n"
        "\n"
        "    stator key new gpu-1 --roles host,worker     on the machine that is gpu-1\n"
        "    stator key revoke gpu-1                      on every host\n",
    .table = s_flags,
    .flags_size = sizeof (key_flags_t),
    .choices = s_choices,
    .words_min = 1,
    .words_max = 2,
    .run = s_run,
};
