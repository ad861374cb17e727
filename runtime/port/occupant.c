#include "runtime/port/occupant.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_SIZE = 512, PATH_SIZE = 300, LISTENING = 0x0A, ACCEPTS = 0x10000 };

//  Finds in one line of a table under /proc/net the inode of the socket that is looked for; 0 where it is another.
typedef uint64_t (line_fn) (const char *line, const void *wanted);

static uint64_t
s_find_inode (const char *table, line_fn *match, const void *wanted)
{
    FILE *file = fopen (table, "re");
    if (!file)
        return 0;
    char line [LINE_SIZE];
    uint64_t inode = 0;
    while (!inode && fgets (line, sizeof line, file))
        inode = match (line, wanted);
    fclose (file);
    return inode;
}

//  "  sl  local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ..."
static uint64_t
s_match_tcp (const char *line, const void *wanted)
{
    unsigned port, state;
    uint64_t inode;
    int fields = sscanf (
        line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %" SCNu64, &port, &state, &inode);
    return fields == 3 && state == LISTENING && port == *(const uint16_t *)wanted ? inode : 0;
}

//  "Num RefCount Protocol Flags Type St Inode Path"; the sockets of accepted connections have the same path.
static uint64_t
s_match_unix (const char *line, const void *wanted)
{
    unsigned flags;
    uint64_t inode;
    int path_at = 0;
    if (sscanf (line, "%*s %*s %*s %x %*s %*s %" SCNu64 " %n", &flags, &inode, &path_at) != 2 || !path_at)
        return 0;
    if (!(flags & ACCEPTS))
        return 0;
    const char *path = wanted;
    size_t size = strlen (path);
    return strncmp (line + path_at, path, size) == 0 && line [path_at + (int)size] == '\n' ? inode : 0;
}

static bool
s_process_has (const char *pid, const char *link)
{
    char path [PATH_SIZE], target [PATH_SIZE];
    snprintf (path, sizeof path, "/proc/%s/fd", pid);
    DIR *folder = opendir (path);
    if (!folder)
        return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir (folder)) != NULL;) {
        ssize_t size = readlinkat (dirfd (folder), entry->d_name, target, sizeof target - 1);
        if (size < 0)
            continue;
        target [size] = '\0';
        found = strcmp (target, link) == 0;
    }
    closedir (folder);
    return found;
}

static void
s_describe_process (long pid, char text [OCCUPANT_TEXT_MAX])
{
    if (pid == (long)getpid ()) {
        snprintf (text, OCCUPANT_TEXT_MAX, "this process");
        return;
    }
    char path [PATH_SIZE], name [32] = "?";
    snprintf (path, sizeof path, "/proc/%ld/comm", pid);
    FILE *file = fopen (path, "re");
    if (file) {
        if (fgets (name, sizeof name, file))
            name [strcspn (name, "\n")] = '\0';
        fclose (file);
    }
    snprintf (text, OCCUPANT_TEXT_MAX, "%s (pid %ld)", name, pid);
}

static void
s_describe_inode (uint64_t inode, char text [OCCUPANT_TEXT_MAX])
{
    snprintf (text, OCCUPANT_TEXT_MAX, "an unknown process");
    DIR *folder = inode ? opendir ("/proc") : NULL;
    if (!folder)
        return;
    char link [64];
    snprintf (link, sizeof link, "socket:[%" PRIu64 "]", inode);
    for (struct dirent *entry; (entry = readdir (folder)) != NULL;) {
        long pid = strtol (entry->d_name, NULL, 10);
        if (pid > 0 && s_process_has (entry->d_name, link)) {
            s_describe_process (pid, text);
            break;
        }
    }
    closedir (folder);
}

void
occupant_of_tcp (uint16_t port, char text [OCCUPANT_TEXT_MAX])
{
    uint64_t inode = s_find_inode ("/proc/net/tcp", s_match_tcp, &port);
    if (!inode)
        inode = s_find_inode ("/proc/net/tcp6", s_match_tcp, &port);
    s_describe_inode (inode, text);
}

static bool
s_somebody_answers (const struct sockaddr_un *address)
{
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return true;
    bool answers =
        connect (fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN || errno == EACCES;
    close (fd);
    return answers;
}

status_t
occupant_free_unix_path (const char *path, error_t *error)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen (path) >= sizeof address.sun_path)
        return error_set (error, STATUS_LIMIT, "%s: a socket's path may have at most %zu bytes, this one has %zu", path,
            sizeof address.sun_path - 1, strlen (path));
    memcpy (address.sun_path, path, strlen (path));
    struct stat info;
    if (lstat (path, &info) != 0)
        return STATUS_OK;
    if (!S_ISSOCK (info.st_mode))
        return error_set (error, STATUS_EXISTS, "%s is there and is not a socket", path);
    if (s_somebody_answers (&address)) {
        char occupant [OCCUPANT_TEXT_MAX];
        s_describe_inode (s_find_inode ("/proc/net/unix", s_match_unix, path), occupant);
        return error_set (error, STATUS_EXISTS, "%s is held by %s", path, occupant);
    }
    if (unlink (path) != 0)
        return error_set (
            error, STATUS_IO, "%s is a socket nobody holds and cannot be removed: %s", path, strerror (errno));
    return STATUS_OK;
}
