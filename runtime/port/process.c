#define _GNU_SOURCE

#include "runtime/port/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/file.h"

struct port_process {
    list_link_t link;                         //  In the list of closed ones
    processes_t *processes;                   //  Whose it is
    pid_t id;                                 //  Of the child, and of its group
    int pidfd;                                //  Readable when it has ended
    struct event *event;                      //  Watches pidfd
    bool is_running;                          //  Not reaped yet
    bool is_closed;                           //  Freed when reaped
    void (*on_exit) (void *arg, int code);    //  Of the options
    void *arg;                                //  For on_exit
};

//  ---- The end -------------------------------------------------------------------------------------------------------

static void
s_free (port_process_t *self)
{
    event_free (self->event);
    close (self->pidfd);
    memory_free (self);
}

//  While the leader is not reaped its group's number cannot become somebody else's: so the rest of the group is killed
//  first.
static int
s_reap (port_process_t *self)
{
    siginfo_t info = { 0 };
    kill (-self->id, SIGKILL);
    BUG_ON (waitid (P_PIDFD, (id_t)self->pidfd, &info, WEXITED) != 0);
    self->is_running = false;
    event_del (self->event);
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static void
s_on_end (evutil_socket_t fd, short what, void *arg)
{
    port_process_t *self = arg;
    int code = s_reap (self);
    if (self->is_closed) {
        list_remove (&self->processes->closed, &self->link);
        s_free (self);
    } else if (self->on_exit)
        self->on_exit (self->arg, code);
}

static const int s_signals [] = {
    [PROCESS_SIGNAL_TERM] = SIGTERM,
    [PROCESS_SIGNAL_KILL] = SIGKILL,
    [PROCESS_SIGNAL_STOP] = SIGSTOP,
    [PROCESS_SIGNAL_CONT] = SIGCONT,
    [PROCESS_SIGNAL_HUP] = SIGHUP,
};

void
process_signal (port_process_t *self, process_signal_t signal)
{
    if (self->is_running)
        kill (-self->id, s_signals [signal]);
}

int64_t
process_id (const port_process_t *self)
{
    return self->id;
}

void
process_close (port_process_t *self)
{
    if (!self->is_running) {
        s_free (self);
        return;
    }
    kill (-self->id, SIGKILL);
    self->is_closed = true;
    list_append (&self->processes->closed, &self->link);
}

//  ---- The start -----------------------------------------------------------------------------------------------------

static bool
s_has_name_of (const char *entry, const char *other)
{
    size_t size = strcspn (other, "=");
    return strncmp (entry, other, size) == 0 && entry [size] == '=';
}

static bool
s_is_replaced (const char *entry, const char *const *added)
{
    for (; added && *added; added++)
        if (s_has_name_of (entry, *added))
            return true;
    return false;
}

//  Our own environment, with what is added instead of what has the same name.  An array of char *, NULL at the end.
static void
s_merge_environment (array_t *result, const char *const *added)
{
    array_init (result, sizeof (const char *));
    for (char **entry = environ; *entry; entry++)
        if (!s_is_replaced (*entry, added))
            array_append (result, entry, 1);
    for (; added && *added; added++)
        array_append (result, added, 1);
    array_add (result);
}

//  No descriptor of ours, no signal mask or handler of ours, nothing to read.
static void
s_prepare (posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, const char *folder, const char *output)
{
    sigset_t none, all;
    sigemptyset (&none);
    sigfillset (&all);
    posix_spawnattr_init (attributes);
    posix_spawnattr_setflags (attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup (attributes, 0);
    posix_spawnattr_setsigmask (attributes, &none);
    posix_spawnattr_setsigdefault (attributes, &all);
    posix_spawn_file_actions_init (actions);
    posix_spawn_file_actions_addopen (actions, 0, "/dev/null", O_RDONLY, 0);
    if (output) {
        posix_spawn_file_actions_addopen (actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0644);
        posix_spawn_file_actions_adddup2 (actions, 1, 2);
    }
    posix_spawn_file_actions_addclosefrom_np (actions, 3);
    if (folder)
        posix_spawn_file_actions_addchdir_np (actions, folder);
}

static int
s_spawn (pid_t *id, const process_options_t *options, const char *output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    array_t environment;
    s_prepare (&actions, &attributes, options->folder, output);
    s_merge_environment (&environment, options->environment);
    int reason = posix_spawnp (
        id, options->argv [0], &actions, &attributes, (char *const *)options->argv, (char *const *)environment.data);
    array_fini (&environment);
    posix_spawnattr_destroy (&attributes);
    posix_spawn_file_actions_destroy (&actions);
    return reason;
}

static status_t
s_fail (error_t *error, const process_options_t *options, int reason)
{
    status_t status = reason == ENOENT ? STATUS_NOT_FOUND : reason == EACCES ? STATUS_REFUSED : STATUS_IO;
    return error_set (error, status, "cannot start %s%s%s: %s", options->argv [0], options->folder ? " in " : "",
        options->folder ? options->folder : "", strerror (reason));
}

static port_process_t *
s_watch (processes_t *processes, const process_options_t *options, pid_t id, error_t *error)
{
    int pidfd = pidfd_open (id, 0);
    if (pidfd < 0) {
        error_set (error, STATUS_UNSUPPORTED, "cannot watch processes: pidfd_open: %s", strerror (errno));
        kill (-id, SIGKILL);
        waitpid (id, NULL, 0);
        return NULL;
    }
    port_process_t *self = memory_new (sizeof *self);
    *self = (port_process_t){ .processes = processes,
        .id = id,
        .pidfd = pidfd,
        .is_running = true,
        .on_exit = options->on_exit,
        .arg = options->arg };
    self->event = loop_event (processes->loop, pidfd, EV_READ | EV_PERSIST, s_on_end, self);
    BUG_ON (event_add (self->event, NULL) != 0);
    return self;
}

port_process_t *
process_start (processes_t *processes, const process_options_t *options, error_t *error)
{
    char *output = options->output ? file_path (processes->folder, options->output) : NULL;
    pid_t id;
    port_process_t *self = NULL;
    if (!output || file_make_folders (output, error) == STATUS_OK) {
        int reason = s_spawn (&id, options, output);
        if (reason)
            s_fail (error, options, reason);
        else
            self = s_watch (processes, options, id, error);
    }
    memory_free (output);
    return self;
}

//  ---- All of a port -------------------------------------------------------------------------------------------------

void
processes_init (processes_t *self, loop_t *loop, const char *folder)
{
    *self = (processes_t){ .loop = loop, .folder = folder };
    list_init (&self->closed);
}

void
processes_fini (processes_t *self)
{
    for (list_link_t *link; (link = list_take_first (&self->closed)) != NULL;)
        s_free (LIST_ENTRY (link, port_process_t, link));
}
