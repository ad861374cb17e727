#include "runtime/port/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { NAME_SIZE = 202, MODE_OWNER = 0600 };

struct port_region {
    char name [NAME_SIZE];    //  As the system knows it, with a slash in front
    void *memory;             //  Where it is mapped
    size_t size;              //  Bytes
};

static status_t
s_fail (error_t *error, const char *name, int reason)
{
    status_t status = reason == EEXIST ? STATUS_EXISTS : reason == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
    return error_set (error, status, "cannot open shared memory %s: %s", name + 1, strerror (reason));
}

//  The pages are claimed now: otherwise a full /dev/shm would be a SIGBUS at some later touch.
static status_t
s_make (port_region_t *self, int fd, error_t *error)
{
    int reason = posix_fallocate (fd, 0, (off_t)self->size);
    return reason ? s_fail (error, self->name, reason) : STATUS_OK;
}

static status_t
s_measure (port_region_t *self, int fd, error_t *error)
{
    struct stat info;
    if (fstat (fd, &info) != 0)
        return s_fail (error, self->name, errno);
    if ((uint64_t)info.st_size < self->size)
        return error_set (error, STATUS_INVALID, "shared memory %s has %lld bytes, not %zu", self->name + 1,
            (long long)info.st_size, self->size);
    self->size = self->size ? self->size : (size_t)info.st_size;
    return STATUS_OK;
}

static status_t
s_map (port_region_t *self, int fd, error_t *error)
{
    void *memory = mmap (NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return s_fail (error, self->name, errno);
    self->memory = memory;
    return STATUS_OK;
}

static status_t
s_open (port_region_t *self, bool create, error_t *error)
{
    int fd = shm_open (self->name, O_RDWR | (create ? O_CREAT | O_EXCL : 0), MODE_OWNER);
    if (fd < 0)
        return s_fail (error, self->name, errno);
    status_t status = create ? s_make (self, fd, error) : s_measure (self, fd, error);
    if (status == STATUS_OK)
        status = s_map (self, fd, error);
    if (status != STATUS_OK && create)
        shm_unlink (self->name);
    close (fd);
    return status;
}

port_region_t *
region_open (const char *name, size_t size, bool create, error_t *error)
{
    if (!name [0] || strlen (name) > NAME_SIZE - 2 || strchr (name, '/') || (create && !size)) {
        error_set (error, STATUS_INVALID, "shared memory needs a name of 1 to %d bytes without a slash, and a size",
            NAME_SIZE - 2);
        return NULL;
    }
    port_region_t *self = memory_new (sizeof *self);
    snprintf (self->name, sizeof self->name, "/%s", name);
    self->size = size;
    if (s_open (self, create, error) != STATUS_OK) {
        memory_free (self);
        return NULL;
    }
    return self;
}

void *
region_memory (const port_region_t *self, size_t *size)
{
    *size = self->size;
    return self->memory;
}

void
region_close (port_region_t *self, bool remove)
{
    munmap (self->memory, self->size);
    if (remove)
        shm_unlink (self->name);
    memory_free (self);
}
