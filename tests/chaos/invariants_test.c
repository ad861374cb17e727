//  The check of beliefs against truth: a follower that is wrong is found out, one that is behind is not accused before all
//  is quiet.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "broker/broker.h"
#include "schemas/event.h"
#include "schemas/load.h"
#include "simulator/invariants.h"
#include "simulator/stage.h"

typedef struct {
    uint64_t sum;    //  Of all that was published, or heard
} adder_t;

static void
s_on_load (void *self, actor_t *actor, const origin_t *origin, const void *message)
{
    ((adder_t *)self)->sum += ((const worker_load_t *)message)->running;
}

static void
s_on_reset (void *self, actor_t *actor, const origin_t *origin)
{
    ((adder_t *)self)->sum = 0;
}

static status_t
s_on_snapshot (void *self, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    worker_load_t load = { .running = (uint32_t)((adder_t *)self)->sum };
    snapshot_add (snapshot, &worker_load_message, &load);
    return STATUS_OK;
}

static const actor_handler_t s_source_handlers [] = { HANDLES_SNAPSHOT (STREAM_LOAD, s_on_snapshot), HANDLERS_END };
static const actor_class_t s_source_class = {
    .name = "source", .state_size = sizeof (adder_t), .handlers = s_source_handlers
};

static const actor_handler_t s_follower_handlers [] = {
    HANDLES_EVENT (worker_load, s_on_load),
    HANDLES_RESET (STREAM_LOAD, s_on_reset),
    HANDLERS_END,
};
static const actor_class_t s_follower_class = {
    .name = "follower", .state_size = sizeof (adder_t), .handlers = s_follower_handlers
};

static stage_t *s_stage;
static uint64_t s_violations;

//  ---- The view ------------------------------------------------------------------------------------------------------

static actor_t *
s_actor_at (const realm_process_t *process, size_t position)
{
    return position == 0 ? stage_find (s_stage, realm_process_argv (process) [1]) : NULL;
}

static bool
s_truth (const actor_t *actor, uint64_t *digest)
{
    *digest = ((const adder_t *)actor_state (actor))->sum;
    return strcmp (actor_address (actor), "source/0") == 0;
}

static bool
s_belief (const actor_t *actor, uint64_t source, uint64_t *digest)
{
    *digest = ((const adder_t *)actor_state (actor))->sum;
    return strcmp (actor_address (actor), "follower/0") == 0;
}

static const fleet_view_t s_view = { s_actor_at, s_truth, s_belief, STREAM_LOAD };

static void
s_on_violation (void *arg, const char *sentence)
{
    s_violations++;
}

static invariant_figures_t
s_check (bool quiet)
{
    invariant_figures_t figures = { 0 };
    s_violations = 0;
    invariants_check (stage_realm (s_stage), &s_view, quiet, &figures, s_on_violation, NULL);
    assert_int_equal (figures.looks, 1);
    return figures;
}

//  ---- The stage -----------------------------------------------------------------------------------------------------

static int
s_set_up (void **state)
{
    static broker_options_t options;
    static arena_t memory;
    s_stage = stage_new (3);
    arena_init (&memory, SIZE_MAX);
    option_set_defaults ((option_target_t){ broker_options_table, &options }, &(option_context_t){ .memory = &memory });
    options.events = STAGE_EVENTS;
    stage_add (s_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &options });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_source_class, .instance = "0" });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_follower_class, .instance = "0", .machine = "m1" });
    stage_run (s_stage, 3 * REALM_SECOND);
    arena_fini (&memory);
    return 0;
}

static int
s_tear_down (void **state)
{
    stage_destroy (&s_stage);
    return 0;
}

static void
s_publish (void)
{
    actor_t *source = stage_find (s_stage, "source/0");
    worker_load_t load = { .running = 5 };
    ((adder_t *)actor_state (source))->sum += load.running;
    actor_publish (source, &worker_load_message, &load);
    stage_run (s_stage, 100 * REALM_MS);
}

static adder_t *
s_follower (void)
{
    return actor_state (stage_find (s_stage, "follower/0"));
}

static void
test_a_follower_that_is_right_is_compared_and_left_alone (void **state)
{
    s_publish ();
    invariant_figures_t figures = s_check (true);
    assert_int_equal (s_follower ()->sum, 5);
    assert_int_equal (figures.compared, 1);
    assert_int_equal (s_violations, 0);
}

static void
test_a_follower_that_is_wrong_is_found_out (void **state)
{
    s_publish ();
    s_follower ()->sum++;
    invariant_figures_t figures = s_check (false);
    assert_int_equal (figures.wrong, 1);
    assert_int_equal (s_violations, 1);
}

static void
test_a_follower_that_is_behind_is_accused_only_when_all_is_quiet (void **state)
{
    s_publish ();
    realm_process_set_group (stage_process (s_stage, "follower/0"), 1);
    s_publish ();
    invariant_figures_t figures = s_check (false);
    assert_int_equal (figures.behind, 1);
    assert_int_equal (s_violations, 0);
    s_check (true);
    assert_int_equal (s_violations, 1);

    realm_process_set_group (stage_process (s_stage, "follower/0"), 0);
    stage_run (s_stage, 10 * REALM_SECOND);
    figures = s_check (true);
    assert_int_equal (figures.compared, 1);
    assert_int_equal (s_violations, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, s_set_up, s_tear_down)

int
main (void)
{
    const struct CMUnitTest tests [] = {
        TEST (test_a_follower_that_is_right_is_compared_and_left_alone),
        TEST (test_a_follower_that_is_wrong_is_found_out),
        TEST (test_a_follower_that_is_behind_is_accused_only_when_all_is_quiet),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
