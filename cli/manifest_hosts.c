#include "cli/manifest_hosts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/suggest.h"
#include "cli/manifest_place.h"
#include "runtime/endpoint.h"

//  Processes that exactly one host runs; workers say themselves where they are.
static const char *const s_processes [] = { "broker", "core", NULL };

//  What checking needs.
typedef struct {
    manifest_t *fleet;
    const config_node_t *root;
    complaints_t *complaints;
} check_t;

//  ---- Questions -----------------------------------------------------------------------------------------------------

const manifest_host_t *
manifest_host (const manifest_t *self, size_t position)
{
    BUG_ON (position >= self->hosts.count);
    return (const manifest_host_t *)self->hosts.items + position;
}

const manifest_host_t *
manifest_find_host (const manifest_t *self, const char *name)
{
    for (size_t i = 0; i < self->hosts.count; i++)
        if (strcmp (manifest_host (self, i)->name, name) == 0)
            return manifest_host (self, i);
    return NULL;
}

status_t
manifest_refuse_host (const manifest_t *self, const char *name, error_t *error)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (name));
    for (size_t i = 0; i < self->hosts.count; i++)
        suggest_offer (&suggest, manifest_host (self, i)->name);
    return error_set (error, STATUS_INVALID, "'%.100s' is not among the hosts%s", name,
        suggest_best (&suggest) ? suggest_text (&suggest) : "; add it there, or name one of them");
}

const manifest_host_t *
manifest_own_host (const manifest_t *self)
{
    return manifest_find_host (self, self->cluster.host);
}

static bool
s_has_worker (const manifest_t *self, const manifest_host_t *host)
{
    for (size_t i = 0; i < self->workers.count; i++)
        if (strcmp (manifest_worker (self, i)->host, host->name) == 0)
            return true;
    return false;
}

bool
manifest_host_runs (const manifest_t *self, const manifest_host_t *host, const char *process)
{
    if (strcmp (process, "worker") == 0)
        return s_has_worker (self, host);
    for (size_t i = 0; i < host->runs.count; i++)
        if (strcmp (host->runs.items [i], process) == 0)
            return true;
    return false;
}

const manifest_host_t *
manifest_host_of (const manifest_t *self, const char *process)
{
    for (size_t i = 0; i < self->hosts.count; i++)
        if (manifest_host_runs (self, manifest_host (self, i), process))
            return manifest_host (self, i);
    return NULL;
}

bool
manifest_runs_here (const manifest_t *self, const char *process)
{
    const manifest_host_t *own = manifest_own_host (self);
    return !own || manifest_host_runs (self, own, process);
}

bool
manifest_worker_is_here (const manifest_t *self, const manifest_worker_t *worker)
{
    const manifest_host_t *own = manifest_own_host (self);
    return !own || strcmp (worker->host, own->name) == 0;
}

void
manifest_host_endpoint (const manifest_host_t *host, const char *port, char *out, size_t size)
{
    bool v6 = strchr (host->address, ':') != NULL;
    snprintf (out, size, "tcp://%s%s%s:%s", v6 ? "[" : "", host->address, v6 ? "]" : "", port);
}

//  ---- Checks --------------------------------------------------------------------------------------------------------

static bool
s_is_address (const char *text)
{
    uint8_t bytes [16];
    return inet_pton (AF_INET, text, bytes) == 1 || inet_pton (AF_INET6, text, bytes) == 1;
}

static void
s_complain_host (check_t *self, place_t place, const char *path, const char *name)
{
    error_t error;
    manifest_refuse_host (self->fleet, name, &error);
    complaints_add (self->complaints, place, "%s: %s", path, error.text);
}

static void
s_check_runs (check_t *self, size_t position)
{
    const manifest_host_t *host = manifest_host (self->fleet, position);
    for (size_t i = 0; i < host->runs.count; i++) {
        const char *const *known = s_processes;
        suggest_t suggest;
        while (*known && strcmp (*known, host->runs.items [i]) != 0)
            known++;
        if (*known)
            continue;
        suggest_init (&suggest, span_from_string (host->runs.items [i]));
        suggest_offer_words (&suggest, s_processes);
        complaints_add (self->complaints, manifest_place (self->root, "hosts", position, "runs"),
            "hosts[%zu].runs: '%.100s' is neither 'broker' nor 'core'; %s", position, host->runs.items [i],
            suggest_best (&suggest) ? suggest_text (&suggest) + 2 : "workers name their host themselves");
    }
    if (!host->runs.count && !s_has_worker (self->fleet, host))
        complaints_add (self->complaints, host->place, "hosts[%zu]: '%s' runs nothing", position, host->name);
}

static void
s_check_host (check_t *self, size_t position)
{
    const manifest_host_t *host = manifest_host (self->fleet, position);
    if (!manifest_is_instance (host->name))
        complaints_add (self->complaints, host->place,
            "hosts[%zu].name: '%.100s' is no name of actors: up to 64 letters, digits, '_' and '-'", position,
            host->name);
    if (!s_is_address (host->address))
        complaints_add (self->complaints, manifest_place (self->root, "hosts", position, "address"),
            "hosts[%zu].address: '%.100s' is no IP address that the other hosts reach it at; write the number, not a "
            "name",
            position, host->address);
    for (size_t i = 0; i < position; i++) {
        const manifest_host_t *other = manifest_host (self->fleet, i);
        if (strcmp (other->name, host->name) == 0)
            complaints_add (self->complaints, host->place, "hosts[%zu] and hosts[%zu] are both called '%s'", i,
                position, host->name);
        if (strcmp (other->address, host->address) == 0)
            complaints_add (self->complaints, manifest_place (self->root, "hosts", position, "address"),
                "hosts[%zu] and hosts[%zu] are both at %s", i, position, host->address);
    }
    s_check_runs (self, position);
}

static void
s_check_process (check_t *self, const char *process)
{
    size_t count = 0;
    for (size_t i = 0; i < self->fleet->hosts.count; i++)
        count += manifest_host_runs (self->fleet, manifest_host (self->fleet, i), process);
    if (count != 1)
        complaints_add (self->complaints, manifest_place (self->root, "hosts", 0, "runs"),
            "hosts: %s of them 'runs' %s; exactly one must", count ? "more than one" : "none", process);
}

static void
s_check_worker (check_t *self, size_t position)
{
    const manifest_worker_t *worker = manifest_worker (self->fleet, position);
    char path [64];
    snprintf (path, sizeof path, "workers[%zu].host", position);
    if (!self->fleet->hosts.count && !*worker->host)
        return;
    if (!*worker->host)
        complaints_add (self->complaints, manifest_place (self->root, "workers", position, "engine"),
            "workers[%zu] has no 'host': the fleet is spread over hosts, so say on which it runs", position);
    else if (!manifest_find_host (self->fleet, worker->host))
        s_complain_host (self, manifest_place (self->root, "workers", position, "host"), path, worker->host);
}

static void
s_check_own (check_t *self)
{
    const char *own = self->fleet->cluster.host;
    place_t place = manifest_section_place (self->root, "cluster", "host");    //  As a flag it has none
    if (*own && !self->fleet->hosts.count)
        complaints_add (self->complaints, place,
            "cluster.host (--host): the fleet names no hosts; the address that harnesses connect to is frontend.host "
            "(--frontend-host)");
    else if (*own && !manifest_own_host (self->fleet))
        s_complain_host (self, place, "cluster.host (--host)", own);
}

//  An endpoint that leaves the machine is proven by the key of a host, which is found by address.
static void
s_check_endpoint (check_t *self, const char *key, const char *endpoint_text)
{
    const manifest_host_t *host = manifest_host_of (self->fleet, "broker");
    place_t place = manifest_section_place (self->root, "broker", key);
    span_t endpoint = span_from_string (endpoint_text);
    if (!host && endpoint_leaves_machine (endpoint))
        complaints_add (self->complaints, place,
            "broker.%s: '%s' can be reached from other machines, which needs keys: name this machine under 'hosts', "
            "and make its key with `stator key new`; or use tcp://127.0.0.1",
            key, endpoint_text);
    else if (host && endpoint.size && !span_equal_string (endpoint_host (endpoint), host->address))
        complaints_add (self->complaints, place, "broker.%s: '%s' is not at the address of host '%s', which runs it",
            key, endpoint_text, host->name);
}

void
manifest_check_hosts (manifest_t *fleet, const config_node_t *root, complaints_t *complaints)
{
    check_t check = { fleet, root, complaints };
    for (size_t i = 0; i < fleet->hosts.count; i++) {
        ((manifest_host_t *)fleet->hosts.items) [i].place = manifest_place (root, "hosts", i, "name");
        s_check_host (&check, i);
    }
    for (size_t i = 0; s_processes [i] && fleet->hosts.count; i++)
        s_check_process (&check, s_processes [i]);
    for (size_t i = 0; i < fleet->workers.count; i++)
        s_check_worker (&check, i);
    s_check_own (&check);
    s_check_endpoint (&check, "endpoint", fleet->broker.endpoint);
    s_check_endpoint (&check, "events", fleet->broker.events);
}
