#define _GNU_SOURCE

#include "runtime/port/real_port.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <time.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/file.h"
#include "runtime/port/http_client.h"
#include "runtime/port/http_server.h"
#include "runtime/port/loop.h"
#include "runtime/port/process.h"
#include "runtime/port/region.h"
#include "runtime/port/reserve.h"
#include "runtime/port/store.h"
#include "runtime/port/zmq_socket.h"

enum { THREAD_NAME_SIZE = 16 };

typedef struct {
    port_t port;                     //  What the actor sees
    loop_t *loop;                    //  Of the actor's thread
    http_client_t *client;           //  Fetches
    processes_t processes;           //  Children
    world_t *world;                  //  Shared by the process
    bool speaks;                     //  For the process
    char *state_folder;              //  Of stores and files
    char name [THREAD_NAME_SIZE];    //  Of the thread
} real_port_t;

static real_port_t *
s_real (port_t *port)
{
    return (real_port_t *)port;
}

//  ---- Time and randomness -------------------------------------------------------------------------------------------

static uint64_t
s_now_ns (port_t *port)
{
    return loop_now_ns ();
}

static uint64_t
s_wall_ns (port_t *port)
{
    struct timespec now;
    clock_gettime (CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
s_random (port_t *port, void *bytes, size_t size)
{
    randombytes_buf (bytes, size);
}

static void
s_alarm (port_t *port, uint64_t at_ns)
{
    loop_alarm (s_real (port)->loop, at_ns);
}

static void
s_turn_end (port_t *port)
{
    loop_turn_end (s_real (port)->loop);
}

static void
s_on_alarm (void *arg)
{
    port_t *port = arg;
    if (port->user.on_alarm)
        port->user.on_alarm (port->user.arg);
}

static void
s_on_turn_end (void *arg)
{
    port_t *port = arg;
    if (port->user.on_turn_end)
        port->user.on_turn_end (port->user.arg);
}

static void
s_on_round (void *arg, uint64_t busy_ns)
{
    port_t *port = arg;
    if (port->user.on_round)
        port->user.on_round (port->user.arg, busy_ns);
}

//  ---- What is opened ------------------------------------------------------------------------------------------------

static port_socket_t *
s_socket_open (port_t *port, const socket_options_t *options, error_t *error)
{
    real_port_t *self = s_real (port);
    return zmq_socket_open (self->loop, world_zmq (self->world), world_gate (self->world), options, error);
}

static port_listener_t *
s_listen (port_t *port, const char *address, const listener_options_t *options, error_t *error)
{
    return http_listener_open (s_real (port)->loop, address, options, error);
}

static port_fetch_t *
s_fetch (port_t *port, const fetch_options_t *options, error_t *error)
{
    return http_fetch_start (s_real (port)->client, options, error);
}

static port_process_t *
s_process_start (port_t *port, const process_options_t *options, error_t *error)
{
    return process_start (&s_real (port)->processes, options, error);
}

static port_store_t *
s_store_open (port_t *port, const store_options_t *options, error_t *error)
{
    return store_open (s_real (port)->state_folder, options, error);
}

static status_t
s_file_read (port_t *port, const char *path, size_t size_max, buffer_t *out, error_t *error)
{
    return file_read (s_real (port)->state_folder, path, size_max, out, error);
}

static status_t
s_file_read_front (port_t *port, const char *path, size_t size, buffer_t *out, error_t *error)
{
    return file_read_front (s_real (port)->state_folder, path, size, out, error);
}

static status_t
s_file_write (port_t *port, const char *path, span_t bytes, bool secret, error_t *error)
{
    return file_write (s_real (port)->state_folder, path, bytes, secret, error);
}

static port_file_t *
s_file_open (port_t *port, const char *path, error_t *error)
{
    return file_open (s_real (port)->state_folder, path, error);
}

static port_region_t *
s_region_open (port_t *port, const char *name, size_t size, bool create, error_t *error)
{
    return region_open (name, size, create, error);
}

static void
s_job_start (port_t *port, job_fn *run, job_done_fn *done, void *arg, void *data)
{
    real_port_t *self = s_real (port);
    job_start (world_jobs (self->world), self->loop, run, done, arg, data);
}

static void
s_log (port_t *port, log_level_t level, span_t line)
{
    log_sink_write (world_log (s_real (port)->world), level, s_wall_ns (port), line);
}

static bool
s_figures (port_t *port, port_figures_t *figures)
{
    figures->lost_lines = log_sink_lost (world_log (s_real (port)->world));
    figures->turned_away = reserve_turned_away ();
    return s_real (port)->speaks;
}

static const port_table_t s_table = {
    .now_ns = s_now_ns,
    .wall_ns = s_wall_ns,
    .random = s_random,
    .alarm = s_alarm,
    .turn_end = s_turn_end,
    .socket_open = s_socket_open,
    .socket_bind = zmq_socket_bind,
    .socket_connect = zmq_socket_connect,
    .socket_mend = zmq_socket_mend,
    .socket_endpoint = zmq_socket_endpoint,
    .socket_send = zmq_socket_send,
    .socket_forward = zmq_socket_forward,
    .socket_send_kept = zmq_socket_send_kept,
    .socket_keep = zmq_socket_keep,
    .socket_subscribe = zmq_socket_subscribe,
    .socket_unsubscribe = zmq_socket_unsubscribe,
    .socket_sender = zmq_socket_sender,
    .socket_refused = zmq_socket_refused,
    .socket_overflows = zmq_socket_overflows,
    .socket_close = zmq_socket_close,
    .listen = s_listen,
    .listener_address = http_listener_address,
    .listener_figures = http_listener_figures,
    .listener_stop = http_listener_stop,
    .listener_close = http_listener_close,
    .exchange_watch = http_exchange_watch,
    .exchange_take_body = http_exchange_take_body,
    .exchange_return_body = http_exchange_return_body,
    .exchange_respond = http_exchange_respond,
    .exchange_begin = http_exchange_begin,
    .exchange_write = http_exchange_write,
    .exchange_expect = http_exchange_expect,
    .exchange_end = http_exchange_end,
    .exchange_abort = http_exchange_abort,
    .fetch = s_fetch,
    .fetch_pause = http_fetch_pause,
    .fetch_cancel = http_fetch_cancel,
    .process_start = s_process_start,
    .process_id = process_id,
    .process_signal = process_signal,
    .process_close = process_close,
    .store_open = s_store_open,
    .store_get = store_get,
    .store_put = store_put,
    .store_delete = store_delete,
    .store_commit = store_commit,
    .store_next = store_next,
    .store_close = store_close,
    .file_read = s_file_read,
    .file_read_front = s_file_read_front,
    .file_write = s_file_write,
    .file_open = s_file_open,
    .file_append = file_append,
    .file_close = file_close,
    .region_open = s_region_open,
    .region_memory = region_memory,
    .region_close = region_close,
    .job_start = s_job_start,
    .log = s_log,
    .figures = s_figures,
};

//  ---- New, run, destroy ---------------------------------------------------------------------------------------------

port_t *
real_port_new (const real_port_options_t *options, error_t *error)
{
    real_port_t *self = memory_new (sizeof *self);
    loop_user_t user = { .on_alarm = s_on_alarm, .on_turn_end = s_on_turn_end, .on_round = s_on_round, .arg = self };
    self->loop = loop_new (&user, error);
    if (!self->loop) {
        memory_free (self);
        return NULL;
    }
    self->port.table = &s_table;
    self->world = options->world;
    self->speaks = world_claim_voice (self->world);
    self->state_folder = memory_copy_string (options->state_folder ? options->state_folder : ".");
    snprintf (self->name, sizeof self->name, "%s", options->name ? options->name : "");
    self->client = http_client_new (self->loop);
    processes_init (&self->processes, self->loop, self->state_folder);
    return &self->port;
}

void
real_port_run (port_t *port)
{
    real_port_t *self = s_real (port);
    if (self->name [0])
        pthread_setname_np (pthread_self (), self->name);
    loop_run (self->loop);
}

void
real_port_stop (port_t *port)
{
    loop_stop (s_real (port)->loop);
}

void
real_port_destroy (port_t **port_p)
{
    if (!*port_p)
        return;
    real_port_t *self = s_real (*port_p);
    //  The user is gone: an alarm it left behind rings for nobody while the last jobs end.
    self->port.user = (port_user_t){ 0 };
    loop_settle (self->loop);
    http_client_destroy (&self->client);
    processes_fini (&self->processes);
    loop_destroy (&self->loop);
    memory_free (self->state_folder);
    memory_free (self);
    *port_p = NULL;
}
