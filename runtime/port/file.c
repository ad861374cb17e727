#include "runtime/port/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { MODE_FOLDER = 0700, MODE_FILE = 0644, MODE_SECRET = 0600, READ_STEP = 64 << 10 };

struct port_file {
    int fd;        //  Opened for appending
    char *path;    //  For sentences
};

//  ---- Helpers -------------------------------------------------------------------------------------------------------

static status_t
s_fail (error_t *error, const char *what, const char *path, int reason)
{
    status_t status = reason == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
    return error_set (error, status, "cannot %s %s: %s", what, path, strerror (reason));
}

char *
file_path (const char *folder, const char *path)
{
    if (path [0] == '/')
        return memory_copy_string (path);
    buffer_t whole = { 0 };
    buffer_print (&whole, "%s/%s", folder, path);
    char *result = memory_copy_string (buffer_string (&whole));
    buffer_fini (&whole);
    return result;
}

status_t
file_make_folders (const char *path, error_t *error)
{
    char *folder = memory_copy_string (path);
    status_t status = STATUS_OK;
    for (char *slash = strchr (folder + 1, '/'); slash && status == STATUS_OK; slash = strchr (slash + 1, '/')) {
        *slash = '\0';
        if (mkdir (folder, MODE_FOLDER) != 0 && errno != EEXIST)
            status = error_set (error, STATUS_IO, "cannot make folder %s: %s", folder, strerror (errno));
        *slash = '/';
    }
    memory_free (folder);
    return status;
}

//  All of it, or the reason why not.
static int
s_write_all (int fd, span_t bytes)
{
    while (bytes.size) {
        ssize_t written = write (fd, bytes.data, bytes.size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        bytes = span_slice (bytes, (size_t)written, bytes.size);
    }
    return 0;
}

//  ---- Reading -------------------------------------------------------------------------------------------------------

//  At most `size` bytes.  The file may grow meanwhile.
static int
s_read_up_to (int fd, size_t size, buffer_t *out)
{
    while (size) {
        size_t step = size < READ_STEP ? size : READ_STEP;
        ssize_t got = read (fd, buffer_reserve (out, step), step);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0;
        buffer_commit (out, (size_t)got);
        size -= (size_t)got;
    }
    return 0;
}

//  Nobody waits for what others may write into a pipe: it is read as far as it is full.
static status_t
s_read (const char *path, size_t size, buffer_t *out, error_t *error)
{
    size_t start = out->size;
    int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int reason = fd < 0 ? errno : s_read_up_to (fd, size, out);
    if (reason)
        out->size = start;
    if (fd >= 0)
        close (fd);
    return reason ? s_fail (error, "read", path, reason) : STATUS_OK;
}

//  One byte more than allowed is asked for, so that too much is seen.
status_t
file_read (const char *folder, const char *path, size_t size_max, buffer_t *out, error_t *error)
{
    char *whole = file_path (folder, path);
    size_t start = out->size;
    status_t status = s_read (whole, size_max + 1, out, error);
    if (out->size - start > size_max) {
        status = error_set (error, STATUS_LIMIT, "%s is larger than %zu bytes", whole, size_max);
        out->size = start;
    }
    memory_free (whole);
    return status;
}

status_t
file_read_front (const char *folder, const char *path, size_t size, buffer_t *out, error_t *error)
{
    char *whole = file_path (folder, path);
    status_t status = s_read (whole, size, out, error);
    memory_free (whole);
    return status;
}

//  ---- Writing -------------------------------------------------------------------------------------------------------

static int
s_write_file (const char *path, span_t bytes, int mode)
{
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return errno;
    int reason = fchmod (fd, (mode_t)mode) != 0 ? errno : s_write_all (fd, bytes);
    if (!reason && fsync (fd) != 0)
        reason = errno;
    if (close (fd) != 0 && !reason)
        reason = errno;
    return reason;
}

//  The name is durable once its folder is.
static int
s_sync_folder_of (char *path)
{
    char *slash = strrchr (path, '/');
    *slash = '\0';
    int fd = open (slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (fd < 0)
        return errno;
    int reason = fsync (fd) != 0 ? errno : 0;
    close (fd);
    return reason;
}

static int
s_replace (char *path, const char *beside, span_t bytes, int mode)
{
    int reason = s_write_file (beside, bytes, mode);
    if (!reason && rename (beside, path) != 0)
        reason = errno;
    if (reason) {
        unlink (beside);
        return reason;
    }
    return s_sync_folder_of (path);
}

status_t
file_write (const char *folder, const char *path, span_t bytes, bool secret, error_t *error)
{
    char *whole = file_path (folder, path);
    buffer_t beside = { 0 };
    buffer_print (&beside, "%s.%ld.new", whole, (long)getpid ());
    status_t status = file_make_folders (whole, error);
    if (status == STATUS_OK) {
        int reason = s_replace (whole, buffer_string (&beside), bytes, secret ? MODE_SECRET : MODE_FILE);
        if (reason)
            status = s_fail (error, "write", whole, reason);
    }
    buffer_fini (&beside);
    memory_free (whole);
    return status;
}

//  ---- Growing -------------------------------------------------------------------------------------------------------

port_file_t *
file_open (const char *folder, const char *path, error_t *error)
{
    char *whole = file_path (folder, path);
    int fd = -1;
    if (file_make_folders (whole, error) == STATUS_OK) {
        fd = open (whole, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, MODE_FILE);
        if (fd < 0)
            s_fail (error, "open", whole, errno);
    }
    if (fd < 0) {
        memory_free (whole);
        return NULL;
    }
    port_file_t *self = memory_new (sizeof *self);
    *self = (port_file_t){ .fd = fd, .path = whole };
    return self;
}

status_t
file_append (port_file_t *self, span_t bytes, error_t *error)
{
    off_t end = lseek (self->fd, 0, SEEK_END);
    int reason = s_write_all (self->fd, bytes);
    if (!reason)
        return STATUS_OK;
    //  What is there of it goes away again.  A device has no size to go back to.
    if (end >= 0 && ftruncate (self->fd, end) != 0 && errno != EINVAL)
        reason = errno;
    return s_fail (error, "append to", self->path, reason);
}

void
file_close (port_file_t *self)
{
    close (self->fd);
    memory_free (self->path);
    memory_free (self);
}
