//  Whether a reader would take a message: the bounds of the tables, asked before it is sent.

#include "schemas/message.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "schemas/message_field.h"

static status_t
s_check_size (const message_field_t *field, size_t size, size_t max, const char *unit, error_t *error)
{
    if (size > max)
        return error_set (
            error, STATUS_INVALID, "%s: has %zu %s, at most %zu are allowed", field->name, size, unit, max);
    return STATUS_OK;
}

static status_t
s_check_string (const message_field_t *field, span_t text, size_t max, error_t *error)
{
    if (!utf8_is_valid (text))
        return error_set (error, STATUS_INVALID, "%s: is not UTF-8", field->name);
    return s_check_size (field, text.size, max, "bytes", error);
}

static status_t
s_check_enum (const message_field_t *field, uint32_t value, error_t *error)
{
    if (message_enum_has (field->enumeration, value))
        return STATUS_OK;
    return error_set (error, STATUS_INVALID, "%s: %u is no %s", field->name, value, field->enumeration->name);
}

static status_t
s_check_value (const message_field_t *field, const void *value, size_t max, error_t *error)
{
    switch (field->kind) {
    case FIELD_STRING:
        return s_check_string (field, *(const span_t *)value, max, error);
    case FIELD_BIN:
        return s_check_size (field, ((const span_t *)value)->size, max, "bytes", error);
    case FIELD_ENUM:
        return s_check_enum (field, *(const uint32_t *)value, error);
    case FIELD_F64:
        if (!isfinite (*(const double *)value))
            return error_set (error, STATUS_INVALID, "%s: is not a finite number", field->name);
        return STATUS_OK;
    case FIELD_STRUCT:
        return message_check (field->structure, value, error);
    default:
        return STATUS_OK;
    }
}

static status_t
s_check_list (const message_field_t *field, const void *message, error_t *error)
{
    size_t count = message_field_count (field, message);
    status_t status = s_check_size (field, count, field->max, "elements", error);
    if (message_column_width (field))
        return status;
    for (size_t i = 0; i < count && !status; i++)
        status = s_check_value (field, message_field_element (field, message, i), field->item_max, error);
    return status;
}

status_t
message_check (const message_type_t *type, const void *message, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t i = 0; i < type->field_count && !status; i++) {
        const message_field_t *field = &type->fields [i];
        if (!message_field_is_present (field, message))
            continue;
        status = field->list ? s_check_list (field, message, error)
                             : s_check_value (field, message_field_value (field, message), field->max, error);
    }
    if (status)
        error_prefix (error, "%s", type->name);
    return status;
}
