#include "schemas/message_field.h"

size_t
message_column_width (const message_field_t *field)
{
    if (!field->list)
        return 0;
    switch (field->kind) {
    case FIELD_U32:
        return sizeof (uint32_t);
    case FIELD_U64:
        return sizeof (uint64_t);
    case FIELD_HASH128:
        return HASH128_SIZE;
    default:
        return 0;
    }
}

size_t
message_element_size (const message_field_t *field)
{
    return field->kind == FIELD_STRUCT ? field->structure->size : sizeof (span_t);
}

const void *
message_field_value (const message_field_t *field, const void *message)
{
    return (const char *)message + field->offset;
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

bool
message_field_is_present (const message_field_t *field, const void *message)
{
    if (!field->optional)
        return true;
    if (field->list)
        return message_field_count (field, message) > 0;
    return *(const bool *)s_aside (field, message);
}

const void *
message_field_element (const message_field_t *field, const void *message, size_t position)
{
    const char *const *elements = message_field_value (field, message);
    return *elements + position * message_element_size (field);
}
