#include "runtime/port/world.h"

#include <signal.h>
#include <zmq.h>

#include "base/bug.h"
#include "base/memory.h"

enum { SOCKETS_MAX = 16384 };

struct world {
    void *zmq;    //  The process's ZeroMQ context
};

world_t *
world_new (const world_options_t *options, error_t *error)
{
    signal (SIGPIPE, SIG_IGN);
    world_t *self = memory_new (sizeof *self);
    self->zmq = zmq_ctx_new ();
    BUG_ON (!self->zmq || zmq_ctx_set (self->zmq, ZMQ_MAX_SOCKETS, SOCKETS_MAX) != 0);
    return self;
}

void
world_destroy (world_t **self_p)
{
    world_t *self = *self_p;
    if (!self)
        return;
    zmq_ctx_term (self->zmq);
    memory_free (self);
    *self_p = NULL;
}

void *
world_zmq (const world_t *self)
{
    return self->zmq;
}
