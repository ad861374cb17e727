#include "cli/trust.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "cli/certificate.h"
#include "runtime/endpoint.h"

void
trust_folder (const manifest_t *fleet, const char *state_dir, char *out, size_t size)
{
    const char *folder = fleet->security.keys_dir;
    snprintf (out, size, *folder ? "%s" : "%s/keys", *folder ? folder : state_dir);
}

static status_t
s_add (keyring_t *keys, const manifest_t *fleet, const certificate_t *certificate, error_t *error)
{
    keyring_entry_t entry = { 0 };
    const manifest_host_t *host = manifest_find_host (fleet, certificate->name);
    snprintf (entry.name, sizeof entry.name, "%s", certificate->name);
    snprintf (entry.public_key, sizeof entry.public_key, "%s", certificate->public_key);
    snprintf (entry.address, sizeof entry.address, "%s", host ? host->address : "");
    status_t status = guard_parse_roles (fleet->guard, span_from_string (certificate->roles), &entry.roles, error);
    if (status == STATUS_OK)
        status = keyring_add (keys, &entry, error);
    return status == STATUS_OK ? status : error_prefix (error, "certificate %s", certificate->name);
}

keyring_t *
trust_read (const manifest_t *fleet, const char *folder, const char *own, array_t *list, error_t *error)
{
    certificate_t mine;
    keyring_t *keys = keyring_new ();
    status_t status = certificate_read (&mine, folder, own, true, error);
    if (status == STATUS_OK)
        status = certificate_list (folder, false, list, error);
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++)
        status = s_add (keys, fleet, array_at (list, i), error);
    if (status == STATUS_OK)
        keyring_set_own (keys, mine.public_key, mine.secret_key);
    else
        keyring_destroy (&keys);
    sodium_memzero (&mine, sizeof mine);
    return keys;
}

//  ---- What has changed ----------------------------------------------------------------------------------------------

//  Who has connected with a key goes on with it, and so does who demands it of the broker.
static bool
s_takes_new_start (const manifest_t *fleet, const char *name)
{
    const manifest_host_t *host = manifest_find_host (fleet, name);
    return host && (host == manifest_own_host (fleet) || host == manifest_host_of (fleet, "broker"));
}

static void
s_compare_pair (const manifest_t *fleet, const certificate_t *before, const certificate_t *after, buffer_t *news)
{
    const char *between = news->size ? ", " : "";
    if (strcmp (before->public_key, after->public_key) != 0)
        buffer_print (news, "%s%s has another key%s", between, after->name,
            s_takes_new_start (fleet, after->name) ? ", which takes a new start" : "");
    else if (strcmp (before->roles, after->roles) != 0)
        buffer_print (news, "%s%s has other roles", between, after->name);
}

//  Both are sorted by name.
void
trust_compare (const manifest_t *fleet, const array_t *before, const array_t *after, buffer_t *news)
{
    for (size_t i = 0, j = 0; i < before->count || j < after->count;) {
        const certificate_t *old = i < before->count ? array_at (before, i) : NULL;
        const certificate_t *new = j < after->count ? array_at (after, j) : NULL;
        int order = !old ? 1 : !new ? -1 : strcmp (old->name, new->name);
        if (order == 0)
            s_compare_pair (fleet, old, new, news);
        else
            buffer_print (news, "%s%s %s", news->size ? ", " : "", order < 0 ? old->name : new->name,
                order < 0 ? "revoked" : "added");
        i += order <= 0;
        j += order >= 0;
    }
}

//  ---- Checks --------------------------------------------------------------------------------------------------------

//  The roles that a host needs for what it runs, as `stator key new` wants them.
static void
s_needed (const manifest_t *fleet, const manifest_host_t *host, char *out, size_t size)
{
    bool core = manifest_host_runs (fleet, host, "core"), worker = manifest_host_runs (fleet, host, "worker");
    snprintf (out, size, "host%s%s", core ? ",core" : "", worker ? ",worker" : "");
}

//  The flag with which `stator key` finds the folder of keys of this fleet, on any of its hosts.
static void
s_say_where (const manifest_t *fleet, buffer_t *out)
{
    if (*fleet->security.keys_dir)
        buffer_print (out, " --keys-dir %s", fleet->security.keys_dir);
    else if (*fleet->cluster.state_dir)
        buffer_print (out, " --state-dir %s", fleet->cluster.state_dir);
    else
        buffer_print (out, " --cluster %s", fleet->cluster.name);
}

static void
s_check_roles (
    const manifest_t *fleet, const manifest_host_t *host, const certificate_t *certificate, complaints_t *complaints)
{
    char needed [ROLES_TEXT_SIZE];
    uint32_t has = 0, needs = 0;
    error_t error;
    s_needed (fleet, host, needed, sizeof needed);
    if (guard_parse_roles (fleet->guard, span_from_string (certificate->roles), &has, &error) != STATUS_OK)
        complaints_add (complaints, host->place, "the certificate of host '%s': %s", host->name, error.text);
    else if (guard_parse_roles (fleet->guard, span_from_string (needed), &needs, NULL) == STATUS_OK && (needs & ~has))
        complaints_add (complaints, host->place,
            "the certificate of host '%s' has the roles '%s'; what runs there needs %s", host->name, certificate->roles,
            needed);
}

static void
s_check_host (const manifest_t *fleet, const char *folder, const manifest_host_t *host, complaints_t *complaints)
{
    certificate_t certificate;
    char needed [ROLES_TEXT_SIZE];
    buffer_t where = { 0 };
    error_t error;
    bool own = strcmp (host->name, fleet->cluster.host) == 0;
    if (host_is_local (span_from_string (host->address)))
        return;
    s_needed (fleet, host, needed, sizeof needed);
    s_say_where (fleet, &where);
    status_t status = certificate_read (&certificate, folder, host->name, own, &error);
    if (status == STATUS_NOT_FOUND && own)
        complaints_add (complaints, host->place,
            "host '%s' is reached by other machines, which needs its secret key in %s; make it with `stator key new %s "
            "--roles %s%s`, and copy %s.cert to the other hosts",
            host->name, folder, host->name, needed, buffer_string (&where), host->name);
    else if (status == STATUS_NOT_FOUND)
        complaints_add (complaints, host->place,
            "host '%s' is reached by other machines, which needs its certificate in %s; make it there with `stator key "
            "new %s --roles %s%s`, and copy %s.cert here",
            host->name, folder, host->name, needed, buffer_string (&where), host->name);
    else if (status != STATUS_OK)
        complaints_add (complaints, host->place, "the key of host '%s': %s", host->name, error.text);
    else
        s_check_roles (fleet, host, &certificate, complaints);
    buffer_fini (&where);
}

void
trust_check (const manifest_t *fleet, const char *folder, bool own_only, complaints_t *complaints)
{
    for (size_t i = 0; i < fleet->hosts.count; i++)
        if (!own_only || manifest_host (fleet, i) == manifest_own_host (fleet))
            s_check_host (fleet, folder, manifest_host (fleet, i), complaints);
}
