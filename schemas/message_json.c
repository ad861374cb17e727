//  Messages as JSON, for people and for tests.
//
//  A bin is text where it is printable, else "hex:..."; text that begins with "hex:" itself is written in hex too, so that
//  reading back is exact.

#include "schemas/message.h"

#include "base/json_writer.h"
#include "base/utf8.h"
#include "schemas/message_field.h"

static const span_t s_hex_mark = { (const uint8_t *)"hex:", 4 };

static void s_write_message (json_writer_t *json, const message_type_t *type, const void *message);

static void
s_append_hex (buffer_t *out, span_t bytes)
{
    static const char digits [] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size; i++) {
        buffer_append_byte (out, (uint8_t)digits [bytes.data [i] >> 4]);
        buffer_append_byte (out, (uint8_t)digits [bytes.data [i] & 15]);
    }
}

static void
s_write_hex (json_writer_t *json, span_t mark, span_t bytes)
{
    buffer_t text = { 0 };
    buffer_append (&text, mark);
    s_append_hex (&text, bytes);
    json_write_string (json, buffer_span (&text));
    buffer_fini (&text);
}

static bool
s_is_printable (span_t text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data [i];
        if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f)
            return false;
    }
    return utf8_is_valid (text);
}

static void
s_write_bin (json_writer_t *json, span_t bytes)
{
    if (s_is_printable (bytes) && !span_starts_with (bytes, s_hex_mark))
        json_write_string (json, bytes);
    else
        s_write_hex (json, s_hex_mark, bytes);
}

static void
s_write_hash (json_writer_t *json, hash128_t hash)
{
    uint8_t bytes [HASH128_SIZE];
    hash128_to_bytes (hash, bytes);
    s_write_hex (json, (span_t){ NULL, 0 }, span_of (bytes, sizeof bytes));
}

static void
s_write_integer (json_writer_t *json, const message_range_t *range, const void *value)
{
    uint64_t number = message_load (range, value);
    if (range->min < 0)
        json_write_i64 (json, (int64_t)number);
    else
        json_write_u64 (json, number);
}

static void
s_write_value (json_writer_t *json, const message_field_t *field, const void *value)
{
    switch (field->kind) {
    case FIELD_BOOL:
        json_write_bool (json, *(const bool *)value);
        break;
    case FIELD_F64:
        json_write_double (json, *(const double *)value);
        break;
    case FIELD_HASH128:
        s_write_hash (json, *(const hash128_t *)value);
        break;
    case FIELD_ENUM:
        json_write_string (json, span_from_string (message_enum_name (field->enumeration, *(const uint32_t *)value)));
        break;
    case FIELD_STRING:
        json_write_string (json, *(const span_t *)value);
        break;
    case FIELD_BIN:
        s_write_bin (json, *(const span_t *)value);
        break;
    case FIELD_STRUCT:
        s_write_message (json, field->structure, value);
        break;
    default:
        s_write_integer (json, message_range (field->kind), value);
        break;
    }
}

static void
s_write_column_element (json_writer_t *json, const message_field_t *field, column_t column, size_t position)
{
    if (field->kind == FIELD_HASH128)
        s_write_hash (json, column_hash128 (column, position));
    else if (field->kind == FIELD_U64)
        json_write_u64 (json, column_u64 (column, position));
    else
        json_write_u64 (json, column_u32 (column, position));
}

static void
s_write_list (json_writer_t *json, const message_field_t *field, const void *message)
{
    bool is_column = message_column_width (field) > 0;
    size_t count = message_field_count (field, message);
    json_write_begin_array (json);
    for (size_t i = 0; i < count; i++)
        if (is_column)
            s_write_column_element (json, field, *(const column_t *)message_field_value (field, message), i);
        else
            s_write_value (json, field, message_field_element (field, message, i));
    json_write_end_array (json);
}

static void
s_write_message (json_writer_t *json, const message_type_t *type, const void *message)
{
    json_write_begin_object (json);
    for (size_t i = 0; i < type->field_count; i++) {
        const message_field_t *field = &type->fields [i];
        if (!message_field_is_present (field, message))
            continue;
        json_write_key (json, field->name);
        if (field->list)
            s_write_list (json, field, message);
        else
            s_write_value (json, field, message_field_value (field, message));
    }
    json_write_end_object (json);
}

void
message_to_json (const message_type_t *type, const void *message, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    s_write_message (&json, type, message);
}
