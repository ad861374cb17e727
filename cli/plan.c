#include "cli/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"
#include "cli/placeholder.h"

//  Of stopping: what takes new work first, what everybody needs last.
enum { RANK_FRONTEND, RANK_CORE, RANK_WORKER, RANK_ENGINE, RANK_BROKER };

enum { WORDS_MAX = 16, KEEP_WORDS = 5 };

struct plan {
    arena_t memory;         //  All strings and lists
    array_t programs;       //  host_program_t
    const char *program;    //  Ours
    const char *config;     //  What they read
    const char *run_dir;    //  Of logs
    const char *log;        //  Where our own processes write; NULL: where the host does
    const char *parent;     //  Process they must not outlive
};

static const char *
s_keep (plan_t *self, span_t text)
{
    char *copy = arena_new (&self->memory, text.size + 1);
    memcpy (copy, text.data, text.size);
    return copy;
}

static const char *s_print (plan_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

static const char *
s_print (plan_t *self, const char *format, ...)
{
    char text [1024];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (text, sizeof text, format, arguments);
    va_end (arguments);
    return s_keep (self, span_from_string (text));
}

static const char *const *
s_list (plan_t *self, const char *const *words, size_t count)
{
    const char **list = arena_new (&self->memory, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++)
        list [i] = words [i];
    return list;
}

//  PROGRAM actor SERVICE --config FILE --parent PID [--instance NAME]
static const char *const *
s_argv (plan_t *self, const char *service, const char *instance)
{
    const char *words [WORDS_MAX] = { self->program, "actor", service, "--config", self->config, "--parent",
        self->parent };
    size_t count = 7;
    if (instance) {
        words [count++] = "--instance";
        words [count++] = instance;
    }
    return s_list (self, words, count);
}

static host_program_t *
s_add (plan_t *self, const char *name, size_t unit, unsigned rank, bool drains)
{
    host_program_t *program = array_add (&self->programs);
    program->supervised = (supervised_t){ .name = name, .unit = unit, .rank = rank, .drains = drains };
    program->output = self->log;
    return program;
}

static void
s_add_broker (plan_t *self, size_t unit)
{
    host_program_t *broker = s_add (self, "broker", unit, RANK_BROKER, false);
    broker->argv = s_argv (self, "broker", NULL);
    broker->reloads = true;
    broker->ping = "broker/0";
}

//  Takes the next unit, where anything lives in the core.
static void
s_add_core (plan_t *self, const manifest_part_t parts [MANIFEST_PARTS], size_t *unit)
{
    array_t addresses;
    array_init (&addresses, sizeof (const char *));
    for (size_t i = 0; i < MANIFEST_PARTS; i++)
        for (size_t j = 0; j < parts [i].count && parts [i].process == PROCESS_CORE; j++)
            *(const char **)array_add (&addresses) = s_print (self, "%s/%zu", parts [i].service, j);
    if (addresses.count) {
        host_program_t *core = s_add (self, "core", (*unit)++, RANK_CORE, true);
        core->argv = s_argv (self, "core", NULL);
        core->reloads = true;
        core->actors = s_list (self, addresses.data, addresses.count);
    }
    array_fini (&addresses);
}

//  An actor alone in its process, named after its address.
static void
s_add_actor (plan_t *self, const char *service, const char *instance, size_t unit, unsigned rank)
{
    const char *address = s_print (self, "%s/%s", service, instance);
    host_program_t *program = s_add (self, address, unit, rank, true);
    program->argv = s_argv (self, service, instance);
    program->reloads = true;
    program->actors = s_list (self, &address, 1);
}

//  Frontends first: they take new work.
static void
s_add_parts (plan_t *self, const manifest_t *fleet, size_t *unit)
{
    manifest_part_t parts [MANIFEST_PARTS];
    manifest_parts (fleet, parts);
    s_add_core (self, parts, unit);
    for (size_t i = 0; i < MANIFEST_PARTS; i++)
        for (size_t j = 0; j < parts [i].count && parts [i].process == PROCESS_OWN; j++)
            s_add_actor (self, parts [i].service, s_print (self, "%zu", j), (*unit)++, i ? RANK_CORE : RANK_FRONTEND);
}

//  ---- Engines -------------------------------------------------------------------------------------------------------

static const char *
s_fill_in (plan_t *self, const char *word, const char *port, const manifest_worker_t *worker, const char *instance)
{
    const char *const values [] = { port, instance, worker->model };
    buffer_t text = { 0 };
    placeholder_fill (word, manifest_placeholders, values, &text);
    const char *filled = s_keep (self, buffer_span (&text));
    buffer_fini (&text);
    return filled;
}

static void
s_add_engine (plan_t *self, const manifest_worker_t *worker, size_t position, const char *instance, size_t unit)
{
    char url [256];
    manifest_started_url (worker, position, url, sizeof url);
    const char *port = s_print (self, "%lld", (long long)worker->port + (long long)position);
    const char *const keep [] = { self->program, "keep", "--parent", self->parent, "--" };
    const char **argv = arena_new (&self->memory, (KEEP_WORDS + worker->command.count + 1) * sizeof *argv);
    memcpy (argv, keep, sizeof keep);
    for (size_t i = 0; i < worker->command.count; i++)
        argv [KEEP_WORDS + i] = s_fill_in (self, worker->command.items [i], port, worker, instance);
    host_program_t *engine = s_add (self, s_print (self, "engine/%s", instance), unit, RANK_ENGINE, false);
    engine->argv = argv;
    engine->environment =
        worker->environment.count ? s_list (self, worker->environment.items, worker->environment.count) : NULL;
    engine->output = s_print (self, "%s/engine-%s.log", self->run_dir, instance);
    if (manifest_engine (worker)->health_path)
        engine->url = s_print (self, "%s%s", url, manifest_engine (worker)->health_path);
}

static void
s_add_worker (plan_t *self, const manifest_worker_t *worker, size_t position, size_t unit)
{
    char instance [MANIFEST_NAME_MAX + 32];
    manifest_instance (worker, position, instance, sizeof instance);
    const char *name = s_keep (self, span_from_string (instance));
    if (worker->command.count)
        s_add_engine (self, worker, position, name, unit);
    s_add_actor (self, "worker", name, unit, RANK_WORKER);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

plan_t *
plan_new (const manifest_t *fleet, const plan_options_t *options)
{
    plan_t *self = memory_new (sizeof *self);
    arena_init (&self->memory, SIZE_MAX);
    array_init (&self->programs, sizeof (host_program_t));
    self->program = s_keep (self, span_from_string (options->program));
    self->config = s_keep (self, span_from_string (options->config));
    self->run_dir = s_keep (self, span_from_string (options->run_dir));
    self->log = options->log ? s_keep (self, span_from_string (options->log)) : NULL;
    self->parent = s_print (self, "%lld", (long long)options->parent);
    size_t unit = 0;
    if (manifest_runs_here (fleet, "broker"))
        s_add_broker (self, unit++);
    if (manifest_runs_here (fleet, "core"))
        s_add_parts (self, fleet, &unit);
    for (size_t i = 0; i < fleet->workers.count; i++)
        for (size_t j = 0; j < (size_t)manifest_worker (fleet, i)->count; j++)
            if (manifest_worker_is_here (fleet, manifest_worker (fleet, i)))
                s_add_worker (self, manifest_worker (fleet, i), j, unit++);
    return self;
}

void
plan_destroy (plan_t **self_p)
{
    plan_t *self = *self_p;
    if (!self)
        return;
    array_fini (&self->programs);
    arena_fini (&self->memory);
    memory_free (self);
    *self_p = NULL;
}

size_t
plan_count (const plan_t *self)
{
    return self->programs.count;
}

const host_program_t *
plan_programs (const plan_t *self)
{
    return self->programs.data;
}
