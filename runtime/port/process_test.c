//  Children: they start clean, their end is told once, and nothing they started outlives them.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "runtime/port/port_fixture.h"

enum { OUTPUT_MAX = 4096 };

typedef struct {
    fixture_t fixture;          //  World and port
    port_process_t *process;    //  Under test
    int ends;                   //  on_exit calls
    int code;                   //  Of the last
    buffer_t output;            //  What it printed
} child_t;

static void
s_on_exit (void *arg, int code)
{
    child_t *self = arg;
    self->ends++;
    self->code = code;
    real_port_stop (self->fixture.port);
}

static port_process_t *
s_try (child_t *self, process_options_t options, error_t *error)
{
    options.output = "logs/output";
    options.on_exit = s_on_exit;
    options.arg = self;
    return self->fixture.port->table->process_start (self->fixture.port, &options, error);
}

static void
s_start (child_t *self, const char *script, process_options_t options)
{
    const char *argv [] = { "sh", "-c", script, NULL };
    options.argv = argv;
    error_t error = { 0 };
    self->process = s_try (self, options, &error);
    if (!self->process)
        fail_msg ("%s", error.text);
}

static const char *
s_output (child_t *self)
{
    buffer_clear (&self->output);
    assert_int_equal (
        self->fixture.port->table->file_read (self->fixture.port, "logs/output", OUTPUT_MAX, &self->output, NULL),
        STATUS_OK);
    return buffer_string (&self->output);
}

static void
s_close (child_t *self)
{
    self->fixture.port->table->process_close (self->process);
    buffer_fini (&self->output);
    fixture_fini (&self->fixture);
}

static void
test_an_end_is_told_once_with_its_code (void **state)
{
    static const struct {
        const char *script;    //  For sh
        int code;              //  Expected
    } cases [] = { { "exit 0", 0 }, { "exit 7", 7 }, { "kill -TERM $$", 128 + SIGTERM },
        { "kill -KILL $$", 128 + SIGKILL } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        child_t child = { 0 };
        fixture_init (&child.fixture);
        s_start (&child, cases [i].script, (process_options_t){ 0 });
        fixture_run (&child.fixture);
        assert_int_equal (child.code, cases [i].code);
        fixture_run_for (&child.fixture, 5 * MILLISECOND);
        assert_int_equal (child.ends, 1);
        child.fixture.port->table->process_signal (child.process, PROCESS_SIGNAL_KILL);
        s_close (&child);
    }
}

static void
test_output_environment_and_folder_are_as_asked (void **state)
{
    child_t child = { 0 };
    fixture_init (&child.fixture);
    setenv ("STATOR_TEST_KEPT", "kept", 1);
    setenv ("STATOR_TEST_REPLACED", "old", 1);
    const char *environment [] = { "STATOR_TEST_REPLACED=new", "STATOR_TEST_ADDED=added", NULL };
    s_start (&child, "echo $STATOR_TEST_KEPT $STATOR_TEST_REPLACED $STATOR_TEST_ADDED; pwd; echo bad >&2; cat",
        (process_options_t){ .environment = environment, .folder = "/usr" });
    fixture_run (&child.fixture);
    assert_int_equal (child.code, 0);
    assert_string_equal (s_output (&child), "kept new added\n/usr\nbad\n");
    s_close (&child);
}

//  The ordinary signals of a line of /proc/PID/status; 32 and 33 belong to the C library.
static uint64_t
s_signals (const char *status, const char *line)
{
    const char *at = strstr (status, line);
    assert_non_null (at);
    return strtoull (at + strlen (line), NULL, 16) & INT32_MAX;
}

//  A descriptor that somebody forgot to mark, an ignored signal and a blocked one stay here.
static void
test_a_child_inherits_no_descriptor_and_no_signal_setting (void **state)
{
    child_t child = { 0 };
    fixture_init (&child.fixture);
    int forgotten = open ("/dev/null", O_RDONLY);
    assert_int_equal (dup2 (forgotten, 77), 77);
    sigset_t blocked;
    sigemptyset (&blocked);
    sigaddset (&blocked, SIGTERM);
    sigprocmask (SIG_BLOCK, &blocked, NULL);
    s_start (&child, "ls /proc/self/fd; grep -E 'SigBlk|SigIgn' /proc/self/status", (process_options_t){ 0 });
    fixture_run (&child.fixture);
    sigprocmask (SIG_UNBLOCK, &blocked, NULL);
    const char *output = s_output (&child);
    assert_null (strstr (output, "77"));
    assert_int_equal (s_signals (output, "SigBlk:"), 0);
    assert_int_equal (s_signals (output, "SigIgn:"), 0);
    close (77);
    close (forgotten);
    s_close (&child);
}

static void
test_what_cannot_be_started_is_explained (void **state)
{
    static const struct {
        const char *program;     //  To start
        const char *folder;      //  To start it in
        status_t status;         //  Expected
        const char *sentence;    //  Part of it
    } cases [] = {
        { "no-such-program-anywhere", NULL, STATUS_NOT_FOUND, "cannot start no-such-program-anywhere: No such file" },
        { "/etc/passwd", NULL, STATUS_REFUSED, "Permission denied" },
        { "sh", "/nowhere", STATUS_NOT_FOUND, "cannot start sh in /nowhere" },
    };
    child_t child = { 0 };
    fixture_init (&child.fixture);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *argv [] = { cases [i].program, NULL };
        error_t error = { 0 };
        assert_null (s_try (&child, (process_options_t){ .argv = argv, .folder = cases [i].folder }, &error));
        assert_int_equal (error.status, cases [i].status);
        if (!strstr (error.text, cases [i].sentence))
            fail_msg ("\"%s\" does not say \"%s\"", error.text, cases [i].sentence);
    }
    fixture_fini (&child.fixture);
}

//  The letter of its state in /proc/PID/stat; 0 where it is gone.
static char
s_state (long id)
{
    char path [64], text [300] = "";
    snprintf (path, sizeof path, "/proc/%ld/stat", id);
    FILE *file = fopen (path, "r");
    if (!file)
        return 0;
    const char *name_end = fgets (text, sizeof text, file) ? strrchr (text, ')') : NULL;
    char state = name_end && name_end [1] == ' ' ? name_end [2] : 0;
    fclose (file);
    return state;
}

//  Gone, or a zombie that only its new parent has not reaped yet.
static bool
s_is_dead (long id)
{
    char state = s_state (id);
    return state == 0 || state == 'Z';
}

static void
s_wait_for_death (child_t *self, long id)
{
    while (!s_is_dead (id))
        fixture_run_for (&self->fixture, 5 * MILLISECOND);
}

//  Waits until the child has printed a number.
static long
s_grandchild (child_t *self)
{
    for (;;) {
        char *end;
        const char *output = s_output (self);
        long id = strtol (output, &end, 10);
        if (*end == '\n')
            return id;
        fixture_run_for (&self->fixture, 5 * MILLISECOND);
    }
}

static void
test_a_signal_reaches_what_the_child_started (void **state)
{
    child_t child = { 0 };
    fixture_init (&child.fixture);
    s_start (&child, "sleep 1000 & echo $!; wait", (process_options_t){ 0 });
    long grandchild = s_grandchild (&child);
    assert_int_equal (kill ((pid_t)grandchild, 0), 0);
    child.fixture.port->table->process_signal (child.process, PROCESS_SIGNAL_KILL);
    fixture_run (&child.fixture);
    assert_int_equal (child.code, 128 + SIGKILL);
    s_wait_for_death (&child, grandchild);
    s_close (&child);
}

static void
test_what_a_child_leaves_behind_is_ended_with_it (void **state)
{
    child_t child = { 0 };
    fixture_init (&child.fixture);
    s_start (&child, "trap '' TERM; sleep 1000 & echo $!; exit 3", (process_options_t){ 0 });
    fixture_run (&child.fixture);
    assert_int_equal (child.code, 3);
    s_wait_for_death (&child, s_grandchild (&child));
    s_close (&child);
}

//  A closed process says nothing more, is killed, and is no zombie.
static void
test_a_closed_process_is_killed_reaped_and_silent (void **state)
{
    child_t child = { 0 };
    fixture_init (&child.fixture);
    s_start (&child, "sleep 1000", (process_options_t){ 0 });
    long id = (long)child.fixture.port->table->process_id (child.process);
    child.fixture.port->table->process_close (child.process);
    while (kill ((pid_t)id, 0) == 0)
        fixture_run_for (&child.fixture, 5 * MILLISECOND);
    assert_int_equal (child.ends, 0);

    s_start (&child, "sleep 1000", (process_options_t){ 0 });
    id = (long)child.fixture.port->table->process_id (child.process);
    s_close (&child);
    while (!s_is_dead (id))
        ;
}

static void
test_a_stopped_child_goes_on_when_told (void **state)
{
    child_t child = { 0 };
    fixture_init (&child.fixture);
    s_start (&child, "echo $$; exec sleep 1000", (process_options_t){ 0 });
    long id = s_grandchild (&child);
    const port_table_t *table = child.fixture.port->table;
    table->process_signal (child.process, PROCESS_SIGNAL_STOP);
    while (s_state (id) != 'T')
        fixture_run_for (&child.fixture, MILLISECOND);
    table->process_signal (child.process, PROCESS_SIGNAL_TERM);
    fixture_run_for (&child.fixture, 30 * MILLISECOND);
    assert_int_equal (child.ends, 0);
    table->process_signal (child.process, PROCESS_SIGNAL_CONT);
    fixture_run (&child.fixture);
    assert_int_equal (child.code, 128 + SIGTERM);
    s_close (&child);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_an_end_is_told_once_with_its_code),
        cmocka_unit_test (test_output_environment_and_folder_are_as_asked),
        cmocka_unit_test (test_a_child_inherits_no_descriptor_and_no_signal_setting),
        cmocka_unit_test (test_what_cannot_be_started_is_explained),
        cmocka_unit_test (test_a_signal_reaches_what_the_child_started),
        cmocka_unit_test (test_what_a_child_leaves_behind_is_ended_with_it),
        cmocka_unit_test (test_a_closed_process_is_killed_reaped_and_silent),
        cmocka_unit_test (test_a_stopped_child_goes_on_when_told),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
