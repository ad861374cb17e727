#include "cli/manifest_ports.h"

#include <stdio.h>
#include <string.h>

#include "cli/manifest_place.h"
#include "runtime/endpoint.h"

enum { PORT_MAX = 65535, HTTP_PORT = 80, HTTPS_PORT = 443, WHERE_MAX = 32, SERVER_MAX = 300 };

//  ---- Who has which -------------------------------------------------------------------------------------------------

//  Hosts at loopback addresses are one machine.
static const char *
s_machine (const manifest_host_t *host)
{
    return !host || host_is_local (span_from_string (host->address)) ? "" : host->name;
}

static void
s_add_frontends (array_t *ports, const manifest_t *fleet, const config_node_t *root)
{
    *(manifest_ports_t *)array_add (ports) = (manifest_ports_t){ .key = "frontend.port (--port)",
        .place = manifest_section_place (root, "frontend", "port"),
        .machine = s_machine (manifest_host_of (fleet, "core")),
        .address = span_from_string (fleet->frontend.options.host),
        .first = fleet->frontend.options.port,
        .count = fleet->frontend.instances,
        .ours = true,
        .here = manifest_runs_here (fleet, "core") };
}

//  0 for what is no number of a port.
static int64_t
s_number (span_t text)
{
    uint64_t number;
    return span_to_u64 (text, &number) && number <= PORT_MAX ? (int64_t)number : 0;
}

//  said: the endpoint; empty: its host's usual port, and no port at all where there are no hosts.
static void
s_add_broker (array_t *ports, const manifest_t *fleet, const config_node_t *root, const char *key, const char *said,
    const char *usual)
{
    const manifest_host_t *host = manifest_host_of (fleet, "broker");
    bool is_usual = !*said && host;
    span_t endpoint = span_from_string (said);
    manifest_ports_t *added = array_add (ports);
    *added = (manifest_ports_t){ .place = manifest_section_place (root, "broker", key),
        .machine = s_machine (host),
        .address = is_usual ? span_from_string (host->address) : endpoint_host (endpoint),
        .first = s_number (is_usual ? span_from_string (usual) : endpoint_port (endpoint)),
        .count = 1,
        .ours = true,
        .here = manifest_runs_here (fleet, "broker") };
    snprintf (added->key, sizeof added->key, "broker.%s", key);
}

//  An engine is asked at this address, whatever it listens on besides.
static void
s_add_engines (array_t *ports, const manifest_t *fleet, const config_node_t *root, size_t position)
{
    const manifest_worker_t *worker = manifest_worker (fleet, position);
    manifest_ports_t *added = array_add (ports);
    *added = (manifest_ports_t){ .place = manifest_place (root, "workers", position, "port"),
        .machine = s_machine (manifest_find_host (fleet, worker->host)),
        .address = SPAN ("127.0.0.1"),
        .first = worker->port,
        .count = worker->count,
        .ours = true,
        .here = manifest_worker_is_here (fleet, worker) };
    snprintf (added->key, sizeof added->key, "workers[%zu].port", position);
}

//  The host that an address leads to from a host.  False where it leads to none of the fleet.
static bool
s_lead (const manifest_t *fleet, const char *from, span_t address, const manifest_host_t **host)
{
    *host = manifest_find_host (fleet, from);
    if (host_is_local (address))
        return true;
    for (size_t i = 0; i < fleet->hosts.count; i++) {
        *host = manifest_host (fleet, i);
        if (span_equal_string (address, (*host)->address))
            return true;
    }
    return false;
}

//  The server of a URL.
static void
s_endpoint_from_url (span_t url, char out [SERVER_MAX])
{
    bool is_safe = span_starts_with (url, SPAN ("https://"));
    span_t rest = span_slice (url, is_safe ? strlen ("https://") : strlen ("http://"), url.size);
    span_t server = span_slice (rest, 0, span_find_byte (rest, '/'));
    snprintf (out, SERVER_MAX, "tcp://%.*s", SPAN_ARG (server));
    if (!endpoint_port (span_from_string (out)).size)
        snprintf (out, SERVER_MAX, "tcp://%.*s:%d", SPAN_ARG (server), is_safe ? HTTPS_PORT : HTTP_PORT);
}

//  The one that an engine runs at already, if that is on a machine of the fleet.
static void
s_add_url (array_t *ports, const manifest_t *fleet, const config_node_t *root, size_t position)
{
    const manifest_worker_t *worker = manifest_worker (fleet, position);
    const manifest_host_t *host;
    char endpoint [SERVER_MAX];
    s_endpoint_from_url (span_from_string (worker->url), endpoint);
    if (!s_lead (fleet, worker->host, endpoint_host (span_from_string (endpoint)), &host))
        return;
    manifest_ports_t *added = array_add (ports);
    *added = (manifest_ports_t){ .place = manifest_place (root, "workers", position, "url"),
        .machine = s_machine (host),
        .first = s_number (endpoint_port (span_from_string (endpoint))),
        .count = 1 };
    snprintf (added->key, sizeof added->key, "workers[%zu].url", position);
}

void
manifest_ports (const manifest_t *fleet, const config_node_t *root, array_t *ports)
{
    s_add_frontends (ports, fleet, root);
    s_add_broker (ports, fleet, root, "endpoint", fleet->broker.endpoint, MANIFEST_BROKER_PORT);
    s_add_broker (ports, fleet, root, "events", fleet->broker.events, MANIFEST_EVENTS_PORT);
    for (size_t i = 0; i < fleet->workers.count; i++) {
        if (manifest_worker (fleet, i)->command.count)
            s_add_engines (ports, fleet, root, i);
        else if (*manifest_worker (fleet, i)->url)
            s_add_url (ports, fleet, root, i);
    }
}

//  ---- Who meets whom ------------------------------------------------------------------------------------------------

//  Two workers may ask in one place: who listens there tells their engines apart.
static bool
s_meet (const manifest_ports_t *a, const manifest_ports_t *b)
{
    if (!a->first || !b->first || strcmp (a->machine, b->machine) != 0 || (!a->ours && !b->ours))
        return false;
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

static void
s_complain (const manifest_ports_t *earlier, const manifest_ports_t *later, complaints_t *complaints)
{
    const manifest_ports_t *told = later->place.line ? later : earlier, *other = told == later ? earlier : later;
    int64_t port = told->first > other->first ? told->first : other->first;
    char where [WHERE_MAX] = " by default";
    if (other->place.line)
        snprintf (where, sizeof where, " in line %u", other->place.line);
    complaints_add (complaints, told->place, "%s: port %lld is that of %s%s too; give one of them another", told->key,
        (long long)port, other->key, where);
}

static void
s_check_paths (const manifest_t *fleet, const config_node_t *root, complaints_t *complaints)
{
    const char *endpoint = fleet->broker.endpoint, *events = fleet->broker.events;
    if (span_starts_with (span_from_string (events), SPAN ("ipc://")) && strcmp (endpoint, events) == 0)
        complaints_add (complaints, manifest_section_place (root, "broker", "events"),
            "broker.events: '%s' is that of broker.endpoint too; give one of them another", events);
}

void
manifest_check_ports (const manifest_t *fleet, const config_node_t *root, complaints_t *complaints)
{
    s_check_paths (fleet, root, complaints);
    array_t ports;
    array_init (&ports, sizeof (manifest_ports_t));
    manifest_ports (fleet, root, &ports);
    for (size_t i = 0; i < ports.count; i++) {
        const manifest_ports_t *row = array_at (&ports, i);
        if (row->first + row->count - 1 > PORT_MAX)
            complaints_add (complaints, row->place, "%s: the last of its ports is above %d", row->key, PORT_MAX);
        for (size_t j = 0; j < i; j++)
            if (s_meet (array_at (&ports, j), row))
                s_complain (array_at (&ports, j), row, complaints);
    }
    array_fini (&ports);
}
