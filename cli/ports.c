#include "cli/ports.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "actors/frontend/frontend.h"
#include "runtime/port/http_server.h"

enum { TRIES = 20, PAUSE_NS = 100000000, KEY_MAX = 64 };

typedef struct {
    char key [KEY_MAX];                     //  Of the configuration
    char address [FRONTEND_ADDRESS_MAX];    //  "HOST:PORT"
} claim_t;

static void
s_claim (array_t *claims, const char *key, const char *address)
{
    claim_t *claim = array_add (claims);
    snprintf (claim->key, sizeof claim->key, "%s", key);
    snprintf (claim->address, sizeof claim->address, "%s", address);
}

static void
s_claim_endpoint (array_t *claims, const char *key, const char *endpoint)
{
    static const char tcp [] = "tcp://";
    if (strncmp (endpoint, tcp, sizeof tcp - 1) == 0 && !strchr (endpoint, '*'))
        s_claim (claims, key, endpoint + sizeof tcp - 1);
}

static void
s_claim_frontends (array_t *claims, const manifest_t *fleet)
{
    frontend_options_t options = fleet->frontend.options;
    char address [FRONTEND_ADDRESS_MAX];
    for (int64_t i = 0; options.port && i < fleet->frontend.instances; i++, options.port++) {
        frontend_address (&options, address);
        s_claim (claims, "frontend.port (--port)", address);
    }
}

//  An engine is asked at this address, whatever it listens on besides.
static void
s_claim_engines (array_t *claims, const manifest_t *fleet, size_t position)
{
    const manifest_worker_t *worker = manifest_worker (fleet, position);
    char key [KEY_MAX], address [FRONTEND_ADDRESS_MAX];
    snprintf (key, sizeof key, "workers[%zu].port", position);
    for (int64_t i = 0; worker->command.count && i < worker->count; i++) {
        snprintf (address, sizeof address, "127.0.0.1:%lld", (long long)(worker->port + i));
        s_claim (claims, key, address);
    }
}

static void
s_claim_all (array_t *claims, const manifest_t *fleet, const assembly_site_t *site)
{
    char endpoint [ENDPOINT_MAX], events [ENDPOINT_MAX];
    assembly_public_broker (fleet, site, endpoint, events);
    if (manifest_runs_here (fleet, "core"))
        s_claim_frontends (claims, fleet);
    if (manifest_runs_here (fleet, "broker")) {
        s_claim_endpoint (claims, "broker.endpoint", endpoint);
        s_claim_endpoint (claims, "broker.events", events);
    }
    for (size_t i = 0; i < fleet->workers.count; i++)
        if (manifest_worker_is_here (fleet, manifest_worker (fleet, i)))
            s_claim_engines (claims, fleet, i);
}

static bool
s_any_held (const array_t *claims)
{
    for (size_t i = 0; i < claims->count; i++)
        if (http_listener_check (((const claim_t *)array_at (claims, i))->address, NULL) == STATUS_EXISTS)
            return true;
    return false;
}

void
ports_check (const manifest_t *fleet, const assembly_site_t *site, complaints_t *complaints)
{
    static const struct timespec pause = { .tv_nsec = PAUSE_NS };
    array_t claims;
    error_t error;
    array_init (&claims, sizeof (claim_t));
    s_claim_all (&claims, fleet, site);
    for (int i = 0; i < TRIES && s_any_held (&claims); i++)
        clock_nanosleep (CLOCK_MONOTONIC, 0, &pause, NULL);
    for (size_t i = 0; i < claims.count; i++) {
        const claim_t *claim = array_at (&claims, i);
        if (http_listener_check (claim->address, &error) == STATUS_EXISTS)
            complaints_add (
                complaints, (place_t){ 0 }, "%s: %s; end that, or give another port", claim->key, error.text);
    }
    array_fini (&claims);
}
