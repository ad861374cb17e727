#include "cli/parent.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
s_end (void)
{
    if (getpgrp () == getpid ())
        kill (0, SIGKILL);
    _exit (128 + SIGKILL);
}

static void *
s_watch (void *arg)
{
    struct pollfd item = { .fd = (int)(intptr_t)arg, .events = POLLIN };
    while (poll (&item, 1, -1) < 0 && errno == EINTR)
        continue;
    s_end ();
    return NULL;
}

status_t
parent_watch (int64_t id, error_t *error)
{
    pthread_t thread;
    sigset_t all, before;
    int file = (int)syscall (SYS_pidfd_open, (pid_t)id, 0);
    if (getppid () != (pid_t)id)
        s_end ();
    if (file < 0)
        return error_set (error, STATUS_UNSUPPORTED, "cannot watch the parent process: %s", strerror (errno));
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &before);
    int failed = pthread_create (&thread, NULL, s_watch, (void *)(intptr_t)file);
    pthread_sigmask (SIG_SETMASK, &before, NULL);
    if (failed)
        return error_set (error, STATUS_LIMIT, "cannot watch the parent process: %s", strerror (failed));
    pthread_detach (thread);
    return STATUS_OK;
}
