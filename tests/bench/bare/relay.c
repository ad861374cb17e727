//  relay - whatever comes in at a ROUTER goes out at an XPUB
//
//      relay IN OUT LEFT_OUT
//
//  LEFT_OUT frames are dropped, the sender's name among them, the others passed on as they are.  Subscriptions are read and
//  forgotten.  Prints a line once both ends are bound, and runs until it is killed.

#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

//  Messages; libzmq looks at what was read of a queue so seldom that a thousand are lost now and then.
enum { QUEUE = 10000 };

//  One message from one socket to the other; 0 where none waits.  first: how many frames of it are left out.
static int
s_pass (void *from, void *to, int first)
{
    zmq_msg_t frame;
    for (int more = 1, position = 0; more; position++) {
        zmq_msg_init (&frame);
        if (zmq_msg_recv (&frame, from, ZMQ_DONTWAIT) < 0)
            return 0;
        more = zmq_msg_more (&frame);
        if (!to || position < first || zmq_msg_send (&frame, to, more ? ZMQ_SNDMORE : 0) < 0)
            zmq_msg_close (&frame);
    }
    return 1;
}

int
main (int argc, char **argv)
{
    void *zmq = zmq_ctx_new (), *in = zmq_socket (zmq, ZMQ_ROUTER), *out = zmq_socket (zmq, ZMQ_XPUB);
    int queue = QUEUE;
    zmq_pollitem_t items [] = { { in, 0, ZMQ_POLLIN, 0 }, { out, 0, ZMQ_POLLIN, 0 } };
    zmq_setsockopt (in, ZMQ_RCVHWM, &queue, sizeof queue);
    zmq_setsockopt (out, ZMQ_SNDHWM, &queue, sizeof queue);
    if (argc != 4 || zmq_bind (in, argv [1]) != 0 || zmq_bind (out, argv [2]) != 0)
        return 1;
    int left_out = atoi (argv [3]);
    puts ("bound");
    fflush (stdout);
    while (zmq_poll (items, 2, -1) >= 0) {
        while (s_pass (in, out, left_out))
            continue;
        while (s_pass (out, NULL, 0))
            continue;
    }
    return 0;
}
