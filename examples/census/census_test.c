//  The census on a stage: a broker, a stand-in for a worker, and virtual time.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "broker/broker.h"
#include "examples/census/census.h"
#include "schemas/load.h"
#include "simulator/stage.h"

static const actor_handler_t s_no_handlers [] = { HANDLERS_END };
static const actor_class_t s_worker_class = { .name = "worker", .state_size = 1, .handlers = s_no_handlers };

typedef struct {
    stage_t *stage;             //  Where it all happens
    arena_t memory;             //  Of the options
    broker_options_t broker;    //  Options of the broker
} house_t;

static void
s_add (house_t *self, const actor_class_t *class, const void *options)
{
    stage_add (self->stage, &(stage_actor_t){ .class = class, .instance = "0", .options = options });
}

static int
s_build (void **state)
{
    static house_t house;
    arena_init (&house.memory, SIZE_MAX);
    option_target_t target = { broker_options_table, &house.broker };
    option_set_defaults (target, &(option_context_t){ .memory = &house.memory });
    house.broker.events = STAGE_EVENTS;
    house.stage = stage_new (1);
    s_add (&house, &broker_class, &house.broker);
    s_add (&house, &s_worker_class, NULL);
    s_add (&house, &census_class, NULL);
    stage_run (house.stage, 3 * REALM_SECOND);
    *state = &house;
    return 0;
}

static int
s_leave (void **state)
{
    house_t *house = *state;
    stage_destroy (&house->stage);
    arena_fini (&house->memory);
    return 0;
}

static const census_figures_t *
s_figures (house_t *self)
{
    return actor_state (stage_find (self->stage, "census/0"));
}

static void
s_report (house_t *self, uint32_t running, uint32_t waiting)
{
    worker_load_t load = { .running = running, .waiting = waiting };
    actor_publish (stage_find (self->stage, "worker/0"), &worker_load_message, &load);
    stage_run (self->stage, 2 * REALM_SECOND);
}

static void
test_says_when_the_fleet_is_busy_and_idle (void **state)
{
    house_t *house = *state;
    s_report (house, 3, 2);
    assert_int_equal (s_figures (house)->workers, 1);
    assert_int_equal (s_figures (house)->running, 3);
    assert_int_equal (s_figures (house)->waiting, 2);
    assert_non_null (strstr (stage_log (house->stage), "the fleet is busy"));

    s_report (house, 0, 0);
    assert_non_null (strstr (stage_log (house->stage), "the fleet is idle"));
}

static void
test_forgets_a_worker_that_crashed (void **state)
{
    house_t *house = *state;
    s_report (house, 5, 0);
    stage_crash (house->stage, "worker/0");
    stage_run (house->stage, 20 * REALM_SECOND);
    assert_int_equal (s_figures (house)->workers, 0);

    stage_start (house->stage, "worker/0");
    stage_run (house->stage, 5 * REALM_SECOND);
    s_report (house, 1, 0);
    assert_int_equal (s_figures (house)->running, 1);
}

static void
test_reports_survive_a_restart_of_the_broker (void **state)
{
    house_t *house = *state;
    stage_crash (house->stage, "broker/0");
    s_report (house, 4, 0);
    stage_start (house->stage, "broker/0");
    stage_run (house->stage, 10 * REALM_SECOND);
    assert_int_equal (s_figures (house)->running, 4);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_says_when_the_fleet_is_busy_and_idle, s_build, s_leave),
        cmocka_unit_test_setup_teardown (test_forgets_a_worker_that_crashed, s_build, s_leave),
        cmocka_unit_test_setup_teardown (test_reports_survive_a_restart_of_the_broker, s_build, s_leave),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
