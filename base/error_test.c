//  The sentence a person can act on.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/error.h"

static void
test_every_layer_puts_its_place_before_the_sentence (void **state)
{
    error_t error;
    assert_int_equal (error_set (&error, STATUS_INVALID, "line %d is empty", 3), STATUS_INVALID);
    assert_int_equal (error_prefix (&error, "%s", "fleet.yaml"), STATUS_INVALID);
    assert_int_equal (error.status, STATUS_INVALID);
    assert_string_equal (error.text, "fleet.yaml: line 3 is empty");
    error_clear (&error);
    assert_int_equal (error.status, STATUS_OK);
    assert_string_equal (error.text, "");
}

static void
test_nobody_needs_to_want_the_sentence (void **state)
{
    assert_int_equal (error_set (NULL, STATUS_IO, "gone"), STATUS_IO);
    assert_int_equal (error_prefix (NULL, "here"), STATUS_INTERNAL);
    error_clear (NULL);
}

static void
test_a_long_sentence_is_cut_and_ends (void **state)
{
    char text [2 * ERROR_TEXT_MAX];
    memset (text, 'x', sizeof text);
    text [sizeof text - 1] = '\0';
    error_t error;
    error_set (&error, STATUS_INVALID, "%s", text);
    assert_int_equal (strlen (error.text), ERROR_TEXT_MAX - 1);
    error_prefix (&error, "place");
    assert_int_equal (strlen (error.text), ERROR_TEXT_MAX - 1);
    assert_memory_equal (error.text, "place: xxx", 10);
    error_prefix (&error, "%s", text);
    assert_int_equal (strlen (error.text), ERROR_TEXT_MAX - 1);
}

static void
test_every_status_has_a_name_of_its_own (void **state)
{
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        for (unsigned j = 0; j <= i; j++)
            assert_true ((i == j) == (strcmp (status_name ((status_t)i), status_name ((status_t)j)) == 0));
    assert_string_equal (status_name (STATUS_NOT_FOUND), "not_found");
    assert_string_equal (status_name ((status_t)STATUS_COUNT), "unknown");
    assert_string_equal (status_name ((status_t)-1), "unknown");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_layer_puts_its_place_before_the_sentence),
        cmocka_unit_test (test_nobody_needs_to_want_the_sentence),
        cmocka_unit_test (test_a_long_sentence_is_cut_and_ends),
        cmocka_unit_test (test_every_status_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
