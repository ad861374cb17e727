//  The reader: walks bytes nobody trusts, and puts into the struct only what a table of fields allows.
//
//  Depth is bounded by the schemas (no message contains itself; the generator sees to it) and, in what is skipped, by
//  pack_reader.  Memory is taken only for lists of structs and strings, by a count that the bytes left could hold, from an
//  arena with a limit.

#include "schemas/message.h"

#include <string.h>

#include "schemas/message_field.h"
#include "schemas/pack_reader.h"

typedef struct {
    pack_reader_t pack;    //  What is left of the frame
    arena_t *arena;        //  For lists; may be NULL
    error_t *error;        //  Where the sentence goes
} decoder_t;

static status_t s_read_message (decoder_t *self, const message_type_t *type, void *out);

static status_t
s_fail_pack (decoder_t *self)
{
    return error_set (self->error, STATUS_INVALID, "the message %s", self->pack.problem);
}

static status_t
s_next (decoder_t *self, pack_item_t *item)
{
    return pack_read (&self->pack, item) ? STATUS_OK : s_fail_pack (self);
}

static status_t
s_fail_kind (decoder_t *self, const char *wanted, const pack_item_t *item)
{
    return error_set (self->error, STATUS_INVALID, "must be %s, is %s", wanted, pack_kind_name (item->kind));
}

//  Most bins are short.
static status_t
s_next_bin (decoder_t *self, span_t *bytes)
{
    pack_item_t item;
    if (pack_take_bin (&self->pack, bytes))
        return STATUS_OK;
    status_t status = s_next (self, &item);
    if (status)
        return status;
    *bytes = item.bytes;
    return item.kind == PACK_BIN ? STATUS_OK : s_fail_kind (self, "a bin", &item);
}

//  And most arrays, of which the elements follow.
static status_t
s_next_array (decoder_t *self, uint64_t *count)
{
    pack_item_t array;
    if (pack_take_array (&self->pack, count))
        return STATUS_OK;
    status_t status = s_next (self, &array);
    if (status)
        return status;
    *count = array.number;
    return array.kind == PACK_ARRAY ? STATUS_OK : s_fail_kind (self, "an array", &array);
}

static status_t
s_read_integer (decoder_t *self, message_field_kind_t kind, const pack_item_t *item, void *value)
{
    const message_range_t *range = message_range (kind);
    if (item->kind != PACK_UINT && item->kind != PACK_INT)
        return s_fail_kind (self, "an integer", item);
    message_store (range, value, item->number);
    return message_check_range (range, item->kind == PACK_INT, item->number, self->error);
}

static status_t
s_read_float (decoder_t *self, const pack_item_t *item, double *value)
{
    if (item->kind == PACK_UINT)
        *value = (double)item->number;
    else if (item->kind == PACK_INT)
        *value = (double)(int64_t)item->number;
    else if (item->kind == PACK_FLOAT)
        *value = item->real;
    else
        return s_fail_kind (self, "a number", item);
    return message_check_finite (*value, self->error);
}

static status_t
s_read_enum (decoder_t *self, const message_enum_t *type, const pack_item_t *item, void *value)
{
    status_t status = s_read_integer (self, FIELD_ENUM, item, value);
    return status ? status : message_check_enum (type, item->number, self->error);
}

static status_t
s_read_string (decoder_t *self, size_t max, const pack_item_t *item, span_t *value)
{
    if (item->kind != PACK_STRING)
        return s_fail_kind (self, "a string", item);
    *value = item->bytes;
    return message_check_text (item->bytes, max, self->error);
}

static status_t
s_read_bin (decoder_t *self, size_t max, span_t *value)
{
    status_t status = s_next_bin (self, value);
    return status ? status : message_check_size (value->size, max, "bytes", self->error);
}

static status_t
s_read_hash (decoder_t *self, const pack_item_t *item, hash128_t *value)
{
    if (item->kind != PACK_BIN || item->bytes.size != HASH128_SIZE)
        return error_set (self->error, STATUS_INVALID, "must be a bin of 16 bytes");
    *value = hash128_from_bytes (item->bytes.data);
    return STATUS_OK;
}

static status_t
s_read_bool (decoder_t *self, const pack_item_t *item, bool *value)
{
    if (item->kind != PACK_BOOL)
        return s_fail_kind (self, "a boolean", item);
    *value = item->number != 0;
    return STATUS_OK;
}

static status_t
s_read_value (decoder_t *self, const message_field_t *field, size_t max, void *value)
{
    if (field->kind == FIELD_STRUCT)
        return s_read_message (self, field->structure, value);
    if (field->kind == FIELD_BIN)
        return s_read_bin (self, max, value);
    pack_item_t item;
    status_t status = s_next (self, &item);
    if (status)
        return status;
    switch (field->kind) {
    case FIELD_BOOL:
        return s_read_bool (self, &item, value);
    case FIELD_F64:
        return s_read_float (self, &item, value);
    case FIELD_ENUM:
        return s_read_enum (self, field->enumeration, &item, value);
    case FIELD_HASH128:
        return s_read_hash (self, &item, value);
    case FIELD_STRING:
        return s_read_string (self, max, &item, value);
    default:
        return s_read_integer (self, field->kind, &item, value);
    }
}

//  width: bytes of an element.
static status_t
s_read_column (decoder_t *self, const message_field_t *field, size_t width, column_t *column)
{
    span_t bytes;
    status_t status = s_next_bin (self, &bytes);
    if (status)
        return status;
    if (bytes.size % width)
        return error_set (self->error, STATUS_INVALID, "must be a bin of %zu bytes an element", width);
    *column = (column_t){ bytes.data, bytes.size / width };
    return message_check_size (column->count, field->max, "elements", self->error);
}

static status_t
s_read_list (decoder_t *self, const message_field_t *field, void **elements, size_t *count)
{
    pack_item_t item;
    status_t status = s_next (self, &item);
    if (status)
        return status;
    if (item.kind != PACK_ARRAY)
        return s_fail_kind (self, "an array", &item);
    size_t size = message_element_size (field);
    status = message_check_size (item.number, field->max, "elements", self->error);
    if (status || item.number == 0)
        return status;
    char *list = self->arena ? arena_new (self->arena, item.number * size) : NULL;
    if (!list)
        return error_set (
            self->error, STATUS_LIMIT, "has %zu elements, for which the arena has no room", (size_t)item.number);
    for (size_t i = 0; i < item.number && !status; i++)
        status = s_read_value (self, field, field->item_max, list + i * size);
    *elements = list;
    *count = item.number;
    return status;
}

static status_t
s_read_present (decoder_t *self, const message_field_t *field, char *out)
{
    void *value = out + field->offset;
    void *aside = out + field->aside;
    size_t width = message_column_width (field);
    if (field->list)
        return width ? s_read_column (self, field, width, value) : s_read_list (self, field, value, aside);
    if (field->optional)
        *(bool *)aside = true;
    return s_read_value (self, field, field->max, value);
}

//  An optional enum with a value from the future is as good as absent; a required one is an error.
static bool
s_take_unknown_enum (decoder_t *self, const message_field_t *field)
{
    pack_reader_t ahead = self->pack;
    pack_item_t item;
    if (field->kind != FIELD_ENUM || !pack_read (&ahead, &item) || item.kind != PACK_UINT || item.number > UINT32_MAX ||
        message_enum_has (field->enumeration, (uint32_t)item.number))
        return false;
    self->pack = ahead;
    return true;
}

static status_t
s_read_field (decoder_t *self, const message_field_t *field, char *out)
{
    if (field->optional && (pack_take_nil (&self->pack) || s_take_unknown_enum (self, field)))
        return STATUS_OK;
    status_t status = s_read_present (self, field, out);
    if (status)
        error_prefix (self->error, "%s", field->name);
    return status;
}

//  Returns field_count for an unknown key.  Most often it is one of the next: those before were optional.
static size_t
s_find_key (const message_type_t *type, span_t key, size_t expected)
{
    for (size_t i = 0; i < type->field_count; i++) {
        size_t position = expected + i < type->field_count ? expected + i : expected + i - type->field_count;
        if (span_equal_string (key, type->fields [position].key))
            return position;
    }
    return type->field_count;
}

static status_t
s_check_all_there (decoder_t *self, const message_type_t *type, uint64_t seen)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (!type->fields [i].optional && !(seen >> i & 1))
            return error_set (self->error, STATUS_INVALID, "%s is missing", type->fields [i].name);
    return STATUS_OK;
}

//  Keys come in the order of the schema from our own writers: the expected one is looked at first.
static status_t
s_read_key (decoder_t *self, const message_type_t *type, size_t expected, size_t *position)
{
    pack_item_t key;
    *position = expected;
    if (expected < type->field_count && pack_take_string (&self->pack, type->fields [expected].key))
        return STATUS_OK;
    status_t status = s_next (self, &key);
    if (status)
        return status;
    if (key.kind != PACK_STRING)
        return error_set (self->error, STATUS_INVALID, "a key must be a string, is %s", pack_kind_name (key.kind));
    *position = s_find_key (type, key.bytes, expected);
    return STATUS_OK;
}

static status_t
s_read_pair (decoder_t *self, const message_type_t *type, uint64_t *seen, size_t *expected, void *out)
{
    size_t position;
    status_t status = s_read_key (self, type, *expected, &position);
    if (status)
        return status;
    if (position == type->field_count)
        return pack_skip (&self->pack) ? STATUS_OK : s_fail_pack (self);
    if (*seen >> position & 1)
        return error_set (self->error, STATUS_INVALID, "%s comes twice", type->fields [position].name);
    *seen |= (uint64_t)1 << position;
    *expected = position + 1;
    return s_read_field (self, &type->fields [position], out);
}

static status_t
s_read_map (decoder_t *self, const message_type_t *type, void *out)
{
    pack_item_t map;
    status_t status = s_next (self, &map);
    if (status)
        return status;
    if (map.kind != PACK_MAP)
        return s_fail_kind (self, "a map", &map);
    uint64_t seen = 0;
    size_t expected = 0;
    for (uint64_t i = 0; i < map.number && !status; i++)
        status = s_read_pair (self, type, &seen, &expected, out);
    return status ? status : s_check_all_there (self, type, seen);
}

static status_t
s_read_array (decoder_t *self, const message_type_t *type, void *out)
{
    uint64_t count;
    status_t status = s_next_array (self, &count);
    if (status)
        return status;
    size_t known = count < type->field_count ? count : type->field_count;
    for (size_t i = 0; i < known && !status; i++)
        status = s_read_field (self, &type->fields [i], out);
    for (uint64_t i = known; i < count && !status; i++)
        status = pack_skip (&self->pack) ? STATUS_OK : s_fail_pack (self);
    return status || known == type->field_count ? status : s_check_all_there (self, type, ((uint64_t)1 << known) - 1);
}

static status_t
s_read_message (decoder_t *self, const message_type_t *type, void *out)
{
    return type->hot ? s_read_array (self, type, out) : s_read_map (self, type, out);
}

status_t
message_decode (const message_type_t *type, span_t bytes, arena_t *arena, void *out, error_t *error)
{
    decoder_t decoder = { .arena = arena, .error = error };
    pack_reader_init (&decoder.pack, bytes);
    memset (out, 0, type->size);
    status_t status = s_read_message (&decoder, type, out);
    if (!status && decoder.pack.left.size)
        status = error_set (error, STATUS_INVALID, "%zu bytes stand behind the message", decoder.pack.left.size);
    if (status)
        error_prefix (error, "%s", type->name);
    return status;
}
