//  The writer: msgpack-c packs, the tables say what.

#include "schemas/message.h"

#include <msgpack.h>
#include <string.h>

#include "schemas/message_field.h"

//  MessagePack's format fixstr: its first byte, less the size, and how many bytes it holds.
enum { FIXSTR = 0xa0, FIXSTR_MAX = 31 };

static void s_put_message (msgpack_packer *pack, const message_type_t *type, const void *message);

static int
s_append (void *out, const char *bytes, size_t size)
{
    buffer_append (out, span_of (bytes, size));
    return 0;
}

static void
s_put_string (msgpack_packer *pack, span_t text)
{
    msgpack_pack_str (pack, text.size);
    msgpack_pack_str_body (pack, text.data, text.size);
}

static void
s_put_bin (msgpack_packer *pack, const void *data, size_t size)
{
    msgpack_pack_bin (pack, size);
    msgpack_pack_bin_body (pack, data, size);
}

static void
s_put_hash (msgpack_packer *pack, hash128_t hash)
{
    uint8_t bytes [HASH128_SIZE];
    hash128_to_bytes (hash, bytes);
    s_put_bin (pack, bytes, sizeof bytes);
}

static void
s_put_bool (msgpack_packer *pack, bool value)
{
    if (value)
        msgpack_pack_true (pack);
    else
        msgpack_pack_false (pack);
}

static void
s_put_integer (msgpack_packer *pack, const message_range_t *range, const void *value)
{
    uint64_t number = message_load (range, value);
    if (range->min < 0)
        msgpack_pack_int64 (pack, (int64_t)number);
    else
        msgpack_pack_uint64 (pack, number);
}

static void
s_put_value (msgpack_packer *pack, const message_field_t *field, const void *value)
{
    switch (field->kind) {
    case FIELD_BOOL:
        s_put_bool (pack, *(const bool *)value);
        break;
    case FIELD_F64:
        msgpack_pack_double (pack, *(const double *)value);
        break;
    case FIELD_HASH128:
        s_put_hash (pack, *(const hash128_t *)value);
        break;
    case FIELD_STRING:
        s_put_string (pack, *(const span_t *)value);
        break;
    case FIELD_BIN:
        s_put_bin (pack, ((const span_t *)value)->data, ((const span_t *)value)->size);
        break;
    case FIELD_STRUCT:
        s_put_message (pack, field->structure, value);
        break;
    default:
        s_put_integer (pack, message_range (field->kind), value);
        break;
    }
}

static void
s_put_list (msgpack_packer *pack, const message_field_t *field, const void *message)
{
    size_t width = message_column_width (field);
    if (width) {
        const column_t *column = message_field_value (field, message);
        s_put_bin (pack, column->data, column->count * width);
        return;
    }
    size_t count = message_field_count (field, message);
    msgpack_pack_array (pack, count);
    for (size_t i = 0; i < count; i++)
        s_put_value (pack, field, message_field_element (field, message, i));
}

static void
s_put_field (msgpack_packer *pack, const message_field_t *field, const void *message)
{
    if (!message_field_is_present (field, message))
        msgpack_pack_nil (pack);
    else if (field->list)
        s_put_list (pack, field, message);
    else
        s_put_value (pack, field, message_field_value (field, message));
}

//  The head of a short string is one byte, so that it goes out in one piece with it.
static void
s_put_key (msgpack_packer *pack, const char *key)
{
    char bytes [1 + FIXSTR_MAX];
    size_t size = strlen (key);
    if (size > FIXSTR_MAX) {
        s_put_string (pack, span_of (key, size));
        return;
    }
    bytes [0] = (char)(FIXSTR | size);
    memcpy (bytes + 1, key, size);
    s_append (pack->data, bytes, 1 + size);
}

static void
s_put_map (msgpack_packer *pack, const message_type_t *type, const void *message)
{
    size_t present = 0;
    for (size_t i = 0; i < type->field_count; i++)
        present += message_field_is_present (&type->fields [i], message);
    msgpack_pack_map (pack, present);
    for (size_t i = 0; i < type->field_count; i++) {
        const message_field_t *field = &type->fields [i];
        if (!message_field_is_present (field, message))
            continue;
        s_put_key (pack, field->key);
        s_put_field (pack, field, message);
    }
}

static void
s_put_message (msgpack_packer *pack, const message_type_t *type, const void *message)
{
    if (!type->hot) {
        s_put_map (pack, type, message);
        return;
    }
    msgpack_pack_array (pack, type->field_count);
    for (size_t i = 0; i < type->field_count; i++)
        s_put_field (pack, &type->fields [i], message);
}

void
message_encode (const message_type_t *type, const void *message, buffer_t *out)
{
    msgpack_packer pack;
    msgpack_packer_init (&pack, out, s_append);
    s_put_message (&pack, type, message);
}
