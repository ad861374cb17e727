//  hop - a call over bare libzmq: a DEALER asks, a ROUTER on another thread answers
//
//      hop ENDPOINT CURVE IN_FLIGHT CALLS HEADER BODY REPLY_HEADER REPLY_BODY
//
//  CURVE is 0 or 1; the last four are sizes of frames.  The first tenth of the calls is not counted.  Prints processor
//  time of the whole process and time passed, a call, in us.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zmq.h>

enum { FRAME_MAX = 4096, ENDPOINT_MAX = 256, KEY_MAX = 41, HEADER = 5, BODY, REPLY_HEADER, REPLY_BODY, WORDS };

static const char s_frame [FRAME_MAX];
static size_t s_numbers [WORDS];

static double
s_us (clockid_t clock)
{
    struct timespec now;
    clock_gettime (clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void
s_send (void *socket, size_t header, size_t body)
{
    zmq_send (socket, "", 0, ZMQ_SNDMORE);
    zmq_send (socket, s_frame, header, ZMQ_SNDMORE);
    zmq_send (socket, s_frame, body, 0);
}

//  A whole message, its first frame into `first`; 0 at the end of the context.
static int
s_receive (void *socket, zmq_msg_t *first, int others)
{
    char frame [FRAME_MAX];
    if (zmq_msg_recv (first, socket, 0) < 0)
        return 0;
    for (; others; others--)
        zmq_recv (socket, frame, sizeof frame, 0);
    return 1;
}

static void *
s_serve (void *socket)
{
    zmq_msg_t peer;
    zmq_msg_init (&peer);
    while (s_receive (socket, &peer, 3)) {
        zmq_msg_send (&peer, socket, ZMQ_SNDMORE);
        s_send (socket, s_numbers [REPLY_HEADER], s_numbers [REPLY_BODY]);
    }
    zmq_close (socket);
    return NULL;
}

int
main (int argc, char **argv)
{
    char endpoint [ENDPOINT_MAX], public_key [KEY_MAX], secret_key [KEY_MAX];
    size_t size = sizeof endpoint, sent = 0;
    int yes = 1;
    double cpu_us = 0, wall_us = 0;
    pthread_t server;
    zmq_msg_t reply;
    for (int i = 2; i < WORDS && i < argc; i++)
        s_numbers [i] = strtoul (argv [i], NULL, 10);
    size_t secure = s_numbers [2], in_flight = s_numbers [3], calls = s_numbers [4];
    void *zmq = zmq_ctx_new (), *router = zmq_socket (zmq, ZMQ_ROUTER), *dealer = zmq_socket (zmq, ZMQ_DEALER);
    if (secure) {
        zmq_curve_keypair (public_key, secret_key);
        zmq_setsockopt (router, ZMQ_CURVE_SERVER, &yes, sizeof yes);
        zmq_setsockopt (router, ZMQ_CURVE_SECRETKEY, secret_key, KEY_MAX);
        zmq_setsockopt (dealer, ZMQ_CURVE_SERVERKEY, public_key, KEY_MAX);
        zmq_setsockopt (dealer, ZMQ_CURVE_PUBLICKEY, public_key, KEY_MAX);
        zmq_setsockopt (dealer, ZMQ_CURVE_SECRETKEY, secret_key, KEY_MAX);
    }
    if (zmq_bind (router, argv [1]) || zmq_getsockopt (router, ZMQ_LAST_ENDPOINT, endpoint, &size))
        return 1;
    zmq_connect (dealer, endpoint);
    pthread_create (&server, NULL, s_serve, router);
    zmq_msg_init (&reply);
    for (size_t received = 0; received < calls; received++) {
        for (; sent < calls && sent - received < in_flight; sent++)
            s_send (dealer, s_numbers [HEADER], s_numbers [BODY]);
        s_receive (dealer, &reply, 2);
        if (received == calls / 10)
            cpu_us = s_us (CLOCK_PROCESS_CPUTIME_ID), wall_us = s_us (CLOCK_MONOTONIC);
    }
    double counted = (double)(calls - calls / 10 - 1);
    printf ("%.4f %.4f\n", (s_us (CLOCK_PROCESS_CPUTIME_ID) - cpu_us) / counted,
        (s_us (CLOCK_MONOTONIC) - wall_us) / counted);
    zmq_close (dealer);
    zmq_ctx_term (zmq);
    return 0;
}
