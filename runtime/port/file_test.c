//  Files: replaced whole or not at all, appended whole or not at all, also on a disk that is full.

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/port/port_fixture.h"

static const port_table_t *
s_table (fixture_t *fixture)
{
    return fixture->port->table;
}

static void
s_expect_content (fixture_t *fixture, const char *path, span_t content)
{
    buffer_t bytes = { 0 };
    assert_int_equal (s_table (fixture)->file_read (fixture->port, path, 1 << 20, &bytes, NULL), STATUS_OK);
    assert_true (span_equal (buffer_span (&bytes), content));
    buffer_fini (&bytes);
}

static size_t
s_count_files (const char *path)
{
    DIR *folder = opendir (path);
    assert_non_null (folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir (folder)) != NULL;)
        count += entry->d_name [0] != '.';
    closedir (folder);
    return count;
}

//  Files may not grow further than this: the system says so with an error, as a full disk does.
static void
s_limit_disk (rlim_t bytes)
{
    struct rlimit limit;
    getrlimit (RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
}

static uint8_t s_bytes [100000];

static void
test_a_written_file_is_read_back_and_replaced (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    assert_int_equal (
        s_table (&fixture)->file_write (fixture.port, "deep/er/file", SPAN ("one"), false, NULL), STATUS_OK);
    s_expect_content (&fixture, "deep/er/file", SPAN ("one"));
    span_t large = span_of (s_bytes, sizeof s_bytes);
    assert_int_equal (s_table (&fixture)->file_write (fixture.port, "deep/er/file", large, false, NULL), STATUS_OK);
    s_expect_content (&fixture, "deep/er/file", large);
    char path [100];
    snprintf (path, sizeof path, "%s/deep/er", fixture.folder);
    assert_int_equal (s_count_files (path), 1);
    fixture_fini (&fixture);
}

static void
test_a_secret_is_for_its_owner_only (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    char path [100];
    snprintf (path, sizeof path, "%s/secret", fixture.folder);
    assert_int_equal (s_table (&fixture)->file_write (fixture.port, "secret", SPAN ("s"), true, NULL), STATUS_OK);
    struct stat info;
    assert_int_equal (stat (path, &info), 0);
    assert_int_equal (info.st_mode & 0777, 0600);
    fixture_fini (&fixture);
}

static void
test_what_cannot_be_read_is_explained (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    buffer_t bytes = { 0 };
    buffer_append_string (&bytes, "kept");
    error_t error = { 0 };
    assert_int_equal (s_table (&fixture)->file_read (fixture.port, "none", 100, &bytes, &error), STATUS_NOT_FOUND);
    assert_non_null (strstr (error.text, "/none: No such file"));
    assert_int_equal (s_table (&fixture)->file_read (fixture.port, "/tmp", 100, &bytes, &error), STATUS_IO);
    s_table (&fixture)->file_write (fixture.port, "large", span_of (s_bytes, 101), false, NULL);
    assert_int_equal (s_table (&fixture)->file_read (fixture.port, "large", 100, &bytes, &error), STATUS_LIMIT);
    assert_non_null (strstr (error.text, "larger than 100 bytes"));
    assert_int_equal (s_table (&fixture)->file_read (fixture.port, "/dev/zero", 100, &bytes, &error), STATUS_LIMIT);
    assert_string_equal (buffer_string (&bytes), "kept");
    buffer_fini (&bytes);
    fixture_fini (&fixture);
}

//  A path may come from an engine: a pipe that nobody writes into holds nobody up.
static void
test_a_pipe_is_not_waited_for (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    buffer_t bytes = { 0 };
    char path [100];
    snprintf (path, sizeof path, "%s/pipe", fixture.folder);
    assert_int_equal (mkfifo (path, 0600), 0);
    assert_int_equal (s_table (&fixture)->file_read (fixture.port, path, 100, &bytes, NULL), STATUS_OK);
    assert_int_equal (bytes.size, 0);
    buffer_fini (&bytes);
    fixture_fini (&fixture);
}

static void
test_a_full_disk_leaves_the_old_file_and_no_litter (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    assert_int_equal (s_table (&fixture)->file_write (fixture.port, "file", SPAN ("old"), false, NULL), STATUS_OK);
    s_limit_disk (4096);
    error_t error = { 0 };
    status_t status =
        s_table (&fixture)->file_write (fixture.port, "file", span_of (s_bytes, sizeof s_bytes), false, &error);
    s_limit_disk (RLIM_INFINITY);
    assert_int_equal (status, STATUS_IO);
    assert_non_null (strstr (error.text, "File too large"));
    s_expect_content (&fixture, "file", SPAN ("old"));
    assert_int_equal (s_count_files (fixture.folder), 1);
    fixture_fini (&fixture);
}

static void
test_an_append_that_does_not_fit_is_not_there (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    port_file_t *file = s_table (&fixture)->file_open (fixture.port, "logs/ledger", NULL);
    assert_non_null (file);
    assert_int_equal (s_table (&fixture)->file_append (file, span_of (s_bytes, 3000), NULL), STATUS_OK);
    s_limit_disk (4096);
    error_t error = { 0 };
    assert_int_equal (s_table (&fixture)->file_append (file, span_of (s_bytes, 3000), &error), STATUS_IO);
    s_limit_disk (RLIM_INFINITY);
    assert_non_null (strstr (error.text, "cannot append to"));
    s_expect_content (&fixture, "logs/ledger", span_of (s_bytes, 3000));
    assert_int_equal (s_table (&fixture)->file_append (file, span_of (s_bytes, 3000), NULL), STATUS_OK);
    s_table (&fixture)->file_close (file);
    s_expect_content (&fixture, "logs/ledger", span_of (s_bytes, 6000));

    file = s_table (&fixture)->file_open (fixture.port, "/dev/full", NULL);
    assert_int_equal (s_table (&fixture)->file_append (file, SPAN ("x"), &error), STATUS_IO);
    assert_non_null (strstr (error.text, "No space left"));
    s_table (&fixture)->file_close (file);
    fixture_fini (&fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_written_file_is_read_back_and_replaced),
        cmocka_unit_test (test_a_secret_is_for_its_owner_only),
        cmocka_unit_test (test_what_cannot_be_read_is_explained),
        cmocka_unit_test (test_a_pipe_is_not_waited_for),
        cmocka_unit_test (test_a_full_disk_leaves_the_old_file_and_no_litter),
        cmocka_unit_test (test_an_append_that_does_not_fit_is_not_there),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
