#include "cli/rows.h"

#include "cli/command.h"
#include "cli/environment.h"

enum { PRINTED_AT_ONCE = 1 << 20 };

static void
s_write_id (json_writer_t *json, const json_t *row)
{
    const json_t *id = json_get (row, "id");
    buffer_t text = { 0 };
    if (!id)
        return;
    json_render (id, &text);
    json_write_key (json, "id");
    json_write_raw (json, buffer_span (&text));
    buffer_fini (&text);
}

static status_t
s_answer (span_t line, rows_fn *answer, void *self, buffer_t *out, error_t *error)
{
    json_t *row = NULL;
    status_t status = json_parse (line, &row, error);
    if (status)
        return status;
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    s_write_id (&json, row);
    status = answer (self, row, &json, error);
    json_write_end_object (&json);
    buffer_append_byte (out, '\n');
    json_destroy (&row);
    return status;
}

static status_t
s_answer_all (span_t rows, rows_fn *answer, void *self, error_t *error)
{
    buffer_t out = { 0 };
    status_t status = STATUS_OK;
    for (size_t number = 1; rows.size && !status; number++) {
        size_t size = span_find_byte (rows, '\n'), before = out.size;
        span_t line = span_slice (rows, 0, size);
        if (span_trim (line).size)
            status = s_answer (line, answer, self, &out, error);
        if (status) {
            error_prefix (error, "row %zu", number);
            out.size = before;
        }
        if (status || out.size > PRINTED_AT_ONCE || size + 1 >= rows.size) {
            command_print (&out);
            buffer_clear (&out);
        }
        rows = span_slice (rows, size + 1, rows.size);
    }
    buffer_fini (&out);
    return status;
}

status_t
rows_answer (const char *path, rows_fn *answer, void *self, error_t *error)
{
    buffer_t text = { 0 };
    status_t status = environment_read_file (path, ROWS_SIZE_MAX, &text, error);
    if (!status)
        status = s_answer_all (buffer_span (&text), answer, self, error);
    buffer_fini (&text);
    return status;
}
