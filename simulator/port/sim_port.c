#include "simulator/port/sim_private.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

//  An alarm comes at least this late: no actor can hold the clock.
#define ALARM_LATE_NS REALM_US

//  A job takes this long at least, and this long more on average.
#define JOB_LEAST_NS (20 * REALM_US)
#define JOB_MEAN_NS REALM_MS

typedef struct {
    realm_event_t event;    //  When it is done
    list_link_t link;       //  In the port
    sim_port_t *port;       //  Whose
    job_fn *run;            //  The work
    job_done_fn *done;      //  Told
    void *arg;              //  For done
    void *data;             //  For both
} job_t;

sim_port_t *
sim_port_of (port_t *port)
{
    return (sim_port_t *)port;
}

//  ---- Turns ---------------------------------------------------------------------------------------------------------

void
sim_enter (sim_port_t *self)
{
    BUG_ON (self->in_turn);
    self->in_turn = true;
}

static void
s_end_turn (sim_port_t *self)
{
    self->turn_end_wanted = false;
    if (self->port.user.on_turn_end)
        self->port.user.on_turn_end (self->port.user.arg);
}

void
sim_leave (sim_port_t *self)
{
    if (self->turn_end_wanted)
        s_end_turn (self);
    self->in_turn = false;
    if (self->turn_end_wanted)
        sim_schedule_after (self, &self->turn, ALARM_LATE_NS);
}

static void
s_on_turn (realm_event_t *event)
{
    sim_port_t *self = LIST_ENTRY (event, sim_port_t, turn);
    realm_note (self->realm, NOTE_TURN, self->number, 0);
    sim_enter (self);
    sim_leave (self);
}

static void
s_turn_end (port_t *port)
{
    sim_port_t *self = sim_port_of (port);
    self->turn_end_wanted = true;
    if (!self->in_turn && !self->dead && !realm_event_waits (&self->turn))
        sim_schedule_after (self, &self->turn, 0);
}

realm_event_t
sim_event (const sim_port_t *self, realm_event_fn *fire)
{
    return (realm_event_t){ .process = self->process, .fire = fire };
}

void
sim_schedule_after (sim_port_t *self, realm_event_t *event, uint64_t delay_ns)
{
    if (!self->dead && !realm_event_waits (event))
        realm_schedule (self->realm, event, realm_now (self->realm) + delay_ns);
}

//  ---- Time, randomness, log -----------------------------------------------------------------------------------------

static uint64_t
s_now_ns (port_t *port)
{
    return realm_now (sim_port_of (port)->realm);
}

static uint64_t
s_wall_ns (port_t *port)
{
    return realm_machine_wall_ns (realm_process_machine (sim_port_of (port)->process));
}

static void
s_random (port_t *port, void *bytes, size_t size)
{
    sim_port_t *self = sim_port_of (port);
    uint8_t *out = bytes;
    while (size) {
        uint64_t word = random_u64 (&self->random);
        size_t part = size < sizeof word ? size : sizeof word;
        memcpy (out, &word, part);
        out += part;
        size -= part;
    }
}

static void
s_on_alarm (realm_event_t *event)
{
    sim_port_t *self = LIST_ENTRY (event, sim_port_t, alarm);
    realm_note (self->realm, NOTE_ALARM, self->number, 0);
    sim_enter (self);
    if (self->port.user.on_alarm)
        self->port.user.on_alarm (self->port.user.arg);
    sim_leave (self);
}

static void
s_alarm (port_t *port, uint64_t at_ns)
{
    sim_port_t *self = sim_port_of (port);
    realm_unschedule (self->realm, &self->alarm);
    if (at_ns == PORT_NEVER || self->dead)
        return;
    uint64_t earliest_ns = realm_now (self->realm) + ALARM_LATE_NS;
    realm_schedule (self->realm, &self->alarm, at_ns > earliest_ns ? at_ns : earliest_ns);
}

static void
s_log (port_t *port, log_level_t level, span_t line)
{
    sim_port_t *self = sim_port_of (port);
    if (!self->crashed)
        realm_process_log (self->process, level, line);
}

//  Every line is taken, and there are descriptors for everybody.
static bool
s_figures (port_t *port, port_figures_t *figures)
{
    *figures = (port_figures_t){ 0 };
    return true;
}

//  ---- Jobs ----------------------------------------------------------------------------------------------------------

static void
s_finish_job (job_t *job)
{
    list_remove (&job->port->jobs, &job->link);
    job->run (job->data);
    if (job->done)
        job->done (job->arg, job->data);
    memory_free (job);
}

static void
s_on_job (realm_event_t *event)
{
    job_t *job = LIST_ENTRY (event, job_t, event);
    sim_port_t *self = job->port;
    realm_note (self->realm, NOTE_JOB, self->number, 0);
    sim_enter (self);
    s_finish_job (job);
    sim_leave (self);
}

static void
s_job_start (port_t *port, job_fn *run, job_done_fn *done, void *arg, void *data)
{
    sim_port_t *self = sim_port_of (port);
    job_t *job = memory_new (sizeof *job);
    *job = (job_t){
        .event = sim_event (self, s_on_job), .port = self, .run = run, .done = done, .arg = arg, .data = data
    };
    list_append (&self->jobs, &job->link);
    sim_schedule_after (self, &job->event, JOB_LEAST_NS + random_exponential (&self->job_random, JOB_MEAN_NS));
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static const port_table_t s_table = {
    .now_ns = s_now_ns,
    .wall_ns = s_wall_ns,
    .random = s_random,
    .alarm = s_alarm,
    .turn_end = s_turn_end,
    .socket_open = sim_socket_open,
    .socket_bind = sim_socket_bind,
    .socket_connect = sim_socket_connect,
    .socket_mend = sim_socket_mend,
    .socket_endpoint = sim_socket_endpoint,
    .socket_send = sim_socket_send,
    .socket_forward = sim_socket_forward,
    .socket_send_kept = sim_socket_send_kept,
    .socket_keep = sim_socket_keep,
    .socket_subscribe = sim_socket_subscribe,
    .socket_unsubscribe = sim_socket_unsubscribe,
    .socket_sender = sim_socket_sender,
    .socket_refused = sim_socket_refused,
    .socket_overflows = sim_socket_overflows,
    .socket_close = sim_socket_close,
    .listen = sim_listen,
    .listener_address = sim_listener_address,
    .listener_figures = sim_listener_figures,
    .listener_stop = sim_listener_stop,
    .listener_close = sim_listener_close,
    .exchange_watch = sim_exchange_watch,
    .exchange_take_body = sim_exchange_take_body,
    .exchange_return_body = sim_exchange_return_body,
    .exchange_respond = sim_exchange_respond,
    .exchange_begin = sim_exchange_begin,
    .exchange_write = sim_exchange_write,
    .exchange_expect = sim_exchange_expect,
    .exchange_end = sim_exchange_end,
    .exchange_abort = sim_exchange_abort,
    .fetch = sim_fetch,
    .fetch_pause = sim_fetch_pause,
    .fetch_cancel = sim_fetch_cancel,
    .process_start = sim_process_start,
    .process_id = sim_process_id,
    .process_signal = sim_process_signal,
    .process_close = sim_process_close,
    .store_open = sim_store_open,
    .store_get = sim_store_get,
    .store_put = sim_store_put,
    .store_delete = sim_store_delete,
    .store_commit = sim_store_commit,
    .store_next = sim_store_next,
    .store_close = sim_store_close,
    .file_read = sim_file_read,
    .file_read_front = sim_file_read_front,
    .file_write = sim_file_write,
    .file_open = sim_file_open,
    .file_append = sim_file_append,
    .file_close = sim_file_close,
    .region_open = sim_region_open,
    .region_memory = sim_region_memory,
    .region_close = sim_region_close,
    .job_start = s_job_start,
    .log = s_log,
    .figures = s_figures,
};

static void
s_on_death (resident_t *resident, bool crashed)
{
    sim_port_t *self = LIST_ENTRY (resident, sim_port_t, resident);
    self->dead = true;
    self->crashed = crashed;
    realm_unschedule (self->realm, &self->alarm);
    realm_unschedule (self->realm, &self->turn);
    for (list_link_t *link = list_first (&self->jobs); link; link = list_next (&self->jobs, link))
        realm_unschedule (self->realm, &LIST_ENTRY (link, job_t, link)->event);
}

static void
s_free (sim_port_t *self)
{
    list_link_t *link;
    while ((link = list_first (&self->jobs))) {
        job_t *job = LIST_ENTRY (link, job_t, link);
        realm_unschedule (self->realm, &job->event);
        s_finish_job (job);
    }
    BUG_ON (self->open_count);
    memory_free (self);
}

static void
s_on_burial (resident_t *resident)
{
    s_free (LIST_ENTRY (resident, sim_port_t, resident));
}

port_t *
sim_port_new (realm_process_t *process)
{
    sim_port_t *self = memory_new (sizeof *self);
    self->port.table = &s_table;
    self->realm = realm_process_realm (process);
    self->process = process;
    self->number = realm_next_port_number (self->realm);
    self->alarm = sim_event (self, s_on_alarm);
    self->turn = sim_event (self, s_on_turn);
    realm_fork_random (self->realm, &self->random, "port", self->number);
    realm_fork_random (self->realm, &self->job_random, "job", self->number);
    realm_fork_random (self->realm, &self->socket_random, "socket", self->number);
    realm_fork_random (self->realm, &self->publish_random, "publish", self->number);
    realm_fork_random (self->realm, &self->chunk_random, "chunk", self->number);
    list_init (&self->jobs);
    self->resident.on_death = s_on_death;
    self->resident.on_burial = s_on_burial;
    realm_process_move_in (process, &self->resident);
    return &self->port;
}

void
sim_port_set_keys (port_t *self, const keyring_t *keys)
{
    sim_port_of (self)->keys = keys;
}

void
sim_port_destroy (port_t **self_p)
{
    if (!*self_p)
        return;
    sim_port_t *self = sim_port_of (*self_p);
    *self_p = NULL;
    realm_process_move_out (self->process, &self->resident);
    realm_unschedule (self->realm, &self->alarm);
    realm_unschedule (self->realm, &self->turn);
    s_free (self);
}

//  ---- For the parts -------------------------------------------------------------------------------------------------

char *
sim_path (const sim_port_t *self, const char *path)
{
    if (path [0] == '/')
        return memory_copy_string (path);
    buffer_t whole = { 0 };
    buffer_print (&whole, "%s/%s", realm_process_folder (self->process), path);
    char *copy = memory_copy (whole.data, whole.size);
    buffer_fini (&whole);
    return copy;
}

status_t
sim_check_alive (const sim_port_t *self, error_t *error)
{
    return self->dead ? error_set (error, STATUS_UNREACHABLE, "the process has ended") : STATUS_OK;
}
