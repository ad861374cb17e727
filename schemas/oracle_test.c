//  msgpack-c as the oracle: what our readers accept, it parses, to the same values.
//
//  The other way round it is asked only about what it has packed itself: it allocates by any count it is told.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include <msgpack.h>

#include "base/memory.h"
#include "base/random.h"
#include "schemas/message_field.h"
#include "schemas/pack_reader.h"
#include "schemas/vectors_test.h"

enum { ROUNDS = 20000, NOISE_MAX = 40, MUTATIONS = 150 };

//  ---- Items ---------------------------------------------------------------------------------------------------------

static bool
s_same_bytes (span_t bytes, const char *data, size_t size)
{
    return span_equal (bytes, span_of (data, size));
}

//  Reads one item and all in it, and compares each with the oracle's.
static bool
s_walk_agrees (pack_reader_t *reader, const msgpack_object *object)
{
    pack_item_t item;
    if (!pack_read (reader, &item))
        return false;
    bool same = true;
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
        return item.kind == PACK_NIL;
    case MSGPACK_OBJECT_BOOLEAN:
        return item.kind == PACK_BOOL && item.number == object->via.boolean;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return item.kind == PACK_UINT && item.number == object->via.u64;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return item.kind == PACK_INT && (int64_t)item.number == object->via.i64;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return item.kind == PACK_FLOAT && memcmp (&item.real, &object->via.f64, sizeof item.real) == 0;
    case MSGPACK_OBJECT_STR:
        return item.kind == PACK_STRING && s_same_bytes (item.bytes, object->via.str.ptr, object->via.str.size);
    case MSGPACK_OBJECT_BIN:
        return item.kind == PACK_BIN && s_same_bytes (item.bytes, object->via.bin.ptr, object->via.bin.size);
    case MSGPACK_OBJECT_EXT:
        return item.kind == PACK_EXT && (int8_t)item.bytes.data [0] == object->via.ext.type &&
               s_same_bytes (span_slice (item.bytes, 1, item.bytes.size), object->via.ext.ptr, object->via.ext.size);
    case MSGPACK_OBJECT_ARRAY:
        same = item.kind == PACK_ARRAY && item.number == object->via.array.size;
        for (uint32_t i = 0; i < object->via.array.size && same; i++)
            same = s_walk_agrees (reader, &object->via.array.ptr [i]);
        return same;
    case MSGPACK_OBJECT_MAP:
        same = item.kind == PACK_MAP && item.number == object->via.map.size;
        for (uint32_t i = 0; i < object->via.map.size && same; i++)
            same = s_walk_agrees (reader, &object->via.map.ptr [i].key) &&
                   s_walk_agrees (reader, &object->via.map.ptr [i].val);
        return same;
    }
    return false;
}

//  The oracle reads as many bytes as we did, and finds the same.
static void
s_assert_oracle_agrees (span_t bytes)
{
    msgpack_unpacked unpacked;
    msgpack_unpacked_init (&unpacked);
    size_t end = 0;
    assert_int_equal (
        msgpack_unpack_next (&unpacked, (const char *)bytes.data, bytes.size, &end), MSGPACK_UNPACK_SUCCESS);
    assert_int_equal (end, bytes.size);
    pack_reader_t reader;
    pack_reader_init (&reader, bytes);
    assert_true (s_walk_agrees (&reader, &unpacked.data));
    assert_int_equal (reader.left.size, 0);
    msgpack_unpacked_destroy (&unpacked);
}

//  Mostly format bytes that matter, so that noise gets beyond its first byte.
static size_t
s_make_noise (random_t *random, uint8_t *bytes)
{
    size_t size = random_below (random, NOISE_MAX) + 1;
    for (size_t i = 0; i < size; i++)
        bytes [i] = (uint8_t)(random_below (random, 3) ? random_u64 (random) : 0x80 + random_below (random, 0x60));
    return size;
}

static void
test_the_oracle_parses_what_we_accept (void **state)
{
    random_t random;
    uint64_t seed = 21;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&random, seed);
    size_t accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t noise [NOISE_MAX];
        span_t bytes = span_of (noise, s_make_noise (&random, noise));
        pack_reader_t reader;
        pack_reader_init (&reader, bytes);
        if (!pack_skip (&reader)) {
            assert_non_null (reader.problem);
            continue;
        }
        accepted++;
        s_assert_oracle_agrees (span_slice (bytes, 0, bytes.size - reader.left.size));
    }
    assert_true (accepted > ROUNDS / 10);
}

static void
s_pack_random (msgpack_packer *pack, random_t *random, int depth)
{
    static const char text [70000];
    static const size_t sizes [] = { 0, 1, 2, 4, 8, 15, 16, 31, 32, 255, 256, 65535, 65536 };
    size_t size = sizes [random_below (random, sizeof sizes / sizeof sizes [0])];
    size_t count = depth ? random_below (random, 20) : 0;
    uint64_t number = random_u64 (random) >> random_below (random, 64);
    switch (random_below (random, 10)) {
    case 0:
        msgpack_pack_nil (pack);
        break;
    case 1:
        msgpack_pack_true (pack);
        break;
    case 2:
        msgpack_pack_uint64 (pack, number);
        break;
    case 3:
        msgpack_pack_int64 (pack, -(int64_t)(number >> 1));
        break;
    case 4:
        msgpack_pack_double (pack, (double)number);
        break;
    case 5:
        msgpack_pack_float (pack, (float)number);
        break;
    case 6:
        msgpack_pack_str_with_body (pack, text, size);
        break;
    case 7:
        msgpack_pack_bin_with_body (pack, text, size);
        break;
    case 8:
        msgpack_pack_ext_with_body (pack, text, size, (int8_t)number);
        break;
    default:
        if (number % 2)
            msgpack_pack_array (pack, count);
        else
            msgpack_pack_map (pack, count);
        for (size_t i = 0; i < count * (2 - number % 2); i++)
            s_pack_random (pack, random, depth - 1);
    }
}

static void
test_we_accept_what_the_oracle_packs (void **state)
{
    random_t random;
    uint64_t seed = 22;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&random, seed);
    for (int round = 0; round < 3000; round++) {
        msgpack_sbuffer packed;
        msgpack_packer pack;
        msgpack_sbuffer_init (&packed);
        msgpack_packer_init (&pack, &packed, msgpack_sbuffer_write);
        s_pack_random (&pack, &random, 4);
        pack_reader_t reader;
        pack_reader_init (&reader, span_of (packed.data, packed.size));
        assert_true (pack_skip (&reader));
        assert_int_equal (reader.left.size, 0);
        s_assert_oracle_agrees (span_of (packed.data, packed.size));
        msgpack_sbuffer_destroy (&packed);
    }
}

//  ---- Messages ------------------------------------------------------------------------------------------------------

static const msgpack_object *
s_oracle_field (const message_type_t *type, const msgpack_object *object, size_t position)
{
    if (type->hot)
        return position < object->via.array.size ? &object->via.array.ptr [position] : NULL;
    span_t key = span_from_string (type->fields [position].key);
    for (uint32_t i = 0; i < object->via.map.size; i++) {
        const msgpack_object *found = &object->via.map.ptr [i].key;
        if (found->type == MSGPACK_OBJECT_STR && s_same_bytes (key, found->via.str.ptr, found->via.str.size))
            return &object->via.map.ptr [i].val;
    }
    return NULL;
}

static bool s_message_agrees (const message_type_t *type, const msgpack_object *object, const void *message);

static uint64_t
s_as_u64 (message_field_kind_t kind, const void *value)
{
    switch (kind) {
    case FIELD_BOOL:
        return *(const bool *)value;
    case FIELD_U8:
        return *(const uint8_t *)value;
    case FIELD_U16:
        return *(const uint16_t *)value;
    case FIELD_I32:
        return (uint64_t)(int64_t) * (const int32_t *)value;
    case FIELD_U64:
    case FIELD_I64:
        return *(const uint64_t *)value;
    default:
        return *(const uint32_t *)value;
    }
}

static double
s_as_double (const msgpack_object *object)
{
    if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        return (double)object->via.u64;
    return object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER ? (double)object->via.i64 : object->via.f64;
}

static bool
s_value_agrees (const message_field_t *field, const msgpack_object *object, const void *value)
{
    uint8_t hash [HASH128_SIZE];
    switch (field->kind) {
    case FIELD_STRUCT:
        return s_message_agrees (field->structure, object, value);
    case FIELD_STRING:
        return s_same_bytes (*(const span_t *)value, object->via.str.ptr, object->via.str.size);
    case FIELD_BIN:
        return s_same_bytes (*(const span_t *)value, object->via.bin.ptr, object->via.bin.size);
    case FIELD_HASH128:
        hash128_to_bytes (*(const hash128_t *)value, hash);
        return s_same_bytes (span_of (hash, sizeof hash), object->via.bin.ptr, object->via.bin.size);
    case FIELD_F64:
        return *(const double *)value == s_as_double (object);
    case FIELD_BOOL:
        return s_as_u64 (FIELD_BOOL, value) == object->via.boolean;
    default:
        return s_as_u64 (field->kind, value) == object->via.u64;
    }
}

static bool
s_list_agrees (const message_field_t *field, const msgpack_object *object, const void *message)
{
    size_t width = message_column_width (field);
    size_t count = message_field_count (field, message);
    if (width) {
        const column_t *column = message_field_value (field, message);
        return s_same_bytes (span_of (column->data, count * width), object->via.bin.ptr, object->via.bin.size);
    }
    bool same = count == object->via.array.size;
    for (size_t i = 0; i < count && same; i++)
        same = s_value_agrees (field, &object->via.array.ptr [i], message_field_element (field, message, i));
    return same;
}

static bool
s_message_agrees (const message_type_t *type, const msgpack_object *object, const void *message)
{
    bool same = object->type == (type->hot ? MSGPACK_OBJECT_ARRAY : MSGPACK_OBJECT_MAP);
    for (size_t i = 0; i < type->field_count && same; i++) {
        const message_field_t *field = &type->fields [i];
        const msgpack_object *found = s_oracle_field (type, object, i);
        bool absent = !found || found->type == MSGPACK_OBJECT_NIL;
        if (!message_field_is_present (field, message))
            same = absent || field->list || field->kind == FIELD_ENUM;
        else
            same = !absent && (field->list ? s_list_agrees (field, found, message)
                                           : s_value_agrees (field, found, message_field_value (field, message)));
    }
    return same;
}

static bool
s_decode_and_compare (const message_type_t *type, span_t bytes, arena_t *arena)
{
    void *message = memory_new (type->size);
    bool accepted = message_decode (type, bytes, arena, message, NULL) == STATUS_OK;
    if (accepted) {
        msgpack_unpacked unpacked;
        msgpack_unpacked_init (&unpacked);
        size_t end = 0;
        assert_int_equal (
            msgpack_unpack_next (&unpacked, (const char *)bytes.data, bytes.size, &end), MSGPACK_UNPACK_SUCCESS);
        assert_int_equal (end, bytes.size);
        assert_true (s_message_agrees (type, &unpacked.data, message));
        msgpack_unpacked_destroy (&unpacked);
    }
    memory_free (message);
    arena_clear (arena);
    return accepted;
}

//  A few bytes changed, one put in, or some taken out.
static void
s_mutate (random_t *random, buffer_t *bytes)
{
    size_t at = random_below (random, bytes->size);
    switch (random_below (random, 4)) {
    case 0:
        buffer_append_byte (bytes, 0);
        memmove (bytes->data + at + 1, bytes->data + at, bytes->size - at - 1);
        bytes->data [at] = (uint8_t)random_u64 (random);
        break;
    case 1:
        memmove (bytes->data + at, bytes->data + at + 1, bytes->size - at - 1);
        bytes->size--;
        break;
    default:
        bytes->data [at] = (uint8_t)random_u64 (random);
    }
}

static void
test_messages_agree_with_the_oracle_however_they_are_bent (void **state)
{
    random_t random;
    uint64_t seed = 23;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_init (&random, seed);
    json_t *vectors = vectors_read ();
    const json_t *messages = json_get (vectors, "messages");
    arena_t arena;
    arena_init (&arena, 1 << 20);
    size_t accepted = 0, refused = 0;
    for (size_t i = 0; i < json_count (messages); i++) {
        const message_type_t *type = vector_type (json_at (messages, i));
        buffer_t whole = vector_bytes (json_at (messages, i));
        assert_true (s_decode_and_compare (type, buffer_span (&whole), &arena));
        for (int mutation = 0; mutation < MUTATIONS; mutation++) {
            buffer_t bent = { 0 };
            buffer_append (&bent, buffer_span (&whole));
            for (uint64_t changes = random_below (&random, 3) + 1; changes && bent.size; changes--)
                s_mutate (&random, &bent);
            bool good = s_decode_and_compare (type, buffer_span (&bent), &arena);
            accepted += good;
            refused += !good;
            buffer_fini (&bent);
        }
        buffer_fini (&whole);
    }
    print_message ("%zu accepted, %zu refused\n", accepted, refused);
    assert_true (accepted > 1000 && refused > 1000);
    arena_fini (&arena);
    json_destroy (&vectors);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_oracle_parses_what_we_accept),
        cmocka_unit_test (test_we_accept_what_the_oracle_packs),
        cmocka_unit_test (test_messages_agree_with_the_oracle_however_they_are_bent),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
