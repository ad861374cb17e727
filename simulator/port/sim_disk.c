#include "simulator/port/sim_private.h"

#include "base/memory.h"
#include "simulator/disk.h"

struct port_store {
    sim_port_t *port;       //  Whose
    disk_store_t *store;    //  On the machine's disk
};

struct port_file {
    sim_port_t *port;     //  Whose
    disk_file_t *file;    //  On the machine's disk
};

struct port_region {
    sim_port_t *port;         //  Whose
    disk_region_t *region;    //  Of the machine
};

static disk_t *
s_disk (const sim_port_t *self)
{
    return realm_machine_disk (realm_process_machine (self->process));
}

//  A crashed process leaves no trace in what it does while its memory is freed.
static status_t
s_check_not_crashed (const sim_port_t *self, error_t *error)
{
    return self->crashed ? error_set (error, STATUS_IO, "the process has crashed") : STATUS_OK;
}

//  ---- Stores --------------------------------------------------------------------------------------------------------

port_store_t *
sim_store_open (port_t *port_, const store_options_t *options, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    char *path = sim_path (port, options->name);
    disk_store_t *store = disk_store_open (s_disk (port), path, options->format, options->size_max, error);
    memory_free (path);
    if (!store)
        return NULL;
    port_store_t *self = memory_new (sizeof *self);
    *self = (port_store_t){ port, store };
    port->open_count++;
    return self;
}

span_t
sim_store_get (port_store_t *self, span_t key)
{
    return disk_store_get (self->store, key);
}

status_t
sim_store_put (port_store_t *self, span_t key, span_t value, error_t *error)
{
    return disk_store_put (self->store, key, value, error);
}

status_t
sim_store_delete (port_store_t *self, span_t key, error_t *error)
{
    disk_store_delete (self->store, key);
    return STATUS_OK;
}

status_t
sim_store_commit (port_store_t *self, bool sync, error_t *error)
{
    status_t status = s_check_not_crashed (self->port, error);
    return status == STATUS_OK ? disk_store_commit (self->store, sync, error) : status;
}

bool
sim_store_next (port_store_t *self, span_t from, bool after, span_t *key, span_t *value)
{
    return disk_store_next (self->store, from, after, key, value);
}

void
sim_store_close (port_store_t *self)
{
    disk_store_close (self->store);
    self->port->open_count--;
    memory_free (self);
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

status_t
sim_file_read (port_t *port_, const char *path, size_t size_max, buffer_t *out, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    char *whole = sim_path (port, path);
    status_t status = disk_read (s_disk (port), whole, size_max, out, error);
    memory_free (whole);
    return status;
}

status_t
sim_file_read_front (port_t *port_, const char *path, size_t size, buffer_t *out, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    char *whole = sim_path (port, path);
    status_t status = disk_read_front (s_disk (port), whole, size, out, error);
    memory_free (whole);
    return status;
}

status_t
sim_file_write (port_t *port_, const char *path, span_t bytes, bool secret, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    status_t status = s_check_not_crashed (port, error);
    if (status != STATUS_OK)
        return status;
    char *whole = sim_path (port, path);
    status = disk_write (s_disk (port), whole, bytes, error);
    memory_free (whole);
    return status;
}

port_file_t *
sim_file_open (port_t *port_, const char *path, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    char *whole = sim_path (port, path);
    port_file_t *self = memory_new (sizeof *self);
    *self = (port_file_t){ port, disk_file (s_disk (port), whole) };
    memory_free (whole);
    port->open_count++;
    return self;
}

status_t
sim_file_append (port_file_t *self, span_t bytes, error_t *error)
{
    status_t status = s_check_not_crashed (self->port, error);
    if (status != STATUS_OK)
        return status;
    return disk_append (s_disk (self->port), self->file, bytes, realm_now (self->port->realm), error);
}

void
sim_file_close (port_file_t *self)
{
    self->port->open_count--;
    memory_free (self);
}

//  ---- Regions -------------------------------------------------------------------------------------------------------

port_region_t *
sim_region_open (port_t *port_, const char *name, size_t size, bool create, error_t *error)
{
    sim_port_t *port = sim_port_of (port_);
    disk_region_t *region = disk_region_acquire (s_disk (port), name, size, create, error);
    if (!region)
        return NULL;
    port_region_t *self = memory_new (sizeof *self);
    *self = (port_region_t){ port, region };
    port->open_count++;
    return self;
}

void *
sim_region_memory (const port_region_t *self, size_t *size)
{
    return disk_region_memory (self->region, size);
}

void
sim_region_close (port_region_t *self, bool remove)
{
    disk_region_release (self->region, remove && !self->port->crashed);
    self->port->open_count--;
    memory_free (self);
}
