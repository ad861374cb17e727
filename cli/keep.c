//  stator keep - an engine that does not outlive its host
//
//  Engines know nothing of us, so this process stands between: it starts the command in its own process group, leaves
//  signals to it (the host sends them to the group), ends with its exit code, and takes it along when the host is gone.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/parent.h"

enum { EXIT_NOT_STARTED = 127, EXIT_SIGNAL = 128 };

extern char **environ;

typedef struct {
    int64_t parent;    //  Process to watch
} keep_flags_t;

static const option_t s_flags [] = { { .name = "parent",
                                         .type = OPTION_INTEGER,
                                         .traits = OPTION_HIDDEN,
                                         .max = INT32_MAX,
                                         .offset = offsetof (keep_flags_t, parent),
                                         .doc = "Process whose end ends this one." },
    OPTIONS_END };

static int
s_start (const char *const *argv, pid_t *child)
{
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset (&none);
    sigfillset (&all);
    posix_spawnattr_init (&attributes);
    posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask (&attributes, &none);
    posix_spawnattr_setsigdefault (&attributes, &all);
    int failed = posix_spawnp (child, argv [0], NULL, &attributes, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy (&attributes);
    return failed;
}

static result_t
s_run (const invocation_t *invocation)
{
    const keep_flags_t *flags = invocation->flags;
    error_t error;
    sigset_t all;
    pid_t child;
    int status = 0;
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, NULL);
    if (flags->parent && parent_watch (flags->parent, &error) != STATUS_OK)
        command_complain (invocation->command, "%s", error.text);
    array_t argv;
    array_init (&argv, sizeof (const char *));
    array_append (&argv, invocation->words, invocation->count);
    array_add (&argv);
    int failed = s_start (argv.data, &child);
    array_fini (&argv);
    if (failed) {
        command_complain (invocation->command, "cannot start %s: %s", invocation->words [0], strerror (failed));
        return (result_t)EXIT_NOT_STARTED;
    }
    while (waitpid (child, &status, 0) < 0 && errno == EINTR)
        continue;
    return (result_t)(WIFSIGNALED (status) ? EXIT_SIGNAL + WTERMSIG (status) : WEXITSTATUS (status));
}

const command_t keep_command = {
    .name = "keep",
    .arguments = "-- COMMAND ...",
    .doc = "Run an engine beside its host.",
    .table = s_flags,
    .flags_size = sizeof (keep_flags_t),
    .hidden = true,
    .words_min = 1,
    .words_max = SIZE_MAX,
    .run = s_run,
};
