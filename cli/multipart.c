#include "cli/multipart.h"

void
multipart_fini (multipart_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        zmq_msg_close (&self->parts [i]);
    self->count = 0;
}

bool
multipart_receive (multipart_t *self, void *socket)
{
    multipart_fini (self);
    for (bool more = true; more;) {
        zmq_msg_t surplus, *part = self->count < MULTIPART_MAX ? &self->parts [self->count] : &surplus;
        zmq_msg_init (part);
        if (zmq_msg_recv (part, socket, ZMQ_DONTWAIT) < 0)
            return false;
        more = zmq_msg_more (part);
        if (part == &surplus)
            zmq_msg_close (part);
        else
            self->frames [self->count++] = span_of (zmq_msg_data (part), zmq_msg_size (part));
    }
    return true;
}
