//  A host in the simulator, with a real broker and an actor that comes and goes, and an observer that asks it what runs.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "actors/host/host.h"
#include "base/memory.h"
#include "broker/broker.h"
#include "runtime/call.h"
#include "schemas/host.h"
#include "simulator/port/sim_port.h"

enum { PROGRAMS = 3, TEXT_MAX = 16384 };

#define BROKER "ipc:///run/broker"
#define EVENTS "ipc:///run/events"

static realm_t *s_realm;
static realm_process_t *s_host_process;
static actor_t *s_host;          //  NULL while it does not run
static char s_log [TEXT_MAX];    //  What the host said
static bool s_plain_crashes;     //  Each new actor ends after a second
static bool s_plain_is_mute;     //  Each new actor never registers

//  ---- Programs ------------------------------------------------------------------------------------------------------

//  An actor in a process of its own.
typedef struct {
    port_t *port;
    actor_t *actor;
    realm_process_t *process;
} house_t;

static status_t
s_plain_init (void *self, actor_t *actor, const void *options, error_t *error)
{
    return STATUS_OK;
}

static const actor_handler_t s_plain_handlers [] = { HANDLERS_END };
static const actor_class_t s_plain_class = {
    .name = "plain", .state_size = 1, .init = s_plain_init, .handlers = s_plain_handlers
};

static void
s_on_drained (void *arg, actor_t *actor)
{
    house_t *house = arg;
    realm_process_exit (house->process, 0);
}

static status_t
s_move_in (realm_process_t *process, const actor_class_t *class, const char *endpoint, const void *setup, void **state,
    error_t *error)
{
    house_t *house = memory_new (sizeof *house);
    house->process = process;
    house->port = sim_port_new (process);
    bool is_broker = class == &broker_class;
    actor_options_t options = {
        .instance = "0",
        .endpoint = endpoint,
        .broker = is_broker ? NULL : BROKER,
        .events = is_broker ? NULL : EVENTS,
        .host = "machine",
        .process = realm_process_number (process),
        .on_drained = s_on_drained,
        .arg = house,
    };
    house->actor = actor_new (class, house->port, &options, setup, error);
    *state = house;
    return house->actor ? STATUS_OK : error->status;
}

static void
s_move_out (realm_process_t *process, void *state)
{
    house_t *house = state;
    if (!house)
        return;
    if (house->actor == s_host)
        s_host = NULL;
    actor_destroy (&house->actor);
    memory_free (house);
}

static void
s_on_house_signal (realm_process_t *process, void *state, process_signal_t signal)
{
    house_t *house = state;
    if (signal == PROCESS_SIGNAL_TERM)
        actor_drain (house->actor);
}

static status_t
s_start_broker (realm_process_t *process, void **state, error_t *error)
{
    broker_options_t options = { .endpoint = BROKER, .events = EVENTS };
    arena_t memory;
    arena_init (&memory, 65536);
    option_context_t context = { .memory = &memory };
    option_set_defaults ((option_target_t){ broker_options_table, &options }, &context);
    options.endpoint = BROKER;
    options.events = EVENTS;
    status_t status = s_move_in (process, &broker_class, BROKER, &options, state, error);
    arena_fini (&memory);
    return status;
}

static status_t
s_start_plain (realm_process_t *process, void **state, error_t *error)
{
    if (s_plain_is_mute)
        return STATUS_OK;
    if (s_plain_crashes)
        return error_set (error, STATUS_IO, "crashes");
    return s_move_in (process, &s_plain_class, "ipc:///run/plain", NULL, state, error);
}

//  ---- The host ------------------------------------------------------------------------------------------------------

static const char *const s_argv [PROGRAMS][2] = { { "broker" }, { "plain" }, { "idle" } };
static const char *const s_plain_actors [] = { "plain/0", NULL };
static const host_program_t s_programs [PROGRAMS] = {
    { .supervised = { "broker", 0, 2, false }, .argv = s_argv [0], .ping = "broker/0" },
    { .supervised = { "plain", 1, 0, true }, .argv = s_argv [1], .actors = s_plain_actors },
    { .supervised = { "idle", 1, 1, false }, .argv = s_argv [2] },
};

static const host_options_t s_options = {
    .restart_delay_ns = 200000000,
    .restart_delay_max_ns = 30000000000,
    .healthy_after_ns = 60000000000,
    .looping_after = 3,
    .ready_timeout_ns = 30000000000,
    .probe_interval_ns = 100000000,
    .drain_timeout_ns = 10000000000,
    .stop_timeout_ns = 5000000000,
};

static status_t
s_start_host (realm_process_t *process, void **state, error_t *error)
{
    host_setup_t setup = { .options = &s_options, .programs = s_programs, .count = PROGRAMS };
    status_t status = s_move_in (process, &host_class, "ipc:///run/host", &setup, state, error);
    s_host = ((house_t *)*state)->actor;
    return status;
}

static status_t
s_start_idle (realm_process_t *process, void **state, error_t *error)
{
    return STATUS_OK;
}

static void
s_stop_idle (realm_process_t *process, void *state)
{
}

static const realm_program_t s_realm_programs [] = {
    { .name = "broker", .start = s_start_broker, .signal = s_on_house_signal, .stop = s_move_out },
    { .name = "plain", .start = s_start_plain, .signal = s_on_house_signal, .stop = s_move_out },
    { .name = "host", .start = s_start_host, .signal = s_on_house_signal, .stop = s_move_out },
    { .name = "idle", .start = s_start_idle, .stop = s_stop_idle },
};

static void
s_on_log (void *arg, uint64_t now_ns, const char *process, log_level_t level, span_t line)
{
    size_t size = strlen (s_log);
    snprintf (s_log + size, sizeof s_log - size, "%.*s\n", SPAN_ARG (line));
}

static int
s_set_up (void **state)
{
    realm_options_t options = { .seed = 7, .on_log = s_on_log };
    s_log [0] = 0;
    s_plain_crashes = false;
    s_plain_is_mute = false;
    s_realm = realm_new (&options);
    for (size_t i = 0; i < sizeof s_realm_programs / sizeof *s_realm_programs; i++)
        realm_register_program (s_realm, &s_realm_programs [i]);
    const char *argv [] = { "host", NULL };
    realm_start_t start = { .argv = argv };
    s_host_process = realm_process_start (realm_machine_new (s_realm, "machine"), &start, NULL);
    assert_non_null (s_host_process);
    return 0;
}

static int
s_tear_down (void **state)
{
    realm_destroy (&s_realm);
    return 0;
}

static void
s_run_ms (uint64_t ms)
{
    realm_run (s_realm, realm_now (s_realm) + ms * REALM_MS);
}

//  ---- Asking it -----------------------------------------------------------------------------------------------------

//  The answer of list_processes, "broker=running plain=waiting ..."; restarts follow as "+1" where there were any.
static char s_answer [1024];

static void
s_on_answer (void *self, void *arg, call_result_t result, const void *reply_)
{
    const list_processes_reply_t *reply = reply_;
    assert_int_equal (result, CALL_REPLIED);
    size_t size = 0;
    for (size_t i = 0; i < reply->processes_count; i++) {
        const host_process_t *process = &reply->processes [i];
        size += (size_t)snprintf (s_answer + size, sizeof s_answer - size, "%.*s=%s", SPAN_ARG (process->name),
            process_state_name (process->state));
        if (process->restarts)
            size += (size_t)snprintf (s_answer + size, sizeof s_answer - size, "+%u", process->restarts);
        size += (size_t)snprintf (s_answer + size, sizeof s_answer - size, " ");
    }
}

static const char *
s_ask (void)
{
    static call_t call;
    list_processes_t request = { 0 };
    s_answer [0] = 0;
    call_start (&call, s_host,
        &(call_options_t){ .address = SPAN ("host/0"),
            .type = &list_processes_message,
            .request = &request,
            .timeout_ns = REALM_SECOND,
            .done = s_on_answer });
    s_run_ms (200);
    return s_answer;
}

static realm_process_t *
s_find (const char *title)
{
    realm_process_t *process = NULL;
    for (size_t i = 0; (process = realm_process_at (s_realm, i)); i++)
        if (strcmp (realm_process_title (process), title) == 0)
            return process;
    return NULL;
}

static void
s_kill (const char *title)
{
    realm_process_t *process = s_find (title);
    assert_non_null (process);
    realm_process_signal (process, PROCESS_SIGNAL_KILL);
}

static void
test_everything_becomes_ready_in_order (void **state)
{
    s_run_ms (5000);
    assert_string_equal (s_ask (), "broker=running plain=running idle=running ");
    const char *broker = strstr (s_log, "broker is running"), *plain = strstr (s_log, "plain is running");
    assert_true (broker && plain && broker < plain && plain < strstr (s_log, "idle is starting"));
}

static void
test_a_killed_process_comes_back_with_its_unit (void **state)
{
    s_run_ms (5000);
    s_kill ("plain");
    s_run_ms (15000);
    assert_string_equal (s_ask (), "broker=running plain=running+1 idle=running+1 ");
    assert_non_null (strstr (s_log, "plain is waiting: ended by signal 9"));
}

//  The directory still lists the actor of the process that was killed: it must not stand for the new one.
static void
test_an_entry_of_an_earlier_life_makes_nobody_ready (void **state)
{
    s_run_ms (5000);
    s_plain_is_mute = true;
    s_kill ("plain");
    s_run_ms (5500);
    assert_non_null (strstr (s_ask (), "plain=starting+1"));
}

static void
test_a_killed_broker_comes_back_alone (void **state)
{
    s_run_ms (5000);
    s_kill ("broker");
    s_run_ms (10000);
    assert_string_equal (s_ask (), "broker=running+1 plain=running idle=running ");
}

static void
test_a_crash_loop_is_reported (void **state)
{
    s_plain_crashes = true;
    s_run_ms (6000);
    assert_non_null (strstr (s_ask (), "plain=looping"));
    assert_non_null (strstr (s_log, "plain is looping: crashed 3 times in a row; starts again in 800 ms"));
    s_plain_crashes = false;
    s_run_ms (60000);
    assert_non_null (strstr (s_ask (), "plain=running"));
}

static void
test_it_drains_in_order_and_ends (void **state)
{
    s_run_ms (5000);
    realm_process_signal (s_host_process, PROCESS_SIGNAL_TERM);
    s_run_ms (10000);
    const char *plain = strstr (s_log, "plain is stopped"), *idle = strstr (s_log, "idle is stopped");
    const char *broker = strstr (s_log, "broker is stopped");
    assert_true (plain && idle && broker && plain < idle && idle < broker);
    assert_false (realm_process_is_alive (s_host_process));
    assert_null (s_find ("broker"));
}

static void
test_nothing_outlives_it (void **state)
{
    s_run_ms (5000);
    realm_process_signal (s_host_process, PROCESS_SIGNAL_KILL);
    s_run_ms (1000);
    assert_null (realm_process_at (s_realm, 0));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_everything_becomes_ready_in_order, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_killed_process_comes_back_with_its_unit, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_an_entry_of_an_earlier_life_makes_nobody_ready, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_killed_broker_comes_back_alone, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_a_crash_loop_is_reported, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_it_drains_in_order_and_ends, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_nothing_outlives_it, s_set_up, s_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
