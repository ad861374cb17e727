//  Finding messages, enum values and streams in the generated catalogue.

#include "schemas/message.h"

#include "schemas/catalogue.h"

const char *
message_enum_name (const message_enum_t *self, uint32_t value)
{
    for (size_t i = 0; i < self->value_count; i++)
        if (self->values [i].value == value)
            return self->values [i].name;
    return "unknown";
}

bool
message_enum_has (const message_enum_t *self, uint32_t value)
{
    for (size_t i = 0; i < self->value_count; i++)
        if (self->values [i].value == value)
            return true;
    return false;
}

bool
message_enum_find (const message_enum_t *self, span_t name, uint32_t *value)
{
    for (size_t i = 0; i < self->value_count; i++)
        if (span_equal_string (name, self->values [i].name)) {
            *value = self->values [i].value;
            return true;
        }
    return false;
}

size_t
message_count (void)
{
    return catalogue_message_count;
}

const message_type_t *
message_at (size_t position)
{
    BUG_ON (position >= catalogue_message_count);
    return catalogue_messages [position];
}

const message_type_t *
message_find (span_t name)
{
    size_t low = 0, high = catalogue_message_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const message_type_t *type = catalogue_by_name [middle];
        int order = span_compare (name, span_from_string (type->name));
        if (order == 0)
            return type;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const message_type_t *
message_find_call (span_t method)
{
    const message_type_t *type = message_find (method);
    return type && (type->kind == MESSAGE_CALL || type->kind == MESSAGE_STREAM) ? type : NULL;
}

const message_type_t *
message_find_event (uint16_t stream, uint16_t id)
{
    for (size_t i = 0; i < catalogue_event_count; i++)
        if (catalogue_events [i]->stream == stream && catalogue_events [i]->id == id)
            return catalogue_events [i];
    return NULL;
}

const char *
stream_name (uint16_t stream)
{
    return message_enum_name (&catalogue_streams, stream);
}

uint16_t
stream_find (span_t name)
{
    uint32_t value = 0;
    return message_enum_find (&catalogue_streams, name, &value) ? (uint16_t)value : 0;
}

uint64_t
schema_hash (void)
{
    return catalogue_schema_hash;
}
