#define _GNU_SOURCE

#include "runtime/port/real_port.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <time.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/http_server.h"
#include "runtime/port/loop.h"
#include "runtime/port/zmq_socket.h"

enum { THREAD_NAME_SIZE = 16 };

typedef struct {
    port_t port;                     //  What the actor sees
    loop_t *loop;                    //  Of the actor's thread
    world_t *world;                  //  Shared by the process
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
    port->user.on_alarm (port->user.arg);
}

static void
s_on_turn_end (void *arg)
{
    port_t *port = arg;
    port->user.on_turn_end (port->user.arg);
}

//  ---- What is opened ------------------------------------------------------------------------------------------------

static port_socket_t *
s_socket_open (port_t *port, const socket_options_t *options, error_t *error)
{
    real_port_t *self = s_real (port);
    return zmq_socket_open (self->loop, world_zmq (self->world), options, error);
}

static port_listener_t *
s_listen (port_t *port, const char *address, const listener_options_t *options, error_t *error)
{
    return http_listener_open (s_real (port)->loop, address, options, error);
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
    .socket_endpoint = zmq_socket_endpoint,
    .socket_send = zmq_socket_send,
    .socket_subscribe = zmq_socket_subscribe,
    .socket_unsubscribe = zmq_socket_unsubscribe,
    .socket_dropped = zmq_socket_dropped,
    .socket_close = zmq_socket_close,
    .listen = s_listen,
    .listener_address = http_listener_address,
    .listener_figures = http_listener_figures,
    .listener_stop = http_listener_stop,
    .listener_close = http_listener_close,
    .exchange_watch = http_exchange_watch,
    .exchange_respond = http_exchange_respond,
    .exchange_begin = http_exchange_begin,
    .exchange_write = http_exchange_write,
    .exchange_end = http_exchange_end,
    .exchange_abort = http_exchange_abort,
};

//  ---- New, run, destroy ---------------------------------------------------------------------------------------------

port_t *
real_port_new (const real_port_options_t *options, error_t *error)
{
    BUG_ON (sodium_init () < 0);
    real_port_t *self = memory_new (sizeof *self);
    loop_user_t user = { .on_alarm = s_on_alarm, .on_turn_end = s_on_turn_end, .arg = self };
    self->loop = loop_new (&user, error);
    if (!self->loop) {
        memory_free (self);
        return NULL;
    }
    self->port.table = &s_table;
    self->world = options->world;
    self->state_folder = memory_copy_string (options->state_folder ? options->state_folder : ".");
    snprintf (self->name, sizeof self->name, "%s", options->name ? options->name : "");
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
    loop_settle (self->loop);
    loop_destroy (&self->loop);
    memory_free (self->state_folder);
    memory_free (self);
    *port_p = NULL;
}
