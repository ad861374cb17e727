//  Shared memory: seen under its name by whoever maps it, and gone when it is removed.

#include "runtime/port/port_fixture.h"

static const char *
s_name (void)
{
    static char name [40];
    snprintf (name, sizeof name, "stator-test-%d", (int)getpid ());
    return name;
}

static void
test_two_mappings_of_a_name_are_one_memory (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    port_region_t *first = table->region_open (fixture.port, s_name (), 10000, true, NULL);
    assert_non_null (first);
    port_region_t *second = table->region_open (fixture.port, s_name (), 0, false, NULL);
    assert_non_null (second);
    size_t size;
    char *there = table->region_memory (second, &size);
    assert_int_equal (size, 10000);
    snprintf (table->region_memory (first, &size), size, "hello");
    assert_string_equal (there, "hello");

    table->region_close (first, true);
    assert_string_equal (there, "hello");
    error_t error = { 0 };
    assert_null (table->region_open (fixture.port, s_name (), 0, false, &error));
    assert_int_equal (error.status, STATUS_NOT_FOUND);
    table->region_close (second, false);
    fixture_fini (&fixture);
}

static void
test_what_cannot_be_mapped_is_explained (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    const port_table_t *table = fixture.port->table;
    error_t error = { 0 };
    port_region_t *region = table->region_open (fixture.port, s_name (), 100, true, NULL);
    assert_null (table->region_open (fixture.port, s_name (), 100, true, &error));
    assert_int_equal (error.status, STATUS_EXISTS);
    assert_null (table->region_open (fixture.port, s_name (), 101, false, &error));
    assert_non_null (strstr (error.text, "has 100 bytes, not 101"));
    table->region_close (region, true);

    static const char *const names [] = { "", "a/b", "/a" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null (table->region_open (fixture.port, names [i], 100, true, &error));
        assert_int_equal (error.status, STATUS_INVALID);
    }
    assert_null (table->region_open (fixture.port, s_name (), 0, true, &error));
    assert_int_equal (error.status, STATUS_INVALID);
    assert_null (table->region_open (fixture.port, s_name (), (size_t)1 << 60, true, &error));
    assert_int_equal (error.status, STATUS_IO);
    assert_null (table->region_open (fixture.port, s_name (), 0, false, &error));
    assert_int_equal (error.status, STATUS_NOT_FOUND);
    fixture_fini (&fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_two_mappings_of_a_name_are_one_memory),
        cmocka_unit_test (test_what_cannot_be_mapped_is_explained),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
