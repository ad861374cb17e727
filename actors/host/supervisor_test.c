//  The supervisor beside a world that only writes down what it is told to do.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "actors/host/supervisor.h"
#include "base/memory.h"
#include "base/random.h"

enum { BROKER, CORE, ENGINE_A, WORKER_A, WORKER_B, PROCESSES };

#define MS 1000000ull
#define SECOND 1000000000ull

static const supervised_t s_specs [PROCESSES] = {
    [BROKER] = { "broker", 0, 3, false },
    [CORE] = { "core", 1, 0, true },
    [ENGINE_A] = { "engine-a", 2, 2, false },
    [WORKER_A] = { "worker-a", 2, 1, true },
    [WORKER_B] = { "worker-b", 3, 1, true },
};

static const host_options_t s_options = {
    .restart_delay_ns = 200 * MS,
    .restart_delay_max_ns = 1000 * MS,
    .healthy_after_ns = 60 * SECOND,
    .looping_after = 3,
    .ready_timeout_ns = 30 * SECOND,
    .drain_timeout_ns = 100 * SECOND,
    .stop_timeout_ns = 10 * SECOND,
};

typedef struct {
    supervisor_t *supervisor;
    supervisor_orders_t orders;
    uint64_t now_ns;
    buffer_t told;               //  "+core -worker-a !engine-a": started, asked to end, killed
    buffer_t reasons;            //  One a line
    bool runs [PROCESSES];       //  As the world sees it
    bool refuses [PROCESSES];    //  Cannot be started
} story_t;

static status_t
s_on_start (void *arg, size_t process, error_t *error)
{
    story_t *story = arg;
    assert_false (story->runs [process]);
    buffer_print (&story->told, "+%s ", s_specs [process].name);
    if (story->refuses [process])
        return error_set (error, STATUS_NOT_FOUND, "no such program");
    story->runs [process] = true;
    return STATUS_OK;
}

static void
s_on_signal (void *arg, size_t process, process_signal_t signal)
{
    story_t *story = arg;
    assert_true (story->runs [process]);
    buffer_print (&story->told, "%c%s ", signal == PROCESS_SIGNAL_KILL ? '!' : '-', s_specs [process].name);
}

static void
s_on_changed (void *arg, size_t process, const char *reason)
{
    story_t *story = arg;
    if (reason)
        buffer_print (&story->reasons, "%s: %s\n", s_specs [process].name, reason);
}

static story_t *
s_begin (void)
{
    story_t *story = memory_new (sizeof *story);
    story->now_ns = SECOND;
    story->orders = (supervisor_orders_t){ s_on_start, s_on_signal, s_on_changed, story };
    story->supervisor = supervisor_new (s_specs, PROCESSES, &s_options, &story->orders);
    supervisor_start (story->supervisor, story->now_ns);
    return story;
}

static void
s_end (story_t *story)
{
    supervisor_destroy (&story->supervisor);
    buffer_fini (&story->told);
    buffer_fini (&story->reasons);
    memory_free (story);
}

static int
s_set_up (void **state)
{
    *state = s_begin ();
    return 0;
}

static int
s_tear_down (void **state)
{
    s_end (*state);
    return 0;
}

static void
s_expect (story_t *story, const char *told)
{
    assert_string_equal (buffer_string (&story->told), told);
    buffer_clear (&story->told);
}

static void
s_ready (story_t *story, size_t process)
{
    supervisor_ready (story->supervisor, process, story->now_ns);
}

static void
s_exit (story_t *story, size_t process, int code)
{
    story->runs [process] = false;
    supervisor_exited (story->supervisor, process, code, story->now_ns);
}

static void
s_pass (story_t *story, uint64_t time_ns)
{
    story->now_ns += time_ns;
    supervisor_advance (story->supervisor, story->now_ns);
}

static process_state_t
s_state (story_t *story, size_t process)
{
    return supervisor_now (story->supervisor, process)->state;
}

//  All up and ready.
static int
s_set_up_ready (void **state)
{
    story_t *story = *state = s_begin ();
    for (size_t i = 0; i < PROCESSES; i++)
        s_ready (story, i);
    buffer_clear (&story->told);
    return 0;
}

static void
test_the_broker_comes_first_and_an_engine_before_its_worker (void **state)
{
    story_t *story = *state;
    s_expect (story, "+broker ");
    s_ready (story, BROKER);
    s_expect (story, "+core +engine-a +worker-b ");
    s_ready (story, CORE);
    s_expect (story, "");
    s_ready (story, ENGINE_A);
    s_expect (story, "+worker-a ");
    assert_int_equal (s_state (story, WORKER_A), PROCESS_STATE_STARTING);
    s_ready (story, WORKER_A);
    assert_int_equal (s_state (story, WORKER_A), PROCESS_STATE_RUNNING);
}

static void
test_engine_and_worker_are_restarted_together (void **state)
{
    story_t *story = *state;
    s_exit (story, ENGINE_A, 139);
    s_expect (story, "-worker-a ");
    assert_int_equal (s_state (story, WORKER_A), PROCESS_STATE_STOPPING);
    s_pass (story, SECOND);
    s_exit (story, WORKER_A, 0);
    s_expect (story, "");
    s_pass (story, 199 * MS);
    s_expect (story, "");
    s_pass (story, MS);
    s_expect (story, "+engine-a ");
    s_ready (story, ENGINE_A);
    s_expect (story, "+worker-a ");
    assert_int_equal (supervisor_now (story->supervisor, ENGINE_A)->restarts, 1);
    assert_int_equal (supervisor_now (story->supervisor, ENGINE_A)->last_exit, 139);
    assert_string_equal (buffer_string (&story->reasons),
        "engine-a: ended by signal 11 (Segmentation fault) after 0 ms\n"
        "engine-a: crashed 1 time in a row; starts again in 200 ms\n"
        "worker-a: crashed 1 time in a row; starts again in 200 ms\n");
}

//  255 is what a program says itself: no signal has the number 127.
static void
test_only_what_is_a_signal_is_told_as_one (void **state)
{
    static const struct {
        int code;                //  As the port says it
        const char *expected;    //  Words
    } rows [] = { { 0, "with exit code 0" }, { 127, "with exit code 127" }, { 128, "with exit code 128" },
        { 132, "by signal 4 (Illegal instruction)" }, { 137, "by signal 9 (Killed)" }, { 255, "with exit code 255" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char how [SUPERVISOR_HOW_MAX];
        supervisor_describe_code (rows [i].code, how, sizeof how);
        assert_string_equal (how, rows [i].expected);
    }
}

static void
test_a_member_that_does_not_end_is_killed (void **state)
{
    story_t *story = *state;
    s_exit (story, WORKER_A, 1);
    s_expect (story, "-engine-a ");
    s_pass (story, 10 * SECOND - 1);
    s_expect (story, "");
    s_pass (story, 1);
    s_expect (story, "!engine-a ");
    s_exit (story, ENGINE_A, 137);
    s_pass (story, 200 * MS);
    s_expect (story, "+engine-a ");
}

static void
test_the_broker_restarts_alone (void **state)
{
    story_t *story = *state;
    s_exit (story, BROKER, 137);
    s_expect (story, "");
    s_pass (story, 200 * MS);
    s_expect (story, "+broker ");
    s_ready (story, BROKER);
    s_expect (story, "");
}

static void
test_restarts_back_off_and_a_loop_is_reported (void **state)
{
    static const uint64_t delays_ms [] = { 200, 400, 800, 1000, 1000 };
    story_t *story = *state;
    for (size_t i = 0; i < sizeof delays_ms / sizeof *delays_ms; i++) {
        s_exit (story, WORKER_B, 1);
        assert_int_equal (s_state (story, WORKER_B), i + 1 < 3 ? PROCESS_STATE_WAITING : PROCESS_STATE_LOOPING);
        s_pass (story, delays_ms [i] * MS - 1);
        s_expect (story, "");
        s_pass (story, 1);
        s_expect (story, "+worker-b ");
        s_ready (story, WORKER_B);
    }
}

//  Whoever drains a process by a call wants it anew: engine and all, and it is no sign of trouble.
static void
test_what_was_drained_comes_back_and_did_not_crash (void **state)
{
    story_t *story = *state;
    for (int i = 0; i < 5; i++) {
        s_pass (story, 60 * SECOND);
        s_exit (story, WORKER_A, 0);
        s_expect (story, "-engine-a ");
        s_exit (story, ENGINE_A, 143);
        assert_int_equal (s_state (story, WORKER_A), PROCESS_STATE_WAITING);
        s_pass (story, 200 * MS);
        s_expect (story, "+engine-a ");
        s_ready (story, ENGINE_A);
        s_expect (story, "+worker-a ");
        s_ready (story, WORKER_A);
    }
    assert_non_null (strstr (buffer_string (&story->reasons), "worker-a: drained; starts again in 200 ms\n"));
    assert_null (strstr (buffer_string (&story->reasons), "crashed"));
}

//  Something is wrong with what ends as soon as it is ready, however well it ends.
static void
test_what_ends_well_again_and_again_is_looping (void **state)
{
    story_t *story = *state;
    for (int i = 0; i < 3; i++) {
        s_pass (story, 60 * SECOND - 1);
        buffer_clear (&story->told);
        s_exit (story, WORKER_B, 0);
        s_pass (story, (200u << i) * MS - 1);
        s_expect (story, "");
        s_pass (story, 1);
        s_expect (story, "+worker-b ");
        s_ready (story, WORKER_B);
    }
    assert_non_null (strstr (buffer_string (&story->reasons), "worker-b: crashed 3 times in a row"));
}

//  An end before it was ready is a crash, whatever it says; so is the end of what does not drain.
static void
test_not_every_good_end_is_a_drain (void **state)
{
    story_t *story = *state;
    s_exit (story, WORKER_B, 1);
    s_pass (story, 200 * MS);
    s_exit (story, WORKER_B, 0);
    assert_non_null (strstr (buffer_string (&story->reasons), "worker-b: crashed 2 times in a row"));
    s_exit (story, ENGINE_A, 0);
    s_exit (story, WORKER_A, 0);
    assert_non_null (strstr (buffer_string (&story->reasons), "engine-a: crashed 1 time in a row"));
}

static void
test_a_minute_of_health_forgets_crashes (void **state)
{
    story_t *story = *state;
    for (int i = 0; i < 2; i++) {
        s_exit (story, WORKER_B, 1);
        s_pass (story, 400 * MS);
        s_ready (story, WORKER_B);
    }
    s_pass (story, 60 * SECOND);
    buffer_clear (&story->told);
    s_exit (story, WORKER_B, 1);
    s_pass (story, 200 * MS);
    s_expect (story, "+worker-b ");
}

static void
test_what_does_not_become_ready_is_killed_and_counts_as_crashed (void **state)
{
    story_t *story = *state;
    s_ready (story, BROKER);
    buffer_clear (&story->told);
    s_ready (story, CORE);
    s_ready (story, WORKER_B);
    s_pass (story, 30 * SECOND);
    s_expect (story, "!engine-a ");
    s_exit (story, ENGINE_A, 137);
    s_pass (story, 200 * MS);
    s_expect (story, "+engine-a ");
}

static void
test_what_cannot_be_started_is_tried_again (void **state)
{
    story_t *story = *state;
    story->refuses [CORE] = true;
    s_ready (story, BROKER);
    assert_non_null (strstr (buffer_string (&story->reasons), "core: no such program\n"));
    buffer_clear (&story->told);
    story->refuses [CORE] = false;
    s_pass (story, 200 * MS);
    s_expect (story, "+core ");
}

static void
test_it_stops_in_order (void **state)
{
    story_t *story = *state;
    supervisor_stop (story->supervisor, story->now_ns);
    s_expect (story, "-core ");
    s_pass (story, 50 * SECOND);
    s_exit (story, CORE, 0);
    s_expect (story, "-worker-a -worker-b ");
    s_exit (story, WORKER_A, 0);
    s_expect (story, "");
    s_exit (story, WORKER_B, 0);
    s_expect (story, "-engine-a ");
    s_exit (story, ENGINE_A, 143);
    s_expect (story, "-broker ");
    assert_false (supervisor_is_stopped (story->supervisor));
    s_exit (story, BROKER, 0);
    assert_true (supervisor_is_stopped (story->supervisor));
    assert_int_equal (supervisor_advance (story->supervisor, story->now_ns), PORT_NEVER);
}

static void
test_draining_has_an_end (void **state)
{
    story_t *story = *state;
    supervisor_stop (story->supervisor, story->now_ns);
    s_pass (story, 100 * SECOND - 1);
    s_expect (story, "-core ");
    s_pass (story, 1);
    s_expect (story, "!core ");
    s_exit (story, CORE, 137);
    s_expect (story, "-worker-a -worker-b ");
    s_pass (story, 10 * SECOND);
    s_expect (story, "!worker-a !worker-b ");
}

static void
test_nothing_is_restarted_while_it_stops (void **state)
{
    story_t *story = *state;
    s_exit (story, WORKER_B, 1);
    supervisor_stop (story->supervisor, story->now_ns);
    s_exit (story, ENGINE_A, 1);
    s_pass (story, SECOND);
    s_expect (story, "-core ");
    s_exit (story, CORE, 0);
    s_expect (story, "-worker-a ");
    s_exit (story, WORKER_A, 0);
    s_expect (story, "-broker ");
    assert_int_equal (s_state (story, WORKER_B), PROCESS_STATE_STOPPED);
}

//  Whatever happens, in any order: nothing that runs is started, nothing that does not run is signalled (the world
//  asserts both), and it stops in the end.
static void
test_it_survives_any_order_of_events (void **state)
{
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    for (int run = 0; run < 200; run++) {
        story_t *story = s_begin ();
        for (int i = 0; i < 200; i++) {
            size_t process = (size_t)random_below (&random, PROCESSES);
            story->refuses [process] = random_chance (&random, 100000);
            if (random_chance (&random, 400000))
                s_ready (story, process);
            else if (story->runs [process] && random_chance (&random, 500000))
                s_exit (story, process, (int)random_below (&random, 160));
            else
                s_pass (story, random_exponential (&random, SECOND));
            if (random_chance (&random, 5000))
                supervisor_stop (story->supervisor, story->now_ns);
        }
        supervisor_stop (story->supervisor, story->now_ns);
        for (int i = 0; i < 1000 && !supervisor_is_stopped (story->supervisor); i++) {
            size_t process = (size_t)random_below (&random, PROCESSES);
            if (story->runs [process] && s_state (story, process) == PROCESS_STATE_STOPPING)
                s_exit (story, process, 0);
        }
        assert_true (supervisor_is_stopped (story->supervisor));
        s_end (story);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, s_set_up, s_tear_down)
#define READY_TEST(name) cmocka_unit_test_setup_teardown (name, s_set_up_ready, s_tear_down)

int
main (void)
{
    const struct CMUnitTest tests [] = {
        TEST (test_the_broker_comes_first_and_an_engine_before_its_worker),
        READY_TEST (test_engine_and_worker_are_restarted_together),
        READY_TEST (test_only_what_is_a_signal_is_told_as_one),
        READY_TEST (test_a_member_that_does_not_end_is_killed),
        READY_TEST (test_the_broker_restarts_alone),
        READY_TEST (test_restarts_back_off_and_a_loop_is_reported),
        READY_TEST (test_what_was_drained_comes_back_and_did_not_crash),
        READY_TEST (test_what_ends_well_again_and_again_is_looping),
        READY_TEST (test_not_every_good_end_is_a_drain),
        READY_TEST (test_a_minute_of_health_forgets_crashes),
        TEST (test_what_does_not_become_ready_is_killed_and_counts_as_crashed),
        TEST (test_what_cannot_be_started_is_tried_again),
        READY_TEST (test_it_stops_in_order),
        READY_TEST (test_draining_has_an_end),
        READY_TEST (test_nothing_is_restarted_while_it_stops),
        cmocka_unit_test (test_it_survives_any_order_of_events),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
