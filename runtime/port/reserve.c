#include "runtime/port/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

//  The system's own, in whose place every library finds ours; accept4(2).
int accept4 (int listener, struct sockaddr *address, socklen_t *size, int flags);

static pthread_mutex_t s_mutex = PTHREAD_MUTEX_INITIALIZER;    //  Guards s_spare
static int s_spare = -1;                                       //  The descriptor that is kept back; -1: none
static atomic_uint_least64_t s_turned_away;                    //  Peers

//  Between tries to turn a peer away for which no descriptor is left at all.
static const struct timespec s_pause = { .tv_nsec = 1000000 };

static void
s_take_spare (void)
{
    if (s_spare < 0)
        s_spare = open ("/dev/null", O_RDONLY | O_CLOEXEC);
}

void
reserve_keep (void)
{
    pthread_mutex_lock (&s_mutex);
    s_take_spare ();
    pthread_mutex_unlock (&s_mutex);
}

uint64_t
reserve_turned_away (void)
{
    return atomic_load (&s_turned_away);
}

static int
s_accept (int listener, struct sockaddr *address, socklen_t *size, int flags)
{
    return (int)syscall (SYS_accept4, listener, address, size, flags);
}

//  Returns an errno that every library knows: the peer went away, nobody is there, or the system has no room.
static int
s_turn_away (int listener)
{
    int reason = ENFILE;
    pthread_mutex_lock (&s_mutex);
    s_take_spare ();
    if (s_spare >= 0) {
        close (s_spare);
        int peer = s_accept (listener, NULL, NULL, SOCK_CLOEXEC);
        if (peer >= 0) {
            atomic_fetch_add (&s_turned_away, 1);
            close (peer);
            reason = ECONNABORTED;
        } else if (errno != EMFILE) {
            reason = errno;
        }
        s_spare = -1;
        s_take_spare ();
    }
    pthread_mutex_unlock (&s_mutex);
    return reason;
}

int
accept4 (int listener, struct sockaddr *address, socklen_t *size, int flags)
{
    int peer = s_accept (listener, address, size, flags);
    if (peer >= 0 || errno != EMFILE)
        return peer;
    int reason = s_turn_away (listener);
    if (reason == ENFILE)
        clock_nanosleep (CLOCK_MONOTONIC, 0, &s_pause, NULL);
    errno = reason;
    return -1;
}
