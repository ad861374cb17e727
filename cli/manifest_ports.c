#include "cli/manifest_ports.h"

#include <stdio.h>
#include <string.h>

#include "cli/manifest_place.h"
#include "runtime/endpoint.h"

enum { PORT_MAX = 65535, KEY_MAX = 64, WHERE_MAX = 32 };

//  Ports in a row that somebody listens on.
typedef struct {
    char key [KEY_MAX];     //  Of the configuration, that leads to them
    place_t place;          //  Of its value; {0}: in no file
    const char *machine;    //  Name of the host; "": this machine
    int64_t first;          //  0: the system chooses
    int64_t count;          //  How many
} claim_t;

//  Hosts at loopback addresses are one machine.
static const char *
s_machine (const manifest_host_t *host)
{
    return !host || host_is_local (span_from_string (host->address)) ? "" : host->name;
}

static void
s_claim_frontends (array_t *claims, const manifest_t *fleet, const config_node_t *root)
{
    claim_t *claim = array_add (claims);
    *claim = (claim_t){ .key = "frontend.port",
        .place = manifest_section_place (root, "frontend", "port"),
        .machine = s_machine (manifest_host_of (fleet, "core")),
        .first = fleet->frontend.options.port,
        .count = fleet->frontend.instances };
}

//  said: the endpoint; empty: its host's usual port, and no port at all where there are no hosts.
static void
s_claim_broker (array_t *claims, const manifest_t *fleet, const char *said, const char *usual, claim_t what)
{
    const manifest_host_t *host = manifest_host_of (fleet, "broker");
    span_t port = !*said && host ? span_from_string (usual) : endpoint_port (span_from_string (said));
    uint64_t number = 0;
    what.machine = s_machine (host);
    what.count = 1;
    if (span_to_u64 (port, &number) && number <= PORT_MAX)
        what.first = (int64_t)number;
    *(claim_t *)array_add (claims) = what;
}

static void
s_claim_engines (array_t *claims, const manifest_t *fleet, const config_node_t *root, size_t position)
{
    const manifest_worker_t *worker = manifest_worker (fleet, position);
    if (!worker->command.count)
        return;
    claim_t *claim = array_add (claims);
    *claim = (claim_t){ .place = manifest_place (root, "workers", position, "port"),
        .machine = s_machine (manifest_find_host (fleet, worker->host)),
        .first = worker->port,
        .count = worker->count };
    snprintf (claim->key, sizeof claim->key, "workers[%zu].port", position);
}

static bool
s_meet (const claim_t *a, const claim_t *b)
{
    if (!a->first || !b->first || strcmp (a->machine, b->machine) != 0)
        return false;
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

static void
s_complain (const claim_t *earlier, const claim_t *later, complaints_t *complaints)
{
    const claim_t *told = later->place.line ? later : earlier, *other = told == later ? earlier : later;
    int64_t port = told->first > other->first ? told->first : other->first;
    char where [WHERE_MAX] = " by default";
    if (other->place.line)
        snprintf (where, sizeof where, " in line %u", other->place.line);
    complaints_add (complaints, told->place, "%s: port %lld is that of %s%s too; give one of them another", told->key,
        (long long)port, other->key, where);
}

void
manifest_check_ports (const manifest_t *fleet, const config_node_t *root, complaints_t *complaints)
{
    array_t claims;
    array_init (&claims, sizeof (claim_t));
    s_claim_frontends (&claims, fleet, root);
    s_claim_broker (&claims, fleet, fleet->broker.endpoint, MANIFEST_BROKER_PORT,
        (claim_t){ .key = "broker.endpoint", .place = manifest_section_place (root, "broker", "endpoint") });
    s_claim_broker (&claims, fleet, fleet->broker.events, MANIFEST_EVENTS_PORT,
        (claim_t){ .key = "broker.events", .place = manifest_section_place (root, "broker", "events") });
    for (size_t i = 0; i < fleet->workers.count; i++)
        s_claim_engines (&claims, fleet, root, i);
    for (size_t i = 0; i < claims.count; i++) {
        const claim_t *claim = array_at (&claims, i);
        if (claim->first + claim->count - 1 > PORT_MAX)
            complaints_add (complaints, claim->place, "%s: the last of its ports is above %d", claim->key, PORT_MAX);
        for (size_t j = 0; j < i; j++)
            if (s_meet (array_at (&claims, j), claim))
                s_complain (array_at (&claims, j), claim, complaints);
    }
    array_fini (&claims);
}
