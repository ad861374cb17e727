#include "actors/frontend/turn_private.h"

static void
s_on_job (void *data)
{
    turn_t *self = data;
    self->work (self);
}

//  The client may have left meanwhile, and the frontend have ended.
static void
s_on_job_done (void *arg, void *data)
{
    turn_t *self = arg;
    self->work = NULL;
    if (!self->frontend)
        turn_free (self);
    else if (self->over)
        frontend_bury_soon (self->frontend);
    else
        self->after_work (self);
}

void
turn_work (turn_t *self, size_t size, turn_step_fn *work, turn_step_fn *then)
{
    if (size <= TURN_WORK_MAX) {
        work (self);
        then (self);
        return;
    }
    port_t *port = actor_port (self->frontend->actor);
    self->work = work;
    self->after_work = then;
    port->table->job_start (port, s_on_job, s_on_job_done, self, self);
}
