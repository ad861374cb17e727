#include "actors/frontend/api_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bug.h"
#include "base/json_writer.h"

#define INVALID "invalid_request_error"
#define SERVER "server_error"

enum { QUOTE_MAX = 128 };

static const api_error_row_t s_rows [API_ERROR_COUNT] = {
    [API_OK] = { 200, "", NULL, "ok", 0 },
    [API_INVALID_JSON] = { 400, INVALID, NULL, "invalid_json", 0 },
    [API_INVALID_TYPE] = { 400, INVALID, "invalid_type", "invalid_type", 0 },
    [API_INVALID_VALUE] = { 400, INVALID, "invalid_value", "invalid_value", 0 },
    [API_MISSING] = { 400, INVALID, "missing_required_parameter", "missing_parameter", 0 },
    [API_UNSUPPORTED] = { 400, INVALID, "unsupported_parameter", "unsupported_parameter", 0 },
    [API_CONTEXT_LENGTH] = { 400, INVALID, "context_length_exceeded", "context_length_exceeded", 0 },
    [API_NO_MODEL] = { 404, INVALID, "model_not_found", "model_not_found", 0 },
    [API_NOT_FOUND] = { 404, INVALID, "unknown_url", "unknown_url", 0 },
    [API_METHOD] = { 405, INVALID, "method_not_allowed", "method_not_allowed", 0 },
    [API_MEDIA_TYPE] = { 415, INVALID, "unsupported_media_type", "unsupported_media_type", 0 },
    [API_TOO_LARGE] = { 413, INVALID, "request_too_large", "request_too_large", 0 },
    [API_CANCELLED] = { 499, INVALID, "cancelled", "cancelled", 0 },
    [API_NO_WORKER] = { 503, SERVER, "no_worker", "no_worker", 2 },
    [API_NO_ROUTER] = { 503, SERVER, "no_router", "no_router", 2 },
    [API_DRAINING] = { 503, SERVER, "draining", "draining", 1 },
    [API_OVERLOADED] = { 529, SERVER, "overloaded", "overloaded", 2 },
    [API_TIMEOUT] = { 504, SERVER, "timeout", "timeout", 2 },
    [API_WORKER_FAILED] = { 502, SERVER, "worker_failed", "worker_failed", 1 },
    [API_CANNOT_MIGRATE] = { 502, SERVER, "cannot_migrate", "cannot_migrate", 1 },
    [API_RETRIES_SPENT] = { 502, SERVER, "retry_budget_spent", "retry_budget_spent", 5 },
    [API_FRONTEND_LOST] = { 502, SERVER, "frontend_lost", "frontend_lost", 1 },
    [API_INTERNAL] = { 500, SERVER, "internal_error", "internal_error", 0 },
};

const api_error_row_t *
api_error_row (api_error_kind_t kind)
{
    BUG_ON (kind >= API_ERROR_COUNT);
    return &s_rows [kind];
}

bool
api_error_set (api_error_t *self, api_error_kind_t kind, const char *param, const char *format, ...)
{
    self->kind = kind;
    span_copy_string (span_from_string (param), self->param, sizeof self->param);
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (self->text, sizeof self->text, format, arguments);
    va_end (arguments);
    return false;
}

const char *
api_error_quote (span_t text, buffer_t *out)
{
    json_escape (out, span_slice (text, 0, QUOTE_MAX));
    return buffer_string (out);
}

api_error_kind_t
api_error_from_status (status_t status)
{
    static const uint8_t kinds [STATUS_COUNT] = {
        [STATUS_INVALID] = API_INVALID_VALUE,
        [STATUS_NOT_FOUND] = API_NO_WORKER,
        [STATUS_AGAIN] = API_OVERLOADED,
        [STATUS_LIMIT] = API_OVERLOADED,
        [STATUS_UNREACHABLE] = API_NO_WORKER,
        [STATUS_DEADLINE] = API_TIMEOUT,
        [STATUS_UNSUPPORTED] = API_UNSUPPORTED,
    };
    return status < STATUS_COUNT && kinds [status] ? (api_error_kind_t)kinds [status] : API_WORKER_FAILED;
}

//  param, code: NULL for none.
static void
s_render (const char *text, const char *type, const char *param, const char *code, buffer_t *out)
{
    const char *const members [] = { "message", text, "type", type, "param", param, "code", code };
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "error");
    json_write_begin_object (&json);
    for (size_t i = 0; i < sizeof members / sizeof *members; i += 2) {
        json_write_key (&json, members [i]);
        if (members [i + 1])
            json_write_string (&json, span_from_string (members [i + 1]));
        else
            json_write_null (&json);
    }
    json_write_end_object (&json);
    json_write_end_object (&json);
}

void
api_error_render (const api_error_t *self, buffer_t *out)
{
    const api_error_row_t *row = api_error_row (self->kind);
    s_render (self->text, row->type, self->param [0] ? self->param : NULL, row->code, out);
}

const char *
api_error_render_refusal (int status, const char *reason, buffer_t *out)
{
    char text [ERROR_TEXT_MAX];
    snprintf (text, sizeof text, "The request was refused: %s.", reason);
    s_render (text, status < 500 ? INVALID : SERVER, NULL, NULL, out);
    return "application/json";
}
