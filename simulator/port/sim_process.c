#include "simulator/port/sim_private.h"

#include "base/memory.h"

struct port_process {
    sim_port_t *port;             //  Whose
    realm_process_t *process;     //  The child
    process_options_t options;    //  Only on_exit and its arg
};

static void
s_on_exit (void *arg, int code)
{
    port_process_t *self = arg;
    sim_port_t *port = self->port;
    sim_enter (port);
    if (self->options.on_exit)
        self->options.on_exit (self->options.arg, code);
    sim_leave (port);
}

port_process_t *
sim_process_start (port_t *port_, const process_options_t *options, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    if (sim_check_alive (port, error) != STATUS_OK)
        return NULL;
    port_process_t *self = memory_new (sizeof *self);
    self->port = port;
    self->options = *options;
    //  Programs of the realm are functions, and read no environment.
    realm_start_t start = {
        .argv = options->argv, .folder = options->folder, .parent = port->process, .on_exit = s_on_exit, .arg = self
    };
    self->process = realm_process_start (realm_process_machine (port->process), &start, error);
    if (!self->process) {
        memory_free (self);
        return NULL;
    }
    port->open_count++;
    return self;
}

int64_t
sim_process_id (const port_process_t *self)
{
    return realm_process_number (self->process);
}

void
sim_process_signal (port_process_t *self, process_signal_t signal)
{
    if (!self->port->dead)
        realm_process_signal (self->process, signal);
}

void
sim_process_close (port_process_t *self)
{
    realm_process_forget (self->process);
    realm_process_signal (self->process, PROCESS_SIGNAL_KILL);
    self->port->open_count--;
    memory_free (self);
}
