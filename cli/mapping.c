#include "cli/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static status_t
s_fail (const char *path, error_t *error)
{
    return error_set (
        error, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO, "cannot read '%s': %s", path, strerror (errno));
}

status_t
mapping_open (mapping_t *self, const char *path, error_t *error)
{
    struct stat about;
    *self = (mapping_t){ 0 };
    int file = open (path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat (file, &about) < 0) {
        status_t status = s_fail (path, error);
        if (file >= 0)
            close (file);
        return status;
    }
    void *memory = about.st_size > 0 ? mmap (NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0) : NULL;
    status_t status = memory == MAP_FAILED ? s_fail (path, error) : STATUS_OK;
    close (file);
    if (!status)
        self->bytes = span_of (memory, (size_t)about.st_size);
    return status;
}

void
mapping_close (mapping_t *self)
{
    if (self->bytes.size)
        munmap ((void *)self->bytes.data, self->bytes.size);
    *self = (mapping_t){ 0 };
}
