#include "cli/model_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_writer.h"

#define TEMPLATE_SUFFIX ".jinja"

enum { PATH_SIZE = 4096 };

static status_t
s_open (model_files_t *self, bundle_file_t kind, const char *path, error_t *error)
{
    mapping_close (&self->mappings [kind]);
    status_t status = mapping_open (&self->mappings [kind], path, error);
    self->files [kind] = self->mappings [kind].bytes;
    return status;
}

static bool
s_is_template_name (const char *name)
{
    const char *dot = strrchr (name, '.');
    return dot && dot > name && strcmp (dot, TEMPLATE_SUFFIX) == 0;
}

//  ---- A folder ------------------------------------------------------------------------------------------------------

static int
s_is_template (const struct dirent *entry)
{
    return s_is_template_name (entry->d_name);
}

//  A template is called as its file.
static status_t
s_write_template (const char *folder, const char *file, json_writer_t *json, error_t *error)
{
    char path [PATH_SIZE];
    mapping_t mapping = { 0 };
    snprintf (path, sizeof path, "%s/%s", folder, file);
    status_t status = mapping_open (&mapping, path, error);
    if (status)
        return status;
    json_write_begin_object (json);
    json_write_key (json, "name");
    json_write_string (json, span_of (file, strlen (file) - strlen (TEMPLATE_SUFFIX)));
    json_write_key (json, "template");
    json_write_string (json, mapping.bytes);
    json_write_end_object (json);
    mapping_close (&mapping);
    return STATUS_OK;
}

static status_t
s_open_templates (model_files_t *self, const char *folder, error_t *error)
{
    char path [PATH_SIZE];
    struct dirent **entries;
    json_writer_t json;
    status_t status = STATUS_OK;
    snprintf (path, sizeof path, "%s/" BUNDLE_TEMPLATES_FOLDER, folder);
    int count = scandir (path, &entries, s_is_template, alphasort);
    if (count < 0)
        return STATUS_OK;
    json_writer_init (&json, &self->templates);
    json_write_begin_array (&json);
    for (int i = 0; i < count; i++) {
        if (!status)
            status = s_write_template (path, entries [i]->d_name, &json, error);
        free (entries [i]);
    }
    json_write_end_array (&json);
    free (entries);
    self->files [BUNDLE_TEMPLATES] = buffer_span (&self->templates);
    return status;
}

static status_t
s_open_folder (model_files_t *self, const char *folder, error_t *error)
{
    for (bundle_file_t kind = 0; kind < BUNDLE_FILES; kind++) {
        char path [PATH_SIZE];
        if (!bundle_file_names [kind])
            continue;
        snprintf (path, sizeof path, "%s/%s", folder, bundle_file_names [kind]);
        status_t status = s_open (self, kind, path, error);
        if (status && status != STATUS_NOT_FOUND)
            return status;
    }
    return s_open_templates (self, folder, error);
}

//  ---- A file by itself ----------------------------------------------------------------------------------------------

static bundle_file_t
s_kind_by_name (const char *path, bundle_file_t otherwise)
{
    const char *slash = strrchr (path, '/'), *name = slash ? slash + 1 : path;
    for (bundle_file_t kind = 0; kind < BUNDLE_FILES; kind++)
        if (bundle_file_names [kind] && strcmp (name, bundle_file_names [kind]) == 0)
            return kind;
    return s_is_template_name (name) ? BUNDLE_TEMPLATE : otherwise;
}

static status_t
s_open_file (model_files_t *self, const char *path, bundle_file_t kind, error_t *error)
{
    status_t status = s_open (self, kind, path, error);
    if (!status && span_starts_with (self->files [kind], SPAN ("GGUF"))) {
        self->files [BUNDLE_GGUF] = self->files [kind];
        self->files [kind] = SPAN ("");
    }
    return status;
}

//  ---- All -----------------------------------------------------------------------------------------------------------

status_t
model_files_open (model_files_t *self, const char *path, bundle_file_t otherwise, error_t *error)
{
    struct stat about;
    *self = (model_files_t){ 0 };
    if (stat (path, &about) == 0 && S_ISDIR (about.st_mode))
        return s_open_folder (self, path, error);
    return s_open_file (self, path, s_kind_by_name (path, otherwise), error);
}

status_t
model_files_open_template (model_files_t *self, const char *path, error_t *error)
{
    self->files [BUNDLE_TEMPLATES] = SPAN ("");
    return s_open (self, BUNDLE_TEMPLATE, path, error);
}

void
model_files_close (model_files_t *self)
{
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        mapping_close (&self->mappings [i]);
    buffer_fini (&self->templates);
}
