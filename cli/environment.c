#include "cli/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 16384, SECRET_MAX = 65536 };

static const char *
s_variable (void *arg, const char *name)
{
    return getenv (name);
}

status_t
environment_read_file (const char *path, size_t size_max, buffer_t *out, error_t *error)
{
    bool standard = strcmp (path, "-") == 0;
    FILE *file = standard ? stdin : fopen (path, "rb");
    if (!file)
        return error_set (
            error, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO, "cannot read '%s': %s", path, strerror (errno));
    status_t status = STATUS_OK;
    while (status == STATUS_OK) {
        size_t size = fread (buffer_reserve (out, PIECE), 1, PIECE, file);
        if (!size)
            break;
        buffer_commit (out, size);
        if (out->size > size_max)
            status =
                error_set (error, STATUS_LIMIT, "'%s' has more than %zu bytes; is it the right file?", path, size_max);
    }
    if (status == STATUS_OK && ferror (file))
        status = error_set (error, STATUS_IO, "cannot read '%s': %s", path, strerror (errno));
    if (!standard)
        fclose (file);
    return status;
}

bool
environment_write_file (int file, span_t bytes)
{
    bool good = true;
    while (bytes.size && good) {
        ssize_t size = write (file, bytes.data, bytes.size);
        good = size >= 0 || errno == EINTR;
        bytes = span_slice (bytes, size > 0 ? (size_t)size : 0, bytes.size);
    }
    good = good && fsync (file) == 0;
    int why = errno;
    bool closed = close (file) == 0;
    if (!good)
        errno = why;
    return good && closed;
}

static bool
s_can_run (const char *folder, size_t size, const char *name)
{
    buffer_t path = { 0 };
    struct stat file;
    buffer_print (&path, "%.*s%s%s", (int)size, folder, size ? "/" : "", name);
    const char *text = buffer_string (&path);
    bool can = stat (text, &file) == 0 && S_ISREG (file.st_mode) && access (text, X_OK) == 0;
    buffer_fini (&path);
    return can;
}

bool
environment_has_program (const char *name)
{
    const char *next = strchr (name, '/') ? "" : getenv ("PATH");
    bool found = next && !*next && s_can_run ("", 0, name);
    while (next && *next && !found) {
        size_t size = strcspn (next, ":");
        found = s_can_run (next, size, name);
        next += size + (next [size] == ':');
    }
    return found;
}

static status_t
s_read_file (void *arg, const char *path, buffer_t *out, error_t *error)
{
    return environment_read_file (path, SECRET_MAX, out, error);
}

const config_world_t environment_world = { .variable = s_variable, .read_file = s_read_file };
