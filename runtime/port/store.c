#include "runtime/port/store.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/file.h"

enum { MODE_OWNER = 0600, DATABASES = 2 };

#define SIZE_DEFAULT (1ull << 30)

struct port_store {
    char *path;         //  Of the file
    int lock;           //  Descriptor whose lock keeps others out
    MDB_env *env;       //  The file
    MDB_dbi records;    //  Keys and values
    MDB_txn *write;     //  Open from the first put to the commit; NULL otherwise
    MDB_txn *read;      //  Renewed for every read outside of `write`
    bool is_reading;    //  `read` is active
    status_t doomed;    //  Why the open transaction was lost; STATUS_OK where it was not
    error_t reason;     //  The sentence of it
};

//  ---- Errors --------------------------------------------------------------------------------------------------------

static status_t
s_status_of (int rc)
{
    switch (rc) {
    case MDB_NOTFOUND:
        return STATUS_NOT_FOUND;
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
        return STATUS_LIMIT;
    case MDB_BAD_VALSIZE:
        return STATUS_INVALID;
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_PANIC:
    case MDB_INCOMPATIBLE:
        return STATUS_CORRUPT;
    default:
        return STATUS_IO;
    }
}

static status_t
s_fail (const port_store_t *self, error_t *error, const char *what, int rc)
{
    status_t status = s_status_of (rc);
    if (status == STATUS_CORRUPT)
        return error_set (
            error, status, "%s is damaged (%s); delete it to start afresh", self->path, mdb_strerror (rc));
    if (status == STATUS_LIMIT)
        return error_set (error, status, "%s is full: raise its size", self->path);
    return error_set (error, status, "cannot %s %s: %s", what, self->path, mdb_strerror (rc));
}

//  The transaction is lost as a whole: LMDB allows nothing but to abort it.
static status_t
s_doom (port_store_t *self, error_t *error, const char *what, int rc)
{
    self->doomed = s_fail (self, &self->reason, what, rc);
    mdb_txn_abort (self->write);
    self->write = NULL;
    return error_set (error, self->doomed, "%s", self->reason.text);
}

//  ---- Transactions --------------------------------------------------------------------------------------------------

static void
s_end_read (port_store_t *self)
{
    if (self->is_reading)
        mdb_txn_reset (self->read);
    self->is_reading = false;
}

//  The transaction to read in: the open one, or the state of now.
static MDB_txn *
s_reader (port_store_t *self)
{
    if (self->write)
        return self->write;
    s_end_read (self);
    BUG_ON (mdb_txn_renew (self->read) != 0);
    self->is_reading = true;
    return self->read;
}

static status_t
s_writer (port_store_t *self, error_t *error)
{
    if (self->doomed != STATUS_OK)
        return error_set (error, self->doomed, "%s", self->reason.text);
    if (self->write)
        return STATUS_OK;
    s_end_read (self);
    int rc = mdb_txn_begin (self->env, NULL, 0, &self->write);
    return rc ? s_fail (self, error, "write to", rc) : STATUS_OK;
}

static MDB_val
s_val (span_t span)
{
    return (MDB_val){ .mv_size = span.size, .mv_data = (void *)(uintptr_t)span.data };
}

status_t
store_commit (port_store_t *self, bool sync, error_t *error)
{
    status_t status = self->doomed;
    if (status != STATUS_OK) {
        self->doomed = STATUS_OK;
        return error_set (error, status, "%s", self->reason.text);
    }
    int rc = self->write ? mdb_txn_commit (self->write) : 0;
    self->write = NULL;
    if (!rc && sync)
        rc = mdb_env_sync (self->env, 1);
    return rc ? s_fail (self, error, "commit to", rc) : STATUS_OK;
}

//  ---- Records -------------------------------------------------------------------------------------------------------

static status_t
s_check_key (const port_store_t *self, span_t key, error_t *error)
{
    size_t limit = (size_t)mdb_env_get_maxkeysize (self->env);
    if (key.size && key.size <= limit)
        return STATUS_OK;
    return error_set (error, STATUS_INVALID, "%s: a key has 1 to %zu bytes, not %zu", self->path, limit, key.size);
}

span_t
store_get (port_store_t *self, span_t key)
{
    MDB_val name = s_val (key), value;
    if (mdb_get (s_reader (self), self->records, &name, &value) != 0)
        return span_of (NULL, 0);
    return span_of (value.mv_data, value.mv_size);
}

status_t
store_put (port_store_t *self, span_t key, span_t value, error_t *error)
{
    status_t status = s_check_key (self, key, error);
    if (status == STATUS_OK)
        status = s_writer (self, error);
    if (status != STATUS_OK)
        return status;
    MDB_val name = s_val (key), data = s_val (value);
    int rc = mdb_put (self->write, self->records, &name, &data, 0);
    return rc ? s_doom (self, error, "write to", rc) : STATUS_OK;
}

status_t
store_delete (port_store_t *self, span_t key, error_t *error)
{
    status_t status = s_check_key (self, key, error);
    if (status == STATUS_OK)
        status = s_writer (self, error);
    if (status != STATUS_OK)
        return status;
    MDB_val name = s_val (key);
    int rc = mdb_del (self->write, self->records, &name, NULL);
    if (rc == MDB_NOTFOUND)
        return error_set (error, STATUS_NOT_FOUND, "%s: no such key", self->path);
    return rc ? s_doom (self, error, "delete from", rc) : STATUS_OK;
}

bool
store_next (port_store_t *self, span_t from, bool after, span_t *key, span_t *value)
{
    MDB_cursor *cursor;
    MDB_val name = s_val (from), data;
    BUG_ON (mdb_cursor_open (s_reader (self), self->records, &cursor) != 0);
    int rc = mdb_cursor_get (cursor, &name, &data, from.size ? MDB_SET_RANGE : MDB_FIRST);
    if (rc == 0 && after && from.size && span_equal (span_of (name.mv_data, name.mv_size), from))
        rc = mdb_cursor_get (cursor, &name, &data, MDB_NEXT);
    mdb_cursor_close (cursor);
    if (rc != 0)
        return false;
    *key = span_of (name.mv_data, name.mv_size);
    *value = span_of (data.mv_data, data.mv_size);
    return true;
}

//  ---- Open and close ------------------------------------------------------------------------------------------------

static status_t
s_lock (port_store_t *self, error_t *error)
{
    self->lock = open (self->path, O_RDWR | O_CREAT | O_CLOEXEC, MODE_OWNER);
    if (self->lock < 0)
        return error_set (error, STATUS_IO, "cannot open %s: %s", self->path, strerror (errno));
    if (flock (self->lock, LOCK_EX | LOCK_NB) == 0)
        return STATUS_OK;
    return error_set (error, STATUS_EXISTS, "%s is in use by another actor or process", self->path);
}

//  Every record is reached through pages that can be read.
static int
s_walk (MDB_txn *txn, MDB_dbi database)
{
    MDB_cursor *cursor;
    MDB_val key, value;
    int rc = mdb_cursor_open (txn, database, &cursor);
    if (rc)
        return rc;
    do
        rc = mdb_cursor_get (cursor, &key, &value, MDB_NEXT);
    while (rc == 0);
    mdb_cursor_close (cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

//  A file that was cut off would be a SIGBUS at some later read.  LMDB may leave the last pages of a map unwritten, so
//  that a short file is no proof: it is filled up with zeros, which are no pages, and walked.
static int
s_fill_up (port_store_t *self, bool *was_short)
{
    MDB_envinfo info;
    MDB_stat pages;
    struct stat file;
    int rc = mdb_env_info (self->env, &info);
    if (!rc)
        rc = mdb_env_stat (self->env, &pages);
    if (rc || fstat (self->lock, &file) != 0)
        return rc ? rc : errno;
    off_t needed = (off_t)((info.me_last_pgno + 1) * pages.ms_psize);
    *was_short = file.st_size < needed;
    return *was_short && ftruncate (self->lock, needed) != 0 ? errno : 0;
}

static status_t
s_check_format (port_store_t *self, MDB_txn *txn, const char *format, bool is_new, error_t *error)
{
    MDB_dbi about;
    MDB_val name = s_val (SPAN ("format")), value = s_val (span_from_string (format));
    int rc = mdb_dbi_open (txn, "about", MDB_CREATE, &about);
    if (!rc && is_new)
        rc = mdb_put (txn, about, &name, &value, 0);
    if (!rc)
        rc = mdb_get (txn, about, &name, &value);
    if (rc && rc != MDB_NOTFOUND)
        return s_fail (self, error, "open", rc);
    span_t found = rc ? SPAN ("unknown") : span_of (value.mv_data, value.mv_size);
    if (span_equal_string (found, format))
        return STATUS_OK;
    return error_set (error, STATUS_UNSUPPORTED,
        "%s has the format \"%.*s\", this program needs \"%s\"; delete it to start afresh, or use the program that "
        "wrote it",
        self->path, SPAN_ARG (span_slice (found, 0, 100)), format);
}

static bool
s_is_empty (MDB_txn *txn)
{
    MDB_dbi main;
    MDB_stat stat;
    return mdb_dbi_open (txn, NULL, 0, &main) == 0 && mdb_stat (txn, main, &stat) == 0 && stat.ms_entries == 0;
}

static status_t
s_open_databases (port_store_t *self, const char *format, error_t *error)
{
    bool was_short = false;
    MDB_txn *txn = NULL;
    int rc = s_fill_up (self, &was_short);
    if (!rc)
        rc = mdb_txn_begin (self->env, NULL, 0, &txn);
    if (rc)
        return s_fail (self, error, "open", rc);
    status_t status = s_check_format (self, txn, format, s_is_empty (txn), error);
    if (status == STATUS_OK) {
        rc = mdb_dbi_open (txn, "records", MDB_CREATE, &self->records);
        if (!rc && was_short)
            rc = s_walk (txn, self->records);
        if (rc)
            status = s_fail (self, error, "open", rc);
    }
    if (status != STATUS_OK) {
        mdb_txn_abort (txn);
        return status;
    }
    rc = mdb_txn_commit (txn);
    return rc ? s_fail (self, error, "open", rc) : STATUS_OK;
}

static status_t
s_open_environment (port_store_t *self, uint64_t size_max, error_t *error)
{
    BUG_ON (mdb_env_create (&self->env) != 0);
    BUG_ON (mdb_env_set_maxdbs (self->env, DATABASES) != 0);
    int rc = mdb_env_set_mapsize (self->env, size_max ? size_max : SIZE_DEFAULT);
    if (!rc)
        rc = mdb_env_open (self->env, self->path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, MODE_OWNER);
    return rc ? s_fail (self, error, "open", rc) : STATUS_OK;
}

static status_t
s_open (port_store_t *self, const store_options_t *options, error_t *error)
{
    status_t status = file_make_folders (self->path, error);
    if (status == STATUS_OK)
        status = s_lock (self, error);
    if (status == STATUS_OK)
        status = s_open_environment (self, options->size_max, error);
    if (status == STATUS_OK)
        status = s_open_databases (self, options->format, error);
    if (status != STATUS_OK)
        return status;
    int rc = mdb_txn_begin (self->env, NULL, MDB_RDONLY, &self->read);
    self->is_reading = rc == 0;
    return rc ? s_fail (self, error, "read", rc) : STATUS_OK;
}

port_store_t *
store_open (const char *folder, const store_options_t *options, error_t *error)
{
    port_store_t *self = memory_new (sizeof *self);
    self->path = file_path (folder, options->name);
    self->lock = -1;
    if (s_open (self, options, error) != STATUS_OK) {
        store_close (self);
        return NULL;
    }
    return self;
}

//  What was not committed is gone.
void
store_close (port_store_t *self)
{
    if (self->write)
        mdb_txn_abort (self->write);
    if (self->read)
        mdb_txn_abort (self->read);
    if (self->env)
        mdb_env_close (self->env);
    if (self->lock >= 0)
        close (self->lock);
    memory_free (self->path);
    memory_free (self);
}
