//  Many actors, one page that Prometheus can read.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actors/frontend/exposition.h"

static void
test_metrics_of_one_name_stand_together (void **state)
{
    exposition_t exposition;
    buffer_t out = { 0 };
    exposition_init (&exposition);
    assert_true (exposition_add (&exposition,
        SPAN ("# HELP a Of a.\n# TYPE a counter\na{x=\"1\"} 5\n# HELP b Of b.\n# TYPE b gauge\nb -2\n"),
        SPAN ("router/0")));
    assert_true (exposition_add (&exposition,
        SPAN ("# HELP b Of b.\n# TYPE b gauge\nb 7\n# HELP a Of a.\n# TYPE a counter\na{x=\"} {\"} 6\na{} 1\n"),
        SPAN ("broker/0")));
    exposition_render (&exposition, &out);
    assert_string_equal (buffer_string (&out),
        "# HELP a Of a.\n# TYPE a counter\n"
        "a{actor=\"router/0\",x=\"1\"} 5\na{actor=\"broker/0\",x=\"} {\"} 6\na{actor=\"broker/0\"} 1\n"
        "# HELP b Of b.\n# TYPE b gauge\n"
        "b{actor=\"router/0\"} -2\nb{actor=\"broker/0\"} 7\n");
    buffer_fini (&out);
    exposition_fini (&exposition);
}

//  What is no metric is left out, and nothing is read beyond the end.
static void
test_nonsense_is_left_out (void **state)
{
    static const char *const texts [] = { "", "\n\n", "a 1\n", "# HELP", "# HELP ", "# TYPE a", "# TYPE a counter\na",
        "#x\n" };
    for (size_t i = 0; i < sizeof texts / sizeof texts [0]; i++) {
        exposition_t exposition;
        buffer_t out = { 0 };
        exposition_init (&exposition);
        assert_true (exposition_add (&exposition, span_from_string (texts [i]), SPAN ("x/0")));
        exposition_render (&exposition, &out);
        assert_true (out.size <= 64);
        buffer_fini (&out);
        exposition_fini (&exposition);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_metrics_of_one_name_stand_together),
        cmocka_unit_test (test_nonsense_is_left_out),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
