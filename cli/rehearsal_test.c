//  A fleet's processes in the simulated world: who lives in them, and how they end.

#include <string.h>

#include "cli/manifest_fixture.h"
#include "cli/rehearsal.h"

#define WORKERS "models: [ { name: m } ]\nworkers: [ { engine: mock, name: a } ]\n"

static manifest_t *s_fleet;
static rehearsal_t *s_rehearsal;
static simulate_options_t s_options;
static realm_t *s_realm;

//  `stator up` on one machine, until all runs.
static void
s_play (const char *text)
{
    error_t error = { 0 };
    s_fleet = fixture_manifest (text);
    s_rehearsal = rehearsal_new (s_fleet, 1, false, &error);
    assert_non_null (s_rehearsal);
    s_options = (simulate_options_t){ 0 };
    rehearsal_fill (s_rehearsal, &s_options);
    s_realm = realm_new (&(realm_options_t){ .seed = 1 });
    realm_register_program (s_realm, &s_options.programs [0]);
    realm_machine_t *machine = realm_machine_new (s_realm, s_options.roots [0].machine);
    realm_process_start (machine, &(realm_start_t){ .argv = s_options.roots [0].argv }, &error);
    realm_run (s_realm, 5 * REALM_SECOND);
}

static int
s_tear_down (void **state)
{
    realm_destroy (&s_realm);
    rehearsal_destroy (&s_rehearsal);
    manifest_destroy (&s_fleet);
    return 0;
}

static realm_process_t *
s_find (const char *address, actor_t **actor)
{
    realm_process_t *process;
    for (size_t i = 0; (process = realm_process_at (s_realm, i)); i++)
        for (size_t k = 0; (*actor = s_options.view.actor_at (process, k)); k++)
            if (strcmp (actor_address (*actor), address) == 0)
                return process;
    return NULL;
}

static size_t
s_count_actors (const realm_process_t *process)
{
    size_t count = 0;
    while (s_options.view.actor_at (process, count))
        count++;
    return count;
}

//  As many as a file can say.
static void
test_a_process_houses_as_many_as_the_file_allows (void **state)
{
    actor_t *actor;
    s_play (WORKERS "frontend: { port: 9000, instances: 64 }\nrouter: { instances: 64 }\nindexer: { instances: 64 }\n");
    realm_process_t *core = s_find ("indexer/63", &actor);
    assert_non_null (core);
    assert_int_equal (s_count_actors (core), 192);
    realm_process_signal (core, PROCESS_SIGNAL_TERM);
    realm_run (s_realm, realm_now (s_realm) + REALM_SECOND);
    assert_false (realm_process_is_alive (core));
}

//  Its host could not give back a router that is missing in a process which goes on.
static void
test_an_actor_that_is_drained_alone_takes_its_process_along (void **state)
{
    actor_t *router, *frontend;
    s_play (WORKERS "frontend: { port: 9000 }\n");
    realm_process_t *core = s_find ("router/0", &router);
    assert_ptr_equal (s_find ("frontend/0", &frontend), core);
    actor_drain (router);
    realm_run (s_realm, realm_now (s_realm) + 5 * REALM_SECOND);
    assert_false (realm_process_is_alive (core));
    realm_process_t *next = s_find ("router/0", &router);
    assert_non_null (next);
    assert_ptr_equal (s_find ("frontend/0", &frontend), next);
}

static void
test_a_second_signal_ends_a_process_at_once (void **state)
{
    actor_t *actor;
    s_play (WORKERS "frontend: { port: 9000 }\n");
    realm_process_t *host = s_find ("host/m0", &actor);
    assert_non_null (host);
    realm_process_signal (host, PROCESS_SIGNAL_TERM);
    realm_run (s_realm, realm_now (s_realm) + 2 * REALM_MS);
    assert_true (actor_is_draining (actor));
    realm_process_signal (host, PROCESS_SIGNAL_TERM);
    realm_run (s_realm, realm_now (s_realm) + 2 * REALM_MS);
    assert_null (realm_process_at (s_realm, 0));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_teardown (test_a_process_houses_as_many_as_the_file_allows, s_tear_down),
        cmocka_unit_test_teardown (test_an_actor_that_is_drained_alone_takes_its_process_along, s_tear_down),
        cmocka_unit_test_teardown (test_a_second_signal_ends_a_process_at_once, s_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
