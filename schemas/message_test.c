//  Messages there and back, how they grow, and what a reader refuses, by a specimen that has a field of every kind.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "schemas/directory.h"
#include "schemas/event.h"
#include "schemas/kv.h"
#include "schemas/message.h"
#include "schemas/route.h"

typedef struct {
    span_t name;      //  Up to 4 bytes
    uint64_t size;    //  Any
} part_t;

static const message_field_t s_part_fields [] = {
    { .name = "name", .key = "n", .kind = FIELD_STRING, .offset = offsetof (part_t, name), .max = 4 },
    { .name = "size", .key = "s", .kind = FIELD_U64, .offset = offsetof (part_t, size) },
};

static const message_type_t part_message = {
    .name = "part", .size = sizeof (part_t), .fields = s_part_fields, .field_count = 2
};

typedef struct {
    bool has_flag;    //  Everything is optional, so that a message can hold a single field
    bool flag;
    bool has_u8;
    uint8_t u8;
    bool has_u16;
    uint16_t u16;
    bool has_u32;
    uint32_t u32;
    bool has_u64;
    uint64_t u64;
    bool has_i32;
    int32_t i32;
    bool has_i64;
    int64_t i64;
    bool has_f64;
    double f64;
    bool has_hash;
    hash128_t hash;
    bool has_tier;
    tier_t tier;
    bool has_text;
    span_t text;    //  Up to 4 bytes
    bool has_data;
    span_t data;    //  Up to 4 bytes
    bool has_part;
    part_t part;
    span_t *names;    //  Up to 2 of 3 bytes
    size_t names_count;
    part_t *parts;    //  Up to 3
    size_t parts_count;
    column_t numbers;    //  Up to 3
    column_t hashes;     //  Up to 3
} specimen_t;

#define FIELD(NAME, KIND, ...)                                                                                      \
    {                                                                                                               \
        .name = #NAME, .key = #NAME, .kind = FIELD_##KIND, .optional = true, .offset = offsetof (specimen_t, NAME), \
        .aside = offsetof (specimen_t, has_##NAME), __VA_ARGS__                                                     \
    }
#define LIST(NAME, KIND, ...)                                                              \
    {                                                                                      \
        .name = #NAME, .key = #NAME, .kind = FIELD_##KIND, .optional = true, .list = true, \
        .offset = offsetof (specimen_t, NAME), __VA_ARGS__                                 \
    }

static const message_field_t s_specimen_fields [] = {
    FIELD (flag, BOOL, .max = 0),
    FIELD (u8, U8, .max = 0),
    FIELD (u16, U16, .max = 0),
    FIELD (u32, U32, .max = 0),
    FIELD (u64, U64, .max = 0),
    FIELD (i32, I32, .max = 0),
    FIELD (i64, I64, .max = 0),
    FIELD (f64, F64, .max = 0),
    FIELD (hash, HASH128, .max = 0),
    FIELD (tier, ENUM, .enumeration = &tier_enum),
    FIELD (text, STRING, .max = 4),
    FIELD (data, BIN, .max = 4),
    FIELD (part, STRUCT, .structure = &part_message),
    LIST (names, STRING, .aside = offsetof (specimen_t, names_count), .max = 2, .item_max = 3),
    LIST (parts, STRUCT, .aside = offsetof (specimen_t, parts_count), .max = 3, .structure = &part_message),
    LIST (numbers, U32, .max = 3),
    LIST (hashes, HASH128, .max = 3),
};

enum { SPECIMEN_FIELDS = sizeof s_specimen_fields / sizeof s_specimen_fields [0] };

static const message_type_t specimen_message = {
    .name = "specimen", .size = sizeof (specimen_t), .fields = s_specimen_fields, .field_count = SPECIMEN_FIELDS
};

//  The same, hot: an array.
static const message_type_t hot_specimen_message = { .name = "specimen",
    .hot = true,
    .size = sizeof (specimen_t),
    .fields = s_specimen_fields,
    .field_count = SPECIMEN_FIELDS };

typedef struct {
    span_t bytes;            //  What is read
    const char *sentence;    //  What is wrong with it
} refusal_t;

#define BYTES(literal)                                   \
    {                                                    \
        (const uint8_t *)(literal), sizeof (literal) - 1 \
    }

static void
s_assert_refused (const message_type_t *type, const refusal_t *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        arena_t arena;
        error_t error = { 0 };
        specimen_t specimen;
        arena_init (&arena, 4096);
        status_t status = message_decode (type, refusals [i].bytes, &arena, &specimen, &error);
        assert_string_equal (error.text, refusals [i].sentence);
        assert_int_equal (status, STATUS_INVALID);
        arena_fini (&arena);
    }
}

#define ASSERT_REFUSED(type, refusals) s_assert_refused (type, refusals, sizeof refusals / sizeof refusals [0])

static status_t
s_read (const message_type_t *type, span_t bytes, specimen_t *specimen)
{
    return message_decode (type, bytes, NULL, specimen, NULL);
}

static void
test_a_call_comes_back_as_it_was (void **state)
{
    buffer_t packed = { 0 };
    column_pack_hash128 (&packed, (hash128_t){ 1, 2 });
    column_pack_hash128 (&packed, (hash128_t){ 3, 4 });
    span_t exclude [] = { SPAN ("worker/a"), SPAN ("worker/b") };
    route_t sent = {
        .request = SPAN ("r1"),
        .model = SPAN ("tiny"),
        .fingerprint = UINT64_MAX,
        .hashes = column_of_hash128 (buffer_span (&packed)),
        .prompt_tokens = 130,
        .exclude = exclude,
        .exclude_count = 2,
        .has_envelope = true,
        .envelope = { .has_priority = true, .priority = -5, .has_final = true, .final = true },
    };
    buffer_t bytes = { 0 };
    route_encode (&sent, &bytes);

    arena_t arena;
    arena_init (&arena, 4096);
    error_t error;
    route_t got;
    assert_int_equal (route_decode (&got, buffer_span (&bytes), &arena, &error), STATUS_OK);
    assert_true (span_equal_string (got.request, "r1"));
    assert_true (got.fingerprint == UINT64_MAX);
    assert_int_equal (got.hashes.count, 2);
    assert_int_equal (column_hash128 (got.hashes, 1).low, 4);
    assert_false (got.has_max_tokens);
    assert_int_equal (got.exclude_count, 2);
    assert_true (span_equal_string (got.exclude [1], "worker/b"));
    assert_true (got.has_envelope && got.envelope.has_priority && got.envelope.final);
    assert_int_equal (got.envelope.priority, -5);
    assert_false (got.envelope.has_session);

    arena_fini (&arena);
    buffer_fini (&bytes);
    buffer_fini (&packed);
}

static void
test_integers_keep_their_range (void **state)
{
    static const refusal_t refusals [] = {
        { BYTES ("\x81\xa2u8\xcd\x01\x00"), "specimen: u8: must be an integer from 0 to 255" },
        { BYTES ("\x81\xa2u8\xff"), "specimen: u8: must be an integer from 0 to 255" },
        { BYTES ("\x81\xa3u16\xce\x00\x01\x00\x00"), "specimen: u16: must be an integer from 0 to 65535" },
        { BYTES ("\x81\xa3u32\xcf\x00\x00\x00\x01\x00\x00\x00\x00"),
            "specimen: u32: must be an integer from 0 to 4294967295" },
        { BYTES ("\x81\xa3u64\xd3\xff\xff\xff\xff\xff\xff\xff\xff"),
            "specimen: u64: must be an integer from 0 to 18446744073709551615" },
        { BYTES ("\x81\xa3i32\xce\x80\x00\x00\x00"),
            "specimen: i32: must be an integer from -2147483648 to 2147483647" },
        { BYTES ("\x81\xa3i32\xd3\xff\xff\xff\xff\x7f\xff\xff\xff"),
            "specimen: i32: must be an integer from -2147483648 to 2147483647" },
        { BYTES ("\x81\xa3i64\xcf\x80\x00\x00\x00\x00\x00\x00\x00"),
            "specimen: i64: must be an integer from -9223372036854775808 to 9223372036854775807" },
        { BYTES ("\x81\xa2u8\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"), "specimen: u8: must be an integer, is a float" },
        { BYTES ("\x81\xa3i64\xa1"
                 "1"),
            "specimen: i64: must be an integer, is a string" },
        { BYTES ("\x81\xa3i64\xc3"), "specimen: i64: must be an integer, is a boolean" },
    };
    ASSERT_REFUSED (&specimen_message, refusals);

    //  Any format will do, as long as the value fits.
    specimen_t got;
    assert_int_equal (
        s_read (&specimen_message, SPAN ("\x81\xa2u8\xd3\x00\x00\x00\x00\x00\x00\x00\xff"), &got), STATUS_OK);
    assert_true (got.has_u8 && got.u8 == 255);
    assert_int_equal (s_read (&specimen_message, SPAN ("\x81\xa3i64\xd0\xff"), &got), STATUS_OK);
    assert_true (got.has_i64 && got.i64 == -1);
    assert_int_equal (s_read (&specimen_message, SPAN ("\x81\xa3i32\xd2\x80\x00\x00\x00"), &got), STATUS_OK);
    assert_true (got.has_i32 && got.i32 == INT32_MIN);
}

static void
test_floats_are_finite_and_may_come_as_integers (void **state)
{
    static const refusal_t refusals [] = {
        { BYTES ("\x81\xa3"
                 "f64\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00"),
            "specimen: f64: is not a finite number" },
        { BYTES ("\x81\xa3"
                 "f64\xca\x7f\xc0\x00\x00"),
            "specimen: f64: is not a finite number" },
        { BYTES ("\x81\xa3"
                 "f64\xa1x"),
            "specimen: f64: must be a number, is a string" },
    };
    ASSERT_REFUSED (&specimen_message, refusals);
    specimen_t got;
    assert_int_equal (s_read (&specimen_message,
                          SPAN ("\x81\xa3"
                                "f64\xfe"),
                          &got),
        STATUS_OK);
    assert_true (got.f64 == -2.0);
    assert_int_equal (s_read (&specimen_message,
                          SPAN ("\x81\xa3"
                                "f64\xca\x3f\x00\x00\x00"),
                          &got),
        STATUS_OK);
    assert_true (got.f64 == 0.5);
}

static void
test_kinds_and_bounds_are_kept (void **state)
{
    static const refusal_t refusals [] = {
        { BYTES ("\x81\xa4"
                 "flag\x01"),
            "specimen: flag: must be a boolean, is an integer" },
        { BYTES ("\x81\xa4"
                 "hash\xc4\x0f"
                 "123456789012345"),
            "specimen: hash: must be a bin of 16 bytes" },
        { BYTES ("\x81\xa4"
                 "hash\xb0"
                 "1234567890123456"),
            "specimen: hash: must be a bin of 16 bytes" },
        { BYTES ("\x81\xa4text\xa5"
                 "12345"),
            "specimen: text: has 5 bytes, at most 4 are allowed" },
        { BYTES ("\x81\xa4text\xa2\xc3("), "specimen: text: is not UTF-8" },
        { BYTES ("\x81\xa4text\xc4\x01x"), "specimen: text: must be a string, is a bin" },
        { BYTES ("\x81\xa4"
                 "data\xc4\x05"
                 "12345"),
            "specimen: data: has 5 bytes, at most 4 are allowed" },
        { BYTES ("\x81\xa4"
                 "data\xa1x"),
            "specimen: data: must be a bin, is a string" },
        { BYTES ("\x81\xa4part\x90"), "specimen: part: must be a map, is an array" },
        { BYTES ("\x81\xa4part\x82\xa1n\xa1x\xa1s\xff"),
            "specimen: part: size: must be an integer from 0 to 18446744073709551615" },
        { BYTES ("\x81\xa4part\x81\xa1n\xa1x"), "specimen: part: size is missing" },
        { BYTES ("\x81\xa5names\x93\xa1"
                 "a\xa1"
                 "b\xa1"
                 "c"),
            "specimen: names: has 3 elements, at most 2 are allowed" },
        { BYTES ("\x81\xa5names\x91\xa4"
                 "abcd"),
            "specimen: names: has 4 bytes, at most 3 are allowed" },
        { BYTES ("\x81\xa5names\xa1"
                 "a"),
            "specimen: names: must be an array, is a string" },
        { BYTES ("\x81\xa5parts\x91\xc0"), "specimen: parts: must be a map, is nil" },
        { BYTES ("\x81\xa7numbers\xc4\x05"
                 "12345"),
            "specimen: numbers: must be a bin of 4 bytes an element" },
        { BYTES ("\x81\xa7numbers\x91\x01"), "specimen: numbers: must be a bin, is an array" },
        { BYTES ("\x81\xa7numbers\xc4\x10"
                 "1234567890123456"),
            "specimen: numbers: has 4 elements, at most 3 are allowed" },
    };
    ASSERT_REFUSED (&specimen_message, refusals);
}

static void
test_a_map_has_each_key_once_and_all_that_are_required (void **state)
{
    static const refusal_t refusals [] = {
        { BYTES ("\x82\xa2u8\x01\xa2u8\x01"), "specimen: u8 comes twice" },
        { BYTES ("\x82\xa2u8\x01\xa2u8\xc0"), "specimen: u8 comes twice" },
        { BYTES ("\x81\x01\x01"), "specimen: a key must be a string, is an integer" },
        { BYTES ("\x81\xc4\x02u8\x01"), "specimen: a key must be a string, is a bin" },
        { BYTES ("\x90"), "specimen: must be a map, is an array" },
        { BYTES (""), "specimen: the message ends too early" },
        { BYTES ("\xc1"), "specimen: the message has the byte 0xc1, which MessagePack does not use" },
        { BYTES ("\x80\x80"), "specimen: 1 bytes stand behind the message" },
    };
    ASSERT_REFUSED (&specimen_message, refusals);

    error_t error;
    heartbeat_reply_t got;
    assert_int_equal (heartbeat_reply_decode (&got, SPAN ("\x81\xa1k\xc3"), NULL, &error), STATUS_INVALID);
    assert_string_equal (error.text, "heartbeat_reply: broker_incarnation is missing");
    assert_int_equal (heartbeat_reply_decode (&got, SPAN ("\x81\xa1k\xc3"), NULL, NULL), STATUS_INVALID);
}

static void
test_unknown_keys_are_stepped_over_and_nil_is_absent (void **state)
{
    specimen_t got;
    span_t bytes = SPAN ("\x84\xa6"
                         "future\x92\x81\xa1x\xc0\xd4\x01z\xa2u8\x07\xa3u16\xc0\xa4more\xc4\x02xy");
    assert_int_equal (s_read (&specimen_message, bytes, &got), STATUS_OK);
    assert_true (got.has_u8 && got.u8 == 7);
    assert_false (got.has_u16);
}

static void
test_what_is_stepped_over_nests_to_a_bound (void **state)
{
    char bytes [40] = "\x81\xa1x";
    specimen_t got;
    error_t error;
    memset (bytes + 3, 0x91, 17);
    bytes [3 + 16] = 0x01;
    assert_int_equal (s_read (&specimen_message, span_of (bytes, 3 + 17), &got), STATUS_OK);
    bytes [3 + 16] = (char)0x91;
    bytes [3 + 17] = 0x01;
    assert_int_equal (message_decode (&specimen_message, span_of (bytes, 3 + 18), NULL, &got, &error), STATUS_INVALID);
    assert_string_equal (error.text, "specimen: the message nests too deep");
}

static void
test_an_enum_value_from_the_future (void **state)
{
    //  Optional: absent.
    specimen_t got;
    assert_int_equal (s_read (&specimen_message, SPAN ("\x81\xa4tier\x63"), &got), STATUS_OK);
    assert_false (got.has_tier);
    assert_int_equal (s_read (&specimen_message, SPAN ("\x81\xa4tier\x03"), &got), STATUS_OK);
    assert_true (got.has_tier && got.tier == TIER_REMOTE);
    static const refusal_t refusals [] = { { BYTES ("\x81\xa4tier\xa1x"),
        "specimen: tier: must be an integer, is a string" } };
    ASSERT_REFUSED (&specimen_message, refusals);

    //  Required: an error.
    kv_cleared_t cleared;
    error_t error;
    assert_int_equal (kv_cleared_decode (&cleared, SPAN ("\x92\x01\x63"), NULL, &error), STATUS_INVALID);
    assert_string_equal (error.text, "kv_cleared: tier: 99 is no tier");
}

static void
test_a_hot_message_grows_at_the_end (void **state)
{
    specimen_t got;
    //  From an old writer: what it did not know is absent.
    assert_int_equal (s_read (&hot_specimen_message, SPAN ("\x92\xc3\x07"), &got), STATUS_OK);
    assert_true (got.flag && got.has_u8 && got.u8 == 7 && !got.has_u16);
    assert_int_equal (s_read (&hot_specimen_message, SPAN ("\x90"), &got), STATUS_OK);

    //  From a new writer: what we do not know is stepped over.
    kv_cleared_t cleared;
    assert_int_equal (kv_cleared_decode (&cleared, SPAN ("\x94\x05\x01\x92\x01\x02\xa1x"), NULL, NULL), STATUS_OK);
    assert_true (cleared.rank == 5 && cleared.tier == TIER_HOST);

    error_t error;
    assert_int_equal (kv_cleared_decode (&cleared, SPAN ("\x91\x05"), NULL, &error), STATUS_INVALID);
    assert_string_equal (error.text, "kv_cleared: tier is missing");
    assert_int_equal (kv_cleared_decode (&cleared, SPAN ("\x92\xc0\x01"), NULL, &error), STATUS_INVALID);
    assert_string_equal (error.text, "kv_cleared: rank: must be an integer, is nil");
    assert_int_equal (kv_cleared_decode (&cleared, SPAN ("\x80"), NULL, &error), STATUS_INVALID);
    assert_string_equal (error.text, "kv_cleared: must be an array, is a map");
}

//  A few bytes can claim gigabytes; nothing is allocated for what cannot be there.
static void
test_claims_are_checked_before_anything_is_allocated (void **state)
{
    static const refusal_t claims [] = {
        { BYTES ("\x81\xa5parts\xdd\xff\xff\xff\xff"), "specimen: parts: the message ends too early" },
        { BYTES ("\x81\xa5parts\xdc\x00\x03\x80\x80"), "specimen: parts: the message ends too early" },
        { BYTES ("\x81\xa4"
                 "data\xc6\xff\xff\xff\xff"),
            "specimen: data: the message ends too early" },
        { BYTES ("\x81\xa4text\xdb\xff\xff\xff\xff"), "specimen: text: the message ends too early" },
        { BYTES ("\xdf\xff\xff\xff\xff"), "specimen: the message ends too early" },
        { BYTES ("\x81\xa1x\xdf\xff\xff\xff\xff"), "specimen: the message ends too early" },
        { BYTES ("\x81\xa1x\xc9\xff\xff\xff\xff\x01"), "specimen: the message ends too early" },
    };
    for (size_t i = 0; i < sizeof claims / sizeof claims [0]; i++) {
        arena_t arena;
        specimen_t got;
        error_t error = { 0 };
        arena_init (&arena, SIZE_MAX);
        assert_int_equal (message_decode (&specimen_message, claims [i].bytes, &arena, &got, &error), STATUS_INVALID);
        assert_string_equal (error.text, claims [i].sentence);
        assert_int_equal (arena.used, 0);
        assert_null (arena.chunks);
        arena_fini (&arena);
    }
}

static void
test_a_full_arena_is_a_limit_not_a_crash (void **state)
{
    span_t bytes = SPAN ("\x81\xa5parts\x92\x82\xa1n\xa1"
                         "a\xa1s\x01\x82\xa1n\xa1"
                         "b\xa1s\x02");
    arena_t arena;
    specimen_t got;
    error_t error;
    arena_init (&arena, 2 * sizeof (part_t));
    assert_int_equal (message_decode (&specimen_message, bytes, &arena, &got, &error), STATUS_OK);
    assert_int_equal (got.parts_count, 2);
    assert_int_equal (got.parts [1].size, 2);
    arena_fini (&arena);

    arena_init (&arena, 2 * sizeof (part_t) - 1);
    assert_int_equal (message_decode (&specimen_message, bytes, &arena, &got, &error), STATUS_LIMIT);
    assert_string_equal (error.text, "specimen: parts: has 2 elements, for which the arena has no room");
    arena_fini (&arena);
    assert_int_equal (message_decode (&specimen_message, bytes, NULL, &got, &error), STATUS_LIMIT);
}

//  What is absent takes no byte in a map, and an empty optional list is absent.
static void
test_absent_fields_are_not_written (void **state)
{
    buffer_t bytes = { 0 };
    specimen_t specimen = { .has_u8 = true, .u8 = 7, .u16 = 9 };
    message_encode (&specimen_message, &specimen, &bytes);
    assert_true (span_equal (buffer_span (&bytes), SPAN ("\x81\xa2u8\x07")));
    buffer_clear (&bytes);
    message_encode (&hot_specimen_message, &specimen, &bytes);
    assert_int_equal (bytes.size, 3 + SPECIMEN_FIELDS);
    assert_memory_equal (bytes.data, "\xdc\x00\x11\xc0\x07\xc0", 6);
    buffer_fini (&bytes);
}

static void
s_assert_checked (const specimen_t *specimen, const char *sentence)
{
    error_t error = { 0 };
    assert_int_equal (message_check (&specimen_message, specimen, &error), STATUS_INVALID);
    assert_string_equal (error.text, sentence);

    //  And a reader would refuse it indeed.
    buffer_t bytes = { 0 };
    arena_t arena;
    specimen_t got;
    arena_init (&arena, 4096);
    message_encode (&specimen_message, specimen, &bytes);
    status_t status = message_decode (&specimen_message, buffer_span (&bytes), &arena, &got, NULL);
    assert_true (status == STATUS_INVALID || !got.has_tier);
    arena_fini (&arena);
    buffer_fini (&bytes);
}

static void
test_what_a_reader_would_refuse_can_be_asked_before (void **state)
{
    span_t names [] = { SPAN ("a"), SPAN ("bcde"), SPAN ("f") };
    part_t parts [] = { { .name = SPAN ("\xff") } };
    uint32_t numbers [4] = { 0 };
    s_assert_checked (&(specimen_t){ .has_text = true, .text = SPAN ("12345") },
        "specimen: text: has 5 bytes, at most 4 are allowed");
    s_assert_checked (&(specimen_t){ .has_text = true, .text = SPAN ("\xff") }, "specimen: text: is not UTF-8");
    s_assert_checked (&(specimen_t){ .has_data = true, .data = SPAN ("12345") },
        "specimen: data: has 5 bytes, at most 4 are allowed");
    s_assert_checked (&(specimen_t){ .has_tier = true, .tier = (tier_t)99 }, "specimen: tier: 99 is no tier");
    s_assert_checked (&(specimen_t){ .has_f64 = true, .f64 = NAN }, "specimen: f64: is not a finite number");
    s_assert_checked (
        &(specimen_t){ .names = names, .names_count = 3 }, "specimen: names: has 3 elements, at most 2 are allowed");
    s_assert_checked (
        &(specimen_t){ .names = names, .names_count = 2 }, "specimen: names: has 4 bytes, at most 3 are allowed");
    s_assert_checked (&(specimen_t){ .parts = parts, .parts_count = 1 }, "specimen: parts: name: is not UTF-8");
    s_assert_checked (&(specimen_t){ .numbers = column_of_u32 (numbers, 4) },
        "specimen: numbers: has 4 elements, at most 3 are allowed");

    specimen_t absent = { .text = SPAN ("12345"), .tier = (tier_t)99, .f64 = NAN };
    assert_int_equal (message_check (&specimen_message, &absent, NULL), STATUS_OK);
}

static void
s_assert_json_refused (const char *json, const char *sentence)
{
    arena_t arena;
    specimen_t got;
    error_t error = { 0 };
    arena_init (&arena, 4096);
    assert_int_equal (
        message_from_json (&specimen_message, span_from_string (json), &arena, &got, &error), STATUS_INVALID);
    assert_string_equal (error.text, sentence);
    arena_fini (&arena);
}

static void
test_json_that_is_no_such_message_is_refused_by_name (void **state)
{
    s_assert_json_refused ("[]", "specimen: must be an object, is an array");
    s_assert_json_refused ("{", "not JSON: it ends too early");
    s_assert_json_refused ("{\"u9\":1}", "specimen: there is no field \"u9\"; did you mean 'u8'?");
    s_assert_json_refused ("{\"nothing like it\":1}", "specimen: there is no field \"nothing like it\"");
    s_assert_json_refused ("{\"u8\":256}", "specimen: u8: must be an integer from 0 to 255");
    s_assert_json_refused ("{\"u8\":-1}", "specimen: u8: must be an integer from 0 to 255");
    s_assert_json_refused ("{\"u8\":\"1\"}", "specimen: u8: must be an integer, is a string");
    s_assert_json_refused ("{\"u8\":1.5}", "specimen: u8: must be an integer, is a number");
    s_assert_json_refused ("{\"i32\":-2147483649}", "specimen: i32: must be an integer from -2147483648 to 2147483647");
    s_assert_json_refused ("{\"flag\":1}", "specimen: flag: must be a boolean, is an integer");
    s_assert_json_refused ("{\"f64\":\"x\"}", "specimen: f64: must be a number, is a string");
    s_assert_json_refused ("{\"tier\":\"moon\"}", "specimen: tier: \"moon\" is no tier");
    s_assert_json_refused ("{\"tier\":1}", "specimen: tier: must be a string, is an integer");
    s_assert_json_refused ("{\"text\":\"12345\"}", "specimen: text: has 5 bytes, at most 4 are allowed");
    s_assert_json_refused ("{\"hash\":\"00\"}", "specimen: hash: must be a string of 32 hexadecimal digits");
    s_assert_json_refused (
        "{\"hash\":\"0000000000000000000000000000000g\"}", "specimen: hash: is not hexadecimal at digit 30");
    s_assert_json_refused ("{\"data\":\"hex:0\"}", "specimen: data: has an odd number of hexadecimal digits");
    s_assert_json_refused ("{\"data\":\"hex:zz\"}", "specimen: data: is not hexadecimal at digit 0");
    s_assert_json_refused ("{\"part\":{\"name\":\"a\"}}", "specimen: part: size: is missing");
    s_assert_json_refused ("{\"numbers\":[1,-1]}", "specimen: numbers: must be an integer from 0 to 4294967295");
    s_assert_json_refused ("{\"numbers\":[1,2,3,4]}", "specimen: numbers: has 4 elements, at most 3 are allowed");
    s_assert_json_refused ("{\"names\":\"a\"}", "specimen: names: must be an array, is a string");
}

//  A bin is text where that is readable, and text never looks like digits by accident.
static void
test_a_bin_in_json_comes_back_exactly (void **state)
{
    static const struct {
        span_t data;
        const char *json;
    } cases [] = {
        { BYTES ("ab\n"), "{\"data\":\"ab\\n\"}" },
        { BYTES ("\xc3\xa4"), "{\"data\":\"\xc3\xa4\"}" },
        { BYTES ("\xc3"), "{\"data\":\"hex:c3\"}" },
        { BYTES ("a\0"), "{\"data\":\"hex:6100\"}" },
        { BYTES ("\x7f"), "{\"data\":\"hex:7f\"}" },
        { BYTES ("hex:"), "{\"data\":\"hex:6865783a\"}" },
        { BYTES (""), "{\"data\":\"\"}" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases [0]; i++) {
        buffer_t json = { 0 };
        arena_t arena;
        specimen_t got;
        arena_init (&arena, 4096);
        message_to_json (&specimen_message, &(specimen_t){ .has_data = true, .data = cases [i].data }, &json);
        assert_string_equal (buffer_string (&json), cases [i].json);
        assert_int_equal (message_from_json (&specimen_message, buffer_span (&json), &arena, &got, NULL), STATUS_OK);
        assert_true (got.has_data && span_equal (got.data, cases [i].data));
        arena_fini (&arena);
        buffer_fini (&json);
    }
}

static void
test_messages_are_found_by_what_they_are_for (void **state)
{
    for (size_t i = 0; i < message_count (); i++)
        assert_ptr_equal (message_find (span_from_string (message_at (i)->name)), message_at (i));
    assert_ptr_equal (message_find (SPAN ("route_reply")), &route_reply_message);
    assert_null (message_find (SPAN ("")));
    assert_null (message_find (SPAN ("zzz")));
    assert_null (message_find (SPAN ("route_repl")));
    assert_ptr_equal (message_find_call (SPAN ("route")), &route_message);
    assert_ptr_equal (message_find_call (SPAN ("replay")), &replay_message);
    assert_null (message_find_call (SPAN ("route_reply")));
    assert_null (message_find_call (SPAN ("kv_stored")));
    assert_ptr_equal (message_find_event (STREAM_KV, 2), &kv_removed_message);
    assert_null (message_find_event (STREAM_KV, 0));
    assert_null (message_find_event (0, 0));
    assert_ptr_equal (route_message.reply, &route_reply_message);
    assert_ptr_equal (replay_message.item, &replayed_batch_message);
    assert_string_equal (stream_name (STREAM_LIFE), "life");
    assert_string_equal (stream_name (0), "unknown");
    assert_int_equal (stream_find (SPAN ("req")), STREAM_REQ);
    assert_int_equal (stream_find (SPAN ("re")), 0);
    assert_string_equal (tier_name (TIER_DISK), "disk");
    assert_string_equal (tier_name ((tier_t)99), "unknown");
    assert_true (schema_hash () != 0);
}

static void
test_columns_are_read_at_any_address (void **state)
{
    uint8_t bytes [1 + 3 * sizeof (uint64_t)];
    uint64_t values [] = { 1, UINT64_MAX, 0x0102030405060708 };
    memcpy (bytes + 1, values, sizeof values);
    column_t column = { bytes + 1, 3 };
    for (size_t i = 0; i < 3; i++)
        assert_true (column_u64 (column, i) == values [i]);
    assert_int_equal (column_u32 ((column_t){ bytes + 1, 6 }, 4), 0x05060708);
    assert_int_equal (column_u32 (column_of_u32 ((uint32_t []){ 5, 6 }, 2), 1), 6);
    assert_true (column_u64 (column_of_u64 (values, 3), 2) == values [2]);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_call_comes_back_as_it_was),
        cmocka_unit_test (test_integers_keep_their_range),
        cmocka_unit_test (test_floats_are_finite_and_may_come_as_integers),
        cmocka_unit_test (test_kinds_and_bounds_are_kept),
        cmocka_unit_test (test_a_map_has_each_key_once_and_all_that_are_required),
        cmocka_unit_test (test_unknown_keys_are_stepped_over_and_nil_is_absent),
        cmocka_unit_test (test_what_is_stepped_over_nests_to_a_bound),
        cmocka_unit_test (test_an_enum_value_from_the_future),
        cmocka_unit_test (test_a_hot_message_grows_at_the_end),
        cmocka_unit_test (test_claims_are_checked_before_anything_is_allocated),
        cmocka_unit_test (test_a_full_arena_is_a_limit_not_a_crash),
        cmocka_unit_test (test_absent_fields_are_not_written),
        cmocka_unit_test (test_what_a_reader_would_refuse_can_be_asked_before),
        cmocka_unit_test (test_json_that_is_no_such_message_is_refused_by_name),
        cmocka_unit_test (test_a_bin_in_json_comes_back_exactly),
        cmocka_unit_test (test_messages_are_found_by_what_they_are_for),
        cmocka_unit_test (test_columns_are_read_at_any_address),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
