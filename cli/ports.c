#include "cli/ports.h"

#include <stdio.h>
#include <time.h>

#include "cli/manifest_ports.h"
#include "runtime/endpoint.h"
#include "runtime/port/http_server.h"

enum { TRIES = 20, PAUSE_NS = 100000000, SERVER_MAX = 300 };

//  One of them; STATUS_EXISTS where somebody holds it.
static status_t
s_look_at (const manifest_ports_t *ports, int64_t position, error_t *error)
{
    char address [SERVER_MAX];
    host_write_server (ports->address, (unsigned)(ports->first + position), address, sizeof address);
    return http_listener_check (address, error);
}

//  complaints: NULL: nobody is told.
static bool
s_any_held (const array_t *list, complaints_t *complaints)
{
    bool any = false;
    error_t error;
    for (size_t i = 0; i < list->count; i++) {
        const manifest_ports_t *ports = array_at (list, i);
        for (int64_t j = 0; ports->ours && ports->here && ports->first && j < ports->count; j++) {
            if (s_look_at (ports, j, &error) != STATUS_EXISTS)
                continue;
            any = true;
            if (complaints)
                complaints_add (
                    complaints, (place_t){ 0 }, "%s: %s; end that, or give another port", ports->key, error.text);
        }
    }
    return any;
}

void
ports_check (const manifest_t *fleet, complaints_t *complaints)
{
    static const struct timespec pause = { .tv_nsec = PAUSE_NS };
    array_t list;
    array_init (&list, sizeof (manifest_ports_t));
    manifest_ports (fleet, NULL, &list);
    for (int i = 0; i < TRIES && s_any_held (&list, NULL); i++)
        clock_nanosleep (CLOCK_MONOTONIC, 0, &pause, NULL);
    s_any_held (&list, complaints);
    array_fini (&list);
}
