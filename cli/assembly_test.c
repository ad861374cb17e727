//  Which actors a process houses, and what they are called.

#include <string.h>

#include "cli/assembly.h"
#include "cli/manifest_fixture.h"
#include "workers/worker.h"

static const char s_file [] = "models: [ { name: m, aliases: [n] } ]\n"
                              "router: { instances: 2 }\n"
                              "frontend: { port: 9000, instances: 2 }\n"
                              "workers:\n"
                              "  - { engine: mock, name: a, count: 2 }\n"
                              "  - { engine: llamacpp, name: b, count: 2, command: 'run {port}' }\n"
                              "  - { engine: mock, name: c }\n";

static const assembly_site_t s_site = {
    .run_dir = "/run/x", .machine = "here", .secret = { (const uint8_t *)"secret", 6 }
};

static manifest_t *s_fleet;

static int
s_set_up (void **state)
{
    s_fleet = fixture_manifest (s_file);
    return 0;
}

static int
s_tear_down (void **state)
{
    manifest_destroy (&s_fleet);
    return 0;
}

//  The addresses an assembly makes, "worker/a-0 worker/a-1 ".
static void
s_expect (const char *service, const char *instance, const char *expected)
{
    error_t error = { 0 };
    buffer_t names = { 0 };
    assembly_t *assembly = assembly_new (s_fleet, &s_site, service, instance, &error);
    for (size_t i = 0; assembly && i < assembly_count (assembly); i++) {
        const assembly_actor_t *actor = assembly_actor (assembly, i);
        buffer_print (&names, "%s/%s ", actor->class->name, actor->options.instance);
    }
    assert_string_equal (assembly ? buffer_string (&names) : error.text, expected);
    buffer_fini (&names);
    assembly_destroy (&assembly);
}

static void
test_services_make_their_actors (void **state)
{
    s_expect ("broker", NULL, "broker/0 ");
    s_expect ("core", NULL, "frontend/0 frontend/1 router/0 router/1 indexer/0 ");
    s_expect ("router", "1", "router/1 ");
    s_expect ("worker", NULL, "worker/a-0 worker/a-1 worker/b-0 worker/b-1 worker/c-0 ");
    s_expect ("worker", "b-1", "worker/b-1 ");
    s_expect ("worker", "c-0", "worker/c-0 ");
    s_expect ("worker", "c-1", "the fleet has no worker/c-1; did you mean 'a-1'?");
    s_expect ("kvbm", NULL, "the fleet has no kvbm");
}

//  What has a process of its own is not in the core, and is found by its name.
static void
test_the_core_houses_what_is_nowhere_else (void **state)
{
    s_fleet->frontend.process = PROCESS_OWN;
    s_expect ("core", NULL, "router/0 router/1 indexer/0 ");
    s_expect ("frontend", "1", "frontend/1 ");
    s_fleet->frontend.process = PROCESS_CORE;
}

static void
test_a_worker_is_told_what_it_serves (void **state)
{
    error_t error;
    assembly_t *assembly = assembly_new (s_fleet, &s_site, "worker", "b-1", &error);
    const worker_setup_t *setup = assembly_actor (assembly, 0)->class_options;
    assert_string_equal (setup->engine->name, "llamacpp");
    assert_string_equal (setup->url, "http://127.0.0.1:8211");
    assert_true (span_equal_string (setup->model, "m"));
    assert_string_equal (setup->aliases [0], "n");
    assert_true (span_equal_string (setup->secret, "secret"));
    assembly_destroy (&assembly);
}

//  However long: nobody finds an engine by a part of where it is.
static void
test_a_worker_is_told_all_of_the_url_of_its_engine (void **state)
{
    error_t error;
    buffer_t url = { 0 }, file = { 0 };
    buffer_print (&url, "http://engines.example/%0300d", 0);
    buffer_print (&file, "workers: [ { engine: llamacpp, model: m, url: '%s' } ]\n", buffer_string (&url));
    manifest_t *fleet = fixture_manifest (buffer_string (&file));
    assembly_t *assembly = assembly_new (fleet, &s_site, "worker", "llamacpp-0", &error);
    const worker_setup_t *setup = assembly_actor (assembly, 0)->class_options;
    assert_string_equal (setup->url, buffer_string (&url));
    assembly_destroy (&assembly);
    manifest_destroy (&fleet);
    buffer_fini (&file);
    buffer_fini (&url);
}

static void
test_frontends_promise_the_same_names (void **state)
{
    error_t error;
    assembly_t *assembly = assembly_new (s_fleet, &s_site, "frontend", NULL, &error);
    const frontend_options_t *first = assembly_actor (assembly, 0)->class_options;
    const frontend_options_t *second = assembly_actor (assembly, 1)->class_options;
    assert_int_equal (first->models.count, 2);
    assert_string_equal (first->models.items [0], "m");
    assert_string_equal (first->models.items [1], "n");
    assert_ptr_equal (first->models.items, second->models.items);
    assembly_destroy (&assembly);
}

static void
test_everybody_knows_the_broker (void **state)
{
    error_t error;
    assembly_t *assembly = assembly_new (s_fleet, &s_site, "indexer", NULL, &error);
    const actor_options_t *options = &assembly_actor (assembly, 0)->options;
    assert_string_equal (options->broker, "ipc:///run/x/broker");
    assert_string_equal (options->events, "ipc:///run/x/events");
    assert_string_equal (options->endpoint, "ipc:///run/x/indexer-0");
    assembly_destroy (&assembly);
    assembly = assembly_new (s_fleet, &s_site, "broker", NULL, &error);
    options = &assembly_actor (assembly, 0)->options;
    assert_null (options->broker);
    assert_string_equal (options->endpoint, "ipc:///run/x/broker");
    assembly_destroy (&assembly);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_services_make_their_actors),
        cmocka_unit_test (test_the_core_houses_what_is_nowhere_else),
        cmocka_unit_test (test_a_worker_is_told_what_it_serves),
        cmocka_unit_test (test_a_worker_is_told_all_of_the_url_of_its_engine),
        cmocka_unit_test (test_frontends_promise_the_same_names),
        cmocka_unit_test (test_everybody_knows_the_broker),
    };
    return cmocka_run_group_tests (tests, s_set_up, s_tear_down);
}
