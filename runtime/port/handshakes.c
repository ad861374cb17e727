#include "runtime/port/handshakes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/bug.h"
#include "base/memory.h"

enum {
    NAME_SIZE = 64,
    GIVEN_UP = ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH,
    FAILURES = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | GIVEN_UP,
};

struct handshakes {
    loop_t *loop;            //  Of the owner's thread
    void *watched;           //  The socket
    void *pair;              //  Where its monitor speaks
    struct event *edge;      //  Of the pair
    uint64_t failed;         //  So far
    loop_fn *on_given_up;    //  NULL: nobody
    void *arg;               //  For it
};

//  A monitor says each event in two frames: the first begins with which, the second is where it happened.
static void
s_on_edge (evutil_socket_t fd, short what, void *arg)
{
    handshakes_t *self = arg;
    uint8_t frame [NAME_SIZE];
    int more = 0;
    size_t size = sizeof more;
    uint16_t event, events = 0;
    while (zmq_recv (self->pair, frame, sizeof frame, ZMQ_DONTWAIT) >= 0) {
        BUG_ON (zmq_getsockopt (self->pair, ZMQ_RCVMORE, &more, &size) != 0);
        if (!more)
            continue;
        memcpy (&event, frame, sizeof event);
        events |= event;
        self->failed++;
    }
    if ((events & GIVEN_UP) && self->on_given_up)
        self->on_given_up (self->arg);
}

static void *
s_open_pair (void *zmq)
{
    void *pair = zmq_socket (zmq, ZMQ_PAIR);
    int none = 0;
    if (pair)
        BUG_ON (zmq_setsockopt (pair, ZMQ_RCVHWM, &none, sizeof none) != 0 ||
                zmq_setsockopt (pair, ZMQ_LINGER, &none, sizeof none) != 0);
    return pair;
}

//  The queue has no bound: libzmq's own thread would wait for room in it.  There is no edge before the first reading.
handshakes_t *
handshakes_new (loop_t *loop, void *zmq, void *socket, loop_fn *on_given_up, void *arg, error_t *error)
{
    static atomic_uint last;
    char name [NAME_SIZE];
    int fd;
    size_t size = sizeof fd;
    snprintf (name, sizeof name, "inproc://handshakes-%u", atomic_fetch_add (&last, 1));
    void *pair = s_open_pair (zmq);
    if (!pair || zmq_socket_monitor (socket, name, FAILURES) != 0) {
        error_set (error, STATUS_LIMIT, "peers cannot be watched: %s", zmq_strerror (zmq_errno ()));
        if (pair)
            zmq_close (pair);
        return NULL;
    }
    BUG_ON (zmq_connect (pair, name) != 0 || zmq_getsockopt (pair, ZMQ_FD, &fd, &size) != 0);
    handshakes_t *self = memory_new (sizeof *self);
    self->loop = loop;
    self->watched = socket;
    self->pair = pair;
    self->on_given_up = on_given_up;
    self->arg = arg;
    self->edge = loop_event (loop, fd, EV_READ | EV_PERSIST, s_on_edge, self);
    BUG_ON (event_add (self->edge, NULL) != 0);
    s_on_edge (fd, EV_READ, self);
    return self;
}

void
handshakes_destroy (handshakes_t **self_p)
{
    handshakes_t *self = *self_p;
    if (!self)
        return;
    event_free (self->edge);
    zmq_socket_monitor (self->watched, NULL, 0);
    zmq_close (self->pair);
    memory_free (self);
    *self_p = NULL;
}

uint64_t
handshakes_failed (const handshakes_t *self)
{
    return self ? self->failed : 0;
}
