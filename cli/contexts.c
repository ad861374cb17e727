#include "cli/contexts.h"

#include <string.h>
#include <time.h>

#include "base/json_writer.h"
#include "cli/environment.h"
#include "model/parser/extent.h"

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

//  Members of an object as they are written: a value that cannot be read leaves the others alone.

static bool
s_take_byte (span_t *rest, uint8_t byte)
{
    *rest = span_trim (*rest);
    bool there = rest->size && rest->data [0] == byte;
    *rest = span_slice (*rest, there, rest->size);
    return there;
}

static bool
s_take_value (span_t *rest, span_t *value)
{
    extent_t extent;
    bool odd = false;
    extent_init (&extent);
    *rest = span_trim (*rest);
    *value = span_slice (*rest, 0, extent_feed (&extent, *rest, &odd));
    *rest = span_slice (*rest, value->size, rest->size);
    return extent.done && !odd;
}

static void
s_add (array_t *rows, const json_t *key, span_t value)
{
    context_t row = { .text = value };
    buffer_append (&row.name, json_string (key));
    array_append (rows, &row, 1);
}

//  False where the text is no object.
static bool
s_add_members (array_t *rows, span_t text)
{
    span_t rest = text, key, value;
    bool more = s_take_byte (&rest, '{'), read = more;
    for (bool first = true; more && !(first && s_take_byte (&rest, '}')); first = false) {
        json_t *name = NULL;
        read = s_take_value (&rest, &key) && !json_parse (key, &name, NULL) && json_kind (name) == JSON_STRING &&
               s_take_byte (&rest, ':') && s_take_value (&rest, &value);
        if (read)
            s_add (rows, name, value);
        json_destroy (&name);
        more = read && s_take_byte (&rest, ',');
        read = read && (more || s_take_byte (&rest, '}'));
    }
    return read && !span_trim (rest).size;
}

static void
s_clear (array_t *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        context_t *row = array_at (rows, i);
        buffer_fini (&row->name);
        json_destroy (&row->conversation);
    }
    array_fini (rows);
}

//  What is wrong with a file that is no object.
static status_t
s_refuse (span_t text, error_t *error)
{
    json_t *tree = NULL;
    status_t status = json_parse (text, &tree, error);
    if (!status)
        status = error_set (error, STATUS_INVALID, "%s, not an object", json_kind_name (json_kind (tree)));
    json_destroy (&tree);
    return status;
}

static span_t
s_member (const array_t *rows, const char *name)
{
    span_t found = SPAN ("");
    for (size_t i = 0; i < rows->count; i++) {
        const context_t *row = array_at (rows, i);
        if (span_equal_string (buffer_span (&row->name), name))
            found = row->text;
    }
    return found;
}

static status_t
s_read (contexts_t *self, error_t *error)
{
    array_t nested;
    json_t *fixed = NULL;
    array_init (&nested, sizeof (context_t));
    if (!s_add_members (&self->rows, buffer_span (&self->text)))
        return s_refuse (buffer_span (&self->text), error);
    json_parse (s_member (&self->rows, "fixed"), &fixed, NULL);
    s_read_fixed (self, fixed);
    json_destroy (&fixed);
    if (s_add_members (&nested, s_member (&self->rows, "contexts"))) {
        array_t outer = self->rows;
        self->rows = nested;
        nested = outer;
    }
    s_clear (&nested);
    for (size_t i = 0; i < self->rows.count; i++) {
        context_t *row = array_at (&self->rows, i);
        json_parse (row->text, &row->conversation, &row->error);
    }
    return STATUS_OK;
}

status_t
contexts_open (contexts_t *self, const char *path, error_t *error)
{
    *self = (contexts_t){ 0 };
    array_init (&self->rows, sizeof (context_t));
    if (!*path)
        return error_set (error, STATUS_INVALID, "name the file with the conversations: --contexts FILE");
    status_t status = environment_read_file (path, CONTEXTS_SIZE_MAX, &self->text, error);
    if (!status && (status = s_read (self, error)))
        error_prefix (error, "%s", path);
    return status;
}

void
contexts_close (contexts_t *self)
{
    s_clear (&self->rows);
    buffer_fini (&self->text);
    buffer_fini (&self->fixed);
}
