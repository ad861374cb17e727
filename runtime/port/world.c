#include "runtime/port/world.h"

#include <curl/curl.h>
#include <malloc.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <zmq.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/reserve.h"

enum { SOCKETS_MAX = 16384, TRIM_SHARE = 200 };
static const uint64_t TRIM_NS = 10000000000;

struct world {
    void *zmq;            //  The process's ZeroMQ context
    gate_t *gate;         //  Who may pass it
    job_pool_t *jobs;     //  Threads for what is slow
    log_sink_t *log;      //  Where lines go
    atomic_bool voice;    //  Somebody speaks for the process
};

//  Every connection takes a descriptor, and what a shell allows by default is soon gone: take what may be had.
static void
s_allow_descriptors (void)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit (RLIMIT_NOFILE, &limit);
    }
}

world_t *
world_new (const world_options_t *options, error_t *error)
{
    world_options_t defaults = { .log_level = LOG_INFO };
    if (!options)
        options = &defaults;
    log_sink_t *log = log_sink_new (options->log_path, options->log_level, options->log_form, error);
    if (!log)
        return NULL;
    bug_say_through (log_sink_is_json (log) && !options->log_path ? log_sink_say_last : NULL);
    s_allow_descriptors ();
    reserve_keep ();
    signal (SIGPIPE, SIG_IGN);
    signal (SIGXFSZ, SIG_IGN);
    BUG_ON (sodium_init () < 0 || curl_global_init (CURL_GLOBAL_DEFAULT) != CURLE_OK);
    world_t *self = memory_new (sizeof *self);
    self->log = log;
    self->jobs = job_pool_new (options->job_threads);
    self->zmq = zmq_ctx_new ();
    BUG_ON (!self->zmq || zmq_ctx_set (self->zmq, ZMQ_MAX_SOCKETS, SOCKETS_MAX) != 0);
    self->gate = gate_new (self->zmq);
    return self;
}

void
world_destroy (world_t **self_p)
{
    world_t *self = *self_p;
    if (!self)
        return;
    zmq_ctx_term (self->zmq);
    gate_destroy (&self->gate);
    bug_say_through (NULL);
    job_pool_destroy (&self->jobs);
    log_sink_destroy (&self->log);
    curl_global_cleanup ();
    memory_free (self);
    *self_p = NULL;
}

void
world_set_keys (world_t *self, keyring_t *keys)
{
    gate_set_keys (self->gate, keys);
}

static uint64_t
s_thread_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
world_trim (void)
{
    uint64_t began_ns = s_thread_ns ();
    malloc_trim (0);
    uint64_t due_ns = (s_thread_ns () - began_ns) * TRIM_SHARE;
    return due_ns > TRIM_NS ? due_ns : TRIM_NS;
}

bool
world_claim_voice (world_t *self)
{
    return !atomic_exchange (&self->voice, true);
}

gate_t *
world_gate (const world_t *self)
{
    return self->gate;
}

void *
world_zmq (const world_t *self)
{
    return self->zmq;
}

job_pool_t *
world_jobs (const world_t *self)
{
    return self->jobs;
}

log_sink_t *
world_log (const world_t *self)
{
    return self->log;
}
