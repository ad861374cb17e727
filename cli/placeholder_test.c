//  What is a name to fill in, and what is only braces.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cli/placeholder.h"

static const char *const s_names [] = { "port", "model", NULL };
static const char *const s_values [] = { "8210", "small", NULL };

static const struct {
    const char *text;       //  As written
    const char *filled;     //  As it is run
    const char *unknown;    //  What is complained about; "": nothing
} s_cases [] = {
    { "--port={port}", "--port=8210", "" },
    { "{model}/{port}{port}", "small/82108210", "" },
    { "{prot}", "{prot}", "prot" },
    { "{port}-{Port}", "8210-{Port}", "Port" },
    { "", "", "" },
    { "{", "{", "" },
    { "{port", "{port", "" },
    { "{}", "{}", "" },
    { "a{3}", "a{3}", "" },
    { "{\"enable_thinking\": false}", "{\"enable_thinking\": false}", "" },
    { "{a, b}", "{a, b}", "" },
    { "{{bos_token}}", "{{bos_token}}", "" },
    { "{{ x }}{y}", "{{ x }}{y}", "y" },
};

static void
test_known_names_are_filled_in_and_others_are_told (void **state)
{
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; i++) {
        buffer_t text = { 0 };
        placeholder_fill (s_cases [i].text, s_names, s_values, &text);
        assert_string_equal (buffer_string (&text), s_cases [i].filled);
        buffer_clear (&text);
        buffer_append (&text, placeholder_unknown (s_cases [i].text, s_names));
        assert_string_equal (buffer_string (&text), s_cases [i].unknown);
        buffer_fini (&text);
    }
}

static void
test_a_complaint_names_what_was_meant_or_what_there_is (void **state)
{
    buffer_t text = { 0 };
    placeholder_complain (SPAN ("prot"), s_names, &text);
    assert_string_equal (buffer_string (&text), "there is nothing to fill in for '{prot}'; did you mean '{port}'?");
    buffer_clear (&text);
    placeholder_complain (SPAN ("rank"), s_names, &text);
    assert_string_equal (buffer_string (&text), "there is nothing to fill in for '{rank}'; known: {port} {model}");
    buffer_fini (&text);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_known_names_are_filled_in_and_others_are_told),
        cmocka_unit_test (test_a_complaint_names_what_was_meant_or_what_there_is),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
