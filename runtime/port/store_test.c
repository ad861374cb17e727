//  Stores: a plain list of pairs is the oracle; writers are killed; files are torn, foreign and full.

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/stat.h>

#include "runtime/port/port_fixture.h"

#include "base/random.h"
#include "runtime/port/store.h"

static port_store_t *
s_open (fixture_t *fixture)
{
    store_options_t options = { .name = "store", .format = "test/1" };
    error_t error = { 0 };
    port_store_t *store = fixture->port->table->store_open (fixture->port, &options, &error);
    if (!store)
        fail_msg ("%s", error.text);
    return store;
}

//  ---- Against an oracle ---------------------------------------------------------------------------------------------

enum { KEYS = 60, OPERATIONS = 6000 };

typedef struct {
    uint32_t values [KEYS];    //  0: not there.  The key is "key-NN"
} oracle_t;

static span_t
s_key (size_t number)
{
    static char text [16];
    snprintf (text, sizeof text, "key-%02zu", number);
    return span_from_string (text);
}

static void
s_check_walk (port_store_t *store, const oracle_t *oracle)
{
    uint8_t last [16];
    span_t from = { 0 }, key, value;
    for (size_t i = 0; i < KEYS; i++) {
        if (!oracle->values [i])
            continue;
        assert_true (store_next (store, from, true, &key, &value));
        assert_true (span_equal (key, s_key (i)));
        assert_memory_equal (value.data, &oracle->values [i], sizeof (uint32_t));
        memcpy (last, key.data, key.size);
        from = span_of (last, key.size);
    }
    assert_false (store_next (store, from, true, &key, &value));
}

static void
s_change (port_store_t *store, oracle_t *open, random_t *random)
{
    size_t number = (size_t)random_below (random, KEYS);
    if (random_chance (random, 600000)) {
        open->values [number] = 1 + (uint32_t)random_below (random, 1000000);
        span_t value = span_of (&open->values [number], sizeof (uint32_t));
        assert_int_equal (store_put (store, s_key (number), value, NULL), STATUS_OK);
    } else {
        status_t expected = open->values [number] ? STATUS_OK : STATUS_NOT_FOUND;
        assert_int_equal (store_delete (store, s_key (number), NULL), expected);
        open->values [number] = 0;
    }
    span_t found = store_get (store, s_key (number));
    assert_int_equal (found.size, open->values [number] ? sizeof (uint32_t) : 0);
}

//  What is open is seen; what was not committed is gone after the next open.
static void
test_equals_a_list_of_pairs_across_commits_and_reopenings (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    static oracle_t open, committed;
    uint64_t seed = 20261129;
    print_message ("seed %" PRIu64 "\n", seed);
    random_t random;
    random_init (&random, seed);
    port_store_t *store = s_open (&fixture);
    for (int i = 0; i < OPERATIONS; i++) {
        s_change (store, &open, &random);
        if (random_chance (&random, 50000)) {
            assert_int_equal (store_commit (store, random_chance (&random, 100000), NULL), STATUS_OK);
            committed = open;
        }
        if (random_chance (&random, 10000)) {
            s_check_walk (store, &open);
            store_close (store);
            store = s_open (&fixture);
            open = committed;
            s_check_walk (store, &open);
        }
    }
    store_close (store);
    fixture_fini (&fixture);
}

static void
test_a_walk_starts_at_or_behind_a_key (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    port_store_t *store = s_open (&fixture);
    store_put (store, SPAN ("b"), SPAN ("2"), NULL);
    store_put (store, SPAN ("d"), SPAN (""), NULL);
    span_t key, value;
    assert_true (store_next (store, SPAN (""), false, &key, &value) && span_equal (key, SPAN ("b")));
    assert_true (store_next (store, SPAN ("b"), false, &key, &value) && span_equal (key, SPAN ("b")));
    assert_true (store_next (store, SPAN ("b"), true, &key, &value) && span_equal (key, SPAN ("d")));
    assert_true (store_next (store, SPAN ("c"), true, &key, &value) && span_equal (key, SPAN ("d")));
    assert_false (store_next (store, SPAN ("d"), true, &key, &value));
    assert_non_null (store_get (store, SPAN ("d")).data);
    assert_null (store_get (store, SPAN ("x")).data);
    store_close (store);
    fixture_fini (&fixture);
}

static void *
s_put_elsewhere (void *arg)
{
    store_put (arg, SPAN ("a"), SPAN ("1"), NULL);
    return NULL;
}

//  An actor's loop may go on in another thread, also between a put and its commit.
static void
test_a_transaction_goes_on_in_another_thread (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    port_store_t *store = s_open (&fixture);
    pthread_t thread;
    pthread_create (&thread, NULL, s_put_elsewhere, store);
    pthread_join (thread, NULL);
    assert_int_equal (store_commit (store, false, NULL), STATUS_OK);
    assert_int_equal (store_put (store, SPAN ("b"), SPAN ("2"), NULL), STATUS_OK);
    assert_int_equal (store_commit (store, false, NULL), STATUS_OK);
    store_close (store);
    store = s_open (&fixture);
    assert_true (span_equal (store_get (store, SPAN ("a")), SPAN ("1")));
    assert_true (span_equal (store_get (store, SPAN ("b")), SPAN ("2")));
    store_close (store);
    fixture_fini (&fixture);
}

static void
test_keys_that_are_none_are_refused (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    port_store_t *store = s_open (&fixture);
    static uint8_t large [600];
    error_t error = { 0 };
    assert_int_equal (store_put (store, SPAN (""), SPAN ("x"), &error), STATUS_INVALID);
    assert_int_equal (store_put (store, span_of (large, sizeof large), SPAN ("x"), &error), STATUS_INVALID);
    assert_non_null (strstr (error.text, "1 to 511 bytes, not 600"));
    assert_null (store_get (store, span_of (large, sizeof large)).data);
    assert_int_equal (store_commit (store, true, NULL), STATUS_OK);
    store_close (store);
    fixture_fini (&fixture);
}

//  ---- A writer that is killed ---------------------------------------------------------------------------------------

enum { BATCH = 20, KILLS = 8 };

//  The child: commits batches for ever, and says so after each.
static int
s_write_for_ever (const char *folder)
{
    store_options_t options = { .name = "store", .format = "test/1" };
    port_store_t *store = store_open (folder, &options, NULL);
    uint32_t batch = 0;
    for (span_t last = store_get (store, SPAN ("last")); last.size; last.size = 0)
        memcpy (&batch, last.data, sizeof batch);
    for (;;) {
        batch++;
        for (uint32_t i = 0; i < BATCH; i++)
            store_put (store, s_key (i), span_of (&batch, sizeof batch), NULL);
        store_put (store, SPAN ("last"), span_of (&batch, sizeof batch), NULL);
        if (store_commit (store, false, NULL) != STATUS_OK)
            return 1;
        printf ("%u\n", batch);
        fflush (stdout);
    }
}

static uint32_t
s_last_acknowledged (fixture_t *fixture)
{
    buffer_t output = { 0 };
    if (fixture->port->table->file_read (fixture->port, "output", 16 << 20, &output, NULL) != STATUS_OK)
        return 0;
    while (output.size && output.data [output.size - 1] != '\n')
        output.size--;
    uint32_t last = 0;
    for (const char *line = buffer_string (&output); *line; line = strchr (line, '\n') + 1)
        last = (uint32_t)strtoul (line, NULL, 10);
    buffer_fini (&output);
    return last;
}

static const char *s_program;

static void
s_kill_a_writer (fixture_t *fixture, uint64_t after_ns)
{
    const char *argv [] = { s_program, fixture->folder, NULL };
    process_options_t options = { .argv = argv, .output = "output" };
    uint32_t before = s_last_acknowledged (fixture);
    port_process_t *writer = fixture->port->table->process_start (fixture->port, &options, NULL);
    assert_non_null (writer);
    while (s_last_acknowledged (fixture) == before)
        fixture_run_for (fixture, MILLISECOND);
    fixture_run_for (fixture, after_ns);
    int64_t id = fixture->port->table->process_id (writer);
    fixture->port->table->process_close (writer);
    char path [64];
    snprintf (path, sizeof path, "/proc/%lld", (long long)id);
    while (access (path, F_OK) == 0)
        fixture_run_for (fixture, MILLISECOND);
}

//  Whatever was acknowledged is there, and no batch is there in part.
static void
test_a_killed_writer_loses_nothing_it_acknowledged (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    random_t random;
    random_init (&random, 20261129);
    for (int i = 0; i < KILLS; i++) {
        s_kill_a_writer (&fixture, 100000 + random_below (&random, 20 * MILLISECOND));
        port_store_t *store = s_open (&fixture);
        uint32_t last, batch;
        span_t value = store_get (store, SPAN ("last"));
        assert_int_equal (value.size, sizeof last);
        memcpy (&last, value.data, sizeof last);
        assert_true (last >= s_last_acknowledged (&fixture));
        for (uint32_t k = 0; k < BATCH; k++) {
            value = store_get (store, s_key (k));
            memcpy (&batch, value.data, sizeof batch);
            assert_int_equal (batch, last);
        }
        store_close (store);
    }
    fixture_fini (&fixture);
}

//  ---- Files that are not ours, or not whole, or not to be had -------------------------------------------------------

static void
s_expect_refusal (fixture_t *fixture, store_options_t options, status_t status, const char *sentence)
{
    error_t error = { 0 };
    assert_null (fixture->port->table->store_open (fixture->port, &options, &error));
    assert_int_equal (error.status, status);
    if (!strstr (error.text, sentence))
        fail_msg ("\"%s\" does not say \"%s\"", error.text, sentence);
}

static void
test_another_format_is_refused_with_the_way_out (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    port_store_t *store = s_open (&fixture);
    store_put (store, SPAN ("a"), SPAN ("1"), NULL);
    store_commit (store, true, NULL);
    store_close (store);
    s_expect_refusal (&fixture, (store_options_t){ .name = "store", .format = "test/2" }, STATUS_UNSUPPORTED,
        "has the format \"test/1\", this program needs \"test/2\"; delete it to start afresh");
    store = s_open (&fixture);
    assert_true (span_equal (store_get (store, SPAN ("a")), SPAN ("1")));
    store_close (store);
    fixture_fini (&fixture);
}

static void
test_a_second_opener_is_refused (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    port_store_t *store = s_open (&fixture);
    s_expect_refusal (
        &fixture, (store_options_t){ .name = "store", .format = "test/1" }, STATUS_EXISTS, "in use by another");
    store_close (store);
    store_close (s_open (&fixture));
    fixture_fini (&fixture);
}

static void
s_fill (fixture_t *fixture)
{
    static uint8_t value [3000];
    port_store_t *store = s_open (fixture);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal (store_put (store, s_key (i), span_of (value, sizeof value), NULL), STATUS_OK);
    assert_int_equal (store_commit (store, true, NULL), STATUS_OK);
    store_close (store);
}

static void
test_a_torn_file_is_refused_and_does_not_crash (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    char path [100];
    snprintf (path, sizeof path, "%s/store", fixture.folder);
    struct stat info;
    for (int part = 1; part < 8; part++) {
        s_fill (&fixture);
        assert_int_equal (stat (path, &info), 0);
        assert_int_equal (truncate (path, info.st_size * part / 8), 0);
        s_expect_refusal (
            &fixture, (store_options_t){ .name = "store", .format = "test/1" }, STATUS_CORRUPT, "is damaged");
        assert_int_equal (unlink (path), 0);
    }
    span_t text = SPAN ("this is not a store at all, but it is long enough to look at: ................................"
                        "......................................................................................");
    assert_int_equal (fixture.port->table->file_write (fixture.port, "store", text, false, NULL), STATUS_OK);
    s_expect_refusal (&fixture, (store_options_t){ .name = "store", .format = "test/1" }, STATUS_CORRUPT,
        "delete it to start afresh");
    fixture_fini (&fixture);
}

//  A transaction that does not fit is lost as a whole, and says so until its commit; what was there before stays.
static void
test_a_full_store_loses_the_open_transaction_and_nothing_else (void **state)
{
    fixture_t fixture;
    fixture_init (&fixture);
    store_options_t options = { .name = "small", .size_max = 256 << 10, .format = "test/1" };
    port_store_t *store = fixture.port->table->store_open (fixture.port, &options, NULL);
    assert_int_equal (store_put (store, SPAN ("before"), SPAN ("1"), NULL), STATUS_OK);
    assert_int_equal (store_commit (store, false, NULL), STATUS_OK);
    static uint8_t value [10000];
    error_t error = { 0 };
    status_t status = STATUS_OK;
    for (size_t i = 0; i < KEYS && status == STATUS_OK; i++)
        status = store_put (store, s_key (i), span_of (value, sizeof value), &error);
    assert_int_equal (status, STATUS_LIMIT);
    assert_non_null (strstr (error.text, "is full: raise its size"));
    assert_int_equal (store_put (store, SPAN ("after"), SPAN ("2"), NULL), STATUS_LIMIT);
    assert_int_equal (store_commit (store, false, &error), STATUS_LIMIT);
    assert_null (store_get (store, s_key (0)).data);
    assert_true (span_equal (store_get (store, SPAN ("before")), SPAN ("1")));
    assert_int_equal (store_put (store, SPAN ("after"), SPAN ("2"), NULL), STATUS_OK);
    assert_int_equal (store_commit (store, false, NULL), STATUS_OK);
    store_close (store);
    fixture_fini (&fixture);
}

int
main (int argc, char **argv)
{
    if (argc == 2)
        return s_write_for_ever (argv [1]);
    s_program = argv [0];
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equals_a_list_of_pairs_across_commits_and_reopenings),
        cmocka_unit_test (test_a_walk_starts_at_or_behind_a_key),
        cmocka_unit_test (test_a_transaction_goes_on_in_another_thread),
        cmocka_unit_test (test_keys_that_are_none_are_refused),
        cmocka_unit_test (test_a_killed_writer_loses_nothing_it_acknowledged),
        cmocka_unit_test (test_another_format_is_refused_with_the_way_out),
        cmocka_unit_test (test_a_second_opener_is_refused),
        cmocka_unit_test (test_a_torn_file_is_refused_and_does_not_crash),
        cmocka_unit_test (test_a_full_store_loses_the_open_transaction_and_nothing_else),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
