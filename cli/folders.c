#include "cli/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/environment.h"

enum { PID_TEXT_MAX = 32 };

//  ---- Names ---------------------------------------------------------------------------------------------------------

static const char *
s_variable (const char *name)
{
    const char *value = getenv (name);
    return value && *value == '/' ? value : NULL;
}

static status_t
s_absolute (const char *path, char *out, error_t *error)
{
    char here [FOLDER_PATH_MAX];
    int size = snprintf (out, FOLDER_PATH_MAX, "%s", path);
    if (*path != '/') {
        if (!getcwd (here, sizeof here))
            return error_set (error, STATUS_IO, "cannot tell the current folder: %s", strerror (errno));
        size = snprintf (out, FOLDER_PATH_MAX, "%s/%s", here, path);
    }
    return size < FOLDER_PATH_MAX ? STATUS_OK
                                  : error_set (error, STATUS_LIMIT, "the folder's name is too long: %.100s ...", path);
}

static status_t
s_find_run (char *out, const manifest_cluster_t *cluster, error_t *error)
{
    const char *runtime = s_variable ("XDG_RUNTIME_DIR"), *temporary = s_variable ("TMPDIR");
    char path [FOLDER_PATH_MAX], name [FOLDER_PATH_MAX];
    snprintf (name, sizeof name, "%s%s%s", cluster->name, *cluster->host ? "@" : "", cluster->host);
    if (*cluster->run_dir)
        return s_absolute (cluster->run_dir, out, error);
    if (runtime)
        snprintf (path, sizeof path, "%s/stator/%s", runtime, name);
    else
        snprintf (path, sizeof path, "%s/stator-%u/%s", temporary ? temporary : "/tmp", (unsigned)getuid (), name);
    return s_absolute (path, out, error);
}

static status_t
s_find_state (char *out, const manifest_cluster_t *cluster, error_t *error)
{
    const char *state = s_variable ("XDG_STATE_HOME"), *home = s_variable ("HOME");
    char path [FOLDER_PATH_MAX];
    if (*cluster->state_dir)
        return s_absolute (cluster->state_dir, out, error);
    if (!state && !home)
        return error_set (
            error, STATUS_INVALID, "neither XDG_STATE_HOME nor HOME is set: name a folder with --state-dir");
    snprintf (path, sizeof path, "%s%s/stator/%s", state ? state : home, state ? "" : "/.local/state", cluster->name);
    return s_absolute (path, out, error);
}

status_t
folders_find (folders_t *self, const manifest_cluster_t *cluster, error_t *error)
{
    status_t status = s_find_run (self->run, cluster, error);
    return status == STATUS_OK ? s_find_state (self->state, cluster, error) : status;
}

void
folders_path (const folders_t *self, const char *name, char *out, size_t size)
{
    snprintf (out, size, "%s/%s", self->run, name);
}

bool
folders_find_host (const folders_t *self, const char *name, char host [FOLDER_PATH_MAX])
{
    char parent [FOLDER_PATH_MAX], file [2 * FOLDER_PATH_MAX];
    snprintf (parent, sizeof parent, "%s", self->run);
    char *cluster = strrchr (parent, '/');
    if (!cluster)
        return false;
    *cluster++ = '\0';
    size_t size = strcspn (cluster, "@");
    DIR *listing = opendir (parent);
    bool found = false;
    for (struct dirent *entry; listing && !found && (entry = readdir (listing));) {
        if (strncmp (entry->d_name, cluster, size) != 0 || entry->d_name [size] != '@')
            continue;
        snprintf (file, sizeof file, "%s/%s/%s", parent, entry->d_name, name);
        snprintf (host, FOLDER_PATH_MAX, "%s", entry->d_name + size + 1);
        found = access (file, F_OK) == 0;
    }
    if (listing)
        closedir (listing);
    return found;
}

//  ---- Making --------------------------------------------------------------------------------------------------------

//  The last folder of the path must be ours alone; those above it only have to be there.
static status_t
s_make (const char *path, error_t *error)
{
    char part [FOLDER_PATH_MAX];
    struct stat found;
    for (const char *slash = strchr (path + 1, '/');; slash = strchr (slash + 1, '/')) {
        snprintf (part, sizeof part, "%.*s", slash ? (int)(slash - path) : (int)strlen (path), path);
        if (mkdir (part, 0700) != 0 && errno != EEXIST)
            return error_set (error, STATUS_IO, "cannot make the folder %s: %s", part, strerror (errno));
        if (!slash)
            break;
    }
    if (lstat (path, &found) != 0 || !S_ISDIR (found.st_mode))
        return error_set (error, STATUS_IO, "%s is no folder", path);
    if (found.st_uid != getuid ())
        return error_set (error, STATUS_REFUSED, "the folder %s belongs to somebody else", path);
    if ((found.st_mode & 077) && chmod (path, 0700) != 0)
        return error_set (error, STATUS_IO, "cannot keep others out of %s: %s", path, strerror (errno));
    return STATUS_OK;
}

status_t
folders_make (const folders_t *self, error_t *error)
{
    status_t status = s_make (self->run, error);
    return status == STATUS_OK ? s_make (self->state, error) : status;
}

status_t
folders_lock (const folders_t *self, int *lock, error_t *error)
{
    char path [FOLDER_PATH_MAX], pid [PID_TEXT_MAX] = "";
    folders_path (self, FOLDERS_LOCK, path, sizeof path);
    int file = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return error_set (error, STATUS_IO, "cannot open %s: %s", path, strerror (errno));
    if (flock (file, LOCK_EX | LOCK_NB) != 0) {
        ssize_t size = read (file, pid, sizeof pid - 1);
        close (file);
        return error_set (error, STATUS_EXISTS,
            "a fleet runs in %s already (process %.*s); stop it, or give this one another cluster.name (--cluster)",
            self->run, size > 0 ? (int)size : 1, size > 0 ? pid : "?");
    }
    int size = snprintf (pid, sizeof pid, "%ld", (long)getpid ());
    if (ftruncate (file, 0) != 0 || write (file, pid, (size_t)size) != size) {
        error_set (error, STATUS_IO, "cannot write %s: %s", path, strerror (errno));
        close (file);
        return error->status;
    }
    if (*lock >= 0)
        close (*lock);
    *lock = file;
    return STATUS_OK;
}

static status_t
s_write (const char *folder, const char *name, span_t bytes, error_t *error)
{
    char path [FOLDER_PATH_MAX], fresh [FOLDER_PATH_MAX];
    snprintf (path, sizeof path, "%s/%s", folder, name);
    snprintf (fresh, sizeof fresh, "%s/%s.%ld", folder, name, (long)getpid ());
    int file = open (fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0 && environment_write_file (file, bytes) && rename (fresh, path) == 0)
        return STATUS_OK;
    error_set (error, STATUS_IO, "cannot write %s: %s", path, strerror (errno));
    unlink (fresh);
    return STATUS_IO;
}

status_t
folders_write (const folders_t *self, const char *name, span_t bytes, error_t *error)
{
    return s_write (self->run, name, bytes, error);
}

status_t
folders_secret (const folders_t *self, bool make, uint8_t secret [SECRET_SIZE], error_t *error)
{
    char path [FOLDER_PATH_MAX];
    snprintf (path, sizeof path, "%s/secret", self->state);
    int file = open (path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT && !make)
        return error_set (error, STATUS_NOT_FOUND,
            "%s is not there: it is the cluster's, one for all hosts; copy it from the host that runs the core", path);
    if (file < 0 && errno == ENOENT) {
        randombytes_buf (secret, SECRET_SIZE);
        return s_write (self->state, "secret", span_of (secret, SECRET_SIZE), error);
    }
    if (file < 0)
        return error_set (error, STATUS_IO, "cannot read %s: %s", path, strerror (errno));
    struct stat found;
    if (fstat (file, &found) == 0 && (found.st_mode & 077)) {
        close (file);
        return error_set (error, STATUS_REFUSED, "%s can be read by others than its owner: chmod 600 %s", path, path);
    }
    ssize_t size = read (file, secret, SECRET_SIZE);
    close (file);
    return size == SECRET_SIZE
               ? STATUS_OK
               : error_set (error, STATUS_CORRUPT, "%s is cut short; delete it to begin with a new secret", path);
}
