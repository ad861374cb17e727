//  message_field - where the value of a field lies in a message's struct, and what it may be
//
//  Shared by the writers, readers and checks behind schemas/message.h; nobody else needs it.

#ifndef SCHEMAS_MESSAGE_FIELD_H
#define SCHEMAS_MESSAGE_FIELD_H

#include "schemas/message.h"

//  Bytes of an element in a packed column; 0 where the field is none.
static inline size_t
message_column_width (const message_field_t *field)
{
    static const uint8_t widths [] = { [FIELD_U32] = 4, [FIELD_U64] = 8, [FIELD_HASH128] = HASH128_SIZE };
    return field->list && field->kind < sizeof widths ? widths [field->kind] : 0;
}

//  Bytes of an element of a list that is no column.
size_t message_element_size (const message_field_t *field);

//  Elements of a list.
size_t message_field_count (const message_field_t *field, const void *message);

//  A required field always is; an optional list is where it has elements.
static inline bool
message_field_is_present (const message_field_t *field, const void *message)
{
    if (!field->optional)
        return true;
    if (field->list)
        return message_field_count (field, message) > 0;
    return *((const bool *)message + field->aside);
}

//  The value of a field that is no list.
static inline const void *
message_field_value (const message_field_t *field, const void *message)
{
    return (const char *)message + field->offset;
}

//  One element of a list that is no column.
const void *message_field_element (const message_field_t *field, const void *message, size_t position);

//  What an integer or enum field holds.
typedef struct {
    int64_t min;     //  Least value; negative: the type is signed
    uint64_t max;    //  Greatest value
    size_t width;    //  Bytes in the struct
} message_range_t;

//  NULL for a kind that is no integer.
const message_range_t *message_range (message_field_kind_t kind);

//  Stores and loads an integer of the struct.  A negative number travels as its two's complement.
void message_store (const message_range_t *range, void *value, uint64_t number);
uint64_t message_load (const message_range_t *range, const void *value);

//  STATUS_INVALID where the number is out of range.  negative: it is a two's complement below zero.
status_t message_check_range (const message_range_t *range, bool negative, uint64_t number, error_t *error);

//  What message_check_size says of too many.
status_t message_refuse_size (size_t size, size_t max, const char *unit, error_t *error);

//  STATUS_INVALID where there are more than `max`.  unit: "bytes" or "elements".
static inline status_t
message_check_size (size_t size, size_t max, const char *unit, error_t *error)
{
    return size <= max ? STATUS_OK : message_refuse_size (size, max, unit, error);
}

//  STATUS_INVALID where text is too long or not UTF-8.
status_t message_check_text (span_t text, size_t max, error_t *error);

//  STATUS_INVALID for NaN and infinities.
status_t message_check_finite (double value, error_t *error);

//  STATUS_INVALID for a number that is none of its values.
status_t message_check_enum (const message_enum_t *type, uint64_t value, error_t *error);

#endif
