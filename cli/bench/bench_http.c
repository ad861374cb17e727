//  stator bench http - what a streamed chat answer costs
//
//  Three servers answer the same clients one after the other: a fleet of this program (broker, core, frontend and a mock
//  worker, each a process), a bare server that writes events, and nginx in front of that one, where it is installed.  The
//  worker takes no time, or says a token every 5.74 ms as a real engine does.  What a token costs is the difference between
//  long and short answers; what an open stream holds is the memory that many of them add while nobody speaks.
//
//  What a write to a woken client costs depends on where the system put whom, and on what else the machine does, and that
//  lasts for seconds.  So all servers are up at once and answer in turn, some rounds, another one first in each; a figure is
//  the median of its rounds, and a ratio that of the rounds' ratios, whoever it is of.

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "cli/bench/bench_fleet.h"
#include "cli/bench/bench_load.h"
#include "cli/environment.h"

enum { ITL_US = 5740, MODELS_PATIENCE_S = 120, ROUNDS_MAX = 6 };

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
    size_t rounds;           //  How often each server is measured
    size_t connections;      //  Clients
    uint64_t requests;       //  Of each length; 0: streams are only held open
    uint64_t tokens;         //  Of a short answer
    uint64_t more_tokens;    //  Of a long answer, beyond those
} plan_t;

enum { PLAN_ZERO, PLAN_PACED, PLAN_OPEN, PLANS };

static const plan_t s_plans [PLANS] = {
    [PLAN_ZERO] = { 1, "0", 0, ROUNDS_MAX, 16, 500, 1, 256 },
    [PLAN_PACED] = { 1, "1", ITL_US, ROUNDS_MAX, 64, 64, 16, 256 },
    [PLAN_OPEN] = { 64, "0.1", 10 * ITL_US, 1, 1000, 0, 0, 0 },
};

static const plan_t s_quick_plans [PLANS] = {
    [PLAN_ZERO] = { 1, "0", 0, 2, 4, 40, 1, 16 },
    [PLAN_PACED] = { 1, "1", ITL_US, 2, 8, 8, 4, 16 },
    [PLAN_OPEN] = { 4, "1", ITL_US, 1, 20, 0, 0, 0 },
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
    bench_child_t *parts [PARTS];     //  The processes that count
    size_t count;                     //  How many; 0: it is not installed
    bench_child_t *speaker;           //  Who makes the tokens
    unsigned port;                    //  Where it listens
    cost_t costs [ROUNDS_MAX];        //  Of all its processes
    cost_t frontends [ROUNDS_MAX];    //  Of a fleet's frontend alone
} server_t;

enum { FLEET, BARE, NGINX, SERVERS };

//  The servers of one plan, and what they run in.
typedef struct {
    const bench_run_t *run;            //  Whose
    const plan_t *plan;                //  What is done with each
    server_t servers [SERVERS];        //  In the order of their names
    bench_fleet_t fleet;               //  Ours
    bench_child_t bare;                //  Only writes
    bench_child_t nginx;               //  Only passes on
    bench_child_t engine;              //  What that passes on; as the bare server
    char folder [BENCH_FOLDER_MAX];    //  nginx's; empty where there is none
} contest_t;

//  ---- Measuring -----------------------------------------------------------------------------------------------------

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
s_measure_answers (server_t *self, const plan_t *plan, size_t round, error_t *error)
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
    self->costs [round].request_us = brief.all;
    self->frontends [round].request_us = brief.frontend;
    self->costs [round].token_us = (lengthy.all - brief.all) / (double)plan->more_tokens;
    self->frontends [round].token_us = (lengthy.frontend - brief.frontend) / (double)plan->more_tokens;
    return STATUS_OK;
}

static status_t
s_hold (const server_t *self, size_t connections, bench_load_t **load, error_t *error)
{
    *load = bench_load_new (self->port, "mock", connections, error);
    return *load ? bench_load_hold (*load, 100000, error) : error->status;
}

//  Some streams are there before those that are weighed: what a server keeps for each worker and what it grows once is no
//  stream's.  Whoever makes the tokens is frozen in the end, and nothing flows: so there is one round.
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
    self->costs [0].open_bytes = (after.all - before.all) / (double)plan->connections;
    self->frontends [0].open_bytes = (after.frontend - before.frontend) / (double)plan->connections;
    bench_load_destroy (&load);
    bench_load_destroy (&first);
    return status;
}

static status_t
s_measure (server_t *self, const plan_t *plan, size_t round, error_t *error)
{
    return plan->requests ? s_measure_answers (self, plan, round, error) : s_measure_streams (self, plan, error);
}

//  ---- Servers -------------------------------------------------------------------------------------------------------

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
s_start_parts (contest_t *self, server_t *server, error_t *error)
{
    for (server->count = 0; server->count < PARTS; server->count++) {
        size_t actors = server->count == WORKER ? self->plan->workers : 1;
        server->parts [server->count] = bench_fleet_start (
            &self->fleet, s_parts [server->count].process, s_parts [server->count].service, actors, error);
        if (!server->parts [server->count])
            return error->status;
    }
    server->speaker = server->parts [WORKER];
    return STATUS_OK;
}

static status_t
s_start_fleet (contest_t *self, server_t *server, error_t *error)
{
    int64_t port = 0;
    char config [BENCH_PATH_MAX];
    snprintf (config, sizeof config, s_config, self->plan->workers, self->plan->speed);
    status_t status = bench_fleet_open (&self->fleet, self->run, config, error);
    if (!status)
        status = s_start_parts (self, server, error);
    if (!status)
        status = bench_fleet_ask (&self->fleet, "frontend/0", "stator_frontend_port", &port, error);
    server->port = (unsigned)port;
    return status ? status : s_await_model (server, error);
}

static status_t
s_start_writer (const contest_t *self, bench_child_t *child, unsigned *port, error_t *error)
{
    char interval [32];
    const char *words [] = { interval, NULL };
    double figure = 0;
    snprintf (interval, sizeof interval, "%ld", self->plan->interval_us);
    status_t status = bench_child_start_bare (child, self->run, "sse", words, error);
    if (!status)
        status = bench_child_read (child, &figure, 1, error);
    *port = (unsigned)figure;
    return status;
}

static status_t
s_start_bare (contest_t *self, server_t *server, error_t *error)
{
    server->parts [0] = server->speaker = &self->bare;
    server->count = 1;
    return s_start_writer (self, &self->bare, &server->port, error);
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
s_start_nginx (contest_t *self, server_t *server, error_t *error)
{
    char config [BENCH_PATH_MAX], log [BENCH_PATH_MAX];
    const char *words [] = { "nginx", "-c", config, "-e", log, NULL };
    unsigned behind;
    if (!environment_has_program ("nginx"))
        return STATUS_OK;
    status_t status = bench_folder_make (self->folder, error);
    if (status) {
        self->folder [0] = 0;
        return status;
    }
    snprintf (config, sizeof config, "%s/nginx.conf", self->folder);
    snprintf (log, sizeof log, "%s/log", self->folder);
    server->port = bench_free_port ();
    status = s_start_writer (self, &self->engine, &behind, error);
    if (!status)
        status = s_write_nginx (self->folder, server->port, behind, error);
    if (!status)
        status = bench_child_start (&self->nginx, words, NULL, error);
    server->parts [0] = &self->nginx;
    server->speaker = &self->engine;
    server->count = 1;
    return status ? status : s_await_model (server, error);
}

static status_t (*const s_starts [SERVERS]) (contest_t *self, server_t *server, error_t *error) = {
    [FLEET] = s_start_fleet,
    [BARE] = s_start_bare,
    [NGINX] = s_start_nginx,
};

static void
s_stop (contest_t *self)
{
    bench_child_stop (&self->nginx);
    bench_child_stop (&self->engine);
    bench_child_stop (&self->bare);
    bench_fleet_close (&self->fleet);
    if (self->folder [0])
        bench_folder_remove (self->folder);
}

//  ---- Cells ---------------------------------------------------------------------------------------------------------

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

static int
s_compare (const void *left_, const void *right_)
{
    const double *left = left_, *right = right_;
    return (*left > *right) - (*left < *right);
}

static double
s_median (double *values, size_t count)
{
    BUG_ON (!count);
    qsort (values, count, sizeof *values, s_compare);
    return (values [(count - 1) / 2] + values [count / 2]) / 2;
}

static void
s_add (bench_cell_t *cell, const char *who, size_t position, const cost_t *costs, size_t rounds)
{
    char key [64];
    double figures [ROUNDS_MAX];
    for (size_t i = 0; i < rounds; i++)
        figures [i] = s_figure (&costs [i], position);
    snprintf (key, sizeof key, "%s_%s", who, s_cells [position].unit);
    bench_cell_figure (cell, key, s_median (figures, rounds));
}

static void
s_add_ratio (bench_cell_t *cell, size_t position, const cost_t *ours, const cost_t *theirs, size_t rounds)
{
    double ratios [ROUNDS_MAX];
    for (size_t i = 0; i < rounds; i++)
        ratios [i] = s_figure (&ours [i], position) / s_figure (&theirs [i], position);
    bench_cell_ratio (cell, s_median (ratios, rounds), 1);
}

static void
s_print (size_t position, const contest_t *contest)
{
    bench_cell_t cell;
    size_t rounds = contest->plan->rounds;
    const server_t *fleet = &contest->servers [FLEET], *bare = &contest->servers [BARE];
    const server_t *nginx = &contest->servers [NGINX];
    bench_cell_begin (&cell, &bench_http, s_cells [position].name);
    s_add (&cell, "fleet", position, fleet->costs, rounds);
    s_add (&cell, "frontend", position, fleet->frontends, rounds);
    s_add (&cell, "bare", position, bare->costs, rounds);
    if (nginx->count)
        s_add (&cell, "nginx", position, nginx->costs, rounds);
    if (s_cells [position].plan != PLAN_OPEN)
        s_add_ratio (
            &cell, position, s_cells [position].frontend ? fleet->frontends : fleet->costs, bare->costs, rounds);
    bench_cell_print (&cell);
}

static status_t
s_run_contest (contest_t *self, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t i = 0; i < SERVERS && !status; i++)
        status = s_starts [i](self, &self->servers [i], error);
    for (size_t i = 0; i < self->plan->rounds * SERVERS && !status; i++) {
        size_t round = i / SERVERS;
        server_t *server = &self->servers [(i + round) % SERVERS];
        if (server->count)
            status = s_measure (server, self->plan, round, error);
    }
    return status;
}

static status_t
s_run_plan (const bench_run_t *run, size_t plan, error_t *error)
{
    contest_t contest = { .run = run, .plan = run->quick ? &s_quick_plans [plan] : &s_plans [plan] };
    bool wanted = false;
    for (size_t i = 0; i < CELLS; i++)
        wanted |= s_cells [i].plan == plan && bench_wants (run, s_cells [i].name);
    if (!wanted)
        return STATUS_OK;
    status_t status = s_run_contest (&contest, error);
    s_stop (&contest);
    for (size_t i = 0; i < CELLS && !status; i++)
        if (s_cells [i].plan == plan && bench_wants (run, s_cells [i].name))
            s_print (i, &contest);
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
