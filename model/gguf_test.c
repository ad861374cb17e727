//  GGUF metadata: what is there is found, and a file that lies about its lengths is refused at every byte.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "model/gguf.h"

static void
s_put_string (buffer_t *file, const char *string)
{
    buffer_append_u64_le (file, strlen (string));
    buffer_append_string (file, string);
}

static void
s_put_key (buffer_t *file, const char *key, gguf_type_t type)
{
    s_put_string (file, key);
    buffer_append_u32_le (file, type);
}

static void
s_put_array (buffer_t *file, const char *key, gguf_type_t element, uint64_t count)
{
    s_put_key (file, key, GGUF_ARRAY);
    buffer_append_u32_le (file, element);
    buffer_append_u64_le (file, count);
}

//  Seven entries, one of each shape, and the start of something that is no metadata.
static void
s_put_file (buffer_t *file)
{
    buffer_append_string (file, "GGUF");
    buffer_append_u32_le (file, 3);
    buffer_append_u64_le (file, 2);
    buffer_append_u64_le (file, 7);
    s_put_key (file, "name", GGUF_STRING);
    s_put_string (file, "small");
    s_put_key (file, "count", GGUF_U32);
    buffer_append_u32_le (file, 7);
    s_put_key (file, "less", GGUF_I32);
    buffer_append_u32_le (file, UINT32_MAX);
    s_put_key (file, "yes", GGUF_BOOL);
    buffer_append_byte (file, 1);
    s_put_array (file, "texts", GGUF_STRING, 3);
    s_put_string (file, "a");
    s_put_string (file, "");
    s_put_string (file, "ccc");
    s_put_array (file, "scores", GGUF_F32, 2);
    buffer_append_u32_le (file, 0x3f800000);
    buffer_append_u32_le (file, 0xc0000000);
    s_put_array (file, "rows", GGUF_ARRAY, 1);
    buffer_append_u32_le (file, GGUF_I32);
    buffer_append_u64_le (file, 1);
    buffer_append_u32_le (file, 5);
}

static void
test_every_kind_of_value_is_found_by_its_key (void **state)
{
    buffer_t file = { 0 };
    gguf_t gguf;
    error_t error;
    uint64_t number = 9;
    s_put_file (&file);
    size_t end = file.size;
    buffer_append_string (&file, "tensors");
    assert_int_equal (gguf_init (&gguf, buffer_span (&file), &error), STATUS_OK);
    assert_int_equal (gguf.version, 3);
    assert_int_equal (gguf.tensors, 2);
    assert_int_equal (gguf.end, end);
    assert_true (span_equal_string (gguf_string (&gguf, "name"), "small"));
    assert_true (gguf_u64 (&gguf, "count", &number));
    assert_int_equal (number, 7);
    assert_false (gguf_u64 (&gguf, "less", &number));
    assert_false (gguf_u64 (&gguf, "name", &number));
    assert_int_equal (number, 7);
    assert_true (gguf_flag (&gguf, "yes", false));
    assert_true (gguf_flag (&gguf, "absent", true));
    assert_null (gguf_array (&gguf, "texts", GGUF_I32));
    assert_float_equal (gguf_f32_at (gguf_array (&gguf, "scores", GGUF_F32), 1), -2.0, 0);
    gguf_fini (&gguf);
    buffer_fini (&file);
}

static void
test_an_array_of_strings_is_walked_to_its_end (void **state)
{
    static const char *const expected [] = { "a", "", "ccc" };
    buffer_t file = { 0 };
    gguf_t gguf;
    span_t string;
    size_t cursor = 0, count = 0;
    s_put_file (&file);
    assert_int_equal (gguf_init (&gguf, buffer_span (&file), NULL), STATUS_OK);
    while (gguf_next_string (gguf_array (&gguf, "texts", GGUF_STRING), &cursor, &string))
        assert_true (span_equal_string (string, expected [count++]));
    assert_int_equal (count, 3);
    gguf_fini (&gguf);
    buffer_fini (&file);
}

static void
test_a_file_that_ends_too_early_is_refused_wherever_it_ends (void **state)
{
    buffer_t file = { 0 };
    s_put_file (&file);
    for (size_t size = 0; size < file.size; size++) {
        gguf_t gguf;
        error_t error = { 0 };
        char *cut = memory_copy (file.data, size);
        assert_int_equal (gguf_init (&gguf, span_of (cut, size), &error), STATUS_INVALID);
        assert_true (error.text [0]);
        memory_free (cut);
    }
    buffer_fini (&file);
}

static void
s_assert_refused (buffer_t *file, status_t status, const char *sentence)
{
    gguf_t gguf;
    error_t error = { 0 };
    assert_int_equal (gguf_init (&gguf, buffer_span (file), &error), status);
    assert_string_equal (error.text, sentence);
    buffer_fini (file);
}

static void
test_lengths_and_types_that_cannot_be_are_refused (void **state)
{
    buffer_t file = { 0 };
    buffer_append_string (&file, "GGUF");
    buffer_append_u32_le (&file, 1);
    s_assert_refused (&file, STATUS_UNSUPPORTED, "GGUF: version 1; this program reads 2 and 3");

    s_put_file (&file);
    memset (file.data + 24, 0xff, 8);
    s_assert_refused (&file, STATUS_INVALID, "GGUF: the metadata go on behind the end of what is there, at byte 32");

    s_put_file (&file);
    file.data [36] = 99;
    s_assert_refused (&file, STATUS_INVALID, "GGUF: type 99 at byte 36 is none");

    buffer_append_string (&file, "GGUF");
    buffer_append_u32_le (&file, 3);
    buffer_append_u64_le (&file, 0);
    buffer_append_u64_le (&file, 1);
    s_put_array (&file, "many", GGUF_F64, UINT64_MAX / 2);
    s_assert_refused (&file, STATUS_INVALID, "GGUF: the metadata go on behind the end of what is there, at byte 52");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_kind_of_value_is_found_by_its_key),
        cmocka_unit_test (test_an_array_of_strings_is_walked_to_its_end),
        cmocka_unit_test (test_a_file_that_ends_too_early_is_refused_wherever_it_ends),
        cmocka_unit_test (test_lengths_and_types_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
