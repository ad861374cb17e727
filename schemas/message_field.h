//  message_field - where the value of a field lies in a message's struct
//
//  Shared by the writer, the reader and the JSON of schemas/message.h; nobody else needs it.

#ifndef SCHEMAS_MESSAGE_FIELD_H
#define SCHEMAS_MESSAGE_FIELD_H

#include "schemas/message.h"

//  Bytes of an element in a packed column; 0 where the field is none.
size_t message_column_width (const message_field_t *field);

//  Bytes of an element of a list that is no column.
size_t message_element_size (const message_field_t *field);

//  A required field always is; an optional list is where it has elements.
bool message_field_is_present (const message_field_t *field, const void *message);

//  Elements of a list.
size_t message_field_count (const message_field_t *field, const void *message);

//  The value of a field that is no list.
const void *message_field_value (const message_field_t *field, const void *message);

//  One element of a list that is no column.
const void *message_field_element (const message_field_t *field, const void *message, size_t position);

#endif
