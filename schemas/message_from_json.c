//  Messages from JSON as message_to_json writes it, typed by people: unknown fields and values are refused by name.

#include "schemas/message.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/suggest.h"
#include "schemas/message_field.h"

typedef struct {
    arena_t *arena;    //  For everything that is not in the struct itself
    error_t *error;    //  Where the sentence goes
} reader_t;

static status_t s_read_message (reader_t *self, const message_type_t *type, const json_t *json, void *out);

static status_t
s_fail_kind (reader_t *self, const char *wanted, const json_t *json)
{
    return error_set (self->error, STATUS_INVALID, "must be %s, is %s", wanted, json_kind_name (json_kind (json)));
}

static void *
s_new (reader_t *self, size_t size, status_t *status)
{
    void *memory = arena_new (self->arena, size);
    *status = memory ? STATUS_OK
                     : error_set (self->error, STATUS_LIMIT, "has %zu bytes, for which the arena has no room", size);
    return memory;
}

static int
s_hex_digit (uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

static status_t
s_read_hex (reader_t *self, span_t digits, uint8_t *out)
{
    for (size_t i = 0; i + 1 < digits.size; i += 2) {
        int high = s_hex_digit (digits.data [i]);
        int low = s_hex_digit (digits.data [i + 1]);
        if (high < 0 || low < 0)
            return error_set (self->error, STATUS_INVALID, "is not hexadecimal at digit %zu", i);
        out [i / 2] = (uint8_t)(high << 4 | low);
    }
    return digits.size % 2 ? error_set (self->error, STATUS_INVALID, "has an odd number of hexadecimal digits")
                           : STATUS_OK;
}

static status_t
s_read_text (reader_t *self, const json_t *json, span_t *text)
{
    if (json_kind (json) != JSON_STRING)
        return s_fail_kind (self, "a string", json);
    span_t borrowed = json_string (json);
    *text = arena_copy (self->arena, borrowed);
    if (borrowed.size && !text->data)
        return error_set (self->error, STATUS_LIMIT, "has %zu bytes, for which the arena has no room", borrowed.size);
    return STATUS_OK;
}

static status_t
s_read_bin (reader_t *self, const json_t *json, span_t *bytes)
{
    status_t status = s_read_text (self, json, bytes);
    if (status || !span_starts_with (*bytes, SPAN ("hex:")))
        return status;
    span_t digits = span_slice (*bytes, 4, bytes->size);
    //  Decoded in place: two digits make one byte.
    uint8_t *out = (uint8_t *)(uintptr_t)bytes->data;
    bytes->size = digits.size / 2;
    return s_read_hex (self, digits, out);
}

static status_t
s_read_hash_bytes (reader_t *self, const json_t *json, uint8_t bytes [HASH128_SIZE])
{
    span_t digits = json_string (json);
    if (digits.size != 2 * HASH128_SIZE)
        return error_set (self->error, STATUS_INVALID, "must be a string of 32 hexadecimal digits");
    return s_read_hex (self, digits, bytes);
}

static status_t
s_read_integer (reader_t *self, message_field_kind_t kind, const json_t *json, void *value)
{
    const message_range_t *range = message_range (kind);
    uint64_t number = 0;
    int64_t negative = 0;
    if (!json_to_u64 (json, &number) && !json_to_i64 (json, &negative))
        return s_fail_kind (self, "an integer", json);
    if (negative < 0)
        number = (uint64_t)negative;
    message_store (range, value, number);
    return message_check_range (range, negative < 0, number, self->error);
}

static status_t
s_read_enum (reader_t *self, const message_enum_t *type, const json_t *json, uint32_t *value)
{
    if (json_kind (json) != JSON_STRING)
        return s_fail_kind (self, "a string", json);
    span_t name = json_string (json);
    if (!message_enum_find (type, name, value))
        return error_set (self->error, STATUS_INVALID, "\"%.*s\" is no %s", SPAN_ARG (name), type->name);
    return STATUS_OK;
}

static status_t
s_read_value (reader_t *self, const message_field_t *field, const json_t *json, void *out)
{
    uint8_t bytes [HASH128_SIZE] = { 0 };
    status_t status = STATUS_OK;
    switch (field->kind) {
    case FIELD_BOOL:
        *(bool *)out = json_is_true (json);
        return json_kind (json) == JSON_BOOL ? STATUS_OK : s_fail_kind (self, "a boolean", json);
    case FIELD_F64:
        return json_to_double (json, out) && isfinite (*(double *)out) ? STATUS_OK
                                                                       : s_fail_kind (self, "a number", json);
    case FIELD_ENUM:
        return s_read_enum (self, field->enumeration, json, out);
    case FIELD_HASH128:
        status = s_read_hash_bytes (self, json, bytes);
        *(hash128_t *)out = hash128_from_bytes (bytes);
        return status;
    case FIELD_STRING:
        return s_read_text (self, json, out);
    case FIELD_BIN:
        return s_read_bin (self, json, out);
    case FIELD_STRUCT:
        return s_read_message (self, field->structure, json, out);
    default:
        return s_read_integer (self, field->kind, json, out);
    }
}

//  Elements of a column have in memory the bytes they have on the wire, but for hashes.
static status_t
s_read_element (reader_t *self, const message_field_t *field, const json_t *json, void *out)
{
    if (field->kind == FIELD_HASH128)
        return s_read_hash_bytes (self, json, out);
    return s_read_value (self, field, json, out);
}

static status_t
s_read_list (reader_t *self, const message_field_t *field, const json_t *json, char *message)
{
    if (json_kind (json) != JSON_ARRAY)
        return s_fail_kind (self, "an array", json);
    size_t count = json_count (json);
    if (count == 0)
        return STATUS_OK;
    size_t width = message_column_width (field);
    size_t size = width ? width : message_element_size (field);
    status_t status;
    char *elements = s_new (self, count * size, &status);
    for (size_t i = 0; i < count && !status; i++)
        status = s_read_element (self, field, json_at (json, i), elements + i * size);
    if (status)
        return status;
    if (width)
        *(column_t *)(void *)(message + field->offset) = (column_t){ (const uint8_t *)elements, count };
    else {
        *(void **)(void *)(message + field->offset) = elements;
        *(size_t *)(void *)(message + field->aside) = count;
    }
    return STATUS_OK;
}

static status_t
s_read_field (reader_t *self, const message_field_t *field, const json_t *json, char *message)
{
    if (!json && field->optional)
        return STATUS_OK;
    if (!json)
        return error_set (self->error, STATUS_INVALID, "is missing");
    if (field->list)
        return s_read_list (self, field, json, message);
    if (field->optional)
        *(bool *)(message + field->aside) = true;
    return s_read_value (self, field, json, message + field->offset);
}

static status_t
s_fail_name (reader_t *self, const message_type_t *type, span_t name)
{
    suggest_t suggest;
    suggest_init (&suggest, name);
    for (size_t i = 0; i < type->field_count; i++)
        suggest_offer (&suggest, type->fields [i].name);
    return error_set (
        self->error, STATUS_INVALID, "there is no field \"%.*s\"%s", SPAN_ARG (name), suggest_text (&suggest));
}

static status_t
s_check_names (reader_t *self, const message_type_t *type, const json_t *json)
{
    uintptr_t cursor = 0;
    span_t name;
    const json_t *value;
    while (json_next (json, &cursor, &name, &value)) {
        bool known = false;
        for (size_t i = 0; i < type->field_count; i++)
            known = known || span_equal_string (name, type->fields [i].name);
        if (!known)
            return s_fail_name (self, type, name);
    }
    return STATUS_OK;
}

static status_t
s_read_message (reader_t *self, const message_type_t *type, const json_t *json, void *out)
{
    if (json_kind (json) != JSON_OBJECT)
        return s_fail_kind (self, "an object", json);
    status_t status = s_check_names (self, type, json);
    for (size_t i = 0; i < type->field_count && !status; i++) {
        const message_field_t *field = &type->fields [i];
        status = s_read_field (self, field, json_get (json, field->name), out);
        if (status)
            error_prefix (self->error, "%s", field->name);
    }
    return status;
}

status_t
message_from_json (const message_type_t *type, span_t json, arena_t *arena, void *out, error_t *error)
{
    reader_t reader = { .arena = arena, .error = error };
    json_t *root = NULL;
    status_t status = json_parse (json, &root, error);
    if (status)
        return status;
    memset (out, 0, type->size);
    status = s_read_message (&reader, type, root, out);
    json_destroy (&root);
    if (status) {
        error_prefix (error, "%s", type->name);
        return status;
    }
    return message_check (type, out, error);
}
