//  disk - what survives a process, and what survives its machine
//
//  Files, stores and shared regions of one machine.  A crash of a process undoes what it had not committed.  A crash of
//  the machine also takes regions, and a drawn part of what was written but not synced: whole commits of a store, whole
//  appends of a file, the newest first.  The disk can be full.

#ifndef SIMULATOR_DISK_H
#define SIMULATOR_DISK_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/random.h"

typedef struct disk disk_t;
typedef struct disk_file disk_file_t;
typedef struct disk_store disk_store_t;
typedef struct disk_region disk_region_t;

//  Gives the disk; never NULL.
disk_t *disk_new (void);
void disk_destroy (disk_t **self_p);

//  bytes: it holds no more than this; UINT64_MAX for no bound.  What is there stays.
void disk_set_limit (disk_t *self, uint64_t bytes);
uint64_t disk_used (const disk_t *self);

//  The machine went down: loses what was not safe.
void disk_crash (disk_t *self, random_t *random);

//  Such a crash could take from a store what has been committed.
bool disk_is_unsafe (const disk_t *self);

//  How often a crash has taken from a store what had been committed.
uint64_t disk_torn (const disk_t *self);

//  ---- Files, by path ------------------------------------------------------------------------------------------------

//  NOT_FOUND, LIMIT (larger than size_max) or OK; appends to `out`.
status_t disk_read (disk_t *self, const char *path, size_t size_max, buffer_t *out, error_t *error);

//  The same of the first `size` bytes, or all of a shorter file.
status_t disk_read_front (disk_t *self, const char *path, size_t size, buffer_t *out, error_t *error);

//  Replaces the whole file, durably.  IO: the disk is full.
status_t disk_write (disk_t *self, const char *path, span_t bytes, error_t *error);

//  The file to append to; made where it is not there.  Borrowed.
disk_file_t *disk_file (disk_t *self, const char *path);

//  All or nothing.  IO: the disk is full.  now_ns: an append is safe from a crash of the machine 5 s later.
status_t disk_append (disk_t *self, disk_file_t *file, span_t bytes, uint64_t now_ns, error_t *error);

//  ---- Stores, by path: ordered keys with a journal of what can still be undone --------------------------------------

//  UNSUPPORTED: written in another format; EXISTS: open already.  Borrowed.
disk_store_t *disk_store_open (disk_t *self, const char *path, const char *format, uint64_t size_max, error_t *error);

//  Undoes what was not committed.
void disk_store_close (disk_store_t *self);

//  data NULL where there is none.  Borrowed until the next change.
span_t disk_store_get (const disk_store_t *self, span_t key);

//  LIMIT: size_max; IO: the disk is full.
status_t disk_store_put (disk_store_t *self, span_t key, span_t value, error_t *error);
void disk_store_delete (disk_store_t *self, span_t key);
status_t disk_store_commit (disk_store_t *self, bool sync, error_t *error);
bool disk_store_next (const disk_store_t *self, span_t from, bool after, span_t *key, span_t *value);

//  ---- Regions, by name ----------------------------------------------------------------------------------------------

//  EXISTS with create, NOT_FOUND without.  Held until disk_region_release.
disk_region_t *disk_region_acquire (disk_t *self, const char *name, size_t size, bool create, error_t *error);
void *disk_region_memory (const disk_region_t *self, size_t *size);

//  remove: the name goes; the memory stays as long as somebody holds it.
void disk_region_release (disk_region_t *self, bool remove);

#endif
