//  The processes of a fleet, in the order and with the words that the host is given.

#include <string.h>

#include "cli/manifest_fixture.h"
#include "cli/plan.h"

static const char s_file [] = "models: [ { name: m } ]\n"
                              "router: { instances: 2 }\n"
                              "workers:\n"
                              "  - { engine: mock, count: 2 }\n"
                              "  - { engine: llamacpp, name: l, command: [serve, '--port={port}', "
                              "'{instance}/{model}', '{}'], environment: [A=1], port: 9000 }\n";

static manifest_t *s_fleet;
static plan_t *s_plan;

static int
s_set_up (void **state)
{
    s_fleet = fixture_manifest (s_file);
    s_plan = plan_new (s_fleet,
        &(plan_options_t){ .program = "/bin/stator", .config = "/run/f.yaml", .run_dir = "/run", .parent = 7 });
    return 0;
}

static int
s_tear_down (void **state)
{
    plan_destroy (&s_plan);
    manifest_destroy (&s_fleet);
    return 0;
}

//  "name unit rank" of each program.
static void
test_processes_stand_in_start_order_and_units (void **state)
{
    buffer_t text = { 0 };
    for (size_t i = 0; i < plan_count (s_plan); i++) {
        const supervised_t *one = &plan_programs (s_plan) [i].supervised;
        buffer_print (&text, "%s %zu %u%s; ", one->name, one->unit, one->rank, one->drains ? " drains" : "");
    }
    assert_string_equal (buffer_string (&text), "broker 0 4; core 1 1 drains; worker/mock-0 2 2 drains; worker/mock-1 "
                                                "3 2 drains; engine/l-0 4 3; worker/l-0 4 2 drains; ");
    buffer_fini (&text);
}

static void
s_expect_words (const char *const *words, const char *expected)
{
    buffer_t text = { 0 };
    for (; *words; words++)
        buffer_print (&text, "%s ", *words);
    assert_string_equal (buffer_string (&text), expected);
    buffer_fini (&text);
}

static void
test_our_own_processes_are_told_what_they_are (void **state)
{
    const host_program_t *programs = plan_programs (s_plan);
    s_expect_words (programs [1].argv, "/bin/stator actor core --config /run/f.yaml --parent 7 ");
    s_expect_words (programs [1].actors, "frontend/0 router/0 router/1 indexer/0 ");
    s_expect_words (programs [3].argv, "/bin/stator actor worker --config /run/f.yaml --parent 7 --instance mock-1 ");
    s_expect_words (programs [3].actors, "worker/mock-1 ");
    assert_true (programs [1].reloads);
    assert_string_equal (programs [0].ping, "broker/0");
}

//  Each host runs its part, and all parts together are the fleet.
static void
test_a_host_runs_what_is_said_for_it (void **state)
{
    static const struct {
        const char *host;
        const char *expected;
    } cases [] = { { "head", "broker core " }, { "gpu-1", "worker/a-0 worker/a-1 " },
        { "gpu-2", "engine/b-0 worker/b-0 " }, { "", "broker core worker/a-0 worker/a-1 engine/b-0 worker/b-0 " } };
    static const char file [] = "hosts: [ { name: head, address: 10.0.0.1, runs: [broker, core] },\n"
                                "  { name: gpu-1, address: 10.0.0.2 }, { name: gpu-2, address: 10.0.0.3 } ]\n"
                                "models: [ { name: m } ]\n"
                                "workers: [ { engine: mock, name: a, host: gpu-1, count: 2 },\n"
                                "  { engine: llamacpp, name: b, host: gpu-2, command: serve } ]\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buffer_t names = { 0 };
        manifest_t *fleet = fixture_manifest (file);
        fleet->cluster.host = cases [i].host;
        plan_t *plan = plan_new (fleet, &(plan_options_t){ .program = "s", .config = "f", .run_dir = "/run" });
        for (size_t j = 0; j < plan_count (plan); j++)
            buffer_print (&names, "%s ", plan_programs (plan) [j].supervised.name);
        assert_string_equal (buffer_string (&names), cases [i].expected);
        plan_destroy (&plan);
        manifest_destroy (&fleet);
        buffer_fini (&names);
    }
}

//  "name rank actors" of each program of a fleet, without its workers.
static void
s_expect_processes (const char *file, const char *expected)
{
    complaints_t complaints;
    buffer_t text = { 0 };
    complaints_init (&complaints, "test");
    manifest_t *fleet = manifest_new (span_from_string (file), NULL, NULL, &complaints);
    assert_false (complaints_any (&complaints));
    plan_t *plan = plan_new (fleet, &(plan_options_t){ .program = "s", .config = "f", .run_dir = "/run" });
    for (size_t i = 0; i < plan_count (plan); i++) {
        const host_program_t *program = &plan_programs (plan) [i];
        buffer_print (&text, "%s %u:", program->supervised.name, program->supervised.rank);
        for (const char *const *address = program->actors; address && *address; address++)
            buffer_print (&text, " %s", *address);
        buffer_append_string (&text, "; ");
    }
    assert_string_equal (buffer_string (&text), expected);
    plan_destroy (&plan);
    manifest_destroy (&fleet);
    buffer_fini (&text);
    complaints_fini (&complaints);
}

//  The frontends drain first, wherever they are; a core of nothing is no process.
static void
test_parts_of_the_core_can_have_processes_of_their_own (void **state)
{
    s_expect_processes ("models: [ { name: m } ]\nfrontend: { process: own, instances: 2 }\n",
        "broker 4:; core 1: router/0 indexer/0; frontend/0 0: frontend/0; frontend/1 0: frontend/1; ");
    s_expect_processes ("models: [ { name: m } ]\nrouter: { process: own }\nfrontend: { process: own }\n"
                        "indexer: { process: own }\n",
        "broker 4:; frontend/0 0: frontend/0; router/0 1: router/0; indexer/0 1: indexer/0; ");
}

static void
test_an_engine_gets_its_port_and_a_keeper (void **state)
{
    const host_program_t *engine = &plan_programs (s_plan) [4];
    s_expect_words (engine->argv, "/bin/stator keep --parent 7 -- serve --port=9000 l-0/m {} ");
    s_expect_words (engine->environment, "A=1 ");
    assert_string_equal (engine->url, "http://127.0.0.1:9000/health");
    assert_string_equal (engine->output, "/run/engine-l-0.log");
    assert_false (engine->reloads);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_processes_stand_in_start_order_and_units),
        cmocka_unit_test (test_our_own_processes_are_told_what_they_are),
        cmocka_unit_test (test_a_host_runs_what_is_said_for_it),
        cmocka_unit_test (test_parts_of_the_core_can_have_processes_of_their_own),
        cmocka_unit_test (test_an_engine_gets_its_port_and_a_keeper),
    };
    return cmocka_run_group_tests (tests, s_set_up, s_tear_down);
}
