//  Whether a reader would take a message: the bounds of the tables, asked before it is sent.

#include "schemas/message_field.h"

static status_t s_check_message (const message_type_t *type, const void *message, error_t *error);

static status_t
s_check_value (const message_field_t *field, const void *value, size_t max, error_t *error)
{
    switch (field->kind) {
    case FIELD_STRING:
        return message_check_text (*(const span_t *)value, max, error);
    case FIELD_BIN:
        return message_check_size (((const span_t *)value)->size, max, "bytes", error);
    case FIELD_ENUM:
        return message_check_enum (field->enumeration, *(const uint32_t *)value, error);
    case FIELD_F64:
        return message_check_finite (*(const double *)value, error);
    case FIELD_STRUCT:
        return s_check_message (field->structure, value, error);
    default:
        return STATUS_OK;
    }
}

static status_t
s_check_list (const message_field_t *field, const void *message, error_t *error)
{
    size_t count = message_field_count (field, message);
    status_t status = message_check_size (count, field->max, "elements", error);
    if (message_column_width (field))
        return status;
    for (size_t i = 0; i < count && !status; i++)
        status = s_check_value (field, message_field_element (field, message, i), field->item_max, error);
    return status;
}

static status_t
s_check_field (const message_field_t *field, const void *message, error_t *error)
{
    if (!message_field_is_present (field, message))
        return STATUS_OK;
    status_t status = field->list ? s_check_list (field, message, error)
                                  : s_check_value (field, message_field_value (field, message), field->max, error);
    if (status)
        error_prefix (error, "%s", field->name);
    return status;
}

static status_t
s_check_message (const message_type_t *type, const void *message, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t i = 0; i < type->field_count && !status; i++)
        status = s_check_field (&type->fields [i], message, error);
    return status;
}

status_t
message_check (const message_type_t *type, const void *message, error_t *error)
{
    status_t status = s_check_message (type, message, error);
    if (status)
        error_prefix (error, "%s", type->name);
    return status;
}
