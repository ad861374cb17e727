//  clock - a wall clock that can be set, for programs that are started with this preloaded
//
//  The file that SOAK_CLOCK names holds 8 bytes: by how many seconds the clock of the wall is wrong.  Whoever writes to it
//  sets the clock of all these programs at once.  Other clocks are left alone.

#define _GNU_SOURCE

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t s_right;                                 //  Where nothing else is said
static const volatile int64_t *s_seconds = &s_right;    //  By which it is wrong

__attribute__ ((constructor)) static void
s_open (void)
{
    const char *path = getenv ("SOAK_CLOCK");
    int fd = path ? open (path, O_RDONLY | O_CLOEXEC) : -1;
    void *shared = fd < 0 ? MAP_FAILED : mmap (NULL, sizeof *s_seconds, PROT_READ, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED)
        s_seconds = shared;
    if (fd >= 0)
        close (fd);
}

int
clock_gettime (clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall (SYS_clock_gettime, clock, now);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *s_seconds;
    return rc;
}

int
gettimeofday (struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    int rc = clock_gettime (CLOCK_REALTIME, &exact);
    *now = (struct timeval){ .tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000 };
    return rc;
}

time_t
time (time_t *out)
{
    struct timespec now;
    clock_gettime (CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
