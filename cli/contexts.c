#include "cli/contexts.h"

#include <string.h>
#include <time.h>

#include "base/json_writer.h"
#include "cli/environment.h"

enum { CONTEXTS_SIZE_MAX = 256 << 20 };

static bool
s_read_field (span_t text, size_t at, size_t size, int *value)
{
    uint64_t number;
    bool fits = span_to_u64 (span_slice (text, at, size), &number) && number < 10000;
    *value = fits ? (int)number : 0;
    return fits;
}

//  "2026-01-15T12:00:00", as if in the zone that is wanted.  What is none leaves the moment as it is.
static void
s_read_moment (span_t text, int64_t *now_s)
{
    struct tm moment = { 0 };
    if (!s_read_field (text, 0, 4, &moment.tm_year) || !s_read_field (text, 5, 2, &moment.tm_mon) ||
        !s_read_field (text, 8, 2, &moment.tm_mday) || !s_read_field (text, 11, 2, &moment.tm_hour) ||
        !s_read_field (text, 14, 2, &moment.tm_min) || !s_read_field (text, 17, 2, &moment.tm_sec))
        return;
    moment.tm_year -= 1900;
    moment.tm_mon--;
    *now_s = timegm (&moment);
}

static span_t
s_text_or (const json_t *value, const char *otherwise)
{
    return json_kind (value) == JSON_STRING ? json_string (value) : span_from_string (otherwise);
}

static void
s_read_fixed (contexts_t *self, const json_t *fixed)
{
    json_writer_t json;
    const json_t *prompted = json_get (fixed, "add_generation_prompt_default");
    json_writer_init (&json, &self->fixed);
    json_write_key (&json, "bos_token");
    json_write_string (&json, s_text_or (json_get (fixed, "bos_token"), "<s>"));
    json_write_key (&json, "eos_token");
    json_write_string (&json, s_text_or (json_get (fixed, "eos_token"), "</s>"));
    json_write_key (&json, "add_generation_prompt");
    json_write_bool (&json, !prompted || json_is_true (prompted));
    json_write_key (&json, "tools");
    json_write_null (&json);
    json_write_key (&json, "documents");
    json_write_null (&json);
    struct tm local;
    time_t now = time (NULL);
    self->now_s = localtime_r (&now, &local) ? timegm (&local) : now;
    s_read_moment (json_string (json_get (fixed, "strftime_now")), &self->now_s);
}

json_t *
contexts_fill (const contexts_t *self, const json_t *conversation)
{
    buffer_t text = { 0 };
    json_t *context = NULL;
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    buffer_append_byte (&text, '{');
    buffer_append (&text, buffer_span (&self->fixed));
    while (json_next (conversation, &cursor, &key, &value)) {
        buffer_append_string (&text, ",\"");
        json_escape (&text, key);
        buffer_append_string (&text, "\":");
        json_render (value, &text);
    }
    buffer_append_byte (&text, '}');
    json_parse (buffer_span (&text), &context, NULL);
    buffer_fini (&text);
    return context;
}

static status_t
s_read (const char *path, json_t **file, error_t *error)
{
    buffer_t text = { 0 };
    status_t status = environment_read_file (path, CONTEXTS_SIZE_MAX, &text, error);
    if (!status && (status = json_parse (buffer_span (&text), file, error)))
        error_prefix (error, "%s", path);
    buffer_fini (&text);
    if (!status && json_kind (*file) != JSON_OBJECT)
        status = error_set (error, STATUS_INVALID, "%s is %s, not an object", path, json_kind_name (json_kind (*file)));
    return status;
}

status_t
contexts_open (contexts_t *self, const char *path, error_t *error)
{
    *self = (contexts_t){ 0 };
    if (!*path)
        return error_set (error, STATUS_INVALID, "name the file with the conversations: --contexts FILE");
    status_t status = s_read (path, &self->file, error);
    if (status)
        return status;
    const json_t *named = json_get (self->file, "contexts");
    self->named = json_kind (named) == JSON_OBJECT ? named : self->file;
    s_read_fixed (self, json_get (self->file, "fixed"));
    return STATUS_OK;
}

void
contexts_close (contexts_t *self)
{
    json_destroy (&self->file);
    buffer_fini (&self->fixed);
}
