#include "schemas/message_field.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

size_t
message_element_size (const message_field_t *field)
{
    return field->kind == FIELD_STRUCT ? field->structure->size : sizeof (span_t);
}

static const void *
s_aside (const message_field_t *field, const void *message)
{
    return (const char *)message + field->aside;
}

size_t
message_field_count (const message_field_t *field, const void *message)
{
    if (message_column_width (field))
        return ((const column_t *)message_field_value (field, message))->count;
    return *(const size_t *)s_aside (field, message);
}

const void *
message_field_element (const message_field_t *field, const void *message, size_t position)
{
    const char *const *elements = message_field_value (field, message);
    return *elements + position * message_element_size (field);
}

const message_range_t *
message_range (message_field_kind_t kind)
{
    static const message_range_t ranges [] = {
        [FIELD_U8] = { 0, UINT8_MAX, 1 },
        [FIELD_U16] = { 0, UINT16_MAX, 2 },
        [FIELD_U32] = { 0, UINT32_MAX, 4 },
        [FIELD_U64] = { 0, UINT64_MAX, 8 },
        [FIELD_I32] = { INT32_MIN, INT32_MAX, 4 },
        [FIELD_I64] = { INT64_MIN, INT64_MAX, 8 },
        [FIELD_ENUM] = { 0, UINT32_MAX, 4 },
    };
    bool is_integer = kind < sizeof ranges / sizeof ranges [0] && ranges [kind].width > 0;
    return is_integer ? &ranges [kind] : NULL;
}

//  The low bytes come first in memory: schemas/column.h asserts it.
void
message_store (const message_range_t *range, void *value, uint64_t number)
{
    memcpy (value, &number, range->width);
}

uint64_t
message_load (const message_range_t *range, const void *value)
{
    uint64_t number = 0;
    memcpy (&number, value, range->width);
    uint64_t sign = range->min < 0 ? (uint64_t)1 << (8 * range->width - 1) : 0;
    return (number ^ sign) - sign;
}

status_t
message_check_range (const message_range_t *range, bool negative, uint64_t number, error_t *error)
{
    if (negative ? (int64_t)number >= range->min : number <= range->max)
        return STATUS_OK;
    return error_set (error, STATUS_INVALID, "must be an integer from %" PRId64 " to %" PRIu64, range->min, range->max);
}

status_t
message_refuse_size (size_t size, size_t max, const char *unit, error_t *error)
{
    return error_set (error, STATUS_INVALID, "has %zu %s, at most %zu are allowed", size, unit, max);
}

status_t
message_check_text (span_t text, size_t max, error_t *error)
{
    status_t status = message_check_size (text.size, max, "bytes", error);
    if (status || utf8_is_valid (text))
        return status;
    return error_set (error, STATUS_INVALID, "is not UTF-8");
}

status_t
message_check_finite (double value, error_t *error)
{
    return isfinite (value) ? STATUS_OK : error_set (error, STATUS_INVALID, "is not a finite number");
}

status_t
message_check_enum (const message_enum_t *type, uint64_t value, error_t *error)
{
    if (value <= UINT32_MAX && message_enum_has (type, (uint32_t)value))
        return STATUS_OK;
    return error_set (error, STATUS_INVALID, "%" PRIu64 " is no %s", value, type->name);
}
