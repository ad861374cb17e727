#include "cli/bench/bench_fleet.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/caller.h"

enum { ASK_MS = 10000, PATIENCE_S = 120, ACTORS_MEMORY = 4 << 20 };
static const double PAUSE_S = 0.02;

static status_t
s_write_config (const bench_fleet_t *self, const char *config, error_t *error)
{
    char path [BENCH_PATH_MAX];
    snprintf (path, sizeof path, "%s/fleet.yaml", self->folder);
    FILE *file = fopen (path, "w");
    bool good = file && fputs (config, file) >= 0;
    if (file && fclose (file) == 0 && good)
        return STATUS_OK;
    return error_set (error, STATUS_IO, "cannot write %s: %s", path, strerror (errno));
}

status_t
bench_fleet_open (bench_fleet_t *self, const bench_run_t *run, const char *config, error_t *error)
{
    *self = (bench_fleet_t){ .run = run };
    status_t status = bench_folder_make (self->folder, error);
    snprintf (self->broker, sizeof self->broker, "ipc://%s/broker", self->folder);
    snprintf (self->events, sizeof self->events, "ipc://%s/events", self->folder);
    return status ? status : s_write_config (self, config, error);
}

void
bench_fleet_close (bench_fleet_t *self)
{
    while (self->count)
        bench_child_stop (&self->children [--self->count]);
    bench_folder_remove (self->folder);
}

//  ---- Waiting -------------------------------------------------------------------------------------------------------

//  How many actors of a service are there; the broker itself, which is not in its own directory, when it answers.
static status_t
s_count (const bench_fleet_t *self, const char *service, size_t *count, error_t *error)
{
    arena_t arena;
    list_actors_t request = { .service = span_from_string (service), .has_service = true };
    list_actors_reply_t reply = { 0 };
    caller_t *caller = caller_new (self->broker, error);
    if (!caller)
        return error->status;
    arena_init (&arena, ACTORS_MEMORY);
    status_t status = caller_call (caller, &list_actors_message, &request, ASK_MS, &arena, &reply, error);
    *count = strcmp (service, "broker") == 0 && status == STATUS_OK ? 1 : 0;
    for (size_t i = 0; i < reply.actors_count; i++)
        *count += reply.actors [i].state == ACTOR_STATE_ALIVE;
    arena_fini (&arena);
    caller_destroy (&caller);
    return status;
}

static status_t
s_await (const bench_fleet_t *self, const bench_child_t *child, const char *service, size_t actors, error_t *error)
{
    double until = bench_wall_seconds () + PATIENCE_S;
    size_t count = 0;
    while (bench_wall_seconds () < until && bench_child_runs (child)) {
        if (s_count (self, service, &count, error) == STATUS_OK && count >= actors)
            return STATUS_OK;
        bench_wait (PAUSE_S);
    }
    return error_set (
        error, STATUS_DEADLINE, "of %zu actors '%s' only %zu came up within %d s", actors, service, count, PATIENCE_S);
}

bench_child_t *
bench_fleet_start (bench_fleet_t *self, const char *process, const char *service, size_t actors, error_t *error)
{
    char config [BENCH_PATH_MAX];
    const char *words [] = { self->run->program, "actor", process, "--config", config, "--run-dir", self->folder,
        "--state-dir", self->folder, "--log-level", "error", NULL };
    bench_child_t *child = &self->children [self->count];
    snprintf (config, sizeof config, "%s/fleet.yaml", self->folder);
    if (self->count == BENCH_FLEET_MAX) {
        error_set (error, STATUS_LIMIT, "a fleet has at most %d processes", BENCH_FLEET_MAX);
        return NULL;
    }
    if (bench_child_start (child, words, NULL, error) != STATUS_OK)
        return NULL;
    self->count++;
    return s_await (self, child, service, actors, error) == STATUS_OK ? child : NULL;
}

status_t
bench_fleet_ask (const bench_fleet_t *self, const char *address, const char *figure, int64_t *value, error_t *error)
{
    return caller_find_figure (self->broker, address, figure, ASK_MS, value, error);
}
