//  sse INTERVAL_US - answers each HTTP request with a stream of events, one write an event
//
//  A request's body says how many: "max_tokens":N.  INTERVAL_US is the time between two events of a stream; 0 writes them one
//  behind the other.  Prints the port that it listens at.  It trusts its clients: a request comes in one read, and no other
//  before the answer's end.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { FILES = 65536, REQUEST_MAX = 65536, EVENTS_MAX = 256 };

static const char s_head [] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char s_data [] =
    "data: {\"id\":\"chatcmpl-0123456789abcdef01234567\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"mock\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n";
static char s_event [sizeof s_data + 16], s_end [] = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
static long s_left [FILES];               //  Events still to write, by descriptor
static int s_streams [FILES], s_count;    //  Descriptors that have some

//  0 at the stream's end.
static int
s_step (int file)
{
    if (send (file, s_event, strlen (s_event), MSG_NOSIGNAL) < 0)
        return 0;
    if (--s_left [file] > 0)
        return 1;
    send (file, s_end, sizeof s_end - 1, MSG_NOSIGNAL);
    return 0;
}

static void
s_answer (int file, int paced)
{
    static char request [REQUEST_MAX];
    ssize_t size = read (file, request, sizeof request - 1);
    request [size > 0 ? size : 0] = 0;
    const char *wanted = strstr (request, "\"max_tokens\":");
    s_left [file] = wanted ? atol (wanted + 13) : 1;
    if (size <= 0)
        close (file);
    else if (send (file, s_head, sizeof s_head - 1, MSG_NOSIGNAL) > 0 && paced)
        s_streams [s_count++] = file;
    while (size > 0 && !paced && s_step (file))
        continue;
}

static void
s_tick (int timer)
{
    char ticks [8];
    int count = read (timer, ticks, sizeof ticks) > 0 ? s_count : 0;
    s_count -= count;
    for (int i = 0; i < count; i++)
        if (s_step (s_streams [i]))
            s_streams [s_count++] = s_streams [i];
}

int
main (int argc, char **argv)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    struct epoll_event ready [EVENTS_MAX], event = { .events = EPOLLIN };
    long us = argc > 1 ? atol (argv [1]) : 0;
    struct timespec beat = { us / 1000000, us % 1000000 * 1000 };
    int yes = 1, poll = epoll_create1 (0), timer = timerfd_create (CLOCK_MONOTONIC, 0),
        listener = socket (AF_INET, SOCK_STREAM, 0);
    snprintf (s_event, sizeof s_event, "%zx\r\n%s\r\n", strlen (s_data), s_data);
    timerfd_settime (timer, 0, &(struct itimerspec){ beat, beat }, NULL);
    if (bind (listener, (struct sockaddr *)&address, size) || listen (listener, 4096))
        return 1;
    getsockname (listener, (struct sockaddr *)&address, &size);
    printf ("%d\n", ntohs (address.sin_port));
    fflush (stdout);
    event.data.fd = timer, epoll_ctl (poll, EPOLL_CTL_ADD, timer, &event);
    event.data.fd = listener, epoll_ctl (poll, EPOLL_CTL_ADD, listener, &event);
    for (;;)
        for (int i = epoll_wait (poll, ready, EVENTS_MAX, -1); i-- > 0;) {
            int file = ready [i].data.fd;
            if (file == timer) {
                s_tick (timer);
            } else if (file == listener) {
                event.data.fd = accept (listener, NULL, NULL);
                setsockopt (event.data.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                epoll_ctl (poll, EPOLL_CTL_ADD, event.data.fd, &event);
            } else {
                s_answer (file, us > 0);
            }
        }
}
