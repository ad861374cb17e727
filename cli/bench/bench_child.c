#define _GNU_SOURCE
#include "cli/bench/bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NOT_STARTED = 127, LINE_MAX_SIZE = 512, PATIENCE_MS = 5000 };

//  ---- Life ----------------------------------------------------------------------------------------------------------

//  In the child: does not come back.
static void
s_become (const char *const *words, pid_t parent, int output, const char *log)
{
    sigset_t none;
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    int complaints = log ? open (log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (complaints >= 0)
        dup2 (complaints, STDERR_FILENO);
    if (getppid () == parent && dup2 (output, STDOUT_FILENO) >= 0)
        execvp (words [0], (char *const *)(uintptr_t)words);
    _exit (EXIT_NOT_STARTED);
}

status_t
bench_child_start (bench_child_t *self, const char *const *words, const char *log, error_t *error)
{
    int ends [2];
    pid_t parent = getpid ();
    if (pipe2 (ends, O_CLOEXEC) != 0)
        return error_set (error, STATUS_LIMIT, "cannot start %s: %s", words [0], strerror (errno));
    pid_t process = fork ();
    if (process == 0)
        s_become (words, parent, ends [1], log);
    close (ends [1]);
    if (process < 0) {
        close (ends [0]);
        return error_set (error, STATUS_LIMIT, "cannot start %s: %s", words [0], strerror (errno));
    }
    *self = (bench_child_t){ .process = process, .output = fdopen (ends [0], "r") };
    return STATUS_OK;
}

status_t
bench_child_start_bare (
    bench_child_t *self, const bench_run_t *run, const char *name, const char *const *words, error_t *error)
{
    char path [BENCH_PATH_MAX];
    const char *all [BENCH_WORDS_MAX] = { path };
    const char *slash = strrchr (run->program, '/');
    snprintf (path, sizeof path, "%.*sbare/%s", slash ? (int)(slash + 1 - run->program) : 0, run->program, name);
    for (size_t i = 0; words [i] && i + 2 < BENCH_WORDS_MAX; i++)
        all [i + 1] = words [i];
    if (access (path, X_OK) != 0)
        return error_set (error, STATUS_NOT_FOUND,
            "there is no %s to compare with: it is built with the tests, in the build's own folder", path);
    return bench_child_start (self, all, NULL, error);
}

//  Waits until it has ended, but not for ever.
static void
s_await_end (const bench_child_t *self)
{
    struct pollfd handle = { .fd = (int)syscall (SYS_pidfd_open, self->process, 0), .events = POLLIN };
    if (handle.fd < 0)
        return;
    poll (&handle, 1, PATIENCE_MS);
    close (handle.fd);
}

void
bench_child_stop (bench_child_t *self)
{
    if (!self->process)
        return;
    kill (self->process, SIGCONT);
    kill (self->process, SIGTERM);
    s_await_end (self);
    kill (self->process, SIGKILL);
    while (waitpid (self->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (self->output)
        fclose (self->output);
    *self = (bench_child_t){ 0 };
}

bool
bench_child_runs (const bench_child_t *self)
{
    siginfo_t about = { 0 };
    return waitid (P_PID, (id_t)self->process, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == 0;
}

void
bench_child_freeze (const bench_child_t *self)
{
    kill (self->process, SIGSTOP);
}

//  ---- Figures -------------------------------------------------------------------------------------------------------

status_t
bench_child_read (bench_child_t *self, double *figures, size_t count, error_t *error)
{
    char line [LINE_MAX_SIZE];
    char *rest = line;
    if (!self->output || !fgets (line, sizeof line, self->output))
        return error_set (error, STATUS_IO, "a program to compare with ended before it said anything");
    for (size_t i = 0; i < count; i++) {
        char *begin = rest;
        figures [i] = strtod (begin, &rest);
        if (rest == begin)
            return error_set (error, STATUS_CORRUPT, "a program to compare with said: %.100s", line);
    }
    return STATUS_OK;
}

double
bench_child_seconds (const bench_child_t *self)
{
    clockid_t clock;
    struct timespec spent = { 0 };
    if (clock_getcpuclockid (self->process, &clock) == 0)
        clock_gettime (clock, &spent);
    return (double)spent.tv_sec + (double)spent.tv_nsec * 1e-9;
}

double
bench_child_memory (const bench_child_t *self)
{
    char path [64];
    unsigned long pages = 0;
    snprintf (path, sizeof path, "/proc/%ld/statm", (long)self->process);
    FILE *file = fopen (path, "r");
    if (file) {
        if (fscanf (file, "%*u %lu", &pages) != 1)
            pages = 0;
        fclose (file);
    }
    return (double)pages * (double)sysconf (_SC_PAGESIZE);
}
