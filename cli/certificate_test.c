//  Keys in files: what is written reads back, czmq reads it too, and nothing is overwritten or left lying about.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <czmq.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cli/certificate.h"

enum { FOLDER_SIZE = 64 };
static char s_folder [FOLDER_SIZE], s_keys [FOLDER_SIZE + 8];

static int
s_set_up (void **state)
{
    snprintf (s_folder, sizeof s_folder, "/tmp/stator-test-XXXXXX");
    assert_non_null (mkdtemp (s_folder));
    snprintf (s_keys, sizeof s_keys, "%s/keys", s_folder);
    return 0;
}

static int
s_tear_down (void **state)
{
    zdir_t *folder = zdir_new (s_folder, NULL);
    zdir_remove (folder, true);
    zdir_destroy (&folder);
    return 0;
}

static certificate_t
s_make (const char *name, const char *roles)
{
    certificate_t certificate;
    assert_int_equal (certificate_make (&certificate, name, roles, NULL), STATUS_OK);
    assert_int_equal (certificate_write (&certificate, s_keys, NULL), STATUS_OK);
    return certificate;
}

static const char *
s_path (const char *name)
{
    static char path [FOLDER_SIZE * 2];
    snprintf (path, sizeof path, "%s/%s", s_keys, name);
    return path;
}

static mode_t
s_mode (const char *name)
{
    struct stat found;
    assert_int_equal (stat (s_path (name), &found), 0);
    return found.st_mode & 0777;
}

static void
test_what_is_written_reads_back (void **state)
{
    certificate_t made = s_make ("gpu-1", "host worker"), read;
    assert_int_equal (certificate_read (&read, s_keys, "gpu-1", true, NULL), STATUS_OK);
    assert_string_equal (read.name, "gpu-1");
    assert_string_equal (read.roles, "host worker");
    assert_string_equal (read.public_key, made.public_key);
    assert_string_equal (read.secret_key, made.secret_key);
    assert_int_equal (certificate_read (&read, s_keys, "gpu-1", false, NULL), STATUS_OK);
    assert_string_equal (read.secret_key, "");
    assert_int_equal (s_mode ("gpu-1.cert_secret"), 0600);
}

static void
test_czmq_reads_it_too (void **state)
{
    certificate_t made = s_make ("gpu-1", "host worker");
    zcert_t *theirs = zcert_load (s_path ("gpu-1.cert"));
    assert_non_null (theirs);
    assert_string_equal (zcert_public_txt (theirs), made.public_key);
    assert_string_equal (zcert_secret_txt (theirs), made.secret_key);
    assert_string_equal (zcert_meta (theirs, "roles"), "host worker");
    zcert_destroy (&theirs);
}

static void
test_what_czmq_writes_is_read (void **state)
{
    certificate_t read;
    assert_int_equal (mkdir (s_keys, 0700), 0);
    zcert_t *theirs = zcert_new ();
    zcert_set_meta (theirs, "name", "%s", "laptop");
    zcert_set_meta (theirs, "roles", "%s", "operator");
    assert_int_equal (zcert_save (theirs, s_path ("laptop.cert")), 0);
    assert_int_equal (certificate_read (&read, s_keys, "laptop", true, NULL), STATUS_OK);
    assert_string_equal (read.public_key, zcert_public_txt (theirs));
    assert_string_equal (read.secret_key, zcert_secret_txt (theirs));
    assert_string_equal (read.roles, "operator");
    zcert_destroy (&theirs);
}

static void
test_nothing_is_overwritten (void **state)
{
    certificate_t made = s_make ("gpu-1", "host"), other, read;
    error_t error;
    assert_int_equal (certificate_make (&other, "gpu-1", "host", NULL), STATUS_OK);
    assert_int_equal (certificate_write (&other, s_keys, &error), STATUS_EXISTS);
    assert_non_null (strstr (error.text, "revoke that key first"));
    assert_int_equal (certificate_read (&read, s_keys, "gpu-1", true, NULL), STATUS_OK);
    assert_string_equal (read.secret_key, made.secret_key);
}

static void
test_a_revoked_key_is_out_of_the_list_and_its_secret_is_gone (void **state)
{
    array_t list;
    array_init (&list, sizeof (certificate_t));
    s_make ("b", "worker");
    s_make ("a", "host");
    assert_int_equal (certificate_revoke (s_keys, "b", NULL), STATUS_OK);
    assert_int_equal (certificate_revoke (s_keys, "b", NULL), STATUS_EXISTS);
    assert_int_equal (certificate_revoke (s_keys, "c", NULL), STATUS_NOT_FOUND);
    assert_int_equal (certificate_list (s_keys, false, &list, NULL), STATUS_OK);
    assert_int_equal (list.count, 1);
    assert_string_equal (((certificate_t *)array_at (&list, 0))->name, "a");
    assert_int_equal (certificate_list (s_keys, true, &list, NULL), STATUS_OK);
    assert_int_equal (list.count, 2);
    assert_int_not_equal (access (s_path ("b.cert_secret"), F_OK), 0);
    array_fini (&list);
}

static void
test_a_secret_that_others_can_read_is_not_used (void **state)
{
    certificate_t read;
    error_t error;
    s_make ("a", "host");
    assert_int_equal (chmod (s_path ("a.cert_secret"), 0640), 0);
    assert_int_equal (certificate_read (&read, s_keys, "a", true, &error), STATUS_REFUSED);
    assert_non_null (strstr (error.text, "chmod 600"));
}

static void
test_what_is_no_certificate_is_refused (void **state)
{
    static const char *const bad [] = { "", "curve\n", "curve\n    public-key = \"short\"\n",
        "public-key = \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n",
        "curve\n    public-key = \"\x01q:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n",
        "curve\n    public-key = \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n    secret-key = \"x\"\n" };
    certificate_t read;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal (certificate_parse (&read, span_from_string (bad [i]), NULL), STATUS_CORRUPT);
    assert_int_equal (certificate_make (&read, "../a", "host", NULL), STATUS_INVALID);
    assert_int_equal (certificate_make (&read, "a", "ho\"st", NULL), STATUS_INVALID);
}

//  Tries it with so many bytes of disk for each file.
static void
s_check_nothing_is_left (const certificate_t *certificate, size_t bytes)
{
    struct rlimit before, small;
    error_t error;
    assert_int_equal (getrlimit (RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){ bytes, before.rlim_max };
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &small), 0);
    status_t status = certificate_write (certificate, s_keys, &error);
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &before), 0);
    assert_int_equal (status, STATUS_IO);
    assert_non_null (strstr (error.text, strerror (EFBIG)));
    assert_int_equal (access (s_path ("gpu-2.cert"), F_OK), -1);
    assert_int_equal (access (s_path ("gpu-2.cert_secret"), F_OK), -1);
}

//  Half of a key is none, whether it is a part of a file or one file of two; and the sentence has the reason.
static void
test_what_does_not_fit_on_the_disk_is_not_left_there (void **state)
{
    struct stat other;
    certificate_t certificate;
    s_make ("gpu-1", "host");
    assert_int_equal (certificate_make (&certificate, "gpu-2", "host", NULL), STATUS_OK);
    assert_int_equal (stat (s_path ("gpu-1.cert"), &other), 0);
    signal (SIGXFSZ, SIG_IGN);
    s_check_nothing_is_left (&certificate, 10);
    s_check_nothing_is_left (&certificate, (size_t)other.st_size);
    assert_int_equal (certificate_write (&certificate, s_keys, NULL), STATUS_OK);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_what_is_written_reads_back, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_czmq_reads_it_too, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_what_czmq_writes_is_read, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_nothing_is_overwritten, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (
            test_a_revoked_key_is_out_of_the_list_and_its_secret_is_gone, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_secret_that_others_can_read_is_not_used, s_set_up, s_tear_down),
        cmocka_unit_test (test_what_is_no_certificate_is_refused),
        cmocka_unit_test_setup_teardown (test_what_does_not_fit_on_the_disk_is_not_left_there, s_set_up, s_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
