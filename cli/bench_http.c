//  stator bench http - what a streamed chat answer costs
//
//  Three servers answer the same clients one after the other: a fleet of this program (broker, core, frontend and a mock
//  worker, each a process), a bare server that writes events, and nginx in front of that one, where it is installed.  The
//  worker takes no time, or says a token every 5.74 ms as a real engine does.  What a token costs is the difference between
//  long and short answers; what an open stream holds is the memory that many of them add while nobody speaks.

#include <stdlib.h>
#include <string.h>

#include "cli/bench_fleet.h"
#include "cli/bench_load.h"
#include "cli/environment.h"

enum { ITL_US = 5740, MODELS_PATIENCE_S = 20 };

//  The processes of a fleet.
enum { BROKER, CORE, FRONTEND, WORKER, PARTS };

static const struct {
    const char *process;    //  Of the host
    const char *service;    //  That comes up when it has
} s_parts [PARTS] = {
    [BROKER] = { "broker", "broker" },
    [CORE] = { "core", "router" },
    [FRONTEND] = { "frontend", "frontend" },
    [WORKER] = { "worker", "worker" },
};

//  What is done.
typedef struct {
    size_t workers;          //  Of the fleet; one process houses all of them
    const char *speed;       //  Theirs: "0" takes no time
    long interval_us;        //  Between two events of the bare server
    size_t connections;      //  Clients
    uint64_t requests;       //  Of each length; 0: streams are only held open
    uint64_t tokens;         //  Of a short answer
    uint64_t more_tokens;    //  Of a long answer, beyond those
} plan_t;

enum { PLAN_ZERO, PLAN_PACED, PLAN_OPEN, PLANS };

static const plan_t s_plans [PLANS] = {
    [PLAN_ZERO] = { 1, "0", 0, 16, 2000, 1, 256 },
    [PLAN_PACED] = { 1, "1", ITL_US, 64, 64, 16, 512 },
    [PLAN_OPEN] = { 64, "0.1", 10 * ITL_US, 1000, 0, 0, 0 },
};

static const plan_t s_quick_plans [PLANS] = {
    [PLAN_ZERO] = { 1, "0", 0, 4, 40, 1, 16 },
    [PLAN_PACED] = { 1, "1", ITL_US, 8, 8, 4, 16 },
    [PLAN_OPEN] = { 4, "1", ITL_US, 20, 0, 0, 0 },
};

//  %zu is the number of workers, %s their speed.
static const char s_config [] = "version: 1\nfrontend: { port: 0, process: own }\nmodels: [ { name: mock } ]\n"
                                "workers: [ { engine: mock, count: %zu,\n"
                                "mock: { speed: %s, slots: 2000, answer_tokens: 1000000, capacity: 1000000 } } ]\n";

//  Processor time of a request with a short answer, and of each further token; memory of an open stream.
typedef struct {
    double request_us;    //  See above
    double token_us;      //  Likewise
    double open_bytes;    //  Likewise
} cost_t;

//  A server, and what came of it.
typedef struct {
    bench_child_t *parts [PARTS];    //  The processes that count
    size_t count;                    //  How many; 0: it is not installed
    bench_child_t *speaker;          //  Who makes the tokens
    unsigned port;                   //  Where it listens
    cost_t cost;                     //  Of all its processes
    cost_t frontend;                 //  Of a fleet's frontend alone
} server_t;

//  ---- Measuring -------------------------------------------------------------------------------------------------------------

typedef struct {
    double all;         //  Of all processes
    double frontend;    //  Of one
} sum_t;

static sum_t
s_sum (const server_t *self, double (*of) (const bench_child_t *child))
{
    sum_t sum = { 0 };
    for (size_t i = 0; i < self->count; i++) {
        double value = of (self->parts [i]);
        sum.all += value;
        sum.frontend += i == FRONTEND ? value : 0;
    }
    return sum;
}

static status_t
s_spend (const server_t *self, bench_load_t *load, uint64_t requests, uint64_t tokens, sum_t *spent, error_t *error)
{
    sum_t before = s_sum (self, bench_child_seconds);
    status_t status = bench_load_run (load, requests, tokens, error);
    sum_t after = s_sum (self, bench_child_seconds);
    *spent = (sum_t){ (after.all - before.all) * 1e6 / (double)requests,
        (after.frontend - before.frontend) * 1e6 / (double)requests };
    return status;
}

static status_t
s_measure_answers (server_t *self, const plan_t *plan, error_t *error)
{
    sum_t warm, brief, lengthy;
    bench_load_t *load = bench_load_new (self->port, "mock", plan->connections, error);
    if (!load)
        return error->status;
    status_t status = s_spend (self, load, plan->connections, plan->tokens, &warm, error);
    if (!status)
        status = s_spend (self, load, plan->requests, plan->tokens, &brief, error);
    if (!status)
        status = s_spend (self, load, plan->requests, plan->tokens + plan->more_tokens, &lengthy, error);
    bench_load_destroy (&load);
    if (status)
        return status;
    self->cost.request_us = brief.all;
    self->frontend.request_us = brief.frontend;
    self->cost.token_us = (lengthy.all - brief.all) / (double)plan->more_tokens;
    self->frontend.token_us = (lengthy.frontend - brief.frontend) / (double)plan->more_tokens;
    return STATUS_OK;
}

static status_t
s_hold (const server_t *self, size_t connections, bench_load_t **load, error_t *error)
{
    *load = bench_load_new (self->port, "mock", connections, error);
    return *load ? bench_load_hold (*load, 100000, error) : error->status;
}

//  Some streams are there before those that are weighed: what a server keeps for each worker and what it grows once is no
//  stream's.  Whoever makes the tokens is frozen in the end, and nothing flows.
static status_t
s_measure_streams (server_t *self, const plan_t *plan, error_t *error)
{
    bench_load_t *first = NULL, *load = NULL;
    status_t status = s_hold (self, plan->workers * 2, &first, error);
    sum_t before = s_sum (self, bench_child_memory);
    if (!status)
        status = s_hold (self, plan->connections, &load, error);
    bench_child_freeze (self->speaker);
    if (!status)
        status = bench_load_drain (load, error);
    sum_t after = s_sum (self, bench_child_memory);
    self->cost.open_bytes = (after.all - before.all) / (double)plan->connections;
    self->frontend.open_bytes = (after.frontend - before.frontend) / (double)plan->connections;
    bench_load_destroy (&load);
    bench_load_destroy (&first);
    return status;
}

static status_t
s_measure (server_t *self, const plan_t *plan, error_t *error)
{
    return plan->requests ? s_measure_answers (self, plan, error) : s_measure_streams (self, plan, error);
}

//  ---- Servers ---------------------------------------------------------------------------------------------------------------

//  The first request of a fleet may come before its frontend knows the worker.
static status_t
s_await_model (const server_t *self, error_t *error)
{
    double until = bench_wall_seconds () + MODELS_PATIENCE_S;
    status_t status;
    do {
        bench_load_t *load = bench_load_new (self->port, "mock", 1, error);
        status = load ? bench_load_run (load, 1, 1, error) : error->status;
        bench_load_destroy (&load);
        if (status)
            bench_wait (0.05);
    } while (status && bench_wall_seconds () < until);
    return status;
}

static status_t
s_start_fleet (bench_fleet_t *fleet, const plan_t *plan, server_t *self, error_t *error)
{
    int64_t port = 0;
    for (self->count = 0; self->count < PARTS; self->count++) {
        size_t actors = self->count == WORKER ? plan->workers : 1;
        self->parts [self->count] =
            bench_fleet_start (fleet, s_parts [self->count].process, s_parts [self->count].service, actors, error);
        if (!self->parts [self->count])
            return error->status;
    }
    if (bench_fleet_ask (fleet, "frontend/0", "stator_frontend_port", &port, error) != STATUS_OK)
        return error->status;
    self->speaker = self->parts [WORKER];
    self->port = (unsigned)port;
    return s_await_model (self, error);
}

static status_t
s_run_fleet (const bench_run_t *run, const plan_t *plan, server_t *self, error_t *error)
{
    bench_fleet_t fleet;
    char config [BENCH_PATH_MAX];
    snprintf (config, sizeof config, s_config, plan->workers, plan->speed);
    status_t status = bench_fleet_open (&fleet, run, config, error);
    if (!status)
        status = s_start_fleet (&fleet, plan, self, error);
    if (!status)
        status = s_measure (self, plan, error);
    bench_fleet_close (&fleet);
    return status;
}

static status_t
s_start_bare (const bench_run_t *run, const plan_t *plan, bench_child_t *child, unsigned *port, error_t *error)
{
    char interval [32];
    const char *words [] = { interval, NULL };
    double figure = 0;
    snprintf (interval, sizeof interval, "%ld", plan->interval_us);
    status_t status = bench_child_start_bare (child, run, "sse", words, error);
    if (!status)
        status = bench_child_read (child, &figure, 1, error);
    *port = (unsigned)figure;
    return status;
}

static status_t
s_run_bare (const bench_run_t *run, const plan_t *plan, server_t *self, error_t *error)
{
    bench_child_t child = { 0 };
    status_t status = s_start_bare (run, plan, &child, &self->port, error);
    self->parts [0] = self->speaker = &child;
    self->count = 1;
    if (!status)
        status = s_measure (self, plan, error);
    bench_child_stop (&child);
    return status;
}

//  As a plain proxy that passes on at once what comes, in one process.
static status_t
s_write_nginx (const char *folder, unsigned port, unsigned behind, error_t *error)
{
    char path [BENCH_PATH_MAX];
    snprintf (path, sizeof path, "%s/nginx.conf", folder);
    FILE *file = fopen (path, "w");
    if (!file)
        return error_set (error, STATUS_IO, "cannot write %s", path);
    fprintf (file,
        "daemon off; master_process off; pid %s/pid; error_log %s/log; events { worker_connections 8192; }\n"
        "http { access_log off; client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f;\n"
        "uwsgi_temp_path %s/u; scgi_temp_path %s/s; keepalive_requests 1000000;\n"
        "upstream engine { server 127.0.0.1:%u; keepalive 256; }\n"
        "server { listen 127.0.0.1:%u backlog=4096; location / { proxy_pass http://engine; proxy_http_version 1.1;\n"
        "proxy_set_header Connection ''; proxy_buffering off; proxy_request_buffering off; } } }\n",
        folder, folder, folder, folder, folder, folder, folder, behind, port);
    return fclose (file) == 0 ? STATUS_OK : error_set (error, STATUS_IO, "cannot write %s", path);
}

static status_t
s_run_nginx (const bench_run_t *run, const plan_t *plan, server_t *self, error_t *error)
{
    char folder [BENCH_FOLDER_MAX], config [BENCH_PATH_MAX], log [BENCH_PATH_MAX];
    const char *words [] = { "nginx", "-c", config, "-e", log, NULL };
    bench_child_t engine = { 0 }, nginx = { 0 };
    unsigned behind;
    status_t status = bench_folder_make (folder, error);
    if (status)
        return status;
    snprintf (config, sizeof config, "%s/nginx.conf", folder);
    snprintf (log, sizeof log, "%s/log", folder);
    self->port = bench_free_port ();
    status = s_start_bare (run, plan, &engine, &behind, error);
    if (!status)
        status = s_write_nginx (folder, self->port, behind, error);
    if (!status)
        status = bench_child_start (&nginx, words, NULL, error);
    self->parts [0] = &nginx;
    self->speaker = &engine;
    self->count = 1;
    if (!status)
        status = s_await_model (self, error);
    if (!status)
        status = s_measure (self, plan, error);
    bench_child_stop (&nginx);
    bench_child_stop (&engine);
    bench_folder_remove (folder);
    return status;
}

//  ---- Cells -----------------------------------------------------------------------------------------------------------------

//  The three of one plan; nginx has count 0 where it is not installed.
typedef struct {
    server_t fleet;    //  Ours
    server_t bare;     //  Only writes
    server_t nginx;    //  Only passes on
} servers_t;

static status_t
s_run_servers (const bench_run_t *run, const plan_t *plan, servers_t *servers, error_t *error)
{
    *servers = (servers_t){ 0 };
    status_t status = s_run_fleet (run, plan, &servers->fleet, error);
    if (!status)
        status = s_run_bare (run, plan, &servers->bare, error);
    if (!status && environment_has_program ("nginx"))
        status = s_run_nginx (run, plan, &servers->nginx, error);
    return status;
}

//  A cell of one figure of cost_t.
static const struct {
    const char *name;    //  Of the cell
    const char *unit;    //  Ending of the keys
    size_t plan;         //  Whose
    bool frontend;       //  The ratio is that of the frontend alone
    size_t offset;       //  In cost_t
} s_cells [] = {
    { "request", "cpu_us", PLAN_ZERO, false, offsetof (cost_t, request_us) },
    { "token", "cpu_us", PLAN_ZERO, false, offsetof (cost_t, token_us) },
    { "paced_token", "cpu_us", PLAN_PACED, true, offsetof (cost_t, token_us) },
    { "open_stream", "bytes", PLAN_OPEN, true, offsetof (cost_t, open_bytes) },
};
enum { CELLS = sizeof s_cells / sizeof *s_cells };

static double
s_figure (const cost_t *cost, size_t cell)
{
    return *(const double *)(const void *)((const char *)cost + s_cells [cell].offset);
}

static void
s_add (bench_cell_t *cell, const char *who, size_t position, const cost_t *cost)
{
    char key [64];
    snprintf (key, sizeof key, "%s_%s", who, s_cells [position].unit);
    bench_cell_figure (cell, key, s_figure (cost, position));
}

static void
s_print (size_t position, const servers_t *servers)
{
    bench_cell_t cell;
    const cost_t *ours = s_cells [position].frontend ? &servers->fleet.frontend : &servers->fleet.cost;
    bench_cell_begin (&cell, &bench_http, s_cells [position].name);
    s_add (&cell, "fleet", position, &servers->fleet.cost);
    s_add (&cell, "frontend", position, &servers->fleet.frontend);
    s_add (&cell, "bare", position, &servers->bare.cost);
    if (servers->nginx.count)
        s_add (&cell, "nginx", position, &servers->nginx.cost);
    if (s_cells [position].plan != PLAN_OPEN)
        bench_cell_ratio (&cell, s_figure (ours, position), s_figure (&servers->bare.cost, position));
    bench_cell_print (&cell);
}

static status_t
s_run_plan (const bench_run_t *run, size_t plan, error_t *error)
{
    servers_t servers;
    bool wanted = false;
    for (size_t i = 0; i < CELLS; i++)
        wanted |= s_cells [i].plan == plan && bench_wants (run, s_cells [i].name);
    if (!wanted)
        return STATUS_OK;
    status_t status = s_run_servers (run, run->quick ? &s_quick_plans [plan] : &s_plans [plan], &servers, error);
    for (size_t i = 0; i < CELLS && !status; i++)
        if (s_cells [i].plan == plan && bench_wants (run, s_cells [i].name))
            s_print (i, &servers);
    return status;
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t plan = 0; plan < PLANS && !status; plan++)
        status = s_run_plan (run, plan, error);
    return status;
}

const bench_t bench_http = {
    .name = "http",
    .arguments = "[CELL ...]",
    .doc =
        "A small streamed chat request, a token and an open stream, through a fleet, beside a bare server and nginx.",
    .words_max = BENCH_CELLS,
    .run = s_run,
};
