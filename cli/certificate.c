#include "cli/certificate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "base/suggest.h"
#include "cli/environment.h"

enum { PATH_SIZE = 1024, FILE_MAX = 16384 };

static const char s_public_end [] = ".cert", s_secret_end [] = ".cert_secret", s_revoked [] = "revoked";

static status_t
s_check_name (const char *name, error_t *error)
{
    size_t size = strlen (name);
    if (size && size < KEY_NAME_SIZE && *name != '.' && *name != '-' &&
        strspn (name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == size)
        return STATUS_OK;
    return error_set (error, STATUS_INVALID, "'%.100s' is no name: up to 64 letters, digits, '.', '_' and '-'", name);
}

static void
s_path (char *out, const char *folder, const char *name, const char *end)
{
    snprintf (out, PATH_SIZE, "%s/%s%s", folder, name, end);
}

status_t
certificate_make (certificate_t *self, const char *name, const char *roles, error_t *error)
{
    *self = (certificate_t){ 0 };
    status_t status = s_check_name (name, error);
    if (status != STATUS_OK)
        return status;
    if (strlen (roles) >= sizeof self->roles || strchr (roles, '"'))
        return error_set (error, STATUS_INVALID, "'%.100s' are no roles", roles);
    snprintf (self->name, sizeof self->name, "%s", name);
    snprintf (self->roles, sizeof self->roles, "%s", roles);
    if (zmq_curve_keypair (self->public_key, self->secret_key) != 0)
        return error_set (error, STATUS_UNSUPPORTED, "this libzmq was built without CURVE");
    return STATUS_OK;
}

//  ---- Text (ZPL, as czmq writes it) ---------------------------------------------------------------------------------

void
certificate_print (const certificate_t *self, bool secret, buffer_t *out)
{
    buffer_append_string (out, secret ? "#   Secret certificate: keep it to yourself, and on this machine.\n"
                                      : "#   Public certificate: copy it to those who are to know its holder.\n");
    buffer_print (out, "\nmetadata\n    name = \"%s\"\n    roles = \"%s\"\ncurve\n    public-key = \"%s\"\n",
        self->name, self->roles, self->public_key);
    if (secret)
        buffer_print (out, "    secret-key = \"%s\"\n", self->secret_key);
}

//  The value of a line `key = "value"`; empty where it has none.
static span_t
s_value (span_t line)
{
    size_t equals = span_find_byte (line, '=');
    span_t value = span_trim (span_slice (line, equals + 1, line.size));
    bool quoted = value.size >= 2 && (value.data [0] == '"' || value.data [0] == '\'') &&
                  value.data [value.size - 1] == value.data [0];
    return quoted ? span_slice (value, 1, value.size - 2) : value;
}

//  A key of another name or section is left alone.  False where a value does not fit.
static bool
s_take_line (certificate_t *self, span_t section, span_t line)
{
    const struct {
        const char *section;
        const char *key;
        char *out;
        size_t size;
    } known [] = {
        { "metadata", "name", self->name, sizeof self->name },
        { "metadata", "roles", self->roles, sizeof self->roles },
        { "curve", "public-key", self->public_key, sizeof self->public_key },
        { "curve", "secret-key", self->secret_key, sizeof self->secret_key },
    };
    span_t key = span_trim (span_slice (line, 0, span_find_byte (line, '=')));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (span_equal_string (section, known [i].section) && span_equal_string (key, known [i].key))
            return span_copy_string (s_value (line), known [i].out, known [i].size);
    return true;
}

static bool
s_is_key (const char *text)
{
    uint8_t bytes [32];
    return strlen (text) == KEY_TEXT_SIZE - 1 && zmq_z85_decode (bytes, text) != NULL;
}

status_t
certificate_parse (certificate_t *self, span_t text, error_t *error)
{
    span_t section = SPAN ("");
    bool good = true;
    *self = (certificate_t){ 0 };
    for (size_t at = 0; at < text.size && good;) {
        span_t rest = span_slice (text, at, text.size);
        span_t line = span_slice (rest, 0, span_find_byte (rest, '\n'));
        at += line.size + 1;
        if (!span_trim (line).size || span_trim (line).data [0] == '#')
            continue;
        if (line.data [0] != ' ' && line.data [0] != '\t')
            section = span_trim (line);
        else
            good = s_take_line (self, section, line);
    }
    if (!good || !s_is_key (self->public_key) || (*self->secret_key && !s_is_key (self->secret_key)))
        return error_set (error, STATUS_CORRUPT, "it is no certificate");
    return STATUS_OK;
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

static status_t
s_make_folder (const char *folder, error_t *error)
{
    if (mkdir (folder, 0700) == 0 || errno == EEXIST)
        return STATUS_OK;
    return error_set (error, STATUS_IO, "cannot make the folder %s: %s", folder, strerror (errno));
}

static status_t
s_write_file (const char *path, mode_t mode, span_t bytes, error_t *error)
{
    int file = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0)
        return error_set (error, errno == EEXIST ? STATUS_EXISTS : STATUS_IO, "cannot write %s: %s", path,
            errno == EEXIST ? "it is there already; revoke that key first" : strerror (errno));
    if (environment_write_file (file, bytes))
        return STATUS_OK;
    error_set (error, STATUS_IO, "cannot write %s: %s", path, strerror (errno));
    unlink (path);
    return STATUS_IO;
}

static status_t
s_write_half (const certificate_t *self, const char *folder, bool secret, error_t *error)
{
    char path [PATH_SIZE];
    buffer_t text = { 0 };
    s_path (path, folder, self->name, secret ? s_secret_end : s_public_end);
    certificate_print (self, secret, &text);
    status_t status = s_write_file (path, secret ? 0600 : 0644, buffer_span (&text), error);
    buffer_fini (&text);
    return status;
}

status_t
certificate_write (const certificate_t *self, const char *folder, error_t *error)
{
    status_t status = s_make_folder (folder, error);
    if (status == STATUS_OK)
        status = s_write_half (self, folder, false, error);
    if (status != STATUS_OK)
        return status;
    status = s_write_half (self, folder, true, error);
    if (status != STATUS_OK) {
        char path [PATH_SIZE];
        s_path (path, folder, self->name, s_public_end);
        unlink (path);
    }
    return status;
}

static status_t
s_read_file (certificate_t *self, const char *path, bool secret, error_t *error)
{
    buffer_t text = { 0 };
    struct stat found;
    if (secret && stat (path, &found) == 0 && (found.st_mode & 077))
        return error_set (
            error, STATUS_REFUSED, "%s can be read by others than its owner: chmod 600, or make a new key", path);
    status_t status = environment_read_file (path, FILE_MAX, &text, error);
    if (status == STATUS_OK && certificate_parse (self, buffer_span (&text), error) != STATUS_OK)
        status = error_prefix (error, "%s", path);
    if (status == STATUS_OK && secret && !*self->secret_key)
        status = error_set (error, STATUS_CORRUPT, "%s has no secret key", path);
    buffer_fini (&text);
    return status;
}

status_t
certificate_read (certificate_t *self, const char *folder, const char *name, bool secret, error_t *error)
{
    char path [PATH_SIZE];
    status_t status = s_check_name (name, error);
    if (status != STATUS_OK)
        return status;
    s_path (path, folder, name, secret ? s_secret_end : s_public_end);
    status = s_read_file (self, path, secret, error);
    //  Whoever copies a file under another name means the other name.
    snprintf (self->name, sizeof self->name, "%s", name);
    return status;
}

static int
s_by_name (const void *a, const void *b)
{
    return strcmp (((const certificate_t *)a)->name, ((const certificate_t *)b)->name);
}

static bool
s_is_public (const char *file, char name [KEY_NAME_SIZE])
{
    size_t size = strlen (file), end = sizeof s_public_end - 1;
    if (size <= end || size - end >= KEY_NAME_SIZE || strcmp (file + size - end, s_public_end) != 0)
        return false;
    snprintf (name, KEY_NAME_SIZE, "%.*s", (int)(size - end), file);
    return true;
}

status_t
certificate_list (const char *folder, bool revoked, array_t *out, error_t *error)
{
    char path [PATH_SIZE], name [KEY_NAME_SIZE];
    snprintf (path, sizeof path, "%s%s%s", folder, revoked ? "/" : "", revoked ? s_revoked : "");
    DIR *listing = opendir (path);
    if (!listing)
        return errno == ENOENT ? STATUS_OK
                               : error_set (error, STATUS_IO, "cannot read the folder %s: %s", path, strerror (errno));
    status_t status = STATUS_OK;
    for (struct dirent *entry; status == STATUS_OK && (entry = readdir (listing));) {
        certificate_t certificate;
        if (!s_is_public (entry->d_name, name))
            continue;
        status = certificate_read (&certificate, path, name, false, error);
        if (status == STATUS_OK)
            array_append (out, &certificate, 1);
    }
    closedir (listing);
    array_sort (out, s_by_name);
    return status;
}

static status_t
s_refuse_name (const char *folder, const char *name, error_t *error)
{
    suggest_t suggest;
    array_t list;
    suggest_init (&suggest, span_from_string (name));
    array_init (&list, sizeof (certificate_t));
    if (certificate_list (folder, false, &list, NULL) == STATUS_OK)
        for (size_t i = 0; i < list.count; i++)
            suggest_offer (&suggest, ((const certificate_t *)array_at (&list, i))->name);
    array_fini (&list);
    return error_set (error, STATUS_NOT_FOUND, "there is no key '%s' in %s%s", name, folder, suggest_text (&suggest));
}

status_t
certificate_revoke (const char *folder, const char *name, error_t *error)
{
    char path [PATH_SIZE], aside [PATH_SIZE], target [PATH_SIZE], secret [PATH_SIZE];
    status_t status = s_check_name (name, error);
    if (status != STATUS_OK)
        return status;
    s_path (path, folder, name, s_public_end);
    s_path (secret, folder, name, s_secret_end);
    snprintf (aside, sizeof aside, "%s/%s", folder, s_revoked);
    s_path (target, aside, name, s_public_end);
    if (access (path, F_OK) != 0 && access (target, F_OK) == 0)
        return error_set (error, STATUS_EXISTS, "the key '%s' is revoked already in %s", name, folder);
    if (access (path, F_OK) != 0)
        return s_refuse_name (folder, name, error);
    status = s_make_folder (aside, error);
    if (status != STATUS_OK)
        return status;
    if (rename (path, target) != 0)
        return error_set (error, STATUS_IO, "cannot move %s to %s: %s", path, target, strerror (errno));
    if (unlink (secret) != 0 && errno != ENOENT)
        return error_set (error, STATUS_IO, "cannot delete %s: %s", secret, strerror (errno));
    return STATUS_OK;
}
